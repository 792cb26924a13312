//===- ChunkRows.cpp - Pass long sequences through layers in chunks -------===//
//
// Layers that compute row by row and stand behind each other, as those between
// two attentions do, become a loop over chunks of rows. What only they read is
// then as long as a chunk: the hidden vectors of a long sequence would take
// most of the arena otherwise, and come from memory.
//
// A row has the same bits in any chunk, since kernels promise them for any
// number of rows. What fits one chunk is the same list of calls as before.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "lib/CodeGen/DimNames.h"
#include "lib/CodeGen/RowOperands.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace heddle {
#define GEN_PASS_DEF_CHUNKROWSPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

namespace {
/// Names of the dimensions that count rows.
using RowDims = SmallVector<StringAttr>;

/// Layers that count the same rows and have nothing but layers between them.
struct Run {
  RowDims dims;
  SmallVector<DestinationOpInterface> layers;
};

/// Makes a run a loop.
class RunChunker {
public:
  RunChunker(const Run &run, int64_t mostRows)
      : layers(run.layers), mostRows(mostRows) {}

  void chunk();

private:
  using Buffers = llvm::MapVector<Value, Value>;

  void findLocals();
  bool isLocal(Value buffer) const;
  void keepLayersOfLocals();
  Buffers collapseBuffers(OpBuilder &builder, Location loc, Value rows);
  void buildLoop();

  SmallVector<DestinationOpInterface> layers;
  int64_t mostRows;
  /// Buffers that nothing but the layers uses.
  SetVector<memref::AllocOp> locals;
};
} // namespace

/// Names of the leading dimensions of a buffer; empty where it is no dense one
/// whose other dimensions are static.
static RowDims nameLeading(Value buffer, unsigned leading) {
  auto type = cast<MemRefType>(buffer.getType());
  auto alloc = buffer.getDefiningOp<memref::AllocOp>();
  auto argument = dyn_cast<BlockArgument>(buffer);
  if (!type.getLayout().isIdentity() || type.getNumDynamicDims() != leading)
    return {};
  RowDims names;
  for (unsigned axis = 0; axis < leading; ++axis) {
    StringAttr name;
    if (type.isDynamicDim(axis) && alloc)
      name = nameOfSize(alloc.getDynamicSizes()[axis]);
    else if (type.isDynamicDim(axis) && argument)
      name = nameOfArgumentDim(argument, axis);
    if (!name)
      return {};
    names.push_back(name);
  }
  return names;
}

/// Names of the dimensions that count the rows of a layer over sequences; empty
/// for any other op.
static RowDims nameRows(Operation *op) {
  SmallVector<OpOperand *> rows = rowOperandsOf(op);
  int64_t leading =
      rows.empty() ? 0 : leadingDimsOf(cast<DestinationOpInterface>(op));
  // Rows of a step are few.
  if (leading < 2)
    return {};
  RowDims names = nameLeading(rows.front()->get(), leading);
  for (OpOperand &operand : op->getOpOperands()) {
    bool fits = llvm::is_contained(rows, &operand)
                    ? nameLeading(operand.get(), leading) == names
                    : bool(operand.get().getDefiningOp<WeightOp>());
    if (!fits)
      return {};
  }
  return names;
}

static SmallVector<Run> findRuns(Block &block) {
  SmallVector<Run> runs(1);
  for (Operation &op : block) {
    if (isMemoryEffectFree(&op) || isa<memref::AllocOp>(op))
      continue;
    RowDims dims = nameRows(&op);
    if (dims.empty() || dims != runs.back().dims)
      runs.push_back({dims, {}});
    if (!dims.empty())
      runs.back().layers.push_back(cast<DestinationOpInterface>(op));
  }
  return runs;
}

void RunChunker::findLocals() {
  DenseSet<Operation *> inside;
  for (DestinationOpInterface layer : layers)
    inside.insert(layer);
  for (DestinationOpInterface layer : layers)
    for (OpOperand *operand : rowOperandsOf(layer))
      if (auto alloc = operand->get().getDefiningOp<memref::AllocOp>();
          alloc && llvm::all_of(alloc->getUsers(), [&](Operation *user) {
            return inside.contains(user);
          }))
        locals.insert(alloc);
}

