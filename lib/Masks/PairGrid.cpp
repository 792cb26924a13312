//===- PairGrid.cpp - A mask on n queries and n keys ----------------------===//
//
// The code of predicates, segments and lists is written once, in blocks whose
// arguments are coordinates, and evaluated for each of them. Tiles are those of
// transformer-tile-attention: if all pairs are a multiple of a stride apart,
// every stride-th position is a sequence of its own.
//
//===----------------------------------------------------------------------===//

#include "lib/Masks/PairGrid.h"
#include "dialect/masks/MaskParts.h"
#include "lib/Masks/MaskText.h"
#include "lib/Support/Error.h"
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

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

namespace {
/// The keys of a list: code in b, h, i and a place of the list.
struct ListCode {
  Block block;
  Value size, key, isMember;
};
} // namespace

/// What heads that differ in no attribute have in common.
struct MaskProbe::HeadCode {
  HeadGroup group;
  MaskParts parts;
  int64_t stride;
  /// Code in b, h, i and j, and in b, h, the bounds of queries, the number of
  /// keys, and a key.
  Block ofPoints, ofSegments;
  Value predicate;
  KeySegment segment;
  std::vector<std::unique_ptr<ListCode>> lists;
  bool readsHead;
};

static MutableArrayRef<BlockArgument>
addArguments(OpBuilder &builder, Block &block, Type type, unsigned count) {
  block.addArguments(SmallVector<Type>(count, type),
                     SmallVector<Location>(count, builder.getUnknownLoc()));
  builder.setInsertionPointToEnd(&block);
  return block.getArguments();
}

MaskProbe::MaskProbe(Value mask, int64_t numHeads, Evaluator &evaluator)
    : evaluator(evaluator) {
  OpBuilder builder(mask.getContext());
  builder.setInsertionPointToEnd(&masks);
  for (HeadGroup &group : groupHeads(builder, mask, numHeads)) {
    HeadCode &code = *codes.emplace_back(std::make_unique<HeadCode>());
    code.group = group;
    code.parts = splitMask(builder, group.mask);
  }
  for (std::unique_ptr<HeadCode> &code : codes)
    writeCode(*code);
}

void MaskProbe::writeCode(HeadCode &code) {
  Value mask = code.group.mask, tiled = code.parts.tiled;
  Location loc = mask.getLoc();
  OpBuilder builder(mask.getContext());
  auto point = addArguments(builder, code.ofPoints, builder.getI32Type(), 4);
  Lanes lanes(builder, loc);
  code.predicate =
      lanes.contains(mask, {point[0], point[1], point[2], point[3]});
  code.stride = code.parts.lists.empty()
                    ? tiled.getDefiningOp<MaskOpInterface>().stride()
                    : 1;
  auto of = addArguments(builder, code.ofSegments, builder.getIndexType(), 6);
  QueryBlock block{of[0], of[1], of[2], of[3], of[4], code.stride};
  code.segment = segmentAt(builder, loc, block, tiled, of[5]);
  code.readsHead = !point[1].use_empty() || !of[1].use_empty();
  writeLists(code);
}

void MaskProbe::writeLists(HeadCode &code) {
  for (const MaskParts::List &list : code.parts.lists) {
    ListCode &made = *code.lists.emplace_back(std::make_unique<ListCode>());
    OpBuilder builder(list.keys.getContext());
    auto of = addArguments(builder, made.block, builder.getI32Type(), 4);
    Lanes lanes(builder, list.keys.getLoc());
    auto keys = list.keys.getDefiningOp<KeyListOpInterface>();
    MaskPoint query{of[0], of[1], of[2], Value()};
    made.size = keys.listSize(lanes, query);
    made.key = keys.listedKey(lanes, query, of[3]);
    made.isMember = lanes.contains(list.where, {of[0], of[1], of[2], made.key});
    code.readsHead |= !of[1].use_empty();
  }
}

MaskProbe::~MaskProbe() {
  SmallVector<Block *> blocks;
  for (std::unique_ptr<HeadCode> &code : codes) {
    blocks.append({&code->ofPoints, &code->ofSegments});
    for (std::unique_ptr<ListCode> &list : code->lists)
      blocks.push_back(&list->block);
  }
  blocks.push_back(&masks);
  for (Block *block : blocks)
    block->dropAllReferences();
  for (Block *block : blocks)
    block->clear();
}

const MaskProbe::HeadCode &MaskProbe::codeOf(int64_t head) const {
  return **llvm::find_if(codes, [&](const std::unique_ptr<HeadCode> &code) {
    return llvm::is_contained(code->group.heads, head);
  });
}

int64_t MaskProbe::firstAlike(int64_t head) const {
  const HeadCode &code = codeOf(head);
  return code.readsHead ? head : code.group.heads.front();
}

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

/// How a sentence calls what nobody knows.
static std::string describeUnknown(Value value) {
  if (Operation *op = value.getDefiningOp())
    return ("a result of '" + op->getName().getStringRef() + "'").str();
  auto argument = cast<BlockArgument>(value);
  std::string name = nameOfArgument(argument);
  return name.empty() ? "argument #" + std::to_string(argument.getArgNumber())
                      : "the argument '" + name + "'";
}

