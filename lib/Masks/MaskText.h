//===- MaskText.h - How a mask reads ----------------------------*- C++ -*-===//

#ifndef HEDDLE_LIB_MASKS_MASKTEXT_H
#define HEDDLE_LIB_MASKS_MASKTEXT_H

#include "mlir/IR/Value.h"
#include <string>

namespace heddle {

/// The expression that a mask is, on one line: "padding %lengths & !causal".
/// Masks but for operators stand as they are printed, without their types and
/// regions; what is longer than any reader reads ends in "...".
std::string formatMask(mlir::Value mask);

/// What the signature of its function, or a name in its location, calls an
/// argument; empty if nobody does.
std::string nameOfArgument(mlir::BlockArgument argument);

} // namespace heddle

#endif // HEDDLE_LIB_MASKS_MASKTEXT_H
