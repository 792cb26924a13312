//===- TorchCheckpoint.h - What trainers write by torch.save ----*- C++ -*-===//
//
// A checkpoint of a trainer is one pickle: a dictionary that has options, some
// dictionaries of tensors, and much of what only training goes on with. Objects
// of classes that trainers have are values with their attributes; nothing is
// built or run.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_WEIGHTS_TORCHCHECKPOINT_H
#define HEDDLE_LIB_WEIGHTS_TORCHCHECKPOINT_H

#include "lib/Weights/Pickle.h"
#include "lib/Weights/TensorFile.h"

namespace heddle {

class TorchReader;

/// Whether bytes begin as files of torch.save do.
bool looksLikeTorch(llvm::StringRef bytes);

class TorchCheckpoint {
public:
  static llvm::Expected<TorchCheckpoint>
  read(std::unique_ptr<llvm::MemoryBuffer> buffer);
  TorchCheckpoint(TorchCheckpoint &&);
  ~TorchCheckpoint();

  llvm::StringRef getPath() const;
  /// Valid as long as the checkpoint.
  const PickleValue &getRoot() const;

  /// A dictionary of tensors of the pickle, and what stands in front of their
  /// names.
  struct Tensors {
    const PickleValue *dictionary;
    llvm::StringRef prefix;
  };
  /// The tables that readTorchFile makes. To be called once; the pickle stays.
  llvm::Expected<std::vector<TensorFile>>
  takeTensors(llvm::ArrayRef<Tensors> dictionaries);

private:
  explicit TorchCheckpoint(std::unique_ptr<TorchReader> reader);

  std::unique_ptr<TorchReader> reader;
  std::unique_ptr<Pickle> pickle;
};

} // namespace heddle

#endif // HEDDLE_LIB_WEIGHTS_TORCHCHECKPOINT_H
