//===- OnError.h - What is done about a line that fails ---------*- C++ -*-===//
//
// A line fails that a model cannot take: it is too long, its ids are none of
// the vocabulary or no numbers, its target does not fit, or it needs more
// memory than there may be. What fails beside lines, a file or a device, ends a
// run in any case.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_LINES_ONERROR_H
#define HEDDLE_RUNTIME_LINES_ONERROR_H

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace heddle {

/// The run ends behind the lines before it; the line has no answer, and the run
/// goes on; or a source that is too long is cut, and other failures end the
/// run.
enum class OnError { Stop, Skip, Crop };

inline constexpr std::array<const char *, 3> kOnErrorNames = {"stop", "skip",
                                                              "crop"};

inline const char *nameOf(OnError rule) {
  return kOnErrorNames[static_cast<size_t>(rule)];
}

inline std::optional<OnError> parseOnError(std::string_view name) {
  for (OnError rule : {OnError::Stop, OnError::Skip, OnError::Crop})
    if (name == nameOf(rule))
      return rule;
  return std::nullopt;
}

} // namespace heddle

#endif // HEDDLE_RUNTIME_LINES_ONERROR_H
