//===- ImportMarian.cpp - Models in Marian's own files --------------------===//
//
// The network is that of Marian's src/models/transformer.h: layers are named
// `encoder_l1_self`, `decoder_l2_rnn` and so on, the tensors of a layer after
// it. The target starts with the zero vector in place of an embedding.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/ImportModel.h"
#include "lib/Import/LayerBuilder.h"
#include "lib/Import/Marian/MarianFolder.h"
#include "lib/Import/Marian/MarianOptions.h"
#include "lib/Import/Marian/Shortlist.h"
#include "lib/Import/Marian/Yaml.h"
#include "lib/Import/SearchAttributes.h"
#include "lib/Import/UnreadTensors.h"
#include "lib/Support/Error.h"
#include "lib/Support/Tasks.h"
#include "lib/Weights/MappedFile.h"
#include "lib/Weights/ZipDirectory.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cmath>

using namespace mlir;
using namespace llvm;

namespace heddle {

/// Marian's src/layers/generic.h.
static constexpr float kEpsilon = 1e-6f;

namespace {
/// Writes the functions of one model.
class MarianModel {
public:
  MarianModel(LayerBuilder &layers, const WeightSource &weights,
              const MarianOptions &options)
      : layers(layers), weights(weights), options(options) {}

  void buildEncode();
  void buildDecode();
  void buildShortlist();

private:
  /// The tensor `name`. Quantised matrices are stored transposed, as intgemm
  /// multiplies them, except the embeddings, whose rows are looked up.
  Value weight(const Twine &name, ArrayRef<int64_t> shape);
  /// What quantises vectors that are multiplied by the tensor `name`.
  std::optional<float> inputMultiplier(StringRef name);
  Value dense(Value input, StringRef prefix, StringRef suffix, int64_t width);
  Value norm(Value input, StringRef prefix, StringRef suffix);
  Value preprocess(Value input, StringRef prefix, StringRef steps);
  Value postprocess(Value output, Value input, StringRef prefix,
                    StringRef steps);

  Value attention(Value input, Value memory, Value mask, std::string prefix);
  Value feedForward(Value input, int64_t width, int64_t depth,
                    std::string prefix);
  Value recurrence(Value input, std::string prefix);

  bool isTable(StringRef name) const {
    return name == options.sourceTable || name == options.targetTable;
  }
  /// Embeddings of the rows of `table` with their positions, before what the
  /// options do to them.
  Value embed(Value ids, const std::string &table, int64_t vocabulary);
  /// The decoder up to the logits: [batch, target, width].
  Value decoderStates(Value ids, Value memory, Value lengths);
  /// What states are multiplied by: [width, vocabulary], or its rows for the
  /// candidates of a shortlist, [vocabulary, width].
  Value outputMatrix(bool asRows);
  Value outputBias();

