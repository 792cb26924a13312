//===- SearchRequest.cpp - What a caller asks of a search -----------------===//
//
// Settings become the options of a search, as ids of the model; hypotheses
// become the answers of heddle.h.
//
//===----------------------------------------------------------------------===//

#include "runtime/api/SearchRequest.h"

#include "runtime/search/Alignments.h"

#include <algorithm>
#include <limits>
#include <utility>

using namespace heddle;

/// The score of nothing, if no sequence of a beam search could end.
static constexpr float kLowest = -std::numeric_limits<float>::infinity();

/// The sequences that settings forbid.
static Result<std::vector<TokenIds>> badWordsOf(const heddle_session &session,
                                                const LineTokens &tokens) {
  std::vector<TokenIds> words;
  for (const std::string &line : session.settings.forbiddenLines()) {
    Result<TokenIds> ids = tokens.target({line}, TargetPart::Any);
    if (!ids.ok())
      return Status::error("the bad words '", line.substr(0, 80), "' ",
                           ids.message());
    if (!ids->empty())
      words.push_back(std::move(*ids));
  }
  return words;
}

/// The ids of a line of what may come, ascending, with the ends.
static Result<TokenIds> allowedOf(const heddle_session &session,
                                  const LineTokens &tokens,
                                  const std::string &line) {
  const Manifest &manifest = session.model->manifest();
  Result<TokenIds> ids =
      session.values.ids ? parseIds(line) : tokens.tokensOfWords(line);
  if (!ids.ok())
    return ids;
  for (int32_t id : *ids)
    if (id < 0 || id >= manifest.targetVocabulary)
      return Status::error("has the id ", id, " but the vocabulary has ",
                           manifest.targetVocabulary);
  const TokenIds &eos = manifest.generation.eos;
  ids->insert(ids->end(), eos.begin(), eos.end());
  std::sort(ids->begin(), ids->end());
  ids->erase(std::unique(ids->begin(), ids->end()), ids->end());
  return ids;
}

/// What the settings allow, a list for all inputs or one for each.
static Status readAllowed(const heddle_session &session,
                          const LineTokens &tokens, SearchOptions &search) {
  const std::vector<std::string> &lines = session.settings.allowedLines();
  if (lines.size() > 1 && session.values.split)
    return Status::error(session.settings.nameOf("split"),
                         " cuts lines into sentences, but ", lines.size(),
                         " lists of allowed tokens are for whole lines");
  for (const std::string &line : lines) {
    Result<TokenIds> ids = allowedOf(session, tokens, line);
    if (!ids.ok())
      return Status::error("line ", search.allowed.size() + 1,
                           " of the allowed tokens ", ids.message());
    search.allowed.push_back(std::move(*ids));
  }
  return Status::success();
}

/// What the settings say of a search before anything is read for it.
static SearchOptions searchOf(const heddle_session &session) {
  SearchOptions search = session.values.search;
  search.wantsSums = search.scores || search.nBest || search.alternatives > 0;
  search.targetLanguage = session.languages.target;
  if (search.samples && !search.beams)
    search.beams = 1;
  return search;
}

/// Whether tokens are known as they are generated.
static Status checkTellsTokens(const heddle_session &session,
                               const SearchOptions &search, int64_t beams) {
  std::string asked = "tokens are asked for as they are generated, but ";
  auto nameOf = [&](const char *setting) {
    return session.settings.nameOf(setting);
  };
  if (session.values.split)
    return Status::error(asked, nameOf("split"),
                         " joins the answers of sentences");
  if (search.alternatives > 0)
    return Status::error(asked, nameOf("alternatives"), " gives several texts");
  if (search.draws() > 1)
    return Status::error(asked, nameOf("n-best"), " draws ", search.draws(),
                         " texts");
  if (search.wantsAttention())
    return Status::error(
        asked, nameOf(search.aligns ? "alignments" : "replace-unknowns"),
        " reads whole answers");
  if (beams > 1)
    return Status::error(asked, "'", session.model->artifact().path(),
                         "' searches with ", beams, " beams (", nameOf("beam"),
                         " 1 is greedy)");
  return Status::success();
}

StopStrings heddle::stopsOf(const heddle_session &session) {
  return StopStrings(session.settings.stopStrings());
}

/// Whether texts are known while they are generated.
static Status checkStops(const heddle_session &session,
                         const SearchOptions &search, int64_t beams) {
  std::string asked = session.settings.nameOf("stop") + " ends texts, but ";
  if (session.values.ids || !session.model->tokenizer())
    return Status::error(asked, "texts are ids");
  if (session.values.split)
    return Status::error(asked, session.settings.nameOf("split"),
                         " joins the answers of sentences");
  if (search.alternatives > 0)
    return Status::error(asked, session.settings.nameOf("alternatives"),
                         " gives several");
  if (beams > 1)
    return Status::error(asked, "'", session.model->artifact().path(),
                         "' searches with ", beams, " beams (",
                         session.settings.nameOf("beam"), " 1 is greedy)");
  return Status::success();
}

