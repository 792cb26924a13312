//===- SplitLinearAttention.cpp - Sums over keys as an op -----------------===//
//
// One rewrite: what sums over all keys goes in front, what reads it stays.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "passes/Passes.h"

namespace heddle {
#define GEN_PASS_DEF_SPLITLINEARATTENTIONPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

static void split(LinearAttentionOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  IRMapping mapping;
  auto sums = LinearAttentionSumsOp::create(
      builder, loc, op.getKey(), op.getValue(), op.getLengths(),
      /*destinations=*/ValueRange(), op.getKeyValueHeads(), op.getFeatures());
  op.getMap().cloneInto(&sums.getMap(), mapping);
  auto read = LinearAttentionReadOp::create(builder, loc, op, sums);
  read.getMap().takeBody(op.getMap());
  op.replaceAllUsesWith(read);
  op.erase();
}

namespace {
struct SplitLinearAttention
    : heddle::impl::SplitLinearAttentionPassBase<SplitLinearAttention> {
  void runOnOperation() override {
    SmallVector<LinearAttentionOp> ops;
    getOperation().walk([&](LinearAttentionOp op) {
      if (!op.getCausal() && !op.getStep() && op->getNumResults() == 1)
        ops.push_back(op);
    });
    for (LinearAttentionOp op : ops)
      split(op);
  }
};
} // namespace
