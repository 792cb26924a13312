//===- CodePointSet.h - Which characters one of a pattern may be -*- C++
//-*-===//

#ifndef HEDDLE_LIB_IMPORT_TOKENIZERS_PATTERNS_CODEPOINTSET_H
#define HEDDLE_LIB_IMPORT_TOKENIZERS_PATTERNS_CODEPOINTSET_H

#include <utility>
#include <vector>

namespace heddle {

/// A set of Unicode code points, surrogates among them.
class CodePointSet {
public:
  /// Both ends belong to it.
  using Range = std::pair<char32_t, char32_t>;
  static constexpr char32_t kLast = 0x10FFFF;

  CodePointSet() = default;
  CodePointSet(char32_t first, char32_t last) : ranges{{first, last}} {}
  /// In any order; they may overlap.
  explicit CodePointSet(std::vector<Range> ranges);
  static CodePointSet all() { return CodePointSet(0, kLast); }

  bool contains(char32_t point) const;
  bool empty() const { return ranges.empty(); }
  /// In order, with gaps between them.
  const std::vector<Range> &sorted() const { return ranges; }

  CodePointSet complement() const;
  CodePointSet unite(const CodePointSet &other) const;
  CodePointSet intersect(const CodePointSet &other) const;
  bool operator==(const CodePointSet &other) const {
    return ranges == other.ranges;
  }

private:
  std::vector<Range> ranges;
};

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_TOKENIZERS_PATTERNS_CODEPOINTSET_H
