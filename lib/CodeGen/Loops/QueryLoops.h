//===- QueryLoops.h - What one query of attention computes ------*- C++ -*-===//
//
// Where a query of a head finds its keys, which of them it sees, and what they
// weigh: the formulas of AttentionOp in any of its forms, for loops over keys
// that stand elsewhere.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_CODEGEN_LOOPS_QUERYLOOPS_H
#define HEDDLE_LIB_CODEGEN_LOOPS_QUERYLOOPS_H

#include "dialect/Transformer.h"
#include "lib/CodeGen/Loops/Loops.h"

namespace heddle {

/// Clones a region of one block at the builder's insertion point; returns what
/// it yields.
mlir::Value inlineRegion(mlir::Region &region, mlir::OpBuilder &builder,
                         mlir::ValueRange arguments);

class QueryLoops {
public:
  /// `row` are the coordinates of the query and of the result: [b, i] or, in a
  /// step and if queries are ragged, [row]. All values are built where the
  /// builder stands.
  QueryLoops(AttentionOp op, mlir::OpBuilder &builder, mlir::ValueRange row,
             mlir::Value head);
  virtual ~QueryLoops() = default;

  // Positions of keys are indices. Keys [firstKey, keyCount) exist; the mask
  // decides among them.
  mlir::Value getFirstKey() const { return firstKey; }
  mlir::Value getKeyCount() const { return keyCount; }
  mlir::Value getHead() const { return head; }
  /// The sentence and the position of the query.
  mlir::Value getSentence() const { return sentence; }
  mlir::Value getPosition() const { return position; }

  mlir::Value isAllowed(mlir::Value j);
  /// The leading coordinates of key j and its value.
  llvm::SmallVector<mlir::Value> keyAt(mlir::Value j);
  mlir::Value score(mlir::Value j);
  /// The same if the inner product of the query and the key is known.
  mlir::Value scoreOf(mlir::Value product, mlir::Value j);
  /// What a score weighs before it is divided by the sum, given the largest,
  /// which is read for a softmax only.
  mlir::Value probabilityOf(mlir::Value score, mlir::Value maximum);
  /// The same before it is rounded to the op's probability type.
  mlir::Value exactProbabilityOf(mlir::Value score, mlir::Value maximum);
  /// An element, or a vector of them, as f32: integers without their scale.
  mlir::Value widen(mlir::Value element);
  /// Element d of the query; of a key or a value, given its leading
  /// coordinates; of a result, the place.
  mlir::Value loadQuery(mlir::Value d);
  mlir::Value loadKey(mlir::ValueRange key, mlir::Value d);
  mlir::Value loadValue(mlir::ValueRange key, mlir::Value d);
  llvm::SmallVector<mlir::Value> resultAt(mlir::Value d);

protected:
  /// The inner product of the query and a key.
  virtual mlir::Value multiply(mlir::ValueRange key);
  /// 2^x, of what weighs short floats.
  virtual mlir::Value exp2(mlir::Value x);
  /// e^(score - maximum); of short floats 2^(score log2 e - n) with n the
  /// integer next to maximum log2 e.
  virtual mlir::Value exponential(mlir::Value score, mlir::Value maximum);

  AttentionOp op;
  Loops loops;
  llvm::SmallVector<mlir::Value, 2> row;
  mlir::Value head;
  /// Offsets of the head inside the widths, and the head of keys.
  mlir::Value queryOffset, keyOffset, valueOffset, kvHead;

private:
  void locate();
  mlir::Value slotOf(mlir::Value j);
  mlir::Value adjust(mlir::Value similarity, mlir::Value j);
  mlir::Value relativeProducts(mlir::ValueRange key, mlir::Value j);
  mlir::Value vectorAt(mlir::Value memref, mlir::ValueRange at, int64_t width);
  mlir::Value scaled(mlir::Value x, mlir::Value scales, mlir::ValueRange key);

  /// Where the query stands: its sentence and position; and the row of keys
  /// that it has, or, of ragged ones, the first.
  mlir::Value keyRow, sentence, position;
  mlir::Value firstKey, keyCount;
};

} // namespace heddle

#endif // HEDDLE_LIB_CODEGEN_LOOPS_QUERYLOOPS_H
