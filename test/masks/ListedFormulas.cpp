//===- ListedFormulas.cpp - Masks that list or draw, and what they are ----===//
//
// The sets are computed from the definitions in Masks.td, element by element:
// what is drawn, too, so that anyone can do it again.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "test/masks/MaskFormula.h"
#include <set>

using namespace mlir;
using namespace heddle;
using namespace heddle::test;

Value MaskBuilder::table(std::vector<int64_t> shape,
                         std::vector<int32_t> elements) {
  auto type = RankedTensorType::get(shape, builder.getI32Type());
  return arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(type, llvm::ArrayRef<int32_t>(elements)));
}

Value MaskBuilder::list(const std::vector<int32_t> &elements) {
  return table({int64_t(elements.size())}, elements);
}

MaskFormula MaskBuilder::prefix(int64_t length) {
  return {MaskPrefixOp::create(builder, loc, length),
          [=](int, int, int, int j) { return j < length; },
          "prefix " + std::to_string(length)};
}

MaskFormula MaskBuilder::firstTokens(int64_t count, bool columns) {
  return {MaskGlobalOp::create(builder, loc, builder.getI64IntegerAttr(count),
                               Value(), columns),
          [=](int, int, int i, int j) {
            return (!columns && i < count) || j < count;
          },
          "global " + std::to_string(count) + (columns ? " columns" : "")};
}

MaskFormula MaskBuilder::tokens(std::vector<int32_t> tokens, bool columns) {
  // One list for each sentence, or one for all.
  int64_t size = tokens.size();
  Value list = columns ? table({size}, tokens)
                       : table({kSentences, size / kSentences}, tokens);
  auto holds = [=](int b, int position) {
    int64_t each = columns ? size : size / kSentences;
    auto first = tokens.begin() + (columns ? 0 : b * each);
    return std::find(first, first + each, position) != first + each;
  };
  return {MaskGlobalOp::create(builder, loc, IntegerAttr(), list, columns),
          [=](int b, int, int i, int j) {
            return (!columns && holds(b, i)) || holds(b, j);
          },
          columns ? "tokens of all" : "tokens"};
}

/// A number that is not the same for two sentences.
static int32_t segmentOf(int b, int position) {
  return position / (b + 2) + 3 * b;
}

MaskFormula MaskBuilder::segments(int64_t length) {
  std::vector<int32_t> ids;
  for (int b = 0; b < kSentences; ++b)
    for (int64_t at = 0; at < length; ++at)
      ids.push_back(segmentOf(b, at));
  return {
      MaskSegmentsOp::create(builder, loc, table({kSentences, length}, ids)),
      [](int b, int, int i, int j) {
        return segmentOf(b, i) == segmentOf(b, j);
      },
      "segments"};
}

/// The elements of row `row` of compressed rows, of which offsets stand for the
/// nearest ones inside of the elements.
static std::set<int32_t> rowOf(const std::vector<int32_t> &offsets,
                               const std::vector<int32_t> &elements,
                               size_t row) {
  if (row + 1 >= offsets.size())
    return {};
  int32_t count = elements.size();
  int32_t begin = std::clamp(offsets[row], 0, count);
  int32_t end = std::clamp(offsets[row + 1], begin, count);
  return {elements.begin() + begin, elements.begin() + end};
}

/// Offsets that no verifier lets through: as arguments they may be anything.
static const std::vector<int32_t> kMalformed = {0,  INT32_MAX, 4,        -5, 2,
                                                40, INT32_MIN, INT32_MAX};
static const std::vector<int32_t> kAscending = {0, 1, 2, 4, 5, 6, 9, 12};

MaskFormula MaskBuilder::blocks(int64_t block, std::vector<int32_t> offsets,
                                std::vector<int32_t> listed) {
  return {
      MaskBlocksOp::create(builder, loc, list(offsets), list(listed), block),
      [=](int, int, int i, int j) {
        return rowOf(offsets, listed, i / block).count(j / block) != 0;
      },
      "blocks of " + std::to_string(block)};
}

MaskFormula MaskBuilder::pairs(std::vector<int32_t> offsets,
                               std::vector<int32_t> keys) {
  return {MaskPairsOp::create(builder, loc, list(offsets), list(keys)),
          [=](int, int, int i, int j) {
            return rowOf(offsets, keys, i).count(j) != 0;
          },
          "pairs"};
}

MaskFormula MaskBuilder::dense(int64_t queries, int64_t keys) {
  std::vector<int32_t> marks;
  for (int64_t at = 0; at < kSentences * queries * keys; ++at)
    marks.push_back(at * at % 7 % 3);
  Value list = table({kSentences, queries, keys}, marks);
  return {MaskDenseOp::create(builder, loc, list),
          [=](int b, int, int i, int j) {
            return i < queries && j < keys &&
                   marks[(b * queries + i) * keys + j] != 0;
          },
          "dense"};
}

