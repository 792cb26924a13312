//===- PerfMap.h - Names of compiled code for perf --------------*- C++ -*-===//
//
// `perf report` and its like read the names of code that lies in no file of its
// own from /tmp/perf-PID.map: a line for each function, address and size in
// hexadecimal and the name.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_CODE_PERFMAP_H
#define HEDDLE_RUNTIME_CODE_PERFMAP_H

#include "runtime/Result.h"

#include <string_view>

namespace heddle {

/// Whether the environment asks for it: HEDDLE_PERF_MAP, set and not empty.
/// perf asks the map of anonymous memory alone, to which code must be copied.
bool isPerfMapWanted();

/// Adds the functions of a shared object, kernels and entries, that was loaded
/// to `base`. The first call of a process replaces a file that is there.
/// Any thread may call it.
Status addToPerfMap(std::string_view object, const char *base);

} // namespace heddle

#endif // HEDDLE_RUNTIME_CODE_PERFMAP_H
