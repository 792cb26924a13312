//===- Online.cpp - Attention as tiles of keys ----------------------------===//
//
// Shapes of scratch memory have to agree, so that a number of queries that is
// changed in one place of a dump and not in another is an error.
//
//===----------------------------------------------------------------------===//

#include "dialect/attention/Attention.h"

using namespace mlir;
using namespace heddle;

static MemRefType memrefType(Value value) {
  return cast<MemRefType>(value.getType());
}
static int64_t widthOf(Value rows) {
  return memrefType(rows).getShape().back();
}
/// The number of columns of [size, columns] or of pairs [size / 2, columns, 2];
/// 0 for [size], one query.
static int64_t columnsOf(Value columns) {
  MemRefType type = memrefType(columns);
  return type.getRank() == 1 ? 0 : type.getDimSize(1);
}

static Type elementOf(Value memref) {
  return memrefType(memref).getElementType();
}
static bool isOfShortFloats(Value memref) {
  return isShortFloat(elementOf(memref));
}

static bool isOfIntegers(Value memref) {
  return elementOf(memref).isInteger(8);
}

/// Integers have scales [rows, 1], nothing else has.
static LogicalResult verifyScales(Operation *op, Value rows, Value scales) {
  // online_probabilities_c10, online_widen_c1, online_update_c2
  if (bool(scales) == isOfIntegers(rows) && (!scales || widthOf(scales) == 1))
    return success();
  InFlightDiagnostic error =
      op->emitOpError("expects scales [rows, 1] exactly beside i8, found ");
  if (scales)
    error << scales.getType() << " beside ";
  return error << rows.getType();
}

/// A block of short floats stands in pairs, nothing else does.
static LogicalResult verifyPairs(Operation *op, Value columns) {
  MemRefType type = memrefType(columns);
  bool isPaired = type.getRank() == 3;
  if (isPaired ? isOfShortFloats(columns) && type.getDimSize(2) == 2
               : !isOfShortFloats(columns) || type.getRank() == 1)
    return success();
  return op->emitOpError("expects [size / 2, queries, 2] for a block of short "
                         "floats and no third dimension otherwise, found ")
         << type;
}

static LogicalResult verifyElements(Operation *op, Value first, Value second) {
  if (elementOf(first) == elementOf(second))
    return success();
  return op->emitOpError("multiplies ")
         << first.getType() << " and " << second.getType()
         << ", expected one element type";
}

static LogicalResult verifyAgree(Operation *op, StringRef what, int64_t first,
                                 int64_t second) {
  if (first == second && !ShapedType::isDynamic(first))
    return success();
  return op->emitOpError("expects one static ")
         << what << ", found " << first << " and " << second;
}

/// `queries` are the columns of a width, of pairs with the odd end filled up.
static LogicalResult verifyWidth(Operation *op, StringRef what, int64_t width,
                                 Value queries) {
  MemRefType type = memrefType(queries);
  if (type.getRank() < 3)
    return verifyAgree(op, what, width, type.getDimSize(0));
  return verifyAgree(op, what, llvm::alignTo(width, 2), 2 * type.getDimSize(0));
}

/// A block has columns, a row none.
static LogicalResult verifyKind(Operation *op, OnlineKind kind, Value sums) {
  if ((columnsOf(sums) == 0) == (kind == OnlineKind::Row))
    return success();
  return op->emitOpError("expects sums [width, queries] of a block and [width] "
                         "of a row, found ")
         << sums.getType() << " of a " << stringifyOnlineKind(kind);
}

/// The state holds a few values a column.
static LogicalResult verifyState(Operation *op, Value state, Value columns) {
  MemRefType type = memrefType(state);
  if (type.hasStaticShape() && type.getDimSize(0) == kOnlineStateRows &&
      (columnsOf(columns) == 0 || columnsOf(columns) == type.getDimSize(1)))
    return success();
  return op->emitOpError("expects a state of ")
         << kOnlineStateRows << " rows and the columns of " << columns.getType()
         << ", found " << type;
}

//===----------------------------------------------------------------------===//
// Builders
//===----------------------------------------------------------------------===//

void TileRunsOp::build(OpBuilder &builder, OperationState &state,
                       const TileRunsSpec &spec) {
  Type index = builder.getIndexType();
  build(builder, state, index, index, spec.mask, spec.batch, spec.head,
        spec.queryBegin, spec.queryEnd, spec.keyBegin, spec.keyEnd,
        spec.remainder, spec.runs, spec.tile, spec.stride);
}

