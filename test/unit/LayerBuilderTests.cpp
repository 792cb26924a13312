//===- LayerBuilderTests.cpp - Parameters that importers ask for ----------===//

#include "FileBuilders.h"
#include "lib/Import/ImportModel.h"
#include "lib/Import/LayerBuilder.h"
#include "mlir/IR/MLIRContext.h"
#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::test;

namespace {

/// A checkpoint with the vectors of `names`, of two elements each.
std::unique_ptr<WeightSource> makeWeights(std::vector<std::string> names) {
  std::string header = "{";
  for (size_t i = 0; i < names.size(); ++i)
    header += (i ? ", \"" : "\"") + names[i] +
              "\": {\"dtype\": \"F32\", \"shape\": [1, 2], "
              "\"data_offsets\": [" +
              std::to_string(8 * i) + ", " + std::to_string(8 * i + 8) + "]}";
  auto weights = std::make_unique<WeightSource>();
  auto file = readSafetensorsFile(makeBuffer(
      buildSafetensorsFile(header + "}", std::string(8 * names.size(), 'x'))));
  EXPECT_TRUE(bool(file)) << llvm::toString(file.takeError());
  EXPECT_EQ(sentenceOf(weights->add(std::move(*file))), "");
  return weights;
}

/// What building says after a function has asked for these parameters.
std::string askFor(const WeightSource &weights,
                   std::vector<LayerBuilder::Parameter> parameters) {
  mlir::MLIRContext context;
  auto module = createModule("model", "test", context);
  LayerBuilder layers(*module, weights);
  layers.beginFunction({"encode", {{"ids", {"batch", "source"}}}, "memory", 2});
  for (const LayerBuilder::Parameter &parameter : parameters)
    layers.weight(parameter);
  return sentenceOf(layers.takeError());
}

TEST(LayerBuilder, TakesEqualParametersTwice) {
  auto weights = makeWeights({"a", "b"});
  LayerBuilder::Parameter row = {"a", {1, 2}, false, {1, 2}},
                          column = {"a", {2, 1}, true, {1, 2}};
  EXPECT_EQ(askFor(*weights, {row, row}), "");
  EXPECT_EQ(askFor(*weights, {row, column}),
            "tensor 'a' is used with shape [1, 2] and with shape [2, 1] "
            "transposed");
  LayerBuilder::Parameter flat = {"a", {2}, false, {2}};
  EXPECT_EQ(askFor(*weights, {row, flat}),
            "tensor 'a' is used with shape [1, 2] and with shape [2]");
  LayerBuilder::Parameter other = {"b", {1, 2}, false, {1, 2}, "a"};
  EXPECT_EQ(askFor(*weights, {row, other}),
            "tensors 'a' and 'b' would both be the parameter 'a'");
  // Two forms of one tensor have two symbols.
  column.symbol = "a.transposed";
  EXPECT_EQ(askFor(*weights, {row, column}), "");
}

TEST(LayerBuilder, SaysUnderWhichNameATensorIs) {
  auto ask = [](std::string stored, std::string name) {
    return askFor(*makeWeights({stored}), {{name, {2}, false, {2}}});
  };
  std::string lacks = "the model has no tensor 'model.a' (expected shape [2])";
  EXPECT_EQ(ask("module.model.a", "model.a"),
            lacks + ", but 'module.model.a', with 'module.' in front of its "
                    "name");
  EXPECT_EQ(ask("a", "model.a"), lacks + ", but 'a'");
  EXPECT_EQ(ask("supermodel.a", "model.a"), lacks);
}

} // namespace
