//===- RunProfileTests.cpp - heddle-run --profile from outside ------------===//
//
// The toy's kernels count their rows, so that flops are known: a step of the
// decoder does one a row.
//
//===----------------------------------------------------------------------===//

#include "RunToolTest.h"

using namespace heddle::test;
using nlohmann::json;

namespace {

class RunProfileTest : public RunToolTest {
protected:
  /// Tokens that the toy generates, each of which took a row of a step.
  static int64_t countTokens(const std::vector<Ids> &sources) {
    int64_t tokens = 0;
    for (const Ids &source : sources)
      tokens += int64_t(toyGreedy(source, toyManifest()["generation"], 12,
                                  toyCandidates(source))
                            .size());
    return tokens;
  }
};

} // namespace

TEST_F(RunProfileTest, table_and_json) {
  std::vector<Ids> sources = toySources(50);
  for (const char *flags : {"", " --workers 3 --batch 2", " --threads 2"}) {
    Outcome outcome = run("toy --ids --profile=p.json" + std::string(flags),
                          idLines(sources));
    EXPECT_EQ(outcome.exitCode, 0) << outcome.errors;
    EXPECT_EQ(outcome.output, answers(sources, true));
    EXPECT_EQ(outcome.errors.find("kernel"), 0u);
    for (const char *part :
         {"\nshortlist_step ", "\nbetween them ", "\npeaks of ", "x86-64-v3"})
      EXPECT_NE(outcome.errors.find(part), std::string::npos) << part;
    // Kernels that were not called have no row.
    EXPECT_EQ(outcome.errors.find("unused"), std::string::npos);
    EXPECT_EQ(outcome.errors.find("\nstep"), std::string::npos);

    json report = json::parse(read("p.json"));
    EXPECT_EQ(report["isa"], "x86-64-v3");
    EXPECT_EQ(report["threads"], flags[0] == 0 ? 1 : flags[3] == 'w' ? 3 : 2);
    EXPECT_GT(report["peak"]["flops_per_second"], 1e8);
    EXPECT_GT(report["peak"]["bytes_per_second"], 1e8);
    ASSERT_EQ(report["kernels"].size(), 1u);
    const json &kernel = report["kernels"][0];
    EXPECT_EQ(kernel["name"], "shortlist_step");
    EXPECT_EQ(kernel["flops"], countTokens(sources)) << flags;
    EXPECT_EQ(kernel["bytes"], 4 * countTokens(sources));
    EXPECT_GT(kernel["calls"], 0);
    EXPECT_GT(kernel["seconds"], 0);
    EXPECT_GT(report["entries"]["calls"], kernel["calls"]);
    EXPECT_GE(report["entries"]["seconds"], kernel["seconds"]);
  }
}

TEST_F(RunProfileTest, of_a_teacher) {
  write("targets", "1 2\n3\n");
  Outcome outcome = run("toy --ids --teacher targets --logits a.npy --form "
                        "step --profile",
                        "1\n2\n");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_EQ(outcome.output, "");
  EXPECT_NE(outcome.errors.find("\nstep "), std::string::npos);
}

TEST_F(RunProfileTest, failures) {
  Outcome outcome = run("toy --ids --profile=no/p.json 1");
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_NE(outcome.errors.find("heddle-run: error: cannot write 'no/p.json': "
                                "No such file or directory"),
            std::string::npos);
  // A run that fails has no profile.
  expectError("toy --ids --profile x",
              "text 1 has 'x', expected token ids separated by spaces");
}
