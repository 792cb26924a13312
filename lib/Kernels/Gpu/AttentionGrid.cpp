#include "lib/Kernels/Gpu/AttentionGrid.h"
#include "lib/CodeGen/QueryLoops.h"
#include "lib/CodeGen/RoundToBf16.h"
#include "lib/Kernels/Gpu/AttentionBlock.h"
#include "lib/Kernels/Gpu/KeyTiles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <limits>

using namespace mlir;
using namespace heddle;

static constexpr int64_t kWarps = 4;
/// Inputs that are loaded at once.
static constexpr int64_t kPiece = 4;

namespace {
/// A query whose products are fused multiply-adds of pieces of its key.
class GridQuery : public QueryLoops {
public:
  using QueryLoops::QueryLoops;

protected:
  Value multiply(ValueRange key) override;
};

class AttentionGrid {
public:
  AttentionGrid(AttentionOp op, BlockCode &code) : op(op), code(code) {}

  /// What a thread does for unit number `unit` of all queries and heads.
  void build(Value unit);

private:
  /// The state of a query between tiles of keys: the largest score, this lane's
  /// sum of weights, and its columns of the weighted values.
  struct State {
    Value maximum, total;
    SmallVector<Value> sums;

    explicit State(ValueRange values)
        : maximum(values[0]), total(values[1]),
          sums(llvm::to_vector(values.drop_front(2))) {}
    SmallVector<Value> values() const {
      SmallVector<Value> all = {maximum, total};
      all.append(sums);
      return all;
    }
  };

  bool isSoftmax() const {
    return AttentionOp(op).getNormalizer() == Normalizer::Softmax;
  }
  int64_t columnsOfLane() const {
    return llvm::divideCeil(int64_t(AttentionOp(op).getValueWidth()),
                            kWarpThreads);
  }
  Value indexOf(Value lhs, Value rhs) {
    return arith::AddIOp::create(code.builder, code.loc, lhs, rhs);
  }
  Value isBelow(Value lhs, Value rhs) {
    return arith::CmpIOp::create(code.builder, code.loc,
                                 arith::CmpIPredicate::ult, lhs, rhs);
  }
  Value columnOf(int64_t number);
  void forColumn(Value column, function_ref<void()> body);
  Value largestScore(Value score);
  State scale(GridQuery &query, const State &before, Value maximum);
  State addTile(GridQuery &query, const State &before, Value first);
  SmallVector<Value> addValues(GridQuery &query, ValueRange sums, Value weight,
                               Value isSeen, Value first);
  State walk(GridQuery &query, const QueryBlock &block, const State &start);
  void finish(GridQuery &query, const State &state);

  AttentionOp op;
  BlockCode &code;
};
} // namespace

/// Whether pieces of 16 bytes of f32 are aligned in rows of a memref.
static bool hasPieces(Value memref, int64_t headWidth) {
  auto type = cast<MemRefType>(memref.getType());
  return type.getElementType().isF32() && type.getLayout().isIdentity() &&
         type.getShape().back() % kPiece == 0 && headWidth % kPiece == 0;
}

Value GridQuery::multiply(ValueRange key) {
  int64_t width = op.getKeyWidth();
  if (!hasPieces(op.getQuery(), width) || !hasPieces(op.getKey(), width))
    return QueryLoops::multiply(key);
  OpBuilder &builder = loops.builder;
  auto piece = VectorType::get(kPiece, builder.getF32Type());
  Value zero =
      arith::ConstantOp::create(builder, loops.loc, builder.getZeroAttr(piece));
  // A sum for each element of a piece: four chains, not one.
  auto loop = scf::ForOp::create(
      builder, loops.loc, loops.index(0), loops.index(width),
      loops.index(kPiece), zero,
      [&](OpBuilder &, Location, Value d, ValueRange sum) {
        auto load = [&](Value memref, ValueRange at, Value offset) -> Value {
          Value place = arith::AddIOp::create(builder, loops.loc, offset, d);
          return vector::LoadOp::create(
              builder, loops.loc, piece, memref, append(at, place),
              /*nontemporal=*/false, llvm::MaybeAlign(16));
        };
        Value q = load(op.getQuery(), row, queryOffset);
        Value k = load(op.getKey(), key, keyOffset);
        Value next = math::FmaOp::create(builder, loops.loc, q, k, sum.front());
        scf::YieldOp::create(builder, loops.loc, next);
      });
  Value sum;
  for (int64_t number = 0; number < kPiece; ++number) {
    Value element = vector::ExtractOp::create(builder, loops.loc,
                                              loop.getResult(0), number);
    sum = sum ? loops.add(sum, element) : element;
  }
  return sum;
}

