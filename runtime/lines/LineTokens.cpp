//===- LineTokens.cpp - Lines as token ids, and back ----------------------===//
//
// A thin layer over tokenizers: the numbers of ids are read here, and lengths
// are checked.
//
//===----------------------------------------------------------------------===//

#include "runtime/lines/LineTokens.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>

using namespace heddle;

static constexpr std::string_view kSpaces = " \t\r\v\f";
/// How much of a malformed word an error shows.
static constexpr size_t kShownBytes = 32;

Result<TokenIds> heddle::parseIds(std::string_view line) {
  TokenIds ids;
  for (;;) {
    size_t begin = line.find_first_not_of(kSpaces);
    if (begin == std::string_view::npos)
      return ids;
    line.remove_prefix(begin);
    std::string_view word = line.substr(0, line.find_first_of(kSpaces));
    line.remove_prefix(word.size());
    int32_t id = 0;
    const char *end = word.data() + word.size();
    auto [rest, error] = std::from_chars(word.data(), end, id);
    if (error != std::errc() || rest != end)
      return Status::error("has '", word.substr(0, kShownBytes),
                           "', expected token ids separated by spaces");
    ids.push_back(id);
  }
}

std::string heddle::formatIds(const TokenIds &ids) {
  std::string text;
  for (int32_t id : ids)
    text += (text.empty() ? "" : " ") + std::to_string(id);
  return text;
}

Status LineTokens::checkTokenizer() const {
  if (model.tokenizer())
    return Status::success();
  const std::string &reason = model.manifest().tokenizer.reason;
  return Status::error("is text, but '", model.artifact().path(),
                       "' has no tokenizer", reason.empty() ? "" : ": ",
                       reason);
}

Result<TokenIds> LineTokens::parseSource(const LineText &line) const {
  if (line.ids)
    return *line.ids;
  if (ids)
    return parseIds(line.text);
  if (Status status = checkTokenizer(); !status.ok())
    return status;
  Result<TokenIds> source =
      model.tokenizer()->encode(line.text, languages.source);
  bool readsEmpty =
      model.manifest().promptsTarget || !model.manifest().generates;
  if (!source.ok() || !source->empty() || !readsEmpty)
    return source;
  // An empty prompt, or text of an encoder, is what its tokenizer puts around a
  // text, if anything.
  bool isCut = false;
  Result<TextEncoding> around = model.tokenizer()->encodeBeginning(
      line.text, /*most=*/{}, /*tracks=*/false, isCut);
  return around.ok() ? Result(std::move(around->ids)) : around.status();
}

/// The most tokens of a source.
std::optional<int64_t> LineTokens::mostSource() const {
  std::optional<int64_t> positions = model.manifest().sourcePositions;
  return maxSource && positions ? std::min(maxSource, positions)
         : maxSource            ? maxSource
                                : positions;
}

/// How many of the last tokens end a source: eos, and the language behind it.
size_t LineTokens::endOf(const TokenIds &source) const {
  const TokenizerDescription &tokenizer = model.manifest().tokenizer;
  const std::vector<int32_t> &ends = model.manifest().generation.eos;
  size_t length = 0;
  std::optional<int32_t> language =
      languages.source ? languages.source : tokenizer.language;
  if (language && source.back() == *language)
    ++length;
  if (length == source.size())
    return length;
  int32_t last = source[source.size() - length - 1];
  bool isEnd = tokenizer.eos ? last == *tokenizer.eos
                             : std::count(ends.begin(), ends.end(), last) != 0;
  return length + (isEnd ? 1 : 0);
}

std::pair<size_t, size_t> LineTokens::textOf(const TokenIds &source) const {
  const TokenizerDescription &tokenizer = model.manifest().tokenizer;
  if (ids || source.empty())
    return {0, source.size()};
  std::optional<int32_t> language =
      languages.source ? languages.source : tokenizer.language;
  bool hasFirst = source.front() == tokenizer.bos || source.front() == language;
  size_t end = source.size() - endOf(source);
  return {std::min(size_t(hasFirst), end), end};
}

std::vector<std::string>
LineTokens::spellings(const std::string &source) const {
  bool isCut = false;
  std::vector<std::string> all;
  if (!model.tokenizer())
    return all;
  Result<TextEncoding> encoding = model.tokenizer()->encodeBeginning(
      source, /*most=*/{}, /*tracks=*/true, isCut);
  if (!encoding.ok())
    return all;
  for (TextRange range : encoding->ranges) {
    size_t begin = source.find_first_not_of(" \t\r\n", range.begin);
    begin = std::min(begin, size_t(range.end));
    size_t end = range.end;
    while (end > begin && std::strchr(" \t\r\n", source[end - 1]))
      --end;
    all.push_back(source.substr(begin, end - begin));
  }
  return all;
}

