//===- SentenceTransformers.cpp - From hidden states to vectors -----------===//
//
// One function for each file of the library, then what is made of them.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/SentenceTransformers.h"
#include "lib/Import/Blocks.h"
#include "lib/Import/HuggingFace/HuggingFaceConfig.h"
#include "lib/Import/Tokenizers/Characters/CharacterMap.h"
#include "lib/Support/Error.h"
#include "lib/Support/Tasks.h"
#include "lib/Weights/Json.h"
#include "lib/Weights/MappedFile.h"
#include "runtime/artifact/SearchSettings.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace llvm;

namespace heddle {

/// torch.nn.functional.normalize and torch.nn.LayerNorm.
static constexpr float kLeastLength = 1e-12f, kNormEpsilon = 1e-5f;

/// The modules of a SparseEncoder.
static constexpr StringLiteral kWordTransformer = "MLMTransformer",
                               kSparsePooling = "SpladePooling";

//===----------------------------------------------------------------------===//
// modules.json
//===----------------------------------------------------------------------===//

namespace {
/// One of modules.json.
struct ModuleEntry {
  /// "Pooling", and the folder of its files, in the model's.
  std::string type, path;
};
} // namespace

static std::string join(StringRef folder, StringRef path) {
  SmallString<128> result = folder;
  sys::path::append(result, path);
  return std::string(result);
}

/// "Pooling" of sentence_transformers.models.Pooling or of
/// sentence_transformers.models.Pooling.Pooling; empty for code of others.
static StringRef nameOfClass(StringRef type) {
  return type.consume_front("sentence_transformers.") ? type.rsplit('.').second
                                                      : "";
}

/// The modules in their order, which is the list's, whatever their idx.
static Expected<std::vector<ModuleEntry>> readModules(StringRef path) {
  auto buffer = mapFile(path);
  if (!buffer)
    return buffer.takeError();
  Expected<json::Array> list = parseJsonArray((*buffer)->getBuffer(), path);
  if (!list)
    return list.takeError();
  std::vector<ModuleEntry> modules;
  for (const json::Value &each : *list) {
    const json::Object *module = each.getAsObject();
    auto type = module ? module->getString("type") : std::nullopt;
    auto folder = module ? module->getString("path") : std::nullopt;
    if (!type || !folder)
      return makeError("'" + path + "' has the module " + formatJson(each) +
                       ", expected an object with the texts 'type' and 'path'");
    std::string name = nameOfClass(*type).str();
    if (name.empty())
      return makeError("'" + path + "' has the module '" + *type +
                       "', which is code of its own: Heddle runs none "
                       "(supported: those of sentence_transformers.models)");
    if (sys::path::is_absolute(*folder) || folder->contains(".."))
      return makeError("'" + path + "' has a module in '" + *folder +
                       "', expected a folder of the model's");
    modules.push_back({name, folder->str()});
  }
  if (modules.empty() || (modules.front().type != "Transformer" &&
                          modules.front().type != kWordTransformer))
    return makeError(
        "'" + path + "' begins with " +
        (modules.empty() ? "nothing" : "'" + modules.front().type + "'") +
        ", expected a Transformer or an " + kWordTransformer);
  return modules;
}

Expected<std::string> findTransformerFolder(StringRef folder) {
  auto modules = readModules(join(folder, "modules.json"));
  if (!modules)
    return modules.takeError();
  StringRef path = modules->front().path;
  return path.empty() ? folder.str() : join(folder, path);
}

//===----------------------------------------------------------------------===//
// The files of modules
//===----------------------------------------------------------------------===//

/// Those that the library looks for, the first one counts.
static constexpr StringLiteral kTransformerFiles[] = {
    "sentence_bert_config.json",       "sentence_roberta_config.json",
    "sentence_distilbert_config.json", "sentence_camembert_config.json",
    "sentence_albert_config.json",     "sentence_xlm-roberta_config.json",
    "sentence_xlnet_config.json"};

/// What the tokenizer itself says of the most tokens of a text, if that is a
/// limit: transformers writes 1e30 for none.
static Error readTokenizerLimit(StringRef folder, EmbedModules &embed) {
  std::string path = join(folder, "tokenizer_config.json");
  if (!sys::fs::exists(path))
    return Error::success();
  Expected<ConfigReader> file = readConfig(path);
  if (!file)
    return file.takeError();
  file->require("truncation_side", {"right"});
  const json::Value *value = file->read("model_max_length");
  // Its name of 2019.
  value = value ? value : file->read("max_len");
  std::optional<double> length = value ? value->getAsNumber() : std::nullopt;
  if (length && *length >= 1 && *length <= double(kMostTokens))
    embed.maxTokens = int64_t(*length);
  return file->takeError();
}

/// Refuses arguments of the library's constructors, but for those that say
/// where a folder comes from.
static void refuseArguments(ConfigReader &file, StringRef field) {
  constexpr StringLiteral known[] = {"trust_remote_code", "token", "revision",
                                     "local_files_only", "cache_dir"};
  const json::Value *value = file.readNonNull(field);
  const json::Object *arguments = value ? value->getAsObject() : nullptr;
  if (value && !(arguments && all_of(*arguments, [&](const auto &argument) {
                   return is_contained(known, StringRef(argument.first));
                 })))
    file.fail(field, "{}");
}

/// How the transformer takes texts, if the folder has modules.
static Error readTransformer(StringRef folder, EmbedModules &embed) {
  auto found = find_if(kTransformerFiles, [&](StringRef file) {
    return sys::fs::exists(join(folder, file));
  });
  if (found == std::end(kTransformerFiles))
    return Error::success();
  Expected<ConfigReader> file = readConfig(join(folder, *found));
  if (!file)
    return file.takeError();
  if (file->readNonNull("max_seq_length"))
    embed.maxTokens = file->integer("max_seq_length", 0, 1, kMostTokens);
  embed.lowers = file->truth("do_lower_case", false);
  for (StringRef arguments : {"tokenizer_args", "config_args", "model_args"})
    refuseArguments(*file, arguments);
  // The tokenizer of another folder.
  file->require("tokenizer_name_or_path", {});
  return file->takeError();
}

/// The mode `pooling_mode` in place of all fields of one mode each, or these.
static SmallVector<Pooling> readPoolingModes(ConfigReader &file) {
  struct Mode {
    StringLiteral name, field;
    Pooling pooling;
  };
  // In the order of what is concatenated.
  constexpr Mode modes[] = {
      {"cls", "pooling_mode_cls_token", Pooling::Cls},
      {"max", "pooling_mode_max_tokens", Pooling::Max},
      {"mean", "pooling_mode_mean_tokens", Pooling::Mean},
      {"mean_sqrt_len_tokens", "pooling_mode_mean_sqrt_len_tokens",
       Pooling::MeanSqrt},
      {"weightedmean", "pooling_mode_weightedmean_tokens",
       Pooling::WeightedMean},
      {"lasttoken", "pooling_mode_lasttoken", Pooling::Last}};
  if (file.readNonNull("pooling_mode")) {
    std::string name = file.text("pooling_mode", "");
    for (const Mode &mode : modes)
      if (mode.name.equals_insensitive(name))
        return {mode.pooling};
    file.fail("pooling_mode", "cls, max, mean, mean_sqrt_len_tokens, "
                              "weightedmean, lasttoken");
  }
  SmallVector<Pooling> pooled;
  for (const Mode &mode : modes)
    if (file.truth(mode.field, mode.pooling == Pooling::Mean))
      pooled.push_back(mode.pooling);
  if (pooled.empty())
    file.fail("pooling_mode_mean_tokens", "true, for this mode or another");
  return pooled;
}

static Error readPooling(StringRef folder, int64_t width, EmbedModules &embed) {
  Expected<ConfigReader> file = readConfig(join(folder, "config.json"));
  if (!file)
    return file.takeError();
  embed.modes = readPoolingModes(*file);
  file->require("word_embedding_dimension", {width});
  embed.poolsPrompt = file->truth("include_prompt", true);
  if (!embed.hasKnownPrompt())
    file->fail("include_prompt", "true, with the modes cls and max");
  return file->takeError();
}

static Error readSparsePooling(StringRef folder, EmbedModules &embed) {
  Expected<ConfigReader> file = readConfig(join(folder, "config.json"));
  if (!file)
    return file.takeError();
  file->require("pooling_strategy", {"max"});
  std::string activation = file->text("activation_function", "relu");
  embed.logarithms = activation == "relu" ? 1 : 2;
  if (activation != "relu" && activation != "log1p_relu")
    file->fail("activation_function", "relu, log1p_relu");
  return file->takeError();
}

/// An activation by the Python path of its class.
static std::optional<ActivationKind> readTorchActivation(ConfigReader &file) {
  // The default is for folders without the field alone.
  const json::Value *value = file.read("activation_function");
  std::string path = value && value->getAsNull()
                         ? ""
                         : file.text("activation_function",
                                     "torch.nn.modules.activation.Tanh");
  if (path == "torch.nn.modules.linear.Identity" || path == "torch.nn.Identity")
    return std::nullopt;
  StringRef name = path;
  if (!name.consume_front("torch.nn.modules.activation."))
    name.consume_front("torch.nn.");
  auto kind = llvm::StringSwitch<std::optional<ActivationKind>>(name)
                  .Case("Tanh", ActivationKind::Tanh)
                  .Case("ReLU", ActivationKind::Relu)
                  .Case("GELU", ActivationKind::Gelu)
                  .Case("SiLU", ActivationKind::Silu)
                  .Case("Sigmoid", ActivationKind::Sigmoid)
                  .Default(std::nullopt);
  if (!kind)
    file.fail("activation_function",
              "torch.nn.modules.linear.Identity and, of "
              "torch.nn.modules.activation, Tanh, ReLU, GELU, SiLU, Sigmoid");
  return kind;
}

static Expected<VectorModule> readDense(const std::string &root,
                                        const std::string &path) {
  Expected<ConfigReader> file =
      readConfig(join(join(root, path), "config.json"));
  if (!file)
    return file.takeError();
  VectorModule dense{VectorModule::Kind::Dense, path};
  for (auto [field, size] :
       {std::pair("in_features", &dense.in), {"out_features", &dense.out}}) {
    *size = file->size(field, 1, 1, kMaxWidth);
    if (!file->read(field))
      file->fail(field, "1 to " + Twine(kMaxWidth));
  }
  dense.hasBias = file->truth("bias", true);
  dense.activation = readTorchActivation(*file);
  if (Error error = file->takeError())
    return std::move(error);
  return dense;
}

static void setPrompt(EmbedModules &embed, StringRef name, StringRef text) {
  for (auto &[known, content] : embed.prompts)
    if (known == name) {
      content = text.str();
      return;
    }
  embed.prompts.emplace_back(name.str(), text.str());
}

/// Prompts, and which of them stands in front of texts by default.
static Error readPrompts(StringRef path, StringRef library,
                         EmbedModules &embed) {
  Expected<ConfigReader> file = readConfig(path);
  if (!file)
    return file.takeError();
  file->require("model_type", {library});
  if (const json::Value *value = file->readNonNull("prompts")) {
    const json::Object *prompts = value->getAsObject();
    if (!prompts)
      file->fail("prompts", "an object of texts");
    else
      for (const auto &[name, text] : *prompts) {
        std::optional<StringRef> content = text.getAsString();
        if (!content)
          file->fail("prompts", "an object of texts");
        else
          setPrompt(embed, name, *content);
      }
  }
  // An attribute has a name.
  if (any_of(embed.prompts, [](auto &prompt) { return prompt.first.empty(); }))
    file->fail("prompts", "prompts with names");
  std::string name = file->text("default_prompt_name", "");
  if (!name.empty())
    embed.defaultPrompt = name;
  return file->takeError();
}

Expected<EmbedModules> readEmbedModules(const HuggingFaceFolder &folder,
                                        int64_t width) {
  EmbedModules embed;
  if (Error error = readTokenizerLimit(folder.path, embed))
    return std::move(error);
  std::string modulesPath = join(folder.root, "modules.json"),
              promptsPath =
                  join(folder.root, "config_sentence_transformers.json");
  // The library has these two, if only as empty texts.
  embed.prompts = {{"document", ""}, {"query", ""}};
  if (!sys::fs::exists(modulesPath))
    return embed;
  embed.isOfLibrary = true;
  auto modules = readModules(modulesPath);
  if (!modules)
    return modules.takeError();
  if (Error error = readTransformer(folder.path, embed))
    return std::move(error);
  bool isSparse = modules->front().type == kWordTransformer;
  StringRef library = isSparse ? "SparseEncoder" : "SentenceTransformer";
  if (sys::fs::exists(promptsPath))
    if (Error error = readPrompts(promptsPath, library, embed))
      return std::move(error);
  std::sort(embed.prompts.begin(), embed.prompts.end());
  if (embed.defaultPrompt && none_of(embed.prompts, [&](auto &prompt) {
        return prompt.first == embed.defaultPrompt;
      }))
    return makeError("'" + promptsPath +
                     "' has 'default_prompt_name' with the "
                     "value '" +
                     *embed.defaultPrompt + "', which is none of its prompts");

  if (isSparse) {
    if (modules->size() != 2 || modules->back().type != kSparsePooling)
      return makeError("'" + modulesPath + "' has other modules behind the " +
                       kWordTransformer + " than one " + kSparsePooling);
    if (Error error =
            readSparsePooling(join(folder.root, modules->back().path), embed))
      return std::move(error);
    return embed;
  }
  bool isPooled = false;
  for (const ModuleEntry &module : drop_begin(*modules)) {
    if (module.type == "Pooling" && !isPooled) {
      isPooled = true;
      if (Error error =
              readPooling(join(folder.root, module.path), width, embed))
        return std::move(error);
    } else if (module.type == "Dense" && isPooled) {
      Expected<VectorModule> dense = readDense(folder.root, module.path);
      if (!dense)
        return dense.takeError();
      embed.modules.push_back(std::move(*dense));
    } else if (module.type == "LayerNorm" && isPooled) {
      embed.modules.push_back({VectorModule::Kind::LayerNorm, module.path});
    } else if (module.type == "Normalize" && isPooled) {
      embed.modules.push_back({VectorModule::Kind::Normalize});
    } else if (module.type != "Dropout") {
      return makeError("'" + modulesPath + "' has the module '" + module.type +
                       "'" + (isPooled ? " behind" : " in front of") +
                       " the pooling (supported: one Pooling, then Dense, "
                       "LayerNorm, Normalize and Dropout)");
    }
  }
  if (!isPooled)
    return makeError("'" + modulesPath +
                     "' has no Pooling: its model gives no "
                     "vector of a text");
  return embed;
}

//===----------------------------------------------------------------------===//
// What is made of them
//===----------------------------------------------------------------------===//

void EmbedModules::limitTokens(int64_t most) {
  maxTokens = std::min(maxTokens.value_or(most), most);
}

void EmbedModules::prepareTexts(ImportedTokenizer &tokenizer) const {
  StageList front;
  front.add(format::kRepairText, format::kUsedForVector);
  front.addHeader(format::kStripSpaces, format::kUsedForVector,
                  format::EndsHeader{format::kStripsLeft |
                                         format::kStripsRight |
                                         format::kStripsAsPython,
                                     0});
  if (lowers)
    front.add(format::kReplaceCharacters, format::kUsedForVector,
              lowercase().build());
  for (ImportedSection &section : tokenizer.sections)
    if (section.name == "tokenizer")
      section.bytes = insertStages(section.bytes, front);
}

/// In front of the names of a module's tensors.
static std::string prefixOf(const VectorModule &module) {
  return module.folder + "/";
}

Error addModuleWeights(const HuggingFaceFolder &folder,
                       const EmbedModules &embed, WeightSource &weights) {
  for (const VectorModule &module : embed.modules)
    if (!module.folder.empty())
      if (Error error = weights.addHuggingFaceFolder(
              join(folder.root, module.folder), prefixOf(module)))
        return error;
  return Error::success();
}

Error buildEmbed(LayerBuilder &layers, const EmbedModules &embed,
                 int64_t width) {
  int64_t result = width * int64_t(embed.modes.size());
  for (const VectorModule &module : embed.modules) {
    if (module.kind != VectorModule::Kind::Dense)
      continue;
    if (module.in != result)
      return makeError("the module '" + module.folder + "' has in_features " +
                       Twine(module.in) + ", but vectors in front of it have " +
                       Twine(result) + " numbers");
    result = module.out;
  }
  SmallVector<LayerBuilder::Argument> arguments = {
      {"memory", {"batch", "source"}, width}, {"lengths", {"batch"}}};
  if (!embed.poolsPrompt)
    arguments.push_back({"prompt", {"batch"}});
  auto inputs = layers.beginFunction(
      {"embed", arguments, "vectors", result, {"full"}, kEmbedTask});
  Value x = layers.pool(embed.modes, inputs[0], inputs[1],
                        embed.poolsPrompt ? Value() : inputs[2]);
  Blocks blocks(layers);
  for (const VectorModule &module : embed.modules) {
    switch (module.kind) {
    case VectorModule::Kind::Dense:
      x = blocks.linear(
          x, {prefixOf(module) + "linear", module.out, module.hasBias});
      if (module.activation)
        x = layers.activation(*module.activation, x);
      break;
    case VectorModule::Kind::Normalize:
      x = layers.normalize(x, kLeastLength);
      break;
    case VectorModule::Kind::LayerNorm:
      x = blocks.norm(x, {prefixOf(module) + "norm", kNormEpsilon});
      break;
    }
  }
  layers.endFunction(x);
  return Error::success();
}

Error buildSparseEmbed(LayerBuilder &layers, int64_t width, int64_t vocabulary,
                       WordLogits logits) {
  auto inputs = layers.beginFunction(
      {"embed",
       {{"memory", {"batch", "source"}, width}, {"lengths", {"batch"}}},
       "vectors",
       vocabulary,
       {"full"},
       kEmbedTask});
  Expected<Value> x = logits(inputs[0]);
  if (!x)
    return x.takeError();
  layers.endFunction(layers.pool({Pooling::Max}, *x, inputs[1], Value()));
  return Error::success();
}

DictionaryAttr describeEmbedTask(const EmbedModules &embed,
                                 MLIRContext &context) {
  Builder builder(&context);
  NamedAttrList task, prompts;
  if (embed.maxTokens)
    task.set(kMaxTokensKey,
             builder.getI32IntegerAttr(int32_t(*embed.maxTokens)));
  for (const auto &[name, text] : embed.prompts)
    prompts.set(name, builder.getStringAttr(text));
  if (!prompts.empty())
    task.set(kPromptsKey, prompts.getDictionary(&context));
  if (embed.defaultPrompt)
    task.set(kPromptKey, builder.getStringAttr(*embed.defaultPrompt));
  if (embed.logarithms > 0)
    task.set(kWeightsKey, builder.getStringAttr(
                              embed.logarithms == 1 ? "log1p" : "log1p_log1p"));
  return task.getDictionary(&context);
}

} // namespace heddle
