//===- AvailableCores.h - How much of the machine is ours -------*- C++ -*-===//
//
// A container or a batch system gives a process some cores of a machine: by an
// affinity, or by a quota of time in its control group or one above it.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_THREADS_AVAILABLECORES_H
#define HEDDLE_RUNTIME_THREADS_AVAILABLECORES_H

#include <cstdint>
#include <string>

namespace heddle {

/// The cores that this process may keep busy, at least 1.
int64_t availableCores();

/// The same for a process with an affinity of so many cores, with what /proc
/// and /sys say below the folder `root`. Part of a core counts as one: what
/// cannot be read limits nothing.
int64_t coresWithinQuota(int64_t cores, const std::string &root);

} // namespace heddle

#endif // HEDDLE_RUNTIME_THREADS_AVAILABLECORES_H
