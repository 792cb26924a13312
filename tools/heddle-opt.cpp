//===- heddle-opt.cpp - Runs passes on a module, for inspection and tests -===//

#include "dialect/Transformer.h"
#include "lib/CodeGen/LargeStack.h"
#include "lib/Import/Nesting.h"
#include "lib/Weights/Error.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
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
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
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
