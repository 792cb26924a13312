//===- AttentionWarpgroups.cpp - Attention by warpgroups ------------------===//
//
// For each tile a warpgroup begins two groups of wgmma: queries by the next
// keys, then probabilities by the values of the tile before. It waits for the
// first group, makes probabilities of the scores while the second one runs, and
// waits for that. Only then does it scale the sums to the new maxima: wgmma
// owns the sums until then. Threads that multiply take over registers from
// threads that copy (setmaxnreg): they hold sums, scores and probabilities at
// once.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Gpu/Attention/AttentionWarpgroups.h"
#include "lib/Kernels/Gpu/Attention/AttentionCopies.h"
#include "lib/Kernels/Gpu/Attention/QueryFragments.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace heddle;

/// Rows of values that one wgmma multiplies.
static constexpr int64_t kStepRows = 16;
/// Of heads: sums of more columns leave too few registers, of a block, beside
/// many ranges, and of each of two blocks.
static constexpr int64_t kMaxWidth = 224, kMaxWalkingWidth = 128,
                         kMaxShortWidth = 128;
/// Of sentences in general, and under masks that are no range or two, over
/// which both kinds of threads walk with more registers, and where turns take
/// longer than they save.
static constexpr AttentionShape kLongShape = {2,  5,   1,
                                              40, 232, /*takesTurns=*/true};
static constexpr AttentionShape kWalkingShape = {2, 5, 1, 88, 208};
/// Where no head has more queries than one warpgroup multiplies: two blocks
/// hide each other's waiting. Of stages as many as leave room for both.
static constexpr AttentionShape kShortShape = {1, 5, 2, 32, 224};
/// Of shared memory: what each of two blocks may have of 228 KB, of which each
/// takes one more.
static constexpr int64_t kHalfOfShared = 113 << 10;
/// Where the first of two warpgroups waits for its turn, and the other behind
/// that; and the threads of both.
static constexpr int64_t kFirstTurn = 2, kTurnThreads = 2 * kWarpgroupThreads;

namespace {
/// What a thread that multiplies does.
class AttentionProducts {
public:
  /// `warp` is its number among those that multiply, `active` how many
  /// warpgroups do.
  AttentionProducts(AttentionPlace &place, Value warp, Value active);

  void build();

private:
  using State = QueryFragments::State;
  using Probabilities = QueryFragments::Probabilities;
  using Stage = StageRing::Place;
  /// Between tiles: probabilities of a tile whose values are to come, from
  /// `stage` on with the next keys in front of them.
  struct Position {
    KeyTile tile, next;
    Stage stage;
    Probabilities probabilities;
    State state;
  };
  SmallVector<Value> valuesOf(const Position &position);
  Position positionOf(ValueRange values);

  SmallVector<Value> multiplyKeys(const Stage &stage);
  SmallVector<Value> addValues(const Stage &stage,
                               const Probabilities &probabilities,
                               ValueRange sums);
  void finishValues(const Stage &stage, const KeyTile &tile,
                    const Probabilities &probabilities, State &state);
  void release(const Stage &stage);
  void takeTurn();
  void passTurn();
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
  /// The number of the warpgroup among those that multiply, and whether it
  /// takes turns with another one, null if warpgroups do not.
  Value number, hasOther;
};
} // namespace

//===----------------------------------------------------------------------===//
// From shared memory to sums
//===----------------------------------------------------------------------===//

AttentionProducts::AttentionProducts(AttentionPlace &place, Value warp,
                                     Value active)
    : place(place), code(place.code), asked(place.asked()),
      walk(place.walk(asked)),
      queries(place.op, place.mask, place.block,
              {code.add(place.block.first, code.mul(warp, kFragmentRows)),
               kFragmentRows, place.memory.keys.rows},
              code) {
  number = code.udiv(warp, kWarpgroupWarps);
  if (place.shape.takesTurns)
    hasOther = code.equal(active, code.i32(2));
  Value firstRow =
      code.mul(number, place.memory.queries.wordsTo(kWarpgroupQueries, 0) * 4);
  rows = code.describeColumns(code.shared(firstRow));
}

/// Waits until it is this warpgroup's turn to begin products: tensor cores
/// multiply for it while the other one computes its softmax.
void AttentionProducts::takeTurn() {
  if (hasOther)
    code.ifThen(hasOther, [&] {
      code.waitAt(code.add(number, kFirstTurn), kTurnThreads);
    });
}

/// Lets the other warpgroup begin its own.
void AttentionProducts::passTurn() {
  if (hasOther)
    code.ifThen(hasOther, [&] {
      code.passAt(code.sub(code.i32(kFirstTurn + 1), number), kTurnThreads);
    });
}

