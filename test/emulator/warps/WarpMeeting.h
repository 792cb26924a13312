//===- WarpMeeting.h - Threads of a warp do something together --*- C++ -*-===//
//
// Threads of a mask meet at one operation; the last one to come does it for
// all. What exchanges values (shfl, vote, match, redux, elect) orders memory
// between those who met, as bar.warp.sync does; ldmatrix, stmatrix and mma do
// not.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_EMULATOR_WARPS_WARPMEETING_H
#define HEDDLE_TEST_EMULATOR_WARPS_WARPMEETING_H

#include "test/emulator/Clock.h"
#include "test/emulator/Operation.h"
#include "test/emulator/Waitable.h"

#include <list>
#include <vector>

namespace heddle::emulator {

struct Context;
struct Thread;

struct WarpMeeting : Waitable {
  std::string describe() const override;

  const Operation *operation = nullptr;
  uint32_t mask = 0, arrived = 0;
  Thread *threads[32];
  const uint64_t *operands[32];
  uint64_t *results[32];

  bool has(unsigned lane) const { return mask >> lane & 1; }
};

class WarpMeetings {
public:
  void clear(unsigned numWarps);

  /// Meets the threads of the mask that exist, and does `action` once with all
  /// of them there, before any goes on.
  void meet(Context &context, const Operation &operation, uint32_t mask,
            bool orders, const uint64_t *operands, uint64_t *results,
            void (*action)(WarpMeeting &meeting));

private:
  /// By warp.
  std::vector<std::list<WarpMeeting>> warps;
  /// Those that are over, to be used again.
  std::list<WarpMeeting> spare;
};

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_WARPS_WARPMEETING_H
