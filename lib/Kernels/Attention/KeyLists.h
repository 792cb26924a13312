//===- KeyLists.h - Keys that lists give one by one -------------*- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_ATTENTION_KEYLISTS_H
#define HEDDLE_LIB_KERNELS_ATTENTION_KEYLISTS_H

#include "dialect/Transformer.h"
#include "lib/CodeGen/Machine/Target.h"

namespace heddle {

/// Build what KeyListOpInterface says, in front of `op`; replace its result.
void emitListSize(ListSizeOp op, const IsaLevel &isa);
void emitListedKeys(ListedKeysOp op, const IsaLevel &isa);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_ATTENTION_KEYLISTS_H
