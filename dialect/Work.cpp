//===- Work.cpp - What layer ops have to do -------------------------------===//
//
// The arithmetic of a profile, built as index arithmetic on the sizes of an
// op's memrefs. Attention counts the pairs inside its mask's segments, query
// by query: exact for causal, padding and plain windows, an upper bound if
// ranges hold more than the mask (dilation, negation).
//
//===----------------------------------------------------------------------===//

#include "dialect/Arith.h"
#include "dialect/LayerChecks.h"
#include "dialect/attention/Attention.h"
#include "dialect/linear/GatedColumns.h"
#include "dialect/masks/MaskParts.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <numeric>

using namespace mlir;
using namespace heddle;

namespace {
/// Index arithmetic.
struct Counter : Arith {
  using Arith::Arith;

  Value size(Value memref, int64_t axis) {
    return builder.createOrFold<memref::DimOp>(loc, memref, axis);
  }
  Value elements(Value memref) {
    Value product = index(1);
    for (int64_t axis = 0; axis < shapedType(memref).getRank(); ++axis)
      product = mul(product, size(memref, axis));
    return product;
  }
  Value bytes(Value memref) {
    return mul(elements(memref),
               shapedType(memref).getElementTypeBitWidth() / 8);
  }
  /// The sum of body(i) for i in [0, end).
  Value sum(Value end, llvm::function_ref<Value(Value)> body) {
    Value zero = index(0);
    return scf::ForOp::create(
               builder, loc, zero, end, index(1), zero,
               [&](OpBuilder &, Location, Value i, ValueRange carried) {
                 scf::YieldOp::create(builder, loc,
                                      add(carried.front(), body(i)));
               })
        .getResult(0);
  }
  /// Places of the list of query i.
  Value sizeOf(Value list, Value b, Value h, Value i) {
    Lanes lanes(builder, loc);
    Value size = list.getDefiningOp<KeyListOpInterface>().listSize(
        lanes, {toI32(b), toI32(h), toI32(i), Value()});
    return toIndex(size);
  }
  /// Keys of the segments that the one query of `block` sees.
  Value keysOf(Value mask, const QueryBlock &block) {
    // Closed forms of its parts stand in front of the loop.
    keyRangesOf(builder, loc, block, mask);
    Value zero = index(0);
    auto loop = scf::WhileOp::create(
        builder, loc, TypeRange{zero.getType(), zero.getType()},
        ValueRange{zero, zero},
        [&](OpBuilder &, Location, ValueRange carried) {
          Value isLeft = less(carried[0], block.keyCount);
          scf::ConditionOp::create(builder, loc, isLeft, carried);
        },
        [&](OpBuilder &, Location, ValueRange carried) {
          auto [cover, end] = segmentAt(builder, loc, block, mask, carried[0]);
          Value isSeen = notEqual(cover, zero);
          Value length = sub(end, carried[0]);
          Value seen = select(isSeen, length, zero);
          scf::YieldOp::create(builder, loc,
                               ValueRange{end, add(carried[1], seen)});
        });
    return loop.getResult(1);
  }
};
} // namespace

Value heddle::buildByteSize(OpBuilder &builder, Location loc,
                            ValueRange operands) {
  Counter counter{builder, loc};
  Value bytes = counter.index(0);
  for (Value operand : operands)
    if (isa<MemRefType>(operand.getType()))
      bytes = counter.add(bytes, counter.bytes(operand));
  return bytes;
}

/// Reads the rows that it gathers, not the table.
Value EmbeddingOp::buildBytes(OpBuilder &builder) {
  Counter counter{builder, getLoc()};
  auto rowBytes = [](Value table) {
    ShapedType type = shapedType(table);
    return type.getNumElements() / type.getDimSize(0) *
           type.getElementTypeBitWidth() / 8;
  };
  int64_t read = rowBytes(getTable());
  if (getPositionTable())
    read += rowBytes(getPositionTable());
  Value ids = counter.elements(getIds());
  return counter.add(
      counter.add(counter.mul(ids, read), counter.bytes(getIds())),
      buildByteSize(builder, getLoc(), getDestinations()));
}

