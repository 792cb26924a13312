#include "lib/Kernels/Gpu/PieceGrid.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace heddle;

static constexpr int64_t kThreads = 128;
static constexpr int64_t kPieceBytes = 16;

static MemRefType typeOf(Value memref) {
  return cast<MemRefType>(memref.getType());
}
static int64_t elementBytes(Value memref) {
  return typeOf(memref).getElementTypeBitWidth() / 8;
}
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
  return code.at(first, code.times(piece.column, bytes));
}

SmallVector<Value> Piece::load(Value memref, Value row, BlockCode &code) const {
  Type element = typeOf(memref).getElementType();
  Value place = placeOf(*this, memref, row, code);
  if (elements == 1)
    return {code.loadOne(element, place)};
  Type type = elements == 4 ? element : code.builder.getI32Type();
  return llvm::to_vector(code.loadFour(type, place));
}

void Piece::store(ArrayRef<Value> values, Value memref, Value row,
                  BlockCode &code) const {
  Value place = placeOf(*this, memref, row, code);
  if (elements == 1)
    return code.storeOne(values[0], place);
  code.storeFour({values[0], values[1], values[2], values[3]}, place);
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
      count = loops.builder.createOrFold<arith::MulIOp>(
          loops.loc, count, loops.size(memref, axis));
  return count;
}

void heddle::createPieceGrid(
    OpBuilder &builder, Location loc, ValueRange memrefs, Value rows,
    function_ref<void(const Piece &, BlockCode &)> body) {
  int64_t width = widthOf(memrefs.front()), bytes = 1;
  for (Value memref : memrefs)
    bytes = std::max(bytes, elementBytes(memref));
  int64_t elements = kPieceBytes / bytes;
  if (width % elements != 0)
    elements = 1;
  int64_t ofRow = width / elements;
  Loops loops(builder, loc);
  Value pieces =
      builder.createOrFold<arith::MulIOp>(loc, rows, loops.index(ofRow));
  Value blocks =
      arith::CeilDivUIOp::create(builder, loc, pieces, loops.index(kThreads));
  createGrid(
      builder, loc, blocks, {kThreads}, [&](BlockCode &code, Value block) {
        Value number = code.plus(code.times(block, kThreads), code.thread());
        code.when(code.isLess(number, code.toI32(pieces)), [&] {
          Piece piece = {code.dividedBy(number, ofRow),
                         code.times(code.remainder(number, ofRow), elements),
                         elements};
          body(piece, code);
        });
      });
}
