//===- RowError.cpp - How far rows of numbers are from others -------------===//
//
// Vocabularies are large: loops are such that compilers make vectors of them.
//
//===----------------------------------------------------------------------===//

#include "tools/calibration/RowError.h"
#include <algorithm>
#include <numeric>

using namespace heddle;

/// Sums of their own that run beside each other.
static constexpr size_t kSums = 8;

/// The sum of value(i) for all i < count.
template <typename Value> static double sumOf(size_t count, Value value) {
  double sums[kSums] = {};
  size_t i = 0;
  for (; i + kSums <= count; i += kSums)
    for (size_t k = 0; k < kSums; ++k)
      sums[k] += value(i + k);
  double sum = 0;
  for (; i < count; ++i)
    sum += value(i);
  return std::accumulate(sums, sums + kSums, sum);
}

static double meanOf(llvm::ArrayRef<float> values) {
  return sumOf(values.size(), [&](size_t i) { return double(values[i]); }) /
         double(values.size());
}

ExpectedRow::ExpectedRow(llvm::ArrayRef<float> values, RowKind kind)
    : values(values.begin(), values.end()), kind(kind),
      mean(kind == RowKind::Logits ? meanOf(values) : 0),
      squares(sumOf(values.size(),
                    [&](size_t i) {
                      return (double(values[i]) - mean) *
                             (double(values[i]) - mean);
                    })),
      largest(std::max_element(values.begin(), values.end()) - values.begin()) {
}

/// Whether entry number `first` is not the first of the largest.
static bool isAnotherLargest(llvm::ArrayRef<float> values, size_t first) {
  float largest = values[first];
  size_t others = 0;
  for (float value : values.take_front(first))
    others += !(value < largest);
  for (float value : values.drop_front(first))
    others += !(value <= largest);
  return others != 0;
}

/// Whether a row chooses something else.
static bool isAnother(llvm::ArrayRef<float> found,
                      const ExpectedRow &expected) {
  if (expected.kind == RowKind::Logits)
    return isAnotherLargest(found, expected.largest);
  if (expected.kind == RowKind::Vector)
    return false;
  for (size_t i = 0; i < found.size(); ++i)
    if ((found[i] > 0) != (expected.values[i] > 0))
      return true;
  return false;
}

void RowError::addCosine(llvm::ArrayRef<float> found,
                         const ExpectedRow &expected) {
  llvm::ArrayRef<float> values = expected.values;
  size_t count = found.size();
  double product = sumOf(
      count, [&](size_t i) { return double(found[i]) * double(values[i]); });
  double squares =
      sumOf(count, [&](size_t i) { return double(found[i]) * found[i]; });
  // Of vectors without a direction 1 if both are.
  double lengths = std::sqrt(squares * expected.squares);
  double cosine = lengths > 0 ? product / lengths : squares == expected.squares;
  cosines += cosine;
  // What is no number is the least, and stays it.
  if (!std::isnan(leastCosine))
    leastCosine = std::isnan(cosine) ? cosine : std::min(leastCosine, cosine);
}

void RowError::add(llvm::ArrayRef<float> found, const ExpectedRow &expected) {
  llvm::ArrayRef<float> values = expected.values;
  double shift =
      expected.kind == RowKind::Logits ? meanOf(found) - expected.mean : 0;
  auto differenceAt = [&](size_t i) {
    return double(found[i]) - double(values[i]) - shift;
  };
  double most = 0;
  double sum = sumOf(found.size(), [&](size_t i) {
    double difference = differenceAt(i);
    return difference * difference;
  });
  for (size_t i = 0; i < found.size(); ++i)
    most = std::max(most, std::abs(differenceAt(i)));
  squares += sum;
  squaresOfF32 += expected.squares;
  // What is no number is the largest, and stays it.
  if (!std::isnan(largest))
    largest = std::isnan(sum) ? sum : std::max(largest, most);
  ++rows;
  changed += isAnother(found, expected);
  if (expected.kind == RowKind::Vector)
    addCosine(found, expected);
}
