//===- GatedTests.cpp - Linears with the columns of their gate ------------===//
//
// y = silu(x W + b) * (x U + c) as one linear, beside two: on every ISA level
// the same bits, of all types that x and the weights may have. A GPU sums in
// other orders where it has no kernel for the one.
//
//===----------------------------------------------------------------------===//

#include "test/kernels/linear/LinearCases.h"

using namespace heddle;
using namespace heddle::test;

namespace {
class GatedTest : public LayerTest {};

/// What x and the weights become before they are multiplied.
struct Factors {
  const char *name;
  /// Ops that make %f, and the types of what linears read of it.
  const char *make, *input, *inputTypes;
  /// How a weight is stored, with the scales that its columns have.
  const char *derivation, *weightType, *scales, *scaleType;
};
} // namespace

INSTANTIATE_TEST_SUITE_P(, GatedTest,
                         testing::ValuesIn(everyCodeOfShortTypes()),
                         testing::PrintToStringParamName());

/// All sizes of tiles, whole and below.
static constexpr int64_t kRows = 75;

/// Depths around groups of inputs and tiles of AMX; columns of one panel, of
/// some, and of weights that no L2 cache holds.
static const std::pair<int64_t, int64_t> kShapes[] = {
    {1, 16}, {37, 48}, {130, 1184}};

static const Factors kFactors[] = {
    {"f32", "", "%x", "tensor<?xINxf32>", "", "f32", "", ""},
    {"bf16",
     "%f = transformer.round %x : (tensor<?xINxf32>) -> tensor<?xINxbf16>",
     "%f", "tensor<?xINxbf16>", "rounded", "bf16", "", ""},
    {"i8",
     "%f, %t = transformer.quantize %x : (tensor<?xINxf32>) -> "
     "(tensor<?xINxi8>, tensor<?xf32>)",
     "%f scales(%t)", "tensor<?xINxi8>, tensor<?xf32>", "column_integers", "i8",
     "column_scales", "OUTxf32"},
    {"scaled", "", "%x", "tensor<?xINxf32>", "block_integers", "i8",
     "block_scales", "BLOCKSxOUTxf32"}};

/// The weight @NAME and its bias, and what a linear reads of them.
static std::string parametersOf(const Factors &factors) {
  std::string text = "transformer.parameter @NAME : tensor<SHAPExf32>\n"
                     "transformer.parameter @b_NAME : tensor<OUTxf32>\n";
  std::string derivation = factors.derivation, scales = factors.scales;
  if (!derivation.empty())
    text += "transformer.parameter @i_NAME : tensor<SHAPExWTYPE> " +
            derivation + " of [@NAME]\n";
  if (!scales.empty())
    text += "transformer.parameter @s_NAME : tensor<STYPE> " + scales +
            " of [@NAME]\n";
  return text;
}

/// The name of a parameter of W, U or both.
static std::string storedName(const Factors &factors) {
  return std::string(factors.derivation).empty() ? "@NAME" : "@i_NAME";
}

/// One linear of weight NAME and its bias, with an epilogue.
static std::string linearOf(const Factors &factors, const std::string &epilogue,
                            const std::string &operandTypes) {
  bool isScaled = !std::string(factors.scales).empty();
  std::string text =
      "  %w_NAME = transformer.weight STORED : tensor<SHAPExWTYPE>\n"
      "  %b_NAME = transformer.weight @b_NAME : tensor<OUTxf32>\n";
  if (isScaled)
    text += "  %s_NAME = transformer.weight @s_NAME : tensor<STYPE>\n";
  return text + "  %y_NAME = transformer.linear INPUT, %w_NAME" +
         (isScaled ? " scales(%s_NAME)" : "") + ", %b_NAME" + epilogue +
         " : (INPUTTYPES, tensor<SHAPExWTYPE>" +
         (isScaled ? ", tensor<STYPE>" : "") + ", tensor<OUTxf32>" +
         operandTypes + ") -> tensor<?xRESULT>\n";
}

