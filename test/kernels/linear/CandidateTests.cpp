// Logits of ragged lists of candidates against their formula.

#include "test/kernels/LayerTest.h"

#include <cmath>
#include <limits>

using namespace heddle;
using namespace heddle::test;

static const int64_t kWidths[] = {3, 8, 21, 64};

TEST_P(LayerTest, CandidateLogits) {
  std::string module;
  for (int64_t width : kWidths)
    module += fill(R"(
func.func @full_WIDTH(
    %x: tensor<?x?xWIDTHxf32> {transformer.name = "x",
                               transformer.dims = ["batch", "target"]},
    %rows: tensor<?x?xWIDTHxf32> {transformer.name = "rows",
                                  transformer.dims = ["batch", "shortlist"]},
    %bias: tensor<?x?xf32> {transformer.name = "bias",
                            transformer.dims = ["batch", "shortlist"]},
    %counts: tensor<?xi32> {transformer.name = "counts",
                            transformer.dims = ["batch"]})
    -> (tensor<?x?x?xf32> {transformer.name = "y"}) {
  %y = transformer.candidate_logits %x, %rows, %bias, %counts
    : (tensor<?x?xWIDTHxf32>, tensor<?x?xWIDTHxf32>, tensor<?x?xf32>,
       tensor<?xi32>) -> tensor<?x?x?xf32>
  return %y : tensor<?x?x?xf32>
}
func.func @step_WIDTH(
    %x: tensor<?xWIDTHxf32> {transformer.name = "x",
                             transformer.dims = ["rows"]},
    %rows: tensor<?x?xWIDTHxf32> {transformer.name = "rows",
                                  transformer.dims = ["batch", "shortlist"]},
    %bias: tensor<?x?xf32> {transformer.name = "bias",
                            transformer.dims = ["batch", "shortlist"]},
    %counts: tensor<?xi32> {transformer.name = "counts",
                            transformer.dims = ["batch"]},
    %of: tensor<?xi32> {transformer.name = "sentences",
                        transformer.dims = ["rows"]})
    -> (tensor<?x?xf32> {transformer.name = "y"}) {
  %y = transformer.candidate_logits %x, %rows, %bias, %counts of %of
    : (tensor<?xWIDTHxf32>, tensor<?x?xWIDTHxf32>, tensor<?x?xf32>,
       tensor<?xi32>, tensor<?xi32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
)",
                   {{"WIDTH", std::to_string(width)}});
  constexpr int64_t kBatch = 3, kLength = 4, kMost = 9;
  // None, a few, all.
  std::vector<int32_t> counts = {0, 6, 9};
  withCode(module, {}, [&](const EntryRunner &code) {
    for (int64_t width : kWidths) {
      SCOPED_TRACE(width);
      std::vector<float> x = randomValues(kBatch * kLength * width, 1),
                         rows = randomValues(kBatch * kMost * width, 2),
                         bias = randomValues(kBatch * kMost, 3);
      std::vector<double> y;
      std::vector<int32_t> sentences;
      for (int64_t row = 0; row < kBatch * kLength; ++row) {
        int64_t sentence = row / kLength;
        sentences.push_back(sentence);
        for (int64_t c = 0; c < kMost; ++c) {
          double sum = bias[sentence * kMost + c];
          for (int64_t d = 0; d < width; ++d)
            sum += double(x[row * width + d]) *
                   rows[(sentence * kMost + c) * width + d];
          y.push_back(c < counts[sentence]
                          ? sum
                          : -std::numeric_limits<double>::infinity());
        }
      }
      for (const char *form : {"full_", "step_"}) {
        EntryCall call = prepare(code, form + std::to_string(width),
                                 {{Dim::Batch, kBatch},
                                  {Dim::Target, kLength},
                                  {Dim::Rows, kBatch * kLength},
                                  {Dim::Shortlist, kMost}});
        call.set("x", x);
        call.set("rows", rows);
        call.set("bias", bias);
        call.set("counts", counts);
        if (form == std::string("step_"))
          call.set("sentences", sentences);
        call();
        EXPECT_TRUE(call.checkGuards().ok());
        // Sixty-four terms below 1, each rounded once or twice.
        expectNear(call.get("y"), y, 4e-6);
      }
    }
  });
}

TEST_P(LayerTest, CandidatesOfATable) {
  // More candidates than are done at a time, so that lists end in a first, a
  // middle and a last chunk.
  constexpr int64_t kVocabulary = 300, kBatch = 4, kMost = 150, kRows = 9;
  std::string module;
  for (int64_t width : kWidths)
    module += fill(R"(
func.func @table_WIDTH(
    %x: tensor<?xWIDTHxf32> {transformer.name = "x",
                             transformer.dims = ["rows"]},
    %table: tensor<300xWIDTHxf32> {transformer.name = "table"},
    %bias: tensor<300xf32> {transformer.name = "bias"},
    %counts: tensor<?xi32> {transformer.name = "counts",
                            transformer.dims = ["batch"]},
    %ids: tensor<?x?xi32> {transformer.name = "ids",
                           transformer.dims = ["batch", "shortlist"]},
    %of: tensor<?xi32> {transformer.name = "sentences",
                        transformer.dims = ["rows"]})
    -> (tensor<?x?xf32> {transformer.name = "y"}) {
  %y = transformer.candidate_logits %x, %table, %bias, %counts gather(%ids)
       of %of
    : (tensor<?xWIDTHxf32>, tensor<300xWIDTHxf32>, tensor<300xf32>,
       tensor<?xi32>, tensor<?x?xi32>, tensor<?xi32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
)",
                   {{"WIDTH", std::to_string(width)}});
  const std::vector<int32_t> counts = {1, 64, 101, 150};
  std::vector<int32_t> ids, sentences;
  for (int64_t i = 0; i < kBatch * kMost; ++i)
    ids.push_back(int32_t(i * 7 % kVocabulary));
  for (int64_t row = 0; row < kRows; ++row)
    sentences.push_back(int32_t(row % kBatch));
  withCode(module, {}, [&](const EntryRunner &code) {
    for (int64_t width : kWidths) {
      SCOPED_TRACE(width);
      std::vector<float> x = randomValues(kRows * width, 1),
                         table = randomValues(kVocabulary * width, 2),
                         bias = randomValues(kVocabulary, 3);
      std::vector<double> y;
      for (int64_t row = 0; row < kRows; ++row)
        for (int64_t c = 0; c < kMost; ++c) {
          int64_t id = ids[sentences[row] * kMost + c];
          double sum = bias[id];
          for (int64_t d = 0; d < width; ++d)
            sum += double(x[row * width + d]) * table[id * width + d];
          y.push_back(c < counts[sentences[row]]
                          ? sum
                          : -std::numeric_limits<double>::infinity());
        }
      EntryCall call = prepare(
          code, "table_" + std::to_string(width),
          {{Dim::Batch, kBatch}, {Dim::Rows, kRows}, {Dim::Shortlist, kMost}});
      call.set("x", x);
      call.set("table", table);
      call.set("bias", bias);
      call.set("counts", counts);
      call.set("ids", ids);
      call.set("sentences", sentences);
      call();
      EXPECT_TRUE(call.checkGuards().ok());
      // Sixty-four terms below 1, each rounded once or twice.
      expectNear(call.get("y"), y, 4e-6);
    }
  });
}
