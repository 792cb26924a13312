//===- RunNearestTests.cpp - Searches of heddle-run -----------------------===//
//
// Lines of a toy embedder that are nearest to queries: which prompts are in
// front of both, how results are printed, and what is refused. Vectors of
// other types are compared with NumPy in test/execution/embed.
//
//===----------------------------------------------------------------------===//

#include "RunToolTest.h"
#include "test/runtime/ToyTokenizer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <sstream>

using namespace heddle::test;
using nlohmann::json;

namespace {

class RunNearestTest : public RunToolTest {
protected:
  void SetUp() override {
    RunToolTest::SetUp();
    if (IsSkipped())
      return;
    writeEmbedder(
        "embedder",
        {{"max_tokens", 7}, {"prompts", {{"query", "d"}, {"passage", "bb"}}}});
    write("lines", "a\nbc\ncab\n");
  }
  void writeEmbedder(const std::string &name, const json &task) {
    json manifest = withoutGeneration(withEmbedding(toyManifest()));
    manifest["tokenizer"] = {{"kind", "characters"}, {"special", {1, 2}}};
    manifest["tasks"]["embed"] = task;
    write(name, toyArtifact(manifest)
                    .add("tokenizer", buildToyTokenizer("____abcd", "____abcd",
                                                        3, 4, {{1}, {2}}))
                    .build());
  }

  /// The vector of a text behind a prompt.
  static std::vector<float> vectorOf(const std::string &text,
                                     const std::string &prompt) {
    Ids ids = {1};
    for (char c : prompt + text)
      ids.push_back(c - 'a' + 4);
    ids.push_back(2);
    return toyVector(ids, prompt.empty() ? 0 : int32_t(prompt.size()) + 1);
  }
  static double cosine(const std::vector<float> &a,
                       const std::vector<float> &b) {
    auto dot = [](const std::vector<float> &x, const std::vector<float> &y) {
      return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
    };
    return dot(a, b) / std::sqrt(dot(a, a) * dot(b, b));
  }
  /// All lines as --nearest orders them.
  static std::vector<std::pair<double, size_t>>
  nearest(const std::string &query, const std::string &queryPrompt,
          const std::vector<std::string> &lines,
          const std::string &linePrompt) {
    std::vector<std::pair<double, size_t>> order;
    for (size_t i = 0; i < lines.size(); ++i)
      order.emplace_back(
          -cosine(vectorOf(query, queryPrompt), vectorOf(lines[i], linePrompt)),
          i);
    std::sort(order.begin(), order.end());
    return order;
  }
  /// Runs the embedder with the query "ab" and expects `lines` in the order
  /// that the prompts make.
  void expectNearest(const std::string &arguments,
                     const std::string &queryPrompt,
                     const std::string &linePrompt) {
    Outcome outcome = run(arguments + " --query ab");
    EXPECT_EQ(outcome.exitCode, 0) << arguments;
    EXPECT_EQ(outcome.errors, "") << arguments;
    std::istringstream output(outcome.output);
    const std::vector<std::string> lines = {"a", "bc", "cab"};
    for (auto [score, line] : nearest("ab", queryPrompt, lines, linePrompt)) {
      std::string text;
      std::getline(output, text);
      json object = json::parse(text, nullptr, /*allow_exceptions=*/false);
      ASSERT_TRUE(object.is_object()) << outcome.output;
      EXPECT_EQ(object.size(), 3u) << text;
      EXPECT_EQ(object["line"], line + 1) << arguments;
      EXPECT_EQ(object["text"], lines[line]) << arguments;
      EXPECT_NEAR(object["score"].get<double>(), -score, 1e-7) << arguments;
    }
    EXPECT_EQ(output.peek(), EOF) << outcome.output;
  }
};

} // namespace

TEST_F(RunNearestTest, puts_prompts_in_front) {
  expectNearest("embedder --nearest lines", "d", "bb");
  // One for both, or none.
  expectNearest("embedder --nearest lines --prompt query", "d", "d");
  expectNearest("embedder --nearest lines --prompt=", "", "");
  // A model without prompts of these names has a default.
  writeEmbedder("other",
                {{"prompts", {{"search", "c"}}}, {"prompt", "search"}});
  expectNearest("other --nearest lines", "c", "c");
  writeEmbedder("other", json::object());
  expectNearest("other --nearest lines", "", "");
  // The first of document, passage and corpus.
  writeEmbedder("other", {{"prompts", {{"corpus", "c"}, {"document", ""}}},
                          {"prompt", "corpus"}});
  expectNearest("other --nearest lines", "c", "");
  writeEmbedder("other", {{"prompts", {{"corpus", "c"}, {"query", "b"}}}});
  expectNearest("other --nearest lines", "b", "c");
}