/// "gated_TYPE_SHAPE" and "apart_TYPE_SHAPE".
static std::string moduleOf(const Factors &factors, int64_t depth,
                            int64_t columns) {
  std::string own = std::string(factors.name) + "_" + shapeOf(depth, columns);
  auto filled = [&](std::string text, const std::string &name, int64_t width,
                    const std::string &stored, const std::string &result) {
    return fill(
        text, {{"STORED", stored},
               {"INPUTTYPES", factors.inputTypes},
               {"INPUT", factors.input},
               {"RESULT", result},
               {"WTYPE", factors.weightType},
               {"STYPE", fill(factors.scaleType,
                              {{"OUT", std::to_string(width)},
                               {"BLOCKS", std::to_string((depth + 31) / 32)}})},
               {"SHAPE", shapeOf(depth, width)},
               {"NAME", name},
               {"IN", std::to_string(depth)},
               {"OUT", std::to_string(width)}});
  };
  std::string y = std::to_string(columns) + "xf32";
  std::string w = "w_" + own, u = "u_" + own, both = "both_" + own;
  std::string text;
  for (const std::string &name : {w, u})
    text += filled(parametersOf(factors), name, columns, "", "");
  auto join = [&](const std::string &prefix, const std::string &type) {
    text += fill("transformer.parameter @PREFIXBOTH : tensor<TYPE> columns(8) "
                 "of [@PREFIXW, @PREFIXU]\n",
                 {{"PREFIX", prefix},
                  {"BOTH", both},
                  {"TYPE", type},
                  {"W", w},
                  {"U", u}});
  };
  bool isStored = std::string(factors.derivation).empty();
  std::string twice = std::to_string(2 * columns);
  join(isStored ? "" : "i_",
       shapeOf(depth, 2 * columns) + "x" + factors.weightType);
  join("b_", twice + "xf32");
  if (std::string scale = factors.scaleType; !scale.empty())
    join("s_", fill(scale, {{"OUT", twice},
                            {"BLOCKS", std::to_string((depth + 31) / 32)}}));
  auto function = [&](const std::string &name, const std::string &body,
                      const std::string &result) {
    text += fill("func.func @NAME(%x: tensor<?xINxf32> {transformer.name = "
                 "\"x\", transformer.dims = [\"rows\"]}) -> (tensor<?xRESULT> "
                 "{transformer.name = \"y\"}) {\n  MAKE\nBODY  return %VALUE : "
                 "tensor<?xRESULT>\n}\n",
                 {{"BODY", body},
                  {"MAKE", factors.make},
                  {"VALUE", result},
                  {"NAME", name},
                  {"RESULT", y},
                  {"IN", std::to_string(depth)}});
  };
  std::string stored = storedName(factors);
  function("gated_" + own,
           filled(linearOf(factors, " activation(silu) gated", ""), both,
                  2 * columns, stored, y),
           "y_" + both);
  function("apart_" + own,
           filled(linearOf(factors, "", ""), u, columns, stored, y) +
               filled(linearOf(factors, " activation(silu) gate(%y_" + u + ")",
                               ", tensor<?x" + y + ">"),
                      w, columns, stored, y),
           "y_" + w);
  return text;
}

TEST_P(GatedTest, HasTheBitsOfTwoLinears) {
  std::string module;
  Weights weights;
  for (auto [depth, columns] : kShapes)
    for (const Factors &factors : kFactors) {
      std::string own =
          std::string(factors.name) + "_" + shapeOf(depth, columns);
      module += moduleOf(factors, depth, columns);
      for (auto [name, seed] : {std::pair("w_", 1), std::pair("u_", 2)}) {
        weights[name + own] = {{depth, columns},
                               randomValues(depth * columns, seed)};
        weights[std::string("b_") + name + own] = {
            {columns}, randomValues(columns, seed + 2)};
      }
    }
  withCode(module, weights, [&](const EntryRunner &code) {
    for (auto [depth, columns] : kShapes)
      for (const Factors &factors : kFactors) {
        if (takesSample() && columns > 48)
          continue;
        std::string own =
            std::string(factors.name) + "_" + shapeOf(depth, columns);
        SCOPED_TRACE(own);
        Values values = {{"x", randomValues(kRows * depth, 5)}};
        std::vector<float> apart =
            runRows(code, "apart_" + own, 0, kRows, values);
        // 130 products below 1, with a rounding error of 2^-24 of the sum so
        // far each, in two sums that are multiplied.
        bool isOnGpu = GetParam().target.find(',') != std::string::npos;
        double tolerance = isOnGpu ? 1e-4 : 0;
        expectNear(runInBatches(code, "gated_" + own, kRows, values),
                   {apart.begin(), apart.end()}, tolerance);
      }
  });
}
