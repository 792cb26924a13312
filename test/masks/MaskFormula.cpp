#include "test/masks/MaskFormula.h"
#include "lib/Masks/Evaluator.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::test;

MaskBuilder::MaskBuilder() : builder(&context), loc(UnknownLoc::get(&context)) {
  context.loadDialect<TransformerDialect, arith::ArithDialect, scf::SCFDialect,
                      tensor::TensorDialect, vector::VectorDialect>();
  module = ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());
}

MaskFormula MaskBuilder::full() {
  return {MaskFullOp::create(builder, loc),
          [](int, int, int, int) { return true; }, "full"};
}

MaskFormula MaskBuilder::empty() {
  return {MaskEmptyOp::create(builder, loc),
          [](int, int, int, int) { return false; }, "empty"};
}

MaskFormula MaskBuilder::causal() {
  return {MaskCausalOp::create(builder, loc),
          [](int, int, int i, int j) { return j <= i; }, "causal"};
}

MaskFormula MaskBuilder::padding(std::vector<int32_t> lengths) {
  auto type = RankedTensorType::get(lengths.size(), builder.getI32Type());
  Value table = arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(type, ArrayRef<int32_t>(lengths)));
  std::string text = "padding";
  for (int32_t length : lengths)
    text += " " + std::to_string(length);
  return {MaskPaddingOp::create(builder, loc, table),
          [lengths](int b, int, int, int j) { return j < lengths[b]; }, text};
}

MaskFormula MaskBuilder::window(int64_t left, int64_t right,
                                std::vector<int64_t> dilation) {
  std::string text =
      "window " + std::to_string(left) + " " + std::to_string(right) + " by";
  for (int64_t each : dilation)
    text += " " + std::to_string(each);
  auto contains = [=](int, int h, int i, int j) {
    int64_t d = dilation.size() == 1 ? dilation[0] : dilation[h];
    // Steps of d from the query, to the past and to the future.
    if (j <= i)
      return (i - j) % d == 0 && (i - j) / d <= left;
    return (j - i) % d == 0 && (j - i) / d <= right;
  };
  return {MaskWindowOp::create(builder, loc, left, right, dilation), contains,
          text};
}

MaskFormula MaskBuilder::both(const MaskFormula &lhs, const MaskFormula &rhs) {
  auto contains = [l = lhs.contains, r = rhs.contains](int b, int h, int i,
                                                       int j) {
    return l(b, h, i, j) && r(b, h, i, j);
  };
  return {MaskAndOp::create(builder, loc, lhs.mask, rhs.mask), contains,
          "and(" + lhs.text + ", " + rhs.text + ")"};
}

MaskFormula MaskBuilder::either(const MaskFormula &lhs,
                                const MaskFormula &rhs) {
  auto contains = [l = lhs.contains, r = rhs.contains](int b, int h, int i,
                                                       int j) {
    return l(b, h, i, j) || r(b, h, i, j);
  };
  return {MaskOrOp::create(builder, loc, lhs.mask, rhs.mask), contains,
          "or(" + lhs.text + ", " + rhs.text + ")"};
}

MaskFormula MaskBuilder::negate(const MaskFormula &operand) {
  auto contains = [o = operand.contains](int b, int h, int i, int j) {
    return !o(b, h, i, j);
  };
  return {MaskNotOp::create(builder, loc, operand.mask), contains,
          "not(" + operand.text + ")"};
}

std::vector<MaskFormula> MaskBuilder::leaves() {
  std::vector<MaskFormula> all = {
      full(),
      empty(),
      causal(),
      padding({kPositions, 3, 0}),
      padding({1, kPositions + 4, 5}),
      window(0, 0),
      window(2, 1),
      window(3, 0),
      window(0, 4),
      window(std::numeric_limits<int32_t>::max(), 0),
      window(2, 2, {3}),
      window(1, 2, {1, 2}),
      window(2, 0, {3, 1})};
  llvm::append_range(all, listedLeaves());
  return all;
}

