//===- IsaLevels.h - The ISA levels that a machine may have -----*- C++ -*-===//

#ifndef HEDDLE_RUNTIME_CODE_ISALEVELS_H
#define HEDDLE_RUNTIME_CODE_ISALEVELS_H

#include <string_view>

namespace heddle {

/// From 1 upwards, the better the more, for an ISA level that this machine and
/// its operating system have; 0 for one that they lack, and for a name that
/// this runtime does not know. If a level has tiles the process asks for the
/// permission to use them, once: threads that it starts later have it, too.
int rankOfIsa(std::string_view name);

/// Whether code of that level has vectors of 512 bits; false for a name that
/// this runtime does not know.
bool isaHasAvx512(std::string_view name);

/// Whether code of that level multiplies bytes by VNNI's instruction; false for
/// a name that this runtime does not know.
bool isaHasVnni(std::string_view name);

/// Whether code of that level multiplies tiles (AMX), for which `rankOfIsa` has
/// got the permission of the operating system; false for a name that this
/// runtime does not know.
bool isaHasTiles(std::string_view name);
/// Whether code of that level multiplies bf16 by an instruction for it; false
/// for a name that this runtime does not know.
bool isaHasBf16(std::string_view name);

} // namespace heddle

#endif // HEDDLE_RUNTIME_CODE_ISALEVELS_H
