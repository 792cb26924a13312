//===- EmitKernels.cpp - Turn tiles and layer ops into vector code --------===//
//
// Only a table: which op has which emitter, and on which operands it works.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "lib/Kernels/CandidateLogits.h"
#include "lib/Kernels/LinearTile.h"
#include "lib/Kernels/OnlineBlock.h"
#include "lib/Kernels/OnlineRow.h"
#include "lib/Kernels/TileRuns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

namespace heddle {
#define GEN_PASS_DEF_EMITKERNELSPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

namespace {
struct EmitKernels : heddle::impl::EmitKernelsPassBase<EmitKernels> {
  using Base::Base;

  /// Builds the code of `op` in front of it; fails where it has no emitter.
  static LogicalResult emit(Operation *op, const IsaLevel &isa) {
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case([&](LinearTileOp tile) {
          emitLinearTile(tile, isa);
          return success();
        })
        .Case([&](CandidateLogitsOp candidates) {
          return emitCandidateLogits(candidates, isa);
        })
        .Case([&](TileRunsOp runs) {
          emitTileRuns(runs, isa);
          return success();
        })
        .Case<OnlineInitOp, OnlineWeightsOp, OnlineUpdateOp, OnlineFinishOp>(
            [&](auto tile) {
              auto sums = cast<MemRefType>(tile.getSums().getType());
              sums.getRank() == 2 ? emitBlock(tile, isa) : emitRow(tile, isa);
              return success();
            })
        .Default([](Operation *) { return failure(); });
  }

  void runOnOperation() override {
    llvm::Expected<IsaLevel> level = getIsaLevel(isa);
    if (!level) {
      getOperation().emitError(llvm::toString(level.takeError()));
      return signalPassFailure();
    }
    getOperation().walk([&](Operation *op) {
      if (failed(emit(op, *level)))
        return;
      op->erase();
      ++numEmitted;
    });
  }
};
} // namespace
