//===- MarianDecoder.h - What a folder says to Marian's decoder -*- C++ -*-===//
//
// A `config.yml` or `decoder.yml` holds options of marian-decoder, or those of
// bergamot-translator, which are the same and a few more. They are the settings
// of a search here; if the file is silent, marian-decoder's defaults count,
// as they do for every native program that reads the file. Without a file the
// settings are those with which browsers run such models.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_MARIAN_MARIANDECODER_H
#define HEDDLE_LIB_IMPORT_MARIAN_MARIANDECODER_H

#include "lib/Import/Marian/Yaml.h"

namespace heddle {

struct MarianDecoder {
  /// beam-size, normalize and word-penalty: a hypothesis of n tokens has the
  /// score (log-probability - wordPenalty n) / n^lengthPenalty.
  int64_t beams = 1;
  double lengthPenalty = 1, wordPenalty = 0;
  /// A translation has at most maxLengthFactor n tokens for n source tokens.
  double maxLengthFactor = 2.5;
  /// max-length and max-length-crop: what happens to longer sources.
  int64_t maxSourceLength = 1000;
  bool cropsSources = false;
  /// allow-unk and allow-special: whether the unknown piece and control
  /// characters may be generated.
  bool allowsUnknown = false, allowsSpecial = false;
  /// A sentence about each option that would do something there and does
  /// nothing here.
  std::vector<std::string> warnings = {};
};

/// Reads the options of the file `path`, except those that name files. Fails on
/// what changes translations in a way that is not supported, and on what is no
/// option.
llvm::Expected<MarianDecoder> readMarianDecoder(const YamlMapping &options,
                                                llvm::StringRef path);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_MARIAN_MARIANDECODER_H
