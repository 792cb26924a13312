//===- CompilePage.h - What is said of heddle-compile -----------*- C++ -*-===//

#ifndef HEDDLE_TOOLS_HELP_COMPILEPAGE_H
#define HEDDLE_TOOLS_HELP_COMPILEPAGE_H

#include "tools/help/ToolPage.h"

namespace heddle {

/// The masks of --attention are those of lib/Masks/MaskFunctions.h.
ToolPage getCompilePage();

} // namespace heddle

#endif // HEDDLE_TOOLS_HELP_COMPILEPAGE_H
