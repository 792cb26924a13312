//===- ProfileKernels.cpp - Count calls of kernels ------------------------===//
//
// An entry point asks once whether it has a profile. Without one, a call of a
// kernel costs two branches more.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "lib/CodeGen/CallLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/SymbolTable.h"
#include "passes/Passes.h"
#include "llvm/ADT/MapVector.h"

namespace heddle {
#define GEN_PASS_DEF_PROFILEKERNELSPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

namespace {
/// Wraps the calls of one entry point.
class CallProfiler {
public:
  explicit CallProfiler(func::FuncOp entry)
      : builder(OpBuilder::atBlockBegin(&entry.front())), loc(entry.getLoc()),
        pointer(LLVM::LLVMPointerType::get(entry.getContext())),
        i64(builder.getI64Type()) {
    profile = loadWord(entry.getArgument(0), int32_t(CallField::Profile));
    Value null = LLVM::ZeroOp::create(builder, loc, pointer);
    isAsked = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne,
                                   profile, null);
  }

  /// `work` is null where the kernel's work is unknown.
  void wrap(func::CallOp call, int64_t kernel, func::FuncOp work);

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

  OpBuilder builder;
  Location loc;
  Type pointer, i64;
  Value profile, isAsked;
};
} // namespace

Value CallProfiler::now() {
  auto type = LLVM::LLVMFunctionType::get(i64, {pointer});
  Value function = loadWord(profile, int32_t(ProfileField::Now));
  return LLVM::CallOp::create(builder, loc, type, ValueRange{function, profile})
      .getResult();
}

void CallProfiler::wrap(func::CallOp call, int64_t kernel, func::FuncOp work) {
  loc = call.getLoc();
  builder.setInsertionPoint(call);
  auto before = scf::IfOp::create(builder, loc, i64, isAsked,
                                  /*withElseRegion=*/true);
  builder.setInsertionPointToStart(before.thenBlock());
  scf::YieldOp::create(builder, loc, now());
  builder.setInsertionPointToStart(before.elseBlock());
  scf::YieldOp::create(builder, loc, constant(0));

  builder.setInsertionPointAfter(call);
  auto after = scf::IfOp::create(builder, loc, isAsked,
                                 /*withElseRegion=*/false);
  builder.setInsertionPointToStart(after.thenBlock());
  Value nanoseconds =
      arith::SubIOp::create(builder, loc, now(), before.getResult(0));
  SmallVector<Value> arguments = {profile, constant(kernel), nanoseconds};
  if (work) {
    auto counts = func::CallOp::create(builder, loc, work, call.getOperands());
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

namespace {
struct ProfileKernels : heddle::impl::ProfileKernelsPassBase<ProfileKernels> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    llvm::MapVector<StringAttr, int64_t> kernels;
    for (auto entry : getOperation().getOps<func::FuncOp>()) {
      if (!entry->hasAttr(kEntryAttr))
        continue;
      SmallVector<func::CallOp> calls;
      entry.walk([&](func::CallOp call) {
        if (symbols.lookup(call.getCallee())->hasAttr(kKernelAttr))
          calls.push_back(call);
      });
      if (calls.empty())
        continue;
      CallProfiler profiler(entry);
      for (func::CallOp call : calls) {
        auto kernel = symbols.lookup<func::FuncOp>(call.getCallee());
        auto work = kernel->getAttrOfType<FlatSymbolRefAttr>(kWorkAttr);
        int64_t number =
            kernels.insert({kernel.getSymNameAttr(), kernels.size()})
                .first->second;
        profiler.wrap(call, number,
                      work ? symbols.lookup<func::FuncOp>(work.getAttr())
                           : nullptr);
      }
    }
    if (!kernels.empty()) {
      auto names = llvm::map_range(
          kernels, [](auto &kernel) -> Attribute { return kernel.first; });
      getOperation()->setAttr(
          kKernelsAttr, ArrayAttr::get(&getContext(), llvm::to_vector(names)));
    }
  }
};
} // namespace
