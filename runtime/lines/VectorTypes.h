//===- VectorTypes.h - Types in which vectors are stored --------*- C++ -*-===//

#ifndef HEDDLE_RUNTIME_LINES_VECTORTYPES_H
#define HEDDLE_RUNTIME_LINES_VECTORTYPES_H

#include <cstddef>

namespace heddle {

/// In the order of heddle_vector_type, which describes them.
enum class VectorType { Float32, Float16, Int8, Bits };

/// The length of a vector that is divided by it: as in torch's normalize,
/// never less than 1e-12.
double lengthOf(const float *vector, size_t width);

/// Bytes of a stored vector of `width` numbers.
size_t storedBytes(VectorType type, size_t width);

/// Writes them.
void storeVector(VectorType type, const float *vector, size_t width,
                 void *stored);

} // namespace heddle

#endif // HEDDLE_RUNTIME_LINES_VECTORTYPES_H
