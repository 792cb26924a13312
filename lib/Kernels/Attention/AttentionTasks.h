//===- AttentionTasks.h - Attention as tasks over heads ---------*- C++ -*-===//
//
// What transformer-tile-attention writes around queries: a loop of tasks, each
// with scratch memory of its own and a share of the units (blocks of queries of
// a head, or single ones), and in it the code of the head's mask.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_ATTENTION_ATTENTIONTASKS_H
#define HEDDLE_LIB_KERNELS_ATTENTION_ATTENTIONTASKS_H

#include "lib/Kernels/Attention/OnlineUpdates.h"
#include "lib/Kernels/Vectors/RowKernel.h"

namespace heddle {

/// Scratch memory of a task.
struct TaskScratch {
  /// Few queries, as at the end of a sentence, take one vector.
  QueryScratch wide, narrow, row;
};

class AttentionTasks {
public:
  /// Masks are built where the builder stands.
  AttentionTasks(AttentionOp op, mlir::OpBuilder &builder, const IsaLevel &isa);

  /// Whether masks of some heads are lists, of which queries are taken one by
  /// one in any form.
  bool hasLists() const;

protected:
  /// Heads that run the same code.
  struct Group {
    llvm::SmallVector<int64_t> heads;
    MaskParts parts;
    /// Positions of other remainders do not see each other.
    int64_t stride;
    /// The number of its first remainder, counted through all groups.
    int64_t firstRemainder;
  };

  bool hasTiles() const;
  /// Memory for blocks of queries and, with lists, for each query of one.
  TaskScratch blockScratch();
  mlir::Value keyHead(mlir::Value head);
  mlir::Value headNumber(mlir::Value batch, mlir::Value head);
  /// Sets what has a row for each key of a head: `rowsOf` finds it in an
  /// operand of the op, of which a head has so many columns.
  void setKeyRows(HeadView &view,
                  llvm::function_ref<mlir::Value(mlir::Value, int64_t)> rowsOf);
  int64_t pairWork();
  mlir::Value load(mlir::Value list, mlir::Value at);
  void forEachTask(mlir::Value units, mlir::Value unitWork, mlir::Value most,
                   llvm::function_ref<void()> takeScratch,
                   llvm::function_ref<void(mlir::Value)> unit);
  void forGroupOf(mlir::Value head,
                  llvm::function_ref<void(const Group &)> body);

  AttentionOp op;
  VectorLoops loops;
  llvm::SmallVector<Group> groups;
  /// Of all groups.
  int64_t remainders = 0;
  OnlineUpdates tiles;
};

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_ATTENTION_ATTENTIONTASKS_H