  LayerBuilder &layers;
  const WeightSource &weights;
  const MarianOptions &options;
};
} // namespace

Value MarianModel::weight(const Twine &name, ArrayRef<int64_t> shape) {
  LayerBuilder::Parameter parameter;
  parameter.name = parameter.symbol = name.str();
  parameter.shape.assign(shape.begin(), shape.end());
  parameter.fileShape = parameter.shape;
  const TensorInfo *tensor = layers.find(parameter.name);
  parameter.transposed = shape.size() == 2 && tensor &&
                         tensor->encoding == Encoding::IntGemm8 &&
                         !isTable(parameter.name);
  if (shape.size() == 2)
    // Of the embeddings the one that the lists of a shortlist have.
    parameter.inputMultiplier =
        inputMultiplier(isTable(parameter.name) ? "none" : parameter.name);
  return layers.weight(parameter);
}

std::optional<float> MarianModel::inputMultiplier(StringRef name) {
  std::string tensor = (name + "_QuantMultA").str();
  Expected<std::optional<float>> value = weights.readScalar(tensor);
  if (!value) {
    layers.fail(toString(value.takeError()));
    return std::nullopt;
  }
  if (*value && !(std::isfinite(**value) && **value > 0))
    layers.fail("tensor '" + tensor + "' is " + std::to_string(**value) +
                ", expected a positive number");
  return *value;
}

Value MarianModel::dense(Value input, StringRef prefix, StringRef suffix,
                         int64_t width) {
  int64_t inputWidth = cast<RankedTensorType>(input.getType()).getDimSize(2);
  Value matrix = weight(prefix + "_W" + suffix, {inputWidth, width});
  Value bias = weight(prefix + "_b" + suffix, {width});
  return layers.linear(input, matrix, bias);
}

Value MarianModel::norm(Value input, StringRef prefix, StringRef suffix) {
  Value scale = weight(prefix + "_ln_scale" + suffix, {options.width});
  Value bias = weight(prefix + "_ln_bias" + suffix, {options.width});
  return layers.norm({NormKind::Layer, scale, bias, kEpsilon}, input);
}

Value MarianModel::preprocess(Value input, StringRef prefix, StringRef steps) {
  for (char step : steps)
    if (step == 'n')
      input = norm(input, prefix, "_pre");
  return input;
}

Value MarianModel::postprocess(Value output, Value input, StringRef prefix,
                               StringRef steps) {
  for (char step : steps) {
    if (step == 'a')
      output = layers.add(input, output);
    else if (step == 'n')
      output = norm(output, prefix, "");
  }
  return output;
}

/// Self-attention if `memory` is null.
Value MarianModel::attention(Value input, Value memory, Value mask,
                             std::string prefix) {
  Value normed = preprocess(input, prefix + "_Wo", options.preprocess);
  if (!memory)
    memory = options.preprocessesKeys ? normed : input;
  Value query = dense(normed, prefix, "q", options.width);
  Value key = dense(memory, prefix, "k", options.width);
  Value value = dense(memory, prefix, "v", options.width);
  Value output =
      layers.attention(prefix, {query, key, value, mask, options.heads});
  if (options.projection)
    output = dense(output, prefix, "o", options.width);
  return postprocess(output, input, prefix + "_Wo", options.postprocess);
}

Value MarianModel::feedForward(Value input, int64_t width, int64_t depth,
                               std::string prefix) {
  Value output = preprocess(input, prefix + "_ffn", options.preprocess);
  for (int64_t layer = 1; layer < depth; ++layer)
    output =
        layers.activation(options.activation,
                          dense(output, prefix, std::to_string(layer), width));
  output = dense(output, prefix, std::to_string(depth), options.width);
  return postprocess(output, input, prefix + "_ffn", options.postprocess);
}

/// The SSRU in the place of the decoder's self-attention: h = relu(c).
Value MarianModel::recurrence(Value input, std::string prefix) {
  Value normed = preprocess(input, prefix, options.preprocess);
  Value forget = dense(normed, prefix, "f", options.width);
  Value value = layers.linear(
      normed, weight(prefix + "_W", {options.width, options.width}),
      /*bias=*/Value());
  Value output =
      layers.activation(ActivationKind::Relu, layers.recurrence(forget, value));
  return postprocess(output, input, prefix + "_ffn", options.postprocess);
}

Value MarianModel::embed(Value ids, const std::string &table,
                         int64_t vocabulary) {
  Value rows = weight(table, {vocabulary, options.width});
  const TensorInfo *positions = layers.find("Wpos");
  if (!positions) {
    Value embedded =
        layers.embedding(ids, rows, std::sqrt(float(options.width)));
    // Marian spreads the timescales over d / 2 - 1.
    return layers.sinusoidalPositions(embedded, options.width / 2 - 1);
  }
  // Trained positions are for the embeddings as they are. What Marian does
  // behind the end of their table, the last row again, nobody trained.
  int64_t count = positions->shape.empty() ? 1 : positions->shape.front();
  return layers.learnedPositions(layers.embedding(ids, rows),
                                 weight("Wpos", {count, options.width}),
                                 /*offset=*/0);
}

void MarianModel::buildEncode() {
  auto arguments = layers.beginEncode(options.width);
  Value mask = layers.paddingMask(arguments[1]);
  Value embedded =
      embed(arguments[0], options.sourceTable, options.sourceVocabulary);
  Value x = preprocess(embedded, "encoder_emb", options.postprocessEmbedding);
  for (int64_t layer = 1; layer <= options.encoderDepth; ++layer) {
    std::string prefix = "encoder_l" + std::to_string(layer);
    x = attention(x, /*memory=*/Value(), mask, prefix + "_self");
    x = feedForward(x, options.encoderFfnWidth, options.encoderFfnDepth,
                    prefix + "_ffn");
  }
  layers.endFunction(
      postprocess(x, embedded, "encoder_top", options.postprocessTop));
}

Value MarianModel::decoderStates(Value ids, Value memory, Value lengths) {
  Value mask = layers.paddingMask(lengths);
  Value embedded = embed(ids, options.targetTable, options.targetVocabulary);
  Value x = preprocess(embedded, "decoder_emb", options.postprocessEmbedding);
  Value causal = options.isRecurrent ? Value() : layers.causalMask();
  for (int64_t layer : options.decoderLayers) {
    std::string prefix = "decoder_l" + std::to_string(layer);
    x = options.isRecurrent
            ? recurrence(x, prefix + "_rnn")
            : attention(x, /*memory=*/Value(), causal, prefix + "_self");
    x = attention(x, memory, mask, prefix + "_context");
    x = feedForward(x, options.decoderFfnWidth, options.decoderFfnDepth,
                    prefix + "_ffn");
  }
  return postprocess(x, embedded, "decoder_top", options.postprocessTop);
}

Value MarianModel::outputMatrix(bool asRows) {
  std::string name =
      options.tiedOutput ? options.targetTable : "decoder_ff_logit_out_Wt";
  // Models before 2019 have the other form.
  const char *columnsName = "decoder_ff_logit_out_W";
  bool storesRows = options.tiedOutput || !layers.find(columnsName);
  if (!storesRows)
    name = columnsName;
  const TensorInfo *tensor = layers.find(name);
  if (!options.tiedOutput && tensor && tensor->encoding == Encoding::IntGemm8)
    layers.fail("tensor '" + name + "' is " + tensor->elementType +
                " (supported: float32, float16)");

  int64_t width = options.width, vocabulary = options.targetVocabulary;
  SmallVector<int64_t, 2> rows = {vocabulary, width},
                          columns = {width, vocabulary};
  if (asRows == storesRows)
    return weight(name, asRows ? rows : columns);
  // In both forms loops are contiguous, at the price of a second copy of it in
  // the artifact.
  return layers.weight({name, asRows ? rows : columns, /*transposed=*/true,
                        storesRows ? rows : columns, name + ".transposed",
                        inputMultiplier(name)});
}

Value MarianModel::outputBias() {
  return weight("decoder_ff_logit_out_b", {options.targetVocabulary});
}

void MarianModel::buildDecode() {
  auto arguments = layers.beginDecode(options.width, options.targetVocabulary);
  layers.setAlignment(options.alignmentLayer, /*heads=*/1);
  Value states = decoderStates(arguments[0], arguments[1], arguments[2]);
  Value matrix = outputMatrix(/*asRows=*/false);
  layers.endFunction(layers.linear(states, matrix, outputBias()));
}

void MarianModel::buildShortlist() {
  auto arguments =
      layers.beginFunction({"shortlist",
                            {{"ids", {"batch", "target"}, 0, /*isTarget=*/true},
                             {"memory", {"batch", "source"}, options.width},
                             {"lengths", {"batch"}},
                             {"candidates", {"batch", "shortlist"}},
                             {"counts", {"batch"}}},
                            "logits",
                            ShapedType::kDynamic,
                            {"step", "extend"}});
  Value states = decoderStates(arguments[0], arguments[1], arguments[2]);
  Value rows = layers.embedding(arguments[3], outputMatrix(/*asRows=*/true));
  Value bias = layers.embedding(arguments[3], outputBias());
  layers.endFunction(layers.candidateLogits(states, rows, bias, arguments[4]));
}

/// The network and what is beside it in its file.
static Expected<TensorFile> readModelFile(StringRef path) {
  auto buffer = mapFile(path);
  if (!buffer)
    return buffer.takeError();
  return isZipArchive((*buffer)->getBuffer())
             ? readNpzFile(std::move(*buffer))
             : readMarianFile(std::move(*buffer));
}

/// The vocabularies of OPUS-MT's originals: YAML numbers the pieces, which two
/// SentencePiece models cut if the folder has them.
static Expected<ImportedTokenizer>
readYamlTokenizer(StringRef folder, const VocabularyFile &numbers) {
  auto buffer = mapFile(numbers.path);
  if (!buffer)
    return buffer.takeError();
  Expected<YamlMapping> mapping =
      parseYaml((*buffer)->getBuffer(), numbers.path);
  if (!mapping)
    return mapping.takeError();
  json::Object ids;
  for (const auto &[piece, value] : *mapping) {
    int64_t id;
    bool isNumber = to_integer(value.format(), id);
    ids[piece] = isNumber ? json::Value(id) : json::Value(value.format());
  }
  SmallString<128> source = folder, target = folder;
  sys::path::append(source, "source.spm");
  sys::path::append(target, "target.spm");
  if (sys::fs::exists(source) || sys::fs::exists(target))
    return readNumberedTokenizer(source, target, ids, numbers);
  auto pieces = numberPieces(ids, numbers.path, numbers.size);
  if (!pieces)
    return pieces.takeError();
  Expected<int64_t> eos = findPiece(*pieces, "</s>", numbers.path);
  if (!eos)
    return eos.takeError();
  ImportedTokenizer tokenizer;
  tokenizer.targetEos = *eos;
  if (auto unknown = llvm::find(*pieces, "<unk>"); unknown != pieces->end())
    tokenizer.targetUnknown = unknown - pieces->begin();
  return tokenizer;
}

static Expected<ImportedTokenizer> readTokenizer(StringRef folder,
                                                 const MarianFolder &files,
                                                 const MarianOptions &options) {
  VocabularyFile source{files.sourceVocabulary, options.sourceVocabulary},
      target{files.targetVocabulary, options.targetVocabulary};
  if (!source.path.ends_with(".yml") && !target.path.ends_with(".yml"))
    return readSentencePieceTokenizer(source, target);
  if (source.path != target.path)
    return makeError("'" + source.path + "' and '" + target.path +
                     "' are two vocabularies (supported: one in YAML, or two " +
                     "SentencePiece models)");
  return readYamlTokenizer(folder, source);
}

/// The ids of the vocabulary that a decoder never generates.
static SmallVector<int32_t> listSuppressed(const MarianDecoder &decoder,
                                           const ImportedTokenizer &tokenizer,
                                           int64_t vocabulary) {
  SmallVector<int32_t> ids;
  if (tokenizer.targetUnknown && !decoder.allowsUnknown)
    ids.push_back(int32_t(*tokenizer.targetUnknown));
  if (!decoder.allowsSpecial)
    ids.append(tokenizer.targetControls.begin(),
               tokenizer.targetControls.end());
  llvm::erase_if(ids, [&](int32_t id) { return id >= vocabulary; });
  llvm::sort(ids);
  return ids;
}

/// `positions` is the table of trained positions, or null.
static DictionaryAttr getGenerationAttr(MLIRContext &context,
                                        const MarianDecoder &decoder,
                                        const ImportedTokenizer &tokenizer,
                                        int64_t vocabulary,
                                        const TensorInfo *positions) {
  SearchAttributes attributes(context);
  attributes.addCount(setting::start, -1);
  attributes.addIds(setting::eos, int32_t(*tokenizer.targetEos));
  if (auto ids = listSuppressed(decoder, tokenizer, vocabulary); !ids.empty())
    attributes.addIds(setting::suppress, ids);
  if (decoder.beams > 1)
    attributes.addCount(setting::beams, decoder.beams);
  // What one beam does without counts for a caller who asks for more.
  attributes.addText(setting::earlyStopping, "shrink");
  if (decoder.lengthPenalty != 1)
    attributes.addNumber(setting::lengthPenalty, decoder.lengthPenalty);
  if (decoder.wordPenalty != 0)
    attributes.addNumber(setting::wordPenalty, decoder.wordPenalty);
  attributes.addNumber(setting::lengthFactor, decoder.maxLengthFactor);
  attributes.addCount(setting::maxSourceLength, decoder.maxSourceLength);
  if (decoder.cropsSources)
    attributes.addCount(setting::cropsSources, 1);
  if (positions)
    attributes.addCount(setting::maxTarget, positions->shape.front());
  return attributes.build();
}

/// The options, which are stored as a tensor, and what quantises the vectors
/// that a matrix multiplies.
static bool isUsuallyUnread(StringRef tensor) {
  return tensor.starts_with("special:") || tensor.ends_with("_QuantMultA");
}

Expected<ImportedModel> importMarianFolder(StringRef folder,
                                           MLIRContext &context) {
  Expected<MarianFolder> files = readMarianFolder(folder);
  if (!files)
    return files.takeError();
  Expected<TensorFile> file = readModelFile(files->model);
  if (!file)
    return file.takeError();
  Expected<MarianOptions> options = readMarianOptions(*file);
  if (!options)
    return options.takeError();
  Expected<ImportedTokenizer> tokenizer =
      readTokenizer(folder, *files, *options);
  if (!tokenizer)
    return tokenizer.takeError();

  ImportedModel model;
  model.warnings = files->decoder.warnings;
  if (Error error = model.weights.add(std::move(*file)))
    return std::move(error);
  model.tokenizer = std::move(tokenizer->manifest);
  model.sections = std::move(tokenizer->sections);
  if (!files->shortlist.empty()) {
    auto bytes = mapFile(files->shortlist);
    if (!bytes)
      return bytes.takeError();
    Expected<std::string> section =
        convertShortlist((*bytes)->getBuffer(), files->shortlist,
                         options->sourceVocabulary, options->targetVocabulary);
    if (!section)
      return section.takeError();
    model.sections.push_back({"shortlist", std::move(*section)});
  }

  model.module = createModule(folder, "marian", context);
  LayerBuilder layers(*model.module, model.weights);
  MarianModel functions(layers, model.weights, *options);
  functions.buildEncode();
  functions.buildDecode();
  if (!files->shortlist.empty())
    functions.buildShortlist();
  if (Error error = layers.takeError())
    return std::move(error);

  const TensorInfo *positions = layers.find("Wpos");
  setTasks(*model.module,
           {options->sourceVocabulary, options->targetVocabulary,
            positions ? std::optional(positions->shape.front()) : std::nullopt,
            getGenerationAttr(context, files->decoder, *tokenizer,
                              options->targetVocabulary, positions)});
  model.unreadTensors =
      listUnreadTensors(*model.module, model.weights, isUsuallyUnread);
  return model;
}

} // namespace heddle
