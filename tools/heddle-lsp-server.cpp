//===- heddle-lsp-server.cpp - The transformer dialect in editors ---------===//
//
// A language server for modules: errors while one types, what an op is, where a
// value comes from. It is MLIR's, with our dialect. tools/README.md says how
// editors start it.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<heddle::TransformerDialect>();
  return failed(mlir::MlirLspServerMain(argc, argv, registry));
}
