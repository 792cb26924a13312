//===- WholeFile.h - A file that is there whole or not at all ---*- C++ -*-===//

#ifndef HEDDLE_TOOLS_WHOLEFILE_H
#define HEDDLE_TOOLS_WHOLEFILE_H

#include "runtime/Result.h"

#include <string>
#include <string_view>

namespace heddle {

/// Creates a temporary file beside `path`, which it owns, for whom the
/// process's umask admits. `path` names a regular file or none. `temporary`
/// gets its name. Returns its descriptor.
Result<int> createTemporary(const std::string &path, std::string &temporary);

/// Whether a file could be written, before the work whose result it is to hold.
Status checkWritable(const std::string &path);

/// Writes `text` beside `path` and renames the file when it is whole. Nothing
/// is left behind where that fails or a signal ends the process.
Status writeWholeFile(const std::string &path, std::string_view text);

} // namespace heddle

#endif // HEDDLE_TOOLS_WHOLEFILE_H
