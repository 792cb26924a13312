//===- AttentionStep.cpp - Steps of attention on a GPU --------------------===//
//
// Each lane owns one of the 32 keys of a tile. The lanes of a row multiply
// their pieces of it, and the sums meet in the lane that owns the key. This
// lane computes the score and the probability. A shuffle then hands the
// probability to the lanes that read the row of the value. A row of keys or
// values is read once for all heads of the block. Tile t belongs to warp t % 4,
// counted from position 0, so that the number of keys never moves a tile to
// another warp. Afterwards a thread combines the states of the four warps,
// column by column.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Gpu/Attention/AttentionStep.h"
#include "dialect/masks/MaskParts.h"
#include "dialect/masks/MaskRanges.h"
#include "lib/Kernels/Gpu/Attention/ChunkStates.h"
#include "lib/Kernels/Gpu/Attention/GpuQueryLoops.h"
#include "lib/Kernels/Gpu/Attention/HeadPieces.h"
#include "lib/Kernels/Gpu/Attention/KeyTiles.h"
#include "lib/Kernels/Gpu/Attention/QueryState.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <limits>
#include <memory>

using namespace mlir;
using namespace heddle;

static constexpr int64_t kWarps = 4;
static constexpr int64_t kChunkKeys = 512;
/// Elements of queries and of sums of a lane, of all heads of a block.
static constexpr int64_t kMostElements = 64;

namespace {
/// What a block does for queries of one row and of heads that share keys.
class AttentionStep {
public:
  /// `heads` of them from `head` on, an index.
  AttentionStep(AttentionOp op, Value row, Value head, int64_t heads,
                BlockCode &code);

  /// Brings the states of the warps for one of `chunks` chunks into shared
  /// memory.
  void build(Value chunk, Value chunks);
  /// What becomes of them, of one of the heads, an i32, and one column.
  QueryState meet(Value number, Value column);

  GpuQueryLoops &firstQuery() { return *queries.front(); }

private:
  /// A state or the lane's elements of each head's query.
  using States = SmallVector<QueryState>;
  using Queries = SmallVector<SmallVector<Value>>;

  /// What a lane knows of the key that it owns.
  struct OwnKey {
    /// Its position, that of an existing one where it does not exist, and its
    /// row in the memref.
    Value position, row;
    Value isSeen;
  };

  bool isSoftmax() { return op.getNormalizer() == Normalizer::Softmax; }
  int64_t heads() const { return queries.size(); }
  std::pair<Value, Value> boundsOf(Value chunk, Value chunks);
  SmallVector<Value> loadQuery(GpuQueryLoops &query);
  OwnKey ownKey(const KeyTile &tile, Value end);
  SmallVector<Value> multiply(const OwnKey &own, const Queries &q);
  void addValues(const OwnKey &own, ArrayRef<Value> probabilities,
                 States &states);
  void addTile(const KeyTile &tile, Value end, const Queries &q,
               States &states);
  States statesOf(ValueRange values);
  States walk(Value begin, Value end, const Queries &q);
  Value placeOf(Value warp, Value number, Value column);
  Value behind(Value warp, Value number);

  AttentionOp op;
  BlockCode &code;
  /// Of each head; what they say of keys is the same.
  SmallVector<std::unique_ptr<GpuQueryLoops>> queries;
  QueryBlock asked;
  KeyTiles tiles;
  HeadPieces keys, values;
};
} // namespace

static Value kvHeadOf(AttentionOp op, Value head, BlockCode &code) {
  return code.udiv(head, op.getHeads() / op.getKeyValueHeads());
}

static SmallVector<std::unique_ptr<GpuQueryLoops>>
queriesOf(AttentionOp op, Value row, Value head, int64_t heads,
          BlockCode &code) {
  IndexMath math = {code.builder, code.loc};
  SmallVector<std::unique_ptr<GpuQueryLoops>> queries;
  for (int64_t number = 0; number < heads; ++number)
    queries.push_back(std::make_unique<GpuQueryLoops>(
        op, code, row, number ? math.add(head, number) : head));
  return queries;
}

static QueryBlock blockOf(const QueryLoops &query, BlockCode &code) {
  IndexMath math = {code.builder, code.loc};
  return {query.getSentence(), query.getHead(), query.getPosition(),
          math.add(query.getPosition(), 1), query.getKeyCount()};
}

