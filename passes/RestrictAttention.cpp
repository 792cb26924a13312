//===- RestrictAttention.cpp - Intersect masks with those of rules --------===//
//
// Rules are the text of an option. All attention of a function that has one
// rule and one mask shares what comes of it.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "dialect/masks/MaskParts.h"
#include "lib/Masks/RuledSites.h"
#include "passes/Passes.h"

namespace heddle {
#define GEN_PASS_DEF_RESTRICTATTENTIONPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

/// Intersects the masks of `sites`. What several attentions of a function read
/// is written once, in front of the first.
static void restrictMasks(ArrayRef<RuledSite> sites) {
  // By rule, and by what it is applied to.
  using Use = std::tuple<Block *, const AttentionRule *, Value>;
  DenseMap<Use, Value> masks, intersections;
  for (const RuledSite &site : sites) {
    if (!site.rule)
      continue;
    AttentionOp op = site.op;
    OpBuilder builder(op);
    Location loc = NameLoc::get(builder.getStringAttr(site.getKindName()));
    Value old = op.getMask(), lengths = paddingLengths(old);
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
    auto refuse = [&](llvm::Error error) {
      mlir::emitError(getOperation().getLoc(),
                      llvm::toString(std::move(error)));
      signalPassFailure();
    };
    llvm::Expected<std::vector<AttentionRule>> parsed =
        parseAttentionRules(rules);
    if (!parsed)
      return refuse(parsed.takeError());
    llvm::Expected<SmallVector<RuledSite>> sites =
        assignRules(getOperation(), *parsed, rules);
    if (!sites)
      return refuse(sites.takeError());
    restrictMasks(*sites);
  }
};
} // namespace
