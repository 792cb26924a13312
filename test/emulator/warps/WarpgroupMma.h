//===- WarpgroupMma.h - Products that end when waited for -------*- C++ -*-===//
//
// wgmma: a thread gives its registers to a product and gets numbers in their
// place that stand for sums to come, NaNs to whoever looks at them; what waits
// for the product's group puts the sums there. Shared memory is read then.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_EMULATOR_WARPS_WARPGROUPMMA_H
#define HEDDLE_TEST_EMULATOR_WARPS_WARPGROUPMMA_H

#include "test/emulator/Operation.h"
#include "test/emulator/Waitable.h"
#include "test/emulator/memory/CommitGroups.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace heddle::emulator {

struct Context;
struct Thread;

/// One wgmma of a warpgroup.
struct Product : Waitable {
  std::string describe() const override;

  const Operation *operation = nullptr;
  unsigned warpgroup = 0;
  uint32_t serial = 0;
  /// Descriptors, and whether the sums are added to, and so on: see the
  /// handler.
  uint64_t settings[7] = {};
  /// Whose sums are added to; null where registers are.
  std::shared_ptr<Product> previous;
  /// By thread: registers of A; and `numSums` of the sums, before (unless there
  /// is a previous product, or nothing is added to) and after.
  std::vector<uint32_t> fragments;
  std::unique_ptr<uint32_t[]> sums;
  unsigned numSums = 0;
  unsigned numGiven = 0;
  bool isDone = false;
  /// When it had read shared memory, in the time of its warpgroup's products.
  uint32_t doneTime = 0;
  /// Of its reads until then.
  uint32_t ticket = 0;
  std::vector<Thread *> waiting;
};

/// A thread's part of its warpgroup's products.
struct PendingProducts {
  /// How many it has given its registers to.
  uint64_t count = 0;
  CommitGroups<std::shared_ptr<Product>> groups;
  /// Those waited for, of which sums may still stand in registers.
  std::deque<std::shared_ptr<Product>> finished;
  /// Whether registers may be given: since the last commit or wait.
  bool isFenced = false;

  void clear() {
    count = 0;
    groups.clear();
    finished.clear();
    isFenced = false;
  }
};

class WarpgroupMeetings {
public:
  void clear(unsigned numWarpgroups);

  /// The product that a thread is to give its registers to.
  std::shared_ptr<Product> join(Thread &thread, const Operation &operation);
  /// The end of reads by a warpgroup's products.
  uint32_t nextTime(unsigned warpgroup) { return ++groups[warpgroup].time; }

private:
  struct Warpgroup {
    /// Those that not all threads have given their registers to.
    std::deque<std::shared_ptr<Product>> products;
    uint64_t firstIndex = 0;
    uint32_t nextSerial = 1;
    uint32_t time = 0;
  };
  std::vector<Warpgroup> groups;
};

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_WARPS_WARPGROUPMMA_H
