//===- Shortlist.h - The target ids a sentence may use ----------*- C++ -*-===//
//
// A lexical shortlist admits, for each source id, a few target ids; a sentence
// may use the union of its ids' lists and the most frequent ids. Projecting
// onto these few hundred rows instead of the whole vocabulary is most of the
// speed of small translation models.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_SEARCH_SHORTLIST_H
#define HEDDLE_RUNTIME_SEARCH_SHORTLIST_H

#include "runtime/Result.h"
#include "runtime/artifact/Manifest.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace heddle {

/// Borrows the section's bytes. Immutable; any number of threads may read it.
class Shortlist {
public:
  /// Checks every offset and id of the section. `bytes` are aligned to 8.
  static Result<Shortlist> parse(std::string_view bytes,
                                 const Manifest &manifest);

  /// The target ids that a sentence of these source ids may use: ascending,
  /// each once, never empty.
  std::vector<int32_t> candidates(const std::vector<int32_t> &sourceIds) const;

private:
  Shortlist() = default;

  uint64_t firstCount = 0;
  uint64_t sourceCount = 0;
  const uint64_t *offsets = nullptr;
  const uint32_t *ids = nullptr;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_SEARCH_SHORTLIST_H
