//===- LowerToLoops.cpp - The reference lowering: plain loops -------------===//
//
// One function an op, whose loops are the op's formula. Everything is summed in
// ascending order, row by row, so that a row's bits depend on the row alone.
//
//===----------------------------------------------------------------------===//

#include "dialect/linear/GatedColumns.h"
#include "dialect/masks/MaskParts.h"
#include "lib/CodeGen/Loops/AttentionLoops.h"
#include "lib/CodeGen/Loops/ChoiceLoops.h"
#include "lib/CodeGen/Loops/LinearAttentionLoops.h"
#include "lib/CodeGen/Loops/ListedRow.h"
#include "lib/CodeGen/Loops/PoolLoops.h"
#include "lib/CodeGen/Loops/ProductLoops.h"
#include "lib/CodeGen/Loops/RoundFloats.h"
#include "lib/CodeGen/Loops/RowLoops.h"
#include "lib/CodeGen/Loops/StateLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/Passes.h"
#include "llvm/ADT/TypeSwitch.h"
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
static int64_t widthOf(Value memref) {
  return cast<MemRefType>(memref.getType()).getShape().back();
}

//===----------------------------------------------------------------------===//
// embedding, positions
//===----------------------------------------------------------------------===//

/// The position of the row at `at`: its second coordinate, or given per row.
static Value positionOf(Value positions, ValueRange at, Loops &loops) {
  return positions ? loops.toIndex(loops.load(positions, at[0])) : at[1];
}

/// The entry of the table at `at`, in its row `id`, times the scale; integers
/// and short floats without more as they are.
static Value loadEntry(EmbeddingOp op, Value id, ValueRange at, Loops &loops) {
  Value entry = loops.load(op.getTable(), at);
  if (Value scales = op.getScales()) {
    bool isOne = cast<MemRefType>(scales.getType()).getDimSize(0) == 1;
    Value scale = loops.load(scales, isOne ? loops.index(0) : id);
    entry = arith::SIToFPOp::create(loops.builder, loops.loc, scale.getType(),
                                    entry);
    entry = op.getDivides() ? loops.div(entry, scale) : loops.mul(entry, scale);
  }
  if (op.getWiden())
    entry = arith::ExtFOp::create(loops.builder, loops.loc,
                                  loops.builder.getF32Type(), entry);
  if (!entry.getType().isF32())
    return entry;
  return loops.mul(entry, loops.f32(op.getScale().convertToFloat()));
}

/// What `also` makes of the row of f32 at `at`.
static void shortenRow(ShortRowsOpInterface op, ValueRange at, Loops &loops) {
  OperandRange destinations =
      cast<DestinationOpInterface>(op.getOperation()).getDestinations();
  Value row = destinations[0];
  if (isQuantized(op.getAlso()))
    quantizeRow({row, op.getAlsoMultiplier(), destinations[1],
                 op.getAlsoMultiplier() ? Value() : destinations[2],
                 op.getAlso() == Shortening::QuantizeRotated},
                at, loops);
  else if (Type rounded = roundedType(op.getContext(), op.getAlso()))
    loops.loop(loops.lastSize(row), [&](Value d) {
      SmallVector<Value> place = append(at, d);
      loops.store(
          roundTo(rounded, loops.builder, loops.loc, loops.load(row, place)),
          destinations[1], place);
    });
}

static void lowerToLoops(EmbeddingOp op, Loops loops) {
  bool hasWidth = rankOf(op.getTable()) == 2;
  loops.nest(op.getIds(), rankOf(op.getIds()), [&](ValueRange at) {
    Value id = loops.load(op.getIds(), at);
    Value zero = loops.i32(0);
    Value isZero = loops.less(id, zero);
    Value row = loops.toIndex(loops.max(id, zero));
    auto copy = [&](ValueRange from, ValueRange to) {
      Value entry = loadEntry(op, row, from, loops);
      Value zero = loops.constant(0, entry);
      loops.store(loops.select(isZero, zero, entry),
                  op.getDestinations().front(), to);
    };
    if (!hasWidth)
      return copy(row, at);
    loops.loop(loops.lastSize(op.getTable()),
               [&](Value d) { copy({row, d}, append(at, d)); });
    Value result = op.getDestinations().front();
    if (op.getTimescales())
      addSinusoids(positionOf(op.getPositions(), at, loops),
                   *op.getTimescales(), *op.getLayout(), {result, result, at},
                   loops);
    else if (op.getPositionTable())
      addTableRow(op.getPositionTable(),
                  positionOf(op.getPositions(), at, loops), *op.getOffset(),
                  {result, result, at}, loops);
    shortenRow(op, at, loops);
  });
}

