//===- FuseMasks.cpp - Drop the masks that something else implies ---------===//
//
// Two methods of MaskOpInterface decide: how far a mask reaches at most, and
// which bands it contains for certain. If all other masks together stay inside
// a band that this mask contains, it restricts nothing and is dropped. A decode
// step over its own cache is such a band too: from the oldest slot to the
// query's position.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "lib/Fusion/FusionRemarks.h"
#include "lib/Support/DimNames.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/Passes.h"

namespace heddle {
#define GEN_PASS_DEF_FUSEMASKSPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

static constexpr StringLiteral kPass = "fuse-masks";

/// Appends the masks whose intersection `mask` is, each once.
static void collectConjuncts(Value mask, llvm::DenseSet<Value> &seen,
                             SmallVectorImpl<Value> &conjuncts) {
  if (!seen.insert(mask).second)
    return;
  if (auto both = mask.getDefiningOp<MaskAndOp>()) {
    collectConjuncts(both.getLhs(), seen, conjuncts);
    collectConjuncts(both.getRhs(), seen, conjuncts);
  } else {
    conjuncts.push_back(mask);
  }
}

static MaskOpInterface sourceOf(Value mask) {
  return cast<MaskOpInterface>(mask.getDefiningOp());
}

static bool readsOwnCache(AttentionOp op) {
  return op.isStep() && !op.getShared();
}

/// The most slots that a cache has, if there is a bound.
static std::optional<int64_t> maxSlotsOf(Value cache) {
  int64_t slots = cast<ShapedType>(cache.getType()).getDimSize(1);
  if (!ShapedType::isDynamic(slots))
    return slots;
  while (auto append = cache.getDefiningOp<CacheAppendOp>())
    cache = append.getDestination();
  auto state = dyn_cast<BlockArgument>(cache);
  return state ? heddle::maxSlotsOf(nameOfArgumentDim(state, 1)) : std::nullopt;
}

/// The keys that the attention sees by itself: in a block of a prompt, as many
/// as its last query.
static Reach bandOf(AttentionOp op) {
  if (!readsOwnCache(op) || op.getPrefill())
    return {};
  std::optional<int64_t> slots = maxSlotsOf(op.getKey());
  return {slots ? std::optional(*slots - 1) : std::nullopt, 0};
}

namespace {
struct FuseMasks : heddle::impl::FuseMasksPassBase<FuseMasks> {
  static void visit(AttentionOp op) {
    llvm::DenseSet<Value> seen;
    SmallVector<Value> masks;
    collectConjuncts(op.getMask(), seen, masks);
    size_t before = masks.size();
    // What is so in a step is so in that of beams, and extend keeps more.
    bool isTold = !op.getHistory() && !op.getPrefill();
    for (auto *it = masks.begin(); it != masks.end();) {
      Reach band = bandOf(op);
      for (Value other : masks)
        if (other != *it)
          band = intersect(band, sourceOf(other).reach());
      // Pinned keys lie any distance back.
      if (band.pinned > 0)
        band.lookback = std::nullopt;
      StringRef kind = sourceOf(*it)->getName().stripDialect();
      if (!sourceOf(*it).containsBand(band)) {
        if (readsOwnCache(op) && isTold)
          reportDeclined(kPass, op,
                         nameOf(op) + " keeps " + kind +
                             " in a step, since "
                             "its cache alone does not imply it");
        ++it;
        continue;
      }
      if (isTold)
        reportFused(kPass, op,
                    nameOf(op) + " needs no " + kind +
                        (readsOwnCache(op)
                             ? " in a step: its cache ends at the query itself"
                             : ": its other masks imply it"));
      it = masks.erase(it);
    }
    if (masks.size() == before)
      return;
    OpBuilder builder(op);
    Value rest;
    for (Value mask : masks)
      rest = rest ? Value(MaskAndOp::create(builder, op.getMask().getLoc(),
                                            rest, mask))
                  : mask;
    op.getMaskMutable().clear();
    if (rest)
      op.getMaskMutable().append(rest);
  }

  void runOnOperation() override {
    getOperation().walk([](AttentionOp op) {
      if (op.getMask())
        visit(op);
    });
  }
};
} // namespace
