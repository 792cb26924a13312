//===- LaunchKernels.cpp - Parallel loops as kernels of a GPU -------------===//
//
// What lower-parallel does for threads of the CPU: the pointer to the call
// travels from the entry points to every function with a parallel loop, and the
// body of each becomes a function of its own, which finds what it captured in
// its parameter. Here a thread takes one iteration, or a block if an emitter
// says so, and a module around the function says that it is the device's. What
// loops leave for each other in a `memref.alloc` is scratch memory of the
// device.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "lib/CodeGen/CallPointers.h"
#include "lib/CodeGen/CapturedValues.h"
#include "lib/CodeGen/DeviceKernel.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/SymbolTable.h"
#include "passes/Passes.h"

namespace heddle {
#define GEN_PASS_DEF_LAUNCHKERNELSPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

/// If an iteration is a thread's: enough to hide latencies, few enough that
/// each may have many registers.
static constexpr BlockShape kBlockOfThreads = {128};

static LogicalResult checkLoop(scf::ParallelOp loop) {
  if (loop->getParentOfType<scf::ParallelOp>())
    return loop.emitError("stands in another parallel loop");
  if (loop.getNumResults() != 0)
    return loop.emitError("has results, expected iterations that write memory");
  auto areAll = [](ValueRange values, int64_t number) {
    return llvm::all_of(values, [&](Value value) {
      return getConstantIntValue(value) == number;
    });
  };
  if (!areAll(loop.getLowerBound(), 0) || !areAll(loop.getStep(), 1))
    return loop.emitError("expected dimensions that count from 0 by 1");
  if (blockShapeOf(loop) && loop.getNumLoops() != 1)
    return loop.emitError("has blocks in more than one dimension");
  return checkHasCall(loop);
}

namespace {
/// Turns one loop into a kernel and its launch.
class KernelOutliner {
public:
  KernelOutliner(scf::ParallelOp loop, SymbolTable &symbols, int64_t number,
                 const LLVMTypeConverter &types)
      : loop(loop), function(loop->getParentOfType<func::FuncOp>()),
        symbols(symbols), number(number), types(types),
        hasBlocks(blockShapeOf(loop)),
        shape(blockShapeOf(loop).value_or(kBlockOfThreads)), builder(loop),
        pointer(LLVM::LLVMPointerType::get(loop.getContext())) {}

  LogicalResult outline();

private:
  void takeThreads();
  void buildKernel(const CapturedValues &captured);
  void buildLaunch(Value context);

