//===- RaggedAttentionTests.cpp - Sequences one behind the other ----------===//
//
// Of the ragged form a sequence has the bits that it has alone in the full
// form, whatever stands beside it, and so have queries that are not ragged over
// keys that are; the full form is compared with its formula in
// AttentionTests.cpp.
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

/// Queries of each sequence, as many, over ragged keys.
static const char *const kRaggedKeys = R"(
func.func @NAME_keys(
    %q: tensor<?x?xQWIDTHxELEMENT> {transformer.name = "q",
                                    transformer.dims = ["batch", "globals"]},
    %k: tensor<?xKWIDTHxELEMENT> {transformer.name = "k",
                                  transformer.dims = ["tokens"]},
    %v: tensor<?xVWIDTHxELEMENT> {transformer.name = "v",
                                  transformer.dims = ["tokens"]},
    %lengths: tensor<?xi32> {transformer.name = "lengths",
                             transformer.dims = ["batch"]},
    %starts: tensor<?xi32> {transformer.name = "starts",
                            transformer.dims = ["batch"]})
    -> (tensor<?x?xYWIDTHxf32> {transformer.name = "y"}) {
  MASK
  %y = transformer.attention %q, %k, %v mask(%mask)
    ragged_keys(%starts, %lengths)
    {heads = HEADS : i64, kv_heads = KVHEADS : i64}
    : (tensor<?x?xQWIDTHxELEMENT>, tensor<?xKWIDTHxELEMENT>,
       tensor<?xVWIDTHxELEMENT>, !transformer.mask, tensor<?xi32>,
       tensor<?xi32>) -> tensor<?x?xYWIDTHxf32>
  return %y : tensor<?x?xYWIDTHxf32>
}
)";

namespace {
/// Sequences of a batch, in order: values of each.
struct Sequences {
  std::vector<int64_t> lengths;
  std::vector<Inputs> inputs;

  /// As many queries as keys, or so many.
  Sequences(const Heads &heads, std::vector<int64_t> all, int64_t queries = 0)
      : lengths(std::move(all)) {
    for (int64_t length : lengths) {
      Inputs &each = inputs.emplace_back(
          heads, Sizes{1, queries ? queries : length, length});
      // Apart from each other's, and with scores so far apart that maxima move
      // in later tiles, too.
      for (float &q : each.q)
        q *= 4 + float(inputs.size());
    }
  }

  /// The queries, keys or values of all of them.
  std::vector<float> all(std::vector<float> Inputs::*values) const {
    std::vector<float> joined;
    for (const Inputs &each : inputs)
      joined.insert(joined.end(), (each.*values).begin(), (each.*values).end());
    return joined;
  }
};

class RaggedAttentionTest : public AttentionCaseTest {
protected:
  static std::vector<float> runRagged(const EntryRunner &code, const Case &each,
                                      const Sequences &all) {
    RaggedRows rows(all.lengths);
    EntryCall call = prepare(code, each.name() + "_ragged", rows.dims());
    rows.setOn(call);
    return runOver(call, all);
  }

  /// So many queries of each sequence.
  static std::vector<float> runQueries(const EntryRunner &code,
                                       const Case &each, const Sequences &all,
                                       int64_t queries) {
    RaggedRows rows(all.lengths);
    auto dims = rows.dims();
    dims.push_back({Dim::Globals, queries});
    EntryCall call = prepare(code, each.name() + "_keys", dims);
    std::vector<int32_t> starts(rows.lengths.size());
    std::exclusive_scan(rows.lengths.begin(), rows.lengths.end(),
                        starts.begin(), 0);
    call.set("lengths", rows.lengths);
    call.set("starts", starts);
    return runOver(call, all);
  }

  static std::vector<float> runOver(EntryCall &call, const Sequences &all) {
    setInType(call, "q", all.all(&Inputs::q));
    setInType(call, "k", all.all(&Inputs::k));
    setInType(call, "v", all.all(&Inputs::v));
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

TEST_P(RaggedAttentionTest, QueriesOverRaggedKeysHaveTheBitsOfTheFullForm) {
  // No values for tensor cores, which whole sentences alone have.
  std::vector<Case> cases = {{{4, 2, 24, 40}, kFull},
                             {{4, 2, 24, 40}, kWindow},
                             {{2, 2, 32, 40}, kFull},
                             {{2, 1, 7, 9}, kCausal}};
  std::vector<int64_t> lengths = {7, 40, 1, 290}, counts = {1, 37};
  if (takesSample()) {
    lengths = {7, 130, 1};
    counts = {3};
  }
  std::string module;
  for (const Case &each : cases)
    module +=
        moduleOf(each, std::string(kFullForm) + kRaggedKeys, elementType());
  withCode(module, {}, [&](const EntryRunner &code) {
    for (const Case &each : cases)
      for (int64_t queries : counts) {
        SCOPED_TRACE(each.name() + ", " + std::to_string(queries) + " queries");
        Sequences all(each.heads, lengths, queries);
        std::vector<float> found = runQueries(code, each, all, queries), alone;
        for (size_t i = 0; i < lengths.size(); ++i) {
          std::vector<float> own =
              run(code, each, {1, queries, lengths[i]}, all.inputs[i]);
          alone.insert(alone.end(), own.begin(), own.end());
        }
        EXPECT_EQ(found, alone);
      }
  });
}

TEST_P(WarpgroupRaggedTest, SequencesKeepTheBitsThatTheyHaveAlone) {
  expectBitsOfFullForm({{{2, 1, 32, 64}, kCausal}, {{2, 2, 64, 64}, kFull}},
                       {70, 40, 200, 1});
}
