//===- CallPointers.cpp - From parallel loops up to entry points ----------===//
//
// A worklist starts with the functions that hold a parallel loop. Each gets the
// pointer as its last argument, and its callers join the list, which grows
// while it is walked. Calls are extended in a second walk: by then every caller
// has its own pointer to pass on.
//
// Thread tasks do not nest. A call of such a function inside a parallel loop is
// an error, at the call.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/CallPointers.h"
#include "dialect/Transformer.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace heddle;

static bool mayHaveCall(func::FuncOp function) {
  return function &&
         (function->hasAttr(kKernelAttr) || function->hasAttr(kEntryAttr));
}

LogicalResult heddle::checkHasCall(Operation *op) {
  if (mayHaveCall(op->getParentOfType<func::FuncOp>()))
    return success();
  return op->emitError("stands neither in an entry point nor in a kernel");
}

/// Entry points have the pointer to the call as their only argument, kernels
/// that count their calls as their last.
static bool takesCall(func::FuncOp function) {
  return function.getNumArguments() != 0 &&
         isa<LLVM::LLVMPointerType>(function.getArgumentTypes().back());
}

LogicalResult heddle::passCallPointers(ModuleOp module,
                                       ArrayRef<Operation *> users) {
  Type pointer = LLVM::LLVMPointerType::get(module.getContext());
  llvm::SetVector<func::FuncOp> parallel;
  auto add = [&](func::FuncOp function) {
    if (!takesCall(function))
      parallel.insert(function);
  };
  for (Operation *user : users)
    add(user->getParentOfType<func::FuncOp>());
  auto standsInLoop = [&](Operation *op) {
    return llvm::any_of(
        users, [&](Operation *user) { return user->isProperAncestor(op); });
  };
  for (size_t i = 0; i < parallel.size(); ++i) {
    func::FuncOp callee = parallel[i];
    if (failed(callee.insertArgument(callee.getNumArguments(), pointer,
                                     /*argAttrs=*/nullptr, callee.getLoc())))
      return failure();
    WalkResult walked = module.walk([&](func::CallOp call) {
      if (call.getCallee() != callee.getSymName())
        return WalkResult::advance();
      if (standsInLoop(call)) {
        call.emitOpError("stands in a parallel loop, but '")
            << call.getCallee() << "' has one itself";
        return WalkResult::interrupt();
      }
      auto caller = call->getParentOfType<func::FuncOp>();
      if (!mayHaveCall(caller)) {
        call.emitOpError("calls a kernel with a parallel loop, but stands "
                         "neither in an entry point nor in a kernel");
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

Value heddle::loadCallField(OpBuilder &builder, Location loc,
                            func::FuncOp function, CallField field, Type type) {
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value address = LLVM::GEPOp::create(
      builder, loc, pointer, pointer, function.getArguments().back(),
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(field)});
  return LLVM::LoadOp::create(builder, loc, type, address);
}
