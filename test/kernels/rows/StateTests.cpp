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
func.func @append_in_WIDTH(
    %x: tensor<?xWIDTHxf32> {transformer.name = "x",
                             transformer.dims = ["rows"]},
    %at: tensor<?xi32> {transformer.name = "positions",
                        transformer.dims = ["rows"]},
    %in: tensor<?xi32> {transformer.name = "caches",
                        transformer.dims = ["rows"]},
    %k: tensor<?x?xWIDTHxf32> {transformer.name = "k", transformer.state,
                               transformer.dims = ["caches", "capacity"]})
    -> (tensor<?x?xWIDTHxf32>) {
  %y = transformer.cache.append %x at %at in %in into %k {pinned = 2 : i64}
    : (tensor<?xWIDTHxf32>, tensor<?xi32>, tensor<?xi32>,
       tensor<?x?xWIDTHxf32>) -> tensor<?x?xWIDTHxf32>
  return %y : tensor<?x?xWIDTHxf32>
}
func.func @fill_WIDTH(
    %x: tensor<?x?xWIDTHxf32> {transformer.name = "x",
                               transformer.dims = ["batch", "target"]},
    %n: tensor<?xi32> {transformer.name = "lengths",
                       transformer.dims = ["batch"]},
    %in: tensor<?xi32> {transformer.name = "caches",
                        transformer.dims = ["batch"]},
    %k: tensor<?x?xWIDTHxf32> {transformer.name = "k", transformer.state,
                               transformer.dims = ["caches", "capacity"]},
    %c: tensor<?xWIDTHxf32> {transformer.name = "c", transformer.state,
                             transformer.dims = ["batch"]})
    -> (tensor<?x?xWIDTHxf32>, tensor<?xWIDTHxf32>) {
  %y = transformer.cache.fill %x lengths(%n) in %in into %k {pinned = 2 : i64}
    : (tensor<?x?xWIDTHxf32>, tensor<?xi32>, tensor<?xi32>,
       tensor<?x?xWIDTHxf32>) -> tensor<?x?xWIDTHxf32>
  %z = transformer.last_rows %x lengths(%n) into %c
    : (tensor<?x?xWIDTHxf32>, tensor<?xi32>, tensor<?xWIDTHxf32>)
      -> tensor<?xWIDTHxf32>
  return %y, %z : tensor<?x?xWIDTHxf32>, tensor<?xWIDTHxf32>
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

/// What whole sentences leave is what their positions, one after the other,
/// would have left, and their last rows.
TEST_P(LayerTest, ChunkLeavesWhatStepsWrite) {
  std::string module;
  for (int64_t width : kWidths)
    module += moduleOf(width);
  constexpr int64_t kBatch = 4, kLength = 13, kCaches = 6;
  const std::vector<int32_t> lengths = {13, 1, 0, 7}, caches = {5, 0, 2, 3};
  withCode(module, {}, [&](const EntryRunner &code) {
    for (int64_t width : kWidths)
      for (int64_t slots : {4, 6, 13, 20}) {
        SCOPED_TRACE(std::to_string(width) + " in " + std::to_string(slots));
        std::vector<float> x = randomValues(kBatch * kLength * width, 1);
        EntryCall fill = prepare(code, "fill_" + std::to_string(width),
                                 {{Dim::Batch, kBatch},
                                  {Dim::Target, kLength},
                                  {Dim::Caches, kCaches},
                                  {Dim::Capacity, slots}});
        fill.set("x", x);
        fill.set("lengths", lengths);
        fill.set("caches", caches);
        fill.set("c", randomValues(kBatch * width, 2));
        fill();
        EXPECT_TRUE(fill.checkGuards().ok());

        std::vector<float> cache(kCaches * slots * width);
        for (int64_t row = 0; row < kBatch; ++row) {
          EntryCall step = prepare(
              code, "append_in_" + std::to_string(width),
              {{Dim::Rows, 1}, {Dim::Caches, kCaches}, {Dim::Capacity, slots}});
          step.set("k", cache);
          step.set("caches", std::vector<int32_t>{caches[row]});
          const float *last = nullptr;
          for (int32_t at = 0; at < lengths[row]; ++at) {
            last = &x[(row * kLength + at) * width];
            step.set("x", std::vector<float>(last, last + width));
            step.set("positions", std::vector<int32_t>{at});
            step();
          }
          cache = step.get("k");
          EXPECT_TRUE(step.checkGuards().ok());
          for (int64_t d = 0; d < width; ++d)
            ASSERT_EQ(fill.data<float>("c")[row * width + d],
                      last ? last[d] : 0);
        }
        ASSERT_EQ(fill.get("k"), cache);
      }
  });
}
