//===- LowerParallel.cpp - Hand parallel loops to the runtime's threads ---===//
//
// First the pointer to the call travels from the entry points to every kernel
// with a parallel loop. Then each loop's body moves to a function of its own.
// What it captured stands in a structure on the caller's stack, in the forms
// that values have in LLVM; constants are repeated instead, so that the body is
// optimised as if it had stayed where it was. Memory that the body takes for
// itself gets its place in the scratch memory of a thread, which is as large as
// the largest task needs.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "lib/CodeGen/CallLayout.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/Passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

namespace heddle {
#define GEN_PASS_DEF_LOWERPARALLELPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

static LogicalResult checkLoop(scf::ForallOp loop) {
  if (loop.getRank() != 1 || !loop.isNormalized())
    return loop.emitError("expected one dimension that counts from 0 by 1");
  if (loop.getNumResults() != 0)
    return loop.emitError("has results, expected tasks that write memory");
  if (loop->getParentOfType<scf::ForallOp>())
    return loop.emitError("stands in another parallel loop");
  auto function = loop->getParentOfType<func::FuncOp>();
  if (!function ||
      !(function->hasAttr(kKernelAttr) || function->hasAttr(kEntryAttr)))
    return loop.emitError("stands neither in an entry point nor in a kernel");
  return success();
}

/// Entry points have the pointer to the call as their only argument, kernels
/// that count their calls as their last.
static bool takesCall(func::FuncOp function) {
  return function.getNumArguments() != 0 &&
         isa<LLVM::LLVMPointerType>(function.getArgumentTypes().back());
}

/// Gives each kernel with a parallel loop, and whatever calls one, the pointer
/// to the call as its last argument, where it has none.
static LogicalResult passCallPointers(ModuleOp module,
                                      ArrayRef<scf::ForallOp> loops) {
  Type pointer = LLVM::LLVMPointerType::get(module.getContext());
  SetVector<func::FuncOp> parallel;
  auto add = [&](func::FuncOp function) {
    if (!takesCall(function))
      parallel.insert(function);
  };
  for (scf::ForallOp loop : loops)
    add(loop->getParentOfType<func::FuncOp>());
  // Grows while it is walked.
  for (size_t i = 0; i < parallel.size(); ++i) {
    func::FuncOp callee = parallel[i];
    if (failed(callee.insertArgument(callee.getNumArguments(), pointer,
                                     /*argAttrs=*/nullptr, callee.getLoc())))
      return failure();
    WalkResult walked = module.walk([&](func::CallOp call) {
      if (call.getCallee() != callee.getSymName())
        return WalkResult::advance();
      if (call->getParentOfType<scf::ForallOp>()) {
        call.emitOpError("stands in a parallel loop, but '")
            << call.getCallee() << "' has one itself";
        return WalkResult::interrupt();
      }
      auto caller = call->getParentOfType<func::FuncOp>();
      if (!caller->hasAttr(kKernelAttr) && !caller->hasAttr(kEntryAttr)) {
        call.emitOpError("of a kernel with a parallel loop stands neither in "
                         "an entry point nor in a kernel");
        return WalkResult::interrupt();
      }
      add(caller);
      return WalkResult::advance();
    });
    if (walked.wasInterrupted())
      return failure();
  }
  module.walk([&](func::CallOp call) {
    auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
    if (!parallel.contains(callee))
      return;
    auto caller = call->getParentOfType<func::FuncOp>();
    call.getOperandsMutable().append(caller.getArguments().back());
  });
  return success();
}

namespace {
/// Turns one loop into a task function and its call.
class TaskOutliner {
public:
  TaskOutliner(scf::ForallOp loop, SymbolTable &symbols,
               const LLVMTypeConverter &types)
      : loop(loop), kernel(loop->getParentOfType<func::FuncOp>()),
        symbols(symbols), types(types), builder(loop),
        pointer(LLVM::LLVMPointerType::get(loop.getContext())) {}

  LogicalResult outline();
  /// Bytes of a thread's scratch memory that the task needs.
  int64_t getScratchBytes() const { return scratchBytes; }

private:
  LogicalResult layOutContext();
  Value fieldOf(Value context, size_t index);
  void placeScratch(Value scratch);
  func::FuncOp buildTask();
  Value fillContext();
  Value loadField(CallField field, Type type);
  void buildCall(func::FuncOp task, Value context);

