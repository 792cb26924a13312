//===- HostCode.cpp - From NVPTX IR to IR of this machine -----------------===//
//
// The order: functions get their Context first, so that all that follows can
// read it; shared variables become addresses; operations become calls; accesses
// are checked last, those that operations make are their own business. Kernels'
// attributes name another processor and are dropped with all others.
//
//===----------------------------------------------------------------------===//

#include "HostCode.h"
#include "test/emulator/Context.h"
#include "test/emulator/RuntimeCalls.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"

using namespace heddle::emulator;
using namespace llvm;

std::string heddle::emulator::operationName(size_t number) {
  return "heddle.operation." + std::to_string(number);
}
std::string heddle::emulator::handlerName(size_t number) {
  return "heddle.handler." + std::to_string(number);
}

namespace {

class HostCodeMaker {
public:
  HostCodeMaker(Module &module, const HostCodeOptions &options, HostCode &code)
      : module(module), context(module.getContext()), options(options),
        code(code) {}

  void run(const DataLayout &layout);

private:
  void addContexts();
  Function *addContext(Function &function);
  void lowerCalls(Function &function);
  bool lowerSpecialRegister(CallInst &call);
  void callOperation(CallInst &call, std::unique_ptr<Operation> operation);
  void addEntry(Function &kernel, const std::vector<bool> &byValue);
  Value *field(IRBuilder<> &builder, size_t offset, Type *type);

