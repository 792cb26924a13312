//===- TextClusters.h - What a reader sees as one character -----*- C++ -*-===//

#ifndef HEDDLE_RUNTIME_TEXTCLUSTERS_H
#define HEDDLE_RUNTIME_TEXTCLUSTERS_H

#include <string_view>

namespace heddle {

/// Removes the first extended grapheme cluster of Unicode's annex 29 from
/// well-formed UTF-8 that is not empty.
std::string_view takeCluster(std::string_view &text);

} // namespace heddle

#endif // HEDDLE_RUNTIME_TEXTCLUSTERS_H
