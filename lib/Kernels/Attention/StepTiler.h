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
  /// Some heads of a row from `head` on, which are a unit of work, or one part
  /// of their past.
  struct Unit {
    mlir::Value row, head, part;
  };

  bool hasParts() { return op.getParts() && !hasLists(); }
  mlir::Value mostParts(mlir::Value first, mlir::Value rows);
  mlir::Value sharingRows(mlir::Value first, mlir::Value rows);
  void planUnits(mlir::Value first, mlir::Value rows);
  HeadView viewOf(const Group &group, const Unit &unit, mlir::Value position);
  mlir::Value rowsOf(mlir::Value memref, const HeadView &view, mlir::Value row,
                     int64_t width);
  void withHeads(const Group &group, const Unit &unit,
                 llvm::function_ref<void(const RowHeads &)> body);
  mlir::Value recordOf(const Unit &unit, mlir::Value number);
  QueryScratch withRecord(QueryScratch own, mlir::Value record);
  void addParts(const RowHeads &row, const Unit &unit);
  void mergeParts(const RowHeads &row, const Unit &unit);

  mlir::Value firstRow;
  /// Heads that may be taken together, as the mask says the same of them; and
  /// how many are.
  int64_t mostTogether = 1;
  mlir::Value together;
  /// How many parts a past has at most, and whether each is a unit of its own,
  /// with a record in `parts`; and these records, one behind the other.
  mlir::Value parts, isDivided, records;
  /// Of a task.
  QueryScratch scratch;
  mlir::Value ownRecords;
};

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_ATTENTION_STEPTILER_H
