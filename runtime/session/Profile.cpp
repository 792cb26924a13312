//===- Profile.cpp - How long kernels take --------------------------------===//
//
// The C functions that compiled code calls find the object behind their
// argument, which is its base.
//
//===----------------------------------------------------------------------===//

#include "runtime/session/Profile.h"

#include <chrono>

using namespace heddle;

static int64_t readClock() {
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
    : HeddleProfile(), manifest(manifest), counts(manifest.places.size()),
      whole(manifest.entries.size()) {
  for (const Entry &entry : manifest.entries)
    traces.emplace_back(entry.dims.size());
  running.reserve(EntryTrace::kMostKernels);
  now = [](HeddleProfile *profile) {
    return static_cast<Profile *>(profile)->latest = readClock();
  };
  HeddleProfile::add = [](HeddleProfile *profile, int64_t place,
                          int64_t nanoseconds, int64_t flops, int64_t bytes) {
    static_cast<Profile *>(profile)->addKernel(place,
                                               {1, nanoseconds, flops, bytes});
  };
}

void Profile::addKernel(int64_t place, KernelCount count) {
  if (static_cast<uint64_t>(place) >= counts.size())
    return;
  ::add(counts[static_cast<size_t>(place)], count);
  if (running.size() < EntryTrace::kMostKernels)
    running.push_back({place, latest - count.nanoseconds, count.nanoseconds,
                       count.flops, count.bytes});
  else
    ++left;
}

std::vector<KernelCount> Profile::kernels() const {
  std::vector<KernelCount> sums(manifest.kernels.size());
  for (size_t i = 0; i < counts.size(); ++i)
    ::add(sums[size_t(manifest.places[i].kernel)], counts[i]);
  return sums;
}

KernelCount Profile::entries() const {
  KernelCount sum;
  for (const KernelCount &count : whole)
    ::add(sum, count);
  return sum;
}

void Profile::addEntry(size_t number, const int64_t *dims, int64_t start,
                       int64_t end) {
  ::add(whole[number], {1, end - start, 0, 0});
  traces[number].add(dims, start, end - start, running, left);
  running.clear();
  left = 0;
}

void Profile::addGuesses(int64_t tokens, int64_t right) {
  guessed.steps += 1;
  guessed.tokens += tokens;
  guessed.right += right;
}

void Profile::merge(const Profile &other) {
  guessed.steps += other.guessed.steps;
  guessed.tokens += other.guessed.tokens;
  guessed.right += other.guessed.right;
  for (size_t i = 0; i < counts.size(); ++i)
    ::add(counts[i], other.counts[i]);
  for (size_t i = 0; i < whole.size(); ++i) {
    ::add(whole[i], other.whole[i]);
    traces[i].merge(other.traces[i]);
  }
}
