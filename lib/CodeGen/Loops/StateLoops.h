//===- StateLoops.h - Reference loops of what has a state -------*- C++ -*-===//
//
// The formulas of dialect/States.td on memrefs, as loops in front of the
// builder's insertion point.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_CODEGEN_LOOPS_STATELOOPS_H
#define HEDDLE_LIB_CODEGEN_LOOPS_STATELOOPS_H

#include "dialect/Transformer.h"
#include "lib/CodeGen/Loops/Loops.h"

namespace heddle {

void buildStateLoops(RecurrenceOp op, Loops &loops);
void buildStateLoops(CacheAppendOp op, Loops &loops);
void buildStateLoops(CacheFillOp op, Loops &loops);
void buildStateLoops(LastRowsOp op, Loops &loops);

} // namespace heddle

#endif // HEDDLE_LIB_CODEGEN_LOOPS_STATELOOPS_H