/// Begins a group: products of the queries and the keys of a stage.
SmallVector<Value> AttentionProducts::multiplyKeys(const Stage &stage) {
  const AttentionMemory &memory = place.memory;
  code.waitForPhase(place.ring.full(stage.slot, code), stage.parity);
  Value columns =
      code.describeColumns(code.shared(place.ring.memoryOf(stage.slot, code)));
  SmallVector<Value> sums(queries.keyFragments() * 4, code.f32(0));
  code.beginProducts();
  for (int64_t column = 0; column < memory.keys.width; column += kStepRows)
    sums = code.multiplyRows(
        memory.keys.element,
        code.atWords(rows, memory.queries.wordsTo(0, column)),
        code.atWords(columns, memory.keys.wordsTo(0, column)), sums,
        /*isFirst=*/column == 0);
  code.endProducts();
  return sums;
}

/// Begins a group: the sums with the values of a stage times probabilities.
SmallVector<Value> AttentionProducts::addValues(
    const Stage &stage, const Probabilities &probabilities, ValueRange sums) {
  const SwizzledTile &values = place.memory.values;
  code.waitForPhase(place.ring.full(stage.slot, code), stage.parity);
  Value depth = code.describeDepth(
      code.shared(place.ring.memoryOf(stage.slot, code)), values.partBytes());
  SmallVector<Value> next = llvm::to_vector(sums);
  code.beginProducts();
  for (int64_t row = 0; row < values.rows; row += kStepRows) {
    FourWords words;
    std::copy_n(probabilities.words.begin() + row / kStepRows * words.size(),
                words.size(), words.begin());
    next =
        code.multiplyDepth(values.element, words,
                           code.atWords(depth, values.wordsTo(row, 0)), next);
  }
  code.endProducts();
  return next;
}

void AttentionProducts::release(const Stage &stage) {
  Value yes = code.i1(true);
  place.ring.release(stage.slot, yes, code);
}

/// Waits for addValues, and adds what was taken out of the values.
void AttentionProducts::finishValues(const Stage &stage, const KeyTile &tile,
                                     const Probabilities &probabilities,
                                     State &state) {
  state.sums = code.waitForSums(state.sums);
  Value found = code.i32(0);
  for (Value word :
       code.loadFour(code.builder.getI32Type(),
                     code.shared(place.memory.foundOf(stage.slot, code))))
    found = code.bitOr(found, word);
  release(stage);
  queries.addOthers(probabilities, tile, place.rows.values, found, state);
}

//===----------------------------------------------------------------------===//
// All tiles
//===----------------------------------------------------------------------===//

SmallVector<Value> AttentionProducts::valuesOf(const Position &position) {
  SmallVector<Value> all = {position.tile.first,   position.next.first,
                            position.next.isFull,  position.stage.slot,
                            position.stage.parity, position.probabilities.seen};
  all.append(position.probabilities.words);
  all.append(position.state.values());
  return all;
}

/// What probabilities made of the state before them has been done.
AttentionProducts::Position AttentionProducts::positionOf(ValueRange values) {
  int64_t words = queries.keyFragments() * 2;
  Position position;
  position.tile = {values[0], Value()};
  position.next = {values[1], values[2]};
  position.stage = {values[3], values[4]};
  position.probabilities.seen = values[5];
  position.probabilities.words = llvm::to_vector(values.slice(6, words));
  position.state = queries.stateOf(values.drop_front(6 + words));
  return position;
}

/// With the first tile's keys.
AttentionProducts::Position AttentionProducts::begin(const KeyTile &first) {
  Position position;
  // The first warpgroup has the first turn.
  code.ifThen(code.equal(number, code.i32(1)), [&] { passTurn(); });
  position.tile = first;
  position.stage = place.ring.firstFull(code);
  position.state = queries.start();
  SmallVector<Value> products = code.waitForSums(multiplyKeys(position.stage));
  release(position.stage);
  position.probabilities = queries.weigh(first, products, position.state);
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
  takeTurn();
  SmallVector<Value> products = multiplyKeys(keys);
  after.state.sums = addValues(values, before.probabilities, before.state.sums);
  passTurn();
  after.next = walk.from(place.behind(after.tile));
  products = code.waitForSums(products, /*groups=*/1);
  release(keys);
  after.probabilities = queries.weigh(after.tile, products, after.state);
  // Products with values run meanwhile.
  after.probabilities.words = code.computeHere(after.probabilities.words);
  code.computeBeforeWaits(after.state.totals);
  finishValues(values, before.tile, before.probabilities, after.state);
  queries.scaleSums(after.probabilities, after.state);
  after.stage = place.ring.next(values, code);
  return after;
}

