//===- AttentionGrid.cpp - Attention on a GPU, a warp a query -------------===//
//
// emitGrid tries the faster kernels first: warpgroups, blocks of queries,
// steps. The kernel of this file takes the rest. Each lane asks the mask about
// its key of the tile and computes the score. A vote then gives the warp the
// visible keys as bits, and a loop takes them one by one: a shuffle hands out
// the probability, and each lane adds its columns of the value. So the time
// follows the number of visible keys.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Gpu/Attention/AttentionGrid.h"
#include "lib/Kernels/Gpu/Attention/AttentionBlock.h"
#include "lib/Kernels/Gpu/Attention/AttentionStep.h"
#include "lib/Kernels/Gpu/Attention/AttentionWarpgroups.h"
#include "lib/Kernels/Gpu/Attention/GpuQueryLoops.h"
#include "lib/Kernels/Gpu/Attention/KeyTiles.h"
#include "lib/Kernels/Gpu/Attention/QueryState.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <limits>

using namespace mlir;
using namespace heddle;

static constexpr int64_t kWarps = 4;
/// Inputs that are loaded at once, and how many such loads stand side by side.
static constexpr int64_t kPiece = 4, kPiecesAtOnce = 8;

namespace {
/// A query whose products are fused multiply-adds of pieces of its key.
class PieceQuery : public GpuQueryLoops {
public:
  using GpuQueryLoops::GpuQueryLoops;

protected:
  Value multiply(ValueRange key) override;
};

class AttentionGrid {
public:
  AttentionGrid(AttentionOp op, BlockCode &code) : op(op), code(code) {}

