//===- OnlineUpdates.h - Attention of some queries, by tiles ----*- C++ -*-===//
//
// What transformer-tile-attention writes for a block of queries, a vector lane
// each, or for one query: the tiles of keys that their mask gives, and the keys
// of lists.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_ATTENTION_ONLINEUPDATES_H
#define HEDDLE_LIB_KERNELS_ATTENTION_ONLINEUPDATES_H

#include "dialect/attention/Attention.h"
#include "dialect/masks/MaskParts.h"
#include "lib/Kernels/Vectors/HeadRow.h"

namespace heddle {

/// The sizes of tiles, as measured.
struct TileSizes {
  /// Queries of a block: two vectors. Their scores take half of the registers.
  int64_t queries;
  /// Queries of a block if few are left.
  int64_t fewQueries;
  /// Keys whose scores stay in registers: of a block, and of one query.
  int64_t scores, rowScores;
  /// Keys whose probabilities stay in scratch memory until their values are
  /// added.
  int64_t probabilities;
  /// Keys that runs of a block are multiples of.
  int64_t run;
};

/// Values in columns, of the head that a task is at.
struct ValueColumns {
  mlir::Value memref, slots, head;
};

/// Queries of one head, all of them or every stride-th one, what they see, and
/// where it stands.
struct HeadView {
  /// What the mask calls them.
  mlir::Value batch, head;
  /// [n, width] each.
  mlir::Value queries, keys, values, result;
  /// The scales of keys and values of integers, [n, 1]; null for none.
  mlir::Value keyScales, valueScales;
  /// Vectors of relative positions; null for none.
  mlir::Value relativeKeys, relativeQueries;
  const MaskParts *parts;
  /// Numbers of the keys that exist.
  mlir::Value keyBegin, keyEnd;
  KeyPlaces places;
  /// If the view has every stride-th position, from this one on.
  mlir::Value remainder;
  int64_t stride = 1;

  /// Replaces what has a row for each key by a view of it.
  void mapKeyRows(llvm::function_ref<mlir::Value(mlir::Value)> map) {
    for (mlir::Value *rows : {&keys, &values, &keyScales, &valueScales})
      if (*rows)
        *rows = map(*rows);
  }
};

/// Where queries stand: the row of the first one in a view, and its position.
/// They are some of a block of queries that begins at `aligned`, which decides
/// what tiles are.
struct QueryRows {
  mlir::Value row, position, aligned;
};

/// A row of a step, at `position`: the queries of several heads, to which a
/// mask shows keys of the same positions. `headView` gives the view of one by
/// its number; without a number of heads there is one.
struct RowHeads {
  llvm::function_ref<HeadView(mlir::Value number)> headView;
  mlir::Value heads, row, position;
};
/// The scratch memory of a head of a row, by its number.
using HeadScratch =
    llvm::function_ref<QueryScratch(const HeadView &, mlir::Value number)>;

/// Writes online ops for one `op` on memrefs, at the builder of `loops`.
class OnlineUpdates {
public:
  OnlineUpdates(AttentionOp op, VectorLoops &loops);

  const TileSizes &getSizes() const { return sizes; }
  /// Whether blocks of queries are multiplied in tiles, of bf16 and whole
  /// widths: with values, and with keys if no region scores them.
  bool usesTiles() const { return isTiled; }
  /// Whether a block of queries takes the values of a tile in pairs.
  bool usesPairs() { return isShortFloat(probabilityTypeOf(op)) && !isTiled; }
  /// Whether keys and values are integers, which a block takes as f32.
  bool widensKeys() { return bool(op.getKeyScales()); }

  /// Scratch memory for `count` queries, a column each, or for one query; for
  /// the values of a tile in pairs, or widened; and what all of them share.
  QueryScratch blockScratch(int64_t count);
  QueryScratch rowScratch(int64_t heads = 1);
  mlir::Value pairScratch();
  mlir::Value widenedScratch();
  /// Memory for the sums and states of so many parts of pasts, a row each.
  mlir::Value records(int64_t count);
  void takeShared(bool hasLists);

  /// A number for the values of a view, for its blocks in columns: no other
  /// view has it.
  void setColumnsOf(mlir::Value view) { columns.head = view; }
  void takeColumns();

  /// As many queries as `scratch` has columns. With lists `own` is memory for
  /// each of them.
  void block(const HeadView &view, const QueryRows &rows,
             const QueryScratch &scratch, const QueryScratch &own);
  /// What such a block is made of, without lists: it begins, sees the keys of
  /// one view or of several, and ends.
  void init(const HeadView &view, mlir::Value row, const QueryScratch &scratch);
  void addKeys(const HeadView &view, const QueryRows &rows,
               const QueryScratch &scratch);
  void finish(const HeadView &view, mlir::Value row,
              const QueryScratch &scratch);
  /// The query in row `row`, at `position`.
  void row(const HeadView &view, mlir::Value row, mlir::Value position,
           const QueryScratch &scratch) {
    this->row(
        {[&](mlir::Value) { return view; }, /*heads=*/nullptr, row, position},
        scratch);
  }
  /// A row of a step; `scratch` is memory for all of its heads.
  void row(const RowHeads &row, const QueryScratch &scratch);
  /// What such a row is made of, without lists: its heads begin and see the
  /// keys [begin, end), a tile one after the other, which the later ones find
  /// in the caches of the processor; what they have of other keys joins; and
  /// they end.
  void addRowKeys(const RowHeads &row, mlir::Value begin, mlir::Value end,
                  HeadScratch scratch);
  void merge(const QueryScratch &from, const QueryScratch &into);
  void finishRow(const RowHeads &row, HeadScratch scratch);
  void
  forEachHead(const RowHeads &row,
              llvm::function_ref<void(const HeadView &, mlir::Value)> body);
  /// The memory of one head: its part of that of several if there is a number.
  QueryScratch scratchOf(const HeadView &view, mlir::Value number,
                         mlir::Value row, const QueryScratch &all);

private:
  bool hasSimilarity() { return !op.getSimilarity().empty(); }
  /// Whether queries and keys are read as f32, whatever type these have.
  bool readsF32() { return hasSimilarity() || op.isRelative(); }
  mlir::Value scratch(llvm::ArrayRef<int64_t> shape, mlir::Type element);
  mlir::Value factors(int64_t size, int64_t count, mlir::Type element);
  bool scalesExponents();
  bool scalesQueries();
  float effectiveScale();
  float queryScale();
  float scoreScale();
  float exponentFactor();

  void forEachTileOf(llvm::ArrayRef<mlir::Value> run, bool isOfRow,
                     llvm::function_ref<void(const TileBounds &)> tile);
  void forEachTile(const HeadView &view, mlir::Value begin, mlir::Value end,
                   bool isOfRow,
                   llvm::function_ref<void(const TileBounds &)> tile);
  void addTile(const HeadView &view, mlir::Value first, const TileBounds &tile,
               const KeyPlaces &places, const QueryScratch &scratch);
  void addLists(const HeadView &view, mlir::Value position,
                const QueryScratch &scratch);
  void finishRows(const HeadView &view, const QueryRows &rows,
                  const QueryScratch &block, const QueryScratch &own);

  AttentionOp op;
  VectorLoops &loops;
  bool isTiled;
  TileSizes sizes;
  ValueColumns columns;
  mlir::Value runs, list;
};

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_ATTENTION_ONLINEUPDATES_H
