//===- DerivedTensor.cpp - Parameters that are made of others -------------===//
//
// One case for each row of the table of ParameterOp, each operation in f32 but
// the sums of norms and products.
//
//===----------------------------------------------------------------------===//

#include "lib/Weights/DerivedTensor.h"
#include <algorithm>
#include <cmath>

using namespace llvm;

namespace heddle {

using Axis = StoredTensor::Axis;

/// Elements that are decoded at a time.
static constexpr uint64_t kBlockElements = 1 << 18;

/// Calls `use(row, column, value)` for each element.
template <typename Use>
static void forEachElement(const StoredTensor &tensor, const Use &use) {
  uint64_t columns = tensor.getColumns(), rows = tensor.getRows();
  uint64_t most = std::max<uint64_t>(1, kBlockElements / columns);
  std::vector<float> block(std::min(most, rows) * columns);
  for (uint64_t first = 0; first < rows; first += most) {
    uint64_t count = std::min(most, rows - first);
    tensor.decodeRows(first, count,
                      MutableArrayRef(block).take_front(count * columns));
    for (uint64_t r = 0; r < count; ++r)
      for (uint64_t c = 0; c < columns; ++c)
        use(first + r, c, block[r * columns + c]);
  }
}

static std::vector<float> valuesOf(const StoredTensor &tensor) {
  std::vector<float> values(tensor.getRows() * tensor.getColumns());
  tensor.decodeRows(0, tensor.getRows(), values);
  return values;
}

/// The least bf16 that is not below a positive number.
static float roundUpToBf16(float value) {
  constexpr uint32_t lower = 0xffff;
  uint32_t bits = bit_cast<uint32_t>(value);
  return std::isfinite(value) ? bit_cast<float>((bits + lower) & ~lower)
                              : value;
}

/// max |x| / 127 of what shares a scale, of zeros 1; what is no number stays.
/// Those of blocks are bf16. Integers of a file that have multipliers of their
/// own along the axis keep them.
static std::vector<float> scalesOf(const StoredTensor &tensor, Axis axis) {
  if (std::optional<std::vector<float>> own = tensor.storedScales(axis))
    return std::move(*own);
  uint64_t columns = tensor.getColumns(), rows = tensor.getRows();
  std::vector<float> scales(
      StoredTensor::scaleOf(axis, rows - 1, columns - 1, columns) + 1);
  forEachElement(tensor, [&](uint64_t row, uint64_t column, float value) {
    float &most = scales[StoredTensor::scaleOf(axis, row, column, columns)];
    if (!(std::abs(value) <= most) && !std::isnan(most))
      most = std::abs(value);
  });
  for (float &scale : scales) {
    scale = scale == 0.0f ? 1.0f : scale / QuantizeOp::kMost;
    if (axis == Axis::Blocks)
      scale = roundUpToBf16(scale);
  }
  return scales;
}

static StoredTensor quantize(const StoredTensor &tensor, Axis axis) {
  return tensor.quantizedBy(scalesOf(tensor, axis), axis);
}

/// Marian's QuantMultA beside a matrix; 1 if there is none.
static float inputMultiplierOf(ParameterOp matrix) {
  mlir::FloatAttr multiplier = matrix.getSource()->getInputMultiplier();
  return multiplier ? multiplier.getValue().convertToFloat() : 1.0f;
}

/// b - ((127 / a) * (127 / m) / 127) * f32(sum of integers), as Marian folds
/// what it adds to quantised vectors into the bias.
static std::vector<float> shiftBias(const StoredTensor &bias,
                                    const StoredTensor &integers,
                                    float inputMultiplier, float multiplier,
                                    Axis axis) {
  std::vector<float> values(bias.getColumns());
  bias.decodeRows(0, 1, values);
  std::vector<int64_t> sums(values.size());
  forEachElement(integers, [&](uint64_t row, uint64_t column, float value) {
    sums[axis == Axis::Columns ? column : row] += int64_t(value);
  });
  float step = (127.0f / inputMultiplier) * (127.0f / multiplier) / 127.0f;
  for (auto [value, sum] : zip_equal(values, sums)) {
    float shift = step * float(sum);
    value -= shift;
  }
  return values;
}

/// The values that the integers of a matrix stand for.
static StoredTensor fakeQuantize(const StoredTensor &tensor, Axis axis) {
  return tensor.fakeQuantizedBy(scalesOf(tensor, axis), axis);
}

/// T5's bucket of a key that is `away` from its query, of so many in its
/// direction, see ParameterOp.
static int64_t bucketOf(int64_t away, int64_t buckets, int64_t far) {
  int64_t exact = buckets / 2;
  if (away < exact)
    return away;
  float ratio = std::log(float(away) / float(exact)) /
                float(std::log(double(far) / double(exact)));
  int64_t beyond = int64_t(ratio * float(buckets - exact));
  return std::min(exact + beyond, buckets - 1);
}

/// A row for each head: its bias at distances from -far to far.
static StoredTensor spreadBuckets(const StoredTensor &table,
                                  ArrayRef<double> numbers) {
  bool hasOneDirection = numbers.size() == 3;
  auto buckets = int64_t(numbers[0]), far = int64_t(numbers[1]);
  auto bucketAt = [&](int64_t distance) {
    if (hasOneDirection)
      return bucketOf(std::max(-distance, int64_t(0)), buckets, far);
    int64_t side = buckets / 2;
    return (distance > 0 ? side : 0) + bucketOf(std::abs(distance), side, far);
  };
  int64_t heads = int64_t(table.getColumns());
  int64_t columns = 2 * far + 1;
  std::vector<float> biases = valuesOf(table), values(size_t(heads * columns));
  for (int64_t head = 0; head < heads; ++head)
    for (int64_t column = 0; column < columns; ++column)
      values[size_t(head * columns + column)] =
          biases[size_t(bucketAt(column - far) * heads + head)];
  return StoredTensor::fromValues(std::move(values), uint64_t(heads));
}

/// The layer norm of each row.
static StoredTensor normalizeRows(ArrayRef<StoredTensor> parts,
                                  double epsilon) {
  uint64_t rows = parts[0].getRows(), width = parts[0].getColumns();
  std::vector<float> values = valuesOf(parts[0]), gamma = valuesOf(parts[1]),
                     beta = valuesOf(parts[2]);
  for (uint64_t r = 0; r < rows; ++r) {
    MutableArrayRef<float> row =
        MutableArrayRef(values).slice(r * width, width);
    double sum = 0, squares = 0;
    for (float value : row)
      sum += double(value);
    double mean = sum / double(width);
    for (float value : row)
      squares += (double(value) - mean) * (double(value) - mean);
    double scale = 1 / std::sqrt(squares / double(width) + epsilon);
    for (auto [value, factor, bias] : zip_equal(row, gamma, beta))
      value =
          float((double(value) - mean) * scale * double(factor) + double(bias));
  }
  return StoredTensor::fromValues(std::move(values), rows);
}

/// x w + b.
static StoredTensor multiply(ArrayRef<StoredTensor> parts) {
  uint64_t rows = parts[0].getRows(), depth = parts[0].getColumns(),
           columns = parts[1].getColumns();
  std::vector<float> x = valuesOf(parts[0]), w = valuesOf(parts[1]),
                     b = valuesOf(parts[2]), values;
  values.reserve(rows * columns);
  std::vector<double> sums;
  for (uint64_t r = 0; r < rows; ++r) {
    sums.assign(b.begin(), b.end());
    for (uint64_t k = 0; k < depth; ++k)
      for (uint64_t c = 0; c < columns; ++c)
        sums[c] += double(x[r * depth + k]) * double(w[k * columns + c]);
    values.insert(values.end(), sums.begin(), sums.end());
  }
  return StoredTensor::fromValues(std::move(values), rows);
}

/// DeBERTa-v2's bucket of a distance, see ParameterOp.
static int64_t logBucketOf(int64_t distance, int64_t buckets, int64_t most) {
  int64_t middle = buckets / 2, away = std::abs(distance);
  if (buckets == 0 || away <= middle)
    return distance;
  float ratio = std::log(float(away) / float(middle)) /
                std::log(float(double(most - 1) / double(middle)));
  auto bucket = int64_t(std::ceil(ratio * float(middle - 1))) + middle;
  return distance < 0 ? -bucket : bucket;
}

/// A column for each distance from -far to far: the row of its bucket.
static StoredTensor spreadLogBuckets(const StoredTensor &table,
                                     ArrayRef<double> numbers) {
  auto rows = int64_t(table.getRows()), width = int64_t(table.getColumns());
  auto far = int64_t(numbers[2]), columns = 2 * far + 1;
  std::vector<float> vectors = valuesOf(table), values(size_t(width * columns));
  for (int64_t column = 0; column < columns; ++column) {
    int64_t bucket =
        logBucketOf(column - far, int64_t(numbers[0]), int64_t(numbers[1]));
    int64_t row = std::clamp<int64_t>(bucket + rows / 2, 0, rows - 1);
    for (int64_t k = 0; k < width; ++k)
      values[size_t(k * columns + column)] = vectors[size_t(row * width + k)];
  }
  return StoredTensor::fromValues(std::move(values), uint64_t(width));
}

/// A frequency that is scaled as Llama 3.1 scales it, see ParameterOp.
static float scaleByParts(float frequency, ArrayRef<double> scaling) {
  auto [factor, low, high, length] =
      std::tuple(float(scaling[0]), float(scaling[1]), float(scaling[2]),
                 float(scaling[3]));
  float wave = float(2 * M_PI) / frequency;
  if (wave < float(scaling[3] / scaling[2]))
    return frequency;
  if (wave > float(scaling[3] / scaling[1]))
    return frequency / factor;
  float part = (length / wave - low) / float(scaling[2] - scaling[1]);
  return (1 - part) * frequency / factor + part * frequency;
}

/// One for each pair of elements, see ParameterOp.
static StoredTensor makeRotaryFrequencies(int64_t count,
                                          ArrayRef<double> numbers) {
  std::vector<float> values;
  for (int64_t k = 0; k < count; ++k) {
    double power = std::pow(numbers[0], double(float(k) / float(count)));
    float frequency = 1.0f / float(power);
    values.push_back(numbers.size() == 1 ? frequency
                     : numbers.size() == 2
                         ? frequency / float(numbers[1])
                         : scaleByParts(frequency, numbers.drop_front()));
  }
  return StoredTensor::fromValues(std::move(values));
}

/// One for each head, see ParameterOp.
static StoredTensor makeAlibiSlopes(int64_t heads) {
  auto most = int64_t(llvm::bit_floor(uint64_t(heads)));
  std::vector<float> values;
  for (int64_t h = 0; h < heads; ++h) {
    double power = h < most ? 8.0 * double(h + 1) / double(most)
                            : 4.0 * double(2 * (h - most) + 1) / double(most);
    values.push_back(float(std::exp2(-power)));
  }
  return StoredTensor::fromValues(std::move(values));
}

/// A row for each position, see ParameterOp.
static StoredTensor makeSinusoids(int64_t rows, int64_t width, int64_t pad) {
  int64_t half = width / 2;
  double step = -std::log(10000.0) / double(half - 1);
  std::vector<float> values(size_t(rows * width));
  for (int64_t k = 0; k < half; ++k) {
    auto frequency = float(std::exp(double(float(step) * float(k))));
    for (int64_t row = 0; row < rows; ++row) {
      if (row == pad)
        continue;
      float angle = float(row) * frequency;
      values[size_t(row * width + k)] = float(std::sin(double(angle)));
      values[size_t(row * width + half + k)] = float(std::cos(double(angle)));
    }
  }
  return StoredTensor::fromValues(std::move(values), uint64_t(rows));
}

StoredTensor deriveTensor(ParameterOp parameter,
                          std::vector<StoredTensor> parts) {
  mlir::RankedTensorType type = parameter.getTensorType();
  if (parameter.getDerivation() == Derivation::RotaryFrequencies)
    return makeRotaryFrequencies(type.getNumElements(),
                                 *parameter.getNumbers());
  if (parameter.getDerivation() == Derivation::Sinusoids)
    return makeSinusoids(type.getDimSize(0), type.getDimSize(1),
                         int64_t(parameter.getNumbers()->front()));
  if (parameter.getDerivation() == Derivation::AlibiSlopes)
    return makeAlibiSlopes(type.getNumElements());
  SmallVector<ParameterOp, 0> declared = parameter.getPartOps();
  const StoredTensor &matrix = parts.back();
  switch (*parameter.getDerivation()) {
  case Derivation::Columns:
    return parameter.getNumbers()
               ? StoredTensor::interleave(
                     std::move(parts),
                     uint64_t(parameter.getNumbers()->front()))
               : StoredTensor::concatenate(std::move(parts));
  case Derivation::ColumnIntegers:
    return quantize(matrix, Axis::Columns);
  case Derivation::RowIntegers:
    return quantize(matrix, Axis::Rows);
  case Derivation::BlockIntegers:
    return quantize(matrix, Axis::Blocks);
  case Derivation::WithScales:
    return parts.front();
  case Derivation::AsColumnI8:
    return fakeQuantize(matrix, Axis::Columns);
  case Derivation::AsRowI8:
    return fakeQuantize(matrix, Axis::Rows);
  case Derivation::AsBlockI8:
    return fakeQuantize(matrix, Axis::Blocks);
  case Derivation::AsBF16:
  case Derivation::Rounded:
    return matrix.rounded(StoredTensor::Rounding::BF16);
  case Derivation::AsF16:
  case Derivation::RoundedToF16:
    return matrix.rounded(StoredTensor::Rounding::F16);
  case Derivation::ColumnScales:
    return StoredTensor::fromValues(scalesOf(matrix, Axis::Columns));
  case Derivation::RowScales:
    return StoredTensor::fromValues(scalesOf(matrix, Axis::Rows));
  case Derivation::BlockScales:
    return StoredTensor::fromValues(
        scalesOf(matrix, Axis::Blocks),
        llvm::divideCeil(matrix.getRows(), uint64_t(kScaledInputs)));
  case Derivation::Rotated:
    return matrix.rotated();
  case Derivation::RelativeBuckets:
    return spreadBuckets(matrix, *parameter.getNumbers());
  case Derivation::RotaryFrequencies:
  case Derivation::Sinusoids:
  case Derivation::AlibiSlopes:
    break; // Above: of no parts.
  case Derivation::Shifted:
    return matrix.shiftedBy(float(parameter.getNumbers()->front()));
  case Derivation::SplitPairs:
    return matrix.splitPairs(uint64_t(parameter.getNumbers()->front()),
                             uint64_t(parameter.getNumbers()->back()));
  case Derivation::RowNorms:
    return normalizeRows(parts, parameter.getNumbers()->front());
  case Derivation::Product:
    return multiply(parts);
  case Derivation::LogBuckets:
    return spreadLogBuckets(matrix, *parameter.getNumbers());
  case Derivation::One:
    return StoredTensor::fromValues({1.0f});
  case Derivation::Multiplier:
    return StoredTensor::fromValues({matrix.getMultiplier()});
  case Derivation::InputMultiplier:
    return StoredTensor::fromValues({inputMultiplierOf(declared.back())});
  case Derivation::ProductScales: {
    float scale =
        1.0f / (inputMultiplierOf(declared.back()) * matrix.getMultiplier());
    return StoredTensor::fromValues(
        std::vector<float>(parameter.getTensorType().getNumElements(), scale));
  }
  case Derivation::ColumnShiftedBias:
  case Derivation::RowShiftedBias: {
    bool byColumns = parameter.getDerivation() == Derivation::ColumnShiftedBias;
    return StoredTensor::fromValues(shiftBias(
        parts.front(), matrix, inputMultiplierOf(declared.back()),
        matrix.getMultiplier(), byColumns ? Axis::Columns : Axis::Rows));
  }
  }
  llvm_unreachable("all derivations are covered");
}

} // namespace heddle
