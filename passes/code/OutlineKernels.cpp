//===- OutlineKernels.cpp - One function a kind of layer op ---------------===//
//
// A kernel is a function around one layer op, and layer ops that are alike call
// the same one. Alike means the same op with the same attributes, regions and
// mask, on operands of the same types: what the function's text says, and
// nothing about where the op came from. So candidates are built first and then
// compared; a model has few different ones.
//
//===----------------------------------------------------------------------===//

#include "dialect/masks/MaskParts.h"
#include "lib/CodeGen/Loops/RowOperands.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/Passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

namespace heddle {
#define GEN_PASS_DEF_OUTLINEKERNELSPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

/// Makes the leading dimensions of row operands one.
static void collapseRows(DestinationOpInterface op) {
  SmallVector<OpOperand *> operands = rowOperandsOf(op);
  int64_t leading = operands.empty() ? 0 : leadingDimsOf(op);
  if (leading < 2)
    return;
  OpBuilder builder(op);
  for (OpOperand *operand : operands)
    operand->set(
        collapseLeading(builder, op.getLoc(), operand->get(), leading));
}

namespace {
/// Copies one layer op into a function of its own.
class Outliner {
public:
  explicit Outliner(DestinationOpInterface op) : op(op), inside(op) {}

  /// Builds the function, which stands in no module yet.
  func::FuncOp build(StringRef name);
  /// What a call passes to it.
  ArrayRef<Value> getArguments() const { return arguments; }

private:
  Operation *copy(Operation *source);
  Value enter(Value value);

  DestinationOpInterface op;
  OpBuilder inside;
  func::FuncOp kernel;
  SmallVector<Value> arguments;
  /// Copies of constants and masks: they have no place in memory.
  IRMapping copied;
};
} // namespace

/// The value that stands for `value` inside: a new argument even where the same
/// value was passed before, so that kernels do not differ by what is equal.
Value Outliner::enter(Value value) {
  Operation *source = value.getDefiningOp();
  bool isCopied = source && (isa<MaskOpInterface>(source) ||
                             matchPattern(source, m_Constant()));
  if (!isCopied) {
    arguments.push_back(value);
    return kernel.front().addArgument(value.getType(), inside.getUnknownLoc());
  }
  if (!copied.contains(value))
    copied.map(value, copy(source)->getResult(0));
  return copied.lookup(value);
}

/// Copies an op with everything that its operands and regions need.
Operation *Outliner::copy(Operation *source) {
  SmallVector<Value> operands;
  for (Value operand : source->getOperands())
    operands.push_back(enter(operand));
  IRMapping captured;
  llvm::SetVector<Value> values;
  getUsedValuesDefinedAbove(source->getRegions(), values);
  for (Value value : values)
    captured.map(value, enter(value));
  Operation *clone = inside.clone(*source, captured);
  clone->setOperands(operands);
  return clone;
}

func::FuncOp Outliner::build(StringRef name) {
  Location loc = NameLoc::get(inside.getStringAttr(name));
  kernel = func::FuncOp::create(loc, name, inside.getFunctionType({}, {}));
  kernel.setPrivate();
  kernel->setAttr(kKernelAttr, inside.getUnitAttr());
  inside.setInsertionPointToStart(&kernel.getBody().emplaceBlock());
  copy(op);
  func::ReturnOp::create(inside, loc);
  kernel.setType(
      inside.getFunctionType(kernel.front().getArgumentTypes(), TypeRange()));
  return kernel;
}

/// Whether two kernels differ in their names alone.
static bool areEqual(func::FuncOp lhs, func::FuncOp rhs) {
  return lhs.getFunctionType() == rhs.getFunctionType() &&
         OperationEquivalence::isRegionEquivalentTo(
             &lhs.getBody(), &rhs.getBody(),
             OperationEquivalence::IgnoreLocations);
}

namespace {
struct OutlineKernels : heddle::impl::OutlineKernelsPassBase<OutlineKernels> {
  /// The kernel that does what `candidate` does, which may be itself.
  func::FuncOp findOrAdd(func::FuncOp candidate, SymbolTable &symbols) {
    SmallVector<func::FuncOp> &alike = kernels[candidate.getSymName()];
    for (func::FuncOp kernel : alike)
      if (areEqual(kernel, candidate)) {
        candidate.erase();
        return kernel;
      }
    alike.push_back(candidate);
    // A name that is taken gets a number.
    symbols.insert(candidate);
    return candidate;
  }

  void outline(DestinationOpInterface op, SymbolTable &symbols) {
    collapseRows(op);
    Outliner outliner(op);
    auto layer = cast<WorkOpInterface>(op.getOperation());
    func::FuncOp kernel = findOrAdd(outliner.build(layer.describe()), symbols);
    OpBuilder builder(op);
    func::CallOp::create(builder, op.getLoc(), kernel, outliner.getArguments());
    op.erase();
  }

  /// Kernels by what describes them.
  llvm::StringMap<SmallVector<func::FuncOp>> kernels;

  void runOnOperation() override {
    kernels.clear();
    SymbolTable symbols(getOperation());
    SmallVector<DestinationOpInterface> layers;
    getOperation().walk([&](DestinationOpInterface op) {
      bool isOnMemory = isa<MemRefType>(op->getOperand(0).getType());
      if (isOnMemory &&
          !op->getParentOfType<func::FuncOp>()->hasAttr(kKernelAttr))
        layers.push_back(op);
    });
    for (DestinationOpInterface op : layers)
      outline(op, symbols);
    // Kernels have copies of them.
    eraseUnusedMasks(getOperation());
  }
};
} // namespace
