//===- PairRegion.h - A similarity region for many pairs --------*- C++ -*-===//
//
// A region of vectors as wide as a head is evaluated element by element: what
// one query or key has is a list, what a pair adds to a sum is made where the
// sum is taken, and no vector of the region ever exists. Elementwise ops and
// lookups become loops over the elements; ops that move elements only say where
// an element comes from, and cut the loops where that changes.
//
// Lanes are pairs: the queries of a block, or the keys of one query. Elements
// of the others are scalars, and what depends on them alone is computed once
// for all lanes.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_ATTENTION_PAIRREGION_H
#define HEDDLE_LIB_KERNELS_ATTENTION_PAIRREGION_H

#include "lib/Kernels/Vectors/VectorLoops.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <functional>
#include <map>

namespace heddle {

/// Builds what a similarity region of attention, after expand-regions, makes of
/// some keys and queries. Elements are added in ascending order, whatever is
/// evaluated at once: the bits of a pair are its own. A product that only a sum
/// reads is rounded with it.
class PairRegion {
public:
  /// Element `at`, an index, of query or key `number`: f32, a vector of the
  /// level's lanes on the side whose numbers are in lanes, else a scalar.
  using Element = std::function<mlir::Value(int64_t number, mlir::Value at)>;
  enum Side : unsigned { Query = 1, Key = 2 };

  /// Reductions over queries alone are built here. `loops` has to live as long.
  PairRegion(mlir::Region &region, VectorLoops &loops, Side lanes,
             int64_t queries, Element query);

  /// Keys, of at most `most`, whose scores are best computed at once: a power
  /// of two if that is one.
  int64_t keysTogether(int64_t most);
  /// The scores of `count` keys: vectors, of each key those of all queries.
  llvm::SmallVector<mlir::Value> scores(int64_t count, const Element &key);

private:
  /// Numbers of a key and of a query; -1 if all have one value.
  struct Pair {
    int64_t key, query;
  };
  /// Element `offset` of a vector in row-major order or, if there is a d,
  /// element d + offset of those with d >= first that follow each other.
  struct Place {
    mlir::Value d;
    int64_t offset = 0, first = 0;
    int64_t least() const { return first + offset; }
  };
  /// What stands in the code already, by value, key and query.
  struct Known {
    std::map<std::tuple<void *, int64_t, int64_t>, mlir::Value> numbers;
    /// By offset, too: with the d of the innermost loop, or none outside.
    std::map<std::tuple<void *, int64_t, int64_t, int64_t>, mlir::Value>
        elements;
  };

  unsigned sidesOf(mlir::Value value) const { return sides.lookup(value); }
  int64_t countPairs(mlir::Value value) const;
  Pair limited(mlir::Value value, Pair pair) const;
  void forEachPair(mlir::Value value, llvm::function_ref<void(Pair)> body);
  bool follows(mlir::Value vector, int64_t at);
  bool isReady(mlir::Value value);
  bool isInside(mlir::Value value) const;
  mlir::Value &knownNumber(mlir::Value value, Pair pair);
  mlir::Value &knownElement(mlir::Value vector, Pair pair, const Place &place);
  mlir::Value number(mlir::Value value, Pair pair);
  mlir::Value element(mlir::Value vector, Pair pair, const Place &place);
  mlir::Value outsideElement(mlir::Value vector, const Place &place);
  mlir::Value indexOf(const Place &place);
  mlir::Value makeElement(mlir::OpResult result, Pair pair, const Place &place);
  void evaluate(unsigned allowed);
  void evaluate(mlir::Operation *op);
  void reduce(llvm::ArrayRef<mlir::vector::ReductionOp> group);
  int64_t endOfPiece(llvm::ArrayRef<mlir::vector::ReductionOp> group,
                     int64_t begin);
  mlir::Value start(mlir::vector::ReductionOp op, Pair pair);
  mlir::Value add(mlir::vector::ReductionOp op, Pair pair, const Place &place,
                  mlir::Value sum);
  bool isCostly() const;

  mlir::Region &region;
  VectorLoops &loops;
  Side lanes;
  int64_t queries, keys = 0;
  Element query, key;
  /// What the values of the region depend on, as a set of sides.
  llvm::DenseMap<mlir::Value, unsigned> sides;
  std::map<std::pair<void *, int64_t>, bool> followers;
  Known known;
  /// Numbers of the region that are known.
  llvm::DenseSet<mlir::Value> ready;
};

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_ATTENTION_PAIRREGION_H
