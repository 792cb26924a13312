//===- heddle-compile.cpp - From a model to an artifact -------------------===//
//
// Imports a model, runs the passes, writes what was asked for. Errors are one
// sentence on standard error and the exit code 1; a file appears whole or not
// at all.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "lib/Artifact/ArtifactWriter.h"
#include "lib/Artifact/Manifest.h"
#include "lib/Artifact/TableBounds.h"
#include "lib/CodeGen/CallLayout.h"
#include "lib/CodeGen/DimAgreement.h"
#include "lib/CodeGen/ObjectCode.h"
#include "lib/CodeGen/PassDump.h"
#include "lib/CodeGen/Target.h"
#include "lib/Fusion/FusionReport.h"
#include "lib/Import/FirstDiagnostic.h"
#include "lib/Import/ImportModel.h"
#include "lib/Weights/Error.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "passes/Pipelines.h"
#include "runtime/EntryContract.h"
#include "tools/CompileOptions.h"
#include "tools/CompileOutput.h"
#include "tools/LargeStack.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace heddle;

static llvm::Error loadPlugins(const CompileOptions &options,
                               DialectRegistry &registry) {
  for (const std::string &path : options.dialectPlugins) {
    llvm::Expected<DialectPlugin> plugin = DialectPlugin::load(path);
    if (!plugin)
      return makeError("cannot load the plugin '" + path +
                       "': " + llvm::toString(plugin.takeError()));
    plugin->registerDialectRegistryCallbacks(registry);
  }
  return llvm::Error::success();
}

/// Runs the passes that `build` adds; `dumped` counts the files of a dump, null
/// where none is wanted.
static llvm::Error runPasses(ModuleOp module, const CompileOptions &options,
                             unsigned *dumped,
                             llvm::function_ref<void(OpPassManager &)> build) {
  PassManager manager(module.getContext());
  if (dumped && !options.dumpPasses.empty()) {
    if (std::error_code error = llvm::sys::fs::create_directories(
            options.dumpPasses, /*IgnoreExisting=*/true,
            llvm::sys::fs::perms::all_all))
      return makeError("cannot create the folder '" + options.dumpPasses +
                       "': " + error.message());
    manager.addInstrumentation(
        std::make_unique<PassDump>(options.dumpPasses, *dumped));
  }
  build(manager);
  FirstDiagnostic diagnostic(*module.getContext());
  if (failed(manager.run(module)) || diagnostic.isReported())
    return diagnostic.take("the passes failed");
  return llvm::Error::success();
}

static llvm::Error emitText(const CompileOptions &options,
                            llvm::Module &module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (options.emit == Emit::LLVM) {
    stream << module;
    return writeText(options.output, text);
  }
  auto assembly = emitObjectCode(module, ObjectForm::Assembly);
  if (!assembly)
    return assembly.takeError();
  return writeText(options.output,
                   llvm::StringRef(assembly->data(), assembly->size()));
}

/// Whether heddle-run takes the manifest: it is the judge here, too.
static llvm::Error checkManifest(const std::string &text) {
  Result<Manifest> manifest = parseManifest(text);
  Status status = manifest.ok() ? checkEntries(*manifest) : manifest.status();
  return status.ok() ? llvm::Error::success() : makeError(status.message());
}

/// From planned memory to the LLVM IR of one ISA level. Sets `manifest`, which
/// is the same for every level.
static llvm::Expected<std::unique_ptr<llvm::Module>>
compileForLevel(ModuleOp module, const CompileOptions &options,
                const IsaLevel &level, unsigned *dumped,
                ManifestContext context, std::string &manifest,
                llvm::LLVMContext &llvmContext) {
  CodeOptions codeOptions{level.name.str(), !options.reference,
                          options.gemm == "onednn"};
  if (llvm::Error error =
          runPasses(module, options, dumped, [&](OpPassManager &manager) {
            buildCodePipeline(manager, codeOptions);
          }))
    return std::move(error);
  llvm::Expected<std::string> built = buildManifest(module, std::move(context));
  if (!built)
    return built.takeError();
  manifest = std::move(*built);
  // Single layers can be looked at, too, but not run.
  if (options.emit == Emit::Artifact)
    if (llvm::Error error = checkManifest(manifest))
      return std::move(error);
  if (llvm::Error error = runPasses(module, options, dumped, buildLLVMPipeline))
    return std::move(error);
  FirstDiagnostic diagnostic(*module.getContext());
  auto code = buildLLVMModule(module, llvmContext, level);
  if (!code)
    return diagnostic.take(llvm::toString(code.takeError()));
  return code;
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
    fusions.push_back(std::move(fusion));
  }
  return fusions;
}

