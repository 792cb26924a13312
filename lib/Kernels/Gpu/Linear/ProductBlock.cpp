//===- ProductBlock.cpp - A block's tile of x W, in words -----------------===//
//
// The depth passes through a ring of stages: cp.async fills the next ones while
// warps multiply the oldest. One barrier a stage is enough: the copy behind it
// fills the stage that all warps have read before it. Rows, panels and words
// behind the end are copied as zeros, so that the products need no conditions.
// Tensor cores multiply short floats, i8 and tf32; fused multiply-adds multiply
// f32.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Gpu/Linear/ProductBlock.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace heddle;

/// Of a stage, and of one mma.sync or group of fused multiply-adds.
static constexpr int64_t kStageWords = 16, kStepWords = 8, kGroupWords = 4;
static constexpr int64_t kWordBytes = 4, kPieceBytes = 16;
static constexpr int64_t kStageBytes = kStageWords * kWordBytes;
/// Bytes from one row to the next in shared memory: of x, and of a panel.
static constexpr int64_t kRowPitch = (kStageWords + 4) * kWordBytes,
                         kPanelPitch = (kPanelColumns + 8) * kWordBytes;
static constexpr int64_t kPanelBytes = kStageWords * kPanelPitch;
/// Pieces of 16 bytes of a row of a panel.
static constexpr int64_t kPanelPieces =
    kPanelColumns * kWordBytes / kPieceBytes;

int64_t ProductShape::stageBytes() const {
  return rows() * kRowPitch + panels() * kPanelBytes;
}

Value ProductOperands::bytesFrom(Value at, int64_t most, int64_t stageBytes,
                                 BlockCode &code) const {
  int64_t end = depth * (kWordBytes / layout().group());
  if (end % stageBytes == 0)
    return code.i32(most);
  Value left = code.sub(code.i32(end), code.umin(at, code.i32(end)));
  return code.umin(code.i32(most), left);
}

namespace {
class ProductBlock {
public:
  ProductBlock(const ProductShape &shape, const ProductOperands &operands,
               BlockCode &code)
      : shape(shape), operands(operands), code(code),
        isFused(isFusedProduct(operands.element, code.multipliesTf32)),
        words(llvm::divideCeil(operands.depth, operands.layout().group())) {}

  SmallVector<ProductPiece> build();

private:
  int64_t numStages() const { return llvm::divideCeil(words, kStageWords); }
  /// Bytes of x that a copy takes at once.
  int64_t copyBytes() const {
    return operands.pitch % kPieceBytes == 0 ? kPieceBytes : kWordBytes;
  }
  Value zero() const {
    return operands.element.isInteger(8) ? code.i32(0) : code.f32(0);
  }

  void copyRows(Value stage, Value memory);
  void copyPanels(Value stage, Value memory);
  void copyStage(Value stage, Value memory);

  SmallVector<Value> addProducts(Value memory, ValueRange sums);
  SmallVector<Value> addTensorProducts(Value memory, ValueRange sums);
  SmallVector<Value> addFusedProducts(Value memory, ValueRange sums);
  SmallVector<ProductPiece> piecesOf(ValueRange sums);

  /// Rows of x that a thread has sums of, and where they begin, in the warp's.
  int64_t rowsOfThread() const { return shape.warpRows / kGroupWords; }

  const ProductShape &shape;
  const ProductOperands &operands;
  BlockCode &code;
  bool isFused;
  int64_t words;
  /// Of the warp, in the block.
  Value warpRow, warpPanel;
};
} // namespace

//===----------------------------------------------------------------------===//
// From the device's memory to shared memory
//===----------------------------------------------------------------------===//

void ProductBlock::copyRows(Value stage, Value memory) {
  int64_t bytes = copyBytes(), ofRow = kStageBytes / bytes;
  code.eachPiece(shape.rows() * ofRow, [&](Value piece) {
    Value row = code.udiv(piece, ofRow);
    Value inRow = code.mul(code.urem(piece, ofRow), bytes);
    Value at = code.add(code.mul(stage, kStageBytes), inRow);
    Value exists = code.uless(row, operands.rows);
    // Nothing is read behind the last row, but the address is one of x.
    Value source = code.select(exists, row, code.i32(0));
    Value from = code.at(
        code.at(operands.x, code.rowOffset(source, code.i32(operands.pitch))),
        at);
    Value to = code.shared(
        code.add(memory, code.add(code.mul(row, kRowPitch), inRow)));
    Value there = operands.bytesFrom(at, bytes, kStageBytes, code);
    code.copy(to, from, bytes, code.select(exists, there, code.i32(0)));
  });
}

