//===- Rows.cpp - Layers that take rows one by one ------------------------===//
//
// Memory, or rather the nearest cache that holds the rows, limits norms, relu,
// add, copies and fill; the other activations are arithmetic, which no count of
// operations describes: what they read and write says how fast they are. oneDNN
// has most of them; a norm with a residual is two primitives there.
//
//===----------------------------------------------------------------------===//

#include "bench/kernels/Layers.h"
#include "bench/kernels/OneDnn.h"

#include <cstring>

namespace heddle::bench {

using dnnl::algorithm;
using test::EntryCall;

namespace {
/// Some rows of some width.
struct Shape {
  int64_t rows, width;

  OneDnn::Dims dims() const { return {rows, width}; }
  int64_t elements() const { return rows * width; }
};

struct Activation {
  const char *kind;
  /// oneDNN's, with its parameter.
  algorithm peer;
  float alpha;
};
} // namespace

/// A sentence's step, a batch's, and an encoder's block of rows.
static std::vector<Shape> shapesOf(const std::vector<int64_t> &widths) {
  std::vector<Shape> shapes;
  for (int64_t width : widths)
    for (int64_t rows : {1, 16, 512})
      shapes.push_back({rows, width});
  return shapes;
}

static constexpr float kEpsilon = 1e-5f;

static Peer normPeer(const Shape &shape, bool hasResidual, EntryCall &call) {
  auto onednn = std::make_shared<OneDnn>();
  OneDnn::Memory x = onednn->memory(shape.dims(), call.get("x"));
  OneDnn::Memory y = onednn->memory(shape.dims());
  OneDnn::Memory gamma = onednn->memory({shape.width}, values(shape.width, 5));
  OneDnn::Memory beta = onednn->memory({shape.width}, values(shape.width, 6));
  if (hasResidual)
    onednn->add(x, onednn->memory(shape.dims(), call.get("r")), y);
  onednn->layerNorm(hasResidual ? y : x, gamma, beta, kEpsilon, y);
  return OneDnn::peer(onednn, y);
}

static std::string addNorms(const std::string &target) {
  Module module;
  std::vector<LayerCase> cases;
  for (int64_t width : {256, 512, 1024})
    for (std::string kind : {"layer", "rms"})
      for (bool hasResidual : {false, true}) {
        Sizes sizes = {"rows", std::to_string(width)};
        std::string name = (hasResidual ? "add norm " : "norm ") + kind;
        std::string entry =
            kind + std::to_string(width) + (hasResidual ? "_add" : "");
        EntryText text(module, entry);
        text.input("x", sizes).weight("gamma", {width}, values(width, 5));
        bool isLayer = kind == "layer";
        if (isLayer)
          text.weight("beta", {width}, values(width, 6));
        if (hasResidual)
          text.input("r", sizes);
        text.yields("norm " + kind + " %x, %gamma" +
                        (isLayer ? ", %beta" : "") +
                        (hasResidual ? " residual(%r)" : "") +
                        " {epsilon = 1.0e-5 : f32}",
                    sizes);
        for (const Shape &shape : shapesOf({width})) {
          LayerCase layer{name + " " + product({shape.rows, width}),
                          entry,
                          {{Dim::Rows, shape.rows}},
                          moved((hasResidual ? 3 : 2) * shape.elements()),
                          {"x"}};
          if (hasResidual)
            layer.inputs.push_back("r");
          if (isLayer)
            layer.peer = [=](EntryCall &call) {
              return normPeer(shape, hasResidual, call);
            };
          cases.push_back(std::move(layer));
        }
      }
  return addCases(module, cases, target);
}

static std::string addActivations(const std::string &target) {
  const Activation activations[] = {
      {"relu", algorithm::eltwise_relu, 0},
      {"gelu", algorithm::eltwise_gelu_erf, 0},
      {"gelu_tanh", algorithm::eltwise_gelu_tanh, 0},
      {"quick_gelu", algorithm::eltwise_swish, 1.702f},
      {"silu", algorithm::eltwise_swish, 1},
      {"tanh", algorithm::eltwise_tanh, 0},
      {"sigmoid", algorithm::eltwise_logistic, 0},
  };
  constexpr int64_t kWidth = 1024;
  Sizes sizes = {"rows", std::to_string(kWidth)};
  Module module;
  std::vector<LayerCase> cases;
  for (const Activation &activation : activations) {
    std::string kind = activation.kind;
    EntryText(module, kind)
        .input("x", sizes)
        .yields("activation " + kind + " %x", sizes);
    for (const Shape &shape : shapesOf({kWidth})) {
      LayerCase layer{kind + " " + product({shape.rows, shape.width}),
                      kind,
                      {{Dim::Rows, shape.rows}},
                      moved(2 * shape.elements()),
                      {}};
      layer.fill = [](EntryCall &call) {
        call.set("x", values(call.size("x"), 1, /*scale=*/5));
      };
      layer.peer = [=](EntryCall &call) {
        auto onednn = std::make_shared<OneDnn>();
        OneDnn::Memory y = onednn->memory(shape.dims());
        onednn->activation(activation.peer, activation.alpha,
                           onednn->memory(shape.dims(), call.get("x")), y);
        return OneDnn::peer(onednn, y);
      };
      cases.push_back(std::move(layer));
    }
  }
  return addCases(module, cases, target);
}

static Peer addPeer(const Shape &shape, EntryCall &call) {
  auto onednn = std::make_shared<OneDnn>();
  OneDnn::Memory y = onednn->memory(shape.dims());
  onednn->add(onednn->memory(shape.dims(), call.get("x")),
              onednn->memory(shape.dims(), call.get("r")), y);
  return OneDnn::peer(onednn, y);
}

/// memcpy: as fast as rows can move at all.
static Peer copyPeer(EntryCall &call) {
  auto from = std::make_shared<std::vector<float>>(call.get("x"));
  auto to = std::make_shared<std::vector<float>>(from->size());
  return {"libc",
          [from, to] {
            std::memcpy(to->data(), from->data(), 4 * from->size());
            benchmark::ClobberMemory();
          },
          to->data()};
}

static std::string addElementwise(const std::string &target) {
  constexpr int64_t kWidth = 512;
  Sizes sizes = {"rows", std::to_string(kWidth)};
  Module module;
  EntryText(module, "add")
      .input("x", sizes)
      .input("r", sizes)
      .yields("add %x, %r", sizes);
  // What the caller passes and gets back is copied.
  EntryText(module, "copy").input("x", sizes).yieldsInput("x");
  EntryText(module, "fill")
      .input("x", {"rows", "3"})
      .yields("fill like %x {value = 2.5 : f32, width = 512 : i64}", sizes);
  std::vector<LayerCase> cases;
  for (const Shape &shape : shapesOf({kWidth})) {
    std::string size = " " + product({shape.rows, shape.width});
    std::vector<std::pair<Dim, int64_t>> dims = {{Dim::Rows, shape.rows}};
    double count = shape.elements();
    cases.push_back({"add" + size, "add", dims, moved(3 * count), {"x", "r"}});
    cases.back().peer = [=](EntryCall &call) { return addPeer(shape, call); };
    cases.push_back({"copy" + size, "copy", dims, moved(2 * count), {"x"}});
    cases.back().peer = copyPeer;
    cases.push_back({"fill" + size, "fill", dims, moved(count), {}});
  }
  return addCases(module, cases, target);
}

std::string addRows(const std::string &target) {
  for (auto addSome : {addNorms, addActivations, addElementwise})
    if (std::string error = addSome(target); !error.empty())
      return error;
  return "";
}

} // namespace heddle::bench
