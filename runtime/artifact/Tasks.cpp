//===- Tasks.cpp - What a model does --------------------------------------===//
//
// One function for each task of the manifest's object "tasks".
//
//===----------------------------------------------------------------------===//

#include "runtime/artifact/Tasks.h"

#include <algorithm>

using namespace heddle;
using nlohmann::json;

static std::optional<int32_t> narrow(std::optional<int64_t> id) {
  return id ? std::optional<int32_t>(static_cast<int32_t>(*id)) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// generate
//===----------------------------------------------------------------------===//

std::string_view heddle::nameOf(EarlyStopping rule) {
  return kEarlyStoppingNames[static_cast<size_t>(rule)];
}

std::optional<EarlyStopping> heddle::parseEarlyStopping(std::string_view name) {
  auto begin = std::begin(kEarlyStoppingNames),
       end = std::end(kEarlyStoppingNames), found = std::find(begin, end, name);
  if (found == end)
    return std::nullopt;
  return static_cast<EarlyStopping>(found - begin);
}

namespace {
/// Reads settings, by the types of their fields. What is absent keeps its
/// default.
class SettingReader {
public:
  SettingReader(JsonReader &reader, int32_t targetVocabulary)
      : reader(reader), vocabulary(targetVocabulary) {}

  void read(const Setting &setting, std::optional<int32_t> &id) {
    id = narrow(reader.optionalInteger(setting.key, rangeOf(setting)));
  }
  void read(const Setting &setting, std::vector<int32_t> &ids) {
    ids = reader.optionalIds(setting.key, rangeOf(setting));
  }
  void read(const Setting &setting, std::vector<std::vector<int32_t>> &lists) {
    lists = reader.optionalIdLists(setting.key, rangeOf(setting));
  }
  void read(const Setting &setting, int64_t &count) {
    count =
        reader.optionalInteger(setting.key, rangeOf(setting)).value_or(count);
  }
  void read(const Setting &setting, std::optional<int64_t> &limit) {
    limit = reader.optionalInteger(setting.key, rangeOf(setting));
  }
  void read(const Setting &setting, double &number) {
    number = reader.optionalNumber(setting.key, setting.low, setting.high)
                 .value_or(number);
  }
  void read(const Setting &setting, std::optional<double> &ratio) {
    ratio = reader.optionalPositiveNumber(setting.key);
  }
  void read(const Setting &setting, bool &isOn) {
    isOn =
        reader.optionalInteger(setting.key, rangeOf(setting)).value_or(isOn) !=
        0;
  }
  void read(const Setting &setting, EarlyStopping &rule) {
    if (!reader.find(setting.key))
      return;
    std::string name = reader.string(setting.key);
    if (std::optional<EarlyStopping> known = parseEarlyStopping(name))
      rule = *known;
    else
      reader.fail("has '", setting.key, "' with the value '", name,
                  "' (supported: true, false, never, shrink)");
  }

private:
  IntegerRange rangeOf(const Setting &setting) const {
    return {setting.lowest(), setting.highest(vocabulary)};
  }

  JsonReader &reader;
  int64_t vocabulary;
};
} // namespace

static Generation parseGeneration(JsonReader &reader,
                                  int32_t targetVocabulary) {
  Generation generation;
  if (!reader.find(setting::eos.key))
    reader.fail("has no 'eos'");
  SettingReader settings(reader, targetVocabulary);
#define SETTING(KIND, FIELD, DEFAULT, ROW)                                     \
  settings.read(setting::FIELD, generation.FIELD);
#define MODEL_SETTING SETTING
#include "runtime/artifact/SearchSettings.def"
  reader.rejectOtherKeys();
  return generation;
}

static void readGenerate(JsonReader &reader, Manifest &manifest) {
  manifest.generates = true;
  manifest.targetVocabulary =
      int32_t(reader.integer("vocabulary", kVocabularySizes));
  if (reader.find("prompt")) {
    std::string side = reader.string("prompt");
    manifest.promptsTarget = side == "target";
    if (side != "target" && side != "source")
      reader.fail("has the prompt '", side, "' (supported: source, target)");
  }
  manifest.generation = parseGeneration(reader, manifest.targetVocabulary);
}

//===----------------------------------------------------------------------===//
// embed
//===----------------------------------------------------------------------===//

const Prompt *EmbedTask::findPrompt(std::string_view name) const {
  for (const Prompt &prompt : prompts)
    if (prompt.name == name)
      return &prompt;
  return nullptr;
}

static void readEmbed(JsonReader &reader, Manifest &manifest) {
  EmbedTask &embed = manifest.embed.emplace();
  embed.maxTokens = reader.optionalInteger(
      "max_tokens", {1, std::numeric_limits<int32_t>::max()});
  if (reader.find("prompts")) {
    for (const auto &prompt : reader.object("prompts").items()) {
      if (!prompt.value().is_string())
        reader.fail("has the prompt '", prompt.key(), "', which is no text");
      else
        embed.prompts.push_back(
            {prompt.key(), prompt.value().get<std::string>()});
    }
  }
  if (reader.find("prompt")) {
    embed.prompt = reader.string("prompt");
    if (!embed.findPrompt(*embed.prompt))
      reader.fail("has the default prompt '", *embed.prompt,
                  "', which is none of its prompts");
  }
  reader.rejectOtherKeys();
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

namespace {
struct TaskRow {
  std::string_view name;
  void (*read)(JsonReader &reader, Manifest &manifest);
};
} // namespace

static constexpr TaskRow kTasks[] = {{"embed", readEmbed},
                                     {"generate", readGenerate}};

void heddle::readTasks(const json &tasks, Manifest &manifest, Status &status) {
  JsonReader reader(tasks, "'tasks'", status);
  for (const auto &task : tasks.items()) {
    auto known = std::find_if(
        std::begin(kTasks), std::end(kTasks),
        [&](const TaskRow &row) { return row.name == task.key(); });
    if (known == std::end(kTasks)) {
      reader.fail("has the task '", task.key(),
                  "' (supported: embed, generate)");
      continue;
    }
    JsonReader own(reader.object(task.key().c_str()),
                   "the task '" + task.key() + "'", status);
    known->read(own, manifest);
  }
}

std::string Manifest::describeTasks() const {
  return generates && embed ? "generates text and embeds it"
         : generates        ? "generates text"
         : embed            ? "embeds texts"
                            : "gives hidden states alone";
}
