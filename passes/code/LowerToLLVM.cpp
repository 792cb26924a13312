//===- LowerToLLVM.cpp - Entry points in LLVM's dialect -------------------===//
//
// One conversion with the patterns of every dialect that entry points and
// kernels are made of. A pass a dialect would walk all ops each time, and leave
// casts between the types of before and after for the next one to fold.
//
// Few ops reach LLVM through others of their own dialect, which a conversion
// does not see behind the types of its results. They are rewritten before.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "lib/Kernels/Linear/LinearAmx.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/AMX/Transforms.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Passes.h"

namespace heddle {
#define GEN_PASS_DEF_LOWERTOLLVMPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;

/// Vectors as LLVM has them: of one dimension, with masks that are values.
static void addVectorPatterns(RewritePatternSet &patterns) {
  vector::populateVectorContractLoweringPatterns(
      patterns, vector::VectorContractLowering::Dot);
  vector::populateVectorToVectorCanonicalizationPatterns(patterns);
  vector::populateVectorBitCastLoweringPatterns(patterns);
  vector::populateVectorBroadcastLoweringPatterns(patterns);
  vector::populateVectorMaskOpLoweringPatterns(patterns);
  vector::populateVectorShapeCastLoweringPatterns(patterns);
  vector::populateVectorInterleaveLoweringPatterns(patterns);
  vector::populateVectorTransposeLoweringPatterns(
      patterns, vector::VectorTransposeLowering::EltWise);
  vector::populateVectorTransferLoweringPatterns(patterns,
                                                 /*maxTransferRank=*/1);
  vector::populateVectorMaskMaterializationPatterns(
      patterns, /*force32BitVectorIndices=*/true);
  vector::populateVectorInsertExtractStridedSliceTransforms(patterns);
  vector::populateVectorStepLoweringPatterns(patterns);
  vector::populateVectorRankReducingFMAPattern(patterns);
  vector::populateVectorGatherLoweringPatterns(patterns);
  vector::populateVectorFromElementsUnrollPatterns(patterns);
  vector::populateVectorToElementsUnrollPatterns(patterns);
}

/// Vectors of several dimensions and parallel loops: no kernel of ours has
/// them, a module may. And views of views: of those on a stack the conversion
/// makes casts in a circle.
static bool isRewrittenBefore(Operation *op) {
  if (auto view = dyn_cast<memref::SubViewOp>(op))
    return view.getSource().getDefiningOp<memref::SubViewOp>();
  auto isOfRows = [](Type type) {
    auto vector = dyn_cast<VectorType>(type);
    return vector && vector.getRank() > 1;
  };
  return isa<scf::ParallelOp, vector::ContractionOp>(op) ||
         (isa_and_nonnull<vector::VectorDialect>(op->getDialect()) &&
          (llvm::any_of(op->getOperandTypes(), isOfRows) ||
           llvm::any_of(op->getResultTypes(), isOfRows)));
}

static void addPatterns(const LLVMTypeConverter &types,
                        RewritePatternSet &patterns) {
  addVectorPatterns(patterns);
  memref::populateExpandStridedMetadataPatterns(patterns);
  populateAffineToStdConversionPatterns(patterns);
  populateSCFToControlFlowConversionPatterns(patterns);
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);

