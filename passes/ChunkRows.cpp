//===- ChunkRows.cpp - Pass long sequences through layers in chunks -------===//
//
// Layers that compute row by row and stand behind each other, as those between
// two attentions do, become a loop over chunks of rows. What only they read is
// then as long as a chunk: the hidden vectors of a long sequence would take
// most of the arena otherwise, and come from memory.
//
// Rows that a pool alone reads, as logits of words are, need not all be there
// at once either: each chunk moves the largest numbers of its texts up.
//
// If a layer reads some rows last, a later one of the loop may write its own
// to the same memory: other chunks have other rows.
//
// A row has the same bits in any chunk, since kernels promise them for any
// number of rows. What fits one chunk is the same list of calls as before.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "lib/CodeGen/Loops/PoolLoops.h"
#include "lib/CodeGen/Loops/RowOperands.h"
#include "lib/Support/DimNames.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
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
  /// What reads rows of the last one, or null.
  PoolOp pool;
};

/// How long chunks are: as many rows, and as many bytes of those that are
/// pooled.
struct ChunkSizes {
  int64_t rows, bytes;
};

/// Makes a run a loop.
class RunChunker {
public:
  RunChunker(const Run &run, const ChunkSizes &sizes)
      : layers(run.layers), pool(run.pool), sizes(sizes), mostRows(sizes.rows) {
  }

  void chunk();

private:
  using Buffers = llvm::MapVector<Value, Value>;

  void limitPooledRows();
  void findLocals();
  bool isLocal(Value buffer) const;
  void keepLayersOfLocals();
  void reuseRows();
  bool isWrittenFirst(Value buffer, size_t layer) const;
  bool isReadLast(Value buffer, size_t layer) const;
  memref::AllocOp findReusable(Value written, size_t layer) const;
  Buffers collapseBuffers(OpBuilder &builder, Location loc, Value rows);
  void poolChunk(Value rows, Value first);
  void buildLoop();

  SmallVector<DestinationOpInterface> layers;
  PoolOp pool;
  ChunkSizes sizes;
  int64_t mostRows;
  /// Buffers that nothing but the layers uses.
  SetVector<memref::AllocOp> locals;
};
} // namespace

/// Names of the leading dimensions of a buffer; empty if it is no dense one
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
  if (leading < 1)
    return {};
  RowDims names = nameLeading(rows.front()->get(), leading);
  // Rows of a step are few.
  if (names.empty() || (leading == 1 && names.front().getValue() != kTokensDim))
    return {};
  for (OpOperand &operand : op->getOpOperands()) {
    bool fits = llvm::is_contained(rows, &operand)
                    ? nameLeading(operand.get(), leading) == names
                    : bool(operand.get().getDefiningOp<WeightOp>());
    if (!fits)
      return {};
  }
  return names;
}

/// Whether a pool keeps the largest numbers of rows of a run.
static bool poolsRows(PoolOp pool, const Run &run) {
  return !run.layers.empty() && pool.getStarts() &&
         ArrayRef(pool.getModeList()) == ArrayRef{Pooling::Max} &&
         nameLeading(pool.getInput(), 1) == run.dims;
}

static SmallVector<Run> findRuns(Block &block) {
  SmallVector<Run> runs(1);
  for (Operation &op : block) {
    if (isMemoryEffectFree(&op) || isa<memref::AllocOp>(op))
      continue;
    if (auto pool = dyn_cast<PoolOp>(op); pool && poolsRows(pool, runs.back()))
      runs.back().pool = pool;
    RowDims dims = nameRows(&op);
    if (dims.empty() || dims != runs.back().dims)
      runs.push_back({dims, {}, {}});
    if (!dims.empty())
      runs.back().layers.push_back(cast<DestinationOpInterface>(op));
  }
  return runs;
}

/// A multiple of what kernels compute at once.
void RunChunker::limitPooledRows() {
  constexpr int64_t tile = 16;
  auto type = cast<MemRefType>(pool.getInput().getType());
  int64_t rowBytes = type.getShape().back() * type.getElementTypeBitWidth() / 8;
  int64_t fitting = sizes.bytes / rowBytes / tile * tile;
  mostRows = std::min(sizes.rows, std::max(fitting, tile));
}

