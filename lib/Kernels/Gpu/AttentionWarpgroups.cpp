#include "lib/Kernels/Gpu/AttentionWarpgroups.h"
#include "lib/Kernels/Gpu/QueryFragments.h"
#include "lib/Kernels/Gpu/StageRing.h"
#include "lib/Kernels/Gpu/SwizzledTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace heddle;

static constexpr int64_t kWarps = kWarpgroupThreads / kWarpThreads,
                         kWordBytes = 4;
/// Queries of a warpgroup, and rows of values that one wgmma multiplies.
static constexpr int64_t kQueries = 64, kStepRows = 16;
/// Warpgroups that multiply.
static constexpr int64_t kWarpgroups = 2;
static constexpr int64_t kThreads = kWarpgroupThreads * (1 + kWarpgroups);
/// Tiles of keys or of values in the ring. Of them so many are under way when
/// one is reported: it is while there are two more, the ones that are
/// multiplied, so that no one waits for tiles that are there.
static constexpr int64_t kStages = 5, kUnderWay = kStages - 3;
/// Of heads: sums of more columns leave too few registers.
static constexpr int64_t kMaxWidth = 224;
/// Of a thread that copies and of one that multiplies: as many in all as the
/// compiler gives 384 threads.
static constexpr int64_t kCopyRegisters = 40, kProductRegisters = 232;

namespace {
/// What a block has in shared memory: its queries, the ring, and for each stage
/// a word of each warp that copies, see AttentionCopies::report.
struct Memory {
  SwizzledTile queries, keys, values;

  explicit Memory(AttentionOp op);
  StageRing ring() const {
    return {kStages, std::max(keys.bytes(), values.bytes()), queries.bytes()};
  }
  int64_t found() const { return ring().end(); }
  BlockShape block() const {
    return {kThreads, found() + kStages * kWarps * kWordBytes};
  }
};

/// What both kinds of threads know of a block.
struct AttentionPlace {
  /// `mask` is the op's as the head has it.
  AttentionPlace(AttentionOp op, Value mask, const QueryRows &block,
                 WarpgroupCode &code);

  /// The words of a stage.
  Value foundOf(Value slot) const {
    return code.plus(code.times(slot, kWarps * kWordBytes), memory.found());
  }
  QueryBlock asked() const {
    return block.asked(op, kWarpgroups * kQueries, code);
  }
  KeyTiles walk(const QueryBlock &asked) const {
    return {mask, asked,          code.index(0), memory.keys.rows,
            code, block.positions};
  }
  Value hasKeys(const KeyTile &tile) const {
    return code.isLess(tile.first, code.toIndex(block.keyCount));
  }
  Value behind(const KeyTile &tile) const {
    return code.builder.createOrFold<arith::AddIOp>(
        code.loc, tile.first, code.index(memory.keys.rows));
  }

  AttentionOp op;
  Value mask;
  const QueryRows &block;
  WarpgroupCode &code;
  Memory memory;
  StageRing ring;
  HeadRows queryRows, keyRows, valueRows;
};

/// What a thread that copies does. Tiles are those of keys, each followed by
/// that of values of the tile before.
class AttentionCopies {
public:
  explicit AttentionCopies(AttentionPlace &place);

  void build();

private:
  /// Of the ring: the next stage, how many there were, and a bit for each of
  /// the latest, the last one's lowest: whether its values have to be looked
  /// at.
  struct Progress {
    Value slot, parity, copied, marks;

    SmallVector<Value> values() const { return {slot, parity, copied, marks}; }
    static Progress of(ValueRange values) {
      return {values[0], values[1], values[2], values[3]};
    }
  };
  Progress copyIf(Value condition, const Progress &before, Value mark,
                  function_ref<void(Value)> copy);
  void report(const Progress &progress, int64_t behind);

  AttentionPlace &place;
  WarpgroupCode &code;
  QueryBlock asked;
  KeyTiles walk;
};

/// What a thread that multiplies does.
class AttentionProducts {
public:
  /// `warp` is its number among those that multiply.
  AttentionProducts(AttentionPlace &place, Value warp);

