//===- MaskParts.cpp - Masks by head, and lists apart from tiles ----------===//
//
// groupHeads rebuilds a mask once per head, with the parameters of that head as
// constants. MaskRewriter folds what it builds and builds equal ops once, so
// that heads with the same mask end up with the same value.
//
// splitMask replaces each list by the empty mask: the rest is for tiles. A
// list's own part is the mask with that list replaced by the full one, without
// the pairs of the parts before it, so that a pair belongs to the first part
// that holds it. Lists below an odd number of `not` stay: without them the rest
// would hold more pairs.
//
//===----------------------------------------------------------------------===//

#include "dialect/masks/MaskParts.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace heddle;

namespace {
/// Builds masks out of others: folded, and each once.
class MaskRewriter {
public:
  explicit MaskRewriter(OpBuilder &builder, Location loc)
      : builder(builder), loc(loc) {}

  using Leaf = function_ref<Value(MaskOpInterface, bool isPositive)>;
  /// `mask` with other leaves; below an odd number of `not` they are negative.
  Value rebuild(Value mask, Leaf leaf) {
    llvm::DenseMap<std::pair<Value, unsigned>, Value> known;
    return rebuild(mask, leaf, /*isPositive=*/true, known);
  }
  Value both(Value lhs, Value rhs) {
    return unique(builder.createOrFold<MaskAndOp>(loc, lhs, rhs));
  }
  Value either(Value lhs, Value rhs) {
    return unique(builder.createOrFold<MaskOrOp>(loc, lhs, rhs));
  }
  Value negate(Value mask) {
    if (mask.getDefiningOp<MaskEmptyOp>())
      return full();
    if (mask.getDefiningOp<MaskFullOp>())
      return empty();
    return unique(builder.createOrFold<MaskNotOp>(loc, mask));
  }
  Value full() { return unique(MaskFullOp::create(builder, loc)); }
  Value empty() { return unique(MaskEmptyOp::create(builder, loc)); }
  /// The first mask that was built like this one, in place of it.
  Value unique(Value mask);

private:
  Value rebuild(Value mask, Leaf leaf, bool isPositive,
                llvm::DenseMap<std::pair<Value, unsigned>, Value> &known);

  OpBuilder &builder;
  Location loc;
  SetVector<Operation *> built;
};
} // namespace

Value MaskRewriter::unique(Value mask) {
  Operation *op = mask.getDefiningOp();
  if (!op->use_empty() || built.contains(op))
    return mask;
  for (Operation *other : built)
    if (OperationEquivalence::isEquivalentTo(
            op, other, OperationEquivalence::exactValueMatch, nullptr,
            OperationEquivalence::IgnoreLocations)) {
      op->erase();
      return other->getResult(0);
    }
  built.insert(op);
  return mask;
}

Value MaskRewriter::rebuild(
    Value mask, Leaf leaf, bool isPositive,
    llvm::DenseMap<std::pair<Value, unsigned>, Value> &known) {
  Value &result = known[{mask, isPositive}];
  if (result)
    return result;
  auto operand = [&](Value value, bool isPositive) {
    return rebuild(value, leaf, isPositive, known);
  };
  Value made;
  if (auto op = mask.getDefiningOp<MaskAndOp>()) {
    Value lhs = operand(op.getLhs(), isPositive);
    made = both(lhs, operand(op.getRhs(), isPositive));
  } else if (auto op = mask.getDefiningOp<MaskOrOp>()) {
    Value lhs = operand(op.getLhs(), isPositive);
    made = either(lhs, operand(op.getRhs(), isPositive));
  } else if (auto op = mask.getDefiningOp<MaskNotOp>()) {
    made = negate(operand(op.getOperand(), !isPositive));
  } else {
    made = leaf(mask.getDefiningOp<MaskOpInterface>(), isPositive);
  }
  return known[{mask, isPositive}] = made;
}

