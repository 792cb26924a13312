//===- Result.h - Errors as values ------------------------------*- C++ -*-===//
//
// The runtime throws nothing, prints nothing and never aborts over its input:
// what can fail returns a Status, or a Result with the value inside. The
// message of a failure is one sentence for the person who gave the input:
// lower-case start, no final period, what, where, expected and found.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_RESULT_H
#define HEDDLE_RUNTIME_RESULT_H

#include <cassert>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace heddle {

/// Success, or a sentence that says what is wrong.
class [[nodiscard]] Status {
public:
  static Status success() { return Status(); }

  /// A failure whose message joins `parts`: texts and numbers.
  template <typename... Parts> static Status error(const Parts &...parts) {
    Status status;
    status.text.emplace();
    (append(*status.text, parts), ...);
    return status;
  }

  bool ok() const { return !text; }
  /// The sentence of a failure.
  const std::string &message() const {
    assert(text && "success has no message");
    return *text;
  }

private:
  template <typename Part>
  static void append(std::string &text, const Part &part) {
    if constexpr (std::is_floating_point_v<Part>) {
      char digits[32];
      std::snprintf(digits, sizeof digits, "%g", static_cast<double>(part));
      text += digits;
    } else if constexpr (std::is_arithmetic_v<Part>)
      text += std::to_string(part);
    else
      text += std::string_view(part);
  }

  std::optional<std::string> text;
};

/// A value, or the Status that says why there is none.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : value(std::move(value)) {}
  Result(Status failure) : failure(std::move(failure)) {
    assert(!this->failure.ok() && "a result without a value is a failure");
  }

  bool ok() const { return value.has_value(); }
  const Status &status() const { return failure; }
  const std::string &message() const { return failure.message(); }

  T &operator*() { return *value; }
  const T &operator*() const { return *value; }
  T *operator->() { return &*value; }
  const T *operator->() const { return &*value; }

private:
  std::optional<T> value;
  Status failure = Status::success();
};

/// "1 beam", "3 beams".
inline std::string countOf(int64_t count, const char *noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

} // namespace heddle

#endif // HEDDLE_RUNTIME_RESULT_H
