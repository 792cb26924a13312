//===- WarpgroupProduct.cpp - Tiles of x W by warpgroups ------------------===//
//
// A warpgroup that multiplies has four panels, 128 columns: two wgmma of 64 for
// each step of 8 words. It loads the weights of a step into registers while the
// products of the step before run, at most one group of them. The first wait in
// a stage shows that the products of the stage before have ended; then that
// stage goes back to the copies. A block does its tiles in one loop, and the
// ring goes on from tile to tile.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Gpu/Linear/WarpgroupProduct.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace heddle;

/// Of a stage and of one wgmma; a lane has two words of the latter.
static constexpr int64_t kStageWords = 32, kStepWords = 8, kGroupWords = 4;
static constexpr int64_t kWordBytes = 4, kPieceBytes = 16;
/// Of a stage: of a row of x, which the swizzle wants to be these, and of a
/// panel.
static constexpr int64_t kRowBytes = kStageWords * kWordBytes;
static constexpr int64_t kPanelRowBytes = kPanelColumns * kWordBytes;
static constexpr int64_t kPanelBytes = kStageWords * kPanelRowBytes;
static constexpr int64_t kRowPieces = kRowBytes / kPieceBytes;
/// Rows of x whose pieces a warpgroup copies at once.
static constexpr int64_t kRowsAtOnce = kWarpgroupThreads / kRowPieces;

int64_t WarpgroupShape::stageBytes() const {
  return rows * kRowBytes + panels() * kPanelBytes;
}
StageRing WarpgroupShape::ring() const {
  return {stages, stageBytes(), /*memory=*/0, cluster};
}
BlockShape WarpgroupShape::block() const {
  return {threads(), ring().end(), /*blocks=*/1, cluster};
}

namespace {
class WarpgroupProduct {
public:
  WarpgroupProduct(const WarpgroupShape &shape, const WarpgroupTiles &tiles,
                   WarpgroupCode &code)
      : shape(shape), ring(shape.ring()), tiles(tiles), code(code) {}

  void build();

private:
  using Place = StageRing::Place;
  bool hasCluster() const { return shape.cluster > 1; }
  /// Stages whose copies a thread leaves under way when it says that the one
  /// before them has come. Two more are in the ring: the one that is copied
  /// next, and the one before it that is multiplied, which is given back when
  /// products of the stage behind it have ended.
  int64_t stagesUnderWay() const { return shape.stages - 2; }

  static int64_t wordsOf(const ProductOperands &operands) {
    return llvm::divideCeil(operands.depth, operands.layout().group());
  }

  // The warpgroup that copies.
  void copyTiles();
  void copyRows(const ProductOperands &operands, Value stage, Value memory);
  void copyPanels(const ProductOperands &operands, Value stage,
                  const Place &place, Value areShared);
  void reportStage(Value slot, Value copied, int64_t behind);

  // Those that multiply.
  void multiplyTiles();
  SmallVector<Value> multiplyTile(const ProductOperands &operands,
                                  Place &place);
  SmallVector<Value> addStage(const Place &place, Value panelAt,
                              ValueRange sums, Value words, Value hasPrevious,
                              bool isOnly);
  std::array<FourWords, 2> loadWeights(Value panel, int64_t step, Value words);
  SmallVector<ProductPiece> piecesOf(ValueRange sums);

  const WarpgroupShape &shape;
  StageRing ring;
  const WarpgroupTiles &tiles;
  WarpgroupCode &code;
  /// Of a warp that multiplies: the panel of the block, and of a lane: its word
  /// and its first column in the panel.
  Value warpPanel, word, column;
  /// The block's number in its cluster, where it has one.
  Value rank;
  Type element;
};
} // namespace

//===----------------------------------------------------------------------===//
// From the device's memory to shared memory
//===----------------------------------------------------------------------===//

