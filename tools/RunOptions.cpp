//===- RunOptions.cpp - The command line of heddle-run --------------------===//
//
// One loop over the arguments. A flag's value is the next argument or stands
// behind '='; behind '--' everything is text.
//
//===----------------------------------------------------------------------===//

#include "tools/RunOptions.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

using namespace heddle;

const char *const heddle::kRunHelp =
    R"(usage: heddle-run FILE [TEXT...] [options]

Translates each TEXT, or each line of standard input, with the model that
heddle-compile wrote to FILE, and prints a line for each.

  --batch N          sentences that run together at most (default 16)
  --threads N        threads that share the work of a batch (default 1)
  --workers N        batches that run at the same time, each on threads of its
                     own (default 1)
  --min-length N     generate at least N tokens a sentence, the end included,
                     unless a limit comes before
  --max-length N     generate at most N tokens a sentence, the end included
  --max-source N     refuse lines of more than N tokens, the end included; time
                     grows with their square (default: what FILE says)
  --global POSITIONS tokens of a line that attend to all others and they to
                     them, as 0,5,9 or none (default 0); for models that have
                     such tokens
  --no-shortlist     choose among the whole vocabulary
  --ids              lines are token ids, in and out
  --teacher FILE     score the target ids in FILE, one line an input, and
  --logits FILE.npy  write the logits, float32 [lines, longest, vocabulary]
  --form full|step   with --teacher: the decoder's form (default full)
  --hidden FILE.npy  write what the encoder makes of each line instead of
                     translating it, float32 [lines, longest, width]
  --profile[=FILE]   say at the end, on standard error, how long each kernel took
                     and how close it came to this machine's peaks, which takes
                     a second to measure; FILE gets the same as JSON
  --verify           check the weights too, and the zeros between sections
  --info             print what FILE holds; the memory of decoding at
                     --max-length positions where that is given
  --help             print this
  --version          print the version
)";

/// Beyond these a number is a mistake.
static constexpr int64_t kMaxBatch = 4096;
static constexpr int64_t kMaxThreads = 256;
static constexpr int64_t kMaxMaxLength = 1000000;

static Status parseNumber(const std::string &flag, const std::string &text,
                          int64_t high, std::optional<int64_t> &number) {
  int64_t value = 0;
  const char *end = text.data() + text.size();
  auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end || value < 1 || value > high)
    return Status::error(flag, " has the value '", text,
                         "', expected a number from 1 to ", high);
  number = value;
  return Status::success();
}

/// "none", or positions in any order.
static Status parsePositions(const std::string &text,
                             std::optional<std::vector<int32_t>> &positions) {
  positions.emplace();
  if (text == "none")
    return Status::success();
  const char *at = text.data(), *end = at + text.size();
  for (bool isMore = true; isMore;) {
    int32_t value = 0;
    auto [rest, error] = std::from_chars(at, end, value);
    isMore = rest != end && *rest == ',';
    if (error != std::errc() || value < 0 || (rest != end && !isMore))
      return Status::error("--global has the value '", text,
                           "', expected positions, as 0,5,9, or none");
    positions->push_back(value);
    at = rest + 1;
  }
  std::sort(positions->begin(), positions->end());
  auto twice = std::adjacent_find(positions->begin(), positions->end());
  if (twice != positions->end())
    return Status::error("--global has the position ", *twice, " twice");
  return Status::success();
}

static Status parseForm(const std::string &text, DecoderForm &form) {
  if (text != "full" && text != "step")
    return Status::error("--form has the value '", text,
                         "', expected full or step");
  form = text == "full" ? DecoderForm::Full : DecoderForm::Step;
  return Status::success();
}

/// A flag without a value, if it is one.
static bool *findSwitch(RunOptions &options, const std::string &flag) {
  if (flag == "--ids")
    return &options.ids;
  if (flag == "--info")
    return &options.info;
  if (flag == "--verify")
    return &options.verify;
  if (flag == "--help")
    return &options.help;
  if (flag == "--version")
    return &options.version;
  return nullptr;
}

static bool takesValue(const std::string &flag) {
  return flag == "--batch" || flag == "--threads" || flag == "--workers" ||
         flag == "--min-length" || flag == "--max-length" ||
         flag == "--max-source" || flag == "--global" || flag == "--teacher" ||
         flag == "--logits" || flag == "--form" || flag == "--hidden";
}

