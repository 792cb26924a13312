//===- Readers.h - Components of tokenizer.json as stages -------*- C++ -*-===//
//
// The components are those of tokenizers 0.22.2.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_TOKENIZERS_JSON_READERS_H
#define HEDDLE_LIB_IMPORT_TOKENIZERS_JSON_READERS_H

#include "lib/Import/Tokenizers/Json/Component.h"
#include "lib/Import/Tokenizers/StageList.h"

namespace heddle {

// Each adds its stages, for both sides. What is not supported is an
// UnsupportedTokenizer.
llvm::Error addNormalizer(Component component, StageList &stages);
llvm::Error addPreTokenizer(Component component, StageList &stages);

/// The pieces of a model, by ids, their scores, if it has some, and how many
/// pieces its vocabulary has.
struct ModelPieces {
  std::vector<std::string> pieces;
  std::vector<double> scores;
  int64_t count = 0;
};
/// `path` is the file's, for errors; `size` how many ids the source has.
llvm::Expected<ModelPieces> readModelPieces(const llvm::json::Object &model,
                                            llvm::StringRef path, int64_t size);
/// The component is the model; `isOfBytes` if ByteLevel stands in front of it.
llvm::Error addModel(Component component, const llvm::json::Object &model,
                     const ModelPieces &pieces, llvm::StringRef path,
                     bool isOfBytes, StageList &stages);
llvm::Error addDecoder(Component component, StageList &stages);
/// Without a decoder: tokens stand apart.
void addPlainDecoder(StageList &stages);

/// The tokens around a text.
struct TextTemplate {
  std::vector<std::string> before, after;
};
llvm::Error readTemplate(Component component, TextTemplate &into);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_TOKENIZERS_JSON_READERS_H
