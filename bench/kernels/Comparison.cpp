#include "bench/kernels/Comparison.h"
#include "runtime/session/MachinePeaks.h"

#include <algorithm>
#include <cstdio>
#include <fstream>

namespace heddle::bench {

/// Cases in the order in which they were added.
static std::vector<std::string> &cases() {
  static std::vector<std::string> names;
  return names;
}

void add(const std::string &name, const std::string &engine, Work work,
         std::function<void()> run) {
  if (cases().empty() || cases().back() != name)
    cases().push_back(name);
  benchmark::RegisterBenchmark((name + "/" + engine).c_str(),
                               [work, run](benchmark::State &state) {
                                 for (auto _ : state)
                                   run();
                                 using benchmark::Counter;
                                 auto rate = Counter::kIsIterationInvariantRate;
                                 state.counters["flops"] =
                                     Counter(work.flops, rate);
                                 state.counters["bytes"] =
                                     Counter(work.bytes, rate);
                                 state.counters["f32"] = work.isOfF32;
                               })
      ->UseRealTime();
}

bool Comparison::ReportContext(const Context &) { return true; }

void Comparison::ReportRuns(const std::vector<Run> &runs) {
  for (const Run &run : runs) {
    if (run.run_type != Run::RT_Aggregate || run.aggregate_name != "median")
      continue;
    const std::string &label = run.run_name.function_name;
    size_t slash = label.rfind('/');
    rates[label.substr(0, slash)][label.substr(slash + 1)] = {
        run.counters.at("flops").value, run.counters.at("bytes").value,
        run.counters.at("f32").value != 0};
  }
}

/// "AMD EPYC ..." as the kernel names it.
static std::string cpuName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("model name", 0) == 0)
      return line.substr(line.find(':') + 2);
  return "unknown CPU";
}

void Comparison::Finalize() {
  Result<MachinePeaks> peaks = measurePeaks(target, /*threads=*/1);
  if (!peaks.ok()) {
    fprintf(stderr, "bench-kernels: error: %s\n", peaks.message().c_str());
    return;
  }
  double peak = peaks->gigaflops * 1e9, bandwidth = peaks->gigabytes * 1e9;
  printf("%s, one thread, %s: %.1f GFLOP/s in f32, %.1f GB/s from memory\n\n",
         cpuName().c_str(), target.c_str(), peak / 1e9, bandwidth / 1e9);
  printf("%-36s %9s %7s %7s %7s  %s\n", "case", "GFLOP/s", "of peak", "GB/s",
         "of read", "ratio to peers");
  for (const std::string &name : cases()) {
    const auto &engines = rates[name];
    auto ours = engines.find("heddle");
    if (ours == engines.end())
      continue;
    const Rates &own = ours->second;
    bool hasFlops = own.flops > 0;
    printf("%-36s", name.c_str());
    if (hasFlops && own.isOfF32)
      printf(" %9.1f %6.0f%%", own.flops / 1e9, 100 * own.flops / peak);
    else if (hasFlops)
      printf(" %9.1f %7s", own.flops / 1e9, "-");
    else
      printf(" %9s %7s", "-", "-");
    printf(" %7.1f %6.0f%% ", own.bytes / 1e9, 100 * own.bytes / bandwidth);
    for (const auto &[engine, other] : engines)
      if (engine != "heddle")
        printf("  %.2fx %s (%.1f)", own.bytes / other.bytes, engine.c_str(),
               (hasFlops ? other.flops : other.bytes) / 1e9);
    printf("\n");
  }
}

} // namespace heddle::bench
