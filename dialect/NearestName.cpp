//===- NearestName.cpp - Which name may be meant --------------------------===//
//
// The nearest name is the one of the fewest edits. Names that differ in more
// than half of their letters have nothing in common.
//
//===----------------------------------------------------------------------===//

#include "dialect/NearestName.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;

std::string heddle::suggestNearest(StringRef name, ArrayRef<StringRef> known) {
  const auto *nearest = min_element(known, [&](StringRef a, StringRef b) {
    return name.edit_distance(a) < name.edit_distance(b);
  });
  if (nearest == known.end() ||
      2 * name.edit_distance(*nearest) > std::max(name.size(), nearest->size()))
    return "";
  return (" (is '" + Twine(*nearest) + "' meant?)").str();
}
