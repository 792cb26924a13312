//===- MultiplyAdd.h - The multiply-accumulate of kernels -------*- C++ -*-===//
//
// Every sum of products that a kernel writes is made of one step: a vector of
// accumulators plus x times w, in each lane over a group of elements. What the
// step is follows from the types of x and w and from the ISA level.
//
//   x, w   level       group  accumulators  step
//   f32    all             1  f32           one fused multiply-add
//   bf16   with bf16       2  f32           vdpbf16ps
//   bf16   others          2  f32           two fused multiply-adds of what is
//   f16    all                              widened: the odd ones, the even
//                                           ones
//   i8     VNNI            4  i32           vpdpbusd, of x + 128 as u8
//   i8     others          4  i32           vpmaddubsw of |w| and x with the
//                                           sign of w, then vpmaddwd with ones
//
// x of f32 or a short float and w of i8 (weight-only quantization) are one
// fused multiply-add of both as f32; the sum of 32 of them meets its scale.
//
// Sums of i8 are exact for x of at least -127 and any w, up to a depth of
// 130,000: the first instruction of the last row adds two products in 16 bits,
// where 2 * 128 * 127 has room and 2 * 128 * 128 has not.
//
// Products of short floats are exact in f32, and the manual has vdpbf16ps add
// the odd one first, too. Levels are only promised to agree within a tolerance.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_VECTORS_MULTIPLYADD_H
#define HEDDLE_LIB_KERNELS_VECTORS_MULTIPLYADD_H

#include "lib/Kernels/Vectors/VectorLoops.h"

namespace heddle {

/// Builds steps with `loops`, which has to live as long. Widths are in lanes of
/// the accumulators; of the others 4, 8 or 16, as far as the level has them.
class MultiplyAdd {
public:
  /// x and w are both of that type: f32, bf16, f16 or i8.
  MultiplyAdd(VectorLoops &loops, mlir::Type element)
      : MultiplyAdd(loops, element, element) {}
  /// Of one type, or x of floats and w of i8.
  MultiplyAdd(VectorLoops &loops, mlir::Type element, mlir::Type weight)
      : loops(loops), element(element), weight(weight) {}

  /// Elements of the depth that a lane takes at once.
  int64_t group() const { return layout().group(); }
  /// Columns of a panel that share a cache line, and rows of one column.
  int64_t columnsOfLine() const;
  int64_t rowsOfLine() const;
  /// Whether columns have scales within, of kScaledInputs rows each.
  bool hasScales() const { return layout().hasScales(); }
  /// Vectors of `lanes` accumulators, and of what they multiply.
  mlir::VectorType accumulatorType(int64_t lanes) const;
  mlir::VectorType operandType(int64_t lanes) const;

  /// x as the other functions take it: of any vector of the element type.
  /// Kernels store it once and multiply it by many columns.
  mlir::Value encode(mlir::Value x) const;
  /// Accumulators to which products with the columns of a packed weight are
  /// added: in the end they are the sums of (x + shift) W. `panels` is the
  /// weight as `flatten` gives it; shift is 0 to 128 of i8, and 0 of others.
  mlir::Value start(mlir::Value panels, mlir::Value panel, mlir::Value column,
                    int64_t lanes, int64_t shift = 0) const;
  /// A packed weight (PanelLayout.h), or other groups, with the group of a
  /// column beside it: [panels, rows, 32 * group] of [panels, rows, 32, group].
  mlir::Value flatten(mlir::Value groups) const;
  /// The scales of the block of kScaledInputs rows that is number `block`, of a
  /// column and right of it, and the first of the rows behind them, as a group.
  mlir::Value loadScales(mlir::Value panels, mlir::Value panel,
                         mlir::Value block, mlir::Value column,
                         int64_t lanes) const;
  mlir::Value firstGroupOf(mlir::Value block) const;
  /// W[k, column] and right of it, for the group of inputs that is number
  /// `groupNumber`; `panels` from `flatten`. Without their scales if they have
  /// some, whose rows count as groups.
  mlir::Value loadWeights(mlir::Value panels, mlir::Value panel,
                          mlir::Value groupNumber, mlir::Value column,
                          int64_t lanes) const;
  /// Asks for the cache line of weights at a place, which may be behind the
  /// panels, to the L1 cache.
  void fetchWeights(mlir::Value panels, mlir::Value panel,
                    mlir::Value groupNumber, mlir::Value column) const;
  /// Asks for `count` rows of `panels` from `flatten`, to the L2 cache; `first`
  /// is counted through all panels, and may be behind them.
  void fetchRows(mlir::Value panels, mlir::Value first,
                 mlir::Value count) const;
  /// The group of encoded x that starts at `at`, in every lane. If the depth
  /// ends in it, it is not whole. Of i8 all is read even so: what stands behind
  /// the depth does not matter, since panels are filled up with zeros. A short
  /// float could be no number, whose product with 0 is none: a zero takes its
  /// place.
  mlir::Value broadcast(mlir::Value x, mlir::ValueRange at, int64_t lanes,
                        bool isWhole = true) const;
  /// sums + x w; x w if there are no sums.
  mlir::Value multiplyAdd(mlir::Value x, mlir::Value w, mlir::Value sums) const;
  /// The same, but nothing is added if an element is not `inside`, whatever
  /// x is there; w is a number. Of floats.
  mlir::Value multiplyAddInside(mlir::Value x, mlir::Value w, mlir::Value sums,
                                mlir::Value inside) const;
  /// The sum of the elements of x in each lane, added to sums. Of floats.
  mlir::Value addElements(mlir::Value x, mlir::Value sums) const;
  /// The odd or the even ones of pairs of short floats, as f32.
  mlir::Value widen(mlir::Value pairs, bool isOdd) const;

  bool isOfIntegers() const { return element.isInteger(8); }
  /// Whether what `encode` makes is u8.
  bool takesUnsignedX() const;
  /// Where the group of a column stands in flattened panels.
  llvm::SmallVector<mlir::Value> weightsAt(mlir::Value panel,
                                           mlir::Value groupNumber,
                                           mlir::Value column) const;

private:
  PanelLayout layout() const;
  mlir::Value constant(mlir::Type type, int64_t value) const;
  mlir::Value x86(llvm::StringRef intrinsic, mlir::Type result,
                  mlir::ValueRange operands) const;
  mlir::Value addPairs(mlir::Value x, mlir::Value w, mlir::Value sums) const;
  mlir::Value withSignOf(mlir::Value w, mlir::Value x) const;
  mlir::Value signedProducts(mlir::Value x, mlir::Value w) const;

  VectorLoops &loops;
  mlir::Type element, weight;
};

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_VECTORS_MULTIPLYADD_H
