//===- DimNames.h - Names of the dynamic dimensions of a value --*- C++ -*-===//
//
// The arguments of an entry point name their dynamic dimensions
// (`transformer.dims`). Those of any other value follow from the shapes that
// its op reifies: sizes are functions of named dimensions, never of contents.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_SUPPORT_DIMNAMES_H
#define HEDDLE_LIB_SUPPORT_DIMNAMES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"
#include <optional>
#include <string>

namespace heddle {

/// The name of a cache's slots: "capacity", one for each position that a row
/// can have, or "capacity<=N" if N are enough. The runtime knows both.
std::string nameOfSlots(std::optional<int64_t> maxSlots);

/// The N of such a name.
std::optional<int64_t> maxSlotsOf(mlir::StringAttr name);

/// The name that a function gives to dynamic dimension `axis` of an argument;
/// null when it gives none.
mlir::StringAttr nameOfArgumentDim(mlir::BlockArgument argument, int64_t axis);

/// The name of the dimension that `size`, a `memref.dim` of an argument, is;
/// null for any other value.
mlir::StringAttr nameOfSize(mlir::Value size);

/// The name of dynamic dimension `axis` of a tensor inside a function; null,
/// with an error at the value's location, when it cannot be traced to an
/// argument. Leaves the IR as it was.
mlir::StringAttr nameOfDim(mlir::Value value, int64_t axis);

/// The names of all dynamic dimensions of `value`, in order; null on failure.
mlir::ArrayAttr namesOfDims(mlir::Value value);

} // namespace heddle

#endif // HEDDLE_LIB_SUPPORT_DIMNAMES_H
