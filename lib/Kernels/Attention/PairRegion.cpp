//===- PairRegion.cpp - Sums of a region in common loops ------------------===//
//
// Each value depends on the query, the key, both or neither, and is computed
// once for what it depends on. Numbers are evaluated in the order of the
// region. Elements of vectors are evaluated where a sum asks for them.
//
// Reductions of one size whose operands are ready share a loop, as long as
// their sums fit in three quarters of the vector registers. The elements are
// cut into pieces that are made alike: a long piece becomes a loop, a short one
// straight code. Elements always ascend, so that neither pieces nor neighbours
// change a bit.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Attention/PairRegion.h"
#include "dialect/Transformer.h"
#include "lib/Kernels/Attention/LaneRegion.h"
#include "lib/Kernels/Attention/MovedElements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include <limits>

using namespace mlir;
using namespace heddle;

static bool isVector(Value value) { return isa<VectorType>(value.getType()); }
static int64_t sizeOf(Value vector) {
  return cast<VectorType>(vector.getType()).getNumElements();
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

PairRegion::PairRegion(Region &region, VectorLoops &loops, Side lanes,
                       int64_t queries, Element query)
    : region(region), loops(loops), lanes(lanes), queries(queries),
      query(std::move(query)) {
  sides[region.getArgument(0)] = Query;
  sides[region.getArgument(1)] = Key;
  for (Operation &op : region.front()) {
    unsigned all = 0;
    for (Value operand : op.getOperands())
      all |= sidesOf(operand);
    for (Value result : op.getResults())
      sides[result] = all;
  }
  evaluate(Query);
}

PairRegion::Pair PairRegion::limited(Value value, Pair pair) const {
  unsigned of = sidesOf(value);
  return {of & Key ? pair.key : -1, of & Query ? pair.query : -1};
}

int64_t PairRegion::countPairs(Value value) const {
  unsigned of = sidesOf(value);
  return (of & Key ? keys : 1) * (of & Query ? queries : 1);
}

/// body(pair) once for each that `value` tells apart.
void PairRegion::forEachPair(Value value, function_ref<void(Pair)> body) {
  unsigned of = sidesOf(value);
  for (int64_t k = of & Key ? 0 : -1; k < (of & Key ? keys : 0); ++k)
    for (int64_t q = of & Query ? 0 : -1; q < (of & Query ? queries : 0); ++q)
      body({k, q});
}

Value &PairRegion::knownNumber(Value value, Pair pair) {
  Pair own = limited(value, pair);
  return known.numbers[{value.getAsOpaquePointer(), own.key, own.query}];
}
Value &PairRegion::knownElement(Value vector, Pair pair, const Place &place) {
  Pair own = limited(vector, pair);
  return known.elements[{vector.getAsOpaquePointer(), own.key, own.query,
                         place.offset}];
}

/// Canonicalizers take constants out of regions.
bool PairRegion::isInside(Value value) const {
  return region.isAncestor(value.getParentRegion());
}

/// Whether element at + 1 is made as element `at` is, of what follows there.
bool PairRegion::follows(Value vector, int64_t at) {
  if (!isVector(vector))
    return true;
  auto [entry, isNew] =
      followers.try_emplace({vector.getAsOpaquePointer(), at}, true);
  if (!isNew)
    return entry->second;
  Operation *op = vector.getDefiningOp();
  DenseElementsAttr constant;
  bool result = true;
  if (op && matchPattern(op, m_Constant(&constant))) {
    result = constant.isSplat() || constant.getValues<Attribute>()[at] ==
                                       constant.getValues<Attribute>()[at + 1];
  } else if (movesElements(op)) {
    ElementSource here = sourceOf(op, at), next = sourceOf(op, at + 1);
    result = here.first == next.first &&
             (!isVector(here.first) || (next.second == here.second + 1 &&
                                        follows(here.first, here.second)));
  } else if (op && isInside(vector)) {
    result = llvm::all_of(op->getOperands(),
                          [&](Value operand) { return follows(operand, at); });
  }
  return followers[{vector.getAsOpaquePointer(), at}] = result;
}

/// Whether all numbers that a value is made of are known.
bool PairRegion::isReady(Value value) {
  llvm::SetVector<Value> values;
  values.insert(value);
  for (size_t i = 0; i < values.size(); ++i) {
    Operation *op = values[i].getDefiningOp();
    if (!op || !isInside(values[i]) || ready.contains(values[i]))
      continue;
    if (!isVector(values[i]))
      return false;
    values.insert_range(op->getOperands());
  }
  return true;
}

/// A value that is no vector.
Value PairRegion::number(Value value, Pair pair) {
  return isInside(value) ? knownNumber(value, pair) : value;
}

Value PairRegion::indexOf(const Place &place) {
  return place.d ? loops.add(place.d, place.offset) : loops.index(place.offset);
}

/// Of what is vector, an element; of what is a number, the number.
Value PairRegion::element(Value vector, Pair pair, const Place &place) {
  if (!isVector(vector))
    return number(vector, pair);
  if (Value there = knownElement(vector, pair, place))
    return there;
  Value made;
  if (!isInside(vector))
    made = outsideElement(vector, place);
  else if (auto argument = dyn_cast<BlockArgument>(vector))
    made = argument.getArgNumber() == 0 ? query(pair.query, indexOf(place))
                                        : key(pair.key, indexOf(place));
  else
    made = makeElement(cast<OpResult>(vector), pair, place);
  return knownElement(vector, pair, place) = made;
}

/// An element of a constant, or null.
static Value elementOfConstant(VectorLoops &loops, Value vector, int64_t at) {
  DenseElementsAttr constant;
  if (!matchPattern(vector, m_Constant(&constant)))
    return Value();
  return arith::ConstantOp::create(
      loops.builder, loops.loc,
      cast<TypedAttr>(constant.getValues<Attribute>()[at]));
}

Value PairRegion::outsideElement(Value vector, const Place &place) {
  if (Value constant = elementOfConstant(loops, vector, place.least()))
    return constant;
  auto type = cast<VectorType>(vector.getType());
  Value list = loops.builder.createOrFold<vector::ShapeCastOp>(
      loops.loc, VectorType::get(sizeOf(vector), type.getElementType()),
      vector);
  return vector::ExtractOp::create(loops.builder, loops.loc, list,
                                   indexOf(place));
}

Value PairRegion::makeElement(OpResult result, Pair pair, const Place &place) {
  Operation *op = result.getOwner();
  if (Value constant = elementOfConstant(loops, result, place.least()))
    return constant;
  if (movesElements(op)) {
    auto [source, at] = sourceOf(op, place.least());
    return element(source, pair,
                   {place.d, place.offset + at - place.least(), place.first});
  }
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(element(operand, pair, place));
  Value last = isa<LookupOp>(op) ? indexOf(place) : Value();
  SmallVector<Value> made =
      evaluateInLanes(loops, op, operands, loops.isa.lanes, last);
  for (auto [each, value] : llvm::zip(op->getResults(), made))
    knownElement(each, pair, place) = value;
  return made[result.getResultNumber()];
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// What changes nothing that it is combined with.
static TypedAttr neutralOf(vector::CombiningKind kind, Type type) {
  Builder builder(type.getContext());
  constexpr float infinity = std::numeric_limits<float>::infinity();
  auto real = [&](double value) { return builder.getFloatAttr(type, value); };
  auto integer = [&](function_ref<APInt(unsigned)> value) {
    unsigned bits = type.isIndex() ? IndexType::kInternalStorageBitWidth
                                   : type.getIntOrFloatBitWidth();
    return builder.getIntegerAttr(type, value(bits));
  };
  bool isReal = isa<FloatType>(type);
  switch (kind) {
  case vector::CombiningKind::ADD:
    return isReal ? TypedAttr(real(0)) : integer(APInt::getZero);
  case vector::CombiningKind::MUL:
    return isReal ? TypedAttr(real(1))
                  : integer([](unsigned bits) { return APInt(bits, 1); });
  case vector::CombiningKind::MINUI:
  case vector::CombiningKind::AND:
    return integer(APInt::getAllOnes);
  case vector::CombiningKind::MINSI:
    return integer(APInt::getSignedMaxValue);
  case vector::CombiningKind::MAXSI:
    return integer(APInt::getSignedMinValue);
  case vector::CombiningKind::MAXUI:
  case vector::CombiningKind::OR:
  case vector::CombiningKind::XOR:
    return integer(APInt::getZero);
  case vector::CombiningKind::MINNUMF:
  case vector::CombiningKind::MAXNUMF:
    return real(std::numeric_limits<double>::quiet_NaN());
  case vector::CombiningKind::MINIMUMF:
    return real(infinity);
  case vector::CombiningKind::MAXIMUMF:
    return real(-infinity);
  }
  llvm_unreachable("all kinds are listed");
}

/// What a sum starts from, a vector where its elements are in lanes.
Value PairRegion::start(vector::ReductionOp op, Pair pair) {
  Value first =
      op.getAcc()
          ? number(op.getAcc(), pair)
          : arith::ConstantOp::create(loops.builder, loops.loc,
                                      neutralOf(op.getKind(), op.getType()));
  bool isInLanes = sidesOf(op.getDest()) & lanes;
  return isInLanes && !isVector(first) ? loops.broadcast(first, loops.isa.lanes)
                                       : first;
}

/// The sum with the element of one place.
Value PairRegion::add(vector::ReductionOp op, Pair pair, const Place &place,
                      Value sum) {
  auto inLanes = [&](Value value) {
    return isVector(sum) && !isVector(value)
               ? loops.broadcast(value, loops.isa.lanes)
               : value;
  };
  auto product = op.getVector().getDefiningOp<arith::MulFOp>();
  if (product && op.getKind() == vector::CombiningKind::ADD &&
      op.getType().isF32())
    return loops.fma(inLanes(element(product.getLhs(), pair, place)),
                     inLanes(element(product.getRhs(), pair, place)), sum);
  return vector::makeArithReduction(
      loops.builder, loops.loc, op.getKind(),
      inLanes(element(op.getVector(), pair, place)), sum);
}

/// Where elements that are made alike end.
int64_t PairRegion::endOfPiece(ArrayRef<vector::ReductionOp> group,
                               int64_t begin) {
  int64_t end = begin + 1;
  auto goesOn = [&](vector::ReductionOp op) {
    return follows(op.getVector(), end - 1);
  };
  while (end < sizeOf(vector::ReductionOp(group.front()).getVector()) &&
         llvm::all_of(group, goesOn))
    ++end;
  return end;
}

/// Sums over vectors of one size, in one loop for each piece of them.
void PairRegion::reduce(ArrayRef<vector::ReductionOp> group) {
  SmallVector<std::pair<vector::ReductionOp, Pair>> places;
  SmallVector<Value> sums;
  for (vector::ReductionOp op : group)
    forEachPair(op.getDest(), [&](Pair pair) {
      places.push_back({op, pair});
      sums.push_back(start(op, pair));
    });
  auto addAll = [&](const Place &place, ValueRange before) {
    SmallVector<Value> after;
    for (auto [at, sum] : llvm::zip(places, before))
      after.push_back(add(at.first, at.second, place, sum));
    return after;
  };
  // Little is done between the ends of a short loop.
  bool isShort = !isCostly() || sums.size() == 1;
  int64_t together = isShort ? 4 : 1, fewest = isShort ? 17 : 4;
  int64_t size = sizeOf(vector::ReductionOp(group.front()).getVector());
  for (int64_t begin = 0, end; begin < size; begin = end) {
    end = endOfPiece(group, begin);
    if (end - begin >= fewest) {
      int64_t stop = begin + (end - begin) / together * together;
      auto outside = std::exchange(known.elements, {});
      sums = loops.carry(loops.index(begin), loops.index(stop), together, sums,
                         [&](Value d, ValueRange carried) {
                           SmallVector<Value> next(carried);
                           for (int64_t u = 0; u < together; ++u)
                             next = addAll({d, u, begin}, next);
                           return next;
                         });
      known.elements = std::move(outside);
      begin = stop;
    }
    for (; begin < end; ++begin)
      sums = addAll({Value(), begin, 0}, sums);
  }
  for (auto [at, sum] : llvm::zip(places, sums))
    knownNumber(at.first.getDest(), at.second) = sum;
  for (vector::ReductionOp op : group)
    ready.insert(op.getDest());
}

//===----------------------------------------------------------------------===//
// The region
//===----------------------------------------------------------------------===//

/// An op that yields numbers, but reductions.
void PairRegion::evaluate(Operation *op) {
  Value first = op->getResult(0);
  forEachPair(first, [&](Pair pair) {
    SmallVector<Value> made;
    if (auto list = dyn_cast<vector::ToElementsOp>(op)) {
      for (int64_t at = 0; at < sizeOf(list.getSource()); ++at)
        made.push_back(element(list.getSource(), pair, {Value(), at, 0}));
    } else if (movesElements(op)) {
      auto [source, at] = sourceOf(op, 0);
      made.push_back(element(source, pair, {Value(), at, 0}));
    } else {
      SmallVector<Value> operands;
      for (Value operand : op->getOperands())
        operands.push_back(number(operand, pair));
      made = evaluateInLanes(loops, op, operands, loops.isa.lanes);
    }
    for (auto [result, value] : llvm::zip(op->getResults(), made))
      knownNumber(result, pair) = value;
  });
  ready.insert_range(op->getResults());
}

/// All numbers that depend on nothing but these sides. Sums that are made at
/// once, some of them no vectors, leave registers for what is added.
void PairRegion::evaluate(unsigned allowed) {
  int64_t most = loops.isa.vectorRegisters * 3 / 4;
  auto isDue = [&](Operation &op) {
    return op.getNumResults() > 0 && !isVector(op.getResult(0)) &&
           (sidesOf(op.getResult(0)) & ~allowed) == 0 &&
           !ready.contains(op.getResult(0));
  };
  for (Operation &op : region.front()) {
    if (!isDue(op))
      continue;
    auto reduction = dyn_cast<vector::ReductionOp>(op);
    if (!reduction) {
      evaluate(&op);
      continue;
    }
    SmallVector<vector::ReductionOp> group = {reduction};
    int64_t sums = countPairs(reduction.getDest());
    for (Operation *later = op.getNextNode(); later;
         later = later->getNextNode()) {
      auto other = dyn_cast<vector::ReductionOp>(later);
      if (!other)
        continue;
      int64_t more = countPairs(other.getDest());
      if (sums + more <= most && isDue(*later) &&
          sizeOf(other.getVector()) == sizeOf(reduction.getVector()) &&
          llvm::all_of(later->getOperands(),
                       [&](Value operand) { return isReady(operand); })) {
        group.push_back(other);
        sums += more;
      }
    }
    reduce(group);
  }
}

/// Whether an element of a pair takes functions that are many instructions.
bool PairRegion::isCostly() const {
  return llvm::any_of(region.front(), [&](Operation &op) {
    return op.getNumResults() > 0 &&
           sidesOf(op.getResult(0)) == (Query | Key) &&
           isa<VectorType>(op.getResult(0).getType()) &&
           isa<math::MathDialect>(op.getDialect()) &&
           !isa<math::AbsFOp, math::FmaOp, math::SqrtOp>(op);
  });
}

int64_t PairRegion::keysTogether(int64_t most) {
  int64_t sums = 0, mostPieces = 0;
  for (auto op : region.front().getOps<vector::ReductionOp>()) {
    sums += sidesOf(op.getDest()) == (Query | Key);
    int64_t size = sizeOf(op.getVector()), pieces = 1;
    for (int64_t at = 0; at + 1 < size; ++at)
      pieces += !follows(op.getVector(), at);
    mostPieces = std::max(mostPieces, pieces);
  }
  // Sums take half of the registers. Functions want some for themselves, and
  // what is evaluated piece by piece is long.
  constexpr int64_t kCostly = 4, kManyPieces = 8;
  int64_t pairs = loops.isa.vectorRegisters / 2 / std::max<int64_t>(sums, 1);
  if (isCostly())
    pairs = std::min(pairs, kCostly);
  if (mostPieces > kManyPieces)
    pairs = 1;
  while (most > 1 && most * queries > pairs)
    most /= 2;
  return most;
}

SmallVector<Value> PairRegion::scores(int64_t count, const Element &element) {
  Known outside = known;
  llvm::DenseSet<Value> readyOutside = ready;
  keys = count;
  key = element;
  evaluate(Query | Key);
  SmallVector<Value> scores;
  Value yielded = region.front().getTerminator()->getOperand(0);
  for (int64_t k = 0; k < keys; ++k)
    for (int64_t q = 0; q < queries; ++q) {
      Value score = number(yielded, {k, q});
      scores.push_back(
          isVector(score) ? score : loops.broadcast(score, loops.isa.lanes));
    }
  known = std::move(outside);
  ready = std::move(readyOutside);
  return scores;
}
