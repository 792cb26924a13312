//===- Blocks.cpp - Parts of transformers over named tensors --------------===//
//
// Widths of inputs are read off values, never repeated in a description.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Blocks.h"

using namespace mlir;
using namespace llvm;

namespace heddle {

static int64_t widthOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape().back();
}

Value Blocks::table(const TableBlock &block) {
  SmallVector<int64_t, 2> shape = {block.rows, block.width};
  return layers.weight({block.name, shape, /*transposed=*/false, shape});
}

Value Blocks::linear(Value input, const LinearBlock &block) {
  int64_t in = widthOf(input);
  Value weight = layers.weight({block.name + ".weight",
                                {in, block.width},
                                /*transposed=*/true,
                                {block.width, in}});
  Value bias;
  if (block.hasBias)
    bias = layers.weight({block.name + ".bias",
                          {block.width},
                          /*transposed=*/false,
                          {block.width}});
  return layers.linear(input, weight, bias);
}

Value Blocks::norm(Value input, const NormBlock &block) {
  int64_t width = widthOf(input);
  auto vector = [&](StringRef name, StringRef older) {
    std::string usual = block.name + name.str();
    std::string other = block.name + older.str();
    bool isOlder = !layers.find(usual) && layers.find(other);
    return layers.weight({isOlder ? other : usual,
                          {width},
                          /*transposed=*/false,
                          {width}});
  };
  Value gamma = vector(".weight", ".gamma"), beta;
  if (block.hasBias)
    beta = vector(".bias", ".beta");
  return layers.norm({block.kind, gamma, beta, block.epsilon}, input);
}

Value Blocks::attention(Value input, Value memory,
                        const AttentionBlock &block) {
  Value source = memory ? memory : input;
  LayerBuilder::Attention attention;
  attention.query = linear(input, block.query);
  attention.key = linear(source, block.key);
  attention.value = linear(source, block.value);
  attention.mask = block.mask;
  attention.heads = block.heads;
  attention.kvHeads = block.kvHeads;
  attention.scale = block.scale;
  attention.biases = block.biases;
  return linear(layers.attention(block.name, attention), block.output);
}

Value Blocks::ffn(Value input, const FfnBlock &block) {
  Value hidden = linear(input, block.up);
  if (block.activation)
    hidden = layers.activation(*block.activation, hidden);
  return linear(hidden, block.down);
}

} // namespace heddle
