//===- RunHelp.h - The text of heddle-run --help ----------------*- C++ -*-===//

#ifndef HEDDLE_TOOLS_RUNHELP_H
#define HEDDLE_TOOLS_RUNHELP_H

#include <string>

namespace heddle {

/// Flags in groups, in lines of 80 columns: the tool's own, and the settings of
/// heddle.h. `program` is what a program with a model of its own is called,
/// which takes no FILE; empty for heddle-run.
std::string getRunHelp(const std::string &program);

} // namespace heddle

#endif // HEDDLE_TOOLS_RUNHELP_H
