//===- LinearAttentionGrid.cpp - Linear attention on a GPU ----------------===//
//
// A causal op adds a key and then reads for the queries of the same position,
// of all heads that share the keys. linear_attention.sums adds all keys and
// stores S and z. linear_attention.read loads them once for up to 64 queries. A
// step updates S and z in place: there a block has all columns of a head, as
// another block could read z after the update. Tiles of keys, values and
// queries pass through shared memory.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Gpu/LinearAttention/LinearAttentionGrid.h"
#include "lib/Kernels/Gpu/LinearAttention/HeadSums.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace heddle;

/// Positions of a tile at most, and queries that a block reads for once it has
/// the sums.
static constexpr int64_t kMostPositions = 16, kQueries = 64;

/// A grid of `units` times so many blocks, an index; `body` gets the number of
/// the unit and of the block of columns among those of a unit.
static void createUnits(Operation *op, Value units, const SumShape &shape,
                        int64_t sharedBytes,
                        function_ref<void(Value, Value, BlockCode &)> body) {
  OpBuilder builder(op);
  Location loc = op->getLoc();
  Loops loops(builder, loc);
  int64_t ofUnit = shape.columnBlocks();
  Value blocks =
      arith::MulIOp::create(builder, loc, units, loops.index(ofUnit));
  createGrid(builder, loc, blocks, {shape.threads, sharedBytes},
             [&](BlockCode &code, Value block) {
               body(code.udiv(block, ofUnit), code.urem(block, ofUnit), code);
             });
}

static Value unitsOf(Operation *op, Value rows, int64_t each) {
  OpBuilder builder(op);
  Loops loops(builder, op->getLoc());
  return arith::MulIOp::create(builder, op->getLoc(), loops.size(rows, 0),
                               loops.index(each));
}

/// Keys of a sentence: all positions, or as many as its length says.
static Value countKeys(Value keys, Value lengths, Value sentence,
                       BlockCode &code) {
  Value count = code.toI32(code.size(keys, 1));
  if (!lengths)
    return count;
  return code.umin(count, code.loadWord(lengths, sentence));
}

/// Calls `bring` with the first position of each tile of [0, count) and with
/// how many are left, where all threads may write to shared memory, then
/// `measure` and `each` with the places of those that are left, where they see
/// it; carried = each(position, place, carried).
static SmallVector<Value>
passTiles(const SumShape &shape, Value count, ValueRange initial,
          BlockCode &code, function_ref<void(Value, Value)> bring,
          function_ref<void()> measure,
          function_ref<SmallVector<Value>(Value, Value, ValueRange)> each) {
  Value tiles =
      code.udiv(code.add(count, shape.positions - 1), shape.positions);
  return code.foldAll(tiles, initial, [&](Value tile, ValueRange now) {
    Value first = code.mul(tile, shape.positions);
    Value left = code.sub(count, first);
    code.barrier();
    bring(first, left);
    code.barrier();
    if (shape.features == FeatureMap::Taylor) {
      measure();
      code.barrier();
    }
    return code.foldAll(code.umin(left, code.i32(shape.positions)), now,
                        [&](Value place, ValueRange carried) {
                          return each(code.add(first, place), place, carried);
                        });
  });
}

//===----------------------------------------------------------------------===//
// linear_attention
//===----------------------------------------------------------------------===//

namespace {
/// Where shared memory has tiles: keys, values, and queries of each head that
/// shares the keys.
struct CausalTiles {
  explicit CausalTiles(const SumShape &shape)
      : values(shape.featureBytes()),
        queries(llvm::alignTo(values + shape.valueBytes(), 16)),
        queryBytes(shape.featureBytes()) {}

  int64_t queriesOf(int64_t number) const {
    return queries + number * queryBytes;
  }

  int64_t values, queries, queryBytes;
};
} // namespace

/// Positions [first, first + count) of tiles of rows from number `row` on.
static void bringCausal(LinearAttentionOp op, HeadSums &sums, Value row,
                        Value count, Value kvHead, BlockCode &code,
                        const CausalTiles &tiles) {
  int64_t group = op.getHeads() / op.getKeyValueHeads();
  sums.bringFeatures({op.getKey(), row, count, kvHead}, 0);
  sums.bringValues({op.getValue(), row, count, kvHead}, tiles.values);
  for (int64_t number = 0; number < group; ++number) {
    Value head = code.add(code.mul(kvHead, group), number);
    sums.bringFeatures({op.getQuery(), row, count, head},
                       tiles.queriesOf(number));
  }
}