/// The column of the values that a lane has as number `number`, an index.
Value AttentionGrid::columnOf(int64_t number) {
  return code.toIndex(code.plus(code.lane(), number * kWarpThreads));
}

/// body() where there is such a column.
void AttentionGrid::forColumn(Value column, function_ref<void()> body) {
  if (op.getValueWidth() % kWarpThreads == 0)
    return body();
  code.when(isBelow(column, code.index(op.getValueWidth())), body);
}

/// Of all lanes; what is no number is none.
Value AttentionGrid::largestScore(Value score) {
  return code.combineLanes(score, [&](ValueRange mine, ValueRange other) {
    Value isLarger = code.isAbove(other[0], mine[0]);
    return SmallVector<Value>{code.choose(isLarger, other[0], mine[0])};
  })[0];
}

/// The state for a maximum that is not below its own.
AttentionGrid::State AttentionGrid::scale(GridQuery &query, const State &before,
                                          Value maximum) {
  Value factor = query.growthOf(before.maximum, maximum);
  State after = before;
  after.maximum = maximum;
  after.total = code.mul(before.total, factor);
  for (Value &sum : after.sums)
    sum = code.mul(sum, factor);
  return after;
}

/// With the keys [first, first + 32).
AttentionGrid::State AttentionGrid::addTile(GridQuery &query,
                                            const State &before, Value first) {
  Value lowest = code.f32(-std::numeric_limits<float>::infinity());
  Value key = indexOf(first, code.toIndex(code.lane()));
  Value exists = arith::AndIOp::create(
      code.builder, code.loc, isBelow(key, query.getKeyCount()),
      arith::CmpIOp::create(code.builder, code.loc, arith::CmpIPredicate::uge,
                            key, query.getFirstKey()));
  Value no = arith::ConstantOp::create(code.builder, code.loc,
                                       code.builder.getBoolAttr(false));
  // Masks may read tables at keys that exist only.
  Value isSeen = code.select(exists, [&] { return query.isAllowed(key); }, no);
  Value score = code.select(isSeen, [&] { return query.score(key); }, lowest);
  State state = before;
  Value base;
  if (isSoftmax()) {
    // Where all scores are -inf, 0: no difference of infinities arises.
    Value larger = largestScore(score);
    Value isLarger = code.isAbove(larger, before.maximum);
    base = code.choose(isLarger, larger, before.maximum);
    state = scale(query, before, base);
  }
  Value weight = code.select(
      isSeen, [&] { return query.weightOf(score, base); }, code.f32(0));
  state.total = code.add(state.total, weight);

  state.sums = addValues(query, state.sums, weight, isSeen, first);
  return state;
}

/// With the values of the keys that lanes see, times their weights. Those of
/// others are not read: nobody may have written them.
SmallVector<Value> AttentionGrid::addValues(GridQuery &query, ValueRange sums,
                                            Value weight, Value isSeen,
                                            Value first) {
  OpBuilder &builder = code.builder;
  Location loc = code.loc;
  SmallVector<Value> carried = {code.vote(isSeen)};
  llvm::append_range(carried, sums);
  auto before = [&](OpBuilder &, Location, ValueRange now) {
    Value isLeft = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                         now[0], code.i32(0));
    scf::ConditionOp::create(builder, loc, isLeft, now);
  };
  auto addFirst = [&](OpBuilder &, Location, ValueRange now) {
    Value lane = math::CountTrailingZerosOp::create(builder, loc, now[0]);
    Value w = code.fromLane(weight, lane);
    SmallVector<Value> place = query.keyAt(indexOf(first, code.toIndex(lane)));
    SmallVector<Value> next = {
        code.both(now[0], code.minus(now[0], code.i32(1)))};
    for (auto [number, sum] : llvm::enumerate(now.drop_front())) {
      // Behind the last column the last one is read again.
      Value column = arith::MinUIOp::create(builder, loc, columnOf(number),
                                            code.index(op.getValueWidth() - 1));
      Value v = query.loadValue(place, column);
      next.push_back(math::FmaOp::create(builder, loc, w, v, sum));
    }
    scf::YieldOp::create(builder, loc, next);
  };
  auto loop = scf::WhileOp::create(builder, loc, ValueRange(carried).getTypes(),
                                   carried, before, addFirst);
  return SmallVector<Value>(loop.getResults().drop_front());
}

