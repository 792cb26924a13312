//===- NumberedTokens.cpp - Tokenizers over lists of tokens ---------------===//
//
// Merges make pieces that the lists may lack, and the lists have tokens that no
// merges make: pieces are numbered twice, as the merges and as a list have
// them. A piece at the end of a word has kWordEnd behind it.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/NumberedTokens.h"
#include "lib/Import/Tokenizers/Characters/CharacterMap.h"
#include "lib/Import/Tokenizers/PairTables.h"
#include "lib/Import/Tokenizers/Patterns/PatternTable.h"
#include "lib/Import/Tokenizers/SentencePieceStages.h"
#include "lib/Import/Tokenizers/TemplateTable.h"
#include "lib/Support/Error.h"
#include "lib/Weights/MappedFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace heddle {

static constexpr StringLiteral kWordEnd = "</w>", kGoesOn = "@@";

/// What no word has: behind the last token of a word in texts that are joined,
/// and the piece of what is unknown.
static constexpr StringLiteral kMark = "\n";

static constexpr StringLiteral kModels[] = {"sentencepiece.bpe.model",
                                            "sentencepiece.model", "spm.model",
                                            "spiece.model", "tokenizer.model"};
static constexpr StringLiteral kMerges[] = {"bpecodes", "bpe.codes", "code",
                                            "codes.bpe"};

/// Clears all but the first of equal tokens.
static void makeDifferent(TokenList &list) {
  StringSet<> seen;
  for (std::string &token : list.tokens)
    if (!token.empty() && !seen.insert(token).second)
      token.clear();
}

static json::Object describe(StringRef kind, const NumberedTokens &lists) {
  json::Object manifest{{"kind", kind},
                        {"unknown", lists.source.unknown},
                        {"special", json::Array(lists.special)}};
  if (lists.bos)
    manifest["bos"] = *lists.bos;
  if (lists.eos)
    manifest["eos"] = *lists.eos;
  return manifest;
}

Expected<ImportedTokenizer>
makeNumberedPieces(Expected<SentencePieceModel> sourceModel,
                   Expected<SentencePieceModel> targetModel,
                   NumberedTokens lists) {
  if (!sourceModel) {
    consumeError(targetModel.takeError());
    return sourceModel.takeError();
  }
  if (!targetModel)
    return targetModel.takeError();
  makeDifferent(lists.source);
  makeDifferent(lists.target);
  ImportedTokenizer tokenizer;
  tokenizer.manifest = describe("sentencepiece", lists);
  StageList stages;
  for (auto [model, list, uses] :
       {std::tuple(&*sourceModel, &lists.source, format::kUsedForSource),
        {&*targetModel, &lists.target, format::kUsedForTarget}}) {
    stages.add(format::kVocabulary, uses, buildVocabulary(list->tokens));
    if (lists.hasLanguageCodes)
      stages.addHeader(format::kFindLanguageCode, uses,
                       format::CodesHeader{uint32_t(list->unknown), 0});
    addSentencePieceCutter(*model, uses, stages);
    addPieceNumbers(*model, {list->tokens, list->unknown}, uses, stages);
  }
  PieceNumbers numbers{lists.target.tokens, lists.target.unknown};
  addSentencePieceJoiner(*targetModel, &numbers, stages);
  TemplateTable::around(lists.bos, lists.eos).addTo(stages);
  tokenizer.setStages(stages);
  return tokenizer;
}

/// Reads merges, a pair a line, perhaps with its count.
static Error readMerges(StringRef text, const std::string &path,
                        PairVocabulary &pairs) {
  StringSet<> known;
  size_t number = 0;
  for (StringRef rest = text; !rest.empty();) {
    StringRef line;
    std::tie(line, rest) = rest.split('\n');
    ++number;
    line = line.rtrim("\r ");
    if (line.empty() || (number == 1 && line.starts_with("#version")))
      continue;
    std::string place = "line " + std::to_string(number) + " of '" + path + "'";
    if (!json::isUTF8(line))
      return makeError(place + " is no UTF-8");
    SmallVector<StringRef> parts;
    line.split(parts, ' ');
    uint64_t count;
    if (parts.size() == 3 && !parts[2].getAsInteger(10, count))
      parts.pop_back();
    if (parts.size() != 2 || parts[0].empty() || parts[1].empty())
      return makeError(place + " is '" + line +
                       "' (expected two pieces and perhaps a count)");
    if (parts[0] == kWordEnd || parts[1] == kWordEnd)
      return makeError(place + " merges '" + kWordEnd +
                       "' by itself, as version 0.1 of subword-nmt did "
                       "(supported: version 0.2, fastBPE)");
    if (known.insert((parts[0] + " " + parts[1]).str()).second)
      pairs.merges.emplace_back(parts[0], parts[1]);
  }
  return Error::success();
}

