//===- CompileLevels.cpp - Machine code for several backends --------------===//
//
// Each thread has a context of MLIR's of its own, so that none waits for the
// locks of another and errors stay apart; modules travel between them as
// bytecode. A level is one job, which adds its units as others. Results have
// their places before the jobs run: it does not show which thread came first.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/Machine/CompileLevels.h"
#include "lib/CodeGen/DeviceKernel.h"
#include "lib/CodeGen/Machine/CodeUnits.h"
#include "lib/CodeGen/Machine/DeviceBinary.h"
#include "lib/CodeGen/Machine/DeviceCode.h"
#include "lib/CodeGen/Machine/JobQueue.h"
#include "lib/CodeGen/Machine/KernelTable.h"
#include "lib/CodeGen/Machine/LargeStack.h"
#include "lib/CodeGen/Machine/ObjectCode.h"
#include "lib/Support/Error.h"
#include "lib/Support/FirstDiagnostic.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include <limits>
#include <mutex>
#include <optional>

using namespace mlir;
using namespace heddle;

namespace {
struct Unit {
  std::string bytecode;
  ObjectBytes object;
  /// Of a unit for a GPU, in place of an object.
  std::optional<CompiledKernel> kernel;
  /// Why there is none; empty if there is one.
  std::string failure;
};

struct Level {
  const Backend &backend;
  std::string manifest;
  std::vector<Unit> units;
  /// Why there are none.
  std::string failure;
};

/// What a thread compiles with, one job after the other.
class Worker {
public:
  Worker(const DialectRegistry &registry, const LevelSteps &steps)
      : steps(steps), context(registry, MLIRContext::Threading::DISABLED),
        toLLVM(&context), toDeviceLLVM(&context) {
    // Kernels are long, and a look at all ops behind every pass is a third of
    // the passes' time: they are verified once (lower).
    toLLVM.enableVerifier(false);
    toDeviceLLVM.enableVerifier(false);
    steps.buildLLVM(toLLVM);
    if (steps.buildDeviceLLVM)
      steps.buildDeviceLLVM(toDeviceLLVM);
  }

  llvm::Error lower(Level &level, llvm::StringRef bytecode);
  llvm::Error compile(Unit &unit, const Backend &backend);

private:
  OwningOpRef<ModuleOp> read(llvm::StringRef bytecode) {
    return parseSourceString<ModuleOp>(
        bytecode, ParserConfig(&context, /*verifyAfterParse=*/false));
  }

  const LevelSteps &steps;
  MLIRContext context;
  PassManager toLLVM, toDeviceLLVM;
};
} // namespace

static std::string writeBytecode(ModuleOp module) {
  std::string bytecode;
  llvm::raw_string_ostream stream(bytecode);
  // Fails for versions of the format that are asked for alone.
  (void)writeBytecodeToFile(module, stream);
  return bytecode;
}

/// To entry points and kernels, as units.
llvm::Error Worker::lower(Level &level, llvm::StringRef bytecode) {
  FirstDiagnostic diagnostic(context);
  OwningOpRef<ModuleOp> module = read(bytecode);
  PassManager manager(&context);
  manager.enableVerifier(false);
  steps.buildCode(manager, level.backend);
  if (!module || failed(manager.run(*module)) || failed(verify(*module)) ||
      diagnostic.isReported())
    return diagnostic.take("the passes failed");
  llvm::Expected<std::string> manifest = steps.describe(*module);
  if (!manifest)
    return manifest.takeError();
  level.manifest = std::move(*manifest);
  for (const OwningOpRef<ModuleOp> &unit : splitIntoUnits(*module))
    level.units.emplace_back().bytecode = writeBytecode(*unit);
  // In the order of their numbers.
  for (auto device : module->getOps<gpu::GPUModuleOp>()) {
    LaunchShape shape = shapeOf(device);
    Unit &unit = level.units.emplace_back();
    unit.bytecode = writeBytecode(*copyOfDevice(device));
    unit.kernel = CompiledKernel{device.getName().str(),
                                 shape.block.threads,
                                 shape.block.sharedBytes,
                                 shape.block.stays ? shape.block.cluster : 0,
                                 /*image=*/"",
                                 /*binary=*/"",
                                 shape.isGeneric};
  }
  return llvm::Error::success();
}

