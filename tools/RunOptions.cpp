//===- RunOptions.cpp - The command line of heddle-run --------------------===//
//
// One loop over the arguments. A flag's value is the next argument or stands
// behind '='; behind '--' everything is text.
//
//===----------------------------------------------------------------------===//

#include "tools/RunOptions.h"

#include "runtime/Workers.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <utility>

using namespace heddle;

const char *const heddle::kRunHelp =
    R"(usage: heddle-run FILE [TEXT...] [options]

Translates each TEXT, or each line of standard input, with the model that
heddle-compile wrote to FILE, and prints a line for each.

  --batch N          sentences that run together at most (default 16, or fewer
                     where otherwise workers would have nothing to do)
  --threads N        threads that share the work of a batch (default 1)
  --workers N        batches that run at the same time, each on threads of its
                     own (default: so many that all cores are used that the
                     process may use)
  --max-memory MIB   what the process may allocate beside the file's weights:
                     batches become smaller for that, and workers fewer unless
                     --workers says how many; a line that needs more is refused
  --beam N           search with N beams; 1 is greedy (default: what the model
                     says, as for all that follow down to --seed)
  --length-penalty A divide the log-probability of n tokens by n^A
  --early-stopping true|false|never
                     end a search when N are finished: at once, when the others
                     look worse, or when they cannot become better
  --min-length N     no end while fewer than N tokens are generated, unless a
                     limit comes before
  --max-length N     generate at most N tokens a sentence, the end included
  --no-repeat-ngram N
                     generate no sequence of N tokens twice
  --repetition-penalty X
                     lower the scores of tokens that are there by this factor
  --bad-words FILE   never generate the sequences of FILE, one a line
  --suppress IDS     never generate these token ids, as 4,17
  --sample           draw tokens instead of taking the likeliest
  --temperature T    of the distribution that is drawn from; 0 is greedy
  --top-k K          draw from the K likeliest tokens, 0 for all
  --top-p P          draw from the fewest tokens with the probability P
  --min-p P          draw from tokens with P of the likeliest one's probability
  --seed S           of what is drawn (default 0); the same text for a line
                     whatever runs beside it
  --n-best N         print the N best of a search, at most its beams, each as
                     line number ||| text ||| F0= sum ||| score
  --scores           put the score and a tab before each line
  --prefix FILE      begin each target with a line of FILE
  --score FILE       print how likely the lines of FILE are as translations: the
                     log-probability, a tab and that of each token; at the end,
                     on standard error, the perplexity of all
  --split            lines are running text: translate their sentences, and join
                     the translations
  --max-source N     refuse lines of more than N tokens, the end included; time
                     grows with their square (default: what the model says)
  --global POSITIONS tokens of a line that attend to all others and they to
                     them, as 0,5,9 or none (default 0); for models that have
                     such tokens
  --no-shortlist     choose among the whole vocabulary
  --ids              lines are token ids, in and out; of --bad-words,
                     --prefix and --score, too
  --teacher FILE     score the target ids in FILE, one line an input, and
  --logits FILE.npy  write the logits, float32 [lines, longest, vocabulary]
  --form FORM        with --teacher: the decoder's form, full (the default),
                     step or chunk
  --hidden FILE.npy  write what the encoder makes of each line instead of
                     translating it, float32 [lines, longest, width]
  --profile[=FILE]   say at the end, on standard error, how long each kernel took
                     and how close it came to this machine's peaks, which takes
                     a second to measure; FILE gets the same as JSON
  --verify           check the weights too, and the zeros between sections
  --info             print what the file holds; the memory of decoding at
                     --max-length positions where that is given
  --license          print the notices of what is linked in
  --help             print this
  --version          print the version
)";

/// Beyond these a number is a mistake.
static constexpr int64_t kMaxBatch = 4096;
static constexpr int64_t kMaxThreads = kMostWorkers;
static constexpr int64_t kMaxMemory = int64_t(1) << 30;
static constexpr int64_t kMaxMaxLength = 1000000;
static constexpr double kMostReal = std::numeric_limits<float>::max();
static constexpr double kLeastReal = std::numeric_limits<float>::min();

