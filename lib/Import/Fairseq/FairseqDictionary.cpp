//===- FairseqDictionary.cpp - The tokens of a side -----------------------===//
//
// fairseq 0.12.2's Dictionary.load: a token may hold spaces, the last one of a
// line stands in front of the count. "#fairseq:overwrite" behind that lets a
// line give a token that is there another id.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Fairseq/FairseqDictionary.h"
#include "lib/Support/Error.h"
#include "lib/Weights/MappedFile.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace heddle {

static constexpr StringLiteral kSpecial[] = {"<s>", "<pad>", "</s>", "<unk>"};

Expected<FairseqDictionary> readFairseqDictionary(const std::string &path) {
  auto buffer = mapFile(path);
  if (!buffer)
    return buffer.takeError();
  FairseqDictionary dictionary{path, {}};
  StringMap<size_t> ids;
  for (StringRef token : kSpecial) {
    ids[token] = dictionary.tokens.size();
    dictionary.tokens.push_back(token.str());
  }
  size_t number = 0;
  for (StringRef rest = (*buffer)->getBuffer(); !rest.empty();) {
    StringRef line;
    std::tie(line, rest) = rest.split('\n');
    std::string place =
        "line " + std::to_string(++number) + " of '" + path + "'";
    if (!json::isUTF8(line))
      return makeError(place + " is no UTF-8");
    line = line.rtrim();
    bool overwrites = line.consume_back(" #fairseq:overwrite");
    auto [token, count] = line.rsplit(' ');
    int64_t value;
    if (token.empty() || count.getAsInteger(10, value))
      return makeError(place + " is '" + line +
                       "' (expected a token, a space and a count)");
    auto [entry, isNew] = ids.try_emplace(token, dictionary.tokens.size());
    if (!isNew && !overwrites)
      return makeError(place + " has the token '" + token +
                       "', which has the id " + Twine(entry->second) +
                       " already (expected '#fairseq:overwrite' behind it)");
    entry->second = dictionary.tokens.size();
    dictionary.tokens.push_back(token.str());
  }
  return dictionary;
}

} // namespace heddle
