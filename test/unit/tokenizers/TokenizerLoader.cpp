//===- TokenizerLoader.cpp - Imported tokenizers at run time --------------===//

#include "TokenizerLoader.h"
#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::test;

LoadedTokenizer::LoadedTokenizer(const ImportedTokenizer &imported,
                                 int64_t vocabulary) {
  ArtifactContents contents;
  contents.manifest = "{}";
  contents.imported = imported.sections;
  auto opened =
      Artifact::open(folder.write("artifact", writeArtifact(contents)));
  if (!opened.ok()) {
    sentence = opened.message();
    return;
  }
  artifact = std::move(*opened);
  Manifest manifest;
  manifest.sourceVocabulary = manifest.targetVocabulary = int32_t(vocabulary);
  TokenizerDescription &description = manifest.tokenizer;
  auto integer = [&](const char *key) {
    return imported.manifest.getInteger(key);
  };
  description.kind = imported.manifest.getString("kind")->str();
  description.bos = integer("bos");
  description.eos = integer("eos");
  description.language = integer("language");
  description.unknown = integer("unknown");
  description.cleansUp = integer("clean_up").value_or(0);
  if (const llvm::json::Array *special = imported.manifest.getArray("special"))
    for (const llvm::json::Value &id : *special)
      description.special.push_back(int32_t(*id.getAsInteger()));
  auto made = Tokenizer::make(*artifact, manifest);
  if (made.ok())
    tokenizer = std::move(*made);
  else
    sentence = made.message();
}

std::vector<int32_t> LoadedTokenizer::encode(std::string_view text) const {
  auto ids = tokenizer->encode(text);
  EXPECT_TRUE(ids.ok());
  return ids.ok() ? *ids : std::vector<int32_t>();
}

CharacterRanges::CharacterRanges(const std::string &text) {
  for (char byte : text)
    characters.push_back((characters.empty() ? -1 : characters.back()) +
                         ((byte & 0xC0) != 0x80));
}

void CharacterRanges::append(TextRange range,
                             std::vector<int64_t> &numbers) const {
  auto [begin, end] = range;
  numbers.push_back(begin < characters.size() ? characters[begin]
                    : characters.empty()      ? 0
                                              : characters.back() + 1);
  numbers.push_back(end ? characters[end - 1] + 1 : 0);
}
