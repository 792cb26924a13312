//===- PlacedTensors.h - The weights section of an artifact -----*- C++ -*-===//
//
// Parameters and their places, as `place-weights` gives them. The bytes are
// written one tensor at a time, a block of rows after the other if they are
// not packed, so that compiling a model takes memory for its largest tensor.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_ARTIFACT_PLACEDTENSORS_H
#define HEDDLE_LIB_ARTIFACT_PLACEDTENSORS_H

#include "lib/Weights/WeightSource.h"
#include "mlir/IR/BuiltinOps.h"
#include <vector>

namespace heddle {

/// What stands in the section.
enum class PlacedElement { F32, BF16, F16, I8 };

/// A tensor at a byte offset of the section.
struct PlacedTensor {
  std::string name;
  /// The stored parameters that it is made of.
  std::vector<std::string> sources;
  uint64_t offset;
  StoredTensor tensor;
  /// The parts of a weight that is written in panels; empty if it is not.
  std::vector<int64_t> packed;
  WeightFormat format;
  PlacedElement element;
  /// Of ScaledIntegers, which `tensor` has without: [rows / 32, columns].
  std::optional<StoredTensor> scales = std::nullopt;
};

/// The placed parameters of a module, in the order of their places, which are
/// multiples of kTensorAlignment and do not overlap. Of bytes only what scales
/// are computed from is read yet; valid as long as `weights`, whatever becomes
/// of the module.
llvm::Expected<std::vector<PlacedTensor>>
collectPlacedTensors(mlir::ModuleOp module, const WeightSource &weights);

/// The size of the section that holds these tensors.
uint64_t getSectionSize(llvm::ArrayRef<PlacedTensor> tensors);

/// How many weights of a tensor are no numbers as they are written.
struct LostWeights {
  PlacedElement element;
  std::vector<std::string> sources;
  /// As they are stored, and because their type ends below them.
  uint64_t stored, overflowed;
  /// Those that f16 has only 0 for, if this changes what the tensor is: a
  /// whole row of it, or more than one in a thousand. Others are lost in the
  /// rounding of their neighbours, and count as none.
  uint64_t vanished;
  /// The largest magnitude of those that are stored as finite numbers.
  float largest;
};

/// Writes the section, little-endian; what is between tensors is zero.
/// Returns the XXH3 of each kWeightsChunk bytes: the section weights.checksums.
/// Appends the tensors that lost weights to `lost`.
std::vector<uint64_t> writeTensors(llvm::ArrayRef<PlacedTensor> tensors,
                                   llvm::raw_ostream &stream,
                                   std::vector<LostWeights> &lost);

} // namespace heddle

#endif // HEDDLE_LIB_ARTIFACT_PLACEDTENSORS_H
