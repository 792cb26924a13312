#include "lib/CodeGen/DeviceKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"

using namespace mlir;
using namespace heddle;

static constexpr StringLiteral kNumberAttr = "transformer.number";
static constexpr StringLiteral kSharedBytesAttr = "transformer.shared_bytes";

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
  kernel.module->setAttr(kNumberAttr, builder.getI64IntegerAttr(shape.number));
  if (shape.sharedBytes > 0)
    kernel.module->setAttr(kSharedBytesAttr,
                           builder.getI64IntegerAttr(shape.sharedBytes));
  builder.setInsertionPointToStart(kernel.module.getBody());
  Type pointer = LLVM::LLVMPointerType::get(context);
  kernel.function = func::FuncOp::create(
      builder, loc, symbol, builder.getFunctionType({pointer}, {}));
  kernel.function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                           builder.getUnitAttr());
  kernel.function->setAttr(NVVM::NVVMDialect::getMaxntidAttrName(),
                           builder.getDenseI32ArrayAttr(
                               {static_cast<int32_t>(shape.threads), 1, 1}));
  kernel.function.setArgAttr(0, LLVM::LLVMDialect::getByValAttrName(),
                             TypeAttr::get(parameter));
  kernel.function.setArgAttr(0, LLVM::LLVMDialect::getAlignAttrName(),
                             builder.getI64IntegerAttr(8));
  kernel.function.setArgAttr(0, NVVM::NVVMDialect::getGridConstantAttrName(),
                             builder.getUnitAttr());
  return kernel;
}

static func::FuncOp functionOf(gpu::GPUModuleOp module) {
  return *module.getOps<func::FuncOp>().begin();
}

LaunchShape heddle::shapeOf(gpu::GPUModuleOp module) {
  auto threads = functionOf(module)->getAttrOfType<DenseI32ArrayAttr>(
      NVVM::NVVMDialect::getMaxntidAttrName());
  auto shared = module->getAttrOfType<IntegerAttr>(kSharedBytesAttr);
  return {module->getAttrOfType<IntegerAttr>(kNumberAttr).getInt(), threads[0],
          shared ? shared.getInt() : 0};
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
