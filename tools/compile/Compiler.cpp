//===- Compiler.cpp - What heddle-compile does ----------------------------===//
//
// Reads the command line, imports a model, compiles it, and says what was asked
// for. A file appears whole or not at all.
//
//===----------------------------------------------------------------------===//

#include "tools/compile/Compiler.h"
#include "dialect/Transformer.h"
#include "lib/CodeGen/Machine/LargeStack.h"
#include "lib/Fusion/FusionReport.h"
#include "lib/Import/ImportModel.h"
#include "lib/Masks/RuledSites.h"
#include "lib/Support/Error.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "passes/Pipelines.h"
#include "tools/Notices.h"
#include "tools/calibration/Calibration.h"
#include "tools/compile/CompileModel.h"
#include "tools/compile/CompileOptions.h"
#include "tools/compile/CompileOutput.h"
#include "tools/compile/CompileProgress.h"
#include "tools/help/CompilePage.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace heddle;

static llvm::Error loadPlugins(const CompileOptions &options,
                               DialectRegistry &registry) {
  for (const std::string &path : options.dialectPlugins) {
    // A name without a folder would be looked for among the system's libraries.
    llvm::Expected<DialectPlugin> plugin = DialectPlugin::load(
        llvm::sys::fs::exists(path) && path.find('/') == std::string::npos
            ? "./" + path
            : path);
    if (!plugin)
      return makeError("cannot load the plugin '" + path +
                       "': " + llvm::toString(plugin.takeError()));
    plugin->registerDialectRegistryCallbacks(registry);
  }
  return llvm::Error::success();
}

/// All fusions in their order; those that are left out with a reason.
static std::vector<FusionTotal> listFusions(const CompileOptions &options) {
  std::vector<FusionTotal> fusions;
  for (llvm::StringRef name : getFusionNames()) {
    FusionTotal fusion{name.str(), ""};
    if (llvm::is_contained(options.withoutFusions, name))
      fusion.leftOut = "--no-fuse";
    else if (name == "fuse-ffn" && options.gemm == "onednn")
      fusion.leftOut =
          "oneDNN computes its two linears only while they are separate";
    else if (name == "fuse-gates" && options.gemm == "onednn")
      fusion.leftOut = "oneDNN knows no gates";
    else if (name == "fuse-gates" && hasCode(options, /*onGpu=*/true))
      fusion.leftOut = "kernels of a GPU find a gate in memory";
    else if (name == "fuse-choice" && options.gemm == "onednn")
      fusion.leftOut = "oneDNN computes logits only if they are stored";
    fusions.push_back(std::move(fusion));
  }
  return fusions;
}

/// Measures layers if that is asked for; null if it is not. The model
/// must outlive the calibration.
static llvm::Expected<std::unique_ptr<Calibration>>
startCalibration(const CompileOptions &options, const ImportedModel &model) {
  if (options.calibrate.empty())
    return nullptr;
  std::vector<FusionTotal> fusions = listFusions(options);
  llvm::find_if(fusions, [](const FusionTotal &fusion) {
    return fusion.pass == "fuse-choice";
  })->leftOut = "all logits are compared";
  // The passes will have changed the model when the artifact is measured.
  auto module = std::make_shared<OwningOpRef<ModuleOp>>(
      copyForCalibration(model.module.get()));
  CalibrationSteps steps;
  steps.compile = [&model, module, fusions](const CompileOptions &trial) {
    OwningOpRef<ModuleOp> copy(module->get().clone());
    return compileModel(trial, fusions, *copy, model).takeError();
  };
  steps.placeTensors = [&model, module, fusions](const CompileOptions &trial) {
    OwningOpRef<ModuleOp> copy(module->get().clone());
    return placeTensors(trial, fusions, *copy, model);
  };
  auto calibration = std::make_unique<Calibration>(options, std::move(steps));
  // Weights of f32 lose nothing.
  std::vector<CalibratedLayer> layers;
  if (options.dtype != "f32")
    layers = listLayers(model.module.get());
  if (llvm::Error error = calibration->measureLayers(layers))
    return std::move(error);
  return calibration;
}

