//===- AttentionSites.cpp - Which attention of a model is which -----------===//
//
// One walk in program order gives each value the numbers of the arguments that
// it is computed from.
//
//===----------------------------------------------------------------------===//

#include "lib/Masks/AttentionSites.h"
#include "dialect/attention/Attention.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SmallBitVector.h"
#include <map>

using namespace mlir;
using namespace heddle;

namespace {
/// For each value of a function's body its arguments.
class Dependences {
public:
  explicit Dependences(func::FuncOp function);

  /// None if it has no name.
  std::optional<AttentionKind> classify(AttentionOp op) const;

private:
  llvm::SmallBitVector argumentsOf(Value value) const {
    return known.lookup_or(value, none);
  }

  llvm::SmallBitVector none, target;
  DenseMap<Value, llvm::SmallBitVector> known;
};
} // namespace

Dependences::Dependences(func::FuncOp function)
    : none(function.getNumArguments()), target(none) {
  for (BlockArgument argument : function.getArguments()) {
    unsigned number = argument.getArgNumber();
    known.try_emplace(argument, none).first->second.set(number);
    if (function.getArgAttr(number, kTargetAttr))
      target.set(number);
  }
  for (Operation &op : function.front()) {
    SetVector<Value> read(llvm::from_range, op.getOperands());
    getUsedValuesDefinedAbove(op.getRegions(), read);
    llvm::SmallBitVector all = none;
    for (Value value : read)
      all |= argumentsOf(value);
    for (Value result : op.getResults())
      known.try_emplace(result, all);
  }
}

std::optional<AttentionKind> Dependences::classify(AttentionOp op) const {
  if (hasTakenQueries(op))
    return std::nullopt;
  llvm::SmallBitVector query = argumentsOf(op.getQuery()),
                       key = argumentsOf(op.getKey());
  if (query.anyCommon(target))
    return key.anyCommon(target) ? AttentionKind::DecoderSelf
                                 : AttentionKind::DecoderCross;
  if (query.anyCommon(key) && !key.anyCommon(target))
    return AttentionKind::EncoderSelf;
  return std::nullopt;
}

SmallVector<AttentionSite> heddle::findAttention(func::FuncOp function) {
  SmallVector<AttentionSite> sites;
  if (function.isExternal())
    return sites;
  Dependences dependences(function);
  std::map<AttentionKind, int64_t> layers;
  for (auto op : function.front().getOps<AttentionOp>()) {
    if (op.isStep())
      continue;
    if (std::optional<AttentionKind> kind = dependences.classify(op))
      sites.push_back({op, *kind, ++layers[*kind]});
  }
  return sites;
}
