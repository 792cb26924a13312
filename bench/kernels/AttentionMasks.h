//===- AttentionMasks.h - Masks that attention is timed under ---*- C++ -*-===//

#ifndef HEDDLE_BENCH_KERNELS_ATTENTIONMASKS_H
#define HEDDLE_BENCH_KERNELS_ATTENTIONMASKS_H

#include "bench/kernels/EntryText.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace heddle::bench {

/// What a mask reads beside %lengths: its dims, and its values, for n
/// positions.
struct MaskArgument {
  std::string name, element;
  Sizes (*sizes)(int64_t n);
  std::vector<int32_t> (*values)(int64_t n);
};

/// A mask as IR, values and ops of which the last is %mask, which may name
/// %lengths, all of them n, and its arguments; and how many keys query i of n
/// sees. NAME(TYPE) in an op becomes the type of that argument.
struct AttentionMask {
  std::vector<std::pair<std::string, std::string>> ops;
  int64_t (*keys)(int64_t i, int64_t n);
  std::vector<MaskArgument> arguments = {};
};

/// By name: "window" are the last 256 keys, "near" those to both sides:
/// Longformer's, with two global tokens in "global" and three listed ones in
/// "tokens"; "dilated" has as many, every second one, and "where" two thirds of
/// them, by a predicate. "bigbird" has blocks of 64: three around the query's,
/// three drawn ones and two that are global; "random" and "blocks" have eight
/// of them, drawn and listed. "drawn" and "listed" have 64 single keys,
/// "segments" 512 keys each, "prefix" 1024 keys beside the causal ones. "table"
/// has three pairs of four.
const std::map<std::string, AttentionMask> &attentionMasks();

} // namespace heddle::bench

#endif // HEDDLE_BENCH_KERNELS_ATTENTIONMASKS_H
