//===- JsonReader.cpp - Typed access to untrusted JSON --------------------===//
//
// Built without exceptions: a getter of the JSON library ends the process when
// the type differs, so every one of them stands behind a check of the type.
//
//===----------------------------------------------------------------------===//

#include "runtime/artifact/JsonReader.h"

#include <algorithm>
#include <cmath>

using namespace heddle;
using nlohmann::json;

static const json kNull;
static const json kEmptyArray = json::array();
static const json kEmptyObject = json::object();

/// How deep the brackets of a document nest, in its strings none. Of text that
/// is no JSON it is as good as any number.
static int64_t countLevels(std::string_view text) {
  int64_t open = 0, most = 0;
  bool isInString = false;
  for (size_t i = 0; i < text.size(); ++i)
    if (isInString && text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      isInString = !isInString;
    else if (!isInString && (text[i] == '[' || text[i] == '{'))
      most = std::max(most, ++open);
    else if (!isInString && (text[i] == ']' || text[i] == '}'))
      --open;
  return most;
}

Result<json> heddle::parseJson(std::string_view text) {
  if (int64_t levels = countLevels(text); levels > kMostJsonLevels)
    return Status::error("nests ", levels, " levels deep, expected at most ",
                         kMostJsonLevels);
  json document = json::parse(text.begin(), text.end(), /*cb=*/nullptr,
                              /*allow_exceptions=*/false);
  if (document.is_discarded())
    return Status::error("is not valid JSON");
  return document;
}

JsonReader::JsonReader(const json &value, std::string where, Status &status)
    : value(value.is_object() ? value : kEmptyObject), where(std::move(where)),
      status(status) {
  if (!value.is_object())
    fail("is ", value.type_name(), ", expected an object");
}

const json *JsonReader::find(const char *key) {
  known.push_back(key);
  auto found = value.find(key);
  return found == value.end() ? nullptr : &*found;
}

const json &JsonReader::require(const char *key) {
  if (const json *found = find(key))
    return *found;
  fail("has no '", key, "'");
  return kNull;
}

const json &JsonReader::array(const char *key) {
  const json &found = require(key);
  if (found.is_array())
    return found;
  fail("has '", key, "' as ", found.type_name(), ", expected an array");
  return kEmptyArray;
}

const json &JsonReader::object(const char *key) {
  const json &found = require(key);
  if (found.is_object())
    return found;
  fail("has '", key, "' as ", found.type_name(), ", expected an object");
  return kEmptyObject;
}

std::string JsonReader::string(const char *key) {
  const json &found = require(key);
  if (found.is_string())
    return found.get<std::string>();
  fail("has '", key, "' as ", found.type_name(), ", expected a string");
  return std::string();
}

std::vector<std::string> JsonReader::strings(const char *key) {
  std::vector<std::string> result;
  for (const json &element : array(key)) {
    if (!element.is_string()) {
      fail("has ", element.type_name(), " in '", key, "', expected a string");
      break;
    }
    result.push_back(element.get<std::string>());
  }
  return result;
}

bool JsonReader::inRange(const json &number, IntegerRange range) const {
  if (!number.is_number_integer())
    return false;
  // Beyond int64_t only as unsigned, where the conversion would wrap.
  if (number.is_number_unsigned() &&
      number.get<uint64_t>() > uint64_t(std::numeric_limits<int64_t>::max()))
    return false;
  int64_t integer = number.get<int64_t>();
  return integer >= range.low && integer <= range.high;
}

std::optional<int64_t> JsonReader::optionalInteger(const char *key,
                                                   IntegerRange range) {
  const json *found = find(key);
  if (!found)
    return std::nullopt;
  if (inRange(*found, range))
    return found->get<int64_t>();
  fail("has '", key, "' = ", found->dump(), ", expected an integer from ",
       range.low, " to ", range.high);
  return std::nullopt;
}

int64_t JsonReader::integer(const char *key, IntegerRange range) {
  if (!value.contains(key))
    fail("has no '", key, "'");
  return optionalInteger(key, range).value_or(range.low);
}

std::optional<double> JsonReader::optionalPositiveNumber(const char *key) {
  const json *found = find(key);
  if (!found)
    return std::nullopt;
  if (found->is_number() && found->get<double>() > 0 &&
      std::isfinite(found->get<double>()))
    return found->get<double>();
  fail("has '", key, "' = ", found->dump(), ", expected a positive number");
  return std::nullopt;
}

std::optional<double> JsonReader::optionalNumber(const char *key, double low,
                                                 double high) {
  const json *found = find(key);
  if (!found)
    return std::nullopt;
  if (found->is_number() && found->get<double>() >= low &&
      found->get<double>() <= high)
    return found->get<double>();
  fail("has '", key, "' = ", found->dump(), ", expected a number from ", low,
       " to ", high);
  return std::nullopt;
}

bool JsonReader::readIds(const char *key, const json &list, IntegerRange range,
                         std::vector<int32_t> &ids) {
  if (!list.is_array()) {
    fail("has ", list.type_name(), " in '", key, "', expected an array of ids");
    return false;
  }
  for (const json &id : list) {
    if (!inRange(id, range)) {
      fail("has ", id.dump(), " in '", key, "', expected an id from ",
           range.low, " to ", range.high);
      return false;
    }
    ids.push_back(id.get<int32_t>());
  }
  return true;
}

std::vector<int32_t> JsonReader::optionalIds(const char *key,
                                             IntegerRange range) {
  std::vector<int32_t> ids;
  if (const json *found = find(key))
    readIds(key, *found, range, ids);
  return ids;
}

std::vector<std::vector<int32_t>>
JsonReader::optionalIdLists(const char *key, IntegerRange range) {
  std::vector<std::vector<int32_t>> lists;
  if (!find(key))
    return lists;
  for (const json &list : array(key)) {
    lists.emplace_back();
    if (!readIds(key, list, range, lists.back()))
      break;
    if (lists.back().empty())
      fail("has an empty list in '", key, "'");
  }
  return lists;
}

void JsonReader::rejectOtherKeys() {
  for (const auto &item : value.items())
    if (std::find(known.begin(), known.end(), item.key()) == known.end())
      fail("has the key '", item.key(), "', which this runtime does not know");
}
