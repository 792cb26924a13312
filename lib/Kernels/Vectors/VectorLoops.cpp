//===- VectorLoops.cpp - Vectors, partial vectors, and shuffles -----------===//
//
// Partial vectors of f32 are loaded and stored with a constant mask, those of
// short floats in pieces of powers of two. No element behind the count is
// touched.
//
// A sum of lanes adds halves, quarters and so on, and every lane has the
// result. A transpose of n rows takes log2 n rounds of shuffles.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Vectors/VectorLoops.h"
#include "dialect/Transformer.h"
#include "lib/CodeGen/Loops/RoundFloats.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <numeric>

using namespace mlir;
using namespace heddle;

Value VectorLoops::clamp(Value value, Value low, Value high) {
  return max(low, min(value, high));
}
Value VectorLoops::floorTo(Value value, int64_t step) {
  return step == 1 ? value : mul(udiv(value, step), step);
}

VectorType VectorLoops::vectorType(int64_t width) {
  return VectorType::get(width, builder.getF32Type());
}
/// A vector of what a memref holds.
static VectorType vectorOf(Value memref, int64_t width) {
  return VectorType::get(width,
                         cast<MemRefType>(memref.getType()).getElementType());
}
Value VectorLoops::loadVector(Value memref, ValueRange at, int64_t width) {
  return vector::LoadOp::create(builder, loc, vectorOf(memref, width), memref,
                                at);
}
void VectorLoops::storeVector(Value value, Value memref, ValueRange at) {
  vector::StoreOp::create(builder, loc, value, memref, at);
}

/// Lanes [0, count) of `width`.
static Value firstLanes(VectorLoops &loops, int64_t count, int64_t width) {
  SmallVector<bool> lanes(width, false);
  std::fill_n(lanes.begin(), count, true);
  auto type = VectorType::get(width, loops.builder.getI1Type());
  return arith::ConstantOp::create(loops.builder, loops.loc,
                                   DenseElementsAttr::get(type, lanes));
}
/// Not all levels have masks for these, and LLVM takes masked loads and
/// shuffles of short floats apart where it has no type for them: words of two
/// are moved instead.
static bool isOfShortFloats(Type vector) {
  return isShortFloat(cast<VectorType>(vector).getElementType());
}

/// Calls `body` with the first lane and the size of each piece, powers of two,
/// of `count` lanes.
static void forEachPiece(int64_t count,
                         function_ref<void(int64_t, int64_t)> body) {
  for (int64_t first = 0, size; first < count; first += size) {
    size = int64_t(llvm::bit_floor(uint64_t(count - first)));
    body(first, size);
  }
}

static SmallVector<Value> moved(VectorLoops &loops, ValueRange at,
                                int64_t lanes) {
  SmallVector<Value> place(at);
  place.back() = loops.add(place.back(), lanes);
  return place;
}

static Value loadPieces(VectorLoops &loops, Value memref, ValueRange at,
                        int64_t count, VectorType type) {
  OpBuilder &builder = loops.builder;
  Location loc = loops.loc;
  Type word = builder.getI32Type();
  Value words = arith::ConstantOp::create(
      builder, loc,
      builder.getZeroAttr(VectorType::get(type.getNumElements() / 2, word)));
  forEachPiece(count, [&](int64_t first, int64_t size) {
    SmallVector<Value> place = moved(loops, at, first);
    if (size > 1) {
      Value piece = loops.bitcast(loops.loadVector(memref, place, size), word);
      words = vector::InsertStridedSliceOp::create(builder, loc, piece, words,
                                                   ArrayRef<int64_t>(first / 2),
                                                   ArrayRef<int64_t>(1));
      return;
    }
    Value half = arith::BitcastOp::create(builder, loc, builder.getI16Type(),
                                          loops.load(memref, place));
    words = vector::InsertOp::create(
        builder, loc, arith::ExtUIOp::create(builder, loc, word, half), words,
        first / 2);
  });
  return loops.bitcast(words, type.getElementType());
}

