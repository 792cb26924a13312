//===- RangedLogitsCases.cpp - Modules of logits in ranges ----------------===//

#include "test/kernels/linear/RangedLogitsCases.h"

using namespace heddle;
using namespace heddle::test;

std::string RangedCase::name() const {
  return std::to_string(depth) + "_" + std::to_string(vocabulary) + "_" +
         std::to_string(range);
}

static const char *const kModule = R"(
transformer.parameter @w_NAME : tensor<DEPTHxVOCABULARYxf32>
transformer.parameter @b_NAME : tensor<VOCABULARYxf32>
PARAMETERS
func.func @TYPE_NAME(
    %x: tensor<?xDEPTHxf32> {transformer.name = "x",
                             transformer.dims = ["rows"]},
    %forbidden: tensor<?x?xi32> {transformer.name = "forbidden",
                                 transformer.dims = ["rows", "forbidden"]}
    ARGUMENTS)
    -> (tensor<?xVOCABULARYxf32> {transformer.name = "logits"}, RESULTS) {
  %b = transformer.weight @b_NAME : tensor<VOCABULARYxf32>
  FACTORS
  %y = transformer.linear %q SCALED, %w WEIGHED, %b
    : (tensor<?xDEPTHxELEMENT>, XSCALES tensor<DEPTHxVOCABULARYxWEIGHT>,
       WSCALES tensor<VOCABULARYxf32>) -> tensor<?xVOCABULARYxf32>
  OP %q SCALED, %w WEIGHED, %b without %forbidden REST
      {range = RANGE : i64, vocabulary = VOCABULARY : i64}
    : (tensor<?xDEPTHxELEMENT>, XSCALES tensor<DEPTHxVOCABULARYxWEIGHT>,
       WSCALES tensor<VOCABULARYxf32>, tensor<?x?xi32> OPERANDTYPES)
      -> (RESULTTYPES)
  return %y, RETURNED : tensor<?xVOCABULARYxf32>, RESULTTYPES
}
)";

std::vector<const char *> heddle::test::productTypes() {
  if (runsOneCell())
    return {"i8"};
  return {"f32", "bf16", "f16", "i8", "scaled", "scaled_bf16"};
}

std::string heddle::test::fillRanged(const RangedModule &module,
                                     const RangedCase &sizes,
                                     const std::string &type) {
  std::string factors = R"(
  %q = transformer.add %x, %x : (tensor<?xDEPTHxf32>, tensor<?xDEPTHxf32>) -> tensor<?xDEPTHxf32>
  %w = transformer.weight @w_NAME : tensor<DEPTHxVOCABULARYxf32>)";
  std::string parameters;
  if (type == "bf16" || type == "f16") {
    bool isF16 = type == "f16";
    parameters = std::string("transformer.parameter @r_NAME : "
                             "tensor<DEPTHxVOCABULARYxELEMENT> ") +
                 (isF16 ? "rounded_to_f16" : "rounded") + " of [@w_NAME]\n";
    factors = std::string("\n  %q = transformer.round %x ") +
              (isF16 ? "to f16" : "") + R"(
    : (tensor<?xDEPTHxf32>) -> tensor<?xDEPTHxELEMENT>
  %w = transformer.weight @r_NAME : tensor<DEPTHxVOCABULARYxELEMENT>)";
  } else if (type == "i8" || type == "scaled" || type == "scaled_bf16") {
    parameters = "transformer.parameter @i_NAME : tensor<DEPTHxVOCABULARYxi8>"
                 " KIND_integers of [@w_NAME]\n"
                 "transformer.parameter @s_NAME : SCALES"
                 " KIND_scales of [@w_NAME]\n";
    if (type == "i8")
      factors = R"(
  %q, %t = transformer.quantize %x
    : (tensor<?xDEPTHxf32>) -> (tensor<?xDEPTHxi8>, tensor<?xf32>))";
    else if (type == "scaled")
      factors = R"(
  %q = transformer.add %x, %x : (tensor<?xDEPTHxf32>, tensor<?xDEPTHxf32>) -> tensor<?xDEPTHxf32>)";
    else
      factors = R"(
  %q = transformer.round %x : (tensor<?xDEPTHxf32>) -> tensor<?xDEPTHxbf16>)";
    factors += R"(
  %w = transformer.weight @i_NAME : tensor<DEPTHxVOCABULARYxi8>
  %s = transformer.weight @s_NAME : SCALES)";
  }
  bool hasScales = type == "i8",
       isScaled = type == "scaled" || type == "scaled_bf16";
  bool isWeighed = hasScales || isScaled;
  std::string blocks = std::to_string((sizes.depth + 31) / 32) + "x";
  return fill(kModule, {{"PARAMETERS", parameters},
                        {"FACTORS", factors},
                        {"SCALED", hasScales ? "scales(%t)" : ""},
                        {"WEIGHED", isWeighed ? "scales(%s)" : ""},
                        {"XSCALES", hasScales ? "tensor<?xf32>," : ""},
                        {"WSCALES", isWeighed ? "SCALES," : ""},
                        {"SCALES", "tensor<" + (isScaled ? blocks : "") +
                                       "VOCABULARYxf32>"},
                        {"KIND", isScaled ? "block" : "column"},
                        {"ARGUMENTS", module.arguments},
                        {"RESULTS", module.results},
                        {"OPERANDTYPES", module.operandTypes},
                        {"RESULTTYPES", module.resultTypes},
                        {"RETURNED", module.returned},
                        {"REST", module.rest},
                        {"OP", module.op},
                        {"TYPE", type},
                        {"ELEMENT", type == "scaled"        ? "f32"
                                    : type == "scaled_bf16" ? "bf16"
                                                            : type},
                        {"WEIGHT", isWeighed ? "i8" : type},
                        {"NAME", sizes.name()},
                        {"DEPTH", std::to_string(sizes.depth)},
                        {"VOCABULARY", std::to_string(sizes.vocabulary)},
                        {"RANGES", std::to_string(sizes.ranges())},
                        {"RANGE", std::to_string(sizes.range)}});
}

std::string heddle::test::fillAllRanged(const RangedModule &module,
                                        const std::string &type,
                                        Weights &weights) {
  std::string text;
  for (const RangedCase &sizes : kRangedCases) {
    text += fillRanged(module, sizes, type);
    addWeights(sizes, weights);
  }
  return text;
}

void heddle::test::addWeights(const RangedCase &sizes, Weights &weights,
                              const std::vector<float> &bias) {
  int64_t count = sizes.depth * sizes.vocabulary;
  weights["w_" + sizes.name()] = {{sizes.depth, sizes.vocabulary},
                                  randomValues(count, 1)};
  weights["b_" + sizes.name()] = {
      {sizes.vocabulary},
      bias.empty() ? randomValues(sizes.vocabulary, 2) : bias};
}
