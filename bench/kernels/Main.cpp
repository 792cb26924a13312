//===- Main.cpp - bench-kernels [TARGET] [Google Benchmark's flags] -------===//
//
// Medians of seven interleaved repetitions on one thread; pin it to a core.
//
//===----------------------------------------------------------------------===//

#include "bench/kernels/Comparison.h"
#include "bench/kernels/Layers.h"

#include <cstdio>
#include <cstdlib>
#include <unistd.h>
#include <vector>

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
  Comparison comparison(target);
  benchmark::RunSpecifiedBenchmarks(&comparison);
  return 0;
}
