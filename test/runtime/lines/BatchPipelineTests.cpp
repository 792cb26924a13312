//===- BatchPipelineTests.cpp - Order, bounds and ends --------------------===//
//
// A pipeline whose line n says "n" and is the one token n, in windows of a few
// batches that hold the lines of a window in another order, with workers that
// are slow where a test wants them to be. Runs under ThreadSanitizer too.
//
//===----------------------------------------------------------------------===//

#include "runtime/lines/BatchPipeline.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <set>
#include <thread>

using namespace heddle;

namespace {

Answer answerOf(std::string text) {
  return std::vector<AnswerText>{{std::move(text)}};
}

std::string textOf(const LineAnswer &line) {
  auto *texts = std::get_if<std::vector<AnswerText>>(&line.answer);
  std::string all;
  for (const AnswerText &each : *texts)
    all += each.text;
  return all;
}

/// Each window has three lines in two batches: the last alone, then the others
/// from the back.
constexpr int64_t kLines = 3;
constexpr int64_t kUnlimited = 1 << 20;

class BatchPipelineTest : public testing::Test {
protected:
  /// Runs `workers` over `count` windows; `translate` gets a batch's first
  /// line, which is its last one in the input.
  Status run(int64_t workers, int64_t count,
             std::function<Answers(int64_t)> translate) {
    BatchPipeline::Stages stages;
    stages.read = [&](const LineLimits &limits) {
      EXPECT_FALSE(reading.exchange(true));
      EXPECT_EQ(limits.lines, kLines);
      Lines lines = read(count);
      reading = false;
      return lines;
    };
    stages.encode = [&](int64_t number, const Line &line) {
      EXPECT_EQ(line.source.text, std::to_string(number));
      return encode(number);
    };
    stages.divide = divide;
    stages.write = [&](const std::vector<LineAnswer> &answers) {
      EXPECT_FALSE(writing.exchange(true));
      std::vector<std::string> lines;
      for (const LineAnswer &answer : answers) {
        lines.push_back(textOf(answer));
        if (!answer.notice.empty())
          lines.back() +=
              (answer.hasFailed ? "failed: " : "cut: ") + answer.notice;
      }
      written.insert(written.end(), lines.begin(), lines.end());
      Status status = write(lines);
      writing = false;
      return status;
    };
    stages.interrupt = [&] { interrupted = true; };
    BatchPipeline pipeline(limits, std::move(stages));
    return pipeline.run(workers, workers, [&](int64_t worker) {
      EXPECT_TRUE(0 <= worker && worker < workers);
      return [&](const Batch &batch) { return translate(batch.lines[0]); };
    });
  }

  Lines read(int64_t count) {
    int32_t number = reads++;
    if (number == waitAt)
      waitUntil([&] { return interrupted.load(); });
    Lines lines;
    for (int64_t i = 0; i < kLines; ++i)
      lines.lines.push_back({{std::to_string(kLines * number + i)}});
    lines.last = number + 1 == count;
    return lines;
  }

  static std::vector<Batch> divide(Sentences sentences, bool) {
    std::vector<Batch> batches;
    auto add = [&](std::vector<int64_t> places) {
      batches.emplace_back();
      for (int64_t place : places)
        if (const TokenIds &source = sentences.sources[size_t(place)];
            !source.empty()) {
          EXPECT_EQ(source, TokenIds{int32_t(sentences.first + place)});
          batches.back().sources.push_back(source);
          batches.back().lines.push_back(sentences.first + place);
          batches.back().numbers.push_back(size_t(place));
        }
      if (batches.back().lines.empty())
        batches.pop_back();
    };
    add({2});
    add({1, 0});
    return batches;
  }

