//===- OnlineUpdates.cpp - Tiles, then lists, with one state --------------===//
//
// A block of queries begins with an empty state and takes tile by tile: the
// probabilities of the tile's keys, then its values. Keys from lists differ
// from query to query, so they come last, query by query: each query resumes
// with its lane of the block's state.
//
// The scale is part of the factor that turns scores into exponents if softmax
// alone reads scores. Otherwise it multiplies queries, or scores if queries are
// short floats. Scratch memory has fixed sizes: long runs and lists are taken
// in parts.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Attention/OnlineUpdates.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace heddle;

/// Columns of a tile: queries, where a level multiplies tiles.
static constexpr int64_t kTileColumns = 16;
/// Bytes of values in columns that a task keeps: in the L2 cache, beside keys.
static constexpr int64_t kColumnBytes = 1 << 19;

static bool hasAmxProduct(AttentionOp op, const IsaLevel &isa) {
  return isa.hasTiles && op.getFactorType().isBF16() &&
         (!op.isStep() || op.getPrefill()) &&
         (!op.getSimilarity().empty() || op.isRelative() ||
          op.getKeyWidth() % kKeyGroup == 0) &&
         op.getValueWidth() % kKeyGroup == 0;
}

static TileSizes sizesOf(const IsaLevel &isa, bool isTiled) {
  int64_t scores = isa.vectorRegisters / 4;
  if (isTiled)
    return {2 * kTileColumns,      kTileColumns, scores, isa.lanes,
            /*probabilities=*/256, kKeyGroup};
  return {2 * isa.lanes,         isa.lanes, scores, isa.lanes,
          /*probabilities=*/256, scores};
}

OnlineUpdates::OnlineUpdates(AttentionOp op, VectorLoops &loops)
    : op(op), loops(loops), isTiled(hasAmxProduct(op, loops.isa)),
      sizes(sizesOf(loops.isa, isTiled)) {}

//===----------------------------------------------------------------------===//
// Scratch memory
//===----------------------------------------------------------------------===//

Value OnlineUpdates::scratch(ArrayRef<int64_t> shape, Type element) {
  return memref::AllocaOp::create(loops.builder, loops.loc,
                                  MemRefType::get(shape, element), ValueRange(),
                                  loops.builder.getI64IntegerAttr(64));
}

/// Scratch memory for what is multiplied, [size, count]: of short floats in
/// pairs.
Value OnlineUpdates::factors(int64_t size, int64_t count, Type element) {
  if (!isShortFloat(element))
    return scratch({size, count}, element);
  int64_t pairs = llvm::divideCeil(size, 2);
  return scratch({pairs, count, 2}, element);
}

QueryScratch OnlineUpdates::blockScratch(int64_t count) {
  Type f32 = loops.builder.getF32Type();
  QueryScratch taken;
  taken.queries = readsF32()
                      ? scratch({op.getQueryWidth(), count}, f32)
                      : factors(op.getKeyWidth(), count, op.getFactorType());
  taken.probabilities =
      factors(sizes.probabilities, count, probabilityTypeOf(op));
  taken.sums = scratch({op.getValueWidth(), count}, f32);
  taken.state = scratch({kOnlineStateRows, count}, f32);
  if ((readsF32() && op.isOfShortFloats()) || widensKeys())
    taken.copies = scratch({sizes.scores, op.getKeyWidth()}, f32);
  if (readsF32() || !isTiled)
    return taken;
  taken.scores = scratch({kKeyGroup, count}, f32);
  taken.last =
      scratch({kKeyGroup, op.getKeyWidth()}, loops.builder.getBF16Type());
  return taken;
}

QueryScratch OnlineUpdates::rowScratch(int64_t heads) {
  OpBuilder &builder = loops.builder;
  Type f32 = builder.getF32Type();
  QueryScratch taken;
  taken.kind = OnlineKind::Row;
  auto ofHeads = [&](ArrayRef<int64_t> shape) {
    SmallVector<int64_t> all(shape);
    if (shape.size() > 1)
      all.front() *= heads;
    else if (heads > 1)
      all.insert(all.begin(), heads);
    return scratch(all, f32);
  };
  if (!op.isOfShortFloats() || hasSimilarity())
    taken.queries = ofHeads({op.getQueryWidth()});
  taken.probabilities = scratch({sizes.probabilities}, probabilityTypeOf(op));
  taken.sums = ofHeads({op.getValueWidth()});
  taken.state = ofHeads({kOnlineStateRows, loops.isa.lanes});
  if (op.isOfShortFloats())
    taken.scores = scratch({sizes.probabilities}, f32);
  if (hasSimilarity())
    taken.copies = scratch({op.getKeyWidth(), loops.isa.lanes}, f32);
  return taken;
}

