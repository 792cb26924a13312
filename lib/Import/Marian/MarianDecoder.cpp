//===- MarianDecoder.cpp - What a folder says to Marian's decoder ---------===//
//
// Every option that marian-decoder has (src/common/config_parser.cpp of
// marian-nmt and of browsermt, General, Model and Translator options) and every
// one that bergamot-translator adds (src/translator/parser.cpp) stands in one
// of these tables. What neither knows is refused, as marian-decoder does.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Marian/MarianDecoder.h"
#include "lib/Import/Marian/MarianOptionReader.h"
#include "lib/Support/Error.h"
#include "runtime/artifact/SearchSettings.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace heddle {

namespace {
/// An option with a value that changes no translation; others do.
struct FixedOption {
  StringLiteral name, supported;
  /// What does the same here; empty if nothing does.
  StringLiteral instead;
};

/// An option that leaves translations alone and yet is missed.
struct MissedOption {
  StringLiteral name;
  /// The value with which nobody misses anything.
  StringLiteral nothing;
  StringLiteral missed;
};
} // namespace

/// What MarianDecoder holds, and the files.
static constexpr StringLiteral kReadOptions[] = {
    "allow-special",   "allow-unk",         "beam-size",    "max-length",
    "max-length-crop", "max-length-factor", "models",       "normalize",
    "shortlist",       "skip-cost",         "word-penalty", "vocabs",
    "weights"};

static constexpr FixedOption kFixedOptions[] = {
    {"clip-gemm", "0", ""},
    {"encryption-key-path", "", ""},
    {"force-decode", "false", "heddle-run --prefix FILE"},
    {"ignore-model-config", "false", ""},
    {"n-best", "false", "heddle-run --n-best N"},
    {"no-spm-decode", "false", "heddle-run --ids"},
    {"no-spm-encode", "false", "heddle-run --ids"},
    {"output-approx-knn", "[]", ""},
    {"output-sampling", "false", "heddle-run --sample"},
    {"tsv", "false", ""},
    {"word-scores", "false", "heddle-run --n-best N --token-scores"},
};

static constexpr MissedOption kMissedOptions[] = {
    {"alignment", "", "heddle-run --alignments prints them"},
    {"max-length-break", "0", "longer lines are not broken into parts"},
    {"quality", "", "the quality of a translation is not estimated"},
    {"ssplit-mode", "sentence",
     "a line is a sentence unless heddle-run has --split"},
    {"ssplit-prefix-file", "",
     "--split of heddle-run has no list of abbreviations"},
};

/// The file of the model has its own, which win there, too.
static constexpr StringLiteral kModelOptions[] = {
    "alibi",
    "bert-class-symbol",
    "bert-mask-symbol",
    "bert-masking-fraction",
    "bert-sep-symbol",
    "bert-train-type-embeddings",
    "bert-type-vocab-size",
    "best-deep",
    "char-conv-filters-num",
    "char-conv-filters-widths",
    "char-highway",
    "char-stride",
    "comet-augment-bad",
    "comet-dropout",
    "comet-final-sigmoid",
    "comet-mix",
    "comet-mix-norm",
    "comet-mix-transformation",
    "comet-mixup",
    "comet-mixup-reg",
    "comet-pool",
    "comet-pooler-ffn",
    "comet-prepend-zero",
    "comet-stop-grad",
    "comet-use-separator",
    "dec-cell",
    "dec-cell-base-depth",
    "dec-cell-high-depth",
    "dec-depth",
    "dim-emb",
    "dim-rnn",
    "dim-vocabs",
    "enc-cell",
    "enc-cell-depth",
    "enc-depth",
    "enc-type",
    "factors-combine",
    "factors-dim-emb",
    "input-join-fields",
    "input-reorder",
    "input-types",
    "layer-normalization",
    "lemma-dependency",
    "lemma-dim-emb",
    "output-omit-bias",
    "right-left",
    "separator-symbol",
    "skip",
    "tied-embeddings",
    "tied-embeddings-all",
    "tied-embeddings-src",
    "transformer-aan-activation",
    "transformer-aan-depth",
    "transformer-aan-nogate",
    "transformer-alibi-shift",
    "transformer-alibi-trainable",
    "transformer-attention-mask",
    "transformer-decoder-autoreg",
    "transformer-decoder-dim-ffn",
    "transformer-decoder-ffn-depth",
    "transformer-depth-scaling",
    "transformer-dim-aan",
    "transformer-dim-ffn",
    "transformer-disable-position-embeddings",
    "transformer-ffn-activation",
    "transformer-ffn-depth",
    "transformer-guided-alignment-layer",
    "transformer-heads",
    "transformer-no-affine",
    "transformer-no-bias",
    "transformer-no-projection",
    "transformer-pool",
    "transformer-postprocess",
    "transformer-postprocess-emb",
    "transformer-postprocess-top",
    "transformer-preprocess",
    "transformer-rnn-projection",
    "transformer-tied-layers",
    "transformer-train-position-embeddings",
    "type",
};

/// In which type matrices are multiplied: `heddle-compile --dtype` says that,
/// or else the weights do.
static constexpr StringLiteral kArithmeticOptions[] = {
    "fp16",           "gemm-precision",      "gemm-type", "int16",
    "int8",           "int8Alpha",           "int8shift", "int8shiftAll",
    "int8shiftAlpha", "int8shiftAlphaAll",   "optimize",  "precision",
    "quantize-range", "use-legacy-batching",
};

