//===- MappedFile.h - Files as bytes ----------------------------*- C++ -*-===//
//
// Input files are mapped, not read: a checkpoint may be larger than memory, and
// the compiler touches each tensor once. What is not a regular file is refused
// first, since a device or a pipe may never end. `ByteReader` walks the bytes
// and never leaves them, whatever lengths a file claims.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_WEIGHTS_MAPPEDFILE_H
#define HEDDLE_LIB_WEIGHTS_MAPPEDFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>

namespace heddle {

/// Maps a regular file read-only; the buffer's identifier is `path`. Fails with
/// the system's reason.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
mapFile(const llvm::Twine &path);

/// Reads little-endian integers and runs of bytes from the front of a buffer.
/// A read that would pass the end returns false and takes nothing.
class ByteReader {
public:
  explicit ByteReader(llvm::StringRef bytes) : bytes(bytes) {}

  template <typename Integer> bool read(Integer &value) {
    llvm::StringRef taken;
    if (!take(sizeof(Integer), taken))
      return false;
    value = llvm::support::endian::read<Integer, llvm::endianness::little>(
        taken.data());
    return true;
  }

  bool take(uint64_t size, llvm::StringRef &taken) {
    if (size > bytes.size() - position)
      return false;
    taken = bytes.substr(position, size);
    position += size;
    return true;
  }

  /// Takes what stands before the next `end`, and `end` itself.
  bool takeUntil(char end, llvm::StringRef &taken) {
    size_t found = bytes.find(end, position);
    if (found == llvm::StringRef::npos)
      return false;
    taken = bytes.slice(position, found);
    position = found + 1;
    return true;
  }

  uint64_t offset() const { return position; }
  uint64_t remaining() const { return bytes.size() - position; }

private:
  llvm::StringRef bytes;
  uint64_t position = 0;
};

} // namespace heddle

#endif // HEDDLE_LIB_WEIGHTS_MAPPEDFILE_H
