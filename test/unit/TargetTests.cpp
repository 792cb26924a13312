// ISA levels: the compiler's table and the runtime's.

#include "lib/CodeGen/Target.h"
#include "runtime/IsaLevels.h"
#include "gtest/gtest.h"

using namespace heddle;

static llvm::SmallVector<IsaLevel> levelsOf(llvm::StringRef target) {
  return llvm::cantFail(getTarget(target, /*hasShortTypes=*/true));
}

TEST(Target, NativeIsWhatTheRuntimeWouldLoad) {
  if (rankOfIsa("x86-64-v3") == 0)
    GTEST_SKIP() << "this machine runs no level";
  IsaLevel best = levelsOf("portable").front();
  for (const IsaLevel &level : levelsOf("portable"))
    if (rankOfIsa(level.name.str()) > rankOfIsa(best.name.str()))
      best = level;
  EXPECT_EQ(levelsOf("native").front().name.str(), best.name.str());
}

TEST(Target, LevelsAreAsWideInBothTables) {
  for (const IsaLevel &level : levelsOf("portable"))
    EXPECT_EQ(isaHasAvx512(level.name.str()), level.lanes == 16)
        << level.name.str();
}

TEST(Target, LevelsMultiplyTilesInBothTables) {
  for (const IsaLevel &level : levelsOf("portable"))
    EXPECT_EQ(isaHasTiles(level.name.str()), level.hasTiles)
        << level.name.str();
}

TEST(Target, ALevelIsATargetOfItsOwn) {
  for (const IsaLevel &level : levelsOf("portable")) {
    ASSERT_EQ(levelsOf(level.name).size(), 1u);
    EXPECT_EQ(levelsOf(level.name).front().name, level.name);
  }
}

TEST(Target, SaysWhichAreSupported) {
  auto message = [](llvm::StringRef target) {
    return llvm::toString(
        getTarget(target, /*hasShortTypes=*/true).takeError());
  };
  EXPECT_EQ(message("x86-64-v5"), "unknown target 'x86-64-v5' (supported: "
                                  "native, portable, x86-64-v3, x86-64-v4, "
                                  "avx512-bf16, amx)");
}

TEST(Target, TilesAreEmulatedOnRequest) {
  IsaLevel level = levelsOf("avx512-bf16+tiles").front();
  EXPECT_EQ(level.name.str(), "avx512-bf16");
  EXPECT_EQ(level.option(), "avx512-bf16+tiles");
  EXPECT_TRUE(level.hasTiles && level.emulatesTiles);
  EXPECT_EQ(levelsOf("avx512-bf16").front().option(), "avx512-bf16");
  for (const IsaLevel &each : levelsOf("portable"))
    EXPECT_FALSE(each.emulatesTiles) << each.name.str();
  for (const char *wrong : {"amx+tiles", "+tiles", "x86-64-v3+tiles+tiles"})
    EXPECT_FALSE(bool(
        llvm::expectedToOptional(getTarget(wrong, /*hasShortTypes=*/true))))
        << wrong;
}
