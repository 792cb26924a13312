//===- BatchPipelineTests.cpp - Order, bounds and ends --------------------===//
//
// A pipeline whose batch n is the one token n, with workers that are slow where
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

class BatchPipelineTest : public testing::Test {
protected:
  using Outcome = BatchPipeline::Outcome;

  /// Runs `workers` over `count` batches; `translate` gets a batch's number.
  Status run(int64_t workers, int64_t count,
             std::function<Outcome(int64_t)> translate) {
    BatchPipeline::Ends ends;
    ends.read = [&] {
      EXPECT_FALSE(reading.exchange(true));
      SourceReader::Batch batch = read(count);
      reading = false;
      return batch;
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
    return pipeline.run([&] {
      while (auto task = pipeline.take()) {
        EXPECT_EQ(task->batch.sources[0][0], task->number);
        pipeline.put(task->number, translate(task->number));
      }
    });
  }

  SourceReader::Batch read(int64_t count) {
    int32_t number = reads++;
    if (number == waitAt)
      waitUntil([&] { return interrupted.load(); });
    SourceReader::Batch batch;
    batch.sources = {{number}};
    batch.last = number + 1 == count;
    return batch;
  }

  static void waitUntil(std::function<bool()> condition) {
    while (!condition())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  static Outcome line(int64_t number) {
    return {{std::to_string(number)}, Status::success()};
  }
  static std::vector<std::string> linesBefore(int64_t count) {
    std::vector<std::string> lines;
    for (int64_t number = 0; number < count; ++number)
      lines.push_back(std::to_string(number));
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
    Status status = run(workers, 300, [](int64_t number) {
      std::this_thread::sleep_for(
          std::chrono::microseconds(number * 7919 % 300));
      return line(number);
    });
    EXPECT_TRUE(status.ok());
    EXPECT_EQ(written, linesBefore(300)) << workers;
    EXPECT_EQ(reads, 300) << workers;
  }
}

TEST_F(BatchPipelineTest, slow_batch_stops_the_others_at_the_window) {
  constexpr int64_t kWorkers = 3, kAhead = kWorkers * BatchPipeline::kWindow;
  Status status = run(kWorkers, 100, [&](int64_t number) {
    // The others go on without this one, so far and no further.
    if (number == 0) {
      waitUntil([&] { return reads == kAhead; });
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      EXPECT_EQ(reads, kAhead);
    }
    return line(number);
  });
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(written, linesBefore(100));
}

TEST_F(BatchPipelineTest, failure_comes_behind_all_before_it) {
  for (int64_t workers : {1, 4}) {
    reads = 0;
    written.clear();
    Status status = run(workers, 1000, [](int64_t number) {
      if (number == 21) // Slower than 22, which must not be heard of.
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      Outcome outcome = line(number);
      if (number > 20)
        outcome.status = Status::error("batch ", number);
      return outcome;
    });
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.message(), "batch 21");
    EXPECT_EQ(written, linesBefore(22)) << workers;
    EXPECT_LE(reads, 22 + workers * BatchPipeline::kWindow);
  }
}

TEST_F(BatchPipelineTest, failed_write_does_not_wait_for_input) {
  write = [](const std::vector<std::string> &lines) {
    return lines[0] == "5" ? Status::error("full") : Status::success();
  };
  waitAt = 7;
  Status status = run(3, 1000, [&](int64_t number) {
    if (number == 5)
      waitUntil([&] { return reads > waitAt; });
    return line(number);
  });
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.message(), "full");
  EXPECT_EQ(written, linesBefore(6));
  EXPECT_EQ(reads, 8);
}

TEST_F(BatchPipelineTest, more_workers_than_batches) {
  EXPECT_TRUE(run(64, 1, line).ok());
  EXPECT_EQ(written, linesBefore(1));
  EXPECT_EQ(reads, 1);
}
