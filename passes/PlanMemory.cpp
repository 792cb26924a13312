//===- PlanMemory.cpp - Place every buffer of a function in one arena -----===//
//
// Functions are straight-line here, but for loops that allocate nothing, so a
// buffer lives from its first use to its last. Buffers are visited by their
// birth; each takes a slot that is free by then, best one whose buffers have
// the same size, and otherwise opens a new slot. Sizes are monomials in the
// named dimensions, so equal sizes are known to be equal; a slot of unequal
// buffers is as large as their maximum at run time. Monomials, bounded or not,
// and maxima never decrease, as KernelAbi.h promises of arenas.
//
// Two kinds of buffers take no slot: the result of attention if it can stand
// in the place of the queries, and what dies before the memory of one of the
// function's results is needed.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "lib/CodeGen/CallLayout.h"
#include "lib/Support/DimNames.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/Passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

namespace heddle {
#define GEN_PASS_DEF_PLANMEMORYPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

namespace {
/// A size in bytes: a constant times named dimensions, sorted, whose product
/// counts for `most` at most.
struct Monomial {
  int64_t bytes;
  SmallVector<unsigned> dims;
  std::optional<int64_t> most;
  bool operator==(const Monomial &other) const {
    return bytes == other.bytes && dims == other.dims && most == other.most;
  }
};

struct Buffer {
  memref::AllocOp alloc;
  Monomial size;
  /// Indices of the first and last op of the block that uses it.
  unsigned birth, death;
  unsigned slot;
};

struct Slot {
  /// Distinct sizes of its buffers.
  SmallVector<Monomial> sizes;
  /// Bytes behind the longest one that may be read.
  int64_t behind = 0;
  unsigned freeAfter = 0;
};

class MemoryPlanner {
public:
  explicit MemoryPlanner(func::FuncOp function)
      : function(function), aliases(function) {
    for (auto [index, op] : llvm::enumerate(function.front()))
      order[&op] = index;
  }

  LogicalResult plan();

private:
  LogicalResult nameDims();
  LogicalResult collectBuffers();
  std::optional<std::pair<unsigned, unsigned>> lifeOf(Value buffer) const;
  void writeOverQueries();
  void borrowResults();
  LogicalResult multiply(Monomial &size, Value extent) const;
  FailureOr<Monomial> sizeOf(memref::AllocOp alloc) const;
  void assignSlots();
  SmallVector<Value> computeOffsets(OpBuilder &builder, ValueRange dims);
  void placeBuffers();
  void buildArenaFunction();

  mutable func::FuncOp function;
  BufferViewFlowAnalysis aliases;
  /// The number of each op of the block.
  DenseMap<Operation *, unsigned> order;
  /// The named dimensions in order of appearance, and an argument's dimension
  /// that has each name.
  SmallVector<StringRef> dimNames;
  SmallVector<std::pair<BlockArgument, int64_t>> dimSources;
  SmallVector<Buffer> buffers;
  SmallVector<Slot> slots;
};
} // namespace

LogicalResult MemoryPlanner::nameDims() {
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    for (int64_t axis = 0; type && axis < type.getRank(); ++axis) {
      if (!type.isDynamicDim(axis))
        continue;
      StringAttr name = nameOfArgumentDim(argument, axis);
      if (!name)
        return function.emitError("argument #")
               << argument.getArgNumber() << " of type " << type
               << " does not name its dynamic dimensions in '" << kDimsAttr
               << "'";
      if (llvm::is_contained(dimNames, name.getValue()))
        continue;
      dimNames.push_back(name.getValue());
      dimSources.push_back({argument, axis});
    }
  }
  return success();
}

/// Multiplies `size` by an extent: a named dimension or a product of some,
/// which a constant may bound if it is the only one.
LogicalResult MemoryPlanner::multiply(Monomial &size, Value extent) const {
  if (size.most)
    return failure();
  if (auto product = extent.getDefiningOp<arith::MulIOp>())
    return failure(failed(multiply(size, product.getLhs())) ||
                   failed(multiply(size, product.getRhs())));
  APInt most;
  if (auto bounded = extent.getDefiningOp<arith::MinUIOp>()) {
    bool isAlone = size.dims.empty();
    if (!isAlone || !matchPattern(bounded.getRhs(), m_ConstantInt(&most)) ||
        failed(multiply(size, bounded.getLhs())))
      return failure();
    size.most = most.getSExtValue();
    return success();
  }
  StringAttr name = nameOfSize(extent);
  if (!name)
    return failure();
  size.dims.push_back(llvm::find(dimNames, name.getValue()) - dimNames.begin());
  return success();
}

