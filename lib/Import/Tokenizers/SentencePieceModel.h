//===- SentencePieceModel.h - Reads and checks *.spm ------------*- C++ -*-===//
//
// What a SentencePiece model says, checked once: what its library refuses is
// refused here, and so are the indices of its normalisers' tables, which the
// library follows blindly.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_TOKENIZERS_SENTENCEPIECEMODEL_H
#define HEDDLE_LIB_IMPORT_TOKENIZERS_SENTENCEPIECEMODEL_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace heddle {

struct SentencePiece {
  /// The numbers of sentencepiece_model.proto.
  enum class Type {
    Normal = 1,
    Unknown = 2,
    Control = 3,
    UserDefined = 4,
    Unused = 5,
    Byte = 6
  };

  std::string text;
  float score = 0;
  Type type = Type::Normal;

  /// Whether text is never cut into it.
  bool isReserved() const {
    return type == Type::Unknown || type == Type::Control || type == Type::Byte;
  }
};

/// How text is brought into the form that pieces have, or back.
struct SentencePieceNormalizer {
  /// The double array of its rules, u32 units; then what they lead to. Both may
  /// be empty.
  std::string rules, replacements;
  bool addsDummyPrefix = true;
  bool removesExtraSpaces = true;
  bool escapesSpaces = true;
};

struct SentencePieceModel {
  /// The numbers of sentencepiece_model.proto, as far as they are supported.
  enum class Kind { Unigram = 1, BytePairs = 2 };

  Kind kind = Kind::Unigram;
  std::vector<SentencePiece> pieces;
  SentencePieceNormalizer normalizer, denormalizer;
  bool fallsBackToBytes = false;
  /// The dummy prefix stands behind the text.
  bool putsSpacesBehind = false;
  std::string unknownSurface = " \xE2\x81\x87 ";
  /// Ids; -1 if the model has no such piece.
  int64_t eos = -1, unknown = -1;
  /// The id of each text. If an ordinary and a reserved piece have the same
  /// text, the reserved one counts, as in the library.
  llvm::StringMap<int64_t> ids;

  int64_t pieceCount() const { return int64_t(pieces.size()); }
};

/// The byte that a piece of the type Byte spells, as "<0x0A>"; -1 if none.
int byteOf(llvm::StringRef piece);

/// Takes apart a table of rules as a model has it: the size of a double array,
/// the array, then what it leads to. False if it is damaged.
bool splitRules(llvm::StringRef table, SentencePieceNormalizer &normalizer);

/// Fails for what is not supported, models of words or characters among them.
llvm::Expected<SentencePieceModel> readSentencePieceModel(llvm::StringRef path);

/// The same of its bytes; `path` is for sentences.
llvm::Expected<SentencePieceModel>
parseSentencePieceModel(llvm::StringRef bytes, llvm::StringRef path);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_TOKENIZERS_SENTENCEPIECEMODEL_H