static void lowerToLoops(SinusoidalPositionsOp op, Loops loops) {
  loops.nest(op.getInput(), rankOf(op.getInput()) - 1, [&](ValueRange at) {
    addSinusoids(positionOf(op.getPositions(), at, loops), op.getTimescales(),
                 op.getLayout(), {op.getInput(), op.getDestination(), at},
                 loops);
  });
}

static void lowerToLoops(RotaryPositionsOp op, Loops loops) {
  loops.nest(op.getInput(), rankOf(op.getInput()) - 1, [&](ValueRange at) {
    rotateRow(op, positionOf(op.getPositions(), at, loops), at, loops);
  });
}

static void lowerToLoops(LearnedPositionsOp op, Loops loops) {
  loops.nest(op.getInput(), rankOf(op.getInput()) - 1, [&](ValueRange at) {
    addTableRow(op.getTable(), positionOf(op.getPositions(), at, loops),
                op.getOffset(), {op.getInput(), op.getDestination(), at},
                loops);
  });
}

//===----------------------------------------------------------------------===//
// linear, ffn, candidate_logits, largest_logits, quantize, round
//===----------------------------------------------------------------------===//

/// The activation, in place.
static void activateRow(ActivationKind kind, Value row, ValueRange at,
                        Loops &loops) {
  loops.loop(loops.lastSize(row), [&](Value d) {
    SmallVector<Value> place = append(at, d);
    loops.store(activate(kind, loops.load(row, place), loops), row, place);
  });
}

/// An element of a linear with its residual, or its gate.
static Value join(LinearOp op, Value y, ValueRange at, Loops &loops) {
  if (!op.getResidual())
    return y;
  Value other = loops.load(op.getResidual(), at);
  return op.getGates() ? loops.mul(y, other) : loops.add(other, y);
}

static void joinRow(LinearOp op, Value row, ValueRange at, Loops &loops) {
  loops.loop(loops.lastSize(row), [&](Value d) {
    SmallVector<Value> place = append(at, d);
    loops.store(join(op, loops.load(row, place), place, loops), row, place);
  });
}
static void joinRow(FfnOp op, Value row, ValueRange at, Loops &loops) {
  addRow(op.getResidual(), row, row, at, loops);
}

/// Residual and norm, in place, and what becomes of the row beside f32.
template <typename Op>
static void finishRow(Op op, ValueRange at, Loops &loops) {
  Value row = op.getDestinations().front();
  if (op.getResidual())
    joinRow(op, row, at, loops);
  if (op.getNorm())
    normalizeRow({*op.getNorm(), op.getGamma(), op.getBeta(), *op.getEpsilon()},
                 row, row, at, loops);
  shortenRow(op, at, loops);
}

/// The vector of a product at `at`.
template <typename Op> static ProductInput inputOf(Op op, ValueRange at) {
  return {op.getInput(), llvm::to_vector(at), op.getInputScales(),
          int64_t(op.getShift().value_or(0))};
}

/// The activation of a row of `gated` columns times those behind, in place:
/// what is read stands no further left than what is written.
static void gateRow(LinearOp op, Value row, Loops &loops) {
  loops.loop(loops.lastSize(op.getDestinations().front()), [&](Value d) {
    Value group = loops.udiv(d, kGatedColumns),
          lane = loops.urem(d, kGatedColumns);
    Value at = loops.add(loops.mul(group, 2 * kGatedColumns), lane);
    Value y = loops.load(row, at);
    if (op.getActivation())
      y = activate(*op.getActivation(), y, loops);
    Value other = loops.load(row, loops.add(at, kGatedColumns));
    loops.store(loops.mul(other, y), row, d);
  });
}

/// What is quantised or rounded in the end, of a row of f32.
static Value shorten(LinearOp op, Value y, Loops &loops) {
  if (op.getMultiplier())
    return quantizeValue(y, op.getMultiplier(), loops);
  return op.getRounds() ? roundTo(*op.getRounds(), loops.builder, loops.loc, y)
                        : y;
}

