//===- MatrixDescriptor.h - wgmma's matrices in shared memory ---*- C++ -*-===//
//
// A descriptor of 64 bits, as "Matrix Descriptor Format" of the PTX ISA says:
// the address, the leading and the stride byte offset, all less four bits, and
// the swizzle. Rows are 16, 32, 64 or 128 bytes, by the swizzle; eight of them
// are an atom.
//   - K-major: a row is along k; atoms follow each other along m or n at the
//     stride offset. Without a swizzle, the next 16 bytes of k stand at the
//     leading offset.
//   - MN-major, 16-bit elements: a row is along m or n, the eight are k; atoms
//     follow each other along k at the stride offset, along m or n at the
//     leading offset; without a swizzle, the other way round.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_EMULATOR_WARPS_MATRIXDESCRIPTOR_H
#define HEDDLE_TEST_EMULATOR_WARPS_MATRIXDESCRIPTOR_H

#include "MatrixNumbers.h"
#include "test/emulator/memory/SharedMemory.h"
#include "test/emulator/memory/TensorMap.h"

#include <string>

namespace heddle::emulator {

class MatrixDescriptor {
public:
  MatrixDescriptor(uint64_t bits, bool isMnMajor)
      : start((bits & 0x3fff) << 4), leading((bits >> 16 & 0x3fff) << 4),
        stride((bits >> 32 & 0x3fff) << 4), base(bits >> 49 & 7),
        mode(bits >> 62), isMnMajor(isMnMajor) {}

  /// Calls function(address) for each 16 bytes of `rows` rows or columns.
  template <typename Function>
  void forEachChunk(int rows, int elementBytes, Function function) const {
    if (isMnMajor) {
      for (int k = 0; k < 16; ++k)
        for (int mn = 0; mn < rows; mn += 8)
          function(mnMajorChunk(mn, k));
      return;
    }
    for (int mn = 0; mn < rows; ++mn)
      for (int chunk = 0; chunk < 2; ++chunk)
        function(kMajorChunk(mn, chunk));
  }

  /// Calls function(row or column, k, number).
  template <typename Number, typename Function>
  void forEachElement(const SharedMemory &shared, int rows, NumberKind kind,
                      Function function) const {
    int size = elementBytes(kind), each = 16 / size, perWord = 4 / size;
    // Calls function(i, number) for the elements of 16 bytes.
    auto read = [&](uint64_t chunk, auto function) {
      const auto *words = reinterpret_cast<const uint32_t *>(shared.at(chunk));
      for (int word = 0, i = 0; word < 4; ++word)
        for (int part = 0; part < perWord; ++part, ++i)
          function(i, element<Number>(kind, words[word], part));
    };
    if (isMnMajor) {
      for (int k = 0; k < 16; ++k)
        for (int mn = 0; mn < rows; mn += 8)
          read(mnMajorChunk(mn, k),
               [&](int i, Number number) { function(mn + i, k, number); });
      return;
    }
    for (int mn = 0; mn < rows; ++mn)
      for (int chunk = 0; chunk < 2; ++chunk)
        read(kMajorChunk(mn, chunk), [&](int i, Number number) {
          function(mn, chunk * each + i, number);
        });
  }

  /// Why the descriptor is none; empty if it is one.
  std::string problem() const {
    if (base)
      return "a descriptor with a base offset, expected atoms at multiples of "
             "their size";
    return {};
  }

private:
  unsigned rowBytes() const { return mode ? 256u >> mode : 16u; }
  uint64_t place(uint64_t offset) const {
    uint64_t address = (start + offset) & 0x3ffff;
    return swizzled(address, mode ? rowBytes() : 16);
  }
  uint64_t kMajorChunk(int mn, int chunk) const {
    uint64_t across = mode ? 16 * chunk : chunk * leading;
    return place(mn / 8 * stride + mn % 8 * rowBytes() + across);
  }
  uint64_t mnMajorChunk(int mn, int k) const {
    int width = static_cast<int>(rowBytes() / 2);
    uint64_t alongMn = mode ? leading : stride;
    uint64_t alongK = mode ? stride : leading;
    return place(mn / width * alongMn + k / 8 * alongK + k % 8 * rowBytes() +
                 mn % width * 2);
  }
  uint64_t start, leading, stride;
  unsigned base, mode;
  bool isMnMajor;
};

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_WARPS_MATRIXDESCRIPTOR_H