llvm::Error Worker::compile(Unit &unit, const Backend &backend) {
  FirstDiagnostic diagnostic(context);
  OwningOpRef<ModuleOp> module = read(unit.bytecode);
  PassManager &passes = unit.kernel ? toDeviceLLVM : toLLVM;
  if (!module || failed(passes.run(*module)) || diagnostic.isReported())
    return diagnostic.take("the passes failed");
  if (unit.kernel) {
    llvm::Expected<std::string> image = emitDeviceCode(*module, *backend.gpu);
    if (!image)
      return diagnostic.take(llvm::toString(image.takeError()));
    unit.kernel->image = std::move(*image);
    if (steps.assembler.empty())
      return llvm::Error::success();
    llvm::Expected<std::string> binary =
        assembleDeviceCode(unit.kernel->image, *backend.gpu, steps.assembler);
    if (!binary)
      return binary.takeError();
    unit.kernel->binary = std::move(*binary);
    return llvm::Error::success();
  }
  llvm::LLVMContext llvmContext;
  auto code = buildLLVMModule(*module, llvmContext, backend.host);
  if (!code)
    return diagnostic.take(llvm::toString(code.takeError()));
  llvm::Expected<ObjectBytes> object =
      emitObjectCode(**code, ObjectForm::Object);
  if (!object)
    return object.takeError();
  unit.object = std::move(*object);
  return llvm::Error::success();
}

namespace {
/// Counts units for whoever watches.
class UnitCount {
public:
  explicit UnitCount(const LevelSteps &steps) : steps(steps) {}

  void add(size_t compiled, size_t known) {
    std::lock_guard<std::mutex> lock(mutex);
    this->compiled += compiled;
    this->known += known;
    if (steps.report)
      steps.report(this->compiled, this->known);
  }

private:
  const LevelSteps &steps;
  std::mutex mutex;
  size_t compiled = 0, known = 0;
};
} // namespace

/// Runs all jobs of all levels.
static void runJobs(ModuleOp module, std::vector<Level> &levels,
                    const LevelSteps &steps, unsigned jobs) {
  std::string bytecode = writeBytecode(module);
  JobQueue<std::function<void(Worker &)>> queue;
  UnitCount count(steps);
  for (Level &level : levels)
    queue.add(std::numeric_limits<uint64_t>::max(), [&](Worker &worker) {
      level.failure = llvm::toString(worker.lower(level, bytecode));
      count.add(0, level.units.size());
      for (Unit &unit : level.units)
        queue.add(unit.bytecode.size(), [&](Worker &worker) {
          unit.failure = llvm::toString(worker.compile(unit, level.backend));
          count.add(1, 0);
        });
    });
  const DialectRegistry &registry = module.getContext()->getDialectRegistry();
  runOnLargeStacks(jobs, [&] {
    // If threads are many and jobs few, most threads never get one.
    std::optional<Worker> worker;
    queue.work([&](auto &job) {
      if (!worker)
        worker.emplace(registry, steps);
      job(*worker);
    });
  });
}

static llvm::Expected<CompiledLevel> link(Level &level) {
  if (!level.failure.empty())
    return makeError(level.failure);
  std::vector<ObjectBytes> objects;
  std::vector<CompiledKernel> kernels;
  for (Unit &unit : level.units) {
    if (!unit.failure.empty())
      return makeError(unit.failure);
    if (unit.kernel)
      kernels.push_back(std::move(*unit.kernel));
    else
      objects.push_back(std::move(unit.object));
  }
  std::vector<std::string> generic;
  for (const CompiledKernel &kernel : kernels)
    if (kernel.isGeneric)
      generic.push_back(kernel.name);
  llvm::Expected<ObjectBytes> code = linkSharedObject(objects);
  if (!code)
    return code.takeError();
  return CompiledLevel{std::move(level.manifest),
                       std::string(code->begin(), code->end()),
                       level.backend.gpu ? writeKernelTable(kernels) : "",
                       kernels.size(), std::move(generic)};
}

llvm::Expected<std::vector<CompiledLevel>>
heddle::compileLevels(ModuleOp module, llvm::ArrayRef<Backend> backends,
                      const LevelSteps &steps, unsigned jobs) {
  std::vector<Level> levels;
  for (const Backend &backend : backends)
    levels.push_back({backend, {}, {}, {}});
  runJobs(module, levels, steps, jobs);
  std::vector<CompiledLevel> compiled;
  for (Level &level : levels) {
    llvm::Expected<CompiledLevel> linked = link(level);
    if (!linked)
      return linked.takeError();
    compiled.push_back(std::move(*linked));
  }
  return compiled;
}
