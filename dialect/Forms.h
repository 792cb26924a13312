//===- Forms.h - The forms of a layer op: step and destination --*- C++ -*-===//
//
// Shared behaviour behind IncrementalOpInterface and DestinationOpInterface:
// how an op loses its axis of time or leaves states behind, what it reads and
// writes, and which shape its result has.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECT_FORMS_H
#define HEDDLE_DIALECT_FORMS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <optional>

namespace heddle {

/// For each operand of an op the dimension that is time; none if the operand
/// does not depend on the target.
using TimeAxes = llvm::ArrayRef<std::optional<int64_t>>;

/// What the step form of an op keeps of each row.
struct StateType {
  /// Without the leading axis of rows; a dynamic dimension is the capacity, one
  /// slot a position.
  mlir::RankedTensorType type;
  /// The positions that a step reads, if that bounds the capacity.
  std::optional<int64_t> maxSlots = std::nullopt;
  /// How many of these are the first ones, for good; the others are the latest.
  int64_t pinned = 0;
};

/// The most rows of a call of the extend form.
inline constexpr int64_t kExtendRows = 256;

/// A cache that the extend form reads, too. All rows of a call are written
/// before the first one is read, so a ring has slots for these as well; and no
/// block of queries, nor a tile of keys, lies on both sides of its end.
StateType withRoomToExtend(StateType state);

/// What an op needs to build its step form.
struct StepContext {
  /// From values of the full form, operands and values captured by regions
  /// alike, to values of the step.
  mlir::IRMapping &mapping;
  TimeAxes axes = {};
  /// One tensor a state type, in order: [caches, capacity, ...] if it has a
  /// capacity, otherwise [rows, ...].
  mlir::ValueRange states = {};
  llvm::ArrayRef<StateType> stateTypes = {};
  /// i32 [rows]: the position of each row, and the sentence it belongs to.
  mlir::Value positions = {}, sentences = {};
  /// i32 [rows]: the cache that a row writes to. If there are caches.
  mlir::Value caches = {};
  /// i32 [rows, positions]: the cache that holds each position of a row's past;
  /// null if that is the row's own.
  mlir::Value history = {};
  /// i32 [blocks + 1]: the rows with which blocks of prompts begin, and behind
  /// them the first generated row; null in a step of generated rows alone.
  mlir::Value prefill = {};

  /// The step's value for a value of the full form; null for null.
  mlir::Value lookup(mlir::Value full) const {
    return full ? mapping.lookupOrDefault(full) : full;
  }
};

/// What an op needs to build the chunk form: the full form over the first
/// positions of each sentence, which leaves its states behind.
struct ChunkContext {
  /// From values of the full form to values of the chunk.
  mlir::IRMapping &mapping;
  TimeAxes axes;
  /// One tensor a state type, in order: [caches, capacity, ...] if it has a
  /// capacity, otherwise [batch, ...].
  mlir::ValueRange states;
  llvm::ArrayRef<StateType> stateTypes;
  /// i32 [batch]: how many positions are those of the sentence, and its cache.
  mlir::Value lengths, caches;
};

/// What an op needs to build the ragged form: the rows of all sequences of a
/// batch, one sequence behind the other and none with padding.
struct RaggedContext {
  /// From values of the full form, [batch, n, ...], to ragged ones,
  /// [tokens, ...]; other values keep their types.
  mlir::IRMapping &mapping;
  /// i32 [tokens]: the position of each token, and the sequence it belongs to.
  mlir::Value positions, sequences;
  /// i32 [batch]: the first token of each sequence, and how many it has.
  mlir::Value starts, lengths;
  /// i32 [blocks]: of each kQueryBlock tokens of a sequence the first one.
  mlir::Value blocks;

  mlir::Value lookup(mlir::Value full) const {
    return full ? mapping.lookupOrDefault(full) : full;
  }
  bool isRagged(mlir::Value full) const {
    return full && lookup(full).getType() != full.getType();
  }
};

/// The type without dimension `axis`.
mlir::RankedTensorType dropAxis(mlir::RankedTensorType type, int64_t axis);

/// Clones `op` onto the step's values, its results without the axis of time.
llvm::SmallVector<mlir::Value>
cloneForStep(mlir::Operation *op, mlir::OpBuilder &builder, StepContext &step);

/// Clones `op` onto the chunk's values.
llvm::SmallVector<mlir::Value> cloneForChunk(mlir::Operation *op,
                                             mlir::OpBuilder &builder,
                                             ChunkContext &chunk);

/// Clones `op`, of which each row of a result follows from the row of its
/// ragged operands at the same place, onto ragged values. Fails, without an
/// error, if it is no such op (LayerOpInterface's getRowInputs).
llvm::FailureOr<llvm::SmallVector<mlir::Value>>
cloneRows(mlir::Operation *op, mlir::OpBuilder &builder, RaggedContext &ragged);

/// The same of an op whose step form differs by `at` alone.
llvm::FailureOr<llvm::SmallVector<mlir::Value>>
cloneAtPositions(mlir::Operation *op, mlir::OpBuilder &builder,
                 RaggedContext &ragged);

/// The axis of time of an op of which the operands `varying`, all of them, and
/// no others depend on the target along one axis; the last `contracted`
/// dimensions of them cannot be time. Emits an error otherwise.
llvm::FailureOr<int64_t> timeAxisOf(mlir::Operation *op, TimeAxes axes,
                                    llvm::ArrayRef<unsigned> varying,
                                    int64_t contracted);

/// Operands are all tensors, with results that have the types of the
/// destinations, or all memrefs, with destinations and no result.
llvm::LogicalResult verifyForm(mlir::Operation *op);

/// Destination `index`, if there is one, fits a result of `shape`.
llvm::LogicalResult verifyDestination(mlir::Operation *op,
                                      llvm::ArrayRef<int64_t> shape,
                                      unsigned index = 0);

/// What ShortRowsOpInterface states of an op's attributes and multiplier; its
/// destinations are those of `verifyRowDestinations`.
llvm::LogicalResult verifyShortRows(mlir::Operation *op);

/// A layer op on tensors has no effect; on memrefs it writes its destinations
/// and reads every other operand. A destination that is read too (a state) is
/// covered by the write: nothing reorders around it.
void addDestinationEffects(
    mlir::Operation *op,
    llvm::SmallVectorImpl<
        mlir::SideEffects::EffectInstance<mlir::MemoryEffects::Effect>>
        &effects);

/// Each result's static dimensions, and for each dynamic one that of operand 0.
llvm::LogicalResult
reifyLeadingShape(mlir::Operation *op, mlir::OpBuilder &builder,
                  mlir::ReifiedRankedShapedTypeDims &shapes);

/// The name of the kernel of an op on memrefs: "NAME_INxINNERxOUT" with the
/// width of its first operand, `inner` and the widths of what it writes, unless
/// that is one of the width of the operand; and the form of short rows.
std::string describeRows(mlir::Operation *op, llvm::ArrayRef<int64_t> inner);

/// The bytes of those of `operands` that are memrefs, an index.
mlir::Value buildByteSize(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::ValueRange operands);

} // namespace heddle

#endif // HEDDLE_DIALECT_FORMS_H