MaskFormula MaskBuilder::random(std::mt19937 &generator, int depth) {
  auto draw = [&](int choices) {
    return std::uniform_int_distribution<int>(0, choices - 1)(generator);
  };
  if (depth == 0 || draw(8) == 0) {
    std::vector<MaskFormula> all = leaves();
    return all[draw(all.size())];
  }
  switch (draw(5)) {
  case 0:
    return negate(random(generator, depth - 1));
  case 1:
  case 2: {
    MaskFormula lhs = random(generator, depth - 1);
    return both(lhs, random(generator, depth - 1));
  }
  default: {
    MaskFormula lhs = random(generator, depth - 1);
    return either(lhs, random(generator, depth - 1));
  }
  }
}

void MaskBuilder::forget() {
  while (!questions.empty())
    questions.back().erase();
}

Value MaskBuilder::coordinate(const std::vector<int32_t> &lanes) {
  if (lanes.size() == 1)
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI32IntegerAttr(lanes.front()));
  auto type = VectorType::get(lanes.size(), builder.getI32Type());
  return arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(type, ArrayRef<int32_t>(lanes)));
}

std::vector<bool> MaskBuilder::contains(Value mask, int b, int h,
                                        std::vector<int32_t> i,
                                        std::vector<int32_t> j) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&questions);
  Lanes lanes(builder, loc);
  MaskPoint point{coordinate({b}), coordinate({h}), coordinate(i),
                  coordinate(j)};
  Value predicate =
      mask.getDefiningOp<MaskOpInterface>().contains(lanes, point);
  Attribute value = Evaluator().evaluate(predicate);
  std::vector<bool> result;
  // What depends on no lane may stay a scalar.
  if (auto scalar = dyn_cast_or_null<IntegerAttr>(value))
    result.assign(std::max(i.size(), j.size()), !scalar.getValue().isZero());
  else if (value)
    llvm::append_range(result,
                       cast<DenseElementsAttr>(value).getValues<bool>());
  forget();
  return result;
}

std::optional<std::vector<ConstantRange>>
MaskBuilder::keyRanges(Value mask, int b, int h, int begin, int end,
                       int keyCount) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&questions);
  auto index = [&](int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value).getResult();
  };
  QueryBlock block{index(b), index(h), index(begin), index(end),
                   index(keyCount)};
  std::vector<ConstantRange> result;
  Evaluator evaluator;
  bool isKnown = true;
  auto read = [&](Value bound) {
    auto value = cast_or_null<IntegerAttr>(evaluator.evaluate(bound));
    isKnown &= bool(value);
    return value ? value.getInt() : 0;
  };
  auto ranges = keyRangesOf(builder, loc, block, mask);
  if (ranges)
    for (const KeyRange &range : *ranges)
      result.push_back({read(range.begin), read(range.end),
                        read(range.fullBegin), read(range.fullEnd)});
  forget();
  return ranges && isKnown ? std::optional(result) : std::nullopt;
}

std::optional<std::vector<ConstantSegment>>
MaskBuilder::segments(Value mask, int b, int h, int begin, int end,
                      int keyCount) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&questions);
  auto index = [&](int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value).getResult();
  };
  std::vector<ConstantSegment> result;
  Evaluator evaluator;
  auto read = [&](Value value) -> std::optional<int64_t> {
    auto number = cast_or_null<IntegerAttr>(evaluator.evaluate(value));
    return number ? std::optional(number.getInt()) : std::nullopt;
  };
  for (int64_t key = 0; key < keyCount;) {
    QueryBlock block{index(b), index(h), index(begin), index(end),
                     index(keyCount)};
    KeySegment segment = mask.getDefiningOp<MaskOpInterface>().segmentAt(
        builder, loc, block, index(key));
    auto cover = read(segment.cover);
    auto segmentEnd = read(segment.end);
    if (!cover || !segmentEnd || *segmentEnd <= key) {
      forget();
      return std::nullopt;
    }
    result.push_back({key, *segmentEnd, *cover});
    key = *segmentEnd;
  }
  forget();
  return result;
}

Reach MaskBuilder::reach(Value mask) {
  return mask.getDefiningOp<MaskOpInterface>().reach();
}
