#include "lib/Kernels/Gpu/AttentionStep.h"
#include "dialect/MaskRanges.h"
#include "lib/Kernels/Gpu/ChunkStates.h"
#include "lib/Kernels/Gpu/GridQuery.h"
#include "lib/Kernels/Gpu/KeyTiles.h"
#include "lib/Kernels/Gpu/QueryState.h"
#include "lib/Kernels/Gpu/RowPieces.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <limits>

using namespace mlir;
using namespace heddle;

static constexpr int64_t kWarps = 4;
static constexpr int64_t kChunkKeys = 512;

namespace {
/// What a block does for a query of one head.
class AttentionStep {
public:
  AttentionStep(AttentionOp op, Value row, Value head, BlockCode &code);

  /// Brings the states of the warps for one of `chunks` chunks into shared
  /// memory.
  void build(Value chunk, Value chunks);
  /// What becomes of them, of one column.
  QueryState meet(Value column);

  GridQuery query;

private:
  /// What a lane knows of the key that it owns.
  struct OwnKey {
    /// Its position, that of an existing one where it does not exist, and its
    /// row in the memref.
    Value position, row;
    Value isSeen;
  };

  bool isSoftmax() { return op.getNormalizer() == Normalizer::Softmax; }
  std::pair<Value, Value> boundsOf(Value chunk, Value chunks);
  SmallVector<Value> loadQuery();
  OwnKey ownKey(const KeyTile &tile, Value end);
  Value multiply(const OwnKey &own, ArrayRef<Value> q);
  void addValues(const OwnKey &own, Value weight, QueryState &state);
  QueryState addTile(const KeyTile &tile, Value end, ArrayRef<Value> q,
                     const QueryState &before);
  QueryState walk(Value begin, Value end, ArrayRef<Value> q);
  Value placeOf(Value warp, Value column);

  AttentionOp op;
  BlockCode &code;
  QueryBlock asked;
  KeyTiles tiles;
  RowPieces keys, values;
};
} // namespace

static Value kvHeadOf(AttentionOp op, Value head, BlockCode &code) {
  return arith::DivUIOp::create(
      code.builder, code.loc, head,
      code.index(op.getHeads() / op.getKeyValueHeads()));
}

static QueryBlock blockOf(const QueryLoops &query, BlockCode &code) {
  IndexMath math = {code.builder, code.loc};
  return {query.getSentence(), query.getHead(), query.getPosition(),
          math.add(query.getPosition(), 1), query.getKeyCount()};
}

AttentionStep::AttentionStep(AttentionOp op, Value row, Value head,
                             BlockCode &code)
    : query(op, code, row, head), op(op), code(code),
      asked(blockOf(query, code)),
      tiles(op.getMask(), asked, query.getFirstKey(), kWarpThreads, code),
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
  Value behind = arith::SubIOp::create(loops.builder, loops.loc, slots,
                                       loops.index(op.getPinned()));
  return arith::MaxSIOp::create(loops.builder, loops.loc, behind,
                                loops.index(1));
}

/// As many as the keys of any row take.
static Value countChunks(AttentionOp op, Loops &loops) {
  Value ofRing = arith::CeilDivUIOp::create(
      loops.builder, loops.loc, ringOf(op, loops), loops.index(kChunkKeys));
  return arith::AddIOp::create(loops.builder, loops.loc, ofRing,
                               loops.index(pinnedChunks(op)));
}

