//===- HuggingFaceArchitecture.h - A class of transformers ------*- C++ -*-===//
//
// What a class says by its code rather than by its config.json: each has a file
// that describes it, Import<Name>.cpp, and everything else asks the
// description.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_HUGGINGFACEARCHITECTURE_H
#define HEDDLE_LIB_IMPORT_HUGGINGFACEARCHITECTURE_H

#include "lib/Import/ConfigReader.h"

namespace heddle {

struct HuggingFaceConfig;
class HuggingFaceModel;

/// Ids that a configuration class has by default, which count where config.json
/// governs generation.
struct DefaultIds {
  std::optional<int64_t> start, bos, eos, pad, forcedEos;
};

struct HuggingFaceArchitecture {
  llvm::StringLiteral className, modelType;
  /// In front of the names of all tensors but those of the output.
  llvm::StringLiteral prefix;
  /// The size of the vocabulary by default.
  int64_t vocabulary;
  DefaultIds ids;
  /// Where a table for both sides may stand, behind the prefix: the first name
  /// that a checkpoint has counts.
  llvm::ArrayRef<llvm::StringLiteral> sharedTables;
  /// Whether a side whose own table is missing takes the first of these.
  bool sidesFallBack;
  /// Reads what shapes the network beyond its sizes: positions, norms, tables.
  void (*readForm)(ConfigReader &config, HuggingFaceConfig &model);
  /// Writes @encode.
  void (*buildEncode)(HuggingFaceModel &model);
  /// The class of the tokenizer where a folder names none.
  llvm::StringLiteral tokenizerClass;
};

extern const HuggingFaceArchitecture kBart, kLed, kMarianMt, kMBart, kPegasus;

/// All of them, by name.
llvm::ArrayRef<const HuggingFaceArchitecture *> getHuggingFaceArchitectures();

/// Names of tables, for `sharedTables`.
inline constexpr llvm::StringLiteral
    kBartTables[] = {"shared.weight", "decoder.embed_tokens.weight"},
    kAllTables[] = {"shared.weight", "encoder.embed_tokens.weight",
                    "decoder.embed_tokens.weight"};

/// Fields that said once what a class now does by itself: where transformers 3
/// wrote one, its value counts. `isStatic` and `hasEmbeddingNorm` are what a
/// file means that has none of them.
void readVariableForm(ConfigReader &config, HuggingFaceConfig &model,
                      bool isStatic, bool hasEmbeddingNorm);

/// The norms and positions of a class that has one form only; the fields above
/// must say the same.
struct FixedForm {
  bool normalizeBefore, finalNorm, normalizeEmbedding, staticPositions;
};
void requireForm(ConfigReader &config, HuggingFaceConfig &model,
                 const FixedForm &form);

/// `max_position_embeddings` of both sides.
void readPositions(ConfigReader &config, HuggingFaceConfig &model);

/// The encoder of all but LED.
void buildBartEncode(HuggingFaceModel &model);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_HUGGINGFACEARCHITECTURE_H
