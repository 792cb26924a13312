//===- QueryFragments.h - The queries of a warp of attention ----*- C++ -*-===//
//
// Sums, scores and probabilities stand in fragments of 16 rows by 8 columns
// (PTX ISA, "Matrix Fragments for mma.m16n8k16"): element e is in row lane / 4
// + 8 (e / 2) and column 2 (lane % 4) + e % 2. A thread has two rows of each
// fragment, and four lanes share a row. Matrices are [fragment of rows][of
// columns][element].
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_GPU_ATTENTION_QUERYFRAGMENTS_H
#define HEDDLE_LIB_KERNELS_GPU_ATTENTION_QUERYFRAGMENTS_H

#include "dialect/attention/Attention.h"
#include "lib/Kernels/Gpu/Attention/GpuQueryLoops.h"
#include "lib/Kernels/Gpu/Attention/HeadTile.h"
#include "lib/Kernels/Gpu/Attention/KeyTiles.h"
#include "lib/Kernels/Gpu/Attention/QueryBlocks.h"
#include <memory>

namespace heddle {

inline constexpr int64_t kFragmentRows = 16, kFragmentColumns = 8;

class QueryFragments {
public:
  /// Of each of the thread's rows the largest score, or what its probabilities
  /// are counted in (see countsProbabilities), and this lane's sum of
  /// probabilities, and the weighted values.
  struct State {
    llvm::SmallVector<mlir::Value> maxima, totals, sums;

    llvm::SmallVector<mlir::Value> values() const;
  };

  /// What a warp and a tile have: the queries [first, first + count), `first`
  /// being an i32, by `keys`, at most 64 pairs a thread.
  struct Shape {
    mlir::Value first;
    int64_t count, keys;
  };
  /// `mask` is the op's as the head has it, or null.
  QueryFragments(AttentionOp op, mlir::Value mask, const QueryRows &block,
                 const Shape &shape, BlockCode &code);

  int64_t rowFragments() const { return shape.count / kFragmentRows; }
  int64_t keyFragments() const { return shape.keys / kFragmentColumns; }
  int64_t columnFragments() const {
    return AttentionOp(op).getValueWidth() / int64_t(kFragmentColumns);
  }
  /// Rows of a thread.
  int64_t rows() const { return 2 * rowFragments(); }
  /// Where a row's first element of a fragment stands in a matrix that is so
  /// many fragments wide; the other one stands behind it.
  static size_t placeOf(int64_t row, int64_t columns, int64_t column) {
    return (row / 2 * columns + column) * 4 + row % 2 * 2;
  }

  State start();
  State stateOf(mlir::ValueRange values) const;

  /// The probabilities of a tile.
  struct Probabilities {
    /// Fragments A. Of f32 a word is an element, as HeadTile::columnFragments
    /// has its rows; of short floats two keys side by side.
    llvm::SmallVector<mlir::Value> words;
    /// A bit of an i64 for each pair, row by row: whether it is in the mask.
    mlir::Value seen;
    /// Where the largest score, or what probabilities are counted in, moves:
    /// what each row multiplies sums of tiles before with.
    llvm::SmallVector<mlir::Value> growth;
  };
  /// Makes probabilities of the products of queries and keys, with maxima and
  /// totals brought up to them. Pairs outside of the mask weigh 0.
  Probabilities weigh(const KeyTile &tile, mlir::ValueRange products,
                      State &state);
  /// Brings the sums up to the maxima of these probabilities.
  void scaleSums(const Probabilities &probabilities, State &state);
  /// The sums with what is not finite in the tile's values, if `found`, an i32
  /// that is the same for all threads of a warp, is not 0: for those queries
  /// that see its key. `values` are all of them.
  void addOthers(const Probabilities &probabilities, const KeyTile &tile,
                 const HeadRows &values, mlir::Value found, State &state);
  /// Writes the results.
  void finish(const State &state);

private:
  bool isSoftmax() const {
    return AttentionOp(op).getNormalizer() == Normalizer::Softmax;
  }
  /// Whether probabilities have a range that the product's operands have not,
  /// and are counted in powers of 2 that follow each row's largest one.
  bool countsProbabilities() const {
    return probabilityTypeOf(op) != element();
  }
  mlir::Type element() const { return AttentionOp(op).getFactorType(); }
  bool isOfShortFloats() const { return AttentionOp(op).isOfShortFloats(); }
  int64_t wordsOfFragment() const { return isOfShortFloats() ? 2 : 4; }
  std::unique_ptr<GpuQueryLoops> queryOf(mlir::Value i);
  mlir::Value
  ofRow(mlir::Value value,
        llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine);
  /// Pairs of a row of the thread, in bits.
  int64_t pairsOfRow() const { return 2 * keyFragments(); }
  mlir::Value bitOf(mlir::Value bits, int64_t row, int64_t pair);
  llvm::SmallVector<mlir::Value> score(mlir::ValueRange products,
                                       mlir::Value firstKey);
  void forEachPair(int64_t row, llvm::function_ref<void(size_t)> body);
  mlir::Value largestOfRow(int64_t row, llvm::ArrayRef<mlir::Value> numbers);
  void move(int64_t row, mlir::Value maximum, mlir::Value growth, State &state,
            Probabilities &probabilities);
  mlir::Value raiseMaximum(int64_t row, llvm::ArrayRef<mlir::Value> scores,
                           State &state, Probabilities &probabilities);
  mlir::Value powerOf2(mlir::Value exponent);
  void countRow(int64_t row, llvm::MutableArrayRef<mlir::Value> probabilities,
                State &state, Probabilities &all);
  void weighRow(int64_t row, llvm::SmallVector<mlir::Value> scores,
                State &state, Probabilities &probabilities);
  struct Probability {
    mlir::Value probability, isSeen;
  };
  Probability probabilityAt(const Probabilities &probabilities, int64_t row,
                            mlir::Value key);
  llvm::SmallVector<mlir::Value> addOther(const Probabilities &probabilities,
                                          mlir::Value key, mlir::Value value,
                                          mlir::ValueRange sums);

  AttentionOp op;
  mlir::Value mask;
  const QueryRows &block;
  Shape shape;
  BlockCode &code;
  /// The thread's first row in the block.
  mlir::Value firstRow;
  /// What each row computes.
  llvm::SmallVector<std::unique_ptr<GpuQueryLoops>> queries;
};

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_ATTENTION_QUERYFRAGMENTS_H
