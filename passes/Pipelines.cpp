//===- Pipelines.cpp - The order of passes --------------------------------===//
//
// Why a pass stands where it does is said beside it.
//
//===----------------------------------------------------------------------===//

#include "passes/Pipelines.h"
#include "lib/CodeGen/Machine/Target.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"

using namespace mlir;
using namespace heddle;

/// Simplification between stages; it never decides anything of its own.
static void addCleanup(OpPassManager &manager) {
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
}

/// The same of kernels, which are long: they have no blocks to simplify, and
/// operands first is half of the time.
static void addKernelCleanup(OpPassManager &manager,
                             ArrayRef<std::string> withoutPatterns = {}) {
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  config.setUseTopDownTraversal(false);
  manager.addPass(createCanonicalizerPass(config, withoutPatterns));
}

/// Tensors become memrefs. Private functions keep plain row-major arguments,
/// and results that were written in place stop being results.
static void addBufferization(OpPassManager &manager) {
  manager.addPass(createBufferMasksPass());
  manager.addPass(createPassDestinationsPass());
  bufferization::OneShotBufferizePassOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  manager.addPass(bufferization::createOneShotBufferizePass(options));
  manager.addPass(bufferization::createDropEquivalentBufferResultsPass());
  addCleanup(manager);
}

namespace {
/// A fusion pass, by the name that people switch it off by.
struct Fusion {
  StringLiteral name;
  std::unique_ptr<Pass> (*create)();
};
} // namespace

/// On whole sequences, so that full and step forms both profit. What a linear
/// does to its own rows goes before what it shares with others: the latter
/// takes plain linears only. Whole rows come last, when it is known who
/// finishes them.
static constexpr Fusion kFusions[] = {
    {"fold-scales", createFoldScalesPass},
    {"fuse-positions", createFusePositionsPass},
    {"fuse-candidates", createFuseCandidatesPass},
    {"fuse-epilogues", createFuseEpiloguesPass},
    {"fuse-quantize", createFuseQuantizePass},
    {"fuse-ffn", createFuseFfnPass},
    {"fuse-gates", createFuseGatesPass},
    {"fuse-shared-inputs", createFuseSharedInputsPass},
    {"fuse-add-norm", createFuseAddNormPass},
    {"fuse-short-rows", createFuseShortRowsPass},
};

/// Only a step shows what its caches imply. What it is in the end has a greedy
/// form.
static constexpr Fusion kStepFusions[] = {
    {"fuse-masks", createFuseMasksPass},
    {"fuse-choice", createFuseChoicePass},
};

ArrayRef<StringLiteral> heddle::getFusionNames() {
  static const std::vector<StringLiteral> names = [] {
    std::vector<StringLiteral> all;
    for (ArrayRef<Fusion> fusions :
         {ArrayRef(kFusions), ArrayRef(kStepFusions)})
      for (const Fusion &fusion : fusions)
        all.push_back(fusion.name);
    return all;
  }();
  return names;
}

static void addFusions(OpPassManager &manager, ArrayRef<Fusion> fusions,
                       const ModelOptions &options) {
  size_t before = manager.size();
  for (const Fusion &fusion : fusions)
    if (!llvm::is_contained(options.withoutFusions, fusion.name))
      manager.addPass(fusion.create());
  if (manager.size() != before)
    addCleanup(manager);
}

void heddle::buildRequestPipeline(OpPassManager &manager,
                                  const ModelOptions &options) {
  if (!options.attention.empty())
    manager.addPass(createRestrictAttentionPass({options.attention}));
}

void heddle::buildModelPipeline(OpPassManager &manager,
                                const ModelOptions &options) {
  buildRequestPipeline(manager, options);
  // Regions mean more than the folders of arith know.
  manager.addPass(createExpandRegionsPass());
  // Masks fold first: the reach of what is left decides how large caches are.
  addCleanup(manager);
  if (options.fakeQuantize)
    manager.addPass(createFakeQuantizePass(
        {options.dtype, llvm::to_vector(options.keep), *options.fakeQuantize,
         options.rotated, options.activations}));
  else
    manager.addPass(createChoosePrecisionPass(
        {options.dtype, llvm::to_vector(options.keep), options.rotated,
         options.activations, options.cacheDtype}));
  // What a decoder reads of its memory is then apart from what depends on it.
  manager.addPass(createSplitLinearAttentionPass());
  addFusions(manager, kFusions, options);
  manager.addPass(createSplitPhasesPass());
  manager.addPass(createDropPaddingPass());
  addFusions(manager, kStepFusions, options);
  addBufferization(manager);
  // Memory is planned while functions are straight-line, but for these loops.
  manager.addPass(createChunkRowsPass());
  if (options.dividesPasts)
    manager.addPass(createDividePastsPass());
  manager.addPass(createPlanMemoryPass());
  if (options.packWeights)
    manager.addPass(createPackWeightsPass());
  manager.addPass(createPlaceWeightsPass());
}

