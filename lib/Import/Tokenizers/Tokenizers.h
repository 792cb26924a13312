//===- Tokenizers.h - What turns text into ids ------------------*- C++ -*-===//
//
// Reads the tokenizer of a model folder, checks it against the vocabulary, and
// describes it as the manifest and the sections of
// runtime/artifact/ArtifactFormat.h do.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_TOKENIZERS_TOKENIZERS_H
#define HEDDLE_LIB_IMPORT_TOKENIZERS_TOKENIZERS_H

#include "lib/Import/Tokenizers/StageList.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// A section of the artifact that is ready at import.
struct ImportedSection {
  std::string name;
  std::string bytes;
};

/// Appends the bytes of values to a section.
template <typename T>
void appendValues(std::string &section, llvm::ArrayRef<T> values) {
  section.append(reinterpret_cast<const char *>(values.data()),
                 values.size() * sizeof(T));
}

struct TokenizerFiles;

/// The object "tokenizer" of the manifest, and its sections.
struct ImportedTokenizer {
  llvm::json::Object manifest{{"kind", "none"}};
  std::vector<ImportedSection> sections;
  /// What ends a target, if the tokenizer says it.
  std::optional<int64_t> targetEos = std::nullopt;
  /// The piece of a target that stands for unknown text, and those that
  /// spell the control characters 0 to 31.
  std::optional<int64_t> targetUnknown = std::nullopt;
  std::vector<int32_t> targetControls = {};
  /// The token that hides another one, if there is one.
  std::optional<int64_t> mask = std::nullopt;
  /// How many tokens a file of tokenizers puts around a text.
  int64_t specialCount = 0;
  /// Whether a text that is too long loses its beginning, and not its end.
  bool cutsLeft = false;
  /// Whether padding stands in front of texts, as far as that counts.
  bool padsLeft = false;

  void setStages(const StageList &stages) {
    sections.push_back({"tokenizer", stages.build()});
  }
};

/// The tokenizer of a Hugging Face folder. The class that the folder names
/// counts, or else `byDefault`, that of its model. One that is not supported is
/// of kind "none" and has a "reason". `vocabulary` is how many ids the source
/// has: pieces beyond it are in the tables, too, and the runtime refuses text
/// that needs them.
llvm::Expected<ImportedTokenizer> readFolderTokenizer(llvm::StringRef folder,
                                                      llvm::StringRef byDefault,
                                                      int64_t vocabulary);

/// The object in a file.
llvm::Expected<llvm::json::Object> readJsonFile(const llvm::Twine &path);

/// The piece of each id, empty for none; `ids` maps pieces to ids, `path` is
/// where it stands. There are at least `size`; an id must not be much beyond
/// both that and the number of pieces.
llvm::Expected<std::vector<std::string>>
numberPieces(const llvm::json::Object &ids, llvm::StringRef path, int64_t size);

/// The ids of a vocabulary's pieces; an empty piece has none.
class PieceIds {
public:
  explicit PieceIds(llvm::ArrayRef<std::string> pieces);
  std::optional<int64_t> find(llvm::StringRef piece) const;
  size_t size() const { return ids.size(); }

private:
  llvm::StringMap<int64_t> ids;
};

/// The id of a piece that a vocabulary must have.
llvm::Expected<int64_t> findPiece(llvm::ArrayRef<std::string> pieces,
                                  llvm::StringRef piece, llvm::StringRef path);

/// A file of a vocabulary, and how many pieces the model has there.
struct VocabularyFile {
  llvm::StringRef path;
  int64_t size;
};

/// SentencePiece models that number their own pieces, one file for both sides
/// or one for each; the end-of-sentence piece of the source is appended to it.
llvm::Expected<ImportedTokenizer>
readSentencePieceTokenizer(const VocabularyFile &source,
                           const VocabularyFile &target);

/// The SentencePiece models `source` and `target` cut, `ids` of `numbers`
/// number the pieces. Of a folder of transformers `files` add tokens.
llvm::Expected<ImportedTokenizer>
readNumberedTokenizer(llvm::StringRef source, llvm::StringRef target,
                      const llvm::json::Object &ids,
                      const VocabularyFile &numbers,
                      const TokenizerFiles *files = nullptr);

/// MarianMT's tokenizer: `source.spm` and `target.spm` cut, `vocab.json`
/// numbers the pieces. A folder with none of the three has no tokenizer.
llvm::Expected<ImportedTokenizer>
readMarianMtTokenizer(const TokenizerFiles &files, int64_t vocabulary);

/// Tables of characters: the id of a character is its index.
llvm::Expected<ImportedTokenizer>
makeCharacterTokenizer(llvm::StringRef source, llvm::StringRef target,
                       std::optional<int64_t> bos, std::optional<int64_t> eos,
                       int64_t vocabulary);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_TOKENIZERS_TOKENIZERS_H
