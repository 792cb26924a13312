//===- OutputWriter.h - Standard output that notices errors -----*- C++ -*-===//
//
// Buffers what is printed and reports what the system says when it is written:
// a full disk or a closed pipe must not look like success.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_RUN_OUTPUTWRITER_H
#define HEDDLE_TOOLS_RUN_OUTPUTWRITER_H

#include "runtime/Result.h"

#include <string>
#include <string_view>

namespace heddle {

/// Not thread-safe. What is not flushed is lost.
class OutputWriter {
public:
  void print(std::string_view text) { buffer += text; }
  /// Writes all that was printed to standard output.
  Status flush();
  /// Whether a flush failed because nobody reads any more.
  bool readerIsGone() const { return gone; }

private:
  std::string buffer;
  bool gone = false;
};

} // namespace heddle

#endif // HEDDLE_TOOLS_RUN_OUTPUTWRITER_H