  void build();

private:
  using State = QueryFragments::State;
  using Weights = QueryFragments::Weights;
  using Stage = StageRing::Place;
  /// Between tiles: weights of a tile whose values are to come, from `stage` on
  /// with the next keys in front of them.
  struct Position {
    KeyTile tile, next;
    Stage stage;
    Weights weights;
    State state;
  };
  SmallVector<Value> valuesOf(const Position &position);
  Position positionOf(ValueRange values);

  SmallVector<Value> multiplyKeys(const Stage &stage);
  SmallVector<Value> addValues(const Stage &stage, const Weights &weights,
                               ValueRange sums);
  void finishValues(const Stage &stage, const KeyTile &tile,
                    const Weights &weights, State &state);
  void release(const Stage &stage);
  Position begin(const KeyTile &first);
  Position pass(const Position &before);
  State end(Position last);

  AttentionPlace &place;
  WarpgroupCode &code;
  QueryBlock asked;
  KeyTiles walk;
  QueryFragments queries;
  /// The descriptor of the warpgroup's queries.
  Value rows;
};
} // namespace

//===----------------------------------------------------------------------===//
// What a block has
//===----------------------------------------------------------------------===//

/// Keys of a tile: as many as leave registers for scores and for the weights of
/// two tiles beside the sums.
static int64_t keysOf(AttentionOp op) {
  int64_t width = std::max(op.getKeyWidth(), op.getValueWidth());
  return width <= 128 ? 128 : width <= 192 ? 64 : 48;
}

Memory::Memory(AttentionOp op)
    : queries{kWarpgroups * kQueries, int64_t(op.getKeyWidth())},
      keys{keysOf(op), int64_t(op.getKeyWidth())},
      values{keysOf(op), int64_t(op.getValueWidth())} {}

AttentionPlace::AttentionPlace(AttentionOp op, Value mask,
                               const QueryRows &block, WarpgroupCode &code)
    : op(op), mask(mask), block(block), code(code), memory(op),
      ring(memory.ring()) {
  Value kvHead =
      code.dividedBy(block.head, op.getHeads() / op.getKeyValueHeads());
  auto rowsOf = [&](Value memref, Value head, int64_t width) {
    return rowsOfHead(memref, block, head, width, code);
  };
  queryRows = rowsOf(op.getQuery(), block.head, op.getKeyWidth());
  keyRows = rowsOf(op.getKey(), kvHead, op.getKeyWidth());
  valueRows = rowsOf(op.getValue(), kvHead, op.getValueWidth());
}

//===----------------------------------------------------------------------===//
// From the device's memory to shared memory
//===----------------------------------------------------------------------===//

AttentionCopies::AttentionCopies(AttentionPlace &place)
    : place(place), code(place.code), asked(place.asked()),
      walk(place.walk(asked)) {}

/// Says of the stage `behind` the next one, where there was one, that this
/// thread's rows have come. 0 times what is no number is none: values that are
/// not finite become zeros before, unless all queries have their keys. A warp's
/// word says whether it found any.
void AttentionCopies::report(const Progress &progress, int64_t behind) {
  Value exists = code.isLess(code.i32(behind - 1), progress.copied);
  code.when(exists, [&] {
    Value slot = place.ring.slotBefore(progress.slot, behind, code);
    Value bit = code.i32(int64_t(1) << (behind - 1));
    Value isMarked = code.isSame(code.both(progress.marks, bit), bit);
    auto clear = [&] {
      return code.vote(place.memory.values.clearOthers(
          place.ring.memoryOf(slot, code), code));
    };
    Value found = code.select(isMarked, clear, code.i32(0));
    Value word = code.shared(
        code.plus(place.foundOf(slot), code.times(code.warp(), kWordBytes)));
    code.when(code.isSame(code.lane(), code.i32(0)),
              [&] { code.storeOne(found, word); });
    code.fenceForProducts();
    code.arrive(place.ring.full(slot, code));
  });
}

