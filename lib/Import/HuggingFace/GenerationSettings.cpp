//===- GenerationSettings.cpp - Settings of the governing file ------------===//
//
// In transformers a sequence begins with the start token, or with a prompt, and
// lengths count it; in the manifest the maximum counts generated tokens, the
// minimum counts as in transformers. A maximum that counts prompts has a key of
// its own.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/GenerationSettings.h"
#include "lib/Import/HuggingFace/HuggingFaceFields.h"
#include "mlir/IR/Builders.h"
#include "runtime/artifact/SearchSettings.h"
#include <cmath>

using namespace mlir;
using namespace llvm;

namespace heddle {

/// Reads the list of lists `bad_words_ids`.
static SmallVector<Attribute>
readBadWords(ConfigReader &config, int64_t vocabulary, Builder &builder) {
  SmallVector<Attribute> words;
  const json::Value *value = config.readNonNull("bad_words_ids");
  if (!value)
    return words;
  const json::Array *lists = value->getAsArray();
  auto toIds = [&](const json::Value &list) {
    SmallVector<int32_t> ids;
    const json::Array *elements = list.getAsArray();
    for (const json::Value &element : elements ? *elements : json::Array()) {
      std::optional<int64_t> id = element.getAsInteger();
      if (!id || *id < 0 || *id >= vocabulary)
        return SmallVector<int32_t>();
      ids.push_back(int32_t(*id));
    }
    return ids;
  };
  for (const json::Value &list : lists ? *lists : json::Array{nullptr}) {
    SmallVector<int32_t> ids = toIds(list);
    if (ids.empty())
      config.fail("bad_words_ids",
                  "lists of ids from 0 to " + Twine(vocabulary - 1));
    words.push_back(builder.getDenseI32ArrayAttr(ids));
  }
  return words;
}

/// A count of tokens. What is below 0 counts for nothing, as 0; nothing comes
/// near the most.
static int64_t readCount(ConfigReader &config, StringRef field) {
  const json::Value *value = config.readNonNull(field);
  if (!value)
    return 0;
  std::optional<double> number = ConfigReader::numberOf(*value);
  if (!number || *number != std::floor(*number)) {
    config.fail(field, "whole numbers");
    return 0;
  }
  return int64_t(std::clamp(*number, 0.0, double(kMostTokens)));
}

namespace {
/// How many tokens come at most, eos included, and how many there are then with
/// what stands before them; none if the file does not say.
struct LongestSequence {
  std::optional<int64_t> generated, whole;
};
} // namespace

static LongestSequence readMaxLength(ConfigReader &config) {
  int64_t newTokens = readCount(config, "max_new_tokens");
  int64_t length = readCount(config, "max_length");
  if (newTokens)
    return {newTokens, std::nullopt};
  if (!config.readNonNull("max_length"))
    return {};
  // The start token takes one of them.
  if (length < 2)
    config.fail("max_length", "2 and more");
  // transformers takes 20 for its default, which means 20 new tokens.
  if (length == 20)
    return {length, std::nullopt};
  return {std::nullopt, length};
}

/// Reads how few and how many tokens come, and how many positions they take.
static void readLengths(ConfigReader &config, const GeneratingNetwork &network,
                        NamedAttrList &settings, Builder &builder) {
  // min_new_tokens, be it 0, takes the place of min_length.
  bool countsNew = config.readNonNull("min_new_tokens");
  int64_t minNew = readCount(config, "min_new_tokens");
  int64_t minLength = readCount(config, "min_length");
  const Setting &setting =
      countsNew ? setting::minNewTokens : setting::minLength;
  int64_t least = countsNew ? minNew : minLength;
  // The runtime counts a start token, which stands in front of no prompt.
  int64_t start = network.continuesTexts && !countsNew ? 1 : 0;
  if (least)
    settings.set(setting.key, builder.getI32IntegerAttr(least + start));
  LongestSequence longest = readMaxLength(config);
  std::optional<int64_t> most = longest.generated;
  // transformers' tables of positions end there, also those of formulas.
  if (network.positions)
    settings.set(setting::maxTarget.key,
                 builder.getI32IntegerAttr(*network.positions));
  // The last token takes no position.
  if (longest.whole && !network.continuesTexts)
    most = *longest.whole - 1;
  else if (longest.whole &&
           (!network.positions || *longest.whole <= *network.positions))
    settings.set(setting::maxWhole.key,
                 builder.getI32IntegerAttr(*longest.whole));
  if (!most)
    return;
  settings.set(setting::maxLength.key, builder.getI32IntegerAttr(*most));
  // transformers warns, too, and ends at the maximum.
  if (least > *most + !countsNew)
    config.warn(setting.huggingFace,
                "though only " + Twine(*most) + " tokens can be generated");
}

namespace {
struct NumberRange {
  double min, max;
};

/// Reads what searches and samples go by: a field that is a number or a switch
/// as it stands, within the bounds of its setting. Defaults set nothing.
class SearchReader {
public:
  SearchReader(ConfigReader &config, NamedAttrList &settings, Builder &builder);

