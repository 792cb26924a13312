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

/// The weight or bias, of this shape in a file.
Value Blocks::rowsOf(const LinearBlock &block, StringRef part,
                     ArrayRef<int64_t> shape) {
  LayerBuilder::Parameter parameter{(block.name + separator + part).str(),
                                    SmallVector<int64_t, 2>(reverse(shape)),
                                    /*transposed=*/shape.size() > 1,
                                    SmallVector<int64_t, 2>(shape)};
  if (block.rows) {
    parameter.fileShape.front() = block.rows->all;
    parameter.firstRow = block.rows->first;
    parameter.symbol += "." + std::to_string(block.rows->first);
  }
  return block.pairs ? layers.splitPairs(parameter, *block.pairs)
                     : layers.weight(parameter);
}

std::pair<Value, Value> Blocks::parametersOf(Value input,
                                             const LinearBlock &block) {
  int64_t width = widthOf(input);
  Value weight = block.isConv1D
                     ? table({(block.name + separator + "weight").str(), width,
                              block.width})
                     : rowsOf(block, "weight", {block.width, width});
  Value bias;
  if (block.hasBias)
    bias = rowsOf(block, "bias", block.width);
  return {weight, bias};
}

Value Blocks::linear(Value input, const LinearBlock &block) {
  auto [weight, bias] = parametersOf(input, block);
  return layers.linear(input, weight, bias);
}

Value Blocks::logits(Value input, const TableBlock &table, bool isTied,
                     Value bias) {
  LayerBuilder::Parameter rows{table.name,
                               {table.width, table.rows},
                               /*transposed=*/true,
                               {table.rows, table.width}};
  // The table of the lookup stays as it is: here the loop over the vocabulary
  // is contiguous.
  if (isTied)
    rows.symbol += ".transposed";
  return layers.linear(input, layers.weight(rows), bias);
}

LayerBuilder::Norm Blocks::normOf(const NormBlock &block, int64_t width) {
  auto vector = [&](StringRef name, StringRef older) {
    std::string usual = (block.name + separator + name).str();
    std::string other = (block.name + separator + older).str();
    bool isOlder = !layers.find(usual) && layers.find(other);
    LayerBuilder::Parameter parameter{
        isOlder ? other : usual, {width}, /*transposed=*/false, {width}};
    if (block.addsOne)
      return layers.shiftedWeight(parameter, 1, block.scale);
    return block.scale == 1 ? layers.weight(parameter)
                            : layers.scaledWeight(parameter, block.scale);
  };
  Value gamma = vector("weight", "gamma"), beta;
  if (block.hasBias)
    beta = vector("bias", "beta");
  return {block.kind, gamma, beta, block.epsilon};
}

Value Blocks::norm(Value input, const NormBlock &block) {
  return layers.norm(normOf(block, widthOf(input)), input);
}

Value Blocks::relativeVectors(const RelativeBlock &block) {
  LayerBuilder::RelativeTable vectors;
  vectors.rows = table(block.table);
  if (block.norm) {
    LayerBuilder::Norm norm = normOf(*block.norm, block.table.width);
    vectors.gamma = norm.gamma;
    vectors.beta = norm.beta;
    vectors.epsilon = norm.epsilon;
  }
  const LinearBlock &linear = block.linear;
  vectors.weight = rowsOf(linear, "weight", {linear.width, block.table.width});
  vectors.bias = rowsOf(linear, "bias", linear.width);
  vectors.buckets = block.buckets;
  vectors.most = block.most;
  vectors.far = block.far;
  return layers.relativeVectors(vectors);
}

/// Attention of the block's global tokens, one row each.
Value Blocks::globalRows(Value input, const AttentionBlock &block) {
  const GlobalRows &rows = *block.global;
  LayerBuilder::Attention attention;
  attention.query = linear(layers.takeRows(input, rows.tokens), rows.query);
  attention.key = linear(input, rows.key);
  attention.value = linear(input, rows.value);
  attention.mask = rows.mask;
  attention.heads = block.heads;
  attention.scale = block.scale;
  return layers.attention(block.name + "_global", attention);
}

Value Blocks::attention(Value input, Value memory,
                        const AttentionBlock &block) {
  Value source = memory ? memory : input;
  LayerBuilder::Attention attention;
  if (block.joint) {
    auto [weight, bias] = parametersOf(input, *block.joint);
    auto parts =
        layers.split(input, weight, bias,
                     {block.query.width, block.key.width, block.value.width});
    attention.query = parts[0];
    attention.key = parts[1];
    attention.value = parts[2];
  } else {
    attention.query = linear(input, block.query);
    attention.key = linear(source, block.key);
    attention.value = linear(source, block.value);
  }
  if (block.rotary) {
    attention.query =
        layers.rotaryPositions(attention.query, block.rotary, block.heads);
    attention.key =
        layers.rotaryPositions(attention.key, block.rotary,
                               block.kvHeads ? block.kvHeads : block.heads);
  }
  attention.mask = block.mask;
  attention.heads = block.heads;
  attention.kvHeads = block.kvHeads;
  attention.scale = block.scale;
  attention.cap = block.cap;
  attention.biases = block.biases;
  attention.slopes = block.slopes;
  attention.relativeKeys = block.relativeKeys;
  attention.relativeQueries = block.relativeQueries;
  Value output = layers.attention(block.name, attention);
  if (block.global)
    output =
        layers.putRows(globalRows(input, block), block.global->tokens, output);
  return linear(output, block.output);
}

Value Blocks::ffn(Value input, const FfnBlock &block) {
  Value hidden = linear(input, block.up);
  if (block.activation)
    hidden = layers.activation(*block.activation, hidden);
  if (block.gate)
    hidden = layers.multiply(hidden, linear(input, *block.gate));
  return linear(hidden, block.down);
}

} // namespace heddle
