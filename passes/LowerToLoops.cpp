//===- LowerToLoops.cpp - The reference lowering: plain loops -------------===//
//
// One function an op, whose loops are the op's formula. Everything is summed in
// ascending order, row by row, so that a row's bits depend on the row alone.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "lib/CodeGen/AttentionLoops.h"
#include "lib/CodeGen/Loops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/Passes.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <limits>

namespace heddle {
#define GEN_PASS_DEF_LOWERTOLOOPSPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

static int64_t rankOf(Value memref) {
  return cast<MemRefType>(memref.getType()).getRank();
}

//===----------------------------------------------------------------------===//
// embedding, positions
//===----------------------------------------------------------------------===//

static void lowerToLoops(EmbeddingOp op, Loops loops) {
  OpBuilder &builder = loops.builder;
  bool hasWidth = rankOf(op.getTable()) == 2;
  loops.nest(op.getIds(), rankOf(op.getIds()), [&](ValueRange at) {
    Value id = loops.load(op.getIds(), at);
    Value zero = arith::ConstantIntOp::create(builder, loops.loc, 0, 32);
    Value isZero = arith::CmpIOp::create(builder, loops.loc,
                                         arith::CmpIPredicate::slt, id, zero);
    Value row =
        loops.toIndex(arith::MaxSIOp::create(builder, loops.loc, id, zero));
    auto copy = [&](ValueRange from, ValueRange to) {
      Value scaled = loops.mul(loops.load(op.getTable(), from),
                               loops.f32(op.getScale().convertToFloat()));
      loops.store(arith::SelectOp::create(builder, loops.loc, isZero,
                                          loops.f32(0), scaled),
                  op.getDestination(), to);
    };
    if (!hasWidth)
      return copy(row, at);
    loops.loop(loops.lastSize(op.getTable()),
               [&](Value d) { copy({row, d}, append(at, d)); });
  });
}

/// The position of the row at `at`: its second coordinate, or given per row.
static Value positionOf(Value positions, ValueRange at, Loops &loops) {
  return positions ? loops.toIndex(loops.load(positions, at[0])) : at[1];
}

static void lowerToLoops(SinusoidalPositionsOp op, Loops loops) {
  OpBuilder &builder = loops.builder;
  Type f64 = builder.getF64Type();
  auto constant = [&](double value) -> Value {
    return arith::ConstantOp::create(builder, loops.loc,
                                     builder.getF64FloatAttr(value));
  };
  auto toF64 = [&](Value index) -> Value {
    Value i64 = arith::IndexCastOp::create(builder, loops.loc,
                                           builder.getI64Type(), index);
    return arith::SIToFPOp::create(builder, loops.loc, f64, i64);
  };
  auto toF32 = [&](Value value) -> Value {
    return arith::TruncFOp::create(builder, loops.loc, builder.getF32Type(),
                                   value);
  };
  int64_t width = cast<MemRefType>(op.getInput().getType()).getShape().back();
  bool halves = op.getLayout() == PositionLayout::Halves;
  loops.nest(op.getInput(), rankOf(op.getInput()) - 1, [&](ValueRange at) {
    Value position = toF64(positionOf(op.getPositions(), at, loops));
    loops.loop(loops.index(width / 2), [&](Value k) {
      // p / 10000^(k / timescales), as p * exp(-ln(10000) / timescales * k).
      Value rate = constant(-std::log(10000.0) / op.getTimescales());
      Value frequency =
          math::ExpOp::create(builder, loops.loc, loops.mul(rate, toF64(k)));
      Value angle = loops.mul(position, frequency);
      Value stride = loops.index(halves ? 1 : 2);
      Value sinAt = arith::MulIOp::create(builder, loops.loc, k, stride);
      Value cosAt = arith::AddIOp::create(builder, loops.loc, sinAt,
                                          loops.index(halves ? width / 2 : 1));
      auto addAt = [&](Value where, Value term) {
        SmallVector<Value> place = append(at, where);
        loops.store(loops.add(loops.load(op.getInput(), place), toF32(term)),
                    op.getDestination(), place);
      };
      addAt(sinAt, math::SinOp::create(builder, loops.loc, angle));
      addAt(cosAt, math::CosOp::create(builder, loops.loc, angle));
    });
  });
}

static void lowerToLoops(LearnedPositionsOp op, Loops loops) {
  loops.nest(op.getInput(), rankOf(op.getInput()) - 1, [&](ValueRange at) {
    Value row = arith::AddIOp::create(loops.builder, loops.loc,
                                      positionOf(op.getPositions(), at, loops),
                                      loops.index(op.getOffset()));
    loops.loop(loops.lastSize(op.getInput()), [&](Value d) {
      SmallVector<Value> place = append(at, d);
      loops.store(loops.add(loops.load(op.getInput(), place),
                            loops.load(op.getTable(), {row, d})),
                  op.getDestination(), place);
    });
  });
}

//===----------------------------------------------------------------------===//
// linear, candidate_logits
//===----------------------------------------------------------------------===//

static void lowerToLoops(LinearOp op, Loops loops) {
  // Columns inside: the weight is read along its rows.
  Value columns = loops.size(op.getWeight(), 1);
  loops.nest(op.getInput(), rankOf(op.getInput()) - 1, [&](ValueRange at) {
    loops.loop(columns, [&](Value j) {
      loops.store(op.getBias() ? loops.load(op.getBias(), j) : loops.f32(0),
                  op.getDestination(), append(at, j));
    });
    loops.loop(loops.size(op.getWeight(), 0), [&](Value k) {
      Value x = loops.load(op.getInput(), append(at, k));
      loops.loop(columns, [&](Value j) {
        Value term = loops.mul(x, loops.load(op.getWeight(), {k, j}));
        SmallVector<Value> place = append(at, j);
        loops.store(loops.add(loops.load(op.getDestination(), place), term),
                    op.getDestination(), place);
      });
    });
  });
}

static void lowerToLoops(CandidateLogitsOp op, Loops loops) {
  OpBuilder &builder = loops.builder;
  Value lowest = loops.f32(-std::numeric_limits<float>::infinity());
  loops.nest(op.getInput(), rankOf(op.getInput()) - 1, [&](ValueRange at) {
    Value sentence = op.getSentences()
                         ? loops.toIndex(loops.load(op.getSentences(), at[0]))
                         : at[0];
    Value count = loops.toIndex(loops.load(op.getCounts(), sentence));
    loops.loop(loops.size(op.getRows(), 1), [&](Value c) {
      Value isCandidate = arith::CmpIOp::create(
          builder, loops.loc, arith::CmpIPredicate::slt, c, count);
      Value logit = loops.select(
          isCandidate,
          [&] {
            return loops.fold(loops.index(0), loops.lastSize(op.getRows()),
                              loops.load(op.getBias(), {sentence, c}),
                              [&](Value d, Value sum) {
                                Value x =
                                    loops.load(op.getInput(), append(at, d));
                                Value w =
                                    loops.load(op.getRows(), {sentence, c, d});
                                return loops.add(sum, loops.mul(x, w));
                              });
          },
          lowest);
      loops.store(logit, op.getDestination(), append(at, c));
    });
  });
}

//===----------------------------------------------------------------------===//
// activation, norm, add, fill, copy
//===----------------------------------------------------------------------===//

/// The formulas of Layers.td.
static Value activate(ActivationKind kind, Value x, Loops &loops) {
  OpBuilder &builder = loops.builder;
  auto tanh = [&](Value value) -> Value {
    return math::TanhOp::create(builder, loops.loc, value);
  };
  auto halfTimesOnePlus = [&](Value value) {
    return loops.mul(loops.mul(loops.f32(0.5), x),
                     loops.add(loops.f32(1), value));
  };
  switch (kind) {
  case ActivationKind::Relu:
    return loops.max(x, loops.f32(0));
  case ActivationKind::Gelu:
    return halfTimesOnePlus(math::ErfOp::create(
        builder, loops.loc, loops.mul(x, loops.f32(std::sqrt(0.5)))));
  case ActivationKind::GeluTanh: {
    Value cube = loops.mul(loops.mul(x, x), x);
    Value inner = loops.add(x, loops.mul(loops.f32(0.044715), cube));
    return halfTimesOnePlus(
        tanh(loops.mul(loops.f32(std::sqrt(2.0 / M_PI)), inner)));
  }
  case ActivationKind::QuickGelu:
    return loops.mul(x, loops.sigmoid(loops.mul(loops.f32(1.702), x)));
  case ActivationKind::Silu:
    return loops.mul(x, loops.sigmoid(x));
  case ActivationKind::Tanh:
    return tanh(x);
  case ActivationKind::Sigmoid:
    return loops.sigmoid(x);
  }
  llvm_unreachable("all activations are listed");
}

static void lowerToLoops(ActivationOp op, Loops loops) {
  loops.nest(op.getInput(), rankOf(op.getInput()), [&](ValueRange at) {
    loops.store(activate(op.getKind(), loops.load(op.getInput(), at), loops),
                op.getDestination(), at);
  });
}

static void lowerToLoops(NormOp op, Loops loops) {
  Value width = loops.lastSize(op.getInput());
  Value count =
      loops.f32(cast<MemRefType>(op.getInput().getType()).getShape().back());
  bool centered = op.getKind() == NormKind::Layer;
  loops.nest(op.getInput(), rankOf(op.getInput()) - 1, [&](ValueRange at) {
    auto input = [&](Value d) {
      return loops.load(op.getInput(), append(at, d));
    };
    auto mean = [&](function_ref<Value(Value)> term) {
      Value sum = loops.fold(
          loops.index(0), width, loops.f32(0),
          [&](Value d, Value sum) { return loops.add(sum, term(d)); });
      return loops.div(sum, count);
    };
    Value center = centered ? mean(input) : loops.f32(0);
    auto deviation = [&](Value d) { return loops.sub(input(d), center); };
    Value variance =
        mean([&](Value d) { return loops.mul(deviation(d), deviation(d)); });
    Value scale = math::SqrtOp::create(
        loops.builder, loops.loc,
        loops.add(variance, loops.f32(op.getEpsilon().convertToFloat())));
    loops.loop(width, [&](Value d) {
      Value y = loops.mul(loops.div(deviation(d), scale),
                          loops.load(op.getGamma(), d));
      if (op.getBeta())
        y = loops.add(y, loops.load(op.getBeta(), d));
      loops.store(y, op.getDestination(), append(at, d));
    });
  });
}

static void lowerToLoops(AddOp op, Loops loops) {
  loops.nest(op.getLhs(), rankOf(op.getLhs()), [&](ValueRange at) {
    loops.store(
        loops.add(loops.load(op.getLhs(), at), loops.load(op.getRhs(), at)),
        op.getDestination(), at);
  });
}

static void lowerToLoops(FillOp op, Loops loops) {
  loops.nest(op.getDestination(), rankOf(op.getDestination()),
             [&](ValueRange at) {
               loops.store(loops.f32(op.getValue().convertToFloat()),
                           op.getDestination(), at);
             });
}

static void lowerToLoops(memref::CopyOp op, Loops loops) {
  loops.nest(op.getTarget(), rankOf(op.getTarget()), [&](ValueRange at) {
    loops.store(loops.load(op.getSource(), at), op.getTarget(), at);
  });
}

//===----------------------------------------------------------------------===//
// attention, recurrence, cache.append, lookup
//===----------------------------------------------------------------------===//

static void lowerToLoops(AttentionOp op, Loops loops) {
  buildAttentionLoops(op, loops.builder);
}

static void lowerToLoops(RecurrenceOp op, Loops loops) {
  Value result = op.getDestination();
  auto advance = [&](Value previous, ValueRange at) {
    Value gate = loops.sigmoid(loops.load(op.getForget(), at));
    Value kept = loops.mul(gate, previous);
    Value taken =
        loops.mul(loops.sub(loops.f32(1), gate), loops.load(op.getValue(), at));
    loops.store(loops.add(kept, taken), result, at);
  };
  if (op.getStep())
    return loops.nest(
        result, 2, [&](ValueRange at) { advance(loops.load(result, at), at); });
  loops.nest(result, 3, [&](ValueRange at) {
    Value isFirst =
        arith::CmpIOp::create(loops.builder, loops.loc,
                              arith::CmpIPredicate::eq, at[1], loops.index(0));
    Value before =
        arith::SubIOp::create(loops.builder, loops.loc, at[1], loops.index(1));
    Value start = loops.f32(0);
    Value previous =
        scf::IfOp::create(
            loops.builder, loops.loc, isFirst,
            [&](OpBuilder &, Location) {
              scf::YieldOp::create(loops.builder, loops.loc, start);
            },
            [&](OpBuilder &, Location) {
              scf::YieldOp::create(loops.builder, loops.loc,
                                   loops.load(result, {at[0], before, at[2]}));
            })
            .getResult(0);
    advance(previous, at);
  });
}

static void lowerToLoops(CacheAppendOp op, Loops loops) {
  Value slots = loops.size(op.getDestination(), 1);
  loops.loop(loops.size(op.getInput(), 0), [&](Value row) {
    Value slot = arith::RemUIOp::create(
        loops.builder, loops.loc,
        loops.toIndex(loops.load(op.getPositions(), row)), slots);
    loops.loop(loops.lastSize(op.getInput()), [&](Value d) {
      loops.store(loops.load(op.getInput(), {row, d}), op.getDestination(),
                  {row, slot, d});
    });
  });
}

/// Unlike the others a lookup has a result, which replaces it.
static void lowerToLoops(LookupOp op, Loops loops) {
  SmallVector<Value> at;
  for (Value index : op.getIndices())
    at.push_back(loops.toIndex(index));
  if (auto vector = dyn_cast<VectorType>(op.getType())) {
    at.push_back(loops.index(0));
    op.replaceAllUsesWith(vector::LoadOp::create(loops.builder, loops.loc,
                                                 vector, op.getTable(), at)
                              .getResult());
  } else {
    op.replaceAllUsesWith(loops.load(op.getTable(), at));
  }
}

namespace {
struct LowerToLoops : heddle::impl::LowerToLoopsPassBase<LowerToLoops> {
  template <typename... Ops> WalkResult lower(Operation *op) {
    return TypeSwitch<Operation *, WalkResult>(op)
        .Case<Ops...>([](auto layer) {
          if (!isa<MemRefType>(layer->getOperand(0).getType())) {
            layer.emitOpError("is still on tensors: bufferise it first");
            return WalkResult::interrupt();
          }
          OpBuilder builder(layer);
          lowerToLoops(layer, Loops(builder, layer.getLoc()));
          layer.erase();
          return WalkResult::skip();
        })
        .Default([](Operation *) { return WalkResult::advance(); });
  }

  void runOnOperation() override {
    auto lowerAll = [&](Operation *op) {
      return lower<EmbeddingOp, SinusoidalPositionsOp, LearnedPositionsOp,
                   LinearOp, CandidateLogitsOp, ActivationOp, NormOp, AddOp,
                   FillOp, AttentionOp, RecurrenceOp, CacheAppendOp,
                   memref::CopyOp>(op);
    };
    // Attention first: inlining its regions brings lookups into the open.
    auto lowerLookups = [&](Operation *op) { return lower<LookupOp>(op); };
    if (getOperation().walk<WalkOrder::PreOrder>(lowerAll).wasInterrupted() ||
        getOperation().walk<WalkOrder::PreOrder>(lowerLookups).wasInterrupted())
      return signalPassFailure();
    // Masks were only descriptions: nothing uses them any more.
    SmallVector<MaskOpInterface> masks;
    getOperation().walk([&](MaskOpInterface mask) { masks.push_back(mask); });
    for (MaskOpInterface mask : llvm::reverse(masks))
      if (mask->use_empty())
        mask->erase();
  }
};
} // namespace
