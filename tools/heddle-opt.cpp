//===- heddle-opt.cpp - Runs passes on a module, for inspection and tests -===//

#include "dialect/Transformer.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "passes/Passes.h"
#include "passes/Pipelines.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<heddle::TransformerDialect>();
  heddle::registerBufferization(registry);
  mlir::registerAllPasses();
  heddle::registerHeddlePasses();
  heddle::registerPipelines();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Heddle's optimiser driver\n", registry));
}
