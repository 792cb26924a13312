//===- ElementGrid.cpp - Elements one by one on a GPU ---------------------===//
//
// A thread loads its piece of each input, computes element by element in
// registers, and stores the piece: memory is read and written once. Activations
// are the same expressions as on a CPU. Ops on positions take the position of a
// row from a list or, without one, from its place in its sentence; rotary ones
// load the piece of the other elements of its pairs, too.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Gpu/Rows/ElementGrid.h"
#include "lib/CodeGen/Loops/RoundFloats.h"
#include "lib/Kernels/Gpu/Rows/PieceGrid.h"
#include "lib/Kernels/Gpu/Threads/GridMath.h"
#include "lib/Kernels/Math/DoubleMath.h"
#include "lib/Kernels/Rows/ActivationKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <numeric>

using namespace mlir;
using namespace heddle;

/// What becomes of the values of each input at one place; `column` is an i32.
using Element = function_ref<Value(ValueRange values, Value column)>;

/// output = element(inputs) everywhere.
static void computePiece(const Piece &piece, ValueRange inputs, Value output,
                         BlockCode &code, Element element) {
  SmallVector<SmallVector<Value>> loaded;
  for (Value input : inputs)
    loaded.push_back(piece.load(input, piece.row, code));
  SmallVector<Value> results;
  for (int64_t at = 0; at < piece.elements; ++at) {
    SmallVector<Value> values;
    for (const SmallVector<Value> &each : loaded)
      values.push_back(each[at]);
    results.push_back(element(values, code.add(piece.column, at)));
  }
  piece.store(results, output, piece.row, code);
}

/// A grid over all of `output`.
static LogicalResult
emitPieces(Operation *op, ValueRange inputs, Value output,
           function_ref<void(const Piece &, BlockCode &)> body) {
  SmallVector<Value> memrefs = {output};
  llvm::append_range(memrefs, inputs);
  if (!havePieces(memrefs))
    return failure();
  OpBuilder builder(op);
  Loops loops(builder, op->getLoc());
  createPieceGrid(builder, op->getLoc(), memrefs, countRows(output, loops),
                  body);
  return success();
}

LogicalResult heddle::emitGrid(ActivationOp op) {
  Value x = op.getInput(), y = op.getDestination();
  return emitPieces(op, x, y, [&](const Piece &piece, BlockCode &code) {
    GridMath math(code);
    computePiece(piece, x, y, code, [&](ValueRange values, Value) {
      return emitActivation(op.getKind(), values[0], math);
    });
  });
}

LogicalResult heddle::emitGrid(AddOp op) {
  SmallVector<Value> inputs = {op.getLhs(), op.getRhs()};
  Value y = op.getDestination();
  return emitPieces(op, inputs, y, [&](const Piece &piece, BlockCode &code) {
    computePiece(piece, inputs, y, code, [&](ValueRange values, Value) {
      return code.add(values[0], values[1]);
    });
  });
}

LogicalResult heddle::emitGrid(MultiplyOp op) {
  SmallVector<Value> inputs = {op.getLhs(), op.getRhs()};
  Value y = op.getDestination();
  return emitPieces(op, inputs, y, [&](const Piece &piece, BlockCode &code) {
    computePiece(piece, inputs, y, code, [&](ValueRange values, Value) {
      return code.mul(values[0], values[1]);
    });
  });
}

LogicalResult heddle::emitGrid(FillOp op) {
  Value y = op.getDestination();
  return emitPieces(op, {}, y, [&](const Piece &piece, BlockCode &code) {
    computePiece(piece, {}, y, code, [&](ValueRange, Value) {
      return code.f32(op.getValue().convertToDouble());
    });
  });
}

LogicalResult heddle::emitGrid(RoundOp op) {
  Value x = op.getInput(), y = op.getDestination();
  return emitPieces(op, x, y, [&](const Piece &piece, BlockCode &code) {
    computePiece(piece, x, y, code, [&](ValueRange values, Value) {
      return roundTo(op.getTo(), code.builder, code.loc, values[0]);
    });
  });
}

/// The position of a row of an op: given, or its place in its sentence.
template <typename Op>
static Value positionOf(Op op, Value row, BlockCode &code) {
  if (Value positions = op.getPositions())
    return code.loadWord(positions, row);
  return code.urem(row, code.toI32(code.size(op.getInput(), 1)));
}