static void lowerToLoops(LinearOp op, Loops loops) {
  // Results in fewer bits are rows of f32 before.
  SmallVector<Value> rows;
  bool isGated = isGatedByColumns(op);
  if (!op.getResultElementType().isF32() || isGated)
    for (int64_t width : weightColumnsOf(op))
      rows.push_back(memref::AllocaOp::create(
          loops.builder, loops.loc,
          MemRefType::get(width, loops.builder.getF32Type())));
  ProductWeight weight =
      productWeight(op.getInput(), op.getWeight(), op.getWeightScales(),
                    op.getBias(), weightColumnsOf(op), loops);
  loops.nest(op.getInput(), rankOf(op.getInput()) - 1, [&](ValueRange at) {
    for (size_t part = 0; part < op.getWidths().size(); ++part) {
      Value destination = op.getDestinations()[part];
      Value result = rows.empty() ? destination : rows[part];
      ValueRange resultAt = rows.empty() ? at : ValueRange();
      multiplyRow(inputOf(op, at), weight, part, result, resultAt, loops);
      if (isGated)
        gateRow(op, result, loops);
      else if (op.getActivation())
        activateRow(*op.getActivation(), result, resultAt, loops);
      if (rows.empty())
        continue;
      loops.loop(loops.lastSize(destination), [&](Value d) {
        SmallVector<Value> place = append(at, d);
        Value y = join(op, loops.load(result, d), place, loops);
        loops.store(shorten(op, y, loops), destination, place);
      });
    }
    if (rows.empty() && !op.getSplit())
      finishRow(op, at, loops);
  });
}

static void lowerToLoops(FfnOp op, Loops loops) {
  OpBuilder &builder = loops.builder;
  auto rowOf = [&](ArrayRef<int64_t> shape, Type element) -> Value {
    return memref::AllocaOp::create(builder, loops.loc,
                                    MemRefType::get(shape, element));
  };
  int64_t width = op.getHiddenWidth();
  Value hidden = rowOf(width, builder.getF32Type());
  // What the second product multiplies.
  Type factor = cast<MemRefType>(op.getWeight2().getType()).getElementType();
  Value factors = factor.isF32() ? hidden : rowOf(width, factor);
  Value scale = op.scalesHidden() ? rowOf({}, builder.getF32Type()) : Value();
  int64_t shift = int64_t(op.getShift().value_or(0));
  ProductWeight first =
      productWeight(op.getInput(), op.getWeight1(), op.getWeight1Scales(),
                    op.getBias1(), width, loops);
  ProductWeight second = productWeight(
      op.getInput(), op.getWeight2(), op.getWeight2Scales(), op.getBias2(),
      widthOf(op.getDestinations().front()), loops);
  loops.nest(op.getInput(), rankOf(op.getInput()) - 1, [&](ValueRange at) {
    multiplyRow(inputOf(op, at), first, /*part=*/0, hidden, {}, loops);
    if (op.getActivation())
      activateRow(*op.getActivation(), hidden, {}, loops);
    if (isShortFloat(factor))
      loops.loop(loops.index(width), [&](Value d) {
        loops.store(roundTo(factor, builder, loops.loc, loops.load(hidden, d)),
                    factors, d);
      });
    else if (!factor.isF32())
      quantizeRow({hidden, op.getMultiplier(), factors, scale, op.getRotated()},
                  {}, loops);
    multiplyRow({factors, {}, scale, shift}, second, /*part=*/0,
                op.getDestinations().front(), at, loops);
    finishRow(op, at, loops);
  });
}

static void lowerToLoops(CandidateLogitsOp op, Loops loops) {
  Value lowest = loops.f32(-std::numeric_limits<float>::infinity());
  loops.nest(op.getInput(), rankOf(op.getInput()) - 1, [&](ValueRange at) {
    Value sentence = op.getSentences()
                         ? loops.toIndex(loops.load(op.getSentences(), at[0]))
                         : at[0];
    Value count = loops.toIndex(loops.load(op.getCounts(), sentence));
    loops.loop(loops.lastSize(op.getDestination()), [&](Value c) {
      Value isCandidate = loops.less(c, count);
      Value logit = loops.ifYield(
          isCandidate,
          [&] {
            SmallVector<Value> row = {sentence, c};
            if (Value ids = op.getCandidates())
              row = {loops.toIndex(loops.load(ids, row))};
            return multiplyRows(inputOf(op, at),
                                {op.getRows(), op.getRowScales(), op.getBias()},
                                row, loops);
          },
          lowest);
      loops.store(logit, op.getDestination(), append(at, c));
    });
  });
}

static void lowerToLoops(LargestLogitsOp op, Loops loops) {
  loopOverLargest(op, loops);
}
static void lowerToLoops(BestLogitsOp op, Loops loops) {
  loopOverBest(op, loops);
}