/// The keys of a chunk, an index of `chunks`. The last one has all that are
/// left: a ring begins anywhere in its first tile.
std::pair<Value, Value> AttentionStep::boundsOf(Value chunk, Value chunks) {
  OpBuilder &builder = code.builder;
  IndexMath math = {builder, code.loc};
  Value begin;
  if (op.getPinned() == 0) {
    begin = math.add(tiles.floorOf(query.getFirstKey()),
                     math.mul(chunk, kChunkKeys));
  } else {
    Value pinned = code.index(pinnedChunks(op));
    Value oldest = arith::MaxSIOp::create(
        builder, code.loc, math.sub(query.getKeyCount(), ringOf(op, code)),
        code.index(pinnedChunks(op) * kChunkKeys));
    Value ofRing = math.add(tiles.floorOf(oldest),
                            math.mul(math.sub(chunk, pinned), kChunkKeys));
    begin = code.choose(math.less(chunk, pinned), math.mul(chunk, kChunkKeys),
                        ofRing);
  }
  Value isLast = math.lessOrEqual(chunks, math.add(chunk, 1));
  Value end = math.min(math.add(begin, kChunkKeys), query.getKeyCount());
  return {begin, code.choose(isLast, query.getKeyCount(), end)};
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// The lane's elements of the query.
SmallVector<Value> AttentionStep::loadQuery() {
  SmallVector<Value> q;
  for (int64_t number = 0; number < keys.elements(); ++number) {
    Value column = keys.columnOf(number), has = keys.hasColumn(number);
    auto load = [&] { return query.loadQuery(code.toIndex(column)); };
    q.push_back(has ? code.select(has, load, code.f32(0)) : load());
  }
  return q;
}

AttentionStep::OwnKey AttentionStep::ownKey(const KeyTile &tile, Value end) {
  IndexMath math = {code.builder, code.loc};
  Value key = math.add(tile.first, code.toIndex(keys.ownRow()));
  Value exists = code.both(math.lessOrEqual(query.getFirstKey(), key),
                           math.less(key, end));
  OwnKey own;
  own.position =
      code.choose(exists, key, math.sub(query.getKeyCount(), code.index(1)));
  SmallVector<Value> place = query.keyAt(own.position);
  own.row = code.plus(
      code.times(code.toI32(place[0]), code.toI32(code.size(op.getKey(), 1))),
      code.toI32(place[1]));
  own.isSeen = exists;
  if (op.getMask())
    own.isSeen = code.both(
        exists, code.select(
                    code.isNot(tile.isFull),
                    [&] { return query.isAllowed(own.position); },
                    arith::ConstantOp::create(code.builder, code.loc,
                                              code.builder.getBoolAttr(true))));
  return own;
}

/// The product of the query and the lane's own key.
Value AttentionStep::multiply(const OwnKey &own, ArrayRef<Value> q) {
  SmallVector<Value> products;
  for (int64_t read = 0; read < keys.reads(); ++read) {
    Value row = code.fromLane(own.row, keys.ownerOf(keys.rowOf(read)));
    Value sum = code.f32(0);
    for (auto [left, right] : llvm::zip(q, keys.read(row)))
      sum = math::FmaOp::create(code.builder, code.loc, left, right, sum);
    products.push_back(sum);
  }
  return keys.sumOfRow(products);
}

/// With the values of the keys that lanes own, times their weights. Those that
/// the query does not see are zeros here: nobody may have written them.
void AttentionStep::addValues(const OwnKey &own, Value weight,
                              QueryState &state) {
  Value seen = code.vote(own.isSeen);
  for (int64_t read = 0; read < values.reads(); ++read) {
    Value owner = keys.ownerOf(values.rowOf(read));
    Value bit =
        code.both(arith::ShRUIOp::create(code.builder, code.loc, seen, owner),
                  code.i32(1));
    Value w = code.fromLane(weight, owner);
    auto elements = values.read(code.fromLane(own.row, owner),
                                code.isDifferent(bit, code.i32(0)));
    for (auto [number, value] : llvm::enumerate(elements))
      state.sums[number] = math::FmaOp::create(code.builder, code.loc, w, value,
                                               state.sums[number]);
  }
}

/// With those keys of a tile that stand before `end`.
QueryState AttentionStep::addTile(const KeyTile &tile, Value end,
                                  ArrayRef<Value> q, const QueryState &before) {
  OwnKey own = ownKey(tile, end);
  Value product = multiply(own, q);
  Value lowest = code.f32(-std::numeric_limits<float>::infinity());
  Value score =
      code.choose(own.isSeen, query.scoreOf(product, own.position), lowest);
  QueryState state = before;
  if (isSoftmax())
    state = before.raisedTo(
        code.largest(largestOfLanes(score, code), before.maximum), query, code);
  Value weight = code.choose(own.isSeen, query.weightOf(score, state.maximum),
                             code.f32(0));
  state.total = code.add(state.total, weight);
  addValues(own, weight, state);
  return state;
}

/// The tiles of [begin, end) of which the mask says that the query may see some
/// key: every kWarps-th by its number is this warp's.
QueryState AttentionStep::walk(Value begin, Value end, ArrayRef<Value> q) {
  IndexMath math = {code.builder, code.loc};
  Value warp = code.toIndex(code.warp());
  /// The warp's first tile that does not begin before `first`.
  auto ownFrom = [&](Value first) {
    Value number = math.divide(first, kWarpThreads);
    Value mine = math.sub(math.add(number, kWarps - 1), warp);
    Value past = arith::RemUIOp::create(code.builder, code.loc, mine,
                                        code.index(kWarps));
    Value back = math.sub(code.index(kWarps - 1), past);
    return math.mul(math.add(number, back), kWarpThreads);
  };
  KeyTile first = tiles.from(ownFrom(begin));
  SmallVector<Value> carried = {first.first, first.isFull};
  carried.append(QueryState::start(values.elements(), code).values());
  auto isLeft = [&](OpBuilder &, Location, ValueRange now) {
    scf::ConditionOp::create(code.builder, code.loc, math.less(now[0], end),
                             now);
  };
  auto step = [&](OpBuilder &, Location, ValueRange now) {
    QueryState before = QueryState::of(now.drop_front(2));
    Value own = ownFrom(now[0]);
    Value isOwn = code.isSame(own, now[0]);
    auto added = scf::IfOp::create(
        code.builder, code.loc, isOwn,
        [&](OpBuilder &, Location) {
          QueryState state = addTile({now[0], now[1]}, end, q, before);
          scf::YieldOp::create(code.builder, code.loc, state.values());
        },
        [&](OpBuilder &, Location) {
          scf::YieldOp::create(code.builder, code.loc, before.values());
        });
    Value other = code.choose(isOwn, math.add(own, kWarps * kWarpThreads), own);
    KeyTile next = tiles.from(other);
    SmallVector<Value> results = {next.first, next.isFull};
    results.append(added.getResults().begin(), added.getResults().end());
    scf::YieldOp::create(code.builder, code.loc, results);
  };
  auto loop = scf::WhileOp::create(code.builder, code.loc,
                                   ValueRange(carried).getTypes(), carried,
                                   isLeft, step);
  return QueryState::of(loop.getResults().drop_front(2));
}

//===----------------------------------------------------------------------===//
// The block
//===----------------------------------------------------------------------===//

/// Where shared memory has what the warps have: a row of sums each, behind them
/// the maximum and the total of each.
static int64_t sharedBytes(AttentionOp op) {
  return 4 * kWarps * (op.getValueWidth() + 2);
}

/// Registers are for three blocks at once; two where rows are of two pieces a
/// lane.
static BlockShape shapeFor(AttentionOp op) {
  int64_t bytes =
      std::max(op.getKeyWidth(), op.getValueWidth()) * (op.isOfBf16() ? 2 : 4);
  return {kWarps * kWarpThreads, sharedBytes(op), bytes > 512 ? 2 : 3};
}

Value AttentionStep::placeOf(Value warp, Value column) {
  Value row = code.times(warp, op.getValueWidth());
  return code.shared(code.times(code.plus(row, column), 4));
}

void AttentionStep::build(Value chunk, Value chunks) {
  auto [begin, end] = boundsOf(chunk, chunks);
  QueryState state = walk(begin, end, loadQuery());
  state.total = sumOfLanes(state.total, code);
  for (Value &sum : state.sums)
    sum = values.sumOfColumn(sum);
  for (int64_t number = 0; number < values.elements(); number += 4) {
    Value isStored = values.isFirstOfColumns();
    if (Value has = values.hasColumn(number))
      isStored = code.both(isStored, has);
    code.when(isStored, [&] {
      FourWords four;
      llvm::copy(ArrayRef<Value>(state.sums).slice(number, 4), four.begin());
      code.storeFour(four, placeOf(code.warp(), values.columnOf(number)));
    });
  }
  code.when(code.isSame(code.lane(), code.i32(0)), [&] {
    Value behind = placeOf(code.i32(kWarps), code.times(code.warp(), 2));
    code.storeOne(state.maximum, behind);
    code.storeOne(state.total, code.at(behind, 4));
  });
  code.barrier();
}

QueryState AttentionStep::meet(Value column) {
  Type f32 = code.builder.getF32Type();
  auto maximumOf = [&](int64_t warp) {
    return placeOf(code.i32(kWarps), code.i32(2 * warp));
  };
  SmallVector<Value> maxima;
  Value largest;
  for (int64_t warp = 0; warp < kWarps; ++warp) {
    maxima.push_back(code.loadOne(f32, maximumOf(warp)));
    largest = warp ? code.largest(largest, maxima[warp]) : maxima[warp];
  }
  QueryState met = {largest, code.f32(0), {code.f32(0)}};
  for (int64_t warp = 0; warp < kWarps; ++warp) {
    QueryState state = {maxima[warp],
                        code.loadOne(f32, code.at(maximumOf(warp), 4)),
                        {code.loadOne(f32, placeOf(code.i32(warp), column))}};
    if (isSoftmax())
      state = state.raisedTo(largest, query, code);
    met.total = code.add(met.total, state.total);
    met.sums[0] = code.add(met.sums[0], state.sums[0]);
  }
  return met;
}

//===----------------------------------------------------------------------===//
// The grids
//===----------------------------------------------------------------------===//

LogicalResult heddle::emitSteps(AttentionOp op) {
  if (!op.isStep() || !op.getSimilarity().empty() ||
      !RowPieces::exist(op.getKey(), op.getKeyWidth()) ||
      !RowPieces::exist(op.getValue(), op.getValueWidth()))
    return failure();
  OpBuilder builder(op);
  Loops loops(builder, op.getLoc());
  IndexMath math = {builder, op.getLoc()};
  Value chunks = countChunks(op, loops);
  Value rows = loops.size(op.getQuery(), 0);
  ChunkStates states(op, math.mul(rows, op.getHeads()), chunks, loops);
  Value blocks = arith::MulIOp::create(builder, op.getLoc(),
                                       math.mul(rows, op.getHeads()), chunks);
  createGrid(
      builder, op.getLoc(), blocks, shapeFor(op),
      [&](BlockCode &code, Value block) {
        // Heads that share keys stand side by side.
        Value count = code.toI32(chunks);
        Value head = code.remainder(block, op.getHeads());
        Value rest = code.dividedBy(block, op.getHeads());
        Value chunk = code.remainder(rest, count);
        Value row = code.dividedBy(rest, count);
        AttentionStep step(op, code.toIndex(row), code.toIndex(head), code);
        step.build(code.toIndex(chunk), chunks);
        code.eachPiece(op.getValueWidth(), [&](Value column) {
          QueryState state = step.meet(column);
          Value isAll = code.isSame(count, code.i32(1));
          scf::IfOp::create(
              builder, code.loc, isAll,
              [&](OpBuilder &, Location) {
                code.store(resultOf(op, state.sums[0], state.total, code),
                           op.getDestination(),
                           step.query.resultAt(code.toIndex(column)));
                scf::YieldOp::create(builder, code.loc);
              },
              [&](OpBuilder &, Location) {
                Value unit = code.plus(code.times(row, op.getHeads()), head);
                states.store(unit, chunk, column, state, code);
                scf::YieldOp::create(builder, code.loc);
              });
        });
      });
  states.emitMeeting(builder);
  return success();
}
