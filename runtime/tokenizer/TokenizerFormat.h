//===- TokenizerFormat.h - The tokenizer of an artifact ---------*- C++ -*-===//
//
// The compiler turns a tokenizer into stages with tables that the runtime uses
// where they are mapped: nothing is built when a model is loaded. Section
// `tokenizer`:
//
//   StageListHeader, Stage stages[count], in the order in which they work, then
//   their tables, each at a multiple of kStageAlignment from its start.
//
// Below each kind stands what its table has behind its header.
//
// A double array is a trie as darts-clone lays it out: unit 0 is the root, and
// the child of unit i for the byte c is unit i ^ offset ^ c, if bit 31 is clear
// there and its low eight bits are c. Bits 10 to 30 of a unit are its offset,
// shifted by eight if bit 9 is set. If bit 8 is set a key ends at the
// unit, and bits 0 to 30 of unit i ^ offset are its value. No key is empty or
// has a byte of zero: where texts may have it, keys have kZeroKey.
//
// The compiler sees this header.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_TOKENIZER_TOKENIZERFORMAT_H
#define HEDDLE_RUNTIME_TOKENIZER_TOKENIZERFORMAT_H

#include <array>
#include <cstdint>

namespace heddle::format {

/// At the start of the section.
struct StageListHeader {
  uint32_t count;
  uint32_t reserved;
};
static_assert(sizeof(StageListHeader) == 8);

struct Stage {
  uint32_t kind;
  /// Of kUsedForSource ...
  uint32_t uses;
  /// The bytes of its table in the section.
  uint64_t begin;
  uint64_t size;
};
static_assert(sizeof(Stage) == 24);
inline constexpr uint64_t kStageAlignment = 8;
/// The characters that spell bytes in byte-level vocabularies (GPT-2's): what
/// prints in Latin-1 stands for itself, other bytes for characters from U+0100
/// on. " as" is spelled "Ġas".
constexpr std::array<uint16_t, 256> byteCharacters() {
  std::array<uint16_t, 256> characters = {};
  uint16_t next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte) {
    bool printable = (byte >= '!' && byte <= '~') ||
                     (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
    characters[byte] = printable ? uint16_t(byte) : next++;
  }
  return characters;
}
/// U+0000 in the keys of double arrays; no UTF-8.
inline constexpr char kZeroKey[] = "\xC0\x80";
/// A stage may cut sources, cut targets, or join targets; or rewrite a text
/// that becomes a vector, in front of those that cut sources.
inline constexpr uint32_t kUsedForSource = 1, kUsedForTarget = 2,
                          kUsedToJoin = 4, kUsedForVector = 8;

//===----------------------------------------------------------------------===//
// Stages that rewrite a text or cut it into parts
//===----------------------------------------------------------------------===//

/// What is not well-formed UTF-8 becomes U+FFFD. No table.
inline constexpr uint32_t kRepairText = 1;

/// kFindTokens finds added tokens without the flag kIsNormalized,
/// kFindNormalizedTokens those with it: the leftmost match, and of these the
/// longest, as transformers' fast tokenizers do. The stages between the two
/// also rewrite the texts of normalized tokens. kFindTokensSlowly finds all
/// tokens, as slow tokenizers do. AddedHeader, AddedToken tokens[count], u32
/// textBegins[count + 1], then their texts.
inline constexpr uint32_t kFindTokens = 2, kFindNormalizedTokens = 3,
                          kFindTokensSlowly = 4;
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
                          kIsNormalized = 8, kStripsAsPython = 16;

/// `>>code<<` at the start of a text is a token of the vocabulary (kVocabulary,
/// in front of it). CodesHeader.
inline constexpr uint32_t kFindLanguageCode = 5;
struct CodesHeader {
  /// What it is if the vocabulary lacks it.
  uint32_t unknown;
  uint32_t reserved;
};
static_assert(sizeof(CodesHeader) == 8);

/// Replaces characters by rules: as SentencePiece does, of each place the
/// longest that matches, with what the flags say of spaces; or as the library
/// tokenizers do (its `Precompiled`), which ignores flags and symbols.
/// RulesHeader, u32 rules[unitCount], a double array whose values are offsets
/// into the replacements, u32 symbols[symbolUnits], one of what is never
/// replaced, then the replacements, each ended by a zero.
inline constexpr uint32_t kNormalizeSentencePiece = 6, kReplaceClusters = 7;
struct RulesHeader {
  uint32_t flags;
  uint32_t unitCount;
  uint32_t symbolUnits;
  uint32_t replacementBytes;
};
static_assert(sizeof(RulesHeader) == 16);
/// Flags: a space is added in front, or behind instead; spaces at the ends and
/// all but one of several are removed; spaces become U+2581.
inline constexpr uint32_t kAddsSpace = 1, kAddsItBehind = 2, kRemovesSpaces = 4,
                          kMarksSpaces = 8;

/// Takes white space (Unicode's White_Space, or what Python strips) from the
/// ends. EndsHeader.
inline constexpr uint32_t kStripSpaces = 8;
struct EndsHeader {
  /// Of kStripsLeft and kStripsRight, and kStripsAsPython.
  uint32_t flags;
  uint32_t reserved;
};
static_assert(sizeof(EndsHeader) == 8);

/// The matches of a pattern become another text. ReplaceHeader, a pattern, then
/// the text.
inline constexpr uint32_t kReplaceMatches = 9;
struct ReplaceHeader {
  uint32_t contentBytes;
  uint32_t reserved;
};
static_assert(sizeof(ReplaceHeader) == 8);

/// Cuts text at the matches of a pattern. SplitHeader, then a pattern.
inline constexpr uint32_t kSplitMatches = 10;
struct SplitHeader {
  /// What becomes of matches, the first or the last of these.
  uint32_t behavior;
  /// 1 if the pattern matches what is between matches.
  uint32_t inverts;
};
static_assert(sizeof(SplitHeader) == 8);
/// Matches are parts of their own; are left out; join the part before them, or
/// the one behind; or those beside each other are one part.
inline constexpr uint32_t kIsolates = 0, kRemoves = 1, kMergesBefore = 2,
                          kMergesBehind = 3, kJoinsMatches = 4;

/// Spaces become a mark. MarkHeader, then the mark.
inline constexpr uint32_t kMarkSpaces = 11;
struct MarkHeader {
  /// Which parts that begin with no mark get one.
  uint32_t scheme;
  uint32_t markBytes;
};
static_assert(sizeof(MarkHeader) == 8);
inline constexpr uint32_t kMarksAll = 0, kMarksFirst = 1, kMarksNone = 2;

/// A part that begins with no space gets one. No table.
inline constexpr uint32_t kAddSpace = 12;

/// Characters become other texts, each by itself. CharacterMapHeader, u16
/// blocks[kPatternBlocks], of the code points from 256 i on, u16
/// texts[blockCount][256] of code points, 0 for those that stay, kIsSurrounded
/// for those that get a space on both sides, else one more than a number, u32
/// begins[textCount + 1] of these, then their bytes.
inline constexpr uint32_t kReplaceCharacters = 13;
struct CharacterMapHeader {
  /// 1 if syllables of Hangul become their letters, too.
  uint32_t decomposesHangul;
  uint32_t blockCount;
  uint32_t textCount;
  uint32_t reserved;
};
static_assert(sizeof(CharacterMapHeader) == 16);
inline constexpr uint16_t kIsSurrounded = 0xFFFF;

/// Marks beside each other are put in the order of their classes (Unicode's
/// Canonical_Combining_Class); then characters are composed (D117 of the
/// standard), those of Hangul, too, if there are pairs. MarksHeader, u32
/// pairs[pairCount][3], two characters and what they are together, in order,
/// u16 blocks[kPatternBlocks], u8 classes[blockCount][256].
inline constexpr uint32_t kOrderMarks = 14;
struct MarksHeader {
  uint32_t blockCount;
  uint32_t pairCount;
};
static_assert(sizeof(MarksHeader) == 8);

/// A text in front of each part.
inline constexpr uint32_t kPrependText = 15;

/// Each byte becomes a character. u16 characters[256].
inline constexpr uint32_t kNameBytes = 16;

/// A regular expression as an automaton. Behind PatternHeader:
///   u16 starts[classCount + 1]: the first state, by the class of the character
///     before the match; classCount if there is none
///   u16 transitions[stateCount][classCount + 1], by the class of the next
///     character: bits 1 to 15 are the next state; bit 0 says that there is a
///     match in front of that character
///   u16 blocks[kPatternBlocks]: the block of the code points from 256 i on
///   u8 classes[blockCount][256] of code points
/// State 0 rejects.
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

//===----------------------------------------------------------------------===//
// Stages that cut parts into pieces
//===----------------------------------------------------------------------===//

/// Pieces with scores. PiecesHeader, u32 pieces[pieceUnits], a double array of
/// the pieces with PieceValues, u32 symbols[symbolUnits], one of those that the
/// user defined, f32 scores[pieceCount]; f64 of kUnigramOfDoubles, of which
/// both counts of units are even.
inline constexpr uint32_t kCutByScores = 32;
struct PiecesHeader {
  /// kUnigram, kMerges or kUnigramOfDoubles.
  uint32_t kind;
  uint32_t flags;
  uint32_t pieceCount;
  uint32_t pieceUnits;
  uint32_t symbolUnits;
  /// The piece that stands for unknown characters.
  uint32_t unknown;
  /// Of an unknown character, and the largest of an ordinary piece; of
  /// kUnigramOfDoubles none of the two counts.
  float unknownScore;
  float largestScore;
  /// The piece of each byte; -1 without kFallsBackToBytes.
  int32_t byteIds[256];
};
static_assert(sizeof(PiecesHeader) == 1056);
/// The pieces of the highest sum of scores; or neighbours merge while there is
/// a piece for both, the one of the highest score first.
inline constexpr uint32_t kUnigram = 1, kMerges = 2;
/// A unigram model of the library tokenizers: sums are doubles; unknown
/// characters beside each other are the piece that they spell, if there is one.
inline constexpr uint32_t kUnigramOfDoubles = 3;
/// Unknown characters become the pieces of their bytes.
inline constexpr uint32_t kFallsBackToBytes = 1;

/// PieceValue: the id, and whether the piece is only on the way to others, or
/// the user defined it.
inline constexpr uint32_t kPieceIdBits = 28,
                          kPieceIdMask = (1u << kPieceIdBits) - 1,
                          kPieceIsUnused = 1u << 28,
                          kPieceIsUserDefined = 1u << 29;

/// Byte pairs. PairsHeader, u32 mergeBegins[pieceCount + 1], PairMerge
/// merges[mergeCount], of the left pieces in order, each by its right piece,
/// u32 words[wordUnits], a double array of words that are pieces without
/// merges, or that their merges make pieces.
inline constexpr uint32_t kCutBytePairs = 33;
struct PairsHeader {
  uint32_t pieceCount;
  uint32_t mergeCount;
  /// The id of a byte that no piece stands for; -1 if it is left out.
  int32_t unknown;
  uint32_t wordUnits;
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

/// Pairs of characters. CharacterPairsHeader, mergeBegins, merges as of byte
/// pairs, u32 units[4][], double arrays of the characters that are pieces, by
/// their place in a word, u32 words[wordUnits], then the marks that unknown
/// characters have in front of them inside a word, and behind them at its end.
inline constexpr uint32_t kCutCharacterPairs = 39;
struct CharacterPairsHeader {
  uint32_t pieceCount;
  uint32_t mergeCount;
  /// The id of an unknown character; -1 if it is left out.
  int32_t unknown;
  uint32_t flags;
  /// Of the first character, of one inside, of the only one, of the last one.
  uint32_t units[4];
  uint32_t wordUnits;
  /// Of the marks.
  uint16_t prefixBytes, suffixBytes;
  /// The piece of each byte of an unknown character; -1 for none.
  int32_t byteIds[256];
};
static_assert(sizeof(CharacterPairsHeader) == 1064);
inline constexpr uint32_t kIsInside = 1, kIsLast = 2;
/// Flag: unknown characters beside each other are one piece.
inline constexpr uint32_t kFusesUnknown = 1;

/// Each character is a piece, damage one as well. CharactersHeader, then UTF-8:
/// the character at index i has the id i, of equal ones the first; that of
/// `unknown` is never read.
inline constexpr uint32_t kCutCharacters = 34;
struct CharactersHeader {
  uint32_t unknown;
  uint32_t reserved;
};
static_assert(sizeof(CharactersHeader) == 8);

/// Words as their longest pieces, one after the other; a word that has a rest
/// is unknown. WordPiecesHeader, u32 starts[startUnits], a double array of the
/// pieces that a word begins with, u32 rests[restUnits], one of the others,
/// without what marks them.
inline constexpr uint32_t kCutWordPieces = 37;
struct WordPiecesHeader {
  uint32_t unknown;
  /// Words of more characters are unknown.
  uint32_t maxCharacters;
  uint32_t startUnits;
  uint32_t restUnits;
};
static_assert(sizeof(WordPiecesHeader) == 16);

/// Each part is a piece. WordsHeader, u32 units[], a double array.
inline constexpr uint32_t kCutWords = 38;
struct WordsHeader {
  uint32_t unknown;
  uint32_t reserved;
};
static_assert(sizeof(WordsHeader) == 8);

/// Numbers the pieces of the stage in front of it as a vocabulary does
/// (kVocabulary, in front of both). NumbersHeader, i32 ids[pieceCount] of the
/// model's pieces, -1 for those that the vocabulary lacks.
inline constexpr uint32_t kNumberPieces = 35;
struct NumbersHeader {
  /// The model's id of an unknown piece: the vocabulary may have its text.
  uint32_t modelUnknown;
  /// The id if it has not.
  uint32_t unknown;
  uint32_t pieceCount;
  uint32_t reserved;
};
static_assert(sizeof(NumbersHeader) == 16);

/// All pieces: u32 units[], a double array whose values are ids.
inline constexpr uint32_t kVocabulary = 36;

//===----------------------------------------------------------------------===//
// Stages that join pieces
//===----------------------------------------------------------------------===//

/// The texts of ids. TextsHeader, u32 begins[count + 1], u16 joinings[count],
/// then the texts.
inline constexpr uint32_t kTexts = 64;
struct TextsHeader {
  uint32_t count;
  uint32_t reserved;
};
static_assert(sizeof(TextsHeader) == 8);
/// What a piece is in joined text: itself, nothing, the text of what is
/// unknown, itself with U+2581 as it stands, a piece without a text, where
/// other ids without one are none, or (from kJoinsAsByte on) a byte.
inline constexpr uint16_t kJoinsAsText = 0, kJoinsAsNothing = 1,
                          kJoinsAsUnknown = 2, kJoinsAsIs = 3, kJoinsEmpty = 4,
                          kJoinsAsByte = 256;

/// Joins as SentencePiece does; added tokens stand apart. JoinHeader, the table
/// of a normalizer, which joined text goes through if kDenormalizes is set,
/// then the text of what is unknown.
inline constexpr uint32_t kJoinSentencePieces = 65;
struct JoinHeader {
  /// kAddsSpace and kRemovesSpaces of the normalizer that text went through,
  /// and those below.
  uint32_t flags;
  uint32_t unknownBytes;
};
static_assert(sizeof(JoinHeader) == 8);
/// Marks that are left become spaces, and the ends are stripped, as Python
/// does.
inline constexpr uint32_t kDenormalizes = 16, kStripsText = 32;

/// Joins what steps make of texts, each of the texts of all pieces in turn.
/// StepsHeader, JoinStep steps[count], then their texts, each at a multiple of
/// four.
inline constexpr uint32_t kJoinSteps = 66;
struct StepsHeader {
  uint32_t count;
  uint32_t reserved;
};
static_assert(sizeof(StepsHeader) == 8);
struct JoinStep {
  uint32_t kind;
  /// Of kStripEnds: how many at the start and at the end.
  uint32_t atStart, atEnd;
  /// Of its first text, and of its second one.
  uint32_t firstBytes, secondBytes;
};
static_assert(sizeof(JoinStep) == 20);
/// kReplaceText: the first text becomes the second one. kSpellBytes: runs of
/// pieces that spell bytes ("<0x0A>") become these bytes. kFuseAll: all pieces
/// become one. kStripEnds: the first text is stripped from the ends.
/// kUnmarkSpaces: the first text becomes a space, in the first piece the second
/// text. kUnmarkEnds: the first text becomes a space, in the last piece
/// nothing. kReplacePattern: matches of a pattern, the first text, become the
/// second one. kDropRepeats: of equal texts beside each other one is left.
/// kDropEmpty: empty ones go. kRepairEach: what is not well-formed UTF-8
/// becomes U+FFFD. kStripEach: white space goes from the ends, as Python strips
/// it.
inline constexpr uint32_t kReplaceText = 1, kSpellBytes = 2, kFuseAll = 3,
                          kStripEnds = 4, kUnmarkSpaces = 5, kUnmarkEnds = 6,
                          kReplacePattern = 7, kDropRepeats = 8, kDropEmpty = 9,
                          kRepairEach = 10, kStripEach = 11;

/// Joins the bytes of texts and repairs them, or leaves out what is not
/// well-formed UTF-8. No table.
inline constexpr uint32_t kJoinBytes = 67, kJoinWholeBytes = 69;

/// Joins words with spaces. WordJoinHeader, then what marks pieces that go on
/// with a word, nothing if none does.
inline constexpr uint32_t kJoinWords = 68;
struct WordJoinHeader {
  /// 1 if spaces in front of English punctuation are left out.
  uint32_t cleansUp;
  uint32_t markBytes;
};
static_assert(sizeof(WordJoinHeader) == 8);

//===----------------------------------------------------------------------===//
// What a model reads of texts
//===----------------------------------------------------------------------===//

/// The tokens of one text, or of two, and those around them. TemplateHeader,
/// TemplateItem items[singleCount + pairCount], of one text and of two.
inline constexpr uint32_t kTemplate = 96;
struct TemplateHeader {
  uint32_t singleCount;
  uint32_t pairCount;
  uint32_t flags;
  /// Which item of one text a source language replaces; -1 for none.
  int32_t language;
};
static_assert(sizeof(TemplateHeader) == 16);
/// Flags: white space at the ends of a token is none of the text that it stands
/// for; but for a lone space, which a stage may have added, at the start of a
/// text. Texts of pieces are their names, in which all white space counts and
/// the character that names the byte of a space; not bytes, of which spaces do.
/// A token behind a text is left out if the text ends in it.
inline constexpr uint32_t kTrimsRanges = 1, kSparesFirstSpace = 2,
                          kTrimsNames = 4, kAddsTokensOnce = 8;
struct TemplateItem {
  /// A token, or one of the texts below.
  int32_t id;
  /// The type of its tokens, BERT's token_type_ids.
  uint32_t type;
};
static_assert(sizeof(TemplateItem) == 8);
inline constexpr int32_t kFirstText = -1, kSecondText = -2;

} // namespace heddle::format

#endif // HEDDLE_RUNTIME_TOKENIZER_TOKENIZERFORMAT_H