void ListedKeysOp::build(OpBuilder &builder, OperationState &state,
                         const ListedKeysSpec &spec) {
  build(builder, state, builder.getIndexType(), spec.keys, spec.begin, spec.end,
        spec.where, spec.batch, spec.head, spec.query, spec.keyBegin,
        spec.keyEnd, spec.list);
}

void OnlineInitOp::build(OpBuilder &builder, OperationState &state,
                         const QueryScratch &scratch, Value rows, Value first,
                         float scale) {
  build(builder, state, TypeRange(), scratch.kind, rows, first, scratch.queries,
        scratch.sums, scratch.state, APFloat(scale));
}

void OnlineFinishOp::build(OpBuilder &builder, OperationState &state,
                           const QueryScratch &scratch, Value rows, Value first,
                           Normalizer normalizer) {
  build(builder, state, TypeRange(), scratch.kind, scratch.sums, scratch.state,
        rows, first, normalizer);
}

void OnlineProbabilitiesOp::build(OpBuilder &builder, OperationState &state,
                                  const OnlineProbabilitiesSpec &spec) {
  const QueryScratch &scratch = spec.scratch;
  const TileBounds &tile = spec.tile;
  const KeyPlaces &places = spec.places;
  build(builder, state, TypeRange(), scratch.kind, scratch.queries, spec.keys,
        spec.scales, tile.begin, tile.end, tile.fullBegin, tile.fullEnd,
        spec.mask, spec.batch, spec.head, spec.first, places.origin,
        places.history, places.cacheRows, places.list, spec.fetched,
        spec.remainder, scratch.scores, scratch.last, scratch.copies,
        spec.relativeKeys, spec.relativeQueries, scratch.probabilities,
        scratch.sums, scratch.state, APFloat(spec.factor), APFloat(spec.scale),
        spec.tileKeys, places.pinned, spec.stride, spec.normalizer);
}

