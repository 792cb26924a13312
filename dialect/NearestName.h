//===- NearestName.h - Which name may be meant ------------------*- C++ -*-===//

#ifndef HEDDLE_DIALECT_NEARESTNAME_H
#define HEDDLE_DIALECT_NEARESTNAME_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace heddle {

/// " (is 'window' meant?)": what an error says behind the unknown `name`, with
/// the one of `known` that takes the fewest edits, of several the first;
/// nothing if none is known, or the edits are more than half of the letters.
std::string suggestNearest(llvm::StringRef name,
                           llvm::ArrayRef<llvm::StringRef> known);

} // namespace heddle

#endif // HEDDLE_DIALECT_NEARESTNAME_H
