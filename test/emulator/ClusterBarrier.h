//===- ClusterBarrier.h - The barrier of a cluster --------------*- C++ -*-===//

#ifndef HEDDLE_TEST_EMULATOR_CLUSTERBARRIER_H
#define HEDDLE_TEST_EMULATOR_CLUSTERBARRIER_H

#include "Clock.h"
#include "Waitable.h"

#include <cstdint>
#include <vector>

namespace heddle::emulator {

struct Thread;

/// barrier.cluster: threads of all blocks arrive, and wait later for all that
/// have not ended. An arrival that is relaxed orders nothing.
class ClusterBarrier : public Waitable {
public:
  std::string describe() const override;

  /// For so many threads.
  void clear(unsigned threads);
  void arrive(Thread &thread, bool isRelaxed);
  void wait(Thread &thread);
  /// The thread has ended.
  void leave(Thread &thread);

private:
  void tryComplete();

  unsigned numAlive = 0, missing = 0;
  uint64_t phase = 0;
  std::vector<Thread *> waiting;
  ClockMeeting clocks;
  /// What those know who wait for the phase that ended last.
  Times completed;
};

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_CLUSTERBARRIER_H
