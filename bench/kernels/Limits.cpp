//===- Limits.cpp - What this machine can do at most ----------------------===//
//
// The best of many short loops: fused multiply-adds in registers, and reads of
// a buffer that no cache holds.
//
//===----------------------------------------------------------------------===//

#include "bench/kernels/Comparison.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <immintrin.h>
#include <vector>

namespace heddle::bench {

static double seconds(const std::function<void()> &run) {
  auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

static constexpr int kChains = 12;
static constexpr int kSteps = 200000;

__attribute__((target("avx512f"))) static float multiplyAdd512() {
  __m512 sums[kChains];
  __m512 x = _mm512_set1_ps(0.999f), y = _mm512_set1_ps(0.001f);
  std::fill_n(sums, kChains, y);
  for (int step = 0; step < kSteps; ++step)
    for (__m512 &sum : sums)
      sum = _mm512_fmadd_ps(sum, x, y);
  for (int chain = 1; chain < kChains; ++chain)
    sums[0] = _mm512_add_ps(sums[0], sums[chain]);
  return _mm512_reduce_add_ps(sums[0]);
}

__attribute__((target("avx2,fma"))) static float multiplyAdd256() {
  __m256 sums[kChains];
  __m256 x = _mm256_set1_ps(0.999f), y = _mm256_set1_ps(0.001f);
  std::fill_n(sums, kChains, y);
  for (int step = 0; step < kSteps; ++step)
    for (__m256 &sum : sums)
      sum = _mm256_fmadd_ps(sum, x, y);
  for (int chain = 1; chain < kChains; ++chain)
    sums[0] = _mm256_add_ps(sums[0], sums[chain]);
  return sums[0][0] + sums[0][7];
}

double measurePeakFlops() {
  bool wide = __builtin_cpu_supports("avx512f");
  double best = 1e9;
  for (int i = 0; i < 50; ++i)
    best = std::min(best, seconds([&] {
                      benchmark::DoNotOptimize(wide ? multiplyAdd512()
                                                    : multiplyAdd256());
                    }));
  return 2.0 * (wide ? 16 : 8) * kChains * kSteps / best;
}

double measureReadBandwidth() {
  std::vector<double> buffer(size_t(1) << 25, 1.0);
  double best = 1e9;
  for (int i = 0; i < 8; ++i)
    best = std::min(best, seconds([&] {
                      double sums[32] = {};
                      for (size_t at = 0; at < buffer.size(); at += 32)
                        for (int lane = 0; lane < 32; ++lane)
                          sums[lane] += buffer[at + lane];
                      benchmark::DoNotOptimize(sums);
                    }));
  return buffer.size() * sizeof(double) / best;
}

std::string cpuName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("model name", 0) == 0)
      return line.substr(line.find(':') + 2);
  return "unknown CPU";
}

} // namespace heddle::bench
