//===- RunOptions.cpp - The command line of heddle-run --------------------===//
//
// One loop over the arguments. A flag's value is the next argument or stands
// after '='; after '--' everything is text. Before '--', a word that begins
// with a dash or names a file is an error.
//
//===----------------------------------------------------------------------===//

#include "tools/run/RunOptions.h"

#include "tools/FlagValue.h"
#include "tools/UnknownFlag.h"
#include "tools/help/RunPage.h"
#include "tools/run/CarriedModel.h"
#include "tools/run/FlagChecks.h"
#include "tools/run/vectors/VectorFormats.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
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
  Status giveOnce(const std::string &flag, const std::string &value);
  Status setSetting(const std::string &flag, const char *value);
  Status setOwn(const std::string &flag, const std::string &value);

  GivenFlags given;
};
} // namespace

//===----------------------------------------------------------------------===//
// Flags
//===----------------------------------------------------------------------===//

/// A flag of the tool with the name of a file.
static std::string *findFile(RunOptions &options, const std::string &flag) {
  const std::pair<std::string_view, std::string *> files[] = {
      {"--allow", &options.allowed},   {"--bad-words", &options.badWords},
      {"--hidden", &options.hidden},   {"--logits", &options.logits},
      {"--nearest", &options.nearest}, {"--output", &options.output},
      {"--prefix", &options.prefix},   {"--score", &options.score},
      {"--second", &options.second},   {"--teacher", &options.teacher}};
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
      {"--help", &options.help},
      {"-h", &options.help},
      {"--in-bytes", &options.byteOffsets},
      {"--info", &options.info},
      {"--license", &options.license},
      {"--pairs", &options.pairs},
      {"--plain", &options.plain},
      {"--verify", &options.verify},
      {"--version", &options.version}};
  for (auto [name, enabled] : switches)
    if (name == flag)
      return enabled;
  return nullptr;
}

Parser::Parser(const std::string &carried)
    : given{carried.empty() ? "" : programNameOf(carried)} {
  options.file = carried;
  heddle_settings *settings = nullptr;
  heddle_settings_create("--", &settings);
  options.settings.reset(settings);
}

/// Keeps the value of a flag, which has none so far.
Status Parser::giveOnce(const std::string &flag, const std::string &value) {
  auto [earlier, isNew] = given.values.emplace(flag, value);
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
  if (flag == "--ensemble") {
    options.ensemble.push_back(value);
    return checkFile(flag, value);
  }
  if (flag == "--device") {
    options.device = value;
    return value == "cpu" || value == "cuda" || value == "auto"
               ? Status::success()
               : Status::error("--device has the value '", value,
                               "', expected cpu, cuda or auto");
  }
  if (flag == "--stop")
    return value.empty()
               ? Status::error("--stop has an empty value, expected a text")
               : statusOf(heddle_settings_add_stop(options.settings.get(),
                                                   value.data(), value.size()));
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
  return value == "full" || value == "step" || value == "prefill"
             ? Status::success()
             : Status::error("--form has the value '", value,
                             "', expected full, step or prefill");
}

/// Takes the flag at a place of the arguments, and its value.
Status Parser::add(const std::vector<std::string> &arguments, size_t &at) {
  const std::string &argument = arguments[at];
  GivenFlag flag(argument);
  // Of prompts, what follows is the new part.
  if (flag.name == "--max-new")
    flag.name = "--max-length";
  const std::string &name = flag.name;
  const heddle_setting *setting = findSetting(name);
  bool isOwn = findFile(options, name) || name == "--form" ||
               name == "--stop" || name == "--device" || name == "--task" ||
               name == "--ensemble" || name == "--vector-type" ||
               findText(options, name);
  if ((setting && setting->value) || isOwn) {
    Result<std::string> value =
        takeValue(flag, arguments, at, getRunPage(given.program));
    if (!value.ok())
      return value.status();
    Status status =
        isOwn ? setOwn(name, *value) : setSetting(name, value->c_str());
    // Any number of texts may end a text, and of models may decode together.
    if (status.ok() && (name == "--stop" || name == "--ensemble"))
      given.values[name] = *value;
    else if (status.ok())
      status = giveOnce(name, *value);
    return status;
  }
  if (name == "--profile") {
    options.profile = flag.value.value_or("");
    Status status =
        flag.value ? checkFile(name, *flag.value) : Status::success();
    if (status.ok())
      status = giveOnce(name, *options.profile);
    return status.ok() ? setSetting(name, nullptr) : status;
  }
  for (auto [own, other] : {std::pair("--split", "browser"),
                            std::pair("--alignments", "weights")}) {
    if (name != own)
      continue;
    std::string value = flag.value.value_or("true");
    if (value != "true" && value != other)
      return Status::error(name, " has the value '", value, "', expected ",
                           other, " or none");
    if (Status status = giveOnce(name, value); !status.ok())
      return status;
    // What is printed of alignments is the tool's own.
    return setSetting(name, name == "--split" ? value.c_str() : "true");
  }
  if (setting && !flag.value) {
    given.values[name] = "true";
    return setSetting(name, nullptr);
  }
  if (bool *enabled = findSwitch(options, argument)) {
    *enabled = true;
    return Status::success();
  }
  return Status::error(
      describeUnknownFlag(argument, getRunPage(given.program), "text"));
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
      given.textsBefore = options.texts.size();
    } else if (argument == "-" && !options.file.empty()) {
      given.namesStandardInput = true;
    } else if (argument != "-" && isFlag(argument)) {
      status = add(arguments, i);
    } else {
      status = addWord(argument);
    }
    if (!status.ok())
      return status;
  }
  if (!onlyText)
    given.textsBefore = options.texts.size();
  return Status::success();
}

Status Parser::check() {
  if (Status status = checkFlags(options, given); !status.ok())
    return status;
  auto numberOf = [&](const char *flag, int64_t otherwise) {
    return given.has(flag) ? atoll(given.values[flag].c_str()) : otherwise;
  };
  options.batch = numberOf("--batch", options.batch);
  options.maxLength = numberOf("--max-length", 0);
  options.ids = given.has("--ids");
  options.scores = given.has("--scores");
  options.nBest = given.has("--n-best") || given.has("--alternatives");
  options.tokenScores = given.has("--token-scores");
  options.split = given.has("--split");
  options.aligns = given.has("--alignments");
  options.alignsWeights =
      options.aligns && given.values["--alignments"] == "weights";
  if (given.has("--top"))
    options.top = size_t(numberOf("--top", 1));
  options.mostNearest = options.top.value_or(10);
  // Otherwise it is a setting of labels, which an embedder has none of.
  if (!options.nearest.empty())
    heddle_settings_set(options.settings.get(), "top", nullptr);
  options.hasPrompt = given.has("--prompt");
  options.aggregates = given.has("--aggregate");
  for (const auto &[flag, value] : given.values)
    if (isOfTranslations(flag))
      options.translates = flag;
    else if (isOfVectors(flag))
      options.vectors = flag;
  // Logits are of one batch after the other.
  if (given.has("--workers") || !options.teacher.empty())
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