/// How fast it is, and on what.
static constexpr StringLiteral kMachineOptions[] = {
    "cpu-threads",     "data-threads", "devices",          "maxi-batch",
    "maxi-batch-sort", "mini-batch",   "mini-batch-words", "model-mmap",
    "num-devices",     "workspace",
};

/// What a program reports, and where it reads and writes.
static constexpr StringLiteral kProgramOptions[] = {
    "authors",
    "build-info",
    "check-nan",
    "cite",
    "config",
    "dump-config",
    "dump-quantmult",
    "input",
    "interpolate-env-vars",
    "log",
    "log-level",
    "log-time-zone",
    "output",
    "port",
    "quiet",
    "quiet-translation",
    "relative-paths",
    "stat-freq",
    "version",
};

/// What draws samples and reads fields alone need, both of which is refused.
static constexpr StringLiteral kUnusedOptions[] = {"seed", "tsv-fields"};

/// In bergamot-translator's configurations that programs wrote for themselves.
static constexpr StringLiteral kCallerOptions[] = {"check-bytearray",
                                                   "num-threads"};

/// Whether a value is what an option has without it.
static bool isValue(const YamlValue &value, StringRef expected) {
  std::string text = value.format();
  double number, other;
  if (text == expected || text.empty() || text == "[]")
    return true;
  if (parseYamlBoolean(expected))
    return parseYamlBoolean(text) == parseYamlBoolean(expected);
  return to_float(text, number) && to_float(expected, other) && number == other;
}

/// Whether nothing is to be said of an option here.
static bool isSilent(StringRef name) {
  return is_contained(kReadOptions, name) ||
         is_contained(kModelOptions, name) ||
         is_contained(kArithmeticOptions, name) ||
         is_contained(kMachineOptions, name) ||
         is_contained(kProgramOptions, name) ||
         is_contained(kUnusedOptions, name) ||
         is_contained(kCallerOptions, name);
}

/// The options that mean something here.
static SmallVector<StringRef> listKnown() {
  SmallVector<StringRef> names;
  for (ArrayRef<StringLiteral> options :
       {ArrayRef(kReadOptions), ArrayRef(kModelOptions)})
    append_range(names, options);
  for (const FixedOption &option : kFixedOptions)
    names.push_back(option.name);
  for (const MissedOption &option : kMissedOptions)
    names.push_back(option.name);
  return names;
}

/// Refuses or warns of what is not read.
static Error checkOthers(const YamlMapping &options, StringRef path,
                         MarianOptionReader &reader,
                         std::vector<std::string> &warnings) {
  for (const auto &[key, value] : options) {
    StringRef name = key;
    if (isSilent(name))
      continue;
    if (auto fixed =
            find_if(kFixedOptions,
                    [&](const FixedOption &o) { return o.name == name; });
        fixed != std::end(kFixedOptions)) {
      std::string instead =
          fixed->instead.empty() ? "" : ("; " + fixed->instead).str();
      if (!isValue(value, fixed->supported))
        reader.fail(name, value.format(), fixed->supported + instead);
      continue;
    }
    auto missed = find_if(
        kMissedOptions, [&](const MissedOption &o) { return o.name == name; });
    if (missed == std::end(kMissedOptions))
      return reader.refuseUnknown(name, value, listKnown());
    if (!isValue(value, missed->nothing))
      warnings.push_back(("'" + path + "' has the option '" + name +
                          "' with the value '" + value.format() +
                          "', which has no effect: " + missed->missed)
                             .str());
  }
  return Error::success();
}

/// What is added up over models has no effect on one, unless it turns the order
/// of hypotheses around; without costs, log-probabilities are no such.
static void checkScores(const YamlMapping &options,
                        const MarianDecoder &decoder,
                        MarianOptionReader &reader) {
  if (auto weights = options.find("weights"); weights != options.end())
    if (!isValue({false, {join(weights->second.values, " ")}}, "1"))
      reader.fail("weights", weights->second.format(), "1, of one model");
  if (reader.boolean("skip-cost") && decoder.beams > 1)
    reader.fail("skip-cost", "true",
                "false with beam-size " + Twine(decoder.beams));
}

Expected<MarianDecoder> readMarianDecoder(const YamlMapping &options,
                                          StringRef path) {
  MarianOptionReader reader(options, path);
  MarianDecoder decoder;
  decoder.beams = reader.integer("beam-size", 12, 1, kMostBeams);
  decoder.lengthPenalty = reader.number("normalize", 0);
  decoder.wordPenalty = reader.number("word-penalty", 0);
  decoder.maxLengthFactor = reader.number("max-length-factor", 3);
  if (decoder.maxLengthFactor <= 0)
    reader.fail("max-length-factor", reader.text("max-length-factor", ""),
                "a positive number");
  decoder.maxSourceLength = reader.integer("max-length", 1000, 1, kMostTokens);
  decoder.cropsSources = reader.boolean("max-length-crop");
  decoder.allowsUnknown = reader.boolean("allow-unk");
  decoder.allowsSpecial = reader.boolean("allow-special");
  checkScores(options, decoder, reader);
  if (Error error = checkOthers(options, path, reader, decoder.warnings))
    return std::move(error);
  if (Error error = reader.takeError())
    return std::move(error);
  return decoder;
}

} // namespace heddle
