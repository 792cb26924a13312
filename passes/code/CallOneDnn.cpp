//===- CallOneDnn.cpp - Leave linear to oneDNN ----------------------------===//
//
// Buffers are dense, so that a pointer and sizes say all of them; the parts of
// a split are columns of one weight.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "lib/CodeGen/CallLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/Passes.h"

namespace heddle {
#define GEN_PASS_DEF_CALLONEDNNPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

static bool isDenseMatrix(Value value) {
  auto type = dyn_cast<MemRefType>(value.getType());
  return type && type.getLayout().isIdentity() && type.getRank() <= 2;
}

namespace {
/// Builds the calls for one linear.
class LinearCall {
public:
  LinearCall(LinearOp op, func::FuncOp callee)
      : op(op), callee(callee), builder(op), loc(op.getLoc()) {}

  void replace();

private:
  Value constant(int64_t value) {
    return arith::ConstantIntOp::create(builder, loc, builder.getI64Type(),
                                        value);
  }
  /// The address of element `offset`; null for no memref.
  Value pointerTo(Value memref, int64_t offset = 0);

  LinearOp op;
  func::FuncOp callee;
  OpBuilder builder;
  Location loc;
};
} // namespace

Value LinearCall::pointerTo(Value memref, int64_t offset) {
  Type type = LLVM::LLVMPointerType::get(builder.getContext());
  if (!memref)
    return LLVM::ZeroOp::create(builder, loc, type);
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memref);
  Value integer =
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(), address);
  Value pointer = LLVM::IntToPtrOp::create(builder, loc, type, integer);
  return LLVM::GEPOp::create(builder, loc, type, builder.getF32Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{int32_t(offset)});
}

void LinearCall::replace() {
  auto weight = cast<MemRefType>(op.getWeight().getType());
  Value rows = arith::IndexCastOp::create(
      builder, loc, builder.getI64Type(),
      builder.createOrFold<memref::DimOp>(loc, op.getInput(), 0));
  int64_t activation =
      op.getActivation() ? static_cast<int64_t>(*op.getActivation()) : -1;
  int64_t column = 0;
  for (auto [destination, width] :
       llvm::zip(op.getDestinations(), op.getWidths())) {
    Value arguments[] = {
        pointerTo(op.getInput()),        pointerTo(op.getWeight(), column),
        pointerTo(op.getBias(), column), pointerTo(op.getResidual()),
        pointerTo(destination),          rows,
        constant(weight.getDimSize(0)),  constant(width),
        constant(weight.getDimSize(1)),  constant(activation)};
    func::CallOp::create(builder, loc, callee, arguments);
    column += width;
  }
  if (op.getNorm())
    NormOp::create(builder, loc, *op.getNorm(), op.getDestination(),
                   op.getGamma(), op.getBeta(), op.getDestination(),
                   *op.getEpsilon());
  op.erase();
}

namespace {
struct CallOneDnn : heddle::impl::CallOneDnnPassBase<CallOneDnn> {
  void runOnOperation() override {
    SmallVector<LinearOp> linears;
    getOperation().walk([&](LinearOp op) {
      if (llvm::all_of(op->getOperands(), isDenseMatrix) &&
          !isPacked(op.getWeight()) && !op.getGates() &&
          cast<MemRefType>(op.getInput().getType()).getRank() == 2)
        linears.push_back(op);
    });
    if (linears.empty())
      return;
    OpBuilder builder = OpBuilder::atBlockBegin(getOperation().getBody());
    Type pointer = LLVM::LLVMPointerType::get(&getContext());
    SmallVector<Type> inputs(5, pointer);
    inputs.append(5, builder.getI64Type());
    auto callee =
        func::FuncOp::create(builder, getOperation().getLoc(), kOneDnnLinear,
                             builder.getFunctionType(inputs, {}));
    callee.setPrivate();
    for (LinearOp op : linears)
      LinearCall(op, callee).replace();
  }
};
} // namespace
