//===- Main.cpp - bench-kernels [TARGET] [Google Benchmark's flags] -------===//
//
// Medians of seven interleaved repetitions on one thread; pin it to a core.
//
//===----------------------------------------------------------------------===//

#include "bench/kernels/Comparison.h"
#include "bench/kernels/Layers.h"
#include "runtime/code/IsaLevels.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

/// The most memory that this process had resident since it was last asked to
/// forget; 0 where /proc is absent.
static double peakBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmHWM:", 0) == 0)
      return 1024 * std::strtod(line.c_str() + strlen("VmHWM:"), nullptr);
  return 0;
}

/// The best ISA level of this machine, of any types.
static std::string bestLevel() {
  const char *best = "x86-64-v3";
  for (const char *level :
       {"avx-vnni", "x86-64-v4", "avx512-vnni", "avx512-bf16", "amx"})
    if (heddle::rankOfIsa(level) > heddle::rankOfIsa(best))
      best = level;
  return best;
}

int main(int argc, char **argv) {
  // OpenMP, which oneDNN is built with, reads it before main.
  if (!getenv("OMP_NUM_THREADS")) {
    setenv("OMP_NUM_THREADS", "1", /*overwrite=*/1);
    execv("/proc/self/exe", argv);
  }
  std::string target =
      __builtin_cpu_supports("avx512f") ? "x86-64-v4" : "x86-64-v3";
  std::vector<char *> arguments(argv, argv + argc);
  if (argc > 1 && argv[1][0] != '-') {
    target = argv[1];
    arguments.erase(arguments.begin() + 1);
  }
  // What is compiled and what stands beside it agree on a level by its name.
  if (target == "native")
    target = bestLevel();
  std::string defaults[] = {"--benchmark_repetitions=7",
                            "--benchmark_enable_random_interleaving=true",
                            "--benchmark_min_time=0.05"};
  for (std::string &flag : defaults)
    arguments.insert(arguments.begin() + 1, flag.data());
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data()))
    return 1;
  using namespace heddle::bench;
  for (auto addLayers : {addGemms, addShortGemms, addFused, addAttention,
                         addLinearAttention, addRows, addLookups, addStates})
    if (std::string error = addLayers(target); !error.empty()) {
      fprintf(stderr, "bench-kernels: error: %s\n", error.c_str());
      return 1;
    }
  // Layers that a filter leaves out have made their weights, too: from here on
  // the peak is that of the cases that run.
  std::ofstream("/proc/self/clear_refs") << "5";
  Comparison comparison(target);
  benchmark::RunSpecifiedBenchmarks(&comparison);
  printf("\nat most %.0f MB resident while measuring\n", peakBytes() / 1e6);
  return 0;
}