void ProductBlock::copyPanels(Value stage, Value memory) {
  PanelLayout layout = operands.layout();
  int64_t ofPanel = kStageWords * kPanelPieces,
          rowBytes = kPanelColumns * kWordBytes;
  code.eachPiece(shape.panels() * ofPanel, [&](Value piece) {
    Value panel = code.udiv(piece, ofPanel);
    Value inPanel = code.urem(piece, ofPanel);
    Value word = code.udiv(inPanel, kPanelPieces);
    Value column = code.mul(code.urem(inPanel, kPanelPieces), kPieceBytes);
    Value depth = code.add(code.mul(stage, kStageWords), word);
    Value exists = code.uless(panel, operands.panels);
    if (words % kStageWords != 0)
      exists = code.logicalAnd(exists, code.uless(depth, code.i32(words)));
    Value inside = code.add(
        code.mul(code.add(depth, layout.firstRow()), rowBytes), column);
    Value offset =
        code.rowOffset(panel, code.i32(layout.rows(operands.depth) * rowBytes));
    Value from =
        code.at(code.at(operands.panel,
                        code.select(exists, offset,
                                    arith::ConstantIntOp::create(
                                        code.builder, code.loc, 0, 64))),
                code.select(exists, inside, code.i32(0)));
    Value place = code.add(code.mul(panel, kPanelBytes),
                           code.add(code.mul(word, kPanelPitch), column));
    Value to = code.shared(
        code.add(memory, code.add(place, shape.rows() * kRowPitch)));
    code.copy(to, from, kPieceBytes,
              code.select(exists, code.i32(kPieceBytes), code.i32(0)));
  });
}

/// Stage number `stage` of the depth into the memory of one, which begins
/// there.
void ProductBlock::copyStage(Value stage, Value memory) {
  copyRows(stage, memory);
  copyPanels(stage, memory);
}

//===----------------------------------------------------------------------===//
// From shared memory to sums
//===----------------------------------------------------------------------===//

/// By tensor cores: sums [16 rows][panel][4 products][4].
SmallVector<Value> ProductBlock::addTensorProducts(Value memory,
                                                   ValueRange sums) {
  Value lane = code.lane();
  Value row = code.add(warpRow, code.urem(lane, 16));
  Value a =
      code.add(memory, code.add(code.mul(row, kRowPitch),
                                code.mul(code.udiv(lane, 16), kPieceBytes)));
  Value b =
      code.add(code.add(memory, shape.rows() * kRowPitch),
               code.add(code.mul(warpPanel, kPanelBytes),
                        code.add(code.mul(code.urem(lane, 4), kPanelPitch),
                                 code.mul(code.udiv(lane, 4), kPieceBytes))));
  Value aPointer = code.shared(a), bPointer = code.shared(b);
  Type word = code.builder.getI32Type();
  SmallVector<Value> result = llvm::to_vector(sums);
  for (int64_t step = 0; step < kStageWords; step += kStepWords) {
    SmallVector<FourWords> rows;
    for (int64_t at = 0; at < shape.warpRows; at += 16)
      rows.push_back(code.loadFragments(
          code.at(aPointer, at * kRowPitch + step * kWordBytes)));
    for (int64_t panel = 0; panel < shape.warpPanels; ++panel) {
      Value first = code.at(bPointer, panel * kPanelBytes + step * kPanelPitch);
      FourWords lower = code.loadFour(word, first);
      FourWords upper =
          code.loadFour(word, code.at(first, kGroupWords * kPanelPitch));
      for (auto [number, a] : llvm::enumerate(rows))
        for (int64_t product = 0; product < 4; ++product)
          code.multiplyInto(
              operands.element, a, lower[product], upper[product],
              &result[((number * shape.warpPanels + panel) * 4 + product) * 4]);
    }
  }
  return result;
}

/// By multiply-adds: sums [row][panel][4 columns]. A lane has every fourth row,
/// and four columns of each panel.
SmallVector<Value> ProductBlock::addFusedProducts(Value memory,
                                                  ValueRange sums) {
  Value lane = code.lane();
  Value row = code.add(warpRow, code.udiv(lane, kPanelPieces));
  Value a = code.add(memory, code.mul(row, kRowPitch));
  Value b =
      code.add(code.add(memory, shape.rows() * kRowPitch),
               code.add(code.mul(warpPanel, kPanelBytes),
                        code.mul(code.urem(lane, kPanelPieces), kPieceBytes)));
  Value aPointer = code.shared(a), bPointer = code.shared(b);
  Type f32 = code.builder.getF32Type();
  SmallVector<Value> result = llvm::to_vector(sums);
  for (int64_t group = 0; group < kStageWords; group += kGroupWords) {
    SmallVector<FourWords> rows;
    for (int64_t at = 0; at < rowsOfThread(); ++at)
      rows.push_back(
          code.loadFour(f32, code.at(aPointer, at * kGroupWords * kRowPitch +
                                                   group * kWordBytes)));
    for (int64_t word = 0; word < kGroupWords; ++word)
      for (int64_t panel = 0; panel < shape.warpPanels; ++panel) {
        FourWords w = code.loadFour(
            f32, code.at(bPointer,
                         panel * kPanelBytes + (group + word) * kPanelPitch));
        for (auto [number, x] : llvm::enumerate(rows))
          for (int64_t column = 0; column < 4; ++column) {
            Value &sum =
                result[(number * shape.warpPanels + panel) * 4 + column];
            sum = code.fma(x[word], w[column], sum);
          }
      }
  }
  return result;
}