/// Runs `block` for these values of its arguments.
static void enter(Evaluator &evaluator, const Block &code,
                  ArrayRef<int64_t> values) {
  Block &block = const_cast<Block &>(code);
  SmallVector<Attribute> arguments;
  for (auto [argument, value] : llvm::zip_equal(block.getArguments(), values))
    arguments.push_back(IntegerAttr::get(argument.getType(), value));
  evaluator.enter(block, arguments);
}

Expected<int64_t> MaskProbe::number(Value value) {
  if (auto constant = cast_or_null<IntegerAttr>(evaluator.evaluate(value)))
    return constant.getInt();
  return makeError("it reads " + describeUnknown(evaluator.getUnknown()) +
                   ", which has no known value");
}

Error MaskProbe::askPairs(const HeadCode &code, int64_t head, PairGrid &grid) {
  for (int64_t query = 0; query < grid.length; ++query)
    for (int64_t key = 0; key < grid.length; ++key) {
      enter(evaluator, code.ofPoints, {0, head, query, key});
      Expected<int64_t> isMember = number(code.predicate);
      if (!isMember)
        return isMember.takeError();
      grid.pairs.push_back(*isMember != 0);
    }
  return Error::success();
}

namespace {
/// A block of queries and the keys that it has: every stride-th position.
struct TileBlock {
  int64_t stride, remainder, first, count;

  int64_t position(int64_t number) const { return remainder + number * stride; }
};
} // namespace

/// Marks the tiles of a block, from what it sees of each position.
static void visitTiles(const TileBlock &block, ArrayRef<Cover> covers,
                       PairGrid &grid) {
  int64_t endQuery = std::min(block.first + kBlockQueries, block.count);
  for (int64_t key = 0; key < block.count; key += kTileKeys) {
    SmallVector<int64_t> keys;
    for (int64_t at = key; at < std::min(key + kTileKeys, block.count); ++at)
      keys.push_back(block.position(at));
    auto isSeen = [&](int64_t at) { return covers[at] != kNone; };
    auto isFull = [&](int64_t at) { return covers[at] == kAll; };
    if (llvm::none_of(keys, isSeen))
      continue;
    bool isWhole = llvm::all_of(keys, isFull);
    ++grid.visitedTiles;
    grid.wholeTiles += isWhole;
    for (int64_t query = block.first; query < endQuery; ++query)
      for (int64_t at : keys)
        grid.visits[grid.at(block.position(query), at)] =
            isWhole ? Visit::Whole : Visit::Asked;
  }
}

/// The block of queries from number `first` on.
Error MaskProbe::askTiles(const HeadCode &code, int64_t head, int64_t remainder,
                          int64_t first, PairGrid &grid) {
  int64_t count = llvm::divideCeil(grid.length - remainder, code.stride);
  TileBlock block{code.stride, remainder, first, count};
  int64_t keyCount = block.position(block.count - 1) + 1;
  SmallVector<Cover> covers(keyCount);
  for (int64_t key = 0; key < keyCount;) {
    // Kernels ask for whole blocks, also where the queries end.
    enter(evaluator, code.ofSegments,
          {0, head, block.position(first),
           block.position(first + kBlockQueries - 1) + 1, keyCount, key});
    Expected<int64_t> cover = number(code.segment.cover);
    if (!cover)
      return cover.takeError();
    Expected<int64_t> end = number(code.segment.end);
    if (!end)
      return end.takeError();
    if (*end <= key)
      return makeError("its segment at key " + Twine(key) + " has no end");
    std::fill(covers.begin() + key, covers.begin() + std::min(*end, keyCount),
              Cover(*cover));
    key = *end;
  }
  visitTiles(block, covers, grid);
  return Error::success();
}

Error MaskProbe::askLists(const HeadCode &code, int64_t head, PairGrid &grid) {
  for (const std::unique_ptr<ListCode> &list : code.lists)
    for (int64_t query = 0; query < grid.length; ++query) {
      enter(evaluator, list->block, {0, head, query, 0});
      Expected<int64_t> size = number(list->size);
      if (!size)
        return size.takeError();
      for (int64_t at = 0; at < *size; ++at) {
        enter(evaluator, list->block, {0, head, query, at});
        Expected<int64_t> key = number(list->key);
        if (!key)
          return key.takeError();
        if (*key < 0 || *key >= grid.length)
          continue;
        Expected<int64_t> isMember = number(list->isMember);
        if (!isMember)
          return isMember.takeError();
        if (!*isMember)
          continue;
        ++grid.listedPairs;
        Visit &visit = grid.visits[grid.at(query, *key)];
        visit = visit == Visit::None ? Visit::Listed : visit;
      }
    }
  return Error::success();
}

Expected<PairGrid> MaskProbe::ask(int64_t head, int64_t length) {
  const HeadCode &code = codeOf(head);
  PairGrid grid{length, {}, std::vector<Visit>(length * length, Visit::None)};
  grid.stride = code.stride;
  if (Error error = askPairs(code, head, grid))
    return std::move(error);
  int64_t remainders = std::min(code.stride, length);
  for (int64_t remainder = 0; remainder < remainders; ++remainder)
    for (int64_t first = 0; remainder + first * code.stride < length;
         first += kBlockQueries)
      if (Error error = askTiles(code, head, remainder, first, grid))
        return std::move(error);
  if (Error error = askLists(code, head, grid))
    return std::move(error);
  return grid;
}
