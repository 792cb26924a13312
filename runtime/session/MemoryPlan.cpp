//===- MemoryPlan.cpp - How a run keeps to a limit ------------------------===//
//
// What a session takes is known exactly; what stands beside it is bounded by
// constants that measurements of real runs stay below.
//
//===----------------------------------------------------------------------===//

#include "runtime/session/MemoryPlan.h"

#include "runtime/threads/SystemFile.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <malloc.h>
#include <unistd.h>

using namespace heddle;

static constexpr int64_t kMebibyte = 1 << 20;
/// Of a worker: its stack, what its allocator keeps, and its lines on their
/// way, as text, ids and answers.
static constexpr int64_t kWorkerBytes = 2 * kMebibyte;
/// Of whoever reads and writes: a line of a megabyte, twice while it is found.
static constexpr int64_t kReaderBytes = 3 * kMebibyte;
/// What a process has more of in one run than in another.
static constexpr int64_t kNoise = kMebibyte / 2;

int64_t heddle::anonymousMemory() {
  // In pages: size, resident, shared with files.
  int64_t size = 0, resident = 0, shared = 0;
  sscanf(readSystemFile("/proc/self/statm").c_str(),
         "%" SCNd64 "%" SCNd64 "%" SCNd64, &size, &resident, &shared);
  if (resident > 0)
    return (resident - shared) * sysconf(_SC_PAGESIZE);
  struct mallinfo2 heap = mallinfo2();
  return int64_t(heap.arena + heap.hblkhd);
}

int64_t MemoryPlan::besideSessionsOf(int64_t workers) const {
  return held ? *held + kReaderBytes + workers * kWorkerBytes : 0;
}

Status MemoryPlan::chooseWorkers(int64_t wanted, int64_t least,
                                 bool mayBeFewer) {
  auto each = [&](int64_t workers) { return forSessionsOf(workers) / workers; };
  count = most;
  if (mayBeFewer)
    while (count > 1 && each(count) < wanted)
      --count;
  if (each(count) >= least)
    return Status::success();
  return refuse(count * least);
}

Status MemoryPlan::refuse(int64_t bytes) const {
  // As many workers as there may be, so that with more memory there is enough,
  // however many are chosen then.
  int64_t needed = bytes + besideSessionsOf(most) + (held ? kNoise : 0);
  return Status::error("needs ", toMebibytes(needed), " MiB of memory");
}
