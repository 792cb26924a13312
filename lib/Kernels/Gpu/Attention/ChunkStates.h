//===- ChunkStates.h - States of a query between grids ----------*- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_GPU_ATTENTION_CHUNKSTATES_H
#define HEDDLE_LIB_KERNELS_GPU_ATTENTION_CHUNKSTATES_H

#include "lib/Kernels/Gpu/Attention/QueryState.h"

namespace heddle {

/// The states of steps of attention for each chunk of their keys, in memory of
/// the device that is as large as chunks need if there are several.
class ChunkStates {
public:
  /// `units` are queries of one head, numbered row by row; an index, as
  /// `chunks`. Takes the memory in front of the op.
  ChunkStates(AttentionOp op, mlir::Value units, mlir::Value chunks,
              Loops &loops);

  /// Stores what a thread has of a state: one column; i32.
  void store(mlir::Value unit, mlir::Value chunk, mlir::Value column,
             const QueryState &state, BlockCode &code) const;
  /// Builds the grid that makes results of them, of no blocks if there is
  /// one chunk; with `areGenerated` none of rows of prompts.
  void emitMeeting(mlir::OpBuilder &builder, bool areGenerated) const;

private:
  struct Place {
    mlir::Value sums, maximum, total;
  };
  Place placeOf(mlir::Value unit, mlir::Value chunk, BlockCode &code) const;
  mlir::Value maximumOf(mlir::Value unit, BlockCode &code) const;
  void meet(mlir::Value unit, BlockCode &code) const;

  AttentionOp op;
  mlir::Value units, chunks;
  /// f32: of each chunk of each unit the sums, behind all of them the maximum
  /// and the total of each.
  mlir::Value memory;
};

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_ATTENTION_CHUNKSTATES_H
