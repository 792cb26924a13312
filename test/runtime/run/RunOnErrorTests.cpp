//===- RunOnErrorTests.cpp - Lines that fail do not end a run -------------===//
//
// heddle-run --on-error on the toy artifact: each kind of line that fails,
// beside lines that do not, in every job, on several workers.
//
//===----------------------------------------------------------------------===//

#include "RunToolTest.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace heddle::test;
using nlohmann::json;

namespace {

constexpr const char *kWarning = "heddle-run: warning: ";

class RunOnErrorTest : public RunToolTest {
protected:
  /// What becomes of lines, each of ids or of what a model cannot take.
  void expectSkipped(const std::string &flags, const std::string &bad,
                     const std::string &why) {
    std::vector<Ids> sources = toySources(40);
    for (Ids &source : sources)
      source.resize(std::min<size_t>(source.size(), 7));
    std::string input, expected;
    for (size_t i = 0; i < sources.size(); ++i) {
      bool isBad = i == 5 || i == 39;
      input += isBad ? bad + "\n" : idLines({sources[i]});
      expected += isBad ? "\n" : answers({sources[i]}, /*shortlist=*/true);
    }
    for (const char *more : {"", " --workers 3 --batch 2", " --batch 1"}) {
      Outcome outcome = run("toy --ids --on-error skip " + flags + more, input);
      EXPECT_EQ(outcome.exitCode, 0);
      EXPECT_EQ(outcome.output, expected);
      std::string errors;
      for (const char *line : {"6", "40"})
        errors += kWarning + ("line " + std::string(line)) +
                  " of standard input " + why + "; it is skipped\n";
      EXPECT_EQ(outcome.errors,
                errors + kWarning + "2 of 40 lines were skipped\n");
    }
    // Without, the lines before.
    Outcome outcome = run("toy --ids " + flags, input);
    EXPECT_EQ(outcome.exitCode, 1);
    EXPECT_EQ(std::count(outcome.output.begin(), outcome.output.end(), '\n'),
              5);
  }
};

} // namespace

TEST_F(RunOnErrorTest, each_kind_of_line_is_skipped) {
  expectSkipped("", "1 2 3 4 5 6 7 8 1 2",
                "has 10 tokens but the model has positions for 9");
  expectSkipped(
      "--max-source 8", "1 2 3 4 5 6 7 8 1",
      "has 9 tokens, expected at most 8 (--max-source N admits more)");
  expectSkipped("", "1 99", "has the id 99 but the vocabulary has 9");
  expectSkipped("", "-1", "has the id -1 but the vocabulary has 9");
  expectSkipped("", "1 x 2", "has 'x', expected token ids separated by spaces");
}

TEST_F(RunOnErrorTest, lines_that_are_longer_than_a_line_may_be) {
  std::string longest(3 << 20, '1'), good = idLines({{1, 2}});
  std::string one = answers({{1, 2}}, /*shortlist=*/true);
  write("lines", good + longest + "\n" + good + longest + "\n");
  Outcome outcome = runScript("$run toy --ids --on-error skip < lines");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_EQ(outcome.output, one + "\n" + one + "\n");
  EXPECT_NE(outcome.errors.find("line 4 of standard input is longer than "
                                "1048576 bytes; it is skipped\n"),
            std::string::npos);
  // In front of the end of the input, and beside targets.
  write("targets", "3\n" + longest + "\n4\n5");
  outcome = runScript("head -c 4000000 lines | "
                      "$run toy --ids --on-error skip --prefix targets");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.errors;
  EXPECT_EQ(std::count(outcome.output.begin(), outcome.output.end(), '\n'), 4);
  EXPECT_NE(outcome.errors.find("2 of 4 lines were skipped\n"),
            std::string::npos);
}

TEST_F(RunOnErrorTest, notices_are_bounded_and_counted) {
  std::string input;
  for (int i = 0; i < 50; ++i)
    input += i % 2 ? "1 2\n" : "99\n";
  Outcome outcome = run("toy --ids --on-error skip", input);
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_EQ(std::count(outcome.output.begin(), outcome.output.end(), '\n'), 50);
  EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 11);
  EXPECT_NE(outcome.errors.find("25 of 50 lines were skipped, the first 10 as "
                                "above\n"),
            std::string::npos);
  EXPECT_EQ(
      run("toy --ids --on-error skip 99").errors,
      std::string(kWarning) +
          "text 1 has the id 99 but the vocabulary has 9; it is skipped\n" +
          kWarning + "1 of 1 line was skipped\n");
}

TEST_F(RunOnErrorTest, forms_of_answers) {
  EXPECT_EQ(run("toy --ids --on-error skip --scores 99").output, "\n");
  EXPECT_EQ(run("toy --ids --on-error skip --beam 2 --n-best 2 99 ''").output,
            "1 |||  ||| F0= 0 ||| 0\n");
}