  populateVectorToLLVMConversionPatterns(types, patterns,
                                         /*reassociateFPReductions=*/false,
                                         /*force32BitVectorIndices=*/true);
  populateFinalizeMemRefToLLVMConversionPatterns(types, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
  arith::populateArithToLLVMConversionPatterns(types, patterns);
  index::populateIndexToLLVMConversionPatterns(types, patterns);
  ub::populateUBToLLVMConversionPatterns(types, patterns);
  populateFuncToLLVMConversionPatterns(types, patterns);
  // What LLVM has as an intrinsic first, libm for the rest.
  populateMathToLLVMConversionPatterns(types, patterns,
                                       /*approximateLog1p=*/true,
                                       /*benefit=*/2);
  populateMathToLibmConversionPatterns(patterns, /*benefit=*/1);
}

/// Keeps a masked store of short elements apart from what shortened them. LLVM
/// would join the two, and then, where the mask is found to be one lane, store
/// all bits of the long element over the next ones. A fence of f32 is no code.
static void fenceShortElements(LLVM::MaskedStoreOp op) {
  auto type = cast<VectorType>(op.getValue().getType());
  Type f32 = Float32Type::get(op.getContext());
  int64_t bits = type.getNumElements() * type.getElementTypeBitWidth();
  if (type.getElementTypeBitWidth() >= 32 || bits % 32 != 0)
    return;
  OpBuilder builder(op);
  auto words = VectorType::get(bits / 32, f32);
  Value value =
      LLVM::BitcastOp::create(builder, op.getLoc(), words, op.getValue());
  value = LLVM::CallIntrinsicOp::create(
              builder, op.getLoc(), words,
              builder.getStringAttr("llvm.arithmetic.fence"), value)
              .getResult(0);
  op.getValueMutable().assign(
      LLVM::BitcastOp::create(builder, op.getLoc(), type, value));
}

/// Makes masked loads and stores of short floats those of their bits. Where a
/// level has no such instruction, LLVM takes them apart into elements, which it
/// rounds to what they are by a call of a library.
static void maskBitsOfShortFloats(ModuleOp module) {
  auto bitsOf = [](Value vector) {
    auto type = cast<VectorType>(vector.getType());
    return heddle::isShortFloat(type.getElementType())
               ? type.clone(IntegerType::get(type.getContext(), 16))
               : VectorType();
  };
  module.walk([&](LLVM::MaskedStoreOp op) {
    VectorType bits = bitsOf(op.getValue());
    if (!bits)
      return;
    OpBuilder builder(op);
    op.getValueMutable().assign(
        LLVM::BitcastOp::create(builder, op.getLoc(), bits, op.getValue()));
  });
  module.walk([](LLVM::MaskedStoreOp op) { fenceShortElements(op); });
  module.walk([&](LLVM::MaskedLoadOp op) {
    Value loaded = op.getRes();
    VectorType bits = bitsOf(loaded);
    if (!bits)
      return;
    OpBuilder builder(op);
    for (OpOperand &behindMask : op.getPassThruMutable())
      behindMask.set(LLVM::BitcastOp::create(builder, op.getLoc(), bits,
                                             behindMask.get()));
    builder.setInsertionPointAfter(op);
    Type halves = loaded.getType();
    loaded.setType(bits);
    auto result = LLVM::BitcastOp::create(builder, op.getLoc(), halves, loaded);
    loaded.replaceAllUsesExcept(result, result);
  });
}

/// Loads of tiles that need not stay in the L1 cache have an instruction, which
/// `amx` does not know.
static void loadNontemporal(ModuleOp module) {
  module.walk([](LLVM::CallIntrinsicOp op) {
    if (op.getIntrin() == "llvm.x86.tileloadd64.internal" &&
        op->removeDiscardableAttr(heddle::kNontemporalAttr))
      op.setIntrin("llvm.x86.tileloaddt164.internal");
  });
}

namespace {
/// What is the same for all modules that one pass lowers.
struct Conversion {
  explicit Conversion(MLIRContext *context) : types(context), target(*context) {
    RewritePatternSet before(context), all(context);
    addVectorPatterns(before);
    memref::populateExpandStridedMetadataPatterns(before);
    populateSCFToControlFlowConversionPatterns(before);
    beforePatterns = std::move(before);
    addPatterns(types, all);
    populateAMXLegalizeForLLVMExportPatterns(types, all);
    patterns = std::move(all);
    target.addIllegalDialect<affine::AffineDialect, arith::ArithDialect,
                             cf::ControlFlowDialect, func::FuncDialect,
                             index::IndexDialect, math::MathDialect,
                             memref::MemRefDialect, scf::SCFDialect,
                             ub::UBDialect, vector::VectorDialect>();
    configureAMXLegalizeForExportTarget(target);
    target.addLegalOp<ModuleOp, UnrealizedConversionCastOp>();
  }

  LLVMTypeConverter types;
  LLVMConversionTarget target;
  FrozenRewritePatternSet beforePatterns, patterns;
};

struct LowerToLLVM : heddle::impl::LowerToLLVMPassBase<LowerToLLVM> {
  std::shared_ptr<Conversion> conversion;

  LogicalResult initialize(MLIRContext *context) override {
    conversion = std::make_shared<Conversion>(context);
    return success();
  }

  void runOnOperation() override {
    SmallVector<Operation *> before;
    getOperation().walk([&](Operation *op) {
      if (isRewrittenBefore(op))
        before.push_back(op);
    });
    GreedyRewriteConfig config;
    config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
    if (failed(applyOpPatternsGreedily(before, conversion->beforePatterns,
                                       config)) ||
        failed(applyPartialConversion(getOperation(), conversion->target,
                                      conversion->patterns)))
      return signalPassFailure();
    // Casts that stood in the module before are between equal types now.
    SmallVector<UnrealizedConversionCastOp> casts;
    getOperation().walk(
        [&](UnrealizedConversionCastOp cast) { casts.push_back(cast); });
    reconcileUnrealizedCasts(casts);
    maskBitsOfShortFloats(getOperation());
    loadNontemporal(getOperation());
  }
};
} // namespace
