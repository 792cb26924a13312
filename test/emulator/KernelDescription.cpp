//===- KernelDescription.cpp - What a module is, as it came ---------------===//
//
// Which kernels there are, what they take, and whether all that they call is
// known; before anything is changed.
//
//===----------------------------------------------------------------------===//

#include "test/emulator/host/HostCode.h"

#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace heddle::emulator;
using namespace llvm;

bool heddle::emulator::isKernel(const Function &function) {
  return function.getCallingConv() == CallingConv::PTX_Kernel;
}

StringRef heddle::emulator::nvptxName(const CallInst &call) {
  const Function *callee = call.getCalledFunction();
  if (!callee || !callee->isIntrinsic())
    return {};
  StringRef name = callee->getName();
  return name.consume_front("llvm.nvvm.") ? name : StringRef();
}

bool heddle::emulator::isTrap(const CallInst &call) {
  const Function *callee = call.getCalledFunction();
  return callee && (callee->getIntrinsicID() == Intrinsic::trap ||
                    callee->getName() == "__assertfail");
}

std::unique_ptr<Operation>
heddle::emulator::makeOperation(const CallInst &call, std::string &problem) {
  if (auto *assembly = dyn_cast<InlineAsm>(call.getCalledOperand()))
    return makeAssembly(assembly->getAsmString(),
                        assembly->getConstraintString(), problem);
  StringRef name = isTrap(call) ? "trap" : nvptxName(call);
  std::unique_ptr<Operation> operation = makeIntrinsic(name);
  if (!operation)
    problem = ("unknown intrinsic 'llvm.nvvm." + name + "'").str();
  return operation;
}

bool heddle::emulator::isSpecialRegister(StringRef name) {
  if (name == "is_explicit_cluster")
    return true;
  if (!name.consume_front("read.ptx.sreg."))
    return false;
  StringRef plain = name;
  for (StringRef prefix : {"tid.", "ntid.", "ctaid.", "nctaid.", "cluster.",
                           "clusterid.", "nclusterid."})
    if (plain.consume_front(prefix))
      return true;
  return is_contained({"laneid", "warpid", "nwarpid", "warpsize", "smid",
                       "nsmid", "gridid", "clock", "clock64", "globaltimer",
                       "globaltimer.lo", "dynamic_smem_size", "lanemask.eq",
                       "lanemask.le", "lanemask.lt", "lanemask.ge",
                       "lanemask.gt"},
                      name);
}

/// A call's own part of what a function needs. False where it is unknown.
static bool describeCall(CallInst &call, bool &waits, std::string &problem) {
  if (!isa<InlineAsm>(call.getCalledOperand())) {
    Function *callee = call.getCalledFunction();
    if (!callee) {
      problem = "a call through a pointer";
      return false;
    }
    StringRef name = nvptxName(call);
    if (isTrap(call))
      return true;
    if (name.empty()) {
      if (callee->isDeclaration() && !callee->isIntrinsic()) {
        problem = ("unknown function '" + callee->getName() + "'").str();
        return false;
      }
      return true;
    }
    if (isSpecialRegister(name) || isScalarIntrinsic(name))
      return true;
  }
  std::unique_ptr<Operation> operation = makeOperation(call, problem);
  waits |= operation && operation->waits;
  return operation != nullptr;
}

/// Functions that wait, with those that call them.
static bool findWaits(Module &module, DenseMap<Function *, bool> &waits,
                      std::string &problem) {
  for (Function &function : module) {
    bool &itWaits = waits[&function];
    for (Instruction &instruction : instructions(function))
      if (auto *call = dyn_cast<CallInst>(&instruction))
        if (!describeCall(*call, itWaits, problem)) {
          problem += (" in '" + function.getName() + "'").str();
          return false;
        }
  }
  for (bool changes = true; changes;) {
    changes = false;
    for (Function &function : module)
      for (Instruction &instruction : instructions(function)) {
        auto *call = dyn_cast<CallInst>(&instruction);
        Function *callee = call ? call->getCalledFunction() : nullptr;
        if (callee && waits.lookup(callee) && !waits[&function])
          changes = waits[&function] = true;
      }
  }
  return true;
}

