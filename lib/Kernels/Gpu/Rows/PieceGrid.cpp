//===- PieceGrid.cpp - Rows in pieces, a thread each ----------------------===//
//
// The widest element type decides how many elements a piece has: 16 bytes of
// it, halved until a row is a whole number of pieces. All memrefs of the grid
// then have the same pieces. A piece of more than four elements moves as words
// of 32 bits, at most four of them: one load or store of PTX.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Gpu/Rows/PieceGrid.h"

using namespace mlir;
using namespace heddle;

static constexpr int64_t kThreads = 128;
static constexpr int64_t kPieceBytes = 16;

/// Elements of a row, as Piece counts rows.
static int64_t widthOf(Value memref) {
  MemRefType type = typeOf(memref);
  bool isFlat = type.getRank() == 0 || type.isDynamicDim(type.getRank() - 1);
  return isFlat ? 1 : type.getShape().back();
}

static Value placeOf(const Piece &piece, Value memref, Value row,
                     BlockCode &code) {
  int64_t bytes = elementBytes(memref);
  Value first = code.at(code.global(memref),
                        code.rowOffset(row, code.i32(widthOf(memref) * bytes)));
  return code.at(first, code.mul(piece.column, bytes));
}

SmallVector<Value> Piece::load(Value memref, Value row, BlockCode &code) const {
  Value place = placeOf(*this, memref, row, code);
  if (elements <= 4)
    return code.loadMany(typeOf(memref).getElementType(), elements, place);
  return code.loadMany(code.builder.getI32Type(),
                       elements * elementBytes(memref) / 4, place);
}

void Piece::store(ArrayRef<Value> values, Value memref, Value row,
                  BlockCode &code) const {
  code.storeMany(values, placeOf(*this, memref, row, code));
}

bool heddle::havePieces(ValueRange memrefs) {
  return llvm::all_of(memrefs, [&](Value memref) {
    MemRefType type = typeOf(memref);
    return type.getLayout().isIdentity() &&
           type.getElementTypeBitWidth() % 8 == 0 &&
           widthOf(memref) == widthOf(memrefs.front());
  });
}

Value heddle::countRows(Value memref, Loops &loops) {
  MemRefType type = typeOf(memref);
  Value count = loops.index(1);
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (axis + 1 < type.getRank() || type.isDynamicDim(axis))
      count = loops.mul(count, loops.size(memref, axis));
  return count;
}

void heddle::createPieceGrid(
    OpBuilder &builder, Location loc, ValueRange memrefs, Value rows,
    function_ref<void(const Piece &, BlockCode &)> body, int64_t unit) {
  int64_t width = widthOf(memrefs.front()), bytes = 1;
  for (Value memref : memrefs)
    bytes = std::max(bytes, elementBytes(memref));
  int64_t elements = kPieceBytes / bytes;
  while (width % elements != 0 || unit % elements != 0)
    elements /= 2;
  int64_t ofRow = width / elements;
  Loops loops(builder, loc);
  Value pieces = loops.mul(rows, ofRow);
  Value blocks = loops.uceilDiv(pieces, kThreads);
  createGrid(builder, loc, blocks, {kThreads},
             [&](BlockCode &code, Value block) {
               auto [row, place] = code.placeInRows(block, code.i32(ofRow));
               Piece piece = {row, code.mul(place, elements), elements};
               code.ifThen(code.uless(row, code.toI32(rows)),
                           [&] { body(piece, code); });
             });
}
