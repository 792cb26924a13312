//===- ProjectionKernel.cpp - Kernels of projected sequences --------------===//
//
// A task has a block of rows and of columns of the result. Positions pass in
// pieces: a piece of x is copied to scratch memory, since its rows are as far
// apart as x is wide and share few sets of the L1 cache, and all rows of the
// projection pass over it. Sums wait in the result between pieces and go on
// from there: an element's are in ascending order of positions.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Linear/ProjectionKernel.h"
#include "lib/Kernels/Vectors/HeadRow.h"
#include "lib/Kernels/Vectors/RegisterTile.h"

using namespace mlir;
using namespace heddle;

/// Positions of a piece: 32 KB of a block of 64 columns.
static constexpr int64_t kPiece = 128;
/// Rows of the result that share a copy of x, and groups of columns that share
/// the projection's piece: what each is read again for.
static constexpr int64_t kRowBlock = 128;
static constexpr int64_t kMostGroups = 4;
/// Multiply-adds that take as long as loading and storing an element.
static constexpr int64_t kProductsOfElement = 32;

namespace {
/// A task's part of the result.
struct Block {
  /// [k, longest] of all its columns.
  Value projection;
  /// Rows of the result, the first and how many.
  Value first;
  int64_t rows;
  /// Positions of x.
  Value positions;
  /// Views of x, [n, columns], and of the result, [k, columns]: of each of
  /// `groups` groups of columns.
  int64_t groups;
  function_ref<Value(Value)> input, result;
};

class BlockKernel {
public:
  BlockKernel(RowKernel &kernel, int64_t columns)
      : loops(kernel.loops.builder, kernel.loops.loc, kernel.isa), tile(loops),
        columns(columns) {}

  VectorLoops loops;

  void build(const Block &block);

private:
  void clear(const Block &block, Value result);
  void copyPiece(Value input, Value begin, Value count);
  void multiplyPiece(const Block &block, Value result, Value begin,
                     Value count);

  RegisterTile tile;
  int64_t columns;
  /// x of a piece of positions.
  Value copy;
};
} // namespace

void BlockKernel::clear(const Block &block, Value result) {
  Value zero = loops.f32(0, loops.isa.lanes);
  loops.each(loops.index(0), loops.index(block.rows), 1, [&](Value row) {
    tile.forEachGroup(columns, [&](const RegisterTile::Parts &parts) {
      for (const RegisterTile::Part &part : parts)
        tile.store(zero, result, loops.add(block.first, row), part);
    });
  });
}

void BlockKernel::copyPiece(Value input, Value begin, Value count) {
  loops.each(loops.index(0), count, 1, [&](Value j) {
    Value row = loops.add(begin, j);
    tile.fetch(input, loops.add(row, kPiece), loops.index(0), columns);
    tile.forEachGroup(columns, [&](const RegisterTile::Parts &parts) {
      for (const RegisterTile::Part &part : parts)
        loops.storeVector(tile.load(input, row, part), copy,
                          {j, loops.index(part.column)});
    });
  });
}

void BlockKernel::multiplyPiece(const Block &block, Value result, Value begin,
                                Value count) {
  tile.forEachRows(block.rows, [&](Value row, int64_t rows) {
    Value first = loops.add(block.first, row);
    tile.forEachGroup(columns, [&](const RegisterTile::Parts &parts) {
      RegisterTile::Sums sums;
      for (int64_t r = 0; r < rows; ++r)
        for (const RegisterTile::Part &part : parts)
          sums.push_back(tile.load(result, loops.add(first, r), part));
      sums = tile.multiply(
          loops.index(0), count, parts, sums,
          [&](Value j, int64_t r) {
            return loops.load(block.projection,
                              {loops.add(first, r), loops.add(begin, j)});
          },
          [&](Value j, const RegisterTile::Part &part) {
            return tile.loadWhole(copy, j, part);
          });
      auto sum = sums.begin();
      for (int64_t r = 0; r < rows; ++r)
        for (const RegisterTile::Part &part : parts)
          tile.store(*sum++, result, loops.add(first, r), part);
    });
  });
}

void BlockKernel::build(const Block &block) {
  copy = tile.scratch({kPiece, tile.padded(columns)});
  auto forEachGroup = [&](function_ref<void(Value)> body) {
    loops.each(loops.index(0), loops.index(block.groups), 1, body);
  };
  forEachGroup([&](Value group) { clear(block, block.result(group)); });
  loops.each(loops.index(0), block.positions, kPiece, [&](Value begin) {
    Value count =
        loops.min(loops.sub(block.positions, begin), loops.index(kPiece));
    // What all groups of the next piece multiply comes while these are at it.
    loops.each(loops.index(0), loops.index(block.rows), 1, [&](Value row) {
      tile.fetch(block.projection, loops.add(block.first, row),
                 loops.add(begin, kPiece), kPiece);
    });
    forEachGroup([&](Value group) {
      copyPiece(block.input(group), begin, count);
      multiplyPiece(block, block.result(group), begin, count);
    });
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
      loops.min(loops.size(op.getInput(), 1), loops.index(op.getLongest()));
  if (!op.getLengths())
    return count;
  return loops.clamp(loops.toIndex(loops.load(op.getLengths(), sentence)),
                     loops.index(0), count);
}

/// Groups of columns of a task: as many equal shares of a head's as divide
/// them.
static int64_t groupsOfTask(int64_t groups) {
  int64_t share = kMostGroups;
  while (groups % share != 0)
    --share;
  return share;
}

void heddle::emitKernel(ProjectSequenceOp op, RowKernel &kernel) {
  int64_t width = widthOf(op.getInput()) / op.getHeads();
  int64_t columns = RegisterTile::blockOf(width, kernel.isa.lanes);
  int64_t groups = groupsOfTask(width / columns);
  // Shares of the columns of a head, and of all.
  int64_t headShares = width / columns / groups;
  int64_t shares = op.getHeads() * headShares;
  VectorLoops counters(kernel.loops.builder, kernel.loops.loc, kernel.isa);
  Value units = counters.mul(counters.size(op.getInput(), 0), shares);
  // Of the rows from `first` on, `count` blocks of `rows`.
  auto emitRows = [&](int64_t first, int64_t count, int64_t rows) {
    // Sentences have tens of positions.
    int64_t work = 32 * rows * columns * groups / kProductsOfElement;
    kernel.forEachRow(counters.mul(units, count), work, [&](Value unit) {
      BlockKernel block(kernel, columns);
      VectorLoops &loops = block.loops;
      Value share = loops.urem(unit, shares);
      Value rowBlock = loops.udiv(unit, shares);
      Value sentence = loops.udiv(rowBlock, count);
      auto columnsOf = [&](Value memref, Value group) {
        Value number = loops.add(loops.mul(share, groups), group);
        return headRows(loops, memref, sentence, number, columns);
      };
      block.build(
          {projectionOf(loops, op, loops.udiv(share, headShares)),
           loops.add(loops.mul(loops.urem(rowBlock, count), rows), first), rows,
           countPositions(loops, op, sentence), groups,
           [&](Value group) { return columnsOf(op.getInput(), group); },
           [&](Value group) { return columnsOf(op.getDestination(), group); }});
    });
  };
  int64_t whole = op.getRows() / kRowBlock, left = op.getRows() % kRowBlock;
  if (whole > 0)
    emitRows(0, whole, kRowBlock);
  if (left > 0)
    emitRows(whole * kRowBlock, 1, left);
}