/// Bytes of the variables of a function and of those that it calls, at most.
/// False with what a GPU's stack cannot be.
static bool measureLocals(Function &function,
                          DenseMap<Function *, uint64_t> &known,
                          SmallPtrSetImpl<Function *> &callers, uint64_t &bytes,
                          std::string &problem) {
  if (auto found = known.find(&function); found != known.end()) {
    bytes = found->second;
    return true;
  }
  if (!callers.insert(&function).second) {
    problem = ("recursion in '" + function.getName() + "'").str();
    return false;
  }
  const DataLayout &layout = function.getParent()->getDataLayout();
  uint64_t own = 0, deepest = 0;
  for (Instruction &instruction : instructions(function)) {
    if (auto *variable = dyn_cast<AllocaInst>(&instruction)) {
      auto size = variable->getAllocationSize(layout);
      if (!size) {
        problem = ("a variable of a size that is not constant in '" +
                   function.getName() + "'")
                      .str();
        return false;
      }
      own += size->getFixedValue();
    }
    auto *call = dyn_cast<CallInst>(&instruction);
    Function *callee = call ? call->getCalledFunction() : nullptr;
    uint64_t below = 0;
    if (callee && !callee->isDeclaration() &&
        !measureLocals(*callee, known, callers, below, problem))
      return false;
    deepest = std::max(deepest, below);
  }
  callers.erase(&function);
  bytes = known[&function] = own + deepest;
  return true;
}

/// Extents as attributes write them: "128,1,1".
static SmallVector<uint32_t, 3> readExtents(const Function &function,
                                            StringRef attribute) {
  SmallVector<uint32_t, 3> extents;
  SmallVector<StringRef, 3> texts;
  function.getFnAttribute(attribute).getValueAsString().split(
      texts, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef text : texts)
    if (text.trim().getAsInteger(10, extents.emplace_back()))
      extents.back() = 1;
  return extents;
}

/// More of them than any GPU takes are as unknown as those along y and z.
static bool describeCluster(const Function &function, KernelInfo &kernel,
                            std::string &problem) {
  constexpr uint32_t kMostBlocks = 8;
  SmallVector<uint32_t, 3> extents = readExtents(function, "nvvm.cluster_dim");
  if (extents.empty())
    return true;
  kernel.clusterSize = extents[0];
  if (extents[0] > 0 && extents[0] <= kMostBlocks &&
      all_of(drop_begin(extents), [](uint32_t extent) { return extent == 1; }))
    return true;
  problem = ("clusters of '" + function.getName() + "' are not 1 to " +
             Twine(kMostBlocks) + " blocks along x")
                .str();
  return false;
}

static std::vector<Parameter> describeParameters(const Function &kernel) {
  const DataLayout &layout = kernel.getParent()->getDataLayout();
  std::vector<Parameter> parameters;
  size_t offset = 0;
  for (const Argument &argument : kernel.args()) {
    Type *type = argument.hasByValAttr() ? argument.getParamByValType()
                                         : argument.getType();
    size_t alignment = layout.getABITypeAlign(type).value();
    if (argument.hasByValAttr() && argument.getParamAlign())
      alignment =
          std::max<size_t>(alignment, argument.getParamAlign()->value());
    size_t size = layout.getTypeAllocSize(type).getFixedValue();
    offset = alignTo(offset, alignment);
    parameters.push_back({size, offset});
    offset += size;
  }
  return parameters;
}

bool heddle::emulator::describeKernels(Module &module, HostCode &code,
                                       std::string &problem) {
  DenseMap<Function *, bool> waits;
  if (!findWaits(module, waits, problem))
    return false;
  DenseMap<Function *, uint64_t> known;
  for (Function &function : module) {
    if (function.isDeclaration() || !isKernel(function))
      continue;
    KernelInfo kernel;
    kernel.name = function.getName().str();
    kernel.parameters = describeParameters(function);
    kernel.waits = waits[&function];
    SmallPtrSet<Function *, 8> callers;
    if (!measureLocals(function, known, callers, kernel.localBytes, problem))
      return false;
    if (auto limits = readExtents(function, "nvvm.maxntid"); !limits.empty()) {
      kernel.maxThreads = 1;
      for (uint32_t extent : limits)
        kernel.maxThreads *= extent;
    }
    if (!describeCluster(function, kernel, problem))
      return false;
    // Blocks of a cluster run at the same time.
    kernel.waits |= kernel.clusterSize > 1;
    code.kernels[kernel.name] = std::move(kernel);
  }
  return true;
}