static void measureCausal(LinearAttentionOp op, HeadSums &sums,
                          const CausalTiles &tiles) {
  int64_t group = op.getHeads() / op.getKeyValueHeads();
  sums.measureFeatures(0);
  for (int64_t number = 0; number < group; ++number)
    sums.measureFeatures(tiles.queriesOf(number));
}

static void readCausal(LinearAttentionOp op, HeadSums &sums,
                       const HeadSums::State &state, Value place, Value row,
                       Value kvHead, BlockCode &code,
                       const CausalTiles &tiles) {
  int64_t group = op.getHeads() / op.getKeyValueHeads();
  for (int64_t number = 0; number < group; ++number)
    sums.storeResult(sums.read(state, tiles.queriesOf(number), place),
                     op.getDestinations().front(), row,
                     code.add(code.mul(kvHead, group), number));
}

/// All positions of a sentence, for the head `kvHead` of keys.
static void passSentence(LinearAttentionOp op, const SumShape &shape,
                         HeadSums &sums, Value sentence, Value kvHead,
                         BlockCode &code) {
  CausalTiles tiles(shape);
  Value length = code.toI32(code.size(op.getQuery(), 1));
  Value keys = countKeys(op.getKey(), op.getLengths(), sentence, code);
  Value firstRow = code.mul(sentence, length);
  passTiles(
      shape, length, sums.start().values(), code,
      [&](Value first, Value left) {
        bringCausal(op, sums, code.add(firstRow, first), left, kvHead, code,
                    tiles);
      },
      [&] { measureCausal(op, sums, tiles); },
      [&](Value position, Value place, ValueRange now) {
        HeadSums::State before = sums.stateOf(now);
        auto choice = scf::IfOp::create(
            code.builder, code.loc, code.uless(position, keys),
            [&](OpBuilder &, Location) {
              HeadSums::State after = sums.add(before, 0, tiles.values, place);
              scf::YieldOp::create(code.builder, code.loc, after.values());
            },
            [&](OpBuilder &, Location) {
              scf::YieldOp::create(code.builder, code.loc, before.values());
            });
        HeadSums::State state = sums.stateOf(choice.getResults());
        readCausal(op, sums, state, place, code.add(firstRow, position), kvHead,
                   code, tiles);
        return state.values();
      });
}

/// The position of a row, whose sums are a state.
static void passRow(LinearAttentionOp op, const SumShape &shape, HeadSums &sums,
                    Value row, Value kvHead, Value unit, BlockCode &code) {
  CausalTiles tiles(shape);
  HeadSums::State before = sums.load(op.getSums(), op.getTotals(), unit);
  bringCausal(op, sums, row, code.i32(1), kvHead, code, tiles);
  // All have the sums before, too.
  code.barrier();
  if (shape.features == FeatureMap::Taylor) {
    measureCausal(op, sums, tiles);
    code.barrier();
  }
  HeadSums::State state = sums.add(before, 0, tiles.values, code.i32(0));
  sums.store(state, op.getSums(), op.getTotals(), unit);
  readCausal(op, sums, state, code.i32(0), row, kvHead, code, tiles);
}

LogicalResult heddle::emitGrid(LinearAttentionOp op) {
  bool isStep = op.getStep();
  int64_t kvHeads = op.getKeyValueHeads(), group = op.getHeads() / kvHeads;
  std::optional<SumShape> shape =
      sumShapeFor(op.getFeatures(), op.getKeyWidth(), op.getValueWidth(), group,
                  isStep ? 1 : kMostPositions, /*isWhole=*/isStep);
  if (!shape || !areDense(op->getOperands()) || (!isStep && !op.getCausal()))
    return failure();
  CausalTiles tiles(*shape);
  createUnits(op, unitsOf(op, op.getQuery(), kvHeads), *shape,
              tiles.queriesOf(group),
              [&](Value unit, Value columnBlock, BlockCode &code) {
                HeadSums sums(*shape, op.getMap(), columnBlock, code);
                Value row = code.udiv(unit, kvHeads);
                Value kvHead = code.urem(unit, kvHeads);
                if (isStep)
                  passRow(op, *shape, sums, row, kvHead, unit, code);
                else
                  passSentence(op, *shape, sums, row, kvHead, code);
              });
  return success();
}

//===----------------------------------------------------------------------===//
// linear_attention.sums
//===----------------------------------------------------------------------===//

