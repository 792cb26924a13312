//===- NearestRows.h - The vectors nearest to others ------------*- C++ -*-===//
//
// Compares rows with queries, one after the other, and keeps the best of them.
// A score is the cosine of two vectors, or the fraction of bits that are equal.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_RUN_VECTORS_NEARESTROWS_H
#define HEDDLE_TOOLS_RUN_VECTORS_NEARESTROWS_H

#include "runtime/heddle.h"
#include "tools/run/BestLines.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace heddle {

class NearestRows {
public:
  /// For rows of vectors of `width` numbers, stored as `type`: keeps the `top`
  /// best ones.
  NearestRows(heddle_vector_type type, size_t width, size_t top)
      : type(type), width(width), top(top) {}

  /// Adds the vector f32 [width] of a query, before all rows.
  void addQuery(const float *vector);

  /// Compares the next row with all queries. A vector without a direction, of
  /// zeros or with what is no number, has no score.
  void addRow(const void *row, const std::string &text = {});
  /// Counts one that has no vector.
  void skipRow() { ++rows; }

  /// The best rows for a query, the best first; equal ones as they came.
  std::vector<ScoredLine> takeBest(size_t query);

private:
  struct Query {
    /// The vector, or its bits.
    std::vector<double> values;
    double length;
    std::vector<uint8_t> bits;
    BestLines best;
  };

  template <typename Element>
  void addVector(const Element *row, const std::string &text);
  void addBits(const uint8_t *row, const std::string &text);

  const heddle_vector_type type;
  const size_t width, top;
  std::vector<Query> queries;
  int64_t rows = 0;
};

} // namespace heddle

#endif // HEDDLE_TOOLS_RUN_VECTORS_NEARESTROWS_H
