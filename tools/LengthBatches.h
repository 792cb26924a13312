//===- LengthBatches.h - Batches of similar length --------------*- C++ -*-===//
//
// The sentences of a batch are padded to the longest of them, so batches are
// made of neighbours in length. No result depends on which ones share a batch.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_LENGTHBATCHES_H
#define HEDDLE_TOOLS_LENGTHBATCHES_H

#include "runtime/Session.h"
#include "tools/BatchPipeline.h"

#include <cstdint>
#include <vector>

namespace heddle {

/// What one batch may hold.
struct BatchLimits {
  int64_t sentences;
  /// Source tokens with padding; a longer sentence has a batch of its own.
  int64_t tokens;
};

/// Divides sentences into batches, the longest first: memory that a batch needs
/// serves all that follow, and workers that end with short batches end
/// together. Sentences without tokens are left out.
std::vector<Batch> divideByLength(std::vector<TokenIds> sources,
                                  const BatchLimits &limits,
                                  std::vector<TokenIds> targets = {});

} // namespace heddle

#endif // HEDDLE_TOOLS_LENGTHBATCHES_H
