//===- ConfigReader.cpp - Reads the fields of a JSON object ---------------===//
//
// Every read notes the field's name, so that unread ones can be listed. The
// first failure is kept as a sentence with the file, the field, what it has and
// what is supported.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/ConfigReader.h"
#include "lib/Support/Error.h"
#include "lib/Weights/Json.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

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

std::string ConfigReader::describe(StringRef field) const {
  const json::Value *value = object.get(field);
  if (!value)
    return ("'" + path + "' has no '" + field + "'").str();
  return ("'" + path + "' has '" + field + "' with the value " +
          formatJson(*value))
      .str();
}

void ConfigReader::fail(StringRef field, const Twine &supported) {
  if (!failure.empty())
    return;
  bool isThere = object.get(field);
  failure = (describe(field) + (isThere ? " (supported: " : " (expected ") +
             supported + ")")
                .str();
}

void ConfigReader::refuse(StringRef field, const Twine &why) {
  if (failure.empty())
    failure = (describe(field) + ", " + why).str();
}

void ConfigReader::warn(StringRef field, const Twine &why) {
  warnings.push_back((describe(field) + ", " + why).str());
}

void ConfigReader::warnOfRead(StringRef field) {
  warn(field, "which is read, though transformers 4.57.6 does not");
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

std::optional<double> ConfigReader::numberOf(const json::Value &value) {
  std::optional<bool> flag = value.getAsBoolean();
  return flag ? std::optional<double>(*flag) : value.getAsNumber();
}

int64_t ConfigReader::integer(StringRef field, int64_t byDefault, int64_t min,
                              int64_t max) {
  const json::Value *value = readNonNull(field);
  if (!value)
    return byDefault;
  std::optional<int64_t> number = value->getAsInteger();
  if (std::optional<bool> flag = value->getAsBoolean())
    number = *flag;
  if (number && *number >= min && *number <= max)
    return *number;
  fail(field, Twine(min) + " to " + Twine(max));
  return byDefault;
}

int64_t ConfigReader::size(StringRef field, int64_t byDefault, int64_t min,
                           int64_t max) {
  const json::Value *value = read(field);
  if (value && value->getAsNull())
    fail(field, Twine(min) + " to " + Twine(max));
  return integer(field, byDefault, min, max);
}

double ConfigReader::number(StringRef field, double byDefault, double min,
                            double max) {
  const json::Value *value = readNonNull(field);
  if (!value)
    return byDefault;
  std::optional<double> number = numberOf(*value);
  if (number && *number >= min && *number <= max)
    return *number;
  std::string bounds;
  llvm::raw_string_ostream(bounds) << "numbers from " << llvm::format("%g", min)
                                   << " to " << llvm::format("%g", max);
  fail(field, bounds);
  return byDefault;
}

bool ConfigReader::truth(StringRef field, bool byDefault) {
  const json::Value *value = read(field);
  if (!value)
    return byDefault;
  if (std::optional<bool> flag = value->getAsBoolean())
    return *flag;
  if (std::optional<double> number = value->getAsNumber())
    return *number != 0;
  if (std::optional<StringRef> text = value->getAsString())
    return !text->empty();
  if (const json::Array *array = value->getAsArray())
    return !array->empty();
  const json::Object *fields = value->getAsObject();
  return fields && !fields->empty();
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

ArrayRef<json::Value> ConfigReader::elementsOf(StringRef field) {
  const json::Value *value = readNonNull(field);
  if (!value)
    return {};
  const json::Array *array = value->getAsArray();
  return array ? ArrayRef(array->data(), array->size()) : ArrayRef(*value);
}

std::vector<int32_t> ConfigReader::ids(StringRef field, int64_t vocabulary) {
  std::vector<int32_t> ids;
  for (const json::Value &element : elementsOf(field)) {
    if (!toId(element, vocabulary, ids.emplace_back())) {
      fail(field, "ids from 0 to " + Twine(vocabulary - 1));
      return {};
    }
  }
  return ids;
}

std::vector<int32_t> ConfigReader::knownIds(StringRef field,
                                            int64_t vocabulary) {
  std::vector<int32_t> ids;
  std::string range = ("ids from 0 to " + Twine(vocabulary - 1)).str();
  bool knowsAll = true;
  for (const json::Value &element : elementsOf(field)) {
    if (!element.getAsInteger()) {
      fail(field, range);
      return {};
    }
    if (int32_t id = 0; toId(element, vocabulary, id))
      ids.push_back(id);
    else
      knowsAll = false;
  }
  if (!knowsAll)
    warn(field, "but only " + range + " can be generated");
  return ids;
}

void ConfigReader::setDefault(StringRef field, const json::Value &value) {
  object.try_emplace(field, value);
}

void ConfigReader::fillNulls(const ConfigReader &other) {
  for (auto &[field, value] : object)
    if (const json::Value *theirs = other.object.get(field);
        theirs && value.getAsNull())
      value = *theirs;
}

void ConfigReader::substitute(StringRef field, StringRef other) {
  json::Value value = *object.get(other);
  object[field] = std::move(value);
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

std::vector<StringRef> ConfigReader::getUnread() const {
  std::vector<StringRef> unread;
  for (const auto &[key, value] : object)
    if (!seen.contains(key))
      unread.push_back(key);
  llvm::sort(unread);
  return unread;
}

} // namespace heddle
