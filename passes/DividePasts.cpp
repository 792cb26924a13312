//===- DividePasts.cpp - Memory for the parts of long pasts ---------------===//
//
// Threads that share the past of a row each have sums of their part of it.
// These need memory that all of them see, which is planned with all other
// buffers: so this is a pass of its own, in front of plan-memory. How a past is
// divided, and when, the tiler decides.
//
//===----------------------------------------------------------------------===//

#include "dialect/attention/Attention.h"
#include "lib/Support/DimNames.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/Passes.h"

namespace heddle {
#define GEN_PASS_DEF_DIVIDEPASTSPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

/// Whether a past can have several parts: rings of short windows have one.
static bool hasLongPast(AttentionOp op) {
  if (!op.isStep() || op.getShared())
    return false;
  auto cache = dyn_cast<BlockArgument>(op.getKey());
  StringAttr slots = cache ? nameOfArgumentDim(cache, 1) : StringAttr();
  std::optional<int64_t> most =
      slots ? maxSlotsOf(slots) : std::optional<int64_t>();
  return !most || *most > kPartTile * kLeastPartTiles;
}

/// The number of rows of a step, as the function names it.
static Value countRows(AttentionOp op, OpBuilder &builder) {
  for (Value ofRows : {op.getPositions(), op.getSentences(), op.getQuery()}) {
    Value rows = builder.createOrFold<memref::DimOp>(op.getLoc(), ofRows, 0);
    if (nameOfSize(rows))
      return rows;
  }
  return {};
}

static void addParts(AttentionOp op) {
  OpBuilder builder(op);
  Value rows = countRows(op, builder);
  if (!rows)
    return;
  Location loc = op.getLoc();
  Value few = arith::MinUIOp::create(
      builder, loc, rows,
      arith::ConstantIndexOp::create(builder, loc, kDividedRows));
  auto type = MemRefType::get({ShapedType::kDynamic, int64_t(op.getHeads()),
                               kMostParts, partElements(op)},
                              builder.getF32Type());
  op.getPartsMutable().assign(
      memref::AllocOp::create(builder, loc, type, few).getResult());
}

namespace {
struct DividePasts : heddle::impl::DividePastsPassBase<DividePasts> {
  using Base::Base;

  void runOnOperation() override {
    getOperation().walk([](AttentionOp op) {
      if (op.getDestination() && hasLongPast(op))
        addParts(op);
    });
  }
};
} // namespace
