//===- HeadSums.h - The sums of linear attention in registers ---*- C++ -*-===//
//
// A block has columns of the values of one head; some lanes side by side share
// a column, and each has some features: of them the sums S over keys, and the
// totals z. Positions pass in tiles, which stand in shared memory as features.
// What a query reads is summed feature by feature in a lane and then over the
// lanes of its column, in an order that neither keys nor queries change.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_GPU_LINEARATTENTION_HEADSUMS_H
#define HEDDLE_LIB_KERNELS_GPU_LINEARATTENTION_HEADSUMS_H

#include "dialect/Transformer.h"
#include "lib/Kernels/Gpu/Threads/BlockCode.h"

namespace heddle {

/// Of one head: the sizes of LinearAttentionOp, and what threads have of them.
struct SumShape {
  FeatureMap features = FeatureMap::Elu;
  int64_t keyWidth = 0, valueWidth = 0;
  /// Lanes that share a column, and features of each.
  int64_t lanes = 1, ownFeatures = 0;
  int64_t threads = 0;
  /// Positions of a tile.
  int64_t positions = 1;

  int64_t columns() const { return threads / lanes; }
  int64_t columnBlocks() const {
    return llvm::divideCeil(valueWidth, columns());
  }
  /// Bytes of shared memory of a tile of keys or queries, and of values.
  int64_t featureBytes() const;
  int64_t valueBytes() const { return positions * valueWidth * 4; }
};

/// The shape for tiles of keys, of values and of `queryHeads` heads of queries;
/// `isWhole` says that a block has all columns. None if registers or shared
/// memory do not hold it.
std::optional<SumShape> sumShapeFor(FeatureMap features, int64_t keyWidth,
                                    int64_t valueWidth, int64_t queryHeads,
                                    int64_t mostPositions, bool isWhole);

class HeadSums {
public:
  /// What a thread has, f32. Of taylor the feature that is 1 stands last, in
  /// all lanes.
  struct State {
    llvm::SmallVector<mlir::Value> sums, totals;

    llvm::SmallVector<mlir::Value> values() const;
  };

  /// `columnBlock` counts blocks of columns of the head.
  HeadSums(const SumShape &shape, mlir::Region &map, mlir::Value columnBlock,
           BlockCode &code);

  State start();
  State stateOf(mlir::ValueRange values) const;
  /// From and to S [units, d_f, d_v] and z [units, d_f] of a unit, an i32.
  State load(mlir::Value sums, mlir::Value totals, mlir::Value unit);
  void store(const State &state, mlir::Value sums, mlir::Value totals,
             mlir::Value unit);

  /// Rows [first, first + count) of a memref, i32, at the columns of a head:
  /// all threads bring a tile of them to `to` in shared memory. Behind the last
  /// row it comes again.
  struct Rows {
    mlir::Value memref, first, count, head;
  };
  void bringValues(const Rows &rows, int64_t to);
  void bringFeatures(const Rows &rows, int64_t to);
  /// What features need besides, between two barriers.
  void measureFeatures(int64_t from);

  /// With the key and value at a place of tiles; i32.
  State add(const State &state, int64_t keys, int64_t values,
            mlir::Value place);
  /// What the query at a place of a tile reads, of this thread's column.
  mlir::Value read(const State &state, int64_t queries, mlir::Value place);
  /// Stores it in a row of the result, at the columns of a head; i32.
  void storeResult(mlir::Value result, mlir::Value memref, mlir::Value row,
                   mlir::Value head);

  /// Calls `bring` with the first position of each tile of [0, count) and with
  /// how many are left, where all threads may write to shared memory, then
  /// `measure` and `each` with the places of those that are left, where they
  /// see it; carried = each(position, place, carried).
  llvm::SmallVector<mlir::Value>
  passTiles(mlir::Value count, mlir::ValueRange initial,
            llvm::function_ref<void(mlir::Value, mlir::Value)> bring,
            llvm::function_ref<void()> measure,
            llvm::function_ref<llvm::SmallVector<mlir::Value>(
                mlir::Value, mlir::Value, mlir::ValueRange)>
                each);

private:
  bool isTaylor() const { return shape.features == FeatureMap::Taylor; }
  mlir::Value feature(mlir::Value x);
  void bring(const Rows &rows, int64_t width, int64_t to, bool isMapped);
  llvm::SmallVector<mlir::Value> featuresAt(int64_t from, mlir::Value place);
  mlir::Value overLanes(mlir::Value value);
  mlir::Value isColumn();

  const SumShape &shape;
  mlir::Region &map;
  BlockCode &code;
  /// This thread's share of the features, and its column, which may not be one.
  mlir::Value part, column;
};

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_LINEARATTENTION_HEADSUMS_H
