//===- RangeMerger.cpp - One list of a row's lists ------------------------===//
//
// Each element finds its own place: it is the number of those that come before
// it, which a binary search of each list counts. So there is nothing to wait
// for, and lists of any number and length are merged alike.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/CallLayout.h"
#include "lib/Kernels/Gpu/Runtime/RuntimeKernel.h"
#include <limits>

using namespace mlir;
using namespace heddle;

namespace {
/// An element of a list.
struct Element {
  Value value, id;
  /// 2 of an id, 1 of NaN, 0 of none; and what elements of one kind are
  /// compared by: NaN never is.
  Value kind, key;
};

class RangeMerger {
public:
  RangeMerger(ModuleOp module, int64_t number)
      : kernel(module,
               {HEDDLE_MERGE_RANGES, number, HEDDLE_MERGE_THREADS, 4, 3}),
        code(kernel.code()), values(pointerTo(MergeField::Values)),
        ids(pointerTo(MergeField::Ids)), ranges(load(MergeField::Ranges)),
        count(load(MergeField::Count)) {}

  void build();

private:
  Value load(MergeField field) { return kernel.load(int32_t(field)); }
  Value pointerTo(MergeField field) { return kernel.pointerTo(int32_t(field)); }
  Value addressOf(Value numbers, Value element) {
    return code.at(numbers, code.rowOffset(element, code.i32(4)));
  }
  Element elementAt(Value place);
  Value comesBefore(const Element &other, Value isOfRangeBefore,
                    const Element &mine);
  Value countBefore(Value first, Value isOfRangeBefore, const Element &mine);

  RuntimeKernel kernel;
  BlockCode &code;
  Value values, ids, ranges, count;
};
} // namespace

Element RangeMerger::elementAt(Value place) {
  Element element;
  element.value =
      code.loadOne(code.builder.getF32Type(), addressOf(values, place));
  element.id = code.loadOne(code.builder.getI32Type(), addressOf(ids, place));
  // Without a sign -1 is the last one.
  Value hasId = code.uless(element.id, code.i32(-1));
  Value isNumber = code.equal(element.value, element.value);
  element.kind = code.select(hasId, code.i32(2),
                             code.select(isNumber, code.i32(0), code.i32(1)));
  element.key = code.select(hasId, element.value,
                            code.f32(-std::numeric_limits<float>::infinity()));
  return element;
}

Value RangeMerger::comesBefore(const Element &other, Value isOfRangeBefore,
                               const Element &mine) {
  Value isLarger = code.greater(other.key, mine.key);
  Value isFirst =
      code.logicalAnd(code.equal(other.key, mine.key), isOfRangeBefore);
  return code.logicalOr(code.uless(mine.kind, other.kind),
                        code.logicalAnd(code.equal(mine.kind, other.kind),
                                        code.logicalOr(isLarger, isFirst)));
}

/// How many elements of the list that begins at `first` come before `mine`.
Value RangeMerger::countBefore(Value first, Value isOfRangeBefore,
                               const Element &mine) {
  OpBuilder &builder = code.builder;
  Location loc = code.loc;
  // Those in front of `low` do, those from `high` on do not.
  SmallVector<Value> bounds = {code.i32(0), count};
  auto hasMiddle = [&](OpBuilder &, Location, ValueRange now) {
    scf::ConditionOp::create(builder, loc, code.uless(now[0], now[1]), now);
  };
  auto halve = [&](OpBuilder &, Location, ValueRange now) {
    Value middle = code.shiftRight(code.add(now[0], now[1]), 1);
    Value isBefore =
        comesBefore(elementAt(code.add(first, middle)), isOfRangeBefore, mine);
    Value low = code.select(isBefore, code.add(middle, 1), now[0]);
    Value high = code.select(isBefore, now[1], middle);
    scf::YieldOp::create(builder, loc, ValueRange{low, high});
  };
  return scf::WhileOp::create(builder, loc, ValueRange(bounds).getTypes(),
                              bounds, hasMiddle, halve)
      .getResult(0);
}

void RangeMerger::build() {
  Value bestValues = pointerTo(MergeField::BestValues);
  Value bestIds = pointerTo(MergeField::BestIds);
  Value ofRow = code.mul(ranges, count);
  Value all = code.mul(load(MergeField::Rows), ofRow);
  Value place = kernel.threadOfGrid();
  code.ifThen(code.uless(place, all), [&] {
    Element mine = elementAt(place);
    Value row = code.udiv(place, ofRow);
    Value inRow = code.urem(place, ofRow);
    Value range = code.udiv(inRow, count);
    Value before = code.foldAll(
        ranges, {code.urem(inRow, count)}, [&](Value other, ValueRange now) {
          Value first = code.add(code.mul(row, ofRow), code.mul(other, count));
          Value found = countBefore(first, code.uless(other, range), mine);
          // Of its own list, those in front of it.
          Value isOwn = code.equal(other, range);
          return SmallVector<Value>{
              code.select(isOwn, now[0], code.add(now[0], found))};
        })[0];
    code.ifThen(code.uless(before, count), [&] {
      Value at = code.add(code.mul(row, count), before);
      code.storeOne(mine.value, addressOf(bestValues, at));
      code.storeOne(mine.id, addressOf(bestIds, at));
    });
  });
}

void heddle::buildRangeMerger(ModuleOp module, int64_t number) {
  RangeMerger(module, number).build();
}
