//===- ImportMarian.cpp - Models in Marian's own files --------------------===//
//
// A folder holds `model*.bin`, `vocab*.spm`, perhaps `lex*.bin` and
// `config.yml`, the options of a decoder. The network is that of Marian's
// src/models/transformer.h with an SSRU decoder: layers are named
// `encoder_l1_self`, `decoder_l2_rnn` and so on, the tensors of a layer after
// it. The target starts with the zero vector in place of an embedding.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/ImportModel.h"
#include "lib/Import/LayerBuilder.h"
#include "lib/Import/MarianFolder.h"
#include "lib/Import/MarianOptions.h"
#include "lib/Import/Shortlist.h"
#include "lib/Weights/Error.h"
#include "lib/Weights/MappedFile.h"
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

  Value embed(Value ids, std::string side);
  /// The decoder up to the logits: [batch, target, width].
  Value decoderStates(Value ids, Value memory, Value lengths);
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
                         parameter.name != "Wemb";
  if (shape.size() == 2)
    // Of the embeddings the one that the lists of a shortlist have.
    parameter.inputMultiplier =
        inputMultiplier(parameter.name == "Wemb" ? "none" : parameter.name);
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
  return layers.layerNorm(input, scale, bias, kEpsilon);
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

/// Self-attention where `memory` is null.
Value MarianModel::attention(Value input, Value memory, Value mask,
                             std::string prefix) {
  Value normed = preprocess(input, prefix + "_Wo", options.preprocess);
  if (!memory)
    memory = normed;
  Value query = dense(normed, prefix, "q", options.width);
  Value key = dense(memory, prefix, "k", options.width);
  Value value = dense(memory, prefix, "v", options.width);
  Value output =
      layers.attention(prefix, query, key, value, mask, options.heads);
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

Value MarianModel::embed(Value ids, std::string side) {
  Value table = weight("Wemb", {options.vocabulary, options.width});
  Value embedded =
      layers.embedding(ids, table, std::sqrt(float(options.width)));
  // Marian spreads the timescales over d / 2 - 1.
  Value placed = layers.sinusoidalPositions(embedded, options.width / 2 - 1);
  return preprocess(placed, side + "_emb", options.postprocessEmbedding);
}

void MarianModel::buildEncode() {
  auto arguments = layers.beginFunction(
      "encode", {{"ids", {"batch", "source"}}, {"lengths", {"batch"}}},
      "memory", options.width, {"full"});
  Value mask = layers.paddingMask(arguments[1]);
  Value embedded = embed(arguments[0], "encoder"), x = embedded;
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
  Value embedded = embed(ids, "decoder"), x = embedded;
  for (int64_t layer : options.decoderLayers) {
    std::string prefix = "decoder_l" + std::to_string(layer);
    x = recurrence(x, prefix + "_rnn");
    x = attention(x, memory, mask, prefix + "_context");
    x = feedForward(x, options.decoderFfnWidth, options.decoderFfnDepth,
                    prefix + "_ffn");
  }
  return postprocess(x, embedded, "decoder_top", options.postprocessTop);
}

Value MarianModel::outputBias() {
  return weight("decoder_ff_logit_out_b", {options.vocabulary});
}

void MarianModel::buildDecode() {
  auto arguments = layers.beginFunction(
      "decode",
      {{"ids", {"batch", "target"}, 0, /*isTarget=*/true},
       {"memory", {"batch", "source"}, options.width},
       {"lengths", {"batch"}}},
      "logits", options.vocabulary, {"full", "step", "chunk"});
  Value states = decoderStates(arguments[0], arguments[1], arguments[2]);
  // The tied embeddings once more, [in, out]: the loop over the vocabulary is
  // contiguous, at the price of a second copy in the artifact.
  Value projection = layers.weight({"Wemb",
                                    {options.width, options.vocabulary},
                                    /*transposed=*/true,
                                    {options.vocabulary, options.width},
                                    "Wemb.transposed",
                                    inputMultiplier("Wemb")});
  layers.endFunction(layers.linear(states, projection, outputBias()));
}

void MarianModel::buildShortlist() {
  auto arguments =
      layers.beginFunction("shortlist",
                           {{"ids", {"batch", "target"}, 0, /*isTarget=*/true},
                            {"memory", {"batch", "source"}, options.width},
                            {"lengths", {"batch"}},
                            {"candidates", {"batch", "shortlist"}},
                            {"counts", {"batch"}}},
                           "logits", ShapedType::kDynamic, {"step", "chunk"});
  Value states = decoderStates(arguments[0], arguments[1], arguments[2]);
  Value table = weight("Wemb", {options.vocabulary, options.width});
  Value rows = layers.embedding(arguments[3], table);
  Value bias = layers.embedding(arguments[3], outputBias());
  layers.endFunction(layers.candidateLogits(states, rows, bias, arguments[4]));
}

/// The default of marian-decoder's max-length: what a line may cost grows with
/// the square of its length.
static constexpr int32_t kMaxSourceLength = 1000;

Expected<ImportedModel> importMarianFolder(StringRef folder,
                                           MLIRContext &context) {
  Expected<MarianFolder> files = readMarianFolder(folder);
  if (!files)
    return files.takeError();
  auto buffer = mapFile(files->model);
  if (!buffer)
    return buffer.takeError();
  Expected<TensorFile> file = readMarianFile(std::move(*buffer));
  if (!file)
    return file.takeError();
  Expected<MarianOptions> options = readMarianOptions(*file);
  if (!options)
    return options.takeError();
  Expected<Tokenizer> tokenizer =
      readSentencePieceTokenizer(files->vocabulary, options->vocabulary);
  if (!tokenizer)
    return tokenizer.takeError();

  ImportedModel model;
  if (Error error = model.weights.add(std::move(*file)))
    return std::move(error);
  int64_t eos = *tokenizer->manifest.getInteger("eos");
  model.tokenizer = std::move(tokenizer->manifest);
  model.sections = std::move(tokenizer->sections);
  if (!files->shortlist.empty()) {
    auto bytes = mapFile(files->shortlist);
    if (!bytes)
      return bytes.takeError();
    Expected<std::string> section = convertShortlist(
        (*bytes)->getBuffer(), files->shortlist, options->vocabulary);
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

  Builder builder(&context);
  (*model.module)
      ->setAttr(kVocabularyAttr, getVocabularyAttr(context, options->vocabulary,
                                                   options->vocabulary));
  (*model.module)
      ->setAttr(
          kGenerationAttr,
          builder.getDictionaryAttr(
              {builder.getNamedAttr("start", builder.getI32IntegerAttr(-1)),
               builder.getNamedAttr("eos",
                                    builder.getDenseI32ArrayAttr(int32_t(eos))),
               builder.getNamedAttr(
                   "length_factor",
                   builder.getF64FloatAttr(files->maxLengthFactor)),
               builder.getNamedAttr(
                   "max_source_length",
                   builder.getI32IntegerAttr(kMaxSourceLength))}));
  return model;
}

} // namespace heddle
