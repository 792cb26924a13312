//===- Profile.h - How long kernels take ------------------------*- C++ -*-===//
//
// The HeddleProfile of KernelAbi.h: compiled code adds to it what each call of
// a kernel took and had to do, at the place that calls it. A place is of one
// kernel and of one layer.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_SESSION_PROFILE_H
#define HEDDLE_RUNTIME_SESSION_PROFILE_H

#include "runtime/artifact/Manifest.h"
#include "runtime/code/KernelAbi.h"
#include "runtime/session/EntryTrace.h"

#include <cstdint>
#include <vector>

namespace heddle {

/// Calls taken together.
struct KernelCount {
  int64_t calls = 0;
  int64_t nanoseconds = 0;
  /// As WorkOpInterface of the dialect counts them; zero if it does not.
  int64_t flops = 0;
  int64_t bytes = 0;
};

/// Tokens that were guessed (prompt lookup), in how many steps of a row, and
/// how many of them the model chose, too: so many steps were saved.
struct GuessCount {
  int64_t steps = 0, tokens = 0, right = 0;
};

/// What one session did. Not thread-safe; entry points have a pointer to it
/// while they run. Counting allocates nothing.
class Profile : public HeddleProfile {
public:
  /// `manifest` is borrowed.
  explicit Profile(const Manifest &manifest);
  Profile(const Profile &) = delete;
  Profile &operator=(const Profile &) = delete;

  /// One a place, in the manifest's order.
  const std::vector<KernelCount> &places() const { return counts; }
  /// One a kernel: its places together.
  std::vector<KernelCount> kernels() const;
  /// All calls of an entry point, kernels included; of the manifest's number.
  const KernelCount &entry(size_t number) const { return whole[number]; }
  const EntryTrace &trace(size_t number) const { return traces[number]; }
  const GuessCount &guesses() const { return guessed; }
  /// All calls of all entry points.
  KernelCount entries() const;
  /// An entry ran, from `start` to `end` of the clock, in which all kernels
  /// were called that were counted since the last one.
  void addEntry(size_t number, const int64_t *dims, int64_t start, int64_t end);
  /// A row had `tokens` guesses in a step.
  void addGuesses(int64_t tokens, int64_t right);
  /// Adds the counts of another session of the same model. Allocates.
  void merge(const Profile &other);

private:
  void addKernel(int64_t place, KernelCount count);

  const Manifest &manifest;
  std::vector<KernelCount> counts;
  std::vector<KernelCount> whole;
  std::vector<EntryTrace> traces;
  GuessCount guessed;
  /// What the clock said last.
  int64_t latest = 0;
  /// The kernels of the entry that runs, and how many more there were.
  std::vector<TracedKernel> running;
  int64_t left = 0;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_SESSION_PROFILE_H
