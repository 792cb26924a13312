//===- ChunkStates.cpp - States of a query between grids ------------------===//
//
// If keys have one chunk, the first grid writes the results, and there is
// neither memory nor a second grid. Otherwise a warp combines the chunks of one
// query of one head. Its lanes find the largest score of all chunks. Then, for
// 32 chunks at a time, each lane computes the factor of one chunk, and all
// lanes add the sums times these factors, each lane its columns. Sums are added
// in the order of the chunks, so that no bit depends on which block ended
// first.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Gpu/Attention/ChunkStates.h"
#include "dialect/masks/MaskRanges.h"
#include "lib/Kernels/Gpu/Attention/GpuQueryLoops.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace heddle;

/// Of a block where states meet, a query each.
static constexpr int64_t kWarps = 4;
/// Chunks whose sums are loaded at once.
static constexpr int64_t kLoads = 4;

ChunkStates::ChunkStates(AttentionOp op, Value units, Value chunks,
                         Loops &loops)
    : op(op), units(units), chunks(chunks) {
  OpBuilder &builder = loops.builder;
  IndexMath math = {builder, loops.loc};
  Value states = loops.mul(units, chunks);
  Value size =
      math.select(math.less(loops.index(1), chunks),
                  math.mul(states, op.getValueWidth() + 2), loops.index(0));
  auto type = MemRefType::get(ShapedType::kDynamic, builder.getF32Type());
  memory = memref::AllocOp::create(builder, loops.loc, type, size);
}

ChunkStates::Place ChunkStates::placeOf(Value unit, Value chunk,
                                        BlockCode &code) const {
  int64_t width = AttentionOp(op).getValueWidth();
  Value count = code.toI32(chunks);
  Value state = code.add(code.mul(unit, count), chunk);
  Value states = code.mul(code.toI32(units), count);
  Value first = code.global(memory);
  Value behind = code.at(first, code.rowOffset(states, code.i32(4 * width)));
  Value maximum = code.at(behind, code.rowOffset(state, code.i32(8)));
  return {code.at(first, code.rowOffset(state, code.i32(4 * width))), maximum,
          code.at(maximum, 4)};
}

void ChunkStates::store(Value unit, Value chunk, Value column,
                        const QueryState &state, BlockCode &code) const {
  Place place = placeOf(unit, chunk, code);
  code.storeOne(state.sums[0], code.at(place.sums, code.mul(column, 4)));
  code.ifThen(code.equal(column, code.i32(0)), [&] {
    code.storeOne(state.maximum, place.maximum);
    code.storeOne(state.total, place.total);
  });
}

/// The largest score of all chunks.
Value ChunkStates::maximumOf(Value unit, BlockCode &code) const {
  Type f32 = code.builder.getF32Type();
  auto loop = scf::ForOp::create(
      code.builder, code.loc, code.lane(), code.toI32(chunks),
      code.i32(kWarpThreads), QueryState::start(0, code).maximum,
      [&](OpBuilder &, Location, Value chunk, ValueRange now) {
        Value one = code.loadOne(f32, placeOf(unit, chunk, code).maximum);
        scf::YieldOp::create(code.builder, code.loc,
                             code.maxNumber(now[0], one));
      });
  return code.reduceMax(loop.getResult(0));
}

/// What a warp does: a lane has every 32nd column.
void ChunkStates::meet(Value unit, BlockCode &code) const {
  AttentionOp op = this->op;
  Type f32 = code.builder.getF32Type();
  int64_t width = op.getValueWidth();
  Value count = code.toI32(chunks);
  GpuQueryLoops query(op, code, code.toIndex(code.udiv(unit, op.getHeads())),
                      code.toIndex(code.urem(unit, op.getHeads())));
  bool isSoftmax = op.getNormalizer() == Normalizer::Softmax;
  Value largest = isSoftmax ? maximumOf(unit, code) : Value();
  SmallVector<Value> columns;
  for (int64_t first = 0; first < width; first += kWarpThreads)
    columns.push_back(code.add(code.lane(), first));

  auto addChunks = [&](Value first, ValueRange before) -> SmallVector<Value> {
    Value mine = code.add(first, code.lane());
    auto factorOf = [&]() -> Value {
      if (!isSoftmax)
        return code.f32(1);
      Place place = placeOf(unit, mine, code);
      return query.growthOf(code.loadOne(f32, place.maximum), largest);
    };
    Value isChunk = code.uless(mine, count);
    Value factor = code.ifYield(isChunk, factorOf, code.f32(0));
    Value total = code.ifYield(
        isChunk,
        [&] { return code.loadOne(f32, placeOf(unit, mine, code).total); },
        code.f32(0));
    SmallVector<Value> now = {code.fma(total, factor, before[0])};
    Value end = code.umin(code.sub(count, first), code.i32(kWarpThreads));
    auto loop = scf::ForOp::create(
        code.builder, code.loc, code.i32(0), end, code.i32(kLoads),
        before.drop_front(),
        [&](OpBuilder &, Location, Value at, ValueRange carried) {
          SmallVector<Value> sums = llvm::to_vector(carried);
          for (int64_t load = 0; load < kLoads; ++load) {
            Value next = code.add(at, load);
            Value isLeft = code.uless(next, end);
            Value probability = code.fromLane(factor, next);
            Value chunk =
                code.umin(code.add(first, next), code.sub(count, code.i32(1)));
            Value row = placeOf(unit, chunk, code).sums;
            for (auto [sum, column] : llvm::zip(sums, columns)) {
              Value there = code.umin(column, code.i32(width - 1));
              Value one = code.loadOne(f32, code.at(row, code.mul(there, 4)));
              Value added = code.fma(probability, one, sum);
              sum = code.select(isLeft, added, sum);
            }
          }
          scf::YieldOp::create(code.builder, code.loc, sums);
        });
    llvm::append_range(now, loop.getResults());
    return now;
  };
  auto loop = scf::ForOp::create(
      code.builder, code.loc, code.i32(0), count, code.i32(kWarpThreads),
      SmallVector<Value>(1 + columns.size(), code.f32(0)),
      [&](OpBuilder &, Location, Value first, ValueRange before) {
        scf::YieldOp::create(code.builder, code.loc, addChunks(first, before));
      });
  Value total = code.reduceAdd(loop.getResult(0));
  for (size_t number = 0; number < columns.size(); ++number)
    code.ifThen(code.uless(columns[number], code.i32(width)), [&] {
      code.store(resultOf(op, loop.getResult(1 + number), total, code),
                 op.getDestination(),
                 query.resultAt(code.toIndex(columns[number])));
    });
}

void ChunkStates::emitMeeting(OpBuilder &builder, bool areGenerated) const {
  AttentionOp op = this->op;
  Location loc = op.getLoc();
  int64_t heads = op.getHeads();
  IndexMath math = {builder, loc};
  Value blocks = math.uceilDiv(units, kWarps);
  blocks = math.select(math.less(math.index(1), chunks), blocks, math.index(0));
  createGrid(builder, loc, blocks, {kWarps * kWarpThreads},
             [&](BlockCode &code, Value block) {
               Value unit = code.add(code.mul(block, kWarps), code.warp());
               Value row = code.udiv(unit, heads);
               code.ifThen(code.uless(unit, code.toI32(units)), [&] {
                 forGenerated(op, row, areGenerated, code,
                              [&] { meet(unit, code); });
               });
             });
}
