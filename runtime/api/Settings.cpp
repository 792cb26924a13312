//===- Settings.cpp - What a session is asked for -------------------------===//
//
// One row a setting. Values are kept as text, checked when they are set and
// read again when somebody asks for all: so each can be unset.
//
//===----------------------------------------------------------------------===//

#include "runtime/api/Settings.h"

#include "runtime/api/SettingValues.h"
#include "runtime/lines/Workers.h"

#include <algorithm>
#include <iterator>
#include <utility>

using namespace heddle;

/// Beyond these a number is a mistake.
static constexpr int64_t kMostSentences = 4096;
static constexpr int64_t kMostMebibytes = int64_t(1) << 30;
static constexpr int64_t kMostTokens = 1000000;

//===----------------------------------------------------------------------===//
// How values are read
//===----------------------------------------------------------------------===//

namespace {
/// Reads the value of a setting, which errors call `name`.
using Reader = Status (*)(SettingValues &values, const std::string &name,
                          const std::string &text);

struct Row {
  heddle_setting setting;
  Reader read;
};
} // namespace

/// Puts a value that was read into its place.
template <typename Place, typename T>
static Status put(Place &place, Result<T> value) {
  if (!value.ok())
    return value.status();
  place = std::move(*value);
  return Status::success();
}

template <auto Member>
static Status readSwitch(SettingValues &values, const std::string &name,
                         const std::string &text) {
  return put(values.*Member, parseSwitch(name, text));
}
template <auto Member, int64_t Low, int64_t High>
static Status readNumber(SettingValues &values, const std::string &name,
                         const std::string &text) {
  return put(values.*Member, parseNumber(name, text, Low, High));
}
template <auto Member, int64_t Low>
static Status readCount(SettingValues &values, const std::string &name,
                        const std::string &text) {
  return put(values.search.*Member, parseNumber(name, text, Low, kMostTokens));
}
template <auto Member>
static Status readPart(SettingValues &values, const std::string &name,
                       const std::string &text) {
  return put(values.search.*Member, parseReal(name, text, 0, 1));
}