void RunChunker::findLocals() {
  DenseSet<Operation *> inside;
  for (DestinationOpInterface layer : layers)
    inside.insert(layer);
  if (pool)
    inside.insert(pool);
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

/// All ops that use a buffer or a view of it; false if one makes something
/// else of it.
static bool collectUsers(Value buffer, SmallVectorImpl<Operation *> &users) {
  return llvm::all_of(buffer.getUsers(), [&](Operation *user) {
    if (auto view = dyn_cast<ViewLikeOpInterface>(user))
      return collectUsers(view.getViewDest(), users);
    users.push_back(user);
    return isa<DestinationOpInterface, memref::DimOp>(user);
  });
}

/// Whether a layer may write rows to where it reads them.
static bool worksInPlace(Operation *layer) {
  return isa<NormOp, ActivationOp, AddOp, MultiplyOp>(layer);
}

/// Whether nothing uses a buffer before a layer writes it.
bool RunChunker::isWrittenFirst(Value buffer, size_t layer) const {
  SmallVector<Operation *> users;
  DestinationOpInterface writer = layers[layer];
  Block *block = writer->getBlock();
  return collectUsers(buffer, users) &&
         llvm::count(writer->getOperands(), buffer) == 1 &&
         llvm::all_of(users, [&](Operation *user) {
           return user == writer || isa<memref::DimOp>(user) ||
                  writer->isBeforeInBlock(block->findAncestorOpInBlock(*user));
         });
}

/// Whether nothing uses a buffer once a layer writes others.
bool RunChunker::isReadLast(Value buffer, size_t layer) const {
  SmallVector<Operation *> users;
  DestinationOpInterface writer = layers[layer];
  Block *block = writer->getBlock();
  return collectUsers(buffer, users) &&
         llvm::all_of(users, [&](Operation *user) {
           Operation *at = block->findAncestorOpInBlock(*user);
           return isa<memref::DimOp>(user) || at->isBeforeInBlock(writer) ||
                  (at == writer && worksInPlace(writer));
         });
}

/// The oldest of the layers' buffers that `layer` may write `written` to: what
/// goes through all layers then stays in one place.
memref::AllocOp RunChunker::findReusable(Value written, size_t layer) const {
  memref::AllocOp oldest;
  for (DestinationOpInterface reader : ArrayRef(layers).take_front(layer + 1))
    for (OpOperand *operand : rowOperandsOf(reader)) {
      auto alloc = operand->get().getDefiningOp<memref::AllocOp>();
      if (alloc && operand->get() != written && !isLocal(alloc) &&
          alloc.getType() == written.getType() && isReadLast(alloc, layer) &&
          (!oldest || alloc->isBeforeInBlock(oldest)))
        oldest = alloc;
    }
  return oldest;
}

/// Whether a value is the memory of a result of the function.
static bool isResult(Value buffer) {
  auto argument = dyn_cast<BlockArgument>(buffer);
  auto function =
      argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp())
               : nullptr;
  return function && function.getArgAttr(argument.getArgNumber(), kOutputAttr);
}

/// Lets layers write their rows over those that were read last before.
void RunChunker::reuseRows() {
  for (size_t layer = 0; layer < layers.size(); ++layer)
    for (OpOperand &destination : layers[layer].getDestinationsMutable()) {
      Value written = destination.get();
      auto alloc = written.getDefiningOp<memref::AllocOp>();
      if (isLocal(written) || !(alloc || isResult(written)) ||
          !isWrittenFirst(written, layer))
        continue;
      memref::AllocOp reused = findReusable(written, layer);
      if (!reused)
        continue;
      memref::AllocOp dropped = alloc ? alloc : reused;
      dropped.replaceAllUsesWith(alloc ? Value(reused) : written);
      dropped.erase();
    }
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

/// Of the rows of a chunk, from `first` on, on top of those before.
void RunChunker::poolChunk(Value rows, Value first) {
  OpBuilder builder(first.getDefiningOp()->getParentOp());
  FillOp::create(builder, pool.getLoc(), pool.getDestination(),
                 pool.getDestination(), builder.getF32FloatAttr(kLowestPooled),
                 builder.getI64IntegerAttr(pool.getOutputWidth()));
  pool.getInputMutable().assign(rows);
  pool.getRowsMutable().assign(first);
  pool->moveAfter(layers.back());
}

void RunChunker::buildLoop() {
  // What the layers read stands before the last one.
  OpBuilder builder(pool ? pool : layers.back().getOperation());
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
  if (pool)
    poolChunk(chunks.lookup(pool.getInput()), first);
  for (memref::AllocOp alloc : locals)
    alloc.erase();
}

void RunChunker::chunk() {
  findLocals();
  keepLayersOfLocals();
  if (layers.empty())
    return;
  if (pool && !isLocal(pool.getInput()))
    pool = nullptr;
  if (pool)
    limitPooledRows();
  reuseRows();
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
        RunChunker(run, {rows, bytes}).chunk();
    }
  }
};
} // namespace