LogicalResult heddle::emitGrid(SinusoidalPositionsOp op) {
  Value x = op.getInput(), y = op.getDestination();
  if (!areDense(op.getPositions()))
    return failure();
  Sinusoid sinusoid = {int64_t(op.getTimescales()), op.getLayout(),
                       cast<MemRefType>(x.getType()).getShape().back()};
  return emitPieces(op, x, y, [&](const Piece &piece, BlockCode &code) {
    Value position = positionOf(op, piece.row, code);
    computePiece(piece, x, y, code, [&](ValueRange values, Value column) {
      return code.add(values[0], sinusoidAt(sinusoid, position, column, code));
    });
  });
}

LogicalResult heddle::emitGrid(LearnedPositionsOp op) {
  Value x = op.getInput(), y = op.getDestination(), table = op.getTable();
  if (!areDense(op.getPositions()) || !havePieces({y, table}))
    return failure();
  return emitPieces(op, x, y, [&](const Piece &piece, BlockCode &code) {
    Value position = code.add(positionOf(op, piece.row, code), op.getOffset());
    SmallVector<Value> sums;
    for (auto [value, term] : llvm::zip(piece.load(x, piece.row, code),
                                        piece.load(table, position, code)))
      sums.push_back(code.add(value, term));
    piece.store(sums, y, piece.row, code);
  });
}

/// What a thread does to a piece that lies in one part of a head: first
/// elements of pairs, second ones, or those behind them.
static void rotatePiece(RotaryPositionsOp op, const Piece &piece,
                        BlockCode &code) {
  OpBuilder &builder = code.builder;
  Location loc = code.loc;
  Type f32 = builder.getF32Type(), f64 = builder.getF64Type();
  Value x = op.getInput(), frequencies = op.getFrequencies();
  int64_t pairs = cast<MemRefType>(frequencies.getType()).getDimSize(0);
  int64_t width =
      cast<MemRefType>(x.getType()).getShape().back() / int64_t(op.getHeads());
  Value place = code.urem(piece.column, width), many = code.i32(pairs);
  Value isFirst = code.uless(place, many);
  Value isTurned = code.uless(place, code.i32(2 * pairs));
  auto whereTurned = [&](Value then, Value otherwise) {
    return code.select(isTurned, then, otherwise);
  };
  Piece other = piece, turns = piece;
  other.column = whereTurned(code.select(isFirst, code.add(piece.column, many),
                                         code.sub(piece.column, many)),
                             piece.column);
  turns.column = whereTurned(code.select(isFirst, place, code.sub(place, many)),
                             code.i32(0));
  Value number = arith::SIToFPOp::create(builder, loc, f32,
                                         positionOf(op, piece.row, code));
  Value scale = code.f32(op.getScale().convertToDouble());
  auto round = [&](Double value) {
    return code.mul(arith::TruncFOp::create(builder, loc, f32, value.value),
                    scale);
  };
  SmallVector<Value> results;
  for (auto [own, paired, frequency] : llvm::zip_equal(
           piece.load(x, piece.row, code), other.load(x, piece.row, code),
           turns.load(frequencies, code.i32(0), code))) {
    Double angle(
        builder, loc,
        arith::ExtFOp::create(builder, loc, f64, code.mul(number, frequency)));
    Value along = code.mul(own, round(doubles::cos(angle)));
    Value across = code.mul(paired, round(doubles::sin(angle)));
    Value turned =
        code.select(isFirst, code.sub(along, across), code.add(along, across));
    results.push_back(whereTurned(turned, own));
  }
  piece.store(results, op.getDestination(), piece.row, code);
}

LogicalResult heddle::emitGrid(RotaryPositionsOp op) {
  Value x = op.getInput(), y = op.getDestination();
  auto frequencies = cast<MemRefType>(op.getFrequencies().getType());
  if (!areDense(op.getPositions()) || !havePieces({y, x}) ||
      !frequencies.getLayout().isIdentity())
    return failure();
  OpBuilder builder(op);
  Loops loops(builder, op->getLoc());
  int64_t width =
      cast<MemRefType>(x.getType()).getShape().back() / int64_t(op.getHeads());
  createPieceGrid(
      builder, op->getLoc(), {y, x}, countRows(y, loops),
      [&](const Piece &piece, BlockCode &code) {
        rotatePiece(op, piece, code);
      },
      std::gcd(frequencies.getDimSize(0), width));
  return success();
}