/// With the last tile's values.
AttentionProducts::State AttentionProducts::end(Position last) {
  last.state.sums = addValues(last.stage, last.probabilities, last.state.sums);
  finishValues(last.stage, last.tile, last.probabilities, last.state);
  // The other one has passed its turn as often, and once before.
  code.ifThen(code.equal(number, code.i32(0)), [&] { takeTurn(); });
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
  const AttentionShape &shape = place.shape;
  // Warpgroups that have no queries end at once.
  Value left = code.sub(block.queryCount, block.first);
  Value active = code.select(code.uless(code.i32(kWarpgroupQueries), left),
                             code.i32(shape.warpgroups), code.i32(1));
  place.ring.makeBarriers(code.i32(kWarpgroupThreads),
                          code.mul(active, kWarpgroupWarps), code);
  Value warp = code.uniformWarp();
  scf::IfOp::create(
      code.builder, code.loc, code.uless(warp, code.i32(kWarpgroupWarps)),
      [&](OpBuilder &builder, Location loc) {
        code.giveUpRegisters(shape.copyRegisters);
        copyTiles(place);
        scf::YieldOp::create(builder, loc);
      },
      [&](OpBuilder &builder, Location loc) {
        code.takeRegisters(shape.productRegisters);
        Value number = code.sub(warp, code.i32(kWarpgroupWarps));
        code.ifThen(code.uless(number, code.mul(active, kWarpgroupWarps)),
                    [&] { AttentionProducts(place, number, active).build(); });
        scf::YieldOp::create(builder, loc);
      });
}

static void buildGrid(AttentionOp op, const AttentionShape &shape,
                      OpBuilder &builder) {
  int64_t bytes = AttentionMemory(op, shape).bytes();
  createQueryGrid(op, shape.queries(), {shape.threads(), bytes, shape.blocks},
                  builder,
                  [&](BlockCode &block, const QueryRows &rows, Value mask) {
                    WarpgroupCode code(block.builder, block.loc, block.threads);
                    AttentionPlace place(op, mask, shape, rows, code);
                    buildBlock(place);
                  });
}

/// Whether no block of queries has more than one warpgroup multiplies; of
/// ragged ones whether that holds for most.
static Value isShort(AttentionOp op, OpBuilder &builder) {
  Loops loops(builder, op.getLoc());
  int64_t most = kWarpgroupQueries;
  if (op.isRagged())
    return arith::CmpIOp::create(
        builder, op.getLoc(), arith::CmpIPredicate::ule,
        loops.size(op.getQuery(), 0),
        loops.mul(loops.size(op.getLengths(), 0), most));
  if (Value mask = op.getMask())
    most *= mask.getDefiningOp<MaskOpInterface>().stride();
  return arith::CmpIOp::create(builder, op.getLoc(), arith::CmpIPredicate::ule,
                               loops.size(op.getQuery(), 1), loops.index(most));
}

/// As many as leave registers for scores and for the probabilities of two tiles
/// beside the sums.
static int64_t keysOfTile(int64_t width, bool walks) {
  if (width <= 128)
    return walks ? 64 : 128;
  return width <= 192 ? 64 : 48;
}

LogicalResult heddle::emitWarpgroups(AttentionOp op) {
  int64_t width = std::max(op.getKeyWidth(), op.getValueWidth());
  bool walks = !hasFewRanges(op.getMask());
  if (!op.isOfShortFloats() || !hasQueryBlocks(op) ||
      width > (walks ? kMaxWalkingWidth : kMaxWidth))
    return failure();
  OpBuilder builder(op);
  AttentionShape many = walks ? kWalkingShape : kLongShape, few = kShortShape;
  many.keys = few.keys = keysOfTile(width, walks);
  if (walks || width > kMaxShortWidth) {
    buildGrid(op, many, builder);
    return success();
  }
  while (AttentionMemory(op, few).bytes() > kHalfOfShared)
    --few.stages;
  // A block of a prompt has fewer queries than one warpgroup multiplies.
  if (op.getPrefill()) {
    buildGrid(op, few, builder);
    return success();
  }
  // Which shape it is changes no bit: tiles of keys are the same, and so are
  // products of 64 queries.
  auto build = [&](const AttentionShape &shape) {
    return [&](OpBuilder &inside, Location loc) {
      buildGrid(op, shape, inside);
      scf::YieldOp::create(inside, loc);
    };
  };
  scf::IfOp::create(builder, op.getLoc(), isShort(op, builder), build(few),
                    build(many));
  return success();
}
