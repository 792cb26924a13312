//===- LowerParallel.cpp - Hand parallel loops to the runtime's threads ---===//
//
// First the pointer to the call travels from the entry points to every kernel
// with a parallel loop. Then each loop's body moves to a function of its own,
// which finds what it captured in a structure on the caller's stack. Memory
// that the body takes for itself gets its place in the scratch memory of a
// thread, which is as large as the largest task needs.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "lib/CodeGen/CallPointers.h"
#include "lib/CodeGen/CapturedValues.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/SymbolTable.h"
#include "passes/Passes.h"
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
  return checkHasCall(loop);
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
  void placeScratch(Value scratch);
  func::FuncOp buildTask(const CapturedValues &captured);
  void buildCall(func::FuncOp task, Value context);

  scf::ForallOp loop;
  func::FuncOp kernel;
  SymbolTable &symbols;
  const LLVMTypeConverter &types;
  OpBuilder builder;
  Type pointer;
  int64_t scratchBytes = 0;
};
} // namespace

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
    alloca.replaceAllUsesWith(castToForm(builder, loop.getLoc(), type, place));
    alloca.erase();
    scratchBytes += llvm::alignTo(bytesOf(type), kBufferAlignment);
  }
}

/// @kernel.task(context, scratch, begin, end), with the body of the loop.
func::FuncOp TaskOutliner::buildTask(const CapturedValues &captured) {
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
  captured.load(builder, loc, task.getArgument(0), loop.getRegion());
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

/// The runtime's threads, where it has more than one and they have something to
/// share; otherwise this one.
void TaskOutliner::buildCall(func::FuncOp task, Value context) {
  Location loc = loop.getLoc();
  Type i64 = builder.getI64Type();
  Value count = getValueOrCreateConstantIndexOp(
      builder, loc, loop.getMixedUpperBound().front());
  auto load = [&](CallField field, Type type) {
    return loadCallField(builder, loc, kernel, field, type);
  };
  Value parallelFor = load(CallField::ParallelFor, pointer);
  Value pool = load(CallField::Pool, pointer);
  Value scratch = load(CallField::Scratch, pointer);
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
  Value address = castToForm(builder, loc, pointer, constant);
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(builder.getContext()),
      {pointer, i64, pointer, pointer, pointer, i64});
  Value bytes = load(CallField::ScratchBytes, i64);
  LLVM::CallOp::create(
      builder, loc, type,
      ValueRange{parallelFor, pool, end, address, context, scratch, bytes});
}

LogicalResult TaskOutliner::outline() {
  FailureOr<CapturedValues> captured =
      CapturedValues::of(loop.getRegion(), types);
  if (failed(captured))
    return failure();
  Value context = captured->store(builder, loop.getLoc(), kernel);
  buildCall(buildTask(*captured), context);
  loop.erase();
  return success();
}

/// Reads the number of threads from the call.
static void lowerThreads(ThreadsOp op) {
  OpBuilder builder(op);
  Value count =
      loadCallField(builder, op.getLoc(), op->getParentOfType<func::FuncOp>(),
                    CallField::Threads, builder.getI64Type());
  op.getResult().replaceAllUsesWith(arith::IndexCastOp::create(
      builder, op.getLoc(), builder.getIndexType(), count));
  op.erase();
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
    SmallVector<ThreadsOp> threads;
    getOperation().walk([&](ThreadsOp op) { threads.push_back(op); });
    for (ThreadsOp op : threads)
      if (failed(checkHasCall(op)))
        return signalPassFailure();
    SmallVector<Operation *> users(loops.begin(), loops.end());
    users.append(threads.begin(), threads.end());
    if (failed(passCallPointers(getOperation(), users)))
      return signalPassFailure();
    llvm::for_each(threads, lowerThreads);
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