/// The leaves of a mask that `isWanted`, each once.
static SmallVector<Value>
collectLeaves(Value mask, function_ref<bool(MaskOpInterface, bool)> isWanted) {
  llvm::SetVector<std::pair<Value, unsigned>> visited;
  visited.insert({mask, true});
  llvm::SetVector<Value> leaves;
  for (size_t at = 0; at < visited.size(); ++at) {
    auto [value, isPositive] = visited[at];
    auto op = value.getDefiningOp<MaskOpInterface>();
    bool isNot = isa<MaskNotOp>(op);
    if (!isNot && !isa<MaskAndOp, MaskOrOp>(op)) {
      if (isWanted(op, isPositive))
        leaves.insert(value);
      continue;
    }
    for (Value operand : op->getOperands())
      visited.insert({operand, isPositive != isNot});
  }
  return leaves.takeVector();
}

SmallVector<HeadGroup> heddle::groupHeads(OpBuilder &builder, Value mask,
                                          int64_t heads) {
  HeadGroup all = {llvm::to_vector(llvm::seq<int64_t>(0, heads)), mask};
  auto tellsHeadsApart = [](MaskOpInterface op, bool) {
    return op.numHeads().has_value();
  };
  if (!mask || collectLeaves(mask, tellsHeadsApart).empty())
    return {all};
  MaskRewriter rewriter(builder, mask.getLoc());
  SmallVector<HeadGroup> groups;
  for (int64_t head = 0; head < heads; ++head) {
    Value own = rewriter.rebuild(mask, [&](MaskOpInterface op, bool) {
      return op.numHeads() ? rewriter.unique(op.forHead(builder, head))
                           : op->getResult(0);
    });
    auto *group = llvm::find_if(
        groups, [&](const HeadGroup &each) { return each.mask == own; });
    if (group == groups.end())
      groups.push_back({{head}, own});
    else
      group->heads.push_back(head);
  }
  return groups;
}

bool heddle::isOfAllHeads(Value mask) {
  // The predicate shows whether it reads the head, of any op.
  Region scratch;
  OpBuilder builder(mask.getContext());
  Location loc = mask.getLoc();
  SmallVector<Type> types(4, builder.getI32Type());
  Block *block =
      builder.createBlock(&scratch, {}, types, SmallVector<Location>(4, loc));
  MaskPoint point = {block->getArgument(0), block->getArgument(1),
                     block->getArgument(2), block->getArgument(3)};
  Lanes(builder, loc).contains(mask, point);
  return point.h.use_empty();
}

MaskParts heddle::splitMask(OpBuilder &builder, Value mask) {
  MaskParts parts = {mask, {}};
  if (!mask)
    return parts;
  SmallVector<Value> lists =
      collectLeaves(mask, [](MaskOpInterface op, bool isPositive) {
        return isPositive && isa<KeyListOpInterface>(op.getOperation());
      });
  if (lists.empty())
    return parts;
  MaskRewriter rewriter(builder, mask.getLoc());
  parts.tiled =
      rewriter.rebuild(mask, [&](MaskOpInterface op, bool isPositive) {
        Value leaf = op->getResult(0);
        bool isListed = isPositive && llvm::is_contained(lists, leaf);
        return isListed ? rewriter.empty() : leaf;
      });
  Value before = parts.tiled;
  for (Value list : lists) {
    Value holds =
        rewriter.rebuild(mask, [&](MaskOpInterface op, bool positive) {
          Value leaf = op->getResult(0);
          return positive && leaf == list ? rewriter.full() : leaf;
        });
    Value where = rewriter.both(holds, rewriter.negate(before));
    parts.lists.push_back({list, where});
    before = rewriter.either(before, list);
  }
  return parts;
}

Value heddle::paddingLengths(Value mask) {
  SetVector<Value> conjuncts;
  if (mask)
    conjuncts.insert(mask);
  for (size_t index = 0; index < conjuncts.size(); ++index) {
    Operation *op = conjuncts[index].getDefiningOp();
    if (auto padding = dyn_cast<MaskPaddingOp>(op))
      return padding.getLengths();
    if (isa<MaskAndOp>(op))
      conjuncts.insert_range(op->getOperands());
  }
  return Value();
}

void heddle::eraseUnusedMasks(Operation *root) {
  SmallVector<MaskOpInterface> masks;
  root->walk([&](MaskOpInterface mask) { masks.push_back(mask); });
  for (MaskOpInterface mask : llvm::reverse(masks))
    if (mask->use_empty())
      mask->erase();
}
