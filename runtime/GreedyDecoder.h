//===- GreedyDecoder.h - The likeliest token, again and again ---*- C++ -*-===//
//
// Generates target ids for a batch of source ids. A sentence's result depends
// on nothing but that sentence: not on the batch, its order or its padding.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_GREEDYDECODER_H
#define HEDDLE_RUNTIME_GREEDYDECODER_H

#include "runtime/Result.h"
#include "runtime/Session.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace heddle {

struct DecodeOptions {
  /// Generated tokens, eos included, in place of the model's own limits: from
  /// 1 to the largest int32_t.
  std::optional<int64_t> maxLength;
  /// The same for the fewest: eos is no choice before. A limit that comes
  /// earlier ends the sentence nevertheless.
  std::optional<int64_t> minLength;
  /// Where the model has a shortlist.
  bool useShortlist = true;
};

/// One list of generated ids a source: eos included where it came, without the
/// start token. Errors are those of Session::begin, and a model without the
/// entries or the start token that generation needs.
Result<std::vector<TokenIds>> decodeGreedy(const Model &model, Session &session,
                                           const std::vector<TokenIds> &sources,
                                           const DecodeOptions &options);

} // namespace heddle

#endif // HEDDLE_RUNTIME_GREEDYDECODER_H