Value OnlineUpdates::pairScratch() {
  return factors(sizes.probabilities, op.getValueWidth(), op.getFactorType());
}

Value OnlineUpdates::records(int64_t count) {
  return scratch({count, partElements(op)}, loops.builder.getF32Type());
}

Value OnlineUpdates::widenedScratch() {
  return scratch({sizes.probabilities, op.getValueWidth()},
                 loops.builder.getF32Type());
}

void OnlineUpdates::takeShared(bool hasLists) {
  runs = scratch({static_cast<int64_t>(kMaxKeyRanges), 4},
                 loops.builder.getIndexType());
  if (hasLists)
    list = scratch({sizes.probabilities + 2 * loops.isa.lanes},
                   loops.builder.getI32Type());
}

/// Memory for as many groups of keys as a task keeps, none of which it has.
void OnlineUpdates::takeColumns() {
  int64_t width = op.getValueWidth();
  int64_t groupBytes = kKeyGroup * width * sizeof(uint16_t);
  int64_t count = llvm::bit_floor(uint64_t(kColumnBytes / groupBytes));
  Type index = loops.builder.getIndexType();
  columns = {scratch({count, width, kKeyGroup}, loops.builder.getBF16Type()),
             scratch({count, 2}, index), /*head=*/Value()};
  loops.each(loops.index(0), loops.index(count), 1, [&](Value slot) {
    loops.store(loops.index(-1), columns.slots, {slot, loops.index(0)});
  });
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

/// Whether the scale is part of the factor that makes exponents of scores: its
/// rounding then changes differences of scores alone. Where others read scores,
/// and where no ordinary number is left of the factor, queries carry it, or
/// scores if queries are short floats or keys are multiplied by more.
bool OnlineUpdates::scalesExponents() {
  double scale = effectiveScale();
  return op.getNormalizer() == Normalizer::Softmax && op.getScore().empty() &&
         scale > 0x1p-64 && scale < 0x1p64;
}
/// Similarity regions have none.
float OnlineUpdates::effectiveScale() {
  return hasSimilarity() ? 1 : op.getEffectiveScale();
}
bool OnlineUpdates::scalesQueries() {
  return !scalesExponents() && !op.isOfShortFloats() && !op.isRelative();
}
float OnlineUpdates::queryScale() {
  return scalesQueries() ? effectiveScale() : 1;
}
float OnlineUpdates::scoreScale() {
  return scalesExponents() || scalesQueries() ? 1 : effectiveScale();
}
float OnlineUpdates::exponentFactor() {
  return scalesExponents() ? effectiveScale() * M_LOG2E : M_LOG2E;
}

//===----------------------------------------------------------------------===//
// Tiles of keys
//===----------------------------------------------------------------------===//

/// Tiles of a run; those of one query end at multiples of their size.
void OnlineUpdates::forEachTileOf(ArrayRef<Value> run, bool isOfRow,
                                  function_ref<void(const TileBounds &)> tile) {
  Value first = isOfRow ? loops.floorTo(run[0], sizes.probabilities) : run[0];
  loops.each(first, run[1], sizes.probabilities, [&](Value begin) {
    Value end = loops.min(loops.add(begin, sizes.probabilities), run[1]);
    tile({isOfRow ? loops.max(begin, run[0]) : begin, end, run[2], run[3]});
  });
}

/// Tiles of all runs of the queries [begin, end), as many as there is memory
/// for at a time.
void OnlineUpdates::forEachTile(const HeadView &view, Value begin, Value end,
                                bool isOfRow,
                                function_ref<void(const TileBounds &)> tile) {
  TileRunsSpec spec;
  spec.mask = view.parts->tiled;
  spec.batch = view.batch;
  spec.head = view.head;
  spec.queryBegin = begin;
  spec.queryEnd = end;
  spec.keyEnd = view.keyEnd;
  spec.remainder = view.remainder;
  spec.stride = view.stride;
  spec.runs = runs;
  spec.tile = isOfRow ? 1 : sizes.run;
  auto isLeft = [&](ValueRange from) {
    return loops.less(from.front(), view.keyEnd);
  };
  loops.repeat(view.keyBegin, isLeft, [&](ValueRange from) {
    spec.keyBegin = from.front();
    auto found = TileRunsOp::create(loops.builder, loops.loc, spec);
    loops.each(loops.index(0), found.getCount(), 1, [&](Value r) {
      SmallVector<Value> run;
      for (int64_t bound = 0; bound < 4; ++bound)
        run.push_back(loops.load(runs, {r, loops.index(bound)}));
      forEachTileOf(run, isOfRow, tile);
    });
    return SmallVector<Value>{found.getNext()};
  });
}

void OnlineUpdates::init(const HeadView &view, Value row,
                         const QueryScratch &scratch) {
  OnlineInitOp::create(loops.builder, loops.loc, scratch, view.queries, row,
                       queryScale());
}

void OnlineUpdates::finish(const HeadView &view, Value row,
                           const QueryScratch &scratch) {
  OnlineFinishOp::create(loops.builder, loops.loc, scratch, view.result, row,
                         op.getNormalizer());
}

/// Probabilities of the keys of a tile, and the sums of their values.
void OnlineUpdates::addTile(const HeadView &view, Value first,
                            const TileBounds &tile, const KeyPlaces &places,
                            const QueryScratch &scratch) {
  OpBuilder &builder = loops.builder;
  bool isBlock = scratch.kind == OnlineKind::Block;
  OnlineProbabilitiesSpec spec;
  spec.scratch = scratch;
  spec.keys = view.keys;
  spec.scales = view.keyScales;
  spec.relativeKeys = view.relativeKeys;
  spec.relativeQueries = view.relativeQueries;
  spec.tile = tile;
  spec.tileKeys = isBlock ? sizes.scores : sizes.rowScores;
  spec.places = places;
  // The keys of a list are in the mask.
  spec.mask = places.list ? Value() : view.parts->tiled;
  spec.batch = view.batch;
  spec.head = view.head;
  spec.first = first;
  spec.remainder = view.remainder;
  spec.stride = view.stride;
  spec.fetched = places.list ? view.values : Value();
  spec.factor = exponentFactor();
  spec.scale = scoreScale();
  spec.normalizer = op.getNormalizer();
  auto probabilities = OnlineProbabilitiesOp::create(builder, loops.loc, spec);
  IRMapping mapping;
  op.getSimilarity().cloneInto(&probabilities.getSimilarity(), mapping);
  op.getScore().cloneInto(&probabilities.getScore(), mapping);
  op.getNormalizerRegion().cloneInto(&probabilities.getNormalizerRegion(),
                                     mapping);

  OnlineUpdateSpec update;
  update.scratch = scratch;
  update.values = view.values;
  update.scales = view.valueScales;
  update.tile = tile;
  update.tileKeys = spec.tileKeys;
  update.places = places;
  if (isBlock && columns.memref) {
    OnlineColumnsOp::create(builder, loops.loc, view.values, tile.begin,
                            tile.end, columns.head, columns.memref,
                            columns.slots);
    update.columns = columns.memref;
    update.slots = columns.slots;
  }
  if (scratch.pairs) {
    OnlinePairsOp::create(builder, loops.loc, view.values, tile.begin, tile.end,
                          scratch.pairs);
    update.values = scratch.pairs;
  }
  if (scratch.widened) {
    OnlineWidenOp::create(builder, loops.loc, view.values, tile.begin, tile.end,
                          view.valueScales, scratch.widened);
    Value end = loops.min(tile.end, loops.size(view.values, 0));
    update.values = someRows(loops, scratch.widened, loops.index(0),
                             loops.sub(end, tile.begin));
    update.scales = Value();
    update.places.origin = tile.begin;
  }
  OnlineUpdateOp::create(builder, loops.loc, update);
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

void OnlineUpdates::addKeys(const HeadView &view, const QueryRows &rows,
                            const QueryScratch &scratch) {
  // The runs of a whole block even where fewer queries are there, and whatever
  // scratch they take: what a tile is may not depend on how many there are, and
  // that depends on padding, and on how a prompt is cut.
  forEachTile(view, rows.aligned, loops.add(rows.aligned, sizes.queries),
              /*isOfRow=*/false, [&](const TileBounds &tile) {
                addTile(view, rows.position, tile, view.places, scratch);
              });
}

void OnlineUpdates::block(const HeadView &view, const QueryRows &rows,
                          const QueryScratch &scratch,
                          const QueryScratch &own) {
  init(view, rows.row, scratch);
  addKeys(view, rows, scratch);
  if (view.parts->lists.empty())
    return finish(view, rows.row, scratch);
  finishRows(view, rows, scratch, own);
}

/// The queries of a block, one by one, with the keys that lists give.
void OnlineUpdates::finishRows(const HeadView &view, const QueryRows &rows,
                               const QueryScratch &block,
                               const QueryScratch &own) {
  Value first = rows.row, toPosition = loops.sub(rows.position, rows.row);
  int64_t columns = cast<MemRefType>(block.sums.getType()).getDimSize(1);
  Value end = loops.min(loops.add(first, columns), loops.size(view.queries, 0));
  loops.each(first, end, 1, [&](Value query) {
    QueryScratch scratch = scratchOf(view, /*number=*/nullptr, query, own);
    init(view, query, scratch);
    OnlineResumeOp::create(loops.builder, loops.loc, block.sums, block.state,
                           loops.sub(query, first), scratch.sums,
                           scratch.state);
    addLists(view, loops.add(query, toPosition), scratch);
    finish(view, query, scratch);
  });
}

/// The keys that lists give for the query at `position`, as many as there is
/// memory for at a time.
void OnlineUpdates::addLists(const HeadView &view, Value position,
                             const QueryScratch &scratch) {
  Value zero = loops.index(0);
  for (const MaskParts::List &part : view.parts->lists) {
    Value size = ListSizeOp::create(loops.builder, loops.loc, part.keys,
                                    view.batch, view.head, position);
    loops.each(zero, size, sizes.probabilities, [&](Value at) {
      ListedKeysSpec spec;
      spec.keys = part.keys;
      spec.begin = at;
      spec.end = loops.min(loops.add(at, sizes.probabilities), size);
      spec.where = part.where;
      spec.batch = view.batch;
      spec.head = view.head;
      spec.query = position;
      spec.keyBegin = view.keyBegin;
      spec.keyEnd = view.keyEnd;
      spec.list = list;
      Value count = ListedKeysOp::create(loops.builder, loops.loc, spec);
      KeyPlaces places = view.places;
      places.list = list;
      loops.ifThen(loops.less(zero, count), [&] {
        addTile(view, position, {zero, count, zero, count}, places, scratch);
      });
    });
  }
}

QueryScratch OnlineUpdates::scratchOf(const HeadView &view, Value number,
                                      Value row, const QueryScratch &all) {
  QueryScratch own = all;
  if (number) {
    own.sums = rowView(loops, all.sums, number);
    own.state = someRows(loops, all.state, loops.mul(number, kOnlineStateRows),
                         loops.builder.getIndexAttr(kOnlineStateRows));
  }
  if (op.isOfShortFloats() && !hasSimilarity())
    own.queries = rowView(loops, view.queries, row);
  else if (number)
    own.queries = rowView(loops, all.queries, number);
  return own;
}

void OnlineUpdates::forEachHead(
    const RowHeads &row, function_ref<void(const HeadView &, Value)> body) {
  if (!row.heads)
    return body(row.headView(loops.index(0)), Value());
  loops.each(loops.index(0), row.heads, 1,
             [&](Value number) { body(row.headView(number), number); });
}

void OnlineUpdates::addRowKeys(const RowHeads &row, Value begin, Value end,
                               HeadScratch scratch) {
  forEachHead(row, [&](const HeadView &view, Value number) {
    init(view, row.row, scratch(view, number));
  });
  HeadView first = row.headView(loops.index(0));
  if (!first.parts->hasTiles())
    return;
  first.keyBegin = begin;
  first.keyEnd = end;
  // Where a tile ends depends on no other row: maxima move between tiles.
  forEachTile(first, row.position, loops.add(row.position, 1),
              /*isOfRow=*/true, [&](const TileBounds &tile) {
                forEachHead(row, [&](const HeadView &view, Value number) {
                  addTile(view, row.position, tile, view.places,
                          scratch(view, number));
                });
              });
}

void OnlineUpdates::merge(const QueryScratch &from, const QueryScratch &into) {
  OnlineMergeOp::create(loops.builder, loops.loc, from.sums, from.state,
                        into.sums, into.state, llvm::APFloat(exponentFactor()),
                        op.getNormalizer());
}

void OnlineUpdates::finishRow(const RowHeads &row, HeadScratch scratch) {
  forEachHead(row, [&](const HeadView &view, Value number) {
    finish(view, row.row, scratch(view, number));
  });
}

void OnlineUpdates::row(const RowHeads &row, const QueryScratch &all) {
  auto scratch = [&](const HeadView &view, Value number) {
    return scratchOf(view, number, row.row, all);
  };
  HeadView first = row.headView(loops.index(0));
  addRowKeys(row, first.keyBegin, first.keyEnd, scratch);
  forEachHead(row, [&](const HeadView &view, Value number) {
    addLists(view, row.position, scratch(view, number));
  });
  finishRow(row, scratch);
}
