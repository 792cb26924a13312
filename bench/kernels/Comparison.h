//===- Comparison.h - Tables of engines side by side ------------*- C++ -*-===//
//
// A benchmark is named "CASE/ENGINE". Repetitions of all of them are
// interleaved, so that a noisy moment hits every engine; the table shows the
// medians, and how ours compares with each peer and with the machine's limits.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_BENCH_KERNELS_COMPARISON_H
#define HEDDLE_BENCH_KERNELS_COMPARISON_H

#include <benchmark/benchmark.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace heddle::bench {

/// What one run of a case does: floating-point operations, and bytes that have
/// to come from memory at least once.
struct Work {
  double flops, bytes;
};

/// Registers an engine's way to run a case, on one thread. The engines of a
/// case are added one after the other; ours is "heddle".
void add(const std::string &name, const std::string &engine, Work work,
         std::function<void()> run);

/// Collects the medians and prints a table of them at the end.
class Comparison : public benchmark::BenchmarkReporter {
public:
  bool ReportContext(const Context &context) override;
  void ReportRuns(const std::vector<Run> &runs) override;
  void Finalize() override;

private:
  struct Rates {
    double flops, bytes;
  };
  /// By case and engine.
  std::map<std::string, std::map<std::string, Rates>> rates;
};

/// f32 operations a second of one core, with the widest vectors it has.
double measurePeakFlops();
/// Bytes a second that one core reads from memory.
double measureReadBandwidth();
/// "AMD EPYC ..." as the kernel names it.
std::string cpuName();

} // namespace heddle::bench

#endif // HEDDLE_BENCH_KERNELS_COMPARISON_H
