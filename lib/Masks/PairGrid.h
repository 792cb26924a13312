//===- PairGrid.h - A mask on n queries and n keys --------------*- C++ -*-===//
//
// What a mask says of itself for one head of one sentence: its pairs, by its
// predicate, and the tiles of keys that kernels would visit, by its key ranges.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_MASKS_PAIRGRID_H
#define HEDDLE_LIB_MASKS_PAIRGRID_H

#include "dialect/Lanes.h"
#include "lib/Masks/Evaluator.h"
#include "mlir/IR/Block.h"
#include "llvm/Support/Error.h"
#include <vector>

namespace heddle {

/// What kernels take at once, on levels of 16 lanes: queries of a block, keys
/// of a tile.
inline constexpr int64_t kBlockQueries = 32, kTileKeys = 8;

/// How kernels take a pair: not at all; in a tile whose pairs they ask the
/// predicate for; or in one that is whole.
enum class Visit : char { None, Asked, Whole };

struct PairGrid {
  /// Queries, and keys.
  int64_t length;
  /// [query, key].
  std::vector<bool> pairs;
  std::vector<Visit> visits;
  /// Tiles that kernels visit, and those of them that are whole.
  int64_t visitedTiles = 0, wholeTiles = 0;

  size_t at(int64_t query, int64_t key) const { return query * length + key; }
  /// How many tiles there are.
  int64_t numTiles() const;

  bool operator==(const PairGrid &other) const {
    return length == other.length && pairs == other.pairs &&
           visits == other.visits;
  }
};

/// Asks a mask, the values of whose operands `evaluator` knows or finds.
class MaskProbe {
public:
  MaskProbe(mlir::Value mask, Evaluator &evaluator);
  ~MaskProbe();

  /// Whether heads may differ.
  bool readsHead();

  /// The mask of the first sentence; an error where an operand is unknown.
  llvm::Expected<PairGrid> ask(int64_t head, int64_t length);

private:
  llvm::Expected<int64_t> number(mlir::Value value);
  llvm::Error askPairs(int64_t head, PairGrid &grid);
  llvm::Error askTiles(int64_t head, int64_t firstQuery, PairGrid &grid);

  Evaluator &evaluator;
  /// Code in b, h, i and j, and in the fields of a QueryBlock.
  mlir::Block ofPoints, ofBlocks;
  mlir::Value predicate;
  llvm::SmallVector<KeyRange> ranges;
};

} // namespace heddle

#endif // HEDDLE_LIB_MASKS_PAIRGRID_H