SmallVector<Value> ProductBlock::addProducts(Value memory, ValueRange sums) {
  return isFused ? addFusedProducts(memory, sums)
                 : addTensorProducts(memory, sums);
}

SmallVector<ProductPiece> ProductBlock::piecesOf(ValueRange sums) {
  Value lane = code.lane();
  SmallVector<ProductPiece> pieces;
  auto panelOf = [&](int64_t panel) { return code.add(warpPanel, panel); };
  if (isFused) {
    Value first = code.add(warpRow, code.udiv(lane, kPanelPieces));
    Value column = code.mul(code.urem(lane, kPanelPieces), 4);
    for (int64_t row = 0; row < rowsOfThread(); ++row)
      for (int64_t panel = 0; panel < shape.warpPanels; ++panel) {
        ProductPiece piece = {
            code.add(first, row * kGroupWords), panelOf(panel), column, {}};
        llvm::copy(sums.slice((row * shape.warpPanels + panel) * 4, 4),
                   piece.sums.begin());
        pieces.push_back(piece);
      }
    return pieces;
  }
  // Lane l has rows l / 4 and l / 4 + 8, and of each product columns 2 (l % 4)
  // and the next, which are every fourth of the panel's.
  Value first = code.add(warpRow, code.udiv(lane, 4));
  Value column = code.mul(code.urem(lane, 4), 8);
  for (int64_t number = 0; number < shape.warpRows / 16; ++number)
    for (int64_t half = 0; half < 2; ++half)
      for (int64_t panel = 0; panel < shape.warpPanels; ++panel)
        for (int64_t side = 0; side < 2; ++side) {
          ProductPiece piece = {code.add(first, 16 * number + 8 * half),
                                panelOf(panel),
                                code.add(column, 4 * side),
                                {}};
          for (int64_t product = 0; product < 4; ++product)
            piece.sums[product] =
                sums[((number * shape.warpPanels + panel) * 4 + product) * 4 +
                     2 * half + side];
          pieces.push_back(piece);
        }
  return pieces;
}

SmallVector<ProductPiece> ProductBlock::build() {
  warpRow = code.mul(code.udiv(code.warp(), shape.panelWarps), shape.warpRows);
  warpPanel =
      code.mul(code.urem(code.warp(), shape.panelWarps), shape.warpPanels);
  int64_t ahead = shape.stages - 1, stageBytes = shape.stageBytes();
  for (int64_t stage = 0; stage < ahead; ++stage) {
    if (stage < numStages())
      copyStage(code.i32(stage), code.i32(stage * stageBytes));
    code.endGroup();
  }
  int64_t sumsOfThread = shape.warpRows * shape.warpPanels;
  SmallVector<Value> initial(sumsOfThread, zero());
  initial.append({code.i32(0), code.i32(ahead * stageBytes)});
  auto next = [&](Value memory) {
    Value behind = code.add(memory, stageBytes);
    return code.select(code.equal(behind, code.i32(shape.stages * stageBytes)),
                       code.i32(0), behind);
  };
  SmallVector<Value> sums = code.foldAll(
      code.i32(numStages()), initial, [&](Value stage, ValueRange carried) {
        Value read = carried[sumsOfThread], write = carried.back();
        code.waitForGroups(ahead - 1);
        code.barrier();
        Value coming = code.add(stage, ahead);
        code.ifThen(code.uless(coming, code.i32(numStages())),
                    [&] { copyStage(coming, write); });
        code.endGroup();
        SmallVector<Value> result =
            addProducts(read, carried.take_front(sumsOfThread));
        result.append({next(read), next(write)});
        return result;
      });
  return piecesOf(ValueRange(sums).take_front(sumsOfThread));
}

bool heddle::isFusedProduct(Type element, bool multipliesTf32) {
  return element.isF32() && !multipliesTf32;
}

SmallVector<ProductPiece> heddle::multiplyBlock(const ProductShape &shape,
                                                const ProductOperands &operands,
                                                BlockCode &code) {
  return ProductBlock(shape, operands, code).build();
}
