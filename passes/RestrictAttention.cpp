//===- RestrictAttention.cpp - Intersect masks with those of rules --------===//
//
// What attention attends to follows from what its queries and keys depend on:
// one walk in program order gives each value the arguments of the function that
// it is computed from. The last rule that names an attention is its own.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "lib/Masks/AttentionRules.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/Passes.h"
#include "llvm/ADT/SmallBitVector.h"

namespace heddle {
#define GEN_PASS_DEF_RESTRICTATTENTIONPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

namespace {
/// An attention that rules can name, and the rule that it gets.
struct Site {
  AttentionOp op;
  AttentionKind kind;
  /// From 1, among those of the kind in its function.
  int64_t layer;
  const AttentionRule *rule = nullptr;
};

/// For each value the numbers of the arguments that it is computed from.
class Dependences {
public:
  explicit Dependences(func::FuncOp function);

  /// Which attention `op` is; none where rules have no name for it.
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
  llvm::SmallBitVector query = argumentsOf(op.getQuery()),
                       key = argumentsOf(op.getKey());
  if (query.anyCommon(target))
    return key.anyCommon(target) ? AttentionKind::DecoderSelf
                                 : AttentionKind::DecoderCross;
  if (query.anyCommon(key) && !key.anyCommon(target))
    return AttentionKind::EncoderSelf;
  return std::nullopt;
}

static void collectSites(func::FuncOp function, SmallVectorImpl<Site> &sites) {
  Dependences dependences(function);
  std::map<AttentionKind, int64_t> layers;
  for (auto op : function.front().getOps<AttentionOp>())
    if (std::optional<AttentionKind> kind = dependences.classify(op))
      sites.push_back({op, *kind, ++layers[*kind]});
}

static bool names(const AttentionRule &rule, const Site &site) {
  return rule.kind == site.kind && (!rule.layer || *rule.layer == site.layer);
}

/// "encoder.self.1 to encoder.self.6 and decoder.cross.1": what rules can name.
static std::string listLayers(ArrayRef<Site> sites) {
  std::map<AttentionKind, int64_t> layers;
  for (const Site &site : sites)
    layers[site.kind] = std::max(layers[site.kind], site.layer);
  SmallVector<std::string> ranges;
  for (auto [kind, last] : layers) {
    std::string name = nameOf(kind).str() + ".";
    ranges.push_back(name + "1");
    if (last > 1)
      ranges.back() += " to " + name + std::to_string(last);
  }
  return ranges.empty() ? "no attention" : llvm::join(ranges, " and ");
}

/// Gives each attention its rule; an error for a rule that none gets.
static LogicalResult assignRules(ModuleOp module, ArrayRef<AttentionRule> rules,
                                 MutableArrayRef<Site> sites) {
  llvm::SmallDenseSet<const AttentionRule *> assigned;
  for (Site &site : sites) {
    for (const AttentionRule &rule : rules)
      if (names(rule, site))
        site.rule = &rule;
    assigned.insert(site.rule);
  }
  for (const AttentionRule &rule : rules) {
    if (assigned.contains(&rule))
      continue;
    InFlightDiagnostic error = module.emitError("the rule for '")
                               << rule.target << "' ";
    if (llvm::any_of(sites,
                     [&](const Site &each) { return names(rule, each); }))
      return error << "has no effect, since later rules replace it";
    return error << "meets no attention, the module has " << listLayers(sites);
  }
  return success();
}

/// Intersects the masks of `sites`. What several attentions of a function read
/// is written once, in front of the first.
static void restrictMasks(ArrayRef<Site> sites) {
  using RuleIn = std::pair<Block *, const AttentionRule *>;
  DenseMap<RuleIn, Value> masks;
  DenseMap<std::pair<RuleIn, Value>, Value> intersections;
  for (const Site &site : sites) {
    if (!site.rule)
      continue;
    AttentionOp op = site.op;
    OpBuilder builder(op);
    Location loc = NameLoc::get(builder.getStringAttr(nameOf(site.kind)));
    RuleIn rule(op->getBlock(), site.rule);
    Value &mask = masks[rule];
    if (!mask)
      mask = site.rule->mask.build(builder, loc);
    Value old = op.getMask();
    Value &both = intersections[{rule, old}];
    if (!both)
      both = old ? Value(MaskAndOp::create(builder, loc, old, mask)) : mask;
    op.getMaskMutable().assign(both);
  }
}

namespace {
struct RestrictAttention
    : heddle::impl::RestrictAttentionPassBase<RestrictAttention> {
  using Base::Base;

  void runOnOperation() override {
    llvm::Expected<std::vector<AttentionRule>> parsed =
        parseAttentionRules(rules);
    if (!parsed) {
      getOperation()->emitError(llvm::toString(parsed.takeError()));
      return signalPassFailure();
    }
    SmallVector<Site> sites;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal())
        collectSites(function, sites);
    if (failed(assignRules(getOperation(), *parsed, sites)))
      return signalPassFailure();
    restrictMasks(sites);
  }
};
} // namespace
