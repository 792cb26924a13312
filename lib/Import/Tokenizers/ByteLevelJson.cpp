//===- ByteLevelJson.cpp - Byte pairs of tokenizer.json -------------------===//
//
// The components are those of tokenizers 0.22. Fields of the model that say
// what an unknown character becomes do nothing if every byte is a piece.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/ByteLevelJson.h"
#include "lib/Import/Tokenizers/Patterns/PatternTable.h"
#include "lib/Import/Tokenizers/Tokenizers.h"
#include "lib/Support/Error.h"
#include "lib/Weights/Json.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace heddle {

/// Null if the component is absent or null.
static const json::Value *findNonNull(const json::Object &object,
                                      StringRef field) {
  const json::Value *value = object.get(field);
  return value && value->kind() != json::Value::Null ? value : nullptr;
}

static StringRef typeOf(const json::Object *component) {
  return component ? component->getString("type").value_or("") : "";
}

std::string buildGpt2Pattern() {
  return cantFail(
      buildPatternTable("'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+|"
                        " ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"));
}

/// The table of a Split that leaves its matches and what is between them.
/// Nothing if it is of another kind.
static Expected<std::optional<std::string>>
readSplit(const json::Object &split) {
  const json::Object *pattern = split.getObject("pattern");
  if (!pattern || split.getString("behavior") != "Isolated" ||
      split.getBoolean("invert").value_or(false))
    return std::nullopt;
  std::optional<StringRef> regex = pattern->getString("Regex"),
                           text = pattern->getString("String");
  if (!regex && (!text || text->empty()))
    return std::nullopt;
  Expected<std::string> table =
      regex ? buildPatternTable(*regex) : buildTextTable(*text);
  if (table)
    return std::move(*table);
  return make_error<UnsupportedTokenizer>(
      "'tokenizer.json' has a Split that is not supported: " +
      toString(table.takeError()));
}

/// ByteLevel, with its pattern or without; or a Split, and ByteLevel without.
/// What the latter says of a prefix space tokenizer_config.json overwrites,
/// unless there is a Split.
static Error readPreTokenizer(const json::Object &whole, BytePairFiles &into) {
  const json::Value *value = findNonNull(whole, "pre_tokenizer");
  const json::Object *outer = value ? value->getAsObject() : nullptr;
  auto usesPattern = [](const json::Object &byteLevel) {
    return byteLevel.getBoolean("use_regex").value_or(true);
  };
  if (typeOf(outer) == "ByteLevel") {
    if (usesPattern(*outer))
      into.pattern = buildGpt2Pattern();
    return Error::success();
  }
  const json::Array *parts =
      typeOf(outer) == "Sequence" ? outer->getArray("pretokenizers") : nullptr;
  const json::Object *split = nullptr, *bytes = nullptr;
  if (parts && parts->size() == 2) {
    split = (*parts)[0].getAsObject();
    bytes = (*parts)[1].getAsObject();
  }
  if (typeOf(split) == "Split" && typeOf(bytes) == "ByteLevel" &&
      !usesPattern(*bytes) &&
      !bytes->getBoolean("add_prefix_space").value_or(true)) {
    Expected<std::optional<std::string>> table = readSplit(*split);
    if (!table)
      return table.takeError();
    if (*table) {
      into.pattern = std::move(**table);
      into.isSplit = true;
      return Error::success();
    }
  }
  return refuseTokenizerField(
      "tokenizer.json", "pre_tokenizer", value ? *value : json::Value(nullptr),
      "ByteLevel, or a Split with behavior Isolated and a ByteLevel without "
      "pattern and prefix space");
}

/// Reads pieces and merges.
static Error readPieces(const json::Object &model, StringRef path,
                        int64_t vocabulary, BytePairFiles &into) {
  const json::Object *ids = model.getObject("vocab");
  const json::Array *merges = model.getArray("merges");
  if (!ids || !merges)
    return makeError("'" + path + "' has a model without 'vocab' or 'merges'");
  auto pieces = numberPieces(*ids, path, vocabulary);
  if (!pieces)
    return pieces.takeError();
  into.vocabulary.pieces = std::move(*pieces);
  into.pieceCount = int64_t(ids->size());
  for (const json::Value &merge : *merges) {
    // "a b", or since tokenizers 0.20 ["a", "b"].
    StringRef left, right;
    if (std::optional<StringRef> text = merge.getAsString())
      std::tie(left, right) = text->split(' ');
    else if (const json::Array *pair = merge.getAsArray();
             pair && pair->size() == 2) {
      left = (*pair)[0].getAsString().value_or("");
      right = (*pair)[1].getAsString().value_or("");
    }
    if (left.empty() || right.empty())
      return makeError("'" + path + "' has the merge " + formatJson(merge) +
                       " (expected two pieces)");
    into.vocabulary.merges.emplace_back(left, right);
  }
  return Error::success();
}

