// Panels of each type of element: their shape, and the bytes of each place.

#include "dialect/linear/PanelLayout.h"
#include "lib/Artifact/Panels.h"
#include "gtest/gtest.h"
#include <cstring>
#include <vector>

using namespace heddle;
using Shape = llvm::SmallVector<int64_t>;

TEST(Panels, ShapeFollowsFromTheElement) {
  // 33 columns take two panels, and a part has panels of its own.
  EXPECT_EQ(PanelLayout(4, {33, 8}).shape(37), (Shape{3, 37, 32}));
  EXPECT_EQ(PanelLayout(2, {33, 8}).shape(37), (Shape{3, 19, 32, 2}));
  EXPECT_EQ(PanelLayout(1, {33, 8}).shape(37), (Shape{3, 11, 32, 4}));
  EXPECT_EQ(PanelLayout(1, {33, 8}).byteSize(37), 3 * 11 * 128);
  EXPECT_EQ(PanelLayout(1, {33, 8}).describe(), "[3, in / 4 + 1, 32, 4]");
}

TEST(Panels, DepthIsAWholeNumberOfGroups) {
  EXPECT_EQ(PanelLayout(4, {33}).depthOf({2, 37, 32}), 37);
  EXPECT_EQ(PanelLayout(2, {33}).depthOf({2, 19, 32, 2}), 38);
  EXPECT_EQ(PanelLayout(1, {33}).depthOf({2, 11, 32, 4}), 40);
}

TEST(Panels, OtherShapesHaveNoDepth) {
  for (const Shape &shape :
       {Shape{2, 37}, Shape{3, 37, 32}, Shape{2, 37, 16}, Shape{2, 37, 32, 1}})
    EXPECT_FALSE(PanelLayout(4, {33}).depthOf(shape));
  for (const Shape &shape :
       {Shape{2, 11, 32}, Shape{2, 0, 32, 4}, Shape{2, 11, 32, 2}})
    EXPECT_FALSE(PanelLayout(1, {33}).depthOf(shape));
}

/// Packs a panel that is cut, of an odd depth, and looks for each of its
/// elements; what else is in it has to be 0. `rows` are those before the first
/// group.
template <typename Element>
static void checkPanel(int64_t group, int64_t rows) {
  constexpr int64_t depth = 7, columns = 45, first = 32, count = 13;
  std::vector<Element> values(depth * columns);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = Element(i % 100 + 1);
  llvm::SmallVector<char, 0> bytes =
      packPanel<Element>({values, depth, columns}, first, count);
  int64_t groups = (depth + group - 1) / group;
  ASSERT_EQ(int64_t(bytes.size()), (rows + groups) * 128);
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

TEST(Panels, GroupsOfF32) { checkPanel<float>(1, 0); }
TEST(Panels, GroupsOfBF16) { checkPanel<uint16_t>(2, 0); }
TEST(Panels, GroupsOfF16) { checkPanel<_Float16>(2, 0); }
TEST(Panels, GroupsOfI8) { checkPanel<int8_t>(4, 1); }

TEST(Panels, SumsOfI8StartWithTheirColumns) {
  std::vector<int8_t> values = {-128, 1, 127, -128, 3, 127, -128, -5, 127};
  llvm::SmallVector<char, 0> bytes = packPanel<int8_t>({values, 3, 3}, 0, 3);
  int32_t starts[32];
  std::memcpy(starts, bytes.data(), sizeof(starts));
  EXPECT_EQ(starts[0], 128 * 3 * 128);
  EXPECT_EQ(starts[1], 128);
  EXPECT_EQ(starts[2], -128 * 3 * 127);
  for (int64_t c = 3; c < 32; ++c)
    EXPECT_EQ(starts[c], 0);
}