/// Copies a tile to the next stage, if the condition holds.
AttentionCopies::Progress
AttentionCopies::copyIf(Value condition, const Progress &before, Value mark,
                        function_ref<void(Value)> copy) {
  auto choice = scf::IfOp::create(
      code.builder, code.loc, condition,
      [&](OpBuilder &builder, Location loc) {
        code.waitForPhase(place.ring.empty(before.slot, code), before.parity);
        copy(place.ring.memoryOf(before.slot, code));
        code.endGroup();
        code.waitForGroups(kUnderWay);
        Value bit = code.choose(mark, code.i32(1), code.i32(0));
        StageRing::Place next =
            place.ring.next({before.slot, before.parity}, code);
        Progress after = {next.slot, next.parity, code.plus(before.copied, 1),
                          code.either(code.shiftUp(before.marks, 1), bit)};
        report(after, kUnderWay + 1);
        scf::YieldOp::create(builder, loc, after.values());
      },
      [&](OpBuilder &builder, Location loc) {
        scf::YieldOp::create(builder, loc, before.values());
      });
  return Progress::of(choice.getResults());
}

void AttentionCopies::build() {
  const Memory &memory = place.memory;
  // Queries come with the first keys.
  memory.queries.copy(place.queryRows, place.block.first, code.i32(0), code);
  Value no = arith::ConstantOp::create(code.builder, code.loc,
                                       code.builder.getBoolAttr(false));
  KeyTile first = walk.from(code.index(0));
  StageRing::Place empty = place.ring.firstEmpty(code);
  // The tile of keys and, if there is one, that of values.
  SmallVector<Value> carried = {first.first, first.isFull, first.first, no, no};
  carried.append(
      Progress{empty.slot, empty.parity, code.i32(0), code.i32(0)}.values());
  auto isLeft = [&](OpBuilder &, Location, ValueRange now) {
    Value hasKeys = place.hasKeys({now[0], now[1]});
    scf::ConditionOp::create(code.builder, code.loc,
                             code.either(hasKeys, now[4]), now);
  };
  auto step = [&](OpBuilder &, Location, ValueRange now) {
    KeyTile keys = {now[0], now[1]}, values = {now[2], now[3]};
    Value hasKeys = place.hasKeys(keys);
    Progress progress =
        copyIf(hasKeys, Progress::of(now.drop_front(5)), no, [&](Value stage) {
          memory.keys.copy(place.keyRows, code.toI32(keys.first), stage, code);
        });
    progress =
        copyIf(now[4], progress, code.isNot(values.isFull), [&](Value stage) {
          memory.values.copy(place.valueRows, code.toI32(values.first), stage,
                             code);
        });
    KeyTile next = walk.from(place.behind(keys));
    SmallVector<Value> results = {next.first, next.isFull, keys.first,
                                  keys.isFull, hasKeys};
    results.append(progress.values());
    scf::YieldOp::create(code.builder, code.loc, results);
  };
  auto loop = scf::WhileOp::create(code.builder, code.loc,
                                   ValueRange(carried).getTypes(), carried,
                                   isLeft, step);
  // Queries, too, where nobody sees a key.
  code.endGroup();
  code.waitForGroups(0);
  Progress last = Progress::of(loop.getResults().drop_front(5));
  for (int64_t behind = kUnderWay; behind > 0; --behind)
    report(last, behind);
}

//===----------------------------------------------------------------------===//
// From shared memory to sums
//===----------------------------------------------------------------------===//

AttentionProducts::AttentionProducts(AttentionPlace &place, Value warp)
    : place(place), code(place.code), asked(place.asked()),
      walk(place.walk(asked)),
      queries(place.op, place.block,
              {code.plus(place.block.first, code.times(warp, kFragmentRows)),
               kFragmentRows, place.memory.keys.rows},
              code) {
  Value firstRow =
      code.times(code.dividedBy(warp, kWarps),
                 place.memory.queries.wordsTo(kQueries, 0) * kWordBytes);
  rows = code.describeColumns(code.shared(firstRow));
}

