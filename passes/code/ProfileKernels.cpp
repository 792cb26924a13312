//===- ProfileKernels.cpp - Count calls of kernels ------------------------===//
//
// Each kernel counts its own calls: it asks at its begin and at its end whether
// there is a profile, two branches where there is none. So entry points stay
// lists of calls, however many there are. They pass on the number of the place
// that calls: kernels serve many layers, a place only one.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "lib/CodeGen/CallLayout.h"
#include "lib/Fusion/FusionRemarks.h"
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
/// Wraps the body of one kernel, whose last arguments are the number of the
/// place that calls it and the pointer to the call.
class KernelProfiler {
public:
  explicit KernelProfiler(func::FuncOp kernel)
      : kernel(kernel), builder(OpBuilder::atBlockBegin(&kernel.front())),
        loc(kernel.getLoc()),
        pointer(LLVM::LLVMPointerType::get(kernel.getContext())),
        i64(builder.getI64Type()) {}

  /// `work` is null where the kernel's work is unknown.
  void wrap(func::FuncOp work);

private:
  Value loadWord(Value base, int32_t index) {
    Value address = LLVM::GEPOp::create(builder, loc, pointer, pointer, base,
                                        ArrayRef<LLVM::GEPArg>{index});
    return LLVM::LoadOp::create(builder, loc, pointer, address);
  }
  Value zero() { return arith::ConstantIntOp::create(builder, loc, i64, 0); }
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

void KernelProfiler::wrap(func::FuncOp work) {
  auto operands = kernel.getArguments().drop_back(2);
  Value place = kernel.getArguments().take_back(2).front();
  profile = loadWord(kernel.getArguments().back(), int32_t(CallField::Profile));
  Value null = LLVM::ZeroOp::create(builder, loc, pointer);
  Value isAsked = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne,
                                       profile, null);
  auto before = scf::IfOp::create(builder, loc, i64, isAsked,
                                  /*withElseRegion=*/true);
  builder.setInsertionPointToStart(before.thenBlock());
  scf::YieldOp::create(builder, loc, now());
  builder.setInsertionPointToStart(before.elseBlock());
  scf::YieldOp::create(builder, loc, zero());

  builder.setInsertionPoint(kernel.front().getTerminator());
  auto after = scf::IfOp::create(builder, loc, isAsked,
                                 /*withElseRegion=*/false);
  builder.setInsertionPointToStart(after.thenBlock());
  Value nanoseconds =
      arith::SubIOp::create(builder, loc, now(), before.getResult(0));
  SmallVector<Value> arguments = {profile, place, nanoseconds};
  if (work) {
    auto counts =
        func::CallOp::create(builder, loc, work, ValueRange(operands));
    for (Value count : counts.getResults())
      arguments.push_back(arith::IndexCastOp::create(builder, loc, i64, count));
  } else {
    arguments.append(2, zero());
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
  if (isShortFloat(element))
    return nameOfShortFloat(element);
  return element.isInteger(8) ? "i8" : "f32";
}

/// The checkpoint's names of what a call computes; empty where there are none.
/// What stands where its function does was added to it by a pass.
static std::string layerOf(func::CallOp call) {
  if (call.getLoc() == call->getParentOfType<func::FuncOp>().getLoc())
    return "";
  return llvm::join(heddle::namesIn(call.getLoc()), "+");
}

/// What a place without a name has for its layer.
static constexpr int32_t kNoLayer = -1;

namespace {
struct ProfileKernels : heddle::impl::ProfileKernelsPassBase<ProfileKernels> {
  void runOnOperation() override {
    kernels.clear();
    layers.clear();
    places = 0;
    SymbolTable symbols(getOperation());
    for (auto entry : getOperation().getOps<func::FuncOp>())
      if (entry->hasAttr(kEntryAttr))
        numberPlaces(entry, symbols);
    if (kernels.empty())
      return;
    SmallVector<StringRef> names, types;
    for (func::FuncOp kernel : kernels) {
      names.push_back(kernel.getSymName());
      types.push_back(factorsOf(kernel));
      if (failed(addArguments(kernel)))
        return signalPassFailure();
      auto work = kernel->getAttrOfType<FlatSymbolRefAttr>(kWorkAttr);
      KernelProfiler(kernel).wrap(
          work ? symbols.lookup<func::FuncOp>(work.getAttr()) : nullptr);
    }
    Builder builder(&getContext());
    getOperation()->setAttr(kKernelsAttr, builder.getStrArrayAttr(names));
    getOperation()->setAttr(kKernelTypesAttr, builder.getStrArrayAttr(types));
    if (layers.empty())
      return;
    SmallVector<Attribute> texts(layers.begin(), layers.end());
    getOperation()->setAttr(kLayersAttr, builder.getArrayAttr(texts));
  }

private:
  /// Passes to each kernel that `entry` calls who calls it.
  void numberPlaces(func::FuncOp entry, SymbolTable &symbols) {
    SmallVector<int32_t> kernelOf, layerAt;
    entry.walk([&](func::CallOp call) {
      auto kernel = symbols.lookup<func::FuncOp>(call.getCallee());
      if (!kernel->hasAttr(kKernelAttr))
        return;
      kernelOf.push_back(numberOf(kernel, kernels));
      std::string layer = layerOf(call);
      layerAt.push_back(
          layer.empty()
              ? kNoLayer
              : numberOf(Attribute(StringAttr::get(&getContext(), layer)),
                         layers));
      OpBuilder builder(call);
      Value place = arith::ConstantIntOp::create(
          builder, call.getLoc(), builder.getI64Type(), places++);
      call.getOperandsMutable().append({place, entry.getArgument(0)});
    });
    if (kernelOf.empty())
      return;
    Builder builder(&getContext());
    NamedAttrList words(entry->getAttrOfType<DictionaryAttr>(kEntryAttr));
    words.set("kernels", builder.getDenseI32ArrayAttr(kernelOf));
    words.set("layers", builder.getDenseI32ArrayAttr(layerAt));
    entry->setAttr(kEntryAttr, words.getDictionary(&getContext()));
  }

  template <typename T>
  static int32_t numberOf(T value, llvm::SetVector<T> &values) {
    values.insert(value);
    return static_cast<int32_t>(llvm::find(values, value) - values.begin());
  }

  /// The number of the place and the pointer to the call.
  LogicalResult addArguments(func::FuncOp kernel) {
    for (Type type : {Type(IntegerType::get(&getContext(), 64)),
                      Type(LLVM::LLVMPointerType::get(&getContext()))})
      if (failed(kernel.insertArgument(kernel.getNumArguments(), type,
                                       /*argAttrs=*/nullptr, kernel.getLoc())))
        return failure();
    return success();
  }

  llvm::SetVector<func::FuncOp> kernels;
  llvm::SetVector<Attribute> layers;
  int64_t places;
};
} // namespace