/// Whether the sizes of a buffer are the named dimensions of an argument.
static bool haveSameNames(memref::AllocOp alloc, BlockArgument argument) {
  for (int64_t axis = 0, size = 0; axis < alloc.getType().getRank(); ++axis)
    if (alloc.getType().isDynamicDim(axis) &&
        nameOfSize(alloc.getDynamicSizes()[size++]) !=
            nameOfArgumentDim(argument, axis))
      return false;
  return true;
}

/// Bytes of one element in memory; none for types that are no plain numbers.
static std::optional<int64_t> bytesOfElement(Type type) {
  if (type.isIndex())
    return sizeof(int64_t);
  if (!type.isIntOrFloat())
    return std::nullopt;
  return llvm::PowerOf2Ceil(llvm::divideCeil(type.getIntOrFloatBitWidth(), 8));
}

/// Bytes behind a buffer that kernels read: products take vectors of bytes by
/// words, and what stands behind the last one is multiplied by zeros.
static int64_t bytesReadBehind(MemRefType type) {
  constexpr int64_t word = 4;
  if (!type.getElementType().isInteger(8) || type.getRank() == 0)
    return 0;
  int64_t width = type.getShape().back();
  return ShapedType::isDynamic(width) || width % word != 0 ? word - 1 : 0;
}

FailureOr<Monomial> MemoryPlanner::sizeOf(memref::AllocOp alloc) const {
  MemRefType type = alloc.getType();
  std::optional<int64_t> bytes = bytesOfElement(type.getElementType());
  if (!bytes)
    return alloc.emitOpError("has elements of unknown size, of type ")
           << type.getElementType();
  // Far from where offsets, sums of sizes, would overflow.
  constexpr int64_t limit = int64_t(1) << 40;
  Monomial size{*bytes, {}, std::nullopt};
  for (int64_t extent : type.getShape()) {
    if (ShapedType::isDynamic(extent))
      continue;
    if (extent != 0 && size.bytes > limit / extent)
      return alloc.emitOpError("has more than ")
             << limit << " bytes, of type " << type;
    size.bytes *= extent;
  }
  for (Value extent : alloc.getDynamicSizes())
    if (failed(multiply(size, extent)))
      return alloc.emitOpError(
          "has a size that is no product of named dimensions");
  llvm::sort(size.dims);
  return size;
}

/// The first and the last op of the block that uses a buffer; none if it has
/// no use.
std::optional<std::pair<unsigned, unsigned>>
MemoryPlanner::lifeOf(Value buffer) const {
  std::optional<std::pair<unsigned, unsigned>> life;
  // Views, but also what branches and selections make of buffers.
  for (Value alias : aliases.resolve(buffer))
    for (Operation *user : alias.getUsers()) {
      unsigned at = order.lookup(function.front().findAncestorOpInBlock(*user));
      if (!life)
        life = {at, at};
      life = {std::min(life->first, at), std::max(life->second, at)};
    }
  return life;
}

