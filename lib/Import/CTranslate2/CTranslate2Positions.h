//===- CTranslate2Positions.h - Positions that no file has ------*- C++ -*-===//
//
// A side without a table of positions, and without another way to know them,
// adds sinusoids that CTranslate2 computes. Their sines stand in front of their
// cosines, and the first position is 1:
//
//   angle(p, k) = p exp(-k ln(10000) / (d / 2 - 1)),  k < d / 2
//
// with each operation rounded to f32, as there.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_CTRANSLATE2_CTRANSLATE2POSITIONS_H
#define HEDDLE_LIB_IMPORT_CTRANSLATE2_CTRANSLATE2POSITIONS_H

#include "lib/Weights/WeightSource.h"

namespace heddle {

/// As many as translate_batch takes of a source.
inline constexpr int64_t kComputedPositions = 1024;

/// The name of the table of a width.
std::string computedPositionsOf(int64_t width);

/// Adds the tables that the sides of a network need, if they need any.
llvm::Error addComputedPositions(const TensorFile &network,
                                 WeightSource &weights);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_CTRANSLATE2_CTRANSLATE2POSITIONS_H
