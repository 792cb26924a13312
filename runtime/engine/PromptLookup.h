//===- PromptLookup.h - Guesses of what follows a text ----------*- C++ -*-===//

#ifndef HEDDLE_RUNTIME_ENGINE_PROMPTLOOKUP_H
#define HEDDLE_RUNTIME_ENGINE_PROMPTLOOKUP_H

#include <cstdint>
#include <vector>

namespace heddle {

/// The `most` tokens that stood behind the last three tokens of a text where
/// these stood latest before; or behind the last two, or one, if three or two
/// never stood there. What repeats itself up to the end goes on repeating. None
/// where there is no such place. (Prompt lookup decoding: Saxena 2023.)
std::vector<int32_t> lookUp(const std::vector<int32_t> &text, int64_t most);

} // namespace heddle

#endif // HEDDLE_RUNTIME_ENGINE_PROMPTLOOKUP_H
