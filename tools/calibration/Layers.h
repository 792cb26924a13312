//===- Layers.h - What calibration tells apart ------------------*- C++ -*-===//

#ifndef HEDDLE_TOOLS_CALIBRATION_LAYERS_H
#define HEDDLE_TOOLS_CALIBRATION_LAYERS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>
#include <vector>

namespace heddle {

/// Weights whose products or tables `--dtype` decides about.
struct CalibratedLayer {
  /// A pattern over their names, as --keep takes it.
  std::string pattern;
  std::vector<std::string> weights;
};

/// The layers of a module as imported, in the order of its weights.
std::vector<CalibratedLayer> listLayers(mlir::ModuleOp module);

/// What calibration runs of a module as imported: the step form of a decoder of
/// all logits, and what its memory needs.
mlir::OwningOpRef<mlir::ModuleOp> copyForCalibration(mlir::ModuleOp module);

} // namespace heddle

#endif // HEDDLE_TOOLS_CALIBRATION_LAYERS_H
