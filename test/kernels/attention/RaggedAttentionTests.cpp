//===- RaggedAttentionTests.cpp - Sequences one behind the other ----------===//
//
// Of the ragged form a sequence has the bits that it has alone in the full
// form, whatever stands beside it; the full form is compared with its formula
// in AttentionTests.cpp.
//
//===----------------------------------------------------------------------===//

#include "test/kernels/attention/AttentionCases.h"

#include <algorithm>
#include <limits>
#include <numeric>

using namespace heddle;
using namespace heddle::test;

static const char *const kRaggedForm = R"(
func.func @NAME_ragged(
    %q: tensor<?xQWIDTHxELEMENT> {transformer.name = "q",
                                  transformer.dims = ["tokens"]},
    %k: tensor<?xKWIDTHxELEMENT> {transformer.name = "k",
                                  transformer.dims = ["tokens"]},
    %v: tensor<?xVWIDTHxELEMENT> {transformer.name = "v",
                                  transformer.dims = ["tokens"]},
    %lengths: tensor<?xi32> {transformer.name = "lengths",
                             transformer.dims = ["batch"]},
    %positions: tensor<?xi32> {transformer.name = "positions",
                               transformer.dims = ["tokens"]},
    %sequences: tensor<?xi32> {transformer.name = "sequences",
                               transformer.dims = ["tokens"]},
    %blocks: tensor<?xi32> {transformer.name = "blocks",
                            transformer.dims = ["blocks"]})
    -> (tensor<?xYWIDTHxf32> {transformer.name = "y"}) {
  MASK
  %y = transformer.attention %q, %k, %v mask(%mask) at %positions
    of %sequences ragged(%blocks, %lengths)
    {heads = HEADS : i64, kv_heads = KVHEADS : i64}
    : (tensor<?xQWIDTHxELEMENT>, tensor<?xKWIDTHxELEMENT>,
       tensor<?xVWIDTHxELEMENT>, !transformer.mask, tensor<?xi32>,
       tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?xYWIDTHxf32>
  return %y : tensor<?xYWIDTHxf32>
}
)";

namespace {
/// Sequences of a batch, in order: values of each.
struct Sequences {
  std::vector<int64_t> lengths;
  std::vector<Inputs> inputs;

  Sequences(const Heads &heads, std::vector<int64_t> all)
      : lengths(std::move(all)) {
    for (int64_t length : lengths) {
      Inputs &each = inputs.emplace_back(heads, Sizes{1, length, length});
      // Apart from each other's, and with scores so far apart that maxima move
      // in later tiles, too.
      for (float &q : each.q)
        q *= 4 + float(inputs.size());
    }
  }
};

class RaggedAttentionTest : public AttentionCaseTest {
protected:
  static std::vector<float> runRagged(const EntryRunner &code, const Case &each,
                                      const Sequences &all) {
    std::vector<float> q, k, v;
    auto add = [](std::vector<float> &to, const std::vector<float> &from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    for (const Inputs &inputs : all.inputs) {
      add(q, inputs.q);
      add(k, inputs.k);
      add(v, inputs.v);
    }
    RaggedRows rows(all.lengths);
    EntryCall call = prepare(code, each.name() + "_ragged", rows.dims());
    setInType(call, "q", q);
    setInType(call, "k", k);
    setInType(call, "v", v);
    rows.setOn(call);
    call();
    Status status = call.checkGuards();
    EXPECT_TRUE(status.ok()) << status.message();
    return call.get("y");
  }

  void expectBitsOfFullForm(const std::vector<Case> &cases,
                            const std::vector<int64_t> &lengths) {
    std::string module;
    for (const Case &each : cases)
      module +=
          moduleOf(each, std::string(kFullForm) + kRaggedForm, elementType());
    withCode(module, {}, [&](const EntryRunner &code) {
      for (const Case &each : cases) {
        SCOPED_TRACE(each.name());
        Sequences all(each.heads, lengths);
        std::vector<float> together = runRagged(code, each, all);
        Sequences hostile = all;
        for (std::vector<float> *values :
             {&hostile.inputs[1].q, &hostile.inputs[1].k, &hostile.inputs[1].v})
          std::fill(values->begin(), values->end(),
                    std::numeric_limits<float>::quiet_NaN());
        std::vector<float> besideNaN = runRagged(code, each, hostile);
        auto row = together.begin(), hostileRow = besideNaN.begin();
        for (size_t i = 0; i < lengths.size(); ++i) {
          int64_t size = lengths[i] * each.heads.count * each.heads.valueWidth;
          std::vector<float> found(row, row + size);
          EXPECT_EQ(found,
                    run(code, each, {1, lengths[i], lengths[i]}, all.inputs[i]))
              << "sequence " << i;
          if (i != 1)
            EXPECT_EQ(found, std::vector<float>(hostileRow, hostileRow + size))
                << "sequence " << i << " beside one of NaNs";
          row += size;
          hostileRow += size;
        }
      }
    });
  }
};

class WarpgroupRaggedTest : public RaggedAttentionTest {};
} // namespace

HEDDLE_FOR_EVERY_CODE_AND_TYPE(RaggedAttentionTest);
INSTANTIATE_TEST_SUITE_P(, WarpgroupRaggedTest,
                         testing::ValuesIn(hopperOfBf16()),
                         testing::PrintToStringParamName());

TEST_P(RaggedAttentionTest, SequencesKeepTheBitsThatTheyHaveAlone) {
  std::vector<Case> cases;
  for (const Mask &mask : {kFull, kCausal, kPadding, kWindow, kMixed})
    cases.push_back({{4, 2, 24, 40}, mask});
  cases.push_back({{2, 2, 32, 32}, kWindow});
  cases.push_back({{2, 1, 7, 9}, kFull});
  // Blocks of all sizes, and of one of them enough for a copy of its values.
  std::vector<int64_t> lengths = {7, 40, 64, 1, 33, 290, 16};
  if (takesSample())
    lengths = {7, 40, 130, 1};
  expectBitsOfFullForm(cases, lengths);
}

TEST_P(WarpgroupRaggedTest, SequencesKeepTheBitsThatTheyHaveAlone) {
  expectBitsOfFullForm({{{2, 1, 32, 64}, kCausal}, {{2, 2, 64, 64}, kFull}},
                       {70, 40, 200, 1});
}