void OnlineUpdateOp::build(OpBuilder &builder, OperationState &state,
                           const OnlineUpdateSpec &spec) {
  const TileBounds &tile = spec.tile;
  const KeyPlaces &places = spec.places;
  build(builder, state, TypeRange(), spec.scratch.kind,
        spec.scratch.probabilities, spec.values, spec.scales, tile.begin,
        tile.end, tile.fullBegin, tile.fullEnd, places.origin, places.history,
        places.cacheRows, places.list, spec.columns, spec.slots,
        spec.scratch.sums, spec.tileKeys, places.pinned);
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

MaskOpInterface TileRunsOp::getMaskOp() {
  return getMask() ? getMask().getDefiningOp<MaskOpInterface>()
                   : MaskOpInterface();
}

LogicalResult TileRunsOp::verify() {
  // mask_tile_runs_c1
  ArrayRef<int64_t> shape = memrefType(getRuns()).getShape();
  if (shape[1] != 4 || shape[0] < static_cast<int64_t>(kMaxKeyRanges))
    return emitOpError("expects runs of type memref<")
           << kMaxKeyRanges << "x4xindex> or longer, found "
           << getRuns().getType();
  return verifyMaskOperands(*this);
}

/// Whether `mask` has lists.
static LogicalResult verifyHasLists(Operation *op, Value mask) {
  if (mask.getDefiningOp<KeyListOpInterface>())
    return success();
  return op->emitOpError("expects a mask that lists keys");
}

LogicalResult ListSizeOp::verify() {
  // mask_list_size_c1
  return verifyHasLists(*this, getKeys());
}

LogicalResult ListedKeysOp::verify() {
  // mask_listed_keys_c1
  if (failed(verifyHasLists(*this, getKeys())))
    return failure();
  return verifyMaskOperands(*this);
}

LogicalResult OnlineResumeOp::verify() {
  // online_resume_c1
  if (memrefType(getSums()).getDimSize(0) !=
          memrefType(getOwn()).getDimSize(0) ||
      columnsOf(getSums()) == 0 || columnsOf(getOwn()) != 0)
    return emitOpError("expects sums of a block and of one query, of one "
                       "width, found ")
           << getSums().getType() << " and " << getOwn().getType();
  if (failed(verifyState(*this, getState(), getSums())))
    return failure();
  return verifyState(*this, getOwnState(), getOwn());
}

LogicalResult OnlineMergeOp::verify() {
  // online_merge_c1
  if (memrefType(getSums()).getDimSize(0) !=
          memrefType(getOwn()).getDimSize(0) ||
      columnsOf(getSums()) != 0 || columnsOf(getOwn()) != 0)
    return emitOpError("expects sums of one query, of one width, found ")
           << getSums().getType() << " and " << getOwn().getType();
  if (failed(verifyState(*this, getState(), getSums())) ||
      failed(verifyState(*this, getOwnState(), getOwn())))
    return failure();
  return verifyAgree(*this, "number of lanes", widthOf(getState()),
                     widthOf(getOwnState()));
}

LogicalResult OnlineInitOp::verify() {
  // online_init_c1
  if (failed(verifyKind(*this, getKind(), getSums())) ||
      failed(verifyAgree(*this, "number of columns", columnsOf(getQueries()),
                         columnsOf(getSums()))) ||
      failed(verifyWidth(*this, "width of queries", widthOf(getRows()),
                         getQueries())))
    return failure();
  // online_init_c2
  if ((isOfShortFloats(getQueries()) &&
       failed(verifyElements(*this, getRows(), getQueries()))) ||
      failed(verifyPairs(*this, getQueries())))
    return failure();
  if (isOfShortFloats(getRows()) && !getScale().isExactlyValue(1))
    return emitOpError("expects a scale of 1 for ")
           << elementOf(getRows()) << ", found " << getScale().convertToFloat();
  return verifyState(*this, getState(), getQueries());
}

MaskOpInterface OnlineProbabilitiesOp::getMaskOp() {
  return getMask() ? getMask().getDefiningOp<MaskOpInterface>()
                   : MaskOpInterface();
}

/// A history of one query, and how many rows of a cache.
template <typename Op> static LogicalResult verifyHistory(Op op) {
  // online_probabilities_c8, online_update_c4
  if (!op.getHistory() != !op.getCacheRows())
    return op.emitOpError("expects a history and the rows of a cache together");
  if (op.getHistory() && op.getKind() == OnlineKind::Block)
    return op.emitOpError("expects a history for one query only");
  return success();
}

/// Scratch memory for scores by tiles.
static LogicalResult verifyGroups(OnlineProbabilitiesOp op) {
  // online_probabilities_c4
  if (!op.getScores() != !op.getLast())
    return op.emitOpError("expects scores and last keys together");
  if (!op.getScores())
    return success();
  if (op.readsF32())
    return op.emitOpError("expects no scores by tiles beside a similarity "
                          "region or relative keys");
  ArrayRef<int64_t> scores = memrefType(op.getScores()).getShape();
  int64_t width = widthOf(op.getKeys());
  if (scores != ArrayRef<int64_t>{kKeyGroup, columnsOf(op.getQueries())} ||
      memrefType(op.getLast()).getShape() !=
          ArrayRef<int64_t>{kKeyGroup, width} ||
      !elementOf(op.getLast()).isBF16())
    return op.emitOpError("expects scores [")
           << kKeyGroup << ", queries] and last keys [" << kKeyGroup
           << ", width] of bf16, found " << op.getScores().getType() << " and "
           << op.getLast().getType();
  if (width % kKeyGroup != 0 || kKeyGroup % op.getTile() != 0)
    return op.emitOpError("expects a width in multiples of ")
           << kKeyGroup << " and a tile that divides it, found " << width
           << " and " << op.getTile();
  return success();
}

/// Keys as f32.
static LogicalResult verifyCopies(OnlineProbabilitiesOp op) {
  // online_probabilities_c6
  bool isRow = op.getKind() == OnlineKind::Row;
  bool isCopied = (op.readsF32() && (isRow || isOfShortFloats(op.getKeys()))) ||
                  (!isRow && isOfIntegers(op.getKeys()));
  SmallVector<int64_t> expected = {static_cast<int64_t>(op.getTile()),
                                   widthOf(op.getKeys())};
  if (isRow)
    std::swap(expected[0], expected[1]);
  if (isCopied != bool(op.getCopies()))
    return op.emitOpError("expects copies of keys exactly if a similarity "
                          "region, products with relative keys or a block "
                          "cannot read them in place");
  if (isCopied && memrefType(op.getCopies()).getShape() != ArrayRef(expected))
    return op.emitOpError("expects copies [")
           << expected[0] << ", " << expected[1] << "], found "
           << op.getCopies().getType();
  return success();
}

/// Vectors of relative positions of one head.
static LogicalResult verifyVectors(OnlineProbabilitiesOp op) {
  // online_probabilities_c9
  if (!op.isRelative())
    return success();
  if (op.getKind() == OnlineKind::Row || op.getRemainder() ||
      !op.getSimilarity().empty())
    return op.emitOpError("expects relative keys and queries for a block, of "
                          "all positions and without a similarity region");
  ArrayRef<int64_t> first;
  for (Value table : {op.getRelativeKeys(), op.getRelativeQueries()}) {
    if (!table)
      continue;
    ArrayRef<int64_t> shape = memrefType(table).getShape();
    if (shape[0] != widthOf(op.getKeys()) || ShapedType::isDynamic(shape[1]) ||
        shape[1] % 2 != 1 || (!first.empty() && first != shape))
      return op.emitOpError("expects relative keys and queries [")
             << widthOf(op.getKeys()) << ", 2 far + 1], found "
             << table.getType();
    first = shape;
  }
  return success();
}

LogicalResult OnlineProbabilitiesOp::verify() {
  // online_probabilities_c1
  if (failed(verifyKind(*this, getKind(), getSums())))
    return failure();
  for (Value columns : {getProbabilities(), getSums()})
    if (failed(verifyAgree(*this, "number of columns", columnsOf(getQueries()),
                           columnsOf(columns))))
      return failure();
  bool hasSimilarity = !getSimilarity().empty();
  if (!hasSimilarity && failed(verifyWidth(*this, "width of keys",
                                           widthOf(getKeys()), getQueries())))
    return failure();
  // online_probabilities_c2
  if ((getNormalizer() == Normalizer::Region) != !getNormalizerRegion().empty())
    return emitOpError(
        "expects a normalizer region exactly if the normalizer is 'region'");
  // online_probabilities_c3
  if (readsF32() && isOfShortFloats(getQueries()))
    return emitOpError("expects queries of f32 before a similarity region or "
                       "relative keys, found ")
           << getQueries().getType();
  bool isOfF32 = readsF32() || isOfIntegers(getKeys());
  if (isOfIntegers(getKeys()) && !elementOf(getQueries()).isF32())
    return emitOpError("expects queries of f32 beside keys of i8, found ")
           << getQueries().getType();
  if ((!isOfF32 && failed(verifyElements(*this, getKeys(), getQueries()))) ||
      failed(verifyPairs(*this, getQueries())) ||
      failed(verifyPairs(*this, getProbabilities())))
    return failure();
  Type factors = elementOf(isOfIntegers(getKeys()) ? getQueries() : getKeys());
  Type expected = probabilityTypeBeside(factors, getNormalizer());
  if (elementOf(getProbabilities()) != expected)
    return emitOpError("expects probabilities of ")
           << expected << " beside " << getKeys().getType() << ", found "
           << getProbabilities().getType();
  bool isRow = getKind() == OnlineKind::Row;
  if (isOfShortFloats(getKeys()) && getTile() % 2 != 0)
    return emitOpError("expects tiles of an even number of keys, found ")
           << getTile();
  if (isRow ? bool(getScores()) != isOfShortFloats(getKeys())
            : getScores() && !elementOf(getKeys()).isBF16())
    return emitOpError("expects scores for one query exactly if keys are short "
                       "floats, for a block only if they are bf16");
  if (!isRow && failed(verifyGroups(*this)))
    return failure();
  if (isRow && getScores() &&
      failed(verifyAgree(*this, "number of scores",
                         memrefType(getScores()).getDimSize(0),
                         memrefType(getProbabilities()).getDimSize(0))))
    return failure();
  // online_probabilities_c7
  if (getFetched() && (!getList() || !isRow))
    return emitOpError("fetches values only for a list of one query");
  // online_probabilities_c8
  if (getHistory() && getRemainder())
    return emitOpError("expects no history of a remainder's positions");
  if (failed(verifyScales(*this, getKeys(), getScales())) ||
      failed(verifyHistory(*this)) || failed(verifyCopies(*this)) ||
      failed(verifyVectors(*this)) ||
      failed(verifyState(*this, getState(), getQueries())))
    return failure();
  return verifyMaskOperands(*this);
}

LogicalResult OnlineProbabilitiesOp::verifyRegions() {
  // online_probabilities_c5
  if (!getSimilarity().empty()) {
    Type f32 = Float32Type::get(getContext());
    int64_t widths[] = {memrefType(getQueries()).getDimSize(0),
                        widthOf(getKeys())};
    if (llvm::any_of(widths, ShapedType::isDynamic))
      return emitOpError("expects static widths before a similarity region, "
                         "found ")
             << getQueries().getType() << " and " << getKeys().getType();
    if (failed(verifyRegion(*this, "similarity", getSimilarity(),
                            {VectorType::get(widths[0], f32),
                             VectorType::get(widths[1], f32)})))
      return failure();
  }
  return verifyScoreRegions(*this, getScore(), getNormalizerRegion());
}

LogicalResult OnlinePairsOp::verify() {
  // online_pairs_c1
  MemRefType pairs = memrefType(getPairs());
  if (!isOfShortFloats(getValues()) ||
      elementOf(getPairs()) != elementOf(getValues()) || pairs.getRank() != 3 ||
      pairs.getDimSize(2) != 2)
    return emitOpError("expects values of short floats and pairs [keys / 2, "
                       "width, 2] of them, found ")
           << getValues().getType() << " and " << pairs;
  return verifyAgree(*this, "width of values", widthOf(getValues()),
                     pairs.getDimSize(1));
}

LogicalResult OnlineWidenOp::verify() {
  // online_widen_c1
  if (!isOfIntegers(getValues()))
    return emitOpError("expects values of i8, found ") << getValues().getType();
  if (failed(verifyScales(*this, getValues(), getScales())))
    return failure();
  return verifyAgree(*this, "width of values", widthOf(getValues()),
                     widthOf(getCopy()));
}

/// Groups of `values`, and what the slots hold.
static LogicalResult verifyColumns(Operation *op, Value values, Value columns,
                                   Value slots) {
  ArrayRef<int64_t> groups = memrefType(columns).getShape();
  int64_t width = widthOf(values);
  if (elementOf(values).isBF16() && width % kKeyGroup == 0 &&
      groups[1] == width && groups[2] == kKeyGroup &&
      memrefType(slots).getShape() == ArrayRef<int64_t>{groups[0], 2})
    return success();
  return op->emitOpError("expects values of bf16 in multiples of ")
         << kKeyGroup << ", columns [slots, width, " << kKeyGroup
         << "] and slots [slots, 2], found " << values.getType() << ", "
         << columns.getType() << " and " << slots.getType();
}

LogicalResult OnlineColumnsOp::verify() {
  // online_columns_c1
  return verifyColumns(*this, getValues(), getColumns(), getSlots());
}

LogicalResult OnlineUpdateOp::verify() {
  // online_update_c1
  if (failed(verifyKind(*this, getKind(), getSums())) ||
      failed(verifyAgree(*this, "number of columns",
                         columnsOf(getProbabilities()), columnsOf(getSums()))))
    return failure();
  // online_update_c2
  bool isMixed = elementOf(getProbabilities()).isF32() &&
                 (elementOf(getValues()).isF16() ||
                  (isOfIntegers(getValues()) && getKind() == OnlineKind::Row));
  if ((!isMixed &&
       failed(verifyElements(*this, getProbabilities(), getValues()))) ||
      failed(verifyPairs(*this, getProbabilities())))
    return failure();
  MemRefType values = memrefType(getValues());
  if (failed(verifyScales(*this, getValues(), getScales())))
    return failure();
  // online_update_c3
  if (!getColumns() != !getSlots())
    return emitOpError("expects columns and slots together");
  if (getColumns() &&
      failed(verifyColumns(*this, getValues(), getColumns(), getSlots())))
    return failure();
  if (failed(verifyHistory(*this)))
    return failure();
  bool isPaired =
      memrefType(getProbabilities()).getRank() == 3 && !getColumns();
  if ((values.getRank() == 3) != isPaired ||
      (isPaired && values.getDimSize(2) != 2))
    return emitOpError(
               "expects values in pairs exactly if probabilities are, found ")
           << getProbabilities().getType() << " and " << values;
  return verifyAgree(*this, "width of values", values.getDimSize(1),
                     memrefType(getSums()).getDimSize(0));
}

LogicalResult OnlineFinishOp::verify() {
  // online_finish_c1
  if (failed(verifyKind(*this, getKind(), getSums())) ||
      failed(verifyAgree(*this, "width of rows", widthOf(getRows()),
                         memrefType(getSums()).getDimSize(0))))
    return failure();
  return verifyState(*this, getState(), getSums());
}
