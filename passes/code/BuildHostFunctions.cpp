//===- BuildHostFunctions.cpp - Turn functions into entry points ----------===//
//
// The seam between compiled code and the runtime. A buffer reaches the code as
// a plain pointer; here it becomes a memref of bytes and then a view of the
// type that the body expects, with sizes that are loaded once from the call's
// named dimensions. Weights are views of the weights section at constant
// offsets.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "lib/CodeGen/CallLayout.h"
#include "lib/CodeGen/DeviceKernel.h"
#include "lib/Support/DimNames.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/SymbolTable.h"
#include "passes/Passes.h"
#include "llvm/ADT/StringSet.h"
#include <limits>

namespace heddle {
#define GEN_PASS_DEF_BUILDHOSTFUNCTIONSPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

namespace {
class HostFunctionBuilder {
public:
  HostFunctionBuilder(func::FuncOp function, SymbolTable &symbols)
      : function(function), symbols(symbols), builder(function) {}

  LogicalResult build();

private:
  LogicalResult checkBody();
  LogicalResult describeArguments();
  LogicalResult describeArgument(BlockArgument argument);
  Value loadWord(Value base, int64_t index, Type type);
  Value loadField(Value call, CallField field);
  Value bytesAt(Value pointer);
  Value viewOf(Value bytes, int64_t offset, MemRefType type,
               ArrayRef<Value> sizes);
  LogicalResult placeWeights(Value weights);
  void lowerRows();

