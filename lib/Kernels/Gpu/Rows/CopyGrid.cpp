//===- CopyGrid.cpp - Rows that are copied, on a GPU ----------------------===//
//
// Each op says, for a piece of a row, from which row it comes and to which it
// goes. If an op gathers, the grid covers the rows of its result, otherwise the
// rows of its input. cache.fill keeps a position only if no later position of
// the sentence takes its slot. So no two threads write one slot, and the order
// of blocks does not matter.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Gpu/Rows/CopyGrid.h"
#include "lib/CodeGen/Loops/CacheSlot.h"
#include "lib/Kernels/Gpu/Rows/PieceGrid.h"

using namespace mlir;
using namespace heddle;

static Value sizeOf(Value memref, int64_t axis, BlockCode &code) {
  return code.toI32(code.size(memref, axis));
}

/// A grid over the rows of `counted`, for rows that move from one memref to
/// another by what `lists`, of which some may be null, say.
static LogicalResult
emitPieces(Operation *op, Value counted, Value from, Value to, ValueRange lists,
           function_ref<void(const Piece &, BlockCode &)> body) {
  if (!areDense(lists) || !havePieces({from, to}))
    return failure();
  OpBuilder builder(op);
  Loops loops(builder, op->getLoc());
  createPieceGrid(builder, op->getLoc(), {from, to}, countRows(counted, loops),
                  body);
  return success();
}

LogicalResult heddle::emitGrid(memref::CopyOp op) {
  Value from = op.getSource(), to = op.getTarget();
  return emitPieces(
      op, from, from, to, {}, [&](const Piece &piece, BlockCode &code) {
        piece.store(piece.load(from, piece.row, code), to, piece.row, code);
      });
}

//===----------------------------------------------------------------------===//
// Rows that numbers name
//===----------------------------------------------------------------------===//

namespace {
/// Rows that numbers of one list count: the first one, and how many there are,
/// i32.
struct RowRange {
  Value first, count;
};
} // namespace

/// Of the rows of all sequences, or of those of sequence `batch` of [batch, n,
/// d].
static RowRange rangeOf(Value rows, Value batch, BlockCode &code) {
  if (typeOf(rows).getRank() == 2)
    return {code.i32(0), sizeOf(rows, 0, code)};
  Value count = sizeOf(rows, 1, code);
  return {code.mul(batch, count), count};
}

/// The rows that number `place` of an op's lists counts.
template <typename Op>
static RowRange rangeOfList(Op op, Value rows, Value place, BlockCode &code) {
  Value tokens = op.getTokens();
  if (typeOf(tokens).getRank() == 1)
    return rangeOf(rows, Value(), code);
  Value batch = code.udiv(place, sizeOf(tokens, 1, code));
  if (!op.getStarts())
    return rangeOf(rows, batch, code);
  return {code.loadWord(op.getStarts(), batch),
          code.loadWord(op.getLengths(), batch)};
}

/// to[row] = from[number of `range`], zeros where there is no such row: numbers
/// have no sign, so that negative ones name none.
static void takeRow(const Piece &piece, Value from, const RowRange &range,
                    Value number, Value to, BlockCode &code) {
  Value isRow = code.uless(number, range.count);
  Value row = code.select(isRow, code.add(range.first, number), code.i32(0));
  SmallVector<Value> values = piece.load(from, row, code);
  for (Value &value : values) {
    Value zero = code.constant(0, value);
    value = code.select(isRow, value, zero);
  }
  piece.store(values, to, piece.row, code);
}

LogicalResult heddle::emitGrid(TakeRowsOp op) {
  Value from = op.getInput(), to = op.getDestination(), tokens = op.getTokens();
  return emitPieces(op, to, from, to, {tokens, op.getStarts(), op.getLengths()},
                    [&](const Piece &piece, BlockCode &code) {
                      RowRange range = rangeOfList(op, from, piece.row, code);
                      takeRow(piece, from, range,
                              code.loadWord(tokens, piece.row), to, code);
                    });
}

LogicalResult heddle::emitGrid(LastRowsOp op) {
  Value from = op.getInput(), to = op.getDestination(),
        lengths = op.getLengths();
  return emitPieces(
      op, to, from, to, lengths, [&](const Piece &piece, BlockCode &code) {
        Value last = code.sub(code.loadWord(lengths, piece.row), code.i32(1));
        takeRow(piece, from, rangeOf(from, piece.row, code), last, to, code);
      });
}

LogicalResult heddle::emitGrid(PutRowsOp op) {
  Value from = op.getInput(), to = op.getDestination(), tokens = op.getTokens();
  return emitPieces(op, from, from, to,
                    {tokens, op.getStarts(), op.getLengths()},
                    [&](const Piece &piece, BlockCode &code) {
                      RowRange range = rangeOfList(op, to, piece.row, code);
                      Value number = code.loadWord(tokens, piece.row);
                      code.ifThen(code.uless(number, range.count), [&] {
                        piece.store(piece.load(from, piece.row, code), to,
                                    code.add(range.first, number), code);
                      });
                    });
}

//===----------------------------------------------------------------------===//
// Rows that caches keep
//===----------------------------------------------------------------------===//

/// The row of the op's input becomes `position`, an index, of the cache of
/// `owner`, an i32.
template <typename Op>
static void keepRow(Op op, const Piece &piece, Value owner, Value position,
                    BlockCode &code) {
  Value cache = op.getDestination();
  if (Value caches = op.getCaches())
    owner = code.loadWord(caches, owner);
  Value slots = code.size(cache, 1);
  Value slot =
      buildCacheSlot(code.builder, code.loc, position, slots, op.getPinned());
  Value row = code.add(code.mul(owner, code.toI32(slots)), code.toI32(slot));
  piece.store(piece.load(op.getInput(), piece.row, code), cache, row, code);
}

LogicalResult heddle::emitGrid(CacheAppendOp op) {
  Value x = op.getInput(), positions = op.getPositions();
  return emitPieces(op, x, x, op.getDestination(), {positions, op.getCaches()},
                    [&](const Piece &piece, BlockCode &code) {
                      Value position =
                          code.toIndex(code.loadWord(positions, piece.row));
                      keepRow(op, piece, piece.row, position, code);
                    });
}

LogicalResult heddle::emitGrid(CacheFillOp op) {
  Value x = op.getInput(), lengths = op.getLengths();
  return emitPieces(
      op, x, x, op.getDestination(), {lengths, op.getCaches()},
      [&](const Piece &piece, BlockCode &code) {
        Value places = sizeOf(x, 1, code);
        Value sentence = code.udiv(piece.row, places);
        Value position = code.toIndex(code.urem(piece.row, places));
        Value length = code.toIndex(code.loadWord(lengths, sentence));
        Value isKept =
            staysInCache(code.builder, code.loc, position, length,
                         code.size(op.getDestination(), 1), op.getPinned());
        code.ifThen(isKept,
                    [&] { keepRow(op, piece, sentence, position, code); });
      });
}
