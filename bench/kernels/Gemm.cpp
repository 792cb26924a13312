#include "bench/kernels/Layers.h"
#include "bench/kernels/OneDnn.h"
#include "runtime/code/IsaLevels.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace heddle::bench {

/// y [rows, columns] = x [rows, depth] W + b: several numbers of rows by one
/// weight.
static std::string addWeight(int64_t depth, int64_t columns,
                             const std::vector<int64_t> &rows,
                             const std::string &target) {
  std::vector<float> w = values(depth * columns, 1, 0.5f);
  std::vector<float> b(columns, 0.25f);
  Module module;
  EntryText(module, "gemm")
      .input("x", {"rows", std::to_string(depth)})
      .weight("w", {depth, columns}, w)
      .weight("b", {columns}, b)
      .yields("linear %x, %w, %b", {"rows", std::to_string(columns)});
  std::vector<LayerCase> cases;
  for (int64_t count : rows) {
    LayerCase layer{"gemm " + product({count, depth, columns}),
                    "gemm",
                    {{Dim::Rows, count}},
                    {2.0 * count * depth * columns,
                     4.0 * (depth * columns + count * (depth + columns))},
                    {"x"}};
    layer.peer = [=, &w, &b](test::EntryCall &call) {
      auto onednn = std::make_shared<OneDnn>();
      OneDnn::Memory y = onednn->memory({count, columns});
      onednn->linear(onednn->memory({count, depth}, call.get("x")),
                     onednn->memory({depth, columns}, w),
                     onednn->memory({1, columns}, b), y);
      return OneDnn::peer(onednn, y);
    };
    cases.push_back(std::move(layer));
  }
  return addCases(module, cases, target);
}

namespace {
/// y = x W of short types, y in f32: what a weight of f32 becomes, and the
/// types' names here and in oneDNN.
struct ShortType {
  const char *name, *module;
  dnnl::memory::data_type peer;
  int64_t bytes;
};
} // namespace

static const ShortType kShortTypes[] = {
    {"bf16", R"(
transformer.parameter @w : tensor<SHAPExf32>
transformer.parameter @r : tensor<SHAPExbf16> rounded of [@w]
func.func @gemm(%x: tensor<?xINxbf16> {transformer.name = "x",
                                       transformer.dims = ["rows"]})
    -> (tensor<?xOUTxf32> {transformer.name = "y"}) {
  %w = transformer.weight @r : tensor<SHAPExbf16>
  %y = transformer.linear %x, %w
    : (tensor<?xINxbf16>, tensor<SHAPExbf16>) -> tensor<?xOUTxf32>
  return %y : tensor<?xOUTxf32>
}
)",
     dnnl::memory::data_type::bf16, 2},
    {"int8", R"(
transformer.parameter @w : tensor<SHAPExf32>
transformer.parameter @i : tensor<SHAPExi8> column_integers of [@w]
transformer.parameter @s : tensor<OUTxf32> column_scales of [@w]
func.func @gemm(%x: tensor<?xINxi8> {transformer.name = "x",
                                     transformer.dims = ["rows"]})
    -> (tensor<?xOUTxf32> {transformer.name = "y"}) {
  %w = transformer.weight @i : tensor<SHAPExi8>
  %s = transformer.weight @s : tensor<OUTxf32>
  %y = transformer.linear %x, %w scales(%s)
    : (tensor<?xINxi8>, tensor<SHAPExi8>, tensor<OUTxf32>) -> tensor<?xOUTxf32>
  return %y : tensor<?xOUTxf32>
}
)",
     dnnl::memory::data_type::s8, 1},
};

/// x of [-1, 1] as `type` has it, in f32.
static std::vector<float> shortValues(const ShortType &type, int64_t count) {
  std::vector<float> x = values(count, 1);
  for (float &value : x)
    value = type.bytes == 1 ? std::nearbyint(127 * value)
                            : std::nearbyint(256 * value) / 256;
  return x;
}

/// Stores x as kernels of `target` take it: where they multiply bytes without a
/// sign, x + 128.
static void fillX(test::EntryCall &call, const ShortType &type,
                  const std::string &target) {
  std::vector<float> x = shortValues(type, call.size("x"));
  int shift = isaHasVnni(target) ? 128 : 0;
  for (size_t i = 0; i < x.size(); ++i) {
    if (type.bytes == 1) {
      call.data<uint8_t>("x")[i] = uint8_t(int(x[i]) + shift);
      continue;
    }
    uint32_t bits;
    std::memcpy(&bits, &x[i], sizeof bits);
    call.data<uint16_t>("x")[i] = uint16_t(bits >> 16);
  }
}

