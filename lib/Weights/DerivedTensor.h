//===- DerivedTensor.h - Parameters that are made of others -----*- C++ -*-===//
//
// The formulas of ParameterOp's derivations. Scales are computed at once, from
// all of a matrix; what has its size is computed a few rows at a time.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_WEIGHTS_DERIVEDTENSOR_H
#define HEDDLE_LIB_WEIGHTS_DERIVEDTENSOR_H

#include "dialect/Transformer.h"
#include "lib/Weights/StoredTensor.h"

namespace heddle {

/// The bytes of `parameter`, which has a derivation; `parts` are the opened
/// tensors of its parts, in order.
StoredTensor deriveTensor(ParameterOp parameter,
                          std::vector<StoredTensor> parts);

} // namespace heddle

#endif // HEDDLE_LIB_WEIGHTS_DERIVEDTENSOR_H