/// All tiles of keys of which the mask says that the query may see some.
AttentionGrid::State AttentionGrid::walk(GridQuery &query,
                                         const QueryBlock &block,
                                         const State &start) {
  KeyTiles tiles(op.getMask(), block, query.getFirstKey(), kWarpThreads, code);
  SmallVector<Value> carried = {
      tiles.from(tiles.floorOf(query.getFirstKey())).first};
  carried.append(start.values());
  auto isLeft = [&](OpBuilder &, Location, ValueRange now) {
    scf::ConditionOp::create(code.builder, code.loc,
                             isBelow(now[0], query.getKeyCount()), now);
  };
  auto step = [&](OpBuilder &, Location, ValueRange now) {
    State state = addTile(query, State(now.drop_front()), now[0]);
    SmallVector<Value> yielded = {
        tiles.from(indexOf(now[0], code.index(kWarpThreads))).first};
    yielded.append(state.values());
    scf::YieldOp::create(code.builder, code.loc, yielded);
  };
  auto loop = scf::WhileOp::create(code.builder, code.loc,
                                   ValueRange(carried).getTypes(), carried,
                                   isLeft, step);
  return State(loop.getResults().drop_front());
}

void AttentionGrid::finish(GridQuery &query, const State &state) {
  Value total =
      code.combineLanes(state.total, [&](ValueRange mine, ValueRange other) {
        return SmallVector<Value>{code.add(mine[0], other[0])};
      })[0];
  Value isEmpty = code.isEqual(total, code.f32(0));
  for (auto [number, sum] : llvm::enumerate(state.sums)) {
    Value result = sum;
    if (op.getNormalizer() != Normalizer::None)
      result = code.choose(isEmpty, code.f32(0), code.div(sum, total));
    if (op.getRounds())
      result = roundToBf16(code.builder, code.loc, result);
    Value column = columnOf(number);
    forColumn(column, [&] {
      code.store(result, op.getDestination(), query.resultAt(column));
    });
  }
}

void AttentionGrid::build(Value unit) {
  // Neighbours are queries of one head, which read the same keys.
  Value queries = code.size(op.getQuery(), op.isStep() ? 0 : 1);
  auto divide = [&](Value value, Value by) -> Value {
    return arith::DivUIOp::create(code.builder, code.loc, value, by);
  };
  auto rest = [&](Value value, Value by) -> Value {
    return arith::RemUIOp::create(code.builder, code.loc, value, by);
  };
  Value number = rest(unit, queries), ofHead = divide(unit, queries);
  Value head = ofHead;
  SmallVector<Value> row = {number};
  if (!op.isStep()) {
    Value heads = code.index(op.getHeads());
    head = rest(ofHead, heads);
    row.insert(row.begin(), divide(ofHead, heads));
  }
  GridQuery query(op, code.builder, row, head);
  // A softmax of nothing has a maximum that any score is above, and 0 is as
  // good as any for -inf.
  SmallVector<Value> start = {code.f32(std::numeric_limits<float>::lowest()),
                              code.f32(0)};
  start.append(columnsOfLane(), code.f32(0));
  Value end = indexOf(query.getPosition(), code.index(1));
  QueryBlock block = {query.getSentence(), head, query.getPosition(), end,
                      query.getKeyCount()};
  finish(query, walk(query, block, State(start)));
}

LogicalResult heddle::emitGrid(AttentionOp op) {
  if (!op.getDestination())
    return failure();
  if (succeeded(emitBlocks(op)))
    return success();
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Loops loops(builder, loc);
  auto multiply = [&](Value lhs, Value rhs) -> Value {
    return arith::MulIOp::create(builder, loc, lhs, rhs);
  };
  Value units =
      multiply(loops.size(op.getQuery(), 0), loops.index(op.getHeads()));
  if (!op.isStep())
    units = multiply(units, loops.size(op.getQuery(), 1));
  Value blocks =
      arith::CeilDivUIOp::create(builder, loc, units, loops.index(kWarps));
  createGrid(builder, loc, blocks, {kWarps * kWarpThreads},
             [&](BlockCode &code, Value block) {
               Value unit = code.toIndex(
                   code.plus(code.times(block, kWarps), code.warp()));
               Value isUnit = arith::CmpIOp::create(
                   builder, loc, arith::CmpIPredicate::ult, unit, units);
               code.when(isUnit, [&] { AttentionGrid(op, code).build(unit); });
             });
  return success();
}
