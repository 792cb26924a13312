//===- UnknownFlag.h - What an unknown flag may have meant ------*- C++ -*-===//

#ifndef HEDDLE_TOOLS_UNKNOWNFLAG_H
#define HEDDLE_TOOLS_UNKNOWNFLAG_H

#include "tools/help/ToolPage.h"

#include <string>
#include <string_view>

namespace heddle {

/// A sentence about an argument that looks like a flag and is none of the
/// page's: with the nearest ones, or what the tool has in place of it.
/// `otherwise` is what such an argument may be in place of a flag, "text";
/// empty for nothing.
std::string describeUnknownFlag(const std::string &argument,
                                const ToolPage &page,
                                std::string_view otherwise);

/// A sentence about an argument that begins with a typographic dash in place of
/// '--', as pages of the web have it; empty if it is something else.
std::string describePrintedDash(const std::string &argument,
                                const ToolPage &page);

} // namespace heddle

#endif // HEDDLE_TOOLS_UNKNOWNFLAG_H
