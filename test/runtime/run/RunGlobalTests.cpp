//===- RunGlobalTests.cpp - heddle-run --global from outside --------------===//
//
// The toy's encoder marks global tokens, so --hidden says which ones it got:
// those of the command line that a line has, whatever runs together.
//
//===----------------------------------------------------------------------===//

#include "RunToolTest.h"

#include <algorithm>
#include <cstring>

using namespace heddle::test;
using nlohmann::json;

namespace {

class RunGlobalTest : public RunToolTest {
protected:
  void SetUp() override {
    RunToolTest::SetUp();
    if (!IsSkipped())
      write("marked", toyArtifact(withGlobalTokens(toyManifest())).build());
  }

  /// The marks of these lines' tokens, in order: the place of a token among the
  /// global ones, -1 for others.
  std::vector<Ids> marks(const std::vector<Ids> &lines,
                         const std::string &flags) {
    Outcome outcome =
        run("marked --ids --hidden a.npy " + flags, idLines(lines));
    EXPECT_EQ(outcome.errors, "");
    size_t longest = 0;
    for (const Ids &line : lines)
      longest = std::max(longest, line.size());
    std::vector<float> values(lines.size() * longest * 2);
    std::string bytes = read("a.npy");
    EXPECT_EQ(bytes.size(), 128 + values.size() * sizeof(float));
    std::memcpy(values.data(), bytes.data() + 128,
                std::min(bytes.size() - 128, values.size() * sizeof(float)));
    std::vector<Ids> marks;
    for (size_t i = 0; i < lines.size(); ++i) {
      marks.emplace_back();
      for (size_t k = 0; k < lines[i].size(); ++k) {
        float value = values[2 * (i * longest + k) + 1];
        marks.back().push_back(value >= 100 ? int32_t(value) - 100 : -1);
      }
    }
    return marks;
  }
};

} // namespace

TEST_F(RunGlobalTest, positions_that_lines_have) {
  const std::vector<Ids> lines = {{1, 2, 3, 4, 5, 6}, {7}, {1, 2, 3}};
  const std::pair<const char *, std::vector<Ids>> cases[] = {
      {"", {{0, -1, -1, -1, -1, -1}, {0}, {0, -1, -1}}},
      {"--global none", {{-1, -1, -1, -1, -1, -1}, {-1}, {-1, -1, -1}}},
      {"--global 2", {{-1, -1, 0, -1, -1, -1}, {-1}, {-1, -1, 0}}},
      {"--global=5,0,2", {{0, -1, 1, -1, -1, 2}, {0}, {0, -1, 1}}},
      {"--global 1,2147483647", {{-1, 0, -1, -1, -1, -1}, {-1}, {-1, 0, -1}}}};
  for (const auto &[flags, expected] : cases)
    for (const char *batch : {" --batch 1", " --batch 2", " --batch 3"})
      EXPECT_EQ(marks(lines, flags + std::string(batch)), expected) << flags;
}

TEST_F(RunGlobalTest, positions_that_are_wrong) {
  for (const char *value : {"", "x", "-1", "1,", ",1", "1;2", "1, 2", "1.5",
                            "2147483648", "none,1"})
    expectUsageError("marked --ids '--global=" + std::string(value) + "'",
                     "--global has the value '" + std::string(value) +
                         "', expected positions, as 0,5,9, or none");
  expectUsageError("marked --ids --global 3,1,3",
                   "--global has the position 3 twice");
  expectError("toy --ids --global 0",
              "--global is given, but 'toy' has no input 'global'");
}
