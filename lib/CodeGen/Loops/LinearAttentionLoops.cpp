//===- LinearAttentionLoops.cpp - Reference loops of linear attention -----===//
//
// The formulas of dialect/attention/LinearAttention.td, one key and one query
// of a head at a time. A causal op adds the key of a position and then reads
// the sums, as its step does: both forms have the same bits.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/Loops/LinearAttentionLoops.h"
#include "lib/CodeGen/Loops/Loops.h"
#include "lib/CodeGen/Loops/QueryLoops.h"
#include "lib/CodeGen/Loops/RoundFloats.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace heddle;

namespace {
/// The sums of a head: memrefs that end in [d_f, d_v] and [d_f], behind `at`.
struct HeadSums {
  Value sums, totals;
  SmallVector<Value> at;
};

/// The loops of one op.
class SumLoops {
public:
  SumLoops(Operation *op, FeatureMap features, Region &map, OpBuilder &builder)
      : loops(builder, op->getLoc()), features(features), map(map),
        divisor(memref::AllocaOp::create(
            builder, op->getLoc(), MemRefType::get({}, builder.getF32Type()))) {
  }

  Loops loops;

  /// Sums of zeros on the stack.
  HeadSums allocate(int64_t featureWidth, int64_t width);
  void clear(const HeadSums &head);
  /// The key and value of one position, of head number `head`.
  void add(Value keys, Value values, ValueRange row, Value head, int64_t heads,
           const HeadSums &sums);
  /// result[row] = phi(q) S / (phi(q) . z) of a head.
  void read(Value queries, ValueRange row, Value head, int64_t heads,
            const HeadSums &sums, Value result);
  /// The head of keys that a head of queries reads.
  Value keyHead(Value head, int64_t heads, int64_t kvHeads);

private:
  Value element(Value memref, ValueRange row, Value column);
  Value column(Value head, int64_t width, Value d);
  Value inverseNorm(Value memref, ValueRange row, Value head, int64_t width);
  Value feature(Value x, Value inverse);
  void forEachFeature(Value memref, ValueRange row, Value head, int64_t heads,
                      function_ref<void(Value, Value)> body);

  FeatureMap features;
  Region &map;
  /// What divides a query's result.
  Value divisor;
};
} // namespace

static int64_t lastOf(Value memref) {
  return cast<MemRefType>(memref.getType()).getShape().back();
}

HeadSums SumLoops::allocate(int64_t featureWidth, int64_t width) {
  auto memory = [&](ArrayRef<int64_t> shape) -> Value {
    return memref::AllocaOp::create(
        loops.builder, loops.loc,
        MemRefType::get(shape, loops.builder.getF32Type()));
  };
  return {memory({featureWidth, width}), memory(featureWidth), {}};
}

void SumLoops::clear(const HeadSums &head) {
  Value zero = loops.f32(0);
  loops.loop(loops.lastSize(head.totals), [&](Value f) {
    SmallVector<Value> row = append(head.at, f);
    loops.store(zero, head.totals, row);
    loops.loop(loops.lastSize(head.sums),
               [&](Value d) { loops.store(zero, head.sums, append(row, d)); });
  });
}

/// As f32.
Value SumLoops::element(Value memref, ValueRange row, Value column) {
  Value x = loops.load(memref, append(row, column));
  return x.getType().isF32() ? x : widen(loops.builder, loops.loc, x);
}

Value SumLoops::column(Value head, int64_t width, Value d) {
  return loops.add(loops.mul(head, width), d);
}

/// 1 / |x| of a head, 0 of zeros.
Value SumLoops::inverseNorm(Value memref, ValueRange row, Value head,
                            int64_t width) {
  Value squares = loops.fold(loops.index(0), loops.index(width), loops.f32(0),
                             [&](Value d, Value sum) {
                               Value x =
                                   element(memref, row, column(head, width, d));
                               return loops.add(sum, loops.mul(x, x));
                             });
  Value isZero = loops.equal(squares, loops.f32(0));
  Value norm = math::SqrtOp::create(loops.builder, loops.loc, squares);
  return loops.select(isZero, loops.f32(0), loops.div(loops.f32(1), norm));
}

