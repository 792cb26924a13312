//===- DecodingMemory.h - What decode steps keep, for people ----*- C++ -*-===//
//
// A part of the text of heddle-run --info.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_API_DECODINGMEMORY_H
#define HEDDLE_RUNTIME_API_DECODINGMEMORY_H

#include "runtime/artifact/Manifest.h"

#include <optional>
#include <string>

namespace heddle {

/// "17.2 MB", or the plain count if it is small.
std::string readableSize(uint64_t bytes);

/// What the steps of a model keep of a sentence from position to position, by
/// kind, with the bytes of each: those of a position, and at `positions` of
/// them, or as many as the model generates at most. Empty without steps.
std::string describeDecodingMemory(const Manifest &manifest,
                                   std::optional<int64_t> positions);

} // namespace heddle

#endif // HEDDLE_RUNTIME_API_DECODINGMEMORY_H