LogicalResult MemoryPlanner::collectBuffers() {
  WalkResult walked = function.walk([&](Operation *op) {
    if (hasEffect<MemoryEffects::Free>(op)) {
      op->emitOpError(
          "frees memory, which the arena holds until the call ends");
      return WalkResult::interrupt();
    }
    auto alloc = dyn_cast<memref::AllocOp>(op);
    if (!alloc)
      return WalkResult::advance();
    if (alloc->getBlock() != &function.front()) {
      alloc.emitOpError("allocates inside a region: scratch of a loop has to "
                        "be planned outside of it");
      return WalkResult::interrupt();
    }
    FailureOr<Monomial> size = sizeOf(alloc);
    if (failed(size))
      return WalkResult::interrupt();
    auto life = lifeOf(alloc);
    if (!life) {
      alloc.erase();
      return WalkResult::advance();
    }
    buffers.push_back({alloc, *size, life->first, life->second, 0});
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

/// Whether attention over whole sequences reads `query` as its queries alone.
static bool readsAsQuery(AttentionOp op, ArrayRef<Value> query) {
  auto isQuery = [&](Value value) { return llvm::is_contained(query, value); };
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  return !op.isStep() && llvm::count_if(op->getOperands(), isQuery) == 1 &&
         llvm::none_of(captured, isQuery);
}

/// Attention reads a query before it writes that row of its result, and no
/// other query from then on.
void MemoryPlanner::writeOverQueries() {
  auto ofBuffer = [&](Value memref) {
    auto alloc = memref.getDefiningOp<memref::AllocOp>();
    return llvm::find_if(
        buffers, [&](const Buffer &buffer) { return buffer.alloc == alloc; });
  };
  function.walk([&](AttentionOp op) {
    auto query = ofBuffer(op.getQuery()),
         result = ofBuffer(op.getDestination());
    if (query == buffers.end() || result == buffers.end() ||
        query->death != result->birth || !(query->size == result->size) ||
        query->alloc.getType() != result->alloc.getType() ||
        !readsAsQuery(op, llvm::to_vector(aliases.resolve(op.getQuery()))))
      return;
    query->death = result->death;
    result->alloc.replaceAllUsesWith(query->alloc.getResult());
    result->alloc.erase();
    buffers.erase(result);
  });
}

/// Lets buffers that look like a result of the function take its memory, one
/// after the other, until it is written.
void MemoryPlanner::borrowResults() {
  for (BlockArgument argument : function.getArguments()) {
    auto life = lifeOf(argument);
    if (!life || !function.getArgAttr(argument.getArgNumber(), kOutputAttr))
      continue;
    std::optional<unsigned> takenUntil;
    llvm::erase_if(buffers, [&](Buffer &buffer) {
      if (buffer.alloc.getType() != argument.getType() ||
          bytesReadBehind(buffer.alloc.getType()) != 0 ||
          !haveSameNames(buffer.alloc, argument) ||
          (takenUntil && buffer.birth <= *takenUntil) ||
          buffer.death >= life->first)
        return false;
      takenUntil = buffer.death;
      buffer.alloc.replaceAllUsesWith(Value(argument));
      buffer.alloc.erase();
      return true;
    });
  }
}

void MemoryPlanner::assignSlots() {
  // How well a free slot suits a buffer: sizes that are known to be comparable
  // waste nothing, or little.
  auto suits = [](const Slot &slot, const Monomial &size) {
    if (llvm::is_contained(slot.sizes, size))
      return 3;
    return llvm::any_of(
               slot.sizes,
               [&](const Monomial &other) { return other.dims == size.dims; })
               ? 2
               : 1;
  };
  for (Buffer &buffer : buffers) {
    int best = 0;
    buffer.slot = slots.size();
    for (auto [index, slot] : llvm::enumerate(slots))
      if (slot.freeAfter < buffer.birth && suits(slot, buffer.size) > best) {
        best = suits(slot, buffer.size);
        buffer.slot = index;
      }
    if (best == 0)
      slots.emplace_back();
    Slot &slot = slots[buffer.slot];
    slot.freeAfter = buffer.death;
    slot.behind =
        std::max(slot.behind, bytesReadBehind(buffer.alloc.getType()));
    if (best < 3)
      slot.sizes.push_back(buffer.size);
  }
}

/// The offset of each slot and, last, the size of the arena.
SmallVector<Value> MemoryPlanner::computeOffsets(OpBuilder &builder,
                                                 ValueRange dims) {
  Location loc = function.getLoc();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  auto multiply = [&](Value lhs, Value rhs) {
    return builder.createOrFold<arith::MulIOp>(loc, lhs, rhs);
  };
  auto bytesOf = [&](const Monomial &size) {
    Value product = constant(size.most ? 1 : size.bytes);
    for (unsigned dim : size.dims)
      product = multiply(product, dims[dim]);
    if (!size.most)
      return product;
    Value rows = builder.createOrFold<arith::MinUIOp>(loc, product,
                                                      constant(*size.most));
    return multiply(rows, constant(size.bytes));
  };
  int64_t alignment = kBufferAlignment;
  SmallVector<Value> offsets = {constant(0)};
  for (const Slot &slot : slots) {
    Value size;
    for (const Monomial &each : slot.sizes) {
      Value bytes = bytesOf(each);
      size =
          size ? builder.createOrFold<arith::MaxSIOp>(loc, size, bytes) : bytes;
    }
    if (slot.behind != 0)
      size =
          builder.createOrFold<arith::AddIOp>(loc, size, constant(slot.behind));
    Value blocks = builder.createOrFold<arith::CeilDivUIOp>(
        loc, size, constant(alignment));
    Value aligned =
        builder.createOrFold<arith::MulIOp>(loc, blocks, constant(alignment));
    offsets.push_back(
        builder.createOrFold<arith::AddIOp>(loc, offsets.back(), aligned));
  }
  return offsets;
}

void MemoryPlanner::placeBuffers() {
  OpBuilder builder(function.getContext());
  builder.setInsertionPointToStart(&function.front());
  auto bytes = MemRefType::get(ShapedType::kDynamic, builder.getI8Type());
  unsigned index = function.getNumArguments();
  LogicalResult inserted =
      function.insertArgument(index, bytes,
                              builder.getDictionaryAttr(builder.getNamedAttr(
                                  kArenaAttr, builder.getUnitAttr())),
                              NameLoc::get(builder.getStringAttr("arena")));
  assert(succeeded(inserted) && "a func.func takes arguments");
  (void)inserted;
  SmallVector<Value> dims;
  for (auto [argument, axis] : dimSources)
    dims.push_back(
        memref::DimOp::create(builder, function.getLoc(), argument, axis));
  SmallVector<Value> offsets = computeOffsets(builder, dims);
  for (Buffer &buffer : buffers) {
    builder.setInsertionPoint(buffer.alloc);
    Value view = memref::ViewOp::create(
        builder, buffer.alloc.getLoc(), buffer.alloc.getType(),
        function.getArgument(index), offsets[buffer.slot],
        buffer.alloc.getDynamicSizes());
    buffer.alloc.replaceAllUsesWith(view);
    buffer.alloc.erase();
  }
}

void MemoryPlanner::buildArenaFunction() {
  OpBuilder builder(function.getContext());
  builder.setInsertionPointAfter(function);
  Type index = builder.getIndexType();
  auto arena = func::FuncOp::create(
      builder, function.getLoc(), (function.getSymName() + ".arena").str(),
      builder.getFunctionType(SmallVector<Type>(dimNames.size(), index),
                              index));
  arena.setPrivate();
  arena->setAttr(kArenaAttr, FlatSymbolRefAttr::get(function));
  builder.setInsertionPointToStart(arena.addEntryBlock());
  Value size = computeOffsets(builder, arena.getArguments()).back();
  func::ReturnOp::create(builder, function.getLoc(), size);
}

LogicalResult MemoryPlanner::plan() {
  if (failed(nameDims()) || failed(collectBuffers()))
    return failure();
  llvm::sort(buffers, [](const Buffer &lhs, const Buffer &rhs) {
    return std::pair(lhs.birth, lhs.death) < std::pair(rhs.birth, rhs.death);
  });
  writeOverQueries();
  borrowResults();
  assignSlots();
  placeBuffers();
  buildArenaFunction();
  function->setAttr(kDimsAttr,
                    Builder(function.getContext()).getStrArrayAttr(dimNames));
  return success();
}

namespace {
struct PlanMemory : heddle::impl::PlanMemoryPassBase<PlanMemory> {
  void runOnOperation() override {
    for (auto function :
         llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      if (function.isExternal())
        continue;
      if (!function.getBody().hasOneBlock()) {
        function.emitError("expects one block to plan the memory of, found ")
            << function.getBlocks().size();
        return signalPassFailure();
      }
      MemoryPlanner planner(function);
      if (failed(planner.plan()))
        return signalPassFailure();
    }
  }
};
} // namespace
