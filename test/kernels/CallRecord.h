//===- CallRecord.h - Calls of entries as files -----------------*- C++ -*-===//
//
// What a test has asked of an emulator, and got, for a machine with a GPU to be
// asked again: where the environment variable HEDDLE_RECORD_CALLS names a
// folder, each module that a test compiles for a GPU becomes NUMBER.heddle
// there, for the targets that HEDDLE_RECORD_TARGET names, and the first
// calls of its entries NUMBER-CALL.call.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_KERNELS_CALLRECORD_H
#define HEDDLE_TEST_KERNELS_CALLRECORD_H

#include "runtime/Result.h"
#include "runtime/artifact/Manifest.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace heddle::test {

struct RecordedCall {
  std::string entry;
  DimValues dims;
  /// Of each argument in the manifest's order, before the call and after it.
  std::vector<std::string> before, after;

  Status write(const std::string &path) const;
  static Result<RecordedCall> read(const std::string &path);
};

/// Of one module. One thread at a time.
class CallRecorder {
public:
  /// The next one of this process; null unless calls are recorded.
  static std::shared_ptr<CallRecorder> next();

  /// Where the artifact goes, and what it is compiled for: by default PTX.
  std::string artifact() const { return prefix + ".heddle"; }
  static std::string target();
  /// Writes a call, unless it is large or others have been enough.
  Status add(const RecordedCall &call);

private:
  explicit CallRecorder(std::string prefix) : prefix(std::move(prefix)) {}

  std::string prefix;
  /// Of each entry, and of all.
  std::map<std::string, int> calls;
  int number = 0;
};

} // namespace heddle::test

#endif // HEDDLE_TEST_KERNELS_CALLRECORD_H
