//===- TorchView.h - Tensors as torch's pickles say them --------*- C++ -*-===//
//
// A tensor of torch is a view of a storage: a first element, a shape, and how
// many elements of the storage one step of each dimension is.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_WEIGHTS_TORCHVIEW_H
#define HEDDLE_LIB_WEIGHTS_TORCHVIEW_H

#include "lib/Weights/Pickle.h"
#include "lib/Weights/TensorFile.h"

namespace heddle::torch {

/// The element type of a storage, as "torch.FloatStorage" names it.
struct ElementType {
  llvm::StringLiteral name;
  uint64_t size;
  /// None if no parameter can have such elements.
  std::optional<Encoding> encoding = std::nullopt;
};

/// Elements of a storage, as the pickle or the file has them.
struct Storage {
  const ElementType *type;
  std::string key;
  uint64_t count;
};

/// A tensor as a view of a storage; shape and strides are equally long.
struct View {
  Storage storage;
  uint64_t first;
  llvm::SmallVector<int64_t, 4> shape, strides;
};

/// All that the pickles of weights may name.
std::vector<llvm::StringRef> listGlobals();

/// Whether a key or a name may go into a sentence.
bool isPrintable(llvm::StringRef text);

/// The storage that a value is; nothing for other values.
std::optional<Storage> readStorage(const PickleValue &value);

/// The tensor or parameter that a value is; nothing for other values.
std::optional<View> readView(const PickleValue *value);

/// Whether torch says more of a tensor, such as that its numbers are those of
/// the storage negated.
bool hasMetadata(const PickleValue *value);

/// Whether the elements, of which there are some, stand one behind the other,
/// in the order of the shape.
bool isDense(const View &view);

/// Whether all elements, of which there are some, are among those of the
/// storage.
bool fitsStorage(const View &view);

/// Writes the elements of a view that fits `storage`, in the order of its
/// shape.
void copyElements(const View &view, llvm::StringRef storage,
                  llvm::MutableArrayRef<char> target);

} // namespace heddle::torch

#endif // HEDDLE_LIB_WEIGHTS_TORCHVIEW_H