static void storePieces(VectorLoops &loops, Value value, Value memref,
                        ValueRange at, int64_t count) {
  OpBuilder &builder = loops.builder;
  Location loc = loops.loc;
  Type element = cast<VectorType>(value.getType()).getElementType();
  Value words = loops.bitcast(value, builder.getI32Type());
  forEachPiece(count, [&](int64_t first, int64_t size) {
    SmallVector<Value> place = moved(loops, at, first);
    if (size > 1) {
      Value piece = vector::ExtractStridedSliceOp::create(
          builder, loc, words, first / 2, size / 2, 1);
      return loops.storeVector(loops.bitcast(piece, element), memref, place);
    }
    Value half = arith::TruncIOp::create(
        builder, loc, builder.getI16Type(),
        vector::ExtractOp::create(builder, loc, words, first / 2));
    loops.store(arith::BitcastOp::create(builder, loc, element, half), memref,
                place);
  });
}

Value VectorLoops::loadFirst(Value memref, ValueRange at, int64_t count,
                             int64_t width) {
  if (count == width)
    return loadVector(memref, at, width);
  VectorType type = vectorOf(memref, width);
  if (isOfShortFloats(type))
    return loadPieces(*this, memref, at, count, type);
  Value zeros =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  return vector::MaskedLoadOp::create(builder, loc, type, memref, at,
                                      firstLanes(*this, count, width), zeros);
}
void VectorLoops::storeFirst(Value value, Value memref, ValueRange at,
                             int64_t count) {
  int64_t width = cast<VectorType>(value.getType()).getNumElements();
  if (count == width)
    return storeVector(value, memref, at);
  if (isOfShortFloats(value.getType()))
    return storePieces(*this, value, memref, at, count);
  vector::MaskedStoreOp::create(builder, loc, memref, at,
                                firstLanes(*this, count, width), value);
}

Value VectorLoops::gather(Value memref, ValueRange origin, Value offsets) {
  int64_t width = cast<VectorType>(offsets.getType()).getNumElements();
  Value all = arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(VectorType::get(width, builder.getI1Type()),
                             true));
  return vector::GatherOp::create(builder, loc, vectorType(width), memref,
                                  origin, offsets, all, f32(0, width));
}

Value VectorLoops::selectMax(Value a, Value b) {
  return select(greater(a, b), a, b);
}
Value VectorLoops::any(ValueRange masks) {
  Value all = masks.front();
  for (Value mask : masks.drop_front())
    all = logicalOr(all, mask);
  return vector::ReductionOp::create(builder, loc, vector::CombiningKind::OR,
                                     all);
}
Value VectorLoops::shuffle(Value a, Value b, ArrayRef<int64_t> lanes) {
  return vector::ShuffleOp::create(builder, loc, a, b, lanes);
}

/// Combines the halves of all lanes, then of what is left: a tree.
static Value reduce(VectorLoops &loops, Value vector,
                    function_ref<Value(Value, Value)> combine) {
  int64_t lanes = cast<VectorType>(vector.getType()).getNumElements();
  for (int64_t half = lanes / 2; half > 0; half /= 2) {
    SmallVector<int64_t> other;
    for (int64_t lane = 0; lane < lanes; ++lane)
      other.push_back(lane ^ half);
    vector = combine(vector, loops.shuffle(vector, vector, other));
  }
  return vector;
}
Value VectorLoops::reduceAdd(Value vector) {
  return reduce(*this, vector, [&](Value a, Value b) { return add(a, b); });
}
Value VectorLoops::reduceMax(Value vector) {
  return reduce(*this, vector,
                [&](Value a, Value b) { return selectMax(a, b); });
}

