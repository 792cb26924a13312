#include "lib/CodeGen/Loops/ListedRow.h"
#include "lib/CodeGen/Loops/Loops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace heddle;

ListedRow heddle::findListedRow(OpBuilder &builder, Location loc, Value number,
                                Value rows) {
  Loops loops(builder, loc);
  // A negative one is large without its sign.
  Value row = loops.toIndex(number);
  Value isRow = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                      row, loops.size(rows, 1));
  return {isRow,
          arith::SelectOp::create(builder, loc, isRow, row, loops.index(0))};
}
