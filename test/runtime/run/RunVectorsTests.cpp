//===- RunVectorsTests.cpp - Vectors of heddle-run ------------------------===//
//
// Texts of a toy embedder: prompts in front of them, texts that are cut, and a
// model that translates, too.
//
//===----------------------------------------------------------------------===//

#include "RunToolTest.h"
#include "test/runtime/ToyTokenizer.h"

#include <cstring>

using namespace heddle::test;
using nlohmann::json;

namespace {

class RunVectorsTest : public RunToolTest {
protected:
  void SetUp() override {
    RunToolTest::SetUp();
    if (IsSkipped())
      return;
    json manifest = withEmbedding(toyManifest());
    write("both", toyArtifact(manifest).build());
    manifest = withoutGeneration(manifest);
    manifest["tokenizer"] = {{"kind", "characters"}, {"special", {1, 2}}};
    manifest["tasks"]["embed"] = {{"max_tokens", 5},
                                  {"prompts", {{"query", "d"}}}};
    write("embedder",
          toyArtifact(manifest)
              .add("tokenizer",
                   buildToyTokenizer("____abcd", "____abcd", 3, 4, {{1}, {2}}))
              .build());
  }

  /// The line of --plain for a source.
  static std::string lineOf(const Ids &source, int32_t promptTokens = 0) {
    std::string line;
    for (float value : toyVector(source, promptTokens))
      line += (line.empty() ? "" : " ") + std::to_string(int(value));
    return line + "\n";
  }
  void expectVectors(const std::string &flags, const std::string &lines,
                     const std::string &input,
                     const std::vector<std::string> &warnings = {}) {
    Outcome outcome = run("embedder --plain " + flags, input);
    EXPECT_EQ(outcome.exitCode, 0) << flags;
    EXPECT_EQ(outcome.output, lines) << flags;
    std::string errors;
    for (const std::string &warning : warnings)
      errors += "heddle-run: warning: " + warning + "\n";
    EXPECT_EQ(outcome.errors, errors) << flags;
  }
};

} // namespace

TEST_F(RunVectorsTest, of_texts) {
  // An empty text has a vector, too.
  expectVectors("", lineOf({1, 4, 5, 2}) + lineOf({1, 2}), "ab\n\n");
  expectVectors("--prompt query", lineOf({1, 7, 4, 5, 2}, 2), "ab\n");
  expectVectors("ab c", lineOf({1, 4, 5, 2}) + lineOf({1, 6, 2}), "");
  EXPECT_EQ(run("embedder", "a\n").output, "{\"vector\": [15, 3, 0, 44]}\n");
}

TEST_F(RunVectorsTest, of_texts_that_are_cut) {
  const std::string lines = lineOf({1, 4, 5, 2}) + lineOf({1, 4, 5, 6, 2}),
                    input = "ab\nabcd\n",
                    cut = "line 2 of standard input has "
                          "more than 5 tokens";
  expectVectors("", lines, input,
                {cut + " and is cut", "1 of 2 lines was cut"});
  // They are not skipped: it is none of the lines that fail.
  expectVectors("--on-error skip", lines, input,
                {cut + " and is cut", "1 of 2 lines was cut"});
  expectVectors("--no-truncate --on-error skip", lineOf({1, 4, 5, 2}) + "\n",
                input, {cut + "; it is skipped", "1 of 2 lines was skipped"});
  Outcome outcome = run("embedder --plain --no-truncate", input);
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_EQ(outcome.errors, "heddle-run: error: " + cut + "\n");
}

TEST_F(RunVectorsTest, of_a_model_that_translates_too) {
  std::vector<Ids> sources = toySources(9);
  const std::string input = idLines(sources);
  EXPECT_EQ(run("both --ids", input).output,
            answers(sources, /*shortlist=*/true));
  std::string lines;
  std::vector<float> values;
  for (const Ids &source : sources) {
    lines += lineOf(source);
    for (float value : toyVector(source))
      values.push_back(value);
  }
  EXPECT_EQ(run("both --ids --plain", input).output, lines);
  Outcome outcome =
      run("both --ids --output v.npy --batch 2 --workers 3", input);
  EXPECT_EQ(outcome.exitCode, 0) << outcome.errors;
  EXPECT_EQ(outcome.output, "");
  std::string bytes = read("v.npy");
  ASSERT_EQ(bytes.size(), 128 + values.size() * sizeof(float));
  EXPECT_NE(bytes.find("'shape': (9, 4), }"), std::string::npos);
  EXPECT_EQ(std::memcmp(bytes.data() + 128, values.data(), bytes.size() - 128),
            0);
  // A model without the task.
  expectError("toy --ids --plain",
              "'toy' has no task 'embed': it generates text", input);
  // What a failed run leaves is what was there.
  expectError("both --ids --output v.npy",
              "line 2 of standard input has no token", "1\n\n");
  EXPECT_EQ(read("v.npy"), bytes);
}

TEST_F(RunVectorsTest, flags_that_do_not_go_together) {
  expectUsageError("both --plain --output v.npy",
                   "--plain is for vectors that are printed, but --output "
                   "writes a file");
  for (const char *flag :
       {"--hidden h.npy", "--score lines", "--teacher lines --logits l.npy"}) {
    expectUsageError(std::string("both --ids --output v.npy ") + flag,
                     "--output is for vectors of texts, but " +
                         std::string(flag).substr(0, std::strcspn(flag, " ")) +
                         " asks for something else");
  }
}
