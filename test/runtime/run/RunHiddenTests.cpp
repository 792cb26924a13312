//===- RunHiddenTests.cpp - heddle-run --hidden from outside --------------===//
//
// The toy's encoder gives a token its id and the cosine of its position, so the
// file is known to the last bit, whatever runs together. Runs under
// ThreadSanitizer too.
//
//===----------------------------------------------------------------------===//

#include "RunToolTest.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

using namespace heddle::test;
using nlohmann::json;

namespace {

class RunHiddenTest : public RunToolTest {
protected:
  /// Encodes these lines to `a.npy`.
  Outcome encode(const std::vector<Ids> &lines, const std::string &flags = "") {
    return run("toy --ids --hidden a.npy " + flags, idLines(lines));
  }

  /// Expects what the toy makes of these lines in `a.npy`, which goes.
  void expectStates(const std::vector<Ids> &lines) {
    size_t longest = 0;
    for (const Ids &line : lines)
      longest = std::max(longest, line.size());
    std::string bytes = read("a.npy");
    std::vector<float> values(lines.size() * longest * 2);
    ASSERT_EQ(bytes.size(), 128 + values.size() * sizeof(float));
    EXPECT_NE(bytes.find("(" + std::to_string(lines.size()) + ", " +
                         std::to_string(longest) + ", 2)"),
              std::string::npos);
    bytes.copy(reinterpret_cast<char *>(values.data()), std::string::npos, 128);
    for (size_t cell = 0; cell < lines.size() * longest; ++cell) {
      const Ids &line = lines[cell / longest];
      size_t position = cell % longest;
      float id = values[2 * cell], cosine = values[2 * cell + 1];
      if (position < line.size()) {
        EXPECT_EQ(id, float(line[position]));
        EXPECT_EQ(cosine, cosf(float(position)));
      } else {
        EXPECT_TRUE(std::isnan(id) && std::isnan(cosine));
      }
    }
    std::filesystem::remove(folder + "/a.npy");
  }

  bool leftFiles() const {
    for (const auto &entry : std::filesystem::directory_iterator(folder))
      if (entry.path().string().find(".npy") != std::string::npos)
        return true;
    return false;
  }
};

} // namespace

TEST_F(RunHiddenTest, states_of_every_line) {
  std::vector<Ids> lines = toySources(50);
  lines[7].clear();
  lines.back().clear();
  for (const char *flags :
       {"", "--batch 1", "--batch=7", "--workers 3 --batch 4",
        "--threads 3 --workers 2 --batch 5"}) {
    Outcome outcome = encode(lines, flags);
    EXPECT_EQ(outcome.exitCode, 0) << outcome.errors;
    EXPECT_EQ(outcome.output, "");
    EXPECT_EQ(outcome.errors, "");
    expectStates(lines);
  }
}

TEST_F(RunHiddenTest, inputs_of_all_kinds) {
  for (const std::vector<Ids> &lines :
       {std::vector<Ids>(), {{}}, {{}, {1, 2}, {}}, {Ids(9, 1)}}) {
    EXPECT_EQ(encode(lines).exitCode, 0);
    expectStates(lines);
  }
  EXPECT_EQ(run("toy --ids --hidden=a.npy '1 2' 3").exitCode, 0);
  expectStates({{1, 2}, {3}});
  EXPECT_EQ(run("text --hidden a.npy", "cafe\n\n").exitCode, 0);
  expectStates({{4, 2, 7, 6, 0}, {}});
}

TEST_F(RunHiddenTest, decoders_are_not_needed) {
  // The artifact has to have one, but nothing asks it for a start token.
  json manifest = toyManifest();
  manifest["tasks"]["generate"].erase("start");
  while (manifest["entries"].size() > 2) // Without its steps.
    manifest["entries"].erase(2);
  write("toy", toyArtifact(manifest).build());
  EXPECT_EQ(encode({{1, 2}}).exitCode, 0);
  expectStates({{1, 2}});
}

TEST_F(RunHiddenTest, profile_of_the_encoder) {
  Outcome outcome = encode(toySources(6), "--batch 2 --profile=p.json");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.errors;
  EXPECT_EQ(json::parse(read("p.json"))["entries"]["calls"], 3);
}

TEST_F(RunHiddenTest, flags_that_only_translations_read) {
  for (const char *flag :
       {"--min-length", "--max-length", "--no-shortlist", "--teacher"}) {
    std::string value = flag == std::string("--no-shortlist") ? "" : " 3";
    std::string with = std::string("toy --hidden a.npy ") + flag + value;
    if (flag == std::string("--teacher"))
      expectUsageError(with + " --logits b.npy",
                       "--hidden encodes, but --teacher scores");
    else
      expectUsageError(with,
                       std::string(flag) +
                           " is for generated text, but --hidden encodes");
  }
  expectUsageError("toy --hidden=",
                   "--hidden has an empty value, expected a file");
  expectUsageError("toy --hidden a --hidden b",
                   "--hidden is given twice, as 'a' and as 'b'");
  expectError("toy --hidden a.npy 1", "'toy' has no tokenizer, expected --ids");
}

TEST_F(RunHiddenTest, failures_leave_no_file) {
  std::string flags = "toy --ids --hidden a.npy --workers 2 --batch 1";
  expectError(flags,
              "line 3 of standard input has '!', expected token ids separated "
              "by spaces",
              "1\n2\n!\n");
  expectError("toy --ids --hidden no/a.npy 1",
              "cannot write 'no/a.npy': No such file or directory");
  expectError("toy --ids --hidden . 1",
              "cannot write '.': it is not a regular file");
  EXPECT_EQ(run("toy --ids --hidden /dev/null 1").exitCode, 0);
  // What is read is not written over, by whatever name.
  std::string model = read("toy");
  expectError("toy --ids --hidden ./toy 1",
              "cannot write './toy': it is the input 'toy'");
  expectError("toy --ids --profile=toy 1",
              "cannot write 'toy': it is the input 'toy'");
  write("targets", "4 5\n");
  expectError("toy --ids --teacher targets --logits targets 1",
              "cannot write 'targets': it is the input 'targets'");
  expectError("toy --ids --hidden targets <targets",
              "cannot write 'targets': standard input is read from it");
  EXPECT_EQ(read("toy"), model);
  EXPECT_EQ(read("targets"), "4 5\n");
  json manifest = toyManifest();
  for (json &entry : manifest["entries"])
    for (json &argument : entry["arguments"])
      if (argument["name"] == "memory")
        argument["dtype"] = "i32";
  write("other", toyArtifact(manifest).build());
  expectError("other --ids --hidden a.npy 1",
              "'other' has 0 outputs f32 [batch, source, width] in the entry "
              "'encode', expected one");
  EXPECT_FALSE(leftFiles());
  // A write that fails, in a batch of any worker.
  write("lines", idLines(std::vector<Ids>(20000, Ids(9, 1))));
  Outcome outcome = runScript("ulimit -f 64\n"
                              "$run toy --ids --hidden a.npy --workers 3 "
                              "<lines\n");
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_EQ(outcome.errors,
            "heddle-run: error: cannot write 'a.npy': File too large\n");
  EXPECT_FALSE(leftFiles());
}
