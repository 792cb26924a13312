//===- RuntimeKernel.cpp - A kernel that the runtime starts ---------------===//
//
// The constructor opens a kernel at the end of the module and leaves the
// builder in its body; the destructor ends it with a return. The parameter is a
// structure whose fields have the order of KernelAbi.h, first all of 8 bytes,
// then all of 4: so no field needs padding.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Gpu/Runtime/RuntimeKernel.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace heddle;

RuntimeKernel::RuntimeKernel(ModuleOp module, const RuntimeKernelShape &shape)
    : builder(OpBuilder::atBlockEnd(module.getBody())),
      body(builder, NameLoc::get(builder.getStringAttr(shape.name)),
           shape.threads) {
  SmallVector<Type> types(shape.wideFields, builder.getI64Type());
  types.append(shape.fields, builder.getI32Type());
  type = LLVM::LLVMStructType::getLiteral(builder.getContext(), types);
  DeviceKernel kernel = createDeviceKernel(builder, body.loc, shape.name, type,
                                           {shape.number, {shape.threads}});
  Block *entry = kernel.function.addEntryBlock();
  parameter = entry->getArgument(0);
  builder.setInsertionPointToStart(entry);
}

RuntimeKernel::~RuntimeKernel() { func::ReturnOp::create(builder, body.loc); }

Value RuntimeKernel::load(int32_t field) {
  Value place =
      LLVM::GEPOp::create(builder, body.loc, parameter.getType(), type,
                          parameter, ArrayRef<LLVM::GEPArg>{0, field});
  return LLVM::LoadOp::create(builder, body.loc, type.getBody()[field], place);
}

Value RuntimeKernel::pointerTo(int32_t field) {
  auto global = LLVM::LLVMPointerType::get(
      builder.getContext(), unsigned(NVVM::NVVMMemorySpace::Global));
  return LLVM::IntToPtrOp::create(builder, body.loc, global, load(field));
}

Value RuntimeKernel::threadOfGrid() {
  Value block =
      NVVM::BlockIdXOp::create(builder, body.loc, builder.getI32Type());
  return body.add(body.mul(block, body.threads), body.thread());
}
