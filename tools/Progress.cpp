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

Progress::Progress(bool mayShow)
    : shown(mayShow && isatty(STDERR_FILENO)), next(Clock::now()) {}

Progress Progress::ofLines(bool isInput) {
  return Progress(isInput && !isatty(STDIN_FILENO) && !isatty(STDOUT_FILENO));
}

Progress::~Progress() {
  if (hasLine)
    writeOver("");
}

/// Whether a line is to be written now.
bool Progress::isDue() {
  if (!shown || Clock::now() < next)
    return false;
  next = Clock::now() + kPause;
  return hasLine = true;
}

void Progress::addLines(size_t count) {
  lines += count;
  if (isDue())
    writeOver(std::to_string(lines) + " lines");
}

void Progress::showBytes(uint64_t done, uint64_t all) {
  if (isDue())
    writeOver("copying weights to the GPU, " + std::to_string(done / 1000000) +
              " of " + std::to_string(all / 1000000) + " MB");
}