void WarpgroupProduct::copyRows(const ProductOperands &operands, Value stage,
                                Value memory) {
  int64_t bytes = operands.pitch % kPieceBytes == 0 ? kPieceBytes : kWordBytes;
  Value piece = code.urem(code.thread(), kRowPieces);
  Value firstRow = code.udiv(code.thread(), kRowPieces);
  // Rows that the thread has are as many apart as make no difference to this.
  Value place = code.mul(code.swizzledPiece(piece, firstRow), kPieceBytes);
  for (int64_t row = 0; row < shape.rows; row += kRowsAtOnce)
    for (int64_t in = 0; in < kPieceBytes; in += bytes) {
      Value at = code.add(code.mul(stage, kRowBytes),
                          code.add(code.mul(piece, kPieceBytes), in));
      Value number = code.add(firstRow, row);
      Value exists = code.uless(number, operands.rows);
      // Nothing is read behind the last row, but the address is one of x.
      Value source = code.select(exists, number, code.i32(0));
      Value from = code.at(
          code.at(operands.x, code.rowOffset(source, code.i32(operands.pitch))),
          at);
      Value to = code.shared(code.add(
          code.add(memory, place), code.add(code.mul(number, kRowBytes), in)));
      Value there = operands.bytesFrom(at, bytes, kRowBytes, code);
      code.copy(to, from, bytes, code.select(exists, there, code.i32(0)));
    }
}

/// One thread a panel announces and copies it; of panels that are shared, all
/// blocks announce all, and each copies some of them to all blocks. What does
/// not exist, and words behind the last one, are left as they are.
void WarpgroupProduct::copyPanels(const ProductOperands &operands, Value stage,
                                  const Place &place, Value areShared) {
  PanelLayout layout = operands.layout();
  Value panel = code.thread();
  code.ifThen(code.uless(panel, code.i32(shape.panels())), [&] {
    Value exists = code.uless(panel, operands.panels);
    Value firstWord = code.mul(stage, kStageWords);
    Value words = code.i32(kStageWords);
    if (wordsOf(operands) % kStageWords != 0)
      words =
          code.umin(words, code.sub(code.i32(wordsOf(operands)), firstWord));
    Value bytes = code.mul(words, kPanelRowBytes);
    code.arriveBefore(ring.full(place.slot, code),
                      code.select(exists, bytes, code.i32(0)));
    Value isCopied = exists, blocks;
    if (hasCluster()) {
      Value isOwn = code.equal(code.urem(panel, shape.cluster), rank);
      isCopied = code.logicalAnd(
          exists, code.logicalOr(isOwn, code.logicalNot(areShared)));
      blocks = code.select(
          areShared, code.i32((1 << shape.cluster) - 1),
          arith::ShLIOp::create(code.builder, code.loc, code.i32(1), rank));
    }
    code.ifThen(isCopied, [&] {
      Value from = code.at(
          code.at(operands.panel,
                  code.rowOffset(panel,
                                 code.i32(layout.panelBytes(operands.depth)))),
          code.mul(code.add(firstWord, layout.firstRow()), kPanelRowBytes));
      Value to = code.shared(code.add(
          ring.memoryOf(place.slot, code),
          code.add(code.mul(panel, kPanelBytes), shape.rows * kRowBytes)));
      code.copyBulk(to, from, bytes, ring.full(place.slot, code), blocks);
    });
  });
}

/// Says of the stage `behind` the one to be copied next, where there was one,
/// that this thread's rows have come.
void WarpgroupProduct::reportStage(Value slot, Value copied, int64_t behind) {
  code.ifThen(code.uless(code.i32(behind - 1), copied), [&] {
    code.arrive(ring.full(ring.slotBefore(slot, behind, code), code));
  });
}

void WarpgroupProduct::copyTiles() {
  // Each stage is counted.
  Place first = ring.firstEmpty(code);
  SmallVector<Value> initial = {first.slot, first.parity, code.i32(0)};
  SmallVector<Value> end =
      code.foldAll(tiles.count, initial, [&](Value tile, ValueRange carried) {
        ProductOperands operands = tiles.place(tile);
        Value areShared;
        if (hasCluster())
          areShared = tiles.haveSamePanels(tile);
        Value stages =
            code.i32(llvm::divideCeil(wordsOf(operands), kStageWords));
        return code.foldAll(stages, carried, [&](Value stage, ValueRange now) {
          Place place = {now[0], now[1]};
          code.waitForPhase(ring.empty(place.slot, code), place.parity);
          copyPanels(operands, stage, place, areShared);
          copyRows(operands, stage, ring.memoryOf(place.slot, code));
          code.endGroup();
          code.waitForGroups(stagesUnderWay());
          code.fenceForProducts();
          reportStage(place.slot, now[2], stagesUnderWay());
          Place behind = ring.next(place, code);
          return SmallVector<Value>{behind.slot, behind.parity,
                                    code.add(now[2], 1)};
        });
      });
  // Each as soon as it is there: of few stages all are left.
  for (int64_t behind = stagesUnderWay(); behind > 0; --behind) {
    code.waitForGroups(behind - 1);
    code.fenceForProducts();
    reportStage(end[0], end[2], behind);
  }
}