MaskFormula MaskBuilder::where(std::optional<int64_t> left,
                               std::optional<int64_t> right) {
  auto bound = [&](std::optional<int64_t> value) {
    return value ? builder.getI64IntegerAttr(*value) : IntegerAttr();
  };
  auto op = MaskWhereOp::create(builder, loc, bound(left), bound(right));
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Type> types(4, builder.getI32Type());
  Block *block = builder.createBlock(&op.getPredicate(), {}, types,
                                     SmallVector<Location>(4, loc));
  auto [b, h, i, j] = std::tuple(block->getArgument(0), block->getArgument(1),
                                 block->getArgument(2), block->getArgument(3));
  auto constant = [&](int32_t value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI32IntegerAttr(value));
  };
  // Whether i + 2 j + h + b is no multiple of 4.
  Value sum = arith::AddIOp::create(builder, loc, b, h);
  sum = arith::AddIOp::create(builder, loc, sum, i);
  sum = arith::AddIOp::create(
      builder, loc, sum, arith::MulIOp::create(builder, loc, j, constant(2)));
  Value rest = arith::AndIOp::create(builder, loc, sum, constant(3));
  Value holds = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                      rest, constant(0));
  YieldOp::create(builder, loc, holds);
  return {op,
          [=](int b, int h, int i, int j) {
            return (i + 2 * j + h + b) % 4 != 0 && (!left || i - j <= *left) &&
                   (!right || j - i <= *right);
          },
          left ? "where within" : "where"};
}

/// MurmurHash3's finaliser.
static uint32_t mix(uint32_t x) {
  x = (x ^ x >> 16) * 0x85ebca6b;
  x = (x ^ x >> 13) * 0xc2b2ae35;
  return x ^ x >> 16;
}

/// The blocks that block I of the queries of head h draws from m.
static std::set<int64_t> drawnBlocks(int64_t m, int h, int64_t I, int64_t count,
                                     uint32_t seed) {
  std::set<int64_t> drawn;
  for (int64_t t = 0; t < count; ++t) {
    int64_t first = t * (m / count) + std::min(t, m % count);
    int64_t size = m / count + (t < m % count);
    uint64_t draw = mix(t + mix(I + mix(h + mix(seed))));
    if (size > 0)
      drawn.insert(first + (draw * size >> 32));
  }
  return drawn;
}

MaskFormula MaskBuilder::randomBlocks(std::vector<int32_t> lengths,
                                      int64_t block, int64_t count,
                                      uint32_t seed) {
  Value list = lengths.empty() ? Value() : table({kSentences}, lengths);
  auto contains = [=](int b, int h, int i, int j) {
    int64_t m = lengths.empty() ? i / block : (lengths[b] + block - 1) / block;
    return drawnBlocks(m, h, i / block, count, seed).count(j / block) != 0;
  };
  return {MaskRandomBlocksOp::create(builder, loc, list, block, count, seed),
          contains,
          "random blocks" + std::string(lengths.empty() ? " before" : "")};
}

MaskFormula MaskBuilder::randomTokens(std::vector<int32_t> lengths,
                                      int64_t count, uint32_t seed) {
  Value list = lengths.empty() ? Value() : table({kSentences}, lengths);
  auto contains = [=](int b, int h, int i, int j) {
    int64_t m = lengths.empty() ? i : lengths[b];
    return drawnBlocks(m, h, i, count, seed).count(j) != 0;
  };
  return {MaskRandomTokensOp::create(builder, loc, list, count, seed), contains,
          "random tokens" + std::string(lengths.empty() ? " before" : "")};
}

std::vector<MaskFormula> MaskBuilder::listedLeaves() {
  return {prefix(3),
          firstTokens(2, /*columns=*/false),
          firstTokens(3, /*columns=*/true),
          tokens({1, 4, 0, 9, 2, 99}, /*columns=*/false),
          tokens({0, 5}, /*columns=*/true),
          segments(/*length=*/80),
          blocks(2, {0, 2, 2, 5}, {0, 2, 0, 1, 3}),
          blocks(1, kMalformed, kAscending),
          pairs({0, 1, 4, 4, 6, 9, 10}, {3, 0, 2, 9, 1, 5, 0, 4, 6, 2}),
          pairs(kMalformed, kAscending),
          dense(5, 6),
          where(std::nullopt, std::nullopt),
          where(3, 1),
          randomBlocks({7, 3, 0}, 2, 2, /*seed=*/1),
          randomBlocks({}, 2, 1, /*seed=*/0xffffffff),
          randomTokens({7, 2, 0}, 3, /*seed=*/5),
          randomTokens({}, 2, /*seed=*/0)};
}
