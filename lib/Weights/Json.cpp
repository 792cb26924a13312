//===- Json.cpp - JSON from files nobody vouches for ----------------------===//
//
// The scan knows just enough of the grammar to find strings and brackets: a
// string directly before ':' is a key of the innermost object. Everything else
// is the parser's business.
//
//===----------------------------------------------------------------------===//

#include "lib/Weights/Json.h"
#include "lib/Support/Error.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace heddle {

/// The index behind the string that starts at `begin` (a quote), or the end.
static size_t skipString(StringRef text, size_t begin) {
  size_t i = begin + 1;
  while (i < text.size() && text[i] != '"')
    i += text[i] == '\\' ? 2 : 1;
  return std::min(i + 1, text.size());
}

/// Refuses nesting beyond kMaxJsonDepth and keys that repeat in one object.
/// Keys are compared as written: an escape may still hide an equal key, which
/// then counts as the parser has it.
static Error checkStructure(StringRef text, StringRef file) {
  SmallVector<StringSet<>> open;
  for (size_t i = 0; i < text.size();) {
    char c = text[i];
    if (c == '"') {
      size_t end = skipString(text, i);
      StringRef key = text.slice(i + 1, end - 1);
      i = end;
      if (text.substr(i).ltrim(" \t\r\n").starts_with(":") && !open.empty() &&
          !open.back().insert(key).second)
        return makeError("'" + file + "' has the key '" + key + "' twice");
      continue;
    }
    if (c == '[' || c == '{') {
      if (open.size() == kMaxJsonDepth)
        return makeError("'" + file + "' nests deeper than " +
                         Twine(kMaxJsonDepth) + " levels");
      open.emplace_back();
    } else if ((c == ']' || c == '}') && !open.empty()) {
      open.pop_back();
    }
    ++i;
  }
  return Error::success();
}

/// The number that four hexadecimal digits behind "\\u" are; none if they are
/// not there.
static std::optional<unsigned> readEscape(StringRef text) {
  unsigned number;
  if (!text.consume_front("\\u") || text.size() < 4 ||
      text.take_front(4).getAsInteger(16, number))
    return std::nullopt;
  return number;
}

/// JSON in which characters that are written as two escapes stand as UTF-8: the
/// parser of LLVM 22 makes U+14DA9 of the escapes of U+24DA9.
static std::string joinSurrogates(StringRef text) {
  constexpr size_t escapeSize = 6;
  std::string joined;
  while (!text.empty()) {
    size_t plain = std::min(text.find('\\'), text.size());
    joined += text.take_front(plain);
    text = text.drop_front(plain);
    std::optional<unsigned> high = readEscape(text),
                            low = readEscape(text.drop_front(
                                std::min(escapeSize, text.size())));
    if (high && low && *high >> 10 == 0xD800 >> 10 &&
        *low >> 10 == 0xDC00 >> 10) {
      char buffer[UNI_MAX_UTF8_BYTES_PER_CODE_POINT], *end = buffer;
      ConvertCodePointToUTF8(0x10000 + ((*high & 0x3FF) << 10) + (*low & 0x3FF),
                             end);
      joined.append(buffer, end);
      text = text.drop_front(2 * escapeSize);
    } else {
      joined += text.take_front(2);
      text = text.drop_front(std::min<size_t>(2, text.size()));
    }
  }
  return joined;
}

/// Parses what may have characters beyond the first two planes of Unicode.
static Expected<json::Value> parseJson(StringRef text) {
  if (!text.contains_insensitive("\\ud"))
    return json::parse(text);
  return json::parse(joinSurrogates(text));
}

static Expected<json::Value> parseChecked(StringRef text, StringRef file) {
  if (Error error = checkStructure(text, file))
    return std::move(error);
  Expected<json::Value> value = parseJson(text);
  if (!value)
    return makeError("'" + file +
                     "' is not valid JSON: " + toString(value.takeError()));
  return value;
}

Expected<json::Object> parseJsonObject(StringRef text, StringRef file) {
  Expected<json::Value> value = parseChecked(text, file);
  if (!value)
    return value.takeError();
  if (json::Object *object = value->getAsObject())
    return std::move(*object);
  return makeError("'" + file + "' is not a JSON object");
}

Expected<json::Array> parseJsonArray(StringRef text, StringRef file) {
  Expected<json::Value> value = parseChecked(text, file);
  if (!value)
    return value.takeError();
  if (json::Array *array = value->getAsArray())
    return std::move(*array);
  return makeError("'" + file + "' is not a JSON list");
}

std::vector<std::string> listJsonKeys(StringRef text, StringRef field) {
  std::vector<std::string> keys;
  StringSet<> known;
  std::string outer;
  size_t wanted = field.empty() ? 1 : 2, depth = 0;
  for (size_t i = 0; i < text.size();) {
    char c = text[i];
    if (c != '"') {
      depth += c == '[' || c == '{';
      depth -= depth && (c == ']' || c == '}');
      ++i;
      continue;
    }
    size_t end = skipString(text, i);
    StringRef quoted = text.slice(i, end);
    i = end;
    if (depth > wanted || !text.substr(i).ltrim(" \t\r\n").starts_with(":"))
      continue;
    Expected<json::Value> key = parseJson(quoted);
    if (!key) {
      consumeError(key.takeError());
      continue;
    }
    std::string name = key->getAsString().value_or("").str();
    if (depth == 1)
      outer = name;
    if (depth == wanted && (field.empty() || outer == field) &&
        known.insert(name).second)
      keys.push_back(std::move(name));
  }
  return keys;
}

std::string formatJson(const json::Value &value) {
  std::string text;
  raw_string_ostream(text) << value;
  if (text.size() > 60)
    text = text.substr(0, 57) + "...";
  return text;
}

} // namespace heddle
