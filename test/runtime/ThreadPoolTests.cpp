//===- ThreadPoolTests.cpp - Loops over several threads -------------------===//
//
// Every iteration runs once, whoever runs it, and has happened when the loop
// returns. Loops follow each other at once and after a pause, since threads
// wait for the next one in two ways. Runs under ThreadSanitizer too.
//
//===----------------------------------------------------------------------===//

#include "runtime/threads/ThreadPool.h"

#include "runtime/code/FloatEnvironment.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <thread>

using namespace heddle;

namespace {

using Body = std::function<void(int64_t)>;

void runBody(void *context, void *, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i)
    (*static_cast<Body *>(context))(i);
}

void parallelFor(ThreadPool &pool, int64_t count, Body body) {
  ThreadPool::parallelFor(&pool, count, runBody, &body, /*scratch=*/nullptr,
                          /*scratchBytes=*/0);
}

std::unique_ptr<ThreadPool> makePool(int64_t threads) {
  Result<std::unique_ptr<ThreadPool>> pool = ThreadPool::create(threads);
  EXPECT_TRUE(pool.ok());
  return std::move(*pool);
}

void pause(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

} // namespace

TEST(ThreadPoolTest, runs_every_iteration_once) {
  for (int64_t threads : {1, 2, 3, 8}) {
    std::unique_ptr<ThreadPool> pool = makePool(threads);
    for (int64_t count : {0, 1, 2, 3, 8, 1000}) {
      // Plain integers: what tasks write is the caller's when the loop is over.
      std::vector<int> times(static_cast<size_t>(count));
      parallelFor(*pool, count,
                  [&](int64_t i) { ++times[static_cast<size_t>(i)]; });
      EXPECT_EQ(times, std::vector<int>(static_cast<size_t>(count), 1))
          << threads << " " << count;
    }
  }
}

TEST(ThreadPoolTest, runs_more_iterations_than_a_range_holds) {
  struct Counted {
    std::atomic<int64_t> count{0}, sum{0}, end{0};
  };
  auto task = [](void *context, void *, int64_t begin, int64_t end) {
    auto &counted = *static_cast<Counted *>(context);
    counted.count += end - begin;
    // Modulo 2^64, of begin ... end - 1, of which one of both is even.
    uint64_t first = uint64_t(begin + end - 1), length = uint64_t(end - begin);
    counted.sum +=
        int64_t(first % 2 ? first * (length / 2) : first / 2 * length);
    for (int64_t most = counted.end;
         most < end && !counted.end.compare_exchange_weak(most, end);)
      ;
  };
  constexpr int64_t kMost = TaskRange::kMostIterations;
  for (int64_t threads : {1, 3}) {
    std::unique_ptr<ThreadPool> pool = makePool(threads);
    for (int64_t count :
         {kMost, kMost + 1, 2 * kMost, (int64_t(1) << 36) + 5}) {
      Counted counted;
      ThreadPool::parallelFor(pool.get(), count, task, &counted,
                              /*scratch=*/nullptr, /*scratchBytes=*/0);
      EXPECT_EQ(counted.count, count);
      EXPECT_EQ(counted.end, count);
      uint64_t last = uint64_t(count - 1), length = uint64_t(count);
      EXPECT_EQ(uint64_t(counted.sum),
                last % 2 ? last * (length / 2) : last / 2 * length);
    }
  }
}

TEST(ThreadPoolTest, loops_follow_each_other) {
  for (int64_t threads : {2, 4}) {
    std::unique_ptr<ThreadPool> pool = makePool(threads);
    constexpr int kLoops = 5000;
    std::vector<int> sums(3);
    for (int loop = 0; loop < kLoops; ++loop)
      // Each loop reads what another thread may have written in the last one.
      parallelFor(*pool, 3, [&, loop](int64_t i) {
        sums[static_cast<size_t>((i + loop) % 3)] += 1;
      });
    EXPECT_EQ(sums, std::vector<int>(3, kLoops));
  }
}

TEST(ThreadPoolTest, wakes_threads_that_sleep) {
  std::unique_ptr<ThreadPool> pool = makePool(3);
  for (int loop = 0; loop < 5; ++loop) {
    pause(20);
    // Each iteration waits for the others: none runs behind another.
    std::atomic<int> started{0};
    parallelFor(*pool, 3, [&](int64_t) {
      ++started;
      while (started < 3)
        std::this_thread::yield();
    });
    EXPECT_EQ(started, 3);
  }
}

TEST(ThreadPoolTest, caller_waits_for_a_slow_thread) {
  std::unique_ptr<ThreadPool> pool = makePool(2);
  const std::thread::id caller = std::this_thread::get_id();
  bool finished = false;
  std::atomic<int> started{0};
  parallelFor(*pool, 2, [&](int64_t) {
    ++started;
    while (started < 2)
      std::this_thread::yield();
    if (std::this_thread::get_id() != caller) {
      pause(50);
      finished = true;
    }
  });
  EXPECT_TRUE(finished);
}

TEST(ThreadPoolTest, tasks_have_the_float_environment) {
  std::unique_ptr<ThreadPool> pool = makePool(3);
  std::atomic<int> started{0}, flushed{0};
  FloatEnvironment environment;
  parallelFor(*pool, 3, [&](int64_t) {
    ++started;
    while (started < 3)
      std::this_thread::yield();
    volatile float smallest = 0x1p-126f;
    flushed +=
        (_mm_getcsr() & ~_MM_EXCEPT_MASK) == 0x9FC0u && smallest / 2 == 0.0f;
  });
  EXPECT_EQ(flushed, 3);
}

TEST(ThreadPoolTest, pools_without_work_end) {
  for (int i = 0; i < 50; ++i)
    makePool(4);
  std::unique_ptr<ThreadPool> pool = makePool(4);
  pause(20);
}