/// Whether a text ends with the token behind these. Some bytes for each token
/// that may have none; of a long text the latest tokens have the whole string.
static bool endsBehind(const TokenIds &before, int64_t generated, int32_t token,
                       const StopStrings &stops, const LineTokens &tokens) {
  constexpr size_t kTokensWithoutText = 16;
  size_t most =
      std::min(size_t(generated), stops.longest() + kTokensWithoutText);
  TokenIds latest(before.end() - ptrdiff_t(most), before.end());
  std::string text = tokens.text(latest);
  latest.push_back(token);
  std::string with = tokens.text(latest);
  return endOfText(with, text, stops) < with.size();
}

/// Whether the model shows what is asked for of what its tokens attended to.
static Status checkAttention(const heddle_session &session,
                             const SearchOptions &search) {
  const Model &model = *session.model;
  for (auto [name, isGiven] :
       {std::pair("alignments", search.aligns),
        std::pair("replace-unknowns", search.replacesUnknowns),
        std::pair("coverage-penalty",
                  search.coveragePenalty.value_or(0) != 0)}) {
    Status status = isGiven ? checkAligns(model) : Status::success();
    if (!status.ok())
      return Status::error(session.settings.nameOf(name), " asks for what '",
                           model.artifact().path(), "' ", status.message());
  }
  if (search.replacesUnknowns && !model.manifest().tokenizer.unknown)
    return Status::error(session.settings.nameOf("replace-unknowns"),
                         " replaces the unknown token, which '",
                         model.artifact().path(), "' does not have");
  return Status::success();
}

Result<SearchOptions> heddle::searchFor(const heddle_session &session,
                                        const LineTokens &tokens) {
  const Model &model = *session.model;
  const std::string &file = model.artifact().path();
  if (session.values.stride)
    return Status::error(session.settings.nameOf("stride"),
                         " is for texts that are scored, expected none where "
                         "texts are continued");
  SearchOptions search = searchOf(session);
  if (Status status = readAllowed(session, tokens, search); !status.ok())
    return status;
  if (!session.settings.forbiddenLines().empty()) {
    Result<std::vector<TokenIds>> words = badWordsOf(session, tokens);
    if (!words.ok())
      return words.status();
    search.badWords = std::move(*words);
  }
  if (Status status = checkAttention(session, search); !status.ok())
    return status;
  if (search.suppress)
    for (int32_t id : *search.suppress)
      if (id >= model.manifest().targetVocabulary)
        return Status::error(session.settings.nameOf("suppress"),
                             " has the id ", id, ", expected ids from 0 to ",
                             model.manifest().targetVocabulary - 1);
  Result<Generation> settings = settingsFor(model.manifest(), search);
  if (!settings.ok())
    return settings.status();
  if (StopStrings stops = stopsOf(session); !stops.empty()) {
    if (Status status = checkStops(session, search, settings->beams);
        !status.ok())
      return status;
    search.endsText = [stops, tokens](const TokenIds &before, int64_t generated,
                                      int32_t token) {
      return endsBehind(before, generated, token, stops, tokens);
    };
  }
  std::string beam = session.settings.nameOf("beam");
  if (search.nBest && !search.samples && *search.nBest > settings->beams)
    return Status::error(session.settings.nameOf("n-best"), " is ",
                         *search.nBest, " but '", file, "' searches with ",
                         settings->beams,
                         settings->beams == 1 ? " beam (" : " beams (", beam,
                         " N asks for more)");
  if (int64_t most = BeamSearch::mostFinished(*settings);
      search.nBest && settings->beams > 1 && *search.nBest > most)
    return Status::error(
        session.settings.nameOf("n-best"), " is ", *search.nBest, " but with ",
        session.settings.nameOf("patience"), " ", settings->patience,
        " a search with ", settings->beams, " beams ends with ", most);
  if (session.onToken)
    if (Status status = checkTellsTokens(session, search, settings->beams);
        !status.ok())
      return status;
  return search;
}

int heddle_session_tells_tokens(const heddle_session *session) {
  if (!session)
    return 0;
  SearchOptions search = searchOf(*session);
  Result<Generation> settings = settingsFor(session->model->manifest(), search);
  return settings.ok() &&
         checkTellsTokens(*session, search, settings->beams).ok();
}

/// Those of all tokens, if a search has kept them: 0 for a prefix.
static std::vector<float> scoresOf(const Hypothesis &hypothesis) {
  std::vector<float> scores = hypothesis.logProbabilities;
  if (!scores.empty())
    scores.insert(scores.begin(), hypothesis.tokens.size() - scores.size(), 0);
  return scores;
}

