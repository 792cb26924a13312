//===- MarianOptions.cpp - The options that shape a Marian model ----------===//
//
// Three tables: options whose value is fixed, options that are read, options
// that do not matter to this kind of model. The meaning of each is that of
// Marian's src/models/transformer.h; if an option is absent, Marian's
// default (src/common/config_parser.cpp) counts.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Marian/MarianOptions.h"
#include "lib/Import/Marian/MarianOptionReader.h"
#include "lib/Support/Error.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace heddle {

namespace {
/// An option that has to have one value.
struct FixedOption {
  StringLiteral name, supported, byDefault;
};
} // namespace

static constexpr FixedOption kFixedOptions[] = {
    {"type", "transformer", "amun"},
    {"layer-normalization", "false", "false"},
    {"right-left", "false", "false"},
    {"skip", "false", "false"},
    {"special-vocab", "[]", "[]"},
    {"ulr", "false", "false"},
    {"lemma-dim-emb", "0", "0"},
    {"lemma-dependency", "", ""},
    {"factors-combine", "sum", "sum"},
    {"output-omit-bias", "false", "false"},
    {"transformer-pool", "false", "false"},
    {"transformer-no-bias", "false", "false"},
    {"transformer-no-affine", "false", "false"},
    {"transformer-rnn-projection", "false", "false"},
    {"transformer-disable-position-embeddings", "false", "false"},
    {"transformer-attention-mask", "default", "default"},
    {"transformer-alibi-shift", "false", "false"},
    {"transformer-alibi-trainable", "false", "false"},
};

static constexpr StringLiteral kReadOptions[] = {
    "enc-depth",
    "dec-cell",
    "dec-depth",
    "dim-emb",
    "dim-vocabs",
    "input-types",
    "tied-embeddings",
    "tied-embeddings-all",
    "tied-embeddings-src",
    "transformer-decoder-autoreg",
    "transformer-guided-alignment-layer",
    "transformer-heads",
    "transformer-dim-ffn",
    "transformer-decoder-dim-ffn",
    "transformer-ffn-depth",
    "transformer-decoder-ffn-depth",
    "transformer-ffn-activation",
    "transformer-no-projection",
    "transformer-preprocess",
    "transformer-postprocess",
    "transformer-postprocess-emb",
    "transformer-postprocess-top",
    "transformer-tied-layers",
    "version",
};

/// Initialisation, and options of other kinds of model. Marian's translation
/// models never read that positions are trained: they are where the model has a
/// table of them.
static constexpr StringLiteral kIrrelevantOptions[] = {
    "bert-train-type-embeddings",
    "bert-type-vocab-size",
    "char-conv-filters-num",
    "char-conv-filters-widths",
    "char-highway",
    "char-stride",
    "dec-cell-base-depth",
    "dec-cell-high-depth",
    "dim-rnn",
    "enc-cell",
    "enc-cell-depth",
    "enc-type",
    "factors-dim-emb",
    "separator-symbol",
    "transformer-aan-activation",
    "transformer-aan-depth",
    "transformer-aan-nogate",
    "transformer-depth-scaling",
    "transformer-dim-aan",
    "transformer-train-position-embeddings",
    "transformer-train-positions",
    "ulr-dim-emb",
    "ulr-trainable-transformation",
};

/// Bounds that keep a damaged option from becoming an endless import.
static constexpr int64_t kMaxDepth = 256, kMaxWidth = 1 << 20,
                         kMaxVocabulary = 1 << 24;

/// Refuses fixed options with another value and options in no table.
static Error checkKnown(const YamlMapping &options, StringRef file,
                        MarianOptionReader &reader) {
  for (const FixedOption &option : kFixedOptions)
    if (std::string value = reader.text(option.name, option.byDefault);
        value != option.supported)
      reader.fail(option.name, value, option.supported);
  for (const auto &[name, value] : options)
    if (!is_contained(kReadOptions, name) &&
        !is_contained(kIrrelevantOptions, name) &&
        none_of(kFixedOptions, [name = StringRef(name)](const FixedOption &o) {
          return o.name == name;
        })) {
      SmallVector<StringRef> known(std::begin(kReadOptions),
                                   std::end(kReadOptions));
      for (const FixedOption &option : kFixedOptions)
        known.push_back(option.name);
      return reader.refuseUnknown(name, value, known);
    }
  return reader.takeError();
}

