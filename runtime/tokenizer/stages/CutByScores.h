//===- CutByScores.h - Pieces that have scores ------------------*- C++ -*-===//
//
// What SentencePiece 0.1.97 does with a unigram or a BPE model behind its
// normalizer: ids are the same. Or what the library tokenizers does with a
// unigram model.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_TOKENIZER_STAGES_CUTBYSCORES_H
#define HEDDLE_RUNTIME_TOKENIZER_STAGES_CUTBYSCORES_H

#include "runtime/tokenizer/DoubleArray.h"
#include "runtime/tokenizer/TokenizerFormat.h"
#include "runtime/tokenizer/stages/Stages.h"

namespace heddle::stages {

class CutByScores final : public PieceModel {
public:
  static Result<CutByScores> parse(std::string_view table);

  /// Unknown characters beside each other are one piece. Takes time linear in
  /// the length of a text for a unigram model, n log n for BPE.
  void cut(std::string_view text, std::vector<Piece> &pieces) const override;

private:
  bool isWhole() const;
  /// Whether it is a model of the library tokenizers.
  bool isOfDoubles() const { return header->kind == format::kUnigramOfDoubles; }
  double scoreOf(uint32_t id) const {
    return doubles ? doubles[id] : double(scores[id]);
  }
  int32_t unknown() const { return int32_t(header->unknown); }

  // The pieces of a text, unknown characters one by one.
  template <typename Sum>
  void sumScores(std::string_view text, std::vector<Piece> &pieces) const;
  void merge(std::string_view text, std::vector<Piece> &pieces) const;
  /// Those of a model of the library tokenizers, in which zeros are spelled as
  /// keys spell them.
  void cutAsLibrary(std::string_view text, std::vector<Piece> &pieces) const;

  // From the piece with the index `first` on.
  void spellUnknown(std::string_view text, size_t first,
                    std::vector<Piece> &pieces) const;
  void fuseUnknown(std::string_view text, size_t first,
                   std::vector<Piece> &pieces) const;

  const format::PiecesHeader *header = nullptr;
  DoubleArray trie;
  DoubleArray symbols;
  /// Of one of the two types.
  const float *scores = nullptr;
  const double *doubles = nullptr;
  double unknownScore = 0;
};

/// How many bytes the character has that begins with `lead`, as far as its lead
/// byte says.
inline size_t characterLength(unsigned char lead) {
  return lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

} // namespace heddle::stages

#endif // HEDDLE_RUNTIME_TOKENIZER_STAGES_CUTBYSCORES_H
