//===- SearchSettingTests.cpp - One row, the same bounds everywhere -------===//
//
// Walks SearchSettings.def. At both ends of a row's bounds, and one step beyond
// them, the compiler (a module's attribute), the runtime (a manifest), callers
// (SearchOptions, heddle.h and flags) and importers (a field of Hugging Face's
// files) say the same of a value.
//
//===----------------------------------------------------------------------===//

#include "FileBuilders.h"
#include "dialect/Transformer.h"
#include "lib/Artifact/Manifest.h"
#include "lib/Import/HuggingFace/HuggingFaceGeneration.h"
#include "mlir/Parser/Parser.h"
#include "runtime/heddle.h"
#include "runtime/search/SearchOptions.h"
#include "llvm/Support/Format.h"
#include <cmath>
#include <gtest/gtest.h>
#include <set>

using namespace heddle;
using namespace heddle::test;

namespace {

constexpr int64_t kVocabulary = 8;

/// A value beside bounds or on them, and whether it lies within.
struct Probe {
  double value;
  bool isWithin;
};

bool isInteger(const Setting &setting) {
  return setting.kind != SettingKind::Number;
}

/// The values at both ends of the bounds, and beyond.
std::vector<Probe> probe(const Setting &setting, double low, double high) {
  if (isInteger(setting))
    return {{low - 1, false}, {low, true}, {high, true}, {high + 1, false}};
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return {{std::nextafter(low, -infinity), false},
          {low, true},
          {high, true},
          {std::nextafter(high, infinity), false}};
}

std::string print(const Setting &setting, double value) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (isInteger(setting))
    stream << int64_t(value);
  else
    stream << llvm::format("%.17e", value);
  return text;
}

/// What the compiler says of a module with a setting.
std::string compilerSays(const Setting &setting, const std::string &value) {
  mlir::MLIRContext context;
  context.loadDialect<TransformerDialect>();
  std::string type = isInteger(setting) ? "i32" : "f64";
  // A list of attributes has each name once.
  std::string eos = setting.kind == SettingKind::Ids ? "" : "eos = array<i32>,";
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      "module attributes {transformer.family = \"x\", transformer.source = "
      "{vocabulary = 8 : i32}, transformer.tasks = {generate = {vocabulary = 8 "
      ": i32, " +
          eos + setting.key + " = " + value + " : " + type + "}}} {}",
      &context);
  // Numbers beyond i32 have no attribute.
  return module ? sentenceOf(checkModelAttributes(*module)) : "no module";
}

