//===- VectorTypeTests.cpp - Types in which vectors are stored ------------===//
//
// The expected bytes are NumPy's: v.astype(float16), rint(127 * v / |v|) in
// float32 and packbits(v > 0).
//
//===----------------------------------------------------------------------===//

#include "ApiTest.h"

#include <cstring>
#include <limits>
#include <tuple>

using namespace heddle::test;
using nlohmann::json;

static constexpr float kNaN = std::numeric_limits<float>::quiet_NaN(),
                       kInfinity = std::numeric_limits<float>::infinity();

/// What one vector is stored as.
template <typename T>
static std::vector<T> stored(heddle_vector_type type,
                             const std::vector<float> &vector) {
  size_t bytes = heddle_vector_bytes(type, vector.size());
  std::vector<T> elements(bytes / sizeof(T));
  // What is behind stays.
  std::string found(bytes + 1, '#');
  EXPECT_EQ(
      heddle_store_vectors(type, vector.data(), 1, vector.size(), found.data()),
      HEDDLE_OK)
      << heddle_error();
  EXPECT_EQ(found.back(), '#');
  std::memcpy(elements.data(), found.data(), bytes);
  return elements;
}

TEST(VectorTypeTest, has_bytes_by_width) {
  for (auto [type, one, eight, nine] :
       {std::tuple(HEDDLE_VECTOR_FLOAT32, 4, 32, 36),
        std::tuple(HEDDLE_VECTOR_FLOAT16, 2, 16, 18),
        std::tuple(HEDDLE_VECTOR_INT8, 1, 8, 9),
        std::tuple(HEDDLE_VECTOR_BITS, 1, 1, 2)}) {
    EXPECT_EQ(heddle_vector_bytes(type, 0), 0u);
    EXPECT_EQ(heddle_vector_bytes(type, 1), size_t(one));
    EXPECT_EQ(heddle_vector_bytes(type, 8), size_t(eight));
    EXPECT_EQ(heddle_vector_bytes(type, 9), size_t(nine));
  }
  for (int type : {-1, 4})
    EXPECT_EQ(heddle_vector_bytes(heddle_vector_type(type), 8), 0u);
}

TEST(VectorTypeTest, float32_is_the_vector) {
  EXPECT_EQ(stored<float>(HEDDLE_VECTOR_FLOAT32, {3, -4, 0.1f, kInfinity}),
            (std::vector<float>{3, -4, 0.1f, kInfinity}));
}

TEST(VectorTypeTest, float16_is_rounded_to_even) {
  EXPECT_EQ(stored<uint16_t>(HEDDLE_VECTOR_FLOAT16,
                             {65519.99f, 65520, -65520, 2049, 2051, 2.98e-8f,
                              2.99e-8f, -0.0f, 1 / 3.0f, kInfinity, kNaN}),
            (std::vector<uint16_t>{0x7bff, 0x7c00, 0xfc00, 0x6800, 0x6802, 0, 1,
                                   0x8000, 0x3555, 0x7c00, 0x7e00}));
}

TEST(VectorTypeTest, int8_is_of_the_vector_of_length_one) {
  using Bytes = std::vector<int8_t>;
  EXPECT_EQ(stored<int8_t>(HEDDLE_VECTOR_INT8, {3, -4}), (Bytes{76, -102}));
  EXPECT_EQ(stored<int8_t>(HEDDLE_VECTOR_INT8, {1e30f, 0}), (Bytes{127, 0}));
  EXPECT_EQ(stored<int8_t>(HEDDLE_VECTOR_INT8, {0, -1e-30f}), (Bytes{0, 0}));
  // 90.5 in float32, and 63.5.
  EXPECT_EQ(stored<int8_t>(HEDDLE_VECTOR_INT8, {129, 127, 1}),
            (Bytes{90, 89, 1}));
  EXPECT_EQ(stored<int8_t>(HEDDLE_VECTOR_INT8, {7, -7, 7, -7}),
            (Bytes{64, -64, 64, -64}));
  EXPECT_EQ(stored<int8_t>(HEDDLE_VECTOR_INT8, {0, 0}), (Bytes{0, 0}));
  EXPECT_EQ(stored<int8_t>(HEDDLE_VECTOR_INT8, {kNaN, 1}), (Bytes{0, 0}));
  EXPECT_EQ(stored<int8_t>(HEDDLE_VECTOR_INT8, {kInfinity, 1}), (Bytes{0, 0}));
}

