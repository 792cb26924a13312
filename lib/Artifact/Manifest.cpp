//===- Manifest.cpp - What an artifact says of itself ---------------------===//
//
// Generation settings are checked against SearchSettings.def, the keys that the
// format has; the entries were made by a pass and are only translated.
//
//===----------------------------------------------------------------------===//

#include "lib/Artifact/Manifest.h"
#include "dialect/Transformer.h"
#include "lib/Import/ImportModel.h"
#include "lib/Support/Error.h"
#include "lib/Support/Tasks.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "runtime/artifact/ArtifactFormat.h"
#include "runtime/artifact/SearchSettings.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace llvm;

namespace heddle {

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
  std::string ids = "of ids from 0 to " + std::to_string(vocabulary - 1);
  switch (setting.kind) {
  case SettingKind::Id:
  case SettingKind::Count:
  case SettingKind::Limit:
  case SettingKind::Switch: {
    int64_t min = setting.lowest(), max = setting.highest(vocabulary);
    if (isInRange(value, min, max))
      return std::nullopt;
    if (setting.kind == SettingKind::Switch && min == 0)
      return "the i32 0 or 1";
    return "an i32 from " + std::to_string(min) + " to " + std::to_string(max);
  }
  case SettingKind::Ids:
    // None if a limit alone ends a sequence, or nothing is suppressed.
    if (value == DenseI32ArrayAttr::get(value.getContext(), {}) ||
        areIds(value, vocabulary))
      return std::nullopt;
    return "array<i32: ...> " + ids;
  case SettingKind::IdLists: {
    auto lists = dyn_cast<ArrayAttr>(value);
    if (lists &&
        all_of(lists, [&](Attribute list) { return areIds(list, vocabulary); }))
      return std::nullopt;
    return "a list of array<i32: ...> " + ids;
  }
  case SettingKind::Number:
    if (isBetween(value, setting.low, setting.high))
      return std::nullopt;
    return formatRange(setting.low, setting.high);
  case SettingKind::Ratio: {
    // Lengths are computed in double.
    auto ratio = dyn_cast<FloatAttr>(value);
    if (ratio && ratio.getValue().isFiniteNonZero() &&
        !ratio.getValue().isNegative())
      return std::nullopt;
    return "a positive float";
  }
  case SettingKind::Rule: {
    auto rule = dyn_cast<StringAttr>(value);
    if (rule &&
        is_contained(kEarlyStoppingNames, std::string_view(rule.getValue())))
      return std::nullopt;
    return "\"true\", \"false\", \"never\" or \"shrink\"";
  }
  case SettingKind::Seed:
    break;
  }
  llvm_unreachable("no key of the manifest has another kind");
}

/// An attribute of the module that has to be a dictionary.
static Expected<DictionaryAttr> getDictionary(ModuleOp module, StringRef name) {
  auto attribute = module->getAttrOfType<DictionaryAttr>(name);
  if (!attribute)
    return makeError("the module has no dictionary '" + name + "'");
  return attribute;
}

/// A positive i32 of a dictionary.
static Error checkCount(StringRef where, DictionaryAttr dictionary,
                        StringRef key, int64_t most) {
  Attribute count = dictionary.get(key);
  if (count && isInRange(count, 1, most))
    return Error::success();
  return makeError(where + " of the module needs a positive i32 '" + key + "'");
}

static Error checkSource(DictionaryAttr source) {
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  std::string where = "'" + kSourceAttr.str() + "'";
  if (Error error = checkCount(where, source, kVocabularyKey, most))
    return error;
  for (StringRef key : {kPositionsKey, kTypesKey})
    if (source.get(key))
      if (Error error = checkCount(where, source, key, kMostTokens))
        return error;
  if (Attribute pad = source.get(kPadKey); pad && !isInRange(pad, 0, most))
    return makeError(where + " of the module has '" + kPadKey +
                     "' with the value " + formatAttribute(pad) +
                     ", expected an i32 of at least 0");
  for (NamedAttribute entry : source)
    if (!is_contained({kVocabularyKey, kPositionsKey, kTypesKey, kPadKey},
                      entry.getName().strref()))
      return makeError(where + " of the module has the unknown key '" +
                       entry.getName().strref() + "'");
  return Error::success();
}

