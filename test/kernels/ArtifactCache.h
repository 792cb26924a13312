//===- ArtifactCache.h - Artifacts that tests share -------------*- C++ -*-===//
//
// Tests of kernels take most of their time to compile, and much of it again and
// again: one module in several processes, and everything in the next run. What
// was compiled is kept in a folder of the build, under a digest of all that an
// artifact follows from: the compiler and its libraries by their build ids, the
// module's text, the flags and the weights.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_KERNELS_ARTIFACTCACHE_H
#define HEDDLE_TEST_KERNELS_ARTIFACTCACHE_H

#include "runtime/Result.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::test {

/// The build id of an ELF file in hexadecimal digits; empty if it has none.
std::string buildIdOf(const std::string &path);

class ArtifactCache {
public:
  /// Keeps artifacts of one compiler in `folder`, which is made; removes those
  /// of any other. An empty name of the compiler keeps none.
  ArtifactCache(std::string folder, std::string_view compiler);

  /// The cache of this build, of the compiler that is linked here: build ids of
  /// heddle-compile, which is linked from the same libraries, and of each
  /// shared library of this process.
  static const ArtifactCache &ofBuild();

  /// The path of the artifact that follows from `parts`, which make(path)
  /// writes if no process has: atomically, as heddle-compile does. `unkept` is
  /// the path if nothing is kept. Any number of processes may ask at the same
  /// time.
  Result<std::string>
  find(const std::vector<std::string_view> &parts, const std::string &unkept,
       const std::function<Status(const std::string &)> &make) const;

private:
  /// Of the compiler's artifacts; empty if none are kept.
  std::string folder;
};

} // namespace heddle::test

#endif // HEDDLE_TEST_KERNELS_ARTIFACTCACHE_H
