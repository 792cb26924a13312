//===- AlignedCopy.h - Bytes at the address of a section --------*- C++ -*-===//

#ifndef HEDDLE_TEST_FUZZ_ALIGNEDCOPY_H
#define HEDDLE_TEST_FUZZ_ALIGNEDCOPY_H

#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>

namespace heddle::fuzz {

/// A copy that begins as aligned as a section does and ends where the bytes
/// end, so that a sanitizer sees who reads on.
class AlignedCopy {
public:
  AlignedCopy(const uint8_t *data, size_t size)
      : bytes(new (std::align_val_t(64)) char[size]), size(size) {
    if (size > 0)
      std::memcpy(bytes, data, size);
  }
  AlignedCopy(const AlignedCopy &) = delete;
  ~AlignedCopy() { ::operator delete[](bytes, std::align_val_t(64)); }

  char *data() { return bytes; }
  std::string_view view() const { return {bytes, size}; }

private:
  char *bytes;
  size_t size;
};

} // namespace heddle::fuzz

#endif // HEDDLE_TEST_FUZZ_ALIGNEDCOPY_H
