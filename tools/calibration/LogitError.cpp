//===- LogitError.cpp - How far logits are from others --------------------===//
//
// Vocabularies are large: loops are such that compilers make vectors of them.
//
//===----------------------------------------------------------------------===//

#include "tools/calibration/LogitError.h"
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

ExpectedRow::ExpectedRow(llvm::ArrayRef<float> values)
    : logits(values.begin(), values.end()), mean(meanOf(values)),
      squares(sumOf(values.size(),
                    [&](size_t i) {
                      return (double(values[i]) - mean) *
                             (double(values[i]) - mean);
                    })),
      largest(std::max_element(logits.begin(), logits.end()) - logits.begin()) {
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

void LogitError::add(llvm::ArrayRef<float> found, const ExpectedRow &expected) {
  llvm::ArrayRef<float> logits = expected.logits;
  double shift = meanOf(found) - expected.mean;
  auto differenceAt = [&](size_t i) {
    return double(found[i]) - double(logits[i]) - shift;
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
  ++positions;
  changed += isAnotherLargest(found, expected.largest);
}
