//===- heddle-compile.cpp - From a model to an artifact -------------------===//
//
// Imports a model, runs the passes, writes what was asked for. Errors are one
// sentence on standard error and the exit code 1; a file appears whole or not
// at all.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "lib/Import/ImportModel.h"
#include "lib/Weights/Error.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "tools/CompileOptions.h"
#include "llvm/Support/FileOutputBuffer.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace heddle;

/// Writes a text to a file, whole or not at all, or to standard output.
static llvm::Error writeText(llvm::StringRef path, llvm::StringRef text) {
  if (llvm::Error error = llvm::writeToOutput(path, [&](llvm::raw_ostream &os) {
        os << text;
        return llvm::Error::success();
      }))
    return makeError("cannot write '" + path +
                     "': " + llvm::toString(std::move(error)));
  return llvm::Error::success();
}

static llvm::Error loadPlugins(const CompileOptions &options,
                               DialectRegistry &registry) {
  for (const std::string &path : options.dialectPlugins) {
    llvm::Expected<DialectPlugin> plugin = DialectPlugin::load(path);
    if (!plugin)
      return plugin.takeError();
    plugin->registerDialectRegistryCallbacks(registry);
  }
  return llvm::Error::success();
}

static llvm::Error compile(const CompileOptions &options) {
  DialectRegistry registry;
  registry.insert<TransformerDialect, arith::ArithDialect, func::FuncDialect,
                  math::MathDialect>();
  if (llvm::Error error = loadPlugins(options, registry))
    return error;
  MLIRContext context(registry);
  ImportOptions importOptions;
  importOptions.weights = options.weights;
  llvm::Expected<ImportedModel> model =
      importModel(options.model, context, importOptions);
  if (!model)
    return model.takeError();
  if (options.emit == Emit::MLIR) {
    std::string text;
    llvm::raw_string_ostream(text) << *model->module;
    return writeText(options.output, text + "\n");
  }
  return makeError("this kind of output is not supported");
}

static llvm::Error run(llvm::ArrayRef<const char *> arguments) {
  llvm::Expected<CompileOptions> options = parseCompileOptions(arguments);
  if (!options)
    return options.takeError();
  if (options->help || options->version) {
    llvm::outs() << (options->help ? kCompileHelp
                                   : "heddle-compile " HEDDLE_VERSION "\n");
    return llvm::Error::success();
  }
  return compile(*options);
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::Error error = run(llvm::ArrayRef(argv, argc).drop_front());
  if (!error)
    return 0;
  // Names from files may hold anything: keep it one line.
  std::string sentence = llvm::toString(std::move(error));
  for (char &c : sentence)
    if (static_cast<unsigned char>(c) < ' ' || c == 127)
      c = '?';
  llvm::errs() << "heddle-compile: error: " << sentence << "\n";
  return 1;
}