/// Marian's gelu is the approximation x sigmoid(1.702 x).
static std::optional<ActivationKind> getActivation(StringRef name) {
  return StringSwitch<std::optional<ActivationKind>>(name)
      .Case("relu", ActivationKind::Relu)
      .Case("swish", ActivationKind::Silu)
      .Case("gelu", ActivationKind::QuickGelu)
      .Default(std::nullopt);
}

/// The vocabularies and what they share.
static void readVocabularies(MarianOptionReader &reader, MarianOptions &model) {
  bool isOneTable = reader.boolean("tied-embeddings-all");
  model.tiedOutput = reader.boolean("tied-embeddings") || isOneTable;
  isOneTable |= reader.boolean("tied-embeddings-src");
  model.sourceTable = isOneTable ? "Wemb" : "encoder_Wemb";
  model.targetTable = isOneTable ? "Wemb" : "decoder_Wemb";
  SmallVector<int64_t> sizes = reader.integers("dim-vocabs", 1, kMaxVocabulary);
  if (sizes.size() != 2 || (isOneTable && sizes[0] != sizes[1])) {
    reader.fail("dim-vocabs", reader.text("dim-vocabs", ""),
                isOneTable ? "two equal sizes, since embeddings are shared"
                           : "two sizes");
    sizes = {1, 1};
  }
  model.sourceVocabulary = sizes[0];
  model.targetVocabulary = sizes[1];
}

/// The layer of the decoder that reads earlier targets.
static bool readIsRecurrent(MarianOptionReader &reader) {
  std::string layer =
      reader.text("transformer-decoder-autoreg", "self-attention");
  if (layer == "self-attention")
    return false;
  if (layer != "rnn")
    reader.fail("transformer-decoder-autoreg", layer, "self-attention, rnn");
  else if (std::string cell = reader.text("dec-cell", "gru"); cell != "ssru")
    reader.fail("dec-cell", cell, "ssru");
  return true;
}

/// The numbers of a version such as "v1.9.56 94aeaa46"; none for other texts.
static SmallVector<int64_t> parseVersion(StringRef text) {
  SmallVector<int64_t> numbers;
  if (!text.consume_front("v"))
    return numbers;
  SmallVector<StringRef> parts;
  text.split(' ').first.split(parts, '.');
  for (StringRef part : parts)
    if (part.getAsInteger(10, numbers.emplace_back()))
      return {};
  return numbers;
}

/// Marian normalised the queries of self-attention alone before the 6th of
/// February 2022; what the versions around that day did, which were not
/// published, nobody can tell.
static bool readPreprocessesKeys(MarianOptionReader &reader,
                                 StringRef preprocess) {
  if (!preprocess.contains('n'))
    return false;
  std::string text = reader.text("version", "");
  SmallVector<int64_t> version = parseVersion(text);
  const SmallVector<int64_t> queriesAlone = {1, 10, 28}, all = {1, 10, 42};
  if (version.size() != 3 || (version > queriesAlone && version < all))
    reader.fail("version", text,
                "v1.10.28 and earlier or v1.10.42 and later, which preprocess "
                "self-attention differently");
  return version >= all;
}

/// "last", or a number from 1.
static int64_t readAlignmentLayer(MarianOptionReader &reader, int64_t depth) {
  constexpr StringLiteral name = "transformer-guided-alignment-layer";
  std::string layer = reader.text(name, "last");
  int64_t number = 0;
  if (layer == "last")
    return -1;
  if (StringRef(layer).getAsInteger(10, number) || number < 1 || number > depth)
    reader.fail(name, layer, "last, or 1 to dec-depth = " + Twine(depth));
  return number - 1;
}

