#include "bench/kernels/OneDnn.h"

namespace heddle::bench {

static constexpr auto kF32 = dnnl::memory::data_type::f32;
static constexpr auto kInference = dnnl::prop_kind::forward_inference;

/// The strides of row-major memory.
static OneDnn::Dims stridesOf(const OneDnn::Dims &dims) {
  OneDnn::Dims strides(dims.size(), 1);
  for (size_t axis = dims.size() - 1; axis > 0; --axis)
    strides[axis - 1] = strides[axis] * dims[axis];
  return strides;
}

static dnnl::memory filled(const dnnl::memory::desc &description,
                           const dnnl::engine &engine,
                           const std::vector<float> &values) {
  dnnl::memory result(description, engine);
  std::copy(values.begin(), values.end(),
            static_cast<float *>(result.get_data_handle()));
  return result;
}

OneDnn::Memory OneDnn::memory(const Dims &dims,
                              const std::vector<float> &values) {
  return filled({dims, kF32, stridesOf(dims)}, engine, values);
}

OneDnn::Memory OneDnn::transposed(const Dims &dims,
                                  const std::vector<float> &values) {
  Dims stored = dims;
  std::swap(stored.back(), stored[stored.size() - 2]);
  Dims strides = stridesOf(stored);
  std::swap(strides.back(), strides[strides.size() - 2]);
  return filled({dims, kF32, strides}, engine, values);
}

OneDnn::Memory OneDnn::part(const Memory &whole, int64_t first,
                            const Dims &dims) {
  wholes.push_back(whole);
  return Memory({dims, kF32, stridesOf(dims)}, engine,
                static_cast<float *>(whole.get_data_handle()) + first);
}

void OneDnn::matmul(const Memory &x, const Memory &weight, const Memory &y,
                    const Memory &bias) {
  dnnl::matmul::primitive_desc description(
      bias ? dnnl::matmul::desc(x.get_desc(), weight.get_desc(),
                                bias.get_desc(), y.get_desc())
           : dnnl::matmul::desc(x.get_desc(), weight.get_desc(), y.get_desc()),
      engine);
  Arguments arguments = {
      {DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, weight}, {DNNL_ARG_DST, y}};
  if (bias)
    arguments[DNNL_ARG_BIAS] = bias;
  steps.push_back({dnnl::matmul(description), std::move(arguments)});
}

void OneDnn::linear(const Memory &x, const Memory &weight, const Memory &bias,
                    const Memory &y, dnnl::algorithm activation,
                    const Memory &residual) {
  dnnl::post_ops operations;
  if (activation != dnnl::algorithm::undef)
    operations.append_eltwise(/*scale=*/1, activation, /*alpha=*/0,
                              /*beta=*/0);
  Arguments arguments = {
      {DNNL_ARG_SRC, x}, {DNNL_ARG_BIAS, bias}, {DNNL_ARG_DST, y}};
  if (residual) {
    int place = DNNL_ARG_ATTR_MULTIPLE_POST_OP(operations.len());
    operations.append_binary(dnnl::algorithm::binary_add, residual.get_desc());
    arguments[place | DNNL_ARG_SRC_1] = residual;
  }
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(operations);
  Memory::desc any(weight.get_desc().dims(), kF32, Memory::format_tag::any);
  dnnl::matmul::primitive_desc description(
      dnnl::matmul::desc(x.get_desc(), any, bias.get_desc(), y.get_desc()),
      attributes, engine);
  arguments[DNNL_ARG_WEIGHTS] = converted(weight, description.weights_desc());
  steps.push_back({dnnl::matmul(description), std::move(arguments)});
}

OneDnn::Memory OneDnn::converted(const Memory &from, const Memory::desc &to) {
  Memory result(to, engine);
  Memory plain = from;
  dnnl::reorder(plain, result).execute(stream, plain, result);
  stream.wait();
  return result;
}

void OneDnn::product(Memory::data_type type, const Memory &x,
                     const Memory &weight, const std::vector<float> &scales,
                     const Memory &y) {
  Dims xDims = x.get_desc().dims();
  Memory::desc shortX(xDims, type, stridesOf(xDims));
  Memory::desc any(weight.get_desc().dims(), type, Memory::format_tag::any);
  dnnl::primitive_attr attributes;
  if (!scales.empty()) // One for each column, the last dim of y.
    attributes.set_output_scales(/*mask=*/1 << 1, scales);
  dnnl::matmul::primitive_desc description(
      dnnl::matmul::desc(shortX, any, y.get_desc()), attributes, engine);
  steps.push_back(
      {dnnl::matmul(description),
       {{DNNL_ARG_SRC, converted(x, shortX)},
        {DNNL_ARG_WEIGHTS, converted(weight, description.weights_desc())},
        {DNNL_ARG_DST, y}}});
}

void OneDnn::layerNorm(const Memory &x, const Memory &gamma, const Memory &beta,
                       float epsilon, const Memory &y) {
  using dnnl::normalization_flags;
  dnnl::layer_normalization_forward::primitive_desc description(
      dnnl::layer_normalization_forward::desc(
          kInference, x.get_desc(), epsilon,
          normalization_flags::use_scale | normalization_flags::use_shift),
      engine);
  steps.push_back({dnnl::layer_normalization_forward(description),
                   {{DNNL_ARG_SRC, x},
                    {DNNL_ARG_SCALE, gamma},
                    {DNNL_ARG_SHIFT, beta},
                    {DNNL_ARG_DST, y}}});
}

void OneDnn::softmax(const Memory &x, const Memory &y) {
  dnnl::softmax_forward::primitive_desc description(
      dnnl::softmax_forward::desc(kInference, x.get_desc(), /*axis=*/1),
      engine);
  steps.push_back({dnnl::softmax_forward(description),
                   {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y}}});
}

void OneDnn::activation(dnnl::algorithm kind, float alpha, const Memory &x,
                        const Memory &y) {
  dnnl::eltwise_forward::primitive_desc description(
      dnnl::eltwise_forward::desc(kInference, kind, x.get_desc(), alpha,
                                  /*beta=*/0),
      engine);
  steps.push_back({dnnl::eltwise_forward(description),
                   {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y}}});
}

void OneDnn::add(const Memory &a, const Memory &b, const Memory &y) {
  dnnl::binary::primitive_desc description(
      dnnl::binary::desc(dnnl::algorithm::binary_add, a.get_desc(),
                         b.get_desc(), y.get_desc()),
      engine);
  steps.push_back(
      {dnnl::binary(description),
       {{DNNL_ARG_SRC_0, a}, {DNNL_ARG_SRC_1, b}, {DNNL_ARG_DST, y}}});
}

Peer OneDnn::peer(std::shared_ptr<OneDnn> primitives, const Memory &y) {
  return {"onednn",
          [primitives] {
            for (auto &[primitive, arguments] : primitives->steps)
              primitive.execute(primitives->stream, arguments);
            primitives->stream.wait();
          },
          static_cast<const float *>(y.get_data_handle())};
}

} // namespace heddle::bench
