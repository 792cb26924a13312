//===- CompileModel.cpp - From a model to what is written -----------------===//
//
// What people look at is the best level as a whole: its passes and its code in
// one text. What runs is compiled level by level and unit by unit; the two do
// not meet.
//
//===----------------------------------------------------------------------===//

#include "tools/compile/CompileModel.h"
#include "lib/Artifact/ArtifactWriter.h"
#include "lib/Artifact/Manifest.h"
#include "lib/Artifact/TableBounds.h"
#include "lib/CodeGen/CallLayout.h"
#include "lib/CodeGen/DeviceKernel.h"
#include "lib/CodeGen/DimAgreement.h"
#include "lib/CodeGen/Machine/CompileLevels.h"
#include "lib/CodeGen/Machine/DebugLocations.h"
#include "lib/CodeGen/Machine/DeviceBinary.h"
#include "lib/CodeGen/Machine/DeviceCode.h"
#include "lib/CodeGen/Machine/ObjectCode.h"
#include "lib/CodeGen/Machine/Target.h"
#include "lib/CodeGen/PassDump.h"
#include "lib/Support/Error.h"
#include "lib/Support/FirstDiagnostic.h"
#include "lib/Support/Tasks.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Pipelines.h"
#include "runtime/artifact/EntryContract.h"
#include "tools/compile/CompileOutput.h"
#include "tools/compile/CompileProgress.h"
#include "tools/compile/EmbeddedRunner.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <thread>

using namespace mlir;
using namespace heddle;

namespace {
/// Who looks at the passes of a model as a whole.
struct Watchers {
  /// Null if nobody asks for a page.
  Exploration *exploration = nullptr;
  /// Counts the files of a dump.
  unsigned dumped = 0;
};
} // namespace