static Status parseNumber(const std::string &flag, const std::string &text,
                          int64_t low, int64_t high,
                          std::optional<int64_t> &number) {
  int64_t value = 0;
  const char *end = text.data() + text.size();
  auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end || value < low || value > high)
    return Status::error(flag, " has the value '", text,
                         "', expected a number from ", low, " to ", high);
  number = value;
  return Status::success();
}

static Status parseReal(const std::string &flag, const std::string &text,
                        double low, double high,
                        std::optional<double> &number) {
  double value = 0;
  const char *end = text.data() + text.size();
  auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && rest == end && value >= low && value <= high) {
    number = value;
    return Status::success();
  }
  return high == kMostReal
             ? Status::error(flag, " has the value '", text, "', expected a ",
                             low < 0   ? "number"
                             : low > 0 ? "positive number"
                                       : "number of 0 or more")
             : Status::error(flag, " has the value '", text,
                             "', expected a number from ", low, " to ", high);
}

/// Token ids with commas between them.
static Status parseIdList(const std::string &flag, const std::string &text,
                          std::optional<TokenIds> &ids) {
  ids.emplace();
  const char *at = text.data(), *end = at + text.size();
  for (bool isMore = true; isMore;) {
    int32_t id = 0;
    auto [rest, error] = std::from_chars(at, end, id);
    isMore = rest != end && *rest == ',';
    if (error != std::errc() || id < 0 || (rest != end && !isMore))
      return Status::error(flag, " has the value '", text,
                           "', expected token ids, as 4,17");
    ids->push_back(id);
    at = rest + 1;
  }
  return Status::success();
}

static Status parseSeed(const std::string &text, uint64_t &seed) {
  const char *end = text.data() + text.size();
  auto [rest, error] = std::from_chars(text.data(), end, seed);
  return error == std::errc() && rest == end
             ? Status::success()
             : Status::error("--seed has the value '", text,
                             "', expected a number from 0 to 2^64 - 1");
}

static Status parseRule(const std::string &text,
                        std::optional<EarlyStopping> &rule) {
  rule = parseEarlyStopping(text);
  return rule ? Status::success()
              : Status::error("--early-stopping has the value '", text,
                              "', expected true, false or never");
}

static Status parseFile(const std::string &flag, const std::string &text,
                        std::string &file) {
  file = text;
  return text.empty()
             ? Status::error(flag, " has an empty value, expected a file")
             : Status::success();
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
  for (auto [name, known] : {std::pair("full", DecoderForm::Full),
                             std::pair("step", DecoderForm::Step),
                             std::pair("chunk", DecoderForm::Chunk)})
    if (text == name) {
      form = known;
      return Status::success();
    }
  return Status::error("--form has the value '", text,
                       "', expected full, step or chunk");
}

/// A flag without a value, if it is one.
static bool *findSwitch(RunOptions &options, const std::string &flag) {
  const std::pair<std::string_view, bool *> switches[] = {
      {"--help", &options.help},
      {"--ids", &options.ids},
      {"--info", &options.info},
      {"--license", &options.license},
      {"--sample", &options.search.samples},
      {"--scores", &options.scores},
      {"--split", &options.split},
      {"--verify", &options.verify},
      {"--version", &options.version}};
  for (auto [name, enabled] : switches)
    if (name == flag)
      return enabled;
  return nullptr;
}

namespace {
/// A flag with a value: how it is stored.
struct ValueFlag {
  std::string_view name;
  Status (*set)(RunOptions &options, const std::string &flag,
                const std::string &value);
};
} // namespace

/// Numbers of a flag, in a member of the options.
template <auto Member, int64_t Low, int64_t High>
static Status setNumber(RunOptions &options, const std::string &flag,
                        const std::string &value) {
  return parseNumber(flag, value, Low, High, options.*Member);
}
template <auto Member, int64_t Low, int64_t High>
static Status setCount(RunOptions &options, const std::string &flag,
                       const std::string &value) {
  return parseNumber(flag, value, Low, High, options.search.*Member);
}
template <auto Member>
static Status setPart(RunOptions &options, const std::string &flag,
                      const std::string &value) {
  return parseReal(flag, value, 0, 1, options.search.*Member);
}
template <auto Member>
static Status setFile(RunOptions &options, const std::string &flag,
                      const std::string &value) {
  return parseFile(flag, value, options.*Member);
}