LogicalResult heddle::emitGrid(LinearAttentionSumsOp op) {
  int64_t heads = op.getHeads();
  std::optional<SumShape> shape =
      sumShapeFor(op.getFeatures(), typeOf(op.getKey()).getDimSize(2) / heads,
                  typeOf(op.getValue()).getDimSize(2) / heads,
                  /*queryHeads=*/0, kMostPositions, /*isWhole=*/false);
  if (!shape || !areDense(op->getOperands()))
    return failure();
  int64_t values = shape->featureBytes();
  createUnits(
      op, unitsOf(op, op.getKey(), heads), *shape, values + shape->valueBytes(),
      [&](Value unit, Value columnBlock, BlockCode &code) {
        HeadSums sums(*shape, op.getMap(), columnBlock, code);
        Value sentence = code.udiv(unit, heads);
        Value head = code.urem(unit, heads);
        Value keys = countKeys(op.getKey(), op.getLengths(), sentence, code);
        Value firstRow =
            code.mul(sentence, code.toI32(code.size(op.getKey(), 1)));
        SmallVector<Value> all = passTiles(
            *shape, keys, sums.start().values(), code,
            [&](Value first, Value left) {
              Value row = code.add(firstRow, first);
              sums.bringFeatures({op.getKey(), row, left, head}, 0);
              sums.bringValues({op.getValue(), row, left, head}, values);
            },
            [&] { sums.measureFeatures(0); },
            [&](Value, Value place, ValueRange now) {
              return sums.add(sums.stateOf(now), 0, values, place).values();
            });
        sums.store(sums.stateOf(all), op.getDestinations()[0],
                   op.getDestinations()[1], unit);
      });
  return success();
}

//===----------------------------------------------------------------------===//
// linear_attention.read
//===----------------------------------------------------------------------===//

LogicalResult heddle::emitGrid(LinearAttentionReadOp op) {
  bool isStep = bool(op.getSentences());
  MemRefType sumsType = typeOf(op.getSums());
  int64_t heads = op.getHeads(), kvHeads = sumsType.getDimSize(1);
  std::optional<SumShape> shape = sumShapeFor(
      op.getFeatures(), typeOf(op.getQuery()).getShape().back() / heads,
      sumsType.getDimSize(3), /*queryHeads=*/0, isStep ? 1 : kMostPositions,
      /*isWhole=*/false);
  if (!shape || !areDense(op->getOperands()))
    return failure();
  OpBuilder builder(op);
  Loops loops(builder, op.getLoc());
  Value units = unitsOf(op, op.getQuery(), heads), chunks = loops.index(1);
  if (!isStep)
    chunks = arith::CeilDivUIOp::create(builder, op.getLoc(),
                                        loops.size(op.getQuery(), 1),
                                        loops.index(kQueries));
  units = arith::MulIOp::create(builder, op.getLoc(), units, chunks);
  createUnits(
      op, units, *shape, shape->featureBytes(),
      [&](Value unit, Value columnBlock, BlockCode &code) {
        HeadSums sums(*shape, op.getMap(), columnBlock, code);
        Value of = code.toI32(chunks);
        Value chunk = code.urem(unit, of), rest = code.udiv(unit, of);
        Value head = code.urem(rest, heads);
        // A sentence, or the row of a step.
        Value owner = code.udiv(rest, heads);
        Value sentence = owner, firstRow = owner, count = code.i32(1);
        if (isStep) {
          sentence = code.loadWord(op.getSentences(), owner);
        } else {
          Value length = code.toI32(code.size(op.getQuery(), 1));
          Value first = code.mul(chunk, kQueries);
          firstRow = code.add(code.mul(owner, length), first);
          count = code.umin(code.sub(length, first), code.i32(kQueries));
        }
        Value kvHead = code.udiv(head, heads / kvHeads);
        HeadSums::State state =
            sums.load(op.getSums(), op.getTotals(),
                      code.add(code.mul(sentence, kvHeads), kvHead));
        passTiles(
            *shape, count, {}, code,
            [&](Value first, Value left) {
              sums.bringFeatures(
                  {op.getQuery(), code.add(firstRow, first), left, head}, 0);
            },
            [&] { sums.measureFeatures(0); },
            [&](Value position, Value place, ValueRange) {
              sums.storeResult(sums.read(state, 0, place),
                               op.getDestinations().front(),
                               code.add(firstRow, position), head);
              return SmallVector<Value>();
            });
      });
  return success();
}
