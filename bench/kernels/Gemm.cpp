#include "bench/kernels/Gemm.h"
#include "bench/kernels/Comparison.h"
#include "test/kernels/EntryRunner.h"

#include <memory>
#include <oneapi/dnnl/dnnl.hpp>

namespace heddle::bench {

using test::EntryCall;
using test::EntryRunner;
using test::Weight;

namespace {
/// y [rows, columns] = x [rows, depth] W + b.
struct Shape {
  int64_t rows, depth, columns;

  std::string name() const {
    return "gemm " + std::to_string(rows) + "x" + std::to_string(depth) + "x" +
           std::to_string(columns);
  }
  Work work() const {
    return {2.0 * rows * depth * columns,
            4.0 * (depth * columns + rows * (depth + columns))};
  }
};

/// oneDNN's matmul with everything it needs.
struct Matmul {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  dnnl::memory x, weight, bias, y;
  dnnl::matmul primitive;

  Matmul(const Shape &shape, const std::vector<float> &w,
         const std::vector<float> &b);
  void operator()() {
    primitive.execute(stream, {{DNNL_ARG_SRC, x},
                               {DNNL_ARG_WEIGHTS, weight},
                               {DNNL_ARG_BIAS, bias},
                               {DNNL_ARG_DST, y}});
    stream.wait();
  }
};
} // namespace

Matmul::Matmul(const Shape &shape, const std::vector<float> &w,
               const std::vector<float> &b) {
  using dnnl::memory;
  auto f32 = memory::data_type::f32;
  auto rows = memory::format_tag::ab;
  memory::desc plain({shape.depth, shape.columns}, f32, rows);
  memory::desc input({shape.rows, shape.depth}, f32, rows);
  memory::desc vector({1, shape.columns}, f32, rows);
  memory::desc output({shape.rows, shape.columns}, f32, rows);
  memory::desc any({shape.depth, shape.columns}, f32, memory::format_tag::any);
  dnnl::matmul::primitive_desc description(
      dnnl::matmul::desc(input, any, vector, output), engine);
  x = memory(input, engine);
  bias = memory(vector, engine);
  y = memory(output, engine);
  memory stored(plain, engine);
  std::copy(w.begin(), w.end(), static_cast<float *>(stored.get_data_handle()));
  std::copy(b.begin(), b.end(), static_cast<float *>(bias.get_data_handle()));
  weight = memory(description.weights_desc(), engine);
  dnnl::reorder(stored, weight).execute(stream, stored, weight);
  stream.wait();
  std::fill_n(static_cast<float *>(x.get_data_handle()),
              shape.rows * shape.depth, 0.5f);
  primitive = dnnl::matmul(description);
}

static std::string moduleOf(int64_t depth, int64_t columns) {
  std::string in = std::to_string(depth), out = std::to_string(columns);
  std::string x = "tensor<?x" + in + "xf32>",
              w = "tensor<" + in + "x" + out + "xf32>";
  std::string b = "tensor<" + out + "xf32>", y = "tensor<?x" + out + "xf32>";
  return "transformer.parameter @w : " + w +
         "\ntransformer.parameter @b : " + b + "\nfunc.func @gemm(%x: " + x +
         " {transformer.name = \"x\", transformer.dims = [\"rows\"]}) -> (" +
         y +
         " {transformer.name = \"y\"}) {\n  %w = transformer.weight @w : " + w +
         "\n  %b = transformer.weight @b : " + b +
         "\n  %y = transformer.linear %x, %w, %b : (" + x + ", " + w + ", " +
         b + ") -> " + y + "\n  return %y : " + y + "\n}\n";
}

/// Several numbers of rows by one weight.
static std::string addWeight(int64_t depth, int64_t columns,
                             const std::vector<int64_t> &rows,
                             const std::string &target) {
  std::vector<float> w(depth * columns), b(columns, 0.25f);
  for (size_t i = 0; i < w.size(); ++i)
    w[i] = float(i % 17) / 16 - 0.5f;
  Result<EntryRunner> compiled = EntryRunner::compile(
      moduleOf(depth, columns),
      {{"w", Weight{{depth, columns}, w}}, {"b", Weight{{columns}, b}}},
      {target, /*reference=*/false, /*flags=*/""});
  if (!compiled.ok())
    return compiled.message();
  auto code = std::make_shared<EntryRunner>(std::move(*compiled));
  for (int64_t count : rows) {
    Shape shape{count, depth, columns};
    Result<EntryCall> prepared = code->prepare("gemm", {{Dim::Rows, count}});
    if (!prepared.ok())
      return prepared.message();
    auto call = std::make_shared<EntryCall>(std::move(*prepared));
    call->set("x", std::vector<float>(count * depth, 0.5f));
    auto matmul = std::make_shared<Matmul>(shape, w, b);
    (*call)();
    (*matmul)();
    const float *expected =
        static_cast<const float *>(matmul->y.get_data_handle());
    const float *found = call->data<float>("y");
    for (int64_t i = 0; i < count * columns; ++i)
      if (!(std::abs(found[i] - expected[i]) <=
            1e-4f * (1 + std::abs(expected[i]))))
        return shape.name() + " differs from oneDNN at element " +
               std::to_string(i);
    add(shape.name(), "heddle", shape.work(), [code, call] { (*call)(); });
    add(shape.name(), "onednn", shape.work(), [matmul] { (*matmul)(); });
  }
  return "";
}

std::string addGemms(const std::string &target) {
  struct Weights {
    int64_t depth, columns;
    std::vector<int64_t> rows;
  };
  const Weights all[] = {
      // The translation models: encoders, and steps of a batch or a sentence.
      {256, 256, {1, 4, 16, 32, 480}},
      {256, 1536, {1, 4, 16, 32, 480}},
      {1536, 256, {1, 4, 16, 32, 480}},
      {512, 512, {1, 4, 16, 480}},
      {512, 2048, {1, 4, 16, 128, 480}},
      {2048, 512, {1, 4, 16, 32, 128, 480}},
      {256, 32000, {1, 16}},
      // Encoders of width 768; an output projection that no cache holds.
      {768, 768, {512}},
      {768, 3072, {512}},
      {3072, 768, {512}},
      {512, 54688, {1, 4, 32}},
  };
  for (const Weights &weights : all) {
    std::string error =
        addWeight(weights.depth, weights.columns, weights.rows, target);
    if (!error.empty())
      return error;
  }
  return "";
}

} // namespace heddle::bench
