//===- RuledSites.cpp - Which attention gets which rule -------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "lib/Masks/RuledSites.h"
#include "dialect/attention/Attention.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using namespace mlir;
using namespace heddle;
using llvm::Error;
using llvm::Expected;

static bool names(const AttentionRule &rule, const RuledSite &site) {
  return rule.kind == site.kind && (!rule.layer || *rule.layer == site.layer);
}

/// "encoder.self.1 to encoder.self.6 and decoder.cross.1": what rules can name.
static std::string listLayers(ModuleOp module, ArrayRef<RuledSite> sites) {
  std::map<AttentionKind, int64_t> layers;
  for (const RuledSite &site : sites)
    layers[site.kind] = std::max(layers[site.kind], site.layer);
  SmallVector<std::string> ranges;
  for (auto [kind, last] : layers) {
    ranges.push_back(AttentionSite{{}, kind, 1}.getName());
    if (last > 1)
      ranges.back() += " to " + AttentionSite{{}, kind, last}.getName();
  }
  bool hasLinear =
      module.walk([](LinearAttentionOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  std::string linear = "linear attention, which has no mask";
  if (ranges.empty())
    return "no attention" + (hasLinear ? " but " + linear : "");
  if (hasLinear)
    ranges.push_back(linear);
  return llvm::join(ranges, " and ");
}

static Error refuse(StringRef text, size_t place, const Twine &sentence) {
  return llvm::make_error<TextError>(text, place, sentence.str());
}

/// Why no attention gets `rule`.
static Error describeUnused(const AttentionRule &rule, ModuleOp module,
                            ArrayRef<RuledSite> sites, StringRef text) {
  bool isNamed = llvm::any_of(
      sites, [&](const RuledSite &each) { return names(rule, each); });
  return refuse(text, rule.place,
                "the rule for '" + Twine(rule.layers) + "' " +
                    (isNamed ? "has no effect, since later rules replace it"
                             : "matches no attention: the module has " +
                                   listLayers(module, sites)));
}

/// Whether the mask of its rule fits the attention.
static Error checkMask(const RuledSite &site, StringRef text) {
  const AttentionRule &rule = *site.rule;
  AttentionOp op = site.op;
  if (auto other = rule.mask.findOtherHeads(op.getHeads()))
    return refuse(text, other->place,
                  "'" + other->function + "' tells " + Twine(other->heads) +
                      " heads apart, but '" + site.getName() + "' has " +
                      Twine(op.getHeads()));
  if (hasProjectedKeys(op) && !rule.mask.isFull())
    return refuse(text, rule.place,
                  "the keys of '" + site.getName() +
                      "' are projected along the sequence: each mixes all "
                      "positions, so no mask has a meaning");
  return Error::success();
}

Expected<SmallVector<RuledSite>>
heddle::assignRules(ModuleOp module, ArrayRef<AttentionRule> rules,
                    StringRef text) {
  SmallVector<RuledSite> sites;
  for (auto function : module.getOps<func::FuncOp>())
    for (const AttentionSite &site : findAttention(function))
      sites.push_back({site});
  llvm::SmallDenseSet<const AttentionRule *> assigned;
  for (RuledSite &site : sites) {
    for (const AttentionRule &rule : rules)
      if (names(rule, site))
        site.rule = &rule;
    assigned.insert(site.rule);
  }
  for (const AttentionRule &rule : rules)
    if (!assigned.contains(&rule))
      return describeUnused(rule, module, sites, text);
  for (const AttentionRule &rule : rules)
    if (auto mistake = rule.mask.findMistake(*module.getContext()))
      return refuse(text, mistake->place, mistake->sentence);
  for (const RuledSite &site : sites)
    if (site.rule)
      if (Error error = checkMask(site, text))
        return std::move(error);
  return sites;
}

Error heddle::checkRules(ModuleOp module, StringRef text) {
  Expected<std::vector<AttentionRule>> rules = parseAttentionRules(text);
  if (!rules)
    return rules.takeError();
  return assignRules(module, *rules, text).takeError();
}
