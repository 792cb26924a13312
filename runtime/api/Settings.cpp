//===- Settings.cpp - What a session is asked for -------------------------===//
//
// One row a setting: those of searches are rows of SearchSettings.def, those of
// texts and of the machine stand here. Values are kept as text, checked when
// they are set and read again when somebody asks for all: so each can be unset.
//
//===----------------------------------------------------------------------===//

#include "runtime/api/Settings.h"

#include "runtime/api/SettingValues.h"
#include "runtime/lines/Workers.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

using namespace heddle;

/// Beyond these a number is a mistake.
static constexpr int64_t kMostSentences = 4096;
static constexpr int64_t kMostDimensions = int64_t(1) << 20;
static constexpr int64_t kMostLabels = int64_t(1) << 20;

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
template <auto Member>
static Status readEmbedSwitch(SettingValues &values, const std::string &name,
                              const std::string &text) {
  return put(values.embed.*Member, parseSwitch(name, text));
}
static Status readDimensions(SettingValues &values, const std::string &name,
                             const std::string &text) {
  return put(values.embed.dimensions,
             parseNumber(name, text, 1, kMostDimensions));
}
static Status readTop(SettingValues &values, const std::string &name,
                      const std::string &text) {
  return put(values.label.top, parseNumber(name, text, 1, kMostLabels));
}
static Status readLongest(SettingValues &values, const std::string &name,
                          const std::string &text) {
  return put(values.answer.longest,
             parseNumber(name, text, 1, kMostTokensAsked));
}
static Status readUnanswerable(SettingValues &values, const std::string &name,
                               const std::string &text) {
  return put(values.answer.mayBeNone, parseSwitch(name, text));
}
static Status readAggregation(SettingValues &values, const std::string &name,
                              const std::string &text) {
  constexpr std::string_view names[] = {"none", "simple", "first", "average",
                                        "max"};
  auto found = std::find(std::begin(names), std::end(names), text);
  if (found == std::end(names))
    return Status::error(name, " has the value '", text,
                         "', expected none, simple, first, average or max");
  values.label.aggregation = Aggregation(found - std::begin(names));
  return Status::success();
}
static Status readPrompt(SettingValues &values, const std::string &,
                         const std::string &text) {
  return put(values.embed.prompt, Result<std::string>(text));
}
static Status readMaxMemory(SettingValues &values, const std::string &name,
                            const std::string &text) {
  return put(values.maxMemory,
             parseNumber(name, text, 1, kMostMebibytes, "of MiB "));
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
  return put(values.inputs["global"], parsePositions(name, text));
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
static Status readWeights(SettingValues &values, const std::string &name,
                          const std::string &text) {
  return put(values.ensembleWeights, parseWeights(name, text));
}
static Status readMean(SettingValues &values, const std::string &name,
                       const std::string &text) {
  values.ensembleMean = text == "linear" ? EnsembleMean::Probabilities
                                         : EnsembleMean::LogProbabilities;
  return text == "linear" || text == "log"
             ? Status::success()
             : Status::error(name, " has the value '", text,
                             "', expected log or linear");
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

static Result<EarlyStopping> parseRule(const std::string &name,
                                       const std::string &text) {
  if (std::optional<EarlyStopping> rule = parseEarlyStopping(text))
    return *rule;
  std::string expected;
  for (size_t i = 0, count = std::size(kEarlyStoppingNames); i < count; ++i) {
    expected += i == 0 ? "" : i + 1 < count ? ", " : " or ";
    expected += kEarlyStoppingNames[i];
  }
  return Status::error(name, " has the value '", text, "', expected ",
                       expected);
}
/// The value of a search setting, by its kind.
template <SettingKind Kind>
static auto parse(const Setting &setting, const std::string &name,
                  const std::string &text) {
  if constexpr (Kind == SettingKind::Count || Kind == SettingKind::Limit) {
    double high = std::min(setting.high, double(kMostTokensAsked));
    return parseNumber(name, text, int64_t(setting.callerLow), int64_t(high));
  } else if constexpr (Kind == SettingKind::Number) {
    return parseReal(name, text, setting.callerLow, setting.high);
  } else if constexpr (Kind == SettingKind::Switch) {
    return parseSwitch(name, text);
  } else if constexpr (Kind == SettingKind::Rule) {
    return parseRule(name, text);
  } else if constexpr (Kind == SettingKind::Ids) {
    return parseIdList(name, text);
  } else if constexpr (Kind == SettingKind::Seed) {
    return parseSeed(name, text);
  } else {
    static_assert(Kind == SettingKind::IdLists, "expected a reader of values");
    return Result<setting_type::IdLists>(
        Status::error(name, " is given by lines"));
  }
}
template <SettingKind Kind, const Setting &Row, auto Member>
static Status readSearch(SettingValues &values, const std::string &name,
                         const std::string &text) {
  return put(values.search.*Member, parse<Kind>(Row, name, text));
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static constexpr Row kSearchRows[] = {
#define SETTING(KIND, FIELD, DEFAULT, ROW)                                     \
  {{setting::FIELD.name, setting::FIELD.value, setting::FIELD.group,           \
    setting::FIELD.help},                                                      \
   readSearch<SettingKind::KIND, setting::FIELD, &SearchOptions::FIELD>},
#define CALLER_SETTING SETTING
#include "runtime/artifact/SearchSettings.def"
};

static constexpr Row kOtherRows[] = {
    {{"ensemble-mean", "log|linear", kSearchGroup,
      "what an ensemble takes the mean of: the log-probabilities of a token "
      "(log, the default), or its probabilities (linear)"},
     readMean},
    {{"ensemble-weights", "W,W,...", kSearchGroup,
      "the weight of each model of an ensemble in that mean, the first one's "
      "first; they are divided by their sum (default: equal weights)"},
     readWeights},
    {{"split", nullptr, kTextGroup,
      "translate running text sentence by sentence; white space stays; "
      "browser in place of true cuts as browsers do, at . ? ! alone"},
     readSplit},
    {{"ids", nullptr, kTextGroup,
      "texts are token ids, in and out, also those of targets and bad "
      "words"},
     readSwitch<&SettingValues::ids>},
    {{"source-language", "NAME", kTextGroup,
      "the language of the input, as eng_Latn or en, for models of many "
      "languages; --info lists them (default: what the model says)"},
     readLanguage<&SettingValues::sourceLanguage>},
    {{"target-language", "NAME", kTextGroup,
      "the language to translate into, likewise"},
     readLanguage<&SettingValues::targetLanguage>},
    {{"max-source", "N", kTextGroup,
      "read at most N tokens of a line, special ones included: more are "
      "refused "
      "by a translation and cut by other tasks (default: what the model says)"},
     readNumber<&SettingValues::maxSource, 1, kMostTokensAsked>},
    {{"on-error", "stop|skip|crop", kTextGroup,
      "what to do about a line that the model cannot take: stop there, "
      "skip it (its answer is empty), or crop it to the most tokens a "
      "line may have; skipped and cropped lines are counted (default: "
      "stop, unless the model says crop)"},
     readOnError},
    {{"global", "POSITIONS", kTextGroup,
      "positions of tokens that attend to all tokens and that all tokens "
      "attend to, as 0,5,9 or none, if the model has global tokens (default: "
      "0 to translate or to label a line, the tokens of a question, otherwise "
      "none)"},
     readGlobalTokens},
    {{"prompt", "NAME", kVectorGroup,
      "put the prompt of this name in front of each text, as query or "
      "passage; an empty name for none (default: what the model says)"},
     readPrompt},
    {{"dimensions", "N", kVectorGroup,
      "give the first N numbers of each vector alone"},
     readDimensions},
    {{"normalize", nullptr, kVectorGroup,
      "give vectors of length 1, behind --dimensions; most models do so "
      "themselves, before it"},
     readEmbedSwitch<&EmbedOptions::normalizes>},
    {{"top", "N", kLabelGroup,
      "give the N best labels of a text (default: all) or of a token (default: "
      "1), the N best tokens for a mask (default: 5), answers to a question "
      "(default: 1) or lines of a ranking (default: all)"},
     readTop},
    {{"aggregate", "none|simple|first|average|max", kLabelGroup,
      "of a tagger, join neighbouring tokens with one label and leave out "
      "those "
      "labelled O: as they are (simple), or once the tokens of a word have the "
      "label of the first, of their mean or of the most certain one; none "
      "joins nothing (default: the label of each token)"},
     readAggregation},
    {{"max-answer", "N", kLabelGroup,
      "give answers of at most N tokens, before they become whole words "
      "(default 15)"},
     readLongest},
    {{"unanswerable", nullptr, kLabelGroup,
      "that a text has no answer is an answer, too: an empty one"},
     readUnanswerable},
    {{"stride", "N", kTextGroup,
      "read texts that are too long in windows, of which each has N tokens of "
      "the one before it: with --aggregate, to answer questions, which always "
      "does so (default 128, or half a window), or to score with a language "
      "model"},
     readNumber<&SettingValues::stride, 0, kMostTokensAsked>},
    {{"no-truncate", nullptr, kTextGroup,
      "refuse texts that are too long for a model that embeds or labels texts "
      "(default: it reads their beginning, and a warning counts them)"},
     readSwitch<&SettingValues::refusesLong>},
    {{"batch", "N", kMachineGroup,
      "run at most N sentences together (default 16, or fewer to keep all "
      "workers busy)"},
     readNumber<&SettingValues::batch, 1, kMostSentences>},
    {{"threads", "N", kMachineGroup,
      "share the work of a batch among N threads (default 1)"},
     readNumber<&SettingValues::threads, 1, kMostWorkers>},
    {{"workers", "N|all", kMachineGroup,
      "run N batches at the same time, each on threads of its own; all: as "
      "many as the cores divided by --threads (default: all, or 1 for a "
      "session of the library)"},
     readWorkers},
    {{"max-memory", "MIB", kMachineGroup,
      "limit what the process may allocate beside the file's weights, "
      "or on a GPU what batches may take of its memory: batches become "
      "smaller, workers fewer unless their number is given, and a line "
      "that needs more is refused"},
     readMaxMemory},
    {{"profile", nullptr, kMachineGroup,
      "count how often each CPU kernel runs, its work and its time"},
     readSwitch<&SettingValues::profile>},
};

/// All that have a name.
static const std::vector<Row> &listRows() {
  static const std::vector<Row> rows = [] {
    std::vector<Row> all;
    std::copy_if(std::begin(kSearchRows), std::end(kSearchRows),
                 std::back_inserter(all),
                 [](const Row &row) { return row.setting.name; });
    all.insert(all.end(), std::begin(kOtherRows), std::end(kOtherRows));
    return all;
  }();
  return rows;
}

static const Row *findRow(const std::string &name) {
  for (const Row &row : listRows())
    if (row.setting.name == name)
      return &row;
  return nullptr;
}

const std::vector<heddle_setting> &heddle::settingsList() {
  static const std::vector<heddle_setting> list = [] {
    std::vector<heddle_setting> settings;
    for (const Row &row : listRows())
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
  for (const auto &[name, value, group, help] : settingsList())
    if (group == std::string_view(kSamplesGroup) &&
        name != std::string_view("sample") && has(name))
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
    if (search.coveragePenalty.value_or(0) != 0)
      return Status::error(nameOf("alternatives"),
                           " gives translations in the order of next tokens, "
                           "but ",
                           nameOf("coverage-penalty"), " changes it");
    for (const char *name : {"n-best", "scores"})
      if (has(name))
        return Status::error(
            nameOf("alternatives"),
            " gives a translation with scores for each next token, so ",
            nameOf(name), " adds none");
  }
  if (search.tokenScores && !search.nBest && !search.scores &&
      search.alternatives == 0)
    return Status::error(nameOf("token-scores"), " needs ", nameOf("scores"),
                         ", ", nameOf("n-best"), " or ",
                         nameOf("alternatives"));
  if (!search.nBest)
    return Status::success();
  if (!search.samples && search.beams && *search.nBest > *search.beams)
    return Status::error(nameOf("n-best"), " is ", *search.nBest, " but ",
                         nameOf("beam"), " is ", *search.beams);
  if (search.scores)
    return Status::error(nameOf("n-best"), " gives scores, so ",
                         nameOf("scores"), " adds none");
  return Status::success();
}

/// What belongs to a whole line cannot be joined.
Status Settings::checkSplit(const SettingValues &values) const {
  if (values.split)
    for (auto [name, isGiven] :
         {std::pair("ids", values.ids),
          std::pair("n-best", values.search.nBest.has_value()),
          std::pair("alternatives", values.search.alternatives > 0),
          std::pair("scores", values.search.scores),
          std::pair("alignments", values.search.aligns)})
      if (isGiven)
        return Status::error(nameOf("split"),
                             " cuts lines into sentences, but ", nameOf(name),
                             " is for whole lines");
  return Status::success();
}

Status Settings::check() const {
  SettingValues all = values();
  if (all.ids && all.sourceLanguage)
    return Status::error(nameOf("source-language"), " is for texts, but ",
                         nameOf("ids"),
                         " gives ids, which already include their language");
  if (all.ids && all.embed.prompt)
    return Status::error(nameOf("prompt"), " is for texts, but ", nameOf("ids"),
                         " gives ids, which already include it");
  const SearchOptions &search = all.search;
  if (all.maxMemory && all.profile)
    return Status::error(nameOf("profile"),
                         " measures the machine's peaks, with memory that ",
                         nameOf("max-memory"), " does not bound");
  if (search.minNewTokens && search.maxLength &&
      *search.minNewTokens > *search.maxLength)
    return Status::error(nameOf("min-length"), " is ", *search.minNewTokens,
                         " but ", nameOf("max-length"), " is ",
                         *search.maxLength);
  for (auto [name, isGiven] :
       {std::pair("alignments", search.aligns),
        std::pair("replace-unknowns", search.replacesUnknowns)})
    if (isGiven && !stops.empty())
      return Status::error(nameOf(name), " is for whole answers, but ",
                           nameOf("stop"), " cuts them");
  if (search.replacesUnknowns && all.ids)
    return Status::error(nameOf("replace-unknowns"), " is for texts, but ",
                         nameOf("ids"), " gives ids");
  if (Status status = checkSamples(all); !status.ok())
    return status;
  if (Status status = checkHypotheses(all); !status.ok())
    return status;
  return checkSplit(all);
}
