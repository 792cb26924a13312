//===- SwizzledTile.cpp - Rows of one head as wgmma reads them ------------===//
//
// Piece p (16 bytes) of row r stands at place p xor r % 8 of the row, as the
// 128-byte swizzle of wgmma has it: eight rows of one piece then lie in
// different banks. A thread copies one piece of every 16th row. 16 is a
// multiple of 8, so the swizzle is computed once and the other addresses differ
// by constants. If all rows of the tile exist, the same holds in the device's
// memory; otherwise each row is compared with the number of rows.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Gpu/Attention/SwizzledTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace heddle;

static constexpr int64_t kElementBytes = 2, kWordBytes = 4, kPieceBytes = 16;
/// Of a part.
static constexpr int64_t kColumns = 64, kRowBytes = kColumns * kElementBytes,
                         kRowPieces = kRowBytes / kPieceBytes;
/// Rows whose pieces a warpgroup copies at once.
static constexpr int64_t kRowsAtOnce = kWarpgroupThreads / kRowPieces;

int64_t SwizzledTile::parts() const {
  return llvm::divideCeil(width, kColumns);
}
int64_t SwizzledTile::partBytes() const { return rows * kRowBytes; }

int64_t SwizzledTile::wordsTo(int64_t row, int64_t column) const {
  return (column / kColumns * partBytes() + row * kRowBytes +
          column % kColumns * kElementBytes) /
         kWordBytes;
}

/// This thread's place in the first rows of a part, which the others follow.
Value SwizzledTile::firstPiece(Value memory, WarpgroupCode &code) const {
  Value row = code.udiv(code.thread(), kRowPieces);
  Value piece = code.swizzledPiece(code.urem(code.thread(), kRowPieces), row);
  return code.shared(code.add(memory, code.add(code.mul(row, kRowBytes),
                                               code.mul(piece, kPieceBytes))));
}

/// Whether this thread has any of a part; null where all threads have.
Value SwizzledTile::hasPieces(int64_t part, WarpgroupCode &code) const {
  int64_t pieces = (width - part * kColumns) * kElementBytes / kPieceBytes;
  if (pieces >= kRowPieces)
    return Value();
  return code.uless(code.urem(code.thread(), kRowPieces), code.i32(pieces));
}

void SwizzledTile::copy(const HeadRows &source, Value first, Value memory,
                        WarpgroupCode &code) const {
  Value to = firstPiece(memory, code);
  Value mine = code.add(first, code.udiv(code.thread(), kRowPieces));
  Value inRow = code.mul(code.urem(code.thread(), kRowPieces), kPieceBytes);
  auto rowOf = [&](Value number) {
    return code.at(
        code.at(source.first, code.rowOffset(number, code.i32(source.pitch))),
        inRow);
  };
  auto copyPieces = [&](function_ref<void(Value, int64_t, int64_t)> copyPiece) {
    for (int64_t part = 0; part < parts(); ++part) {
      auto copyPart = [&] {
        for (int64_t row = 0; row < rows; row += kRowsAtOnce)
          copyPiece(code.at(to, part * partBytes() + row * kRowBytes), row,
                    part * kRowBytes);
      };
      if (Value condition = hasPieces(part, code))
        code.ifThen(condition, copyPart);
      else
        copyPart();
    }
  };
  scf::IfOp::create(
      code.builder, code.loc,
      code.uless(code.add(first, rows - 1), source.count),
      [&](OpBuilder &builder, Location loc) {
        Value from = rowOf(mine);
        copyPieces([&](Value place, int64_t row, int64_t inPart) {
          code.copy(place, code.at(from, row * source.pitch + inPart),
                    kPieceBytes);
        });
        scf::YieldOp::create(builder, loc);
      },
      [&](OpBuilder &builder, Location loc) {
        copyPieces([&](Value place, int64_t row, int64_t inPart) {
          Value number = code.add(mine, row);
          Value exists = code.uless(number, source.count);
          // Nothing is read behind the last row, but the address is one of the
          // rows.
          Value from = rowOf(code.select(exists, number, code.i32(0)));
          code.copy(place, code.at(from, inPart), kPieceBytes,
                    code.select(exists, code.i32(kPieceBytes), code.i32(0)));
        });
        scf::YieldOp::create(builder, loc);
      });
}

Value SwizzledTile::clearOthers(Value memory, WarpgroupCode &code) const {
  Value pieces = firstPiece(memory, code);
  auto at = [&](int64_t part, int64_t row) {
    return code.at(pieces, part * partBytes() + row * kRowsAtOnce * kRowBytes);
  };
  auto has = [&](int64_t part) { return hasPieces(part, code); };
  int64_t rowsOfThread = llvm::divideCeil(rows, kRowsAtOnce);
  return heddle::clearOthers(element, {parts(), rowsOfThread, at, has}, code);
}
