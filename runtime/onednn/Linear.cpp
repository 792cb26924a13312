//===- Linear.cpp - Linear by oneDNN's matmul -----------------------------===//
//
// libheddle-onednn.so, which alone knows oneDNN: the runtime loads it for the
// artifacts that ask for it and for nobody else. A primitive is made for each
// shape and kept by the thread that made it.
//
//===----------------------------------------------------------------------===//

#include "runtime/code/KernelAbi.h"

#include <oneapi/dnnl/dnnl.hpp>

#include <dlfcn.h>
#include <map>
#include <tuple>
#include <unordered_map>

using namespace dnnl;

namespace {

/// What one primitive serves: rows, in, out, the stride of W, the activation,
/// whether there are a bias and a residual.
using Shape =
    std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t, bool, bool>;

/// Of one thread.
class Primitives {
public:
  Primitives() : cpu(engine::kind::cpu, 0), order(cpu) {
    // The thread is one of Heddle's, which share work themselves. OpenMP, if
    // this oneDNN uses it, counts threads for each caller.
    using SetThreads = void (*)(int);
    if (void *found = dlsym(RTLD_DEFAULT, "omp_set_num_threads"))
      reinterpret_cast<SetThreads>(found)(1);
  }

  const matmul &find(const Shape &shape);
  memory wrap(const memory::desc &description, const float *values) const {
    return memory(description, cpu, const_cast<float *>(values));
  }
  void run(const matmul &primitive,
           const std::unordered_map<int, memory> &arguments) {
    primitive.execute(order, arguments);
    order.wait();
  }

private:
  /// Numbers of rows differ from batch to batch, without an end.
  static constexpr size_t kMost = 4096;

  engine cpu;
  stream order;
  std::map<Shape, matmul> primitives;
};

} // namespace

/// Rows `stride` apart.
static memory::desc matrix(int64_t rows, int64_t columns, int64_t stride) {
  return memory::desc({rows, columns}, memory::data_type::f32,
                      memory::dims{stride, 1});
}
static memory::desc matrix(int64_t rows, int64_t columns) {
  return matrix(rows, columns, columns);
}

/// The dialect's ActivationKind in oneDNN's words.
static void appendActivation(post_ops &operations, int64_t activation) {
  static constexpr std::pair<algorithm, float> kKinds[] = {
      {algorithm::eltwise_relu, 0.0f},      {algorithm::eltwise_gelu_erf, 0.0f},
      {algorithm::eltwise_gelu_tanh, 0.0f}, {algorithm::eltwise_swish, 1.702f},
      {algorithm::eltwise_swish, 1.0f},     {algorithm::eltwise_tanh, 0.0f},
      {algorithm::eltwise_logistic, 0.0f}};
  if (activation >= 0)
    operations.append_eltwise(/*scale=*/1.0f, kKinds[activation].first,
                              /*alpha=*/kKinds[activation].second,
                              /*beta=*/0.0f);
}

const matmul &Primitives::find(const Shape &shape) {
  auto found = primitives.find(shape);
  if (found != primitives.end())
    return found->second;
  auto [rows, in, out, stride, activation, hasBias, hasResidual] = shape;
  post_ops operations;
  appendActivation(operations, activation);
  if (hasResidual)
    operations.append_binary(algorithm::binary_add, matrix(rows, out));
  primitive_attr attributes;
  attributes.set_post_ops(operations);
  memory::desc x = matrix(rows, in), w = matrix(in, out, stride),
               y = matrix(rows, out);
  matmul::desc description =
      hasBias ? matmul::desc(x, w, matrix(1, out), y) : matmul::desc(x, w, y);
  if (primitives.size() >= kMost)
    primitives.clear();
  matmul made(matmul::primitive_desc(description, attributes, cpu));
  return primitives.emplace(shape, made).first->second;
}

void heddle_onednn_linear(const float *input, const float *weight,
                          const float *bias, const float *residual,
                          float *output, int64_t rows, int64_t in, int64_t out,
                          int64_t weightStride, int64_t activation) {
  thread_local Primitives primitives;
  const matmul &primitive =
      primitives.find({rows, in, out, weightStride, activation, bias != nullptr,
                       residual != nullptr});
  std::unordered_map<int, memory> arguments = {
      {DNNL_ARG_SRC, primitives.wrap(matrix(rows, in), input)},
      {DNNL_ARG_WEIGHTS,
       primitives.wrap(matrix(in, out, weightStride), weight)},
      {DNNL_ARG_DST, primitives.wrap(matrix(rows, out), output)}};
  if (bias)
    arguments.emplace(DNNL_ARG_BIAS, primitives.wrap(matrix(1, out), bias));
  if (residual)
    arguments.emplace(DNNL_ARG_ATTR_MULTIPLE_POST_OP(activation < 0 ? 0 : 1) |
                          DNNL_ARG_SRC_1,
                      primitives.wrap(matrix(rows, out), residual));
  primitives.run(primitive, arguments);
}
