//===- ChoiceLoops.h - Loops of largest_logits and best_logits --*- C++ -*-===//
//
// The reference: all logits of a row, then what is kept of each range.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_CODEGEN_LOOPS_CHOICELOOPS_H
#define HEDDLE_LIB_CODEGEN_LOOPS_CHOICELOOPS_H

#include "dialect/Transformer.h"
#include "lib/CodeGen/Loops/Loops.h"

namespace heddle {

void loopOverLargest(LargestLogitsOp op, Loops &loops);
void loopOverBest(BestLogitsOp op, Loops &loops);

} // namespace heddle

#endif // HEDDLE_LIB_CODEGEN_LOOPS_CHOICELOOPS_H
