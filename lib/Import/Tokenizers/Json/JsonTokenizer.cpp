//===- JsonTokenizer.cpp - Tokenizers as tokenizer.json has them ----------===//
//
// The order of the stages is that of the library tokenizers: tokens that stand
// in a text as they are, the normalizer, tokens in normalised text, the
// pre-tokenizer, the model; and the decoder.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/Json/JsonTokenizer.h"
#include "lib/Import/Tokenizers/AddedTokens.h"
#include "lib/Import/Tokenizers/Json/Readers.h"
#include "lib/Import/Tokenizers/PairTables.h"
#include "lib/Import/Tokenizers/TemplateTable.h"
#include "lib/Support/Error.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace heddle {

/// Whether a component, or one of its parts, is of a type.
static bool hasPart(const json::Value *value, StringRef list, StringRef type) {
  const json::Object *object = value ? value->getAsObject() : nullptr;
  if (!object)
    return false;
  const json::Array *parts = object->getArray(list);
  return object->getString("type") == type ||
         (parts && any_of(*parts, [&](const json::Value &part) {
            return hasPart(&part, list, type);
          }));
}

/// Whether a component, or the last of its parts, is of a type.
static bool endsWith(const json::Value *value, StringRef list, StringRef type) {
  const json::Object *object = value ? value->getAsObject() : nullptr;
  if (!object)
    return false;
  const json::Array *parts = object->getArray(list);
  return parts && !parts->empty() ? endsWith(&parts->back(), list, type)
                                  : object->getString("type") == type;
}

/// Whether the texts of pieces are bytes, not their names.
static bool joinsBytes(const json::Value *decoder) {
  return hasPart(decoder, "decoders", "ByteLevel");
}

/// Null if the component is absent or null.
static const json::Value *findNonNull(const json::Object &object,
                                      StringRef field) {
  const json::Value *value = object.get(field);
  return value && value->kind() != json::Value::Null ? value : nullptr;
}

/// Classes whose constructor says nothing of a space in front if no file does.
static constexpr StringLiteral kClassesThatLeaveSpace[] = {
    "LlamaTokenizer", "MT5Tokenizer", "T5Tokenizer"};

/// Whether a ByteLevel adds the space that it says itself: null is no value
/// that it could take.
static bool leavesSpace(const TokenizerFiles &files) {
  const json::Value *space = files.config.get("add_prefix_space");
  return space ? space->kind() == json::Value::Null
               : is_contained(kClassesThatLeaveSpace, files.className);
}

/// The pre-tokenizer. PreTrainedTokenizerFast overwrites what a ByteLevel says
/// of a space in front, unless it is a part of a sequence.
static Error addWholePreTokenizer(const TokenizerFiles &files,
                                  const json::Value &value, bool leavesBytes,
                                  StageList &stages) {
  json::Value changed = value;
  if (json::Object *object = changed.getAsObject();
      object && object->getString("type") == "ByteLevel" && !leavesSpace(files))
    (*object)["add_prefix_space"] = files.isTrue("add_prefix_space");
  return addPreTokenizer({changed, "pre_tokenizer"}, leavesBytes, stages);
}

/// The tokens of the file and of the others, whose texts become pieces.
static Expected<AddedTokenTable> addTokens(const JsonTokenizerInput &input,
                                           ModelPieces &model) {
  std::vector<std::string> &pieces = model.pieces;
  PieceIds ids(pieces);
  auto find = [&](StringRef piece) { return ids.find(piece); };
  AddedTokenTable added =
      addFastTokens(input.added,
                    input.dropsAdded ? std::map<int64_t, AddedTokenForm>()
                                     : input.files.added,
                    input.special, {find, model.count});
  for (const auto &[id, form] : added.entries) {
    if (size_t(id) >= pieces.size())
      pieces.resize(id + 1);
    if (!pieces[id].empty() && pieces[id] != form.content)
      return makeError("'" + input.path + "' has the piece '" + pieces[id] +
                       "' where the token '" + form.content + "' was added");
    pieces[id] = form.content;
  }
  return added;
}

/// Whether transformers passes types to the model.
static bool passesTypes(const TokenizerFiles &files) {
  const json::Array *names = files.config.getArray("model_input_names");
  return !names || is_contained(*names, json::Value("token_type_ids"));
}

