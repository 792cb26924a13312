//===- CapturedValues.cpp - From captured values to a structure -----------===//
//
// The values that a body uses from outside are sorted: constants, addresses of
// globals and, if asked for, stack memory are cloned at the new place, and
// every other value becomes a field. The structure is allocated at the start of
// the function, once for all iterations of a loop around this one: stack memory
// allocated inside a loop is only freed when the function returns. Casts
// between a value and its form in LLVM are left to the conversion that follows.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/CapturedValues.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace heddle;

Value heddle::castToForm(OpBuilder &builder, Location loc, Type type,
                         Value value) {
  if (value.getType() == type)
    return value;
  return UnrealizedConversionCastOp::create(builder, loc, type, value)
      .getResult(0);
}

FailureOr<CapturedValues> CapturedValues::of(Region &body,
                                             const LLVMTypeConverter &types,
                                             bool keepsMemory) {
  CapturedValues values;
  llvm::SetVector<Value> used;
  getUsedValuesDefinedAbove(body, used);
  SmallVector<Type> fields;
  for (Value value : used) {
    Operation *op = value.getDefiningOp();
    if (op && (matchPattern(op, m_Constant()) || isa<memref::GetGlobalOp>(op) ||
               (keepsMemory && isa<memref::AllocaOp>(op)))) {
      values.repeated.push_back(op);
      continue;
    }
    Type field = types.convertType(value.getType());
    if (!field)
      return body.getParentOp()->emitError("reads a value of type ")
             << value.getType() << ", which has no form in LLVM";
    values.captured.insert(value);
    fields.push_back(field);
  }
  values.type = LLVM::LLVMStructType::getLiteral(body.getContext(), fields);
  return values;
}

Value CapturedValues::fieldOf(OpBuilder &builder, Location loc, Value structure,
                              size_t index) const {
  return LLVM::GEPOp::create(
      builder, loc, structure.getType(), type, structure,
      ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(index)});
}

Value CapturedValues::store(OpBuilder &builder, Location loc,
                            func::FuncOp function) const {
  Value structure;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&function.front());
    Value one = LLVM::ConstantOp::create(builder, loc, builder.getI64Type(),
                                         builder.getI64IntegerAttr(1));
    structure = LLVM::AllocaOp::create(
        builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), type,
        one);
  }
  for (auto [index, value] : llvm::enumerate(captured))
    LLVM::StoreOp::create(
        builder, loc, castToForm(builder, loc, type.getBody()[index], value),
        fieldOf(builder, loc, structure, index));
  return structure;
}

void CapturedValues::load(OpBuilder &builder, Location loc, Value structure,
                          Region &body) const {
  for (Operation *op : repeated) {
    Operation *clone = builder.clone(*op);
    for (auto [old, result] : llvm::zip(op->getResults(), clone->getResults()))
      replaceAllUsesInRegionWith(old, result, body);
  }
  for (auto [index, value] : llvm::enumerate(captured)) {
    Value loaded =
        LLVM::LoadOp::create(builder, loc, type.getBody()[index],
                             fieldOf(builder, loc, structure, index));
    replaceAllUsesInRegionWith(
        value, castToForm(builder, loc, value.getType(), loaded), body);
  }
}