  static void waitUntil(std::function<bool()> condition) {
    while (!condition())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  /// The answers of the batch whose first line this is.
  static Answers answers(int64_t line) {
    std::vector<Answer> all = {answerOf(std::to_string(line))};
    if (line % kLines == 1)
      all.push_back(answerOf(std::to_string(line - 1)));
    return all;
  }
  static std::vector<std::string> linesBefore(int64_t count) {
    std::vector<std::string> lines;
    for (int64_t line = 0; line < count; ++line)
      lines.push_back(std::to_string(line));
    return lines;
  }

  BatchPipeline::Limits limits = {{kLines, kUnlimited}, {48, kUnlimited}};
  std::atomic<int32_t> reads{0};
  std::atomic<bool> reading{false}, writing{false}, interrupted{false};
  /// Where the input has no more until somebody interrupts.
  int32_t waitAt = -1;
  std::vector<std::string> written;
  std::function<Result<Sentence>(int64_t)> encode = [](int64_t number) {
    return Sentence{{int32_t(number)}, {}};
  };
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
  for (LineLimits ahead :
       {LineLimits{48, kUnlimited}, LineLimits{kUnlimited, 48}}) {
    // In bytes lines of one digit count one each, and those of two, two: the
    // windows of 0 to 9, then those of 9 to 11 and so on.
    int64_t windows = ahead.lines == 48 ? 16 : 10;
    reads = 0;
    written.clear();
    limits.ahead = ahead;
    Status status = run(/*workers=*/3, 100, [&](int64_t line) {
      // The others go on without this one, so far and no further.
      if (line == 2) {
        waitUntil([&] { return reads == windows; });
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        EXPECT_EQ(reads, windows);
      }
      return answers(line);
    });
    EXPECT_TRUE(status.ok());
    EXPECT_EQ(written, linesBefore(300));
  }
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
    EXPECT_LE(reads, 8 + limits.ahead.lines / kLines);
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

TEST_F(BatchPipelineTest, failure_of_one_sentence_leaves_those_before_it) {
  Status status = run(2, 10, [](int64_t line) -> Answers {
    Answers result = answers(line);
    if (line == 10) {
      result.failure = Status::error("line 10");
      result.failed = 0;
    }
    return result;
  });
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.message(), "line 10");
  EXPECT_EQ(written, linesBefore(10));
}

TEST_F(BatchPipelineTest, lines_before_one_that_is_no_sentence_are_answered) {
  for (int64_t workers : {1, 2, 7})
    for (int64_t bad : {0, 1, 13, 59}) {
      reads = 0;
      written.clear();
      encode = [&](int64_t number) -> Result<Sentence> {
        // The first counts, also where it is the slowest.
        if (number == bad && bad % 2)
          std::this_thread::sleep_for(std::chrono::milliseconds(20));
        if (number >= bad)
          return Status::error("line ", number);
        return Sentence{{int32_t(number)}, {}};
      };
      Status status = run(workers, 1000, [&](int64_t line) {
        EXPECT_LT(line, bad);
        return line + 1 == bad && bad % kLines == 1
                   ? Answers({answerOf(std::to_string(line))})
                   : answers(line);
      });
      ASSERT_FALSE(status.ok());
      EXPECT_EQ(status.message(), "line " + std::to_string(bad));
      EXPECT_EQ(written, linesBefore(bad)) << workers << " " << bad;
      EXPECT_EQ(reads, bad / kLines + 1);
    }
}

TEST_F(BatchPipelineTest, nothing_is_read_behind_a_line_that_is_no_sentence) {
  encode = [&](int64_t number) -> Result<Sentence> {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if (number == 10)
      return Status::error("line ", number);
    return Sentence{{int32_t(number)}, {}};
  };
  Status status = run(3, 1000, [](int64_t line) {
    return line == 9 ? Answers({answerOf("9")}) : answers(line);
  });
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.message(), "line 10");
  EXPECT_EQ(written, linesBefore(10));
  EXPECT_EQ(reads, 4);
}

TEST_F(BatchPipelineTest, ranges_of_a_window_are_encoded_by_several_workers) {
  // Two workers that meet in one window: neither goes on alone.
  std::atomic<int> inside{0};
  constexpr int64_t kMany = 64;
  BatchPipeline::Stages stages;
  stages.read = [](const LineLimits &) {
    Lines lines;
    lines.lines.resize(kMany);
    lines.last = true;
    return lines;
  };
  stages.encode = [&](int64_t number, const Line &) {
    if (number == 0 || number == kMany - 1) {
      ++inside;
      waitUntil([&] { return inside == 2; });
    }
    return Sentence();
  };
  stages.divide = [](Sentences sentences, bool isFull) {
    EXPECT_TRUE(isFull);
    EXPECT_EQ(sentences.sources.size(), size_t(kMany));
    return std::vector<Batch>();
  };
  stages.write = [](const std::vector<LineAnswer> &answers) {
    EXPECT_EQ(answers.size(), size_t(kMany));
    return Status::success();
  };
  BatchPipeline pipeline({{kMany, kUnlimited}, {kMany, kUnlimited}},
                         std::move(stages));
  EXPECT_TRUE(pipeline
                  .run(2, 2,
                       [](int64_t) {
                         return [](const Batch &) {
                           return Answers(Status::error("no batch"));
                         };
                       })
                  .ok());
}

// Notices travel with lines, in order, on any number of workers.
TEST_F(BatchPipelineTest, notices_stand_with_their_lines) {
  encode = [](int64_t number) {
    Sentence sentence{{int32_t(number)}, {}};
    if (number % 7 == 3)
      sentence.notice = "n" + std::to_string(number);
    return sentence;
  };
  Status status = run(/*workers=*/4, 40, [&](int64_t line) {
    Answers all = answers(line);
    for (size_t i = 0; i < all.all.size(); ++i)
      if ((line - int64_t(i)) % 5 == 1) {
        all.all[i] = {};
        all.skipped.emplace_back(i, Status::error("s", line - int64_t(i)));
      }
    return all;
  });
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(written.size(), size_t(40 * kLines));
  for (int64_t line = 0; line < 40 * kLines; ++line) {
    std::string number = std::to_string(line);
    EXPECT_EQ(written[size_t(line)], line % 5 == 1 ? "failed: s" + number
                                     : line % 7 == 3
                                         ? number + "cut: n" + number
                                         : number);
  }
}

TEST_F(BatchPipelineTest, all_have_work_before_one_waits_for_input) {
  // The next window does not come before both batches of the first have met.
  waitAt = 1;
  encode = [](int64_t number) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return Sentence{{int32_t(number)}, {}};
  };
  std::atomic<int> inside{0};
  Status status = run(/*workers=*/2, 2, [&](int64_t line) {
    if (line < kLines) {
      ++inside;
      for (int i = 0; i < 2000 && inside < 2; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      EXPECT_EQ(inside, 2);
      interrupted = true;
    }
    return answers(line);
  });
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(written, linesBefore(6));
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

TEST_F(BatchPipelineTest, answers_of_windows_stand_behind_each_other) {
  // Line n has n % 3 further windows; batches are of one sentence, the last
  // ones first. From a line that fails on none has any.
  for (int64_t failing : {int64_t(-1), int64_t(7)}) {
    written.clear();
    reads = 0;
    std::atomic<int> batches{0};
    BatchPipeline::Stages stages;
    stages.read = [&](const LineLimits &) { return read(4); };
    stages.encode = [&](int64_t number, const Line &) -> Result<Sentence> {
      if (number == failing)
        return Status::error("line 7");
      auto id = int32_t(10 * number);
      Sentence sentence{{id}, {}};
      for (int32_t i = 1; i <= number % 3; ++i)
        sentence.windows.push_back(Sentence{{id + i}, {}});
      sentence.kept = "kept " + std::to_string(number);
      return sentence;
    };
    stages.divide = [](Sentences sentences, bool) {
      std::vector<Batch> divided;
      for (size_t i = sentences.sources.size(); i-- > 0;) {
        if (sentences.sources[i].empty())
          continue;
        Batch &batch = divided.emplace_back();
        batch.sources.push_back(sentences.sources[i]);
        batch.lines.push_back(sentences.lineOf(i));
        batch.numbers.push_back(i);
        EXPECT_EQ(sentences.sources[i][0] / 10, batch.lines[0]);
      }
      return divided;
    };
    stages.write = [&](const std::vector<LineAnswer> &answers) {
      for (const LineAnswer &answer : answers) {
        EXPECT_EQ(answer.kept, "kept " + std::to_string(written.size()));
        written.push_back(textOf(answer));
      }
      return Status::success();
    };
    stages.interrupt = [] {};
    BatchPipeline pipeline(limits, std::move(stages));
    Status status = pipeline.run(3, 3, [&](int64_t) {
      return [&](const Batch &batch) {
        ++batches;
        return Answers({answerOf(std::to_string(batch.sources[0][0]) + ",")});
      };
    });
    std::vector<std::string> expected = {
        "0,",  "10,11,", "20,21,22,", "30,", "40,41,",   "50,51,52,",
        "60,", "70,71,", "80,81,82,", "90,", "100,101,", "110,111,112,"};
    if (failing >= 0)
      expected.resize(size_t(failing));
    EXPECT_EQ(status.ok(), failing < 0);
    EXPECT_EQ(written, expected);
    EXPECT_EQ(batches, failing < 0 ? 24 : 13);
  }
}

TEST_F(BatchPipelineTest, interrupting_may_wait_for_a_worker) {
  // Who is interrupted waits until the other worker has gone, as a source does
  // whose own lock that worker holds.
  auto other = std::make_shared<std::atomic<bool>>(false);
  BatchPipeline::Stages stages;
  stages.read = [&](const LineLimits &) { return read(1000); };
  stages.encode = [&](int64_t number, const Line &) { return encode(number); };
  stages.divide = divide;
  stages.write = [](const std::vector<LineAnswer> &) {
    return Status::error("full");
  };
  bool hasGone = false;
  stages.interrupt = [&] {
    for (int i = 0; i < 5000 && !hasGone; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      hasGone = *other;
    }
  };
  std::atomic<int> inside{0};
  BatchPipeline pipeline(limits, std::move(stages));
  Status status = pipeline.run(2, 2, [&](int64_t) {
    auto gone =
        std::shared_ptr<void>(nullptr, [other](void *) { *other = true; });
    return [&inside, gone](const Batch &batch) {
      // Both are there before one fails.
      ++inside;
      waitUntil([&] { return inside >= 2; });
      return answers(batch.lines[0]);
    };
  });
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.message(), "full");
  EXPECT_TRUE(hasGone);
}

TEST_F(BatchPipelineTest, more_workers_than_batches) {
  EXPECT_TRUE(run(64, 1, answers).ok());
  EXPECT_EQ(written, linesBefore(3));
  EXPECT_EQ(reads, 1);
}
