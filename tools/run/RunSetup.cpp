//===- RunSetup.cpp - What the jobs of heddle-run begin with --------------===//

#include "tools/run/RunSetup.h"

#include "tools/LineReader.h"
#include "tools/Progress.h"
#include "tools/SignalCleanup.h"
#include "tools/WholeFile.h"
#include "tools/run/ProfilePage.h"

#include <cstdio>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace heddle;

/// Gives the lines of a file to the settings, by a function of theirs, and
/// returns how many there are.
static Result<int64_t> addLines(const std::string &path,
                                heddle_settings &settings,
                                decltype(heddle_settings_add_bad_words) *add) {
  Result<LineReader> lines = LineReader::open(path);
  if (!lines.ok())
    return lines.status();
  for (bool isFirst = true;; isFirst = false) {
    Result<std::optional<std::string>> line = lines->next();
    if (!line.ok())
      return line.status();
    // Without a line there would be no limit at all.
    if (!*line && isFirst && add == heddle_settings_add_allowed)
      return Status::error(
          "'", path,
          "' has no line, expected words or ids that targets may contain");
    if (!*line)
      return lines->linesRead();
    Status status = statusOf(add(&settings, (*line)->data(), (*line)->size()));
    if (!status.ok())
      return status;
  }
}

/// An error if an output would take the place of what is read.
static Status checkOutputs(const RunOptions &options) {
  auto isSame = [](const std::string &output, const struct stat &input) {
    struct stat info;
    return stat(output.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
           info.st_dev == input.st_dev && info.st_ino == input.st_ino;
  };
  for (const std::string &output :
       {options.logits, options.hidden, options.output,
        options.profile.value_or("")}) {
    if (output.empty())
      continue;
    struct stat info;
    if (options.texts.empty() && fstat(STDIN_FILENO, &info) == 0 &&
        isSame(output, info))
      return Status::error("cannot write '", output,
                           "': standard input is read from it");
    for (const std::string &input :
         {options.file, options.teacher, options.score, options.prefix,
          options.allowed, options.badWords, options.nearest, options.second})
      if (!input.empty() && stat(input.c_str(), &info) == 0 &&
          isSame(output, info))
        return Status::error("cannot write '", output, "': it is the input '",
                             input, "'");
  }
  return Status::success();
}

static unsigned flagsOf(const RunOptions &options) {
  return (options.verify ? HEDDLE_VERIFY : 0) |
         // An ensemble has no choice.
         (options.device == "cpu" ||
                  (options.device == "auto" && !options.ensemble.empty())
              ? HEDDLE_CPU
          : options.device == "cuda" ? HEDDLE_CUDA
                                     : 0);
}

/// Loads the further members of an ensemble, of which `run` has the first one,
/// and gives it the ensemble.
static Status addMembers(const RunOptions &options, Run &run) {
  std::vector<Handle<heddle_model>> owners;
  std::vector<const heddle_model *> members = {run.model.get()};
  for (const std::string &file : options.ensemble) {
    heddle_model *member = nullptr;
    Status status =
        statusOf(heddle_model_load(file.c_str(), flagsOf(options), &member));
    owners.emplace_back(member);
    if (!status.ok())
      return status;
    if (!options.ids && !heddle_model_has_tokenizer(member))
      return Status::error("'", file, "' has no tokenizer, expected --ids");
    members.push_back(member);
  }
  heddle_model *ensemble = nullptr;
  Status status = statusOf(
      heddle_ensemble_create(members.data(), members.size(), &ensemble));
  if (status.ok())
    run.model.reset(ensemble);
  return status;
}

static Status loadModel(const RunOptions &options, heddle_model **model) {
  Progress progress = Progress::ofWeights();
  auto show = [](void *context, uint64_t done, uint64_t all) {
    static_cast<Progress *>(context)->showBytes(done, all);
  };
  return statusOf(heddle_model_load_with_progress(
      options.file.c_str(), flagsOf(options), show, &progress, model));
}

Result<Run> heddle::beginRun(const RunOptions &options) {
  if (Status status = checkOutputs(options); !status.ok())
    return status;
  Run run;
  heddle_model *model = nullptr;
  Status status = loadModel(options, &model);
  run.model.reset(model);
  if (!status.ok())
    return status;
  if (!options.ids && !heddle_model_has_tokenizer(model)) {
    std::string problem = heddle_model_tokenizer_problem(model);
    return Status::error("'", options.file,
                         "' has no tokenizer, expected --ids",
                         problem.empty() ? "" : ": ", problem);
  }
  if (!options.ensemble.empty())
    if (status = addMembers(options, run); !status.ok())
      return status;
  model = run.model.get();
  if (!options.badWords.empty())
    if (auto added = addLines(options.badWords, *options.settings,
                              heddle_settings_add_bad_words);
        !added.ok())
      return added.status();
  if (!options.allowed.empty()) {
    auto added = addLines(options.allowed, *options.settings,
                          heddle_settings_add_allowed);
    if (!added.ok())
      return added.status();
    run.allowedLines = *added;
  }
  heddle_session *session = nullptr;
  status =
      statusOf(heddle_session_create(model, options.settings.get(), &session));
  run.session.reset(session);
  if (!status.ok())
    return status;
  if (options.profile && !options.profile->empty())
    if (status = checkWritable(*options.profile); !status.ok())
      return status;
  warnOfGpu(run);
  return run;
}

void heddle::warnOfGpu(Run &run) {
  const char *failure = heddle_session_gpu_failure(run.session.get());
  if (failure && !std::exchange(run.hasWarned, true))
    printSentence("warning", std::string(failure) + "; continuing on the CPU");
}

static Result<std::string> profileOf(const Run &run, heddle_profile_form form) {
  char *text = nullptr;
  Status status =
      statusOf(heddle_session_profile(run.session.get(), form, &text));
  Handle<char> owner(text);
  if (!status.ok())
    return status;
  return std::string(text);
}

static bool isPage(const std::string &path) {
  static constexpr std::string_view kEnding = ".html";
  return path.size() > kEnding.size() &&
         strcasecmp(path.c_str() + path.size() - kEnding.size(),
                    kEnding.data()) == 0;
}

Status heddle::reportRun(const Run &run, const RunOptions &options) {
  if (!options.profile)
    return Status::success();
  Result<std::string> table = profileOf(run, HEDDLE_PROFILE_TABLE);
  if (!table.ok())
    return table.status();
  fputs(table->c_str(), stderr);
  if (options.profile->empty())
    return Status::success();
  Result<std::string> json = profileOf(run, HEDDLE_PROFILE_JSON);
  if (!json.ok())
    return json.status();
  std::string text =
      isPage(*options.profile) ? makeProfilePage(*json) : std::move(*json);
  return writeWholeFile(*options.profile, text);
}
