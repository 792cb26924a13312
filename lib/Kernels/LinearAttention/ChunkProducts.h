//===- ChunkProducts.h - Tiles of linear attention --------------*- C++ -*-===//
//
// A chunk of positions of one head in scratch memory, and the products of its
// features: into sums over keys, out of them, and between the positions of the
// chunk itself. All are tiles of a few rows by a few vectors in registers,
// whose depth passes in ascending order, so that an element's bits depend on
// neither the tile nor the rows beside it.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_LINEARATTENTION_CHUNKPRODUCTS_H
#define HEDDLE_LIB_KERNELS_LINEARATTENTION_CHUNKPRODUCTS_H

#include "lib/Kernels/LinearAttention/FeatureRows.h"
#include "lib/Kernels/Vectors/RegisterTile.h"

namespace heddle {

/// The widest head that scratch memory is for.
inline constexpr int64_t kMostSummedWidth = 256;

/// Rows [first, first + count) of a view [n, width].
struct PositionRows {
  mlir::Value rows, first, count;
};

/// Sums are views [d_f, width] of S, totals views [d_f] of z, both of f32.
class ChunkProducts {
public:
  /// For heads of `keyWidth` elements and `width` of their values.
  ChunkProducts(RowKernel &kernel, FeatureMap features, mlir::Region &map,
                int64_t keyWidth, int64_t width)
      : kernel(kernel),
        loops(kernel.loops.builder, kernel.loops.loc, kernel.isa), tile(loops),
        features(kernel, loops, features, map, keyWidth), width(width) {}

  VectorLoops &getLoops() { return loops; }
  /// Positions of a chunk; chunks are counted from position 0. A longer one has
  /// more products between its own positions, and of a shorter one tiles are
  /// too narrow to hide their latency.
  static constexpr int64_t kChunk = 32;

  /// Scratch memory for the sums and the totals of one head.
  mlir::Value takeSums();
  mlir::Value takeTotals();
  /// Take the memory of a chunk's keys, of its queries, of what causal reads
  /// need besides, or of one position.
  void takeKeys();
  void takeQueries();
  void takeCausal();
  void takeRow();
  void clearSums(mlir::Value sums);
  void clearTotals(mlir::Value totals);

  /// Features of keys, and their values, both with as many positions.
  void loadKeys(const PositionRows &keys, mlir::Value values);
  /// S += phi(K)^T V for the keys of the chunk, and z likewise.
  void addSums(mlir::Value sums, mlir::Value keyCount);
  void addTotals(mlir::Value totals, mlir::Value keyCount);

  /// Features of queries, and what divides each one's result: its features
  /// times the totals, or its row of totals [rows, d_f].
  void loadQueries(const PositionRows &queries, mlir::Value totals);
  /// result rows = phi(Q) S, divided.
  void read(mlir::Value sums, const PositionRows &result);

  /// Prepares causal reads of a chunk of `count` positions, with the keys that
  /// are loaded; zeros stand for those from `keyCount` on. Moves totals, in
  /// scratch memory, to the end of the chunk.
  void beginCausal(mlir::Value totals, mlir::Value count, mlir::Value keyCount);
  /// What loadQueries takes for totals then: a row for each position.
  mlir::Value causalTotals() const { return prefixes; }
  /// result rows = phi(Q) S and the chunk's own keys up to each query, divided.
  void readCausal(mlir::Value sums, const PositionRows &result);

  /// One position: adds the key in row 0 to the sums and reads the query in row
  /// 0, in one pass over S.
  void advance(mlir::Value sums, const PositionRows &result);

private:
  using Part = RegisterTile::Part;
  using Parts = RegisterTile::Parts;
  using Sums = RegisterTile::Sums;

  void fillWithZeros(mlir::Value memref, mlir::Value begin, mlir::Value end);
  void clearRow(mlir::Value memref, mlir::ValueRange row);
  void fetchNext(mlir::Value rows, mlir::Value row);
  void fetchKeys(mlir::Value feature);
  void fetchQueries(mlir::Value query, const PositionRows &result);
  Sums readSums(mlir::Value sums, mlir::Value query, int64_t rows,
                const Parts &parts);
  void turnKeys();
  void scoreTile(mlir::Value query, int64_t vectors);
  Sums addChunk(Sums sums, mlir::Value query, const Parts &parts);
  void finish(llvm::ArrayRef<mlir::Value> sums, const Parts &parts,
              mlir::Value query, int64_t rows, const PositionRows &result);

  RowKernel &kernel;
  VectorLoops loops;
  RegisterTile tile;
  FeatureRows features;
  int64_t width;
  /// What the chunk was loaded from. Tiles ask for the next one evenly: a burst
  /// waits for memory where the first loads behind it do, too.
  struct {
    PositionRows keys;
    mlir::Value values;
  } source;
  PositionRows querySource;
  /// [chunk, features], [chunk, width], [chunk, features], [chunk].
  mlir::Value keyRows, valueRows, queryRows, inverses;
  /// Of causal reads: keys as [features, chunk], z up to each position, and the
  /// scores of a tile of queries.
  mlir::Value turnedKeys, prefixes, scoreRows;
};

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_LINEARATTENTION_CHUNKPRODUCTS_H
