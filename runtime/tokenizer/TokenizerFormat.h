//===- TokenizerFormat.h - Tables of pieces in an artifact ------*- C++ -*-===//
//
// The compiler turns the vocabularies of a tokenizer into tables that the
// runtime uses where they are mapped: nothing is built when a model is loaded.
//
//   tokenizer.source    what SentencePiece needs to cut text and to join it:
//   tokenizer.target      PiecesHeader,
//                         u32 pieces[pieceUnits], a double array of the pieces
//                           that text is cut into, with PieceValues,
//                         u32 symbols[symbolUnits], a double array of those
//                           that the user defined,
//                         u32 rules[normalizer.unitCount],
//                         u32 rules[denormalizer.unitCount],
//                         f32 scores[pieceCount],
//                         u32 textBegins[pieceCount + 1],
//                         u16 joinings[pieceCount],
//                         then bytes: the replacements of the normalizer and
//                         of the denormalizer, each ended by a zero, the text
//                         of unknownBytes, the texts of the pieces, to which
//                         textBegins are offsets
//   tokenizer.vocabulary  the pieces of both in numbers of their own:
//                         VocabularyHeader,
//                         u32 pieces[pieceUnits], a double array of its pieces,
//                           whose values are ids,
//                         i32 sourceIds[sourceCount], the id of each piece of
//                           tokenizer.source, or -1,
//                         i32 targetIds[targetCount], the same of the target,
//                         u32 textBegins[pieceCount + 1],
//                         u16 joinings[pieceCount], then the texts
//   tokenizer.pairs     byte pairs: PairsHeader, u32 mergeBegins[pieceCount +
//                         1], PairMerge merges[mergeCount] (of the left pieces
//                         in order, each by its right piece), u32
//                         textBegins[pieceCount + 1], then the bytes of the
//                         pieces, to which textBegins are offsets
//   tokenizer.pattern   how text is cut, by a regular expression:
//   PatternHeader,
//                         u16 starts[classCount + 1], the state in which a
//                           match begins, by the class of the character before
//                           it, classCount if there is none,
//                         u16 transitions[stateCount][classCount + 1], by the
//                           class of the next character: the next state in bits
//                           1 to 15, and in bit 0 whether there is a match in
//                           front of that character,
//                         u16 blocks[kPatternBlocks], of the code points from
//                           256 i on,
//                         u8 classes[blockCount][256] of code points
//   tokenizer.added     tokens that are found in text as a whole: AddedHeader,
//                         AddedToken tokens[count], u32 textBegins[count + 1],
//                         then their texts
//
// A double array is a trie as darts-clone lays it out: unit 0 is the root, and
// the child of unit i for the byte c is unit i ^ offset ^ c, if bit 31 is clear
// there and its low eight bits are c. Bits 10 to 30 of a unit are its offset,
// shifted by eight if bit 9 is set. If bit 8 is set a key ends at the
// unit, and bits 0 to 30 of unit i ^ offset are its value. No key is empty or
// has a byte of zero.
//
// The compiler sees this header.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_TOKENIZER_TOKENIZERFORMAT_H
#define HEDDLE_RUNTIME_TOKENIZER_TOKENIZERFORMAT_H

#include <cstdint>

