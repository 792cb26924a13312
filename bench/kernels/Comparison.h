//===- Comparison.h - Tables of engines side by side ------------*- C++ -*-===//
//
// A benchmark is named "CASE/ENGINE". Repetitions of all of them are
// interleaved, so that a noisy moment hits every engine; the table shows the
// medians, and how ours compares with each peer and with the machine's limits.
// Rates above the memory's are those of caches.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_BENCH_KERNELS_COMPARISON_H
#define HEDDLE_BENCH_KERNELS_COMPARISON_H

#include <benchmark/benchmark.h>

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace heddle::bench {

/// What one run of a case does: floating-point operations, none where moving
/// memory is the work, and bytes that have to be read or written at least once.
struct Work {
  double flops, bytes;
  /// Whether the peak of f32 is that of the operations.
  bool isOfF32 = true;
};

/// Registers an engine's way to run a case, on one thread. The engines of a
/// case are added one after the other; ours is "heddle".
void add(const std::string &name, const std::string &engine, Work work,
         std::function<void()> run);

/// Collects the medians and prints a table of them at the end.
class Comparison : public benchmark::BenchmarkReporter {
public:
  /// `target` is the ISA level of our code, which gives the peak, too.
  explicit Comparison(std::string target) : target(std::move(target)) {}

  bool ReportContext(const Context &context) override;
  void ReportRuns(const std::vector<Run> &runs) override;
  void Finalize() override;

private:
  struct Rates {
    double flops, bytes;
    bool isOfF32;
  };
  std::string target;
  /// By case and engine.
  std::map<std::string, std::map<std::string, Rates>> rates;
};

} // namespace heddle::bench

#endif // HEDDLE_BENCH_KERNELS_COMPARISON_H
