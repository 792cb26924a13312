//===- NearestRows.cpp - The vectors nearest to others --------------------===//
//
// Sums are in double, where the product of two floats is exact, and partial
// sums are as many on all machines, however wide their vectors are: a score is
// the same on each.
//
//===----------------------------------------------------------------------===//

#include "tools/run/vectors/NearestRows.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace heddle;

/// No machine runs a model without these (IsaLevels.cpp).
#define HEDDLE_FAST __attribute__((target("arch=x86-64-v3")))

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// The sum of the products of two rows.
template <typename A, typename B>
HEDDLE_FAST static double dot(const A *a, const B *b, size_t width) {
  constexpr size_t parts = 16;
  double sums[parts] = {}, sum = 0;
  size_t i = 0;
  for (; i + parts <= width; i += parts)
    for (size_t part = 0; part < parts; ++part)
      sums[part] =
          __builtin_fma(double(a[i + part]), double(b[i + part]), sums[part]);
  for (; i < width; ++i)
    sum = __builtin_fma(double(a[i]), double(b[i]), sum);
  for (double part : sums)
    sum += part;
  return sum;
}

/// How many of the first bits of two rows differ.
HEDDLE_FAST static size_t countDifferent(const uint8_t *a, const uint8_t *b,
                                         size_t bits) {
  size_t count = 0, byte = 0;
  for (; (byte + sizeof(uint64_t)) * 8 <= bits; byte += sizeof(uint64_t)) {
    uint64_t left, right;
    std::memcpy(&left, a + byte, sizeof left);
    std::memcpy(&right, b + byte, sizeof right);
    count += size_t(__builtin_popcountll(left ^ right));
  }
  for (; byte * 8 < bits; ++byte) {
    size_t rest = std::min(bits - byte * 8, size_t(8));
    count += size_t(__builtin_popcount((a[byte] ^ b[byte]) >> (8 - rest)));
  }
  return count;
}

//===----------------------------------------------------------------------===//
// Queries and rows
//===----------------------------------------------------------------------===//

void NearestRows::addQuery(const float *vector) {
  Query &query = queries.emplace_back(Query{{}, 0, {}, BestLines(top)});
  if (type == HEDDLE_VECTOR_BITS) {
    query.bits.resize(heddle_vector_bytes(type, width));
    heddle_store_vectors(type, vector, 1, width, query.bits.data());
    return;
  }
  query.values.assign(vector, vector + width);
  query.length = std::sqrt(dot(vector, vector, width));
}

template <typename Element>
void NearestRows::addVector(const Element *row, const std::string &text) {
  double length = std::sqrt(dot(row, row, width));
  for (Query &query : queries) {
    double product = dot(row, query.values.data(), width),
           lengths = length * query.length;
    auto score = float(product / lengths);
    if (!std::isnan(score))
      query.best.add(rows, score, text);
  }
}

void NearestRows::addBits(const uint8_t *row, const std::string &text) {
  for (Query &query : queries) {
    size_t equal = width - countDifferent(row, query.bits.data(), width);
    query.best.add(rows, float(double(equal) / double(width)), text);
  }
}

void NearestRows::addRow(const void *row, const std::string &text) {
  switch (type) {
  case HEDDLE_VECTOR_FLOAT32:
    addVector(static_cast<const float *>(row), text);
    break;
  case HEDDLE_VECTOR_FLOAT16:
    addVector(static_cast<const _Float16 *>(row), text);
    break;
  case HEDDLE_VECTOR_INT8:
    addVector(static_cast<const int8_t *>(row), text);
    break;
  case HEDDLE_VECTOR_BITS:
    addBits(static_cast<const uint8_t *>(row), text);
    break;
  }
  ++rows;
}

std::vector<ScoredLine> NearestRows::takeBest(size_t query) {
  return queries[query].best.take();
}
