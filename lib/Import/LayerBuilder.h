//===- LayerBuilder.h - Writes a model as its paper has it ------*- C++ -*-===//
//
// The vocabulary in which importers write a model: unfused layers over named
// parameters. An op's location is the checkpoint's name of the tensor it uses
// (of what produced its input, if it uses none).
//
// Failures are sticky: a parameter that the checkpoint lacks is remembered and
// the graph goes on with a parameter of the expected shape, so that an importer
// reads as mathematics and asks once, at its end, whether all went well.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_LAYERBUILDER_H
#define HEDDLE_LIB_IMPORT_LAYERBUILDER_H

#include "dialect/Transformer.h"
#include "lib/Weights/WeightSource.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace heddle {

/// What becomes of a tensor that the checkpoint lacks: a failure, or a
/// parameter without a source.
enum class MissingTensors { Fail, Declare };

/// Builds the functions of one module. Values are those of the function that
/// was begun last.
class LayerBuilder {
public:
  /// Both must outlive the builder.
  LayerBuilder(mlir::ModuleOp module, const WeightSource &weights,
               MissingTensors missing = MissingTensors::Fail);

  /// An argument of a function: its name in the artifact and the names of its
  /// dynamic dimensions.
  struct Argument {
    llvm::StringRef name;
    llvm::SmallVector<llvm::StringRef, 2> dims;
    /// 0 for i32 ids and lengths; else f32 with this last dimension.
    int64_t width = 0;
    bool isTarget = false;
  };

  /// A private function with one f32 result [?, ?, resultWidth] (a dynamic
  /// width is kDynamic), compiled in these forms.
  struct Function {
    llvm::StringRef name;
    llvm::SmallVector<Argument> arguments;
    llvm::StringRef resultName;
    int64_t resultWidth;
    llvm::SmallVector<llvm::StringRef> forms = {"full"};
    /// The task that it computes: a result for each source, [?, resultWidth].
    llvm::StringRef task = {};
    /// Whether it has one for each token, or mask, of each source.
    bool isOfTokens = false;
  };
  /// Begins it and returns its arguments.
  llvm::SmallVector<mlir::Value> beginFunction(const Function &description);
  /// Begins @encode: the ids of sources and their lengths give states of this
  /// width.
  llvm::SmallVector<mlir::Value> beginEncode(int64_t width);
  /// Begins @decode, whose memory has this width: the ids of targets, the
  /// memory and the lengths of sources give logits. A decoder alone reads ids
  /// only and has the width 0.
  llvm::SmallVector<mlir::Value> beginDecode(int64_t width, int64_t vocabulary);
  /// Says of the decoder that was begun which attention to its memory shows
  /// alignments: `layer`, from the end if it is negative, and so many of its
  /// first heads, all if that is 0. Without it all of the last layer do.
  void setAlignment(int64_t layer, int64_t heads);
  void endFunction(mlir::Value result);

  /// The tensor `name` of the checkpoint, or null when it has none.
  const TensorInfo *find(llvm::StringRef name) const;

  /// Whether the checkpoint has tensors whose names begin with `prefix`.
  bool hasTensors(llvm::StringRef prefix) const;

  /// Reads the tensor `name` as `shape`. With `transposed` the file holds the
  /// transpose; `fileShape` is the shape that the file gives for it, if
  /// leading ones do not count. With `firstRow` the parameter is as many of its
  /// rows, from that one on. `symbol`, by default the name, tells
  /// two forms of one tensor apart.
  struct Parameter {
    std::string name;
    llvm::SmallVector<int64_t, 2> shape;
    bool transposed = false;
    llvm::SmallVector<int64_t, 2> fileShape;
    std::string symbol = name;
    /// What quantises vectors that are multiplied by an `intgemm8` tensor.
    std::optional<float> inputMultiplier = std::nullopt;
    std::optional<int64_t> firstRow = std::nullopt;
  };
  mlir::Value weight(const Parameter &parameter);
  /// The same, each element multiplied by a factor.
  mlir::Value scaledWeight(const Parameter &parameter, float factor);
  /// The same, a number added to each element, and then a factor.
  mlir::Value shiftedWeight(const Parameter &parameter, float number,
                            float factor = 1);
  /// T5's buckets of distances up to `far`: `relative_buckets` of ParameterOp,
  /// of one direction under a causal mask.
  struct Buckets {
    int64_t count, far;
    bool isCausal = false;
  };
  /// The biases of distances that a table [buckets, heads] has as buckets, f32
  /// [heads, 2 far + 1].
  mlir::Value relativeBuckets(const Parameter &table, const Buckets &buckets);

  /// What vectors of relative positions are made of: values are weights.
  struct RelativeTable {
    /// [2 s, width], and what normalises its rows; gamma may be null.
    mlir::Value rows, gamma, beta;
    float epsilon = 0;
    /// What they are multiplied by, [width, columns] and [columns].
    mlir::Value weight, bias;
    /// Numbers of `log_buckets` of ParameterOp.
    int64_t buckets = 0, most = 0, far = 0;
  };
  /// A vector for each distance, f32 [columns, 2 far + 1]: `log_buckets` of the
  /// products of a table's rows with a weight.
  mlir::Value relativeVectors(const RelativeTable &table);

  /// Numbers of `rotary_frequencies` of ParameterOp, and how many frequencies
  /// there are.
  struct Rotary {
    double base;
    int64_t count;
    /// What makes more positions fit; empty for none.
    llvm::SmallVector<double, 4> scaling = {};
  };
  /// Frequencies of rotary positions, f32 [count].
  mlir::Value rotaryFrequencies(const Rotary &rotary);

