//===- Layers.h - The layers that bench-kernels measures --------*- C++ -*-===//
//
// Each function adds cases, compiled for an ISA level, and returns an error's
// sentence, or nothing.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_BENCH_KERNELS_LAYERS_H
#define HEDDLE_BENCH_KERNELS_LAYERS_H

#include <string>

namespace heddle::bench {

/// y = x W + b for many shapes, beside oneDNN's f32 matmul with weights in the
/// order that it likes best.
std::string addGemms(const std::string &target);
std::string addShortGemms(const std::string &target);

/// Linears with activation, residual and norm, and ffn, beside the primitives
/// of oneDNN that together do the same.
std::string addFused(const std::string &target);

/// Attention over head widths, lengths and masks. Rates count the pairs of the
/// mask alone. The full form without a mask stands beside oneDNN's matmul,
/// softmax and matmul.
std::string addAttention(const std::string &target);

/// Linear attention and projected sequences, full, causal and by steps, and
/// attention with softmax of the same shapes.
std::string addLinearAttention(const std::string &target);

/// Norms, activations, add, copies and fill.
std::string addRows(const std::string &target);

/// What reads rows of tables: embeddings, positions and the logits of
/// candidates.
std::string addLookups(const std::string &target);

/// Recurrences and caches.
std::string addStates(const std::string &target);

} // namespace heddle::bench

#endif // HEDDLE_BENCH_KERNELS_LAYERS_H