  Module &module;
  LLVMContext &context;
  const HostCodeOptions &options;
  HostCode &code;
  /// Words for operands and results, in the function at hand.
  AllocaInst *operandWords = nullptr, *resultWords = nullptr;
  unsigned numOperandWords = 0, numResultWords = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// Contexts
//===----------------------------------------------------------------------===//

Value *HostCodeMaker::field(IRBuilder<> &builder, size_t offset, Type *type) {
  Argument *argument = builder.GetInsertBlock()->getParent()->getArg(0);
  return builder.CreateLoad(type, builder.CreateConstInBoundsGEP1_64(
                                      builder.getInt8Ty(), argument, offset));
}

Function *HostCodeMaker::addContext(Function &function) {
  SmallVector<Type *, 8> types = {PointerType::get(context, 0)};
  append_range(types, function.getFunctionType()->params());
  auto *type = FunctionType::get(function.getReturnType(), types, false);
  auto *changed = Function::Create(type, GlobalValue::InternalLinkage,
                                   function.getName() + ".body", module);
  changed->addFnAttr(Attribute::NoUnwind);
  changed->splice(changed->begin(), &function);
  for (auto [from, to] : zip(function.args(), drop_begin(changed->args()))) {
    to.takeName(&from);
    from.replaceAllUsesWith(&to);
  }
  return changed;
}

void HostCodeMaker::addContexts() {
  SmallVector<Function *, 16> functions;
  for (Function &function : module)
    if (!function.isDeclaration())
      functions.push_back(&function);
  for (Function *function : functions) {
    Function *changed = addContext(*function);
    for (User *user : make_early_inc_range(function->users())) {
      auto *call = dyn_cast<CallInst>(user);
      if (!call)
        continue;
      SmallVector<Value *, 8> operands = {nullptr};
      append_range(operands, call->args());
      // Its own first argument may not be there yet.
      operands[0] = PoisonValue::get(PointerType::get(context, 0));
      auto *replacement =
          CallInst::Create(changed, operands, "", call->getIterator());
      call->replaceAllUsesWith(replacement);
      call->eraseFromParent();
    }
    function->replaceAllUsesWith(PoisonValue::get(function->getType()));
    function->eraseFromParent();
  }
  for (Function &function : module)
    for (Instruction &instruction : instructions(function))
      if (auto *call = dyn_cast<CallInst>(&instruction))
        if (Function *callee = call->getCalledFunction())
          if (!callee->isDeclaration())
            call->setArgOperand(0, function.getArg(0));
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

bool HostCodeMaker::lowerSpecialRegister(CallInst &call) {
  StringRef name = nvptxName(call);
  if (!isSpecialRegister(name))
    return false;
  name.consume_front("read.ptx.sreg.");
  IRBuilder<> builder(&call);
  Type *i32 = builder.getInt32Ty();
  auto word = [&](size_t offset) { return field(builder, offset, i32); };
  auto vector = [&](size_t offset, char axis) -> Value * {
    if (axis < 'x' || axis > 'z')
      return builder.getInt32(0);
    return word(offset + 4 * (axis - 'x'));
  };
  Value *linear = word(offsetof(Context, linearThread));
  Value *lane = builder.CreateAnd(linear, 31);
  Value *bit = builder.CreateShl(builder.getInt32(1), lane);
  Value *below = builder.CreateSub(bit, builder.getInt32(1));
  Value *value = nullptr;
  char axis = name.back();
  if (name.starts_with("tid."))
    value = vector(offsetof(Context, thread), axis);
  else if (name.starts_with("ntid."))
    value = vector(offsetof(Context, blockSize), axis);
  else if (name.starts_with("ctaid."))
    value = vector(offsetof(Context, block), axis);
  else if (name.starts_with("nctaid."))
    value = vector(offsetof(Context, gridSize), axis);
  else if (name.starts_with("clusterid.") || name.starts_with("nclusterid.")) {
    value = vector(name[0] == 'n' ? offsetof(Context, gridSize)
                                  : offsetof(Context, block),
                   axis);
    if (axis == 'x')
      value = builder.CreateUDiv(value, word(offsetof(Context, clusterSize)));
  } else if (name == "cluster.ctarank" || name == "cluster.ctaid.x")
    value = word(offsetof(Context, clusterRank));
  else if (name == "cluster.nctarank" || name == "cluster.nctaid.x")
    value = word(offsetof(Context, clusterSize));
  else if (name == "is_explicit_cluster")
    value = builder.CreateICmpUGT(word(offsetof(Context, clusterSize)),
                                  builder.getInt32(1));
  else if (name == "laneid")
    value = lane;
  else if (name == "warpid")
    value = builder.CreateLShr(linear, 5);
  else if (name == "nwarpid") {
    Value *threads = builder.CreateMul(
        builder.CreateMul(vector(offsetof(Context, blockSize), 'x'),
                          vector(offsetof(Context, blockSize), 'y')),
        vector(offsetof(Context, blockSize), 'z'));
    value =
        builder.CreateLShr(builder.CreateAdd(threads, builder.getInt32(31)), 5);
  } else if (name == "warpsize")
    value = builder.getInt32(32);
  else if (name == "dynamic_smem_size")
    value = word(offsetof(Context, dynamicSharedBytes));
  else if (name == "lanemask.eq")
    value = bit;
  else if (name == "lanemask.lt")
    value = below;
  else if (name == "lanemask.le")
    value = builder.CreateOr(below, bit);
  else if (name == "lanemask.ge")
    value = builder.CreateNot(below);
  else if (name == "lanemask.gt")
    value = builder.CreateNot(builder.CreateOr(below, bit));
  else if (name.starts_with("clock") || name.starts_with("globaltimer"))
    value = builder.CreateIntrinsic(Intrinsic::readcyclecounter,
                                    ArrayRef<Type *>(), ArrayRef<Value *>());
  else // One multiprocessor; clusters stand along x.
    value = builder.getInt32(name == "nsmid" || name.contains("ncta"));
  if (value->getType() != call.getType())
    value = builder.CreateZExtOrTrunc(value, call.getType());
  call.replaceAllUsesWith(value);
  call.eraseFromParent();
  return true;
}

/// Operands and results as words of 64 bits in the frame.
void HostCodeMaker::callOperation(CallInst &call,
                                  std::unique_ptr<Operation> operation) {
  Function *function = call.getFunction();
  const DataLayout &layout = module.getDataLayout();
  IRBuilder<> builder(&call);
  Type *i64 = builder.getInt64Ty();
  auto at = [&](Value *words, unsigned i) {
    return builder.CreateConstInBoundsGEP1_64(i64, words, i);
  };
  unsigned count = 0;
  for (Value *operand : call.args()) {
    Type *type = operand->getType();
    if (type->isPointerTy()) {
      operand = builder.CreatePtrToInt(operand, i64);
    } else {
      unsigned bits = layout.getTypeSizeInBits(type).getFixedValue();
      operand = builder.CreateBitCast(operand, builder.getIntNTy(bits));
      operand = builder.CreateZExtOrTrunc(operand, i64);
    }
    builder.CreateStore(operand, at(operandWords, count++));
  }
  numOperandWords = std::max(numOperandWords, count);
  Type *ptr = builder.getPtrTy();
  auto *type =
      FunctionType::get(builder.getVoidTy(), {ptr, ptr, ptr, ptr}, false);
  size_t number = code.operations.size();
  builder.CreateCall(
      module.getOrInsertFunction(handlerName(number), type),
      {function->getArg(0),
       module.getOrInsertGlobal(operationName(number), builder.getInt8Ty()),
       operandWords, resultWords});
  code.operations.push_back(std::move(operation));

  Type *result = call.getType();
  auto load = [&](Type *each, unsigned i) -> Value * {
    Value *word = builder.CreateLoad(i64, at(resultWords, i));
    if (each->isPointerTy())
      return builder.CreateIntToPtr(word, each);
    unsigned bits = layout.getTypeSizeInBits(each).getFixedValue();
    return builder.CreateBitCast(
        builder.CreateTrunc(word, builder.getIntNTy(bits)), each);
  };
  if (auto *structure = dyn_cast<StructType>(result)) {
    Value *all = PoisonValue::get(structure);
    for (unsigned i = 0; i < structure->getNumElements(); ++i)
      all = builder.CreateInsertValue(all,
                                      load(structure->getElementType(i), i), i);
    numResultWords = std::max(numResultWords, structure->getNumElements());
    call.replaceAllUsesWith(all);
  } else if (!result->isVoidTy()) {
    numResultWords = std::max(numResultWords, 1u);
    call.replaceAllUsesWith(load(result, 0));
  }
  call.eraseFromParent();
}

void HostCodeMaker::lowerCalls(Function &function) {
  BasicBlock &entry = function.getEntryBlock();
  IRBuilder<> builder(&entry, entry.begin());
  Type *i64 = builder.getInt64Ty();
  operandWords = builder.CreateAlloca(i64, builder.getInt32(1));
  resultWords = builder.CreateAlloca(i64, builder.getInt32(1));
  // Handlers may read an operand or write a result that the call has not.
  numOperandWords = numResultWords = 2;
  SmallVector<CallInst *, 64> calls;
  for (Instruction &instruction : instructions(function))
    if (auto *call = dyn_cast<CallInst>(&instruction))
      if (isa<InlineAsm>(call->getCalledOperand()) || isTrap(*call) ||
          !nvptxName(*call).empty())
        calls.push_back(call);
  for (CallInst *call : calls) {
    if (!isa<InlineAsm>(call->getCalledOperand()) && !isTrap(*call) &&
        (lowerSpecialRegister(*call) || expandScalarIntrinsic(*call)))
      continue;
    std::string problem;
    std::unique_ptr<Operation> operation = makeOperation(*call, problem);
    callOperation(*call, std::move(operation));
  }
  operandWords->setOperand(0, builder.getInt32(numOperandWords));
  resultWords->setOperand(0, builder.getInt32(numResultWords));
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

/// NAME.entry(Context *, const void *const *): by value is by pointer here.
void HostCodeMaker::addEntry(Function &kernel,
                             const std::vector<bool> &byValue) {
  IRBuilder<> builder(context);
  Type *pointer = builder.getPtrTy();
  StringRef name = kernel.getName();
  name.consume_back(".body");
  auto *entry = Function::Create(
      FunctionType::get(builder.getVoidTy(), {pointer, pointer}, false),
      GlobalValue::ExternalLinkage, name + ".entry", module);
  builder.SetInsertPoint(BasicBlock::Create(context, "", entry));
  SmallVector<Value *, 16> operands = {entry->getArg(0)};
  for (Argument &argument : drop_begin(kernel.args())) {
    Value *address = builder.CreateLoad(
        pointer, builder.CreateConstInBoundsGEP1_64(pointer, entry->getArg(1),
                                                    operands.size() - 1));
    operands.push_back(
        byValue[operands.size() - 1]
            ? address
            : builder.CreateAlignedLoad(argument.getType(), address, Align(1)));
  }
  builder.CreateCall(&kernel, operands);
  builder.CreateRetVoid();
}

void HostCodeMaker::run(const DataLayout &layout) {
  // By value is known from attributes that go.
  std::map<std::string, std::vector<bool>> byValue;
  SmallVector<std::string, 8> kernels;
  for (Function &function : module)
    if (!function.isDeclaration() && isKernel(function)) {
      kernels.push_back(function.getName().str());
      for (Argument &argument : function.args())
        byValue[kernels.back()].push_back(argument.hasByValAttr());
    }
  module.setTargetTriple(Triple("x86_64-unknown-linux-gnu"));
  module.setDataLayout(layout);
  SmallVector<NamedMDNode *, 4> metadata;
  for (NamedMDNode &node : module.named_metadata())
    metadata.push_back(&node);
  for (NamedMDNode *node : metadata)
    node->eraseFromParent();
  addContexts();
  placeSharedVariables(module, code);
  SmallVector<Function *, 16> bodies;
  for (Function &function : module)
    if (!function.isDeclaration())
      bodies.push_back(&function);
  for (Function *body : bodies) {
    lowerCalls(*body);
    replaceArithmetic(*body);
    if (options.checksAccesses)
      checkAccesses(*body, code.numAccesses);
    translateSharedAddresses(*body);
  }
  for (const std::string &name : kernels)
    addEntry(*module.getFunction(name + ".body"), byValue[name]);
}

void heddle::emulator::makeHostCode(Module &module, const DataLayout &layout,
                                    const HostCodeOptions &options,
                                    HostCode &code) {
  HostCodeMaker(module, options, code).run(layout);
}