  scf::ParallelOp loop;
  func::FuncOp function;
  SymbolTable &symbols;
  int64_t number;
  const LLVMTypeConverter &types;
  /// Whether iterations are blocks.
  bool hasBlocks;
  BlockShape shape;
  OpBuilder builder;
  Type pointer;
  /// Of all dimensions.
  Value iterations;
};
} // namespace

/// Makes the loop one over threads, of which the last may have nothing to do.
void KernelOutliner::takeThreads() {
  Location loc = loop.getLoc();
  ValueRange ends = loop.getUpperBound();
  iterations = arith::ConstantIndexOp::create(builder, loc, 1);
  for (Value end : ends)
    iterations = arith::MulIOp::create(builder, loc, iterations, end);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  auto iterate = [&](OpBuilder &inside, Value thread) {
    Value left = thread;
    SmallVector<Value> at(ends.size());
    for (size_t axis = ends.size(); axis-- > 0;) {
      at[axis] = left;
      if (axis == 0)
        break;
      at[axis] = arith::RemUIOp::create(inside, loc, left, ends[axis]);
      left = arith::DivUIOp::create(inside, loc, left, ends[axis]);
    }
    loop.getBody()->getTerminator()->erase();
    for (auto [argument, value] : llvm::zip(loop.getBody()->getArguments(), at))
      argument.replaceAllUsesWith(value);
    Block *block = inside.getBlock();
    block->getOperations().splice(block->end(),
                                  loop.getBody()->getOperations());
    inside.setInsertionPointToEnd(block);
    scf::YieldOp::create(inside, loc);
  };
  auto threads = scf::ParallelOp::create(
      builder, loc, zero, iterations, one,
      [&](OpBuilder &inside, Location loc, ValueRange thread) {
        Value isOne = arith::CmpIOp::create(
            inside, loc, arith::CmpIPredicate::ult, thread.front(), iterations);
        scf::IfOp::create(inside, loc, isOne, [&](OpBuilder &in, Location) {
          iterate(in, thread.front());
        });
      });
  loop.erase();
  loop = threads;
  builder.setInsertionPoint(loop);
}

/// The kernel: thread or block number i of all takes iteration i.
void KernelOutliner::buildKernel(const CapturedValues &captured) {
  Location loc = loop.getLoc();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(
      function->getParentOfType<ModuleOp>().getBody());
  DeviceKernel kernel = createDeviceKernel(
      builder, loc, function.getSymName(), captured.getType(),
      {number, shape, /*isGeneric=*/!hasBlocks});
  // The function and its module have one name, which may have got a number.
  kernel.function.setSymName(symbols.insert(kernel.module));
  Block *entry = kernel.function.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  captured.load(builder, loc, entry->getArgument(0), loop.getRegion());
  loop.getBody()->getArgument(0).replaceAllUsesWith(
      hasBlocks ? blockOfGrid(builder, loc)
                : threadOfGrid(builder, loc, shape.threads));
  loop.getBody()->getTerminator()->erase();
  entry->getOperations().splice(entry->end(), loop.getBody()->getOperations());
  builder.setInsertionPointToEnd(entry);
  func::ReturnOp::create(builder, loc);
}

/// call->device->launch(call->device, number, blocks, context).
void KernelOutliner::buildLaunch(Value context) {
  Location loc = loop.getLoc();
  Type i64 = builder.getI64Type();
  Value device =
      loadCallField(builder, loc, function, CallField::Device, pointer);
  Value launch = LLVM::LoadOp::create(builder, loc, pointer, device);
  Value blocks = iterations;
  if (!hasBlocks)
    blocks = arith::CeilDivUIOp::create(
        builder, loc, iterations,
        arith::ConstantIndexOp::create(builder, loc, shape.threads));
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()),
                                  {pointer, i64, i64, pointer});
  Value kernel = arith::ConstantIntOp::create(builder, loc, i64, number);
  Value count = arith::IndexCastOp::create(builder, loc, i64, blocks);
  LLVM::CallOp::create(builder, loc, type,
                       ValueRange{launch, device, kernel, count, context});
}

LogicalResult KernelOutliner::outline() {
  if (hasBlocks)
    iterations = loop.getUpperBound().front();
  else
    takeThreads();
  FailureOr<CapturedValues> captured =
      CapturedValues::of(loop.getRegion(), types, /*keepsMemory=*/true);
  if (failed(captured))
    return failure();
  buildLaunch(captured->store(builder, loop.getLoc(), function));
  buildKernel(*captured);
  loop.erase();
  return success();
}

static LogicalResult checkMemory(memref::AllocOp alloc) {
  auto function = alloc->getParentOfType<func::FuncOp>();
  if (alloc.getType().getRank() != 1)
    return alloc.emitError("expected memory of one dimension");
  auto all = function.getOps<memref::AllocOp>();
  if (*all.begin() != alloc)
    return alloc.emitError("is the second scratch memory of its function");
  return checkHasCall(alloc);
}

