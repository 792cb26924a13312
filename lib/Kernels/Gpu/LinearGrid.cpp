#include "lib/Kernels/Gpu/LinearGrid.h"
#include "lib/CodeGen/FinishedRows.h"
#include "lib/CodeGen/ProductLoops.h"
#include "lib/CodeGen/RoundToBf16.h"
#include "lib/CodeGen/RowLoops.h"
#include "lib/Kernels/Gpu/ProductEnds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace heddle;

/// 64 x 64 of tensor products and 32 x 64 of fused ones are 128 and 64 sums a
/// thread; stages leave room for two blocks in 164 KB of shared memory.
static constexpr ProductShape kTensorShape = {64, 2, 2, 2, 3};
static constexpr ProductShape kFusedShape = {32, 2, 4, 2, 3};
/// For few rows: weights are all that moves, a panel a warp, many at a time.
static constexpr ProductShape kFewRowsShape = {16, 1, 1, 2, 4};
static constexpr int64_t kFewRows = 64;
/// Blocks of columns whose blocks of rows run one after the other, for weights
/// and rows to be met in the L2 cache.
static constexpr int64_t kColumnGroup = 8;

static MemRefType typeOf(Value memref) {
  return cast<MemRefType>(memref.getType());
}
static int64_t elementBytes(Value memref) {
  return typeOf(memref).getElementTypeBitWidth() / 8;
}

namespace {
class LinearGrid {
public:
  explicit LinearGrid(LinearOp op)
      : op(op), widths(op.getWidths()),
        element(typeOf(op.getWeight()).getElementType()),
        ends(ProductEnds::of(op, widths)) {}

  bool isSupported();
  void build(const ProductShape &shape, OpBuilder &builder);

private:
  /// A part of a split, or all: constants, or chosen by a block.
  struct Part {
    /// Blocks of columns in front of it.
    Value firstBlock;
    ColumnRange columns;
    Value panels, pitch, destination;
  };
  /// Where the thread's sums of a row go.
  struct Place {
    Value row, destination, residual, inputScale;
  };

  int64_t panelsOf(int64_t part) const {
    return llvm::divideCeil(widths[part], kPanelColumns);
  }
  int64_t blocksOf(int64_t part, const ProductShape &shape) const {
    return llvm::divideCeil(panelsOf(part), shape.panels());
  }
  void buildBlock(const ProductShape &shape, Value block, Value rowBlocks,
                  BlockCode &code);
  Part findPart(Value columnBlock, const ProductShape &shape, BlockCode &code);
  std::pair<Value, Value> placeBlock(Value block, Value rowBlocks,
                                     int64_t columnBlocks, BlockCode &code);
  void finishRow(ArrayRef<ProductPiece> pieces, const Part &part,
                 Value firstRow, Value firstPanel, BlockCode &code);
  void finishPiece(const ProductPiece &piece, const Part &part,
                   const Place &place, Value column, BlockCode &code);

  LinearOp op;
  SmallVector<int64_t> widths;
  Type element;
  ProductEnds ends;
};
} // namespace

bool LinearGrid::isSupported() {
  auto hasPitch = [&](Value rows) {
    int64_t piece = ends.hasWholePieces ? 4 : 1;
    return !rows || (pitchOf(rows) > 0 &&
                     pitchOf(rows) % (piece * elementBytes(rows)) == 0);
  };
  return isPacked(op.getWeight()) && pitchOf(op.getInput()) > 0 &&
         pitchOf(op.getInput()) % 4 == 0 && hasPitch(op.getResidual()) &&
         llvm::all_of(op.getDestinations().take_front(widths.size()), hasPitch);
}

//===----------------------------------------------------------------------===//
// Which rows and columns
//===----------------------------------------------------------------------===//

