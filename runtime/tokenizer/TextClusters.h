//===- TextClusters.h - What a reader sees as one character -----*- C++ -*-===//

#ifndef HEDDLE_RUNTIME_TOKENIZER_TEXTCLUSTERS_H
#define HEDDLE_RUNTIME_TOKENIZER_TEXTCLUSTERS_H

#include <cstddef>
#include <string_view>

namespace heddle {

/// How many bytes the first extended grapheme cluster (Unicode's annex 29) has
/// of well-formed UTF-8 that is not empty.
size_t clusterLength(std::string_view text);

} // namespace heddle

#endif // HEDDLE_RUNTIME_TOKENIZER_TEXTCLUSTERS_H
