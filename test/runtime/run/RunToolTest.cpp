//===- RunToolTest.cpp - heddle-run from outside --------------------------===//
//
// A folder, a shell, and the toy's answers as text.
//
//===----------------------------------------------------------------------===//

#include "RunToolTest.h"

#include "test/runtime/ToyTokenizer.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace heddle::test;
using nlohmann::json;

void RunToolTest::SetUp() {
  ToyModelTest::SetUp();
  if (IsSkipped())
    return;
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
  if (access("/proc/self/exe", F_OK) != 0)
    GTEST_SKIP() << "ThreadSanitizer needs /proc, which is not mounted";
#endif
#endif
  folder = testing::TempDir() + "heddle-run-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  json manifest = toyManifest();
  manifest["source"]["positions"] = 9;
  write("toy", toyArtifact(manifest).build());
  manifest["tokenizer"] = {{"kind", "characters"}, {"unknown", 1}, {"eos", 0}};
  write("text",
        toyArtifact(manifest)
            .add("tokenizer", buildToyTokenizer("._abcdefg", "._ABCD\nFGHI", 1,
                                                1, {{}, {0}}))
            .build());
}

void RunToolTest::TearDown() {
  if (!folder.empty())
    std::filesystem::remove_all(folder);
}

void RunToolTest::write(const std::string &name,
                        const std::string &bytes) const {
  std::ofstream(folder + "/" + name, std::ios::binary) << bytes;
}

std::string RunToolTest::read(const std::string &name) const {
  return readFile(folder + "/" + name);
}

RunToolTest::Outcome RunToolTest::shell(const std::string &command) {
  int status = std::system(
      ("cd " + folder + " && { " + command + "; } > output 2> errors").c_str());
  EXPECT_TRUE(WIFEXITED(status)) << command;
  return {WEXITSTATUS(status), read("output"), read("errors")};
}

RunToolTest::Outcome RunToolTest::run(const std::string &arguments,
                                      const std::string &input) {
  write("input", input);
  return shell("{ '" HEDDLE_RUN "' " + arguments + "; } < input");
}

RunToolTest::Outcome RunToolTest::runScript(const std::string &text) {
  write("script", "run='" HEDDLE_RUN "'\n" + text);
  return shell("bash script < /dev/null");
}

void RunToolTest::expectError(const std::string &arguments,
                              const std::string &sentence,
                              const std::string &input, int exitCode) {
  Outcome outcome = run(arguments, input);
  EXPECT_EQ(outcome.exitCode, exitCode) << arguments;
  EXPECT_EQ(outcome.errors, "heddle-run: error: " + sentence + "\n")
      << arguments;
}

std::string heddle::test::idLines(const std::vector<Ids> &lines) {
  std::string text;
  for (const Ids &ids : lines) {
    for (size_t i = 0; i < ids.size(); ++i)
      text += (i ? " " : "") + std::to_string(ids[i]);
    text += "\n";
  }
  return text;
}

std::string heddle::test::answers(const std::vector<Ids> &sources,
                                  bool shortlist) {
  std::vector<Ids> outputs;
  for (const Ids &source : sources)
    outputs.push_back(toyGreedy(source, toyManifest()["tasks"]["generate"], 12,
                                shortlist ? std::optional(toyCandidates(source))
                                          : std::nullopt));
  return idLines(outputs);
}
