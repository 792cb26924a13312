//===- Barriers.h - The sixteen named barriers of a block -------*- C++ -*-===//

#ifndef HEDDLE_TEST_EMULATOR_BARRIERS_H
#define HEDDLE_TEST_EMULATOR_BARRIERS_H

#include "Clock.h"
#include "Waitable.h"

#include <array>
#include <cstdint>
#include <vector>

namespace heddle::emulator {

struct Context;
struct Thread;

class NamedBarrier : public Waitable {
public:
  std::string describe() const override;

  unsigned number = 0;
  /// Threads that complete it; zero while nobody is there.
  unsigned expected = 0, arrived = 0;
  /// Of barrier.red: how many threads said yes.
  unsigned numTrue = 0;
  unsigned numTrueBefore = 0;
  std::vector<Thread *> waiting;
  ClockMeeting clocks;
};

/// A barrier orders what its threads did before it and what those who waited do
/// behind it. A thread that has ended never arrives.
class NamedBarriers {
public:
  NamedBarriers();
  void clear();

  /// Arrives; waits unless `isArrival`. A count of zero is all threads of the
  /// block. Returns how many threads said yes, this one with `predicate`.
  unsigned arrive(Context &context, uint64_t number, uint64_t count,
                  bool isArrival, bool predicate = false);

private:
  std::array<NamedBarrier, 16> barriers;
};

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_BARRIERS_H
