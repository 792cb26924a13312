//===- EmitKernels.cpp - Turn tiles and layer ops into vector code --------===//
//
// Only a table: which op has which emitter, and on which operands it works.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "lib/Kernels/Attention/KeyLists.h"
#include "lib/Kernels/Attention/OnlineBlock.h"
#include "lib/Kernels/Attention/OnlineBlockAmx.h"
#include "lib/Kernels/Attention/OnlineRow.h"
#include "lib/Kernels/Attention/TileRuns.h"
#include "lib/Kernels/Linear/CandidateLogits.h"
#include "lib/Kernels/Linear/LinearAmx.h"
#include "lib/Kernels/Linear/LinearEpilogue.h"
#include "lib/Kernels/Linear/LinearTile.h"
#include "lib/Kernels/Linear/ProjectionKernel.h"
#include "lib/Kernels/LinearAttention/LinearAttentionKernel.h"
#include "lib/Kernels/Rows/ActivationKernel.h"
#include "lib/Kernels/Rows/CacheKernel.h"
#include "lib/Kernels/Rows/ElementwiseKernels.h"
#include "lib/Kernels/Rows/EmbeddingKernel.h"
#include "lib/Kernels/Rows/NormKernel.h"
#include "lib/Kernels/Rows/PoolKernel.h"
#include "lib/Kernels/Rows/PositionKernels.h"
#include "lib/Kernels/Rows/QuantizeKernel.h"
#include "lib/Kernels/Rows/RecurrenceKernel.h"
#include "lib/Kernels/Rows/RoundKernel.h"
#include "lib/Kernels/Rows/TakenRowsKernel.h"
#include "mlir/Dialect/AMX/AMXDialect.h"
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

/// Whether the operands of a row-wise op are made of rows, or are dense ids.
static bool hasRows(Operation *op) {
  auto embedding = dyn_cast<EmbeddingOp>(op);
  if (embedding &&
      cast<MemRefType>(embedding.getTable().getType()).getRank() != 2)
    return false;
  return llvm::all_of(op->getOperands(), [](Value operand) {
    auto type = dyn_cast<MemRefType>(operand.getType());
    return isRows(operand) || (type && type.getElementType().isInteger(32) &&
                               type.getLayout().isIdentity());
  });
}

/// A block of queries fills whole vectors, a tile of one query's keys one:
/// those of a dump that was changed by hand, or tiled for another level, may
/// not.
static LogicalResult checkTiles(ModuleOp module, const IsaLevel &isa) {
  WalkResult walked = module.walk([&](OnlineProbabilitiesOp op) {
    auto sums = cast<MemRefType>(op.getSums().getType());
    bool isBlock = op.getKind() == OnlineKind::Block;
    int64_t found = isBlock ? sums.getDimSize(1) : op.getTile();
    if (isBlock ? found % isa.lanes == 0 : found == isa.lanes)
      return WalkResult::advance();
    op.emitOpError("expects ")
        << (isBlock ? "columns in multiples of " : "a tile of ") << isa.lanes
        << " on " << isa.name << ", found " << found;
    return WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}

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
        .Case([&](LinearSumsOp sums) {
          bool hasTiles = sums.getRows() % kTileRows == 0 &&
                          hasAmxProduct(sums.getInput(), isa);
          if (hasTiles && !sums.getUnpacked()) {
            emitAmxSums(sums, isa);
            return success();
          }
          emitBeside(sums, isa);
          if (sums.getUnpacked())
            emitScaledAmxSums(sums, isa);
          else
            emitLinearSums(sums, isa);
          return success();
        })
        .Case([&](LinearUnpackOp unpack) {
          emitLinearUnpack(unpack, isa);
          return success();
        })
        .Case([&](LinearFinishOp finish) {
          emitLinearFinish(finish, isa);
          return success();
        })
        .Case([&](CandidateLogitsOp candidates) {
          if (!hasRows(candidates))
            return failure();
          emitCandidateLogits(candidates, isa);
          return success();
        })
        .Case<ActivationOp, AddOp, CacheAppendOp, CacheFillOp, EmbeddingOp,
              FillOp, LastRowsOp, LearnedPositionsOp, MultiplyOp, NormOp,
              NormalizeOp, PoolOp, ProjectSequenceOp, PutRowsOp, QuantizeOp,
              QuantizeHeadsOp, RecurrenceOp, RotaryPositionsOp, RoundOp,
              SinusoidalPositionsOp, TakeRowsOp, memref::CopyOp>(
            [&](auto layer) {
              if (!hasRows(layer))
                return failure();
              OpBuilder builder(layer);
              RowKernel kernel(builder, layer.getLoc(), isa);
              emitKernel(layer, kernel);
              return success();
            })
        .Case<LinearAttentionOp, LinearAttentionSumsOp, LinearAttentionReadOp>(
            [&](auto attention) {
              if (!hasRows(attention) || !hasKernel(attention))
                return failure();
              OpBuilder builder(attention);
              RowKernel kernel(builder, attention.getLoc(), isa);
              emitKernel(attention, kernel);
              return success();
            })
        .Case([&](TileRunsOp runs) {
          emitTileRuns(runs, isa);
          return success();
        })
        .Case([&](ListSizeOp size) {
          emitListSize(size, isa);
          return success();
        })
        .Case([&](ListedKeysOp keys) {
          emitListedKeys(keys, isa);
          return success();
        })
        .Case([&](OnlineResumeOp resume) {
          emitResume(resume, isa);
          return success();
        })
        .Case([&](OnlineMergeOp merge) {
          emitMerge(merge, isa);
          return success();
        })
        .Case([&](OnlinePairsOp pairs) {
          emitPairs(pairs, isa);
          return success();
        })
        .Case([&](OnlineWidenOp widen) {
          emitWiden(widen, isa);
          return success();
        })
        .Case([&](OnlineColumnsOp columns) {
          emitColumns(columns, isa);
          return success();
        })
        .Case<OnlineInitOp, OnlineProbabilitiesOp, OnlineUpdateOp,
              OnlineFinishOp>([&](auto online) {
          if (online.getKind() == OnlineKind::Block)
            emitBlock(online, isa);
          else
            emitRow(online, isa);
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
    if (failed(checkTiles(getOperation(), *level)))
      return signalPassFailure();
    getOperation().walk([&](Operation *op) {
      if (failed(emit(op, *level)))
        return;
      op->erase();
    });
  }
};
} // namespace
