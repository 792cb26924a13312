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
  Value blocks = loops.mul(units, ofUnit);
  createGrid(builder, loc, blocks, {shape.threads, sharedBytes},
             [&](BlockCode &code, Value block) {
               body(code.udiv(block, ofUnit), code.urem(block, ofUnit), code);
             });
}

static Value unitsOf(Operation *op, Value rows, int64_t each) {
  OpBuilder builder(op);
  Loops loops(builder, op->getLoc());
  return loops.mul(loops.size(rows, 0), each);
}

/// Keys of a sentence: all positions, or as many as its length says.
static Value countKeys(Value keys, Value lengths, Value sentence,
                       BlockCode &code) {
  Value count = code.toI32(code.size(keys, 1));
  if (!lengths)
    return count;
  return code.umin(count, code.loadWord(lengths, sentence));
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

namespace {
/// The positions of one head of keys and of the heads of queries that share it,
/// by the threads of a block.
class CausalHead {
public:
  CausalHead(LinearAttentionOp op, const SumShape &shape, HeadSums &sums,
             Value kvHead, BlockCode &code)
      : op(op), shape(shape), tiles(shape), sums(sums), kvHead(kvHead),
        code(code) {}

  /// All positions of a sentence.
  void passSentence(Value sentence);
  /// The position of a row, whose sums are state number `unit`.
  void passRow(Value row, Value unit);

private:
  void bring(Value row, Value count);
  void measure();
  void read(const HeadSums::State &state, Value place, Value row);
  int64_t queryHeads() { return op.getHeads() / op.getKeyValueHeads(); }
  Value queryHead(int64_t number) {
    return code.add(code.mul(kvHead, queryHeads()), number);
  }

  LinearAttentionOp op;
  const SumShape &shape;
  CausalTiles tiles;
  HeadSums &sums;
  Value kvHead;
  BlockCode &code;
};
} // namespace

/// Copies `count` positions to the tiles, of rows from number `row` on.
void CausalHead::bring(Value row, Value count) {
  sums.bringFeatures({op.getKey(), row, count, kvHead}, 0);
  sums.bringValues({op.getValue(), row, count, kvHead}, tiles.values);
  for (int64_t number = 0; number < queryHeads(); ++number)
    sums.bringFeatures({op.getQuery(), row, count, queryHead(number)},
                       tiles.queriesOf(number));
}

void CausalHead::measure() {
  sums.measureFeatures(0);
  for (int64_t number = 0; number < queryHeads(); ++number)
    sums.measureFeatures(tiles.queriesOf(number));
}

/// Stores what the query at a place of the tiles reads of the sums.
void CausalHead::read(const HeadSums::State &state, Value place, Value row) {
  for (int64_t number = 0; number < queryHeads(); ++number)
    sums.storeResult(sums.read(state, tiles.queriesOf(number), place),
                     op.getDestinations().front(), row, queryHead(number));
}

void CausalHead::passSentence(Value sentence) {
  Value length = code.toI32(code.size(op.getQuery(), 1));
  Value keys = countKeys(op.getKey(), op.getLengths(), sentence, code);
  Value firstRow = code.mul(sentence, length);
  sums.passTiles(
      length, sums.start().values(),
      [&](Value first, Value left) { bring(code.add(firstRow, first), left); },
      [&] { measure(); },
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
        read(state, place, code.add(firstRow, position));
        return state.values();
      });
}

void CausalHead::passRow(Value row, Value unit) {
  HeadSums::State before = sums.load(op.getSums(), op.getTotals(), unit);
  bring(row, code.i32(1));
  // All have the sums before, too.
  code.barrier();
  if (shape.features == FeatureMap::Taylor) {
    measure();
    code.barrier();
  }
  HeadSums::State state = sums.add(before, 0, tiles.values, code.i32(0));
  sums.store(state, op.getSums(), op.getTotals(), unit);
  read(state, code.i32(0), row);
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
                CausalHead head(op, *shape, sums, kvHead, code);
                if (isStep)
                  head.passRow(row, unit);
                else
                  head.passSentence(row);
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
        SmallVector<Value> all = sums.passTiles(
            keys, sums.start().values(),
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
    chunks = loops.uceilDiv(loops.size(op.getQuery(), 1), kQueries);
  units = loops.mul(units, chunks);
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
        sums.passTiles(
            count, /*initial=*/{},
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
