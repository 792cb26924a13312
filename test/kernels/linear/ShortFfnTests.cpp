// An ffn of short types against the two linears that it stands for: the same
// bits, however many hidden vectors a task keeps. What the linears compute is
// compared with formulas elsewhere.

#include "test/kernels/LayerTest.h"

using namespace heddle;
using namespace heddle::test;

namespace {
class ShortFfnTest : public LayerTest {
protected:
  /// Of an entry whose lines are `before` and `linears`, and of one with `ffn`.
  void expectOneResult(const std::string &before, const std::string &linears,
                       const std::string &ffn);
};

struct Shape {
  int64_t width, hidden;
};
} // namespace

INSTANTIATE_TEST_SUITE_P(, ShortFfnTest, testing::ValuesIn(everyCodeOfInt8()),
                         testing::PrintToStringParamName());

/// Whole tiles, vectors that end in a group, and hidden vectors that leave a
/// task fewer rows than a block has.
static const Shape kShapes[] = {{32, 64}, {33, 65}, {64, 96}, {32, 20480}};
static constexpr int64_t kRows = 29;

static std::string nameOf(const char *form, const Shape &shape) {
  return form + std::to_string(shape.width) + "x" +
         std::to_string(shape.hidden);
}

/// `text` for a shape.
static std::string fillShape(const std::string &text, const Shape &shape) {
  return fill(text, {{"SHAPE", nameOf("", shape)},
                     {"INx", std::to_string(shape.width) + "x"},
                     {"HIDDEN", std::to_string(shape.hidden)}});
}

/// An entry from x to y with these lines.
static std::string entryOf(const std::string &name, const std::string &lines) {
  return "func.func @" + name + R"((
    %x: tensor<?xINxf32> {transformer.name = "x",
                          transformer.dims = ["rows"]})
    -> (tensor<?xINxf32> {transformer.name = "y"}) {)" +
         lines + R"(
  return %y : tensor<?xINxf32>
}
)";
}

static Weights weightsOf() {
  Weights weights;
  for (const Shape &shape : kShapes) {
    std::string name = nameOf("", shape);
    int64_t size = shape.width * shape.hidden;
    weights["w1_" + name] = {{shape.width, shape.hidden},
                             randomValues(size, 1, 0.3f)};
    weights["b1_" + name] = {{shape.hidden}, randomValues(shape.hidden, 2)};
    weights["w2_" + name] = {{shape.hidden, shape.width},
                             randomValues(size, 3, 0.1f)};
    weights["b2_" + name] = {{shape.width}, randomValues(shape.width, 4)};
    weights["m1_" + name] = {{1}, {60.0f}};
    weights["m2_" + name] = {{1}, {35.0f}};
    weights["g_" + name] = {{shape.width}, randomValues(shape.width, 6)};
  }
  return weights;
}

static const std::string kParameters = R"(
transformer.parameter @w1_SHAPE : tensor<INxHIDDENxf32>
transformer.parameter @b1_SHAPE : tensor<HIDDENxf32>
transformer.parameter @w2_SHAPE : tensor<HIDDENxINxf32>
transformer.parameter @b2_SHAPE : tensor<INxf32>
transformer.parameter @m1_SHAPE : tensor<1xf32>
transformer.parameter @m2_SHAPE : tensor<1xf32>
transformer.parameter @g_SHAPE : tensor<INxf32>
transformer.parameter @r1_SHAPE : tensor<INxHIDDENxbf16> rounded of [@w1_SHAPE]
transformer.parameter @r2_SHAPE : tensor<HIDDENxINxbf16> rounded of [@w2_SHAPE]
transformer.parameter @i1_SHAPE : tensor<INxHIDDENxi8> column_integers of [@w1_SHAPE]
transformer.parameter @s1_SHAPE : tensor<HIDDENxf32> column_scales of [@w1_SHAPE]
transformer.parameter @i2_SHAPE : tensor<HIDDENxINxi8> column_integers of [@w2_SHAPE]
transformer.parameter @s2_SHAPE : tensor<INxf32> column_scales of [@w2_SHAPE]
)";

void ShortFfnTest::expectOneResult(const std::string &before,
                                   const std::string &linears,
                                   const std::string &ffn) {
  std::string module;
  for (const Shape &shape : kShapes)
    module +=
        fillShape(kParameters + entryOf("linears_SHAPE", before + linears) +
                      entryOf("ffn_SHAPE", before + ffn),
                  shape);
  withCode(module, weightsOf(), [&](const EntryRunner &code) {
    for (const Shape &shape : kShapes) {
      SCOPED_TRACE(nameOf("", shape));
      Values values = {{"x", randomValues(kRows * shape.width, 5)}};
      ASSERT_EQ(runInBatches(code, nameOf("ffn_", shape), kRows, values),
                runInBatches(code, nameOf("linears_", shape), kRows, values));
    }
  });
}

