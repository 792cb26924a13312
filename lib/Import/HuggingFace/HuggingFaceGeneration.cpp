//===- HuggingFaceGeneration.cpp - How a model generates ------------------===//
//
// Which of the two files governs, and what it takes from the other.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/HuggingFaceGeneration.h"
#include "lib/Import/HuggingFace/GenerationSettings.h"
#include "lib/Import/HuggingFace/HuggingFaceFields.h"
#include "lib/Support/Error.h"
#include "mlir/IR/Builders.h"
#include "runtime/artifact/SearchSettings.h"

using namespace mlir;
using namespace llvm;

namespace heddle {

/// The fields that are honoured, or warned of: those of settings, and those
/// that change what these mean.
static std::vector<StringRef> listHonouredFields() {
  std::vector<StringRef> fields = {
      "bos_token_id", "force_bos_token_to_be_generated", "max_new_tokens"};
  for (const Setting &setting : kSearchSettings)
    if (setting.huggingFace)
      fields.push_back(setting.huggingFace);
  return fields;
}

/// Python's `==` of scalars: true is 1, and false is 0.
static bool isEqual(const json::Value &left, const json::Value &right) {
  std::optional<double> number = ConfigReader::numberOf(left);
  return left == right || (number && number == ConfigReader::numberOf(right));
}

/// What forces the first token in a config.json that has no
/// forced_bos_token_id: BartConfig turns the old name into it.
static bool forcesBos(ConfigReader &config, const GeneratingNetwork &network) {
  return network.readsForceBos && !config.readNonNull("forced_bos_token_id") &&
         config.truth("force_bos_token_to_be_generated", false);
}

namespace {
struct DefaultSetting {
  StringRef field;
  json::Value value;
};
} // namespace

/// The settings that config.json may govern with, and PretrainedConfig's
/// defaults of them: those of rows, and those that Heddle lacks.
static ArrayRef<DefaultSetting> getDefaults() {
  static const std::vector<DefaultSetting> defaults = [] {
    std::vector<DefaultSetting> all = {
        {"typical_p", 1},
        {"encoder_no_repeat_ngram_size", 0},
        {"output_scores", false},
        {"return_dict_in_generate", false},
        {"remove_invalid_values", false},
        {"exponential_decay_length_penalty", nullptr},
        {"num_beam_groups", 1},
        {"diversity_penalty", 0}};
    for (const Setting &setting : kSearchSettings)
      if (setting.configDefault)
        all.push_back({setting.huggingFace,
                       cantFail(json::parse(setting.configDefault))});
    return all;
  }();
  return defaults;
}

/// Whether config.json sets generation itself.
static bool setsGeneration(ConfigReader &config,
                           const GeneratingNetwork &network) {
  const DefaultIds &ids = network.ids;
  auto defaultOf = [&](const DefaultSetting &setting) -> json::Value {
    if (setting.field == "forced_eos_token_id" && ids.forcedEos)
      return *ids.forcedEos;
    const auto *own = find_if(network.settings, [&](const DefaultField &each) {
      return each.field == setting.field;
    });
    return own == network.settings.end() ? setting.value : own->value;
  };
  bool hasSetting = any_of(getDefaults(), [&](const DefaultSetting &setting) {
    const json::Value *value = config.readNonNull(setting.field);
    return value && !isEqual(*value, defaultOf(setting));
  });
  return hasSetting ||
         (forcesBos(config, network) &&
          config.id("bos_token_id", ids.bos, network.sourceVocabulary));
}

/// Gives settings that are unset in config.json the values of fields of the
/// same names behind `decoder_`: from_model_config takes these for the settings
/// of the decoder of a composite model.
static void takeDecoderSettings(ConfigReader &config, const DefaultIds &ids) {
  const std::pair<StringRef, bool> classDefaults[] = {
      {"bos_token_id", ids.bos.has_value()},
      {"decoder_start_token_id", ids.start.has_value()},
      {"eos_token_id", ids.eos.has_value()},
      {"forced_eos_token_id", ids.forcedEos.has_value()},
      {"pad_token_id", ids.pad.has_value()}};
  auto isSet = [&](StringRef field) {
    const json::Value *value = config.read(field);
    if (!value)
      return is_contained(classDefaults, std::pair(field, true));
    const auto *known = find_if(getDefaults(), [&](const auto &setting) {
      return setting.field == field;
    });
    bool isOff = known == getDefaults().end() ? *value == json::Value(false)
                                              : isEqual(*value, known->value);
    return !value->getAsNull() && !isOff;
  };
  std::vector<StringRef> settings = listUnsupportedSettings();
  llvm::append_range(settings, listHonouredFields());
  for (StringRef field : settings) {
    std::string ofDecoder = ("decoder_" + field).str();
    if (config.readNonNull(ofDecoder) && !isSet(field))
      config.substitute(field, ofDecoder);
  }
}

/// Whether config.json leaves its nulls to the file that was derived from it.
/// transformers means that, but fails if one of these is null in a
/// config.json that governs; other nulls there are the library's defaults.
static bool leavesNulls(ConfigReader &config) {
  auto isNull = [&](const Twine &field) {
    const json::Value *value = config.read(field.str());
    return value && value->getAsNull();
  };
  return any_of(
      ArrayRef{setting::earlyStopping, setting::maxLength, setting::beams},
      [&](const Setting &setting) {
        StringRef field = setting.huggingFace;
        return isNull(field) || isNull("decoder_" + field);
      });
}

/// GenerationConfig.validate, which from_pretrained runs on both files, whether
/// they govern or not.
static void checkAsLoaded(ConfigReader &file) {
  const json::Value *early = file.readNonNull("early_stopping");
  if (early && !isEqual(*early, false) && !isEqual(*early, true) &&
      *early != json::Value("never"))
    file.fail("early_stopping", "true, false or \"never\"");
  const json::Value *tokens = file.readNonNull("max_new_tokens");
  if (tokens && !(ConfigReader::numberOf(*tokens).value_or(0) >= 1))
    file.fail("max_new_tokens", "1 and more");
}

Expected<DictionaryAttr> readGeneration(ConfigReader &config,
                                        ConfigReader *generation,
                                        const GeneratingNetwork &network,
                                        MLIRContext &context) {
  Builder builder(&context);
  bool configGoverns =
      !generation || (generation->truth("_from_model_config", false) &&
                      setsGeneration(config, network));
  for (ConfigReader *file : {&config, generation})
    if (file)
      checkAsLoaded(*file);
  for (const DefaultField &setting : network.settings)
    config.setDefault(setting.field, setting.value);
  if (generation && !generation->truth("_from_model_config", false))
    refuseArguments(*generation);
  if (generation && configGoverns && leavesNulls(config))
    config.fillNulls(*generation);
  if (configGoverns)
    takeDecoderSettings(config, network.ids);
  DictionaryAttr settings =
      configGoverns ? readSettings(config, network.ids,
                                   forcesBos(config, network), network, builder)
                    : readSettings(*generation, DefaultIds(),
                                   /*forcesBos=*/false, network, builder);
  for (ConfigReader *file : {&config, generation}) {
    if (!file)
      continue;
    file->ignore(listHonouredFields());
    ignoreKnownFields(*file);
    if (Error error = file->takeError())
      return std::move(error);
  }
  return settings;
}

Expected<DictionaryAttr> readGeneration(ConfigReader &config,
                                        ConfigReader *generation,
                                        const HuggingFaceConfig &model,
                                        MLIRContext &context) {
  const HuggingFaceArchitecture &architecture = *model.architecture;
  GeneratingNetwork network{architecture.ids, architecture.readsForceBos,
                            model.vocabulary, model.decoderVocabulary,
                            model.decoder.maxPositions};
  network.settings = architecture.settings;
  return readGeneration(config, generation, network, context);
}

} // namespace heddle
