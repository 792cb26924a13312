//===- TensorFile.h - The tensors of a checkpoint file ----------*- C++ -*-===//
//
// A table of the tensors in one file: names, shapes, encodings and where the
// bytes are. Readers check every number of the file against its size before
// they believe it, so that a table never points outside the file.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_WEIGHTS_TENSORFILE_H
#define HEDDLE_LIB_WEIGHTS_TENSORFILE_H

#include "dialect/Transformer.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// Bytes of a tensor of `elements` elements, with the multiplier of `intgemm8`.
/// The product does not overflow for any count that a reader lets through.
uint64_t storedSize(Encoding encoding, uint64_t elements);

/// One tensor of a file.
struct TensorInfo {
  std::string name;
  /// Extents are not negative and their product is below 2^48.
  llvm::SmallVector<int64_t, 4> shape;
  /// Absent for an element type that no parameter can have.
  std::optional<Encoding> encoding;
  /// The element type as the file spells it, for errors.
  std::string elementType;
  /// From the start of the file.
  uint64_t offset = 0;
  /// At least storedSize for an encoding that is known.
  uint64_t size = 0;
  /// Where the multipliers of `int8_rows` or `int16` stand, in the same file.
  std::optional<uint64_t> multipliers = std::nullopt;

  /// Where those of the rows from `row` on begin.
  std::optional<int64_t> multipliersFrom(int64_t row) const {
    if (!multipliers)
      return std::nullopt;
    bool isByRow = encoding == Encoding::Int8Rows;
    return int64_t(*multipliers) + (isByRow ? row * int64_t(sizeof(float)) : 0);
  }
};

/// The number of elements of a shape, 0 if an extent is 0; nothing if an
/// extent is negative or the product of the others is 2^48 or more.
std::optional<uint64_t> countElements(llvm::ArrayRef<int64_t> shape);

/// A mapped file and its tensors, in file order. What one sees of it never
/// changes; safe to use from several threads.
class TensorFile {
public:
  /// Makes the bytes of the tensor at `offset` readable, once, whenever it is
  /// called; fails if they are damaged.
  using Prepare = std::function<llvm::Error(uint64_t offset)>;

  /// Takes tensors whose ranges lie within `buffer`; fails if two of them
  /// have one name.
  static llvm::Expected<TensorFile>
  create(std::unique_ptr<llvm::MemoryBuffer> buffer,
         std::vector<TensorInfo> tensors, Prepare prepare = {});

  /// Puts a prefix in front of the names of all tensors, and of the file.
  void addPrefix(llvm::StringRef prefix);

  llvm::StringRef getPath() const { return buffer->getBufferIdentifier(); }
  /// What parameters know it by: its name without folders, behind the prefix.
  llvm::StringRef getName() const { return name; }
  /// The bytes of a tensor are there once `prepare` had no failure for it.
  llvm::StringRef getBytes() const { return buffer->getBuffer(); }
  llvm::ArrayRef<TensorInfo> getTensors() const { return tensors; }

  /// The tensor of this name, or null.
  const TensorInfo *find(llvm::StringRef name) const;

  /// To be called before the bytes at the offset of a tensor are read.
  llvm::Error prepare(uint64_t offset) const {
    return prepareBytes ? prepareBytes(offset) : llvm::Error::success();
  }

private:
  TensorFile() = default;

  std::unique_ptr<llvm::MemoryBuffer> buffer;
  std::string name;
  Prepare prepareBytes;
  std::vector<TensorInfo> tensors;
  llvm::StringMap<size_t> indices;
};

/// Reads the table of a Marian binary model, version 1 (`*.bin`).
llvm::Expected<TensorFile>
readMarianFile(std::unique_ptr<llvm::MemoryBuffer> buffer);

/// Reads the table of an archive of numpy's arrays (`*.npz`), whose names are
/// those of its files without `.npy`. If some are deflated the file is all
/// of them, inflated, each when it is prepared.
llvm::Expected<TensorFile>
readNpzFile(std::unique_ptr<llvm::MemoryBuffer> buffer);

/// Reads the table of a safetensors file.
llvm::Expected<TensorFile>
readSafetensorsFile(std::unique_ptr<llvm::MemoryBuffer> buffer);

/// Reads the table of a file of torch.save, of any version, that holds a
/// dictionary of tensors. Executes nothing: a pickle that asks for more than
/// tensors is refused. A second table, "PATH (packed)", holds copies of tensors
/// whose elements do not stand one behind the other, if there are any; the
/// first must outlive it.
llvm::Expected<std::vector<TensorFile>>
readTorchFile(std::unique_ptr<llvm::MemoryBuffer> buffer);

} // namespace heddle

#endif // HEDDLE_LIB_WEIGHTS_TENSORFILE_H
