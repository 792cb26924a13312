//===- ConfigReader.cpp - Reads every field of a JSON object --------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/ConfigReader.h"
#include "lib/Weights/Error.h"
#include "lib/Weights/Json.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace llvm;

namespace heddle {

const json::Value *ConfigReader::read(StringRef field) {
  seen.insert(field);
  return object.get(field);
}

const json::Value *ConfigReader::readNonNull(StringRef field) {
  const json::Value *value = read(field);
  return value && value->getAsNull() ? nullptr : value;
}

void ConfigReader::fail(StringRef field, const Twine &supported) {
  if (!failure.empty())
    return;
  const json::Value *value = object.get(field);
  if (value)
    failure = ("'" + path + "' has '" + field + "' with the value " +
               formatJson(*value) + " (supported: " + supported + ")")
                  .str();
  else
    failure =
        ("'" + path + "' has no '" + field + "' (expected " + supported + ")")
            .str();
}

Error ConfigReader::takeError() const {
  return failure.empty() ? Error::success() : makeError(failure);
}

bool ConfigReader::boolean(StringRef field, bool byDefault) {
  const json::Value *value = readNonNull(field);
  if (!value)
    return byDefault;
  std::optional<bool> flag = value->getAsBoolean();
  if (!flag)
    fail(field, "true, false");
  return flag.value_or(byDefault);
}

int64_t ConfigReader::integer(StringRef field, int64_t byDefault, int64_t min,
                              int64_t max) {
  const json::Value *value = readNonNull(field);
  if (!value)
    return byDefault;
  std::optional<int64_t> number = value->getAsInteger();
  if (number && *number >= min && *number <= max)
    return *number;
  fail(field, Twine(min) + " to " + Twine(max));
  return byDefault;
}

double ConfigReader::number(StringRef field, double byDefault, double min,
                            double max) {
  const json::Value *value = readNonNull(field);
  if (!value)
    return byDefault;
  std::optional<double> number = value->getAsNumber();
  if (number && *number >= min && *number <= max)
    return *number;
  std::string bounds;
  llvm::raw_string_ostream(bounds) << "numbers from " << llvm::format("%g", min)
                                   << " to " << llvm::format("%g", max);
  fail(field, bounds);
  return byDefault;
}

double ConfigReader::positive(StringRef field, double byDefault) {
  const json::Value *value = readNonNull(field);
  if (!value)
    return byDefault;
  std::optional<double> number = value->getAsNumber();
  if (number && *number > 0 && std::isfinite(*number))
    return *number;
  fail(field, "positive numbers");
  return byDefault;
}

std::string ConfigReader::text(StringRef field, StringRef byDefault) {
  const json::Value *value = readNonNull(field);
  if (!value)
    return byDefault.str();
  std::optional<StringRef> text = value->getAsString();
  if (!text)
    fail(field, "a string");
  return text.value_or(byDefault).str();
}

bool ConfigReader::toId(const json::Value &value, int64_t vocabulary,
                        int32_t &id) const {
  std::optional<int64_t> number = value.getAsInteger();
  if (!number || *number < 0 || *number >= vocabulary)
    return false;
  id = int32_t(*number);
  return true;
}

std::optional<int64_t> ConfigReader::id(StringRef field,
                                        std::optional<int64_t> byDefault,
                                        int64_t vocabulary) {
  const json::Value *value = read(field);
  if (!value)
    return byDefault;
  if (value->getAsNull())
    return std::nullopt;
  int32_t id = 0;
  if (!toId(*value, vocabulary, id))
    fail(field, "ids from 0 to " + Twine(vocabulary - 1));
  return id;
}

std::vector<int32_t> ConfigReader::ids(StringRef field, int64_t vocabulary) {
  std::vector<int32_t> ids;
  const json::Value *value = readNonNull(field);
  if (!value)
    return ids;
  const json::Array *array = value->getAsArray();
  ArrayRef<json::Value> elements =
      array ? ArrayRef(array->data(), array->size()) : ArrayRef(*value);
  for (const json::Value &element : elements) {
    if (!toId(element, vocabulary, ids.emplace_back())) {
      fail(field, "ids from 0 to " + Twine(vocabulary - 1));
      return {};
    }
  }
  return ids;
}

void ConfigReader::require(StringRef field, ArrayRef<json::Value> supported) {
  const json::Value *value = readNonNull(field);
  if (!value || is_contained(supported, *value))
    return;
  SmallVector<std::string> texts;
  for (const json::Value &option : supported)
    texts.push_back(formatJson(option));
  fail(field, texts.empty() ? "null" : join(texts, ", "));
}

void ConfigReader::refuseUnread() {
  std::vector<StringRef> unread;
  for (const auto &[key, value] : object)
    if (!seen.contains(key))
      unread.push_back(key);
  if (unread.empty() || !failure.empty())
    return;
  StringRef field = *llvm::min_element(unread);
  failure = ("'" + path + "' has the unknown field '" + field +
             "' with the value " + formatJson(*object.get(field)))
                .str();
}

} // namespace heddle
