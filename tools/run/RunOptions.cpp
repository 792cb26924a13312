//===- RunOptions.cpp - The command line of heddle-run --------------------===//
//
// One loop over the arguments. A flag's value is the next argument or stands
// after '='; after '--' everything is text. Before '--', a word that begins
// with a dash or names a file is an error.
//
//===----------------------------------------------------------------------===//

#include "tools/run/RunOptions.h"

#include "runtime/artifact/ArtifactFormat.h"
#include "runtime/artifact/SearchSettings.h"
#include "tools/FlagValue.h"
#include "tools/UnknownFlag.h"
#include "tools/help/RunPage.h"
#include "tools/run/CarriedModel.h"
#include "tools/run/VectorFormats.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <map>
#include <string_view>
#include <sys/stat.h>
#include <utility>

using namespace heddle;

namespace {
/// The flags of a command line.
class Parser {
public:
  explicit Parser(const std::string &carried);
  Status addAll(const std::vector<std::string> &arguments);
  Status check();
  RunOptions options;

private:
  Status add(const std::vector<std::string> &arguments, size_t &at);
  Status addWord(const std::string &word);
  Status checkStandardInput() const;
  Status checkTexts() const;
  Status giveOnce(const std::string &flag, const std::string &value);
  Status setSetting(const std::string &flag, const char *value);
  Status setOwn(const std::string &flag, const std::string &value);
  Status checkPairs() const;
  Status checkNearest() const;
  Status checkJobs() const;
  Status checkTranslates() const;
  bool isGiven(const char *flag) const { return given.count(flag) != 0; }

  /// What a program that carries a model is called; empty for heddle-run.
  const std::string program;
  /// What was said of each flag.
  std::map<std::string, std::string> given;
  /// How many of the texts stand before '--'.
  size_t textsBefore = 0;
  /// Whether '-' is one of the words.
  bool namesStandardInput = false;
};
} // namespace

//===----------------------------------------------------------------------===//
// Flags
//===----------------------------------------------------------------------===//

/// A setting of heddle.h, unless the tool has a flag of its own for it.
static const heddle_setting *findSetting(const std::string &flag) {
  size_t count = 0;
  const heddle_setting *all = heddle_settings_list(&count);
  for (size_t i = 0; i < count; ++i)
    if (flag == std::string("--") + all[i].name && flag != "--profile")
      return &all[i];
  return nullptr;
}

/// A flag of the tool with the name of a file.
static std::string *findFile(RunOptions &options, const std::string &flag) {
  const std::pair<std::string_view, std::string *> files[] = {
      {"--allow", &options.allowed},   {"--bad-words", &options.badWords},
      {"--hidden", &options.hidden},   {"--logits", &options.logits},
      {"--nearest", &options.nearest}, {"--output", &options.output},
      {"--prefix", &options.prefix},   {"--score", &options.score},
      {"--teacher", &options.teacher}};
  for (auto [name, file] : files)
    if (name == flag)
      return file;
  return nullptr;
}

/// A flag of the tool with a text.
static std::optional<std::string> *findText(RunOptions &options,
                                            const std::string &flag) {
  return flag == "--rank"       ? &options.rank
         : flag == "--question" ? &options.question
         : flag == "--query"    ? &options.query
                                : nullptr;
}

/// A flag of the tool without a value.
static bool *findSwitch(RunOptions &options, const std::string &flag) {
  const std::pair<std::string_view, bool *> switches[] = {
      {"--help", &options.help},     {"-h", &options.help},
      {"--info", &options.info},     {"--license", &options.license},
      {"--pairs", &options.pairs},   {"--plain", &options.plain},
      {"--verify", &options.verify}, {"--version", &options.version}};
  for (auto [name, enabled] : switches)
    if (name == flag)
      return enabled;
  return nullptr;
}

Parser::Parser(const std::string &carried)
    : program(carried.empty() ? "" : programNameOf(carried)) {
  options.file = carried;
  heddle_settings *settings = nullptr;
  heddle_settings_create("--", &settings);
  options.settings.reset(settings);
}

