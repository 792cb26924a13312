//===- RowKernel.cpp - Rows among threads, vectors along a row ------------===//
//
// A task has at least 2^16 units of work, if there are as many: the rows of a
// task follow from the work of a row, and a row is never split. Inside a task
// there is only a loop, since tasks do not nest.
//
// A sum along a row is kept in four vectors that take turns, as an addition
// takes four cycles. They are added in a fixed order at the end. A row that
// fits in half of the registers is unrolled, and a longer one is a loop; both
// add the same elements to the same vector, so that the bits are the same.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Vectors/RowKernel.h"
#include "lib/CodeGen/Machine/TaskCosts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace heddle;

/// Sums that take turns: as many as an addition takes cycles.
static constexpr int64_t kSums = 4;

/// All dimensions of a memref but the last, as one.
static SmallVector<ReassociationIndices> leadingAndLast(MemRefType type) {
  int64_t last = type.getRank() - 1;
  return {llvm::to_vector(llvm::seq<int64_t>(0, last)), {last}};
}

bool heddle::isRows(Value memref) {
  auto type = dyn_cast<MemRefType>(memref.getType());
  if (!type || type.getRank() == 0 || !type.isLastDimUnitStride() ||
      !(isa<Float32Type, BFloat16Type, Float16Type>(type.getElementType()) ||
        type.getElementType().isInteger(8)))
    return false;
  return type.getRank() <= 2 ||
         memref::CollapseShapeOp::isGuaranteedCollapsible(type,
                                                          leadingAndLast(type));
}

Value RowKernel::rowsOf(Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  if (type.getRank() == 2)
    return memref;
  OpBuilder &builder = loops.builder;
  if (type.getRank() > 2)
    return memref::CollapseShapeOp::create(builder, loops.loc, memref,
                                           leadingAndLast(type));
  return memref::ExpandShapeOp::create(
      builder, loops.loc, SmallVector<int64_t>{1, type.getDimSize(0)}, memref,
      SmallVector<ReassociationIndices>{{0, 1}},
      SmallVector<OpFoldResult>{builder.getIndexAttr(1), widthOf(memref)});
}

Value RowKernel::flatten(Value ids) {
  int64_t rank = cast<MemRefType>(ids.getType()).getRank();
  if (rank == 1)
    return ids;
  return memref::CollapseShapeOp::create(
      loops.builder, loops.loc, ids,
      SmallVector<ReassociationIndices>{
          llvm::to_vector(llvm::seq<int64_t>(0, rank))});
}

/// Whether code goes to the body of a parallel loop, which has none inside.
static bool isInTask(OpBuilder &builder) {
  Operation *parent = builder.getInsertionBlock()->getParentOp();
  return isa<scf::ForallOp>(parent) || parent->getParentOfType<scf::ForallOp>();
}

void RowKernel::forEachRow(Value count, int64_t rowWork,
                           function_ref<void(Value)> body) {
  OpBuilder &builder = loops.builder;
  Location loc = loops.loc;
  if (isInTask(builder))
    return loops.loop(count, body);
  Value share = loops.index(
      std::max<int64_t>(1, (kTaskElements + rowWork - 1) / rowWork));
  Value tasks = loops.uceilDiv(count, share);
  auto parallel =
      scf::ForallOp::create(builder, loc, SmallVector<OpFoldResult>{tasks},
                            /*outputs=*/ValueRange(), /*mapping=*/std::nullopt);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(parallel.getTerminator());
  Value begin = loops.mul(parallel.getInductionVar(0), share);
  Value end = loops.umin(loops.add(begin, share), count);
  loops.loop(begin, end, body);
}

OpFoldResult RowKernel::widthOf(Value memref) {
  return memref::getMixedSize(loops.builder, loops.loc, memref,
                              cast<MemRefType>(memref.getType()).getRank() - 1);
}

static Value maskOf(OpBuilder &builder, Location loc, OpFoldResult count,
                    int64_t lanes) {
  VectorType type = VectorType::get(lanes, builder.getI1Type());
  if (std::optional<int64_t> constant = getConstantIntValue(count))
    return vector::ConstantMaskOp::create(builder, loc, type, *constant);
  return vector::CreateMaskOp::create(builder, loc, type, count);
}