AttentionStep::AttentionStep(AttentionOp op, Value row, Value head,
                             int64_t heads, BlockCode &code)
    : op(op), code(code), queries(queriesOf(op, row, head, heads, code)),
      asked(blockOf(firstQuery(), code)),
      tiles(op.getMask(), asked, firstQuery().getFirstKey(), kWarpThreads,
            code),
      keys(op.getKey(), op.getKeyWidth(), kvHeadOf(op, head, code), code),
      values(op.getValue(), op.getValueWidth(), kvHeadOf(op, head, code),
             code) {}

//===----------------------------------------------------------------------===//
// Chunks
//===----------------------------------------------------------------------===//

/// Chunks of what is pinned, which stands before the ring.
static int64_t pinnedChunks(AttentionOp op) {
  return llvm::divideCeil(op.getPinned(), kChunkKeys);
}

/// Slots of the ring, at least 1.
static Value ringOf(AttentionOp op, Loops &loops) {
  Value slots = loops.size(op.getKey(), 1);
  if (op.getPinned() == 0)
    return slots;
  Value behind = loops.sub(slots, loops.index(op.getPinned()));
  return loops.max(behind, loops.index(1));
}

/// As many as the keys of any row take.
static Value countChunks(AttentionOp op, Loops &loops) {
  Value ofRing = loops.uceilDiv(ringOf(op, loops), kChunkKeys);
  return loops.add(ofRing, pinnedChunks(op));
}

