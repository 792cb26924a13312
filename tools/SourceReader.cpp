//===- SourceReader.cpp - Lines as token ids ------------------------------===//
//
// Every error names its line; lines before it are handed out first, so that
// their translations are not lost.
//
//===----------------------------------------------------------------------===//

#include "tools/SourceReader.h"

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

Result<TokenIds> SourceReader::parse(std::string_view line) const {
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

SourceReader::Lines SourceReader::next(int64_t count, int64_t tokens) {
  Lines result;
  auto isFull = [&] {
    return int64_t(result.sources.size()) >= count || tokens <= 0;
  };
  do {
    Result<std::optional<std::string>> line = lines.next();
    if (!line.ok()) {
      result.last = true;
      result.failure = line.status();
    } else if (!*line) {
      result.last = true;
    } else if (Result<TokenIds> source = parse(**line); source.ok()) {
      tokens -= int64_t(source->size());
      result.sources.push_back(std::move(*source));
    } else {
      result.last = true;
      result.failure = Status::error(lines.where(), " ", source.message());
    }
  } while (!result.last && !isFull() && lines.isReady());
  return result;
}