/// How errors call a task.
static std::string nameOfTask(StringRef task) {
  return "the task '" + task.str() + "'";
}

/// What all tasks but `generate` may have, and that there are no keys but that
/// and `own`.
static Error checkTextTask(StringRef name, DictionaryAttr task,
                           ArrayRef<StringRef> own) {
  std::string where = nameOfTask(name);
  if (task.get(kMaxTokensKey))
    if (Error error = checkCount(where, task, kMaxTokensKey, kMostTokens))
      return error;
  for (NamedAttribute entry : task)
    if (StringRef key = entry.getName();
        key != kMaxTokensKey && !is_contained(own, key))
      return makeError(where + " of the module has the unknown key '" + key +
                       "'");
  return Error::success();
}

static Error checkEmbed(const SourceAttributes &, DictionaryAttr task) {
  std::string where = nameOfTask(kEmbedTask);
  if (Error error = checkTextTask(kEmbedTask, task,
                                  {kPromptsKey, kPromptKey, kWeightsKey}))
    return error;
  Attribute prompts = task.get(kPromptsKey), prompt = task.get(kPromptKey);
  auto texts = dyn_cast_or_null<DictionaryAttr>(prompts);
  auto isText = [](NamedAttribute each) {
    return isa<StringAttr>(each.getValue());
  };
  if (prompts && !(texts && all_of(texts, isText)))
    return makeError(where + " of the module has '" + kPromptsKey +
                     "' with the value " + formatAttribute(prompts) +
                     ", expected a dictionary of strings");
  auto name = dyn_cast_or_null<StringAttr>(prompt);
  if (prompt && !(name && texts && texts.get(name)))
    return makeError(where + " of the module has '" + kPromptKey +
                     "' with the value " + formatAttribute(prompt) +
                     ", expected the name of one of its prompts");
  Attribute weights = task.get(kWeightsKey);
  auto kind = dyn_cast_or_null<StringAttr>(weights);
  if (weights && !(kind && (kind == "log1p" || kind == "log1p_log1p")))
    return makeError(where + " of the module has '" + kWeightsKey +
                     "' with the value " + formatAttribute(weights) +
                     ", expected \"log1p\" or \"log1p_log1p\"");
  return Error::success();
}

/// Names of labels, of which no two are the same.
static Error checkLabels(StringRef name, DictionaryAttr task) {
  auto labels = dyn_cast_or_null<ArrayAttr>(task.get(kLabelsKey));
  bool areTexts = labels && !labels.empty() && all_of(labels, [](Attribute l) {
                    return isa<StringAttr>(l);
                  });
  if (!areTexts)
    return makeError(nameOfTask(name) + " of the module needs a list '" +
                     kLabelsKey + "' of strings");
  llvm::DenseSet<Attribute> known;
  for (Attribute label : labels)
    if (!known.insert(label).second)
      return makeError(nameOfTask(name) + " of the module has the label " +
                       formatAttribute(label) + " twice");
  return Error::success();
}

static Error checkClassify(const SourceAttributes &, DictionaryAttr task) {
  if (Error error =
          checkTextTask(kClassifyTask, task, {kLabelsKey, kScoresKey}))
    return error;
  Attribute scores = task.get(kScoresKey);
  auto name = dyn_cast_or_null<StringAttr>(scores);
  if (scores && !(name && is_contained(kLabelScoresNames,
                                       std::string_view(name.getValue()))))
    return makeError(nameOfTask(kClassifyTask) + " of the module has '" +
                     kScoresKey + "' with the value " +
                     formatAttribute(scores) +
                     ", expected \"softmax\", \"sigmoid\" or \"none\"");
  return checkLabels(kClassifyTask, task);
}

static Error checkTag(const SourceAttributes &, DictionaryAttr task) {
  if (Error error = checkTextTask(kTagTask, task, {kLabelsKey}))
    return error;
  return checkLabels(kTagTask, task);
}

/// A task has a token of the vocabulary under `key`.
static Error checkToken(StringRef name, DictionaryAttr task, StringRef key,
                        const SourceAttributes &source) {
  Attribute token = task.get(key);
  if (token && isInRange(token, 0, source.vocabulary - 1))
    return Error::success();
  return makeError(nameOfTask(name) + " of the module needs an i32 '" + key +
                   "' from 0 to " + Twine(source.vocabulary - 1));
}