void RowKernel::forEachSlice(OpFoldResult width,
                             function_ref<void(const Slice &)> body,
                             int64_t lanes) {
  OpBuilder &builder = loops.builder;
  Location loc = loops.loc;
  if (lanes == 0)
    lanes = isa.lanes;
  auto wholeSlices = [&](Value end) {
    scf::ForOp::create(builder, loc, loops.index(0), end, loops.index(lanes),
                       ValueRange(),
                       [&](OpBuilder &, Location, Value column, ValueRange) {
                         body({column, lanes, Value()});
                         scf::YieldOp::create(builder, loc);
                       });
  };
  if (std::optional<int64_t> constant = getConstantIntValue(width)) {
    int64_t left = *constant % lanes, whole = *constant - left;
    if (whole > 0)
      wholeSlices(loops.index(whole));
    if (left > 0)
      body({loops.index(whole), lanes,
            maskOf(builder, loc, builder.getIndexAttr(left), lanes)});
    return;
  }
  Value count = cast<Value>(width);
  Value left = loops.urem(count, lanes);
  Value whole = loops.sub(count, left);
  wholeSlices(whole);
  body({whole, lanes, maskOf(builder, loc, left, lanes)});
}

bool RowKernel::fitsRegisters(int64_t width) const {
  return 2 * width <= isa.lanes * isa.vectorRegisters;
}

SmallVector<Slice> RowKernel::slicesOf(int64_t width) {
  SmallVector<Slice> slices;
  for (int64_t column = 0; column < width; column += isa.lanes) {
    int64_t count = std::min(isa.lanes, width - column);
    Value mask = count == isa.lanes
                     ? Value()
                     : maskOf(loops.builder, loops.loc,
                              loops.builder.getIndexAttr(count), isa.lanes);
    slices.push_back({loops.index(column), isa.lanes, mask,
                      static_cast<int64_t>(slices.size())});
  }
  return slices;
}

Value RowKernel::sumOfRow(int64_t width,
                          function_ref<Value(Value, const Slice &)> step) {
  OpBuilder &builder = loops.builder;
  Location loc = loops.loc;
  Value zero = loops.f32(0, isa.lanes);
  SmallVector<Value> sums(kSums, zero);
  SmallVector<Slice> slices = slicesOf(width);
  int64_t block = kSums * isa.lanes;
  if (!fitsRegisters(width)) {
    sums = scf::ForOp::create(
               builder, loc, loops.index(0), loops.index(width / block * block),
               loops.index(block), sums,
               [&](OpBuilder &, Location, Value first, ValueRange carried) {
                 SmallVector<Value> next;
                 for (auto [turn, sum] : llvm::enumerate(carried)) {
                   Value column = loops.add(first, turn * isa.lanes);
                   next.push_back(step(sum, {column, isa.lanes, Value()}));
                 }
                 scf::YieldOp::create(builder, loc, next);
               })
               .getResults();
    slices.erase(slices.begin(), slices.begin() + width / block * kSums);
  }
  for (const Slice &slice : slices) {
    Value &sum = sums[slice.number % kSums];
    sum = step(sum, slice);
  }
  Value sum =
      loops.add(loops.add(sums[0], sums[1]), loops.add(sums[2], sums[3]));
  for (int64_t lanes = isa.lanes / 2; lanes > 0; lanes /= 2) {
    auto half = [&](int64_t first) {
      return vector::ExtractStridedSliceOp::create(builder, loc, sum, first,
                                                   lanes, 1);
    };
    sum = loops.add(half(0), half(lanes));
  }
  return vector::ExtractOp::create(builder, loc, sum, 0);
}

Value RowKernel::load(Value memref, ValueRange leading, const Slice &slice) {
  OpBuilder &builder = loops.builder;
  SmallVector<Value> at = append(leading, slice.column);
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  auto type = VectorType::get(slice.lanes, element);
  if (!slice.mask)
    return vector::LoadOp::create(builder, loops.loc, type, memref, at);
  Value zero =
      arith::ConstantOp::create(builder, loops.loc, builder.getZeroAttr(type));
  return vector::MaskedLoadOp::create(builder, loops.loc, type, memref, at,
                                      slice.mask, zero);
}

void RowKernel::store(Value value, Value memref, ValueRange leading,
                      const Slice &slice) {
  SmallVector<Value> at = append(leading, slice.column);
  if (slice.mask)
    vector::MaskedStoreOp::create(loops.builder, loops.loc, memref, at,
                                  slice.mask, value);
  else
    vector::StoreOp::create(loops.builder, loops.loc, value, memref, at);
}

Value RowKernel::broadcast(Value scalar, const Slice &slice) {
  return vector::BroadcastOp::create(
      loops.builder, loops.loc, VectorType::get(slice.lanes, scalar.getType()),
      scalar);
}
