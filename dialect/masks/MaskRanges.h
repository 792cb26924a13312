//===- MaskRanges.h - Arithmetic on ranges of keys --------------*- C++ -*-===//
//
// What mask ops compute `keyRanges` and `segmentAt` with.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECT_MASKS_MASKRANGES_H
#define HEDDLE_DIALECT_MASKS_MASKRANGES_H

#include "dialect/Transformer.h"
#include "dialect/masks/Lanes.h"

namespace heddle {

/// Ranges in closed form, or none.
using KeyRanges = std::optional<llvm::SmallVector<KeyRange>>;

/// Index arithmetic on ranges.
class IndexMath : public Arith {
public:
  using Arith::Arith;

  /// value limited to [0, limit].
  mlir::Value clamp(mlir::Value value, mlir::Value limit);
  /// An i32 of a table, as an index.
  mlir::Value load(mlir::Value table, mlir::ValueRange at);

  /// All pairs of ranges; none if they are more than kMaxKeyRanges.
  KeyRanges intersect(const KeyRanges &lhs, const KeyRanges &rhs);
  /// What two masks see together. A mask that sees nothing decides alone, so
  /// that walks do not stop inside its segment.
  KeySegment intersect(const KeySegment &lhs, const KeySegment &rhs);
  /// What either mask sees; one that sees all decides.
  KeySegment unite(const KeySegment &lhs, const KeySegment &rhs);
  /// What queries see that fall into several blocks of `size`: `segment` says
  /// it of each block.
  KeySegment
  overBlocks(const QueryBlock &queries, int64_t size,
             llvm::function_ref<KeySegment(mlir::Value block)> segment);

private:
  KeySegment combine(const KeySegment &lhs, const KeySegment &rhs,
                     mlir::Value cover, Cover deciding);
};

/// Ascending numbers, i32, in a row of a table: elements [begin, begin + size).
struct SortedList {
  mlir::Value table;
  /// The leading indices, and the range of the last one; all of type index.
  llvm::SmallVector<mlir::Value, 1> row;
  mlir::Value begin, size;

  /// Element `place` < size.
  mlir::Value at(IndexMath &math, mlir::Value place) const;
  /// The first place whose element is not below `value`, or the size.
  mlir::Value lowerBound(IndexMath &math, mlir::Value value) const;
  /// That element; `otherwise` if the place is the size.
  mlir::Value atOr(IndexMath &math, mlir::Value place,
                   mlir::Value otherwise) const;
  /// Whether the lanes of `values`, i32, are elements: a predicate.
  mlir::Value contains(Lanes &lanes, mlir::Value values) const;
};

/// The list of row `row` in compressed rows: offsets [rows + 1], each limited
/// to the number of elements. No elements if there is no such row, or it
/// ends before it begins.
SortedList compressedRow(IndexMath &math, mlir::Value offsets,
                         mlir::Value elements, mlir::Value row);

} // namespace heddle

#endif // HEDDLE_DIALECT_MASKS_MASKRANGES_H