/// Begins a group: products of the queries and the keys of a stage.
SmallVector<Value> AttentionProducts::multiplyKeys(const Stage &stage) {
  const Memory &memory = place.memory;
  code.waitForPhase(place.ring.full(stage.slot, code), stage.parity);
  Value columns =
      code.describeColumns(code.shared(place.ring.memoryOf(stage.slot, code)));
  SmallVector<Value> sums(queries.keyFragments() * 4, code.f32(0));
  code.beginProducts();
  for (int64_t column = 0; column < memory.keys.width; column += kStepRows)
    sums = code.multiplyRows(
        code.atWords(rows, memory.queries.wordsTo(0, column)),
        code.atWords(columns, memory.keys.wordsTo(0, column)), sums,
        /*isFirst=*/column == 0);
  code.endProducts();
  return sums;
}

/// Begins a group: the sums with the values of a stage times weights.
SmallVector<Value> AttentionProducts::addValues(const Stage &stage,
                                                const Weights &weights,
                                                ValueRange sums) {
  const SwizzledTile &values = place.memory.values;
  code.waitForPhase(place.ring.full(stage.slot, code), stage.parity);
  Value depth = code.describeDepth(
      code.shared(place.ring.memoryOf(stage.slot, code)), values.partBytes());
  SmallVector<Value> next = llvm::to_vector(sums);
  code.beginProducts();
  for (int64_t row = 0; row < values.rows; row += kStepRows) {
    FourWords words;
    std::copy_n(weights.words.begin() + row / kStepRows * words.size(),
                words.size(), words.begin());
    next = code.multiplyDepth(
        words, code.atWords(depth, values.wordsTo(row, 0)), next);
  }
  code.endProducts();
  return next;
}

void AttentionProducts::release(const Stage &stage) {
  Value yes = arith::ConstantOp::create(code.builder, code.loc,
                                        code.builder.getBoolAttr(true));
  place.ring.release(stage.slot, yes, code);
}

/// Waits for addValues, and adds what was taken out of the values.
void AttentionProducts::finishValues(const Stage &stage, const KeyTile &tile,
                                     const Weights &weights, State &state) {
  state.sums = code.waitForSums(state.sums);
  Value found = code.i32(0);
  for (Value word : code.loadFour(code.builder.getI32Type(),
                                  code.shared(place.foundOf(stage.slot))))
    found = code.either(found, word);
  release(stage);
  queries.addOthers(weights, tile, place.valueRows, found, state);
}

//===----------------------------------------------------------------------===//
// All tiles
//===----------------------------------------------------------------------===//

SmallVector<Value> AttentionProducts::valuesOf(const Position &position) {
  SmallVector<Value> all = {position.tile.first,   position.next.first,
                            position.next.isFull,  position.stage.slot,
                            position.stage.parity, position.weights.seen};
  all.append(position.weights.words);
  all.append(position.state.values());
  return all;
}

/// What weights made of the state before them has been done.
AttentionProducts::Position AttentionProducts::positionOf(ValueRange values) {
  int64_t words = queries.keyFragments() * 2;
  Position position;
  position.tile = {values[0], Value()};
  position.next = {values[1], values[2]};
  position.stage = {values[3], values[4]};
  position.weights.seen = values[5];
  position.weights.words = llvm::to_vector(values.slice(6, words));
  position.state = queries.stateOf(values.drop_front(6 + words));
  return position;
}

/// With the first tile's keys.
AttentionProducts::Position AttentionProducts::begin(const KeyTile &first) {
  Position position;
  position.tile = first;
  position.stage = place.ring.firstFull(code);
  position.state = queries.start();
  SmallVector<Value> products = code.waitForSums(multiplyKeys(position.stage));
  release(position.stage);
  position.weights = queries.weigh(first, products, position.state);
  position.next = walk.from(place.behind(first));
  position.stage = place.ring.next(position.stage, code);
  return position;
}

