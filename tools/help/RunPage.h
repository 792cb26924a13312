//===- RunPage.h - What is said of heddle-run -------------------*- C++ -*-===//

#ifndef HEDDLE_TOOLS_HELP_RUNPAGE_H
#define HEDDLE_TOOLS_HELP_RUNPAGE_H

#include "tools/help/ToolPage.h"

namespace heddle {

/// The tool's own flags, and the settings of heddle.h. `program` is what a
/// program with a model of its own is called, which takes no FILE; empty for
/// heddle-run.
ToolPage getRunPage(const std::string &program);

} // namespace heddle

#endif // HEDDLE_TOOLS_HELP_RUNPAGE_H