bool RunChunker::isLocal(Value buffer) const {
  auto alloc = buffer.getDefiningOp<memref::AllocOp>();
  return alloc && locals.contains(alloc);
}

/// Leaves alone what would gain nothing, before and behind the others.
void RunChunker::keepLayersOfLocals() {
  auto usesLocal = [&](Operation *layer) {
    return llvm::any_of(layer->getOperands(),
                        [&](Value operand) { return isLocal(operand); });
  };
  layers.erase(layers.begin(), llvm::find_if(layers, usesLocal));
  while (!layers.empty() && !usesLocal(layers.back()))
    layers.pop_back();
}

/// The buffers of the layers with one dimension of rows, by what they were;
/// those of the layers alone as long as a chunk.
RunChunker::Buffers RunChunker::collapseBuffers(OpBuilder &builder,
                                                Location loc, Value rows) {
  Buffers buffers;
  Value longest;
  for (DestinationOpInterface layer : layers)
    for (OpOperand *operand : rowOperandsOf(layer)) {
      Value all = operand->get();
      if (buffers.contains(all))
        continue;
      int64_t leading = leadingDimsOf(layer);
      if (!isLocal(all)) {
        buffers[all] = collapseLeading(builder, loc, all, leading);
        continue;
      }
      if (!longest)
        longest = arith::MinUIOp::create(
            builder, loc, rows,
            arith::ConstantIndexOp::create(builder, loc, mostRows));
      auto type = cast<MemRefType>(all.getType());
      SmallVector<int64_t> shape = {ShapedType::kDynamic};
      llvm::append_range(shape, type.getShape().drop_front(leading));
      buffers[all] = memref::AllocOp::create(
          builder, all.getLoc(), MemRefType::get(shape, type.getElementType()),
          longest);
    }
  return buffers;
}

void RunChunker::buildLoop() {
  // What the layers read stands before the last one.
  OpBuilder builder(layers.back());
  Location loc = layers.front().getLoc();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value rows = constant(1);
  memref::AllocOp local = locals.front();
  for (Value size : local.getDynamicSizes())
    rows = builder.createOrFold<arith::MulIOp>(loc, size, rows);
  Buffers buffers = collapseBuffers(builder, loc, rows);

  // Chunks differ by one row at most.
  Value count =
      arith::CeilDivUIOp::create(builder, loc, rows, constant(mostRows));
  Value zero = constant(0), one = constant(1);
  auto loop = scf::ForOp::create(builder, loc, zero, count, one);
  builder.setInsertionPointToStart(loop.getBody());
  auto rowOf = [&](Value number) -> Value {
    Value shares = arith::MulIOp::create(builder, loc, number, rows);
    return arith::DivUIOp::create(builder, loc, shares, count);
  };
  Value number = loop.getInductionVar();
  Value first = rowOf(number);
  Value end = rowOf(arith::AddIOp::create(builder, loc, number, one));
  Value length = arith::SubIOp::create(builder, loc, end, first);
  IRMapping chunks;
  for (auto [all, buffer] : buffers)
    chunks.map(all,
               RowsOp::create(builder, all.getLoc(), buffer.getType(), buffer,
                              isLocal(all) ? zero : first, length));
  for (DestinationOpInterface layer : layers) {
    for (OpOperand *operand : rowOperandsOf(layer))
      operand->set(chunks.lookup(operand->get()));
    layer->moveBefore(loop.getBody()->getTerminator());
  }
  for (memref::AllocOp alloc : locals)
    alloc.erase();
}

void RunChunker::chunk() {
  findLocals();
  keepLayersOfLocals();
  if (!layers.empty())
    buildLoop();
}

namespace {
struct ChunkRows : heddle::impl::ChunkRowsPassBase<ChunkRows> {
  using Base::Base;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal() || !function.getBody().hasOneBlock())
        continue;
      for (const Run &run : findRuns(function.front()))
        RunChunker(run, rows).chunk();
    }
  }
};
} // namespace
