//===- HuggingFaceGeneration.cpp - How a model generates ------------------===//
//
// In transformers a sequence begins with the start token and lengths count it;
// in the manifest the maximum counts generated tokens, the minimum counts as in
// transformers.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFaceGeneration.h"
#include "lib/Weights/Error.h"
#include "mlir/IR/Builders.h"
#include "runtime/ArtifactFormat.h"

using namespace mlir;
using namespace llvm;

namespace heddle {

/// Fields of the output's form and of the library; and of sampling, which is
/// only done on request.
static constexpr StringLiteral kIrrelevantFields[] = {
    "_from_model_config",
    "assistant_confidence_threshold",
    "assistant_early_exit",
    "assistant_lookbehind",
    "cache_config",
    "cache_implementation",
    "compile_config",
    "disable_compile",
    "do_sample",
    "is_assistant",
    "low_memory",
    "max_matching_ngram_size",
    "num_assistant_tokens",
    "num_assistant_tokens_schedule",
    "num_return_sequences",
    "output_attentions",
    "output_hidden_states",
    "output_logits",
    "output_scores",
    "return_dict_in_generate",
    "return_legacy_cache",
    "target_lookbehind",
    "transformers_version",
    "use_cache",
};

/// Fields that are honoured.
static constexpr StringLiteral kHonouredFields[] = {
    "bad_words_ids",
    "begin_suppress_tokens",
    "bos_token_id",
    "decoder_start_token_id",
    "early_stopping",
    "eos_token_id",
    "force_bos_token_to_be_generated",
    "forced_bos_token_id",
    "forced_eos_token_id",
    "length_penalty",
    "max_length",
    "max_new_tokens",
    "min_length",
    "min_new_tokens",
    "min_p",
    "no_repeat_ngram_size",
    "num_beams",
    "pad_token_id",
    "renormalize_logits",
    "repetition_penalty",
    "suppress_tokens",
    "temperature",
    "top_k",
    "top_p",
};

namespace {
/// A field that changes what is generated unless it is absent or has this
/// value.
struct SwitchedOffField {
  StringLiteral name;
  std::optional<json::Value> off = std::nullopt;
};
} // namespace

static ArrayRef<SwitchedOffField> getSwitchedOffFields() {
  static const SwitchedOffField fields[] = {
      {"constraints"},
      {"diversity_penalty", 0},
      {"dola_layers"},
      {"encoder_no_repeat_ngram_size", 0},
      {"encoder_repetition_penalty", 1},
      {"epsilon_cutoff", 0},
      {"eta_cutoff", 0},
      {"exponential_decay_length_penalty"},
      {"force_words_ids"},
      {"forced_decoder_ids"},
      {"guidance_scale", 1},
      {"max_time"},
      {"num_beam_groups", 1},
      {"penalty_alpha", 0},
      {"prompt_lookup_num_tokens"},
      {"remove_invalid_values", false},
      {"sequence_bias"},
      {"stop_strings"},
      {"token_healing", false},
      {"top_h"},
      {"typical_p", 1},
      {"watermarking_config"}};
  return fields;
}

/// Whether config.json sets generation itself: a field of
/// PretrainedConfig._get_generation_defaults that differs from its default.
static bool setsGeneration(ConfigReader &config,
                           std::optional<int64_t> defaultForcedEos) {
  const std::pair<StringRef, json::Value> defaults[] = {
      {"max_length", 20},
      {"min_length", 0},
      {"do_sample", false},
      {"early_stopping", false},
      {"num_beams", 1},
      {"temperature", 1},
      {"top_k", 50},
      {"top_p", 1},
      {"typical_p", 1},
      {"repetition_penalty", 1},
      {"length_penalty", 1},
      {"no_repeat_ngram_size", 0},
      {"encoder_no_repeat_ngram_size", 0},
      {"bad_words_ids", nullptr},
      {"num_return_sequences", 1},
      {"output_scores", false},
      {"return_dict_in_generate", false},
      {"forced_bos_token_id", nullptr},
      {"forced_eos_token_id", defaultForcedEos ? json::Value(*defaultForcedEos)
                                               : json::Value(nullptr)},
      {"remove_invalid_values", false},
      {"exponential_decay_length_penalty", nullptr},
      {"suppress_tokens", nullptr},
      {"begin_suppress_tokens", nullptr}};
  return any_of(defaults, [&](const auto &field) {
    const json::Value *value = config.read(field.first);
    return value && *value != field.second;
  });
}

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

/// The longest generation, eos included; none where the file does not say.
static std::optional<int64_t> readMaxLength(ConfigReader &config) {
  constexpr int64_t limit = 1 << 30;
  int64_t newTokens = config.integer("max_new_tokens", 0, 0, limit);
  int64_t length = config.integer("max_length", 0, 0, limit);
  if (newTokens)
    return newTokens;
  if (!length)
    return std::nullopt;
  // transformers takes 20 for its default, which means 20 new tokens; any other
  // number counts the start token.
  if (length == 1)
    config.fail("max_length", "2 and more");
  return length == 20 ? 20 : length - 1;
}

/// Reads what searches and samples go by.
static void readSearch(ConfigReader &config, NamedAttrList &settings,
                       Builder &builder) {
  constexpr int64_t limit = 1 << 30;
  constexpr double most = std::numeric_limits<float>::max();
  auto setCount = [&](StringRef key, int64_t count, int64_t byDefault) {
    if (count != byDefault)
      settings.set(key, builder.getI32IntegerAttr(count));
  };
  auto setNumber = [&](StringRef key, double number, double byDefault) {
    if (number != byDefault)
      settings.set(key, builder.getF64FloatAttr(number));
  };
  setCount("beams", config.integer("num_beams", 1, 1, kMostBeams), 1);
  setNumber("length_penalty", config.number("length_penalty", 1, -most, most),
            1);
  const json::Value *early = config.readNonNull("early_stopping");
  if (early && *early == json::Value("never"))
    settings.set("early_stopping", builder.getStringAttr("never"));
  else if (early && *early == json::Value(true))
    settings.set("early_stopping", builder.getStringAttr("true"));
  else if (early && *early != json::Value(false))
    config.fail("early_stopping", "true, false or \"never\"");
  setCount("no_repeat_ngram",
           config.integer("no_repeat_ngram_size", 0, 0, limit), 0);
  setNumber("repetition_penalty", config.positive("repetition_penalty", 1), 1);
  setCount("renormalize", config.boolean("renormalize_logits", false), 0);
  setNumber("temperature", config.positive("temperature", 1), 1);
  setCount("top_k", config.integer("top_k", 0, 0, limit), 0);
  setNumber("top_p", config.number("top_p", 1, 0, 1), 1);
  setNumber("min_p", config.number("min_p", 0, 0, 1), 0);
}

/// Reads the governing file.
static DictionaryAttr readSettings(ConfigReader &config,
                                   const DefaultIds &defaults,
                                   const HuggingFaceConfig &model,
                                   Builder &builder) {
  int64_t vocabulary = model.decoderVocabulary;
  NamedAttrList settings;
  auto setId = [&](StringRef key, std::optional<int64_t> id) {
    if (id)
      settings.set(key, builder.getI32IntegerAttr(*id));
  };
  auto setIds = [&](StringRef key, ArrayRef<int32_t> ids) {
    if (!ids.empty())
      settings.set(key, builder.getDenseI32ArrayAttr(ids));
  };

  std::optional<int64_t> bos =
      config.id("bos_token_id", defaults.bos, model.vocabulary);
  std::optional<int64_t> start =
      config.id("decoder_start_token_id", defaults.start, model.vocabulary);
  if (!start)
    start = bos;
  if (!start || *start >= model.vocabulary)
    config.fail("decoder_start_token_id",
                "ids from 0 to " + Twine(model.vocabulary - 1));
  setId("start", start);

  std::vector<int32_t> eos = config.ids("eos_token_id", vocabulary);
  if (!config.read("eos_token_id") && defaults.eos)
    eos = {int32_t(*defaults.eos)};
  if (eos.empty())
    config.fail("eos_token_id", "ids, since nothing else ends a sequence");
  settings.set("eos", builder.getDenseI32ArrayAttr(eos));

  std::optional<int64_t> pad =
      config.id("pad_token_id", defaults.pad, model.vocabulary);
  if (!pad && !eos.empty())
    pad = eos.front();
  setId("pad", pad);

  setIds("suppress", config.ids("suppress_tokens", vocabulary));
  setIds("begin_suppress", config.ids("begin_suppress_tokens", vocabulary));
  SmallVector<Attribute> words = readBadWords(config, vocabulary, builder);
  if (!words.empty())
    settings.set("bad_words", builder.getArrayAttr(words));

  std::optional<int64_t> forcedBos =
      config.id("forced_bos_token_id", std::nullopt, vocabulary);
  if (config.boolean("force_bos_token_to_be_generated", false) && !forcedBos)
    forcedBos = bos;
  setId("forced_bos", forcedBos);
  // Of several forced ids all have the logit 0 and the first wins.
  std::vector<int32_t> forcedEos =
      config.ids("forced_eos_token_id", vocabulary);
  if (!config.read("forced_eos_token_id") && defaults.forcedEos)
    forcedEos = {int32_t(*defaults.forcedEos)};
  if (!forcedEos.empty())
    setId("forced_eos", *llvm::min_element(forcedEos));

  // min_new_tokens, be it 0, takes the place of min_length.
  bool countsNew = config.readNonNull("min_new_tokens");
  int64_t minNew = config.integer("min_new_tokens", 0, 0, 1 << 30);
  int64_t minLength = config.integer("min_length", 0, 0, 1 << 30);
  StringRef leastKey = countsNew ? "min_new_tokens" : "min_length";
  int64_t least = countsNew ? minNew : minLength;
  if (least)
    setId(leastKey, least);
  std::optional<int64_t> most = readMaxLength(config);
  if (most && least > *most + !countsNew)
    config.fail(leastKey, "at most " + Twine(*most + !countsNew) +
                              ", since no more tokens may come");
  setId("max_length", most);
  readSearch(config, settings, builder);
  // transformers' tables of positions end there, also those of formulas.
  setId("max_source", model.encoder.maxPositions);
  setId("max_target", model.decoder.maxPositions);

  for (const SwitchedOffField &field : getSwitchedOffFields())
    config.require(field.name,
                   field.off ? ArrayRef(*field.off) : ArrayRef<json::Value>());
  config.ignore(kIrrelevantFields);
  return settings.getDictionary(builder.getContext());
}

Expected<DictionaryAttr> readGeneration(ConfigReader &config,
                                        ConfigReader *generation,
                                        const HuggingFaceConfig &model,
                                        MLIRContext &context) {
  const DefaultIds &classDefaults = model.architecture->ids;
  Builder builder(&context);
  if (!generation || (generation->boolean("_from_model_config", false) &&
                      setsGeneration(config, classDefaults.forcedEos))) {
    DictionaryAttr settings =
        readSettings(config, classDefaults, model, builder);
    config.refuseUnread();
    if (Error error = config.takeError())
      return std::move(error);
    return settings;
  }
  config.ignore(kHonouredFields);
  config.ignore(kIrrelevantFields);
  for (const SwitchedOffField &field : getSwitchedOffFields())
    config.read(field.name);
  config.refuseUnread();
  if (Error error = config.takeError())
    return std::move(error);
  DictionaryAttr settings =
      readSettings(*generation, DefaultIds(), model, builder);
  generation->refuseUnread();
  if (Error error = generation->takeError())
    return std::move(error);
  return settings;
}

} // namespace heddle
