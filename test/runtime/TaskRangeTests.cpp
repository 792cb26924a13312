//===- TaskRangeTests.cpp - Ranges that threads take runs from ------------===//

#include "runtime/threads/TaskRange.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

using namespace heddle;

TEST(TaskRangeTest, gives_the_first_iterations_in_order) {
  TaskRange range;
  range.assign({3, 40});
  int64_t next = 3;
  for (TaskRun run; !(run = range.takeFirst()).isEmpty(); next = run.end)
    EXPECT_EQ(run.begin, next);
  EXPECT_EQ(next, 40);
}

TEST(TaskRangeTest, gives_the_last_iterations_from_the_end) {
  TaskRange range;
  range.assign({3, 40});
  int64_t end = 40;
  for (TaskRun run; !(run = range.takeLast()).isEmpty(); end = run.begin)
    EXPECT_EQ(run.end, end);
  EXPECT_EQ(end, 3);
}

TEST(TaskRangeTest, leaves_most_of_what_is_left) {
  TaskRange range;
  range.assign({0, 16});
  TaskRun first = range.takeFirst(), last = range.takeLast();
  EXPECT_EQ(first.end - first.begin, 4);
  EXPECT_EQ(last.end - last.begin, 3);
}

TEST(TaskRangeTest, holds_the_most_iterations) {
  TaskRange range;
  range.assign({TaskRange::kMostIterations - 1, TaskRange::kMostIterations});
  TaskRun run = range.takeLast();
  EXPECT_EQ(run.begin, TaskRange::kMostIterations - 1);
  EXPECT_EQ(run.end, TaskRange::kMostIterations);
  EXPECT_TRUE(range.takeFirst().isEmpty());
}

TEST(TaskRangeTest, gives_each_iteration_once_to_threads_at_both_ends) {
  constexpr int64_t kIterations = 100000;
  TaskRange range;
  range.assign({0, kIterations});
  std::vector<int> times(kIterations);
  auto count = [&](TaskRun (TaskRange::*take)()) {
    for (TaskRun run; !(run = (range.*take)()).isEmpty();)
      for (int64_t i = run.begin; i < run.end; ++i)
        ++times[static_cast<size_t>(i)];
  };
  std::thread first(count, &TaskRange::takeFirst);
  std::thread last(count, &TaskRange::takeLast);
  first.join();
  last.join();
  EXPECT_EQ(times, std::vector<int>(kIterations, 1));
}
