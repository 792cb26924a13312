#include "lib/CodeGen/DeviceKernel.h"
#include "dialect/Transformer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"

using namespace mlir;
using namespace heddle;

static constexpr StringLiteral kNumber = "number", kThreads = "threads",
                               kSharedBytes = "shared_bytes";

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
  Type pointer = LLVM::LLVMPointerType::get(context);
  kernel.function = func::FuncOp::create(
      builder, loc, symbol, builder.getFunctionType({pointer}, {}));
  auto number = [&](StringRef key, int64_t value) {
    return builder.getNamedAttr(key, builder.getI64IntegerAttr(value));
  };
  kernel.function->setAttr(
      kLaunchAttr,
      builder.getDictionaryAttr({number(kNumber, shape.number),
                                 number(kThreads, shape.threads),
                                 number(kSharedBytes, shape.sharedBytes)}));
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
  auto number = [&](StringRef key) {
    return launch.getAs<IntegerAttr>(key).getInt();
  };
  return {number(kNumber), number(kThreads), number(kSharedBytes)};
}

LaunchShape heddle::shapeOf(gpu::GPUModuleOp module) {
  return shapeOf(
      functionOf(module)->getAttrOfType<DictionaryAttr>(kLaunchAttr));
}

int64_t heddle::parameterBytesOf(gpu::GPUModuleOp module) {
  auto parameter = functionOf(module).getArgAttrOfType<TypeAttr>(
      0, LLVM::LLVMDialect::getByValAttrName());
  return DataLayout(module->getParentOfType<ModuleOp>())
      .getTypeSize(parameter.getValue());
}

OwningOpRef<ModuleOp> heddle::copyOfDevice(gpu::GPUModuleOp module) {
  OwningOpRef<ModuleOp> copy = ModuleOp::create(module.getLoc());
  OpBuilder builder = OpBuilder::atBlockEnd(copy->getBody());
  for (Operation &op : *module.getBody())
    builder.clone(op);
  return copy;
}

Value heddle::threadOfGrid(OpBuilder &builder, Location loc, int64_t threads) {
  Type i32 = builder.getI32Type();
  auto toIndex = [&](Value number) -> Value {
    return arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                        number);
  };
  Value block = toIndex(NVVM::BlockIdXOp::create(builder, loc, i32));
  Value thread = toIndex(NVVM::ThreadIdXOp::create(builder, loc, i32));
  Value first = arith::MulIOp::create(
      builder, loc, block,
      arith::ConstantIndexOp::create(builder, loc, threads));
  return arith::AddIOp::create(builder, loc, first, thread);
}
