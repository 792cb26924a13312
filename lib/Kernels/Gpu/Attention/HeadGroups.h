//===- HeadGroups.h - Blocks of queries by what masks say -------*- C++ -*-===//
//
// Heads whose masks have other parameters become other code of one kernel: a
// window has the tiles of its own head. If positions of different remainders
// do not meet, as in a dilated window, a block has queries of one remainder and
// its tiles keys of the same, so that no tile holds keys between.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_GPU_ATTENTION_HEADGROUPS_H
#define HEDDLE_LIB_KERNELS_GPU_ATTENTION_HEADGROUPS_H

#include "dialect/masks/MaskParts.h"
#include "lib/Kernels/Gpu/Attention/QueryBlocks.h"

namespace heddle {

class HeadGroups {
public:
  /// Of an op that is no step, or has prompts, for blocks of `rows` queries.
  /// Masks of groups are built at the builder's place.
  HeadGroups(AttentionOp op, int64_t rows, mlir::OpBuilder &builder);

  /// Blocks of queries of a head, an index: of the group that has most.
  mlir::Value countBlocks(Loops &loops) const;

  /// Builds the code of each group for block `number` of the queries of a head
  /// of a sentence, all i32; `body` gets the mask as the head has it. All
  /// threads of a block are in one group.
  void
  forBlock(mlir::Value sentence, mlir::Value head, mlir::Value number,
           BlockCode &code,
           llvm::function_ref<void(const QueryRows &, mlir::Value)> body) const;

  /// The same for the queries of block `number` of the op's list: of a ragged
  /// one for those from there on, if it begins one of `rows` queries.
  void forListedBlock(
      mlir::Value number, mlir::Value head, BlockCode &code,
      llvm::function_ref<void(const QueryRows &, mlir::Value)> body) const;

private:
  struct Group {
    HeadGroup heads;
    /// Queries and keys whose positions differ by no multiple of it do not
    /// meet.
    int64_t stride;
  };

  QueryRows promptAt(mlir::Value number, mlir::Value head,
                     BlockCode &code) const;
  QueryRows rowsOf(const Group &group, mlir::Value sentence, mlir::Value head,
                   mlir::Value number, BlockCode &code) const;
  void forGroupOf(mlir::Value head, BlockCode &code,
                  llvm::function_ref<void(const Group &)> body) const;

  AttentionOp op;
  int64_t rows;
  llvm::SmallVector<Group> groups;
};

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_ATTENTION_HEADGROUPS_H
