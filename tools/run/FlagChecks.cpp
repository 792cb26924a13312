//===- FlagChecks.cpp - Flags of heddle-run together ----------------------===//
//
// What is said of flags that contradict each other names both of them.
//
//===----------------------------------------------------------------------===//

#include "tools/run/FlagChecks.h"

#include "runtime/artifact/ArtifactFormat.h"
#include "runtime/artifact/SearchSettings.h"
#include "tools/UnknownFlag.h"
#include "tools/help/RunPage.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <string_view>
#include <sys/stat.h>
#include <utility>

using namespace heddle;

namespace {
/// One check after the other.
class FlagChecks {
public:
  FlagChecks(const RunOptions &options, const GivenFlags &given)
      : options(options), given(given) {}

  Status check() const;

private:
  Status checkStandardInput() const;
  Status checkTexts() const;
  Status checkPairs() const;
  Status checkNearest() const;
  Status checkJobs() const;
  Status checkTranslates() const;

  const RunOptions &options;
  const GivenFlags &given;
};
} // namespace

const heddle_setting *heddle::findSetting(const std::string &flag) {
  size_t count = 0;
  const heddle_setting *all = heddle_settings_list(&count);
  for (size_t i = 0; i < count; ++i)
    if (flag == std::string("--") + all[i].name && flag != "--profile")
      return &all[i];
  return nullptr;
}

/// '-' is read if it is all that is to be read.
Status FlagChecks::checkStandardInput() const {
  if (!given.namesStandardInput)
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

/// Whether a file begins so. A pipe is not read.
static bool beginsWith(const std::string &path, std::string_view magic) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode))
    return false;
  std::string begin(magic.size(), 0);
  FILE *file = fopen(path.c_str(), "re");
  bool isRead = file && fread(begin.data(), begin.size(), 1, file) == 1;
  if (file)
    fclose(file);
  return isRead && begin == magic;
}

static bool isArtifact(const std::string &path) {
  return beginsWith(path, {format::kMagic, sizeof(format::kMagic)});
}

