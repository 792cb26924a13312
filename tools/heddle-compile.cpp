//===- heddle-compile.cpp - From a model to an artifact -------------------===//
//
// Imports a model, compiles it, says what was asked for. Errors are one
// sentence on standard error and the exit code 1, or 2 where the command line
// is wrong in itself; a file appears whole or not at all.
//
//===----------------------------------------------------------------------===//

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
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <cstring>
#include <exception>
#include <new>
#include <unistd.h>

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
      fusion.leftOut = "oneDNN computes its two linears only while they are "
                       "two";
    else if (name == "fuse-choice" && options.gemm == "onednn")
      fusion.leftOut = "oneDNN computes logits only where they are stored";
    fusions.push_back(std::move(fusion));
  }
  return fusions;
}

/// Measures layers where that is asked for; null where it is not. The model
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
  if (llvm::Error error =
          calibration->measureLayers(listLayers(model.module.get())))
    return std::move(error);
  return calibration;
}

static llvm::Error compile(const CompileOptions &options) {
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
  importOptions.randomSeed = options.randomSeed;
  showProgress("reading " + llvm::Twine(options.model));
  llvm::Expected<ImportedModel> model =
      importModel(options.model, context, importOptions);
  if (!model)
    return model.takeError();
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

/// One line, and below it, where a text of the command line is wrong, two more.
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

/// Ends the process where it cannot go on, memory above all, with a sentence
/// and without a file that is half written.
[[noreturn]] static void giveUp(const char *why) {
  static constexpr char kBegin[] = "heddle-compile: error: ";
  for (const char *part : {kBegin, why, "\n"}) {
    // Nobody could be told of an error.
    [[maybe_unused]] ssize_t written = write(STDERR_FILENO, part, strlen(part));
  }
  llvm::sys::RunInterruptHandlers();
  _exit(1);
}

static void handleWhatCannotGoOn() {
  constexpr static const char *kMemory = "there is not enough memory";
  llvm::remove_bad_alloc_error_handler();
  llvm::install_bad_alloc_error_handler(
      [](void *, const char *, bool) { giveUp(kMemory); });
  std::set_new_handler([] { giveUp(kMemory); });
  llvm::install_fatal_error_handler(
      [](void *, const char *reason, bool) { giveUp(reason); });
  // By a library that starts a thread of its own.
  std::set_terminate(
      [] { giveUp("the system refuses memory or another thread"); });
  // A file that may not grow is an error of write(2), not the end of the
  // process.
  signal(SIGXFSZ, SIG_IGN);
}

using SignalSet = llvm::SmallVector<int>;

static SignalSet findIgnoredSignals() {
  SignalSet ignored;
  for (int number :
       {SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGQUIT, SIGXCPU, SIGPIPE}) {
    struct sigaction action;
    if (sigaction(number, nullptr, &action) == 0 &&
        action.sa_handler == SIG_IGN)
      ignored.push_back(number);
  }
  return ignored;
}

/// Ends the process as LLVM does for an interrupt. To LLVM the first two are
/// crashes, of which it prints the stack, and the third is nothing. What is
/// ignored, as nohup asks for, stays so, which LLVM forgets.
static void handleWishesToEnd(const SignalSet &ignored) {
  struct sigaction action = {};
  action.sa_handler = [](int number) {
    llvm::sys::RunInterruptHandlers();
    signal(number, SIG_DFL);
    raise(number);
  };
  for (int number : {SIGQUIT, SIGXCPU, SIGPIPE})
    sigaction(number, &action, nullptr);
  for (int number : ignored)
    signal(number, SIG_IGN);
}

int main(int argc, char **argv) {
  llvm::setBugReportMsg(
      "heddle-compile: error: this is a bug of Heddle, please "
      "report it with the command line and this:\n");
  // Signals wait until it is known who ignores them.
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &before);
  SignalSet ignored = findIgnoredSignals();
  llvm::InitLLVM init(argc, argv);
  handleWhatCannotGoOn();
  handleWishesToEnd(ignored);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  llvm::Expected<CompileOptions> options =
      parseCompileOptions(llvm::ArrayRef(argv, argc).drop_front());
  if (!options) {
    printError(options.takeError());
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
