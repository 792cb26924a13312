//===- BusyRunnerTests.cpp - Batches that are under way together ----------===//
//
// Workers that have several batches under way: a line that waits for other
// workers becomes ids while its worker has none. Runs under ThreadSanitizer
// too.
//
//===----------------------------------------------------------------------===//

#include "runtime/lines/BatchPipeline.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

using namespace heddle;

namespace {

/// Whether the runner of a thread has nothing under way.
thread_local bool isIdle = true;

/// Has each batch under way for some turns, beside two others.
class SlowRunner : public BatchPipeline::Runner {
public:
  void begin(const Batch &batch, std::function<void(Answers)> done) override {
    open.push_back({batch.lines[0], std::move(done), /*turns=*/5});
    isIdle = false;
  }
  bool isBusy() const override { return !open.empty(); }
  bool hasRoom() const override { return open.size() < 3; }
  void advance() override {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    for (Begun &each : open)
      --each.turns;
    if (open.front().turns > 0)
      return;
    std::vector<AnswerText> texts{{std::to_string(open.front().line)}};
    open.front().done(std::vector<Answer>{std::move(texts)});
    open.erase(open.begin());
    isIdle = open.empty();
  }

private:
  struct Begun {
    int64_t line;
    std::function<void(Answers)> done;
    int turns;
  };
  std::vector<Begun> open;
};

/// A batch for each line.
std::vector<Batch> divide(Sentences sentences, bool) {
  std::vector<Batch> batches;
  for (size_t i = 0; i < sentences.sources.size(); ++i) {
    Batch &batch = batches.emplace_back();
    batch.sources.push_back(sentences.sources[i]);
    batch.lines.push_back(sentences.lineOf(i));
    batch.numbers.push_back(i);
  }
  return batches;
}

} // namespace

TEST(BusyRunnerTest, batches_end_before_a_line_that_waits) {
  constexpr int kCount = 60;
  int count = 0;
  std::vector<std::string> written, expected;
  BatchPipeline::Stages stages;
  stages.read = [&](const LineLimits &) {
    Lines lines;
    for (int i = 0; i < 2; ++i)
      lines.lines.push_back({{std::to_string(count++)}});
    lines.last = count == kCount;
    return lines;
  };
  auto waits = [](const Line &line) { return line.source.text.back() == '7'; };
  stages.waits = waits;
  stages.encode = [&](int64_t number, const Line &line) -> Result<Sentence> {
    if (waits(line))
      EXPECT_TRUE(isIdle);
    return Sentence{{int32_t(number)}, {}};
  };
  stages.divide = divide;
  stages.write = [&](const std::vector<LineAnswer> &answers) {
    for (const LineAnswer &answer : answers)
      written.push_back(
          std::get<std::vector<AnswerText>>(answer.answer)[0].text);
    return Status::success();
  };
  stages.interrupt = [] {};
  BatchPipeline pipeline({{2, 1 << 20}, {24, 1 << 20}}, std::move(stages));
  std::function<std::unique_ptr<BatchPipeline::Runner>(int64_t)> make =
      [](int64_t) { return std::make_unique<SlowRunner>(); };
  ASSERT_TRUE(pipeline.run(3, 3, make).ok());
  for (int line = 0; line < kCount; ++line)
    expected.push_back(std::to_string(line));
  EXPECT_EQ(written, expected);
}