  SearchKind getKind() const { return kind; }
  void read(const Setting &setting, int64_t byDefault);
  void read(const Setting &setting, double byDefault);
  void read(const Setting &setting, bool byDefault);
  void read(const Setting &setting, EarlyStopping byDefault);
  /// Functions above and below read these: ids and limits.
  template <typename T> void read(const Setting &, const T &) {}

private:
  double readOfSamples(const Setting &setting, double byDefault,
                       NumberRange theirs, NumberRange ours);
  void setCount(const Setting &setting, int64_t count, int64_t byDefault);

  ConfigReader &config;
  NamedAttrList &settings;
  Builder &builder;
  SearchKind kind;
};
} // namespace

static bool isOfSamples(const Setting &setting) {
  return StringRef(setting.group) == kSamplesGroup;
}

static bool isSame(const Setting &left, const Setting &right) {
  return StringRef(left.key) == right.key;
}

SearchReader::SearchReader(ConfigReader &config, NamedAttrList &settings,
                           Builder &builder)
    : config(config), settings(settings), builder(builder),
      kind{config.integer("num_beams", 1, 1, kMostBeams),
           config.truth("do_sample", false)} {
  setCount(setting::beams, kind.beams, 1);
}

/// A number that only samples look at: if the file does not sample, one that
/// transformers would not sample with, outside of `theirs`, is no setting.
double SearchReader::readOfSamples(const Setting &setting, double byDefault,
                                   NumberRange theirs, NumberRange ours) {
  StringRef field = setting.huggingFace;
  const json::Value *value = config.readNonNull(field);
  std::optional<double> number =
      value ? ConfigReader::numberOf(*value) : std::nullopt;
  if (!kind.samples && number &&
      !(*number >= theirs.min && *number <= theirs.max)) {
    config.warn(field, "which sampling cannot use, so it is not set");
    return byDefault;
  }
  return config.number(field, byDefault, ours.min, ours.max);
}

void SearchReader::setCount(const Setting &setting, int64_t count,
                            int64_t byDefault) {
  if (count != byDefault)
    settings.set(setting.key, builder.getI32IntegerAttr(count));
}

void SearchReader::read(const Setting &setting, int64_t byDefault) {
  for (const Setting &other :
       {setting::beams, setting::minLength, setting::minNewTokens})
    if (isSame(setting, other))
      return;
  if (!isOfSamples(setting))
    return setCount(setting, readCount(config, setting.huggingFace), byDefault);
  NumberRange any{0, std::numeric_limits<double>::max()};
  double count = readOfSamples(setting, byDefault, any, any);
  if (count != std::floor(count))
    config.fail(setting.huggingFace, "whole numbers");
  setCount(setting, int64_t(std::min(count, setting.high)), byDefault);
}

void SearchReader::read(const Setting &setting, double byDefault) {
  constexpr double most = std::numeric_limits<double>::max();
  NumberRange ours{setting.low, setting.high}, theirs = ours;
  if (isSame(setting, setting::temperature))
    theirs = {std::numeric_limits<double>::denorm_min(), most};
  // What is above 1 leaves no token out.
  if (isSame(setting, setting::topP))
    ours = theirs = {0, most};
  double number =
      isOfSamples(setting)
          ? readOfSamples(setting, byDefault, theirs, ours)
          : config.number(setting.huggingFace, byDefault, ours.min, ours.max);
  number = std::min(number, setting.high);
  if (number != byDefault)
    settings.set(setting.key, builder.getF64FloatAttr(number));
}

void SearchReader::read(const Setting &setting, bool byDefault) {
  setCount(setting, config.truth(setting.huggingFace, byDefault), byDefault);
}

void SearchReader::read(const Setting &setting, EarlyStopping) {
  const json::Value *early = config.readNonNull(setting.huggingFace);
  if (early && *early == json::Value("never"))
    settings.set(setting.key, builder.getStringAttr("never"));
  else if (early && early->getAsBoolean() == true) // Not 1: `is True`.
    settings.set(setting.key, builder.getStringAttr("true"));
}

static void readSearch(ConfigReader &config, NamedAttrList &settings,
                       Builder &builder) {
  SearchReader reader(config, settings, builder);
#define SETTING(KIND, FIELD, DEFAULT, ROW)                                     \
  if (setting_type::KIND byDefault = DEFAULT; setting::FIELD.huggingFace)      \
    reader.read(setting::FIELD, byDefault);
#define MODEL_SETTING SETTING
#include "runtime/artifact/SearchSettings.def"
  if (reader.getKind().samples)
    config.warn("do_sample", "which heddle-run does if --sample is given");
  if (config.integer("num_return_sequences", 1, 1, kMostTokens) > 1)
    config.warn("num_return_sequences",
                "which heddle-run prints if --n-best is given");
  refuseUnsupportedSettings(config, reader.getKind());
}

/// Reads what a sequence begins with: a token, if that is no prompt.
static void readStart(ConfigReader &config, const DefaultIds &defaults,
                      const GeneratingNetwork &network, NamedAttrList &settings,
                      Builder &builder) {
  // The manifest wants a start that is an id of either side.
  int64_t starts = std::min(network.sourceVocabulary, network.vocabulary);
  config.read("bos_token_id");
  config.read("decoder_start_token_id");
  if (network.continuesTexts)
    return;
  std::optional<int64_t> start =
      config.id("decoder_start_token_id", defaults.start, starts);
  if (!start)
    start = config.id("bos_token_id", defaults.bos, starts);
  if (!start || *start >= starts)
    config.fail("decoder_start_token_id", "ids from 0 to " + Twine(starts - 1));
  else
    settings.set(setting::start.key, builder.getI32IntegerAttr(*start));
}

/// Reads the ids that end a sequence, and pads it.
static void readEnds(ConfigReader &config, const DefaultIds &defaults,
                     const GeneratingNetwork &network, NamedAttrList &settings,
                     Builder &builder) {
  int64_t vocabulary = network.vocabulary;
  std::vector<int32_t> eos = config.knownIds("eos_token_id", vocabulary);
  if (!config.read("eos_token_id") && defaults.eos &&
      *defaults.eos < vocabulary)
    eos = {int32_t(*defaults.eos)};
  if (eos.empty())
    config.warn("eos_token_id", "so that only a limit ends a sequence");
  settings.set(setting::eos.key, builder.getDenseI32ArrayAttr(eos));
  // Its name until transformers 2.2.
  const json::Value *old = config.readNonNull("eos_token_ids");
  const json::Array *list = old ? old->getAsArray() : nullptr;
  if (list && any_of(*list, [&](const json::Value &id) {
        return !is_contained(eos, id.getAsInteger().value_or(-1));
      }))
    config.warn("eos_token_ids", "which transformers 4.57.6 does not read: "
                                 "'eos_token_id' ends a sequence");

  // Nothing but the rows of lines that have ended holds it.
  std::vector<int32_t> pads =
      config.knownIds("pad_token_id", network.sourceVocabulary);
  if (!config.read("pad_token_id") && defaults.pad)
    pads = {int32_t(*defaults.pad)};
  if (!pads.empty() && pads.front() >= network.sourceVocabulary)
    config.fail("pad_token_id",
                "ids from 0 to " + Twine(network.sourceVocabulary - 1));
  if (pads.empty() && !eos.empty())
    pads = {eos.front()};
  if (!pads.empty())
    settings.set(setting::pad.key, builder.getI32IntegerAttr(pads.front()));
}

DictionaryAttr readSettings(ConfigReader &config, const DefaultIds &defaults,
                            bool forcesBos, const GeneratingNetwork &network,
                            Builder &builder) {
  int64_t vocabulary = network.vocabulary;
  NamedAttrList settings;
  auto setInteger = [&](const Setting &setting, std::optional<int64_t> value) {
    if (value)
      settings.set(setting.key, builder.getI32IntegerAttr(*value));
  };
  readStart(config, defaults, network, settings, builder);
  readEnds(config, defaults, network, settings, builder);

  for (const Setting &list : {setting::suppress, setting::beginSuppress})
    if (auto ids = config.knownIds(list.huggingFace, vocabulary); !ids.empty())
      settings.set(list.key, builder.getDenseI32ArrayAttr(ids));
  SmallVector<Attribute> words = readBadWords(config, vocabulary, builder);
  if (!words.empty())
    settings.set(setting::badWords.key, builder.getArrayAttr(words));

  // It comes behind a single token, which few prompts are.
  if (network.continuesTexts)
    config.require("forced_bos_token_id", {});
  std::optional<int64_t> forcedBos =
      config.id("forced_bos_token_id", std::nullopt, vocabulary);
  if (forcesBos)
    forcedBos = config.id("bos_token_id", defaults.bos, vocabulary);
  else if (!forcedBos && config.truth("force_bos_token_to_be_generated", false))
    config.warn(
        "force_bos_token_to_be_generated",
        "which transformers 4.57.6 reads in a BART's config.json alone: "
        "expected 'forced_bos_token_id'");
  setInteger(setting::forcedBos, forcedBos);
  // Of several forced ids all have the logit 0 and the first wins.
  std::vector<int32_t> forcedEos =
      config.ids("forced_eos_token_id", vocabulary);
  if (!config.read("forced_eos_token_id") && defaults.forcedEos)
    forcedEos = {int32_t(*defaults.forcedEos)};
  if (!forcedEos.empty() && forcedEos.front() >= vocabulary)
    config.fail("forced_eos_token_id",
                "ids from 0 to " + Twine(vocabulary - 1));
  if (!forcedEos.empty())
    setInteger(setting::forcedEos, *llvm::min_element(forcedEos));

  readLengths(config, network, settings, builder);
  readSearch(config, settings, builder);
  return settings.getDictionary(builder.getContext());
}

} // namespace heddle
