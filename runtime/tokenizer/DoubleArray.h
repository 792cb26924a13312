//===- DoubleArray.h - A trie that is used where it is mapped ---*- C++ -*-===//
//
// The layout stands in TokenizerFormat.h. Every step is bounded by the array,
// so that one that is damaged may find wrong keys but is never left.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_TOKENIZER_DOUBLEARRAY_H
#define HEDDLE_RUNTIME_TOKENIZER_DOUBLEARRAY_H

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace heddle {

/// A view of an array, which must outlive it. Immutable.
class DoubleArray {
public:
  /// Where a walk begins.
  static constexpr uint32_t kRoot = 0;

  /// Has no keys.
  DoubleArray() : units(&kNoKeys), count(1) {}
  DoubleArray(const uint32_t *units, uint32_t count)
      : units(count ? units : &kNoKeys), count(count ? count : 1) {}

  bool hasKeys() const { return units != &kNoKeys; }

  /// Goes on by one byte from a node that a walk has reached; false, and the
  /// node is the same, if no key does.
  bool step(uint32_t &node, unsigned char byte) const {
    uint32_t child = node ^ offset(units[node]) ^ byte;
    if (child >= count || (units[child] & (kIsValue | 0xFF)) != byte)
      return false;
    node = child;
    return true;
  }

  /// The value of the key that ends at a node, or -1.
  int32_t value(uint32_t node) const {
    uint32_t unit = units[node], leaf = node ^ offset(unit);
    if (!(unit & kEndsKey) || leaf >= count)
      return -1;
    return int32_t(units[leaf] & ~kIsValue);
  }

  /// Goes on by all of `text`.
  bool walk(uint32_t &node, std::string_view text) const {
    for (unsigned char byte : text)
      if (!step(node, byte))
        return false;
    return true;
  }

  /// The value of a key, or -1.
  int32_t find(std::string_view key) const {
    uint32_t node = kRoot;
    return walk(node, key) ? value(node) : -1;
  }

  /// The longest key that `text` begins with.
  struct Match {
    /// 0 for none.
    size_t length = 0;
    int32_t value = -1;
  };
  Match longestPrefix(std::string_view text) const {
    Match longest;
    uint32_t node = kRoot;
    for (size_t at = 0; at < text.size() && step(node, text[at]); ++at)
      if (int32_t found = value(node); found >= 0)
        longest = {at + 1, found};
    return longest;
  }

  /// The shortest one.
  Match shortestPrefix(std::string_view text) const {
    uint32_t node = kRoot;
    for (size_t at = 0; at < text.size() && step(node, text[at]); ++at)
      if (int32_t found = value(node); found >= 0)
        return {at + 1, found};
    return {};
  }

private:
  static constexpr uint32_t kIsValue = 1u << 31, kEndsKey = 1u << 8;
  static constexpr uint32_t kNoKeys = kIsValue;

  static uint32_t offset(uint32_t unit) {
    return (unit >> 10) << ((unit & (1u << 9)) >> 6);
  }

  const uint32_t *units;
  uint32_t count;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_TOKENIZER_DOUBLEARRAY_H