TEST_P(ShortFfnTest, RoundsHiddenVectors) {
  if (takesSample())
    GTEST_SKIP() << "an ffn is two linears on a GPU: --all";
  expectOneResult(R"(
  %w1 = transformer.weight @r1_SHAPE : tensor<INxHIDDENxbf16>
  %b1 = transformer.weight @b1_SHAPE : tensor<HIDDENxf32>
  %w2 = transformer.weight @r2_SHAPE : tensor<HIDDENxINxbf16>
  %b2 = transformer.weight @b2_SHAPE : tensor<INxf32>
  %g = transformer.weight @g_SHAPE : tensor<INxf32>
  %r = transformer.round %x : (tensor<?xINxf32>) -> tensor<?xINxbf16>
)",
                  R"(
  %h = transformer.linear %r, %w1, %b1 activation(gelu) round
    : (tensor<?xINxbf16>, tensor<INxHIDDENxbf16>, tensor<HIDDENxf32>)
      -> tensor<?xHIDDENxbf16>
  %y = transformer.linear %h, %w2, %b2 residual(%x) norm(layer, %g, %b2, 0.5)
    : (tensor<?xHIDDENxbf16>, tensor<HIDDENxINxbf16>, tensor<INxf32>,
       tensor<?xINxf32>, tensor<INxf32>, tensor<INxf32>) -> tensor<?xINxf32>)",
                  R"(
  %y = transformer.ffn %r, %w1, %b1, %w2, %b2 activation(gelu) residual(%x)
         norm(layer, %g, %b2, 0.5)
    : (tensor<?xINxbf16>, tensor<INxHIDDENxbf16>, tensor<HIDDENxf32>,
       tensor<HIDDENxINxbf16>, tensor<INxf32>, tensor<?xINxf32>,
       tensor<INxf32>, tensor<INxf32>) -> tensor<?xINxf32>)");
}

static const std::string kIntegerWeights = R"(
  %i1 = transformer.weight @i1_SHAPE : tensor<INxHIDDENxi8>
  %s1 = transformer.weight @s1_SHAPE : tensor<HIDDENxf32>
  %b1 = transformer.weight @b1_SHAPE : tensor<HIDDENxf32>
  %i2 = transformer.weight @i2_SHAPE : tensor<HIDDENxINxi8>
  %s2 = transformer.weight @s2_SHAPE : tensor<INxf32>
  %b2 = transformer.weight @b2_SHAPE : tensor<INxf32>
  %m1 = transformer.weight @m1_SHAPE : tensor<1xf32>
  %m2 = transformer.weight @m2_SHAPE : tensor<1xf32>
)";

/// Rotated ones, or others.
static std::string withRotation(const char *text, bool isRotated) {
  return fill(text, {{" ROTATED", isRotated ? " rotated" : ""}});
}

TEST_P(ShortFfnTest, ScalesHiddenVectors) {
  if (takesSample())
    GTEST_SKIP() << "an ffn is two linears on a GPU: --all";
  const char *linears = R"(
  %h = transformer.linear %q scales(%s), %i1 scales(%s1), %b1 activation(relu)
    : (tensor<?xINxi8>, tensor<?xf32>, tensor<INxHIDDENxi8>, tensor<HIDDENxf32>,
       tensor<HIDDENxf32>) -> tensor<?xHIDDENxf32>
  %p, %t = transformer.quantize %h ROTATED
    : (tensor<?xHIDDENxf32>) -> (tensor<?xHIDDENxi8>, tensor<?xf32>)
  %y = transformer.linear %p scales(%t), %i2 scales(%s2), %b2
    : (tensor<?xHIDDENxi8>, tensor<?xf32>, tensor<HIDDENxINxi8>,
       tensor<INxf32>, tensor<INxf32>) -> tensor<?xINxf32>)";
  const char *ffn = R"(
  %y = transformer.ffn %q scales(%s), %i1 scales(%s1), %b1, %i2 scales(%s2), %b2
         ROTATED activation(relu)
    : (tensor<?xINxi8>, tensor<?xf32>, tensor<INxHIDDENxi8>, tensor<HIDDENxf32>,
       tensor<HIDDENxf32>, tensor<HIDDENxINxi8>, tensor<INxf32>,
       tensor<INxf32>) -> tensor<?xINxf32>)";
  for (bool isRotated : {false, true})
    expectOneResult(kIntegerWeights + R"(
  %q, %s = transformer.quantize %x
    : (tensor<?xINxf32>) -> (tensor<?xINxi8>, tensor<?xf32>)
)",
                    withRotation(linears, isRotated),
                    withRotation(ffn, isRotated));
}

TEST_P(ShortFfnTest, QuantisesHiddenVectorsByAMultiplier) {
  if (takesSample())
    GTEST_SKIP() << "an ffn is two linears on a GPU: --all";
  expectOneResult(kIntegerWeights + R"(
  %q = transformer.quantize %x multiplier(%m1)
    : (tensor<?xINxf32>, tensor<1xf32>) -> tensor<?xINxi8>
)",
                  R"(
  %h = transformer.linear %q shift 127, %i1 scales(%s1), %b1 activation(relu)
         quantize(%m2)
    : (tensor<?xINxi8>, tensor<INxHIDDENxi8>, tensor<HIDDENxf32>,
       tensor<HIDDENxf32>, tensor<1xf32>) -> tensor<?xHIDDENxi8>
  %y = transformer.linear %h shift 127, %i2 scales(%s2), %b2 residual(%x)
    : (tensor<?xHIDDENxi8>, tensor<HIDDENxINxi8>, tensor<INxf32>,
       tensor<INxf32>, tensor<?xINxf32>) -> tensor<?xINxf32>)",
                  R"(
  %y = transformer.ffn %q shift 127, %i1 scales(%s1), %b1, %i2 scales(%s2), %b2
         quantize(%m2) activation(relu) residual(%x)
    : (tensor<?xINxi8>, tensor<INxHIDDENxi8>, tensor<HIDDENxf32>,
       tensor<HIDDENxf32>, tensor<HIDDENxINxi8>, tensor<INxf32>,
       tensor<INxf32>, tensor<1xf32>, tensor<?xINxf32>) -> tensor<?xINxf32>)");
}
