// Recurrences and caches against their formulas, whole and step by step.

#include "test/kernels/LayerTest.h"

#include <cmath>

using namespace heddle;
using namespace heddle::test;

static const int64_t kWidths[] = {1, 6, 8, 16, 21, 64};

static std::string moduleOf(int64_t width) {
  return fill(R"(
func.func @full_WIDTH(
    %f: tensor<?x?xWIDTHxf32> {transformer.name = "f",
                               transformer.dims = ["batch", "target"]},
    %v: tensor<?x?xWIDTHxf32> {transformer.name = "v",
                               transformer.dims = ["batch", "target"]})
    -> (tensor<?x?xWIDTHxf32> {transformer.name = "y"}) {
  %y = transformer.recurrence %f, %v
    : (tensor<?x?xWIDTHxf32>, tensor<?x?xWIDTHxf32>) -> tensor<?x?xWIDTHxf32>
  return %y : tensor<?x?xWIDTHxf32>
}
func.func @step_WIDTH(
    %f: tensor<?xWIDTHxf32> {transformer.name = "f",
                             transformer.dims = ["rows"]},
    %v: tensor<?xWIDTHxf32> {transformer.name = "v",
                             transformer.dims = ["rows"]},
    %c: tensor<?xWIDTHxf32> {transformer.name = "c", transformer.state,
                             transformer.dims = ["rows"]})
    -> (tensor<?xWIDTHxf32>) {
  %y = transformer.recurrence step %f, %v into %c
    : (tensor<?xWIDTHxf32>, tensor<?xWIDTHxf32>, tensor<?xWIDTHxf32>)
      -> tensor<?xWIDTHxf32>
  return %y : tensor<?xWIDTHxf32>
}
func.func @append_WIDTH(
    %x: tensor<?xWIDTHxf32> {transformer.name = "x",
                             transformer.dims = ["rows"]},
    %at: tensor<?xi32> {transformer.name = "positions",
                        transformer.dims = ["rows"]},
    %k: tensor<?x?xWIDTHxf32> {transformer.name = "k", transformer.state,
                               transformer.dims = ["rows", "capacity"]})
    -> (tensor<?x?xWIDTHxf32>) {
  %y = transformer.cache.append %x at %at into %k
    : (tensor<?xWIDTHxf32>, tensor<?xi32>, tensor<?x?xWIDTHxf32>)
      -> tensor<?x?xWIDTHxf32>
  return %y : tensor<?x?xWIDTHxf32>
}
)",
              {{"WIDTH", std::to_string(width)}});
}

TEST_P(LayerTest, Recurrence) {
  std::string module;
  for (int64_t width : kWidths)
    module += moduleOf(width);
  constexpr int64_t kBatch = 3, kLength = 7;
  withCode(module, {}, [&](const EntryRunner &code) {
    for (int64_t width : kWidths) {
      SCOPED_TRACE(width);
      int64_t count = kBatch * kLength * width;
      std::vector<float> f = randomValues(count, 1, 9),
                         v = randomValues(count, 2);
      std::vector<double> y(count);
      for (int64_t i = 0; i < count; ++i) {
        double gate = 1 / (1 + std::exp(-double(f[i])));
        bool isFirst = i / width % kLength == 0;
        y[i] = gate * (isFirst ? 0 : y[i - width]) + (1 - gate) * v[i];
      }
      std::string name = std::to_string(width);
      EntryCall full = prepare(code, "full_" + name,
                               {{Dim::Batch, kBatch}, {Dim::Target, kLength}});
      full.set("f", f);
      full.set("v", v);
      full();
      EXPECT_TRUE(full.checkGuards().ok());
      // 1 - sigmoid has the error of 1.
      expectNear(full.get("y"), y, 1e-6);

      EntryCall step = prepare(code, "step_" + name, {{Dim::Rows, kBatch}});
      for (int64_t at = 0; at < kLength; ++at) {
        for (int64_t row = 0; row < kBatch; ++row)
          for (int64_t d = 0; d < width; ++d) {
            int64_t from = (row * kLength + at) * width + d;
            step.data<float>("f")[row * width + d] = f[from];
            step.data<float>("v")[row * width + d] = v[from];
          }
        step();
        for (int64_t row = 0; row < kBatch; ++row)
          for (int64_t d = 0; d < width; ++d)
            ASSERT_NEAR(step.data<float>("c")[row * width + d],
                        y[(row * kLength + at) * width + d], 2e-6);
      }
      EXPECT_TRUE(step.checkGuards().ok());
    }
  });
}

TEST_P(LayerTest, CacheAppend) {
  std::string module;
  for (int64_t width : kWidths)
    module += moduleOf(width);
  constexpr int64_t kRows = 5, kSlots = 4;
  withCode(module, {}, [&](const EntryRunner &code) {
    for (int64_t width : kWidths) {
      SCOPED_TRACE(width);
      EntryCall call = prepare(code, "append_" + std::to_string(width),
                               {{Dim::Rows, kRows}, {Dim::Capacity, kSlots}});
      std::vector<float> cache(kRows * kSlots * width);
      // Two rounds through the ring, each row at a position of its own.
      for (int64_t step = 0; step < 2 * kSlots; ++step) {
        std::vector<float> x = randomValues(kRows * width, step);
        std::vector<int32_t> positions;
        for (int64_t row = 0; row < kRows; ++row) {
          positions.push_back(step + 3 * row);
          for (int64_t d = 0; d < width; ++d)
            cache[(row * kSlots + positions[row] % kSlots) * width + d] =
                x[row * width + d];
        }
        call.set("x", x);
        call.set("positions", positions);
        call();
        ASSERT_EQ(call.get("k"), cache) << "at step " << step;
      }
      EXPECT_TRUE(call.checkGuards().ok());
    }
  });
}