static constexpr ValueFlag kValueFlags[] = {
    {"--bad-words", setFile<&RunOptions::badWords>},
    {"--batch", setNumber<&RunOptions::batch, 1, kMaxBatch>},
    {"--beam", setCount<&SearchOptions::beams, 1, kMostBeams>},
    {"--early-stopping",
     [](RunOptions &options, const std::string &, const std::string &value) {
       return parseRule(value, options.search.earlyStopping);
     }},
    {"--form",
     [](RunOptions &options, const std::string &, const std::string &value) {
       return parseForm(value, options.form);
     }},
    {"--global",
     [](RunOptions &options, const std::string &, const std::string &value) {
       return parsePositions(value, options.globalTokens);
     }},
    {"--hidden", setFile<&RunOptions::hidden>},
    {"--length-penalty",
     [](RunOptions &options, const std::string &flag,
        const std::string &value) {
       return parseReal(flag, value, -kMostReal, kMostReal,
                        options.search.lengthPenalty);
     }},
    {"--logits", setFile<&RunOptions::logits>},
    {"--max-length", setCount<&SearchOptions::maxLength, 1, kMaxMaxLength>},
    {"--max-memory", setNumber<&RunOptions::maxMemory, 1, kMaxMemory>},
    {"--max-source", setNumber<&RunOptions::maxSource, 1, kMaxMaxLength>},
    {"--min-length", setCount<&SearchOptions::minLength, 0, kMaxMaxLength>},
    {"--min-p", setPart<&SearchOptions::minP>},
    {"--n-best", setNumber<&RunOptions::nBest, 1, kMostBeams>},
    {"--no-repeat-ngram",
     setCount<&SearchOptions::noRepeatNgram, 0, kMaxMaxLength>},
    {"--prefix", setFile<&RunOptions::prefix>},
    {"--repetition-penalty",
     [](RunOptions &options, const std::string &flag,
        const std::string &value) {
       return parseReal(flag, value, kLeastReal, kMostReal,
                        options.search.repetitionPenalty);
     }},
    {"--score", setFile<&RunOptions::score>},
    {"--seed",
     [](RunOptions &options, const std::string &, const std::string &value) {
       return parseSeed(value, options.search.seed);
     }},
    {"--suppress",
     [](RunOptions &options, const std::string &flag,
        const std::string &value) {
       return parseIdList(flag, value, options.search.suppress);
     }},
    {"--teacher", setFile<&RunOptions::teacher>},
    {"--temperature",
     [](RunOptions &options, const std::string &flag,
        const std::string &value) {
       return parseReal(flag, value, 0, kMostReal, options.search.temperature);
     }},
    {"--threads", setNumber<&RunOptions::threads, 1, kMaxThreads>},
    {"--top-k", setCount<&SearchOptions::topK, 0, kMaxMaxLength>},
    {"--top-p", setPart<&SearchOptions::topP>},
    {"--workers", setNumber<&RunOptions::workers, 1, kMaxThreads>},
};