  /// What a thread does for unit number `unit` of all queries and heads.
  void build(Value unit);

private:
  bool isSoftmax() const {
    return AttentionOp(op).getNormalizer() == Normalizer::Softmax;
  }
  int64_t columnsOfLane() const {
    return llvm::divideCeil(int64_t(AttentionOp(op).getValueWidth()),
                            kWarpThreads);
  }
  Value columnOf(int64_t number);
  void forColumn(Value column, function_ref<void()> body);
  QueryState addTile(PieceQuery &query, const QueryState &before, Value first);
  SmallVector<Value> addValues(PieceQuery &query, ValueRange sums,
                               Value probability, Value isSeen, Value first);
  QueryState walk(PieceQuery &query, const QueryBlock &block,
                  const QueryState &start);
  void finish(PieceQuery &query, const QueryState &state);

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

Value PieceQuery::multiply(ValueRange key) {
  int64_t width = op.getKeyWidth();
  if (!hasPieces(op.getQuery(), width) || !hasPieces(op.getKey(), width))
    return QueryLoops::multiply(key);
  OpBuilder &builder = loops.builder;
  auto piece = VectorType::get(kPiece, builder.getF32Type());
  Value zero =
      arith::ConstantOp::create(builder, loops.loc, builder.getZeroAttr(piece));
  auto addPieces = [&](Value first, int64_t pieces, Value sum) {
    for (int64_t number = 0; number < pieces; ++number) {
      Value d = loops.add(first, number * kPiece);
      auto load = [&](Value memref, ValueRange at, Value offset) -> Value {
        Value place = loops.add(offset, d);
        return vector::LoadOp::create(
            builder, loops.loc, piece, memref, append(at, place),
            /*nontemporal=*/false, llvm::MaybeAlign(16));
      };
      Value q = load(op.getQuery(), row, queryOffset);
      Value k = load(op.getKey(), key, keyOffset);
      sum = loops.fma(q, k, sum);
    }
    return sum;
  };
  // A sum for each element of a piece: four chains, not one.
  int64_t step = kPiece * kPiecesAtOnce, whole = width / step * step;
  auto loop = scf::ForOp::create(
      builder, loops.loc, loops.index(0), loops.index(whole), loops.index(step),
      zero, [&](OpBuilder &, Location, Value d, ValueRange sum) {
        scf::YieldOp::create(builder, loops.loc,
                             addPieces(d, kPiecesAtOnce, sum.front()));
      });
  keepLoop(loop);
  Value sums = addPieces(loops.index(whole), (width - whole) / kPiece,
                         loop.getResult(0));
  Value sum;
  for (int64_t number = 0; number < kPiece; ++number) {
    Value element = vector::ExtractOp::create(builder, loops.loc, sums, number);
    sum = sum ? loops.add(sum, element) : element;
  }
  return sum;
}

/// The column of the values that a lane has as number `number`, an index.
Value AttentionGrid::columnOf(int64_t number) {
  return code.toIndex(code.add(code.lane(), number * kWarpThreads));
}

/// body() where there is such a column.
void AttentionGrid::forColumn(Value column, function_ref<void()> body) {
  if (op.getValueWidth() % kWarpThreads == 0)
    return body();
  code.ifThen(code.uless(column, code.index(op.getValueWidth())), body);
}

/// With the keys [first, first + 32).
QueryState AttentionGrid::addTile(PieceQuery &query, const QueryState &before,
                                  Value first) {
  Value lowest = code.f32(-std::numeric_limits<float>::infinity());
  Value key = code.add(first, code.toIndex(code.lane()));
  Value exists = code.logicalAnd(
      code.uless(key, query.getKeyCount()),
      arith::CmpIOp::create(code.builder, code.loc, arith::CmpIPredicate::uge,
                            key, query.getFirstKey()));
  Value no = code.i1(false);
  // Masks may read tables at keys that exist only.
  Value isSeen = code.ifYield(exists, [&] { return query.isAllowed(key); }, no);
  Value score = code.ifYield(isSeen, [&] { return query.score(key); }, lowest);
  QueryState state = before;
  Value base;
  if (isSoftmax()) {
    // Where all scores are -inf, 0: no difference of infinities arises.
    base = code.maxNumber(code.reduceMax(score), before.maximum);
    state = before.raisedTo(base, query, code);
  }
  Value probability = code.ifYield(
      isSeen, [&] { return query.probabilityOf(score, base); }, code.f32(0));
  state.total = code.add(state.total, probability);

  state.sums = addValues(query, state.sums, probability, isSeen, first);
  return state;
}

/// With the values of the keys that lanes see, times their probabilities. Those
/// of others are not read: nobody may have written them.
SmallVector<Value> AttentionGrid::addValues(PieceQuery &query, ValueRange sums,
                                            Value probability, Value isSeen,
                                            Value first) {
  OpBuilder &builder = code.builder;
  Location loc = code.loc;
  SmallVector<Value> carried = {code.vote(isSeen)};
  llvm::append_range(carried, sums);
  return code.whileVoted(carried, [&](ValueRange now) {
    Value lane = math::CountTrailingZerosOp::create(builder, loc, now[0]);
    Value w = code.fromLane(probability, lane);
    SmallVector<Value> place = query.keyAt(code.add(first, code.toIndex(lane)));
    SmallVector<Value> next = {
        code.bitAnd(now[0], code.sub(now[0], code.i32(1)))};
    for (auto [number, sum] : llvm::enumerate(now.drop_front())) {
      // Behind the last column the last one is read again.
      Value column =
          code.umin(columnOf(number), code.index(op.getValueWidth() - 1));
      Value v = query.loadValue(place, column);
      next.push_back(code.fma(w, v, sum));
    }
    return next;
  });
}

/// All tiles of keys of which the mask says that the query may see some.
QueryState AttentionGrid::walk(PieceQuery &query, const QueryBlock &block,
                               const QueryState &start) {
  KeyTiles tiles(op.getMask(), block, query.getFirstKey(), kWarpThreads, code);
  SmallVector<Value> carried = {
      tiles.from(tiles.floorOf(query.getFirstKey())).first};
  carried.append(start.values());
  auto isLeft = [&](OpBuilder &, Location, ValueRange now) {
    scf::ConditionOp::create(code.builder, code.loc,
                             code.uless(now[0], query.getKeyCount()), now);
  };
  auto step = [&](OpBuilder &, Location, ValueRange now) {
    QueryState state = addTile(query, QueryState::of(now.drop_front()), now[0]);
    SmallVector<Value> yielded = {
        tiles.from(code.add(now[0], kWarpThreads)).first};
    yielded.append(state.values());
    scf::YieldOp::create(code.builder, code.loc, yielded);
  };
  auto loop = scf::WhileOp::create(code.builder, code.loc,
                                   ValueRange(carried).getTypes(), carried,
                                   isLeft, step);
  return QueryState::of(loop.getResults().drop_front());
}

void AttentionGrid::finish(PieceQuery &query, const QueryState &state) {
  Value total = code.reduceAdd(state.total);
  for (auto [number, sum] : llvm::enumerate(state.sums)) {
    Value result = resultOf(op, sum, total, code);
    Value column = columnOf(number);
    forColumn(column, [&] {
      code.store(result, op.getDestination(), query.resultAt(column));
    });
  }
}

void AttentionGrid::build(Value unit) {
  // Neighbours are queries of one head, which read the same keys.
  bool isOfRows = bool(op.getPositions());
  Value queries = code.size(op.getQuery(), isOfRows ? 0 : 1);
  Value number = code.urem(unit, queries), ofHead = code.udiv(unit, queries);
  Value head = ofHead;
  SmallVector<Value> row = {number};
  if (!isOfRows) {
    Value heads = code.index(op.getHeads());
    head = code.urem(ofHead, heads);
    row.insert(row.begin(), code.udiv(ofHead, heads));
  }
  PieceQuery query(op, code, row, head);
  Value end = code.add(query.getPosition(), 1);
  QueryBlock block = {query.getSentence(), head, query.getPosition(), end,
                      query.getKeyCount()};
  finish(query, walk(query, block, QueryState::start(columnsOfLane(), code)));
}

LogicalResult heddle::emitGrid(AttentionOp op,
                               const GpuArchitecture &architecture) {
  if (!op.getDestination())
    return failure();
  // Prompts in blocks, if steps compute what stands behind them. Keys of
  // integers are for the kernel of this file alone.
  bool isOfIntegers = bool(op.getKeyScales());
  bool isBlocked = !isOfIntegers && (!op.getPrefill() || hasSteps(op));
  if (isBlocked &&
      ((architecture.hasWarpgroups && succeeded(emitWarpgroups(op))) ||
       succeeded(emitBlocks(op, architecture))))
    return op.getPrefill() ? emitSteps(op, /*areGenerated=*/true) : success();
  if (!isOfIntegers && succeeded(emitSteps(op)))
    return success();
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Loops loops(builder, loc);
  Value units = loops.mul(loops.size(op.getQuery(), 0), op.getHeads());
  if (!op.getPositions())
    units = loops.mul(units, loops.size(op.getQuery(), 1));
  Value blocks = loops.uceilDiv(units, kWarps);
  createGrid(builder, loc, blocks, {kWarps * kWarpThreads},
             [&](BlockCode &code, Value block) {
               Value unit =
                   code.toIndex(code.add(code.mul(block, kWarps), code.warp()));
               Value isUnit = code.uless(unit, units);
               code.ifThen(isUnit,
                           [&] { AttentionGrid(op, code).build(unit); });
             });
  return success();
}
