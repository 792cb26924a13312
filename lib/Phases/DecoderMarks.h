//===- DecoderMarks.h - What depends on a decoder's target ------*- C++ -*-===//
//
// One walk in program order marks every value that depends on the target with
// its axis of time; the marks alone decide the rest. What the marked ops need
// from unmarked ones is the border between the phases: an argument is passed
// through, a weight or mask is cloned into each form (both are symbols, not
// data), everything else is computed once a sentence.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_PHASES_DECODERMARKS_H
#define HEDDLE_LIB_PHASES_DECODERMARKS_H

#include "dialect/Transformer.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

namespace heddle {

struct DecoderMarks {
  mlir::func::FuncOp decoder;
  mlir::BlockArgument target;
  /// Values that depend on the target, with their axis of time.
  llvm::DenseMap<mlir::Value, int64_t> timeAxis;
  /// Arguments that forms read as they are, values that prepare computes, and
  /// symbolic ops to clone, in the order of their first use: operands before
  /// users.
  llvm::SetVector<mlir::Value> passedThrough, prepared;
  llvm::SetVector<mlir::Operation *> cloned;
  /// Whether the decoder has an extend form, for which caches need room.
  bool extends = false;

  bool isMarked(mlir::Value value) const { return timeAxis.contains(value); }
  /// The ops whose results are marked, in order.
  llvm::SmallVector<mlir::Operation *> markedOps() const;
  /// Those of each operand.
  llvm::SmallVector<std::optional<int64_t>> axesOf(mlir::Operation *op) const;
  /// What op's step form keeps; all forms of a decoder have the same states.
  llvm::SmallVector<StateType> statesOf(mlir::Operation *op) const;
  /// Whether a step keeps something of each position.
  bool hasCaches() const;
};

/// Whether a state is a KV cache, with a slot for each position or for some.
bool isCache(const StateType &state);

/// Marks a decoder; emits an error if it cannot be evaluated position by
/// position.
mlir::FailureOr<DecoderMarks> markDecoder(mlir::func::FuncOp decoder);

} // namespace heddle

#endif // HEDDLE_LIB_PHASES_DECODERMARKS_H
