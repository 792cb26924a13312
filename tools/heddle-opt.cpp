//===- heddle-opt.cpp - Runs passes on a module, for inspection and tests -===//

#include "dialect/Transformer.h"
#include "lib/CodeGen/Machine/LargeStack.h"
#include "lib/Import/Nesting.h"
#include "lib/Support/Error.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "passes/Passes.h"
#include "passes/Pipelines.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
using namespace heddle;

static llvm::cl::OptionCategory maskOptions("Pictures of masks");
static llvm::cl::opt<std::string>
    drawMasks("draw-masks", llvm::cl::cat(maskOptions),
              llvm::cl::value_desc("folder"),
              llvm::cl::desc("Draw each mask after all passes: "
                             "transformer-draw-masks"));
static llvm::cl::opt<unsigned>
    maskLength("mask-length", llvm::cl::cat(maskOptions), llvm::cl::init(64),
               llvm::cl::desc("Queries and keys of a drawing"));
static llvm::cl::opt<unsigned>
    maskHeads("mask-heads", llvm::cl::cat(maskOptions), llvm::cl::init(4),
              llvm::cl::desc("How many different heads to draw at most"));
static llvm::cl::opt<std::string>
    maskValues("mask-values", llvm::cl::cat(maskOptions),
               llvm::cl::value_desc("NAME=NUMBER,...; NAME=..."),
               llvm::cl::desc("Values of the arguments that masks read"));

/// Adds what --draw-masks asks for behind the passes of the command line.
static void addPictures(MlirOptMainConfig &config) {
  if (drawMasks.empty())
    return;
  auto setup = [parsed = config](PassManager &manager) {
    if (failed(parsed.setupPassPipeline(manager)))
      return failure();
    manager.addPass(
        createDrawMasksPass({drawMasks, maskLength, maskHeads, maskValues}));
    return success();
  };
  config.setPassPipelineSetupFn(setup);
}

/// Threads of a pool have small stacks, and passes recurse.
static void disableThreading() {
  llvm::cl::Option *option =
      llvm::cl::getRegisteredOptions().lookup("mlir-disable-threading");
  if (option && option->getNumOccurrences() == 0)
    option->addOccurrence(0, option->ArgStr, "true");
}

static llvm::Error optimize(int argc, char **argv, DialectRegistry &registry) {
  auto [input, output] = registerAndParseCLIOptions(
      argc, argv, "Heddle's optimiser driver\n", registry);
  disableThreading();
  if (drawMasks.getNumOccurrences() != 0 && drawMasks.empty())
    return makeError("--draw-masks has an empty value, expected a folder");
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  addPictures(config);
  // MLIR has said what failed.
  auto asError = [](LogicalResult result) {
    return succeeded(result) ? llvm::Error::success() : makeError("");
  };
  if (config.shouldShowDialects() || config.shouldListPasses())
    return asError(MlirOptMain(argc, argv, input, output, registry));
  std::string reason;
  std::unique_ptr<llvm::MemoryBuffer> file = openInputFile(input, &reason);
  if (!file)
    return makeError(reason);
  if (!isBytecode(file->getMemBufferRef()))
    if (llvm::Error error = checkNesting(file->getBuffer(), input))
      return error;
  std::unique_ptr<llvm::ToolOutputFile> result =
      openOutputFile(output, &reason);
  if (!result)
    return makeError(reason);
  if (failed(MlirOptMain(result->os(), std::move(file), registry, config)))
    return makeError("");
  result->keep();
  return llvm::Error::success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registry.insert<TransformerDialect>();
  registerBufferization(registry);
  registerAllPasses();
  registerHeddlePasses();
  registerPipelines();
  llvm::Error error = llvm::Error::success();
  runOnLargeStacks(/*threads=*/1,
                   [&] { error = optimize(argc, argv, registry); });
  if (!error)
    return EXIT_SUCCESS;
  std::string sentence = llvm::toString(std::move(error));
  if (!sentence.empty())
    llvm::errs() << "heddle-opt: error: " << sentence << "\n";
  return EXIT_FAILURE;
}
