//===- LayerTable.h - What each layer has and does --------------*- C++ -*-===//

#ifndef HEDDLE_LIB_EXPLORER_LAYERTABLE_H
#define HEDDLE_LIB_EXPLORER_LAYERTABLE_H

#include "mlir/IR/BuiltinOps.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// The lengths that work is counted for: one sentence of so many tokens, a
/// target as long, a step at its last position.
inline constexpr int64_t kCountedLengths[] = {16, 64, 256, 1024};

/// Work at one of these lengths: multiplications and additions, and bytes to
/// read and to write; nothing if sizes are not known from lengths.
struct CountedWork {
  std::optional<int64_t> flops, bytes;
};

/// A layer op.
struct LayerRow {
  /// The function that it runs in, and what kind of op it is.
  std::string function, kind;
  /// The checkpoint's names.
  std::vector<std::string> names;
  /// Of its results: "batch x source x 256".
  std::string shape;
  /// Elements and bytes of the weights that it reads.
  int64_t parameters = 0, weightBytes = 0;
  /// "i8", "f32"; of the largest of them, empty if it has none.
  std::string weightType;
  /// One for each of `kCountedLengths`.
  std::vector<CountedWork> work;
};

/// The layer ops of a module on memrefs whose functions are straight-line, in
/// program order. Adds what counts work to `module`, which is of no other use
/// after it.
std::vector<LayerRow> measureLayers(mlir::ModuleOp module);

} // namespace heddle

#endif // HEDDLE_LIB_EXPLORER_LAYERTABLE_H