//===----------------------------------------------------------------------===//
// From shared memory to sums
//===----------------------------------------------------------------------===//

/// The rows of fragments of a step's two products: the lane's four columns, of
/// its words of a panel of which `words` are there, or all where that is null.
std::array<FourWords, 2>
WarpgroupProduct::loadWeights(Value panel, int64_t step, Value words) {
  auto hasBit = [&](int64_t bit) {
    return code.notEqual(code.bitAnd(word, code.i32(bit)), code.i32(0));
  };
  Value isOdd = hasBit(1), isUpper = hasBit(2);
  auto load = [&](int64_t firstWord) {
    Value exists;
    Value from = word;
    if (words) {
      exists = code.uless(code.add(word, firstWord), words);
      from = code.select(exists, word, code.i32(-firstWord));
    }
    Value row =
        code.add(panel, code.mul(code.add(from, firstWord), kPanelRowBytes));
    FourWords found;
    for (auto [number, value] : llvm::enumerate(found)) {
      Value inGroup = code.bitXor(word, code.i32(number));
      Value at = code.mul(code.add(column, inGroup), kWordBytes);
      value = code.loadOne(code.builder.getI32Type(),
                           code.shared(code.add(row, at)));
    }
    auto exchange = [&](Value condition, Value &a, Value &b) {
      Value first = code.select(condition, b, a);
      b = code.select(condition, a, b);
      a = first;
    };
    exchange(isOdd, found[0], found[1]);
    exchange(isOdd, found[2], found[3]);
    exchange(isUpper, found[0], found[2]);
    exchange(isUpper, found[1], found[3]);
    if (exists)
      for (Value &value : found)
        value = code.select(exists, value, code.i32(0));
    return found;
  };
  FourWords lower = load(step), upper = load(step + kGroupWords);
  return {FourWords{lower[0], lower[1], upper[0], upper[1]},
          FourWords{lower[2], lower[3], upper[2], upper[3]}};
}

/// Adds the products of a stage that has `words`, null for all: the others are
/// zeros, in rows, too. An only stage has no sums before it.
SmallVector<Value> WarpgroupProduct::addStage(const Place &place, Value panelAt,
                                              ValueRange sums, Value words,
                                              Value hasPrevious, bool isOnly) {
  code.waitForPhase(ring.full(place.slot, code), place.parity);
  Value memory = ring.memoryOf(place.slot, code);
  Value rows = code.describeColumns(code.shared(memory));
  Value panel = code.add(memory, panelAt);
  size_t half = sums.size() / 2;
  SmallVector<Value> lower(sums.take_front(half)), upper(sums.drop_front(half));
  for (int64_t step = 0; step < kStageWords; step += kStepWords) {
    std::array<FourWords, 2> weights = loadWeights(panel, step, words);
    Value columns = code.atWords(rows, step);
    code.beginProducts();
    // Zeros would be written behind the fence, where no loop carries them.
    bool isFirst = isOnly && step == 0;
    lower = code.multiplyColumns(element, weights[0], columns, lower, isFirst);
    upper = code.multiplyColumns(element, weights[1], columns, upper, isFirst);
    code.endProducts();
    code.waitForProducts(1);
    if (step == 0)
      ring.release(ring.slotBefore(place.slot, 1, code), hasPrevious, code);
  }
  llvm::append_range(lower, upper);
  return lower;
}