/// What the class, or the file, puts around texts.
static Expected<TemplateTable> makeTemplate(const JsonTokenizerInput &input,
                                            ArrayRef<std::string> pieces) {
  PostProcessor around;
  if (const json::Value *processor =
          findNonNull(input.whole, "post_processor")) {
    auto made = readPostProcessor({*processor, "post_processor"});
    if (!made)
      return made.takeError();
    around = *made;
  }
  PieceIds ids(pieces);
  TemplateTable table;
  bool hasTypes = passesTypes(input.files);
  for (auto [items, into] : {std::pair(&around.single, &table.single),
                             {&around.pair, &table.pair}}) {
    into->clear();
    for (const PostProcessor::Item &item : *items) {
      int64_t id = item.what == PostProcessor::What::First
                       ? format::kFirstText
                       : format::kSecondText;
      if (item.what == PostProcessor::What::Token) {
        std::optional<int64_t> found = item.id ? item.id : ids.find(item.token);
        if (!found)
          return make_error<UnsupportedTokenizer>(
              ("'" + sys::path::filename(input.path) + "' has no piece '" +
               item.token + "', which stands around texts")
                  .str());
        id = *found;
        if (items == &around.single && item.token == input.languages.source)
          table.language = int32_t(into->size());
      }
      into->push_back({int32_t(id), hasTypes ? uint32_t(item.type) : 0});
    }
  }
  table.flags =
      (around.trimsRanges ? format::kTrimsRanges : 0) |
      (around.sparesFirstSpace ? format::kSparesFirstSpace : 0) |
      (joinsBytes(input.whole.get("decoder")) ? 0 : format::kTrimsNames);
  return table;
}

/// The ids in front of a text and behind it.
static void describeTemplate(const TemplateTable &table,
                             json::Object &manifest) {
  auto items = ArrayRef(table.single);
  auto text = find_if(
      items, [](const format::TemplateItem &item) { return item.id < 0; });
  auto count = size_t(text - items.begin());
  if (count)
    manifest["bos"] = items.front().id;
  if (count + 1 < items.size())
    manifest["eos"] = items[count + 1].id;
  if (count + 2 < items.size())
    manifest["language"] = items[count + 2].id;
}

/// Those languages that the model has rows for.
static void describeLanguages(const JsonTokenizerInput &input,
                              ArrayRef<std::string> pieces,
                              json::Object &manifest) {
  if (input.languages.all.empty())
    return;
  PieceIds ids(pieces);
  json::Array names, tokens;
  for (const std::string &name : input.languages.all)
    if (std::optional<int64_t> id = ids.find(name);
        id && *id < input.vocabulary) {
      names.push_back(name);
      tokens.push_back(*id);
    }
  manifest["languages"] = std::move(names);
  manifest["language_tokens"] = std::move(tokens);
}

/// The ids that text leaves out: a piece may have the text of a special token
/// and another id.
static json::Array listSpecialIds(const AddedTokenTable &added,
                                  ArrayRef<std::string> pieces) {
  json::Array ids = idsOfSpecial(added);
  StringMap<int64_t> special;
  for (const auto &[id, form] : added.entries)
    if (form.isSpecial)
      special[form.content] = id;
  for (auto [id, piece] : enumerate(pieces))
    if (auto known = special.find(piece);
        known != special.end() && known->second != int64_t(id))
      ids.push_back(int64_t(id));
  return ids;
}

/// Whether an id without a text has a piece, which is empty.
static bool isEmptyPiece(const json::Object &model, int64_t id) {
  if (const json::Object *ids = model.getObject("vocab"))
    return ids->getInteger("") == id;
  const json::Array *list = model.getArray("vocab");
  return list && id < int64_t(list->size());
}

/// The pieces of ids as they are joined.
static std::string buildPieceTexts(ArrayRef<std::string> pieces,
                                   const json::Object &model) {
  SmallVector<StringRef> texts(pieces.begin(), pieces.end());
  SmallVector<uint16_t> joinings(texts.size(), format::kJoinsAsText);
  for (auto [id, text] : enumerate(texts))
    if (text.empty() && isEmptyPiece(model, int64_t(id)))
      joinings[id] = format::kJoinsEmpty;
  return buildTexts(texts, joinings);
}