TEST(VectorTypeTest, bits_begin_with_the_highest) {
  using Bytes = std::vector<uint8_t>;
  EXPECT_EQ(stored<uint8_t>(HEDDLE_VECTOR_BITS, {1, -1, 0, 1e-30f, kNaN, -0.0f,
                                                 kInfinity, -kInfinity}),
            (Bytes{0b10010010}));
  EXPECT_EQ(
      stored<uint8_t>(HEDDLE_VECTOR_BITS, {-1, 1, 1, 1, 1, 1, 1, 1, -1, 1}),
      (Bytes{0x7f, 0x40}));
}

TEST(VectorTypeTest, rows_follow_each_other) {
  const float rows[2][3] = {{1, -1, 1}, {-1, 1, 1}};
  uint8_t bits[2] = {};
  EXPECT_EQ(heddle_store_vectors(HEDDLE_VECTOR_BITS, rows[0], 2, 3, bits),
            HEDDLE_OK);
  EXPECT_EQ(bits[0], 0xa0);
  EXPECT_EQ(bits[1], 0x60);
  int8_t bytes[6] = {};
  EXPECT_EQ(heddle_store_vectors(HEDDLE_VECTOR_INT8, rows[0], 2, 3, bytes),
            HEDDLE_OK);
  EXPECT_EQ(bytes[3], -73);
}

TEST(VectorTypeTest, refuses_what_nobody_may_pass) {
  float vector[2] = {1, 2};
  char bytes[8];
  auto expectMisuse = [](heddle_status status, const std::string &sentence) {
    EXPECT_EQ(status, HEDDLE_MISUSED) << sentence;
    EXPECT_EQ(std::string(heddle_error()), sentence);
  };
  expectMisuse(heddle_store_vectors(heddle_vector_type(4), vector, 1, 2, bytes),
               "'type' is 4, expected 0 to 3");
  expectMisuse(
      heddle_store_vectors(heddle_vector_type(-1), vector, 1, 2, bytes),
      "'type' is -1, expected 0 to 3");
  expectMisuse(heddle_store_vectors(HEDDLE_VECTOR_INT8, nullptr, 1, 2, bytes),
               "'vectors' is NULL but 'count * width' is 2");
  expectMisuse(heddle_store_vectors(HEDDLE_VECTOR_INT8, vector, 1, 2, nullptr),
               "'stored' is NULL but 'count * width' is 2");
  expectMisuse(heddle_store_vectors(HEDDLE_VECTOR_INT8, vector, size_t(1) << 62,
                                    8, bytes),
               "'count * width' is 18446744073709551615, expected at most "
               "35184372088832");
  EXPECT_EQ(heddle_store_vectors(HEDDLE_VECTOR_INT8, nullptr, 0, 2, nullptr),
            HEDDLE_OK);
}

namespace {
class PromptTest : public ApiTest {};
} // namespace

TEST_F(PromptTest, are_known_by_their_names) {
  json manifest = withoutGeneration(withEmbedding(toyManifest()));
  manifest["tasks"]["embed"] = {{"prompts", {{"query", "q"}, {"none", ""}}}};
  load(manifest);
  EXPECT_EQ(heddle_model_has_prompt(model, "query"), 1);
  EXPECT_EQ(heddle_model_has_prompt(model, "none"), 1);
  EXPECT_EQ(heddle_model_has_prompt(model, "q"), 0);
  EXPECT_EQ(heddle_model_has_prompt(model, ""), 0);
  EXPECT_EQ(heddle_model_has_prompt(model, nullptr), 0);
  EXPECT_EQ(heddle_model_has_prompt(nullptr, "query"), 0);
  load(toyManifest());
  EXPECT_EQ(heddle_model_has_prompt(model, "query"), 0);
}