/// Rows, read and written, and numbers that say where; lists may name any.
static Value countMovedBytes(OpBuilder &builder, Value rows, Value numbers) {
  Counter counter{builder, rows.getLoc()};
  return counter.add(counter.mul(counter.bytes(rows), 2),
                     counter.bytes(numbers));
}

Value CacheAppendOp::buildBytes(OpBuilder &builder) {
  return countMovedBytes(builder, getInput(), getPositions());
}

/// As if whole sequences were kept.
Value CacheFillOp::buildBytes(OpBuilder &builder) {
  return countMovedBytes(builder, getInput(), getLengths());
}

Value LastRowsOp::buildBytes(OpBuilder &builder) {
  return countMovedBytes(builder, getDestination(), getLengths());
}

Value TakeRowsOp::buildBytes(OpBuilder &builder) {
  return countMovedBytes(builder, getDestination(), getTokens());
}
Value PutRowsOp::buildBytes(OpBuilder &builder) {
  return countMovedBytes(builder, getInput(), getTokens());
}

Value LinearOp::buildFlops(OpBuilder &builder) {
  Counter counter{builder, getLoc()};
  return counter.mul(counter.elements(getInput()),
                     2 * llvm::sum_of(weightColumnsOf(*this)));
}

Value FfnOp::buildFlops(OpBuilder &builder) {
  Counter counter{builder, getLoc()};
  Value first = counter.mul(counter.elements(getInput()), 2);
  Value second = counter.mul(counter.elements(getDestinations().front()), 2);
  return counter.mul(counter.add(first, second), getHiddenWidth());
}

static Value flopsOf(RangedLogitsOpInterface op, OpBuilder &builder) {
  Counter counter{builder, op.getLoc()};
  return counter.mul(counter.elements(op.getInput()), 2 * op.getVocabulary());
}
Value LargestLogitsOp::buildFlops(OpBuilder &builder) {
  return flopsOf(*this, builder);
}
Value BestLogitsOp::buildFlops(OpBuilder &builder) {
  return flopsOf(*this, builder);
}

/// Of the longest list, for every row: lists are contents.
Value CandidateLogitsOp::buildFlops(OpBuilder &builder) {
  Counter counter{builder, getLoc()};
  return counter.mul(counter.elements(getDestination()), 2 * width(getInput()));
}

/// Reads a row a logit, as often as sentences share it.
Value CandidateLogitsOp::buildBytes(OpBuilder &builder) {
  Counter counter{builder, getLoc()};
  constexpr int64_t bytesOfF32 = 4;
  int64_t row =
      width(getInput()) * shapedType(getRows()).getElementTypeBitWidth() / 8;
  int64_t besides = bytesOfF32 * (getRowScales() ? 3 : 2);
  return counter.add(
      counter.mul(counter.elements(getDestination()), row + besides),
      counter.bytes(getInput()));
}

/// A similarity a pair and head, and a product with a value.
Value AttentionOp::buildFlops(OpBuilder &builder) {
  Counter counter{builder, getLoc()};
  Location loc = getLoc();
  auto load = [&](Value memref, Value row) -> Value {
    return counter.toIndex(memref::LoadOp::create(builder, loc, memref, row));
  };
  MaskParts parts = splitMask(builder, getMask());
  /// Keys that the mask's segments and lists allow query i of sentence b.
  auto keysOf = [&](Value b, Value h, Value i, Value keyCount) {
    if (!parts.tiled)
      return keyCount;
    Value end = counter.add(i, 1);
    Value keys =
        counter.keysOf(parts.tiled, QueryBlock{b, h, i, end, keyCount});
    for (const MaskParts::List &list : parts.lists)
      keys = counter.add(keys, counter.sizeOf(list.keys, b, h, i));
    return keys;
  };
  Value slots = hasRaggedKeys() ? Value() : counter.size(getKey(), 1);
  Value pairs = counter.sum(counter.index(getHeads()), [&](Value h) {
    return counter.sum(counter.size(getQuery(), 0), [&](Value row) {
      if (!getPositions()) {
        Value keys = getStarts() ? load(getLengths(), row) : slots;
        return counter.sum(counter.size(getQuery(), 1),
                           [&](Value i) { return keysOf(row, h, i, keys); });
      }
      Value i = load(getPositions(), row);
      Value b = load(getSentences(), row);
      if (isRagged())
        return keysOf(b, h, i, load(getLengths(), b));
      if (getShared())
        return keysOf(b, h, i, slots);
      // A cache holds the latest positions, up to the query's own.
      Value seen = counter.add(i, 1);
      Value keys = keysOf(b, h, i, seen);
      return counter.min(keys, slots);
    });
  });
  return counter.mul(pairs, similarityOperations(*this) + 2 * getValueWidth());
}

