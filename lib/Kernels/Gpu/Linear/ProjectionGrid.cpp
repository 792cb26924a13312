//===- ProjectionGrid.cpp - project_sequence on a GPU ---------------------===//
//
// A thread sums one column of eight rows, so that an element of x is loaded
// once for eight products. Positions go four at a time: their loads are under
// way together, and four factors of a row are one load of 16 bytes if the rows
// allow it. The last one to three positions take one more round, with a
// condition for each.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Gpu/Linear/ProjectionGrid.h"
#include "lib/Kernels/Gpu/Threads/BlockCode.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace heddle;

static constexpr int64_t kThreads = 128;
/// Rows of the result of a thread, and positions whose loads are under way at
/// once: those of a piece of 16 bytes of the projection.
static constexpr int64_t kRows = 8, kPositions = 4;

namespace {
/// What a thread does; numbers are i32.
class ProjectedColumn {
public:
  ProjectedColumn(ProjectSequenceOp op, Value sentence, Value firstRow,
                  Value column, BlockCode &code);

  void build();

private:
  Value countPositions();
  SmallVector<Value> addPositions(Value first, Value end, ValueRange sums);

  ProjectSequenceOp op;
  BlockCode &code;
  Value sentence, firstRow, column;
  int64_t width, longest;
  /// To the column in the first position of x, and to rows of the projection.
  Value x;
  SmallVector<Value> rows;
};
} // namespace

ProjectedColumn::ProjectedColumn(ProjectSequenceOp op, Value sentence,
                                 Value firstRow, Value column, BlockCode &code)
    : op(op), code(code), sentence(sentence), firstRow(firstRow),
      column(column), width(typeOf(op.getInput()).getShape().back()),
      longest(op.getLongest()) {
  Value length = code.toI32(code.size(op.getInput(), 1));
  Value first =
      code.at(code.global(op.getInput()),
              code.rowOffset(code.mul(sentence, length), code.i32(4 * width)));
  x = code.at(first, code.mul(column, 4));
  // Behind the last row it is read again.
  Value before =
      code.mul(code.udiv(column, width / op.getHeads()),
               typeOf(op.getProjection()).getRank() == 3 ? op.getRows() : 0);
  for (int64_t number = 0; number < kRows; ++number) {
    Value row =
        code.umin(code.add(firstRow, number), code.i32(op.getRows() - 1));
    rows.push_back(
        code.at(code.global(op.getProjection()),
                code.rowOffset(code.add(before, row), code.i32(4 * longest))));
  }
}

/// Of the sentence; none that the projection has no column for.
Value ProjectedColumn::countPositions() {
  Value count =
      code.umin(code.toI32(code.size(op.getInput(), 1)), code.i32(longest));
  if (!op.getLengths())
    return count;
  return code.umin(count, code.loadWord(op.getLengths(), sentence));
}

/// The sums with positions from `first` on, all of them or, where `end` is
/// given, those before it.
SmallVector<Value> ProjectedColumn::addPositions(Value first, Value end,
                                                 ValueRange sums) {
  Type f32 = code.builder.getF32Type();
  SmallVector<Value> positions, loaded;
  for (int64_t ahead = 0; ahead < kPositions; ++ahead) {
    Value position = code.add(first, ahead);
    positions.push_back(position);
    // Behind the last position it is read again.
    Value at = end ? code.umin(position, code.sub(end, code.i32(1))) : position;
    loaded.push_back(
        code.loadOne(f32, code.at(x, code.rowOffset(at, code.i32(4 * width)))));
  }
  SmallVector<Value> next;
  for (auto [row, sum] : llvm::zip(rows, sums)) {
    FourWords factors;
    if (longest % kPositions == 0)
      factors = code.loadFour(f32, code.at(row, code.mul(first, 4)));
    else
      for (auto [factor, position] : llvm::zip(factors, positions)) {
        Value at = code.umin(position, code.i32(longest - 1));
        factor = code.loadOne(f32, code.at(row, code.mul(at, 4)));
      }
    Value result = sum;
    for (int64_t ahead = 0; ahead < kPositions; ++ahead) {
      Value added = code.fma(factors[ahead], loaded[ahead], result);
      result =
          end ? code.select(code.uless(positions[ahead], end), added, result)
              : added;
    }
    next.push_back(result);
  }
  return next;
}

void ProjectedColumn::build() {
  Value count = countPositions();
  Value whole = code.udiv(count, kPositions);
  SmallVector<Value> sums(kRows, code.f32(0));
  sums = code.foldAll(whole, sums, [&](Value number, ValueRange now) {
    return addPositions(code.mul(number, kPositions), Value(), now);
  });
  Value first = code.mul(whole, kPositions);
  Value others = code.umin(code.sub(count, first), code.i32(1));
  sums = code.foldAll(others, sums, [&](Value, ValueRange now) {
    return addPositions(first, count, now);
  });
  Value before = code.mul(sentence, op.getRows());
  for (int64_t number = 0; number < kRows; ++number) {
    Value row = code.add(firstRow, number);
    code.ifThen(code.uless(row, code.i32(op.getRows())), [&] {
      Value to =
          code.at(code.global(op.getDestination()),
                  code.rowOffset(code.add(before, row), code.i32(4 * width)));
      code.storeOne(sums[number], code.at(to, code.mul(column, 4)));
    });
  }
}

LogicalResult heddle::emitGrid(ProjectSequenceOp op) {
  int64_t width = typeOf(op.getInput()).getShape().back();
  if (!areDense(op->getOperands()) || ShapedType::isDynamic(width))
    return failure();
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Loops loops(builder, loc);
  int64_t rowBlocks = llvm::divideCeil(op.getRows(), kRows);
  Value units = loops.mul(loops.size(op.getInput(), 0), rowBlocks);
  Value columns = loops.mul(units, width);
  Value blocks = loops.uceilDiv(columns, kThreads);
  createGrid(builder, loc, blocks, {kThreads},
             [&](BlockCode &code, Value block) {
               auto [unit, column] = code.placeInRows(block, code.i32(width));
               code.ifThen(code.uless(unit, code.toI32(units)),
                           [&, unit = unit, column = column] {
                             Value firstRow =
                                 code.mul(code.urem(unit, rowBlocks), kRows);
                             ProjectedColumn(op, code.udiv(unit, rowBlocks),
                                             firstRow, column, code)
                                 .build();
                           });
             });
  return success();
}