/// Reads what else the model says.
static Error readModel(const json::Object &model, BytePairFiles &into) {
  auto refuse = [&](StringRef field, StringRef supported) {
    return refuseTokenizerField("tokenizer.json", "model." + field,
                                *model.get(field), supported);
  };
  if (const json::Value *dropout = findNonNull(model, "dropout");
      dropout && *dropout != json::Value(0.0) && *dropout != json::Value(0))
    return refuse("dropout", "null");
  for (StringRef affix : {"continuing_subword_prefix", "end_of_word_suffix"})
    if (const json::Value *value = findNonNull(model, affix);
        value && *value != json::Value(""))
      return refuse(affix, "null, \"\"");
  if (model.getBoolean("ignore_merges").value_or(false))
    return refuse("ignore_merges", "false");
  const json::Value *unknown = findNonNull(model, "unk_token");
  if (unknown) {
    Expected<int64_t> id = findPiece(
        into.vocabulary.pieces, unknown->getAsString().value_or(""), into.path);
    if (!id)
      return id.takeError();
    into.unknown = *id;
  }
  if (hasAllBytes(into.vocabulary))
    return Error::success();
  if (model.getBoolean("byte_fallback").value_or(false))
    return refuse("byte_fallback", "false, unless every byte is a piece");
  if (unknown && model.getBoolean("fuse_unk").value_or(false))
    return refuse("fuse_unk", "false, unless every byte is a piece");
  return Error::success();
}

/// The tokens of a template, in front of the text and behind it.
static bool readTemplate(const json::Object &processor, BytePairFiles &into) {
  const json::Array *single = processor.getArray("single");
  const json::Object *known = processor.getObject("special_tokens");
  bool isBehind = false;
  for (const json::Value &part : single ? *single : json::Array()) {
    const json::Object *object = part.getAsObject();
    const json::Object *sequence =
                           object ? object->getObject("Sequence") : nullptr,
                       *special =
                           object ? object->getObject("SpecialToken") : nullptr;
    if (sequence && sequence->getString("id") == "A" && !isBehind) {
      isBehind = true;
      continue;
    }
    std::optional<StringRef> name =
        special ? special->getString("id") : std::nullopt;
    const json::Object *entry =
        name && known ? known->getObject(*name) : nullptr;
    const json::Array *tokens = entry ? entry->getArray("tokens") : nullptr;
    if (!tokens)
      return false;
    for (const json::Value &token : *tokens) {
      if (!token.getAsString())
        return false;
      (isBehind ? into.after : into.before)
          .push_back(token.getAsString()->str());
    }
  }
  return isBehind;
}

/// Adds what one post-processor puts around a text.
static bool readProcessor(const json::Object &processor, BytePairFiles &into) {
  StringRef type = processor.getString("type").value_or("");
  if (type == "ByteLevel")
    return true;
  if (type == "TemplateProcessing")
    return readTemplate(processor, into);
  if (type == "RobertaProcessing" || type == "BertProcessing") {
    for (auto [field, side] :
         {std::pair("cls", &into.before), std::pair("sep", &into.after)}) {
      const json::Array *token = processor.getArray(field);
      if (!token || token->size() != 2 || !(*token)[0].getAsString())
        return false;
      side->push_back((*token)[0].getAsString()->str());
    }
    return true;
  }
  const json::Array *parts = processor.getArray("processors");
  return type == "Sequence" && parts &&
         all_of(*parts, [&](const json::Value &part) {
           const json::Object *object = part.getAsObject();
           return object && object->getString("type") != "Sequence" &&
                  readProcessor(*object, into);
         });
}

Error readByteLevelJson(const TokenizerFiles &files, int64_t vocabulary,
                        BytePairFiles &into) {
  const json::Object &whole = *files.whole;
  into.path = files.path("tokenizer.json");
  const json::Object *model = whole.getObject("model");
  // Old files do not name the type.
  bool isPairs = model && model->getArray("merges") &&
                 model->getString("type").value_or("BPE") == "BPE";
  if (!isPairs)
    return refuseTokenizerField(
        into.path, "model.type",
        model && model->get("type") ? *model->get("type")
                                    : json::Value(nullptr),
        "BPE over bytes, or a SentencePiece file with a class that reads it");
  if (const json::Value *normalizer = findNonNull(whole, "normalizer"))
    return refuseTokenizerField(into.path, "normalizer", *normalizer, "null");
  if (Error error = readPreTokenizer(whole, into))
    return error;
  const json::Value *decoder = findNonNull(whole, "decoder");
  if (!decoder || typeOf(decoder->getAsObject()) != "ByteLevel")
    return refuseTokenizerField("tokenizer.json", "decoder",
                                decoder ? *decoder : json::Value(nullptr),
                                "ByteLevel");
  if (const json::Value *processor = findNonNull(whole, "post_processor"))
    if (!processor->getAsObject() ||
        !readProcessor(*processor->getAsObject(), into) ||
        into.before.size() > 1 || into.after.size() > 2)
      return refuseTokenizerField(
          into.path, "post_processor", *processor,
          "at most one token before a text and two after it");
  if (Error error = readPieces(*model, into.path, vocabulary, into))
    return error;
  return readModel(*model, into);
}

} // namespace heddle