/// The pieces that merges read and make, and the characters that a list has.
static void collectPieces(const NumberedTokens &lists, PairVocabulary &pairs) {
  StringSet<> known;
  auto add = [&](const Twine &piece) {
    std::string text = piece.str();
    if (known.insert(text).second)
      pairs.pieces.push_back(std::move(text));
  };
  add(kMark);
  for (const auto &[left, right] : pairs.merges) {
    add(left);
    add(right);
    add(left + right);
  }
  for (const TokenList *list : {&lists.source, &lists.target})
    for (StringRef token : list->tokens) {
      bool isInside = token.consume_back(kGoesOn) && !token.empty();
      if (token.empty() ||
          token.size() != getNumBytesForUTF8(UTF8(token.front())))
        continue;
      add(isInside ? Twine(token) : token + kWordEnd);
    }
}

/// The stage that numbers pieces as a list does.
static void addNumbers(ArrayRef<std::string> pieces, const TokenList &list,
                       uint32_t uses, StageList &stages) {
  PieceIds known(list.tokens);
  std::vector<int32_t> ids;
  for (StringRef piece : pieces) {
    bool isLast = piece.consume_back(kWordEnd);
    std::string token = piece.str() + (isLast ? "" : kGoesOn.str());
    ids.push_back(int32_t(known.find(token).value_or(-1)));
  }
  format::NumbersHeader header = {};
  // No piece's text is looked up.
  header.modelUnknown = uint32_t(pieces.size());
  header.unknown = uint32_t(list.unknown);
  header.pieceCount = uint32_t(ids.size());
  std::string rest;
  appendValues(rest, ArrayRef(ids));
  stages.addHeader(format::kNumberPieces, uses, header, rest);
}

/// Tokens are joined with spaces, but for those inside a word.
static void addJoiner(const TokenList &list, StageList &stages) {
  std::vector<std::string> texts;
  for (StringRef token : list.tokens) {
    bool isInside = token.consume_back(kGoesOn);
    texts.push_back(token.str() + (isInside ? "" : kMark.str()));
  }
  SmallVector<StringRef> views(texts.begin(), texts.end());
  SmallVector<uint16_t> joinings(texts.size(), format::kJoinsAsText);
  stages.add(format::kTexts, format::kUsedToJoin, buildTexts(views, joinings));
  std::string step;
  appendValues(step, ArrayRef(format::JoinStep{format::kUnmarkEnds, 0, 0,
                                               uint32_t(kMark.size()), 0}));
  std::string mark = kMark.str();
  mark.resize(alignTo(mark.size(), 4));
  stages.addHeader(format::kJoinSteps, format::kUsedToJoin,
                   format::StepsHeader{1, 0}, step + mark);
}

Expected<ImportedTokenizer> readNumberedMerges(const std::string &path,
                                               NumberedTokens lists) {
  auto buffer = mapFile(path);
  if (!buffer)
    return buffer.takeError();
  return makeNumberedMerges((*buffer)->getBuffer(), path, std::move(lists));
}

Expected<ImportedTokenizer> makeNumberedMerges(StringRef text,
                                               const std::string &path,
                                               NumberedTokens lists) {
  PairVocabulary pairs;
  if (Error error = readMerges(text, path, pairs))
    return std::move(error);
  pairs.suffix = kWordEnd.str();
  pairs.unknown = 0;
  collectPieces(lists, pairs);
  Expected<std::string> table = buildCharacterPairs(pairs, path);
  if (!table)
    return table.takeError();
  ImportedTokenizer tokenizer;
  tokenizer.manifest = describe("pairs", lists);
  StageList stages;
  stages.add(format::kRepairText, StageList::kBothSides);
  stages.addHeader(format::kSplitMatches, StageList::kBothSides,
                   format::SplitHeader{format::kRemoves, /*inverts=*/0},
                   buildSetTable(bertSpaces(), /*repeats=*/true));
  stages.add(format::kVocabulary, StageList::kBothSides, buildVocabulary({}));
  for (auto [list, uses] : {std::pair(&lists.source, format::kUsedForSource),
                            {&lists.target, format::kUsedForTarget}}) {
    makeDifferent(*list);
    stages.add(format::kCutCharacterPairs, uses, *table);
    addNumbers(pairs.pieces, *list, uses, stages);
  }
  addJoiner(lists.target, stages);
  TemplateTable::around(lists.bos, lists.eos).addTo(stages);
  tokenizer.setStages(stages);
  return tokenizer;
}

Expected<ImportedTokenizer>
readTokenizerBeside(StringRef folder, StringRef path, NumberedTokens lists) {
  auto readPieces = [&](StringRef file) {
    return makeNumberedPieces(readSentencePieceModel(file),
                              readSentencePieceModel(file), std::move(lists));
  };
  auto pathOf = [&](StringRef name) {
    SmallString<128> file = folder;
    sys::path::append(file, name);
    return file;
  };
  if (sys::path::extension(path) == ".model" ||
      sys::path::extension(path) == ".spm")
    return readPieces(path);
  if (!path.empty())
    return readNumberedMerges(path.str(), std::move(lists));
  for (StringRef name : kModels)
    if (SmallString<128> file = pathOf(name); sys::fs::exists(file))
      return readPieces(file);
  for (StringRef name : kMerges)
    if (SmallString<128> file = pathOf(name); sys::fs::exists(file))
      return readNumberedMerges(std::string(file), std::move(lists));
  return ImportedTokenizer();
}

} // namespace heddle
