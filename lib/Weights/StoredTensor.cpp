//===- StoredTensor.cpp - Decodes the bytes of one tensor -----------------===//
//
// One loop over an element reader per encoding. A transposed matrix is walked
// in square tiles, so that both the strided and the dense side stay in cache.
//
//===----------------------------------------------------------------------===//

#include "lib/Weights/StoredTensor.h"
#include "lib/Support/Error.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace llvm::support;

namespace heddle {

/// Side of a transposition tile: 64 x 64 floats are half of a small L1 cache.
static constexpr uint64_t kTile = 64;

/// IEEE binary16 to binary32, exact; subnormals are normalised, NaNs keep their
/// payload.
static float widenHalf(uint16_t half) {
  uint32_t sign = uint32_t(half >> 15) << 31;
  uint32_t exponent = (half >> 10) & 0x1f;
  uint32_t fraction = half & 0x3ff;
  if (exponent == 0) {
    float magnitude = std::ldexp(float(fraction), -24);
    return sign ? -magnitude : magnitude;
  }
  uint32_t biased = exponent == 0x1f ? 0xff : exponent - 15 + 127;
  return bit_cast<float>(sign | biased << 23 | fraction << 13);
}

/// The nearest bf16, of two the even one; see RoundOp.
static float roundToBf16(float value) {
  uint32_t bits = bit_cast<uint32_t>(value);
  constexpr uint32_t upperHalf = 0xffff0000;
  if (std::isnan(value))
    bits |= 0x00400000;
  else if (std::fpclassify(value) == FP_SUBNORMAL)
    bits &= 0x80000000;
  else
    bits += 0x7fff + (bits >> 16 & 1);
  return bit_cast<float>(bits & upperHalf);
}

static float floatAt(const char *bytes, uint64_t index) {
  return bit_cast<float>(endian::read32le(bytes + sizeof(float) * index));
}

Expected<StoredTensor>
StoredTensor::create(StringRef name, ArrayRef<int64_t> shape, Encoding encoding,
                     bool transposed, const TensorFile &file, uint64_t offset,
                     std::optional<uint64_t> multipliers) {
  std::optional<uint64_t> elements = countElements(shape);
  if (!elements || *elements == 0)
    return makeError("parameter '" + name + "' has the impossible shape " +
                     formatShape(shape));
  uint64_t size = storedSize(encoding, *elements);
  uint64_t fileSize = file.getBytes().size();
  if (offset > fileSize || size > fileSize - offset)
    return makeError("parameter '" + name + "' takes " + Twine(size) +
                     " bytes from byte " + Twine(offset) + " of '" +
                     file.getPath() + "' but the file has " + Twine(fileSize) +
                     " bytes");
  if (Error error = file.prepare(offset))
    return std::move(error);

  StoredTensor tensor;
  tensor.bytes = file.getBytes().substr(offset, size);
  tensor.columns = shape.empty() ? 1 : shape.back();
  tensor.rows = *elements / tensor.columns;
  tensor.encoding = encoding;
  tensor.transposed = transposed;
  if (encoding == Encoding::IntGemm8)
    multipliers = offset + *elements;
  if (Error error = tensor.readMultipliers(name, file, multipliers))
    return std::move(error);
  return tensor;
}

Error StoredTensor::readMultipliers(StringRef name, const TensorFile &file,
                                    std::optional<uint64_t> offset) {
  bool isByRow = encoding == Encoding::Int8Rows;
  if (!offset && isByRow)
    return makeError("parameter '" + name + "' of '" + file.getPath() +
                     "' has rows without multipliers");
  if (!offset) {
    if (encoding == Encoding::Int16)
      multiplier = 1000;
    return Error::success();
  }
  uint64_t count = !isByRow ? 1 : transposed ? columns : rows;
  uint64_t fileSize = file.getBytes().size();
  if (*offset > fileSize || count > (fileSize - *offset) / sizeof(float))
    return makeError("parameter '" + name + "' has " + Twine(count) +
                     " multipliers from byte " + Twine(*offset) + " of '" +
                     file.getPath() + "' but the file has " + Twine(fileSize) +
                     " bytes");
  StringRef stored = file.getBytes().substr(*offset, count * sizeof(float));
  for (uint64_t i = 0; i < count; ++i) {
    float value = floatAt(stored.data(), i);
    if (!std::isfinite(value) || value <= 0)
      return makeError("parameter '" + name + "' of '" + file.getPath() +
                       "' has the quantisation multiplier " +
                       std::to_string(value) + " (expected a positive number)");
    multiplier = value;
  }
  if (isByRow)
    rowMultipliers = stored;
  return Error::success();
}

namespace {
/// What integers are divided by: all by one number, or each row of the file,
/// which is so long, by one of its own.
struct Divisors {
  float all;
  const char *ofRows;
  uint64_t rowLength;
};
} // namespace

/// Calls `use` with a function from the index of a stored element to its value.
template <typename Use>
static void withElements(Encoding encoding, const char *bytes,
                         Divisors divisors, const Use &use) {
  auto integerAt = [=](uint64_t i) {
    return float(static_cast<signed char>(bytes[i]));
  };
  switch (encoding) {
  case Encoding::F32:
    return use([=](uint64_t i) { return floatAt(bytes, i); });
  case Encoding::F16:
    return use(
        [=](uint64_t i) { return widenHalf(endian::read16le(bytes + 2 * i)); });
  case Encoding::BF16:
    return use([=](uint64_t i) {
      return bit_cast<float>(uint32_t(endian::read16le(bytes + 2 * i)) << 16);
    });
  case Encoding::IntGemm8:
    return use([=](uint64_t i) { return integerAt(i) / divisors.all; });
  case Encoding::Int8Rows:
    return use([=](uint64_t i) {
      return integerAt(i) / floatAt(divisors.ofRows, i / divisors.rowLength);
    });
  case Encoding::Int16:
    return use([=](uint64_t i) {
      return float(int16_t(endian::read16le(bytes + 2 * i))) / divisors.all;
    });
  }
}

StoredTensor StoredTensor::zeros(ArrayRef<int64_t> shape) {
  StoredTensor tensor;
  tensor.columns = shape.empty() ? 1 : shape.back();
  tensor.rows = *countElements(shape) / tensor.columns;
  return tensor;
}

StoredTensor StoredTensor::fromValues(std::vector<float> values,
                                      uint64_t rows) {
  StoredTensor tensor;
  tensor.rows = rows;
  tensor.columns = values.size() / rows;
  tensor.computed = std::make_shared<std::vector<float>>(std::move(values));
  return tensor;
}

uint64_t StoredTensor::scaleOf(Axis axis, uint64_t row, uint64_t column,
                               uint64_t columns) {
  switch (axis) {
  case Axis::Columns:
    return column;
  case Axis::Rows:
    return row;
  case Axis::Blocks:
    return row / kScaledInputs * columns + column;
  }
  llvm_unreachable("all axes are covered");
}

StoredTensor StoredTensor::quantizedBy(std::vector<float> scales,
                                       Axis axis) const {
  StoredTensor tensor = concatenate({*this});
  tensor.computed = std::make_shared<std::vector<float>>(std::move(scales));
  tensor.axis = axis;
  return tensor;
}

StoredTensor StoredTensor::fakeQuantizedBy(std::vector<float> scales,
                                           Axis axis) const {
  StoredTensor tensor = quantizedBy(std::move(scales), axis);
  tensor.isFake = true;
  return tensor;
}

StoredTensor StoredTensor::rounded(Rounding rounding) const {
  StoredTensor tensor = concatenate({*this});
  tensor.rounding = rounding;
  return tensor;
}

StoredTensor StoredTensor::rotated() const {
  StoredTensor tensor = concatenate({*this});
  tensor.block = uint64_t(rotationOf(int64_t(rows)));
  return tensor;
}

StoredTensor StoredTensor::splitPairs(uint64_t width, uint64_t pairs) const {
  StoredTensor tensor = concatenate({*this});
  tensor.headWidth = width;
  tensor.headPairs = pairs;
  return tensor;
}

StoredTensor StoredTensor::shiftedBy(float number) const {
  StoredTensor tensor = concatenate({*this});
  tensor.shift = number;
  return tensor;
}

StoredTensor StoredTensor::unrounded() const {
  StoredTensor tensor = *this;
  tensor.rounding = Rounding::None;
  for (StoredTensor &part : tensor.parts)
    part = part.unrounded();
  return tensor;
}

StoredTensor StoredTensor::asIntegers() const {
  StoredTensor tensor = *this;
  tensor.isDivided = false;
  return tensor;
}

std::optional<std::vector<float>> StoredTensor::storedScales(Axis axis) const {
  if (headPairs > 0 && factor == 1.0f && axis == Axis::Columns) {
    auto own = parts.front().storedScales(axis);
    if (!own)
      return std::nullopt;
    std::vector<float> scales(own->size());
    for (uint64_t column = 0; column < columns; ++column)
      scales[column] = (*own)[unsplitColumn(column)];
    return scales;
  }
  if (rowMultipliers.empty() || factor != 1.0f || rounding != Rounding::None ||
      axis != (transposed ? Axis::Columns : Axis::Rows))
    return std::nullopt;
  std::vector<float> scales(transposed ? columns : rows);
  for (auto [row, scale] : enumerate(scales))
    scale = 1.0f / floatAt(rowMultipliers.data(), row);
  return scales;
}

StoredTensor StoredTensor::concatenate(std::vector<StoredTensor> parts) {
  StoredTensor tensor;
  tensor.rows = parts.front().rows;
  tensor.columns = 0;
  for (const StoredTensor &part : parts)
    tensor.columns += part.columns;
  tensor.parts = std::move(parts);
  return tensor;
}

StoredTensor StoredTensor::interleave(std::vector<StoredTensor> parts,
                                      uint64_t columns) {
  StoredTensor tensor = concatenate(std::move(parts));
  tensor.turn = columns;
  return tensor;
}

StoredTensor StoredTensor::scaledBy(float factor) const {
  // Of two factors each rounds by itself, and so does a sum before one.
  bool isPlain = this->factor == 1.0f && shift == 0.0f;
  StoredTensor tensor = isPlain ? *this : concatenate({*this});
  tensor.factor = factor;
  return tensor;
}

void StoredTensor::decodeStored(uint64_t first, uint64_t count, float *values,
                                uint64_t stride) const {
  Divisors divisors{isDivided ? multiplier : 1.0f, rowMultipliers.data(),
                    transposed ? rows : columns};
  withElements(encoding, bytes.data(), divisors, [&](auto element) {
    if (!transposed) {
      for (uint64_t r = 0; r < count; ++r)
        for (uint64_t c = 0; c < columns; ++c)
          values[r * stride + c] = element((first + r) * columns + c);
      return;
    }
    for (uint64_t rowTile = 0; rowTile < count; rowTile += kTile)
      for (uint64_t columnTile = 0; columnTile < columns; columnTile += kTile)
        for (uint64_t r = rowTile; r < std::min(rowTile + kTile, count); ++r)
          for (uint64_t c = columnTile;
               c < std::min(columnTile + kTile, columns); ++c)
            values[r * stride + c] = element(c * rows + first + r);
  });
}

void StoredTensor::quantize(uint64_t first, uint64_t count, float *values,
                            uint64_t stride) const {
  for (uint64_t r = 0; r < count; ++r)
    for (uint64_t c = 0; c < columns; ++c) {
      float &value = values[r * stride + c];
      float scale = (*computed)[scaleOf(axis, first + r, c, columns)];
      float scaled = value / scale;
      value = std::isnan(scaled)
                  ? 0.0f
                  : std::clamp(std::nearbyint(scaled), -127.0f, 127.0f);
      if (isFake)
        value *= scale;
    }
}

/// Block by block: each needs all of its rows.
void StoredTensor::decodeRotated(uint64_t first, uint64_t count, float *values,
                                 uint64_t stride) const {
  std::vector<float> whole(block * columns);
  auto rowAt = [&](uint64_t row) { return whole.data() + row * columns; };
  for (uint64_t begin = first / block * block; begin < first + count;
       begin += block) {
    parts.front().decodeTo(begin, block, whole.data(), columns);
    for (uint64_t row = 0; row < block; ++row)
      if (isNegatedByRotation(int64_t(row)))
        for (uint64_t c = 0; c < columns; ++c)
          rowAt(row)[c] = -rowAt(row)[c];
    for (uint64_t distance = 1; distance < block; distance *= 2)
      for (uint64_t row = 0; row < block; ++row)
        if ((row & distance) == 0)
          for (uint64_t c = 0; c < columns; ++c) {
            float a = rowAt(row)[c], b = rowAt(row + distance)[c];
            rowAt(row)[c] = a + b;
            rowAt(row + distance)[c] = a - b;
          }
    uint64_t from = std::max(begin, first),
             to = std::min(begin + block, first + count);
    for (uint64_t row = from; row < to; ++row)
      for (uint64_t c = 0; c < columns; ++c)
        values[(row - first) * stride + c] =
            rowAt(row - begin)[c] / float(block);
  }
}

void StoredTensor::finish(uint64_t count, float *values,
                          uint64_t stride) const {
  if (factor == 1.0f && shift == 0.0f && rounding == Rounding::None)
    return;
  for (uint64_t r = 0; r < count; ++r)
    for (uint64_t c = 0; c < columns; ++c) {
      float &value = values[r * stride + c];
      value *= factor;
      value += shift;
      if (rounding == Rounding::BF16)
        value = roundToBf16(value);
      else if (rounding == Rounding::F16)
        value = static_cast<_Float16>(value);
    }
}

void StoredTensor::decodeByTurns(uint64_t first, uint64_t count, float *values,
                                 uint64_t stride) const {
  uint64_t width = parts.front().columns, step = turn * parts.size();
  std::vector<float> own(count * width);
  for (auto [p, part] : llvm::enumerate(parts)) {
    part.decodeTo(first, count, own.data(), width);
    for (uint64_t r = 0; r < count; ++r)
      for (uint64_t column = 0; column < width; column += turn)
        std::copy_n(own.data() + r * width + column, turn,
                    values + r * stride + column / turn * step + p * turn);
  }
}

uint64_t StoredTensor::unsplitColumn(uint64_t column) const {
  uint64_t k = column % headWidth;
  if (k >= 2 * headPairs)
    return column;
  return column - k + (k < headPairs ? 2 * k : 2 * (k - headPairs) + 1);
}

void StoredTensor::decodePairs(uint64_t first, uint64_t count, float *values,
                               uint64_t stride) const {
  std::vector<float> own(count * columns);
  parts.front().decodeTo(first, count, own.data(), columns);
  for (uint64_t r = 0; r < count; ++r)
    for (uint64_t c = 0; c < columns; ++c)
      values[r * stride + c] = own[r * columns + unsplitColumn(c)];
}

void StoredTensor::decodeTo(uint64_t first, uint64_t count, float *values,
                            uint64_t stride) const {
  if (!bytes.empty()) {
    decodeStored(first, count, values, stride);
  } else if (parts.empty() && computed) {
    for (uint64_t r = 0; r < count; ++r)
      std::copy_n(computed->begin() + int64_t((first + r) * columns), columns,
                  values + r * stride);
  } else if (parts.empty()) {
    for (uint64_t r = 0; r < count; ++r)
      std::fill_n(values + r * stride, columns, 0.0f);
  } else if (block > 1) {
    decodeRotated(first, count, values, stride);
  } else if (headPairs > 0) {
    decodePairs(first, count, values, stride);
  } else if (turn > 0) {
    decodeByTurns(first, count, values, stride);
  } else {
    float *begin = values;
    for (const StoredTensor &part : parts) {
      part.decodeTo(first, count, begin, stride);
      begin += part.columns;
    }
    if (computed)
      quantize(first, count, values, stride);
  }
  finish(count, values, stride);
}

void StoredTensor::decodeRows(uint64_t first, uint64_t count,
                              MutableArrayRef<float> values) const {
  decodeTo(first, count, values.data(), columns);
}

} // namespace heddle