/// Rows and columns of a block: those of a group of columns first.
std::pair<Value, Value> LinearGrid::placeBlock(Value block, Value rowBlocks,
                                               int64_t columnBlocks,
                                               BlockCode &code) {
  if (columnBlocks <= kColumnGroup)
    return {code.dividedBy(block, columnBlocks),
            code.remainder(block, columnBlocks)};
  Value ofGroup = code.times(rowBlocks, kColumnGroup);
  Value first = code.times(code.dividedBy(block, ofGroup), kColumnGroup);
  Value inGroup = code.remainder(block, ofGroup);
  Value count = code.least(code.minus(code.i32(columnBlocks), first),
                           code.i32(kColumnGroup));
  return {code.dividedBy(inGroup, count),
          code.plus(first, code.remainder(inGroup, count))};
}

LinearGrid::Part LinearGrid::findPart(Value columnBlock,
                                      const ProductShape &shape,
                                      BlockCode &code) {
  Part part;
  int64_t block = 0, panel = 0, column = 0;
  for (auto [number, width] : llvm::enumerate(widths)) {
    Value result = op.getDestinations()[number];
    Part here = {code.i32(block),
                 {code.i32(panel), code.i32(column), code.i32(width)},
                 code.i32(panelsOf(number)),
                 code.i32(pitchOf(result)),
                 code.global(result)};
    Value isHere = code.isLess(columnBlock, code.i32(block));
    auto choose = [&](Value &value, Value other) {
      value = value ? code.choose(isHere, value, other) : other;
    };
    choose(part.firstBlock, here.firstBlock);
    choose(part.columns.firstPanel, here.columns.firstPanel);
    choose(part.columns.firstColumn, here.columns.firstColumn);
    choose(part.columns.width, here.columns.width);
    choose(part.panels, here.panels);
    choose(part.pitch, here.pitch);
    choose(part.destination, here.destination);
    block += blocksOf(number, shape);
    panel += panelsOf(number);
    column += width;
  }
  return part;
}

//===----------------------------------------------------------------------===//
// What becomes of sums
//===----------------------------------------------------------------------===//

void LinearGrid::finishPiece(const ProductPiece &piece, const Part &part,
                             const Place &place, Value column,
                             BlockCode &code) {
  FourWords y =
      ends.finish(piece.sums, place.inputScale, column, part.columns, code);
  if (op.getActivation())
    for (Value &value : y)
      value = activate(*op.getActivation(), value, code);
  // What stands between columns of this thread and the next, in bytes.
  int64_t bytes = elementBytes(op.getDestinations().front());
  auto isColumn = [&](int64_t number) {
    return code.isLess(code.plus(column, number), part.columns.width);
  };
  auto finish = [&](int64_t number, Value residual) {
    Value value = y[number];
    if (residual)
      value = code.add(residual, value);
    if (op.getMultiplier())
      value = quantizeValue(value, op.getMultiplier(), code);
    else if (op.getRounds())
      value = roundToBf16(code.builder, code.loc, value);
    y[number] = value;
  };
  Value to = code.at(place.destination, code.times(column, bytes));
  Value from;
  if (place.residual)
    from = code.at(place.residual, code.times(column, 4));
  Type f32 = code.builder.getF32Type();
  if (ends.hasWholePieces) {
    FourWords residual = {};
    if (from)
      residual = code.loadFour(f32, from);
    for (int64_t number = 0; number < 4; ++number)
      finish(number, residual[number]);
    return code.storeFour(y, to);
  }
  for (int64_t number = 0; number < 4; ++number)
    code.when(isColumn(number), [&] {
      finish(number,
             from ? code.loadOne(f32, code.at(from, number * 4)) : Value());
      code.storeOne(y[number], code.at(to, number * bytes));
    });
}

/// All pieces of one row.
void LinearGrid::finishRow(ArrayRef<ProductPiece> pieces, const Part &part,
                           Value firstRow, Value firstPanel, BlockCode &code) {
  Place place;
  place.row = code.plus(firstRow, pieces.front().row);
  Value count = code.toI32(code.size(op.getInput(), 0));
  code.when(code.isLess(place.row, count), [&] {
    place.destination =
        code.at(part.destination, code.rowOffset(place.row, part.pitch));
    if (op.getResidual())
      place.residual = code.at(
          code.global(op.getResidual()),
          code.rowOffset(place.row, code.i32(pitchOf(op.getResidual()))));
    if (op.getInputScales())
      place.inputScale =
          code.loadOne(code.builder.getF32Type(),
                       code.at(code.global(op.getInputScales()),
                               code.rowOffset(place.row, code.i32(4))));
    for (const ProductPiece &piece : pieces) {
      Value column = code.plus(
          code.times(code.plus(firstPanel, piece.panel), kPanelColumns),
          piece.column);
      code.when(code.isLess(column, part.columns.width),
                [&] { finishPiece(piece, part, place, column, code); });
    }
  });
}

