//===- AsyncCopies.h - Copies that end when they are waited for -*- C++ -*-===//
//
// cp.async writes shared memory when its thread waits for its group; a bulk
// copy when somebody waits for the phase of its mbarrier; a bulk store reads
// shared memory when its thread waits for its group. Before that, bytes are as
// if the copy had not begun, and may not be touched.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_EMULATOR_ASYNCCOPIES_H
#define HEDDLE_TEST_EMULATOR_ASYNCCOPIES_H

#include "Clock.h"
#include "Waitable.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace heddle::emulator {

struct Context;
struct Thread;
class Worker;

/// cp.async of 4, 8 or 16 bytes, of which those behind `read` become zeros.
struct SmallCopy {
  uint64_t to = 0, from = 0;
  uint32_t size = 0, read = 0;
};

/// A thread's groups.
struct CopyGroups {
  std::vector<SmallCopy> open;
  std::deque<std::vector<SmallCopy>> committed;
  /// Stores to global memory, as what does them.
  std::vector<std::function<void()>> openStores;
  std::deque<std::vector<std::function<void()>>> committedStores;
  /// When the thread last let asynchronous units see what it wrote, and what it
  /// had seen then.
  uint32_t proxyFenceTime = 0;
  std::shared_ptr<const Times> proxyFenceSeen;
  /// When it last did so with mbarriers that it initialised.
  uint32_t barrierFenceTime = 0;

  void clear();
  /// Copies of all but the last `remaining` groups.
  std::vector<SmallCopy> take(size_t remaining);
  /// Fails if stores are under way when their thread ends.
  void checkEnd(Context &context) const;
};

/// A bulk copy under way.
struct BulkCopy {
  uint64_t bytes = 0;
  /// Writes shared memory, as of that time of the copies' actor.
  std::function<void(uint32_t time)> finish;
};

class TransactionBarrier : public Waitable {
public:
  std::string describe() const override;

  uint64_t offset = 0;
  uint32_t expected = 0, pending = 0;
  /// Who initialised it, and when.
  uint32_t initThread = 0, initTime = 0;
  /// Bytes that were announced and have not come.
  int64_t bytes = 0;
  uint64_t phase = 0;
  /// Of this phase; and of phases that ended without anybody waiting.
  std::vector<BulkCopy> copies, unclaimed;
  std::vector<Thread *> waiting;
  ClockMeeting clocks;
  /// What those know who waited for the phase that ended last.
  Times completed;
};

/// The mbarriers of a block, by their offset in shared memory.
class TransactionBarriers {
public:
  void clear();

  TransactionBarrier &init(Context &context, uint64_t address, uint32_t count);
  void invalidate(Context &context, uint64_t address);
  TransactionBarrier &find(Context &context, uint64_t address);

  /// Arrives `count` times after announcing bytes; returns the phase.
  uint64_t arrive(Context &context, uint64_t address, uint32_t count,
                  uint32_t announcedBytes, bool isExpectation);
  /// A copy that the mbarrier counts.
  void add(Context &context, uint64_t address, BulkCopy copy);
  /// Whether a phase is over; waits until it is, if that is wanted.
  bool wait(Context &context, uint64_t address, bool isParity, uint64_t phase,
            bool waits);

private:
  bool isDone(const TransactionBarrier &barrier) const;
  void complete(Worker &worker, TransactionBarrier &barrier, bool isClaimed);
  void finish(Worker &worker, TransactionBarrier &barrier,
              std::vector<BulkCopy> &copies);
  void tryComplete(Worker &worker, TransactionBarrier &barrier);

  std::map<uint64_t, TransactionBarrier> barriers;
  uint32_t copyTime = 0;
};

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_ASYNCCOPIES_H