static void lowerToLoops(QuantizeOp op, Loops loops) {
  loops.nest(op.getInput(), rankOf(op.getInput()) - 1, [&](ValueRange at) {
    quantizeRow({op.getInput(), op.getMultiplier(),
                 op.getDestinations().front(), op.getScales(), op.getRotated()},
                at, loops);
  });
}

/// Heads as vectors of their own.
static void lowerToLoops(QuantizeHeadsOp op, Loops loops) {
  auto headsOf = [&](Value rows) -> Value {
    auto type = cast<MemRefType>(rows.getType());
    int64_t last = type.getRank() - 1, heads = op.getHeads();
    SmallVector<int64_t> shape(type.getShape().drop_back());
    SmallVector<OpFoldResult> sizes =
        memref::getMixedSizes(loops.builder, loops.loc, rows);
    sizes.pop_back();
    SmallVector<ReassociationIndices> axes;
    for (int64_t axis = 0; axis < last; ++axis)
      axes.push_back({axis});
    axes.push_back({last, last + 1});
    for (int64_t size : {heads, type.getDimSize(last) / heads}) {
      shape.push_back(size);
      sizes.push_back(loops.builder.getIndexAttr(size));
    }
    return memref::ExpandShapeOp::create(loops.builder, loops.loc, shape, rows,
                                         axes, sizes);
  };
  Value input = headsOf(op.getInput()),
        integers = headsOf(op.getDestinations().front());
  loops.nest(input, rankOf(input) - 1, [&](ValueRange at) {
    quantizeRow(
        {input, /*multiplier=*/Value(), integers, op.getDestinations().back()},
        at, loops);
  });
}

static void lowerToLoops(RoundOp op, Loops loops) {
  loops.nest(op.getInput(), rankOf(op.getInput()), [&](ValueRange at) {
    loops.store(roundTo(op.getTo(), loops.builder, loops.loc,
                        loops.load(op.getInput(), at)),
                op.getDestination(), at);
  });
}

static void lowerToLoops(FakeQuantizeOp op, Loops loops) {
  loops.nest(op.getInput(), rankOf(op.getInput()) - 1,
             [&](ValueRange at) { fakeQuantizeRow(op, at, loops); });
}

//===----------------------------------------------------------------------===//
// activation, norm, normalize, add, fill, copy
//===----------------------------------------------------------------------===//

static void lowerToLoops(ActivationOp op, Loops loops) {
  loops.nest(op.getInput(), rankOf(op.getInput()), [&](ValueRange at) {
    loops.store(activate(op.getKind(), loops.load(op.getInput(), at), loops),
                op.getDestination(), at);
  });
}

static void lowerToLoops(NormOp op, Loops loops) {
  loops.nest(op.getInput(), rankOf(op.getInput()) - 1, [&](ValueRange at) {
    Value source = op.getInput(), result = op.getDestinations().front();
    if (op.getResidual()) {
      addRow(op.getResidual(), op.getInput(), result, at, loops);
      source = result;
    }
    normalizeRow({op.getKind(), op.getGamma(), op.getBeta(), op.getEpsilon()},
                 source, result, at, loops);
    shortenRow(op, at, loops);
  });
}

