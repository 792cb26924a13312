#include "bench/kernels/Attention.h"
#include "bench/kernels/Comparison.h"
#include "test/kernels/EntryRunner.h"

#include <cmath>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>

namespace heddle::bench {

using test::EntryCall;
using test::EntryRunner;

namespace {
/// Attention of a batch, all lengths equal; `mask` is one of full, causal and
/// window (the last 256 keys). A step has one query a row.
struct Shape {
  std::string mask;
  int64_t batch, heads, width, length;
  bool isStep = false;

  int64_t columns() const { return heads * width; }
  int64_t queries() const { return isStep ? 1 : length; }
  std::string name() const {
    return (isStep ? "step " : "attention ") + mask + " d" +
           std::to_string(width) + " n" + std::to_string(length) + " " +
           std::to_string(batch) + "x" + std::to_string(heads);
  }
  Work work() const {
    int64_t pairs = 0;
    for (int64_t i = length - queries(); i < length; ++i)
      pairs += mask == "full"     ? length
               : mask == "causal" ? i + 1
                                  : std::min<int64_t>(i + 1, 256);
    return {4.0 * batch * heads * width * pairs,
            8.0 * batch * columns() * (length + queries())};
  }
};

/// The same in three primitives of oneDNN, for one head.
struct Primitives {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  dnnl::memory q, k, v, scores, y;
  dnnl::matmul first, second;
  dnnl::softmax_forward softmax;

