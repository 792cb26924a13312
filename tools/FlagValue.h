//===- FlagValue.h - Flags with values on a command line --------*- C++ -*-===//
//
// How both tools read a flag: its value stands behind '=' or is the next
// argument, unless that is a flag.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_FLAGVALUE_H
#define HEDDLE_TOOLS_FLAGVALUE_H

#include "runtime/Result.h"
#include "tools/help/ToolPage.h"

#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// An argument that is a flag: "--beam", "--beam=4".
struct GivenFlag {
  explicit GivenFlag(const std::string &argument);

  std::string name;
  /// What stands behind '='; empty text if nothing does, none without '='.
  std::optional<std::string> value;
};

/// The value of the flag arguments[at]. Moves `at` to the next argument if
/// that is the value. Fails if there is none, or a flag of the page stands
/// in its place, which is hardly meant.
Result<std::string> takeValue(const GivenFlag &flag,
                              const std::vector<std::string> &arguments,
                              size_t &at, const ToolPage &page);

} // namespace heddle

#endif // HEDDLE_TOOLS_FLAGVALUE_H