static Error addStages(const JsonTokenizerInput &input,
                       const json::Object &model, const ModelPieces &pieces,
                       const std::vector<std::string> &texts,
                       const AddedTokenTable &added, StageList &stages) {
  constexpr uint32_t both = StageList::kBothSides;
  const json::Value *normalizer = findNonNull(input.whole, "normalizer"),
                    *cutter = findNonNull(input.whole, "pre_tokenizer"),
                    *decoder = findNonNull(input.whole, "decoder");
  bool isOfBytes = joinsBytes(decoder) &&
                   endsWith(cutter, "pretokenizers", "ByteLevel") &&
                   mayCutBytes(model, pieces);
  Component modelPart(*input.whole.get("model"), "model",
                      sys::path::filename(input.path).str());

  stages.add(format::kRepairText, both);
  std::string tokens = buildAddedTokens(added);
  if (!added.entries.empty())
    stages.add(format::kFindTokens, both, tokens);
  if (normalizer)
    if (Error error = addNormalizer({*normalizer, "normalizer"}, stages))
      return error;
  if (!added.entries.empty())
    stages.add(format::kFindNormalizedTokens, both, tokens);
  if (cutter)
    if (Error error =
            addWholePreTokenizer(input.files, *cutter, isOfBytes, stages))
      return error;
  if (Error error =
          addModel(modelPart, model, pieces, input.path, isOfBytes, stages))
    return error;
  stages.add(format::kTexts, format::kUsedToJoin,
             joinsBytes(decoder) ? buildByteTexts(texts)
                                 : buildPieceTexts(texts, model));
  if (decoder)
    return addDecoder({*decoder, "decoder"}, input.stripsText, stages);
  addPlainDecoder(stages);
  return Error::success();
}

/// For people.
static StringRef kindOf(const json::Object &whole, const json::Object &model) {
  if (hasPart(whole.get("pre_tokenizer"), "pretokenizers", "ByteLevel"))
    return "byte-level";
  return model.getArray("merges")                 ? "pairs"
         : model.getArray("vocab")                ? "unigram"
         : model.getString("type") == "WordLevel" ? "words"
                                                  : "wordpiece";
}

/// The id of the mask token: a file names it, or the class.
static std::optional<int64_t> findMask(const TokenizerFiles &files,
                                       const AddedTokenTable &added) {
  auto named = files.special.find("mask_token");
  if (named != files.special.end())
    return named->second ? added.find(named->second->content) : std::nullopt;
  std::optional<int64_t> usual = added.find("[MASK]");
  return usual ? usual : added.find("<mask>");
}

/// Whether "truncation" or "padding" is on the left. As transformers has it:
/// its own file counts before tokenizer.json.
static bool isLeft(const JsonTokenizerInput &input, StringRef what) {
  const json::Object *whole = input.whole.getObject(what);
  std::optional<StringRef> side =
      input.files.config.getString((what + "_side").str());
  if (!side && whole)
    side = whole->getString("direction");
  return side && side->equals_insensitive("left");
}

Expected<ImportedTokenizer> readJsonTokenizer(const JsonTokenizerInput &input) {
  const json::Value *version = input.whole.get("version");
  if (version && *version != "1.0")
    return refuseTokenizerField(input.path, "version", *version, "\"1.0\"");
  const json::Object *model = input.whole.getObject("model");
  if (!model)
    return makeError("'" + input.path + "' has no model");
  Expected<ModelPieces> pieces =
      readModelPieces(*model, input.path, input.vocabulary,
                      /*isParsed=*/input.files.whole.has_value());
  if (!pieces)
    return pieces.takeError();
  if (Error error = checkTokenizerConfig(input.files, /*isSlow=*/false))
    return std::move(error);
  ModelPieces all = *pieces;
  Expected<AddedTokenTable> added = addTokens(input, all);
  if (!added)
    return added.takeError();
  ImportedTokenizer tokenizer;
  tokenizer.manifest =
      json::Object{{"kind", kindOf(input.whole, *model)},
                   {"special", listSpecialIds(*added, all.pieces)}};
  Expected<TemplateTable> around = makeTemplate(input, all.pieces);
  if (!around)
    return around.takeError();
  describeTemplate(*around, tokenizer.manifest);
  tokenizer.specialCount = around->countSpecial();
  describeLanguages(input, all.pieces, tokenizer.manifest);
  tokenizer.mask = findMask(input.files, *added);
  tokenizer.cutsLeft = isLeft(input, "truncation");
  tokenizer.padsLeft = isLeft(input, "padding");
  if (std::optional<int64_t> unknown = model->getInteger("unk_id"))
    tokenizer.manifest["unknown"] = *unknown;
  // One that is missing is refused with the model.
  if (std::optional<StringRef> unknown = model->getString("unk_token"))
    if (auto id = PieceIds(all.pieces).find(*unknown))
      tokenizer.manifest["unknown"] = *id;
  if (input.files.isTrue("clean_up_tokenization_spaces"))
    tokenizer.manifest["clean_up"] = 1;
  if (!model->getString("continuing_subword_prefix").value_or("").empty())
    tokenizer.manifest["marks_words"] = 1;
  StageList stages;
  if (Error error =
          addStages(input, *model, *pieces, all.pieces, *added, stages))
    return std::move(error);
  around->addTo(stages);
  tokenizer.setStages(stages);
  return tokenizer;
}

} // namespace heddle
