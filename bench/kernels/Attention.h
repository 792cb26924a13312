//===- Attention.h - Full and step forms of attention -----------*- C++ -*-===//

#ifndef HEDDLE_BENCH_KERNELS_ATTENTION_H
#define HEDDLE_BENCH_KERNELS_ATTENTION_H

#include <string>

namespace heddle::bench {

/// Adds attention over head widths, lengths and masks, compiled for an ISA
/// level. Rates count the pairs of the mask alone. The full form without a mask
/// stands beside oneDNN's matmul, softmax and matmul. Returns an error's
/// sentence, or nothing.
std::string addAttention(const std::string &target);

} // namespace heddle::bench

#endif // HEDDLE_BENCH_KERNELS_ATTENTION_H
