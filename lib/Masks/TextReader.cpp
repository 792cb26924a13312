//===- TextReader.cpp - Words of a text, and where they stand -------------===//
//
// A character of UTF-8 is one column; what a terminal would not show is a blank
// or a question mark in an excerpt, so that carets stay below their place.
//
//===----------------------------------------------------------------------===//

#include "lib/Masks/TextReader.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace heddle;

char TextError::ID = 0;

/// Bytes behind the first of a character in UTF-8 have no column of their own.
static bool hasColumn(char c) { return (static_cast<uint8_t>(c) >> 6) != 2; }

static std::string printable(StringRef text) {
  std::string result = text.str();
  for (char &c : result)
    if (isSpace(c))
      c = ' ';
    else if (static_cast<uint8_t>(c) < ' ' || c == 127)
      c = '?';
  return result;
}

TextError::TextError(StringRef text, size_t place, std::string sentence)
    : sentence(std::move(sentence)) {
  size_t begin = text.take_front(place).rfind('\n');
  begin = begin == StringRef::npos ? 0 : begin + 1;
  StringRef line = text.substr(begin).split('\n').first;
  size_t column = count_if(text.slice(begin, place), hasColumn);
  excerpt = "  " + printable(line) + "\n  " + std::string(column, ' ') + "^\n";
}

void TextError::log(raw_ostream &stream) const {
  stream << sentence << "\n" << excerpt;
}

std::error_code TextError::convertToErrorCode() const {
  return inconvertibleErrorCode();
}

void TextReader::skipSpace() {
  while (at < text.size() && isSpace(text[at]))
    ++at;
}

bool TextReader::take(char mark) {
  if (isAtEnd() || text[at] != mark)
    return false;
  end = ++at;
  skipSpace();
  return true;
}

StringRef TextReader::takeWord(StringRef more) {
  size_t begin = at;
  auto belongs = [&](char c) {
    // A name with a letter that no name has is one mistake, not two words.
    bool isAscii = static_cast<uint8_t>(c) < 128;
    return isAlnum(c) || c == '_' || more.contains(c) ||
           (!isAscii && at > begin);
  };
  while (at < text.size() && belongs(text[at]))
    ++at;
  end = at;
  skipSpace();
  return text.slice(begin, end);
}

Error TextReader::error(size_t place, const Twine &sentence) const {
  return make_error<TextError>(text, place, sentence.str());
}

Error TextReader::expected(const Twine &what) const {
  TextReader next(*this);
  StringRef word = next.takeWord();
  if (word.empty()) // A mark, of one byte or more.
    word =
        text.substr(at, 1 + text.substr(at + 1)
                                .take_until([](char c) { return hasColumn(c); })
                                .size());
  return error(at, "expected " + what + ", found " +
                       (isAtEnd() ? "the end of the text"
                                  : "'" + printable(word) + "'"));
}
