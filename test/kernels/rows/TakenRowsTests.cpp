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
func.func @take_of_WIDTH(
    %x: tensor<?xWIDTHxf32> {transformer.name = "x",
                             transformer.dims = ["tokens"]},
    %at: tensor<?x?xi32> {transformer.name = "global",
                          transformer.dims = ["batch", "globals"]},
    %starts: tensor<?xi32> {transformer.name = "starts",
                            transformer.dims = ["batch"]},
    %lengths: tensor<?xi32> {transformer.name = "lengths",
                             transformer.dims = ["batch"]})
    -> (tensor<?x?xWIDTHxf32> {transformer.name = "y"}) {
  %y = transformer.take_rows %x at %at of(%starts, %lengths)
    : (tensor<?xWIDTHxf32>, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>)
      -> tensor<?x?xWIDTHxf32>
  return %y : tensor<?x?xWIDTHxf32>
}
func.func @put_of_WIDTH(
    %x: tensor<?xWIDTHxf32> {transformer.name = "x",
                             transformer.dims = ["tokens"]},
    %rows: tensor<?x?xWIDTHxf32> {transformer.name = "rows",
                                  transformer.dims = ["batch", "globals"]},
    %at: tensor<?x?xi32> {transformer.name = "global",
                          transformer.dims = ["batch", "globals"]},
    %starts: tensor<?xi32> {transformer.name = "starts",
                            transformer.dims = ["batch"]},
    %lengths: tensor<?xi32> {transformer.name = "lengths",
                             transformer.dims = ["batch"]})
    -> (tensor<?xWIDTHxf32> {transformer.name = "y"}) {
  %y = transformer.put_rows %rows at %at of(%starts, %lengths) into %x
    : (tensor<?x?xWIDTHxf32>, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>,
       tensor<?xWIDTHxf32>) -> tensor<?xWIDTHxf32>
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

namespace {
/// Rows that lists of a batch name.
struct TakenRows {
  int64_t width, listed;
  std::vector<int32_t> tokens, starts, lengths;

  /// The rows, or what becomes of them: those that are listed, in their order,
  /// and all of them with other values in their places.
  std::vector<float> x, rows, taken, put;

  TakenRows(int64_t width, int64_t listed, std::vector<int32_t> all,
            std::vector<int32_t> sizes);
};
} // namespace

TakenRows::TakenRows(int64_t width, int64_t listed, std::vector<int32_t> all,
                     std::vector<int32_t> sizes)
    : width(width), listed(listed), tokens(std::move(all)),
      lengths(std::move(sizes)) {
  int32_t count = 0;
  for (int32_t length : lengths) {
    starts.push_back(count);
    count += length;
  }
  x = randomValues(count * width, 1);
  rows = randomValues(int64_t(tokens.size()) * width, 2);
  taken.resize(rows.size());
  put = x;
  for (size_t place = 0; place < tokens.size(); ++place) {
    size_t list = place / size_t(listed);
    if (tokens[place] < 0 || tokens[place] >= lengths[list])
      continue;
    int64_t row = starts[list] + tokens[place];
    std::copy_n(x.begin() + row * width, width,
                taken.begin() + int64_t(place) * width);
    std::copy_n(rows.begin() + int64_t(place) * width, width,
                put.begin() + row * width);
  }
}

TEST_P(TakenRowsTest, RowsOfSequencesOneBehindTheOther) {
  constexpr int32_t kNone = std::numeric_limits<int32_t>::max();
  std::string module;
  for (int64_t width : kWidths)
    module += moduleOf(width);
  withCode(module, {}, [&](const EntryRunner &code) {
    for (int64_t width : kWidths) {
      SCOPED_TRACE(width);
      // Rows of neighbours are near; the last sequence has none.
      TakenRows each(width, 3,
                     {0, 6, 7, 1, kNone, -1, 2, 0, 1, 0, kNone, -kNone},
                     {7, 2, 3, 0});
      auto run = [&](const std::string &entry) {
        EntryCall call =
            prepare(code, entry + "_" + std::to_string(width),
                    {{Dim::Batch, int64_t(each.lengths.size())},
                     {Dim::Globals, each.listed},
                     {Dim::Tokens, int64_t(each.x.size()) / width}});
        call.set("x", each.x);
        if (entry == "put_of")
          call.set("rows", each.rows);
        call.set("global", each.tokens);
        call.set("starts", each.starts);
        call.set("lengths", each.lengths);
        call();
        EXPECT_TRUE(call.checkGuards().ok()) << call.checkGuards().message();
        return call.get("y");
      };
      EXPECT_EQ(run("take_of"), each.taken);
      EXPECT_EQ(run("put_of"), each.put);
    }
  });
}

TEST_P(TakenRowsTest, RowsThatListsName) {
  constexpr int32_t kBatch = 3, kLength = 9, kTokens = 4;
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
      TakenRows each(width, kTokens, tokens, {kLength, kLength, kLength});
      // What no list names is not touched.
      for (std::vector<float> *values : {&each.x, &each.put})
        std::fill(values->begin() + 6 * width, values->begin() + 7 * width,
                  std::numeric_limits<float>::infinity());
      auto run = [&](const std::string &entry) {
        EntryCall call = prepare(code, entry + "_" + std::to_string(width),
                                 {{Dim::Batch, kBatch},
                                  {Dim::Source, kLength},
                                  {Dim::Globals, kTokens},
                                  {Dim::Tokens, kBatch * kLength},
                                  {Dim::Masks, kBatch * kTokens}});
        call.set("x", each.x);
        if (entry == "put")
          call.set("rows", each.rows);
        call.set("global", entry == "ragged" ? ofAll : tokens);
        call();
        EXPECT_TRUE(call.checkGuards().ok()) << call.checkGuards().message();
        return call.get("y");
      };
      EXPECT_EQ(run("take"), each.taken);
      EXPECT_EQ(run("ragged"), each.taken);
      EXPECT_EQ(run("put"), each.put);
    }
  });
}
