//===- RestrictAttention.cpp - Intersect masks with those of rules --------===//
//
// Rules are the text of an option. Each attention gets the last one that names
// it; all of a function that have one rule and one mask share what comes of it.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "lib/Masks/AttentionRules.h"
#include "passes/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

namespace heddle {
#define GEN_PASS_DEF_RESTRICTATTENTIONPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

namespace {
/// An attention, and the rule that it gets.
struct Site : AttentionSite {
  const AttentionRule *rule = nullptr;
};
} // namespace

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
    ranges.push_back(AttentionSite{{}, kind, 1}.getName());
    if (last > 1)
      ranges.back() += " to " + AttentionSite{{}, kind, last}.getName();
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

/// The lengths of the sentences that `mask` keeps keys to; null for none.
static Value findLengths(Value mask) {
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

/// Intersects the masks of `sites`. What several attentions of a function read
/// is written once, in front of the first.
static void restrictMasks(ArrayRef<Site> sites) {
  // By rule, and by what it is applied to.
  using Use = std::tuple<Block *, const AttentionRule *, Value>;
  DenseMap<Use, Value> masks, intersections;
  for (const Site &site : sites) {
    if (!site.rule)
      continue;
    AttentionOp op = site.op;
    OpBuilder builder(op);
    Location loc = NameLoc::get(builder.getStringAttr(site.getKindName()));
    Value old = op.getMask(), lengths = findLengths(old);
    Value &mask = masks[{op->getBlock(), site.rule, lengths}];
    if (!mask)
      mask = site.rule->mask.build(builder, loc, lengths);
    Value &both = intersections[{op->getBlock(), site.rule, old}];
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
      for (const AttentionSite &site : findAttention(function))
        sites.push_back({site});
    if (failed(assignRules(getOperation(), *parsed, sites)))
      return signalPassFailure();
    restrictMasks(sites);
  }
};
} // namespace