/// The layers whose weights the decoder uses; tied layers name earlier ones.
static SmallVector<int64_t> readDecoderLayers(MarianOptionReader &reader,
                                              int64_t depth) {
  SmallVector<int64_t> layers =
      reader.integers("transformer-tied-layers", 1, depth);
  if (layers.empty())
    for (int64_t layer = 1; layer <= depth; ++layer)
      layers.push_back(layer);
  if (int64_t(layers.size()) != depth)
    reader.fail("transformer-tied-layers",
                reader.text("transformer-tied-layers", ""),
                "one number for each of " + Twine(depth) + " layers");
  return layers;
}

Expected<MarianOptions> readMarianOptions(const TensorFile &file) {
  StringRef path = file.getPath();
  const TensorInfo *text = file.find("special:model.yml");
  if (!text)
    return makeError("'" + path + "' has no tensor 'special:model.yml' with " +
                     "the model's options");
  if (Error error = file.prepare(text->offset))
    return std::move(error);
  std::string name = ("special:model.yml of " + path).str();
  Expected<YamlMapping> options =
      parseYaml(file.getBytes().substr(text->offset, text->size), name);
  if (!options)
    return options.takeError();
  MarianOptionReader reader(*options, path);
  if (Error error = checkKnown(*options, path, reader))
    return std::move(error);

  MarianOptions model;
  model.encoderDepth = reader.integer("enc-depth", 1, 1, kMaxDepth);
  model.decoderDepth = reader.integer("dec-depth", 1, 1, kMaxDepth);
  // Even: half of the width are sines; timescales need at least two of them.
  model.width = reader.integer("dim-emb", 512, 4, kMaxWidth);
  model.heads = reader.integer("transformer-heads", 8, 1, kMaxWidth);
  if (model.width % 2 != 0 || model.width % model.heads != 0)
    reader.fail("dim-emb", Twine(model.width),
                "even multiples of transformer-heads = " + Twine(model.heads));
  model.encoderFfnWidth =
      reader.integer("transformer-dim-ffn", 2048, 1, kMaxWidth);
  model.encoderFfnDepth =
      reader.integer("transformer-ffn-depth", 2, 1, kMaxDepth);
  // 0 stands for "as in the encoder".
  model.decoderFfnWidth =
      reader.integer("transformer-decoder-dim-ffn", 0, 0, kMaxWidth);
  if (model.decoderFfnWidth == 0)
    model.decoderFfnWidth = model.encoderFfnWidth;
  model.decoderFfnDepth =
      reader.integer("transformer-decoder-ffn-depth", 0, 0, kMaxDepth);
  if (model.decoderFfnDepth == 0)
    model.decoderFfnDepth = model.encoderFfnDepth;
  readVocabularies(reader, model);
  model.alignmentLayer = readAlignmentLayer(reader, model.decoderDepth);

  std::string activation = reader.text("transformer-ffn-activation", "swish");
  if (!getActivation(activation))
    reader.fail("transformer-ffn-activation", activation, "relu, swish, gelu");
  model.activation = getActivation(activation).value_or(ActivationKind::Relu);

  model.projection = !reader.boolean("transformer-no-projection");

  model.isRecurrent = readIsRecurrent(reader);
  model.preprocess = reader.letters("transformer-preprocess", "", "dn");
  model.preprocessesKeys = readPreprocessesKeys(reader, model.preprocess);
  model.postprocess = reader.letters("transformer-postprocess", "dan", "dan");
  model.postprocessEmbedding =
      reader.letters("transformer-postprocess-emb", "d", "dn");
  model.postprocessTop =
      reader.letters("transformer-postprocess-top", "", "dan");
  model.decoderLayers = readDecoderLayers(reader, model.decoderDepth);

  std::string inputTypes = reader.text("input-types", "[]");
  if (inputTypes != "[]" && inputTypes != "[sequence, sequence]")
    reader.fail("input-types", inputTypes, "[], [sequence, sequence]");
  if (Error error = reader.takeError())
    return std::move(error);
  return model;
}

} // namespace heddle