  explicit Primitives(const Shape &shape);
  void operator()() {
    first.execute(
        stream,
        {{DNNL_ARG_SRC, q}, {DNNL_ARG_WEIGHTS, k}, {DNNL_ARG_DST, scores}});
    softmax.execute(stream, {{DNNL_ARG_SRC, scores}, {DNNL_ARG_DST, scores}});
    second.execute(
        stream,
        {{DNNL_ARG_SRC, scores}, {DNNL_ARG_WEIGHTS, v}, {DNNL_ARG_DST, y}});
    stream.wait();
  }
};
} // namespace

Primitives::Primitives(const Shape &shape) {
  using dnnl::memory;
  auto f32 = memory::data_type::f32;
  auto rows = memory::format_tag::ab, columns = memory::format_tag::ba;
  memory::desc plain({shape.length, shape.width}, f32, rows);
  memory::desc transposed({shape.width, shape.length}, f32, columns);
  memory::desc square({shape.length, shape.length}, f32, rows);
  q = memory(plain, engine);
  k = memory(transposed, engine);
  v = memory(plain, engine);
  y = memory(plain, engine);
  scores = memory(square, engine);
  first = dnnl::matmul(dnnl::matmul::primitive_desc(
      dnnl::matmul::desc(plain, transposed, square), engine));
  second = dnnl::matmul(dnnl::matmul::primitive_desc(
      dnnl::matmul::desc(square, plain, plain), engine));
  softmax = dnnl::softmax_forward(dnnl::softmax_forward::primitive_desc(
      dnnl::softmax_forward::desc(dnnl::prop_kind::forward_inference, square,
                                  /*axis=*/1),
      engine));
}

static std::string moduleOf(const Shape &shape) {
  std::string type = "tensor<?x?x" + std::to_string(shape.columns()) + "xf32>";
  std::string rows = "tensor<?x" + std::to_string(shape.columns()) + "xf32>";
  std::string query = shape.isStep ? rows : type, ids = "tensor<?xi32>";
  auto argument = [](const std::string &name, const std::string &type,
                     const std::string &dims) {
    return "%" + name + ": " + type + " {transformer.name = \"" + name +
           "\", transformer.dims = [" + dims + "]}";
  };
  std::string form, formTypes, arguments;
  if (shape.isStep) {
    form = " at %positions of %sentences";
    formTypes = ", " + ids + ", " + ids;
    arguments = ", " + argument("positions", ids, "\"rows\"") + ", " +
                argument("sentences", ids, "\"rows\"");
  }
  std::string memory =
      shape.isStep ? "\"rows\", \"capacity\"" : "\"batch\", \"source\"";
  std::string mask =
      shape.mask == "window" ? "window [left = 255, right = 0]" : shape.mask;
  return "func.func @attention(" +
         argument("q", query, shape.isStep ? "\"rows\"" : memory) + ", " +
         argument("k", type, memory) + ", " + argument("v", type, memory) +
         arguments + ") -> (" + query +
         " {transformer.name = \"y\"}) {\n  %mask = transformer.mask." + mask +
         "\n  %y = transformer.attention %q, %k, %v mask(%mask)" + form +
         " {heads = " + std::to_string(shape.heads) + " : i64} : (" + query +
         ", " + type + ", " + type + ", !transformer.mask" + formTypes +
         ") -> " + query + "\n  return %y : " + query + "\n}\n";
}

/// Values around 0, different from element to element.
static std::vector<float> values(int64_t count, int64_t seed, float scale) {
  std::vector<float> result(count);
  for (int64_t i = 0; i < count; ++i)
    result[i] = scale * (float((i * 7919 + seed) % 1009) / 504.5f - 1);
  return result;
}

/// Adds oneDNN's way; an error where it finds another result.
static std::string addPeer(const Shape &shape, EntryCall &call) {
  auto peer = std::make_shared<Primitives>(shape);
  auto copy = [](const std::vector<float> &from, dnnl::memory &to) {
    std::copy(from.begin(), from.end(),
              static_cast<float *>(to.get_data_handle()));
  };
  std::vector<float> q = call.get("q");
  for (float &value : q)
    value /= std::sqrt(float(shape.width));
  copy(q, peer->q);
  copy(call.get("k"), peer->k);
  copy(call.get("v"), peer->v);
  (*peer)();
  const float *expected = static_cast<const float *>(peer->y.get_data_handle());
  const float *found = call.data<float>("y");
  for (int64_t i = 0; i < shape.length * shape.width; ++i)
    if (!(std::abs(found[i] - expected[i]) <= 1e-4f))
      return shape.name() + " differs from oneDNN at element " +
             std::to_string(i);
  add(shape.name(), "onednn", shape.work(), [peer] { (*peer)(); });
  return "";
}

static std::string addShape(const Shape &shape, const std::string &target) {
  Result<EntryRunner> compiled = EntryRunner::compile(
      moduleOf(shape), {}, {target, /*reference=*/false, /*flags=*/""});
  if (!compiled.ok())
    return compiled.message();
  auto code = std::make_shared<EntryRunner>(std::move(*compiled));
  Result<EntryCall> prepared =
      code->prepare("attention", {{Dim::Batch, shape.batch},
                                  {Dim::Source, shape.length},
                                  {Dim::Rows, shape.batch},
                                  {Dim::Capacity, shape.length}});
  if (!prepared.ok())
    return prepared.message();
  auto call = std::make_shared<EntryCall>(std::move(*prepared));
  call->set("q", values(call->size("q"), 1, 2));
  call->set("k", values(call->size("k"), 2, 2));
  call->set("v", values(call->size("v"), 3, 1));
  if (shape.isStep)
    call->set("positions",
              std::vector<int32_t>(shape.batch, int32_t(shape.length - 1)));
  (*call)();
  add(shape.name(), "heddle", shape.work(), [code, call] { (*call)(); });
  if (shape.mask == "full" && shape.batch == 1 && shape.heads == 1)
    return addPeer(shape, *call);
  return "";
}

std::string addAttention(const std::string &target) {
  std::vector<Shape> shapes;
  for (int64_t width : {8, 16, 32, 48, 64, 128})
    for (const char *mask : {"full", "causal"})
      shapes.push_back({mask, 1, 1, width, 2048});
  shapes.push_back({"full", 1, 1, 64, 8192});
  shapes.push_back({"window", 1, 1, 64, 8192});
  // The translation models: encoders, and steps of a batch or a sentence.
  for (int64_t length : {10, 16, 30, 60})
    shapes.push_back({"full", 16, 8, 32, length});
  for (int64_t batch : {1, 16})
    shapes.push_back({"causal", batch, 8, 32, 30, /*isStep=*/true});
  shapes.push_back({"causal", 4, 8, 64, 512, /*isStep=*/true});
  shapes.push_back({"causal", 1, 32, 64, 2048, /*isStep=*/true});
  for (const Shape &shape : shapes) {
    std::string error = addShape(shape, target);
    if (!error.empty())
      return error;
  }
  return "";
}

} // namespace heddle::bench
