//===- CTranslate2Config.h - What config.json says --------------*- C++ -*-===//
//
// Tokens by their texts, and the epsilon of norms. Before version 6 they stood
// among the variables or nowhere.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_CTRANSLATE2_CTRANSLATE2CONFIG_H
#define HEDDLE_LIB_IMPORT_CTRANSLATE2_CTRANSLATE2CONFIG_H

#include "lib/Import/CTranslate2/CTranslate2Folder.h"
#include "lib/Import/CTranslate2/CTranslate2Network.h"

namespace heddle {

/// What a specification is for.
enum class CTranslate2Purpose { Translates, Continues, Encodes };

struct CTranslate2Config {
  CTranslate2Epsilons epsilons;
  /// Ids of the target, none of an encoder's; the start is none if a caller's
  /// prefix has it.
  int64_t eos = 0;
  std::optional<int64_t> start;
  /// What the engine puts around a source, by ids of the source.
  std::optional<int64_t> sourceBos, sourceEos;
  /// Whether the first vector of a target is zero, whatever the token.
  bool startsFromZero = false;
  /// The piece of either side for what has none.
  std::string unknown;
};

llvm::Expected<CTranslate2Config>
readCTranslate2Config(CTranslate2Folder &folder,
                      CTranslate2Variables &variables,
                      CTranslate2Purpose purpose);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_CTRANSLATE2_CTRANSLATE2CONFIG_H
