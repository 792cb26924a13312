//===- JsonReader.h - Typed access to untrusted JSON ------------*- C++ -*-===//
//
// Reads the keys of an object with type and range checks. The first failure is
// kept and every later read returns a default, so that a parser reads as the
// list of its keys and asks once, at the end, whether all went well.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_ARTIFACT_JSONREADER_H
#define HEDDLE_RUNTIME_ARTIFACT_JSONREADER_H

#include "runtime/Result.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// Deepest nesting of arrays and objects that is accepted: what walks a
/// document recurses once a level.
inline constexpr int64_t kMostJsonLevels = 64;

/// Parses a document. An error begins with a verb.
Result<nlohmann::json> parseJson(std::string_view text);

/// Inclusive bounds of an integer.
struct IntegerRange {
  int64_t low = 0;
  int64_t high = std::numeric_limits<int64_t>::max();
};

/// One object of a document. Borrows the value and the status, which all
/// readers of a document share. Not thread-safe.
class JsonReader {
public:
  /// `where` names the object in errors: "generation".
  JsonReader(const nlohmann::json &value, std::string where, Status &status);

  std::string string(const char *key);
  int64_t integer(const char *key, IntegerRange range);
  std::optional<int64_t> optionalInteger(const char *key, IntegerRange range);
  std::optional<double> optionalPositiveNumber(const char *key);
  /// A number from `low` to `high`.
  std::optional<double> optionalNumber(const char *key, double low,
                                       double high);
  /// An absent list is empty.
  std::vector<int32_t> optionalIds(const char *key, IntegerRange range);
  std::vector<std::vector<int32_t>> optionalIdLists(const char *key,
                                                    IntegerRange range);
  std::vector<std::string> strings(const char *key);
  /// The value of a key that must be an array or an object; an empty one after
  /// a failure.
  const nlohmann::json &array(const char *key);
  const nlohmann::json &object(const char *key);
  /// The value of a key, or null.
  const nlohmann::json *find(const char *key);

  /// Fails if the object has a key that nobody asked for: it may change
  /// what the model computes.
  void rejectOtherKeys();

  template <typename... Parts> void fail(const Parts &...parts) {
    if (status.ok())
      status = Status::error(where, " ", parts...);
  }

private:
  const nlohmann::json &require(const char *key);
  bool readIds(const char *key, const nlohmann::json &value, IntegerRange range,
               std::vector<int32_t> &ids);
  bool inRange(const nlohmann::json &value, IntegerRange range) const;

  const nlohmann::json &value;
  std::string where;
  Status &status;
  std::vector<std::string_view> known;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_ARTIFACT_JSONREADER_H
