//===- SentencePieceJson.cpp - tokenizer.json beside a *.spm --------------===//
//
// The converters of all versions write the same model and decoder. Spaces they
// have treated in three ways: kept; several made one; or stripped at the end,
// and several made a mark.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/SentencePieceJson.h"
#include "lib/Weights/Json.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/Endian.h"

using namespace llvm;

namespace heddle {

static constexpr StringLiteral kMark = "\xE2\x96\x81";

namespace {
class ConversionReader {
public:
  ConversionReader(const TokenizerFiles &files, const SentencePieceModel &model,
                   const ConvertedModel &converted)
      : whole(*files.whole), model(model), converted(converted) {}

  Expected<SpaceForm> read() {
    if (Error error = checkModel())
      return std::move(error);
    Expected<StringRef> spaces = readNormalizer();
    if (!spaces)
      return spaces.takeError();
    Expected<StringRef> frame = readPreTokenizer();
    if (!frame)
      return frame.takeError();
    if (Error error = checkDecoder())
      return std::move(error);
    if (Error error = checkPostProcessor())
      return std::move(error);
    return SpaceForm{*frame, *spaces};
  }

private:
  using Part = const json::Object *;

  static Error refuse(const Twine &field, const json::Value *value,
                      const Twine &supported) {
    return refuseTokenizerField("tokenizer.json", field,
                                value ? *value : json::Value(nullptr),
                                supported);
  }

  /// The parts of a sequence, or the part itself; one that is no object is
  /// null.
  std::vector<Part> partsOf(StringRef component, StringRef list) const {
    Part object = whole.getObject(component);
    if (!object)
      return {nullptr};
    const json::Array *sequence = object->getArray(list);
    if (object->getString("type") != "Sequence" || !sequence)
      return {object};
    std::vector<Part> parts;
    for (const json::Value &value : *sequence)
      parts.push_back(value.getAsObject());
    return parts;
  }

  Error checkModel() const;
  Error checkPieces(const json::Array &pieces) const;
  Expected<StringRef> readNormalizer() const;
  Expected<StringRef> readPreTokenizer() const;
  Error checkDecoder() const;
  Error checkPostProcessor() const;