/// With the next tile's keys and the values of the one before.
AttentionProducts::Position AttentionProducts::pass(const Position &before) {
  Position after;
  after.tile = before.next;
  after.state = before.state;
  Stage keys = before.stage, values = place.ring.next(keys, code);
  SmallVector<Value> products = multiplyKeys(keys);
  after.state.sums = addValues(values, before.weights, before.state.sums);
  after.next = walk.from(place.behind(after.tile));
  products = code.waitForSums(products, /*groups=*/1);
  release(keys);
  after.weights = queries.weigh(after.tile, products, after.state);
  // Products with values run meanwhile.
  after.weights.words = code.computeHere(after.weights.words);
  after.state.totals = code.computeHere(after.state.totals);
  finishValues(values, before.tile, before.weights, after.state);
  queries.scaleSums(after.weights, after.state);
  after.stage = place.ring.next(values, code);
  return after;
}

/// With the last tile's values.
AttentionProducts::State AttentionProducts::end(Position last) {
  last.state.sums = addValues(last.stage, last.weights, last.state.sums);
  finishValues(last.stage, last.tile, last.weights, last.state);
  return last.state;
}

void AttentionProducts::build() {
  KeyTile first = walk.from(code.index(0));
  auto choice = scf::IfOp::create(
      code.builder, code.loc, place.hasKeys(first),
      [&](OpBuilder &builder, Location loc) {
        SmallVector<Value> carried = valuesOf(begin(first));
        auto isLeft = [&](OpBuilder &, Location, ValueRange now) {
          scf::ConditionOp::create(builder, loc,
                                   place.hasKeys(positionOf(now).next), now);
        };
        auto step = [&](OpBuilder &, Location, ValueRange now) {
          scf::YieldOp::create(builder, loc, valuesOf(pass(positionOf(now))));
        };
        auto loop =
            scf::WhileOp::create(builder, loc, ValueRange(carried).getTypes(),
                                 carried, isLeft, step);
        scf::YieldOp::create(builder, loc,
                             end(positionOf(loop.getResults())).values());
      },
      [&](OpBuilder &builder, Location loc) {
        scf::YieldOp::create(builder, loc, queries.start().values());
      });
  queries.finish(queries.stateOf(choice.getResults()));
}

//===----------------------------------------------------------------------===//
// The grid
//===----------------------------------------------------------------------===//

static void buildBlock(AttentionPlace &place) {
  WarpgroupCode &code = place.code;
  const QueryRows &block = place.block;
  // Warpgroups that have no queries end at once.
  Value left = code.minus(block.queryCount, block.first);
  Value active = code.choose(code.isLess(code.i32(kQueries), left),
                             code.i32(kWarpgroups), code.i32(1));
  place.ring.makeBarriers(code.i32(kWarpgroupThreads),
                          code.times(active, kWarps), code);
  Value warp = code.uniformWarp();
  scf::IfOp::create(
      code.builder, code.loc, code.isLess(warp, code.i32(kWarps)),
      [&](OpBuilder &builder, Location loc) {
        code.giveUpRegisters(kCopyRegisters);
        AttentionCopies(place).build();
        scf::YieldOp::create(builder, loc);
      },
      [&](OpBuilder &builder, Location loc) {
        code.takeRegisters(kProductRegisters);
        Value number = code.minus(warp, code.i32(kWarps));
        code.when(code.isLess(number, code.times(active, kWarps)),
                  [&] { AttentionProducts(place, number).build(); });
        scf::YieldOp::create(builder, loc);
      });
}

LogicalResult heddle::emitWarpgroups(AttentionOp op) {
  if (!op.isOfBf16() || !hasQueryBlocks(op) || op.getKeyWidth() > kMaxWidth ||
      op.getValueWidth() > kMaxWidth)
    return failure();
  createQueryGrid(op, kWarpgroups * kQueries, Memory(op).block(),
                  [&](BlockCode &block, const QueryRows &rows, Value mask) {
                    WarpgroupCode code(block.builder, block.loc, block.threads);
                    AttentionPlace place(op, mask, rows, code);
                    buildBlock(place);
                  });
  return success();
}
