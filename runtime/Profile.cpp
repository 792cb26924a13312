//===- Profile.cpp - How long kernels take --------------------------------===//
//
// The C functions that compiled code calls find the object behind their
// argument, which is its base.
//
//===----------------------------------------------------------------------===//

#include "runtime/Profile.h"

#include <chrono>

using namespace heddle;

static int64_t readClock(HeddleProfile *) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

static void add(KernelCount &count, const KernelCount &other) {
  count.calls += other.calls;
  count.nanoseconds += other.nanoseconds;
  count.flops += other.flops;
  count.bytes += other.bytes;
}

Profile::Profile(const Manifest &manifest)
    : HeddleProfile(), counts(manifest.kernels.size()) {
  now = readClock;
  HeddleProfile::add = [](HeddleProfile *profile, int64_t kernel,
                          int64_t nanoseconds, int64_t flops, int64_t bytes) {
    std::vector<KernelCount> &counts = static_cast<Profile *>(profile)->counts;
    if (static_cast<uint64_t>(kernel) < counts.size())
      ::add(counts[static_cast<size_t>(kernel)],
            {1, nanoseconds, flops, bytes});
  };
}

void Profile::addEntry(int64_t nanoseconds) {
  ::add(whole, {1, nanoseconds, 0, 0});
}

void Profile::merge(const Profile &other) {
  for (size_t i = 0; i < counts.size(); ++i)
    ::add(counts[i], other.counts[i]);
  ::add(whole, other.whole);
}
