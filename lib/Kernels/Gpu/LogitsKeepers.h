//===- LogitsKeepers.h - What is kept of a row's logits ---------*- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_GPU_LOGITSKEEPERS_H
#define HEDDLE_LIB_KERNELS_GPU_LOGITSKEEPERS_H

#include "dialect/Transformer.h"
#include "lib/Kernels/Gpu/BlockCode.h"
#include <limits>

namespace heddle {

/// What a logit that is not there counts as.
inline constexpr float kLowestLogit = -std::numeric_limits<float>::infinity();

/// What the tiles of a range have left of a row: a record each, at the device's
/// address `first` and `pitch` bytes behind each other; i32.
struct TileRecords {
  mlir::Value first, pitch, count;

  mlir::Value at(mlir::Value number, BlockCode &code) const {
    return code.at(first, code.rowOffset(number, pitch));
  }
};

/// What a warp keeps of the logits of a row, while it goes through a tile of
/// them, and what becomes of that of all tiles of a range.
class LogitsKeeper {
public:
  virtual ~LogitsKeeper() = default;
  /// Words of 32 bits of a record, an even index.
  virtual mlir::Value recordWords(Loops &loops) = 0;
  /// Of no logits: each lane's values.
  virtual llvm::SmallVector<mlir::Value>
  start(mlir::Value row, mlir::Value range, BlockCode &code) = 0;
  /// With one more of each lane, of ids that ascend with the lanes; `allowed`
  /// is -inf where the row forbids the id.
  virtual llvm::SmallVector<mlir::Value>
  keep(mlir::ValueRange kept, mlir::Value logit, mlir::Value allowed,
       mlir::Value id, BlockCode &code) = 0;
  /// Leaves what the lanes have kept in a record.
  virtual void leave(mlir::ValueRange kept, mlir::Value record,
                     BlockCode &code) = 0;
  /// Writes the range's results, [row, range], from its tiles' records, which
  /// stand in the order of their ids.
  virtual void finish(const TileRecords &records, mlir::Value row,
                      mlir::Value range, BlockCode &code) = 0;
};

/// Each lane's largest and its id.
class LargestKeeper : public LogitsKeeper {
public:
  explicit LargestKeeper(LargestLogitsOp op) : op(op) {}

  mlir::Value recordWords(Loops &loops) override { return loops.index(2); }
  llvm::SmallVector<mlir::Value> start(mlir::Value, mlir::Value,
                                       BlockCode &code) override {
    return none(code);
  }
  llvm::SmallVector<mlir::Value> keep(mlir::ValueRange kept, mlir::Value logit,
                                      mlir::Value allowed, mlir::Value id,
                                      BlockCode &code) override;
  void leave(mlir::ValueRange kept, mlir::Value record,
             BlockCode &code) override;
  void finish(const TileRecords &records, mlir::Value row, mlir::Value range,
              BlockCode &code) override;

private:
  static llvm::SmallVector<mlir::Value> none(BlockCode &code) {
    return {code.f32(kLowestLogit), code.i32(-1)};
  }

  LargestLogitsOp op;
};

/// The list of the best, one a lane; each lane's maximum, and its sum of
/// exponentials of differences from it; and what has to stand in front of the
/// list. More than there are lanes are kept in several passes.
class BestKeeper : public LogitsKeeper {
public:
  /// The first place of the list that this pass fills, an index.
  BestKeeper(BestLogitsOp op, mlir::Value firstPlace)
      : op(op), firstPlace(firstPlace) {}

  mlir::Value recordWords(Loops &loops) override;
  llvm::SmallVector<mlir::Value> start(mlir::Value row, mlir::Value range,
                                       BlockCode &code) override;
  llvm::SmallVector<mlir::Value> keep(mlir::ValueRange kept, mlir::Value logit,
                                      mlir::Value allowed, mlir::Value id,
                                      BlockCode &code) override;
  void leave(mlir::ValueRange kept, mlir::Value record,
             BlockCode &code) override;
  void finish(const TileRecords &records, mlir::Value row, mlir::Value range,
              BlockCode &code) override;

private:
  /// How many this pass is to keep, i32.
  mlir::Value count(BlockCode &code) {
    mlir::Value all = code.toI32(code.lastSize(op.getDestinations()[2]));
    return code.least(code.minus(all, code.toI32(firstPlace)),
                      code.i32(kWarpThreads));
  }
  llvm::SmallVector<mlir::Value> insert(mlir::ValueRange list,
                                        mlir::Value logits, mlir::Value ids,
                                        BlockCode &code);

  BestLogitsOp op;
  mlir::Value firstPlace;
};

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_LOGITSKEEPERS_H
