//===- HeadPieces.cpp - Rows of one head, read by a warp ------------------===//
//
// The n lanes of a row hold partial sums of n reads. They add them by halves:
// in each round a lane keeps half of its sums, gives the other half to the lane
// whose number differs in one bit, and adds what it gets. After log2(n) rounds
// each lane has the complete sum of the row that it owns. This takes n - 1
// shuffles, where a butterfly for each read would take n log2(n). The order of
// additions depends on n alone.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Gpu/Attention/HeadPieces.h"
#include "dialect/Transformer.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace heddle;

static constexpr int64_t kPieceBytes = 16;
/// Pieces of a lane that are read before their values are summed: 4 KB of a
/// warp.
static constexpr int64_t kPiecesAtOnce = 8;

bool HeadPieces::exist(Value memref, int64_t width) {
  auto type = cast<MemRefType>(memref.getType());
  Type element = type.getElementType();
  return (element.isF32() || isShortFloat(element)) &&
         type.getLayout().isIdentity() &&
         width * element.getIntOrFloatBitWidth() / 8 % kPieceBytes == 0;
}

int64_t HeadPieces::elementsOfLane(Value memref, int64_t width) {
  int64_t ofPiece = 8 * kPieceBytes /
                    cast<MemRefType>(memref.getType()).getElementTypeBitWidth();
  return llvm::divideCeil(width / ofPiece, kWarpThreads) * ofPiece;
}

HeadPieces::HeadPieces(Value memref, int64_t width, Value head, BlockCode &code)
    : code(code), element(cast<MemRefType>(memref.getType()).getElementType()),
      width(width), bytes(element.getIntOrFloatBitWidth() / 8) {
  int64_t ofRow = width / elementsOfPiece();
  lanes = std::min<int64_t>(llvm::PowerOf2Ceil(ofRow), kWarpThreads);
  pieces = llvm::divideCeil(ofRow, lanes);
  pitch = cast<MemRefType>(memref.getType()).getShape().back() * bytes;
  // Lanes without a piece read the last one again.
  Value piece = code.umin(laneOfRow(), code.i32(ofRow - 1));
  first = code.at(code.global(memref),
                  code.add(code.mul(code.toI32(head), width * bytes),
                           code.mul(piece, kPieceBytes)));
}

Value HeadPieces::laneOfRow() const { return code.urem(code.lane(), lanes); }

Value HeadPieces::columnOf(int64_t number) const {
  int64_t piece = number / elementsOfPiece() * lanes;
  return code.add(code.mul(code.add(laneOfRow(), piece), elementsOfPiece()),
                  number % elementsOfPiece());
}

Value HeadPieces::hasColumn(int64_t number) const {
  int64_t piece = number / elementsOfPiece();
  if ((piece + 1) * lanes * elementsOfPiece() <= width)
    return nullptr;
  return code.uless(columnOf(number), code.i32(width));
}

Value HeadPieces::rowOf(int64_t read) const {
  return code.add(code.udiv(code.lane(), lanes), read * rowsAtOnce());
}

Value HeadPieces::ownRow() const {
  return code.add(code.mul(laneOfRow(), rowsAtOnce()),
                  code.udiv(code.lane(), lanes));
}

Value HeadPieces::ownerOf(Value row) const {
  return code.add(code.mul(code.urem(row, rowsAtOnce()), lanes),
                  code.udiv(row, rowsAtOnce()));
}

SmallVector<Value> HeadPieces::read(Value row, Value isRead) const {
  Value from = code.at(first, code.rowOffset(row, code.i32(pitch)));
  SmallVector<Value> all;
  for (int64_t piece = 0; piece < pieces; ++piece) {
    Value has = hasColumn(piece * elementsOfPiece());
    Value at = code.at(from, piece * lanes * kPieceBytes);
    if (has && piece > 0)
      at = code.select(has, at, from);
    Value isMine = isRead ? isRead : has;
    for (Value word : code.loadFour(code.builder.getI32Type(), at)) {
      if (isMine)
        word = code.select(isMine, word, code.i32(0));
      if (element.isF32())
        all.push_back(code.bitcastToF32(word));
      else
        llvm::append_range(all, code.widenTwo(element, word));
    }
  }
  return all;
}

/// The values of reads `first` and every `step`-th behind it, as one for each
/// `step` lanes of a row.
SmallVector<Value>
HeadPieces::sumFrom(int64_t first, int64_t step,
                    function_ref<OfReads(ArrayRef<int64_t>)> values) const {
  OfReads left;
  if (lanes / step <= std::max<int64_t>(kPiecesAtOnce / pieces, 1)) {
    // Without it all reads of rows of several pieces are begun at once, more
    // than registers hold.
    if (pieces > 1)
      code.warpBarrier();
    SmallVector<int64_t> reads;
    for (int64_t read = first; read < lanes; read += step)
      reads.push_back(read);
    left = values(reads);
  } else {
    left = {sumFrom(first, 2 * step, values),
            sumFrom(first + step, 2 * step, values)};
  }
  while (left.size() > 1) {
    size_t half = left.size() / 2;
    int64_t bits = step * half;
    Value isUpper =
        code.notEqual(code.bitAnd(code.lane(), code.i32(bits)), code.i32(0));
    for (size_t read = 0; read < half; ++read)
      for (auto [lower, upper] : llvm::zip(left[read], left[read + half])) {
        Value kept = code.select(isUpper, upper, lower);
        Value given = code.select(isUpper, lower, upper);
        lower = code.add(kept, code.exchange(given, bits));
      }
    left.resize(half);
  }
  return left.front();
}

SmallVector<Value>
HeadPieces::sumsOfRow(function_ref<OfReads(ArrayRef<int64_t>)> values) const {
  return sumFrom(0, 1, values);
}

Value HeadPieces::sumOfColumn(Value value) const {
  for (int64_t bits = lanes; bits < kWarpThreads; bits *= 2)
    value = code.add(value, code.exchange(value, bits));
  return value;
}

Value HeadPieces::isFirstOfColumns() const {
  return code.uless(code.lane(), code.i32(lanes));
}
