//===- TableReader.h - Arrays one behind the other --------------*- C++ -*-===//

#ifndef HEDDLE_RUNTIME_ARTIFACT_TABLEREADER_H
#define HEDDLE_RUNTIME_ARTIFACT_TABLEREADER_H

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace heddle {

/// Walks a section that is a row of arrays. What does not fit is not taken, and
/// from then on nothing is: one question at the end is enough, before any array
/// is read. The section is aligned for its elements.
class TableReader {
public:
  explicit TableReader(std::string_view bytes) : rest(bytes) {}

  /// Points `array` to the next `count` elements.
  template <typename T> void take(const T *&array, uint64_t count) {
    uint64_t size = count * sizeof(T); // Counts are at most 2^32.
    std::string_view taken = takeBytes(size);
    if (whole)
      array = reinterpret_cast<const T *>(taken.data());
  }

  std::string_view takeBytes(uint64_t size) {
    whole &= size <= rest.size();
    if (!whole)
      return {};
    std::string_view taken = rest.substr(0, size);
    rest.remove_prefix(size);
    return taken;
  }

  std::string_view takeRest() { return takeBytes(rest.size()); }

  /// Whether all that was asked for was there.
  bool isWhole() const { return whole; }

private:
  std::string_view rest;
  bool whole = true;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_ARTIFACT_TABLEREADER_H