/// A manifest without entries, as the runtime reads it.
Result<heddle::Manifest> parseWith(const std::string &generation) {
  return parseManifest(R"({"heddle": "1", "model": {"name": "m", "family": "x"},
    "isas": ["x86-64-v3"], "source": {"vocabulary": 8},
    "tokenizer": {"kind": "none"}, "entries": [],
    "tasks": {"generate": {"vocabulary": 8, )" +
                       generation + "}}}");
}

std::string runtimeSays(const Setting &setting, const std::string &value) {
  Result<heddle::Manifest> manifest =
      parseWith("\"eos\": [], \"" + std::string(setting.key) + "\": " + value);
  return manifest.ok() ? "" : manifest.message();
}

/// What heddle.h says of a setting, with the names of settings or those of
/// flags.
std::string callersHear(const Setting &setting, const std::string &value,
                        const char *prefix) {
  heddle_settings *settings = nullptr;
  EXPECT_EQ(heddle_settings_create(prefix, &settings), HEDDLE_OK);
  heddle_status status =
      heddle_settings_set(settings, setting.name, value.c_str());
  heddle_settings_free(settings);
  return status == HEDDLE_OK ? "" : heddle_error();
}

bool hasBounds(const Setting &setting) {
  return setting.kind == SettingKind::Id ||
         setting.kind == SettingKind::Count ||
         setting.kind == SettingKind::Limit ||
         setting.kind == SettingKind::Number ||
         setting.kind == SettingKind::Switch;
}

TEST(SearchSettings, CompilerAndRuntimeReadTheSameManifests) {
  int count = 0;
  for (const Setting &setting : kSearchSettings) {
    if (!setting.key || !hasBounds(setting))
      continue;
    ++count;
    double high = setting.high == Setting::kUnbounded
                      ? double(setting.highest(kVocabulary))
                      : setting.high;
    for (Probe each : probe(setting, setting.low, high)) {
      std::string value = print(setting, each.value);
      EXPECT_EQ(compilerSays(setting, value) == "", each.isWithin)
          << setting.key << " " << value;
      EXPECT_EQ(runtimeSays(setting, value) == "", each.isWithin)
          << setting.key << " " << value;
    }
  }
  EXPECT_GT(count, 15);
}

TEST(SearchSettings, CallersHaveTheSameBounds) {
  int count = 0;
  for (const Setting &setting : kSearchSettings) {
    if (!setting.name || !hasBounds(setting) ||
        setting.kind == SettingKind::Switch)
      continue;
    ++count;
    // Text asks for fewer tokens than a file may.
    double high = isInteger(setting)
                      ? std::min(setting.high, double(kMostTokensAsked))
                      : setting.high;
    // A caller may switch off what a file has no key for.
    EXPECT_TRUE(setting.callerLow == setting.low || setting.callerLow == 0);
    for (Probe each : probe(setting, setting.callerLow, high)) {
      std::string value = print(setting, each.value);
      std::string api = callersHear(setting, value, "");
      EXPECT_EQ(api == "", each.isWithin) << setting.name << " " << value;
      // heddle-run's flags are the same settings.
      EXPECT_EQ(callersHear(setting, value, "--"),
                each.isWithin ? "" : "--" + api);
    }
  }
  EXPECT_GT(count, 10);
}

/// What SearchOptions with a value of a field are told.
template <typename Field>
std::string optionsSay(Field SearchOptions::*field,
                       typename Field::value_type value) {
  heddle::Manifest manifest = *parseWith(R"("eos": [1])");
  SearchOptions options;
  options.*field = value;
  Result<Generation> settings = settingsFor(manifest, options);
  return settings.ok() ? "" : settings.message();
}

/// Fields of other types have no bounds.
template <typename Field>
void checkOption(const Setting &setting, Field SearchOptions::*field) {
  using Value = typename Field::value_type;
  if constexpr (std::is_same_v<Value, int64_t> || std::is_same_v<Value, double>)
    for (Probe each : probe(setting, setting.callerLow, setting.high))
      EXPECT_EQ(optionsSay(field, Value(each.value)) == "", each.isWithin)
          << setting.name << " " << each.value;
}

TEST(SearchSettings, OptionsHaveTheSameBounds) {
#define SETTING(KIND, FIELD, DEFAULT, ROW)                                     \
  checkOption(setting::FIELD, &SearchOptions::FIELD);
#include "runtime/artifact/SearchSettings.def"
}

/// The settings of an import of a folder whose generation_config.json has one
/// more field, and the sentence of an error.
std::pair<std::string, std::string> import(const Setting &setting,
                                           const std::string &value) {
  auto reader = [](const std::string &fields) {
    auto parsed = llvm::json::parse("{" + fields + "}");
    EXPECT_TRUE(bool(parsed)) << fields;
    return ConfigReader(*parsed->getAsObject(), "f");
  };
  mlir::MLIRContext context;
  ConfigReader config = reader(R"("model_type": "bart", "vocab_size": 8,
    "d_model": 16, "encoder_layers": 1, "decoder_layers": 1,
    "encoder_attention_heads": 4, "decoder_attention_heads": 4,
    "encoder_ffn_dim": 32, "decoder_ffn_dim": 32)");
  ConfigReader file = reader(R"("eos_token_id": 2, "do_sample": true,
    "decoder_start_token_id": 2, ")" +
                             std::string(setting.huggingFace) + "\": " + value);
  auto model = readHuggingFaceConfig(config);
  EXPECT_TRUE(bool(model));
  auto settings = readGeneration(config, &file, *model, context);
  if (!settings)
    return {"", llvm::toString(settings.takeError())};
  std::string text;
  llvm::raw_string_ostream(text) << settings->get(setting.key);
  return {text, ""};
}

/// Numbers whose bounds an importer has from the row; counts and top-p beyond
/// theirs mean as much as the bound.
TEST(SearchSettings, FoldersHaveTheSameBounds) {
  int count = 0;
  for (const Setting &setting : kSearchSettings) {
    bool isNumber = setting.kind == SettingKind::Number;
    bool isBeams = setting.key == setting::beams.key;
    if (!setting.key || !setting.huggingFace || !(isNumber || isBeams))
      continue;
    ++count;
    for (Probe each : probe(setting, setting.low, setting.high)) {
      auto [value, error] = import(setting, print(setting, each.value));
      bool isClamped =
          setting.key == setting::topP.key && each.value > setting.high;
      EXPECT_EQ(error == "", each.isWithin || isClamped)
          << setting.key << " " << each.value << ": " << error;
    }
  }
  EXPECT_EQ(count, 6);
}

TEST(SearchSettings, CountsOfFoldersStayWithinTheBounds) {
  for (const Setting &setting : {setting::noRepeatNgram, setting::topK}) {
    EXPECT_EQ(import(setting, "1e12").first, "2147483647 : i32");
    EXPECT_EQ(import(setting, "0").first, "<<NULL ATTRIBUTE>>");
  }
}

TEST(SearchSettings, NamesStandOnce) {
  std::set<std::string> keys, names, fields;
  auto isNew = [](std::set<std::string> &known, const char *name) {
    return !name || known.insert(name).second;
  };
  for (const Setting &setting : kSearchSettings) {
    EXPECT_TRUE(isNew(keys, setting.key)) << setting.key;
    EXPECT_TRUE(isNew(names, setting.name)) << setting.name;
    EXPECT_TRUE(isNew(fields, setting.huggingFace)) << setting.huggingFace;
  }
  std::string rules;
  for (std::string_view name : kEarlyStoppingNames)
    rules += (rules.empty() ? "" : "|") + std::string(name);
  EXPECT_EQ(setting::earlyStopping.value, rules);
}

} // namespace