Value SumLoops::feature(Value x, Value inverse) {
  OpBuilder &builder = loops.builder;
  Value zero = loops.f32(0);
  switch (features) {
  case FeatureMap::Elu: {
    Value isAbove = loops.greater(x, zero);
    return loops.select(isAbove, loops.add(x, loops.f32(1)), loops.exp(x));
  }
  case FeatureMap::Relu:
    return loops.max(x, zero);
  case FeatureMap::Taylor:
    return loops.mul(x, inverse);
  case FeatureMap::Region:
    return inlineRegion(map, builder, x);
  }
  llvm_unreachable("all maps are covered");
}

/// body(f, phi(x)[f]) for the features of one head, in ascending order.
void SumLoops::forEachFeature(Value memref, ValueRange row, Value head,
                              int64_t heads,
                              function_ref<void(Value, Value)> body) {
  int64_t width = lastOf(memref) / heads;
  bool isTaylor = features == FeatureMap::Taylor;
  Value inverse = isTaylor ? inverseNorm(memref, row, head, width) : Value();
  loops.loop(loops.index(width), [&](Value d) {
    Value x = element(memref, row, column(head, width, d));
    body(d, feature(x, inverse));
  });
  if (isTaylor)
    body(loops.index(width), loops.f32(1));
}

void SumLoops::add(Value keys, Value values, ValueRange row, Value head,
                   int64_t heads, const HeadSums &sums) {
  int64_t width = lastOf(sums.sums);
  forEachFeature(keys, row, head, heads, [&](Value f, Value phi) {
    SmallVector<Value> at = append(sums.at, f);
    loops.store(loops.add(loops.load(sums.totals, at), phi), sums.totals, at);
    loops.loop(loops.index(width), [&](Value d) {
      SmallVector<Value> place = append(at, d);
      Value v = element(values, row, column(head, width, d));
      Value product = loops.mul(phi, v);
      loops.store(loops.add(loops.load(sums.sums, place), product), sums.sums,
                  place);
    });
  });
}

void SumLoops::read(Value queries, ValueRange row, Value head, int64_t heads,
                    const HeadSums &sums, Value result) {
  int64_t width = lastOf(sums.sums);
  auto placeOf = [&](Value d) { return append(row, column(head, width, d)); };
  loops.loop(loops.index(width),
             [&](Value d) { loops.store(loops.f32(0), result, placeOf(d)); });
  loops.store(loops.f32(0), divisor, {});
  forEachFeature(queries, row, head, heads, [&](Value f, Value phi) {
    SmallVector<Value> at = append(sums.at, f);
    Value total = loops.mul(phi, loops.load(sums.totals, at));
    loops.store(loops.add(loops.load(divisor, {}), total), divisor, {});
    loops.loop(loops.index(width), [&](Value d) {
      Value product = loops.mul(phi, loops.load(sums.sums, append(at, d)));
      loops.store(loops.add(loops.load(result, placeOf(d)), product), result,
                  placeOf(d));
    });
  });
  Value total = loops.load(divisor, {});
  Value isEmpty = loops.equal(total, loops.f32(0));
  loops.loop(loops.index(width), [&](Value d) {
    Value quotient = loops.div(loops.load(result, placeOf(d)), total);
    loops.store(loops.select(isEmpty, loops.f32(0), quotient), result,
                placeOf(d));
  });
}

Value SumLoops::keyHead(Value head, int64_t heads, int64_t kvHeads) {
  return loops.udiv(head, heads / kvHeads);
}

/// Keys of a sentence: all positions, or as many as its length says.
static Value countKeys(Loops &loops, Value keys, Value lengths,
                       Value sentence) {
  Value count = loops.size(keys, 1);
  if (!lengths)
    return count;
  return loops.min(count, loops.toIndex(loops.load(lengths, sentence)));
}

