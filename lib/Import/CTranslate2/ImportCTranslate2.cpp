//===- ImportCTranslate2.cpp - Folders that CTranslate2's converters wrote ===//
//
// TransformerSpec, an encoder and a decoder, with the search of CTranslate2's
// `translate_batch` by its defaults, or of argos-translate; a decoder alone; an
// encoder alone, whose hidden states are pooled.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/CTranslate2/CTranslate2Config.h"
#include "lib/Import/CTranslate2/CTranslate2Folder.h"
#include "lib/Import/CTranslate2/CTranslate2Network.h"
#include "lib/Import/CTranslate2/CTranslate2Tokenizer.h"
#include "lib/Import/HuggingFace/HuggingFaceFolder.h"
#include "lib/Import/HuggingFace/SentenceTransformers.h"
#include "lib/Import/ImportModel.h"
#include "lib/Import/SearchAttributes.h"
#include "lib/Support/Error.h"
#include "lib/Support/Tasks.h"
#include "lib/Weights/Json.h"

using namespace mlir;
using namespace llvm;

namespace heddle {

namespace {
/// A specification that is read, by its name in the file.
struct Specification {
  StringLiteral name;
  /// The newest revision that is known.
  uint32_t revision;
  /// Heads of files that do not say how many.
  int64_t heads;
  CTranslate2Purpose purpose = CTranslate2Purpose::Translates;
};
} // namespace

static constexpr Specification kSpecifications[] = {
    {"TransformerSpec", 7, 8},
    {"TransformerBase", 2, 8},
    {"TransformerBig", 2, 16},
    {"TransformerDecoderSpec", 8, 8, CTranslate2Purpose::Continues},
    {"TransformerEncoderSpec", 1, 8, CTranslate2Purpose::Encodes}};

namespace {
/// How a program searches that says no more.
struct Search {
  int64_t beams;
  double lengthPenalty;
  int64_t maxLength, minLength;
};
} // namespace

/// translate_batch and generate_batch, and argos-translate, which calls the
/// first.
static constexpr Search kTranslateBatch = {2, 1, 256, 1},
                        kGenerateBatch = {1, 1, 512, 0},
                        kArgosTranslate = {4, 0.2, 256, 1};

/// Of encoders whose positions are no table.
static constexpr int64_t kEncodedPositions = 1024;

static Expected<Specification> findSpecification(const CTranslate2File &model) {
  StringRef path = model.variables.getPath();
  for (const Specification &known : kSpecifications) {
    if (model.specification != known.name)
      continue;
    if (model.revision <= known.revision)
      return known;
    return makeError("'" + path + "' has revision " + Twine(model.revision) +
                     " of " + known.name + " (supported: at most " +
                     Twine(known.revision) + ")");
  }
  return makeError("'" + path + "' has the specification '" +
                   model.specification +
                   "' (supported: TransformerSpec, TransformerBase, "
                   "TransformerBig, TransformerDecoderSpec, "
                   "TransformerEncoderSpec)");
}

/// A table has a row for each token of its vocabulary; CTranslate2 appends the
/// unknown token to one that lacks it.
static Error checkVocabulary(const CTranslate2Vocabulary &vocabulary,
                             const CTranslate2Side &side, StringRef unknown) {
  auto count = int64_t(vocabulary.tokens.size());
  if (!vocabulary.find(unknown))
    ++count;
  if (count == side.vocabulary)
    return Error::success();
  return makeError("'" + vocabulary.path + "' has " +
                   Twine(vocabulary.tokens.size()) + " tokens but '" +
                   side.table + "' has " + Twine(side.vocabulary) + " rows");
}

static DictionaryAttr getGenerationAttr(MLIRContext &context,
                                        const CTranslate2Config &config,
                                        const Search &search,
                                        std::optional<int64_t> start,
                                        std::optional<int64_t> positions) {
  SearchAttributes attributes(context);
  if (start)
    attributes.addCount(setting::start, *start);
  attributes.addIds(setting::eos, int32_t(config.eos));
  if (search.beams > 1)
    attributes.addCount(setting::beams, search.beams);
  attributes.addText(setting::earlyStopping, "true");
  // What may not be generated counts for nothing in a sum of probabilities.
  attributes.addCount(setting::renormalizes, 1);
  if (search.lengthPenalty != 1)
    attributes.addNumber(setting::lengthPenalty, search.lengthPenalty);
  if (search.minLength > 0)
    attributes.addCount(setting::minNewTokens, search.minLength);
  attributes.addCount(setting::maxLength, search.maxLength);
  if (positions)
    attributes.addCount(setting::maxTarget, *positions);
  return attributes.build();
}

/// @encode and @decode of an encoder and a decoder.
static void buildTransformer(LayerBuilder &layers, CTranslate2Network &network,
                             const CTranslate2Side &encoder,
                             const CTranslate2Side &decoder) {
  auto arguments = layers.beginEncode(encoder.width);
  Value mask = layers.paddingMask(arguments[1]);
  Value x = network.embed(arguments[0], encoder);
  for (int64_t index = 0; index < encoder.depth; ++index)
    x = network.layer(x, encoder, index, {mask, Value(), Value()});
  layers.endFunction(network.finish(x, encoder));

  arguments = layers.beginDecode(encoder.width, decoder.vocabulary);
  layers.setAlignment(decoder.alignmentLayer, decoder.alignedHeads);
  Value causal = layers.causalMask();
  mask = layers.paddingMask(arguments[2]);
  x = network.embed(arguments[0], decoder);
  for (int64_t index = 0; index < decoder.depth; ++index)
    x = network.layer(x, decoder, index, {causal, arguments[1], mask});
  layers.endFunction(network.logits(network.finish(x, decoder), decoder));
}

/// Sentences about files that are there and have no effect, or another one.
static void sayWhatIsIgnored(const CTranslate2Folder &folder,
                             ImportedModel &model) {
  if (folder.files.has("vmap.txt"))
    model.remarks.push_back("'" + folder.files.pathOf("vmap.txt") +
                            "' has no effect: CTranslate2 reads it on request "
                            "alone");
  if (folder.files.isArchive() && model.tokenizer.getString("kind") == "pairs")
    model.warnings.push_back(
        "'" + folder.files.getPath().str() +
        "' separates words from punctuation by Moses' rules, which Heddle "
        "lacks: texts have to be separated by spaces already");
}

/// What starts a target: -1 for the vector of zeros, whatever the token.
static Expected<int64_t> readStart(const CTranslate2Folder &folder,
                                   const CTranslate2Config &config) {
  if (config.startsFromZero)
    return -1;
  if (config.start)
    return *config.start;
  return makeError("'" + folder.config.getPath() +
                   "' has 'decoder_start_token' with the value null "
                   "(supported: a token)");
}

static Error importTransformer(CTranslate2Folder &folder, int64_t heads,
                               const Search &search, StringRef tokenizerFile,
                               ImportedModel &model) {
  CTranslate2Variables variables(model.weights.getFiles().back());
  Expected<CTranslate2Config> config =
      readCTranslate2Config(folder, variables, CTranslate2Purpose::Translates);
  if (!config)
    return config.takeError();
  CTranslate2Side encoder = readSide(variables, "encoder", heads),
                  decoder = readSide(variables, "decoder", heads);
  Expected<int64_t> start = readStart(folder, *config);
  if (!start)
    return start.takeError();
  LayerBuilder layers(*model.module, model.weights);
  CTranslate2Network network(layers, variables, config->epsilons);
  buildTransformer(layers, network, encoder, decoder);
  if (Error error = variables.finish(*model.module))
    return error;
  if (Error error = layers.takeError())
    return error;
  for (auto [vocabulary, side] :
       {std::pair(&folder.source, &encoder), {&folder.target, &decoder}})
    if (Error error = checkVocabulary(*vocabulary, *side, config->unknown))
      return error;
  Expected<ImportedTokenizer> tokenizer =
      readCTranslate2Tokenizer(folder, *config, tokenizerFile);
  if (!tokenizer)
    return tokenizer.takeError();
  setTokenizer(std::move(*tokenizer), model);
  setTasks(*model.module,
           {encoder.vocabulary, decoder.vocabulary, encoder.positions,
            getGenerationAttr(*model.module->getContext(), *config, search,
                              *start, decoder.positions)});
  return Error::success();
}

/// A language model: its @decode reads prompts and what follows them.
static Error importDecoder(CTranslate2Folder &folder, int64_t heads,
                           StringRef tokenizerFile, ImportedModel &model) {
  CTranslate2Variables variables(model.weights.getFiles().back());
  Expected<CTranslate2Config> config =
      readCTranslate2Config(folder, variables, CTranslate2Purpose::Continues);
  if (!config)
    return config.takeError();
  CTranslate2Side side = readSide(variables, "decoder", heads);
  variables.require("decoder/start_from_zero_embedding", 0,
                    "a vector of zeros in front of a prompt");
  LayerBuilder layers(*model.module, model.weights);
  CTranslate2Network network(layers, variables, config->epsilons);
  auto arguments = layers.beginDecode(/*width=*/0, side.vocabulary);
  Value causal = layers.causalMask();
  Value x = network.embed(arguments[0], side);
  for (int64_t index = 0; index < side.depth; ++index)
    x = network.layer(x, side, index, {causal, Value(), Value()});
  layers.endFunction(network.logits(network.finish(x, side), side));
  if (Error error = variables.finish(*model.module))
    return error;
  if (Error error = layers.takeError())
    return error;
  if (Error error = checkVocabulary(folder.target, side, config->unknown))
    return error;
  Expected<ImportedTokenizer> tokenizer =
      readCTranslate2Tokenizer(folder, *config, tokenizerFile);
  if (!tokenizer)
    return tokenizer.takeError();
  setTokenizer(std::move(*tokenizer), model);
  MLIRContext *context = model.module->getContext();
  NamedAttrList settings(getGenerationAttr(*context, *config, kGenerateBatch,
                                           /*start=*/std::nullopt,
                                           side.positions));
  settings.set(kPromptKey, StringAttr::get(context, kPromptSides[1]));
  setTasks(*model.module, {side.vocabulary, side.vocabulary, side.positions,
                           settings.getDictionary(context)});
  return Error::success();
}

/// What pools hidden states, and the tokenizer in front of them: the library
/// gives states alone.
static Error addVectors(CTranslate2Folder &folder, const CTranslate2Side &side,
                        const CTranslate2Config &config,
                        const ImportOptions &options, LayerBuilder &layers,
                        ImportedModel &model) {
  if (options.layers)
    return makeError("'" + folder.files.getPath() +
                     "' has all layers of its encoder (expected no --layers)");
  Expected<ImportedTokenizer> tokenizer =
      readCTranslate2Tokenizer(folder, config, options.tokenizer);
  if (!tokenizer)
    return tokenizer.takeError();
  EmbedModules embed;
  if (!options.pooling.empty())
    embed.modes.assign(options.pooling.begin(), options.pooling.end());
  embed.limitTokens(*side.positions);
  if (Error error = buildEmbed(layers, embed, side.width))
    return error;
  setTask(*model.module, kEmbedTask,
          describeEmbedTask(embed, *model.module->getContext()));
  embed.prepareTexts(*tokenizer);
  setTokenizer(std::move(*tokenizer), model);
  return Error::success();
}

/// An encoder alone, such as BERT: its @encode, pooled by @embed.
static Error importEncoder(CTranslate2Folder &folder, int64_t heads,
                           const ImportOptions &options, ImportedModel &model) {
  CTranslate2Variables variables(model.weights.getFiles().back());
  Expected<CTranslate2Config> config =
      readCTranslate2Config(folder, variables, CTranslate2Purpose::Encodes);
  if (!config)
    return config.takeError();
  CTranslate2Side side = readSide(variables, "encoder", heads);
  if (!side.positions)
    side.positions = kEncodedPositions;
  // What a classifier would take of the first token.
  for (StringRef part : {"weight", "bias"})
    variables.ignore(("pooler_dense/" + part).str());
  variables.ignore("pooler_activation");
  LayerBuilder layers(*model.module, model.weights);
  CTranslate2Network network(layers, variables, config->epsilons);
  SmallVector<LayerBuilder::Argument> inputs = {{"ids", {"batch", "source"}}};
  if (side.types > 0)
    inputs.push_back({"types", {"batch", "source"}});
  inputs.push_back({"lengths", {"batch"}});
  auto arguments =
      layers.beginFunction({"encode", inputs, "memory", side.width});
  Value mask = layers.paddingMask(arguments.back());
  Value x = network.embed(arguments[0], side,
                          side.types > 0 ? arguments[1] : Value());
  for (int64_t index = 0; index < side.depth; ++index)
    x = network.layer(x, side, index, {mask, Value(), Value()});
  layers.endFunction(network.finish(x, side));
  SourceAttributes source{side.vocabulary, side.positions};
  if (side.types > 0)
    source.types = side.types;
  setSource(*model.module, source);
  if (Error error = addVectors(folder, side, *config, options, layers, model))
    return error;
  if (Error error = variables.finish(*model.module))
    return error;
  if (Error error = layers.takeError())
    return error;
  return checkVocabulary(folder.source, side, config->unknown);
}

static Error importPurpose(CTranslate2Folder &folder,
                           const Specification &specification,
                           const ImportOptions &options, const Search &search,
                           ImportedModel &model) {
  switch (specification.purpose) {
  case CTranslate2Purpose::Translates:
    return importTransformer(folder, specification.heads, search,
                             options.tokenizer, model);
  case CTranslate2Purpose::Continues:
    return importDecoder(folder, specification.heads, options.tokenizer, model);
  case CTranslate2Purpose::Encodes:
    return importEncoder(folder, specification.heads, options, model);
  }
  llvm_unreachable("a purpose");
}

static Expected<ImportedModel> importFiles(CTranslate2Files files,
                                           MLIRContext &context,
                                           const ImportOptions &options,
                                           const Search &search) {
  Expected<CTranslate2Folder> folder = readCTranslate2Folder(std::move(files));
  if (!folder)
    return folder.takeError();
  Expected<Specification> specification = findSpecification(folder->model);
  if (!specification)
    return specification.takeError();
  ImportedModel model;
  model.module = createModule(folder->files.getPath(), "ctranslate2", context);
  if (Error error = model.weights.add(std::move(folder->model.variables)))
    return std::move(error);
  if (Error error =
          importPurpose(*folder, *specification, options, search, model))
    return std::move(error);
  model.warnings = folder->config.getWarnings().vec();
  sayWhatIsIgnored(*folder, model);
  return model;
}

Expected<ImportedModel> importCTranslate2Folder(StringRef path,
                                                MLIRContext &context,
                                                const ImportOptions &options) {
  return importFiles(CTranslate2Files::ofFolder(path), context, options,
                     kTranslateBatch);
}

/// Refuses packages of argos-translate that are no translators of texts alone.
static Error checkMetadata(const CTranslate2Files &files) {
  std::string path = files.pathOf("metadata.json");
  auto buffer = files.read("metadata.json");
  if (!buffer)
    return buffer.takeError();
  Expected<json::Object> object = parseJsonObject((*buffer)->getBuffer(), path);
  if (!object)
    return object.takeError();
  ConfigReader metadata(std::move(*object), path);
  metadata.require("type", {"translate"});
  // A token that begins each target.
  metadata.require("target_prefix", {""});
  return metadata.takeError();
}

Expected<ImportedModel> importArgosModel(StringRef path, MLIRContext &context,
                                         const ImportOptions &options) {
  Expected<CTranslate2Files> files = CTranslate2Files::ofArchive(path);
  if (!files)
    return files.takeError();
  if (Error error = checkMetadata(*files))
    return std::move(error);
  return importFiles(std::move(*files), context, options, kArgosTranslate);
}

} // namespace heddle