namespace heddle::format {

/// How text is brought into the form that pieces have, or back.
struct NormalizerTable {
  uint32_t flags;
  /// Units of the double array of its rules, whose values are offsets into the
  /// replacements. Both counts may be 0.
  uint32_t unitCount;
  uint32_t replacementBytes;
  uint32_t reserved;
};
static_assert(sizeof(NormalizerTable) == 16);
/// Flags: a space is added in front, or behind instead; spaces at the ends and
/// all but one of several are removed; spaces become U+2581.
inline constexpr uint32_t kAddsSpace = 1, kAddsItBehind = 2, kRemovesSpaces = 4,
                          kMarksSpaces = 8;

/// At the start of `tokenizer.source` and `tokenizer.target`.
struct PiecesHeader {
  /// kUnigram, kMerges, kConvertedUnigram or kConvertedMerges.
  uint32_t kind;
  uint32_t flags;
  uint32_t pieceCount;
  uint32_t pieceUnits;
  uint32_t symbolUnits;
  /// The piece that stands for unknown characters.
  uint32_t unknown;
  /// How many bytes that piece becomes in text.
  uint32_t unknownBytes;
  /// Of an unknown character (10 below this of a converted unigram model), and
  /// the largest of an ordinary piece.
  float unknownScore;
  float largestScore;
  uint32_t reserved;
  NormalizerTable normalizer;
  NormalizerTable denormalizer;
  /// The piece of each byte; -1 without kFallsBackToBytes.
  int32_t byteIds[256];
};
static_assert(sizeof(PiecesHeader) == 1096);
/// The pieces of the highest sum of scores; or neighbours merge while there is
/// a piece for both, the one of the highest score first.
inline constexpr uint32_t kUnigram = 1, kMerges = 2;
/// The same as the library tokenizers has them, where a mark of a space begins
/// a text of its own: sums of doubles; unknown characters beside each other are
/// the piece that they spell, if there is one.
inline constexpr uint32_t kConvertedUnigram = 3, kConvertedMerges = 4;
/// Unknown characters become the pieces of their bytes; joined text goes
/// through the denormalizer.
inline constexpr uint32_t kFallsBackToBytes = 1, kDenormalizes = 2;

/// PieceValue: the id, and whether the piece is only on the way to others, or
/// the user defined it.
inline constexpr uint32_t kPieceIdBits = 28,
                          kPieceIdMask = (1u << kPieceIdBits) - 1,
                          kPieceIsUnused = 1u << 28,
                          kPieceIsUserDefined = 1u << 29;

/// What a piece is in joined text: itself, nothing, the text of what is
/// unknown, itself with U+2581 as it stands, or (from kJoinsAsByte on) a byte.
inline constexpr uint16_t kJoinsAsText = 0, kJoinsAsNothing = 1,
                          kJoinsAsUnknown = 2, kJoinsAsIs = 3,
                          kJoinsAsByte = 256;

/// At the start of `tokenizer.vocabulary`.
struct VocabularyHeader {
  uint32_t pieceCount;
  uint32_t pieceUnits;
  uint32_t sourceCount;
  uint32_t targetCount;
};
static_assert(sizeof(VocabularyHeader) == 16);

/// At the start of the section `tokenizer.pairs`.
struct PairsHeader {
  uint32_t pieceCount;
  uint32_t mergeCount;
  uint32_t reserved[2];
  /// The piece of each byte; -1 for none.
  int32_t byteIds[256];
};
static_assert(sizeof(PairsHeader) == 1040);

/// Two pieces that may become one; of those of a word the least rank is first.
struct PairMerge {
  uint32_t right;
  uint32_t rank;
  uint32_t result;
};
static_assert(sizeof(PairMerge) == 12);

/// At the start of the section `tokenizer.pattern`. State 0 is that of no way
/// left.
struct PatternHeader {
  uint32_t stateCount;
  /// At most 255.
  uint32_t classCount;
  uint32_t blockCount;
  uint32_t reserved;
};
static_assert(sizeof(PatternHeader) == 16);
inline constexpr uint32_t kPatternBlock = 256,
                          kPatternBlocks = 0x110000 / kPatternBlock;

/// At the start of the section `tokenizer.added`.
struct AddedHeader {
  uint32_t count;
  uint32_t reserved;
};
static_assert(sizeof(AddedHeader) == 8);

struct AddedToken {
  uint32_t id;
  uint32_t flags;
};
static_assert(sizeof(AddedToken) == 8);
/// Flags: takes the spaces in front with it, or those behind; is found only as
/// a word of its own; is found in text behind its normalizer.
inline constexpr uint32_t kStripsLeft = 1, kStripsRight = 2, kIsWord = 4,
                          kIsNormalized = 8;

} // namespace heddle::format

#endif // HEDDLE_RUNTIME_TOKENIZER_TOKENIZERFORMAT_H
