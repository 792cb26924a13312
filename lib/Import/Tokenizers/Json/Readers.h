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

/// Whether a text is one character.
bool isOneCharacter(llvm::StringRef text);

// Each adds its stages, for both sides. What is not supported is an
// UnsupportedTokenizer.
llvm::Error addNormalizer(Component component, StageList &stages);
/// What stands behind ByteLevel sees the characters that name bytes; if nothing
/// does, and `leavesBytes`, the model sees the bytes themselves.
llvm::Error addPreTokenizer(Component component, bool leavesBytes,
                            StageList &stages);
/// The characters that name bytes, in place of these.
void addByteNames(StageList &stages);

/// The pieces of a model, by ids, their scores, if it has some, and how many
/// pieces its vocabulary has.
struct ModelPieces {
  std::vector<std::string> pieces;
  std::vector<double> scores;
  int64_t count = 0;
};
/// `path` is the file's, for errors; `size` how many ids the source has;
/// `isParsed` if numbers stood in a file that the library itself would read.
llvm::Expected<ModelPieces> readModelPieces(const llvm::json::Object &model,
                                            llvm::StringRef path, int64_t size,
                                            bool isParsed);
/// Whether it is a model of pairs that may see bytes in place of the characters
/// that name them: each is a piece, and no piece is marked.
bool mayCutBytes(const llvm::json::Object &model, const ModelPieces &pieces);
/// The component is the model; `isOfBytes` if it sees bytes.
llvm::Error addModel(Component component, const llvm::json::Object &model,
                     const ModelPieces &pieces, llvm::StringRef path,
                     bool isOfBytes, StageList &stages);
/// `stripsText` if white space goes from the ends of joined text.
llvm::Error addDecoder(Component component, bool stripsText, StageList &stages);
/// Without a decoder: tokens stand apart.
void addPlainDecoder(StageList &stages);

/// What stands around one text and around two.
struct PostProcessor {
  enum class What { First, Second, Token };
  struct Item {
    What what;
    int64_t type;
    /// Of a token, which is found in the vocabulary if there is no id.
    std::string token;
    std::optional<int64_t> id;
  };

  std::vector<Item> single = {{What::First, 0, "", std::nullopt}},
                    pair = {{What::First, 0, "", std::nullopt},
                            {What::Second, 1, "", std::nullopt}};
  /// Flags of format::TemplateHeader.
  bool trimsRanges = false, sparesFirstSpace = false;
};
llvm::Expected<PostProcessor> readPostProcessor(Component component);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_TOKENIZERS_JSON_READERS_H