/// A text that names a file is hardly meant to be translated.
Status FlagChecks::checkTexts() const {
  std::string use =
      given.program.empty() ? "heddle-run " + options.file : given.program;
  for (size_t i = 0; i < given.textsBefore; ++i) {
    const std::string &text = options.texts[i];
    struct stat info;
    if (std::string sentence =
            describePrintedDash(text, getRunPage(given.program));
        !sentence.empty())
      return Status::error(sentence);
    if (stat(text.c_str(), &info) != 0)
      continue;
    if (S_ISREG(info.st_mode) && given.program.empty() && isArtifact(text))
      return Status::error(
          "'", text,
          "' is an artifact, expected one artifact, before all texts ('",
          options.file, "' stands there)");
    if (S_ISREG(info.st_mode) && isArtifact(text))
      return Status::error("'", text, "' is an artifact, but ", given.program,
                           " has a model of its own: expected heddle-run ",
                           text);
    return Status::error("'", text, "' is a ",
                         S_ISDIR(info.st_mode) ? "folder" : "file",
                         ", but texts are read as they stand: expected ", use,
                         " <", S_ISDIR(info.st_mode) ? "FILE" : text,
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
Status FlagChecks::checkPairs() const {
  struct PairFlag {
    const char *name;
    bool isThere, classifies, answers;
  };
  const PairFlag flags[] = {
      {"--pairs", options.pairs, true, true},
      {"--second", !options.second.empty(), true, true},
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
    if (given.has("--task") && !fits)
      return Status::error(flag.name, " is for ",
                           flag.classifies ? "labels of texts" : "answers",
                           ", but --task is ", options.task);
    if (given.has("--ids"))
      return Status::error(flag.name, " takes texts, but --ids takes ids");
  }
  return Status::success();
}

/// What searches vectors has its own inputs and outputs.
Status FlagChecks::checkNearest() const {
  if (options.nearest.empty())
    return options.query ? Status::error("--query needs --nearest FILE")
                         : Status::success();
  for (auto [kind, isOne] :
       {std::pair("an artifact", isArtifact(options.nearest)),
        std::pair("a zip archive, as .npz is",
                  beginsWith(options.nearest, "PK\3\4"))})
    if (isOne)
      return Status::error("--nearest compares lines of text or the vectors of "
                           "a .npy file, but '",
                           options.nearest, "' is ", kind);
  if (options.query && (given.namesStandardInput || !options.texts.empty()))
    return Status::error("--query is the only query, found '",
                         given.namesStandardInput ? "-" : options.texts[0],
                         "', too");
  for (const char *flag : {"--output", "--vector-type"})
    if (given.has(flag))
      return Status::error(flag, " is for vectors that are printed or written, "
                                 "but --nearest compares them");
  for (auto [flag, isThere] :
       {std::pair("--pairs", options.pairs),
        std::pair("--second", !options.second.empty()),
        std::pair("--rank", options.rank.has_value()),
        std::pair("--question", options.question.has_value())})
    if (isThere)
      return Status::error(flag, " is for pairs of texts, but --nearest "
                                 "compares vectors");
  return given.has("--task") && options.task != "embed"
             ? Status::error("--nearest compares vectors, but --task is ",
                             options.task)
             : Status::success();
}

/// One job at a time, with what it needs.
Status FlagChecks::checkJobs() const {
  if (options.file.empty())
    return Status::error("no model file is given, expected heddle-run FILE");
  if (given.program.empty() && isModelFolder(options.file))
    return Status::error("'", options.file,
                         "' is a folder of a model, expected an artifact: "
                         "heddle-compile ",
                         options.file, " -o FILE writes one");
  if (options.info && !options.texts.empty())
    return Status::error("--info takes no text, found '", options.texts[0],
                         "'");
  for (const char *flag : {"--global", "--ensemble"})
    if (options.info && given.has(flag))
      return Status::error("--info takes no ", flag);
  if (!options.hidden.empty() && given.has("--ensemble"))
    return Status::error("--ensemble is for generated text and its scores, but "
                         "--hidden encodes");
  if (options.teacher.empty() != options.logits.empty())
    return options.logits.empty()
               ? Status::error("--teacher needs --logits FILE.npy")
               : Status::error("--logits needs --teacher FILE");
  if (given.has("--form") && options.teacher.empty())
    return Status::error("--form needs --teacher FILE");
  if (options.plain && !options.output.empty())
    return Status::error("--plain is for vectors that are printed, but "
                         "--output writes a file");
  if (options.plain && options.byteOffsets)
    return Status::error("--in-bytes is for places of labels, which "
                         "--plain leaves out");
  if (!options.output.empty() && given.has("--task") && options.task != "embed")
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
                                std::pair("--in-bytes", options.byteOffsets),
                                std::pair("--task", given.has("--task"))})
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

bool heddle::isOfTranslations(const std::string &flag) {
  return flag == "--allow" || flag == "--bad-words" || flag == "--prefix" ||
         flag == "--split" || flag == "--stop" ||
         isOfGroup(flag, kSearchGroup) || isOfGroup(flag, kSamplesGroup);
}

bool heddle::isOfVectors(const std::string &flag) {
  return flag == "--nearest" || flag == "--query" || flag == "--vector-type" ||
         isOfGroup(flag, kVectorGroup);
}

/// What only one task reads, if something else is to be done.
Status FlagChecks::checkTranslates() const {
  const char *job = !options.teacher.empty()  ? "--teacher scores"
                    : !options.score.empty()  ? "--score scores"
                    : !options.hidden.empty() ? "--hidden encodes"
                                              : nullptr;
  if (!job)
    return Status::success();
  auto refuse = [&](std::string_view flag) {
    return Status::error(flag, " is for generated text, but ", job);
  };
  // Scoring is the one job that several workers do not share, and that writes
  // whole rows of logits.
  for (const char *flag : {"--workers", "--max-memory", "--on-error"})
    if (given.has(flag) && !options.teacher.empty())
      return refuse(flag);
  // Scores are an ensemble's, too.
  auto isOfEnsemble = [](const std::string &flag) {
    return flag == "--ensemble-mean" || flag == "--ensemble-weights";
  };
  for (const auto &[flag, value] : given.values)
    if (const char *what = isOfEnsemble(flag)             ? nullptr
                           : isOfTranslations(flag)       ? "generated text"
                           : isOfVectors(flag)            ? "vectors"
                           : isOfGroup(flag, kLabelGroup) ? "labels"
                                                          : nullptr)
      return Status::error(flag, " is for ", what, ", but ", job);
  return Status::success();
}

Status FlagChecks::check() const {
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
  if (given.has("--split") && !options.prefix.empty())
    return Status::error(
        "--split cuts lines into sentences, but --prefix is for whole lines");
  return Status::success();
}

Status heddle::checkFlags(const RunOptions &options, const GivenFlags &given) {
  return FlagChecks(options, given).check();
}
