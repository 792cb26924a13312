//===- DeviceTests.cpp - What a GPU does around entries -------------------===//
//
// Kernels that the runtime starts itself, beside what the host makes of the
// same; and calls of the driver that fail.
//
//===----------------------------------------------------------------------===//

#include "runtime/search/BestLogits.h"
#include "runtime/search/GreedyChoice.h"
#include "test/kernels/EntryRunner.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <functional>
#include <limits>
#include <numeric>
#include <random>

using namespace heddle;
using namespace heddle::test;

static constexpr float kLowest = -std::numeric_limits<float>::infinity();
static constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// An entry without kernels of its own.
static int32_t doNothing(const HeddleCall *) { return 0; }

namespace {
/// Lists of ranges, [rows, ranges, count].
struct Lists {
  int64_t rows, ranges, count;
  std::vector<float> values;
  std::vector<int32_t> ids;
};

class DeviceTest : public testing::Test {
protected:
  static void SetUpTestSuite() {
    if (!machineHas("x86-64-v3"))
      return;
    CodeChoice choice;
    choice.target += kEmulatedGpu;
    Result<EntryRunner> compiled = EntryRunner::compile("", {}, choice);
    ASSERT_TRUE(compiled.ok()) << compiled.status().message();
    code = std::make_unique<EntryRunner>(std::move(*compiled));
  }
  static void TearDownTestSuite() { code.reset(); }
  void SetUp() override {
    if (!code)
      GTEST_SKIP() << "the machine lacks x86-64-v3";
    device = code->makeDevice();
  }
  void TearDown() override {
    if (code)
      fail("");
    for (auto [memory, bytes] : taken)
      device->giveBack(memory, bytes);
  }

  char *take(size_t bytes) {
    Result<char *> memory = device->take(int64_t(bytes));
    EXPECT_TRUE(memory.ok());
    taken.emplace_back(*memory, bytes);
    return *memory;
  }
  template <typename Number> char *send(const std::vector<Number> &numbers) {
    size_t bytes = numbers.size() * sizeof(Number);
    char *memory = take(bytes);
    auto *from = reinterpret_cast<const char *>(numbers.data());
    EXPECT_TRUE(device->send(memory, from, int64_t(bytes)).ok());
    return memory;
  }
  template <typename Number>
  std::vector<Number> fetch(const char *memory, int64_t count) {
    std::vector<Number> numbers(static_cast<size_t>(count));
    auto *to = reinterpret_cast<char *>(numbers.data());
    EXPECT_TRUE(
        device->fetch(to, memory, count * int64_t(sizeof(Number))).ok());
    return numbers;
  }

  RangeMerge merging(const Lists &lists) {
    size_t count = size_t(lists.rows * lists.count);
    return {send(lists.values), send(lists.ids), take(4 * count),
            take(4 * count),    lists.rows,      lists.ranges,
            lists.count};
  }
  Status call(const CallFrame &frame) {
    HeddleCall call = {};
    return device->call(doNothing, call, {0, 0}, frame);
  }

  /// Has calls of the driver fail as HEDDLE_FAKE_CUDA_FAIL says, from here on.
  static void fail(const char *failures) {
    setenv("HEDDLE_FAKE_CUDA_FAIL", failures, 1);
    void *driver = dlopen(getenv("HEDDLE_LIBCUDA"), RTLD_NOW);
    auto start = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
    EXPECT_EQ(start(0), 0);
    dlclose(driver);
    unsetenv("HEDDLE_FAKE_CUDA_FAIL");
  }

  static std::unique_ptr<EntryRunner> code;
  std::unique_ptr<Device> device;
  std::vector<std::pair<char *, size_t>> taken;
};
} // namespace

std::unique_ptr<EntryRunner> DeviceTest::code;

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

/// Lists that descend, of few different values, and not all of them full.
static Lists drawLists(int64_t rows, int64_t ranges, int64_t count,
                       std::mt19937 &random) {
  Lists lists{rows, ranges, count, {}, {}};
  std::uniform_int_distribution<int> drawValue(-2, 2), drawPart(0, 3);
  for (int64_t list = 0; list < rows * ranges; ++list) {
    int64_t full = drawPart(random) ? count : count / 3;
    std::vector<float> values(static_cast<size_t>(full));
    for (float &value : values) {
      value = 0.5f * float(drawValue(random));
      if (value == 0 && drawPart(random) == 0)
        value = -0.0f;
    }
    std::sort(values.begin(), values.end(), std::greater<float>());
    values.resize(size_t(count), kLowest);
    lists.values.insert(lists.values.end(), values.begin(), values.end());
    for (int64_t i = 0; i < count; ++i)
      lists.ids.push_back(i < full ? int32_t(1000 * (list % ranges) + i) : -1);
  }
  return lists;
}

