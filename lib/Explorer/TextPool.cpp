//===- TextPool.cpp - Relative numbers, a hash, and zlib ------------------===//
//
// The number at the end of a value's name is replaced by `~` and its difference
// to the last number behind the same name. A text that has a `~` already is
// kept as it is, and a mark in front tells the two kinds apart. Texts are
// compared by their SHA-256, together with the names of their lines: only a
// text that is new is shortened, deflated and encoded in base64.
//
//===----------------------------------------------------------------------===//

#include "lib/Explorer/TextPool.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/Compression.h"
#include "llvm/Support/SHA256.h"

using namespace heddle;
using llvm::StringRef;

static bool isNameCharacter(char c) {
  return llvm::isAlnum(c) || StringRef("_$.-").contains(c);
}

/// Digits at the end of a value's name that are a number: all of it, or what
/// stands behind an underscore.
static size_t countDigits(StringRef name) {
  size_t begin = name.find_last_not_of("0123456789") + 1;
  size_t count = name.size() - begin;
  bool isApart = begin == 0 || name[begin - 1] == '_';
  bool isPlain = count > 0 && count < 9 && (count == 1 || name[begin] != '0');
  return isApart && isPlain ? count : 0;
}

std::string heddle::shortenNumbers(StringRef text) {
  std::string result;
  result.reserve(text.size());
  llvm::StringMap<int64_t> last;
  while (true) {
    size_t percent = text.find('%');
    result +=
        text.take_front(percent == StringRef::npos ? percent : percent + 1);
    if (percent == StringRef::npos)
      return result;
    text = text.drop_front(percent + 1);
    StringRef name = text.take_while(isNameCharacter);
    text = text.drop_front(name.size());
    size_t digits = countDigits(name);
    int64_t number;
    if (digits == 0 || name.take_back(digits).getAsInteger(10, number)) {
      result += name;
      continue;
    }
    int64_t &before = last[name.drop_back(digits)];
    result += name.drop_back(digits);
    result += '~' + std::to_string(number - before);
    before = number;
  }
}

static std::string toBase64(StringRef text) {
  llvm::SmallVector<uint8_t, 0> bytes;
  llvm::compression::zlib::compress(llvm::arrayRefFromStringRef(text), bytes);
  return llvm::encodeBase64(bytes);
}

size_t TextPool::add(StringRef text, llvm::ArrayRef<NamedLine> named) {
  bool isShort = !text.contains('~');
  std::string whole = isShort ? "~" : "";
  unsigned before = 0;
  for (NamedLine each : named) {
    whole += std::to_string(each.line - before) + ":" +
             std::to_string(each.names) + " ";
    before = each.line;
  }
  whole += "\n";
  whole += text;
  std::array<uint8_t, 32> hash =
      llvm::SHA256::hash(llvm::arrayRefFromStringRef(whole));
  auto [at, isNew] = known.try_emplace(llvm::toStringRef(hash), texts.size());
  if (isNew)
    texts.push_back(toBase64(isShort ? shortenNumbers(whole) : whole));
  return at->second;
}