  /// Of heads of so many columns, as many pairs of neighbours, which `rotary`
  /// takes as halves.
  struct HeadPairs {
    int64_t headWidth, count;
  };
  /// The tensor, its last axis in the order that `rotary` has pairs in.
  mlir::Value splitPairs(const Parameter &parameter, const HeadPairs &pairs);
  /// What ALiBi multiplies distances by, f32 [heads], times a factor.
  mlir::Value alibiSlopes(int64_t heads, float factor = 1);

  /// A table of positions that a model computes, f32 [rows, width]: `sinusoids`
  /// of ParameterOp.
  mlir::Value sinusoidTable(int64_t rows, int64_t width, int64_t pad);

  /// Layers; the ops' descriptions in the dialect have the formulas and shapes.
  mlir::Value embedding(mlir::Value ids, mlir::Value table, float scale = 1);
  mlir::Value sinusoidalPositions(mlir::Value input, int64_t timescales);
  mlir::Value learnedPositions(mlir::Value input, mlir::Value table,
                               int64_t offset);
  mlir::Value rotaryPositions(mlir::Value input, mlir::Value frequencies,
                              int64_t heads);
  mlir::Value linear(mlir::Value input, mlir::Value weight, mlir::Value bias);
  /// The columns of a linear in parts of these widths.
  llvm::SmallVector<mlir::Value> split(mlir::Value input, mlir::Value weight,
                                       mlir::Value bias,
                                       llvm::ArrayRef<int64_t> widths);
  mlir::Value activation(ActivationKind kind, mlir::Value input);
  /// `beta` may be null.
  struct Norm {
    NormKind kind;
    mlir::Value gamma, beta;
    float epsilon;
  };
  mlir::Value norm(const Norm &norm, mlir::Value input);
  /// Vectors of length 1, or divided by epsilon if they are shorter than it.
  mlir::Value normalize(mlir::Value input, float epsilon);
  /// One vector for each sequence, of its positions from `first` on, which may
  /// be null.
  mlir::Value pool(llvm::ArrayRef<Pooling> modes, mlir::Value input,
                   mlir::Value lengths, mlir::Value first);
  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value multiply(mlir::Value lhs, mlir::Value rhs);
  mlir::Value recurrence(mlir::Value forget, mlir::Value value);
  mlir::Value takeRows(mlir::Value input, mlir::Value tokens);
  mlir::Value putRows(mlir::Value rows, mlir::Value tokens, mlir::Value input);
  mlir::Value candidateLogits(mlir::Value input, mlir::Value rows,
                              mlir::Value bias, mlir::Value counts);

  /// Softmax attention; a mask or biases may be null.
  struct Attention {
    mlir::Value query, key, value, mask;
    int64_t heads;
    /// Of keys and values; 0 for `heads`.
    int64_t kvHeads = 0;
    /// 1 / sqrt(width of a head) without it.
    std::optional<float> scale = {};
    /// Scores s become cap * tanh(s / cap), in front of biases.
    std::optional<float> cap = {};
    /// f32 [heads, 2 far + 1], added to scores: at far + key - query, or
    /// at the nearest end.
    mlir::Value biases = {};
    /// f32 [heads]: times the distance of query and key, taken from scores.
    mlir::Value slopes = {};
    /// See `attention` of the dialect; null for none.
    mlir::Value relativeKeys = {}, relativeQueries = {};
  };
  mlir::Value attention(llvm::StringRef name, const Attention &attention);
  mlir::Value causalMask();
  mlir::Value paddingMask(mlir::Value lengths);
  mlir::Value windowMask(int64_t left, int64_t right);
  /// Keys that are `tokens`, for all queries.
  mlir::Value globalColumns(mlir::Value tokens);
  mlir::Value both(mlir::Value lhs, mlir::Value rhs);
  mlir::Value either(mlir::Value lhs, mlir::Value rhs);

  /// Remembers the first failure, a sentence.
  void fail(const llvm::Twine &sentence);
  /// The first failure, or success.
  llvm::Error takeError() const;

private:
  mlir::Location nameLoc(llvm::StringRef name);
  void addScoreRegion(AttentionOp op, const Attention &attention);
  /// Declares the parameter behind those that exist, or checks that an equal
  /// one does.
  void declare(const Parameter &parameter);
  /// Fails if the parameter that was declared is another.
  void expectEqual(ParameterOp declared, const Parameter &parameter);
  mlir::FloatAttr inputMultiplierOf(const Parameter &parameter);
  /// Where the bytes of a tensor's rows begin that a parameter takes.
  int64_t offsetOf(const Parameter &parameter, const TensorInfo &tensor);
  mlir::Value read(const Parameter &parameter);
  /// Has each element of what was derived multiplied.
  void setFactor(llvm::StringRef symbol, float factor);
  /// Adds it behind those that exist.
  ParameterOp addParameter(const Parameter &parameter, SourceAttr source);
  /// Reads what is made of numbers and of parameters that exist.
  mlir::Value derive(const Parameter &parameter, Derivation derivation,
                     llvm::ArrayRef<double> numbers,
                     llvm::ArrayRef<std::string> parts);

  mlir::OpBuilder builder;
  mlir::ModuleOp module;
  mlir::SymbolTable symbols;
  const WeightSource &weights;
  MissingTensors missing;
  mlir::func::FuncOp function;
  std::string failure;
};

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_LAYERBUILDER_H
