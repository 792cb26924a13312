//===- SamplingTests.cpp - Draws against exact distributions --------------===//
//
// The generator has known answers (Random123's kat_vectors for philox4x32 with
// 10 rounds). Frequencies are compared with the softmax by a chi-square test
// whose draws never change.
//
//===----------------------------------------------------------------------===//

#include "runtime/search/Sampling.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <map>

using namespace heddle;

static double fraction(uint32_t low, uint32_t high) {
  return double((uint64_t(high) << 32 | low) >> 11) * 0x1p-53;
}

TEST(SamplingTest, the_generator_is_philox) {
  EXPECT_EQ(drawUniform({0, 0, 0, 0}), fraction(0x6627e8d5, 0xe169c58d));
  uint64_t all = ~uint64_t(0);
  EXPECT_EQ(drawUniform({all, all, ~0u, ~0u}),
            fraction(0x408f276d, 0x41c83b0e));
  EXPECT_EQ(drawUniform({0x299f31d0a4093822, 0x85a308d3243f6a88, 0x13198a2e,
                         0x03707344}),
            fraction(0xd16cfe09, 0x94fdcceb));
}

/// How often each index is drawn of so many sentences.
static std::map<int64_t, int64_t> draw(const Generation &generation,
                                       const std::vector<float> &scores,
                                       int64_t count) {
  Sampler sampler(generation);
  std::map<int64_t, int64_t> drawn;
  for (int64_t i = 0; i < count; ++i)
    ++drawn[sampler
                .draw(scores.data(), int64_t(scores.size()),
                      {7, sourceKey({int32_t(i), 3}), 0, uint32_t(i % 5)})
                .index];
  return drawn;
}

/// The chi-square statistic of drawn indices against weights.
static double chiSquare(std::map<int64_t, int64_t> drawn,
                        const std::vector<double> &weights, int64_t count) {
  double total = 0, statistic = 0;
  for (double weight : weights)
    total += weight;
  for (size_t i = 0; i < weights.size(); ++i) {
    double expected = weights[i] / total * double(count);
    double difference = double(drawn[int64_t(i)]) - expected;
    statistic += weights[i] == 0 ? (drawn[int64_t(i)] == 0 ? 0 : 1e9)
                                 : difference * difference / expected;
  }
  return statistic;
}

static const std::vector<float> kScores = {1.0f, 2.5f, -1.0f, 2.0f, 0.0f, 1.5f};
static constexpr int64_t kDraws = 40000;
/// 5 degrees of freedom: one of 1,000 true ones is above 20.5.
static constexpr double kMostStatistic = 20.5;

static std::vector<double> softmax(double temperature) {
  std::vector<double> weights;
  for (float score : kScores)
    weights.push_back(std::exp(score / temperature));
  return weights;
}

TEST(SamplingTest, frequencies_are_those_of_the_softmax) {
  for (double temperature : {1.0, 0.5, 2.0}) {
    Generation generation;
    generation.temperature = temperature;
    EXPECT_LT(chiSquare(draw(generation, kScores, kDraws), softmax(temperature),
                        kDraws),
              kMostStatistic)
        << temperature;
  }
}

TEST(SamplingTest, only_the_largest) {
  Generation generation;
  generation.topK = 3;
  std::vector<double> weights = softmax(1);
  weights[0] = weights[2] = weights[4] = 0;
  EXPECT_LT(chiSquare(draw(generation, kScores, kDraws), weights, kDraws),
            kMostStatistic);
  // Those that equal the last one stay, as in transformers.
  generation.topK = 1;
  std::map<int64_t, int64_t> drawn = draw(generation, {2, 5, 5, 1}, 100);
  EXPECT_EQ(drawn.size(), 2u);
  EXPECT_EQ(drawn[1] + drawn[2], 100);
}

TEST(SamplingTest, only_the_nucleus) {
  // Probabilities 0.5, 0.3, 0.15, 0.05.
  std::vector<float> scores;
  for (double probability : {0.15, 0.5, 0.05, 0.3})
    scores.push_back(float(std::log(probability)));
  auto kept = [&](double topP, double minP = 0) {
    Generation generation;
    generation.topP = topP;
    generation.minP = minP;
    std::vector<int64_t> indices;
    for (auto [index, times] : draw(generation, scores, 2000))
      indices.push_back(index);
    return indices;
  };
  using Indices = std::vector<int64_t>;
  EXPECT_EQ(kept(0), (Indices{1}));
  EXPECT_EQ(kept(0.49), (Indices{1}));
  EXPECT_EQ(kept(0.51), (Indices{1, 3}));
  EXPECT_EQ(kept(0.9), (Indices{0, 1, 3}));
  EXPECT_EQ(kept(1), (Indices{0, 1, 2, 3}));
  EXPECT_EQ(kept(1, 0.2), (Indices{0, 1, 3}));
  EXPECT_EQ(kept(0.9, 0.5), (Indices{1, 3}));
}

TEST(SamplingTest, what_may_not_come_is_never_drawn) {
  float infinity = std::numeric_limits<float>::infinity();
  float nan = std::numeric_limits<float>::quiet_NaN();
  for (int64_t topK : {0, 2}) {
    Generation generation;
    generation.topK = topK;
    std::map<int64_t, int64_t> drawn =
        draw(generation, {-infinity, 1, nan, -infinity, 1}, 100);
    EXPECT_EQ(drawn[1] + drawn[4], 100) << topK;
    EXPECT_EQ(draw(generation, {1, infinity, 2}, 10)[1], 10);
  }
}
