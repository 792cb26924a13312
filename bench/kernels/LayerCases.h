//===- LayerCases.h - Entries of modules as cases ---------------*- C++ -*-===//
//
// Every case runs once before it is measured: each element of its result has
// to be written and, where another library does the same, has to agree.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_BENCH_KERNELS_LAYERCASES_H
#define HEDDLE_BENCH_KERNELS_LAYERCASES_H

#include "bench/kernels/Comparison.h"
#include "bench/kernels/EntryText.h"

namespace heddle::bench {

/// Another library's way to do a case.
struct Peer {
  std::string engine;
  std::function<void()> run;
  /// As many elements as ours.
  const float *result;
};

/// One call of an entry.
struct LayerCase {
  std::string name, entry;
  std::vector<std::pair<Dim, int64_t>> dims;
  Work work;
  /// Inputs that get values around 0.
  std::vector<std::string> inputs;
  /// Sets what else the call takes; may be empty.
  std::function<void(test::EntryCall &)> fill = {};
  /// Makes a peer of a call that has its inputs; may be empty.
  std::function<Peer(test::EntryCall &)> peer = {};
  std::string result = "y";
};

/// Compiles a module and adds the cases that --benchmark_filter leaves.
/// Returns an error's sentence, or nothing.
std::string addCases(const Module &module, const std::vector<LayerCase> &cases,
                     const std::string &target);

/// Values in [-scale, scale), different from element to element.
std::vector<float> values(int64_t count, int64_t seed, float scale = 1);

/// What a layer that moves memory does: floats that it reads and writes.
Work moved(double floats);

/// "16x256".
std::string product(const std::vector<int64_t> &sizes);

} // namespace heddle::bench

#endif // HEDDLE_BENCH_KERNELS_LAYERCASES_H