static void lowerToLoops(NormalizeOp op, Loops loops) {
  Value input = op.getInput(), result = op.getDestination();
  loops.nest(input, rankOf(input) - 1, [&](ValueRange at) {
    auto x = [&](Value d) { return loops.load(input, append(at, d)); };
    Value squares = loops.fold(loops.index(0), loops.lastSize(input),
                               loops.f32(0), [&](Value d, Value sum) {
                                 return loops.add(sum, loops.mul(x(d), x(d)));
                               });
    Value length =
        loops.max(math::SqrtOp::create(loops.builder, loops.loc, squares),
                  loops.f32(op.getEpsilon().convertToFloat()));
    loops.loop(loops.lastSize(input), [&](Value d) {
      loops.store(loops.div(x(d), length), result, append(at, d));
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

static void lowerToLoops(MultiplyOp op, Loops loops) {
  loops.nest(op.getLhs(), rankOf(op.getLhs()), [&](ValueRange at) {
    loops.store(
        loops.mul(loops.load(op.getLhs(), at), loops.load(op.getRhs(), at)),
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
// attention, pool, recurrence, cache.append, lookup
//===----------------------------------------------------------------------===//

static void lowerToLoops(AttentionOp op, Loops loops) {
  buildAttentionLoops(op, loops.builder);
}

static void lowerToLoops(LinearAttentionOp op, Loops loops) {
  buildLinearAttentionLoops(op, loops.builder);
}
static void lowerToLoops(LinearAttentionSumsOp op, Loops loops) {
  buildLinearAttentionLoops(op, loops.builder);
}
static void lowerToLoops(LinearAttentionReadOp op, Loops loops) {
  buildLinearAttentionLoops(op, loops.builder);
}

static void lowerToLoops(ProjectSequenceOp op, Loops loops) {
  int64_t part = cast<MemRefType>(op.getInput().getType()).getShape().back() /
                 op.getHeads();
  loops.nest(op.getDestination(), 3, [&](ValueRange at) {
    Value count = loops.size(op.getInput(), 1);
    if (op.getLengths())
      count =
          loops.min(count, loops.toIndex(loops.load(op.getLengths(), at[0])));
    Value sum = loops.fold(
        loops.index(0), count, loops.f32(0), [&](Value j, Value sum) {
          SmallVector<Value> place = {at[1], j};
          if (rankOf(op.getProjection()) == 3)
            place.insert(place.begin(), loops.udiv(at[2], part));
          return loops.add(
              sum, loops.mul(loops.load(op.getProjection(), place),
                             loops.load(op.getInput(), {at[0], j, at[2]})));
        });
    loops.store(sum, op.getDestination(), at);
  });
}

static void lowerToLoops(TakeRowsOp op, Loops loops) {
  Value input = op.getInput(), result = op.getDestination();
  RowLists lists = {op.getTokens(), input, op.getStarts(), op.getLengths()};
  loops.nest(result, rankOf(result), [&](ValueRange at) {
    ListedPlace listed =
        findListedPlace(loops.builder, loops.loc, lists, at.drop_back());
    Value x = loops.load(input, append(listed.row, at.back()));
    loops.store(loops.select(listed.isRow, x, loops.f32(0)), result, at);
  });
}

static void lowerToLoops(PutRowsOp op, Loops loops) {
  Value result = op.getDestination();
  RowLists lists = {op.getTokens(), result, op.getStarts(), op.getLengths()};
  loops.nest(op.getInput(), 3, [&](ValueRange at) {
    ListedPlace listed =
        findListedPlace(loops.builder, loops.loc, lists, at.drop_back());
    loops.ifThen(listed.isRow, [&] {
      loops.store(loops.load(op.getInput(), at), result,
                  append(listed.row, at.back()));
    });
  });
}

static void lowerToLoops(PoolOp op, Loops loops) { buildPoolLoops(op, loops); }

static void lowerToLoops(RecurrenceOp op, Loops loops) {
  buildStateLoops(op, loops);
}
static void lowerToLoops(CacheAppendOp op, Loops loops) {
  buildStateLoops(op, loops);
}
static void lowerToLoops(CacheFillOp op, Loops loops) {
  buildStateLoops(op, loops);
}
static void lowerToLoops(LastRowsOp op, Loops loops) {
  buildStateLoops(op, loops);
}

/// Unlike the others a lookup has a result, which replaces it.
static void lowerToLoops(LookupOp op, Loops loops) {
  SmallVector<Value> at;
  for (auto [axis, index] : llvm::enumerate(op.getIndices())) {
    Value last = loops.sub(loops.size(op.getTable(), axis), loops.index(1));
    Value limited = loops.min(loops.toIndex(index), last);
    at.push_back(loops.max(limited, loops.index(0)));
  }
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
      return lower<
          EmbeddingOp, SinusoidalPositionsOp, LearnedPositionsOp, LinearOp,
          FfnOp, CandidateLogitsOp, LargestLogitsOp, BestLogitsOp, QuantizeOp,
          QuantizeHeadsOp, RoundOp, FakeQuantizeOp, ActivationOp, NormOp, AddOp,
          MultiplyOp, RotaryPositionsOp, FillOp, AttentionOp, LinearAttentionOp,
          LinearAttentionSumsOp, LinearAttentionReadOp, ProjectSequenceOp,
          TakeRowsOp, PutRowsOp, PoolOp, NormalizeOp, RecurrenceOp,
          CacheAppendOp, CacheFillOp, LastRowsOp, memref::CopyOp>(op);
    };
    // Attention first: inlining its regions brings lookups into the open.
    auto lowerLookups = [&](Operation *op) { return lower<LookupOp>(op); };
    if (getOperation().walk<WalkOrder::PreOrder>(lowerAll).wasInterrupted() ||
        getOperation().walk<WalkOrder::PreOrder>(lowerLookups).wasInterrupted())
      return signalPassFailure();
    // Masks were only descriptions.
    eraseUnusedMasks(getOperation());
  }
};
} // namespace