/// Keeps the value of a flag, which has none so far.
Status Parser::giveOnce(const std::string &flag, const std::string &value) {
  auto [earlier, isNew] = given.emplace(flag, value);
  return isNew ? Status::success()
               : Status::error(flag, " is given twice, as '", earlier->second,
                               "' and as '", value, "'");
}

Status Parser::setSetting(const std::string &flag, const char *value) {
  return statusOf(heddle_settings_set(options.settings.get(), flag.c_str() + 2,
                                      value ? value : "true"));
}

/// The value of a flag that wants a file.
static Status checkFile(const std::string &flag, const std::string &value) {
  if (value.empty())
    return Status::error(flag, " has an empty value, expected a file");
  return value == "-"
             ? Status::error(flag, " has the value '-', expected a file (one "
                                   "of that name is ./-)")
             : Status::success();
}

/// A flag of the tool with a value.
Status Parser::setOwn(const std::string &flag, const std::string &value) {
  if (std::string *file = findFile(options, flag)) {
    *file = value;
    return checkFile(flag, value);
  }
  if (flag == "--device") {
    options.device = value;
    return value == "cpu" || value == "cuda" || value == "auto"
               ? Status::success()
               : Status::error("--device has the value '", value,
                               "', expected cpu, cuda or auto");
  }
  if (std::optional<std::string> *text = findText(options, flag)) {
    *text = value;
    return Status::success();
  }
  if (flag == "--vector-type") {
    Result<heddle_vector_type> type = parseVectorType(value);
    options.vectorType = type.ok() ? *type : options.vectorType;
    return type.status();
  }
  if (flag == "--task") {
    options.task = value;
    if (std::count(std::begin(kTaskNames), std::end(kTaskNames), value) > 0)
      return Status::success();
    std::string names;
    for (std::string_view name : kTaskNames)
      names += (names.empty()                      ? ""
                : name == *std::rbegin(kTaskNames) ? " or "
                                                   : ", ") +
               std::string(name);
    return Status::error("--task has the value '", value, "', expected ",
                         names);
  }
  options.form = value;
  return value == "full" || value == "step" || value == "chunk"
             ? Status::success()
             : Status::error("--form has the value '", value,
                             "', expected full, step or chunk");
}

/// Takes the flag at a place of the arguments, and its value.
Status Parser::add(const std::vector<std::string> &arguments, size_t &at) {
  const std::string &argument = arguments[at];
  GivenFlag flag(argument);
  const std::string &name = flag.name;
  const heddle_setting *setting = findSetting(name);
  bool isOwn = findFile(options, name) || name == "--form" ||
               name == "--device" || name == "--task" ||
               name == "--vector-type" || findText(options, name);
  if ((setting && setting->value) || isOwn) {
    Result<std::string> value =
        takeValue(flag, arguments, at, getRunPage(program));
    if (!value.ok())
      return value.status();
    Status status =
        isOwn ? setOwn(name, *value) : setSetting(name, value->c_str());
    return status.ok() ? giveOnce(name, *value) : status;
  }
  if (name == "--profile") {
    options.profile = flag.value.value_or("");
    Status status =
        flag.value ? checkFile(name, *flag.value) : Status::success();
    if (status.ok())
      status = giveOnce(name, *options.profile);
    return status.ok() ? setSetting(name, nullptr) : status;
  }
  if (name == "--split") {
    std::string value = flag.value.value_or("true");
    Status status = value != "true" && value != "browser"
                        ? Status::error("--split has the value '", value,
                                        "', expected browser or none")
                        : giveOnce(name, value);
    return status.ok() ? setSetting(name, value.c_str()) : status;
  }
  if (setting && !flag.value) {
    given[name] = "true";
    return setSetting(name, nullptr);
  }
  if (bool *enabled = findSwitch(options, argument)) {
    *enabled = true;
    return Status::success();
  }
  return Status::error(
      describeUnknownFlag(argument, getRunPage(program), "text"));
}

/// Whether an argument begins as no text does: with a dash that no space
/// follows.
static bool isFlag(const std::string &argument) {
  size_t dashes = std::min(argument.find_first_not_of('-'), argument.size());
  return dashes > 0 &&
         (dashes == argument.size() || !strchr(" \t\n", argument[dashes]));
}