void LinearGrid::buildBlock(const ProductShape &shape, Value block,
                            Value rowBlocks, BlockCode &code) {
  int64_t columnBlocks = 0;
  for (size_t part = 0; part < widths.size(); ++part)
    columnBlocks += blocksOf(part, shape);
  auto [rowBlock, columnBlock] =
      placeBlock(block, rowBlocks, columnBlocks, code);
  Part part = findPart(columnBlock, shape, code);
  Value firstRow = code.times(rowBlock, shape.rows());
  Value firstPanel =
      code.times(code.minus(columnBlock, part.firstBlock), shape.panels());
  int64_t depth = typeOf(op.getInput()).getDimSize(1);
  PanelLayout layout(element, widths);

  ProductOperands operands;
  operands.element = element;
  operands.depth = depth;
  operands.pitch = pitchOf(op.getInput());
  operands.x = code.at(code.global(op.getInput()),
                       code.rowOffset(firstRow, code.i32(operands.pitch)));
  operands.rows = code.minus(code.toI32(code.size(op.getInput(), 0)), firstRow);
  operands.panel =
      code.at(code.global(op.getWeight()),
              code.rowOffset(code.plus(part.columns.firstPanel, firstPanel),
                             code.i32(layout.panelBytes(depth))));
  operands.panels = code.minus(part.panels, firstPanel);
  SmallVector<ProductPiece> pieces = multiplyBlock(shape, operands, code);
  for (ArrayRef<ProductPiece> rest = pieces; !rest.empty();) {
    size_t ofRow = llvm::count_if(rest, [&](const ProductPiece &piece) {
      return piece.row == rest.front().row;
    });
    finishRow(rest.take_front(ofRow), part, firstRow, firstPanel, code);
    rest = rest.drop_front(ofRow);
  }
}

void LinearGrid::build(const ProductShape &shape, OpBuilder &builder) {
  Location loc = op.getLoc();
  Loops loops(builder, loc);
  int64_t columnBlocks = 0;
  for (size_t part = 0; part < widths.size(); ++part)
    columnBlocks += blocksOf(part, shape);
  Value rowBlocks = arith::CeilDivUIOp::create(
      builder, loc, loops.size(op.getInput(), 0), loops.index(shape.rows()));
  Value blocks =
      arith::MulIOp::create(builder, loc, rowBlocks, loops.index(columnBlocks));
  createGrid(builder, loc, blocks, shape.block(),
             [&](BlockCode &code, Value block) {
               buildBlock(shape, block, code.toI32(rowBlocks), code);
             });
}

LogicalResult heddle::emitGrid(LinearOp op) {
  LinearGrid grid(op);
  if (!grid.isSupported())
    return failure();
  OpBuilder builder(op);
  Loops loops(builder, op.getLoc());
  Value isFew = arith::CmpIOp::create(
      builder, op.getLoc(), arith::CmpIPredicate::ule,
      loops.size(op.getInput(), 0), loops.index(kFewRows));
  bool isOfFloats = typeOf(op.getWeight()).getElementType().isF32();
  auto build = [&](const ProductShape &shape) {
    return [&](OpBuilder &inside, Location loc) {
      grid.build(shape, inside);
      scf::YieldOp::create(inside, loc);
    };
  };
  scf::IfOp::create(builder, op.getLoc(), isFew, build(kFewRowsShape),
                    build(isOfFloats ? kFusedShape : kTensorShape));
  finishRows(op, llvm::to_vector(op.getDestinations()), loops);
  return success();
}
