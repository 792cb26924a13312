//===- AttentionCopies.cpp - Tiles for attention by warpgroups ------------===//
//
// Tiles come in the order in which the other warpgroups multiply them: keys of
// tile 0, keys of tile 1, values of tile 0, keys of tile 2, values of tile 1
// and so on. Each copy is a group of cp.async. A thread reports a stage as full
// when its group has ended, while the groups of later stages are under way. A
// bit for each of these stages remembers whether its values must be searched
// for NaN and infinity before the report.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Gpu/Attention/AttentionCopies.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace heddle;

static constexpr int64_t kWordBytes = 4;

namespace {
class AttentionCopies {
public:
  explicit AttentionCopies(AttentionPlace &place);

  void build();

private:
  /// Of the ring: the next stage, how many there were, and a bit for each of
  /// the latest, the last one's lowest: whether its values have to be looked
  /// at.
  struct Progress {
    Value slot, parity, copied, marks;

    SmallVector<Value> values() const { return {slot, parity, copied, marks}; }
    static Progress of(ValueRange values) {
      return {values[0], values[1], values[2], values[3]};
    }
  };
  Progress copyIf(Value condition, const Progress &before, Value mark,
                  function_ref<void(Value)> copy);
  void report(const Progress &progress, int64_t behind);

  AttentionPlace &place;
  WarpgroupCode &code;
  QueryBlock asked;
  KeyTiles walk;
};
} // namespace

AttentionCopies::AttentionCopies(AttentionPlace &place)
    : place(place), code(place.code), asked(place.asked()),
      walk(place.walk(asked)) {}

/// Says of the stage `behind` the next one, where there was one, that this
/// thread's rows have come. 0 times what is no number is none: values that are
/// not finite become zeros before, unless all queries have their keys. A warp's
/// word says whether it found any.
void AttentionCopies::report(const Progress &progress, int64_t behind) {
  Value exists = code.uless(code.i32(behind - 1), progress.copied);
  code.ifThen(exists, [&] {
    Value slot = place.ring.slotBefore(progress.slot, behind, code);
    Value bit = code.i32(int64_t(1) << (behind - 1));
    Value isMarked = code.equal(code.bitAnd(progress.marks, bit), bit);
    auto clear = [&] {
      return code.vote(place.memory.values.clearOthers(
          place.ring.memoryOf(slot, code), code));
    };
    Value found = code.ifYield(isMarked, clear, code.i32(0));
    Value word = code.shared(code.add(place.memory.foundOf(slot, code),
                                      code.mul(code.warp(), kWordBytes)));
    code.ifThen(code.equal(code.lane(), code.i32(0)),
                [&] { code.storeOne(found, word); });
    code.fenceForProducts();
    code.arrive(place.ring.full(slot, code));
  });
}

/// Copies a tile to the next stage, if the condition holds.
AttentionCopies::Progress
AttentionCopies::copyIf(Value condition, const Progress &before, Value mark,
                        function_ref<void(Value)> copy) {
  auto choice = scf::IfOp::create(
      code.builder, code.loc, condition,
      [&](OpBuilder &builder, Location loc) {
        code.waitForPhase(place.ring.empty(before.slot, code), before.parity);
        copy(place.ring.memoryOf(before.slot, code));
        code.endGroup();
        code.waitForGroups(place.shape.underWay());
        Value bit = code.select(mark, code.i32(1), code.i32(0));
        StageRing::Place next =
            place.ring.next({before.slot, before.parity}, code);
        Progress after = {next.slot, next.parity, code.add(before.copied, 1),
                          code.bitOr(code.shiftLeft(before.marks, 1), bit)};
        report(after, place.shape.underWay() + 1);
        scf::YieldOp::create(builder, loc, after.values());
      },
      [&](OpBuilder &builder, Location loc) {
        scf::YieldOp::create(builder, loc, before.values());
      });
  return Progress::of(choice.getResults());
}

void AttentionCopies::build() {
  const AttentionMemory &memory = place.memory;
  // Queries come with the first keys.
  memory.queries.copy(place.rows.queries, place.block.first, code.i32(0), code);
  Value no = code.i1(false);
  KeyTile first = walk.from(code.index(0));
  StageRing::Place empty = place.ring.firstEmpty(code);
  // The tile of keys and, if there is one, that of values.
  SmallVector<Value> carried = {first.first, first.isFull, first.first, no, no};
  carried.append(
      Progress{empty.slot, empty.parity, code.i32(0), code.i32(0)}.values());
  auto isLeft = [&](OpBuilder &, Location, ValueRange now) {
    Value hasKeys = place.hasKeys({now[0], now[1]});
    scf::ConditionOp::create(code.builder, code.loc,
                             code.logicalOr(hasKeys, now[4]), now);
  };
  auto step = [&](OpBuilder &, Location, ValueRange now) {
    KeyTile keys = {now[0], now[1]}, values = {now[2], now[3]};
    Value hasKeys = place.hasKeys(keys);
    Progress progress =
        copyIf(hasKeys, Progress::of(now.drop_front(5)), no, [&](Value stage) {
          memory.keys.copy(place.rows.keys, code.toI32(keys.first), stage,
                           code);
        });
    progress = copyIf(
        now[4], progress, code.logicalNot(values.isFull), [&](Value stage) {
          memory.values.copy(place.rows.values, code.toI32(values.first), stage,
                             code);
        });
    KeyTile next = walk.from(place.behind(keys));
    SmallVector<Value> results = {next.first, next.isFull, keys.first,
                                  keys.isFull, hasKeys};
    results.append(progress.values());
    scf::YieldOp::create(code.builder, code.loc, results);
  };
  auto loop = scf::WhileOp::create(code.builder, code.loc,
                                   ValueRange(carried).getTypes(), carried,
                                   isLeft, step);
  Progress last = Progress::of(loop.getResults().drop_front(5));
  for (int64_t behind = place.shape.underWay(); behind > 0; --behind) {
    code.waitForGroups(behind - 1);
    report(last, behind);
  }
  // Queries, too, where nobody sees a key.
  code.endGroup();
  code.waitForGroups(0);
}

void heddle::copyTiles(AttentionPlace &place) {
  AttentionCopies(place).build();
}