/// Of caches as many as there are rows, whole.
Value AttentionOp::buildBytes(OpBuilder &builder) {
  if (!getCaches() && !getHistory())
    return buildByteSize(builder, getLoc(), getOperands());
  Counter counter{builder, getLoc()};
  int64_t bits = 0;
  for (Value kept : {getKey(), getValue(), getKeyScales(), getValueScales()})
    if (kept)
      bits += shapedType(kept).getElementTypeBitWidth() * width(kept);
  Value slots =
      counter.mul(counter.size(getQuery(), 0), counter.size(getKey(), 1));
  SmallVector<Value> others = {getQuery(), getPositions(), getSentences(),
                               getCaches() ? getCaches() : getHistory(),
                               getDestination()};
  return counter.add(counter.mul(slots, bits / 8),
                     buildByteSize(builder, getLoc(), others));
}

/// What a query or a key does to the sums of its head.
static int64_t flopsOfSums(ArrayRef<int64_t> sums) {
  int64_t features = sums[0], width = sums[1];
  return 2 * features * (width + 1);
}

/// Positions of keys that there are, of all sentences.
static Value countKeys(Counter &counter, Value key, Value lengths) {
  Value length = counter.size(key, 1);
  if (!lengths)
    return counter.mul(counter.size(key, 0), length);
  return counter.sum(counter.size(key, 0), [&](Value sentence) -> Value {
    Value own = counter.toIndex(memref::LoadOp::create(
        counter.builder, counter.loc, lengths, sentence));
    return counter.min(own, length);
  });
}

Value ProjectSequenceOp::buildFlops(OpBuilder &builder) {
  Counter counter{builder, getLoc()};
  return counter.mul(countKeys(counter, getInput(), getLengths()),
                     2 * getRows() * width(getInput()));
}

/// Reads the columns of the projection that there are positions for.
Value ProjectSequenceOp::buildBytes(OpBuilder &builder) {
  Counter counter{builder, getLoc()};
  constexpr int64_t bytesOfF32 = 4;
  Value columns = counter.mul(counter.size(getInput(), 1),
                              getHeads() * getRows() * bytesOfF32);
  return counter.add(columns, buildByteSize(builder, getLoc(),
                                            {getInput(), getDestination()}));
}

/// Of a row for each position, as many rows as a memref has.
static Value countRows(Counter &counter, Value rows) {
  Value count = counter.index(1);
  for (int64_t axis = 0; axis + 1 < shapedType(rows).getRank(); ++axis)
    count = counter.mul(count, counter.size(rows, axis));
  return count;
}

Value LinearAttentionOp::buildFlops(OpBuilder &builder) {
  Counter counter{builder, getLoc()};
  int64_t each = flopsOfSums({getFeatureWidth(), getValueWidth()});
  Value keys = getStep() ? counter.size(getKey(), 0)
                         : countKeys(counter, getKey(), getLengths());
  return counter.add(
      counter.mul(keys, getKeyValueHeads() * each),
      counter.mul(countRows(counter, getQuery()), getHeads() * each));
}

Value LinearAttentionSumsOp::buildFlops(OpBuilder &builder) {
  Counter counter{builder, getLoc()};
  ArrayRef<int64_t> sums =
      shapedType(getDestinations().front()).getShape().take_back(2);
  return counter.mul(countKeys(counter, getKey(), getLengths()),
                     getHeads() * flopsOfSums(sums));
}

Value LinearAttentionReadOp::buildFlops(OpBuilder &builder) {
  Counter counter{builder, getLoc()};
  ArrayRef<int64_t> sums = shapedType(getSums()).getShape().take_back(2);
  return counter.mul(countRows(counter, getQuery()),
                     getHeads() * flopsOfSums(sums));
}
