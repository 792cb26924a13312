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
    readsSeen.reset();
    time = 1;
  }
  uint32_t now() const { return time; }
  bool hasSeen(uint32_t actor, uint32_t when) const {
    return has(seen, actor, when);
  }
  /// Whether what the actor had read until then has been read.
  bool hasSeenRead(uint32_t actor, uint32_t when) const {
    return has(seen, actor, when) || has(readsSeen, actor, when);
  }

  /// What a thread does from here on is later than what it released.
  void advance() { ++time; }
  /// The vector that everybody of a meeting shares, which holds its own.
  void acquire(std::shared_ptr<const Times> all) { seen = std::move(all); }
  /// Of somebody else: what the thread knows itself stays.
  void acquireMore(const Times &times) {
    auto all = std::make_shared<Times>(times);
    if (seen)
      join(*all, *seen);
    seen = std::move(all);
  }
  /// The same of reads alone, which is handed on to nobody.
  void acquireReads(const Times &times) {
    auto all = std::make_shared<Times>(times);
    if (readsSeen)
      join(*all, *readsSeen);
    readsSeen = std::move(all);
  }
  const std::shared_ptr<const Times> &vector() const { return seen; }

private:
  static bool has(const std::shared_ptr<const Times> &times, uint32_t actor,
                  uint32_t when) {
    return times && actor < times->size() && (*times)[actor] >= when;
  }

  std::shared_ptr<const Times> seen, readsSeen;
  uint32_t time = 1;
};

/// What those who arrive at a barrier have done and seen.
class ClockMeeting {
public:
  /// The thread is that actor.
  void add(Clock &clock, uint32_t actor) {
    // Most of them share their vector.
    if (clock.vector() && clock.vector() != last) {
      last = clock.vector();
      join(times, *last);
    }
    if (times.size() <= actor)
      times.resize(actor + 1);
    times[actor] = std::max(times[actor], clock.now());
    clock.advance();
  }
  /// All of it; arrivals to come are added to it.
  std::shared_ptr<const Times> all() const {
    return std::make_shared<const Times>(times);
  }
  void clear() {
    times.clear();
    last.reset();
  }
  Times times;

private:
  std::shared_ptr<const Times> last;
};

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_CLOCK_H