  func::FuncOp function;
  SymbolTable &symbols;
  OpBuilder builder;
  /// Dictionaries in the manifest's words, one an argument but the arena.
  SmallVector<Attribute> arguments;
  llvm::StringSet<> names;
};
} // namespace

/// The manifest's word for what an argument is.
static StringRef kindOf(func::FuncOp function, unsigned argument) {
  if (function.getArgAttr(argument, kOutputAttr))
    return "output";
  if (function.getArgAttr(argument, kStateAttr))
    return "state";
  if (function.getArgAttr(argument, kPreparedAttr))
    return "prepared";
  return "input";
}

/// The manifest's word for a type of elements.
static StringRef nameOf(Type element) {
  if (element.isF32())
    return "f32";
  if (isShortFloat(element))
    return nameOfShortFloat(element);
  return element.isInteger(8) ? "i8" : "i32";
}

LogicalResult HostFunctionBuilder::describeArgument(BlockArgument argument) {
  unsigned index = argument.getArgNumber();
  auto type = dyn_cast<MemRefType>(argument.getType());
  auto name = function.getArgAttrOfType<StringAttr>(index, kNameAttr);
  if (!type || !type.getLayout().isIdentity() || !name)
    return function.emitError("argument #")
           << index << " of type " << argument.getType()
           << " cannot be passed by the runtime: expected a dense memref with '"
           << kNameAttr << "'";
  Type element = type.getElementType();
  if (!element.isF32() && !isShortFloat(element) &&
      !element.isSignlessInteger(32) && !element.isSignlessInteger(8))
    return function.emitError("argument '")
           << name.getValue() << "' has elements of type " << element
           << ", expected f32, bf16, f16, i32 or i8";
  if (!names.insert(name.getValue()).second)
    return function.emitError("has two arguments named '")
           << name.getValue() << "'";
  SmallVector<Attribute> shape;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    shape.push_back(type.isDynamicDim(axis)
                        ? Attribute(nameOfArgumentDim(argument, axis))
                        : builder.getI64IntegerAttr(type.getDimSize(axis)));
  auto attribute = [&](StringRef key, Attribute value) {
    return builder.getNamedAttr(key, value);
  };
  SmallVector<NamedAttribute> words = {
      attribute("name", name),
      attribute("kind", builder.getStringAttr(kindOf(function, index))),
      attribute("dtype", builder.getStringAttr(nameOf(element))),
      attribute("shape", builder.getArrayAttr(shape))};
  if (Attribute pinned = function.getArgAttr(index, kPinnedAttr))
    words.push_back(attribute("pinned", pinned));
  arguments.push_back(builder.getDictionaryAttr(words));
  return success();
}

LogicalResult HostFunctionBuilder::describeArguments() {
  for (BlockArgument argument : function.getArguments())
    if (!function.getArgAttr(argument.getArgNumber(), kArenaAttr) &&
        failed(describeArgument(argument)))
      return failure();
  return success();
}

/// Loads element `index` of an array of 8-byte words.
Value HostFunctionBuilder::loadWord(Value base, int64_t index, Type type) {
  Value address = LLVM::GEPOp::create(
      builder, function.getLoc(), base.getType(), builder.getI64Type(), base,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
  return LLVM::LoadOp::create(builder, function.getLoc(), type, address);
}

/// Loads a pointer of the call.
Value HostFunctionBuilder::loadField(Value call, CallField field) {
  return loadWord(call, static_cast<int64_t>(field), call.getType());
}

/// A memref of bytes over `pointer`, in the form that memrefs have in LLVM.
Value HostFunctionBuilder::bytesAt(Value pointer) {
  Location loc = function.getLoc();
  Type i64 = builder.getI64Type();
  auto one = LLVM::LLVMArrayType::get(i64, 1);
  Type pointerType = pointer.getType();
  auto type = LLVM::LLVMStructType::getLiteral(
      builder.getContext(), {pointerType, pointerType, i64, one, one});
  auto constant = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(builder, loc, i64,
                                    builder.getI64IntegerAttr(value));
  };
  Value memref = LLVM::PoisonOp::create(builder, loc, type);
  auto set = [&](Value value, ArrayRef<int64_t> at) {
    memref = LLVM::InsertValueOp::create(builder, loc, memref, value, at);
  };
  set(pointer, {0});
  set(pointer, {1});
  set(constant(0), {2});
  // Only views are taken of it, and they carry sizes of their own.
  set(constant(std::numeric_limits<int64_t>::max()), {3, 0});
  set(constant(1), {4, 0});
  return UnrealizedConversionCastOp::create(
             builder, loc,
             MemRefType::get(ShapedType::kDynamic, builder.getI8Type()), memref)
      .getResult(0);
}

Value HostFunctionBuilder::viewOf(Value bytes, int64_t offset, MemRefType type,
                                  ArrayRef<Value> sizes) {
  Value shift =
      arith::ConstantIndexOp::create(builder, function.getLoc(), offset);
  return memref::ViewOp::create(builder, function.getLoc(), type, bytes, shift,
                                sizes);
}

LogicalResult HostFunctionBuilder::placeWeights(Value weights) {
  WalkResult walked = function.walk([&](WeightOp weight) {
    auto parameter = symbols.lookup<ParameterOp>(weight.getParameter());
    if (!parameter || !parameter.getPlaced()) {
      weight.emitOpError("reads parameter '")
          << weight.getParameter() << "', which has no place in the artifact";
      return WalkResult::interrupt();
    }
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(weight);
    weight.replaceAllUsesWith(
        viewOf(weights, *parameter.getPlaced(),
               cast<MemRefType>(weight.getValue().getType()), {}));
    weight.erase();
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

/// Makes rows of a buffer a view of the memory where they begin.
void HostFunctionBuilder::lowerRows() {
  OpBuilder::InsertionGuard guard(builder);
  function.walk([&](RowsOp rows) {
    Location loc = rows.getLoc();
    builder.setInsertionPoint(rows);
    MemRefType type = rows.getSource().getType();
    int64_t rowBytes = type.getElementTypeBitWidth() / 8;
    for (int64_t extent : type.getShape().drop_front())
      rowBytes *= extent;
    Value shift = arith::MulIOp::create(
        builder, loc, rows.getFirst(),
        arith::ConstantIndexOp::create(builder, loc, rowBytes));
    Value begin = memref::ExtractAlignedPointerAsIndexOp::create(
        builder, loc, rows.getSource());
    Value address = arith::IndexCastOp::create(
        builder, loc, builder.getI64Type(),
        arith::AddIOp::create(builder, loc, begin, shift));
    Value pointer = LLVM::IntToPtrOp::create(
        builder, loc, LLVM::LLVMPointerType::get(builder.getContext()),
        address);
    rows.replaceAllUsesWith(viewOf(bytesAt(pointer), 0, type, rows.getCount()));
    rows.erase();
  });
}

/// Whether the pipeline to LLVM knows `op`, and its code cannot end the process
/// or print: an entry point cannot fail. Constants of what blocks of a GPU do
/// stand at the beginning, too.
static bool isLowered(Operation *op) {
  static constexpr StringLiteral dialects[] = {
      "affine", "arith",  "cf",  "func", "index",
      "math",   "memref", "scf", "ub",   "vector"};
  return (isa<WeightOp, RowsOp, LLVM::PoisonOp>(op) ||
          llvm::is_contained(dialects, op->getName().getDialectNamespace())) &&
         !isa<vector::PrintOp, cf::AssertOp>(op);
}

LogicalResult HostFunctionBuilder::checkBody() {
  WalkResult walked = function.walk<WalkOrder::PreOrder>([](Operation *op) {
    // What blocks of a GPU do becomes a kernel.
    if (auto loop = dyn_cast<scf::ParallelOp>(op); loop && blockShapeOf(loop))
      return WalkResult::skip();
    if (isLowered(op))
      return WalkResult::advance();
    op->emitOpError("has no lowering to machine code");
    return WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}

LogicalResult HostFunctionBuilder::build() {
  if (function.getNumResults() != 0)
    return function.emitError("returns ")
           << function.getNumResults()
           << " values that bufferisation could not write in place";
  auto dimNames = function->getAttrOfType<ArrayAttr>(kDimsAttr);
  if (!dimNames)
    return function.emitError("has no planned memory: '")
           << kDimsAttr << "' is missing";
  if (failed(describeArguments()) || failed(checkBody()))
    return failure();

  Location loc = function.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  std::string symbol = ("heddle." + function.getSymName()).str();
  auto host = func::FuncOp::create(
      builder, loc, symbol,
      builder.getFunctionType({pointer}, builder.getI32Type()));
  builder.setInsertionPointToStart(host.addEntryBlock());
  Value call = host.getArgument(0);
  Value buffers = loadField(call, CallField::Buffers);
  Value dims = loadField(call, CallField::Dims);
  llvm::StringMap<Value> sizes;
  for (auto [index, name] : llvm::enumerate(dimNames))
    sizes[cast<StringAttr>(name).getValue()] =
        arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                   loadWord(dims, index, builder.getI64Type()));
  Value arena = bytesAt(loadField(call, CallField::Arena));
  Value weights = bytesAt(loadField(call, CallField::Weights));
  if (failed(placeWeights(weights)))
    return failure();
  lowerRows();

  SmallVector<Value> values;
  int64_t buffer = 0;
  for (BlockArgument argument : function.getArguments()) {
    if (function.getArgAttr(argument.getArgNumber(), kArenaAttr)) {
      values.push_back(arena);
      continue;
    }
    auto type = cast<MemRefType>(argument.getType());
    SmallVector<Value> dynamicSizes;
    for (int64_t axis = 0; axis < type.getRank(); ++axis)
      if (type.isDynamicDim(axis))
        dynamicSizes.push_back(
            sizes[nameOfArgumentDim(argument, axis).getValue()]);
    Value bytes = bytesAt(loadWord(buffers, buffer++, pointer));
    values.push_back(viewOf(bytes, 0, type, dynamicSizes));
  }
  Block &body = function.front();
  for (auto [argument, value] : llvm::zip(body.getArguments(), values))
    argument.replaceAllUsesWith(value);
  host.front().getOperations().splice(host.front().end(), body.getOperations());
  // Code of the CPU cannot fail.
  Operation *end = host.front().getTerminator();
  builder.setInsertionPoint(end);
  end->insertOperands(
      0, arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), 0)
             .getResult());

  auto attribute = [&](StringRef key, Attribute value) {
    return builder.getNamedAttr(key, value);
  };
  SmallVector<NamedAttribute> words = {
      attribute("name", function.getSymNameAttr()),
      attribute("symbol", builder.getStringAttr(symbol)),
      attribute("arena_symbol", builder.getStringAttr(symbol + ".arena")),
      attribute("dims", dimNames),
      attribute("arguments", builder.getArrayAttr(arguments))};
  for (auto [word, name] :
       {std::pair("role", kRoleAttr), std::pair("decoder", kDecoderAttr),
        std::pair("heads", kHeadsAttr)})
    if (Attribute value = function->getAttr(name))
      words.push_back(attribute(word, value));
  host->setAttr(kEntryAttr, builder.getDictionaryAttr(words));
  return success();
}

/// @f.arena(index, ...) -> index becomes @heddle.f.arena(ptr) -> i64.
static LogicalResult buildArenaFunction(func::FuncOp arena) {
  if (!llvm::all_of(arena.getArgumentTypes(), llvm::IsaPred<IndexType>) ||
      !llvm::equal(arena.getResultTypes(),
                   ArrayRef<Type>(IndexType::get(arena.getContext()))))
    return arena.emitError("has '")
           << kArenaAttr << "' and expects sizes of type index and one result, "
           << "found " << arena.getFunctionType();
  OpBuilder builder(arena);
  Location loc = arena.getLoc();
  Type i64 = builder.getI64Type();
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  auto host =
      func::FuncOp::create(builder, loc, ("heddle." + arena.getSymName()).str(),
                           builder.getFunctionType({pointer}, {i64}));
  builder.setInsertionPointToStart(host.addEntryBlock());
  for (BlockArgument argument : arena.getArguments()) {
    Value address = LLVM::GEPOp::create(
        builder, loc, pointer, i64, host.getArgument(0),
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(argument.getArgNumber())});
    Value dim = LLVM::LoadOp::create(builder, loc, i64, address);
    argument.replaceAllUsesWith(
        arith::IndexCastOp::create(builder, loc, builder.getIndexType(), dim));
  }
  Block &body = host.front();
  body.getOperations().splice(body.end(), arena.front().getOperations());
  auto terminator = cast<func::ReturnOp>(body.getTerminator());
  builder.setInsertionPoint(terminator);
  terminator.setOperand(0, arith::IndexCastOp::create(
                               builder, loc, i64, terminator.getOperand(0)));
  return success();
}

namespace {
struct BuildHostFunctions
    : heddle::impl::BuildHostFunctionsPassBase<BuildHostFunctions> {
  void runOnOperation() override {
    for (Operation &op : *getOperation().getBody())
      if (!isa<func::FuncOp, ParameterOp, memref::GlobalOp, LLVM::GlobalOp>(
              op)) {
        op.emitOpError("is no part of a model: expected functions and "
                       "parameters");
        return signalPassFailure();
      }
    SymbolTable symbols(getOperation());
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions) {
      if (function.isExternal() || function->hasAttr(kKernelAttr))
        continue;
      if (failed(function->hasAttr(kArenaAttr)
                     ? buildArenaFunction(function)
                     : HostFunctionBuilder(function, symbols).build()))
        return signalPassFailure();
      function.erase();
    }
  }
};
} // namespace