/// The text of a hypothesis, in which the piece of the source that an unknown
/// token attended to most stands in its place.
static std::string withSourceWords(const Hypothesis &hypothesis,
                                   const LineTokens &tokens) {
  TokenIds before;
  std::string text = tokens.text(hypothesis.tokens), replaced;
  std::vector<std::string> spellings;
  size_t copied = 0, end = 0;
  for (size_t t = 0; t < hypothesis.tokens.size(); ++t) {
    size_t begin = end;
    before.push_back(hypothesis.tokens[t]);
    end = std::min(tokens.text(before).size(), text.size());
    if (!tokens.isUnknown(hypothesis.tokens[t]))
      continue;
    if (spellings.empty())
      spellings = tokens.spellings(hypothesis.sourceText);
    const float *row =
        hypothesis.attention.data() + t * hypothesis.source.size();
    const std::string *best = nullptr;
    float most = -1;
    for (size_t j = 0; j < std::min(spellings.size(), hypothesis.source.size());
         ++j)
      if (!spellings[j].empty() && row[j] > most) {
        best = &spellings[j];
        most = row[j];
      }
    if (!best)
      continue;
    // What follows brings its own space, and special tokens leave none.
    bool isSilent = begin >= end;
    while (begin < end && text[begin] == ' ')
      ++begin;
    replaced.append(text, copied, begin - copied);
    if (replaced.find_first_not_of(' ') == std::string::npos)
      replaced.clear();
    else if (isSilent && replaced.back() != ' ')
      replaced += ' ';
    replaced += *best;
    copied = end;
  }
  return replaced.append(text, copied, std::string::npos);
}

std::string heddle::textOf(const Hypothesis &hypothesis,
                           const SearchOptions &search,
                           const StopStrings &stops, const LineTokens &tokens) {
  if (search.replacesUnknowns)
    return withSourceWords(hypothesis, tokens);
  std::string text = tokens.text(hypothesis.tokens);
  if (stops.empty() || hypothesis.tokens.empty())
    return text;
  auto first = hypothesis.tokens.begin();
  std::string before =
                  tokens.text(TokenIds(first, hypothesis.tokens.end() - 1)),
              given = tokens.text(TokenIds(first, first + hypothesis.given));
  text.resize(endOfText(text, before, stops, given.size()));
  return text;
}

/// Which tokens of its source those of a hypothesis come from.
static Alignment alignmentOf(const Hypothesis &hypothesis,
                             const LineTokens &tokens) {
  Alignment alignment;
  auto [first, end] = tokens.textOf(hypothesis.source);
  alignment.sourceTokens = int64_t(end - first);
  int32_t number = 0;
  for (size_t t = 0; t < hypothesis.tokens.size() && first < end; ++t) {
    if (!tokens.isOfText(hypothesis.tokens[t]))
      continue;
    auto row =
        hypothesis.attention.begin() + ptrdiff_t(t * hypothesis.source.size());
    auto begin = row + ptrdiff_t(first), stop = row + ptrdiff_t(end);
    alignment.attention.insert(alignment.attention.end(), begin, stop);
    alignment.pairs.push_back(int32_t(std::max_element(begin, stop) - begin));
    alignment.pairs.push_back(number++);
  }
  return alignment;
}

std::vector<AnswerText> heddle::answersOf(const std::vector<Hypothesis> &found,
                                          const SearchOptions &search,
                                          const StopStrings &stops,
                                          const LineTokens &tokens) {
  size_t most =
      size_t(search.nBest.value_or(std::max<int64_t>(search.alternatives, 1)));
  if (found.empty())
    return {{"", {}, kLowest, kLowest}};
  std::vector<AnswerText> answers;
  for (size_t i = 0; i < std::min(found.size(), most); ++i) {
    answers.push_back({textOf(found[i], search, stops, tokens), found[i].tokens,
                       found[i].sum, found[i].score, scoresOf(found[i])});
    if (search.aligns)
      answers.back().alignment = alignmentOf(found[i], tokens);
  }
  return answers;
}

std::vector<heddle_answer_text>
heddle::viewsOf(const std::vector<AnswerText> &answers) {
  std::vector<heddle_answer_text> views;
  auto orNull = [](const auto &list) {
    return list.empty() ? nullptr : list.data();
  };
  for (const AnswerText &each : answers)
    views.push_back(
        {each.text.c_str(), each.text.size(), each.tokens.data(),
         each.tokens.size(), each.sum, each.score,
         orNull(each.logProbabilities), orNull(each.alignment.pairs),
         each.alignment.pairs.size() / 2, orNull(each.alignment.attention),
         size_t(each.alignment.sourceTokens)});
  return views;
}