/// Takes an argument that is no flag and no value of one.
Status Parser::addWord(const std::string &word) {
  if (!options.file.empty()) {
    options.texts.push_back(word);
    return Status::success();
  }
  if (word.empty())
    return Status::error("the name of the model file is empty");
  if (word == "-")
    return Status::error("standard input is no model, expected heddle-run "
                         "FILE");
  options.file = word;
  return Status::success();
}

Status Parser::addAll(const std::vector<std::string> &arguments) {
  bool onlyText = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string &argument = arguments[i];
    Status status = Status::success();
    if (onlyText) {
      status = addWord(argument);
    } else if (argument == "--") {
      onlyText = true;
      textsBefore = options.texts.size();
    } else if (argument == "-" && !options.file.empty()) {
      namesStandardInput = true;
    } else if (argument != "-" && isFlag(argument)) {
      status = add(arguments, i);
    } else {
      status = addWord(argument);
    }
    if (!status.ok())
      return status;
  }
  if (!onlyText)
    textsBefore = options.texts.size();
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Flags together
//===----------------------------------------------------------------------===//

/// '-' is read if it is all that is to be read.
Status Parser::checkStandardInput() const {
  if (!namesStandardInput)
    return Status::success();
  if (options.info)
    return Status::error("--info takes no text, found '-'");
  return options.texts.empty()
             ? Status::success()
             : Status::error("'-' is standard input, which is read if no text "
                             "is given, but '",
                             options.texts[0],
                             "' is given (the text '-' must follow a '--')");
}

/// Whether a file begins as artifacts do.
static bool isArtifact(const std::string &path) {
  char magic[sizeof(format::kMagic)];
  FILE *file = fopen(path.c_str(), "re");
  bool isRead = file && fread(magic, sizeof magic, 1, file) == 1;
  if (file)
    fclose(file);
  return isRead && memcmp(magic, format::kMagic, sizeof magic) == 0;
}

/// A text that names a file is hardly meant to be translated.
Status Parser::checkTexts() const {
  std::string use = program.empty() ? "heddle-run " + options.file : program;
  for (size_t i = 0; i < textsBefore; ++i) {
    const std::string &text = options.texts[i];
    struct stat info;
    if (std::string sentence = describePrintedDash(text, getRunPage(program));
        !sentence.empty())
      return Status::error(sentence);
    if (stat(text.c_str(), &info) != 0)
      continue;
    if (S_ISREG(info.st_mode) && program.empty() && isArtifact(text))
      return Status::error(
          "'", text,
          "' is an artifact, expected one artifact, before all texts ('",
          options.file, "' stands there)");
    if (S_ISREG(info.st_mode) && isArtifact(text))
      return Status::error("'", text, "' is an artifact, but ", program,
                           " has a model of its own: expected heddle-run ",
                           text);
    return Status::error("'", text, "' is a ",
                         S_ISDIR(info.st_mode) ? "folder" : "file",
                         ", but texts are translated as they stand: expected ",
                         use, " <", S_ISDIR(info.st_mode) ? "FILE" : text,
                         " (the text '", text, "' must follow a '--')");
  }
  return Status::success();
}

/// Whether a file of a folder is of a model that is to be compiled.
static bool isOfModel(std::string_view name) {
  std::string_view ending = name.substr(std::min(name.rfind('.'), name.size()));
  return name == "config.json" || (name.substr(0, 5) == "model" &&
                                   (ending == ".bin" || ending == ".npz"));
}

static bool isModelFolder(const std::string &path) {
  bool found = false;
  if (DIR *folder = opendir(path.c_str())) {
    while (const dirent *entry = readdir(folder))
      found = found || isOfModel(entry->d_name);
    closedir(folder);
  }
  return found;
}

