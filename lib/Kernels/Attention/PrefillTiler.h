//===- PrefillTiler.h - Attention of prompts beside steps -------*- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_ATTENTION_PREFILLTILER_H
#define HEDDLE_LIB_KERNELS_ATTENTION_PREFILLTILER_H

#include "lib/Kernels/Attention/StepTiler.h"

namespace heddle {

/// Tiles a step with `prefill`: the blocks of prompts that the op lists, then
/// the rows behind them, one by one.
class PrefillTiler : public StepTiler {
public:
  using StepTiler::StepTiler;

  /// Replaces the op.
  void tile();

private:
  /// The rows of a prompt at positions [position, end), from `row` on.
  struct Block {
    mlir::Value row, position, end, sentence, cache;
  };
  Block blockAt(mlir::Value number);
  void addRing(const HeadView &view, const QueryRows &rows, mlir::Value end,
               mlir::Value number, const QueryScratch &scratch);
  void queryBlock(const HeadView &view, const QueryRows &rows, mlir::Value end,
                  mlir::Value number, const QueryScratch &scratch);
  void queries(const Group &group, const Block &block, mlir::Value head,
               const TaskScratch &scratch);
  void tileBlocks(mlir::Value count);
};

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_ATTENTION_PREFILLTILER_H
