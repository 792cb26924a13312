//===- LineTokens.cpp - Lines as token ids, and back ----------------------===//
//
// A thin layer over tokenizers: the numbers of ids are read here, and lengths
// are checked.
//
//===----------------------------------------------------------------------===//

#include "runtime/LineTokens.h"

#include <algorithm>
#include <charconv>

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

Result<TokenIds> LineTokens::source(std::string_view line) const {
  Result<TokenIds> result =
      ids ? parseIds(line) : model.tokenizer()->encode(line);
  if (!result.ok() || result->empty())
    return result;
  if (Status status = model.checkSource(*result); !status.ok())
    return status;
  if (maxSource && int64_t(result->size()) > *maxSource)
    return Status::error("has ", result->size(), " tokens, expected at most ",
                         *maxSource, " (--max-source N admits more)");
  return result;
}

Result<TokenIds> LineTokens::parseTarget(std::string_view line,
                                         TargetPart part) const {
  if (ids)
    return parseIds(line);
  if (line.empty() && part != TargetPart::Whole)
    return TokenIds();
  Result<TokenIds> target = model.tokenizer()->encodeTarget(line);
  if (!target.ok() || part == TargetPart::Any)
    return target;
  const Manifest &manifest = model.manifest();
  std::optional<int32_t> bos = manifest.generation.forcedBos
                                   ? manifest.generation.forcedBos
                                   : manifest.tokenizer.bos;
  bool isWhole = part == TargetPart::Whole;
  if (bos && (isWhole || !target->empty()))
    target->insert(target->begin(), *bos);
  if (isWhole)
    target->push_back(manifest.generation.eos.front());
  return target;
}

Result<TokenIds> LineTokens::target(std::string_view line,
                                    TargetPart part) const {
  Result<TokenIds> target = parseTarget(line, part);
  if (target.ok())
    if (Status status = model.checkTarget(*target); !status.ok())
      return status;
  return target;
}

std::string LineTokens::line(const TokenIds &target) const {
  if (ids)
    return formatIds(target);
  std::string text = model.tokenizer()->decode(target);
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}
