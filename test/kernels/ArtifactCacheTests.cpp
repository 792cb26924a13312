//===- ArtifactCacheTests.cpp - A change of anything is a miss ------------===//
//
// What a stale artifact would hide: each of the compiler, the module, the flags
// and the weights changes what is found.
//
//===----------------------------------------------------------------------===//

#include "test/kernels/ArtifactCache.h"
#include "test/kernels/EntryRunner.h"

#include "gtest/gtest.h"

#include <filesystem>
#include <fstream>
#include <sstream>

using namespace heddle;
using namespace heddle::test;
namespace fs = std::filesystem;

namespace {
class ArtifactCacheTest : public testing::Test {
protected:
  void SetUp() override { ASSERT_TRUE(mkdtemp(folder.data())); }
  void TearDown() override { fs::remove_all(folder); }

  /// What is found of these parts; `made` counts how often it was not there.
  std::string find(const ArtifactCache &cache,
                   const std::vector<std::string_view> &parts) {
    auto path = cache.find(parts, folder + "/unkept", [&](const auto &path) {
      std::ofstream(path) << ++made;
      return Status::success();
    });
    EXPECT_TRUE(path.ok());
    std::ostringstream text;
    text << std::ifstream(*path).rdbuf();
    return text.str();
  }

  std::string folder = fs::temp_directory_path() / "heddle-XXXXXX";
  int made = 0;
};
} // namespace

TEST_F(ArtifactCacheTest, one_artifact_for_equal_parts) {
  ArtifactCache cache(folder + "/cache", "compiler");
  EXPECT_EQ(find(cache, {"module", "flags", "weights"}), "1");
  EXPECT_EQ(find(cache, {"module", "flags", "weights"}), "1");
  // Of another process.
  ArtifactCache again(folder + "/cache", "compiler");
  EXPECT_EQ(find(again, {"module", "flags", "weights"}), "1");
}

TEST_F(ArtifactCacheTest, every_part_counts_and_where_it_ends) {
  ArtifactCache cache(folder + "/cache", "compiler");
  EXPECT_EQ(find(cache, {"module", "flags", "weights"}), "1");
  EXPECT_EQ(find(cache, {"modulf", "flags", "weights"}), "2");
  EXPECT_EQ(find(cache, {"module", "flagr", "weights"}), "3");
  EXPECT_EQ(find(cache, {"module", "flags", "weightr"}), "4");
  EXPECT_EQ(find(cache, {"modulef", "lags", "weights"}), "5");
  EXPECT_EQ(find(cache, {"module", "flags", "weights", ""}), "6");
}

TEST_F(ArtifactCacheTest, artifacts_of_another_compiler_go) {
  ArtifactCache cache(folder + "/cache", "compiler");
  EXPECT_EQ(find(cache, {"module"}), "1");
  ArtifactCache other(folder + "/cache", "another compiler");
  EXPECT_EQ(find(other, {"module"}), "2");
  auto kept = fs::directory_iterator(folder + "/cache");
  EXPECT_EQ(std::distance(begin(kept), end(kept)), 1);
}

TEST_F(ArtifactCacheTest, nothing_is_kept_without_a_build_id) {
  ArtifactCache cache(folder + "/cache", "");
  EXPECT_EQ(find(cache, {"module"}), "1");
  EXPECT_EQ(*cache.find({"module"}, "unkept",
                        [](const auto &) { return Status::success(); }),
            "unkept");
  EXPECT_FALSE(fs::exists(folder + "/cache"));
}

TEST_F(ArtifactCacheTest, failures_are_not_kept) {
  ArtifactCache cache(folder + "/cache", "compiler");
  auto fail = [](const auto &) { return Status::error("no"); };
  EXPECT_EQ(cache.find({"module"}, "", fail).message(), "no");
  EXPECT_EQ(find(cache, {"module"}), "1");
}

TEST_F(ArtifactCacheTest, build_ids_follow_the_code) {
  std::string compiler = HEDDLE_COMPILE, id = buildIdOf(compiler);
  EXPECT_EQ(id.size(), 40u);
  EXPECT_NE(buildIdOf("/proc/self/exe"), id);
  // As a linker writes them that has seen other code.
  std::string changed = folder + "/changed";
  fs::copy_file(compiler, changed);
  std::fstream file(changed, std::ios::binary | std::ios::in | std::ios::out);
  std::string head(1 << 16, '\0');
  file.read(head.data(), head.size());
  std::string bytes;
  for (size_t digit = 0; digit < id.size(); digit += 2)
    bytes += char(std::stoi(id.substr(digit, 2), nullptr, /*base=*/16));
  size_t at = head.find(bytes);
  ASSERT_NE(at, std::string::npos);
  file.seekp(at).put(char(head[at] + 1));
  file.close();
  EXPECT_NE(buildIdOf(changed), id);
  EXPECT_EQ(buildIdOf(changed).substr(2), id.substr(2));
  EXPECT_EQ(buildIdOf(folder + "/nothing"), "");
  std::ofstream(folder + "/text") << "no program";
  EXPECT_EQ(buildIdOf(folder + "/text"), "");
}

TEST_F(ArtifactCacheTest, another_module_is_another_kernel) {
  auto compile = [](const std::string &value) {
    return EntryRunner::compile(
        "func.func @fill(%x: tensor<?x8xf32> {transformer.name = \"x\", "
        "transformer.dims = [\"rows\"]}) -> (tensor<?x8xf32> "
        "{transformer.name = \"y\"}) {\n"
        "  %y = transformer.fill like %x {value = " +
            value +
            " : f32, width = 8 : i64} : (tensor<?x8xf32>) -> tensor<?x8xf32>\n"
            "  return %y : tensor<?x8xf32>\n}\n",
        {}, {});
  };
  for (int repeated = 0; repeated < 2; ++repeated)
    for (const char *value : {"1.0", "2.0"}) {
      Result<EntryRunner> code = compile(value);
      ASSERT_TRUE(code.ok()) << code.message();
      Result<EntryCall> call = code->prepare("fill", {{Dim::Rows, 1}});
      ASSERT_TRUE(call.ok()) << call.message();
      (*call)();
      EXPECT_EQ(call->get("y"), std::vector<float>(8, std::stof(value)));
    }
}
