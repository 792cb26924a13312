//===- RunHelp.h - The text of heddle-run --help ----------------*- C++ -*-===//

#ifndef HEDDLE_TOOLS_RUNHELP_H
#define HEDDLE_TOOLS_RUNHELP_H

#include <string>

namespace heddle {

/// Flags in groups, in lines of 80 columns: the tool's own, and the settings of
/// heddle.h.
std::string getRunHelp();

} // namespace heddle

#endif // HEDDLE_TOOLS_RUNHELP_H
