//===- SettingValues.cpp - The values of settings, from text --------------===//
//
// from_chars depends on no locale and skips nothing: ' 4', '+4' and '4x' are no
// numbers. Failures name the setting and quote its value. If a real number is
// beyond the limits, or these are narrow, the sentence states them; otherwise
// it states the kind of number that is expected.
//
//===----------------------------------------------------------------------===//

#include "runtime/api/SettingValues.h"

#include "runtime/artifact/SearchSettings.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

using namespace heddle;

static Status refuse(const std::string &name, const std::string &text,
                     const std::string &expected) {
  return Status::error(name, " has the value '", text, "', expected ",
                       expected);
}

/// The number that a text is, as a whole.
template <typename Number>
static std::optional<Number> wholeNumber(const std::string &text) {
  Number value = 0;
  const char *end = text.data() + text.size();
  auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end)
    return std::nullopt;
  return value;
}

Result<bool> heddle::parseSwitch(const std::string &name,
                                 const std::string &text) {
  if (text != "true" && text != "false")
    return refuse(name, text, "true or false");
  return text == "true";
}

Result<int64_t> heddle::parseNumber(const std::string &name,
                                    const std::string &text, int64_t low,
                                    int64_t high, const std::string &unit) {
  auto value = wholeNumber<int64_t>(text);
  if (!value || *value < low || *value > high)
    return refuse(name, text,
                  "a number " + unit + "from " + std::to_string(low) + " to " +
                      std::to_string(high));
  return *value;
}

Result<double> heddle::parseReal(const std::string &name,
                                 const std::string &text, double low,
                                 double high) {
  double value = 0;
  const char *end = text.data() + text.size();
  auto [rest, error] = std::from_chars(text.data(), end, value);
  bool isNumber = error != std::errc::invalid_argument && rest == end;
  bool isBeyond = error == std::errc::result_out_of_range;
  if (isNumber && !isBeyond && value >= low && value <= high)
    return value;
  // Numbers beyond those of f32 are told the limits.
  bool isFar = isNumber && (isBeyond || std::abs(value) > kMostNumber ||
                            (value > 0 && value < low));
  if (high != kMostNumber || isFar)
    return Status::error(name, " has the value '", text,
                         "', expected a number from ", low, " to ", high);
  return refuse(name, text,
                low < 0   ? "a number"
                : low > 0 ? "a positive number"
                          : "a number of 0 or more");
}

Result<uint64_t> heddle::parseSeed(const std::string &name,
                                   const std::string &text) {
  auto value = wholeNumber<uint64_t>(text);
  if (!value)
    return refuse(name, text, "a number from 0 to 2^64 - 1");
  return *value;
}

/// Numbers of 0 or more with commas between them.
static std::optional<std::vector<int32_t>> splitList(const std::string &text) {
  std::vector<int32_t> list;
  const char *at = text.data(), *end = at + text.size();
  for (bool isMore = true; isMore;) {
    int32_t value = 0;
    auto [rest, error] = std::from_chars(at, end, value);
    isMore = rest != end && *rest == ',';
    if (error != std::errc() || value < 0 || (rest != end && !isMore))
      return std::nullopt;
    list.push_back(value);
    at = rest + 1;
  }
  return list;
}

Result<TokenIds> heddle::parseIdList(const std::string &name,
                                     const std::string &text) {
  std::optional<TokenIds> ids = splitList(text);
  if (!ids)
    return refuse(name, text, "token ids, as 4,17");
  return std::move(*ids);
}

Result<std::vector<double>> heddle::parseWeights(const std::string &name,
                                                 const std::string &text) {
  std::vector<double> weights;
  bool isAny = false;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    Result<double> weight =
        parseReal(name, text.substr(begin, end - begin), 0, 1e6);
    if (!weight.ok())
      return refuse(name, text, "numbers from 0 to 1e6, as 1,2,0.5");
    isAny = isAny || *weight > 0;
    weights.push_back(*weight);
    begin = end + 1;
  }
  return isAny ? Result(std::move(weights))
               : refuse(name, text, "a weight above 0");
}

Result<std::vector<int32_t>> heddle::parsePositions(const std::string &name,
                                                    const std::string &text) {
  if (text == "none")
    return std::vector<int32_t>();
  auto positions = splitList(text);
  if (!positions)
    return refuse(name, text, "positions, as 0,5,9, or none");
  std::sort(positions->begin(), positions->end());
  auto twice = std::adjacent_find(positions->begin(), positions->end());
  if (twice != positions->end())
    return Status::error(name, " has the position ", *twice, " twice");
  return std::move(*positions);
}

Result<DecoderForm> heddle::parseForm(const std::string &name,
                                      const std::string &text) {
  for (auto [known, form] : {std::pair("full", DecoderForm::Full),
                             std::pair("step", DecoderForm::Step),
                             std::pair("prefill", DecoderForm::Prefill)})
    if (text == known)
      return form;
  return refuse(name, text, "full, step or prefill");
}
