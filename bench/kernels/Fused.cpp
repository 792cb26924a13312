//===- Fused.cpp - Linears with what stands around them -------------------===//
//
// As the fusion passes make them: bias and activation, bias with residual and
// norm, and a whole ffn. Rates count the products alone, so that they compare
// with those of a plain linear. oneDNN's matmuls take activation and residual
// as post-ops; a norm is another primitive, and the hidden rows of an ffn are
// stored.
//
//===----------------------------------------------------------------------===//

#include "bench/kernels/Layers.h"
#include "bench/kernels/OneDnn.h"

namespace heddle::bench {

using dnnl::algorithm;
using test::EntryCall;

static constexpr float kEpsilon = 1e-5f;

/// Values of a weight, small enough for sums around 1.
static std::vector<float> weightValues(int64_t depth, int64_t columns) {
  return values(depth * columns, depth, 0.1f);
}
static std::vector<float> vectorValues(int64_t width) {
  return values(width, 5);
}

namespace {
/// y = norm(r + x W + b) or, where there is an activation, y = that of x W + b.
struct Linear {
  std::string activation;
  algorithm peerActivation;
  int64_t depth, columns;

  bool hasNorm() const { return activation.empty(); }
  Work work(int64_t rows) const {
    double vectors = depth + (hasNorm() ? 2 : 1) * columns;
    return {2.0 * rows * depth * columns,
            4 * (depth * columns + rows * vectors)};
  }
  Peer peer(int64_t rows, EntryCall &call) const;
};

/// y = norm(x + activation(x W1 + b1) W2 + b2).
struct Ffn {
  std::string activation;
  algorithm peerActivation;
  int64_t width, hidden;

  Work work(int64_t rows) const {
    return {4.0 * rows * width * hidden, 8.0 * width * (hidden + rows)};
  }
  Peer peer(int64_t rows, EntryCall &call) const;
};
} // namespace

Peer Linear::peer(int64_t rows, EntryCall &call) const {
  auto onednn = std::make_shared<OneDnn>();
  OneDnn::Memory y = onednn->memory({rows, columns}), residual;
  OneDnn::Memory vector = onednn->memory({columns}, vectorValues(columns));
  if (hasNorm())
    residual = onednn->memory({rows, columns}, call.get("r"));
  onednn->linear(onednn->memory({rows, depth}, call.get("x")),
                 onednn->memory({depth, columns}, weightValues(depth, columns)),
                 onednn->memory({1, columns}, vectorValues(columns)), y,
                 peerActivation, residual);
  if (hasNorm())
    onednn->layerNorm(y, vector, vector, kEpsilon, y);
  return OneDnn::peer(onednn, y);
}

Peer Ffn::peer(int64_t rows, EntryCall &call) const {
  auto onednn = std::make_shared<OneDnn>();
  OneDnn::Memory x = onednn->memory({rows, width}, call.get("x"));
  OneDnn::Memory h = onednn->memory({rows, hidden});
  OneDnn::Memory y = onednn->memory({rows, width});
  OneDnn::Memory vector = onednn->memory({width}, vectorValues(width));
  onednn->linear(
      x, onednn->memory({width, hidden}, weightValues(width, hidden)),
      onednn->memory({1, hidden}, vectorValues(hidden)), h, peerActivation);
  onednn->linear(
      h, onednn->memory({hidden, width}, weightValues(hidden, width)),
      onednn->memory({1, width}, vectorValues(width)), y, algorithm::undef, x);
  onednn->layerNorm(y, vector, vector, kEpsilon, y);
  return OneDnn::peer(onednn, y);
}

static std::string addLinear(const Linear &linear, const std::string &target) {
  int64_t depth = linear.depth, columns = linear.columns;
  Sizes y = {"rows", std::to_string(columns)};
  Module module;
  EntryText text(module, "linear");
  text.input("x", {"rows", std::to_string(depth)})
      .weight("w", {depth, columns}, weightValues(depth, columns))
      .weight("b", {columns}, vectorValues(columns));
  if (linear.hasNorm())
    text.input("r", y)
        .weight("gamma", {columns}, vectorValues(columns))
        .weight("beta", {columns}, vectorValues(columns))
        .yields("linear %x, %w, %b residual(%r) norm(layer, %gamma, %beta, "
                "1.0e-5)",
                y);
  else
    text.yields("linear %x, %w, %b activation(" + linear.activation + ")", y);
  std::vector<LayerCase> cases;
  for (int64_t rows : {1, 16, 480}) {
    LayerCase layer{"linear " +
                        (linear.hasNorm() ? "add norm" : linear.activation) +
                        " " + product({rows, depth, columns}),
                    "linear",
                    {{Dim::Rows, rows}},
                    linear.work(rows),
                    {"x"}};
    if (linear.hasNorm())
      layer.inputs.push_back("r");
    layer.peer = [=](EntryCall &call) { return linear.peer(rows, call); };
    cases.push_back(std::move(layer));
  }
  return addCases(module, cases, target);
}

static std::string addFfn(const Ffn &ffn, const std::string &target) {
  int64_t width = ffn.width, hidden = ffn.hidden;
  Sizes sizes = {"rows", std::to_string(width)};
  Module module;
  EntryText(module, "ffn")
      .input("x", sizes)
      .weight("w1", {width, hidden}, weightValues(width, hidden))
      .weight("b1", {hidden}, vectorValues(hidden))
      .weight("w2", {hidden, width}, weightValues(hidden, width))
      .weight("b2", {width}, vectorValues(width))
      .weight("gamma", {width}, vectorValues(width))
      .weight("beta", {width}, vectorValues(width))
      .yields("ffn %x, %w1, %b1, %w2, %b2 activation(" + ffn.activation +
                  ") residual(%x) norm(layer, %gamma, %beta, 1.0e-5)",
              sizes);
  std::vector<LayerCase> cases;
  for (int64_t rows : {1, 16, 64, 480}) {
    cases.push_back(
        {"ffn " + ffn.activation + " " + product({rows, width, hidden}),
         "ffn",
         {{Dim::Rows, rows}},
         ffn.work(rows),
         {"x"}});
    cases.back().peer = [=](EntryCall &call) { return ffn.peer(rows, call); };
  }
  return addCases(module, cases, target);
}

std::string addFused(const std::string &target) {
  const Linear linears[] = {
      {"relu", algorithm::eltwise_relu, 256, 1536},
      {"gelu", algorithm::eltwise_gelu_erf, 512, 2048},
      {"", algorithm::undef, 256, 256},
      {"", algorithm::undef, 2048, 512},
  };
  for (const Linear &linear : linears)
    if (std::string error = addLinear(linear, target); !error.empty())
      return error;
  const Ffn ffns[] = {{"relu", algorithm::eltwise_relu, 256, 1536},
                      {"gelu", algorithm::eltwise_gelu_erf, 512, 2048},
                      // The layers of large models, which no cache holds.
                      {"gelu", algorithm::eltwise_gelu_erf, 1024, 4096}};
  for (const Ffn &ffn : ffns)
    if (std::string error = addFfn(ffn, target); !error.empty())
      return error;
  return "";
}

} // namespace heddle::bench