static std::vector<uint32_t> bitsOf(const std::vector<float> &values) {
  std::vector<uint32_t> bits(values.size());
  std::memcpy(bits.data(), values.data(), 4 * values.size());
  return bits;
}

TEST_F(DeviceTest, merges_lists_as_the_host_does) {
  std::mt19937 random(5);
  constexpr int64_t shapes[][3] = {
      {1, 1, 1}, {3, 16, 1}, {5, 16, 8}, {2, 5, 33}, {1, 40, 6}};
  for (const int64_t (&shape)[3] : shapes) {
    int64_t rows = shape[0], ranges = shape[1], count = shape[2];
    Lists lists = drawLists(rows, ranges, count, random);
    RangeMerge merge = merging(lists);
    ASSERT_TRUE(call({std::nullopt, merge}).ok());
    auto values = fetch<float>(merge.bestValues, rows * count);
    auto ids = fetch<int32_t>(merge.bestIds, rows * count);
    for (int64_t row = 0; row < rows; ++row) {
      int64_t first = row * ranges * count;
      BestLogits logits{nullptr,
                        nullptr,
                        lists.values.data() + first,
                        lists.ids.data() + first,
                        ranges,
                        ranges,
                        count};
      std::vector<int32_t> bestIds(size_t(count), -1);
      std::vector<float> best(size_t(count), kLowest);
      findBest(logits, count, bestIds.data(), best.data());
      auto ofRow = [&](const auto &numbers) {
        auto begin = numbers.begin() + row * count;
        return std::decay_t<decltype(numbers)>(begin, begin + count);
      };
      EXPECT_EQ(ofRow(ids), bestIds);
      EXPECT_EQ(bitsOf(ofRow(values)), bitsOf(best));
    }
  }
}

TEST_F(DeviceTest, merges_what_is_no_number_as_the_host_does) {
  // Of each range: a number, infinity, nothing, or no number.
  const std::pair<float, int> kinds[] = {
      {1, 1},
      {std::numeric_limits<float>::infinity(), 1},
      {kLowest, 0},
      {kNaN, 0}};
  Lists lists{64, 3, 1, {}, {}};
  for (int row = 0; row < 64; ++row)
    for (int range = 0, kind = row; range < 3; ++range, kind /= 4) {
      lists.values.push_back(kinds[kind % 4].first);
      lists.ids.push_back(kinds[kind % 4].second ? 10 * range + 7 : -1);
    }
  RangeMerge merge = merging(lists);
  ASSERT_TRUE(call({std::nullopt, merge}).ok());
  auto values = fetch<float>(merge.bestValues, 64);
  auto ids = fetch<int32_t>(merge.bestIds, 64);
  for (int row = 0; row < 64; ++row)
    EXPECT_EQ(
        findLargest(LargestLogits{&values[size_t(row)], &ids[size_t(row)], 1}),
        findLargest(LargestLogits{&lists.values[size_t(3 * row)],
                                  &lists.ids[size_t(3 * row)], 3}))
        << row;
}

//===----------------------------------------------------------------------===//
// Histories and rows
//===----------------------------------------------------------------------===//

TEST_F(DeviceTest, writes_the_next_position_of_each_row) {
  constexpr int64_t rows = 40, capacity = 7;
  std::vector<int32_t> history, positions, caches;
  for (int32_t i = 0; i < rows * capacity; ++i)
    history.push_back(-i);
  for (int32_t row = 0; row < rows; ++row) {
    positions.push_back(row % capacity);
    caches.push_back(100 + row);
  }
  HistoryWrite write{send(history), send(positions), send(caches), rows - 1,
                     capacity};
  ASSERT_TRUE(call({write, std::nullopt}).ok());
  // Not the last one.
  for (int64_t row = 0; row < rows - 1; ++row)
    history[size_t(row * capacity + positions[size_t(row)])] =
        caches[size_t(row)];
  EXPECT_EQ(fetch<int32_t>(write.history, rows * capacity), history);
}

