//===- FlagValue.cpp - Flags with values on a command line ----------------===//
//
// A flag of the page is never taken for the value of the flag before it: who
// writes "--beam --info" has forgotten a number. A value that looks like such a
// flag stands behind '='.
//
//===----------------------------------------------------------------------===//

#include "tools/FlagValue.h"

#include <algorithm>

using namespace heddle;

GivenFlag::GivenFlag(const std::string &argument) {
  size_t equals = argument.find('=');
  name = argument.substr(0, equals);
  if (equals != std::string::npos)
    value = argument.substr(equals + 1);
}

/// Whether an argument is a flag of the page, with a value behind '=' or not.
static bool isFlagOf(const std::string &argument, const ToolPage &page) {
  std::string name = GivenFlag(argument).name;
  return argument == "-h" ||
         std::any_of(page.flags.begin(), page.flags.end(),
                     [&](const Flag &each) { return each.name == name; });
}

Result<std::string> heddle::takeValue(const GivenFlag &flag,
                                      const std::vector<std::string> &arguments,
                                      size_t &at, const ToolPage &page) {
  if (flag.value)
    return *flag.value;
  if (++at == arguments.size())
    return Status::error(flag.name, " needs a value");
  if (isFlagOf(arguments[at], page))
    return Status::error(flag.name, " needs a value, found the flag '",
                         arguments[at], "'");
  return arguments[at];
}
