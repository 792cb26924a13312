//===- AttentionMasks.h - Masks that attention is timed under ---*- C++ -*-===//

#ifndef HEDDLE_BENCH_KERNELS_ATTENTIONMASKS_H
#define HEDDLE_BENCH_KERNELS_ATTENTIONMASKS_H

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace heddle::bench {

/// A mask as IR, values and ops of which the last is %mask, which may name
/// %lengths, all of them n; and how many keys query i of n sees.
struct AttentionMask {
  std::vector<std::pair<std::string, std::string>> ops;
  int64_t (*keys)(int64_t i, int64_t n);
};

/// By name: "window" are the last 256 keys, "near" those to both sides:
/// Longformer's, with two global tokens in "global"; "dilated" has as many,
/// every second one. "bigbird" has blocks of 64: three around the query's,
/// three drawn ones and two that are global; "drawn" 64 single keys.
const std::map<std::string, AttentionMask> &attentionMasks();

} // namespace heddle::bench

#endif // HEDDLE_BENCH_KERNELS_ATTENTIONMASKS_H