static void buildStep(LinearAttentionOp op, SumLoops &each) {
  Loops &loops = each.loops;
  int64_t heads = op.getHeads(), kvHeads = op.getKeyValueHeads();
  auto sumsOf = [&](Value row, Value kvHead) -> HeadSums {
    return {op.getSums(), op.getTotals(), {row, kvHead}};
  };
  loops.nest(op.getQuery(), 1, [&](ValueRange at) {
    Value row = at[0];
    loops.loop(loops.index(kvHeads), [&](Value kvHead) {
      each.add(op.getKey(), op.getValue(), row, kvHead, kvHeads,
               sumsOf(row, kvHead));
    });
    loops.loop(loops.index(heads), [&](Value head) {
      Value kvHead = each.keyHead(head, heads, kvHeads);
      each.read(op.getQuery(), row, head, heads, sumsOf(row, kvHead),
                op.getDestinations().front());
    });
  });
}

void heddle::buildLinearAttentionLoops(LinearAttentionOp op,
                                       OpBuilder &builder) {
  SumLoops each(op, op.getFeatures(), op.getMap(), builder);
  if (op.getStep())
    return buildStep(op, each);
  Loops &loops = each.loops;
  int64_t heads = op.getHeads(), kvHeads = op.getKeyValueHeads();
  HeadSums sums = each.allocate(op.getFeatureWidth(), op.getValueWidth());
  loops.nest(op.getQuery(), 1, [&](ValueRange at) {
    Value sentence = at[0];
    Value keys = countKeys(loops, op.getKey(), op.getLengths(), sentence);
    loops.loop(loops.index(heads), [&](Value head) {
      Value kvHead = each.keyHead(head, heads, kvHeads);
      auto add = [&](Value j) {
        each.add(op.getKey(), op.getValue(), {sentence, j}, kvHead, kvHeads,
                 sums);
      };
      each.clear(sums);
      if (!op.getCausal())
        loops.loop(keys, add);
      loops.loop(loops.size(op.getQuery(), 1), [&](Value i) {
        if (op.getCausal()) {
          Value isKey = loops.less(i, keys);
          scf::IfOp::create(builder, loops.loc, isKey,
                            [&](OpBuilder &, Location) {
                              add(i);
                              scf::YieldOp::create(builder, loops.loc);
                            });
        }
        each.read(op.getQuery(), {sentence, i}, head, heads, sums,
                  op.getDestinations().front());
      });
    });
  });
}

void heddle::buildLinearAttentionLoops(LinearAttentionSumsOp op,
                                       OpBuilder &builder) {
  SumLoops each(op, op.getFeatures(), op.getMap(), builder);
  Loops &loops = each.loops;
  loops.nest(op.getKey(), 1, [&](ValueRange at) {
    Value sentence = at[0];
    Value keys = countKeys(loops, op.getKey(), op.getLengths(), sentence);
    loops.loop(loops.index(op.getHeads()), [&](Value head) {
      HeadSums sums{
          op.getDestinations()[0], op.getDestinations()[1], {sentence, head}};
      each.clear(sums);
      loops.loop(keys, [&](Value j) {
        each.add(op.getKey(), op.getValue(), {sentence, j}, head, op.getHeads(),
                 sums);
      });
    });
  });
}

void heddle::buildLinearAttentionLoops(LinearAttentionReadOp op,
                                       OpBuilder &builder) {
  SumLoops each(op, op.getFeatures(), op.getMap(), builder);
  Loops &loops = each.loops;
  int64_t heads = op.getHeads();
  int64_t kvHeads = cast<MemRefType>(op.getSums().getType()).getDimSize(1);
  int64_t leading = cast<MemRefType>(op.getQuery().getType()).getRank() - 1;
  loops.nest(op.getQuery(), leading, [&](ValueRange row) {
    Value sentence = op.getSentences()
                         ? loops.toIndex(loops.load(op.getSentences(), row[0]))
                         : row[0];
    loops.loop(loops.index(heads), [&](Value head) {
      Value kvHead = each.keyHead(head, heads, kvHeads);
      each.read(op.getQuery(), row, head, heads,
                {op.getSums(), op.getTotals(), {sentence, kvHead}},
                op.getDestinations().front());
    });
  });
}
