//===- RunLabelsTests.cpp - Labels of heddle-run --------------------------===//
//
// The lines of a toy model that classifies texts, labels tokens and guesses
// masks.
//
//===----------------------------------------------------------------------===//

#include "RunToolTest.h"
#include "test/runtime/ToyTokenizer.h"

using namespace heddle::test;
using nlohmann::json;

namespace {

class RunLabelsTest : public RunToolTest {
protected:
  void SetUp() override {
    RunToolTest::SetUp();
    if (IsSkipped())
      return;
    write("all", toyArtifact(withEmbedding(withLabels(toyManifest()))).build());
    json manifest = withoutGeneration(withLabels(toyManifest()));
    manifest["tokenizer"] = {{"kind", "characters"}, {"special", {1, 2}}};
    manifest["tasks"]["classify"] = {{"labels", {"a \"b\"\n", "long", "last"}},
                                     {"scores", "none"},
                                     {"max_tokens", 5}};
    write("texts",
          toyArtifact(manifest)
              .add("tokenizer",
                   buildToyTokenizer("____abcd", "____abcd", 3, 4, {{1}, {2}}))
              .build());
  }

  void expectOutput(const std::string &arguments, const std::string &input,
                    const std::string &output) {
    Outcome outcome = run(arguments, input);
    EXPECT_EQ(outcome.exitCode, 0) << arguments;
    EXPECT_EQ(outcome.output, output) << arguments;
    EXPECT_EQ(outcome.errors, "") << arguments;
  }
};

} // namespace

TEST_F(RunLabelsTest, prints_an_object_a_line) {
  expectOutput("texts", "ab\n\n",
               R"({"label": "long", "score": 4, "scores": {"long": 4, )"
               R"("last": 2, "a \"b\"\u000a": 1}})"
               "\n"
               R"({"label": "long", "score": 2, "scores": {"long": 2, )"
               R"("last": 2, "a \"b\"\u000a": 1}})"
               "\n");
  expectOutput("texts --top 1 ab", "",
               R"({"label": "long", "score": 4, "scores": {"long": 4}})"
               "\n");
  // Half of the token 5, of its position 1 and of the length 3, and so on.
  expectOutput("texts --task tag b", "",
               R"({"tags": [{"token": 1, "name": "b", "start": 0, "end": 1, )"
               R"("label": "id", "score": 0.66524094}]})"
               "\n");
  EXPECT_EQ(run("texts --task tag --top 1 b").output,
            run("texts --task tag b").output);
  expectOutput("texts --task tag --top 2 b", "",
               R"({"tags": [{"token": 1, "name": "b", "start": 0, "end": 1, )"
               R"("label": "id", "score": 0.66524094, "scores": {"id": )"
               R"(0.66524094, "length": 0.24472848}}]})"
               "\n");
  expectOutput("texts --task fill --top 2", "d\n\na\n",
               R"({"masks": [{"token": 1, "name": "d", "start": 0, "end": 1, )"
               R"("fills": [{"id": 1, "score": 0.41255915}, )"
               R"({"id": 8, "score": 0.15177202}]}]})"
               "\n{\"masks\": []}\n{\"masks\": []}\n");
}

TEST_F(RunLabelsTest, prints_the_best_alone) {
  expectOutput("texts --plain", "ab\n\n", "long\t4\nlong\t2\n");
  expectOutput("texts --plain --task tag", "bd\n\nb\n", "id id\n\nid\n");
  expectOutput("texts --plain --task fill --top 3", "dad\na\n", "1 3\n\n");
  expectOutput("all --ids --plain --task fill", "7 7\n7 0 0 0 7\n",
               "0 1\n0 4\n");
}

