//===- SearchRequest.cpp - What a caller asks of a search -----------------===//
//
// Settings become the options of a search, as ids of the model; hypotheses
// become the answers of heddle.h.
//
//===----------------------------------------------------------------------===//

#include "runtime/api/SearchRequest.h"

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

/// The text of a hypothesis, up to a string that ends it.
static std::string textOf(const Hypothesis &hypothesis,
                          const StopStrings &stops, const LineTokens &tokens) {
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

std::vector<AnswerText> heddle::answersOf(const std::vector<Hypothesis> &found,
                                          const SearchOptions &search,
                                          const StopStrings &stops,
                                          const LineTokens &tokens) {
  size_t most =
      size_t(search.nBest.value_or(std::max<int64_t>(search.alternatives, 1)));
  if (found.empty())
    return {{"", {}, kLowest, kLowest}};
  std::vector<AnswerText> answers;
  for (size_t i = 0; i < std::min(found.size(), most); ++i)
    answers.push_back({textOf(found[i], stops, tokens), found[i].tokens,
                       found[i].sum, found[i].score, scoresOf(found[i])});
  return answers;
}

std::vector<heddle_answer_text>
heddle::viewsOf(const std::vector<AnswerText> &answers) {
  std::vector<heddle_answer_text> views;
  for (const AnswerText &each : answers)
    views.push_back({each.text.c_str(), each.text.size(), each.tokens.data(),
                     each.tokens.size(), each.sum, each.score,
                     each.logProbabilities.empty()
                         ? nullptr
                         : each.logProbabilities.data()});
  return views;
}