/// Whether products multiply less than f32.
static bool hasShortTypes(ModuleOp module) {
  return llvm::any_of(module.getOps<ParameterOp>(), [](ParameterOp parameter) {
    return parameter.getTensorType().getElementTypeBitWidth() < 32;
  });
}

/// Compiles an imported model and writes what was asked for.
static llvm::Error compileModel(const CompileOptions &options,
                                llvm::ArrayRef<FusionTotal> fusions,
                                ImportedModel &model) {
  ModuleOp module = *model.module;
  if (llvm::Error error = checkModelAttributes(module))
    return error;
  if (llvm::Error error = checkTableBounds(module))
    return error;
  if (FirstDiagnostic diagnostic(*module.getContext());
      failed(checkDimAgreement(module)))
    return diagnostic.take("dimensions that meet have different names");
  // A target that nobody knows is said before anything takes time.
  if (auto target = getTarget(options.target, /*hasShortTypes=*/true); !target)
    return target.takeError();
  ManifestContext context;
  context.compilerVersion = HEDDLE_VERSION;
  context.options = llvm::json::Object{
      {"kernels", options.reference ? "reference" : "generated"},
      {"target", options.target},
      {"gemm", options.gemm},
      {"dtype", options.dtype}};
  if (!options.withoutFusions.empty())
    context.options["no-fuse"] = llvm::join(options.withoutFusions, ",");
  if (options.gemm == "onednn")
    context.libraries = {kOneDnnLibrary};
  context.tokenizer = std::move(model.tokenizer);

  unsigned dumped = 0;
  bool oneDnn = options.gemm == "onednn";
  ModelOptions modelOptions;
  modelOptions.dtype = options.dtype;
  modelOptions.packWeights = !options.reference && !oneDnn;
  for (const FusionTotal &fusion : fusions)
    if (!fusion.leftOut.empty())
      modelOptions.withoutFusions.push_back(fusion.pass);
  if (llvm::Error error =
          runPasses(module, options, &dumped, [&](OpPassManager &manager) {
            buildModelPipeline(manager, modelOptions);
          }))
    return error;
  llvm::Expected<llvm::SmallVector<IsaLevel>> levels =
      getTarget(options.target, hasShortTypes(module));
  if (!levels)
    return levels.takeError();
  for (const IsaLevel &level : *levels)
    context.isas.push_back(level.name.str());
  auto tensors = collectPlacedTensors(module, model.weights);
  if (!tensors)
    return tensors.takeError();

  ArtifactContents contents;
  contents.tensors = *tensors;
  contents.imported = model.sections;
  for (const IsaLevel &level : *levels) {
    // What is shown to people is the code of the best level.
    bool isShown = &level == &levels->back();
    if (options.emit != Emit::Artifact && !isShown)
      continue;
    OwningOpRef<ModuleOp> copy(module.clone());
    llvm::LLVMContext llvmContext;
    auto code =
        compileForLevel(*copy, options, level, isShown ? &dumped : nullptr,
                        context, contents.manifest, llvmContext);
    if (!code)
      return code.takeError();
    if (options.emit != Emit::Artifact)
      return emitText(options, **code);
    auto object = emitObjectCode(**code, ObjectForm::Object);
    if (!object)
      return object.takeError();
    auto library = linkSharedObject(*object);
    if (!library)
      return library.takeError();
    contents.code.push_back({("code." + level.name).str(),
                             std::string(library->begin(), library->end())});
  }
  auto nonFinite = writeArtifact(options.output, contents);
  if (!nonFinite)
    return nonFinite.takeError();
  warnOfNonFinite(*nonFinite);
  return llvm::Error::success();
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
  if (options.explain)
    report.listenTo(context);
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
  report.readModule(*model->module);
  std::vector<FusionTotal> fusions = listFusions(options);
  if (llvm::Error error = compileModel(options, fusions, *model))
    return error;
  if (!options.explain)
    return llvm::Error::success();
  std::string text;
  llvm::raw_string_ostream stream(text);
  report.print(stream, fusions);
  return printText(text);
}

static llvm::Error run(llvm::ArrayRef<const char *> arguments) {
  llvm::Expected<CompileOptions> options = parseCompileOptions(arguments);
  if (!options)
    return options.takeError();
  if (options->help || options->version)
    return printText(options->help ? kCompileHelp
                                   : "heddle-compile " HEDDLE_VERSION "\n");
  return compile(*options);
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::Error error = llvm::Error::success();
  runOnLargeStack(
      [&] { error = run(llvm::ArrayRef(argv, argc).drop_front()); });
  if (!error)
    return 0;
  llvm::errs() << "heddle-compile: error: "
               << toOneLine(llvm::toString(std::move(error))) << "\n";
  return 1;
}
