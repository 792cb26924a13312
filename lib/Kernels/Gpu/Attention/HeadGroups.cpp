//===- HeadGroups.cpp - Blocks of queries by what masks say ---------------===//
//
// A switch on the head selects the code of its group, where the parameters of
// the mask are constants. If the mask has a stride s, the queries r, r + s, r +
// 2 s, ... of a remainder r are numbered 0, 1, 2, ..., and blocks take them by
// number. The grid has as many blocks for each head as the largest group needs.
// A block that has no queries in its group ends at once.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Gpu/Attention/HeadGroups.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace heddle;

HeadGroups::HeadGroups(AttentionOp op, int64_t rows, OpBuilder &builder)
    : op(op), rows(rows) {
  for (HeadGroup &heads : groupHeads(builder, op.getMask(), op.getHeads())) {
    // Blocks of a list have neighbours.
    int64_t stride = heads.mask && !op.isRagged() && !op.getPrefill()
                         ? heads.mask.getDefiningOp<MaskOpInterface>().stride()
                         : 1;
    groups.push_back({std::move(heads), stride});
  }
}

Value HeadGroups::countBlocks(Loops &loops) const {
  Value most;
  for (const Group &group : groups) {
    Value queries = loops.size(AttentionOp(op).getQuery(), 1);
    Value count = queries, remainders = loops.index(group.stride);
    if (group.stride > 1) {
      count = loops.uceilDiv(count, group.stride);
      // No query has one that is not below their number.
      remainders = loops.umin(remainders, queries);
    }
    count = loops.mul(loops.uceilDiv(count, rows), remainders);
    most = most ? arith::MaxUIOp::create(loops.builder, loops.loc, most, count)
                      .getResult()
                : count;
  }
  return most;
}

/// Blocks of a remainder stand side by side. One may have no queries, and of a
/// remainder that is none no block has any.
QueryRows HeadGroups::rowsOf(const Group &group, Value sentence, Value head,
                             Value number, BlockCode &code) const {
  AttentionOp op = this->op;
  Value queries = code.toI32(code.size(op.getQuery(), 1));
  Value keys = code.toI32(code.size(op.getKey(), 1));
  if (group.stride == 1)
    return {sentence, head, code.mul(number, rows), queries, keys};
  auto ceilDivide = [&](Value value, int64_t by) {
    return code.udiv(code.add(value, by - 1), by);
  };
  Value blocks = ceilDivide(ceilDivide(queries, group.stride), rows);
  Value remainder = code.udiv(number, blocks);
  Value isRemainder = code.uless(remainder, code.i32(group.stride));
  Positions positions = {group.stride, remainder};
  Value place = code.urem(number, blocks);
  return {
      sentence,
      head,
      code.mul(place, rows),
      code.select(isRemainder, positions.before(queries, code), code.i32(0)),
      positions.before(keys, code),
      positions};
}

void HeadGroups::forGroupOf(Value head, BlockCode &code,
                            function_ref<void(const Group &)> body) const {
  if (groups.size() == 1)
    return body(groups.front());
  Value number = code.index(0);
  for (size_t index = 1; index < groups.size(); ++index)
    for (int64_t each : groups[index].heads.heads)
      number = code.select(code.equal(head, code.i32(each)), code.index(index),
                           number);
  code.choose(number, groups.size(),
              [&](int64_t index) { body(groups[index]); });
}

void HeadGroups::forBlock(
    Value sentence, Value head, Value number, BlockCode &code,
    function_ref<void(const QueryRows &, Value)> body) const {
  forGroupOf(head, code, [&](const Group &group) {
    QueryRows block = rowsOf(group, sentence, head, number, code);
    auto build = [&] { body(block, group.heads.mask); };
    if (groups.size() == 1 && group.stride == 1)
      return build();
    code.ifThen(code.uless(block.first, block.queryCount), build);
  });
}

/// A block of a prompt.
QueryRows HeadGroups::promptAt(Value number, Value head,
                               BlockCode &code) const {
  AttentionOp op = this->op;
  Value row = code.loadWord(op.getPrefill(), number);
  Value behind = code.loadWord(op.getPrefill(), code.add(number, 1));
  Value first = code.loadWord(op.getPositions(), row);
  Value sentence = code.loadWord(op.getSentences(), row);
  Value end = code.add(first, code.sub(behind, row));
  QueryRows block = {sentence, head, first, end, end};
  block.start = code.sub(row, first);
  if (op.getShared()) {
    block.keyCount = code.toI32(code.size(op.getKey(), 1));
    block.cache = sentence;
  } else {
    block.cache = code.loadWord(op.getCaches(), row);
  }
  return block;
}

void HeadGroups::forListedBlock(
    Value number, Value head, BlockCode &code,
    function_ref<void(const QueryRows &, Value)> body) const {
  AttentionOp op = this->op;
  if (op.getPrefill()) {
    QueryRows block = promptAt(number, head, code);
    return forGroupOf(
        head, code, [&](const Group &group) { body(block, group.heads.mask); });
  }
  Value row = code.loadWord(op.getBlocks(), number);
  Value first = code.loadWord(op.getPositions(), row);
  Value sentence = code.loadWord(op.getSentences(), row);
  Value length = code.loadWord(op.getLengths(), sentence);
  QueryRows block = {sentence, head, first, length, length};
  block.start = code.sub(row, first);
  auto build = [&] {
    forGroupOf(head, code,
               [&](const Group &group) { body(block, group.heads.mask); });
  };
  if (rows <= kQueryBlock)
    return build();
  code.ifThen(code.equal(code.urem(first, rows), code.i32(0)), build);
}
