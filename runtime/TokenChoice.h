//===- TokenChoice.h - Which token comes next -------------------*- C++ -*-===//
//
// The constraints of a model's generation settings, with the meaning that the
// logits processors of Hugging Face transformers 4.57 give them, and the
// greedy choice among what they leave.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_TOKENCHOICE_H
#define HEDDLE_RUNTIME_TOKENCHOICE_H

#include "runtime/Manifest.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace heddle {

/// The scores of the next token: of the whole vocabulary, or of a sentence's
/// candidates (ascending ids). Borrowed, and changed by the choice.
struct NextTokenLogits {
  float *values;
  int64_t count;
  /// Null: value i belongs to id i.
  const int32_t *candidates = nullptr;
};

/// The largest logit of each of `count` ranges of the vocabulary, and the first
/// id that has it, among those that `writeForbidden` does not name. An id of -1
/// stands where none is above -inf; the value is then NaN if one is no number.
struct LargestLogits {
  const float *values;
  const int32_t *ids;
  int64_t count;
};

/// How many ids `writeForbidden` names at most.
int64_t mostForbidden(const Generation &generation);
/// The ids that may not follow `generated`, in any order and more than once,
/// then -1, up to `count` of them.
void writeForbidden(const Generation &generation,
                    const std::vector<int32_t> &generated, int32_t *ids,
                    int64_t count);

/// The token that follows `generated` in a sentence that may have `limit`
/// tokens: the forced one, or the allowed one with the largest logit, on a tie
/// the one with the lowest id. Where nothing is allowed, not even what is
/// forced, all logits are -inf and id 0 wins the tie. Where no logit is a
/// number, the sentence ends. Forced tokens need not be candidates.
int32_t chooseToken(const Generation &generation,
                    const std::vector<int32_t> &generated, int64_t limit,
                    NextTokenLogits logits);
/// The same of what the allowed logits have been reduced to.
int32_t chooseToken(const Generation &generation,
                    const std::vector<int32_t> &generated, int64_t limit,
                    LargestLogits logits);

/// How many tokens a sentence of `sourceLength` tokens may generate, at least
/// one: `requested`, or else what the model's settings say; in either case no
/// more than it has positions.
int64_t lengthLimit(const Generation &generation, int64_t sourceLength,
                    std::optional<int64_t> requested);

} // namespace heddle

#endif // HEDDLE_RUNTIME_TOKENCHOICE_H
