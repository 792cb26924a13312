//===- LogitsKeepers.h - What is kept of a row's logits ---------*- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_GPU_LINEAR_LOGITSKEEPERS_H
#define HEDDLE_LIB_KERNELS_GPU_LINEAR_LOGITSKEEPERS_H

#include "dialect/Transformer.h"
#include "lib/Kernels/Gpu/Linear/TileRanking.h"

namespace heddle {

/// What the tiles of a range have left of a row: a record each, at the device's
/// address `first` and `pitch` bytes behind each other; i32.
struct TileRecords {
  mlir::Value first, pitch, count;

  mlir::Value at(mlir::Value number, BlockCode &code) const {
    return code.at(first, code.rowOffset(number, pitch));
  }
};

/// What a warp keeps of the logits of a row of a tile, and what becomes of that
/// of all tiles of a range.
class LogitsKeeper {
public:
  virtual ~LogitsKeeper() = default;
  /// Words of 32 bits of a record, an even index.
  virtual mlir::Value recordWords(Loops &loops) = 0;
  /// Leaves in a record what is kept of a tile of this row and range.
  virtual void keep(const TileLogits &tile, mlir::Value row, mlir::Value range,
                    mlir::Value record, BlockCode &code) = 0;
  /// Writes the range's results, [row, range], from its tiles' records, which
  /// stand in the order of their ids.
  virtual void finish(const TileRecords &records, mlir::Value row,
                      mlir::Value range, BlockCode &code) = 0;
};

/// The largest and its id.
class LargestKeeper : public LogitsKeeper {
public:
  explicit LargestKeeper(LargestLogitsOp op) : op(op) {}

  mlir::Value recordWords(Loops &loops) override { return loops.index(2); }
  void keep(const TileLogits &tile, mlir::Value row, mlir::Value range,
            mlir::Value record, BlockCode &code) override;
  void finish(const TileRecords &records, mlir::Value row, mlir::Value range,
              BlockCode &code) override;

private:
  LargestLogitsOp op;
};

/// The maximum and the sum of exponentials of differences from it, and the list
/// of the best. More than there are lanes are kept in several passes.
class BestKeeper : public LogitsKeeper {
public:
  /// The first place of the list that this pass fills, an index.
  BestKeeper(BestLogitsOp op, mlir::Value firstPlace)
      : op(op), firstPlace(firstPlace) {}

  mlir::Value recordWords(Loops &loops) override;
  void keep(const TileLogits &tile, mlir::Value row, mlir::Value range,
            mlir::Value record, BlockCode &code) override;
  void finish(const TileRecords &records, mlir::Value row, mlir::Value range,
              BlockCode &code) override;

private:
  /// How many this pass is to keep, i32.
  mlir::Value count(BlockCode &code) {
    mlir::Value all = code.toI32(code.lastSize(op.getDestinations()[2]));
    return code.umin(code.sub(all, code.toI32(firstPlace)),
                     code.i32(kWarpThreads));
  }
  llvm::SmallVector<mlir::Value> counted(const TileLogits &tile,
                                         mlir::Value row, BlockCode &code);
  void keepSum(mlir::ValueRange logits, mlir::Value record, BlockCode &code);
  llvm::SmallVector<mlir::Value> placeBefore(mlir::Value row, mlir::Value range,
                                             BlockCode &code);
  llvm::SmallVector<mlir::Value> insert(mlir::ValueRange list,
                                        mlir::Value logits, mlir::Value ids,
                                        BlockCode &code);

  BestLogitsOp op;
  mlir::Value firstPlace;
};

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_LINEAR_LOGITSKEEPERS_H
