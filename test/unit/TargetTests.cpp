// ISA levels: the compiler's table and the runtime's.

#include "lib/CodeGen/Machine/Target.h"
#include "runtime/code/IsaLevels.h"
#include "gtest/gtest.h"

using namespace heddle;

static constexpr ShortTypes kAllTypes{/*int8=*/true, /*bf16=*/true};

static llvm::SmallVector<IsaLevel> levelsOf(llvm::StringRef target) {
  return llvm::cantFail(getTarget(target, kAllTypes));
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

TEST(Target, LevelsMultiplyBytesInBothTables) {
  for (const IsaLevel &level : levelsOf("portable"))
    EXPECT_EQ(isaHasVnni(level.name.str()), level.int8Dot == Int8Dot::Vnni)
        << level.name.str();
}

TEST(Target, AFileHasTheLevelsThatServeItsTypes) {
  auto names = [](const ShortTypes &types) {
    std::string joined;
    for (const IsaLevel &level : llvm::cantFail(getTarget("portable", types)))
      joined += level.name.str() + " ";
    return joined;
  };
  EXPECT_EQ(names({}), "x86-64-v3 x86-64-v4 ");
  EXPECT_EQ(names({/*int8=*/false, /*bf16=*/true}),
            "x86-64-v3 x86-64-v4 avx512-bf16 amx ");
  EXPECT_EQ(names({/*int8=*/true, /*bf16=*/false}),
            "x86-64-v3 avx-vnni x86-64-v4 avx512-vnni avx512-bf16 amx ");
}

TEST(Target, ALevelIsATargetOfItsOwn) {
  for (const IsaLevel &level : levelsOf("portable")) {
    ASSERT_EQ(levelsOf(level.name).size(), 1u);
    EXPECT_EQ(levelsOf(level.name).front().name, level.name);
  }
}

TEST(Target, SaysWhichAreSupported) {
  auto message = [](llvm::StringRef target) {
    return llvm::toString(getTarget(target, kAllTypes).takeError());
  };
  EXPECT_EQ(message("x86-64-v5"), "unknown target 'x86-64-v5' (supported: "
                                  "native, portable, x86-64-v3, avx-vnni, "
                                  "x86-64-v4, avx512-vnni, avx512-bf16, amx)");
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
    EXPECT_FALSE(bool(llvm::expectedToOptional(getTarget(wrong, kAllTypes))))
        << wrong;
}