TEST_F(DeviceTest, moves_rows_as_the_host_does) {
  const std::vector<int32_t> lists[] = {
      {0, 1, 8, 3}, {4, 0, 0, 2, 2}, {8, 7, 6, 5, 4, 3, 2, 1, 0}};
  // The last of these in pieces of 16 bytes.
  const std::pair<int64_t, int64_t> sizes[] = {{5, 3}, {8, 3}, {6, 4}, {12, 8}};
  for (auto [width, used] : sizes)
    for (const std::vector<int32_t> &parents : lists) {
      std::vector<int32_t> numbers(9 * width);
      std::iota(numbers.begin(), numbers.end(), 0);
      std::vector<int32_t> expected = numbers, spare = numbers;
      moveHostRows({reinterpret_cast<char *>(expected.data()), 4 * width,
                    4 * used, reinterpret_cast<char *>(spare.data())},
                   parents);
      char *rows = send(numbers);
      ASSERT_TRUE(device
                      ->moveRows({rows, 4 * width, 4 * used,
                                  take(numbers.size() * sizeof(int32_t))},
                                 parents)
                      .ok());
      EXPECT_EQ(fetch<int32_t>(rows, 9 * width), expected);
    }
}

//===----------------------------------------------------------------------===//
// Calls that are made again
//===----------------------------------------------------------------------===//

TEST_F(DeviceTest, a_call_around_which_other_memory_stands_is_another) {
  Lists ones{1, 2, 1, {1, 2}, {10, 20}}, others{1, 2, 1, {4, 3}, {30, 40}};
  for (const Lists &lists : {ones, others}) {
    RangeMerge merge = merging(lists);
    // As often as it takes until a graph is made, and once more.
    for (int i = 0; i < 4; ++i)
      ASSERT_TRUE(call({std::nullopt, merge}).ok());
    EXPECT_EQ(fetch<int32_t>(merge.bestIds, 1)[0],
              lists.values[0] > lists.values[1] ? lists.ids[0] : lists.ids[1]);
  }
}

TEST_F(DeviceTest, a_call_that_failed_counts_for_no_graph) {
  RangeMerge merge = merging({1, 1, 1, {1}, {10}});
  fail("cuLaunchKernel:1=999,cuGraphLaunch:1=999");
  std::vector<bool> succeeded;
  for (int i = 0; i < 3; ++i)
    succeeded.push_back(call({std::nullopt, merge}).ok());
  // A graph is started behind a call that succeeded.
  EXPECT_EQ(succeeded, (std::vector<bool>{false, true, false}));
}

TEST_F(DeviceTest, a_call_that_no_graph_can_be_made_of_goes_on_without) {
  for (const char *failures :
       {"cuStreamBeginCapture_v2:1=999", "cuStreamEndCapture:1=999",
        "cuGraphInstantiateWithFlags:1=999",
        "cuGraphInstantiateWithFlags:1=2,cuGraphInstantiateWithFlags:2=2",
        // Not that of the call before it, nor one that is recorded.
        "cuLaunchKernel:2=999", "cuGraphLaunch:1=2"}) {
    RangeMerge merge = merging({1, 2, 1, {1, 2}, {10, 20}});
    fail(failures);
    for (int i = 0; i < 4; ++i) {
      ASSERT_TRUE(device->clear(merge.bestIds, 4).ok());
      EXPECT_TRUE(call({std::nullopt, merge}).ok()) << failures;
      EXPECT_EQ(fetch<int32_t>(merge.bestIds, 1)[0], 20) << failures;
    }
    // Nor is it tried again.
    fail("cuGraphLaunch:1=999");
    EXPECT_TRUE(call({std::nullopt, merge}).ok()) << failures;
  }
}

TEST_F(DeviceTest, other_graphs_make_room_for_one) {
  RangeMerge one = merging({1, 2, 1, {1, 2}, {10, 20}}),
             other = merging({1, 2, 1, {4, 3}, {30, 40}});
  for (int i = 0; i < 2; ++i)
    ASSERT_TRUE(call({std::nullopt, one}).ok());
  fail("cuGraphInstantiateWithFlags:1=2,cuGraphLaunch:2=999");
  for (int i = 0; i < 2; ++i)
    ASSERT_TRUE(call({std::nullopt, other}).ok());
  EXPECT_EQ(fetch<int32_t>(other.bestIds, 1)[0], 30);
  // It has a graph, of which the second start fails.
  EXPECT_FALSE(call({std::nullopt, other}).ok());
  fail("cuGraphInstantiateWithFlags:1=999");
  EXPECT_TRUE(call({std::nullopt, one}).ok());
  EXPECT_EQ(fetch<int32_t>(one.bestIds, 1)[0], 20);
}

