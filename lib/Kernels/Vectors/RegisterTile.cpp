//===- RegisterTile.cpp - Rows by vectors, in half of the registers -------===//
//
// Four rows share each vector that is loaded, and the vectors of a group are as
// many as leave half of the registers for other things than sums. The loop over
// the depth carries the sums: each step loads the vectors once and broadcasts
// one element per row. The last vector of a row is partial, and rows that are
// left over get a smaller tile.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Vectors/RegisterTile.h"
#include "lib/Kernels/Vectors/HeadRow.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace heddle;

/// The widest block of a width.
static constexpr int64_t kMostBlock = 64;

int64_t RegisterTile::padded(int64_t columns) const {
  return llvm::alignTo(columns, loops.isa.lanes);
}

int64_t RegisterTile::blockOf(int64_t width, int64_t lanes) {
  for (int64_t block = kMostBlock; block >= lanes; block -= lanes)
    if (width % block == 0)
      return block;
  return width;
}

void RegisterTile::forEachGroup(int64_t columns,
                                function_ref<void(const Parts &)> body) {
  // A quarter of the registers for a row of sums and its factors.
  int64_t most = loops.isa.vectorRegisters / (2 * kRows);
  Parts parts;
  forEachPart(loops.isa.lanes, columns, [&](int64_t column, int64_t size) {
    parts.push_back({column, size});
    if (static_cast<int64_t>(parts.size()) < most)
      return;
    body(parts);
    parts.clear();
  });
  if (!parts.empty())
    body(parts);
}

void RegisterTile::forEachRows(int64_t rows,
                               function_ref<void(Value, int64_t)> body) {
  int64_t left = rows % kRows, whole = rows - left;
  if (whole > 0)
    loops.each(loops.index(0), loops.index(whole), kRows,
               [&](Value row) { body(row, kRows); });
  if (left > 0)
    body(loops.index(whole), left);
}

RegisterTile::Sums RegisterTile::zeros(int64_t rows, const Parts &parts) {
  return Sums(rows * parts.size(), loops.f32(0, loops.isa.lanes));
}

RegisterTile::Sums
RegisterTile::multiply(Value begin, Value end, const Parts &parts, Sums sums,
                       function_ref<Value(Value, int64_t)> x,
                       function_ref<Value(Value, const Part &)> w) {
  int64_t rows = sums.size() / parts.size();
  return loops.carry(begin, end, 1, sums, [&](Value k, ValueRange carried) {
    Sums next(carried);
    SmallVector<Value> vectors = llvm::map_to_vector(
        parts, [&](const Part &part) { return w(k, part); });
    auto sum = next.begin();
    for (int64_t r = 0; r < rows; ++r) {
      Value factor = loops.broadcast(x(k, r), loops.isa.lanes);
      for (Value vector : vectors) {
        *sum = loops.fma(factor, vector, *sum);
        ++sum;
      }
    }
    return next;
  });
}

Value RegisterTile::load(Value memref, Value row, const Part &part) {
  return loops.loadFirst(memref, {row, loops.index(part.column)}, part.size,
                         loops.isa.lanes);
}
Value RegisterTile::loadWhole(Value memref, Value row, const Part &part) {
  return loops.loadVector(memref, {row, loops.index(part.column)},
                          loops.isa.lanes);
}
void RegisterTile::store(Value value, Value memref, Value row,
                         const Part &part) {
  loops.storeFirst(value, memref, {row, loops.index(part.column)}, part.size);
}

void RegisterTile::fetch(Value memref, Value row, Value column, int64_t count) {
  constexpr int64_t kLineBytes = 64;
  int64_t line = kLineBytes * 8 / elementOf(memref).getIntOrFloatBitWidth();
  for (int64_t at = 0; at < count; at += line)
    memref::PrefetchOp::create(loops.builder, loops.loc, memref,
                               ValueRange{row, loops.add(column, at)},
                               /*isWrite=*/false, /*localityHint=*/2,
                               /*isDataCache=*/true);
}

Value RegisterTile::scratch(ArrayRef<int64_t> shape) {
  return memref::AllocaOp::create(
      loops.builder, loops.loc,
      MemRefType::get(shape, loops.builder.getF32Type()), ValueRange(),
      loops.builder.getI64IntegerAttr(64));
}