/// Flags that make pairs of lines.
Status Parser::checkPairs() const {
  struct PairFlag {
    const char *name;
    bool isThere, classifies, answers;
  };
  const PairFlag flags[] = {
      {"--pairs", options.pairs, true, true},
      {"--rank", options.rank.has_value(), true, false},
      {"--question", options.question.has_value(), false, true}};
  const PairFlag *first = nullptr;
  for (const PairFlag &flag : flags) {
    if (!flag.isThere)
      continue;
    if (first)
      return Status::error(flag.name, " takes texts, but ", first->name,
                           first->classifies && first->answers
                               ? " takes pairs of them"
                               : " makes pairs of them already");
    first = &flag;
    bool fits = (flag.classifies && options.task == "classify") ||
                (flag.answers && options.task == "answer");
    if (isGiven("--task") && !fits)
      return Status::error(flag.name, " is for ",
                           flag.classifies ? "labels of texts" : "answers",
                           ", but --task is ", options.task);
    if (isGiven("--ids"))
      return Status::error(flag.name, " takes texts, but --ids takes ids");
  }
  return Status::success();
}

/// What searches vectors has its own inputs and outputs.
Status Parser::checkNearest() const {
  if (options.nearest.empty())
    return options.query ? Status::error("--query needs --nearest FILE")
                         : Status::success();
  if (options.query && (namesStandardInput || !options.texts.empty()))
    return Status::error("--query is the only query, found '",
                         namesStandardInput ? "-" : options.texts[0], "', too");
  for (const char *flag : {"--output", "--vector-type"})
    if (isGiven(flag))
      return Status::error(flag, " is for vectors that are printed or written, "
                                 "but --nearest compares them");
  for (auto [flag, isThere] :
       {std::pair("--pairs", options.pairs),
        std::pair("--rank", options.rank.has_value()),
        std::pair("--question", options.question.has_value())})
    if (isThere)
      return Status::error(flag, " is for pairs of texts, but --nearest "
                                 "compares vectors");
  return isGiven("--task") && options.task != "embed"
             ? Status::error("--nearest compares vectors, but --task is ",
                             options.task)
             : Status::success();
}

/// One job at a time, with what it needs.
Status Parser::checkJobs() const {
  if (options.file.empty())
    return Status::error("no model file is given, expected heddle-run FILE");
  if (program.empty() && isModelFolder(options.file))
    return Status::error("'", options.file,
                         "' is a folder of a model, expected an artifact: "
                         "heddle-compile ",
                         options.file, " -o FILE writes one");
  if (options.info && !options.texts.empty())
    return Status::error("--info takes no text, found '", options.texts[0],
                         "'");
  if (options.info && isGiven("--global"))
    return Status::error("--info takes no --global");
  if (options.teacher.empty() != options.logits.empty())
    return options.logits.empty()
               ? Status::error("--teacher needs --logits FILE.npy")
               : Status::error("--logits needs --teacher FILE");
  if (isGiven("--form") && options.teacher.empty())
    return Status::error("--form needs --teacher FILE");
  if (options.plain && !options.output.empty())
    return Status::error("--plain is for vectors that are printed, but "
                         "--output writes a file");
  if (!options.output.empty() && isGiven("--task") && options.task != "embed")
    return Status::error("--output writes vectors, but --task is ",
                         options.task);
  if (Status status = checkPairs(); !status.ok())
    return status;
  if (Status status = checkNearest(); !status.ok())
    return status;
  if (options.plain && options.task == "generate")
    return Status::error("--plain is for vectors and labels, but --task is "
                         "generate");
  for (const auto &[flag, file] : {std::pair("--hidden", &options.hidden),
                                   std::pair("--teacher", &options.teacher),
                                   std::pair("--score", &options.score)}) {
    if (file->empty())
      continue;
    if (!options.output.empty())
      return Status::error("--output is for vectors of texts, but ", flag,
                           " asks for something else");
    for (auto [own, isThere] : {std::pair("--plain", options.plain),
                                std::pair("--task", isGiven("--task"))})
      if (isThere)
        return Status::error(own, " is for what is said of texts, but ", flag,
                             " asks for something else");
  }
  if (!options.hidden.empty() && !options.teacher.empty())
    return Status::error("--hidden encodes, but --teacher scores");
  if (!options.score.empty() &&
      !(options.hidden.empty() && options.teacher.empty()))
    return Status::error("--score prints log-probabilities, but ",
                         options.hidden.empty() ? "--teacher" : "--hidden",
                         " writes a file");
  return Status::success();
}

