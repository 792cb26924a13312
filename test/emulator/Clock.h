//===- Clock.h - What a thread knows to have happened -----------*- C++ -*-===//
//
// Vector clocks: an access at a time of its actor happened before a thread's
// next one if the thread has seen that time of the actor. Actors are the
// threads of a block, and behind them what works asynchronously. Threads that
// met at a barrier share one vector until the next.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_EMULATOR_CLOCK_H
#define HEDDLE_TEST_EMULATOR_CLOCK_H

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace heddle::emulator {

using Times = std::vector<uint32_t>;

/// The larger time of each actor.
inline void join(Times &times, const Times &others) {
  if (times.size() < others.size())
    times.resize(others.size());
  for (size_t i = 0; i < others.size(); ++i)
    times[i] = std::max(times[i], others[i]);
}

class Clock {
public:
  /// Of a thread that starts.
  void clear() {
    seen.reset();
    time = 1;
  }
  uint32_t now() const { return time; }
  bool hasSeen(uint32_t actor, uint32_t when) const {
    return seen && actor < seen->size() && (*seen)[actor] >= when;
  }

  /// Adds all that the thread, which is that actor, has done and seen to
  /// `times`; what it does from here on is later.
  void release(uint32_t actor, Times &times) {
    if (seen)
      join(times, *seen);
    if (times.size() <= actor)
      times.resize(actor + 1);
    times[actor] = std::max(times[actor], time);
    ++time;
  }
  void acquire(const Times &times) {
    auto all = std::make_shared<Times>(times);
    if (seen)
      join(*all, *seen);
    seen = std::move(all);
  }
  /// The vector that everybody of a meeting shares, which holds its own.
  void acquire(const std::shared_ptr<const Times> &all) { seen = all; }
  const std::shared_ptr<const Times> &vector() const { return seen; }

private:
  std::shared_ptr<const Times> seen;
  uint32_t time = 1;
};

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_CLOCK_H