/// The keys of a chunk, an index of `chunks`. The last one has all that are
/// left: a ring begins anywhere in its first tile.
std::pair<Value, Value> AttentionStep::boundsOf(Value chunk, Value chunks) {
  OpBuilder &builder = code.builder;
  IndexMath math = {builder, code.loc};
  GpuQueryLoops &query = firstQuery();
  Value begin;
  if (op.getPinned() == 0) {
    begin = math.add(tiles.floorOf(query.getFirstKey()),
                     math.mul(chunk, kChunkKeys));
  } else {
    Value pinned = code.index(pinnedChunks(op));
    Value oldest = code.max(math.sub(query.getKeyCount(), ringOf(op, code)),
                            code.index(pinnedChunks(op) * kChunkKeys));
    Value ofRing = math.add(tiles.floorOf(oldest),
                            math.mul(math.sub(chunk, pinned), kChunkKeys));
    begin = code.select(math.less(chunk, pinned), math.mul(chunk, kChunkKeys),
                        ofRing);
  }
  Value isLast = math.lessOrEqual(chunks, math.add(chunk, 1));
  Value end = math.min(math.add(begin, kChunkKeys), query.getKeyCount());
  return {begin, code.select(isLast, query.getKeyCount(), end)};
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// The lane's elements of a query.
SmallVector<Value> AttentionStep::loadQuery(GpuQueryLoops &query) {
  SmallVector<Value> q;
  for (int64_t number = 0; number < keys.elements(); ++number) {
    Value column = keys.columnOf(number), has = keys.hasColumn(number);
    auto load = [&] { return query.loadQuery(code.toIndex(column)); };
    q.push_back(has ? code.ifYield(has, load, code.f32(0)) : load());
  }
  return q;
}

AttentionStep::OwnKey AttentionStep::ownKey(const KeyTile &tile, Value end) {
  IndexMath math = {code.builder, code.loc};
  GpuQueryLoops &query = firstQuery();
  Value key = math.add(tile.first, code.toIndex(keys.ownRow()));
  Value exists = code.logicalAnd(math.lessOrEqual(query.getFirstKey(), key),
                                 math.less(key, end));
  OwnKey own;
  own.position =
      code.select(exists, key, math.sub(query.getKeyCount(), code.index(1)));
  SmallVector<Value> place = query.keyAt(own.position);
  own.row = code.add(
      code.mul(code.toI32(place[0]), code.toI32(code.size(op.getKey(), 1))),
      code.toI32(place[1]));
  own.isSeen = exists;
  if (op.getMask())
    own.isSeen = code.logicalAnd(
        exists,
        code.ifYield(
            code.logicalNot(tile.isFull),
            [&] { return query.isAllowed(own.position); }, code.i1(true)));
  return own;
}

/// The products of the queries and the lane's own key.
SmallVector<Value> AttentionStep::multiply(const OwnKey &own,
                                           const Queries &q) {
  return keys.sumsOfRow([&](ArrayRef<int64_t> reads) {
    SmallVector<SmallVector<Value>> elements;
    for (int64_t read : reads)
      elements.push_back(
          keys.read(code.fromLane(own.row, keys.ownerOf(keys.rowOf(read)))));
    HeadPieces::OfReads products;
    for (ArrayRef<Value> key : elements) {
      products.emplace_back();
      for (ArrayRef<Value> query : q) {
        Value sum = code.f32(0);
        for (auto [left, right] : llvm::zip(query, key))
          sum = code.fma(left, right, sum);
        products.back().push_back(sum);
      }
    }
    return products;
  });
}

/// With the values of the keys that lanes own, times their probabilities. Those
/// that the queries do not see are zeros here: nobody may have written them.
void AttentionStep::addValues(const OwnKey &own, ArrayRef<Value> probabilities,
                              States &states) {
  Value seen = code.vote(own.isSeen);
  for (int64_t read = 0; read < values.reads(); ++read) {
    Value owner = keys.ownerOf(values.rowOf(read));
    Value bit =
        code.bitAnd(arith::ShRUIOp::create(code.builder, code.loc, seen, owner),
                    code.i32(1));
    auto elements = values.read(code.fromLane(own.row, owner),
                                code.notEqual(bit, code.i32(0)));
    for (auto [probability, state] : llvm::zip(probabilities, states)) {
      Value w = code.fromLane(probability, owner);
      for (auto [sum, value] : llvm::zip(state.sums, elements))
        sum = code.fma(w, value, sum);
    }
  }
}

/// With those keys of a tile that stand before `end`.
void AttentionStep::addTile(const KeyTile &tile, Value end, const Queries &q,
                            States &states) {
  OwnKey own = ownKey(tile, end);
  Value lowest = code.f32(-std::numeric_limits<float>::infinity());
  SmallVector<Value> probabilities;
  for (auto [query, product, state] :
       llvm::zip(queries, multiply(own, q), states)) {
    Value score =
        code.select(own.isSeen, query->scoreOf(product, own.position), lowest);
    if (isSoftmax())
      state = state.raisedTo(
          code.maxNumber(code.reduceMax(score), state.maximum), *query, code);
    probabilities.push_back(code.select(
        own.isSeen, query->probabilityOf(score, state.maximum), code.f32(0)));
    state.total = code.add(state.total, probabilities.back());
  }
  addValues(own, probabilities, states);
}

static SmallVector<Value> valuesOf(ArrayRef<QueryState> states) {
  SmallVector<Value> all;
  for (const QueryState &state : states)
    llvm::append_range(all, state.values());
  return all;
}

AttentionStep::States AttentionStep::statesOf(ValueRange all) {
  size_t each = all.size() / heads();
  States states;
  for (size_t first = 0; first < all.size(); first += each)
    states.push_back(QueryState::of(all.slice(first, each)));
  return states;
}

/// The tiles of [begin, end) of which the mask says that the queries may see
/// some key: every kWarps-th by its number is this warp's.
AttentionStep::States AttentionStep::walk(Value begin, Value end,
                                          const Queries &q) {
  IndexMath math = {code.builder, code.loc};
  Value warp = code.toIndex(code.warp());
  /// The warp's first tile that does not begin before `first`.
  auto ownFrom = [&](Value first) {
    Value number = math.udiv(first, kWarpThreads);
    Value mine = math.sub(math.add(number, kWarps - 1), warp);
    Value past = code.urem(mine, kWarps);
    Value back = math.sub(code.index(kWarps - 1), past);
    return math.mul(math.add(number, back), kWarpThreads);
  };
  KeyTile first = tiles.from(ownFrom(begin));
  SmallVector<Value> carried = {first.first, first.isFull};
  carried.append(
      valuesOf(States(heads(), QueryState::start(values.elements(), code))));
  auto isLeft = [&](OpBuilder &, Location, ValueRange now) {
    scf::ConditionOp::create(code.builder, code.loc, math.less(now[0], end),
                             now);
  };
  auto step = [&](OpBuilder &, Location, ValueRange now) {
    States before = statesOf(now.drop_front(2));
    Value own = ownFrom(now[0]);
    Value isOwn = code.equal(own, now[0]);
    auto added = scf::IfOp::create(
        code.builder, code.loc, isOwn,
        [&](OpBuilder &, Location) {
          States states = before;
          addTile({now[0], now[1]}, end, q, states);
          scf::YieldOp::create(code.builder, code.loc, valuesOf(states));
        },
        [&](OpBuilder &, Location) {
          scf::YieldOp::create(code.builder, code.loc, valuesOf(before));
        });
    Value other = code.select(isOwn, math.add(own, kWarps * kWarpThreads), own);
    KeyTile next = tiles.from(other);
    SmallVector<Value> results = {next.first, next.isFull};
    results.append(added.getResults().begin(), added.getResults().end());
    scf::YieldOp::create(code.builder, code.loc, results);
  };
  auto loop = scf::WhileOp::create(code.builder, code.loc,
                                   ValueRange(carried).getTypes(), carried,
                                   isLeft, step);
  return statesOf(loop.getResults().drop_front(2));
}

//===----------------------------------------------------------------------===//
// The block
//===----------------------------------------------------------------------===//

/// Whether a lane has more than one piece of a row.
static bool hasTwoPieces(AttentionOp op) {
  int64_t bytes = op.isOfShortFloats() ? 2 : 4;
  return std::max(op.getKeyWidth(), op.getValueWidth()) * bytes > 512;
}

/// How many heads a block takes: as many of those that share keys as registers
/// hold, where the mask says the same of them: half of that where a lane has
/// two pieces of a row, as more is under way then.
static int64_t headsOfBlock(AttentionOp op) {
  int64_t group = op.getHeads() / op.getKeyValueHeads();
  if (op.getMask() && !isOfAllHeads(op.getMask()))
    return 1;
  int64_t ofHead =
      HeadPieces::elementsOfLane(op.getKey(), op.getKeyWidth()) +
      HeadPieces::elementsOfLane(op.getValue(), op.getValueWidth());
  int64_t most = hasTwoPieces(op) ? kMostElements / 2 : kMostElements;
  int64_t heads = std::clamp<int64_t>(most / ofHead, 1, group);
  while (group % heads != 0)
    --heads;
  return heads;
}

/// Where shared memory has what the warps have: a row of sums of each head,
/// behind them the maximum and the total of each.
static int64_t sharedBytes(AttentionOp op) {
  return 4 * kWarps * headsOfBlock(op) * (op.getValueWidth() + 2);
}

/// Registers are for three blocks at once; two where rows are of two pieces a
/// lane, or heads share keys.
static BlockShape shapeFor(AttentionOp op) {
  bool isLarge = hasTwoPieces(op) || headsOfBlock(op) > 1;
  return {kWarps * kWarpThreads, sharedBytes(op), isLarge ? 2 : 3};
}

Value AttentionStep::placeOf(Value warp, Value number, Value column) {
  Value row =
      code.mul(code.add(code.mul(warp, heads()), number), op.getValueWidth());
  return code.shared(code.mul(code.add(row, column), 4));
}

/// The maximum and the total of a warp's state of one head.
Value AttentionStep::behind(Value warp, Value number) {
  Value state = code.add(code.mul(warp, heads()), number);
  return placeOf(code.i32(kWarps), code.i32(0), code.mul(state, 2));
}

void AttentionStep::build(Value chunk, Value chunks) {
  auto [begin, end] = boundsOf(chunk, chunks);
  Queries q;
  for (const std::unique_ptr<GpuQueryLoops> &query : queries)
    q.push_back(loadQuery(*query));
  States states = walk(begin, end, q);
  for (int64_t head = 0; head < heads(); ++head) {
    QueryState &state = states[head];
    Value number = code.i32(head);
    state.total = code.reduceAdd(state.total);
    for (Value &sum : state.sums)
      sum = values.sumOfColumn(sum);
    for (int64_t first = 0; first < values.elements(); first += 4) {
      Value isStored = values.isFirstOfColumns();
      if (Value has = values.hasColumn(first))
        isStored = code.logicalAnd(isStored, has);
      code.ifThen(isStored, [&] {
        FourWords four;
        llvm::copy(ArrayRef<Value>(state.sums).slice(first, 4), four.begin());
        code.storeFour(four,
                       placeOf(code.warp(), number, values.columnOf(first)));
      });
    }
    code.ifThen(code.equal(code.lane(), code.i32(0)), [&] {
      Value place = behind(code.warp(), number);
      code.storeOne(state.maximum, place);
      code.storeOne(state.total, code.at(place, 4));
    });
  }
  code.barrier();
}

QueryState AttentionStep::meet(Value number, Value column) {
  Type f32 = code.builder.getF32Type();
  SmallVector<Value> places, maxima;
  Value largest;
  for (int64_t warp = 0; warp < kWarps; ++warp) {
    places.push_back(behind(code.i32(warp), number));
    maxima.push_back(code.loadOne(f32, places[warp]));
    largest = warp ? code.maxNumber(largest, maxima[warp]) : maxima[warp];
  }
  QueryState met = {largest, code.f32(0), {code.f32(0)}};
  for (int64_t warp = 0; warp < kWarps; ++warp) {
    QueryState state = {
        maxima[warp],
        code.loadOne(f32, code.at(places[warp], 4)),
        {code.loadOne(f32, placeOf(code.i32(warp), number, column))}};
    if (isSoftmax())
      state = state.raisedTo(largest, firstQuery(), code);
    met.total = code.add(met.total, state.total);
    met.sums[0] = code.add(met.sums[0], state.sums[0]);
  }
  return met;
}

//===----------------------------------------------------------------------===//
// The grids
//===----------------------------------------------------------------------===//

bool heddle::hasSteps(AttentionOp op) {
  return op.isStep() && op.getSimilarity().empty() &&
         HeadPieces::exist(op.getKey(), op.getKeyWidth()) &&
         HeadPieces::exist(op.getValue(), op.getValueWidth());
}

LogicalResult heddle::emitSteps(AttentionOp op, bool areGenerated) {
  if (!hasSteps(op))
    return failure();
  OpBuilder builder(op);
  Loops loops(builder, op.getLoc());
  IndexMath math = {builder, op.getLoc()};
  Value chunks = countChunks(op, loops);
  Value rows = loops.size(op.getQuery(), 0);
  ChunkStates states(op, math.mul(rows, op.getHeads()), chunks, loops);
  int64_t heads = headsOfBlock(op), sets = op.getHeads() / heads;
  Value blocks = loops.mul(math.mul(rows, sets), chunks);
  createGrid(
      builder, op.getLoc(), blocks, shapeFor(op),
      [&](BlockCode &code, Value block) {
        // Heads that share keys stand side by side.
        Value count = code.toI32(chunks);
        Value firstHead = code.mul(code.urem(block, sets), heads);
        Value rest = code.udiv(block, sets);
        Value chunk = code.urem(rest, count);
        Value row = code.udiv(rest, count);
        forGenerated(op, row, areGenerated, code, [&] {
          AttentionStep step(op, code.toIndex(row), code.toIndex(firstHead),
                             heads, code);
          step.build(code.toIndex(chunk), chunks);
          code.eachPiece(heads * op.getValueWidth(), [&](Value place) {
            Value number = code.udiv(place, op.getValueWidth());
            Value column = code.urem(place, op.getValueWidth());
            QueryState state = step.meet(number, column);
            Value isAll = code.equal(count, code.i32(1));
            scf::IfOp::create(
                builder, code.loc, isAll,
                [&](OpBuilder &, Location) {
                  // Columns of heads stand side by side, too.
                  code.store(resultOf(op, state.sums[0], state.total, code),
                             op.getDestination(),
                             step.firstQuery().resultAt(code.toIndex(place)));
                  scf::YieldOp::create(builder, code.loc);
                },
                [&](OpBuilder &, Location) {
                  Value head = code.add(firstHead, number);
                  Value unit = code.add(code.mul(row, op.getHeads()), head);
                  states.store(unit, chunk, column, state, code);
                  scf::YieldOp::create(builder, code.loc);
                });
          });
        });
      });
  states.emitMeeting(builder, areGenerated);
  return success();
}