  const json::Object &whole;
  const SentencePieceModel &model;
  const ConvertedModel &converted;
};
} // namespace

static bool isOfType(const json::Object *part, StringRef type) {
  return part && part->getString("type") == type;
}

/// Metaspace that always adds a space; older versions say it by a flag.
static bool isMetaspace(const json::Object *part) {
  return isOfType(part, "Metaspace") &&
         part->getString("replacement").value_or(kMark) == kMark &&
         part->getString("prepend_scheme").value_or("always") == "always" &&
         part->getBoolean("add_prefix_space").value_or(true);
}

Error ConversionReader::checkModel() const {
  const json::Object *object = whole.getObject("model");
  const json::Array *pieces = object ? object->getArray("vocab") : nullptr;
  // Old files do not name the type.
  if (!pieces || object->getString("type").value_or("Unigram") != "Unigram" ||
      model.kind != SentencePieceModel::Kind::Unigram)
    return refuse("model.type", object ? object->get("type") : nullptr,
                  "Unigram, with a SentencePiece model of the same kind");
  const json::Value *unknown = object->get("unk_id");
  if (!unknown || unknown->getAsInteger() != converted.unknown)
    return refuse("model.unk_id", unknown, Twine(converted.unknown));
  if (const json::Value *falls = object->get("byte_fallback");
      falls && falls->getAsBoolean().value_or(false))
    return refuse("model.byte_fallback", falls, "false");
  return checkPieces(*pieces);
}

Error ConversionReader::checkPieces(const json::Array &pieces) const {
  if (pieces.size() != converted.pieces.size())
    return make_error<UnsupportedTokenizer>(
        ("'tokenizer.json' has 'model.vocab' with " + Twine(pieces.size()) +
         " pieces (supported: " + Twine(converted.pieceCount()) + " as of '" +
         converted.file + "')")
            .str());
  for (auto [id, value, piece] : enumerate(pieces, converted.pieces)) {
    const json::Array *pair = value.getAsArray();
    // Converters write the score of a float as a double.
    if (!pair || pair->size() != 2 || (*pair)[0].getAsString() != piece.text ||
        (*pair)[1].getAsNumber() != double(piece.score))
      return refuse("model.vocab[" + Twine(id) + "]", &value,
                    formatJson(json::Array{piece.text, double(piece.score)}) +
                        " as '" + converted.file + "' has it");
  }
  return Error::success();
}

Expected<StringRef> ConversionReader::readNormalizer() const {
  constexpr StringLiteral supported =
      "the rules of the model, then Strip and Replace as transformers writes "
      "them";
  auto refuseAll = [&] {
    return refuse("normalizer", whole.get("normalizer"), supported);
  };
  std::vector<Part> parts = partsOf("normalizer", "normalizers");
  if (parts == std::vector<Part>{nullptr})
    parts.clear();
  const SentencePieceNormalizer &rules = model.normalizer;
  bool hasRules = !parts.empty() && isOfType(parts.front(), "Precompiled");
  if (hasRules != !rules.rules.empty())
    return refuseAll();
  if (hasRules) {
    std::string table(4, '\0');
    support::endian::write32le(table.data(), uint32_t(rules.rules.size()));
    table += rules.rules + rules.replacements;
    if (parts.front()->getString("precompiled_charsmap") != encodeBase64(table))
      return refuseAll();
    parts.erase(parts.begin());
  }
  // Replaces spaces from two on.
  auto replacesBy = [](Part part, StringRef content) {
    Part pattern =
        isOfType(part, "Replace") ? part->getObject("pattern") : nullptr;
    return pattern && pattern->getString("Regex") == " {2,}" &&
           part->getString("content") == content;
  };
  bool isNew = parts.size() == 2 && isOfType(parts[0], "Strip") &&
               parts[0]->getBoolean("strip_left") == false &&
               parts[0]->getBoolean("strip_right") == true &&
               replacesBy(parts[1], kMark);
  bool isOld = parts.size() == 1 && replacesBy(parts[0], " ");
  if (!isNew && !isOld && !parts.empty())
    return refuseAll();
  return isNew ? "marked" : isOld ? "single" : "kept";
}

Expected<StringRef> ConversionReader::readPreTokenizer() const {
  std::vector<Part> parts = partsOf("pre_tokenizer", "pretokenizers");
  bool splitsWords = parts.size() == 2 && isOfType(parts[0], "WhitespaceSplit");
  if (splitsWords)
    parts.erase(parts.begin());
  if (parts.size() == 1 && isMetaspace(parts[0]))
    return splitsWords ? "fast-words" : "fast";
  return refuse("pre_tokenizer", whole.get("pre_tokenizer"),
                "Metaspace that always adds a space, WhitespaceSplit in front "
                "of it");
}

Error ConversionReader::checkDecoder() const {
  if (isMetaspace(whole.getObject("decoder")))
    return Error::success();
  return refuse("decoder", whole.get("decoder"),
                "Metaspace that always adds a space");
}

Error ConversionReader::checkPostProcessor() const {
  if (!converted.end)
    return Error::success();
  const json::Value *value = whole.get("post_processor");
  auto refuseAll = [&] {
    return refuse("post_processor", value,
                  "a template with the token " + Twine(*converted.end) +
                      " after a text");
  };
  Part processor = value ? value->getAsObject() : nullptr;
  if (!isOfType(processor, "TemplateProcessing"))
    return refuseAll();
  const json::Array *single = processor->getArray("single");
  if (!single || single->size() != 2)
    return refuseAll();
  auto entryOf = [&](size_t i, StringRef type) {
    Part part = (*single)[i].getAsObject();
    return part ? part->getObject(type) : nullptr;
  };
  Part text = entryOf(0, "Sequence"), token = entryOf(1, "SpecialToken"),
       known = processor->getObject("special_tokens");
  std::optional<StringRef> name = token ? token->getString("id") : std::nullopt;
  Part entry = name && known ? known->getObject(*name) : nullptr;
  const json::Array *ids = entry ? entry->getArray("ids") : nullptr;
  if (!text || text->getString("id") != "A" || !ids ||
      *ids != json::Array{*converted.end})
    return refuseAll();
  return Error::success();
}

Expected<SpaceForm> readConversion(const TokenizerFiles &files,
                                   const SentencePieceModel &model,
                                   const ConvertedModel &converted,
                                   SpaceForm byDefault) {
  if (!files.whole)
    return byDefault;
  return ConversionReader(files, model, converted).read();
}

} // namespace heddle
