//===- SplitFfn.cpp - Two linears where caches hold no hidden vectors -----===//
//
// A CPU core keeps the hidden vectors of a block of rows in its caches. A
// thread block of a GPU has no room for them, and blocks that read the weights
// once keep them in registers for all rows. So an ffn becomes two linears
// again, with memory for the hidden vectors of some rows, placed in front of
// the planned memory.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "lib/CodeGen/CallLayout.h"
#include "lib/CodeGen/Loops/Loops.h"
#include "lib/CodeGen/Loops/RowOperands.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/SymbolTable.h"
#include "passes/Passes.h"
#include "llvm/Support/MathExtras.h"

namespace heddle {
#define GEN_PASS_DEF_SPLITFFNPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

/// Rows whose hidden vectors have memory: as many as ChunkRows.cpp takes at
/// once, which fill a GPU.
static constexpr int64_t kRows = 2048;

namespace {
/// Memory for hidden vectors: bytes from the front of the arena.
struct HiddenPlaces {
  explicit HiddenPlaces(FfnOp op)
      : factor(cast<MemRefType>(op.getWeight2().getType()).getElementType()),
        width(op.getHiddenWidth()), hasScales(op.scalesHidden()) {}

  static int64_t align(int64_t bytes) {
    return llvm::alignTo(bytes, kBufferAlignment);
  }
  /// What the second product multiplies, the f32 that they were, and scales.
  int64_t factorBytes() const {
    return align(kRows * width * factor.getIntOrFloatBitWidth() / 8);
  }
  int64_t vectors() const { return factorBytes(); }
  int64_t scales() const {
    return vectors() + align(kRows * width * int64_t(sizeof(float)));
  }
  int64_t bytes() const {
    return hasScales ? scales() + align(kRows * int64_t(sizeof(float)))
                     : factorBytes();
  }

  Type factor;
  int64_t width;
  bool hasScales;
};
} // namespace

/// Rows [first, first + count) of a memref [rows, ...]; null of null.
static Value rowsOf(Value memref, Value first, Value count, Loops &loops) {
  if (!memref)
    return memref;
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(),
                                    loops.builder.getIndexAttr(0)),
      strides(type.getRank(), loops.builder.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes =
      memref::getMixedSizes(loops.builder, loops.loc, memref);
  offsets[0] = first;
  sizes[0] = count;
  return memref::SubViewOp::create(loops.builder, loops.loc, memref, offsets,
                                   sizes, strides);
}

/// The two linears of rows [begin, begin + count).
static void splitRows(FfnOp op, Value arena, Value begin, Value count,
                      Loops &loops) {
  OpBuilder &builder = loops.builder;
  HiddenPlaces places(op);
  auto view = [&](int64_t at, ArrayRef<int64_t> shape, Type element) -> Value {
    SmallVector<int64_t> sizes = {ShapedType::kDynamic};
    sizes.append(shape.begin(), shape.end());
    return memref::ViewOp::create(builder, loops.loc,
                                  MemRefType::get(sizes, element), arena,
                                  loops.index(at), count);
  };
  auto rows = [&](Value memref) { return rowsOf(memref, begin, count, loops); };
  Value factors = view(0, places.width, places.factor);
  Value vectors = factors, scales;
  Type f32 = builder.getF32Type();
  if (places.hasScales) {
    vectors = view(places.vectors(), places.width, f32);
    scales = view(places.scales(), {}, f32);
  }
  LinearSpec first;
  first.input = rows(op.getInput());
  first.inputScales = rows(op.getInputScales());
  first.weight = op.getWeight1();
  first.weightScales = op.getWeight1Scales();
  first.bias = op.getBias1();
  first.multiplier = op.getMultiplier();
  first.destinations = {vectors};
  first.shift = op.getShiftAttr();
  first.activation = op.getActivationAttr();
  if (isShortFloat(places.factor))
    first.rounds = TypeAttr::get(places.factor);
  LinearOp::create(builder, loops.loc, first);
  if (places.hasScales)
    QuantizeOp::create(builder, loops.loc, TypeRange(), vectors,
                       /*multiplier=*/Value(), ValueRange{factors, scales},
                       op.getRotated());
  LinearSpec second;
  second.input = factors;
  second.inputScales = scales;
  second.weight = op.getWeight2();
  second.weightScales = op.getWeight2Scales();
  second.bias = op.getBias2();
  second.residual = rows(op.getResidual());
  second.gamma = op.getGamma();
  second.beta = op.getBeta();
  second.alsoMultiplier = op.getAlsoMultiplier();
  llvm::append_range(second.destinations,
                     llvm::map_range(op.getDestinations(), rows));
  second.shift = op.getShiftAttr();
  second.norm = op.getNormAttr();
  second.epsilon = op.getEpsilonAttr();
  second.also = op.getAlsoAttr();
  LinearOp::create(builder, loops.loc, second);
}

static void splitFfn(FfnOp op, Value arena) {
  OpBuilder builder(op);
  Loops loops(builder, op.getLoc());
  int64_t leading =
      leadingDimsOf(cast<DestinationOpInterface>(op.getOperation()));
  if (leading > 1)
    for (OpOperand *operand : rowOperandsOf(op))
      operand->set(
          collapseLeading(builder, op.getLoc(), operand->get(), leading));
  Value rows = loops.size(op.getInput(), 0);
  auto loop = scf::ForOp::create(builder, op.getLoc(), loops.index(0), rows,
                                 loops.index(kRows));
  builder.setInsertionPointToStart(loop.getBody());
  Value first = loop.getInductionVar();
  Value left = arith::SubIOp::create(builder, op.getLoc(), rows, first);
  Value count =
      arith::MinUIOp::create(builder, op.getLoc(), left, loops.index(kRows));
  splitRows(op, arena, first, count, loops);
  op.erase();
}

/// Leaves `bytes` in front of what stands in the arena of a function, and says
/// so where its size is computed.
static void leaveRoom(Value arena, func::FuncOp size, int64_t bytes) {
  for (Operation *user : llvm::make_early_inc_range(arena.getUsers())) {
    auto view = cast<memref::ViewOp>(user);
    OpBuilder builder(view);
    Loops loops(builder, view.getLoc());
    view.getByteShiftMutable().assign(builder.createOrFold<arith::AddIOp>(
        view.getLoc(), view.getByteShift(), loops.index(bytes)));
  }
  Operation *end = size.front().getTerminator();
  OpBuilder builder(end);
  Loops loops(builder, end->getLoc());
  end->setOperand(0, builder.createOrFold<arith::AddIOp>(end->getLoc(),
                                                         end->getOperand(0),
                                                         loops.index(bytes)));
}

namespace {
struct SplitFfn : heddle::impl::SplitFfnPassBase<SplitFfn> {
  void runOnOperation() override {
    for (auto size : getOperation().getOps<func::FuncOp>()) {
      auto name = size->getAttrOfType<FlatSymbolRefAttr>(kArenaAttr);
      if (!name)
        continue;
      auto function =
          SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(size, name);
      // The arena is the last argument.
      Value arena = function.getArguments().back();
      SmallVector<FfnOp> ffns;
      int64_t bytes = 0;
      function.walk([&](FfnOp op) {
        ffns.push_back(op);
        bytes = std::max(bytes, HiddenPlaces(op).bytes());
      });
      if (ffns.empty())
        continue;
      leaveRoom(arena, size, bytes);
      for (FfnOp op : ffns)
        splitFfn(op, arena);
    }
  }
};
} // namespace