bool LineTokens::isOfText(int32_t target) const {
  const std::vector<int32_t> &special = model.manifest().tokenizer.special,
                             &ends = model.manifest().generation.eos;
  return ids || (!std::count(special.begin(), special.end(), target) &&
                 !std::count(ends.begin(), ends.end(), target));
}

Result<TokenIds> LineTokens::source(const LineText &line,
                                    std::string *cut) const {
  Result<TokenIds> result = parseSource(line);
  if (!result.ok() || result->empty())
    return result;
  if (auto most = mostSource();
      cut && most && int64_t(result->size()) > *most) {
    *cut = "has " + std::to_string(result->size()) + " tokens and is cut to " +
           std::to_string(*most);
    // Of a prompt the latest text stays, behind the token that begins all, if
    // there is one; of a source the first text, in front of what ends all.
    size_t end = std::min(endOf(*result), size_t(*most));
    if (model.manifest().promptsTarget)
      end = size_t(*most) -
            (result->front() == model.manifest().tokenizer.bos ? 1 : 0);
    result->erase(result->begin() + ptrdiff_t(size_t(*most) - end),
                  result->end() - ptrdiff_t(end));
  }
  if (Status status = model.checkSource(*result); !status.ok())
    return status;
  if (maxSource && int64_t(result->size()) > *maxSource)
    return Status::error("has ", result->size(), " tokens, expected at most ",
                         *maxSource, " (", settingPrefix,
                         "max-source N admits more)");
  return result;
}

Result<TokenIds> LineTokens::parseTarget(const LineText &line,
                                         TargetPart part) const {
  if (line.ids)
    return *line.ids;
  if (ids)
    return parseIds(line.text);
  if (line.text.empty() && part != TargetPart::Whole)
    return TokenIds();
  if (Status status = checkTokenizer(); !status.ok())
    return status;
  Result<TokenIds> target = model.tokenizer()->encodeTarget(line.text);
  if (!target.ok() || part == TargetPart::Any)
    return target;
  Generation generation = this->generation();
  const TokenizerDescription &tokenizer = model.manifest().tokenizer;
  std::optional<int32_t> bos =
      generation.forcedBos || tokenizer.targetLanguage == TargetLanguage::Source
          ? generation.forcedBos
          : tokenizer.bos;
  bool isWhole = part == TargetPart::Whole;
  if (bos && (isWhole || !target->empty()))
    target->insert(target->begin(), *bos);
  if (isWhole && !generation.eos.empty())
    target->push_back(generation.eos.front());
  return target;
}

Result<TokenIds> LineTokens::target(const LineText &line, TargetPart part,
                                    bool ofAnyLength) const {
  Result<TokenIds> target = parseTarget(line, part);
  if (!target.ok())
    return target;
  Status status = part == TargetPart::Beginning ? model.checkPrefix(*target)
                  : ofAnyLength                 ? model.checkTargetIds(*target)
                                                : model.checkTarget(*target);
  return status.ok() ? target : status;
}

Result<TokenIds> LineTokens::tokensOfWords(std::string_view line) const {
  if (Status status = checkTokenizer(); !status.ok())
    return status;
  const std::optional<int32_t> &unknown = model.manifest().tokenizer.unknown;
  TokenIds all;
  while (true) {
    size_t begin = line.find_first_not_of(kSpaces);
    if (begin == std::string_view::npos)
      return all;
    line.remove_prefix(begin);
    std::string word(line.substr(0, line.find_first_of(kSpaces)));
    line.remove_prefix(word.size());
    for (const std::string &text : {word, " " + word}) {
      Result<TokenIds> ids = model.tokenizer()->encodeTarget(text);
      if (!ids.ok())
        return ids;
      std::copy_if(ids->begin(), ids->end(), std::back_inserter(all),
                   [&](int32_t id) { return id != unknown; });
    }
  }
}

Generation LineTokens::generation() const {
  const Manifest &manifest = model.manifest();
  Generation generation = manifest.generation;
  if (languages.target)
    setTargetLanguage(manifest.tokenizer, *languages.target, generation);
  return generation;
}

std::string LineTokens::text(const TokenIds &target) const {
  if (ids)
    return formatIds(target);
  return model.tokenizer() ? model.tokenizer()->decode(target) : "";
}
