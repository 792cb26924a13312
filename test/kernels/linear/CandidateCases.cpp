//===- CandidateCases.cpp - Logits of a shortlist's candidates ------------===//
//
// The sentence with all candidates has a row at the start and two at the end;
// the row of the sentence without candidates lies before that of another, which
// must not see what it holds.
//
//===----------------------------------------------------------------------===//

#include "test/kernels/linear/CandidateCases.h"

#include <limits>

using namespace heddle;
using namespace heddle::test;

static constexpr int64_t kBatch = 3, kMost = 11;

std::string test::candidatesText(const std::string &name, int64_t width,
                                 const std::string &lines) {
  return fill(
      R"(
func.func @NAME_WIDTH(
    %x: tensor<?xWIDTHxf32> {transformer.name = "x",
                             transformer.dims = ["rows"]},
    %ids: tensor<?x?xi32> {transformer.name = "candidates",
                           transformer.dims = ["batch", "shortlist"]},
    %counts: tensor<?xi32> {transformer.name = "counts",
                            transformer.dims = ["batch"]},
    %of: tensor<?xi32> {transformer.name = "sentences",
                        transformer.dims = ["rows"]})
    -> (tensor<?x?xf32> {transformer.name = "y"}) {LINES
  return %y : tensor<?x?xf32>
}
)",
      {{"NAME", name}, {"LINES", lines}, {"WIDTH", std::to_string(width)}});
}

std::vector<std::pair<Dim, int64_t>> test::candidateDims() {
  return {{Dim::Rows, kCandidateRows},
          {Dim::Batch, kBatch},
          {Dim::Shortlist, kMost}};
}

void test::expectCandidates(
    EntryCall call, const std::vector<float> &x,
    const std::function<double(int64_t row, int64_t id)> &logit) {
  const std::vector<int32_t> counts = {0, 6, kMost};
  const std::vector<int32_t> sentences = {2, 0, 1, 2, 2};
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < kBatch * kMost; ++i)
    ids.push_back(i * 7 % kCandidateVocabulary);
  std::vector<double> expected;
  for (int64_t row = 0; row < kCandidateRows; ++row)
    for (int64_t c = 0; c < kMost; ++c)
      expected.push_back(c < counts[sentences[row]]
                             ? logit(row, ids[sentences[row] * kMost + c])
                             : -std::numeric_limits<double>::infinity());
  call.set("x", x);
  call.set("candidates", ids);
  call.set("counts", counts);
  call.set("sentences", sentences);
  call();
  EXPECT_TRUE(call.checkGuards().ok()) << call.checkGuards().message();
  expectNear(call.get("y"), expected, /*tolerance=*/0);
}