/// Runs the passes that `build` adds.
static llvm::Error runPasses(ModuleOp module, const CompileOptions &options,
                             Watchers &watchers,
                             llvm::function_ref<void(OpPassManager &)> build) {
  PassManager manager(module.getContext());
  if (watchers.exploration)
    watchers.exploration->watch(manager);
  if (!options.dumpPasses.empty()) {
    if (std::error_code error = llvm::sys::fs::create_directories(
            options.dumpPasses, /*IgnoreExisting=*/true,
            llvm::sys::fs::perms::all_all))
      return makeError("cannot create the folder '" + options.dumpPasses +
                       "': " + error.message());
    manager.addInstrumentation(
        std::make_unique<PassDump>(options.dumpPasses, watchers.dumped));
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

/// What the levels of an artifact go through.
static LevelSteps getSteps(const CompileOptions &options,
                           const ManifestContext &context) {
  LevelSteps steps;
  steps.buildCode = [&](OpPassManager &manager, const Backend &backend) {
    CodeOptions code;
    code.isa = backend.option();
    code.kernels = !options.reference;
    code.oneDnn = options.gemm == "onednn";
    code.onGpu = backend.gpu.has_value();
    buildCodePipeline(manager, code);
  };
  steps.buildLLVM = buildLLVMPipeline;
  steps.buildDeviceLLVM = buildDeviceLLVMPipeline;
  steps.describe = [&](ModuleOp module) -> llvm::Expected<std::string> {
    llvm::Expected<std::string> manifest = buildManifest(module, context);
    if (!manifest)
      return manifest;
    // Single layers can be looked at, too, but not run.
    if (options.makesArtifact())
      if (llvm::Error error = checkManifest(*manifest))
        return std::move(error);
    return manifest;
  };
  if (!options.isTrial)
    steps.report = [](size_t compiled, size_t known) {
      showProgress("compiling kernels, " + llvm::Twine(compiled) + " of " +
                   llvm::Twine(known));
    };
  return steps;
}

/// What a module is called: its folder or its file.
static std::string nameOf(ModuleOp module) {
  return module.getName().value_or("model").str();
}

/// The assembly of a module in the LLVM dialect, with the layers that its
/// instructions are of.
static llvm::Error exploreAssembly(ModuleOp module, const IsaLevel &level,
                                   Exploration &exploration) {
  OwningOpRef<ModuleOp> copy(module.clone());
  NamesOfLines lines = addDebugLocations(*copy, nameOf(module));
  FirstDiagnostic diagnostic(*module.getContext());
  llvm::LLVMContext llvmContext;
  auto code = buildLLVMModule(*copy, llvmContext, level);
  if (!code)
    return diagnostic.take(llvm::toString(code.takeError()));
  auto assembly = emitObjectCode(**code, ObjectForm::Assembly);
  if (!assembly)
    return assembly.takeError();
  exploration.addAssembly(StringRef(assembly->data(), assembly->size()), lines);
  return llvm::Error::success();
}

/// The PTX, or LLVM IR, of all kernels of a GPU, one module behind the other,
/// each with a comment in front. The emulator's code is LLVM IR, too.
static llvm::Error showKernels(ModuleOp module, const CompileOptions &options,
                               const GpuArchitecture &architecture,
                               const LevelSteps &steps, Watchers &watchers) {
  if (options.makesArtifact())
    return llvm::Error::success();
  bool isIR = options.emit == Emit::LLVM || architecture.isEmulated;
  std::string text;
  for (auto device : module.getOps<gpu::GPUModuleOp>()) {
    OwningOpRef<ModuleOp> kernel = copyOfDevice(device);
    if (llvm::Error error =
            runPasses(*kernel, options, watchers, steps.buildDeviceLLVM))
      return error;
    FirstDiagnostic diagnostic(*module.getContext());
    llvm::Expected<std::string> code = emitDeviceCode(
        *kernel, architecture, isIR ? DeviceForm::IR : DeviceForm::Code);
    if (!code)
      return diagnostic.take(llvm::toString(code.takeError()));
    text += (llvm::Twine(isIR ? "; " : "// ") + "module of the kernel " +
             device.getName() + "\n" + *code)
                .str();
  }
  return writeText(options.output, text);
}

/// Lowers a module to LLVM's dialect as a whole, for people to look at: passes
/// are dumped if that is asked for, and the code is written as text.
static llvm::Error showLevel(ModuleOp module, const CompileOptions &options,
                             const Backend &backend, const LevelSteps &steps,
                             Watchers &watchers) {
  if (llvm::Error error =
          runPasses(module, options, watchers, [&](OpPassManager &manager) {
            steps.buildCode(manager, backend);
          }))
    return error;
  llvm::Expected<std::string> manifest = steps.describe(module);
  if (!manifest)
    return manifest.takeError();
  if (backend.gpu)
    return showKernels(module, options, *backend.gpu, steps, watchers);
  const IsaLevel &level = backend.host;
  if (llvm::Error error = runPasses(module, options, watchers, steps.buildLLVM))
    return error;
  if (watchers.exploration) {
    watchers.exploration->setTitle(
        {nameOf(module), level.name.str(), HEDDLE_VERSION});
    if (llvm::Error error =
            exploreAssembly(module, level, *watchers.exploration))
      return error;
  }
  if (options.makesArtifact())
    return llvm::Error::success();
  if (options.emit == Emit::LLVM)
    addDebugLocations(module, nameOf(module));
  FirstDiagnostic diagnostic(*module.getContext());
  llvm::LLVMContext llvmContext;
  auto code = buildLLVMModule(module, llvmContext, level);
  if (!code)
    return diagnostic.take(llvm::toString(code.takeError()));
  return emitText(options, **code);
}

/// The levels without instructions for products of short floats, with commas
/// between: no level has any for f16, whose sums are f32.
static std::string levelsThatEmulate(llvm::StringRef dtype,
                                     llvm::ArrayRef<Backend> levels) {
  llvm::SmallVector<llvm::StringRef> names;
  for (const Backend &level : levels)
    if (!level.gpu &&
        (dtype == "f16" || (dtype == "bf16" && !level.host.hasBf16)))
      names.push_back(level.host.name);
  return llvm::join(names, ", ");
}

static ManifestContext getManifestContext(const CompileOptions &options,
                                          llvm::ArrayRef<Backend> levels) {
  ManifestContext context;
  context.compilerVersion = HEDDLE_VERSION;
  context.options = llvm::json::Object{
      {"kernels", options.reference ? "reference" : "generated"},
      {"target", options.target},
      {"gemm", options.gemm},
      {"dtype", options.dtype}};
  if (!options.withoutFusions.empty())
    context.options["no-fuse"] = llvm::join(options.withoutFusions, ",");
  if (!options.attention.empty())
    context.options["attention"] = options.attention;
  if (!options.activationDtype.empty())
    context.options["activation-dtype"] = options.activationDtype;
  if (!options.cacheDtype.empty())
    context.options["cache-dtype"] = options.cacheDtype;
  if (!options.keep.empty())
    context.options["keep"] = llvm::join(options.keep, ",");
  if (llvm::any_of(levels, [](const Backend &level) {
        return level.gpu && level.gpu->multipliesTf32;
      }))
    context.options["tf32"] = "on GPUs";
  if (llvm::any_of(levels, [](const Backend &level) { return level.gpu; }))
    context.options["gpu-code"] =
        options.ptxas.empty() ? "PTX" : "PTX and cubins";
  for (std::string type : {"bf16", "f16"}) {
    bool isAsked = options.dtype == type || options.cacheDtype == type ||
                   options.activationDtype == type ||
                   llvm::any_of(options.keep, [&](llvm::StringRef rule) {
                     return rule.split(':').first == type;
                   });
    std::string emulated = levelsThatEmulate(type, levels);
    if (!options.reference && isAsked && !emulated.empty())
      context.options[type + "-emulated"] = emulated;
  }
  if (options.gemm == "onednn")
    context.libraries = {kOneDnnLibrary};
  for (const Backend &level : levels)
    (level.gpu ? context.gpus : context.isas).push_back(level.name().str());
  return context;
}

/// What is wrong with a model of this path before any pass.
static llvm::Error checkModel(ModuleOp module, llvm::StringRef path) {
  if (llvm::Error error = checkModelAttributes(module))
    return makeError("'" + path + "': " + llvm::toString(std::move(error)));
  if (llvm::Error error = checkTableBounds(module))
    return error;
  FirstDiagnostic diagnostic(*module.getContext());
  if (failed(checkDimAgreement(module)))
    return diagnostic.take("dimensions that meet have different names");
  return llvm::Error::success();
}

/// Those that products multiply: of integers by integers, both are quantised.
static ShortTypes shortTypesOf(ModuleOp module) {
  ShortTypes types;
  for (ParameterOp parameter : module.getOps<ParameterOp>())
    types.bf16 |= parameter.getTensorType().getElementType().isBF16();
  // Weights of int8w may meet vectors of bf16.
  module.walk([&](LinearOp op) {
    types.bf16 |= getElementTypeOrSelf(op.getInput()).isBF16();
  });
  module.walk([&](LayerOpInterface op) {
    types.int8 |= op->getNumOperands() > 0 &&
                  getElementTypeOrSelf(op->getOperand(0)).isInteger(8);
  });
  return types;
}

/// Which kernels of a GPU are the reference loops.
static std::string explainKernels(llvm::StringRef gpu,
                                  const CompiledLevel &level) {
  size_t generic = level.genericKernels.size();
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << gpu << ": " << level.numKernels - generic << " of "
         << level.numKernels << " kernels have an emitter";
  if (generic != 0)
    stream << "; each thread runs the reference loops of\n  "
           << llvm::join(level.genericKernels, "\n  ");
  stream << "\n";
  return text;
}

static llvm::Expected<std::string>
compileArtifact(ModuleOp module, const CompileOptions &options,
                llvm::ArrayRef<Backend> levels, const LevelSteps &steps,
                ArtifactContents contents) {
  std::string explanation;
  unsigned jobs =
      options.jobs ? options.jobs : std::thread::hardware_concurrency();
  auto compiled = compileLevels(module, levels, steps, jobs);
  if (!compiled)
    return compiled.takeError();
  // Levels differ in their code alone.
  contents.manifest = compiled->front().manifest;
  for (auto [level, result] : llvm::zip(levels, *compiled)) {
    contents.code.push_back(
        {("code." + level.name()).str(), std::move(result.code)});
    if (!level.gpu)
      continue;
    explanation += explainKernels(level.name(), result);
    contents.code.push_back(
        {("kernels." + level.name()).str(), std::move(result.kernels)});
  }
  if (!options.isTrial)
    showProgress("writing " + llvm::Twine(options.output));
  auto lost = writeArtifact(options, contents);
  if (!lost)
    return lost.takeError();
  if (!options.isTrial)
    warnOfLost(*lost);
  return explanation;
}

llvm::Error heddle::writeMathematics(const CompileOptions &options,
                                     const ImportedModel &model) {
  ModuleOp module = *model.module;
  ModelOptions modelOptions;
  modelOptions.attention = options.attention;
  Watchers nobody;
  if (llvm::Error error =
          runPasses(module, options, nobody, [&](OpPassManager &manager) {
            buildRequestPipeline(manager, modelOptions);
          }))
    return error;
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return writeText(options.output, text + "\n");
}

bool heddle::hasCode(const CompileOptions &options, bool onGpu) {
  auto backends = getBackends(options.target, ShortTypes());
  if (!backends) // Which others say.
    llvm::consumeError(backends.takeError());
  else
    return llvm::any_of(*backends, [&](const Backend &backend) {
      return backend.gpu.has_value() == onGpu;
    });
  return false;
}

/// To layer ops on planned memory.
static llvm::Error runModelPasses(ModuleOp module,
                                  const CompileOptions &options,
                                  llvm::ArrayRef<FusionTotal> fusions,
                                  Watchers &watchers) {
  if (llvm::Error error = checkModel(module, options.model))
    return error;
  ModelOptions modelOptions;
  modelOptions.attention = options.attention;
  modelOptions.dtype = options.dtype;
  if (!options.activationDtype.empty())
    modelOptions.activations = options.activationDtype;
  modelOptions.cacheDtype = options.cacheDtype;
  modelOptions.keep = options.keep;
  modelOptions.rotated = !findTask(module, kGenerateTask);
  modelOptions.fakeQuantize = options.fakeQuantize;
  modelOptions.packWeights = !options.reference && options.gemm != "onednn";
  modelOptions.dividesPasts = hasCode(options, /*onGpu=*/false);
  for (const FusionTotal &fusion : fusions)
    if (!fusion.leftOut.empty())
      modelOptions.withoutFusions.push_back(fusion.pass);
  return runPasses(module, options, watchers, [&](OpPassManager &manager) {
    buildModelPipeline(manager, modelOptions);
  });
}

llvm::Expected<std::vector<PlacedTensor>>
heddle::placeTensors(const CompileOptions &options,
                     llvm::ArrayRef<FusionTotal> fusions, ModuleOp module,
                     const ImportedModel &model) {
  Watchers nobody;
  if (llvm::Error error = runModelPasses(module, options, fusions, nobody))
    return std::move(error);
  return collectPlacedTensors(module, model.weights);
}

llvm::Expected<std::string>
heddle::compileModel(const CompileOptions &options,
                     llvm::ArrayRef<FusionTotal> fusions, ModuleOp module,
                     const ImportedModel &model, Exploration *exploration) {
  if (!options.isTrial)
    showProgress("running the passes");
  Watchers watchers{exploration};
  if (llvm::Error error = runModelPasses(module, options, fusions, watchers))
    return std::move(error);
  llvm::Expected<llvm::SmallVector<Backend>> levels =
      getBackends(options.target, shortTypesOf(module));
  if (!levels)
    return levels.takeError();
  for (Backend &level : *levels)
    if (level.gpu && options.tf32)
      level.gpu->multipliesTf32 = true;
  ManifestContext context = getManifestContext(options, *levels);
  context.tokenizer = model.tokenizer;
  auto tensors = collectPlacedTensors(module, model.weights);
  if (!tensors)
    return tensors.takeError();

  LevelSteps steps = getSteps(options, context);
  if (!options.ptxas.empty()) {
    llvm::Expected<std::string> assembler = findAssembler(options.ptxas);
    if (!assembler)
      return assembler.takeError();
    steps.assembler = std::move(*assembler);
  }
  if (!options.makesArtifact() || !options.dumpPasses.empty() || exploration) {
    // The code of the best level; a page shows that of a CPU.
    OwningOpRef<ModuleOp> copy(module.clone());
    auto isShown = [&](const Backend &level) {
      return !exploration || !level.gpu;
    };
    const Backend &shown = *llvm::find_if(llvm::reverse(*levels), isShown);
    if (shown.name() != levels->back().name())
      warnOfPage(shown.name(), levels->back().name());
    if (llvm::Error error = showLevel(*copy, options, shown, steps, watchers))
      return std::move(error);
    if (!options.makesArtifact() || options.output.empty())
      return std::string();
  }
  ArtifactContents contents;
  contents.tensors = *tensors;
  contents.imported = model.sections;
  if (options.emit == Emit::Executable)
    contents.runner = getEmbeddedRunner();
  return compileArtifact(module, options, *levels, steps, std::move(contents));
}
