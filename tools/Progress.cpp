//===- Progress.cpp - How far a long run is -------------------------------===//
//
// A line that is written over, some times a second, and erased at the end,
// whoever ends the run.
//
//===----------------------------------------------------------------------===//

#include "tools/Progress.h"

#include "tools/SignalCleanup.h"

#include <string>
#include <unistd.h>

using namespace heddle;

static constexpr std::chrono::milliseconds kPause(100);

Progress::Progress(bool isInput)
    : shown(isInput && isatty(STDERR_FILENO) && !isatty(STDIN_FILENO) &&
            !isatty(STDOUT_FILENO)),
      next(Clock::now()) {}

Progress::~Progress() {
  if (shown)
    writeOver("");
}

void Progress::add(size_t count) {
  lines += count;
  if (!shown || Clock::now() < next)
    return;
  next = Clock::now() + kPause;
  writeOver(std::to_string(lines) + " lines");
}

LoadProgress::LoadProgress()
    : shown(isatty(STDERR_FILENO)), next(Clock::now()) {}

LoadProgress::~LoadProgress() {
  if (hasLine)
    writeOver("");
}

void LoadProgress::show(uint64_t done, uint64_t all) {
  if (!shown || Clock::now() < next)
    return;
  next = Clock::now() + kPause;
  hasLine = true;
  writeOver("copying weights to the GPU, " + std::to_string(done / 1000000) +
            " of " + std::to_string(all / 1000000) + " MB");
}
