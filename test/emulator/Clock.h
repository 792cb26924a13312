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
void join(Times &times, const Times &others);

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
  /// Adds what the thread has done, as that actor, to what others will know.
  void release(Times &times, uint32_t actor) {
    if (times.size() <= actor)
      times.resize(actor + 1);
    times[actor] = std::max(times[actor], time);
    advance();
  }
  /// The vector that everybody of a meeting shares, which holds its own.
  void acquire(const std::shared_ptr<Times> &all) { seen = all; }
  /// Of somebody else: what the thread knows itself stays.
  void acquireMore(const Times &times) { add(seen, times); }
  /// The same of reads alone, which is handed on to nobody.
  void acquireReads(const Times &times) { add(readsSeen, times); }
  /// Not to be changed while anybody else holds it.
  const std::shared_ptr<Times> &vector() const { return seen; }

private:
  static bool has(const std::shared_ptr<Times> &times, uint32_t actor,
                  uint32_t when) {
    return times && actor < times->size() && (*times)[actor] >= when;
  }
  static void add(std::shared_ptr<Times> &known, const Times &times) {
    if (!known)
      known = std::make_shared<Times>(times);
    else if (known.use_count() > 1)
      known = std::make_shared<Times>(*known);
    join(*known, times);
  }

  std::shared_ptr<Times> seen, readsSeen;
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
    clock.release(times, actor);
  }
  /// All of it.
  std::shared_ptr<Times> all() const { return std::make_shared<Times>(times); }
  void clear() {
    times.clear();
    last.reset();
  }
  Times times;

private:
  std::shared_ptr<Times> last;
};

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_CLOCK_H
