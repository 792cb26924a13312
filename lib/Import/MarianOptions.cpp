//===- MarianOptions.cpp - The options that shape a Marian model ----------===//
//
// Three tables: options whose value is fixed, options that are read, options
// that do not matter to this kind of model. The meaning of each is that of
// Marian's src/models/transformer.h; where an option is absent, Marian's
// default (src/common/config_parser.cpp) counts.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/MarianOptions.h"
#include "lib/Import/Yaml.h"
#include "lib/Weights/Error.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace heddle {

namespace {
/// An option that has to have one value.
struct FixedOption {
  StringLiteral name, supported, byDefault;
};

/// Reads options and remembers the first failure.
class OptionReader {
public:
  OptionReader(const YamlMapping &options, StringRef file)
      : options(options), file(file) {}

  /// The text of a scalar option.
  std::string text(StringRef name, StringRef byDefault);
  int64_t integer(StringRef name, int64_t byDefault, int64_t min, int64_t max);
  /// A string of the letters `allowed`.
  std::string letters(StringRef name, StringRef byDefault, StringRef allowed);
  SmallVector<int64_t> integers(StringRef name, int64_t min, int64_t max);

  void fail(StringRef name, const Twine &value, const Twine &supported);
  Error takeError() const {
    return failure.empty() ? Error::success() : makeError(failure);
  }

private:
  const YamlMapping &options;
  StringRef file;
  std::string failure;
};
} // namespace

static constexpr FixedOption kFixedOptions[] = {
    {"type", "transformer", "amun"},
    {"transformer-decoder-autoreg", "rnn", "self-attention"},
    {"dec-cell", "ssru", "gru"},
    {"tied-embeddings-all", "true", "false"},
    {"layer-normalization", "false", "false"},
    {"right-left", "false", "false"},
    {"skip", "false", "false"},
    {"ulr", "false", "false"},
    {"lemma-dim-emb", "0", "0"},
    {"lemma-dependency", "", ""},
    {"factors-combine", "sum", "sum"},
    {"output-omit-bias", "false", "false"},
    {"transformer-pool", "false", "false"},
    {"transformer-no-bias", "false", "false"},
    {"transformer-no-affine", "false", "false"},
    {"transformer-rnn-projection", "false", "false"},
    {"transformer-train-positions", "false", "false"},
    {"transformer-train-position-embeddings", "false", "false"},
};

static constexpr StringLiteral kReadOptions[] = {
    "enc-depth",
    "dec-depth",
    "dim-emb",
    "dim-vocabs",
    "input-types",
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
};

/// Provenance, initialisation, and options of other kinds of model.
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
    "tied-embeddings",
    "tied-embeddings-src",
    "transformer-aan-activation",
    "transformer-aan-depth",
    "transformer-aan-nogate",
    "transformer-depth-scaling",
    "transformer-dim-aan",
    "transformer-guided-alignment-layer",
    "ulr-dim-emb",
    "ulr-trainable-transformation",
    "version",
};

/// Bounds that keep a damaged option from becoming an endless import.
static constexpr int64_t kMaxDepth = 256, kMaxWidth = 1 << 20,
                         kMaxVocabulary = 1 << 24;

void OptionReader::fail(StringRef name, const Twine &value,
                        const Twine &supported) {
  if (failure.empty())
    failure = ("'" + file + "' has the option '" + name + "' with the value '" +
               value + "' (supported: " + supported + ")")
                  .str();
}

std::string OptionReader::text(StringRef name, StringRef byDefault) {
  auto option = options.find(name.str());
  if (option == options.end())
    return byDefault.str();
  return option->second.format();
}

int64_t OptionReader::integer(StringRef name, int64_t byDefault, int64_t min,
                              int64_t max) {
  std::string value = text(name, std::to_string(byDefault));
  int64_t number;
  if (!StringRef(value).getAsInteger(10, number) && number >= min &&
      number <= max)
    return number;
  fail(name, value, Twine(min) + " to " + Twine(max));
  return min;
}

std::string OptionReader::letters(StringRef name, StringRef byDefault,
                                  StringRef allowed) {
  std::string value = text(name, byDefault);
  if (StringRef(value).find_first_not_of(allowed) != StringRef::npos)
    fail(name, value, "the letters " + allowed);
  return value;
}

SmallVector<int64_t> OptionReader::integers(StringRef name, int64_t min,
                                            int64_t max) {
  SmallVector<int64_t> numbers;
  auto option = options.find(name.str());
  if (option == options.end())
    return numbers;
  for (const std::string &value : option->second.values) {
    int64_t number;
    if (StringRef(value).getAsInteger(10, number) || number < min ||
        number > max) {
      fail(name, option->second.format(),
           "numbers from " + Twine(min) + " to " + Twine(max));
      return {};
    }
    numbers.push_back(number);
  }
  return numbers;
}

/// Refuses fixed options with another value and options in no table.
static Error checkKnown(const YamlMapping &options, StringRef file,
                        OptionReader &reader) {
  for (const FixedOption &option : kFixedOptions)
    if (std::string value = reader.text(option.name, option.byDefault);
        value != option.supported)
      reader.fail(option.name, value, option.supported);
  for (const auto &[name, value] : options)
    if (!is_contained(kReadOptions, name) &&
        !is_contained(kIrrelevantOptions, name) &&
        none_of(kFixedOptions, [name = StringRef(name)](const FixedOption &o) {
          return o.name == name;
        }))
      return makeError("'" + file + "' has the unknown option '" + name +
                       "' with the value '" + value.format() + "'");
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

/// The size of the one vocabulary that source and target share.
static int64_t readVocabulary(OptionReader &reader) {
  SmallVector<int64_t> sizes = reader.integers("dim-vocabs", 1, kMaxVocabulary);
  if (sizes.size() == 2 && sizes[0] == sizes[1])
    return sizes[0];
  reader.fail("dim-vocabs", reader.text("dim-vocabs", ""),
              "two equal sizes, since the vocabulary is shared");
  return 1;
}

/// The layers whose weights the decoder uses; tied layers name earlier ones.
static SmallVector<int64_t> readDecoderLayers(OptionReader &reader,
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
  std::string name = ("special:model.yml of " + path).str();
  Expected<YamlMapping> options =
      parseYaml(file.getBytes().substr(text->offset, text->size), name);
  if (!options)
    return options.takeError();
  OptionReader reader(*options, path);
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
  model.vocabulary = readVocabulary(reader);

  std::string activation = reader.text("transformer-ffn-activation", "swish");
  if (!getActivation(activation))
    reader.fail("transformer-ffn-activation", activation, "relu, swish, gelu");
  model.activation = getActivation(activation).value_or(ActivationKind::Relu);

  std::string noProjection = reader.text("transformer-no-projection", "false");
  if (noProjection != "true" && noProjection != "false")
    reader.fail("transformer-no-projection", noProjection, "true, false");
  model.projection = noProjection == "false";

  model.preprocess = reader.letters("transformer-preprocess", "", "dn");
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
