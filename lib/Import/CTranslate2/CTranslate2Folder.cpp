//===- CTranslate2Folder.cpp - The files of a CTranslate2 model -----------===//
//
// A file of a vocabulary says all: the id of a token is its place.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/CTranslate2/CTranslate2Folder.h"
#include "lib/Support/Error.h"
#include "lib/Weights/Json.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace heddle {

std::optional<int64_t> CTranslate2Vocabulary::find(StringRef token) const {
  auto found = llvm::find(tokens, token);
  if (found == tokens.end())
    return std::nullopt;
  return found - tokens.begin();
}

/// The name of a vocabulary's file in either form; "" if there is none.
static std::string findVocabulary(const CTranslate2Files &files,
                                  StringRef name) {
  for (StringRef ending : {".json", ".txt"})
    if (std::string file = (name + ending).str(); files.has(file))
      return file;
  return "";
}

bool isCTranslate2Folder(StringRef folder) {
  CTranslate2Files files = CTranslate2Files::ofFolder(folder);
  if (!files.has("model.bin"))
    return false;
  constexpr StringLiteral vocabularies[] = {"shared_vocabulary",
                                            "source_vocabulary", "vocabulary"};
  if (any_of(vocabularies, [&](StringRef name) {
        return !findVocabulary(files, name).empty();
      }))
    return true;
  constexpr size_t head = 80;
  auto begin =
      MemoryBuffer::getFileSlice(files.pathOf("model.bin"), head, /*Offset=*/0);
  return begin && looksLikeCTranslate2((*begin)->getBuffer());
}

static Expected<std::vector<std::string>> parseTokens(StringRef text,
                                                      StringRef path) {
  std::vector<std::string> tokens;
  if (!path.ends_with(".json")) {
    for (StringRef rest = text; !rest.empty();) {
      auto [line, others] = rest.split('\n');
      if (!json::isUTF8(line))
        return makeError("line " + Twine(tokens.size() + 1) + " of '" + path +
                         "' is no UTF-8");
      tokens.push_back(line.str());
      rest = others;
    }
    return tokens;
  }
  Expected<json::Array> list = parseJsonArray(text, path);
  if (!list)
    return list.takeError();
  for (const json::Value &value : *list) {
    std::optional<StringRef> token = value.getAsString();
    if (!token)
      return makeError("token " + Twine(tokens.size()) + " of '" + path +
                       "' is " + formatJson(value) + ", expected a text");
    tokens.push_back(token->str());
  }
  return tokens;
}

static Expected<CTranslate2Vocabulary>
readVocabulary(const CTranslate2Files &files, StringRef name) {
  auto buffer = files.read(name);
  if (!buffer)
    return buffer.takeError();
  std::string path = files.pathOf(name);
  auto tokens = parseTokens((*buffer)->getBuffer(), path);
  if (!tokens)
    return tokens.takeError();
  if (tokens->empty())
    return makeError("'" + path + "' has no tokens");
  return CTranslate2Vocabulary{std::move(path), std::move(*tokens)};
}

static Error readVocabularies(CTranslate2Folder &folder) {
  std::string of[2];
  for (StringRef name : {"shared_vocabulary", "vocabulary"})
    if (of[0].empty())
      of[0] = of[1] = findVocabulary(folder.files, name);
  if (of[0].empty()) {
    of[0] = findVocabulary(folder.files, "source_vocabulary");
    of[1] = findVocabulary(folder.files, "target_vocabulary");
  }
  if (of[0].empty() || of[1].empty())
    return makeError("'" + folder.files.getPath() +
                     "' has no vocabulary: neither shared_vocabulary nor "
                     "source_vocabulary and target_vocabulary, as .json or "
                     ".txt");
  Expected<CTranslate2Vocabulary> read = readVocabulary(folder.files, of[0]);
  if (!read)
    return read.takeError();
  folder.source = *read;
  if (of[0] != of[1])
    read = readVocabulary(folder.files, of[1]);
  if (!read)
    return read.takeError();
  folder.target = std::move(*read);
  return Error::success();
}

Expected<CTranslate2Folder> readCTranslate2Folder(CTranslate2Files files) {
  auto buffer = files.read("model.bin");
  if (!buffer)
    return buffer.takeError();
  Expected<CTranslate2File> model = readCTranslate2File(std::move(*buffer));
  if (!model)
    return model.takeError();
  std::string config = files.pathOf("config.json");
  json::Object fields;
  if (files.has("config.json")) {
    auto text = files.read("config.json");
    if (!text)
      return text.takeError();
    Expected<json::Object> object =
        parseJsonObject((*text)->getBuffer(), config);
    if (!object)
      return object.takeError();
    fields = std::move(*object);
  } else if (model->version >= 6) {
    return makeError("'" + files.getPath() +
                     "' has no config.json, which belongs to a model.bin of "
                     "version " +
                     Twine(model->version));
  }
  CTranslate2Folder result{std::move(files),
                           std::move(*model),
                           ConfigReader(std::move(fields), config),
                           {},
                           {}};
  if (Error error = readVocabularies(result))
    return std::move(error);
  return result;
}

} // namespace heddle
