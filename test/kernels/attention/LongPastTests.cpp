//===- LongPastTests.cpp - Pasts that threads share -----------------------===//
//
// A long past is several parts, each with sums of its own. A row has the same
// bits whether one task computes all of its parts or threads share them, and
// whatever rows stand beside it; in f32 it is compared with the formula.
//
//===----------------------------------------------------------------------===//

#include "runtime/threads/ThreadPool.h"
#include "test/kernels/LayerTest.h"

#include <algorithm>
#include <cmath>

using namespace heddle;
using namespace heddle::test;

namespace {
struct Case {
  std::string name, mask, normalizer;
  /// Keys that a row sees, up to its own.
  int64_t window;
};

/// One row, and what it reads.
struct Row {
  int64_t position, cache;
};

/// Queries of one row, keys and values by cache.
struct Operands {
  std::vector<float> q, k, v;
  double formula(const Case &of, const Row &row, int64_t head, int64_t d) const;
};

class LongPastTest : public LayerTest {
protected:
  Operands operands();
  /// The result for rows that have one query, and differ in what they read.
  static std::vector<float> run(const EntryRunner &code, const Case &of,
                                const Operands &operands,
                                const std::vector<Row> &rows,
                                ThreadPool *pool = nullptr);
};
} // namespace

HEDDLE_FOR_EVERY_CODE_AND_TYPE(LongPastTest);

static constexpr int64_t kHeads = 6, kKvHeads = 2, kCaches = 3, kSlots = 9200;
static constexpr int64_t kWidth = 24, kValueWidth = 40;

static const Case kCases[] = {
    {"causal", "%mask = transformer.mask.causal", "", kSlots},
    {"window",
     "%w = transformer.mask.window [left = 699, right = 0]\n"
     "%c = transformer.mask.causal\n"
     "%mask = transformer.mask.and %w, %c",
     "", 700},
    // Sums without a reference point.
    {"scores", "%mask = transformer.mask.causal", "normalizer none", kSlots},
};

static std::string moduleOf(const std::string &element) {
  std::string module;
  for (const Case &each : kCases)
    module += fill(R"(
func.func @NAME(
    %q: tensor<?x144xELEMENT> {transformer.name = "q",
                               transformer.dims = ["rows"]},
    %k: tensor<?x?x48xELEMENT> {transformer.name = "k",
                                transformer.dims = ["caches", "capacity"]},
    %v: tensor<?x?x80xELEMENT> {transformer.name = "v",
                                transformer.dims = ["caches", "capacity"]},
    %in: tensor<?xi32> {transformer.name = "caches",
                        transformer.dims = ["rows"]},
    %at: tensor<?xi32> {transformer.name = "positions",
                        transformer.dims = ["rows"]},
    %of: tensor<?xi32> {transformer.name = "sentences",
                        transformer.dims = ["rows"]})
    -> (tensor<?x240xf32> {transformer.name = "y"}) {
  MASK
  %y = transformer.attention %q, %k, %v mask(%mask) at %at of %of in %in
    {heads = 6 : i64, kv_heads = 2 : i64, scale = 0.25 : f32} NORMALIZER
    : (tensor<?x144xELEMENT>, tensor<?x?x48xELEMENT>, tensor<?x?x80xELEMENT>,
       !transformer.mask, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>)
    -> tensor<?x240xf32>
  return %y : tensor<?x240xf32>
}
)",
                   {{"NAME", each.name},
                    {"ELEMENT", element},
                    {"MASK", each.mask},
                    {"NORMALIZER", each.normalizer}});
  return module;
}

std::vector<float> LongPastTest::run(const EntryRunner &code, const Case &of,
                                     const Operands &operands,
                                     const std::vector<Row> &rows,
                                     ThreadPool *pool) {
  EntryCall call = prepare(code, of.name,
                           {{Dim::Rows, int64_t(rows.size())},
                            {Dim::Caches, kCaches},
                            {Dim::Capacity, kSlots}});
  std::vector<float> queries;
  std::vector<int32_t> positions, caches;
  for (const Row &row : rows) {
    queries.insert(queries.end(), operands.q.begin(), operands.q.end());
    positions.push_back(int32_t(row.position));
    caches.push_back(int32_t(row.cache));
  }
  setInType(call, "q", queries);
  setInType(call, "k", operands.k);
  setInType(call, "v", operands.v);
  call.set("positions", positions);
  call.set("caches", caches);
  call.set("sentences", caches);
  call(pool);
  Status status = call.checkGuards();
  EXPECT_TRUE(status.ok()) << status.message();
  return call.get("y");
}

