//===- WeightSource.h - The checkpoint behind a module ----------*- C++ -*-===//
//
// The files whose bytes the parameters of a module name. It lives from import
// to the artifact: parameters are decoded only when they are written.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_WEIGHTS_WEIGHTSOURCE_H
#define HEDDLE_LIB_WEIGHTS_WEIGHTSOURCE_H

#include "dialect/Transformer.h"
#include "lib/Weights/StoredTensor.h"
#include "lib/Weights/TensorFile.h"

namespace heddle {

/// Files of tensors; parameters refer to a file by its name (TensorFile.h).
/// Owns the maps of the files. Immutable once the files are added.
class WeightSource {
public:
  /// A tensor and the name of its file.
  struct Entry {
    llvm::StringRef file;
    const TensorInfo *tensor;
  };

  /// Adds a file. Fails if a file has this file's name or a tensor has the
  /// name of one of its tensors.
  llvm::Error add(TensorFile file);

  /// Adds the weights of a Hugging Face folder: `model.safetensors`, or else
  /// the files that `model.safetensors.index.json` lists, or else
  /// `pytorch_model.bin`, or else those of `pytorch_model.bin.index.json`. A
  /// prefix tells the tensors of several folders apart.
  llvm::Error addHuggingFaceFolder(llvm::StringRef folder,
                                   llvm::StringRef prefix = "");

  /// The tensor of this name in any file.
  std::optional<Entry> find(llvm::StringRef name) const;

  /// Fails if the bytes of a tensor are damaged, as far as its file shows
  /// it.
  llvm::Error prepare(const Entry &entry) const;

  /// The value of a tensor of one element; none if there is no such tensor.
  llvm::Expected<std::optional<float>> readScalar(llvm::StringRef name) const;

  llvm::ArrayRef<TensorFile> getFiles() const { return files; }

  /// The bytes of a parameter that has a source, is zero, or is made of such.
  llvm::Expected<StoredTensor> open(ParameterOp parameter) const;

private:
  /// Adds a file in either of Hugging Face's formats, by the end of its name.
  llvm::Error addShard(llvm::StringRef path, llvm::StringRef prefix);
  llvm::Expected<StoredTensor> openStored(ParameterOp parameter) const;

  std::vector<TensorFile> files;
};

} // namespace heddle

#endif // HEDDLE_LIB_WEIGHTS_WEIGHTSOURCE_H
