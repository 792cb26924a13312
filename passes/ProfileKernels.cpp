//===- ProfileKernels.cpp - Count calls of kernels ------------------------===//
//
// Each kernel counts its own calls: it asks at its begin and at its end whether
// there is a profile, two branches where there is none. So entry points stay
// lists of calls, however many there are.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "lib/CodeGen/CallLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/Passes.h"
#include "llvm/ADT/SetVector.h"

namespace heddle {
#define GEN_PASS_DEF_PROFILEKERNELSPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

namespace {
/// Wraps the body of one kernel, whose last argument is the pointer to the
/// call.
class KernelProfiler {
public:
  explicit KernelProfiler(func::FuncOp kernel)
      : kernel(kernel), builder(OpBuilder::atBlockBegin(&kernel.front())),
        loc(kernel.getLoc()),
        pointer(LLVM::LLVMPointerType::get(kernel.getContext())),
        i64(builder.getI64Type()) {}

  /// `work` is null where the kernel's work is unknown.
  void wrap(int64_t number, func::FuncOp work);

private:
  Value loadWord(Value base, int32_t index) {
    Value address = LLVM::GEPOp::create(builder, loc, pointer, pointer, base,
                                        ArrayRef<LLVM::GEPArg>{index});
    return LLVM::LoadOp::create(builder, loc, pointer, address);
  }
  Value constant(int64_t value) {
    return arith::ConstantIntOp::create(builder, loc, i64, value);
  }
  Value now();

  func::FuncOp kernel;
  OpBuilder builder;
  Location loc;
  Type pointer, i64;
  Value profile;
};
} // namespace

Value KernelProfiler::now() {
  auto type = LLVM::LLVMFunctionType::get(i64, {pointer});
  Value function = loadWord(profile, int32_t(ProfileField::Now));
  return LLVM::CallOp::create(builder, loc, type, ValueRange{function, profile})
      .getResult();
}

void KernelProfiler::wrap(int64_t number, func::FuncOp work) {
  profile = loadWord(kernel.getArguments().back(), int32_t(CallField::Profile));
  Value null = LLVM::ZeroOp::create(builder, loc, pointer);
  Value isAsked = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne,
                                       profile, null);
  auto before = scf::IfOp::create(builder, loc, i64, isAsked,
                                  /*withElseRegion=*/true);
  builder.setInsertionPointToStart(before.thenBlock());
  scf::YieldOp::create(builder, loc, now());
  builder.setInsertionPointToStart(before.elseBlock());
  scf::YieldOp::create(builder, loc, constant(0));

  builder.setInsertionPoint(kernel.front().getTerminator());
  auto after = scf::IfOp::create(builder, loc, isAsked,
                                 /*withElseRegion=*/false);
  builder.setInsertionPointToStart(after.thenBlock());
  Value nanoseconds =
      arith::SubIOp::create(builder, loc, now(), before.getResult(0));
  SmallVector<Value> arguments = {profile, constant(number), nanoseconds};
  if (work) {
    auto counts = func::CallOp::create(
        builder, loc, work, ValueRange(kernel.getArguments().drop_back()));
    for (Value count : counts.getResults())
      arguments.push_back(arith::IndexCastOp::create(builder, loc, i64, count));
  } else {
    arguments.append(2, constant(0));
  }
  Value add = loadWord(profile, int32_t(ProfileField::Add));
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(builder.getContext()),
      llvm::to_vector(ValueRange(arguments).getTypes()));
  arguments.insert(arguments.begin(), add);
  LLVM::CallOp::create(builder, loc, type, arguments);
}

/// What a kernel multiplies, in the manifest's words: the elements of its first
/// operand.
static StringRef factorsOf(func::FuncOp kernel) {
  if (kernel.getNumArguments() == 0)
    return "f32";
  Type element = getElementTypeOrSelf(kernel.getArgumentTypes().front());
  return element.isInteger(8) ? "i8" : element.isBF16() ? "bf16" : "f32";
}

namespace {
struct ProfileKernels : heddle::impl::ProfileKernelsPassBase<ProfileKernels> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    llvm::SetVector<func::FuncOp> kernels;
    for (auto entry : getOperation().getOps<func::FuncOp>()) {
      if (!entry->hasAttr(kEntryAttr))
        continue;
      entry.walk([&](func::CallOp call) {
        auto kernel = symbols.lookup<func::FuncOp>(call.getCallee());
        if (!kernel->hasAttr(kKernelAttr))
          return;
        kernels.insert(kernel);
        call.getOperandsMutable().append(entry.getArgument(0));
      });
    }
    SmallVector<StringRef> names, types;
    for (func::FuncOp kernel : kernels) {
      types.push_back(factorsOf(kernel));
      if (failed(
              kernel.insertArgument(kernel.getNumArguments(),
                                    LLVM::LLVMPointerType::get(&getContext()),
                                    /*argAttrs=*/nullptr, kernel.getLoc())))
        return signalPassFailure();
      auto work = kernel->getAttrOfType<FlatSymbolRefAttr>(kWorkAttr);
      KernelProfiler(kernel).wrap(
          names.size(),
          work ? symbols.lookup<func::FuncOp>(work.getAttr()) : nullptr);
      names.push_back(kernel.getSymName());
    }
    if (names.empty())
      return;
    Builder builder(&getContext());
    getOperation()->setAttr(kKernelsAttr, builder.getStrArrayAttr(names));
    getOperation()->setAttr(kKernelTypesAttr, builder.getStrArrayAttr(types));
  }
};
} // namespace
