//===- SystemFile.h - What the system says in files -------------*- C++ -*-===//
//
// Files of /proc and /sys are short and are read at once. Streams of the C++
// library would do it, too, and be half of a small program.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_THREADS_SYSTEMFILE_H
#define HEDDLE_RUNTIME_THREADS_SYSTEMFILE_H

#include <string>

namespace heddle {

/// The content of a file; empty if there is none, as without /proc.
std::string readSystemFile(const std::string &path);

} // namespace heddle

#endif // HEDDLE_RUNTIME_THREADS_SYSTEMFILE_H
