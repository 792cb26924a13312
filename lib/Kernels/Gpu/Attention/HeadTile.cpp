//===- HeadTile.cpp - Rows of one head in shared memory -------------------===//
//
// cp.async brings pieces of 16 bytes and writes zeros for rows behind the last
// one. ldmatrix loads the fragments: transposed for values of short floats,
// whose rows are the depth of the product. It transposes elements of 16 bits
// only, so values of f32 are loaded word by word. A number whose exponent is
// all ones is infinite or NaN. Each thread clears these numbers in the pieces
// that it copied: a wait for its own copies is enough, without a barrier.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Gpu/Attention/HeadTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/bit.h"
#include <tuple>

using namespace mlir;
using namespace heddle;

static constexpr int64_t kWordBytes = 4, kPieceBytes = 16;
/// Lanes that have the pieces of a row: as many as write all banks at once.
static constexpr int64_t kRowLanes = 8;

int64_t HeadTile::pieces() const {
  return width * elementBytes() / kPieceBytes;
}
int64_t HeadTile::lanes(const BlockCode &code) const {
  int64_t whole = std::clamp<int64_t>(pieces() & -pieces(), 4, kRowLanes);
  int64_t most = llvm::bit_floor(uint64_t(pieces()));
  // All threads have rows of the tile: of short ones some have no piece.
  return std::max(std::min(whole, most), code.threads / rows);
}

Value HeadTile::firstRow(BlockCode &code) const {
  return code.udiv(code.thread(), lanes(code));
}
Value HeadTile::firstPiece(BlockCode &code) const {
  return code.mul(code.urem(code.thread(), lanes(code)), kPieceBytes);
}
Value HeadTile::firstPlace(BlockCode &code) const {
  return code.shared(code.add(
      code.add(code.mul(firstRow(code), pitch()), firstPiece(code)), memory));
}

/// Whether this thread has any of the pieces of a row from `piece` on; null
/// where all threads have.
Value HeadTile::hasPiece(int64_t piece, BlockCode &code) const {
  if (piece + lanes(code) <= pieces())
    return Value();
  return code.uless(firstPiece(code),
                    code.i32((pieces() - piece) * kPieceBytes));
}

void HeadTile::copy(const HeadRows &source, Value first,
                    BlockCode &code) const {
  Value to = firstPlace(code), mine = code.add(first, firstRow(code));
  for (int64_t row = 0; row < rows; row += code.threads / lanes(code)) {
    Value number = code.add(mine, row);
    Value exists = code.uless(number, source.count);
    // Nothing is read behind the last row, but the address is one of the rows.
    Value offset = code.rowOffset(code.select(exists, number, code.i32(0)),
                                  code.i32(source.pitch));
    Value from = code.at(code.at(source.first, offset), firstPiece(code));
    Value read = code.select(exists, code.i32(kPieceBytes), code.i32(0));
    for (int64_t piece = 0; piece < pieces(); piece += lanes(code)) {
      auto copyPiece = [&] {
        code.copy(code.at(to, row * pitch() + piece * kPieceBytes),
                  code.at(from, piece * kPieceBytes), kPieceBytes, read);
      };
      if (Value condition = hasPiece(piece, code))
        code.ifThen(condition, copyPiece);
      else
        copyPiece();
    }
  }
}

/// Whether an element of a word is not finite: all ones in the exponents that
/// `mask` has of it.
static Value isOther(Value word, uint32_t mask, BlockCode &code) {
  Value bits = code.i32(static_cast<int32_t>(mask));
  return code.equal(code.bitAnd(word, bits), bits);
}

/// The word with zeros for what is not finite, and whether anything was.
static std::pair<Value, Value> clearWord(Value word, Type element,
                                         BlockCode &code) {
  Value none = code.i32(0), all = code.i32(-1);
  if (element.isF32()) {
    Value other = isOther(word, 0x7f800000, code);
    return {code.select(other, none, word), other};
  }
  uint32_t exponent = element.isF16() ? 0x7c00 : 0x7f80;
  Value lower = isOther(word, exponent, code);
  Value upper = isOther(word, exponent << 16, code);
  Value kept = code.bitAnd(code.select(lower, code.i32(~0xffff), all),
                           code.select(upper, code.i32(0xffff), all));
  return {code.bitAnd(word, kept), code.logicalOr(lower, upper)};
}

/// In one piece.
static Value clearPiece(Type element, Value pointer, BlockCode &code) {
  FourWords words = code.loadFour(code.builder.getI32Type(), pointer);
  Value any = code.i1(false);
  for (Value &word : words) {
    Value other;
    std::tie(word, other) = clearWord(word, element, code);
    any = code.logicalOr(any, other);
  }
  code.ifThen(any, [&] { code.storeFour(words, pointer); });
  return any;
}

Value heddle::clearOthers(Type element, const TilePieces &pieces,
                          BlockCode &code) {
  Value no = code.i1(false);
  Value any = no;
  for (int64_t part = 0; part < pieces.parts; ++part) {
    auto clear = [&] {
      Value found = no;
      for (int64_t row = 0; row < pieces.rows; ++row)
        found = code.logicalOr(found,
                               clearPiece(element, pieces.at(part, row), code));
      return found;
    };
    Value condition = pieces.has(part);
    any = code.logicalOr(any, condition ? code.ifYield(condition, clear, no)
                                        : clear());
  }
  return any;
}

Value HeadTile::clearOthers(BlockCode &code) const {
  Value place = firstPlace(code);
  int64_t lanes = this->lanes(code), parts = llvm::divideCeil(pieces(), lanes);
  int64_t rowStep = code.threads / lanes,
          rowsOfThread = llvm::divideCeil(rows, rowStep);
  auto at = [&](int64_t part, int64_t row) {
    return code.at(place, row * rowStep * pitch() + part * lanes * kPieceBytes);
  };
  auto has = [&](int64_t part) { return hasPiece(part * lanes, code); };
  return heddle::clearOthers(element, {parts, rowsOfThread, at, has}, code);
}

Value HeadTile::rowsFrom(Value row, BlockCode &code) const {
  Value lane = code.lane();
  Value mine = code.add(row, code.urem(lane, 16));
  Value half = code.mul(code.udiv(lane, 16), kPieceBytes);
  return code.shared(code.add(code.add(code.mul(mine, pitch()), half), memory));
}

FourWords HeadTile::rowFragments(Value rows, int64_t row, int64_t step,
                                 BlockCode &code) const {
  return code.loadFragments(
      code.at(rows, row * pitch() + step * kStepWords * kWordBytes));
}

Value HeadTile::columnsFrom(BlockCode &code) const {
  if (!element.isF32())
    return rowsFrom(code.i32(0), code);
  Value lane = code.lane();
  Value row = code.mul(code.urem(lane, 4), 2 * pitch());
  Value column = code.mul(code.udiv(lane, 4), kWordBytes);
  return code.shared(code.add(code.add(row, column), memory));
}

FourWords HeadTile::columnFragments(Value columns, int64_t row, int64_t column,
                                    BlockCode &code) const {
  Value pointer = code.at(columns, row * pitch() + column * elementBytes());
  if (!element.isF32())
    return code.loadFragments(pointer, /*isTransposed=*/true);
  Type word = code.builder.getI32Type();
  FourWords fragments;
  for (int64_t group = 0; group < 2; ++group)
    for (int64_t odd = 0; odd < 2; ++odd)
      fragments[2 * group + odd] = code.loadOne(
          word, code.at(pointer, group * 8 * kWordBytes + odd * pitch()));
  return fragments;
}
