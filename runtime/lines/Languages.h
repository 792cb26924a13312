//===- Languages.h - Languages of a request ---------------------*- C++ -*-===//
//
// A model of many languages reads which language a text has, and is told which
// one to write, by tokens: mBART-50's source begins with its language and the
// first generated token is the target's; mBART's source ends with its language
// and the decoder starts from the target's. A request names both.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_LINES_LANGUAGES_H
#define HEDDLE_RUNTIME_LINES_LANGUAGES_H

#include "runtime/Result.h"
#include "runtime/artifact/Manifest.h"

#include <cstdint>
#include <optional>
#include <string>

namespace heddle {

/// The tokens of a request's languages, in place of those of the model.
struct RequestLanguages {
  std::optional<int32_t> source, target;
};

/// The token of a language: by its name in the folder ("pt_XX"), or by what
/// stands in front of the underscore ("pt") if no other name begins so. The
/// error names the nearest ones; it begins with a verb.
Result<int32_t> findLanguage(const TokenizerDescription &tokenizer,
                             const std::string &name);

/// The model's settings for a target language, which `findLanguage` has found.
void setTargetLanguage(const TokenizerDescription &tokenizer, int32_t language,
                       Generation &generation);

} // namespace heddle

#endif // HEDDLE_RUNTIME_LINES_LANGUAGES_H
