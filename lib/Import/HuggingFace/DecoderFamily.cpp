//===- DecoderFamily.cpp - Decoders alone ---------------------------------===//
//
// Defaults are those of transformers 4.57.6, and so is what a field means.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/DecoderFamily.h"
#include "lib/Import/HuggingFace/HuggingFaceFields.h"
#include "lib/Import/HuggingFace/HuggingFaceGeneration.h"
#include "lib/Support/Error.h"
#include "lib/Support/Tasks.h"

using namespace mlir;
using namespace llvm;

namespace heddle {

static constexpr StringLiteral kOutput = "lm_head.weight";

/// A class with a head of another task has no logits of words.
static void refuseOtherHeads(ConfigReader &config) {
  const json::Value *value = config.readNonNull("architectures");
  const json::Array *classes = value ? value->getAsArray() : nullptr;
  for (const json::Value &each : classes ? *classes : json::Array()) {
    StringRef name = each.getAsString().value_or("");
    for (StringRef task :
         {"SequenceClassification", "TokenClassification", "QuestionAnswering"})
      if (name.ends_with(("For" + task).str()))
        config.fail("architectures", "classes of causal language models");
  }
}

Error DecoderImport::readConfig() {
  ConfigReader &config = folder.config;
  refuseOtherHeads(config);
  isTied = config.truth("tie_word_embeddings", family.isTied);
  deviation = folder.options.randomSeed
                  ? config.number("initializer_range", 0.02, 1e-9, 1e9)
                  : 0;
  refuseUnsupportedDecoder(config, sizes.positions);
  if (config.readNonNull("auto_map"))
    config.warn("auto_map", "but code of the folder is not run, as without "
                            "trust_remote_code");
  if (Error error = config.takeError())
    return error;
  GeneratingNetwork network{family.ids, /*readsForceBos=*/false,
                            sizes.vocabulary, sizes.vocabulary,
                            sizes.positions};
  network.continuesTexts = true;
  Expected<DictionaryAttr> settings =
      readGeneration(config, folder.generation ? &*folder.generation : nullptr,
                     network, folder.context);
  if (!settings)
    return settings.takeError();
  NamedAttrList task(*settings);
  task.set(kPromptKey, StringAttr::get(&folder.context, kPromptSides[1]));
  generation = task.getDictionary(&folder.context);
  return Error::success();
}

Expected<std::unique_ptr<DecoderImport>>
DecoderImport::begin(HuggingFaceFolder &folder, const DecoderFamily &family,
                     const DecoderSizes &sizes) {
  std::unique_ptr<DecoderImport> import(
      new DecoderImport(folder, family, sizes));
  if (Error error = import->readConfig())
    return std::move(error);
  if (Error error = addWeights(folder, import->model))
    return std::move(error);
  Expected<ImportedTokenizer> tokenizer =
      readFolderTokenizer(folder.path, family.tokenizerClass, sizes.vocabulary);
  if (!tokenizer)
    return tokenizer.takeError();
  setTokenizer(std::move(*tokenizer), import->model);
  sayWhatIsIgnored(folder, import->model);

  import->model.module =
      createModule(folder.path, family.modelType, folder.context);
  import->layers.emplace(*import->model.module, import->model.weights,
                         folder.missingTensors());
  std::string prefix = family.prefix.str() + ".";
  if (import->layers->hasTensors(prefix) || folder.options.randomSeed)
    import->prefix = prefix;
  return import;
}

Value DecoderImport::beginDecode() {
  SmallVector<Value> arguments =
      layers->beginDecode(/*width=*/0, sizes.vocabulary);
  return layers->embedding(
      arguments[0],
      getBlocks().table({nameOf(family.table), sizes.vocabulary, sizes.width}));
}

/// What older releases stored that is computed, and heads of other tasks. A
/// tied table may be stored twice.
static bool isUsuallyUnread(StringRef tensor) {
  constexpr StringLiteral endings[] = {".attn.bias", ".attn.masked_bias",
                                       ".rotary_emb.inv_freq"};
  return tensor == kOutput || any_of(endings, [&](StringRef ending) {
           return tensor.ends_with(ending);
         });
}

Expected<ImportedModel> DecoderImport::finish(Value states) {
  std::string table = isTied ? nameOf(family.table) : kOutput.str();
  layers->endFunction(
      getBlocks().logits(states, {table, sizes.vocabulary, sizes.width}, isTied,
                         /*bias=*/Value()));
  if (Error error = layers->takeError())
    return std::move(error);
  setTasks(*model.module,
           {sizes.vocabulary, sizes.vocabulary, sizes.positions, generation});
  if (Error error = finishParameters(folder, isUsuallyUnread, deviation, model))
    return std::move(error);
  return std::move(model);
}

} // namespace heddle
