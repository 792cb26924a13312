//===- ProjectionKernel.cpp - Kernels of projected sequences --------------===//
//
// A task has a block of rows and of columns of the result. Positions pass in
// pieces: a piece of x is copied to scratch memory, since its rows are as far
// apart as x is wide and share few sets of the L1 cache, and all rows of the
// projection pass over it. Sums wait in the result between pieces and go on
// from there: an element's are in ascending order of positions.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/ProjectionKernel.h"
#include "lib/Kernels/HeadRow.h"
#include "lib/Kernels/RegisterTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace heddle;

/// Positions of a piece: 32 KB of a block of 64 columns.
static constexpr int64_t kPiece = 128;
/// Rows of the result that share a copy of x.
static constexpr int64_t kRowBlock = 128;
/// Multiply-adds that take as long as loading and storing an element.
static constexpr int64_t kProductsOfElement = 32;

namespace {
/// One task's block: rows [first, first + rows) of the result, columns of the
/// views.
struct Block {
  /// [n, columns], [k, longest] and [k, columns].
  Value input, projection, result;
  Value first, positions;
  int64_t rows;
};

class BlockKernel {
public:
  BlockKernel(RowKernel &kernel, int64_t columns)
      : loops(kernel.loops.builder, kernel.loops.loc, kernel.isa), tile(loops),
        columns(columns) {}

  VectorLoops loops;

  void build(const Block &block);

private:
  void copyPiece(const Block &block, Value begin, Value count);
  void multiplyPiece(const Block &block, Value begin, Value count);

  RegisterTile tile;
  int64_t columns;
  /// x of a piece of positions.
  Value copy;
};
} // namespace

void BlockKernel::copyPiece(const Block &block, Value begin, Value count) {
  loops.each(loops.index(0), count, 1, [&](Value j) {
    tile.forEachGroup(columns, [&](const RegisterTile::Parts &parts) {
      for (const RegisterTile::Part &part : parts)
        loops.storeVector(tile.load(block.input, loops.plus(begin, j), part),
                          copy, {j, loops.index(part.column)});
    });
  });
}

void BlockKernel::multiplyPiece(const Block &block, Value begin, Value count) {
  tile.forEachRows(block.rows, [&](Value row, int64_t rows) {
    Value first = loops.plus(block.first, row);
    tile.forEachGroup(columns, [&](const RegisterTile::Parts &parts) {
      RegisterTile::Sums sums;
      for (int64_t r = 0; r < rows; ++r)
        for (const RegisterTile::Part &part : parts)
          sums.push_back(tile.load(block.result, loops.plus(first, r), part));
      sums = tile.multiply(
          loops.index(0), count, rows, parts, sums,
          [&](Value j, int64_t r) {
            return loops.load(block.projection,
                              {loops.plus(first, r), loops.plus(begin, j)});
          },
          [&](Value j, const RegisterTile::Part &part) {
            return tile.loadWhole(copy, j, part);
          });
      auto sum = sums.begin();
      for (int64_t r = 0; r < rows; ++r)
        for (const RegisterTile::Part &part : parts)
          tile.store(*sum++, block.result, loops.plus(first, r), part);
    });
  });
}

void BlockKernel::build(const Block &block) {
  copy = tile.scratch({kPiece, tile.padded(columns)});
  tile.forEachGroup(columns, [&](const RegisterTile::Parts &parts) {
    Value zero = loops.splat(0, loops.isa.lanes);
    loops.each(loops.index(0), loops.index(block.rows), 1, [&](Value row) {
      for (const RegisterTile::Part &part : parts)
        tile.store(zero, block.result, loops.plus(block.first, row), part);
    });
  });
  loops.each(loops.index(0), block.positions, kPiece, [&](Value begin) {
    Value count =
        loops.least(loops.minus(block.positions, begin), loops.index(kPiece));
    copyPiece(block, begin, count);
    multiplyPiece(block, begin, count);
  });
}

/// The projection of a head: [k, longest].
static Value projectionOf(VectorLoops &loops, ProjectSequenceOp op,
                          Value head) {
  Value projection = op.getProjection();
  if (cast<MemRefType>(projection.getType()).getRank() == 2)
    return projection;
  return headRows(loops, projection, head, loops.index(0), op.getLongest());
}

/// Positions of a sentence; none that the projection has no column for.
static Value countPositions(VectorLoops &loops, ProjectSequenceOp op,
                            Value sentence) {
  Value count =
      loops.least(loops.size(op.getInput(), 1), loops.index(op.getLongest()));
  if (!op.getLengths())
    return count;
  return loops.clamp(loops.toIndex(loops.load(op.getLengths(), sentence)),
                     loops.index(0), count);
}

void heddle::emitKernel(ProjectSequenceOp op, RowKernel &kernel) {
  int64_t heads = op.getHeads(), rows = op.getRows();
  int64_t width = widthOf(op.getInput()) / heads;
  int64_t columns = RegisterTile::blockOf(width, kernel.isa.lanes);
  int64_t blocks = width / columns;
  VectorLoops counters(kernel.loops.builder, kernel.loops.loc, kernel.isa);
  // Blocks of columns of all heads in a row, then of all sentences.
  Value units = counters.times(counters.size(op.getInput(), 0), heads * blocks);
  auto emitRows = [&](int64_t first, int64_t count, int64_t size) {
    // Sentences have tens of positions.
    int64_t work = 32 * size * columns / kProductsOfElement;
    kernel.forEachRow(counters.times(units, count), work, [&](Value unit) {
      BlockKernel block(kernel, columns);
      VectorLoops &loops = block.loops;
      Value rowBlock = loops.dividedBy(unit, heads * blocks);
      Value sentence = loops.dividedBy(rowBlock, count);
      auto remainder = [&](Value value, int64_t divisor) -> Value {
        return arith::RemUIOp::create(loops.builder, loops.loc, value,
                                      loops.index(divisor));
      };
      Value column = remainder(unit, heads * blocks);
      block.build(
          {headRows(loops, op.getInput(), sentence, column, columns),
           projectionOf(loops, op, loops.dividedBy(column, blocks)),
           headRows(loops, op.getDestination(), sentence, column, columns),
           loops.plus(loops.times(remainder(rowBlock, count), size), first),
           countPositions(loops, op, sentence), size});
    });
  };
  int64_t whole = rows / kRowBlock, left = rows % kRowBlock;
  if (whole > 0)
    emitRows(0, whole, kRowBlock);
  if (left > 0)
    emitRows(whole * kRowBlock, 1, left);
}