static Status setValue(RunOptions &options, const std::string &flag,
                       const std::string &value) {
  if (flag == "--batch")
    return parseNumber(flag, value, kMaxBatch, options.batch);
  if (flag == "--threads")
    return parseNumber(flag, value, kMaxThreads, options.threads);
  if (flag == "--workers")
    return parseNumber(flag, value, kMaxThreads, options.workers);
  if (flag == "--min-length")
    return parseNumber(flag, value, kMaxMaxLength, options.minLength);
  if (flag == "--max-length")
    return parseNumber(flag, value, kMaxMaxLength, options.maxLength);
  if (flag == "--max-source")
    return parseNumber(flag, value, kMaxMaxLength, options.maxSource);
  if (flag == "--global")
    return parsePositions(value, options.globalTokens);
  if (flag == "--form")
    return parseForm(value, options.form);
  if (value.empty())
    return Status::error(flag, " has an empty value, expected a file");
  (flag == "--teacher"  ? options.teacher
   : flag == "--logits" ? options.logits
                        : options.hidden) = value;
  return Status::success();
}

/// Keeps the value of a flag, which has none so far.
static Status giveOnce(const std::string &flag, const std::string &value,
                       std::map<std::string, std::string> &given) {
  auto [earlier, isNew] = given.emplace(flag, value);
  return isNew ? Status::success()
               : Status::error(flag, " is given twice, as '", earlier->second,
                               "' and as '", value, "'");
}

/// What only translations read, where something else is to be done.
static Status checkTranslates(const RunOptions &options) {
  const char *job = !options.teacher.empty()  ? "--teacher scores"
                    : !options.hidden.empty() ? "--hidden encodes"
                                              : nullptr;
  // Scoring is the one job that several workers do not share.
  bool shared = options.teacher.empty();
  for (auto [flag, given] :
       {std::pair("--workers", options.workers && !shared),
        std::pair("--min-length", options.minLength.has_value()),
        std::pair("--max-length", options.maxLength.has_value()),
        std::pair("--no-shortlist", !options.useShortlist)})
    if (job && given)
      return Status::error(flag, " is for translations, but ", job);
  return Status::success();
}

static Status checkTogether(const RunOptions &options, bool hasForm) {
  if (options.file.empty())
    return Status::error("no model file is given, expected heddle-run FILE");
  if (options.info && !options.texts.empty())
    return Status::error("--info takes no text, found '", options.texts[0],
                         "'");
  if (options.teacher.empty() != options.logits.empty())
    return options.logits.empty()
               ? Status::error("--teacher needs --logits FILE.npy")
               : Status::error("--logits needs --teacher FILE");
  if (hasForm && options.teacher.empty())
    return Status::error("--form needs --teacher FILE");
  if (!options.hidden.empty() && !options.teacher.empty())
    return Status::error("--hidden encodes, but --teacher scores");
  if (options.minLength && options.maxLength &&
      *options.minLength > *options.maxLength)
    return Status::error("--min-length is ", *options.minLength,
                         " but --max-length is ", *options.maxLength);
  return checkTranslates(options);
}

Result<RunOptions>
heddle::parseRunOptions(const std::vector<std::string> &arguments) {
  RunOptions options;
  std::map<std::string, std::string> given;
  bool onlyText = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string &argument = arguments[i];
    if (onlyText || argument.substr(0, 2) != "--") {
      if (options.file.empty() && argument.empty())
        return Status::error("the name of the model file is empty");
      if (options.file.empty())
        options.file = argument;
      else
        options.texts.push_back(argument);
      continue;
    }
    if (argument == "--") {
      onlyText = true;
      continue;
    }
    size_t equals = argument.find('=');
    std::string flag = argument.substr(0, equals);
    if (takesValue(flag)) {
      if (equals == std::string::npos && ++i == arguments.size())
        return Status::error(flag, " needs a value");
      std::string value = equals == std::string::npos
                              ? arguments[i]
                              : argument.substr(equals + 1);
      if (Status status = setValue(options, flag, value); !status.ok())
        return status;
      if (Status status = giveOnce(flag, value, given); !status.ok())
        return status;
    } else if (argument == "--profile=") {
      return Status::error("--profile has an empty value, expected a file");
    } else if (flag == "--profile") {
      options.profile =
          equals == std::string::npos ? "" : argument.substr(equals + 1);
      if (Status status = giveOnce(flag, *options.profile, given); !status.ok())
        return status;
    } else if (argument == "--no-shortlist") {
      options.useShortlist = false;
    } else if (bool *enabled = findSwitch(options, argument)) {
      *enabled = true;
    } else {
      return Status::error("unknown flag '", argument,
                           "' (text that begins with -- follows a '--')");
    }
  }
  if (!options.help && !options.version)
    if (Status status = checkTogether(options, given.count("--form") > 0);
        !status.ok())
      return status;
  return options;
}
