//===- PairGrid.cpp - A mask on n queries and n keys ----------------------===//
//
// The code of the predicate and of the ranges is written once, in blocks whose
// arguments are coordinates, and evaluated for each pair and each block. Ranges
// become tiles as mask.tile_runs makes runs of them.
//
//===----------------------------------------------------------------------===//

#include "lib/Masks/PairGrid.h"
#include "dialect/Transformer.h"
#include "lib/Masks/MaskText.h"
#include "lib/Weights/Error.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace heddle;
using llvm::Error;
using llvm::Expected;

int64_t PairGrid::numTiles() const {
  return llvm::divideCeil(length, kBlockQueries) *
         llvm::divideCeil(length, kTileKeys);
}

MaskProbe::MaskProbe(Value mask, Evaluator &evaluator) : evaluator(evaluator) {
  OpBuilder builder(mask.getContext());
  Location loc = mask.getLoc();
  auto addArguments = [&](Block &block, Type type, unsigned count) {
    block.addArguments(SmallVector<Type>(count, type),
                       SmallVector<Location>(count, loc));
    builder.setInsertionPointToEnd(&block);
    return block.getArguments();
  };
  auto point = addArguments(ofPoints, builder.getI32Type(), 4);
  Lanes lanes(builder, loc);
  predicate = lanes.contains(mask, {point[0], point[1], point[2], point[3]});
  auto block = addArguments(ofBlocks, builder.getIndexType(), 5);
  ranges = cast<MaskOpInterface>(mask.getDefiningOp())
               .keyRanges(builder, loc,
                          {block[0], block[1], block[2], block[3], block[4]});
}

MaskProbe::~MaskProbe() {
  for (Block *block : {&ofPoints, &ofBlocks}) {
    block->dropAllReferences();
    block->clear();
  }
}

bool MaskProbe::readsHead() {
  return !ofPoints.getArgument(1).use_empty() ||
         !ofBlocks.getArgument(1).use_empty();
}

/// How a sentence calls what nobody knows.
static std::string describeUnknown(Value value) {
  if (Operation *op = value.getDefiningOp())
    return ("a result of '" + op->getName().getStringRef() + "'").str();
  auto argument = cast<BlockArgument>(value);
  std::string name = nameOfArgument(argument);
  return name.empty() ? "argument #" + std::to_string(argument.getArgNumber())
                      : "the argument '" + name + "'";
}

Expected<int64_t> MaskProbe::number(Value value) {
  if (auto constant = cast_or_null<IntegerAttr>(evaluator.evaluate(value)))
    return constant.getInt();
  return makeError("it reads " + describeUnknown(evaluator.getUnknown()) +
                   ", whose value is unknown");
}

Error MaskProbe::askPairs(int64_t head, PairGrid &grid) {
  Builder builder(predicate.getContext());
  auto constant = [&](int64_t value) -> Attribute {
    return builder.getI32IntegerAttr(value);
  };
  for (int64_t query = 0; query < grid.length; ++query)
    for (int64_t key = 0; key < grid.length; ++key) {
      evaluator.enter(ofPoints, {constant(0), constant(head), constant(query),
                                 constant(key)});
      Expected<int64_t> isMember = number(predicate);
      if (!isMember)
        return isMember.takeError();
      grid.pairs.push_back(*isMember != 0);
    }
  return Error::success();
}

namespace {
struct ConstantRange {
  int64_t begin, end, fullBegin, fullEnd;
};
} // namespace

/// Marks the tiles of `range`, for a block of queries, that are not before
/// `covered`.
static void visitTiles(const ConstantRange &range, int64_t firstQuery,
                       int64_t covered, PairGrid &grid) {
  int64_t endQuery = std::min(firstQuery + kBlockQueries, grid.length);
  int64_t begin = std::max(range.begin / kTileKeys * kTileKeys, covered);
  for (int64_t key = begin; key < range.end; key += kTileKeys) {
    int64_t endKey = std::min(key + kTileKeys, grid.length);
    bool isWhole = key >= range.fullBegin && endKey <= range.fullEnd;
    ++grid.visitedTiles;
    grid.wholeTiles += isWhole;
    for (int64_t query = firstQuery; query < endQuery; ++query)
      std::fill(grid.visits.begin() + grid.at(query, key),
                grid.visits.begin() + grid.at(query, endKey),
                isWhole ? Visit::Whole : Visit::Asked);
  }
}

Error MaskProbe::askTiles(int64_t head, int64_t firstQuery, PairGrid &grid) {
  Builder builder(predicate.getContext());
  int64_t length = grid.length;
  SmallVector<Attribute> arguments;
  // Kernels ask for whole blocks, also where the queries end.
  for (int64_t value :
       {int64_t(0), head, firstQuery, firstQuery + kBlockQueries, length})
    arguments.push_back(builder.getIndexAttr(value));
  evaluator.enter(ofBlocks, arguments);
  // In the order of the tiles that they begin in.
  SmallVector<ConstantRange> found;
  auto isBefore = [](const ConstantRange &a, const ConstantRange &b) {
    return a.begin / kTileKeys < b.begin / kTileKeys;
  };
  for (const KeyRange &range : ranges) {
    SmallVector<int64_t> bounds;
    for (Value bound :
         {range.begin, range.end, range.fullBegin, range.fullEnd}) {
      Expected<int64_t> value = number(bound);
      if (!value)
        return value.takeError();
      bounds.push_back(std::clamp(*value, int64_t(0), length));
    }
    ConstantRange keys{bounds[0], bounds[1], bounds[2], bounds[3]};
    if (keys.begin < keys.end)
      found.insert(llvm::upper_bound(found, keys, isBefore), keys);
  }
  int64_t covered = 0;
  for (const ConstantRange &range : found) {
    visitTiles(range, firstQuery, covered, grid);
    covered = std::max<int64_t>(covered, llvm::alignTo(range.end, kTileKeys));
  }
  return Error::success();
}

Expected<PairGrid> MaskProbe::ask(int64_t head, int64_t length) {
  PairGrid grid{length, {}, std::vector<Visit>(length * length, Visit::None)};
  if (Error error = askPairs(head, grid))
    return std::move(error);
  for (int64_t query = 0; query < length; query += kBlockQueries)
    if (Error error = askTiles(head, query, grid))
      return std::move(error);
  return grid;
}