  scf::ForallOp loop;
  func::FuncOp kernel;
  SymbolTable &symbols;
  const LLVMTypeConverter &types;
  OpBuilder builder;
  Type pointer;
  /// What the body reads from outside, and each one's type in LLVM.
  SetVector<Value> captured;
  SmallVector<Operation *> constants;
  LLVM::LLVMStructType contextType;
  int64_t scratchBytes = 0;
};
} // namespace

LogicalResult TaskOutliner::layOutContext() {
  SetVector<Value> used;
  getUsedValuesDefinedAbove(loop.getRegion(), used);
  SmallVector<Type> fields;
  for (Value value : used) {
    Operation *op = value.getDefiningOp();
    if (op &&
        (matchPattern(op, m_Constant()) || isa<memref::GetGlobalOp>(op))) {
      constants.push_back(op);
      continue;
    }
    Type field = types.convertType(value.getType());
    if (!field)
      return loop.emitError("reads a value of type ")
             << value.getType() << ", which has no form in LLVM";
    captured.insert(value);
    fields.push_back(field);
  }
  contextType = LLVM::LLVMStructType::getLiteral(loop.getContext(), fields);
  return success();
}

Value TaskOutliner::fieldOf(Value context, size_t index) {
  return LLVM::GEPOp::create(
      builder, loop.getLoc(), pointer, contextType, context,
      ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(index)});
}

/// A value in another of its forms; reconciled once all ops are in LLVM.
static Value castTo(OpBuilder &builder, Location loc, Type type, Value value) {
  if (value.getType() == type)
    return value;
  return UnrealizedConversionCastOp::create(builder, loc, type, value)
      .getResult(0);
}

/// Bytes of a memref of static shape.
static int64_t bytesOf(MemRefType type) {
  Type element = type.getElementType();
  int64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  return type.getNumElements() * llvm::divideCeil(bits, 8);
}

/// Gives each alloca of the body its place, one behind the other.
void TaskOutliner::placeScratch(Value scratch) {
  SmallVector<memref::AllocaOp> allocas;
  loop.walk([&](memref::AllocaOp alloca) {
    if (alloca.getType().hasStaticShape())
      allocas.push_back(alloca);
  });
  for (memref::AllocaOp alloca : allocas) {
    MemRefType type = alloca.getType();
    Value memory = LLVM::GEPOp::create(
        builder, loop.getLoc(), pointer, builder.getI8Type(), scratch,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(scratchBytes)});
    Value place = MemRefDescriptor::fromStaticShape(builder, loop.getLoc(),
                                                    types, type, memory);
    alloca.replaceAllUsesWith(castTo(builder, loop.getLoc(), type, place));
    alloca.erase();
    scratchBytes += llvm::alignTo(bytesOf(type), kBufferAlignment);
  }
}

/// @kernel.task(context, scratch, begin, end), with the body of the loop.
func::FuncOp TaskOutliner::buildTask() {
  Location loc = loop.getLoc();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(kernel);
  Type i64 = builder.getI64Type();
  auto task = func::FuncOp::create(
      builder, loc, (kernel.getSymName() + ".task").str(),
      builder.getFunctionType({pointer, pointer, i64, i64}, {}));
  // Nobody else knows the address.
  task.setArgAttr(1, LLVM::LLVMDialect::getNoAliasAttrName(),
                  builder.getUnitAttr());
  task.setPrivate();
  task->setAttr(
      "llvm.linkage",
      LLVM::LinkageAttr::get(builder.getContext(), LLVM::Linkage::Internal));
  symbols.insert(task);
  builder.setInsertionPointToStart(task.addEntryBlock());
  Region &body = loop.getRegion();
  for (Operation *constant : constants) {
    Operation *clone = builder.clone(*constant);
    for (auto [old, result] :
         llvm::zip(constant->getResults(), clone->getResults()))
      replaceAllUsesInRegionWith(old, result, body);
  }
  for (auto [index, value] : llvm::enumerate(captured)) {
    Value loaded =
        LLVM::LoadOp::create(builder, loc, contextType.getBody()[index],
                             fieldOf(task.getArgument(0), index));
    replaceAllUsesInRegionWith(
        value, castTo(builder, loc, value.getType(), loaded), body);
  }
  placeScratch(task.getArgument(1));
  auto toIndex = [&](Value word) {
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                      word);
  };
  Value begin = toIndex(task.getArgument(2)),
        end = toIndex(task.getArgument(3));
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  auto iterations = scf::ForOp::create(builder, loc, begin, end, one);
  func::ReturnOp::create(builder, loc);
  loop.getTerminator()->erase();
  Block &tasks = *iterations.getBody();
  tasks.getOperations().splice(tasks.begin(), loop.getBody()->getOperations());
  loop.getBody()->getArgument(0).replaceAllUsesWith(
      iterations.getInductionVar());
  return task;
}

