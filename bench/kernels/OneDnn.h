//===- OneDnn.h - The same layers in primitives of oneDNN -------*- C++ -*-===//
//
// A peer is a list of primitives with their memory: made once, then run in
// order, on one thread. Weights are in the order that a primitive likes best;
// what may be fused as a post-op of a matmul is.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_BENCH_KERNELS_ONEDNN_H
#define HEDDLE_BENCH_KERNELS_ONEDNN_H

#include "bench/kernels/LayerCases.h"

#include <memory>
#include <oneapi/dnnl/dnnl.hpp>

namespace heddle::bench {

class OneDnn {
public:
  using Memory = dnnl::memory;
  using Dims = dnnl::memory::dims;

  /// f32 memory, row-major, or with the last two dims stored in turned order.
  Memory memory(const Dims &dims, const std::vector<float> &values = {});
  Memory transposed(const Dims &dims, const std::vector<float> &values);
  /// Row-major memory inside of `whole`, from an element on.
  Memory part(const Memory &whole, int64_t first, const Dims &dims);

  /// y = x W + b, all of them as they are; b may be missing.
  void matmul(const Memory &x, const Memory &weight, const Memory &y,
              const Memory &bias = Memory());
  /// y = residual + activation(x W + b); W may be reordered, and activation
  /// and residual be missing.
  void linear(const Memory &x, const Memory &weight, const Memory &bias,
              const Memory &y,
              dnnl::algorithm activation = dnnl::algorithm::undef,
              const Memory &residual = Memory());
  /// y = x W * scales, x and W of `type` and y of f32; W may be reordered. All
  /// memory is of f32 and converted before; scales, one a column, may be
  /// missing.
  void product(Memory::data_type type, const Memory &x, const Memory &weight,
               const std::vector<float> &scales, const Memory &y);
  void layerNorm(const Memory &x, const Memory &gamma, const Memory &beta,
                 float epsilon, const Memory &y);
  void softmax(const Memory &x, const Memory &y);
  void activation(dnnl::algorithm kind, float alpha, const Memory &x,
                  const Memory &y);
  void add(const Memory &a, const Memory &b, const Memory &y);

  /// Ends with the result in `y`.
  static Peer peer(std::shared_ptr<OneDnn> primitives, const Memory &y);

private:
  Memory converted(const Memory &from, const Memory::desc &to);

  using Arguments = std::unordered_map<int, dnnl::memory>;

  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  std::vector<std::pair<dnnl::primitive, Arguments>> steps;
  /// What others are parts of, which do not keep it.
  std::vector<Memory> wholes;
};

} // namespace heddle::bench

#endif // HEDDLE_BENCH_KERNELS_ONEDNN_H
