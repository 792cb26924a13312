//===- Blocks.h - Parts of transformers over named tensors ------*- C++ -*-===//
//
// What model families are written with: a block is a description of a layer and
// of its tensors' names, and one function writes it. Names are those of
// torch.nn's modules, to which ".weight" and ".bias" are added.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_BLOCKS_H
#define HEDDLE_LIB_IMPORT_BLOCKS_H

#include "lib/Import/LayerBuilder.h"

namespace heddle {

/// Of a tensor that holds the rows of several linears, one behind the other:
/// the first one of this, and how many there are.
struct RowsOfTensor {
  int64_t first, all;
};

/// torch.nn.Linear: x W^T + b, W [width, in]. transformers' Conv1D is x W + b,
/// W [in, width], and has no rows of its own.
struct LinearBlock {
  std::string name;
  int64_t width;
  bool hasBias = true;
  std::optional<RowsOfTensor> rows = {};
  bool isConv1D = false;
  /// Of queries and keys whose rotary pairs are neighbours.
  std::optional<LayerBuilder::HeadPairs> pairs = {};
};

/// A norm of the input's width. Files of Google's BERT say "gamma" for "weight"
/// and "beta" for "bias".
struct NormBlock {
  std::string name;
  float epsilon;
  NormKind kind = NormKind::Layer;
  bool hasBias = true;
  /// Multiplies what it returns, by its weights.
  float scale = 1;
  /// Whether 1 is added to its weights.
  bool addsOne = false;
};

/// Tokens of which the rows of attention are computed by linears of their own:
/// the global ones of Longformer.
struct GlobalRows {
  LinearBlock query, key, value;
  /// Their positions, i32 [batch, any], and the mask of their keys.
  mlir::Value tokens, mask;
};

/// Softmax attention between projections. Heads are `query.width / heads` wide.
struct AttentionBlock {
  /// For locations.
  std::string name;
  LinearBlock query, key, value, output;
  int64_t heads;
  /// Of keys and values; 0 for `heads`.
  int64_t kvHeads = 0;
  /// 1 / sqrt(width of a head) without it.
  std::optional<float> scale = {};
  /// Null for none.
  mlir::Value mask = {};
  /// Frequencies that turn queries and keys; null for none.
  mlir::Value rotary = {};
  /// See LayerBuilder::Attention.
  std::optional<float> cap = {};
  mlir::Value biases = {}, slopes = {}, relativeKeys = {}, relativeQueries = {};
  /// What replaces some rows, in front of the output.
  std::optional<GlobalRows> global = {};
  /// One linear of queries, keys and values, side by side, in place of the
  /// three, which then say their widths alone.
  std::optional<LinearBlock> joint = {};
};

/// down(activation(up(x))), or with a gate down(activation(up(x)) * gate(x)),
/// which models of the kind of Llama call gate and up. Without an activation
/// there is none.
struct FfnBlock {
  LinearBlock up, down;
  std::optional<ActivationKind> activation;
  std::optional<LinearBlock> gate = {};
};

/// A table of vectors.
struct TableBlock {
  /// Of the tensor itself.
  std::string name;
  int64_t rows, width;
};

/// Vectors of relative positions: what a linear makes of the rows of a table,
/// with a norm or without. Numbers are those of `log_buckets` of ParameterOp.
struct RelativeBlock {
  TableBlock table;
  std::optional<NormBlock> norm;
  LinearBlock linear;
  int64_t buckets, most, far;
};

/// Writes blocks. Borrows the builder, whose failures are sticky. A separator
/// stands between the name of a block and that of its tensor.
class Blocks {
public:
  explicit Blocks(LayerBuilder &layers, llvm::StringRef separator = ".")
      : layers(layers), separator(separator) {}

  mlir::Value table(const TableBlock &block);
  mlir::Value linear(mlir::Value input, const LinearBlock &block);
  /// Logits of a vocabulary: products with the rows of a table, which is that
  /// of the ids, too, if they are tied. The bias may be null.
  mlir::Value logits(mlir::Value input, const TableBlock &table, bool isTied,
                     mlir::Value bias);
  mlir::Value norm(mlir::Value input, const NormBlock &block);
  /// Keys and values of `memory`, or of the input if it is null.
  mlir::Value attention(mlir::Value input, mlir::Value memory,
                        const AttentionBlock &block);
  mlir::Value ffn(mlir::Value input, const FfnBlock &block);
  mlir::Value relativeVectors(const RelativeBlock &block);

private:
  /// The weight and the bias, which may be null, of an input's linear.
  std::pair<mlir::Value, mlir::Value> parametersOf(mlir::Value input,
                                                   const LinearBlock &block);
  mlir::Value rowsOf(const LinearBlock &block, llvm::StringRef part,
                     llvm::ArrayRef<int64_t> shape);
  mlir::Value globalRows(mlir::Value input, const AttentionBlock &block);
  LayerBuilder::Norm normOf(const NormBlock &block, int64_t width);

  LayerBuilder &layers;
  llvm::StringRef separator;
};

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_BLOCKS_H
