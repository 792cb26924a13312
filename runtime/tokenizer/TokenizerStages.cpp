//===- TokenizerStages.cpp - The stages of a tokenizer --------------------===//
//
// A list is read once, from its first stage to its last one: a stage may need
// those in front of it.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/TokenizerStages.h"
#include "runtime/artifact/TableReader.h"
#include "runtime/tokenizer/AddedTokens.h"
#include "runtime/tokenizer/TokenizerFormat.h"
#include "runtime/tokenizer/stages/Stages.h"

#include <algorithm>

using namespace heddle;

//===----------------------------------------------------------------------===//
// Which kind is made by what
//===----------------------------------------------------------------------===//

namespace {
template <typename Made> struct Maker {
  uint32_t kind;
  Made (*make)(std::string_view table);
};
} // namespace

static constexpr Maker<stages::MadeText> kTextMakers[] = {
    {format::kRepairText, stages::makeRepairText},
    {format::kFindTokens, stages::makeFindTokens},
    {format::kFindTokensSlowly, stages::makeFindTokensSlowly},
    {format::kNormalizeSentencePiece, stages::makeNormalizeSentencePiece},
    {format::kReplaceClusters, stages::makeReplaceClusters},
    {format::kStripSpaces, stages::makeStripSpaces},
    {format::kReplaceMatches, stages::makeReplaceMatches},
    {format::kSplitMatches, stages::makeSplitMatches},
    {format::kMarkSpaces, stages::makeMarkSpaces},
    {format::kAddSpace, stages::makeAddSpace},
    {format::kReplaceCharacters, stages::makeReplaceCharacters},
    {format::kOrderMarks, stages::makeOrderMarks},
    {format::kPrependText, stages::makePrependText},
    {format::kNameBytes, stages::makeNameBytes}};
static constexpr Maker<stages::MadeModel> kModelMakers[] = {
    {format::kCutByScores, stages::makeCutByScores},
    {format::kCutBytePairs, stages::makeCutBytePairs},
    {format::kCutCharacters, stages::makeCutCharacters},
    {format::kCutCharacterPairs, stages::makeCutCharacterPairs},
    {format::kCutWordPieces, stages::makeCutWordPieces},
    {format::kCutWords, stages::makeCutWords}};
static constexpr Maker<stages::MadeJoiner> kJoinerMakers[] = {
    {format::kJoinSentencePieces, stages::makeJoinSentencePieces},
    {format::kJoinSteps, stages::makeJoinSteps},
    {format::kJoinBytes, stages::makeJoinBytes},
    {format::kJoinWholeBytes, stages::makeJoinWholeBytes},
    {format::kJoinWords, stages::makeJoinWords}};

