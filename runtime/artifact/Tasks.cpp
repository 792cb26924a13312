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

static void readText(JsonReader &reader, TextTask &task) {
  task.maxTokens = reader.optionalInteger(
      "max_tokens", {1, std::numeric_limits<int32_t>::max()});
}

static void readEmbed(JsonReader &reader, Manifest &manifest) {
  EmbedTask &embed = manifest.embed.emplace();
  readText(reader, embed);
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
  if (reader.find("weights")) {
    std::string name = reader.string("weights");
    embed.logarithms = name == "log1p" ? 1 : 2;
    if (name != "log1p" && name != "log1p_log1p")
      reader.fail("has the weights '", name,
                  "' (supported: log1p, log1p_log1p)");
  }
  reader.rejectOtherKeys();
}

//===----------------------------------------------------------------------===//
// classify, tag, answer, fill
//===----------------------------------------------------------------------===//

static void readLabels(JsonReader &reader, LabelTask &task) {
  readText(reader, task);
  task.labels = reader.strings("labels");
  std::vector<std::string> sorted = task.labels;
  std::sort(sorted.begin(), sorted.end());
  auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end())
    reader.fail("has the label '", *twice, "' twice");
  if (sorted.empty())
    reader.fail("has no labels");
}

static void readClassify(JsonReader &reader, Manifest &manifest) {
  LabelTask &task = manifest.classify.emplace();
  readLabels(reader, task);
  if (reader.find("scores")) {
    std::string name = reader.string("scores");
    auto begin = std::begin(kLabelScoresNames),
         end = std::end(kLabelScoresNames), found = std::find(begin, end, name);
    if (found == end)
      reader.fail("has 'scores' with the value '", name,
                  "' (supported: softmax, sigmoid, none)");
    else
      task.scores = LabelScores(found - begin);
  }
  reader.rejectOtherKeys();
}

static void readTag(JsonReader &reader, Manifest &manifest) {
  readLabels(reader, manifest.tag.emplace());
  reader.rejectOtherKeys();
}

static void readAnswer(JsonReader &reader, Manifest &manifest) {
  AnswerTask &task = manifest.answer.emplace();
  readText(reader, task);
  task.separator = narrow(reader.optionalInteger(
      "separator", {0, int64_t(manifest.sourceVocabulary) - 1}));
  reader.rejectOtherKeys();
}

static void readFill(JsonReader &reader, Manifest &manifest) {
  FillTask &task = manifest.fill.emplace();
  readText(reader, task);
  task.mask = int32_t(
      reader.integer("mask", {0, int64_t(manifest.sourceVocabulary) - 1}));
  reader.rejectOtherKeys();
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

namespace {
struct TaskRow {
  std::string_view name;
  void (*read)(JsonReader &reader, Manifest &manifest);
  bool (*isThere)(const Manifest &manifest);
  /// What a model does that has it.
  std::string_view does;
};
} // namespace

static constexpr TaskRow kTasks[] = {
    {"generate", readGenerate, [](const Manifest &m) { return m.generates; },
     "generates text"},
    {"embed", readEmbed, [](const Manifest &m) { return m.embed.has_value(); },
     "embeds texts"},
    {"classify", readClassify,
     [](const Manifest &m) { return m.classify.has_value(); },
     "classifies texts"},
    {"tag", readTag, [](const Manifest &m) { return m.tag.has_value(); },
     "labels tokens"},
    {"answer", readAnswer,
     [](const Manifest &m) { return m.answer.has_value(); },
     "answers questions"},
    {"fill", readFill, [](const Manifest &m) { return m.fill.has_value(); },
     "guesses masked tokens"}};

static const TaskRow *findTask(std::string_view name) {
  for (const TaskRow &row : kTasks)
    if (row.name == name)
      return &row;
  return nullptr;
}

void heddle::readTasks(const json &tasks, Manifest &manifest, Status &status) {
  JsonReader reader(tasks, "'tasks'", status);
  for (const auto &task : tasks.items()) {
    const TaskRow *known = findTask(task.key());
    if (!known) {
      std::string names;
      for (const TaskRow &row : kTasks)
        names += (names.empty() ? "" : ", ") + std::string(row.name);
      reader.fail("has the task '", task.key(), "' (supported: ", names, ")");
      continue;
    }
    JsonReader own(reader.object(task.key().c_str()),
                   "the task '" + task.key() + "'", status);
    known->read(own, manifest);
  }
}

const TextTask *Manifest::textTask(Role role) const {
  auto taskIn = [](const auto &task) -> const TextTask * {
    return task ? &*task : nullptr;
  };
  switch (role) {
  case Role::Embed:
    return taskIn(embed);
  case Role::Classify:
    return taskIn(classify);
  case Role::Tag:
    return taskIn(tag);
  case Role::Answer:
    return taskIn(answer);
  case Role::Fill:
    return taskIn(fill);
  default:
    return nullptr;
  }
}

bool Manifest::hasTask(std::string_view name) const {
  const TaskRow *row = findTask(name);
  return row && row->isThere(*this);
}

std::string Manifest::describeTasks() const {
  std::string text;
  for (const TaskRow &row : kTasks)
    if (row.isThere(*this))
      text += (text.empty() ? "" : " and ") + std::string(row.does);
  return text.empty() ? "gives hidden states alone" : text;
}
