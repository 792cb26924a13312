//===- MachinePeaks.cpp - What this machine can do ------------------------===//
//
// Each thread runs a loop that does nothing else until its time is over, first
// of multiply-adds on registers, enough of them to hide their latency, then the
// same of bytes, then of loads from a buffer of its own.
//
//===----------------------------------------------------------------------===//

#include "runtime/session/MachinePeaks.h"

#include "runtime/code/IsaLevels.h"
#include "runtime/threads/Thread.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <immintrin.h>
#include <memory>
#include <new>
#include <vector>

using namespace heddle;

static constexpr auto kTime = std::chrono::milliseconds(500);
/// Beyond the last level of caches, shared by all threads.
static constexpr size_t kBytes = size_t(256) << 20;
static constexpr int kSums = 12, kRepeats = 1000;

__attribute__((target("avx2,fma"))) static float multiplyAdd8() {
  __m256 sums[kSums], factor = _mm256_set1_ps(0.5f);
  for (__m256 &sum : sums)
    sum = factor;
  for (int i = 0; i < kRepeats; ++i)
    for (__m256 &sum : sums)
      sum = _mm256_fmadd_ps(sum, factor, factor);
  float result = 0;
  for (__m256 &sum : sums)
    result += _mm256_cvtss_f32(sum);
  return result;
}

__attribute__((target("avx512f"))) static float multiplyAdd16() {
  __m512 sums[kSums], factor = _mm512_set1_ps(0.5f);
  for (__m512 &sum : sums)
    sum = factor;
  for (int i = 0; i < kRepeats; ++i)
    for (__m512 &sum : sums)
      sum = _mm512_fmadd_ps(sum, factor, factor);
  float result = 0;
  for (__m512 &sum : sums)
    result += _mm512_cvtss_f32(sum);
  return result;
}

/// Bytes without VNNI: pairs of products, pairs of these, sums.
__attribute__((target("avx2"))) static float multiplyBytes32() {
  __m256i sums[kSums] = {}, factor = _mm256_set1_epi8(1),
          ones = _mm256_set1_epi16(1);
  for (int i = 0; i < kRepeats; ++i)
    for (__m256i &sum : sums) {
      asm("" : "+x"(factor)); // Another factor, as far as compilers know.
      __m256i pairs = _mm256_maddubs_epi16(factor, ones);
      sum = _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, ones));
    }
  int result = 0;
  for (__m256i &sum : sums)
    result += _mm256_cvtsi256_si32(sum);
  return float(result);
}

__attribute__((target("avx512f,avx512bw"))) static float multiplyBytes64() {
  __m512i sums[kSums] = {}, factor = _mm512_set1_epi8(1),
          ones = _mm512_set1_epi16(1);
  for (int i = 0; i < kRepeats; ++i)
    for (__m512i &sum : sums) {
      asm("" : "+v"(factor));
      __m512i pairs = _mm512_maddubs_epi16(factor, ones);
      sum = _mm512_add_epi32(sum, _mm512_madd_epi16(pairs, ones));
    }
  int result = 0;
  for (__m512i &sum : sums)
    result += _mm512_cvtsi512_si32(sum);
  return float(result);
}

__attribute__((target("avx2,avxvnni"))) static float dotBytes32() {
  __m256i sums[kSums] = {}, factor = _mm256_set1_epi8(1);
  for (int i = 0; i < kRepeats; ++i)
    for (__m256i &sum : sums)
      sum = _mm256_dpbusd_avx_epi32(sum, factor, factor);
  int result = 0;
  for (__m256i &sum : sums)
    result += _mm256_cvtsi256_si32(sum);
  return float(result);
}

__attribute__((target("avx512f,avx512vnni"))) static float dotBytes64() {
  __m512i sums[kSums] = {}, factor = _mm512_set1_epi8(1);
  for (int i = 0; i < kRepeats; ++i)
    for (__m512i &sum : sums)
      sum = _mm512_dpbusd_epi32(sum, factor, factor);
  int result = 0;
  for (__m512i &sum : sums)
    result += _mm512_cvtsi512_si32(sum);
  return float(result);
}

__attribute__((target("avx512f,avx512bf16"))) static float dotPairs32() {
  __m512 sums[kSums] = {};
  __m512i ones = _mm512_set1_epi32(0x3f803f80);
  for (int i = 0; i < kRepeats; ++i)
    for (__m512 &sum : sums) {
      // Volatile, or one call would do for all.
      asm volatile("" : "+v"(ones));
      __m512bh factor = reinterpret_cast<__m512bh>(ones);
      sum = _mm512_dpbf16_ps(sum, factor, factor);
    }
  float result = 0;
  for (__m512 &sum : sums)
    result += _mm512_cvtss_f32(sum);
  return result;
}

/// What tiles are configured with: rows and bytes of each.
struct alignas(64) TileShapes {
  uint8_t palette = 1, startRow = 0, reserved[14] = {};
  uint16_t bytes[16] = {};
  uint8_t rows[16] = {};
};