/// Stores what the body reads; the memory is the kernel's for all its loops.
Value TaskOutliner::fillContext() {
  Location loc = loop.getLoc();
  Value context;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&kernel.front());
    Value one = LLVM::ConstantOp::create(builder, loc, builder.getI64Type(),
                                         builder.getI64IntegerAttr(1));
    context = LLVM::AllocaOp::create(builder, loc, pointer, contextType, one);
  }
  for (auto [index, value] : llvm::enumerate(captured))
    LLVM::StoreOp::create(
        builder, loc, castTo(builder, loc, contextType.getBody()[index], value),
        fieldOf(context, index));
  return context;
}

Value TaskOutliner::loadField(CallField field, Type type) {
  Value address = LLVM::GEPOp::create(
      builder, loop.getLoc(), pointer, pointer, kernel.getArguments().back(),
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(field)});
  return LLVM::LoadOp::create(builder, loop.getLoc(), type, address);
}

/// The runtime's threads, where it has more than one and they have something to
/// share; otherwise this one.
void TaskOutliner::buildCall(func::FuncOp task, Value context) {
  Location loc = loop.getLoc();
  Type i64 = builder.getI64Type();
  Value count = getValueOrCreateConstantIndexOp(
      builder, loc, loop.getMixedUpperBound().front());
  Value parallelFor = loadField(CallField::ParallelFor, pointer);
  Value pool = loadField(CallField::Pool, pointer);
  Value scratch = loadField(CallField::Scratch, pointer);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value isSingle = arith::CmpIOp::create(builder, loc,
                                         arith::CmpIPredicate::sle, count, one);
  Value null = LLVM::ZeroOp::create(builder, loc, pointer);
  Value isAlone = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq,
                                       parallelFor, null);
  Value isDirect = arith::OrIOp::create(builder, loc, isSingle, isAlone);
  Value end = arith::IndexCastOp::create(builder, loc, i64, count);
  auto branch = scf::IfOp::create(builder, loc, isDirect, /*withElse=*/true);

  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  Value begin = arith::ConstantIntOp::create(builder, loc, i64, 0);
  func::CallOp::create(builder, loc, task,
                       ValueRange{context, scratch, begin, end});
  builder.setInsertionPointToStart(branch.elseBlock());
  Value constant = func::ConstantOp::create(
      builder, loc, task.getFunctionType(), FlatSymbolRefAttr::get(task));
  Value address = castTo(builder, loc, pointer, constant);
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(builder.getContext()),
      {pointer, i64, pointer, pointer, pointer, i64});
  Value bytes = loadField(CallField::ScratchBytes, i64);
  LLVM::CallOp::create(
      builder, loc, type,
      ValueRange{parallelFor, pool, end, address, context, scratch, bytes});
}

LogicalResult TaskOutliner::outline() {
  if (failed(layOutContext()))
    return failure();
  Value context = fillContext();
  buildCall(buildTask(), context);
  loop.erase();
  return success();
}

/// @heddle.scratch() -> i64, which the runtime asks.
static void buildScratchFunction(ModuleOp module, int64_t bytes) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Location loc = NameLoc::get(builder.getStringAttr(HEDDLE_SCRATCH));
  Type i64 = builder.getI64Type();
  auto function = func::FuncOp::create(builder, loc, HEDDLE_SCRATCH,
                                       builder.getFunctionType({}, i64));
  builder.setInsertionPointToStart(function.addEntryBlock());
  Value size =
      arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(bytes));
  func::ReturnOp::create(builder, loc, size);
}

namespace {
struct LowerParallel : heddle::impl::LowerParallelPassBase<LowerParallel> {
  void runOnOperation() override {
    SmallVector<scf::ForallOp> loops;
    getOperation().walk([&](scf::ForallOp loop) { loops.push_back(loop); });
    for (scf::ForallOp loop : loops)
      if (failed(checkLoop(loop)))
        return signalPassFailure();
    if (failed(passCallPointers(getOperation(), loops)))
      return signalPassFailure();
    SymbolTable symbols(getOperation());
    LLVMTypeConverter types(&getContext());
    int64_t scratchBytes = 0;
    for (scf::ForallOp loop : loops) {
      TaskOutliner outliner(loop, symbols, types);
      if (failed(outliner.outline()))
        return signalPassFailure();
      scratchBytes = std::max(scratchBytes, outliner.getScratchBytes());
    }
    buildScratchFunction(getOperation(), scratchBytes);
  }
};
} // namespace
