//===- WarpOperationTests.cpp - shfl, vote, match, redux, elect -----------===//
//
// As intrinsics, and where they have one, as assembly, against formulas of the
// PTX ISA.
//
//===----------------------------------------------------------------------===//

#include "WarpKernels.h"
#include "test/emulator/KernelTest.h"

#include <functional>

using namespace heddle::emulator;

namespace {

class WarpOperationTest : public KernelTest {
protected:
  /// Runs a kernel of 32 threads; words of inputs come from `input(lane,
  /// word)`.
  std::vector<uint32_t>
  compute(const std::string &text, int numInputs, int numOutputs,
          const std::function<uint32_t(int, int)> &input) {
    std::vector<uint32_t> in(32 * numInputs), out(32 * numOutputs, 0xdeadbeef);
    for (int lane = 0; lane < 32; ++lane)
      for (int word = 0; word < numInputs; ++word)
        in[lane * numInputs + word] = input(lane, word);
    EXPECT_TRUE(load(text)) << problem << "\n" << text;
    if (!problem.empty())
      return out;
    pass(in);
    pass(out);
    launch.block = {32, 1, 1};
    EXPECT_EQ(run(), "");
    return out;
  }
};

constexpr uint32_t kAll = 0xffffffff;

uint32_t value(int lane) { return 1000 + 7 * lane; }

/// The lane that PTX's shfl.sync reads, and whether it is in range.
struct Source {
  int lane;
  bool isInside;
};

Source shuffleSource(const std::string &mode, int lane, int b, int c) {
  int clamp = c & 31, segment = c >> 8 & 31;
  int last = (lane & segment) | (clamp & ~segment);
  int j = lane;
  bool p = false;
  if (mode == "up") {
    j = lane - b;
    p = j >= last;
  } else if (mode == "down") {
    j = lane + b;
    p = j <= last;
  } else if (mode == "bfly") {
    j = lane ^ b;
    p = j <= last;
  } else {
    j = (lane & segment) | (b & ~segment);
    p = j <= last;
  }
  return {p ? j : lane, p};
}

TEST_F(WarpOperationTest, Shuffles) {
  for (std::string mode : {"up", "down", "bfly", "idx"})
    // Whole warps, and segments of eight lanes.
    for (int c : {mode == "up" ? 0 : 31, 0x1800 | (mode == "up" ? 0 : 31)})
      for (int b : {0, 1, 3, 5}) {
        auto check = [&](const std::string &text) {
          auto out = compute(text, 4, 2, [&](int lane, int word) {
            return word == 0   ? kAll
                   : word == 1 ? value(lane)
                               : uint32_t(word == 2 ? b : c);
          });
          for (int lane = 0; lane < 32; ++lane) {
            Source source = shuffleSource(mode, lane, b, c);
            EXPECT_EQ(out[2 * lane], value(source.lane)) << mode << lane;
            EXPECT_EQ(out[2 * lane + 1], uint32_t(source.isInside)) << mode;
          }
        };
        check(intrinsicKernel("llvm.nvvm.shfl.sync." + mode + ".i32p",
                              times(4, "i32"), {"i32", "i1"}));
      }
}

TEST_F(WarpOperationTest, ShufflesInAssembly) {
  auto out = compute(
      assemblyKernel("{.reg .pred q; shfl.sync.bfly.b32 $0|q, $3, $4, $5, $2; "
                     "selp.b32 $1, 1, 0, q;}",
                     times(4, "i32"), {"i32", "i32"}),
      4, 2, [&](int lane, int word) {
        return word == 0 ? kAll : word == 1 ? value(lane) : word == 2 ? 4 : 31u;
      });
  for (int lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(out[2 * lane], value(lane ^ 4));
    EXPECT_EQ(out[2 * lane + 1], 1u);
  }
}

TEST_F(WarpOperationTest, Votes) {
  auto is = [](int lane) { return uint32_t(lane % 3 == 0); };
  uint32_t ballot = 0;
  for (int lane = 0; lane < 32; ++lane)
    ballot |= is(lane) << lane;
  for (auto [name, type, expected] :
       {std::tuple("ballot", "i32", ballot), std::tuple("any", "i1", 1u),
        std::tuple("all", "i1", 0u), std::tuple("uni", "i1", 0u)}) {
    auto out = compute(
        intrinsicKernel(std::string("llvm.nvvm.vote.") + name + ".sync",
                        {"i32", "i1"}, {type}),
        2, 1, [&](int lane, int word) { return word ? is(lane) : kAll; });
    for (int lane = 0; lane < 32; ++lane)
      EXPECT_EQ(out[lane], expected) << name;
  }
}

TEST_F(WarpOperationTest, Matches) {
  auto input = [&](int lane, int word) {
    return word ? uint32_t(lane / 8) : kAll;
  };
  auto out = compute(
      intrinsicKernel("llvm.nvvm.match.any.sync.i32", {"i32", "i32"}, {"i32"}),
      2, 1, input);
  for (int lane = 0; lane < 32; ++lane)
    EXPECT_EQ(out[lane], 0xffu << lane / 8 * 8);
  out = compute(intrinsicKernel("llvm.nvvm.match.all.sync.i32p", {"i32", "i32"},
                                {"i32", "i1"}),
                2, 2, input);
  for (int lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(out[2 * lane], 0u);
    EXPECT_EQ(out[2 * lane + 1], 0u);
  }
}

TEST_F(WarpOperationTest, Reduces) {
  auto input = [&](int lane, int word) {
    return word ? kAll : uint32_t(lane * 5 - 40);
  };
  uint32_t sum = 0, all = ~0u, any = 0, odd = 0;
  for (int lane = 0; lane < 32; ++lane) {
    uint32_t word = input(lane, 0);
    sum += word;
    all &= word;
    any |= word;
    odd ^= word;
  }
  for (auto [name, expected] :
       {std::pair("add", sum), std::pair("and", all), std::pair("or", any),
        std::pair("xor", odd), std::pair("min", uint32_t(-40)),
        std::pair("max", uint32_t(115)), std::pair("umin", 0u),
        std::pair("umax", uint32_t(-5))}) {
    auto out =
        compute(intrinsicKernel(std::string("llvm.nvvm.redux.sync.") + name,
                                {"i32", "i32"}, {"i32"}),
                2, 1, input);
    for (int lane = 0; lane < 32; ++lane)
      EXPECT_EQ(out[lane], expected) << name;
  }
}

TEST_F(WarpOperationTest, ElectsTheFirstLane) {
  auto out =
      compute(intrinsicKernel("llvm.nvvm.elect.sync", {"i32"}, {"i32", "i1"}),
              1, 2, [&](int, int) { return kAll; });
  for (int lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(out[2 * lane], 0u);
    EXPECT_EQ(out[2 * lane + 1], uint32_t(lane == 0));
  }
}

/// Halves of a warp meet at different shuffles.
TEST_F(WarpOperationTest, MasksMeetApart) {
  auto out = compute(
      intrinsicKernel("llvm.nvvm.shfl.sync.bfly.i32", times(4, "i32"), {"i32"}),
      4, 1, [&](int lane, int word) {
        return word == 0   ? (lane < 16 ? 0xffffu : 0xffff0000u)
               : word == 1 ? value(lane)
               : word == 2 ? 2
                           : 31u;
      });
  for (int lane = 0; lane < 32; ++lane)
    EXPECT_EQ(out[lane], value(lane ^ 2));
}

TEST_F(WarpOperationTest, FailsWithAMaskThatIsNotItsOwn) {
  std::vector<uint32_t> in(32 * 4, 1), out(32);
  for (int lane = 0; lane < 32; ++lane)
    in[4 * lane + 2] = 0;
  ASSERT_TRUE(load(intrinsicKernel("llvm.nvvm.shfl.sync.bfly.i32",
                                   times(4, "i32"), {"i32"})));
  pass(in);
  pass(out);
  launch.block = {32, 1, 1};
  std::string sentence = run();
  EXPECT_NE(sentence.find("thread (1, 0, 0): shfl.sync.bfly.i32 with mask 0x1, "
                          "which is without the thread's lane 1"),
            std::string::npos)
      << sentence;
}

TEST_F(WarpOperationTest, ReadsLanesAndWarps) {
  std::vector<uint32_t> in(64), out(64 * 3);
  ASSERT_TRUE(load(
      wordKernel(1, 3,
                 "  %o0 = call i32 @llvm.nvvm.read.ptx.sreg.laneid()\n"
                 "  %o1 = call i32 @llvm.nvvm.read.ptx.sreg.warpid()\n"
                 "  %o2 = call i32 @llvm.nvvm.read.ptx.sreg.lanemask.lt()\n",
                 "declare i32 @llvm.nvvm.read.ptx.sreg.laneid()\n"
                 "declare i32 @llvm.nvvm.read.ptx.sreg.warpid()\n"
                 "declare i32 @llvm.nvvm.read.ptx.sreg.lanemask.lt()\n")))
      << problem;
  pass(in);
  pass(out);
  launch.block = {64, 1, 1};
  EXPECT_EQ(run(), "");
  for (uint32_t t = 0; t < 64; ++t) {
    EXPECT_EQ(out[3 * t], t % 32);
    EXPECT_EQ(out[3 * t + 1], t / 32);
    EXPECT_EQ(out[3 * t + 2], (1u << t % 32) - 1);
  }
}

} // namespace