TEST_F(RunOnErrorTest, targets_that_fail) {
  write("targets", "1 2\n77\n3\n\n");
  std::string all = run("toy --ids --score targets", "1 2\n").output;
  // The second target is none, the third line has no token for its own.
  Outcome outcome =
      run("toy --ids --on-error skip --score targets", "1 2\n3\n\n4\n");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.errors;
  EXPECT_EQ(std::count(outcome.output.begin(), outcome.output.end(), '\n'), 4);
  EXPECT_NE(outcome.errors.find("line 2 of 'targets' has the id 77"),
            std::string::npos);
  EXPECT_NE(outcome.errors.find("line 3 of standard input is empty, but line 3 "
                                "of 'targets' has a target for it"),
            std::string::npos);
  EXPECT_NE(outcome.errors.find("2 of 4 lines were skipped\n"),
            std::string::npos);
  EXPECT_NE(outcome.errors.find("perplexity"), std::string::npos);

  outcome = run("toy --ids --on-error skip --prefix targets", "1 2\n3\n\n4\n");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.errors;
  std::string first = run("toy --ids --prefix targets", "1 2\n").output,
              last = answers({{4}}, /*shortlist=*/true);
  EXPECT_EQ(outcome.output.substr(outcome.output.find('\n')), "\n\n\n" + last);
  // A file with too few lines is no matter of a line.
  EXPECT_EQ(run("toy --ids --on-error skip --score targets", "1\n1\n1\n1\n1\n")
                .exitCode,
            1);
}

TEST_F(RunOnErrorTest, crop_keeps_the_end_and_stops_at_others) {
  std::string input = "1 2\n5 4 3 2 1\n5 4 3 2 0\n";
  Outcome outcome = run("toy --ids --max-source 3 --on-error crop", input);
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_EQ(outcome.output,
            answers({{1, 2}, {5, 4, 3}, {5, 4, 0}}, /*shortlist=*/true));
  EXPECT_EQ(outcome.errors,
            std::string(kWarning) +
                "line 2 of standard input has 5 tokens and is cut to 3\n" +
                kWarning +
                "line 3 of standard input has 5 tokens and is cut to 3\n" +
                kWarning + "2 of 3 lines were cut\n");
  // To the model's positions.
  EXPECT_EQ(run("toy --ids --on-error crop", "1 2 3 4 5 6 7 8 1 2 3\n").output,
            answers({{1, 2, 3, 4, 5, 6, 7, 8, 1}}, /*shortlist=*/true));
  outcome = run("toy --ids --max-source 3 --on-error crop", input + "99\n1\n");
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_EQ(std::count(outcome.output.begin(), outcome.output.end(), '\n'), 3);
  EXPECT_NE(outcome.errors.find("2 of 3 lines were cut\n"), std::string::npos);
  EXPECT_NE(
      outcome.errors.find("error: line 4 of standard input has the id 99"),
      std::string::npos);
}

TEST_F(RunOnErrorTest, hidden_states) {
  for (auto [rule, longest] : {std::pair("skip", 3), std::pair("crop", 4)}) {
    Outcome outcome =
        run(std::string("toy --ids --hidden a.npy --max-source 4 --on-error ") +
                rule,
            "1 2 3\n1 2 3 4 5\n4\n");
    EXPECT_EQ(outcome.exitCode, 0) << outcome.errors;
    std::string bytes = read("a.npy");
    size_t line = size_t(longest) * 2;
    std::vector<float> values(3 * line);
    ASSERT_EQ(bytes.size(), 128 + values.size() * sizeof(float));
    memcpy(values.data(), bytes.data() + 128, values.size() * sizeof(float));
    EXPECT_EQ(values[0], 1);
    EXPECT_EQ(values[2 * line], 4);
    EXPECT_EQ(std::isnan(values[line]), longest == 3);
    EXPECT_NE(outcome.errors.find(longest == 3 ? "1 of 3 lines was skipped\n"
                                               : "1 of 3 lines was cut\n"),
              std::string::npos)
        << outcome.errors;
  }
}

TEST_F(RunOnErrorTest, hidden_states_behind_a_line_that_is_too_long) {
  write("lines", std::string(3 << 20, '1') + "\n4\n");
  Outcome outcome =
      runScript("$run toy --ids --hidden a.npy --on-error skip < lines");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.errors;
  EXPECT_EQ(read("a.npy").size(), 128 + 4 * sizeof(float));
}

TEST_F(RunOnErrorTest, refuses_what_means_nothing) {
  expectUsageError(
      "toy --on-error go",
      "--on-error has the value 'go', expected stop, skip or crop");
  expectUsageError("toy --on-error skip --teacher x --logits y",
                   "--on-error is for generated text, but --teacher scores");
}