/// call->device->scratch(call->device, bytes).
static void takeMemory(memref::AllocOp alloc, const LLVMTypeConverter &types) {
  OpBuilder builder(alloc);
  Location loc = alloc.getLoc();
  auto function = alloc->getParentOfType<func::FuncOp>();
  MemRefType type = alloc.getType();
  Type i64 = builder.getI64Type();
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value device =
      loadCallField(builder, loc, function, CallField::Device, pointer);
  Value field = LLVM::GEPOp::create(
      builder, loc, pointer, i64, device,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(DeviceField::Scratch)});
  Value scratch = LLVM::LoadOp::create(builder, loc, pointer, field);
  Value size =
      type.hasStaticShape()
          ? arith::ConstantIndexOp::create(builder, loc, type.getDimSize(0))
                .getResult()
          : alloc.getDynamicSizes().front();
  size = arith::IndexCastOp::create(builder, loc, i64, size);
  Value bytes = arith::MulIOp::create(
      builder, loc, size,
      arith::ConstantIntOp::create(builder, loc, i64,
                                   type.getElementTypeBitWidth() / 8));
  auto call = LLVM::LLVMFunctionType::get(pointer, {pointer, i64});
  Value memory = LLVM::CallOp::create(builder, loc, call,
                                      ValueRange{scratch, device, bytes})
                     .getResult();
  auto descriptor =
      MemRefDescriptor::poison(builder, loc, types.convertType(type));
  descriptor.setAllocatedPtr(builder, loc, memory);
  descriptor.setAlignedPtr(builder, loc, memory);
  descriptor.setConstantOffset(builder, loc, 0);
  descriptor.setSize(builder, loc, 0, size);
  descriptor.setConstantStride(builder, loc, 0, 1);
  alloc.replaceAllUsesWith(castToForm(builder, loc, type, descriptor));
  alloc.erase();
}

/// What the device says at the end is what an entry point returns.
static void returnStatus(func::FuncOp entry) {
  Operation *end = entry.front().getTerminator();
  OpBuilder builder(end);
  Location loc = end->getLoc();
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value device = loadCallField(builder, loc, entry, CallField::Device, pointer);
  Value address = LLVM::GEPOp::create(
      builder, loc, pointer, builder.getI64Type(), device,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(DeviceField::Status)});
  end->setOperands(
      LLVM::LoadOp::create(builder, loc, builder.getI32Type(), address)
          .getResult());
}

/// Ops of an entry point or kernel that read memory of the device stand in
/// kernels, or nowhere.
static LogicalResult checkHost(func::FuncOp function) {
  WalkResult walked = function.walk([](Operation *op) {
    if (!isa<memref::LoadOp, memref::StoreOp>(op))
      return WalkResult::advance();
    op->emitOpError("reads or writes the device's memory outside of a "
                    "parallel loop");
    return WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}

/// Kernels have shared memory of their own: what is left are constants that
/// stood in front of a loop.
static void eraseSharedMemory(func::FuncOp host) {
  SmallVector<Operation *> unused;
  host.walk([&](LLVM::AddressOfOp address) {
    if (address.getGlobalName() == kSharedMemory && address->use_empty())
      unused.push_back(address);
  });
  for (Operation *address : unused)
    address->erase();
}

namespace {
struct LaunchKernels : heddle::impl::LaunchKernelsPassBase<LaunchKernels> {
  void runOnOperation() override {
    SmallVector<Operation *> loops;
    getOperation().walk([&](scf::ParallelOp loop) { loops.push_back(loop); });
    for (Operation *loop : loops)
      if (failed(checkLoop(cast<scf::ParallelOp>(loop))))
        return signalPassFailure();
    if (failed(passCallPointers(getOperation(), loops)))
      return signalPassFailure();
    SmallVector<memref::AllocOp> memory;
    getOperation().walk(
        [&](memref::AllocOp alloc) { memory.push_back(alloc); });
    for (memref::AllocOp alloc : memory)
      if (failed(checkMemory(alloc)))
        return signalPassFailure();
    SymbolTable symbols(getOperation());
    LLVMTypeConverter types(&getContext());
    for (memref::AllocOp alloc : memory)
      takeMemory(alloc, types);
    for (auto [number, loop] : llvm::enumerate(loops))
      if (failed(KernelOutliner(cast<scf::ParallelOp>(loop), symbols, number,
                                types)
                     .outline()))
        return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      eraseSharedMemory(function);
      bool isEntry = function->hasAttr(kEntryAttr);
      if (function.isExternal() || !(isEntry || function->hasAttr(kKernelAttr)))
        continue;
      if (failed(checkHost(function)))
        return signalPassFailure();
      if (isEntry)
        returnStatus(function);
    }
    if (Operation *memory = symbols.lookup(kSharedMemory))
      memory->erase();
  }
};
} // namespace