/// The integers of a weight and the scale of each column, as `column_integers`
/// has them.
static std::vector<float> toIntegers(std::vector<float> &w, int64_t columns) {
  std::vector<float> scales(columns);
  for (size_t i = 0; i < w.size(); ++i)
    scales[i % columns] = std::max(scales[i % columns], std::abs(w[i]) / 127);
  for (size_t i = 0; i < w.size(); ++i)
    w[i] = std::nearbyint(w[i] / scales[i % columns]);
  return scales;
}

static std::string replaced(std::string text, const std::string &key,
                            const std::string &value) {
  for (size_t at = 0; (at = text.find(key, at)) != std::string::npos;)
    text.replace(at, key.size(), value);
  return text;
}

static std::string addShortWeight(const ShortType &type, int64_t depth,
                                  int64_t columns,
                                  const std::vector<int64_t> &rows,
                                  const std::string &target) {
  std::vector<float> w = values(depth * columns, 1, 0.5f);
  Module module;
  module.text = replaced(
      replaced(replaced(type.module, "SHAPE", product({depth, columns})), "IN",
               std::to_string(depth)),
      "OUT", std::to_string(columns));
  module.weights["w"] = {{depth, columns}, w};
  std::vector<LayerCase> cases;
  for (int64_t count : rows) {
    LayerCase layer{
        "gemm " + std::string(type.name) + " " +
            product({count, depth, columns}),
        "gemm",
        {{Dim::Rows, count}},
        {2.0 * count * depth * columns,
         double(type.bytes) * depth * (columns + count) + 4.0 * count * columns,
         /*isOfF32=*/false},
        {}};
    layer.fill = [&type, &target](test::EntryCall &call) {
      fillX(call, type, target);
    };
    layer.peer = [=, &type](test::EntryCall &call) {
      auto onednn = std::make_shared<OneDnn>();
      std::vector<float> weight = w;
      std::vector<float> scales;
      if (type.bytes == 1)
        scales = toIntegers(weight, columns);
      OneDnn::Memory y = onednn->memory({count, columns});
      onednn->product(
          type.peer,
          onednn->memory({count, depth}, shortValues(type, count * depth)),
          onednn->memory({depth, columns}, weight), scales, y);
      return OneDnn::peer(onednn, y);
    };
    cases.push_back(std::move(layer));
  }
  return addCases(module, cases, target);
}

/// From the encoders of the models, and steps of few rows.
std::string addShortGemms(const std::string &target) {
  struct Weights {
    int64_t depth, columns;
    std::vector<int64_t> rows;
  };
  const Weights all[] = {
      {256, 256, {1, 16, 480}},
      {256, 1536, {1, 16, 480}},
      {1536, 256, {1, 16, 480}},
      {512, 2048, {1, 2, 4, 8, 16, 24, 32, 128, 480}},
      {2048, 512, {1, 4, 8, 16, 32, 128, 480}},
      {384, 384, {64, 512}},
      {384, 1536, {64, 512}},
      {1536, 384, {64, 512}},
      {768, 768, {64, 512}},
      {768, 3072, {64, 512}},
      {3072, 768, {64, 512}},
      // SmolLM2-135M's and TinyLlama-1.1B's: a piece of a prompt.
      {576, 1536, {1, 256}},
      {576, 3072, {256}},
      {1536, 576, {256}},
      {2048, 5632, {1, 256}},
      {5632, 2048, {256}},
      {512, 54688, {1, 4, 16, 32}},
  };
  for (const ShortType &type : kShortTypes)
    for (const Weights &weights : all) {
      std::string error = addShortWeight(type, weights.depth, weights.columns,
                                         weights.rows, target);
      if (!error.empty())
        return error;
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
      {512, 2048, {1, 4, 16, 32, 128, 480}},
      {2048, 512, {1, 4, 16, 32, 128, 480}},
      // Their linears that share an input, fused.
      {256, 512, {1, 4, 16, 32, 480}},
      {256, 768, {1, 4, 16, 32, 480}},
      {256, 1024, {1, 4, 16, 32, 480}},
      {512, 1536, {1, 4, 16, 480}},
      {512, 6144, {1, 4, 16, 480}},
      // Encoders of width 384 and 768.
      {384, 384, {64, 512}},
      {384, 1536, {64, 512}},
      {1536, 384, {64, 512}},
      {768, 768, {64, 512}},
      {768, 3072, {64, 512}},
      {3072, 768, {64, 512}},
      // Output projections, which no cache holds.
      {256, 32000, {1, 4, 16, 32}},
      {512, 54688, {1, 4, 8, 16, 32, 128, 512}},
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
