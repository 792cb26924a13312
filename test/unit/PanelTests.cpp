// Panels of each type of element: their shape, and the bytes of each place.

#include "dialect/linear/PanelLayout.h"
#include "lib/Artifact/Panels.h"
#include "gtest/gtest.h"
#include <cstring>
#include <vector>

using namespace heddle;
using Shape = llvm::SmallVector<int64_t>;

TEST(Panels, ShapeFollowsFromTheFormat) {
  // 33 columns take two panels, and a part has panels of its own.
  EXPECT_EQ(PanelLayout(WeightFormat::F32, {33, 8}).shape(37),
            (Shape{3, 37, 32}));
  EXPECT_EQ(PanelLayout(WeightFormat::ShortFloats, {33, 8}).shape(37),
            (Shape{3, 19, 32, 2}));
  EXPECT_EQ(PanelLayout(WeightFormat::Integers, {33, 8}).shape(37),
            (Shape{3, 11, 32, 4}));
  EXPECT_EQ(PanelLayout(WeightFormat::Integers, {33, 8}).byteSize(37),
            3 * 11 * 128);
  EXPECT_EQ(PanelLayout(WeightFormat::Integers, {33, 8}).describe(),
            "[3, in / 4 + 1, 32, 4]");
  PanelLayout scaled(WeightFormat::ScaledIntegers, {33, 8});
  EXPECT_EQ(scaled.shape(37), (Shape{3, 2 * 34, 32}));
  EXPECT_EQ(scaled.byteSize(37), 3 * 2 * 34 * 32);
  EXPECT_EQ(scaled.describe(), "[3, 34 in / 32, 32]");
}

TEST(Panels, DepthIsAWholeNumberOfGroups) {
  EXPECT_EQ(PanelLayout(WeightFormat::F32, {33}).depthOf({2, 37, 32}), 37);
  EXPECT_EQ(
      PanelLayout(WeightFormat::ShortFloats, {33}).depthOf({2, 19, 32, 2}), 38);
  EXPECT_EQ(PanelLayout(WeightFormat::Integers, {33}).depthOf({2, 11, 32, 4}),
            40);
}

TEST(Panels, OtherShapesHaveNoDepth) {
  for (const Shape &shape :
       {Shape{2, 37}, Shape{3, 37, 32}, Shape{2, 37, 16}, Shape{2, 37, 32, 1}})
    EXPECT_FALSE(PanelLayout(WeightFormat::F32, {33}).depthOf(shape));
  for (const Shape &shape :
       {Shape{2, 11, 32}, Shape{2, 0, 32, 4}, Shape{2, 11, 32, 2}})
    EXPECT_FALSE(PanelLayout(WeightFormat::Integers, {33}).depthOf(shape));
}

/// Packs a panel that is cut, of an odd depth, and looks for each of its
/// elements; what else is in it has to be 0. `rows` are those before the first
/// group.
template <typename Element>
static void checkPanel(WeightFormat format, int64_t group, int64_t rows) {
  constexpr int64_t depth = 7, columns = 45, first = 32, count = 13;
  std::vector<Element> values(depth * columns);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = Element(i % 100 + 1);
  llvm::SmallVector<char, 0> bytes =
      packPanel<Element>({values, depth, columns}, format, first, count);
  int64_t groups = (depth + group - 1) / group;
  ASSERT_EQ(int64_t(bytes.size()),
            (rows + groups) * 32 * group * int64_t(sizeof(Element)));
  std::vector<Element> panel(bytes.size() / sizeof(Element));
  std::memcpy(panel.data(), bytes.data(), bytes.size());
  for (int64_t k = 0; k < groups * group; ++k)
    for (int64_t c = 0; c < 32; ++c) {
      bool isThere = k < depth && c < count;
      Element expected = isThere ? values[k * columns + first + c] : Element(0);
      EXPECT_EQ(panel[((rows + k / group) * 32 + c) * group + k % group],
                expected)
          << "k " << k << " column " << c;
    }
}

TEST(Panels, GroupsOfF32) { checkPanel<float>(WeightFormat::F32, 1, 0); }
TEST(Panels, GroupsOfBF16) {
  checkPanel<uint16_t>(WeightFormat::ShortFloats, 2, 0);
}
TEST(Panels, GroupsOfF16) {
  checkPanel<_Float16>(WeightFormat::ShortFloats, 2, 0);
}
TEST(Panels, GroupsOfI8) { checkPanel<int8_t>(WeightFormat::Integers, 4, 1); }

TEST(Panels, BlocksOfI8StandBehindTheirScales) {
  constexpr int64_t depth = 37, columns = 45, first = 32, count = 13;
  std::vector<int8_t> values(depth * columns);
  std::vector<float> scales(2 * columns);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = int8_t(i % 100 + 1);
  for (size_t i = 0; i < scales.size(); ++i)
    scales[i] = float(i + 1);
  llvm::SmallVector<char, 0> panel =
      packPanel<int8_t>({values, depth, columns, scales},
                        WeightFormat::ScaledIntegers, first, count);
  ASSERT_EQ(panel.size(), 2u * 34 * 32);
  for (int64_t k = 0; k < 64; ++k)
    for (int64_t c = 0; c < 32; ++c) {
      bool isThere = k < depth && c < count;
      int64_t block = k / 32;
      EXPECT_EQ(panel[(block * 34 + 2 + k % 32) * 32 + c],
                isThere ? values[k * columns + first + c] : 0);
      uint16_t bits;
      std::memcpy(&bits, &panel[block * 34 * 32 + 2 * c], sizeof(bits));
      EXPECT_EQ(llvm::bit_cast<float>(uint32_t(bits) << 16),
                c < count ? scales[block * columns + first + c] : 0);
    }
}

TEST(Panels, SumsOfI8StartWithTheirColumns) {
  std::vector<int8_t> values = {-128, 1, 127, -128, 3, 127, -128, -5, 127};
  llvm::SmallVector<char, 0> bytes =
      packPanel<int8_t>({values, 3, 3}, WeightFormat::Integers, 0, 3);
  int32_t starts[32];
  std::memcpy(starts, bytes.data(), sizeof(starts));
  EXPECT_EQ(starts[0], 128 * 3 * 128);
  EXPECT_EQ(starts[1], 128);
  EXPECT_EQ(starts[2], -128 * 3 * 127);
  for (int64_t c = 3; c < 32; ++c)
    EXPECT_EQ(starts[c], 0);
}
