// Rows that lists name, taken and put back, bit for bit.

#include "test/kernels/LayerTest.h"

#include <algorithm>
#include <limits>

using namespace heddle;
using namespace heddle::test;

namespace {
class TakenRowsTest : public LayerTest {};
} // namespace

HEDDLE_FOR_EVERY_CODE(TakenRowsTest);

static const int64_t kWidths[] = {1, 6, 8, 21, 64};

static std::string moduleOf(int64_t width) {
  return fill(R"(
func.func @take_WIDTH(
    %x: tensor<?x?xWIDTHxf32> {transformer.name = "x",
                               transformer.dims = ["batch", "source"]},
    %at: tensor<?x?xi32> {transformer.name = "global",
                          transformer.dims = ["batch", "globals"]})
    -> (tensor<?x?xWIDTHxf32> {transformer.name = "y"}) {
  %y = transformer.take_rows %x at %at
    : (tensor<?x?xWIDTHxf32>, tensor<?x?xi32>) -> tensor<?x?xWIDTHxf32>
  return %y : tensor<?x?xWIDTHxf32>
}
func.func @ragged_WIDTH(
    %x: tensor<?xWIDTHxf32> {transformer.name = "x",
                             transformer.dims = ["tokens"]},
    %at: tensor<?xi32> {transformer.name = "global",
                        transformer.dims = ["masks"]})
    -> (tensor<?xWIDTHxf32> {transformer.name = "y"}) {
  %y = transformer.take_rows %x at %at
    : (tensor<?xWIDTHxf32>, tensor<?xi32>) -> tensor<?xWIDTHxf32>
  return %y : tensor<?xWIDTHxf32>
}
func.func @put_WIDTH(
    %x: tensor<?x?xWIDTHxf32> {transformer.name = "x",
                               transformer.dims = ["batch", "source"]},
    %rows: tensor<?x?xWIDTHxf32> {transformer.name = "rows",
                                  transformer.dims = ["batch", "globals"]},
    %at: tensor<?x?xi32> {transformer.name = "global",
                          transformer.dims = ["batch", "globals"]})
    -> (tensor<?x?xWIDTHxf32> {transformer.name = "y"}) {
  %y = transformer.put_rows %rows at %at into %x
    : (tensor<?x?xWIDTHxf32>, tensor<?x?xi32>, tensor<?x?xWIDTHxf32>)
      -> tensor<?x?xWIDTHxf32>
  return %y : tensor<?x?xWIDTHxf32>
}
)",
              {{"WIDTH", std::to_string(width)}});
}

TEST_P(TakenRowsTest, RowsThatListsName) {
  constexpr int64_t kBatch = 3, kLength = 9, kTokens = 4;
  constexpr int32_t kNone = std::numeric_limits<int32_t>::max();
  // In order and not, at both ends, and numbers that are no rows.
  const std::vector<int32_t> tokens = {0, 4, 8, kNone, 9,     -1,
                                       5, 2, 3, 1,     kNone, -kNone};
  // The same rows, counted through all sequences.
  std::vector<int32_t> ofAll = tokens;
  for (size_t place = 0; place < ofAll.size(); ++place)
    if (ofAll[place] >= 0 && ofAll[place] < kLength)
      ofAll[place] += int32_t(int64_t(place) / kTokens * kLength);
    else
      ofAll[place] = ofAll[place] < 0 ? ofAll[place] : kNone;
  std::string module;
  for (int64_t width : kWidths)
    module += moduleOf(width);
  withCode(module, {}, [&](const EntryRunner &code) {
    for (int64_t width : kWidths) {
      SCOPED_TRACE(width);
      std::vector<float> x = randomValues(kBatch * kLength * width, 1);
      // What no list names is not touched.
      std::fill(x.begin() + 6 * width, x.begin() + 7 * width,
                std::numeric_limits<float>::infinity());
      std::vector<float> rows = randomValues(kBatch * kTokens * width, 2);
      std::vector<float> taken(rows.size()), put = x;
      for (size_t place = 0; place < tokens.size(); ++place) {
        if (tokens[place] < 0 || tokens[place] >= kLength)
          continue;
        int64_t row = int64_t(place) / kTokens * kLength + tokens[place];
        std::copy_n(x.begin() + row * width, width,
                    taken.begin() + int64_t(place) * width);
        std::copy_n(rows.begin() + int64_t(place) * width, width,
                    put.begin() + row * width);
      }
      auto run = [&](const std::string &entry) {
        EntryCall call = prepare(code, entry + "_" + std::to_string(width),
                                 {{Dim::Batch, kBatch},
                                  {Dim::Source, kLength},
                                  {Dim::Globals, kTokens},
                                  {Dim::Tokens, kBatch * kLength},
                                  {Dim::Masks, kBatch * kTokens}});
        call.set("x", x);
        if (entry == "put")
          call.set("rows", rows);
        call.set("global", entry == "ragged" ? ofAll : tokens);
        call();
        EXPECT_TRUE(call.checkGuards().ok()) << call.checkGuards().message();
        return call.get("y");
      };
      EXPECT_EQ(run("take"), taken);
      EXPECT_EQ(run("ragged"), taken);
      EXPECT_EQ(run("put"), put);
    }
  });
}