static llvm::Error compile(CompileOptions options) {
  if (llvm::Error error = checkOutput(options))
    return error;
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registry.insert<TransformerDialect>();
  registerBufferization(registry);
  if (llvm::Error error = loadPlugins(options, registry))
    return error;
  FusionReport report;
  // Models are small for MLIR: threads would cost more than they save.
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  ImportOptions importOptions;
  importOptions.weights = options.weights;
  importOptions.tokenizer = options.tokenizer;
  importOptions.randomSeed = options.randomSeed;
  importOptions.pooling = options.pooling;
  importOptions.layers = options.layers;
  showProgress("reading " + llvm::Twine(options.model));
  llvm::Expected<ImportedModel> model =
      importModel(options.model, context, importOptions);
  if (!model)
    return model.takeError();
  // Behind the rules that were given: the first that matches counts.
  if (options.dtype == "f16")
    for (const std::string &names : model->keptInF16)
      options.keep.push_back("f32:" + names);
  warnOfUnread(options.model, model->unreadTensors);
  warnOfTokenizer(options.model, model->tokenizerProblem);
  for (const std::string &sentence : model->warnings)
    warn(sentence);
  if (!options.writeWeights.empty())
    if (llvm::Error error = writeText(
            options.writeWeights, model->weights.getFiles().back().getBytes()))
      return error;
  if (!options.attention.empty())
    if (llvm::Error error =
            ofAttention(checkRules(*model->module, options.attention)))
      return error;
  if (options.emit == Emit::MLIR)
    return writeMathematics(options, *model);
  std::vector<FusionTotal> fusions = listFusions(options);
  auto calibration = startCalibration(options, *model);
  if (!calibration)
    return calibration.takeError();
  // Of the artifact alone, and not of what is measured.
  bool explores = !options.explore.empty();
  if (options.explain || explores)
    report.listenTo(context);
  report.readModule(*model->module);
  Exploration exploration;
  nameLayers(*model->module);
  llvm::Expected<std::string> kernels =
      compileModel(options, fusions, *model->module, *model,
                   explores ? &exploration : nullptr);
  if (!kernels)
    return kernels.takeError();
  if (explores)
    if (llvm::Error error =
            writeText(options.explore, exploration.write(report.getRemarks())))
      return error;
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (options.explain) {
    for (const std::string &remark : model->remarks)
      stream << toOneLine(remark) << "\n";
    report.print(stream, fusions);
    stream << *kernels;
  }
  if (*calibration) {
    llvm::Expected<std::string> table = (*calibration)->measureArtifact();
    if (!table)
      return table.takeError();
    stream << *table;
  }
  return printText(text);
}

static llvm::Error run(const CompileOptions &options) {
  if (options.help || options.version || options.license)
    return printText(options.help      ? writeHelp(getCompilePage())
                     : options.license ? getNotices()
                                       : "heddle-compile " HEDDLE_VERSION "\n");
  return compile(options);
}

/// One line, and below it, if a text of the command line is wrong, two more.
static void printError(llvm::Error error) {
  std::string excerpt;
  error = llvm::handleErrors(std::move(error), [&](const TextError &mistake) {
    excerpt = mistake.getExcerpt();
    return makeError(mistake.getSentence());
  });
  llvm::errs() << "heddle-compile: error: "
               << toOneLine(llvm::toString(std::move(error))) << "\n"
               << excerpt;
}

/// Libraries bring an MLIR of their own, or have no archive to link.
static llvm::Error checkStandalone(const CompileOptions &options) {
  constexpr const char *kNeeds = ", which this heddle-compile cannot do: it "
                                 "has all it needs inside; build "
                                 "Heddle from its sources";
  if (!options.dialectPlugins.empty())
    return makeError(llvm::Twine("--load-dialect-plugin loads a library") +
                     kNeeds);
  if (options.gemm == "onednn")
    return makeError(llvm::Twine("--gemm=onednn calls a library") + kNeeds);
  return llvm::Error::success();
}

int heddle::runCompiler(const std::vector<const char *> &arguments,
                        bool isStandalone) {
  llvm::Expected<CompileOptions> options = parseCompileOptions(arguments);
  if (!options) {
    printError(options.takeError());
    return 2;
  }
  if (llvm::Error error =
          isStandalone ? checkStandalone(*options) : llvm::Error::success()) {
    printError(std::move(error));
    return 2;
  }
  llvm::Error error = llvm::Error::success();
  runOnLargeStacks(/*threads=*/1, [&] { error = run(*options); });
  showProgress("");
  if (!error)
    return 0;
  printError(std::move(error));
  return 1;
}