TEST_F(RunNearestTest, prints_lines_of_texts) {
  write("equal", "b\nd\nb\n\nb\n");
  const std::string flags = "embedder --nearest equal --prompt= ";
  EXPECT_EQ(run(flags + "--query b --top 3").output,
            "{\"line\": 1, \"score\": 1, \"text\": \"b\"}\n"
            "{\"line\": 3, \"score\": 1, \"text\": \"b\"}\n"
            "{\"line\": 5, \"score\": 1, \"text\": \"b\"}\n");
  EXPECT_EQ(run(flags + "--query b --top 2 --plain").output, "1\tb\n1\tb\n");
  // Results have the number of their query, if there may be several.
  const std::string both = "{\"query\": 1, \"line\": 2, \"score\": 1, "
                           "\"text\": \"d\"}\n"
                           "{\"query\": 2, \"line\": 4, \"score\": 1, "
                           "\"text\": \"\"}\n";
  EXPECT_EQ(run(flags + "--top 1", "d\n\n").output, both);
  EXPECT_EQ(run(flags + "--top 1 d ''").output, both);
  EXPECT_EQ(run(flags + "--top 1 --plain d ''").output, "1\t1\td\n2\t1\t\n");
  EXPECT_EQ(run(flags + "--top 1 d").output,
            both.substr(0, both.find('\n') + 1));
  // No more than there are, and none of nothing.
  std::string all = run(flags + "--query b --top 1000").output;
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 5);
  EXPECT_EQ(run(flags).output, "");
  write("empty", "");
  Outcome outcome = run("embedder --nearest empty --query b");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_EQ(outcome.output + outcome.errors, "");
  // Ten of more.
  std::string many;
  for (int i = 0; i < 12; ++i)
    many += "b\n";
  write("many", many);
  all = run("embedder --nearest many --query b --plain").output;
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 10);
}

TEST_F(RunNearestTest, prints_lines_of_files) {
  EXPECT_EQ(run("embedder --prompt passage --output v.npy <lines").exitCode, 0);
  for (const char *query : {"ab", "", "dd"}) {
    std::string quoted = "--query '" + std::string(query) + "'";
    Outcome texts = run("embedder --nearest lines --plain " + quoted),
            file = run("embedder --nearest v.npy --plain " + quoted);
    EXPECT_EQ(file.exitCode, 0) << file.errors;
    // The line's number in place of its text.
    const std::vector<std::string> lines = {"a", "bc", "cab"};
    for (size_t i = 0; i < lines.size(); ++i) {
      std::string behind = "\t" + lines[i] + "\n";
      size_t at = texts.output.find(behind);
      ASSERT_NE(at, std::string::npos) << texts.output;
      texts.output.replace(at, behind.size(),
                           "\t" + std::to_string(i + 1) + "\n");
    }
    EXPECT_EQ(file.output, texts.output);
  }
  // One without rows.
  write("empty", "");
  EXPECT_EQ(run("embedder --output v.npy <empty").exitCode, 0);
  Outcome outcome = run("embedder --nearest v.npy --query ab");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_EQ(outcome.output + outcome.errors, "");
}

