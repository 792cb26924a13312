//===- Lanes.h - Arithmetic on the coordinates of a mask --------*- C++ -*-===//
//
// What MaskOpInterface speaks in: a point (b, h, i, j), lanes in which an op
// writes its predicate once for scalars and vectors alike, and the ranges of
// keys that a block of queries touches.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECT_MASKS_LANES_H
#define HEDDLE_DIALECT_MASKS_LANES_H

#include "dialect/Arith.h"
#include "llvm/ADT/DenseMap.h"
#include <map>
#include <optional>

namespace heddle {

/// Absolute coordinates; i32 or vectors of i32. `b` counts sentences, also in a
/// step, whose rows belong to sentences.
struct MaskPoint {
  mlir::Value b, h, i, j;
};

/// Elementwise arithmetic: operands are i32 or vector<n x i32>, predicates i1
/// or vector<n x i1>.
class Lanes : public Arith {
public:
  using Arith::Arith;

  /// `table[at...]`: elements of a tensor or memref, inside of which `at` is.
  mlir::Value load(mlir::Value table, mlir::ValueRange at);
  /// The size of a dimension.
  mlir::Value size(mlir::Value table, int64_t axis);
  /// The smallest and the largest lane.
  mlir::Value reduceMin(mlir::Value value);
  mlir::Value reduceMax(mlir::Value value);
  /// Whether body(n) holds for any n in [begin, end), scalars; a predicate with
  /// the lanes of `like`.
  mlir::Value anyOf(mlir::Value begin, mlir::Value end, mlir::Value like,
                    llvm::function_ref<mlir::Value(mlir::Value)> body);
  /// What a region of elementwise ops and lookups yields for `arguments`.
  mlir::Value inlineRegion(mlir::Region &region, mlir::ValueRange arguments);
  /// `values[at]` for constants; a plain constant if all are equal.
  mlir::Value table(llvm::ArrayRef<int64_t> values, mlir::Value at);

  /// Whether the pair at `point` is in a mask: one value a mask and point in a
  /// block of code, however many masks are made of this one.
  mlir::Value contains(mlir::Value mask, const MaskPoint &point);

private:
  /// What `contains` wrote, by block, mask and coordinates.
  std::map<std::array<void *, 6>, mlir::Value> members;
};

/// Keys [begin, end), of which all in [fullBegin, fullEnd) are members. Either
/// part is empty when its end is not behind its begin.
struct KeyRange {
  mlir::Value begin, end, fullBegin, fullEnd;
};

/// What a block of queries sees of some keys: no pair of them, perhaps some, or
/// all.
enum Cover : int64_t { kNone, kSome, kAll };

/// Keys up to `end` that a block of queries sees alike: `cover` is one of
/// Cover. Both of type index.
struct KeySegment {
  mlir::Value cover, end;
};

/// Queries [begin, end) of one head against keys [0, keyCount); all of type
/// index, begin < end. With a stride other positions than begin, begin + stride
/// and so on do not count, neither of queries nor of keys.
struct QueryBlock {
  mlir::Value b, h, begin, end, keyCount;
  int64_t stride = 1;
  /// The ranges that stand in the code already: a mask's are written once,
  /// however many masks are made of it.
  mutable llvm::DenseMap<mlir::Value,
                         std::optional<llvm::SmallVector<KeyRange>>>
      known{};
  /// The segments of masks at keys, too.
  mutable llvm::DenseMap<std::pair<mlir::Value, mlir::Value>, KeySegment>
      segments{};
};

/// More ranges than this have no closed form.
inline constexpr size_t kMaxKeyRanges = 8;

/// One partial range over all keys.
KeyRange wholeRange(mlir::OpBuilder &builder, mlir::Location loc,
                    const QueryBlock &block);

/// What `mask` says of the block: as the methods of MaskOpInterface, but ranges
/// that stand in the code already are used again. Ranges are written at the
/// builder's place: whoever walks over segments in a loop asks for ranges
/// first.
std::optional<llvm::SmallVector<KeyRange>> keyRangesOf(mlir::OpBuilder &builder,
                                                       mlir::Location loc,
                                                       const QueryBlock &block,
                                                       mlir::Value mask);
KeySegment segmentAt(mlir::OpBuilder &builder, mlir::Location loc,
                     const QueryBlock &block, mlir::Value mask,
                     mlir::Value key);
/// The segment at `key` of the mask's closed form, which it has.
KeySegment segmentOfRanges(mlir::OpBuilder &builder, mlir::Location loc,
                           const QueryBlock &block, mlir::Value mask,
                           mlir::Value key);

/// A query at i sees no key behind i + lookahead, and none before i - lookback
/// but those below `pinned`; none means without bound.
struct Reach {
  std::optional<int64_t> lookback, lookahead;
  int64_t pinned = 0;
};

/// What lies in both.
Reach intersect(const Reach &lhs, const Reach &rhs);

/// Masks among the operands of `op` have to be built by mask ops: the predicate
/// of a block argument is unknown.
llvm::LogicalResult verifyMaskOperands(mlir::Operation *op);

} // namespace heddle

#endif // HEDDLE_DIALECT_MASKS_LANES_H
