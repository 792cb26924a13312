//===- BatchPipelineTests.cpp - Order, bounds and ends --------------------===//
//
// A pipeline whose line n is the one token n, in windows of a few batches that
// hold the lines of a window in another order, with workers that are slow where
// a test wants them to be. Runs under ThreadSanitizer too.
//
//===----------------------------------------------------------------------===//

#include "tools/BatchPipeline.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

using namespace heddle;

namespace {

/// Each window has three lines in two batches: the last alone, then the others
/// from the back.
constexpr int64_t kLines = 3, kBatches = 2;

class BatchPipelineTest : public testing::Test {
protected:
  using Answers = BatchPipeline::Answers;

  /// Runs `workers` over `count` windows; `translate` gets a batch's first
  /// line, which is its last one in the input.
  Status run(int64_t workers, int64_t count,
             std::function<Answers(int64_t)> translate) {
    BatchPipeline::Ends ends;
    ends.read = [&] {
      EXPECT_FALSE(reading.exchange(true));
      Window window = read(count);
      reading = false;
      return window;
    };
    ends.write = [&](const std::vector<std::string> &lines) {
      EXPECT_FALSE(writing.exchange(true));
      written.insert(written.end(), lines.begin(), lines.end());
      Status status = write(lines);
      writing = false;
      return status;
    };
    ends.interrupt = [&] { interrupted = true; };
    BatchPipeline pipeline(std::move(ends), workers);
    return pipeline.run([&](int64_t worker) {
      EXPECT_TRUE(0 <= worker && worker < workers);
      while (auto task = pipeline.take())
        pipeline.put(*task, translate(task->batch.sources[0][0]));
    });
  }

  Window read(int64_t count) {
    int32_t number = reads++;
    if (number == waitAt)
      waitUntil([&] { return interrupted.load(); });
    int32_t first = int32_t(kLines) * number;
    Window window;
    window.lineCount = kLines;
    window.batches = {{{{first + 2}}, {2}}, {{{first + 1}, {first}}, {1, 0}}};
    window.last = number + 1 == count;
    return window;
  }

  static void waitUntil(std::function<bool()> condition) {
    while (!condition())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  /// The answers of the batch whose first line this is.
  static Answers answers(int64_t line) {
    std::vector<std::string> lines = {std::to_string(line)};
    if (line % kLines == 1)
      lines.push_back(std::to_string(line - 1));
    return lines;
  }
  static std::vector<std::string> linesBefore(int64_t count) {
    std::vector<std::string> lines;
    for (int64_t line = 0; line < count; ++line)
      lines.push_back(std::to_string(line));
    return lines;
  }

  std::atomic<int32_t> reads{0};
  std::atomic<bool> reading{false}, writing{false}, interrupted{false};
  /// Where the input has no more until somebody interrupts.
  int32_t waitAt = -1;
  std::vector<std::string> written;
  std::function<Status(const std::vector<std::string> &)> write =
      [](const auto &) { return Status::success(); };
};

} // namespace

TEST_F(BatchPipelineTest, keeps_the_order) {
  for (int64_t workers : {1, 2, 5, 16}) {
    reads = 0;
    written.clear();
    Status status = run(workers, 100, [](int64_t line) {
      std::this_thread::sleep_for(std::chrono::microseconds(line * 7919 % 300));
      return answers(line);
    });
    EXPECT_TRUE(status.ok());
    EXPECT_EQ(written, linesBefore(300)) << workers;
    EXPECT_EQ(reads, 100) << workers;
  }
}

TEST_F(BatchPipelineTest, slow_batch_stops_the_others_at_the_limit) {
  constexpr int64_t kWorkers = 3;
  constexpr int64_t kWindows = kWorkers * BatchPipeline::kAhead / kBatches;
  Status status = run(kWorkers, 100, [&](int64_t line) {
    // The others go on without this one, so far and no further.
    if (line == 2) {
      waitUntil([&] { return reads == kWindows; });
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      EXPECT_EQ(reads, kWindows);
    }
    return answers(line);
  });
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(written, linesBefore(300));
}

TEST_F(BatchPipelineTest, failure_comes_behind_all_before_it) {
  for (int64_t workers : {1, 4}) {
    reads = 0;
    written.clear();
    Status status = run(workers, 1000, [](int64_t line) -> Answers {
      // Slower than what follows, which must not be heard of: another batch of
      // the same window, and the next windows.
      if (line == 22)
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      if (line > 21)
        return Status::error("line ", line);
      return answers(line);
    });
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.message(), "line 22");
    EXPECT_EQ(written, linesBefore(21)) << workers;
    EXPECT_LE(reads * kBatches, 16 + workers * BatchPipeline::kAhead);
  }
}

TEST_F(BatchPipelineTest, first_failure_of_a_window_counts) {
  Status status = run(1, 10, [](int64_t line) -> Answers {
    if (line == 10 || line == 11) // 11 is the first to run.
      return Status::error("line ", line);
    return answers(line);
  });
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.message(), "line 10");
  EXPECT_EQ(written, linesBefore(9));
}

TEST_F(BatchPipelineTest, failed_write_does_not_wait_for_input) {
  write = [](const std::vector<std::string> &lines) {
    return lines[0] == "15" ? Status::error("full") : Status::success();
  };
  waitAt = 7;
  Status status = run(3, 1000, [&](int64_t line) {
    if (line == 16)
      waitUntil([&] { return reads > waitAt; });
    return answers(line);
  });
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.message(), "full");
  EXPECT_EQ(written, linesBefore(18));
  EXPECT_EQ(reads, 8);
}

TEST_F(BatchPipelineTest, more_workers_than_batches) {
  EXPECT_TRUE(run(64, 1, answers).ok());
  EXPECT_EQ(written, linesBefore(3));
  EXPECT_EQ(reads, 1);
}
