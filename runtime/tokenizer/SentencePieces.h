//===- SentencePieces.h - Cutting text into pieces --------------*- C++ -*-===//
//
// What SentencePiece 0.1.97 does with a unigram or a BPE model: ids and text
// are the same. Or what the library tokenizers does with a model that was
// converted for it. The tables of `tokenizer.source`, `tokenizer.target` and
// `tokenizer.vocabulary` are used where they are mapped.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_TOKENIZER_SENTENCEPIECES_H
#define HEDDLE_RUNTIME_TOKENIZER_SENTENCEPIECES_H

#include "runtime/Result.h"
#include "runtime/tokenizer/DoubleArray.h"
#include "runtime/tokenizer/TextNormalizer.h"
#include "runtime/tokenizer/TokenizerFormat.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// The text of each piece and what it is in joined text. A view.
struct PieceTexts {
  uint32_t count = 0;
  const uint32_t *begins = nullptr;
  const uint16_t *joinings = nullptr;
  std::string_view bytes;

  /// Whether all texts lie within the bytes.
  bool areWhole() const;
  /// `id` is below `count`.
  std::string_view text(uint32_t id) const {
    return bytes.substr(begins[id], begins[id + 1] - begins[id]);
  }
};

/// A text as a model sees it, and the pieces that it is cut into.
struct CutText {
  /// Bytes from `begin` to `end`; those of a byte that is a piece of its own
  /// are of no use.
  struct Piece {
    int32_t id;
    size_t begin, end;
  };

  std::string_view textOf(const Piece &piece) const {
    return std::string_view(normalized)
        .substr(piece.begin, piece.end - piece.begin);
  }

  std::string normalized;
  std::vector<Piece> pieces;
};

/// A view of a section, which must stay. Immutable.
class SentencePieces {
public:
  /// `name` is the section's, for the sentence about one that is not whole.
  static Result<SentencePieces> parse(std::string_view bytes,
                                      std::string_view name);

  int32_t pieceCount() const { return int32_t(header->pieceCount); }
  int32_t unknown() const { return int32_t(header->unknown); }
  const PieceTexts &texts() const { return pieceTexts; }

  /// Unknown characters beside each other are one piece. Takes time linear in
  /// the length of a text for a unigram model, n log n for BPE.
  CutText cut(std::string_view text) const;
  /// The same of text that is normalised.
  CutText cutNormalized(std::string normalized) const;
  /// Well-formed text with what rules of a converted model replace, its spaces
  /// as they stand.
  std::string replace(std::string_view text) const {
    return normalizer.replaceClusters(text);
  }

  /// The text of pieces, whose texts are those of the model or of another
  /// vocabulary; ids are below its count.
  std::string join(const std::vector<int32_t> &ids,
                   const PieceTexts &vocabulary) const;

private:
  bool isWhole() const;
  bool isConverted() const {
    return header->kind == format::kConvertedUnigram ||
           header->kind == format::kConvertedMerges;
  }
  /// Whether an unknown piece goes on with another one behind it.
  bool isFused(const CutText &cut, const CutText::Piece &piece,
               const CutText::Piece &next) const;

  /// The pieces of a normalised text, unknown characters one by one.
  template <typename Sum> void cutByScores(CutText &cut) const;
  void cutByMerges(CutText &cut) const;

  const format::PiecesHeader *header = nullptr;
  DoubleArray trie;
  DoubleArray symbols;
  TextNormalizer normalizer;
  TextNormalizer denormalizer;
  const float *scores = nullptr;
  std::string_view unknownText;
  PieceTexts pieceTexts;
};

/// The numbers that a vocabulary gives to the pieces of two models, and its own
/// pieces. A view of a section, which must stay. Immutable.
class PieceNumbers {
public:
  /// Refuses a section that is not whole, or is for models of another size.
  static Result<PieceNumbers> parse(std::string_view bytes,
                                    const SentencePieces &source,
                                    const SentencePieces &target);

  /// The id of a text that is a piece of the vocabulary, or -1.
  int32_t find(std::string_view piece) const;
  /// The ids of the pieces of each model, -1 for those that it lacks.
  const int32_t *sourceIds() const { return source; }
  const int32_t *targetIds() const { return target; }
  const PieceTexts &texts() const { return pieceTexts; }

private:
  DoubleArray trie;
  const int32_t *source = nullptr;
  const int32_t *target = nullptr;
  PieceTexts pieceTexts;
};

/// Whether a mark of a space begins at a place, which is in the text.
inline bool startsWithMark(std::string_view text, size_t at) {
  return text[at] == kSpaceMark[0] &&
         text.compare(at, kSpaceMark.size(), kSpaceMark) == 0;
}

/// How many bytes the character has that begins with `lead`, as far as its lead
/// byte says.
inline size_t characterLength(unsigned char lead) {
  return lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

} // namespace heddle

#endif // HEDDLE_RUNTIME_TOKENIZER_SENTENCEPIECES_H
