//===- PairGrid.h - A mask on n queries and n keys --------------*- C++ -*-===//
//
// What a mask says of itself for one head of one sentence: its pairs, by its
// predicate, and what kernels would visit, by its segments and lists.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_MASKS_PAIRGRID_H
#define HEDDLE_LIB_MASKS_PAIRGRID_H

#include "dialect/masks/Lanes.h"
#include "lib/Masks/Evaluator.h"
#include "mlir/IR/Block.h"
#include "llvm/Support/Error.h"
#include <vector>

namespace heddle {

/// What kernels take at once, on levels of 16 lanes: queries of a block, keys
/// of a tile.
inline constexpr int64_t kBlockQueries = 32, kTileKeys = 8;

/// How kernels take a pair: not at all; in a tile whose pairs they ask the
/// predicate for; in one that is whole; or by a list, without a tile.
enum class Visit : char { None, Asked, Whole, Listed };

struct PairGrid {
  /// Queries, and keys.
  int64_t length;
  /// [query, key].
  std::vector<bool> pairs;
  std::vector<Visit> visits;
  /// Tiles that kernels visit, and those of them that are whole.
  int64_t visitedTiles = 0, wholeTiles = 0;
  /// Tiles hold queries and keys that are multiples of it apart.
  int64_t stride = 1;
  /// Pairs that lists give.
  int64_t listedPairs = 0;

  size_t at(int64_t query, int64_t key) const { return query * length + key; }
  /// How many tiles there are.
  int64_t numTiles() const;

  bool operator==(const PairGrid &other) const {
    return length == other.length && stride == other.stride &&
           pairs == other.pairs && visits == other.visits;
  }
};

/// Asks the mask of an attention, as kernels do: heads that differ have masks
/// of their own, and lists are apart from tiles.
class MaskProbe {
public:
  /// `evaluator` knows or finds what the mask reads.
  MaskProbe(mlir::Value mask, int64_t numHeads, Evaluator &evaluator);
  ~MaskProbe();

  /// The first head that has the same mask as `head` for sure.
  int64_t firstAlike(int64_t head) const;

  /// The mask of the first sentence; an error if an operand is unknown.
  llvm::Expected<PairGrid> ask(int64_t head, int64_t length);

private:
  struct HeadCode;
  const HeadCode &codeOf(int64_t head) const;
  void writeCode(HeadCode &code);
  void writeLists(HeadCode &code);
  llvm::Expected<int64_t> number(mlir::Value value);
  llvm::Error askPairs(const HeadCode &code, int64_t head, PairGrid &grid);
  llvm::Error askTiles(const HeadCode &code, int64_t head, int64_t remainder,
                       int64_t first, PairGrid &grid);
  llvm::Error askLists(const HeadCode &code, int64_t head, PairGrid &grid);

  Evaluator &evaluator;
  /// Masks of single heads and parts, then the code of each group of heads.
  mlir::Block masks;
  std::vector<std::unique_ptr<HeadCode>> codes;
};

} // namespace heddle

#endif // HEDDLE_LIB_MASKS_PAIRGRID_H
