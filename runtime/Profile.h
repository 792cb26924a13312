//===- Profile.h - How long kernels take ------------------------*- C++ -*-===//
//
// The HeddleProfile of KernelAbi.h: compiled code adds to it what each call of
// a kernel took and had to do.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_PROFILE_H
#define HEDDLE_RUNTIME_PROFILE_H

#include "runtime/KernelAbi.h"
#include "runtime/Manifest.h"

#include <cstdint>
#include <vector>

namespace heddle {

/// The calls of a kernel taken together.
struct KernelCount {
  int64_t calls = 0;
  int64_t nanoseconds = 0;
  /// As WorkOpInterface of the dialect counts them; zero where it does not.
  int64_t flops = 0;
  int64_t bytes = 0;
};

/// What one session did. Not thread-safe; entry points have a pointer to it
/// while they run.
class Profile : public HeddleProfile {
public:
  explicit Profile(const Manifest &manifest);
  Profile(const Profile &) = delete;
  Profile &operator=(const Profile &) = delete;

  /// One a kernel, in the manifest's order.
  const std::vector<KernelCount> &kernels() const { return counts; }
  /// All calls of entry points, kernels included.
  const KernelCount &entries() const { return whole; }
  void addEntry(int64_t nanoseconds);
  /// Adds the counts of another session of the same model.
  void merge(const Profile &other);

private:
  std::vector<KernelCount> counts;
  KernelCount whole;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_PROFILE_H