template <typename Made, size_t Count>
static const Maker<Made> *find(const Maker<Made> (&makers)[Count],
                               uint32_t kind) {
  for (const Maker<Made> &maker : makers)
    if (maker.kind == kind)
      return &maker;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Reading the list
//===----------------------------------------------------------------------===//

namespace heddle {
class StageListReader {
public:
  explicit StageListReader(TokenizerStages &into) : into(into) {}

  Status read(std::string_view section);

private:
  using Cutter = TokenizerStages::Cutter;

  Status add(const format::Stage &stage, std::string_view table);
  Status addText(uint32_t uses, stages::MadeText made);
  Status addModel(uint32_t uses, stages::MadeModel made);
  Status addNumbers(uint32_t uses, std::string_view table);

  std::vector<Cutter *> cuttersOf(uint32_t uses) {
    std::vector<Cutter *> cutters;
    if (uses & format::kUsedForSource)
      cutters.push_back(&into.source);
    if (uses & format::kUsedForTarget)
      cutters.push_back(&into.target);
    return cutters;
  }

  TokenizerStages &into;
  /// Of the stages in front: those behind the one that finds tokens, and the
  /// pieces of the vocabulary.
  std::vector<const TextStage *> behindTokens;
  DoubleArray vocabulary;
};
} // namespace heddle

Status StageListReader::addText(uint32_t uses, stages::MadeText made) {
  if (!made.ok())
    return made.status();
  const TextStage *stage = made->get();
  into.stages.push_back(std::move(*made));
  behindTokens.push_back(stage);
  for (Cutter *cutter : cuttersOf(uses))
    cutter->stages.push_back(stage);
  if (uses & format::kUsedForVector)
    into.vectorStages.push_back(stage);
  return Status::success();
}

Status StageListReader::addModel(uint32_t uses, stages::MadeModel made) {
  if (!made.ok())
    return made.status();
  for (Cutter *cutter : cuttersOf(uses))
    cutter->model = made->get();
  into.models.push_back(std::move(*made));
  return Status::success();
}

/// The model in front of it is used through it alone.
Status StageListReader::addNumbers(uint32_t uses, std::string_view table) {
  const PieceModel *inner =
      into.models.empty() ? nullptr : into.models.back().get();
  bool isUsed = inner;
  for (Cutter *cutter : cuttersOf(uses))
    isUsed &= cutter->model == inner;
  if (!isUsed)
    return Status::error("numbers the pieces of no model");
  return addModel(uses, stages::makeNumberPieces(table, vocabulary, *inner));
}

Status StageListReader::add(const format::Stage &stage,
                            std::string_view table) {
  bool findsTokens = stage.kind == format::kFindTokens ||
                     stage.kind == format::kFindTokensSlowly;
  if (findsTokens) {
    Result<AddedTokens> tokens = AddedTokens::parse(table);
    if (!tokens.ok())
      return tokens.status();
    into.names->added = tokens->texts();
  }
  if (const auto *maker = find(kTextMakers, stage.kind)) {
    Status status = addText(stage.uses, maker->make(table));
    if (findsTokens)
      behindTokens.clear();
    return status;
  }
  if (stage.kind == format::kFindNormalizedTokens)
    return addText(stage.uses,
                   stages::makeFindNormalizedTokens(table, behindTokens));
  if (stage.kind == format::kFindLanguageCode)
    return addText(stage.uses, stages::makeFindLanguageCode(table, vocabulary));
  if (const auto *maker = find(kModelMakers, stage.kind))
    return addModel(stage.uses, maker->make(table));
  if (stage.kind == format::kNumberPieces)
    return addNumbers(stage.uses, table);
  if (const auto *maker = find(kJoinerMakers, stage.kind)) {
    stages::MadeJoiner made = maker->make(table);
    into.names->areBytes = stage.kind == format::kJoinBytes ||
                           stage.kind == format::kJoinWholeBytes;
    if (made.ok())
      into.joiner = std::move(*made);
    return made.ok() ? Status::success() : made.status();
  }
  if (stage.kind == format::kVocabulary) {
    const uint32_t *units = nullptr;
    auto count = uint32_t(table.size() / sizeof *units);
    TableReader(table).take(units, count);
    vocabulary = DoubleArray(units, count);
    return Status::success();
  }
  if (stage.kind == format::kTemplate) {
    Result<TextTemplate> made = TextTemplate::parse(table);
    if (made.ok())
      into.textTemplate = *made;
    return made.ok() ? Status::success() : made.status();
  }
  if (stage.kind == format::kTexts) {
    Result<PieceTexts> texts = PieceTexts::parse(table);
    if (texts.ok())
      into.names->pieces = *texts;
    return texts.ok() ? Status::success() : texts.status();
  }
  return Status::error("is of the kind ", stage.kind,
                       ", which this runtime does not know");
}

Status StageListReader::read(std::string_view section) {
  TableReader reader(section);
  const format::StageListHeader *header = nullptr;
  const format::Stage *list = nullptr;
  reader.take(header, 1);
  if (reader.isWhole())
    reader.take(list, header->count);
  if (!reader.isWhole())
    return Status::error("section 'tokenizer' has ", section.size(),
                         " bytes, too few for a list of stages");
  for (uint32_t i = 0; i < header->count; ++i) {
    const format::Stage &stage = list[i];
    if (stage.begin % format::kStageAlignment != 0 ||
        stage.begin > section.size() ||
        stage.size > section.size() - stage.begin)
      return Status::error("stage ", i,
                           " of section 'tokenizer' has a table outside of it");
    Status status = add(stage, section.substr(stage.begin, stage.size));
    if (!status.ok())
      return Status::error("stage ", i, " of section 'tokenizer' ",
                           status.message());
  }
  if (!into.source.model || !into.target.model || !into.joiner)
    return Status::error("section 'tokenizer' has no stage that cuts sources, "
                         "targets or joins");
  return Status::success();
}

Result<TokenizerStages> TokenizerStages::parse(std::string_view section,
                                               std::vector<int32_t> special) {
  TokenizerStages made;
  made.names = std::make_unique<TokenNames>();
  std::sort(special.begin(), special.end());
  made.names->special = std::move(special);
  if (Status status = StageListReader(made).read(section); !status.ok())
    return status;
  return made;
}

//===----------------------------------------------------------------------===//
// Using it
//===----------------------------------------------------------------------===//

void TokenizerStages::split(TextParts &parts, Side side) const {
  for (const TextStage *stage : cutterOf(side).stages)
    stage->apply(parts);
}

std::string TokenizerStages::prepareForVector(std::string_view text) const {
  TextParts parts(text, /*isTracked=*/false);
  for (const TextStage *stage : vectorStages)
    stage->apply(parts);
  std::string prepared;
  for (const TextPart &part : parts.all())
    prepared += part.text;
  return prepared;
}

void TokenizerStages::cut(std::string_view text, Side side, bool tracks,
                          std::vector<Piece> &tokens) const {
  TextParts parts(text, tracks);
  split(parts, side);
  uint32_t word = 0;
  for (const TextPart &part : parts.all()) {
    size_t first = tokens.size();
    if (part.isText())
      cutterOf(side).model->cut(part.text, tokens);
    else
      tokens.push_back(
          {part.id, {0, uint32_t(part.text.size())}, /*isToken=*/true});
    if (tracks)
      for (size_t i = first; i < tokens.size(); ++i) {
        tokens[i].range =
            part.originOf(tokens[i].range.begin, tokens[i].range.end);
        tokens[i].word = word;
      }
    ++word;
  }
}
