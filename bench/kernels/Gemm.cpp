#include "bench/kernels/Layers.h"
#include "bench/kernels/OneDnn.h"

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
      // Encoders of width 768.
      {768, 768, {512}},
      {768, 3072, {512}},
      {3072, 768, {512}},
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
