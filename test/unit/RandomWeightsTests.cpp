//===- RandomWeightsTests.cpp - Numbers that anybody can make -------------===//

#include "FileBuilders.h"
#include "lib/Weights/RandomWeights.h"
#include "lib/Weights/StoredTensor.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::test;

namespace {

TEST(RandomWeights, FollowTheFormula) {
  // From the formula in Python, whose Philox gives Random123's known answers.
  std::vector<float> expected = {0.0336894728243351f,    0.007616827264428139f,
                                 0.016360197216272354f,  0.02765750326216221f,
                                 -0.011156626977026463f, 0.0014484124258160591f,
                                 -0.002668831730261445f};
  std::vector<float> values(expected.size());
  drawNormal(0x123456789abcdef0, "a.weight", 0.02, values);
  EXPECT_EQ(values, expected);
}

TEST(RandomWeights, AreNormal) {
  constexpr int count = 100'000;
  std::vector<float> values(count);
  drawNormal(1, "a", 2.0, values);
  double sum = 0, squares = 0, within = 0;
  for (double value : values) {
    sum += value;
    squares += value * value;
    within += std::abs(value) < 2.0;
  }
  // Five standard errors each.
  EXPECT_NEAR(sum / count, 0.0, 5 * 2.0 / std::sqrt(count));
  EXPECT_NEAR(squares / count, 4.0, 5 * 4.0 * std::sqrt(2.0 / count));
  EXPECT_NEAR(within / count, 0.6827, 5 * std::sqrt(0.6827 * 0.3173 / count));
}

TEST(RandomWeights, AreAFileLikeAnyOther) {
  std::vector<RandomTensor> tensors = {{"w", {3, 5}, 0.5, 0.0f},
                                       {"ones", {7}, 0.0, 1.0f},
                                       {"v", {4, 2}, 0.5, 0.0f, 1}};
  auto file = makeRandomFile(tensors, 3, "random");
  ASSERT_TRUE(bool(file)) << llvm::toString(file.takeError());
  ASSERT_EQ(file->getTensors().size(), 3u);
  for (const RandomTensor &tensor : tensors) {
    const TensorInfo *info = file->find(tensor.name);
    ASSERT_TRUE(info);
    uint64_t count = *countElements(tensor.shape);
    auto stored =
        StoredTensor::create(tensor.name, {int64_t(count)}, *info->encoding,
                             false, *file, info->offset);
    ASSERT_TRUE(bool(stored));
    std::vector<float> values(count), expected(count, tensor.constant);
    stored->decodeRows(0, 1, values);
    if (tensor.deviation > 0)
      drawNormal(3, tensor.name, tensor.deviation, expected);
    if (tensor.zeroRow)
      expected[2] = expected[3] = 0.0f;
    EXPECT_EQ(values, expected);
  }
}

} // namespace
