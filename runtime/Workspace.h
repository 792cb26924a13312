//===- Workspace.h - Memory that is planned, then taken ---------*- C++ -*-===//
//
// All buffers of a batch stand in one block: first every buffer is placed,
// which gives its offset, then the block is taken, which gives its address.
// So memory can run out at one point only, and nothing allocates in a loop.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_WORKSPACE_H
#define HEDDLE_RUNTIME_WORKSPACE_H

#include "runtime/Result.h"

#include <cstdint>
#include <optional>

namespace heddle {

/// Owns the block, which only grows. Not thread-safe.
class Workspace {
public:
  Workspace() = default;
  Workspace(Workspace &&other) noexcept;
  Workspace &operator=(Workspace &&other) noexcept;
  ~Workspace();

  /// Forgets all places; the block stays for the next plan.
  void restart() { planned = 0; }
  /// The offset of a new place, aligned as KernelAbi.h promises. A size of
  /// nullopt is one that had an overflow; size() reports it.
  int64_t place(std::optional<int64_t> bytes);
  /// What all places need; nullopt where that had an overflow.
  std::optional<int64_t> size() const { return planned; }
  /// Makes the block large enough for all places, which have a size. Its
  /// content is undefined.
  Status take();
  /// Gives the block back.
  void release();
  /// Valid until the next take().
  void *at(int64_t offset) const { return block + offset; }

private:
  std::optional<int64_t> planned = 0;
  char *block = nullptr;
  int64_t blockSize = 0;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_WORKSPACE_H
