//===- VectorFormats.h - How vectors stand in files -------------*- C++ -*-===//

#ifndef HEDDLE_TOOLS_RUN_VECTORS_VECTORFORMATS_H
#define HEDDLE_TOOLS_RUN_VECTORS_VECTORFORMATS_H

#include "runtime/Result.h"
#include "runtime/heddle.h"
#include "tools/run/vectors/NpyWriter.h"

#include <cstddef>
#include <string>

namespace heddle {

/// A type of vectors.
struct VectorFormat {
  heddle_vector_type type;
  /// What --vector-type calls it.
  const char *name;
  /// An element of a row.
  NpyType element;

  /// Elements of a row for vectors of `width` numbers.
  size_t columns(size_t width) const {
    return heddle_vector_bytes(type, width) / size_t(element.bytes);
  }
};

/// All of them, in the order of the types.
inline constexpr VectorFormat kVectorFormats[] = {
    {HEDDLE_VECTOR_FLOAT32, "float32", {"<f4", 4}},
    {HEDDLE_VECTOR_FLOAT16, "float16", {"<f2", 2}},
    {HEDDLE_VECTOR_INT8, "int8", {"|i1", 1}},
    {HEDDLE_VECTOR_BITS, "bits", {"|u1", 1}}};

/// The value of --vector-type.
Result<heddle_vector_type> parseVectorType(const std::string &name);

} // namespace heddle

#endif // HEDDLE_TOOLS_RUN_VECTORS_VECTORFORMATS_H