static Status readMaxMemory(SettingValues &values, const std::string &name,
                            const std::string &text) {
  return put(values.maxMemory,
             parseNumber(name, text, 1, kMostMebibytes, "of MiB "));
}
static Status readBeams(SettingValues &values, const std::string &name,
                        const std::string &text) {
  return put(values.search.beams, parseNumber(name, text, 1, kMostBeams));
}
template <auto Member>
static Status readPenalty(SettingValues &values, const std::string &name,
                          const std::string &text) {
  return put(values.search.*Member,
             parseReal(name, text, -kMostReal, kMostReal));
}
static Status readEarlyStopping(SettingValues &values, const std::string &name,
                                const std::string &text) {
  values.search.earlyStopping = parseEarlyStopping(text);
  return values.search.earlyStopping
             ? Status::success()
             : Status::error(name, " has the value '", text,
                             "', expected true, false, never or shrink");
}
static Status readRepetitionPenalty(SettingValues &values,
                                    const std::string &name,
                                    const std::string &text) {
  return put(values.search.repetitionPenalty,
             parseReal(name, text, kLeastReal, kMostReal));
}
static Status readRenormalize(SettingValues &values, const std::string &name,
                              const std::string &text) {
  return put(values.search.renormalizes, parseSwitch(name, text));
}
static Status readSuppressed(SettingValues &values, const std::string &name,
                             const std::string &text) {
  return put(values.search.suppress, parseIdList(name, text));
}
static Status readAlternatives(SettingValues &values, const std::string &name,
                               const std::string &text) {
  return put(values.search.alternatives,
             parseNumber(name, text, 1, kMostBeams));
}
static Status readSample(SettingValues &values, const std::string &name,
                         const std::string &text) {
  return put(values.search.samples, parseSwitch(name, text));
}
static Status readNoShortlist(SettingValues &values, const std::string &name,
                              const std::string &text) {
  Result<bool> without = parseSwitch(name, text);
  values.search.useShortlist = !without.ok() || !*without;
  return without.status();
}
static Status readTemperature(SettingValues &values, const std::string &name,
                              const std::string &text) {
  return put(values.search.temperature, parseReal(name, text, 0, kMostReal));
}
static Status readSeed(SettingValues &values, const std::string &name,
                       const std::string &text) {
  return put(values.search.seed, parseSeed(name, text));
}
static Status readSplit(SettingValues &values, const std::string &name,
                        const std::string &text) {
  values.splitRules =
      text == "browser" ? SplitRules::Browser : SplitRules::AllScripts;
  if (text == "browser")
    return put(values.split, Result<bool>(true));
  Status status = put(values.split, parseSwitch(name, text));
  return status.ok() ? status : Status::error(status.message(), " or browser");
}
static Status readGlobalTokens(SettingValues &values, const std::string &name,
                               const std::string &text) {
  return put(values.globalTokens, parsePositions(name, text));
}
template <auto Member>
static Status readLanguage(SettingValues &values, const std::string &name,
                           const std::string &text) {
  auto isPart = [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  if (text.empty() || !std::all_of(text.begin(), text.end(), isPart))
    return Status::error(name, " has the value '", text,
                         "', expected the name of a language, as pt_XX");
  values.*Member = text;
  return Status::success();
}
static Status readOnError(SettingValues &values, const std::string &name,
                          const std::string &text) {
  values.onError = parseOnError(text);
  return values.onError ? Status::success()
                        : Status::error(name, " has the value '", text,
                                        "', expected stop, skip or crop");
}
static Status readWorkers(SettingValues &values, const std::string &name,
                          const std::string &text) {
  values.allWorkers = text == "all";
  if (values.allWorkers)
    return Status::success();
  Status status = put(values.workers, parseNumber(name, text, 1, kMostWorkers));
  return status.ok() ? status : Status::error(status.message(), ", or all");
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static constexpr const char *kSearch = "Search", *kSamples = "Samples",
                            *kText = "Text", *kMachine = "Machine";

static constexpr Row kRows[] = {
    {{"beam", "N", kSearch,
      "search with N beams; 1 is greedy (default: what the model says, "
      "as for all that follow down to seed)"},
     readBeams},
    {{"length-penalty", "A", kSearch,
      "divide the log-probability of a hypothesis of n tokens by n^A"},
     readPenalty<&SearchOptions::lengthPenalty>},
    {{"word-penalty", "W", kSearch,
      "subtract W for each token before that division (default 0)"},
     readPenalty<&SearchOptions::wordPenalty>},
    {{"early-stopping", "true|false|never|shrink", kSearch,
      "when to end a search with N finished hypotheses: at once "
      "(true), when the others look worse (false), or when they cannot "
      "become better (never); shrink: each finished one takes its beam "
      "along, as in Marian"},
     readEarlyStopping},
    {{"min-length", "N", kSearch,
      "generate at least N tokens, unless a limit comes first"},
     readCount<&SearchOptions::minLength, 0>},
    {{"max-length", "N", kSearch,
      "generate at most N tokens a sentence, the end included"},
     readCount<&SearchOptions::maxLength, 1>},
    {{"no-repeat-ngram", "N", kSearch,
      "never generate the same sequence of N tokens twice"},
     readCount<&SearchOptions::noRepeatNgram, 0>},
    {{"repetition-penalty", "X", kSearch,
      "penalize tokens that were already generated (1 is off)"},
     readRepetitionPenalty},
    {{"renormalize", nullptr, kSearch,
      "normalize probabilities again after constraints, as "
      "renormalize_logits of transformers"},
     readRenormalize},
    {{"suppress", "IDS", kSearch, "never generate these token ids, as 4,17"},
     readSuppressed},
    {{"no-shortlist", nullptr, kSearch, "choose among the whole vocabulary"},
     readNoShortlist},
    {{"n-best", "N", kSearch,
      "give the N best hypotheses of a search, at most its beams"},
     readNumber<&SettingValues::nBest, 1, kMostBeams>},
    {{"alternatives", "N", kSearch,
      "give the N best next tokens behind a prefix, each with the best "
      "translation that follows"},
     readAlternatives},
    {{"token-scores", nullptr, kSearch,
      "give the log-probability of each token, too, with scores, "
      "n-best or alternatives"},
     readSwitch<&SettingValues::tokenScores>},
    {{"scores", nullptr, kSearch, "give scores of greedy searches, too"},
     readSwitch<&SettingValues::scores>},
    {{"sample", nullptr, kSamples,
      "draw tokens instead of taking the likeliest"},
     readSample},
    {{"temperature", "T", kSamples, "sampling temperature; 0 is greedy"},
     readTemperature},
    {{"top-k", "K", kSamples, "draw from the K likeliest tokens, 0 for all"},
     readCount<&SearchOptions::topK, 0>},
    {{"top-p", "P", kSamples,
      "draw from the fewest tokens with the probability P"},
     readPart<&SearchOptions::topP>},
    {{"min-p", "P", kSamples,
      "draw from tokens with P of the likeliest one's probability"},
     readPart<&SearchOptions::minP>},
    {{"seed", "S", kSamples,
      "random seed (default 0); the result of a line does not depend on other "
      "lines"},
     readSeed},
    {{"split", nullptr, kText,
      "translate running text sentence by sentence; white space stays; "
      "browser in place of true cuts as browsers do, at . ? ! alone"},
     readSplit},
    {{"ids", nullptr, kText,
      "texts are token ids, in and out, also those of targets and bad "
      "words"},
     readSwitch<&SettingValues::ids>},
    {{"source-language", "NAME", kText,
      "the language of the input, as pt_XX or pt, for models of many languages "
      "(default: what the model says)"},
     readLanguage<&SettingValues::sourceLanguage>},
    {{"target-language", "NAME", kText,
      "the language to translate into, likewise"},
     readLanguage<&SettingValues::targetLanguage>},
    {{"max-source", "N", kText,
      "refuse lines of more than N tokens, the end included (default: "
      "what the model says); time grows with their square"},
     readNumber<&SettingValues::maxSource, 1, kMostTokens>},
    {{"on-error", "stop|skip|crop", kText,
      "what to do about a line that the model cannot take: stop there, "
      "skip it (its answer is empty), or crop it to the most tokens a "
      "line may have; skipped and cropped lines are counted (default: "
      "stop, unless the model says crop)"},
     readOnError},
    {{"global", "POSITIONS", kText,
      "positions of tokens that attend to all others and they to them, "
      "as 0,5,9 or none (default 0), if the model has global tokens"},
     readGlobalTokens},
    {{"batch", "N", kMachine,
      "run at most N sentences together (default 16, or fewer if "
      "otherwise workers would have nothing to do)"},
     readNumber<&SettingValues::batch, 1, kMostSentences>},
    {{"threads", "N", kMachine,
      "share the work of a batch among N threads (default 1)"},
     readNumber<&SettingValues::threads, 1, kMostWorkers>},
    {{"workers", "N|all", kMachine,
      "run N batches at the same time, each on threads of its own; all "
      "is as many as keep the cores of the process busy (default: all, "
      "or 1 for a session of the library)"},
     readWorkers},
    {{"max-memory", "MIB", kMachine,
      "limit what the process may allocate beside the file's weights, "
      "or on a GPU what batches may take of its memory: batches become "
      "smaller, workers fewer unless their number is given, and a line "
      "that needs more is refused"},
     readMaxMemory},
    {{"profile", nullptr, kMachine,
      "count how often each CPU kernel runs, its work and its time"},
     readSwitch<&SettingValues::profile>},
};

static const Row *findRow(const std::string &name) {
  const Row *row =
      std::find_if(std::begin(kRows), std::end(kRows),
                   [&](const Row &each) { return each.setting.name == name; });
  return row == std::end(kRows) ? nullptr : row;
}

const std::vector<heddle_setting> &heddle::settingsList() {
  static const std::vector<heddle_setting> list = [] {
    std::vector<heddle_setting> settings;
    for (const Row &row : kRows)
      settings.push_back(row.setting);
    return settings;
  }();
  return list;
}

//===----------------------------------------------------------------------===//
// A set of settings
//===----------------------------------------------------------------------===//

Status Settings::set(const std::string &name, const char *value) {
  const Row *row = findRow(name);
  if (!row)
    return Status::error("unknown setting '", nameOf(name), "'");
  if (!value) {
    given.erase(name);
    return Status::success();
  }
  SettingValues ignored;
  Status status = row->read(ignored, nameOf(name), value);
  if (status.ok())
    given[name] = value;
  return status;
}

SettingValues Settings::values() const {
  SettingValues values;
  for (const auto &[name, text] : given)
    // Was read before.
    (void)findRow(name)->read(values, name, text).ok();
  return values;
}

/// What samples and what is drawn ask of each other.
Status Settings::checkSamples(const SettingValues &values) const {
  const SearchOptions &search = values.search;
  if (search.samples && search.beams.value_or(1) > 1)
    return Status::error(nameOf("sample"), " draws one sequence, but ",
                         nameOf("beam"), " is ", *search.beams);
  if (search.samples)
    return Status::success();
  for (const char *name : {"temperature", "top-k", "top-p", "min-p", "seed"})
    if (has(name))
      return Status::error(nameOf(name), " needs ", nameOf("sample"));
  return Status::success();
}

Status Settings::checkHypotheses(const SettingValues &values) const {
  const SearchOptions &search = values.search;
  if (search.alternatives > 0) {
    if (search.samples)
      return Status::error(nameOf("alternatives"),
                           " gives the best next tokens, but ",
                           nameOf("sample"), " draws");
    for (const char *name : {"n-best", "scores"})
      if (has(name))
        return Status::error(nameOf("alternatives"),
                             " gives a translation with scores for each next "
                             "token, ",
                             nameOf(name), " adds none");
  }
  if (values.tokenScores && !values.nBest && !values.scores &&
      search.alternatives == 0)
    return Status::error(nameOf("token-scores"), " needs ", nameOf("scores"),
                         ", ", nameOf("n-best"), " or ",
                         nameOf("alternatives"));
  if (!values.nBest)
    return Status::success();
  if (search.samples)
    return Status::error(nameOf("n-best"),
                         " gives what a beam search found, but ",
                         nameOf("sample"), " draws");
  if (search.beams && *values.nBest > *search.beams)
    return Status::error(nameOf("n-best"), " is ", *values.nBest, " but ",
                         nameOf("beam"), " is ", *search.beams);
  if (values.scores)
    return Status::error(nameOf("n-best"), " gives scores, ", nameOf("scores"),
                         " adds none");
  return Status::success();
}

/// What belongs to a whole line cannot be joined.
Status Settings::checkSplit(const SettingValues &values) const {
  if (values.split)
    for (auto [name, isGiven] :
         {std::pair("ids", values.ids),
          std::pair("n-best", values.nBest.has_value()),
          std::pair("alternatives", values.search.alternatives > 0),
          std::pair("scores", values.scores)})
      if (isGiven)
        return Status::error(nameOf("split"),
                             " cuts lines into sentences, but ", nameOf(name),
                             " is for whole lines");
  return Status::success();
}

Status Settings::check() const {
  SettingValues all = values();
  if (all.ids && all.sourceLanguage)
    return Status::error(nameOf("source-language"), " is of texts, but ",
                         nameOf("ids"),
                         " gives ids, which have their language with them");
  const SearchOptions &search = all.search;
  if (all.maxMemory && all.profile)
    return Status::error(nameOf("profile"),
                         " measures the machine's peaks, with memory that ",
                         nameOf("max-memory"), " does not bound");
  if (search.minLength && search.maxLength &&
      *search.minLength > *search.maxLength)
    return Status::error(nameOf("min-length"), " is ", *search.minLength,
                         " but ", nameOf("max-length"), " is ",
                         *search.maxLength);
  if (Status status = checkSamples(all); !status.ok())
    return status;
  if (Status status = checkHypotheses(all); !status.ok())
    return status;
  return checkSplit(all);
}
