//===- FairseqOptions.h - What a checkpoint of fairseq says -----*- C++ -*-===//
//
// The options of fairseq 0.12.2's TransformerConfig that shape a translator.
// Files have them as one Namespace `args`, or by groups in `cfg`, of which
// `model` and `task` count here; the former may be flat or in groups of its
// own, `encoder` and `decoder`. Options that change the computation, and that
// no network here has, are refused by their names.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_FAIRSEQ_FAIRSEQOPTIONS_H
#define HEDDLE_LIB_IMPORT_FAIRSEQ_FAIRSEQOPTIONS_H

#include "dialect/Transformer.h"
#include "lib/Weights/Pickle.h"
#include <optional>
#include <string>

namespace heddle {

/// An encoder or a decoder.
struct FairseqSide {
  /// "encoder" or "decoder".
  std::string scope;
  int64_t width, ffn, depth, heads, positions;
  bool isPreNorm, learnsPositions;
  /// Whether a norm may stand behind the last layer.
  bool hasFinalNorm;
};

struct FairseqOptions {
  FairseqSide encoder, decoder;
  /// None for a linear one.
  std::optional<ActivationKind> activation;
  /// Of what the output is multiplied by.
  int64_t outputWidth;
  /// One table for both sides and the output, or for the decoder and the
  /// output.
  bool sharesAll, sharesOutput;
  bool scalesEmbeddings, normsEmbeddings, hasPositions;
  /// Languages, which name the dictionaries.
  std::string source, target;
};

/// `root` is the dictionary of a checkpoint, `path` its file.
llvm::Expected<FairseqOptions> readFairseqOptions(const PickleValue &root,
                                                  llvm::StringRef path);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_FAIRSEQ_FAIRSEQOPTIONS_H