static Error checkAnswer(const SourceAttributes &source, DictionaryAttr task) {
  if (Error error = checkTextTask(kAnswerTask, task, {kSeparatorKey}))
    return error;
  return task.get(kSeparatorKey)
             ? checkToken(kAnswerTask, task, kSeparatorKey, source)
             : Error::success();
}

static Error checkFill(const SourceAttributes &source, DictionaryAttr task) {
  if (Error error = checkTextTask(kFillTask, task, {kMaskKey}))
    return error;
  return checkToken(kFillTask, task, kMaskKey, source);
}

static Error checkGenerate(const SourceAttributes &, DictionaryAttr task) {
  std::string where = nameOfTask(kGenerateTask);
  if (Error error = checkCount(where, task, kVocabularyKey,
                               std::numeric_limits<int32_t>::max()))
    return error;
  int64_t size = cast<IntegerAttr>(task.get(kVocabularyKey)).getInt();
  for (NamedAttribute entry : task) {
    StringRef key = entry.getName();
    if (key == kVocabularyKey)
      continue;
    if (key == kPromptKey) {
      auto side = dyn_cast<StringAttr>(entry.getValue());
      if (side && is_contained(kPromptSides, side.getValue()))
        continue;
      return makeError(where + " of the module has '" + key +
                       "' with the value " + formatAttribute(entry.getValue()) +
                       ", expected \"source\" or \"target\"");
    }
    const Setting *setting = find_if(kSearchSettings, [&](const Setting &each) {
      return each.key && key == each.key;
    });
    if (setting == std::end(kSearchSettings))
      return makeError(where + " of the module has the unknown key '" + key +
                       "'");
    if (auto expected = findMismatch(*setting, entry.getValue(), size))
      return makeError(where + " of the module has '" + key +
                       "' with the value " + formatAttribute(entry.getValue()) +
                       ", expected " + *expected);
  }
  if (!task.get("eos"))
    return makeError(where + " of the module has no 'eos'");
  return Error::success();
}

namespace {
struct TaskCheck {
  StringRef name;
  Error (*check)(const SourceAttributes &source, DictionaryAttr task);
};
} // namespace

static constexpr TaskCheck kTaskChecks[] = {
    {kGenerateTask, checkGenerate}, {kEmbedTask, checkEmbed},
    {kClassifyTask, checkClassify}, {kTagTask, checkTag},
    {kAnswerTask, checkAnswer},     {kFillTask, checkFill}};

Error checkModelAttributes(ModuleOp module) {
  if (!module->getAttrOfType<StringAttr>(kFamilyAttr))
    return makeError("the module has no string '" + kFamilyAttr +
                     "', which a whole model has");
  Expected<DictionaryAttr> source = getDictionary(module, kSourceAttr);
  if (!source)
    return source.takeError();
  if (Error error = checkSource(*source))
    return error;
  Expected<DictionaryAttr> tasks = getDictionary(module, kTasksAttr);
  if (!tasks)
    return tasks.takeError();
  SourceAttributes read;
  read.vocabulary = cast<IntegerAttr>(source->get(kVocabularyKey)).getInt();
  for (NamedAttribute entry : *tasks) {
    auto task = dyn_cast<DictionaryAttr>(entry.getValue());
    const TaskCheck *known = find_if(kTaskChecks, [&](const TaskCheck &each) {
      return entry.getName() == each.name;
    });
    if (!task || known == std::end(kTaskChecks))
      return makeError(
          "'" + kTasksAttr + "' of the module has the task '" +
          entry.getName().strref() + "' with the value " +
          formatAttribute(entry.getValue()) +
          " (supported: generate, embed, classify, tag, answer and fill, "
          "dictionaries)");
    if (Error error = known->check(read, task))
      return error;
  }
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
  json::Object manifest{{"heddle", context.compilerVersion},
                        {"model", std::move(model)},
                        {"isas", json::Array(context.isas)},
                        {"options", std::move(context.options)},
                        {"source", *toJson(module->getAttr(kSourceAttr))},
                        {"tasks", *toJson(module->getAttr(kTasksAttr))},
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