static const ValueFlag *findValueFlag(std::string_view name) {
  for (const ValueFlag &flag : kValueFlags)
    if (flag.name == name)
      return &flag;
  return nullptr;
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
static Status checkTranslates(const RunOptions &options,
                              const std::map<std::string, std::string> &given) {
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
  for (const char *flag : {"--workers", "--max-memory"})
    if (given.count(flag) && !options.teacher.empty())
      return refuse(flag);
  for (const char *flag :
       {"--bad-words", "--beam", "--early-stopping", "--length-penalty",
        "--max-length", "--min-length", "--min-p", "--n-best",
        "--no-repeat-ngram", "--prefix", "--repetition-penalty", "--seed",
        "--suppress", "--temperature", "--top-k", "--top-p"})
    if (given.count(flag))
      return refuse(flag);
  for (auto [flag, isGiven] :
       {std::pair("--no-shortlist", !options.search.useShortlist),
        std::pair("--sample", options.search.samples),
        std::pair("--scores", options.scores),
        std::pair("--split", options.split)})
    if (isGiven)
      return refuse(flag);
  return Status::success();
}

/// What samples and hypotheses ask of each other.
static Status checkSearch(const RunOptions &options,
                          const std::map<std::string, std::string> &given) {
  const SearchOptions &search = options.search;
  if (search.samples && search.beams.value_or(1) > 1)
    return Status::error("--sample draws one sequence, but --beam is ",
                         *search.beams);
  if (!search.samples)
    for (const char *flag :
         {"--temperature", "--top-k", "--top-p", "--min-p", "--seed"})
      if (given.count(flag))
        return Status::error(flag, " needs --sample");
  if (options.nBest && search.samples)
    return Status::error("--n-best prints what a beam search found, but "
                         "--sample draws");
  if (options.nBest && search.beams && *options.nBest > *search.beams)
    return Status::error("--n-best is ", *options.nBest, " but --beam is ",
                         *search.beams);
  if (options.nBest && options.scores)
    return Status::error("--n-best prints scores, --scores adds none");
  if (search.minLength && search.maxLength &&
      *search.minLength > *search.maxLength)
    return Status::error("--min-length is ", *search.minLength,
                         " but --max-length is ", *search.maxLength);
  return Status::success();
}

/// What belongs to a whole line cannot be joined.
static Status checkSplit(const RunOptions &options) {
  if (!options.split)
    return Status::success();
  for (auto [flag, isGiven] : {std::pair("--ids", options.ids),
                               std::pair("--n-best", options.nBest.has_value()),
                               std::pair("--prefix", !options.prefix.empty()),
                               std::pair("--scores", options.scores)})
    if (isGiven)
      return Status::error("--split cuts lines into sentences, but ", flag,
                           " is for whole lines");
  return Status::success();
}

static Status checkTogether(const RunOptions &options,
                            const std::map<std::string, std::string> &given) {
  if (options.file.empty())
    return Status::error("no model file is given, expected heddle-run FILE");
  if (options.info && !options.texts.empty())
    return Status::error("--info takes no text, found '", options.texts[0],
                         "'");
  if (options.teacher.empty() != options.logits.empty())
    return options.logits.empty()
               ? Status::error("--teacher needs --logits FILE.npy")
               : Status::error("--logits needs --teacher FILE");
  if (given.count("--form") && options.teacher.empty())
    return Status::error("--form needs --teacher FILE");
  if (!options.hidden.empty() && !options.teacher.empty())
    return Status::error("--hidden encodes, but --teacher scores");
  if (!options.score.empty() &&
      !(options.hidden.empty() && options.teacher.empty()))
    return Status::error("--score prints log-probabilities, but ",
                         options.hidden.empty() ? "--teacher" : "--hidden",
                         " writes a file");
  if (options.maxMemory && options.profile)
    return Status::error("--profile measures the machine's peaks, with memory "
                         "that --max-memory does not bound");
  if (Status status = checkSearch(options, given); !status.ok())
    return status;
  if (Status status = checkTranslates(options, given); !status.ok())
    return status;
  return checkSplit(options);
}

Result<RunOptions>
heddle::parseRunOptions(const std::vector<std::string> &arguments,
                        const std::string &carried) {
  RunOptions options;
  options.file = carried;
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
    if (const ValueFlag *known = findValueFlag(flag)) {
      if (equals == std::string::npos && ++i == arguments.size())
        return Status::error(flag, " needs a value");
      std::string value = equals == std::string::npos
                              ? arguments[i]
                              : argument.substr(equals + 1);
      if (Status status = known->set(options, flag, value); !status.ok())
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
      options.search.useShortlist = false;
    } else if (bool *enabled = findSwitch(options, argument)) {
      *enabled = true;
    } else {
      return Status::error("unknown flag '", argument,
                           "' (text that begins with -- follows a '--')");
    }
  }
  if (!options.help && !options.version && !options.license)
    if (Status status = checkTogether(options, given); !status.ok())
      return status;
  return options;
}
