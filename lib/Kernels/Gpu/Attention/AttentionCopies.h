//===- AttentionCopies.h - Tiles for attention by warpgroups ----*- C++ -*-===//
//
// What the warpgroup that copies does (AttentionWarpgroups.h): queries, then
// tiles of keys, each followed by that of values of the tile before.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_GPU_ATTENTION_ATTENTIONCOPIES_H
#define HEDDLE_LIB_KERNELS_GPU_ATTENTION_ATTENTIONCOPIES_H

#include "lib/Kernels/Gpu/Attention/AttentionPlace.h"

namespace heddle {

/// Builds what each of its threads does.
void copyTiles(AttentionPlace &place);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_ATTENTION_ATTENTIONCOPIES_H
