//===- StoredTensor.h - Decodes the bytes of one tensor ---------*- C++ -*-===//
//
// A view of a tensor in a mapped file, or of one that is made of others,
// decoded to f32 a few rows at a time, so that the largest buffer a model needs
// is a block of rows. Widening f16 and bf16 is exact; intgemm8, int8_rows and
// int16 are float(integer) / multiplier in f32, as Marian and CTranslate2 have
// it. Integers are f32 here, too, which holds each of 8 bits.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_WEIGHTS_STOREDTENSOR_H
#define HEDDLE_LIB_WEIGHTS_STOREDTENSOR_H

#include "lib/Weights/TensorFile.h"
#include <memory>
#include <vector>

namespace heddle {

/// A tensor as the model sees it: a matrix [rows, columns] of f32 (a vector is
/// one row), whose bytes are stored in `encoding`, perhaps as the transpose.
/// Valid as long as the file it came from; safe to read from several threads.
class StoredTensor {
public:
  /// A tensor of `shape` whose bytes start at `offset` of `file`, those of its
  /// multipliers at `multipliers`. Fails if the bytes are not all there or a
  /// multiplier is no positive number; `name` is for the sentence.
  static llvm::Expected<StoredTensor>
  create(llvm::StringRef name, llvm::ArrayRef<int64_t> shape, Encoding encoding,
         bool transposed, const TensorFile &file, uint64_t offset,
         std::optional<uint64_t> multipliers = std::nullopt);

  /// A tensor of zeros.
  static StoredTensor zeros(llvm::ArrayRef<int64_t> shape);

  /// The columns of all parts, which are not none and have equally many rows.
  static StoredTensor concatenate(std::vector<StoredTensor> parts);

  /// The same by turns: so many columns of each part, which are equally wide,
  /// then the next of each.
  static StoredTensor interleave(std::vector<StoredTensor> parts,
                                 uint64_t columns);

  /// Computed values, a vector or so many rows.
  static StoredTensor fromValues(std::vector<float> values, uint64_t rows = 1);

  /// The tensor times `factor`; each product is rounded to f32.
  StoredTensor scaledBy(float factor) const;

  /// clip(rint(x / s), -127, 127) with the scale of its column or row, which
  /// are as many as there are of these, or of a block of kScaledInputs rows of
  /// its column, [blocks, columns]; of what is no number 0.
  enum class Axis { Columns, Rows, Blocks };
  /// Which scale an element has.
  static uint64_t scaleOf(Axis axis, uint64_t row, uint64_t column,
                          uint64_t columns);
  StoredTensor quantizedBy(std::vector<float> scales, Axis axis) const;
  /// The same times the scale: what these integers are worth, as f32.
  StoredTensor fakeQuantizedBy(std::vector<float> scales, Axis axis) const;

  /// Each element as the nearest of that type, as RoundOp has it.
  enum class Rounding { None, BF16, F16 };
  StoredTensor rounded(Rounding rounding) const;
  /// R^T x / b of its columns, as QuantizeOp has R and b of vectors of as many
  /// elements as there are rows.
  StoredTensor rotated() const;
  /// Of each `width` columns, the first 2 * `pairs`: even ones, then odd ones.
  StoredTensor splitPairs(uint64_t width, uint64_t pairs) const;
  /// The tensor and `number`; each sum is rounded to f32.
  StoredTensor shiftedBy(float number) const;
  /// What it is made of if nothing is rounded to a short float.
  StoredTensor unrounded() const;

  /// An `intgemm8` tensor as it is stored, not divided by its multiplier.
  StoredTensor asIntegers() const;
  float getMultiplier() const { return multiplier; }

  /// 1 / multiplier of each row or column, if the file has one for each: with
  /// these scales `quantizedBy` gives the integers of the file.
  std::optional<std::vector<float>> storedScales(Axis axis) const;

  uint64_t getRows() const { return rows; }
  uint64_t getColumns() const { return columns; }

  /// Writes the rows [first, first + count) to `values`, which has room for
  /// count * getColumns() elements; the rows must exist.
  void decodeRows(uint64_t first, uint64_t count,
                  llvm::MutableArrayRef<float> values) const;

private:
  StoredTensor() = default;

  /// Row r goes to `values + r * stride`.
  void decodeTo(uint64_t first, uint64_t count, float *values,
                uint64_t stride) const;
  void decodeStored(uint64_t first, uint64_t count, float *values,
                    uint64_t stride) const;

  llvm::Error readMultipliers(llvm::StringRef name, const TensorFile &file,
                              std::optional<uint64_t> offset);

  void quantize(uint64_t first, uint64_t count, float *values,
                uint64_t stride) const;
  void decodeRotated(uint64_t first, uint64_t count, float *values,
                     uint64_t stride) const;
  void decodeByTurns(uint64_t first, uint64_t count, float *values,
                     uint64_t stride) const;
  /// Where a column of split pairs stands in the only part.
  uint64_t unsplitColumn(uint64_t column) const;
  void decodePairs(uint64_t first, uint64_t count, float *values,
                   uint64_t stride) const;
  /// Multiplies by the factor, shifts and rounds, if that is to be done.
  void finish(uint64_t count, float *values, uint64_t stride) const;

  /// Where the bytes stand in a file; empty for zeros and for what is made.
  llvm::StringRef bytes;
  std::vector<StoredTensor> parts;
  /// Computed values, or the scales that quantise the only part.
  std::shared_ptr<const std::vector<float>> computed;
  Axis axis = Axis::Columns;
  /// Whether integers are multiplied by these.
  bool isFake = false;
  /// Of how many rows the only part's are rotated together; 1 if they are not.
  uint64_t block = 1;
  /// Columns of a part's turn; 0 if each part stands behind the other.
  uint64_t turn = 0;
  /// Columns of a head, and pairs of them that are split; 0 if none are.
  uint64_t headWidth = 0, headPairs = 0;
  uint64_t rows = 1, columns = 1;
  Encoding encoding = Encoding::F32;
  bool transposed = false;
  float multiplier = 1.0f;
  /// Of `int8_rows`, one for each row of the file: f32.
  llvm::StringRef rowMultipliers;
  bool isDivided = true;
  float factor = 1.0f, shift = 0.0f;
  Rounding rounding = Rounding::None;
};

} // namespace heddle

#endif // HEDDLE_LIB_WEIGHTS_STOREDTENSOR_H
