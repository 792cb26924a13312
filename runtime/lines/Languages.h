//===- Languages.h - Languages of a request ---------------------*- C++ -*-===//
//
// A model of many languages reads which language a text has, and is told which
// one to write, by tokens:
//
//   mBART-50, NLLB, M2M100   the source begins with its language (of an older
//                            NLLB it ends with it), and the first generated
//                            token is the target's
//   mBART                    the source ends with its language, and the decoder
//                            starts from the target's
//   SMaLL-100                the source begins with the target's language, and
//                            no token says which language the text has
//
// A request names both, so that one batch holds several directions.
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
  /// Where the source has a language, be it that of the target.
  std::optional<int32_t> source;
  /// What the decoder is told.
  std::optional<int32_t> target;
};

/// The token of a language, by the first of these that fits any:
///
/// - its name in the folder: "eng_Latn", "__en__", "en_XX";
/// - the code in that name, "eng" or "en";
/// - the other code of ISO 639 for the same language: "en" for "eng_Latn",
///   "eng" for "en_XX";
/// - the code of a macrolanguage for its member: "sw" for "swh_Latn".
///
/// Two that fit are an error: "zh" is neither "zho_Hans" nor "zho_Hant". The
/// error names the nearest ones; it begins with a verb.
Result<int32_t> findLanguage(const TokenizerDescription &tokenizer,
                             const std::string &name);

/// The model's settings for a target language, which `findLanguage` has found.
void setTargetLanguage(const TokenizerDescription &tokenizer, int32_t language,
                       Generation &generation);

} // namespace heddle

#endif // HEDDLE_RUNTIME_LINES_LANGUAGES_H