/// The sums of a tile; `place` goes on to the next one's.
SmallVector<Value>
WarpgroupProduct::multiplyTile(const ProductOperands &operands, Place &place) {
  element = operands.element;
  int64_t words = wordsOf(operands);
  // Panels that do not exist have sums, which nobody asks for.
  Value last = code.sub(operands.panels, code.i32(1));
  Value panelAt = code.add(code.mul(code.umin(warpPanel, last), kPanelBytes),
                           shape.rows * kRowBytes);
  Value zero = element.isInteger(8) ? code.i32(0) : code.f32(0);
  SmallVector<Value> carried(shape.rows, zero);
  carried.append({place.slot, place.parity});
  // The last stage is one of the loop, whole or not: ptxas waits between
  // products that are begun in a loop and those behind it.
  Value stages = code.i32(llvm::divideCeil(words, kStageWords));
  carried = code.foldAll(stages, carried, [&](Value stage, ValueRange now) {
    Place here = {now[shape.rows], now[shape.rows + 1]};
    Value left;
    if (words % kStageWords != 0)
      left = code.sub(code.i32(words), code.mul(stage, kStageWords));
    SmallVector<Value> sums =
        addStage(here, panelAt, now.take_front(shape.rows), left,
                 code.notEqual(stage, code.i32(0)),
                 /*isOnly=*/words <= kStageWords);
    Place behind = ring.next(here, code);
    sums.append({behind.slot, behind.parity});
    return sums;
  });
  place = {carried[shape.rows], carried[shape.rows + 1]};
  Value yes = code.i1(true);
  SmallVector<Value> all(ValueRange(carried).take_front(shape.rows));
  all = code.waitForSums(all);
  ring.release(ring.slotBefore(place.slot, 1, code), yes, code);
  return all;
}

SmallVector<ProductPiece> WarpgroupProduct::piecesOf(ValueRange sums) {
  size_t half = sums.size() / 2;
  SmallVector<ProductPiece> pieces;
  for (int64_t group = 0; group < shape.rows / 8; ++group)
    for (int64_t side = 0; side < 2; ++side) {
      size_t first = 4 * group + side;
      pieces.push_back({code.i32(8 * group + side),
                        warpPanel,
                        column,
                        {sums[first], sums[first + 2], sums[half + first],
                         sums[half + first + 2]}});
    }
  return pieces;
}

void WarpgroupProduct::multiplyTiles() {
  Value warp = code.uniformWarp();
  warpPanel = code.sub(warp, code.i32(kWarpgroupThreads / kWarpThreads));
  word = code.urem(code.lane(), kGroupWords);
  column = code.mul(code.udiv(code.lane(), kGroupWords), 4);
  Place first = ring.firstFull(code);
  code.foldAll(tiles.count, {first.slot, first.parity},
               [&](Value tile, ValueRange carried) {
                 Place place = {carried[0], carried[1]};
                 SmallVector<Value> sums =
                     multiplyTile(tiles.place(tile), place);
                 tiles.finish(tile, code.mul(word, 2), piecesOf(sums));
                 return SmallVector<Value>{place.slot, place.parity};
               });
}

void WarpgroupProduct::build() {
  if (hasCluster())
    rank = code.rankInCluster();
  // A stage is full when each thread that copies has its rows there, and the
  // panels are; it is empty when each warp that multiplies says so.
  ring.makeBarriers(code.i32(kWarpgroupThreads + shape.panels()),
                    code.i32(4 * shape.warpgroups), code);
  Value copies = code.uless(code.uniformWarp(),
                            code.i32(kWarpgroupThreads / kWarpThreads));
  scf::IfOp::create(
      code.builder, code.loc, copies,
      [&](OpBuilder &builder, Location loc) {
        if (shape.copyRegisters)
          code.giveUpRegisters(shape.copyRegisters);
        copyTiles();
        scf::YieldOp::create(builder, loc);
      },
      [&](OpBuilder &builder, Location loc) {
        if (shape.productRegisters)
          code.takeRegisters(shape.productRegisters);
        multiplyTiles();
        scf::YieldOp::create(builder, loc);
      });
  // Others still say of stages that they are empty.
  if (hasCluster())
    code.clusterBarrier();
}

void heddle::multiplyByWarpgroups(const WarpgroupShape &shape,
                                  const WarpgroupTiles &tiles,
                                  WarpgroupCode &code) {
  WarpgroupProduct(shape, tiles, code).build();
}