/// Four sums of tiles: as many as kernels have, and the unit takes one product
/// after the other.
static constexpr int kTileSums = 4;
__attribute__((target("amx-tile,amx-int8"))) static float multiplyTiles() {
  TileShapes shapes;
  for (int tile = 0; tile < kTileSums + 2; ++tile) {
    shapes.bytes[tile] = 64;
    shapes.rows[tile] = 16;
  }
  _tile_loadconfig(&shapes);
  _tile_zero(4);
  _tile_zero(5);
  for (int i = 0; i < kRepeats; ++i) {
    _tile_dpbusd(0, 4, 5);
    _tile_dpbusd(1, 4, 5);
    _tile_dpbusd(2, 4, 5);
    _tile_dpbusd(3, 4, 5);
  }
  int32_t sums[16][16];
  _tile_stored(0, sums, sizeof *sums);
  _tile_release();
  return float(sums[0][0]);
}

namespace {
/// A loop, and its multiplications and additions.
struct Loop {
  float (*run)();
  double operations;
};
/// Those of the instructions which a level has for each type.
struct LevelLoops {
  Loop f32, bf16, int8;
};
} // namespace

/// Of bytes, without tiles.
static Loop byteLoop(const std::string &isa, double vectors) {
  bool hasVnni = isaHasVnni(isa);
  if (isaHasAvx512(isa))
    return {hasVnni ? dotBytes64 : multiplyBytes64, vectors * 64};
  return {hasVnni ? dotBytes32 : multiplyBytes32, vectors * 32};
}

static LevelLoops loopsOf(const std::string &isa) {
  constexpr double vectors = 2.0 * kSums * kRepeats;
  constexpr double tiles = 2.0 * kTileSums * kRepeats * 16 * 16;
  LevelLoops loops;
  loops.f32 = isaHasAvx512(isa) ? Loop{multiplyAdd16, vectors * 16}
                                : Loop{multiplyAdd8, vectors * 8};
  loops.bf16 = isaHasBf16(isa) ? Loop{dotPairs32, vectors * 32} : loops.f32;
  loops.int8 = byteLoop(isa, vectors);
  // A product of tiles of bf16 takes as long, of half as many elements.
  if (isaHasTiles(isa)) {
    loops.bf16 = {multiplyTiles, tiles * 32};
    loops.int8 = {multiplyTiles, tiles * 64};
  }
  return loops;
}

/// The sum of `count` values, a multiple of 32.
__attribute__((target("avx2"))) static float readAll(const float *values,
                                                     size_t count) {
  __m256 sums[4] = {};
  for (size_t i = 0; i < count; i += 32)
    for (size_t part = 0; part < 4; ++part)
      sums[part] =
          _mm256_add_ps(sums[part], _mm256_loadu_ps(values + i + 8 * part));
  float result = 0;
  for (__m256 &sum : sums)
    result += _mm256_cvtss_f32(sum);
  return result;
}

/// How often a second all threads together run `body`, which gets the number of
/// its thread and returns something that depends on all its work.
template <typename Body>
static Result<double> rate(int64_t threads, Body body) {
  using Clock = std::chrono::steady_clock;
  std::atomic<int64_t> ready{0}, times{0};
  std::atomic<float> sink{0};
  auto work = [&](int64_t thread) {
    for (++ready; ready < threads;)
      _mm_pause();
    Clock::time_point end = Clock::now() + kTime;
    int64_t count = 0;
    float result = 0;
    for (; Clock::now() < end; ++count)
      result += body(thread);
    times += count;
    sink = result;
  };
  std::vector<Thread> others;
  for (int64_t thread = 1; thread < threads; ++thread) {
    Result<Thread> started = Thread::start([&, thread] { work(thread); });
    if (!started.ok()) {
      ready += threads;
      return Status::error("cannot start thread ", thread + 1, " of ", threads,
                           ": ", started.message());
    }
    others.push_back(std::move(*started));
  }
  work(0);
  others.clear(); // Waits for each.
  return double(times) / std::chrono::duration<double>(kTime).count();
}

Result<MachinePeaks> heddle::measurePeaks(const std::string &isa,
                                          int64_t threads) {
  LevelLoops loops = loopsOf(isa);
  const Loop *loopOf[] = {&loops.f32, &loops.bf16, &loops.int8};
  double peaks[std::size(loopOf)];
  for (size_t type = 0; type < std::size(loopOf); ++type) {
    const Loop &loop = *loopOf[type];
    Result<double> times = rate(threads, [&](int64_t) { return loop.run(); });
    if (!times.ok())
      return times.status();
    peaks[type] = *times * loop.operations / 1e9;
  }

  size_t count = kBytes / sizeof(float) / size_t(threads) / 32 * 32;
  std::unique_ptr<float[]> values(
      new (std::nothrow) float[count * size_t(threads)]);
  if (!values)
    return Status::error("no memory to measure its bandwidth");
  std::fill_n(values.get(), count * size_t(threads), 1.0f);
  Result<double> reads = rate(threads, [&](int64_t thread) {
    return readAll(values.get() + size_t(thread) * count, count);
  });
  if (!reads.ok())
    return reads.status();
  return MachinePeaks{peaks[0], peaks[1], peaks[2],
                      *reads * double(count * sizeof(float)) / 1e9};
}
