//===- AttentionRegions.cpp - Regions of attention ------------------------===//
//
// Which ops and types may stand in the regions similarity, score and
// normalizer, what a similarity costs, and lookup, which reads tables there.
//
//===----------------------------------------------------------------------===//

#include "dialect/attention/Attention.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace heddle;

/// Whether values of `type` may stand in a region: numbers that every level
/// computes with, and vectors of them if queries and keys are vectors.
static bool isRegionType(Type type, bool hasVectors) {
  if (auto vector = dyn_cast<VectorType>(type); vector && hasVectors)
    return !vector.isScalable() && isRegionType(vector.getElementType(), false);
  if (type.isF16() || type.isBF16() || type.isF32() || type.isF64() ||
      type.isIndex())
    return true;
  return llvm::any_of(ArrayRef<unsigned>{1, 8, 16, 32, 64}, [&](unsigned bits) {
    return type.isSignlessInteger(bits);
  });
}

/// Ops of vector that move elements or add them up, at places known here.
static bool isVectorMove(Operation *op) {
  auto isInside = [](auto access) {
    return !access.hasDynamicPosition() &&
           llvm::all_of(access.getStaticPosition(),
                        [](int64_t at) { return at >= 0; });
  };
  return TypeSwitch<Operation *, bool>(op)
      .Case<vector::ExtractOp, vector::InsertOp>(isInside)
      .Case([](vector::ShuffleOp shuffle) {
        return llvm::all_of(shuffle.getMask(),
                            [](int64_t at) { return at >= 0; });
      })
      .Case<vector::BroadcastOp, vector::ExtractStridedSliceOp, vector::FMAOp,
            vector::FromElementsOp, vector::InsertStridedSliceOp,
            vector::ReductionOp, vector::ShapeCastOp, vector::ToElementsOp,
            vector::TransposeOp>([](Operation *) { return true; })
      .Default([](Operation *) { return false; });
}

/// Whether all levels can evaluate `op` in a region, lane by lane.
static bool isRegionOp(Operation *op, bool hasVectors) {
  if (isa<YieldOp, LookupOp, arith::ConstantOp>(op) ||
      (hasVectors && isVectorMove(op)))
    return true;
  return isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
         OpTrait::hasElementwiseMappableTraits(op) &&
         !isa<arith::ScalingExtFOp, arith::ScalingTruncFOp>(op);
}

static LogicalResult verifyRegionOp(Operation *op, StringRef region) {
  bool hasVectors = region == "similarity";
  // attention_c9
  if (!isRegionOp(op, hasVectors))
    return op->emitOpError("cannot be evaluated lane by lane in a ")
           << region << " region (expected elementwise ops of arith and math"
           << (hasVectors ? ", ops of vector at constant places" : "")
           << " and transformer.lookup)";
  if (auto truncate = dyn_cast<arith::TruncFOp>(op))
    if (truncate.getRoundingmode().value_or(
            arith::RoundingMode::to_nearest_even) !=
        arith::RoundingMode::to_nearest_even)
      return op->emitOpError("cannot round ")
             << stringifyRoundingMode(*truncate.getRoundingmode()) << " in a "
             << region << " region (expected to_nearest_even)";
  // attention_c10
  SmallVector<Type> types(op->getResultTypes());
  if (!isa<LookupOp>(op))
    llvm::append_range(types, op->getOperandTypes());
  for (Type type : types)
    if (!isRegionType(type, hasVectors))
      return op->emitOpError("has a value of type ")
             << type << " in a " << region << " region (expected f16, bf16, "
             << "f32, f64, index, i1, i8, i16, i32"
             << (hasVectors ? ", i64 or vectors of them)" : " or i64)");
  return success();
}

LogicalResult heddle::verifyRegion(Operation *op, StringRef name,
                                   Region &region, ArrayRef<Type> expected,
                                   Type yielded) {
  if (region.empty())
    return success();
  // attention_c5
  if (!llvm::equal(region.getArgumentTypes(), expected)) {
    InFlightDiagnostic error = op->emitOpError("expects ")
                               << name << " region arguments (";
    llvm::interleaveComma(expected, error);
    error << "), found (";
    llvm::interleaveComma(region.getArgumentTypes(), error);
    return error << ")";
  }
  if (!yielded)
    yielded = Float32Type::get(op->getContext());
  auto yield = dyn_cast<YieldOp>(region.front().back());
  if (!yield || yield.getValue().getType() != yielded)
    return op->emitOpError("expects its ")
           << name << " region to end in 'transformer.yield' of " << yielded;
  for (Operation &inner : region.front())
    if (failed(verifyRegionOp(&inner, name)))
      return failure();
  return success();
}

LogicalResult heddle::verifyScoreRegions(Operation *op, Region &score,
                                         Region &normalizer) {
  Builder builder(op->getContext());
  Type f32 = builder.getF32Type(), i32 = builder.getI32Type();
  return failure(
      failed(verifyRegion(op, "score", score, {f32, i32, i32, i32, i32})) ||
      failed(verifyRegion(op, "normalizer", normalizer, {f32})));
}

LogicalResult AttentionOp::verifyRegions() {
  Type f32 = Float32Type::get(getContext());
  return failure(
      failed(verifyRegion(*this, "similarity", getSimilarity(),
                          {VectorType::get(getQueryWidth(), f32),
                           VectorType::get(getKeyWidth(), f32)})) ||
      failed(verifyScoreRegions(*this, getScore(), getNormalizerRegion())));
}

int64_t heddle::similarityOperations(AttentionOp op, int64_t function) {
  int64_t products =
      1 + bool(op.getRelativeKeys()) + bool(op.getRelativeQueries());
  if (op.getSimilarity().empty())
    return 2 * products * op.getKeyWidth();
  auto elements = [](Value value) -> int64_t {
    auto vector = dyn_cast<VectorType>(value.getType());
    return vector ? vector.getNumElements() : 1;
  };
  int64_t operations = 0;
  for (Operation &each : op.getSimilarity().front())
    if (isa<vector::ReductionOp>(each))
      operations += elements(each.getOperand(0));
    else if (isa<math::MathDialect>(each.getDialect()))
      operations += function * elements(each.getResult(0));
    else if (!isVectorMove(&each) &&
             isa<arith::ArithDialect>(each.getDialect()) &&
             each.getNumOperands() > 0)
      operations += elements(each.getResult(0));
  return operations;
}

LogicalResult LookupOp::verify() {
  auto table = cast<ShapedType>(getTable().getType());
  auto vector = dyn_cast<VectorType>(getResult().getType());
  // lookup_c1
  int64_t expected = table.getRank() - (vector ? 1 : 0);
  if (static_cast<int64_t>(getIndices().size()) != expected)
    return emitOpError("expects ") << expected << " indices into " << table
                                   << ", found " << getIndices().size();
  if (vector &&
      (vector.isScalable() || vector.getDimSize(0) != table.getShape().back()))
    return emitOpError("expects a vector as long as the last dimension of ")
           << table << ", found " << vector;
  // lookup_c2
  if (llvm::is_contained(table.getShape(), 0))
    return emitOpError("expects a table with elements, found ") << table;
  return success();
}

void LookupOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  if (isa<MemRefType>(getTable().getType()))
    effects.emplace_back(MemoryEffects::Read::get(), &getTableMutable());
}
