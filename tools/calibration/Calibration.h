//===- Calibration.h - What fewer bits cost, layer by layer -----*- C++ -*-===//

#ifndef HEDDLE_TOOLS_CALIBRATION_CALIBRATION_H
#define HEDDLE_TOOLS_CALIBRATION_CALIBRATION_H

#include "lib/Artifact/PlacedTensors.h"
#include "tools/calibration/Layers.h"
#include "tools/compile/CompileOptions.h"
#include <functional>
#include <memory>

namespace heddle {

/// What is measured comes from here: each has options of its own.
struct CalibrationSteps {
  std::function<llvm::Error(const CompileOptions &)> compile;
  std::function<llvm::Expected<std::vector<PlacedTensor>>(
      const CompileOptions &)>
      placeTensors;
};

/// Measures on the lines of `options.calibrate` how far logits or vectors are
/// from those in f32, with one layer at a time in the types of `options`, and
/// with all.
/// The same file and model give the same table, whatever the threads. What is
/// measured stands beside the output for a while.
class Calibration {
public:
  Calibration(const CompileOptions &options, CalibrationSteps steps);
  ~Calibration();

  /// Compiles a model in f32, which says the targets, and measures layers.
  llvm::Error measureLayers(llvm::ArrayRef<CalibratedLayer> layers);

  /// Measures the artifact of `options`, which has been written, or, if it
  /// cannot be loaded here, one like it, and returns a table for people.
  llvm::Expected<std::string> measureArtifact();

private:
  class Measurement;
  std::unique_ptr<Measurement> measurement;
};

} // namespace heddle

#endif // HEDDLE_TOOLS_CALIBRATION_CALIBRATION_H
