//===- EntryTraceTests.cpp - Calls that a profile keeps -------------------===//

#include "runtime/session/EntryTrace.h"

#include <gtest/gtest.h>

using namespace heddle;

/// A call of so many kernels that took `nanoseconds`; its one dim is its
/// number.
static void addCall(EntryTrace &trace, int64_t number, int64_t nanoseconds,
                    size_t kernelCount = 1) {
  int64_t start = 1000 * number;
  std::vector<TracedKernel> kernels(kernelCount);
  for (size_t i = 0; i < kernelCount; ++i)
    kernels[i] = {int64_t(i), start + int64_t(i), 1, number, 0};
  trace.add(&number, start, nanoseconds, kernels, /*left=*/0);
}

TEST(EntryTraceTest, median_of_a_few) {
  EntryTrace trace(1);
  EXPECT_TRUE(trace.empty());
  for (int64_t nanoseconds : {50, 10, 30, 20, 90})
    addCall(trace, nanoseconds, nanoseconds, 2);
  EntryTrace::Call median = trace.median();
  EXPECT_EQ(median.nanoseconds, 30);
  EXPECT_EQ(median.dims, std::vector<int64_t>{30});
  ASSERT_EQ(median.kernels.size(), 2u);
  EXPECT_EQ(median.kernels[1].place, 1);
  // From the begin of the call.
  EXPECT_EQ(median.kernels[1].start, 1);
  EXPECT_EQ(median.kernels[1].flops, 30);
}

TEST(EntryTraceTest, median_of_many_is_that_of_all) {
  // Calls become slower and slower: those of the end alone, or of the begin,
  // would say something else.
  for (size_t kernelCount : {size_t(1), size_t(3), size_t(100), size_t(1500),
                             EntryTrace::kMostKernels}) {
    EntryTrace trace(1);
    for (int64_t i = 0; i < 10000; ++i)
      addCall(trace, i, i, kernelCount);
    EntryTrace::Call median = trace.median();
    EXPECT_EQ(median.dims[0], median.nanoseconds);
    EXPECT_EQ(median.kernels.size(), kernelCount);
    EXPECT_EQ(median.kernels.back().flops, median.nanoseconds);
    EXPECT_NEAR(double(median.nanoseconds), 5000, 1500) << kernelCount;
  }
}

TEST(EntryTraceTest, sessions_together) {
  EntryTrace first(1), second(1), all(1);
  addCall(first, 1, 10);
  addCall(first, 2, 20, 3);
  addCall(second, 3, 30, 5);
  addCall(second, 4, 40);
  addCall(second, 5, 50);
  all.merge(first);
  all.merge(second);
  EntryTrace::Call median = all.median();
  EXPECT_EQ(median.nanoseconds, 30);
  EXPECT_EQ(median.dims[0], 3);
  EXPECT_EQ(median.kernels.size(), 5u);
  EXPECT_EQ(median.kernels[4].flops, 3);
}