double Operands::formula(const Case &of, const Row &row, int64_t head,
                         int64_t d) const {
  int64_t kvHead = head / (kHeads / kKvHeads);
  int64_t begin = std::max<int64_t>(0, row.position + 1 - of.window);
  double sum = 0, total = 0;
  for (int64_t j = begin; j <= row.position; ++j) {
    int64_t key = row.cache * kSlots + j;
    double score = 0;
    for (int64_t i = 0; i < kWidth; ++i)
      score += double(q[head * kWidth + i]) *
               k[(key * kKvHeads + kvHead) * kWidth + i];
    score *= 0.25;
    double weight = of.normalizer.empty() ? std::exp(score) : score;
    total += weight;
    sum += weight * v[(key * kKvHeads + kvHead) * kValueWidth + d];
  }
  return of.normalizer.empty() ? sum / total : sum;
}

static std::vector<float> rowOf(const std::vector<float> &all, size_t row) {
  constexpr size_t width = kHeads * kValueWidth;
  return {all.begin() + row * width, all.begin() + (row + 1) * width};
}

/// As this test's type has them.
Operands LongPastTest::operands() {
  return {inType(randomValues(kHeads * kWidth, 1, 2)),
          inType(randomValues(kCaches * kSlots * kKvHeads * kWidth, 2, 2)),
          inType(randomValues(kCaches * kSlots * kKvHeads * kValueWidth, 3))};
}

TEST_P(LongPastTest, HasTheSameBitsBesideRowsOfItsCache) {
  withCode(moduleOf(elementType()), {}, [&](const EntryRunner &code) {
    auto pool = ThreadPool::create(3);
    ASSERT_TRUE(pool.ok()) << pool.status().message();
    Operands operands = this->operands();
    // Three guessed tokens, on both sides of a part's end, and another row.
    std::vector<Row> rows = {{1023, 1}, {1024, 1}, {1025, 1}, {700, 0}};
    for (const Case &each : kCases) {
      SCOPED_TRACE(each.name);
      std::vector<float> alone = run(code, each, operands, rows);
      EXPECT_EQ(alone, run(code, each, operands, rows, pool->get()));
      for (size_t row = 0; row < rows.size(); ++row)
        EXPECT_EQ(rowOf(alone, row), run(code, each, operands, {rows[row]}));
    }
  });
}

TEST_P(LongPastTest, HasTheSameBitsOnAnyThreads) {
  withCode(moduleOf(elementType()), {}, [&](const EntryRunner &code) {
    auto pool = ThreadPool::create(3);
    ASSERT_TRUE(pool.ok()) << pool.status().message();
    Operands operands = this->operands();
    std::vector<Row> rows;
    for (int64_t position : {9100, 0, 511, 512, 1023, 1024, 4095, 4096, 5000})
      rows.push_back({position, int64_t(rows.size()) % kCaches});
    if (takesSample())
      rows.resize(3);
    // More rows than are divided.
    std::vector<Row> many = rows;
    while (many.size() < 20)
      many.push_back(rows.front());
    for (const Case &each : kCases) {
      SCOPED_TRACE(each.name);
      std::vector<float> shared = run(code, each, operands, rows, pool->get());
      EXPECT_EQ(shared, run(code, each, operands, rows));
      std::vector<float> among = run(code, each, operands, many, pool->get());
      for (size_t row = 0; row < rows.size(); ++row) {
        SCOPED_TRACE(rows[row].position);
        std::vector<float> own = rowOf(shared, row);
        EXPECT_EQ(own, rowOf(among, row));
        EXPECT_EQ(own, run(code, each, operands, {rows[row]}));
        EXPECT_EQ(own, run(code, each, operands, {rows[row]}, pool->get()));
        if (isOfBf16() || isOfF16())
          continue;
        // A sum of n products of f32 in order errs by n 2^-24 at most; those of
        // lanes and parts by far less. Scores sum up to about 9,000 here.
        double scale = each.normalizer.empty() ? 1 : 9000;
        for (int64_t head : {0, 4})
          for (int64_t d : {0, 39})
            EXPECT_NEAR(own[head * kValueWidth + d],
                        operands.formula(each, rows[row], head, d),
                        2e-6 * scale);
      }
    }
  });
}
