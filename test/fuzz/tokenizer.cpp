//===- tokenizer.cpp - Byte pairs of a Hugging Face folder ----------------===//
//
// An input is tokenizer.json, or from a # on merges.txt beside a vocab.json of
// the printable characters and a few pairs. What is read becomes a table, which
// cuts a text.
//
//===----------------------------------------------------------------------===//

#include "runtime/Tokenizer.h"
#include "ScratchFolder.h"
#include "lib/Import/ByteLevelTokenizer.h"

using namespace heddle;

static constexpr int32_t kVocabulary = 1000;

static std::string vocabulary() {
  std::string text = R"({"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "th": 4,)"
                     R"("he": 5, "the": 6, "\u0120t": 7, "\u0120": 8)";
  int id = 9;
  for (char c = '!'; c <= '~'; ++c)
    if (c != '"' && c != '\\')
      text += std::string(", \"") + c + "\": " + std::to_string(id++);
  return text + "}";
}

static void cut(std::string_view table) {
  Manifest manifest;
  manifest.sourceVocabulary = manifest.targetVocabulary = kVocabulary;
  manifest.tokenizer.kind = TokenizerDescription::Kind::ByteLevel;
  auto tokenizer = makeByteLevelTokenizer(table, manifest);
  if (!tokenizer.ok())
    return;
  auto ids = (*tokenizer)->encode("The other <mask> text, \xC3\xA4 \xFF.");
  if (ids.ok())
    (void)(*tokenizer)->decode(*ids);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const fuzz::ScratchFolder json, merges;
  static const std::string written = merges.write("vocab.json", vocabulary());
  bool hasMerges = size > 0 && data[0] == '#';
  const fuzz::ScratchFolder &folder = hasMerges ? merges : json;
  folder.write(hasMerges ? "merges.txt" : "tokenizer.json",
               {reinterpret_cast<const char *>(data), size});
  auto tokenizer = readByteLevelTokenizer(folder.path(), kVocabulary);
  if (!tokenizer) {
    llvm::consumeError(tokenizer.takeError());
    return 0;
  }
  for (const ImportedSection &section : tokenizer->sections)
    cut(section.bytes);
  return 0;
}
