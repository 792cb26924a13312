//===- DeviceKernel.cpp - Modules, parameters and launches of kernels -----===//
//
// The shape of a launch is a dictionary attribute, first of the loop and then
// of the kernel; one block, a cluster of one and flags that are off are left
// out of it. The kernel takes its structure by value, so that it arrives in the
// parameter memory of the GPU. Dynamic shared memory is an external array
// without a size: the launch says how many bytes it has.
//
// Numbers of blocks and threads are unsigned 32 bits, and are extended without
// a sign.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/DeviceKernel.h"
#include "dialect/Transformer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace heddle;

static constexpr StringLiteral kNumber = "number", kGeneric = "generic",
                               kThreads = "threads",
                               kSharedBytes = "shared_bytes",
                               kBlocks = "blocks", kCluster = "cluster",
                               kStays = "stays";
/// What TMA wants, and more than any other access.
static constexpr uint64_t kSharedAlignment = 1024;

/// Of a loop, or of the kernel that it has become.
static DictionaryAttr attributeOf(OpBuilder &builder, const BlockShape &shape,
                                  const LaunchShape *launch = nullptr) {
  SmallVector<NamedAttribute> numbers;
  auto add = [&](StringRef key, int64_t value) {
    numbers.push_back(
        builder.getNamedAttr(key, builder.getI64IntegerAttr(value)));
  };
  auto addWord = [&](StringRef key, bool isSaid) {
    if (isSaid)
      numbers.push_back(builder.getNamedAttr(key, builder.getUnitAttr()));
  };
  if (launch)
    add(kNumber, launch->number);
  addWord(kGeneric, launch && launch->isGeneric);
  add(kThreads, shape.threads);
  add(kSharedBytes, shape.sharedBytes);
  if (shape.blocks > 1)
    add(kBlocks, shape.blocks);
  if (shape.cluster > 1)
    add(kCluster, shape.cluster);
  addWord(kStays, shape.stays);
  return builder.getDictionaryAttr(numbers);
}

static BlockShape blockShapeOf(DictionaryAttr launch) {
  auto number = [&](StringRef key) {
    return launch.getAs<IntegerAttr>(key).getInt();
  };
  auto numberOrOne = [&](StringRef key) {
    return launch.contains(key) ? number(key) : 1;
  };
  return {number(kThreads), number(kSharedBytes), numberOrOne(kBlocks),
          numberOrOne(kCluster), launch.contains(kStays)};
}

void heddle::declareSharedMemory(Block *module, Location loc) {
  OpBuilder builder = OpBuilder::atBlockBegin(module);
  LLVM::GlobalOp::create(builder, loc,
                         LLVM::LLVMArrayType::get(builder.getI8Type(), 0),
                         /*isConstant=*/false, LLVM::Linkage::External,
                         kSharedMemory, /*value=*/Attribute(), kSharedAlignment,
                         unsigned(NVVM::NVVMMemorySpace::Shared));
}

void heddle::setBlockShape(scf::ParallelOp loop, const BlockShape &shape) {
  OpBuilder builder(loop.getContext());
  loop->setAttr(kLaunchAttr, attributeOf(builder, shape));
}

std::optional<BlockShape> heddle::blockShapeOf(scf::ParallelOp loop) {
  auto launch = loop->getAttrOfType<DictionaryAttr>(kLaunchAttr);
  if (!launch)
    return std::nullopt;
  return ::blockShapeOf(launch);
}

void heddle::keepLoop(scf::ForOp loop) {
  MLIRContext *context = loop.getContext();
  auto unroll = LLVM::LoopUnrollAttr::get(
      context, /*disable=*/BoolAttr::get(context, true), {}, {}, {}, {}, {},
      {});
  loop->setAttr(kLoopAnnotationAttr, LLVM::LoopAnnotationAttr::get(
                                         context, {}, {}, {}, unroll, {}, {},
                                         {}, {}, {}, {}, {}, {}, {}, {}, {}));
}

DeviceKernel heddle::createDeviceKernel(OpBuilder &builder, Location loc,
                                        StringRef name, Type parameter,
                                        const LaunchShape &shape) {
  MLIRContext *context = builder.getContext();
  // A name of PTX has no dots.
  std::string symbol = name.str();
  llvm::replace(symbol, '.', '_');
  OpBuilder::InsertionGuard guard(builder);
  DeviceKernel kernel;
  kernel.module = gpu::GPUModuleOp::create(builder, loc, symbol);
  builder.setInsertionPointToStart(kernel.module.getBody());
  if (shape.block.sharedBytes > 0)
    declareSharedMemory(kernel.module.getBody(), loc);
  Type pointer = LLVM::LLVMPointerType::get(context);
  kernel.function = func::FuncOp::create(
      builder, loc, symbol, builder.getFunctionType({pointer}, {}));
  kernel.function->setAttr(kLaunchAttr,
                           attributeOf(builder, shape.block, &shape));
  kernel.function.setArgAttr(0, LLVM::LLVMDialect::getByValAttrName(),
                             TypeAttr::get(parameter));
  kernel.function.setArgAttr(0, LLVM::LLVMDialect::getAlignAttrName(),
                             builder.getI64IntegerAttr(8));
  return kernel;
}

static func::FuncOp functionOf(gpu::GPUModuleOp module) {
  return *module.getOps<func::FuncOp>().begin();
}

LaunchShape heddle::shapeOf(DictionaryAttr launch) {
  return {launch.getAs<IntegerAttr>(kNumber).getInt(), ::blockShapeOf(launch),
          launch.contains(kGeneric)};
}

LaunchShape heddle::shapeOf(gpu::GPUModuleOp module) {
  return shapeOf(
      functionOf(module)->getAttrOfType<DictionaryAttr>(kLaunchAttr));
}

OwningOpRef<ModuleOp> heddle::copyOfDevice(gpu::GPUModuleOp module) {
  OwningOpRef<ModuleOp> copy = ModuleOp::create(module.getLoc());
  OpBuilder builder = OpBuilder::atBlockEnd(copy->getBody());
  for (Operation &op : *module.getBody())
    builder.clone(op);
  return copy;
}

static Value toIndex(Value number, OpBuilder &builder, Location loc) {
  return arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                      number);
}

Value heddle::blockOfGrid(OpBuilder &builder, Location loc) {
  return toIndex(NVVM::BlockIdXOp::create(builder, loc, builder.getI32Type()),
                 builder, loc);
}

Value heddle::threadOfGrid(OpBuilder &builder, Location loc, int64_t threads) {
  Value first = arith::MulIOp::create(
      builder, loc, blockOfGrid(builder, loc),
      arith::ConstantIndexOp::create(builder, loc, threads));
  Value thread =
      toIndex(NVVM::ThreadIdXOp::create(builder, loc, builder.getI32Type()),
              builder, loc);
  return arith::AddIOp::create(builder, loc, first, thread);
}
