//===- ByteLevelJson.cpp - Byte pairs of tokenizer.json -------------------===//
//
// The components are those of tokenizers 0.22. Fields of the model that say
// what an unknown character becomes do nothing if every byte is a piece.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/ByteLevelJson.h"
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

/// A component that has one type and no other.
static Error requireType(const TokenizerFiles &files, StringRef component,
                         StringRef type, StringRef supported) {
  const json::Value *value = findNonNull(*files.whole, component);
  const json::Object *object = value ? value->getAsObject() : nullptr;
  // What a component says of a prefix space is overwritten by
  // tokenizer_config.json.
  if (object && object->getString("type") == type &&
      object->getBoolean("use_regex").value_or(true))
    return Error::success();
  return refuseTokenizerField("tokenizer.json", component,
                              value ? *value : json::Value(nullptr), supported);
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
  if (Error error =
          requireType(files, "pre_tokenizer", "ByteLevel",
                      "ByteLevel without other parts, with its pattern"))
    return error;
  if (Error error = requireType(files, "decoder", "ByteLevel", "ByteLevel"))
    return error;
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
