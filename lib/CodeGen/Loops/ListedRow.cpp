//===- ListedRow.cpp - One comparison finds numbers that are no rows ------===//
//
// Lists are filled up with numbers that are no rows. A negative number is large
// without its sign, so that one unsigned comparison finds numbers on either
// side. Such a number reads row 0 in place of its own: the load needs no
// branch, and the caller selects what the row gives.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/Loops/ListedRow.h"
#include "lib/CodeGen/Loops/Loops.h"

using namespace mlir;
using namespace heddle;

ListedRow heddle::findListedRow(OpBuilder &builder, Location loc, Value number,
                                Value rows) {
  Loops loops(builder, loc);
  int64_t axis = cast<MemRefType>(rows.getType()).getRank() - 2;
  Value row = loops.toIndex(number);
  Value isRow = loops.uless(row, loops.size(rows, axis));
  return {isRow, loops.select(isRow, row, loops.index(0))};
}

ListedPlace heddle::findListedPlace(OpBuilder &builder, Location loc,
                                    const RowLists &lists, ValueRange at) {
  Loops loops(builder, loc);
  Value number = loops.load(lists.tokens, at);
  if (!lists.starts) {
    ListedRow listed = findListedRow(builder, loc, number, lists.rows);
    SmallVector<Value, 2> row(at.drop_back());
    row.push_back(listed.row);
    return {listed.isRow, row};
  }
  auto ofSequence = [&](Value list) {
    return loops.toIndex(loops.load(list, at.front()));
  };
  Value position = loops.toIndex(number);
  Value isRow = loops.uless(position, ofSequence(lists.lengths));
  Value row = loops.add(ofSequence(lists.starts), position);
  return {isRow, {loops.select(isRow, row, loops.index(0))}};
}