/// From layer ops to kernels of their own, loops over tiles.
static void addTiles(OpPassManager &manager, const CodeOptions &options) {
  manager.addPass(createOutlineKernelsPass());
  manager.addPass(createCountWorkPass());
  if (options.oneDnn)
    manager.addPass(createCallOneDnnPass());
  manager.addPass(createTileAttentionPass({options.isa}));
  manager.addPass(createTileLinearPass({options.isa}));
  addKernelCleanup(manager);
}

/// From tiles and layer ops to entry points.
static void addEntries(OpPassManager &manager, const CodeOptions &options) {
  if (options.kernels)
    manager.addPass(createEmitKernelsPass({options.isa}));
  // No CSE from here on: buffers that share a slot would become one value, and
  // the loops of one layer would speak of the tensors of another.
  manager.addPass(createLowerToLoopsPass());
  addKernelCleanup(manager);
  manager.addPass(createBuildHostFunctionsPass());
  // The call is an argument from here on: kernels get it last.
  manager.addPass(createProfileKernelsPass());
  manager.addPass(createLowerParallelPass());
  addKernelCleanup(manager);
  llvm::Expected<IsaLevel> level = getIsaLevel(options.isa);
  if (!level) // What passes of kernels say; the reference has no level.
    llvm::consumeError(level.takeError());
  else if (level->emulatesTiles)
    manager.addPass(createEmulateTilesPass());
}

/// From layer ops to kernels of a GPU and entry points that start them.
static void addGrids(OpPassManager &manager, const CodeOptions &options) {
  if (options.kernels)
    manager.addPass(createSplitFfnPass());
  manager.addPass(createOutlineKernelsPass());
  if (options.kernels)
    manager.addPass(createEmitGridsPass({options.isa}));
  manager.addPass(createLowerToLoopsPass());
  // A loop of one iteration is a kernel, too.
  const std::string keepsLoops[] = {
      "(anonymous namespace)::ParallelOpSingleOrZeroIterationDimsFolder"};
  addKernelCleanup(manager, keepsLoops);
  manager.addPass(createBuildHostFunctionsPass());
  manager.addPass(createLaunchKernelsPass());
  manager.addPass(createAddRuntimeKernelsPass());
  // There is nothing left for threads of the CPU, and it says so.
  manager.addPass(createLowerParallelPass());
  addKernelCleanup(manager);
}

void heddle::buildCodePipeline(OpPassManager &manager,
                               const CodeOptions &options) {
  if (options.onGpu)
    return addGrids(manager, options);
  if (options.kernels)
    addTiles(manager, options);
  else // One function of all loops would take LLVM the square of their number.
    manager.addPass(createOutlineKernelsPass());
  addEntries(manager, options);
}

void heddle::buildLLVMPipeline(OpPassManager &manager) {
  manager.addPass(createLowerToLLVMPass());
}

void heddle::buildDeviceLLVMPipeline(OpPassManager &manager) {
  manager.addPass(createExpandMathPass());
  // Sine and cosine of an angle reduce it once.
  addCleanup(manager);
  manager.addPass(createLowerToLLVMPass());
}

namespace {
struct IsaOptions : PassPipelineOptions<IsaOptions> {
  Option<std::string> isa{*this, "isa", llvm::cl::desc("ISA level"),
                          llvm::cl::init("x86-64-v3")};
};
} // namespace

namespace {
struct ArchitectureOptions : PassPipelineOptions<ArchitectureOptions> {
  Option<std::string> architecture{*this, "architecture",
                                   llvm::cl::desc("architecture of the GPU"),
                                   llvm::cl::init("sm_80")};
};
} // namespace

void heddle::registerPipelines() {
  PassPipelineRegistration<>(
      "heddle-reference",
      "From a model to entry points made of plain loops over memrefs",
      [](OpPassManager &manager) {
        ModelOptions options;
        options.packWeights = false;
        buildModelPipeline(manager, options);
        buildCodePipeline(manager, CodeOptions{"", /*kernels=*/false});
      });
  PassPipelineRegistration<>("heddle-model",
                             "From a model to layer ops on planned memory",
                             [](OpPassManager &manager) {
                               buildModelPipeline(manager, ModelOptions());
                             });
  PassPipelineRegistration<IsaOptions>(
      "heddle-tiles", "From layer ops on planned memory to loops over tiles",
      [](OpPassManager &manager, const IsaOptions &options) {
        addTiles(manager, CodeOptions{options.isa});
      });
  PassPipelineRegistration<IsaOptions>(
      "heddle-kernels", "From loops over tiles to entry points made of vectors",
      [](OpPassManager &manager, const IsaOptions &options) {
        addEntries(manager, CodeOptions{options.isa});
      });
  PassPipelineRegistration<ArchitectureOptions>(
      "heddle-grids",
      "From layer ops on planned memory to kernels of a GPU and their launches",
      [](OpPassManager &manager, const ArchitectureOptions &options) {
        addGrids(manager, CodeOptions{options.architecture});
      });
  PassPipelineRegistration<>("heddle-device-llvm",
                             "From a kernel of a GPU to the LLVM dialect",
                             buildDeviceLLVMPipeline);
  PassPipelineRegistration<>("heddle-llvm",
                             "From entry points to the LLVM dialect",
                             buildLLVMPipeline);
}
