//===- LinearAttention.cpp - Attention in linear time ---------------------===//
//
// Linear attention and projected sequences from short to long, beside attention
// with softmax of the same shape: where the lines cross. One head, f32; rates
// of linear attention count what passes over its sums, not pairs of positions.
//
//===----------------------------------------------------------------------===//

#include "bench/kernels/LayerCases.h"
#include "bench/kernels/Layers.h"

namespace heddle::bench {

namespace {
/// What a case does with queries, keys and values [n, width].
struct Form {
  std::string name, op;
  /// Multiply-adds of a position, in passes over the sums of a head; none where
  /// pairs count.
  int64_t passes;
  bool isCausal = false;
};
} // namespace

static Work workOf(const Form &form, int64_t width, int64_t length) {
  double pairs = double(length) * (form.isCausal ? (length + 1) / 2.0 : length);
  double flops = form.passes ? 2.0 * form.passes * length * width * (width + 1)
                             : 4.0 * pairs * width;
  return {flops, 4.0 * 4 * length * width};
}

static std::string addFull(const std::string &target) {
  const Form forms[] = {
      {"softmax", "attention %q, %k, %v {heads = 1 : i64}", 0},
      {"softmax causal", "attention %q, %k, %v mask(%mask) {heads = 1 : i64}",
       0, /*isCausal=*/true},
      {"linear", "linear_attention %q, %k, %v {heads = 1 : i64}", 2},
      {"linear taylor",
       "linear_attention %q, %k, %v {heads = 1 : i64} features taylor", 2},
      {"linear causal", "linear_attention %q, %k, %v causal {heads = 1 : i64}",
       2, /*isCausal=*/true}};
  for (int64_t width : {64, 128}) {
    for (const Form &form : forms) {
      Sizes sizes = {"batch", "source", std::to_string(width)};
      Module module;
      EntryText entry(module, "attention");
      entry.input("q", sizes).input("k", sizes).input("v", sizes);
      if (form.passes == 0 && form.isCausal)
        entry.mask("causal");
      entry.yields(form.op, sizes);
      std::vector<LayerCase> cases;
      for (int64_t length : {64, 128, 256, 512, 1024, 4096, 16384, 65536})
        // Seconds and more of softmax say nothing new.
        if (form.passes || length <= 4096)
          cases.push_back({form.name + " d" + std::to_string(width) + " n" +
                               std::to_string(length),
                           "attention",
                           {{Dim::Batch, 1}, {Dim::Source, length}},
                           workOf(form, width, length),
                           {"q", "k", "v"}});
      if (std::string error = addCases(module, cases, target); !error.empty())
        return error;
    }
  }
  return "";
}

/// One position of a decoder with 12 heads. Its time has no length in it.
static std::string addSteps(const std::string &target) {
  constexpr int64_t kHeads = 12;
  for (int64_t width : {64, 128}) {
    std::string row = "tensor<?x" + std::to_string(kHeads * width) + "xf32>";
    std::string head = std::to_string(kHeads) + "x" + std::to_string(width);
    std::string sums =
        "tensor<?x" + head + "x" + std::to_string(width) + "xf32>";
    std::string totals = "tensor<?x" + head + "xf32>";
    std::string types = row + ", " + row + ", " + row + ", " + row + ", " +
                        sums + ", " + totals;
    auto argument = [](const std::string &name, const std::string &type,
                       const std::string &more = "") {
      return "%" + name + ": " + type + " {transformer.name = \"" + name +
             "\", " + more + "transformer.dims = [\"rows\"]}";
    };
    Module module;
    module.text = "func.func @step(" + argument("q", row) + ", " +
                  argument("k", row) + ", " + argument("v", row) + ", " +
                  argument("s", sums, "transformer.state, ") + ", " +
                  argument("z", totals, "transformer.state, ") + ") -> (" +
                  row + " {transformer.name = \"y\"}, " + sums + ", " + totals +
                  ") {\n  %zero = arith.constant 0 : index\n"
                  "  %rows = tensor.dim %q, %zero : " +
                  row + "\n  %to = tensor.empty(%rows) : " + row +
                  "\n  %y:3 = transformer.linear_attention step %q, %k, %v "
                  "into %to, %s, %z {heads = " +
                  std::to_string(kHeads) + " : i64} : (" + types + ") -> (" +
                  row + ", " + sums + ", " + totals +
                  ")\n  return %y#0, %y#1, %y#2 : " + row + ", " + sums + ", " +
                  totals + "\n}\n";
    std::vector<LayerCase> cases;
    for (int64_t rows : {1, 16}) {
      double states = double(rows) * kHeads * width * (width + 1);
      cases.push_back({"linear step d" + std::to_string(width) + " " +
                           product({rows, kHeads}),
                       "step",
                       {{Dim::Rows, rows}},
                       // Sums are read and written.
                       {4 * states, 4 * 2 * states},
                       {"q", "k", "v"}});
    }
    if (std::string error = addCases(module, cases, target); !error.empty())
      return error;
  }
  return "";
}

static std::string addProjections(const std::string &target) {
  constexpr int64_t kRows = 256, kWidth = 768;
  for (int64_t length : {512, 4096}) {
    Sizes input = {"batch", "source", std::to_string(kWidth)};
    Sizes result = {"batch", std::to_string(kRows), std::to_string(kWidth)};
    Module module;
    EntryText(module, "project")
        .input("x", input)
        .weight("e", {kRows, length}, values(kRows * length, 5))
        .yields("project_sequence %x, %e", result);
    double products = double(kRows) * length * kWidth;
    LayerCase layer{"project_sequence " + product({kRows, length, kWidth}),
                    "project",
                    {{Dim::Batch, 1}, {Dim::Source, length}},
                    {2 * products,
                     4.0 * (kRows * length + length * kWidth + kRows * kWidth)},
                    {"x"}};
    if (std::string error = addCases(module, {layer}, target); !error.empty())
      return error;
  }
  return "";
}

std::string addLinearAttention(const std::string &target) {
  for (auto addForms : {addFull, addSteps, addProjections})
    if (std::string error = addForms(target); !error.empty())
      return error;
  return "";
}

} // namespace heddle::bench
