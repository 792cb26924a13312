//===- EmitGrids.cpp - Turn layer ops into blocks of a GPU's threads ------===//
//
// Only a table, as EmitKernels.cpp is for CPUs: which op has which emitter.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/DeviceKernel.h"
#include "lib/CodeGen/Machine/GpuArchitecture.h"
#include "lib/Kernels/Gpu/Attention/AttentionGrid.h"
#include "lib/Kernels/Gpu/Linear/CandidateGrid.h"
#include "lib/Kernels/Gpu/Linear/LinearGrid.h"
#include "lib/Kernels/Gpu/Linear/LogitsGrid.h"
#include "lib/Kernels/Gpu/Linear/ProjectionGrid.h"
#include "lib/Kernels/Gpu/LinearAttention/LinearAttentionGrid.h"
#include "lib/Kernels/Gpu/Rows/CopyGrid.h"
#include "lib/Kernels/Gpu/Rows/ElementGrid.h"
#include "lib/Kernels/Gpu/Rows/EmbeddingGrid.h"
#include "lib/Kernels/Gpu/Rows/NormGrid.h"
#include "lib/Kernels/Gpu/Rows/PoolGrid.h"
#include "lib/Kernels/Gpu/Rows/RecurrenceGrid.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

namespace heddle {
#define GEN_PASS_DEF_EMITGRIDSPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

static std::string namesOfArchitectures() {
  SmallVector<StringRef> names;
  for (const GpuArchitecture &architecture : getGpuArchitectures())
    names.push_back(architecture.name);
  return llvm::join(names, ", ");
}

namespace {
struct EmitGrids : heddle::impl::EmitGridsPassBase<EmitGrids> {
  using Base::Base;

  /// Builds the grid of `op` in front of it; fails if it has no emitter.
  static LogicalResult emit(Operation *op,
                            const GpuArchitecture &architecture) {
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case<AttentionOp, BestLogitsOp, LargestLogitsOp, LinearOp>(
            [&](auto layer) { return emitGrid(layer, architecture); })
        .Case<ActivationOp, AddOp, CacheAppendOp, CacheFillOp,
              CandidateLogitsOp, EmbeddingOp, FillOp, LastRowsOp,
              LearnedPositionsOp, LinearAttentionOp, LinearAttentionReadOp,
              LinearAttentionSumsOp, MultiplyOp, NormOp, NormalizeOp, PoolOp,
              ProjectSequenceOp, PutRowsOp, QuantizeOp, RecurrenceOp,
              RotaryPositionsOp, RoundOp, SinusoidalPositionsOp, TakeRowsOp,
              memref::CopyOp>([](auto layer) { return emitGrid(layer); })
        .Default([](Operation *) { return failure(); });
  }

  void runOnOperation() override {
    std::optional<GpuArchitecture> gpu = getGpuArchitecture(architecture);
    if (!gpu) {
      getOperation().emitError("there is no architecture '")
          << architecture << "' (supported: " << namesOfArchitectures() << ")";
      return signalPassFailure();
    }
    declareSharedMemory(getOperation().getBody(), getOperation().getLoc());
    // Emitters leave ops to others, which are met in a second round.
    for (int round = 0; round < 2; ++round) {
      SmallVector<Operation *> layers;
      getOperation().walk([&](Operation *op) {
        if (isa<DestinationOpInterface, memref::CopyOp>(op))
          layers.push_back(op);
      });
      for (Operation *op : layers) {
        if (llvm::any_of(op->getOperandTypes(), llvm::IsaPred<TensorType>)) {
          op->emitOpError("is still on tensors: bufferise it first");
          return signalPassFailure();
        }
        if (succeeded(emit(op, *gpu)))
          op->erase();
      }
    }
  }
};
} // namespace