TEST_F(RunNearestTest, leaves_out_lines_that_were_skipped) {
  write("long", "ab\nabcdabcd\ncab\n");
  const std::string flags =
      "embedder --prompt= --no-truncate --on-error skip --plain ";
  auto warnings = [](const std::string &name) {
    return "heddle-run: warning: line 2 of " + name +
           " has more than 7 tokens; it is skipped\n"
           "heddle-run: warning: 1 of 3 lines was skipped\n";
  };
  Outcome outcome = run(flags + "--nearest long --query cab");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_EQ(outcome.output.substr(0, 6), "1\tcab\n");
  EXPECT_EQ(std::count(outcome.output.begin(), outcome.output.end(), '\n'), 2);
  EXPECT_EQ(outcome.errors, warnings("'long'"));
  // Queries keep their numbers.
  outcome = run(flags + "--nearest lines --top 1", read("long"));
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_EQ(outcome.output.substr(0, 2), "1\t");
  EXPECT_NE(outcome.output.find("\n3\t1\tcab\n"), std::string::npos)
      << outcome.output;
  EXPECT_EQ(outcome.errors, warnings("standard input"));
  // Rows of NaN and of zeros.
  for (const char *type : {"float32", "float16", "int8"}) {
    run(flags.substr(0, flags.find("--plain")) +
        "--output v.npy --vector-type " + type + " <long");
    outcome = run("embedder --prompt= --nearest v.npy --query cab --plain");
    EXPECT_EQ(std::count(outcome.output.begin(), outcome.output.end(), '\n'),
              2);
    EXPECT_EQ(outcome.output.find("\t2\n"), std::string::npos)
        << outcome.output;
  }
  // A line that stops the run.
  expectError("embedder --no-truncate --nearest long --query cab",
              "line 2 of 'long' has more than 7 tokens");
  expectError("embedder --no-truncate --nearest lines",
              "line 2 of standard input has more than 7 tokens", read("long"));
}

TEST_F(RunNearestTest, takes_ids) {
  write("ids", "1 4 2\n1 5 6 2\n");
  Outcome outcome =
      run("embedder --ids --nearest ids --query '1 5 6 2' --top 1");
  EXPECT_EQ(outcome.errors, "");
  EXPECT_EQ(outcome.output,
            "{\"line\": 2, \"score\": 1, \"text\": \"1 5 6 2\"}\n");
}

TEST_F(RunNearestTest, refuses_files) {
  expectError("embedder --nearest absent --query a",
              "cannot open 'absent': No such file or directory");
  expectError("embedder --nearest absent.npy --query a",
              "cannot open 'absent.npy': No such file or directory");
  write("v.npy", "a\n");
  expectError("embedder --nearest v.npy --query a",
              "'v.npy' does not begin as NumPy files do");
  run("embedder --output v.npy --dimensions 3 <lines");
  expectError("embedder --nearest v.npy --query a",
              "'v.npy' is (3, 3) of '<f4', but vectors of 4 numbers are "
              "(lines, 4) of '<f4', (lines, 4) of '<f2', (lines, 4) of '|i1' "
              "or (lines, 1) of '|u1'");
  EXPECT_EQ(run("embedder --nearest v.npy --query a --dimensions 3").exitCode,
            0);
  expectError("toy --ids --nearest lines --query 1",
              "'toy' has no task 'embed': it generates text");
  expectError("embedder --nearest lines --profile=lines --query a",
              "cannot write 'lines': it is the input 'lines'");
}

TEST_F(RunNearestTest, flags_that_do_not_go_together) {
  const std::string nearest = "embedder --nearest lines ";
  expectUsageError("embedder --query a", "--query needs --nearest FILE");
  expectUsageError(nearest + "--query a b",
                   "--query is the only query, found 'b', too");
  expectUsageError(nearest + "--query a -",
                   "--query is the only query, found '-', too");
  expectUsageError(nearest + "--query a --query b",
                   "--query is given twice, as 'a' and as 'b'");
  expectUsageError("embedder --nearest ''",
                   "--nearest has an empty value, expected a file");
  for (const char *flag : {"--output v.npy", "--vector-type int8"})
    expectUsageError(nearest + flag,
                     std::string(flag).substr(0, std::strcspn(flag, " ")) +
                         " is for vectors that are printed or written, but "
                         "--nearest compares them");
  for (const char *flag : {"--pairs", "--second a", "--rank a", "--question a"})
    expectUsageError(nearest + flag,
                     std::string(flag).substr(0, std::strcspn(flag, " ")) +
                         " is for pairs of texts, but --nearest compares "
                         "vectors");
  expectUsageError(nearest + "--task fill",
                   "--nearest compares vectors, but --task is fill");
  expectUsageError(nearest + "--score lines",
                   "--nearest is for vectors, but --score scores");
  expectUsageError(nearest + "--hidden h.npy",
                   "--nearest is for vectors, but --hidden encodes");
  expectUsageError("embedder --vector-type binary a",
                   "--vector-type has the value 'binary', expected float32, "
                   "float16, int8 or bits");
  expectUsageError("embedder --precision int8 a",
                   "unknown flag '--precision' (the type of vectors is "
                   "--vector-type float32|float16|int8|bits)");
}
