#include "lib/Kernels/Gpu/RowPieces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace heddle;

static constexpr int64_t kPieceBytes = 16;

bool RowPieces::exist(Value memref, int64_t width) {
  auto type = cast<MemRefType>(memref.getType());
  Type element = type.getElementType();
  return (element.isF32() || element.isBF16()) &&
         type.getLayout().isIdentity() &&
         width * element.getIntOrFloatBitWidth() / 8 % kPieceBytes == 0;
}

RowPieces::RowPieces(Value memref, int64_t width, Value head, BlockCode &code)
    : code(code), element(cast<MemRefType>(memref.getType()).getElementType()),
      width(width), bytes(element.getIntOrFloatBitWidth() / 8) {
  int64_t ofRow = width / elementsOfPiece();
  lanes = std::min<int64_t>(llvm::PowerOf2Ceil(ofRow), kWarpThreads);
  pieces = llvm::divideCeil(ofRow, lanes);
  pitch = cast<MemRefType>(memref.getType()).getShape().back() * bytes;
  // Lanes without a piece read the last one again.
  Value piece = code.least(laneOfRow(), code.i32(ofRow - 1));
  first = code.at(code.global(memref),
                  code.plus(code.times(code.toI32(head), width * bytes),
                            code.times(piece, kPieceBytes)));
}

Value RowPieces::laneOfRow() const {
  return code.remainder(code.lane(), lanes);
}

Value RowPieces::columnOf(int64_t number) const {
  int64_t piece = number / elementsOfPiece() * lanes;
  return code.plus(code.times(code.plus(laneOfRow(), piece), elementsOfPiece()),
                   number % elementsOfPiece());
}

Value RowPieces::hasColumn(int64_t number) const {
  int64_t piece = number / elementsOfPiece();
  if ((piece + 1) * lanes * elementsOfPiece() <= width)
    return nullptr;
  return code.isLess(columnOf(number), code.i32(width));
}

Value RowPieces::rowOf(int64_t read) const {
  return code.plus(code.dividedBy(code.lane(), lanes), read * rowsAtOnce());
}

Value RowPieces::ownRow() const {
  return code.plus(code.times(laneOfRow(), rowsAtOnce()),
                   code.dividedBy(code.lane(), lanes));
}

Value RowPieces::ownerOf(Value row) const {
  return code.plus(code.times(code.remainder(row, rowsAtOnce()), lanes),
                   code.dividedBy(row, rowsAtOnce()));
}

SmallVector<Value> RowPieces::read(Value row, Value isRead) const {
  Value from = code.at(first, code.rowOffset(row, code.i32(pitch)));
  SmallVector<Value> all;
  for (int64_t piece = 0; piece < pieces; ++piece) {
    Value has = hasColumn(piece * elementsOfPiece());
    Value isMine = has && isRead ? code.both(isRead, has) : has ? has : isRead;
    Value at = code.at(from, piece * lanes * kPieceBytes);
    if (has && piece > 0)
      at = code.choose(has, at, from);
    for (Value word : code.loadFour(code.builder.getI32Type(), at)) {
      if (isMine)
        word = code.choose(isMine, word, code.i32(0));
      if (element.isF32())
        all.push_back(code.numberOf(word));
      else
        llvm::append_range(all, code.widenTwo(word));
    }
  }
  return all;
}

/// Half of the lanes keep one half of the values, the others the other half,
/// until each has one.
Value RowPieces::sumOfRow(ArrayRef<Value> values) const {
  SmallVector<Value> left = llvm::to_vector(values);
  for (int64_t bits = lanes / 2; bits > 0; bits /= 2) {
    Value isUpper =
        code.isDifferent(code.both(code.lane(), code.i32(bits)), code.i32(0));
    for (int64_t i = 0; i < bits; ++i) {
      Value kept = code.choose(isUpper, left[i + bits], left[i]);
      Value given = code.choose(isUpper, left[i], left[i + bits]);
      left[i] = code.add(kept, code.exchange(given, bits));
    }
    left.resize(bits);
  }
  return left[0];
}

Value RowPieces::sumOfColumn(Value value) const {
  for (int64_t bits = lanes; bits < kWarpThreads; bits *= 2)
    value = code.add(value, code.exchange(value, bits));
  return value;
}

Value RowPieces::isFirstOfColumns() const {
  return code.isLess(code.lane(), code.i32(lanes));
}
