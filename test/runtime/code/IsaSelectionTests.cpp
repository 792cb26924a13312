//===- IsaSelectionTests.cpp - Which of an artifact's codes runs ----------===//
//
// Artifacts of two levels: the better one is loaded unless HEDDLE_ISA names
// another, and a name that cannot be served is a sentence.
//
//===----------------------------------------------------------------------===//

#include "test/runtime/ToyModel.h"

#include "runtime/session/Model.h"

#include <cstdlib>

using namespace heddle;
using namespace heddle::test;

namespace {

class IsaSelectionTest : public ToyModelTest {
protected:
  void TearDown() override { unsetenv("HEDDLE_ISA"); }

  /// The level that is loaded of the toy for x86-64-v3 and `other`, or the
  /// sentence that says why none is. `first` says which is listed first.
  static std::string load(const std::string &other,
                          const std::string &otherCode = kernel(),
                          bool first = false) {
    nlohmann::json manifest = toyManifest();
    auto &isas = manifest["isas"];
    isas.insert(first ? isas.begin() : isas.end(), other);
    TemporaryFile file(
        toyArtifact(manifest).add("code." + other, otherCode).build());
    Result<Model> model = Model::load(file.path());
    if (model.ok())
      return model->isa();
    std::string message = model.message();
    size_t name = message.find(file.path());
    EXPECT_NE(name, std::string::npos) << message;
    return message.replace(name, file.path().size(), "F");
  }
  static std::string kernel() { return readFile(HEDDLE_TOY_KERNEL); }

  static void force(const char *isa) { setenv("HEDDLE_ISA", isa, 1); }

  const bool machineHasV4 = __builtin_cpu_supports("x86-64-v4");
  const std::string best = machineHasV4 ? "x86-64-v4" : "x86-64-v3";
};

} // namespace

TEST_F(IsaSelectionTest, the_best_level_in_any_order) {
  EXPECT_EQ(load("x86-64-v4"), best);
  EXPECT_EQ(load("x86-64-v4", kernel(), /*first=*/true), best);
  force("");
  EXPECT_EQ(load("x86-64-v4"), best);
}

TEST_F(IsaSelectionTest, a_lower_level_on_request) {
  force("x86-64-v3");
  EXPECT_EQ(load("x86-64-v4"), "x86-64-v3");
  EXPECT_EQ(load("x86-64-v4", "not even code", /*first=*/true), "x86-64-v3");
}

TEST_F(IsaSelectionTest, the_best_level_on_request) {
  force("x86-64-v4");
  if (machineHasV4) {
    EXPECT_EQ(load("x86-64-v4"), "x86-64-v4");
    EXPECT_EQ(load("x86-64-v4", "not even code"),
              "'F': section 'code.x86-64-v4' is not an x86-64 shared object");
  } else {
    EXPECT_EQ(load("x86-64-v4"), "HEDDLE_ISA is 'x86-64-v4' but this machine "
                                 "runs the code in 'F' only for 'x86-64-v3'");
  }
}

TEST_F(IsaSelectionTest, levels_that_the_artifact_lacks) {
  for (const char *isa : {"x86-64-v2", "amx", "native", "x86-64-v3 ", "v3"}) {
    force(isa);
    EXPECT_EQ(load("x86-64-v4"),
              "HEDDLE_ISA is '" + std::string(isa) +
                  "' but 'F' has code for 'x86-64-v3', 'x86-64-v4'");
  }
}

TEST_F(IsaSelectionTest, levels_that_the_machine_lacks) {
  force("x86-64-v9");
  EXPECT_EQ(load("x86-64-v9"), "HEDDLE_ISA is 'x86-64-v9' but this machine "
                               "runs the code in 'F' only for 'x86-64-v3'");
}