Value VectorLoops::interleave(Value a, Value b) {
  auto type = cast<VectorType>(a.getType());
  VectorType words = type.clone(builder.getI32Type());
  auto widen = [&](Value vector) -> Value {
    return arith::ExtUIOp::create(builder, loc, words,
                                  bitcast(vector, builder.getI16Type()));
  };
  Value shift = arith::ConstantOp::create(builder, loc,
                                          DenseElementsAttr::get(words, 16));
  Value upper = arith::ShLIOp::create(builder, loc, widen(b), shift);
  return bitcast(bitOr(widen(a), upper), type.getElementType());
}
Value VectorLoops::interleaveGroups(Value a, Value b, bool isUpper) {
  auto type = cast<VectorType>(a.getType());
  int64_t count = type.getNumElements();
  SmallVector<int64_t> order;
  for (int64_t i = 0; i < count; ++i)
    order.push_back(i / 8 * 8 + isUpper * 4 + i % 8 / 2 + i % 2 * count);
  // As integers: levels without bf16 or f16 have no vectors of it either.
  Value mixed = shuffle(bitcast(a, builder.getI16Type()),
                        bitcast(b, builder.getI16Type()), order);
  return bitcast(mixed, type.getElementType());
}
Value VectorLoops::bitcast(Value vector, Type element) {
  auto type = cast<VectorType>(vector.getType());
  int64_t bits = type.getNumElements() * type.getElementTypeBitWidth();
  return vector::BitCastOp::create(
      builder, loc,
      VectorType::get(bits / element.getIntOrFloatBitWidth(), element), vector);
}

Value VectorLoops::widen(Value vector) {
  return heddle::widen(builder, loc, vector);
}

SmallVector<Value> VectorLoops::transpose(ValueRange rows) {
  SmallVector<Value> result(rows);
  int64_t width = rows.size();
  // Swaps blocks of `half` lanes between rows that are `half` apart.
  for (int64_t half = 1; half < width; half *= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < width; ++lane) {
      bool isUpper = lane & half;
      low.push_back(isUpper ? lane - half + width : lane);
      high.push_back(isUpper ? lane + width : lane + half);
    }
    for (int64_t row = 0; row < width; ++row) {
      if (row & half)
        continue;
      Value a = result[row], b = result[row | half];
      result[row] = shuffle(a, b, low);
      result[row | half] = shuffle(a, b, high);
    }
  }
  return result;
}

SmallVector<Value>
VectorLoops::carry(Value begin, Value end, int64_t step, ValueRange initial,
                   function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto loop = scf::ForOp::create(
      builder, loc, begin, end, index(step), initial,
      [&](OpBuilder &, Location, Value i, ValueRange carried) {
        scf::YieldOp::create(builder, loc, body(i, carried));
      });
  return SmallVector<Value>(loop.getResults());
}

void VectorLoops::each(Value begin, Value end, int64_t step,
                       function_ref<void(Value)> body) {
  carry(begin, end, step, {}, [&](Value i, ValueRange) {
    body(i);
    return SmallVector<Value>();
  });
}

SmallVector<Value>
VectorLoops::repeat(ValueRange initial,
                    function_ref<Value(ValueRange)> condition,
                    function_ref<SmallVector<Value>(ValueRange)> body) {
  auto loop = scf::WhileOp::create(
      builder, loc, initial.getTypes(), initial,
      [&](OpBuilder &, Location, ValueRange carried) {
        scf::ConditionOp::create(builder, loc, condition(carried), carried);
      },
      [&](OpBuilder &, Location, ValueRange carried) {
        scf::YieldOp::create(builder, loc, body(carried));
      });
  return SmallVector<Value>(loop.getResults());
}

SmallVector<Value>
VectorLoops::ifYield(Value condition, function_ref<SmallVector<Value>()> then,
                     function_ref<SmallVector<Value>()> otherwise) {
  auto branch = scf::IfOp::create(
      builder, loc, condition,
      [&](OpBuilder &, Location) {
        scf::YieldOp::create(builder, loc, then());
      },
      [&](OpBuilder &, Location) {
        scf::YieldOp::create(builder, loc, otherwise());
      });
  return SmallVector<Value>(branch.getResults());
}