TEST_F(DeviceTest, a_call_that_asks_for_too_much_scratch_memory_fails) {
  HeddleEntry askForSome = [](const HeddleCall *call) {
    call->device->scratch(call->device, 100);
    return call->device->status;
  };
  HeddleCall call = {};
  EXPECT_EQ(device->rehearse(askForSome, {0, 0}, nullptr), 100);
  call.scratchBytes = 64;
  EXPECT_EQ(device->call(askForSome, call, {0, 0}, {}).message(),
            "the compiled code asks for 100 bytes of scratch memory, expected "
            "at most 64");
  call.scratchBytes = 128;
  EXPECT_TRUE(device->call(askForSome, call, {0, 0}, {}).ok());
}

TEST_F(DeviceTest, mirrors_may_be_written_again_behind_a_failure) {
  RangeMerge merge = merging({1, 1, 1, {1}, {10}});
  char *memory = take(4);
  Result<char *> mirror = device->takeMirror(memory, 4);
  ASSERT_TRUE(mirror.ok());
  auto *number = reinterpret_cast<int32_t *>(*mirror);
  *number = 1;
  ASSERT_TRUE(device->send(memory, *mirror, 4).ok());
  fail("cuLaunchKernel:1=999");
  EXPECT_FALSE(call({std::nullopt, merge}).ok());
  *number = 2;
  EXPECT_EQ(fetch<int32_t>(memory, 1)[0], 1);
  device->giveBackMirror(*mirror, 4);
}

TEST_F(DeviceTest, rounds_sizes_up_by_a_quarter_at_most_where_they_are_large) {
  for (auto [rows, rounded] : std::vector<std::pair<int64_t, int64_t>>{
           {0, 0}, {1, 1}, {3, 4}, {17, 32}, {33, 40}, {129, 160}, {640, 640}})
    EXPECT_EQ(device->roundRows(rows), rounded) << rows;
  for (auto [positions, rounded] : std::vector<std::pair<int64_t, int64_t>>{
           {1, 8}, {17, 24}, {33, 40}, {129, 160}, {640, 640}})
    EXPECT_EQ(device->roundPositions(positions), rounded) << positions;
}

TEST_F(DeviceTest, parents_that_were_not_sent_are_sent_again) {
  std::vector<int32_t> numbers = {0, 10, 20, 30};
  char *rows = send(numbers), *spare = take(16);
  auto move = [&](const std::vector<int32_t> &parents) {
    return device->moveRows({rows, 4, 4, spare}, parents).ok();
  };
  ASSERT_TRUE(move({1, 0}));
  fail("cuMemcpyHtoDAsync_v2:1=999");
  EXPECT_FALSE(move({3, 2, 1, 0}));
  fail("");
  ASSERT_TRUE(move({1, 0}));
  EXPECT_EQ(fetch<int32_t>(rows, 4), numbers);
}

TEST_F(DeviceTest, parents_of_one_move_do_not_change_those_before_it) {
  char *rows = send(std::vector<int32_t>{0, 10, 20, 30}), *spare = take(16);
  for (const std::vector<int32_t> &parents :
       {std::vector<int32_t>{3, 2, 1, 0}, std::vector<int32_t>{1, 0, 2, 3}})
    ASSERT_TRUE(device->moveRows({rows, 4, 4, spare}, parents).ok());
  // More than there is memory for at first.
  std::vector<int32_t> many(3000), reversed(3000);
  for (int32_t i = 0; i < 3000; ++i)
    many[size_t(i)] = reversed[size_t(2999 - i)] = i;
  char *manyRows = send(many), *manySpare = take(12000);
  ASSERT_TRUE(device->moveRows({manyRows, 4, 4, manySpare}, reversed).ok());
  EXPECT_EQ(fetch<int32_t>(rows, 4), (std::vector<int32_t>{20, 30, 10, 0}));
  EXPECT_EQ(fetch<int32_t>(manyRows, 3000), reversed);
}
