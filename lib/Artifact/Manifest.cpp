//===- Manifest.cpp - What an artifact says of itself ---------------------===//
//
// Generation settings are checked against a table of the keys the format has;
// the entries were made by a pass and are only translated.
//
//===----------------------------------------------------------------------===//

#include "lib/Artifact/Manifest.h"
#include "dialect/Transformer.h"
#include "lib/Import/ImportModel.h"
#include "lib/Support/Error.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "runtime/artifact/ArtifactFormat.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace llvm;

namespace heddle {

namespace {
/// What a key of transformer.generation holds.
enum class SettingKind {
  Id,
  Ids,
  IdLists,
  Length,
  Factor,
  Ratio,
  Number,
  Part,
  Rule,
  Switch
};
struct Setting {
  StringLiteral key;
  SettingKind kind;
  /// Of a length.
  int64_t least = 1, most = std::numeric_limits<int32_t>::max();
};
} // namespace

/// The runtime computes with f32, and divides by factors.
static constexpr double kLargest = std::numeric_limits<float>::max();
static constexpr double kLeastFactor = std::numeric_limits<float>::min();

static constexpr Setting kSettings[] = {
    {"start", SettingKind::Id},
    {"eos", SettingKind::Ids},
    {"pad", SettingKind::Id},
    {"suppress", SettingKind::Ids},
    {"begin_suppress", SettingKind::Ids},
    {"bad_words", SettingKind::IdLists},
    {"forced_bos", SettingKind::Id},
    {"forced_eos", SettingKind::Id},
    {"min_length", SettingKind::Length, 0},
    {"min_new_tokens", SettingKind::Length, 0},
    {"max_length", SettingKind::Length},
    {"beams", SettingKind::Length, 1, kMostBeams},
    {"length_penalty", SettingKind::Number},
    {"word_penalty", SettingKind::Number},
    {"early_stopping", SettingKind::Rule},
    {"no_repeat_ngram", SettingKind::Length},
    {"repetition_penalty", SettingKind::Factor},
    {"renormalize", SettingKind::Switch},
    {"temperature", SettingKind::Factor},
    {"top_k", SettingKind::Length},
    {"top_p", SettingKind::Part},
    {"min_p", SettingKind::Part},
    {"length_factor", SettingKind::Ratio},
    {"max_source_length", SettingKind::Length},
    {"crop_source", SettingKind::Length, 1, 1},
    {"max_source", SettingKind::Length},
    {"max_target", SettingKind::Length},
};

/// Attributes as JSON; anything but numbers, texts, arrays and dictionaries has
/// no form there.
static std::optional<json::Value> toJson(Attribute attribute) {
  if (auto text = dyn_cast<StringAttr>(attribute))
    return json::Value(text.getValue());
  if (auto number = dyn_cast<IntegerAttr>(attribute))
    return json::Value(number.getInt());
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return json::Value(number.getValueAsDouble());
  if (auto ids = dyn_cast<DenseI32ArrayAttr>(attribute)) {
    json::Array array;
    for (int32_t id : ids.asArrayRef())
      array.push_back(id);
    return json::Value(std::move(array));
  }
  if (auto elements = dyn_cast<ArrayAttr>(attribute)) {
    json::Array array;
    for (Attribute element : elements) {
      std::optional<json::Value> value = toJson(element);
      if (!value)
        return std::nullopt;
      array.push_back(std::move(*value));
    }
    return json::Value(std::move(array));
  }
  if (auto dictionary = dyn_cast<DictionaryAttr>(attribute)) {
    json::Object object;
    for (NamedAttribute entry : dictionary) {
      std::optional<json::Value> value = toJson(entry.getValue());
      if (!value)
        return std::nullopt;
      object[entry.getName().getValue()] = std::move(*value);
    }
    return json::Value(std::move(object));
  }
  return std::nullopt;
}

static std::string formatAttribute(Attribute attribute) {
  std::string text;
  raw_string_ostream(text) << attribute;
  return text;
}

static bool isInRange(Attribute attribute, int64_t min, int64_t max) {
  auto number = dyn_cast<IntegerAttr>(attribute);
  return number && number.getType().isSignlessInteger(32) &&
         number.getInt() >= min && number.getInt() <= max;
}

static bool areIds(Attribute attribute, int64_t vocabulary) {
  auto ids = dyn_cast<DenseI32ArrayAttr>(attribute);
  return ids && !ids.empty() && all_of(ids.asArrayRef(), [&](int32_t id) {
           return id >= 0 && id < vocabulary;
         });
}

/// Whether it is a float of this range, which no NaN is.
static bool isBetween(Attribute attribute, double least, double largest) {
  auto number = dyn_cast<FloatAttr>(attribute);
  return number && number.getValueAsDouble() >= least &&
         number.getValueAsDouble() <= largest;
}

static std::string formatRange(double least, double largest) {
  std::string text;
  raw_string_ostream(text) << "a float from " << llvm::format("%g", least)
                           << " to " << llvm::format("%g", largest);
  return text;
}

/// What a setting has to look like, or nothing when `value` does.
static std::optional<std::string>
findMismatch(const Setting &setting, Attribute value, int64_t vocabulary) {
  std::string ids = "from 0 to " + std::to_string(vocabulary - 1);
  switch (setting.kind) {
  case SettingKind::Id: {
    // -1 starts with the zero vector.
    int64_t min = setting.key == "start" ? -1 : 0;
    // Padding only fills rows that nobody reads: any id will do.
    int64_t max = setting.key == "pad" ? std::numeric_limits<int32_t>::max()
                                       : vocabulary - 1;
    if (isInRange(value, min, max))
      return std::nullopt;
    return "an i32 from " + std::to_string(min) + " to " + std::to_string(max);
  }
  case SettingKind::Ids:
    // None where a limit alone ends a sequence, or nothing is suppressed.
    if (value == DenseI32ArrayAttr::get(value.getContext(), {}) ||
        areIds(value, vocabulary))
      return std::nullopt;
    return "array<i32: ...> of ids " + ids;
  case SettingKind::IdLists: {
    auto lists = dyn_cast<ArrayAttr>(value);
    if (lists &&
        all_of(lists, [&](Attribute list) { return areIds(list, vocabulary); }))
      return std::nullopt;
    return "a list of array<i32: ...> of ids " + ids;
  }
  case SettingKind::Length:
    if (isInRange(value, setting.least, setting.most))
      return std::nullopt;
    return "an i32 from " + std::to_string(setting.least) + " to " +
           std::to_string(setting.most);
  case SettingKind::Factor:
    if (isBetween(value, kLeastFactor, kLargest))
      return std::nullopt;
    return formatRange(kLeastFactor, kLargest);
  case SettingKind::Ratio: {
    // Lengths are computed in double.
    auto ratio = dyn_cast<FloatAttr>(value);
    if (ratio && ratio.getValue().isFiniteNonZero() &&
        !ratio.getValue().isNegative())
      return std::nullopt;
    return "a positive float";
  }
  case SettingKind::Number:
    if (isBetween(value, -kLargest, kLargest))
      return std::nullopt;
    return formatRange(-kLargest, kLargest);
  case SettingKind::Part:
    if (isBetween(value, 0, 1))
      return std::nullopt;
    return formatRange(0, 1);
  case SettingKind::Rule: {
    auto rule = dyn_cast<StringAttr>(value);
    if (rule &&
        is_contained({"true", "false", "never", "shrink"}, rule.getValue()))
      return std::nullopt;
    return "\"true\", \"false\", \"never\" or \"shrink\"";
  }
  case SettingKind::Switch:
    if (isInRange(value, 0, 1))
      return std::nullopt;
    return "the i32 0 or 1";
  }
  llvm_unreachable("all kinds are covered");
}

/// An attribute of the module that has to be a dictionary.
static Expected<DictionaryAttr> getDictionary(ModuleOp module, StringRef name) {
  auto attribute = module->getAttrOfType<DictionaryAttr>(name);
  if (!attribute)
    return makeError("the module has no dictionary '" + name + "'");
  return attribute;
}

static Error checkVocabulary(DictionaryAttr vocabulary) {
  for (StringRef side : {"source", "target"}) {
    Attribute size = vocabulary.get(side);
    if (!size || !isInRange(size, 1, std::numeric_limits<int32_t>::max()))
      return makeError("'" + kVocabularyAttr + "' of the module needs a " +
                       "positive i32 '" + side + "'");
  }
  if (vocabulary.size() != 2)
    return makeError("'" + kVocabularyAttr + "' of the module has more than " +
                     "'source' and 'target'");
  return Error::success();
}

Error checkModelAttributes(ModuleOp module) {
  if (!module->getAttrOfType<StringAttr>(kFamilyAttr))
    return makeError("the module has no string '" + kFamilyAttr +
                     "', which a whole model has");
  Expected<DictionaryAttr> vocabulary = getDictionary(module, kVocabularyAttr);
  if (!vocabulary)
    return vocabulary.takeError();
  if (Error error = checkVocabulary(*vocabulary))
    return error;
  int64_t size = cast<IntegerAttr>(vocabulary->get("target")).getInt();

  Expected<DictionaryAttr> generation = getDictionary(module, kGenerationAttr);
  if (!generation)
    return generation.takeError();
  for (NamedAttribute entry : *generation) {
    StringRef key = entry.getName();
    const Setting *setting =
        find_if(kSettings, [&](const Setting &s) { return s.key == key; });
    if (setting == std::end(kSettings))
      return makeError("'" + kGenerationAttr + "' of the module has the " +
                       "unknown key '" + key + "'");
    if (auto expected = findMismatch(*setting, entry.getValue(), size))
      return makeError("'" + kGenerationAttr + "' of the module has '" + key +
                       "' with the value " + formatAttribute(entry.getValue()) +
                       ", expected " + *expected);
  }
  if (!generation->get("eos"))
    return makeError("'" + kGenerationAttr + "' of the module has no 'eos'");
  return Error::success();
}

Expected<std::string> buildManifest(ModuleOp module, ManifestContext context) {
  if (Error error = checkModelAttributes(module))
    return std::move(error);
  json::Array entries;
  for (Operation &op : module.getBody()->getOperations()) {
    Attribute entry = op.getAttr(kEntryAttr);
    if (!entry)
      continue;
    std::optional<json::Value> value = toJson(entry);
    if (!value)
      return makeError("'" + kEntryAttr + "' has the value " +
                       formatAttribute(entry) + ", which has no form in JSON");
    entries.push_back(std::move(*value));
  }
  json::Object model{
      {"name", module.getSymName().value_or("model")},
      {"family", module->getAttrOfType<StringAttr>(kFamilyAttr).getValue()}};
  json::Object manifest{
      {"heddle", context.compilerVersion},
      {"model", std::move(model)},
      {"isas", json::Array(context.isas)},
      {"options", std::move(context.options)},
      {"vocabulary", *toJson(module->getAttr(kVocabularyAttr))},
      {"generation", *toJson(module->getAttr(kGenerationAttr))},
      {"tokenizer", std::move(context.tokenizer)},
      {"entries", std::move(entries)}};
  if (!context.gpus.empty())
    manifest["gpus"] = json::Array(context.gpus);
  if (!context.libraries.empty())
    manifest["libraries"] = json::Array(context.libraries);
  if (Attribute kernels = module->getAttr(kKernelsAttr))
    manifest["kernels"] = *toJson(kernels);
  if (Attribute types = module->getAttr(kKernelTypesAttr))
    manifest["kernel_types"] = *toJson(types);
  if (Attribute layers = module->getAttr(kLayersAttr))
    manifest["layers"] = *toJson(layers);
  return formatv("{0:2}\n", json::Value(std::move(manifest))).str();
}

} // namespace heddle