TEST_F(RunLabelsTest, skips_and_cuts_lines) {
  const std::string input = "1\n\n5 7\n";
  Outcome outcome = run("all --ids --task classify --on-error skip", input);
  EXPECT_NE(outcome.output.find("\n{\"label\": null}\n"), std::string::npos);
  EXPECT_EQ(outcome.errors,
            "heddle-run: warning: line 2 of standard input has no token; it is "
            "skipped\nheddle-run: warning: 1 of 3 lines was skipped\n");
  EXPECT_EQ(run("all --ids --task tag --on-error skip", input)
                    .output.find("\n{\"tags\": null}\n") == std::string::npos,
            false);
  EXPECT_EQ(
      run("all --ids --task fill --on-error skip", input).output.substr(0, 29),
      "{\"masks\": []}\n{\"masks\": null}");
  EXPECT_EQ(run("all --ids --task tag --plain --on-error skip", input).output,
            "id\n\nid id\n");
  expectError("all --ids --task tag", "line 2 of standard input has no token",
              input);
  outcome = run("texts --plain", "abcd\n");
  EXPECT_EQ(outcome.output, "long\t5\n");
  EXPECT_EQ(outcome.errors,
            "heddle-run: warning: line 1 of standard input has more than 5 "
            "tokens and is cut\nheddle-run: warning: 1 of 1 line was cut\n");
}

TEST_F(RunLabelsTest, of_a_model_with_several_tasks) {
  std::vector<Ids> sources = toySources(9);
  const std::string input = idLines(sources);
  EXPECT_EQ(run("all --ids", input).output,
            answers(sources, /*shortlist=*/true));
  EXPECT_EQ(run("all --ids --task generate", input).output,
            answers(sources, /*shortlist=*/true));
  const std::string tags = run("all --ids --task tag", input).output;
  for (const char *flags : {"--batch 1", "--batch 4 --workers 3"})
    EXPECT_EQ(run(std::string("all --ids --task tag ") + flags, input).output,
              tags);
  // What is plain is the first task that is no translation.
  EXPECT_EQ(run("all --ids --plain", "5\n").output,
            run("all --ids --plain --task classify", "5\n").output);
  // Flags of vectors are for vectors.
  EXPECT_EQ(run("all --ids --dimensions 2", "5\n").output,
            run("all --ids --dimensions 2 --task embed", "5\n").output);
  expectError(
      "all --ids --normalize --task generate",
      "--normalize is for vectors, but 'all' is asked to generate texts",
      input);
  EXPECT_EQ(run("texts ab").output, run("texts --task classify ab").output);
  expectError("all --ids --task tag --beam 4",
              "--beam is for generated text, but 'all' is asked to tag texts",
              input);
  expectError("texts --output v.npy ab",
              "'texts' has no task 'embed': it classifies texts and labels "
              "tokens and guesses masked tokens");
  expectError("texts --task embed ab",
              "'texts' has no task 'embed': it classifies texts and labels "
              "tokens and guesses masked tokens");
  expectError("toy --ids --task fill",
              "'toy' has no task 'fill': it generates text", input);
  expectError("toy --ids --top 3", "--top is given, but 'toy' generates text",
              input);
  expectError("toy --ids --no-truncate",
              "--no-truncate is given, but 'toy' generates text", input);
}

TEST_F(RunLabelsTest, flags_that_do_not_go_together) {
  expectUsageError("all --task sing",
                   "--task has the value 'sing', expected generate, classify, "
                   "tag, answer, embed or fill");
  expectUsageError("all --task tag --output v.npy",
                   "--output writes vectors, but --task is tag");
  expectUsageError("all --task generate --plain",
                   "--plain is for vectors and labels, but --task is generate");
  for (const char *flag :
       {"--hidden h.npy", "--score lines", "--teacher lines --logits l.npy"}) {
    const std::string name =
        std::string(flag).substr(0, std::string(flag).find(' '));
    for (const char *own : {"--plain", "--task tag"})
      expectUsageError(
          std::string("all --ids ") + own + " " + flag,
          std::string(own).substr(0, 7).substr(0, std::string(own).find(' ')) +
              " is for what is said of texts, but " + name +
              " asks for something else");
  }
  expectUsageError("all --ids --top 3 --hidden h.npy",
                   "--top is for labels, but --hidden encodes");
}