/// Whether it is a setting of a group.
static bool isOfGroup(const std::string &flag, std::string_view group) {
  const heddle_setting *setting = findSetting(flag);
  return setting && setting->group == group;
}

/// What only translations read.
static bool isOfTranslations(const std::string &flag) {
  return flag == "--allow" || flag == "--bad-words" || flag == "--prefix" ||
         flag == "--split" || isOfGroup(flag, kSearchGroup) ||
         isOfGroup(flag, kSamplesGroup);
}

/// What only a task that embeds reads.
static bool isOfVectors(const std::string &flag) {
  return flag == "--nearest" || flag == "--query" || flag == "--vector-type" ||
         isOfGroup(flag, kVectorGroup);
}

/// What only one task reads, if something else is to be done.
Status Parser::checkTranslates() const {
  const char *job = !options.teacher.empty()  ? "--teacher scores"
                    : !options.score.empty()  ? "--score scores"
                    : !options.hidden.empty() ? "--hidden encodes"
                                              : nullptr;
  if (!job)
    return Status::success();
  auto refuse = [&](std::string_view flag) {
    return Status::error(flag, " is for translations, but ", job);
  };
  // Scoring is the one job that several workers do not share, and that writes
  // whole rows of logits.
  for (const char *flag : {"--workers", "--max-memory", "--on-error"})
    if (isGiven(flag) && !options.teacher.empty())
      return refuse(flag);
  for (const auto &[flag, value] : given)
    if (const char *what = isOfTranslations(flag)         ? "translations"
                           : isOfVectors(flag)            ? "vectors"
                           : isOfGroup(flag, kLabelGroup) ? "labels"
                                                          : nullptr)
      return Status::error(flag, " is for ", what, ", but ", job);
  return Status::success();
}

Status Parser::check() {
  if (Status status = checkJobs(); !status.ok())
    return status;
  if (Status status = statusOf(heddle_settings_check(options.settings.get()));
      !status.ok())
    return status;
  if (Status status = checkTranslates(); !status.ok())
    return status;
  if (Status status = checkStandardInput(); !status.ok())
    return status;
  if (Status status = checkTexts(); !status.ok())
    return status;
  if (isGiven("--split") && !options.prefix.empty())
    return Status::error(
        "--split cuts lines into sentences, but --prefix is for whole lines");
  auto numberOf = [&](const char *flag, int64_t otherwise) {
    return isGiven(flag) ? atoll(given[flag].c_str()) : otherwise;
  };
  options.batch = numberOf("--batch", options.batch);
  options.maxLength = numberOf("--max-length", 0);
  options.ids = isGiven("--ids");
  options.scores = isGiven("--scores");
  options.nBest = isGiven("--n-best") || isGiven("--alternatives");
  options.tokenScores = isGiven("--token-scores");
  options.split = isGiven("--split");
  options.top = numberOf("--top", 1) > 1;
  options.mostNearest = size_t(numberOf("--top", 10));
  // Otherwise it is a setting of labels, which an embedder has none of.
  if (!options.nearest.empty())
    heddle_settings_set(options.settings.get(), "top", nullptr);
  options.hasPrompt = isGiven("--prompt");
  options.aggregates = isGiven("--aggregate");
  for (const auto &[flag, value] : given)
    if (isOfTranslations(flag))
      options.translates = flag;
    else if (isOfVectors(flag))
      options.vectors = flag;
  // Logits are of one batch after the other.
  if (isGiven("--workers") || !options.teacher.empty())
    return Status::success();
  return setSetting("--workers", "all");
}

Result<RunOptions>
heddle::parseRunOptions(const std::vector<std::string> &arguments,
                        const std::string &carried) {
  Parser parser(carried);
  if (Status status = parser.addAll(arguments); !status.ok())
    return status;
  RunOptions &options = parser.options;
  if (!options.help && !options.version && !options.license)
    if (Status status = parser.check(); !status.ok())
      return status;
  return std::move(options);
}
