//===- MarianOptionReader.cpp - The values of Marian's options ------------===//
//
// A wrong option has a value all the same, so that callers read all options in
// a row and ask once for the failure: the first one, which names the file, the
// option, its value and what is supported. Booleans have the spellings that
// yaml-cpp reads: true, yes, on and y, in lower or upper case or with a
// capital.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Marian/MarianOptionReader.h"
#include "dialect/NearestName.h"
#include "lib/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>
#include <limits>

using namespace llvm;

namespace heddle {

std::optional<bool> parseYamlBoolean(StringRef text) {
  // In lower case, in upper case, or with a capital.
  std::string lower = text.lower();
  if (text != lower && text != StringRef(lower).upper() &&
      text != toUpper(text.front()) + lower.substr(1))
    return std::nullopt;
  return StringSwitch<std::optional<bool>>(lower)
      .Cases({"true", "yes", "on", "y"}, true)
      .Cases({"false", "no", "off", "n"}, false)
      .Default(std::nullopt);
}

void MarianOptionReader::fail(StringRef name, const Twine &value,
                              const Twine &supported) {
  if (failure.empty())
    failure = ("'" + file + "' has the option '" + name + "' with the value '" +
               value + "' (supported: " + supported + ")")
                  .str();
}

Error MarianOptionReader::takeError() const {
  return failure.empty() ? Error::success() : makeError(failure);
}

Error MarianOptionReader::refuseUnknown(StringRef name, const YamlValue &value,
                                        ArrayRef<StringRef> known) const {
  return makeError("'" + file + "' has the unknown option '" + name +
                   "' with the value '" + value.format() + "'" +
                   suggestNearest(name, known));
}

std::string MarianOptionReader::text(StringRef name, StringRef byDefault) {
  auto option = options.find(name.str());
  if (option == options.end())
    return byDefault.str();
  return option->second.format();
}

int64_t MarianOptionReader::integer(StringRef name, int64_t byDefault,
                                    int64_t min, int64_t max) {
  std::string value = text(name, std::to_string(byDefault));
  int64_t number;
  if (!StringRef(value).getAsInteger(10, number) && number >= min &&
      number <= max)
    return number;
  fail(name, value, Twine(min) + " to " + Twine(max));
  return min;
}

double MarianOptionReader::number(StringRef name, double byDefault) {
  auto option = options.find(name.str());
  if (option == options.end())
    return byDefault;
  double number;
  std::string value = option->second.format();
  if (!option->second.isList && !value.empty() && to_float(value, number) &&
      std::abs(number) <= std::numeric_limits<float>::max())
    return number;
  fail(name, value, "a number that f32 holds");
  return byDefault;
}

bool MarianOptionReader::boolean(StringRef name) {
  std::string value = text(name, "false");
  std::optional<bool> truth = parseYamlBoolean(value);
  if (!truth)
    fail(name, value, "true, false");
  return truth.value_or(false);
}

std::string MarianOptionReader::letters(StringRef name, StringRef byDefault,
                                        StringRef allowed) {
  std::string value = text(name, byDefault);
  if (StringRef(value).find_first_not_of(allowed) != StringRef::npos)
    fail(name, value, "the letters " + allowed);
  return value;
}

SmallVector<int64_t> MarianOptionReader::integers(StringRef name, int64_t min,
                                                  int64_t max) {
  SmallVector<int64_t> numbers;
  auto option = options.find(name.str());
  if (option == options.end())
    return numbers;
  for (const std::string &value : option->second.values) {
    int64_t number;
    if (StringRef(value).getAsInteger(10, number) || number < min ||
        number > max) {
      fail(name, option->second.format(),
           "numbers from " + Twine(min) + " to " + Twine(max));
      return {};
    }
    numbers.push_back(number);
  }
  return numbers;
}

} // namespace heddle
