//===- StepTiler.h - Attention of the rows of a step ------------*- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_ATTENTION_STEPTILER_H
#define HEDDLE_LIB_KERNELS_ATTENTION_STEPTILER_H

#include "lib/Kernels/Attention/AttentionTasks.h"

namespace heddle {

/// Tiles the step form: one query at a time, in any order.
class StepTiler : public AttentionTasks {
public:
  using AttentionTasks::AttentionTasks;

  /// Replaces the op.
  void tile();

protected:
  /// The rows from `first` on.
  void tileRows(mlir::Value first);

private:
  mlir::Value headsOfUnit(mlir::Value rows);

  /// Heads of queries that may be taken together: they share one of keys, and
  /// the mask says the same of them.
  int64_t mostTogether = 1;
  mlir::Value together;
  void queryRow(const Group &group, mlir::Value row, mlir::Value head,
                const QueryScratch &scratch);
};

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_ATTENTION_STEPTILER_H
