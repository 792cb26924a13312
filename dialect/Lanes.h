//===- Lanes.h - Arithmetic on the coordinates of a mask --------*- C++ -*-===//
//
// What MaskOpInterface speaks in: a point (b, h, i, j), lanes in which an op
// writes its predicate once for scalars and vectors alike, and the ranges of
// keys that a block of queries touches.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECT_LANES_H
#define HEDDLE_DIALECT_LANES_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include <map>
#include <optional>

namespace heddle {

/// Absolute coordinates; i32 or vectors of i32. `b` counts sentences, also in a
/// step, whose rows belong to sentences.
struct MaskPoint {
  mlir::Value b, h, i, j;
};

/// Elementwise i32 arithmetic. Operands are i32 or vector<n x i32>; where one
/// of two is a scalar it is splat. Predicates are i1 or vector<n x i1>.
class Lanes {
public:
  Lanes(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  mlir::Value constant(int32_t value);
  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value sub(mlir::Value lhs, mlir::Value rhs);
  mlir::Value mul(mlir::Value lhs, mlir::Value rhs);
  /// The remainder, with the sign of lhs.
  mlir::Value rem(mlir::Value lhs, mlir::Value rhs);
  mlir::Value lessOrEqual(mlir::Value lhs, mlir::Value rhs);
  mlir::Value less(mlir::Value lhs, mlir::Value rhs);
  mlir::Value equal(mlir::Value lhs, mlir::Value rhs);
  mlir::Value both(mlir::Value lhs, mlir::Value rhs);
  mlir::Value either(mlir::Value lhs, mlir::Value rhs);
  mlir::Value negate(mlir::Value predicate);
  mlir::Value constant(bool value);

  /// `table[at]`: an element of a rank-1 i32 tensor or memref; `at` is a
  /// scalar.
  mlir::Value load(mlir::Value table, mlir::Value at);
  /// `values[at]` for constants; a plain constant where all are equal.
  mlir::Value table(llvm::ArrayRef<int64_t> values, mlir::Value at);

  /// Whether the pair at `point` is in a mask: one value a mask and point in a
  /// block of code, however many masks are made of this one.
  mlir::Value contains(mlir::Value mask, const MaskPoint &point);

  mlir::OpBuilder &getBuilder() { return builder; }
  mlir::Location getLoc() { return loc; }

private:
  /// What `contains` wrote, by block, mask and coordinates.
  std::map<std::array<void *, 6>, mlir::Value> members;
  mlir::OpBuilder &builder;
  mlir::Location loc;
};

/// Keys [begin, end), of which all in [fullBegin, fullEnd) are members. Either
/// part is empty when its end is not behind its begin.
struct KeyRange {
  mlir::Value begin, end, fullBegin, fullEnd;
};

/// Queries [begin, end) of one head against keys [0, keyCount); all of type
/// index, begin < end.
struct QueryBlock {
  mlir::Value b, h, begin, end, keyCount;
  /// The ranges that stand in the code already: a mask's are written once,
  /// however many masks are made of it.
  mutable llvm::DenseMap<mlir::Value, llvm::SmallVector<KeyRange>> known{};
};

/// More ranges than this are replaced by their hull.
inline constexpr size_t kMaxKeyRanges = 8;

/// One partial range over all keys.
KeyRange wholeRange(mlir::OpBuilder &builder, mlir::Location loc,
                    const QueryBlock &block);

/// A query at i sees keys in [i - lookback, i + lookahead] only; none means
/// without bound.
struct Reach {
  std::optional<int64_t> lookback, lookahead;
};

/// What lies in both.
Reach intersect(const Reach &lhs, const Reach &rhs);

/// Masks among the operands of `op` have to be built by mask ops: the predicate
/// of a block argument is unknown.
llvm::LogicalResult verifyMaskOperands(mlir::Operation *op);

} // namespace heddle

#endif // HEDDLE_DIALECT_LANES_H
