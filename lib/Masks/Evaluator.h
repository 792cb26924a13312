//===- Evaluator.h - What the code of masks computes ------------*- C++ -*-===//
//
// Runs the scalar and vector code that MaskOpInterface writes, without
// compiling it: what masks promise is tested, and drawn, by what they say
// themselves. Ops of scf run as they are defined, loads read constants, and
// everything else is what its folder makes of constant operands.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_MASKS_EVALUATOR_H
#define HEDDLE_LIB_MASKS_EVALUATOR_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/DenseMap.h"

namespace heddle {

/// Evaluates values on demand, each once. The code has no effects.
class Evaluator {
public:
  /// Says what a value is that no op computes here; a tensor or memref is a
  /// DenseElementsAttr of static shape.
  void bind(mlir::Value value, mlir::Attribute constant);

  /// Gives a block its arguments and forgets what was computed in it.
  void enter(mlir::Block &block, llvm::ArrayRef<mlir::Attribute> arguments);

  /// The constant that `value` is; null if it depends on one that nobody
  /// knows, or on an op that has no result for its operands.
  mlir::Attribute evaluate(mlir::Value value);

  /// What was unknown the last time that `evaluate` was null.
  mlir::Value getUnknown() const { return unknown; }

private:
  using Constants = llvm::SmallVector<mlir::Attribute>;

  mlir::Attribute find(mlir::Value value);
  bool findAll(mlir::ValueRange values, Constants &constants);
  bool run(mlir::Operation *op, Constants &results);
  bool runBlock(mlir::Block &block, llvm::ArrayRef<mlir::Attribute> arguments,
                Constants &results);
  bool runFor(mlir::scf::ForOp op, Constants &results);
  bool runWhile(mlir::scf::WhileOp op, Constants &results);
  bool runIf(mlir::scf::IfOp op, Constants &results);
  bool load(mlir::Value table, mlir::ValueRange indices, Constants &results);
  bool size(mlir::Value table, mlir::Value axis, Constants &results);
  bool reduce(mlir::vector::ReductionOp op, Constants &results);
  bool fold(mlir::Operation *op, Constants &results);

  llvm::DenseMap<mlir::Block *, llvm::DenseMap<mlir::Value, mlir::Attribute>>
      known;
  mlir::Value unknown;
};

} // namespace heddle

#endif // HEDDLE_LIB_MASKS_EVALUATOR_H
