//===- Answers.cpp - Translations and scores of heddle.h ------------------===//
//
// A batch is a stream of inputs that are in memory, and of answers that stay
// there.
//
//===----------------------------------------------------------------------===//

#include "runtime/api/Arguments.h"
#include "runtime/api/InputSource.h"
#include "runtime/api/PackedAnswer.h"
#include "runtime/api/Session.h"
#include "runtime/api/TokenStream.h"
#include "runtime/lines/SentenceLines.h"
#include "runtime/lines/Translation.h"
#include "runtime/tokenizer/Tokenizer.h"

#include <algorithm>
#include <limits>
#include <utility>

using namespace heddle;

/// The score of nothing, if no sequence of a beam search could end.
static constexpr float kLowest = -std::numeric_limits<float>::infinity();

struct heddle_answers {
  /// Of each input, packed, and where its parts stand.
  std::vector<std::string> packed;
  std::vector<std::vector<heddle_answer_text>> texts;
  /// Of each input, empty if nothing is to be said.
  std::vector<std::string> notices;
};

//===----------------------------------------------------------------------===//
// What is asked for
//===----------------------------------------------------------------------===//

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
    return Status::error(asked, nameOf("alternatives"),
                         " gives several translations");
  if (beams > 1)
    return Status::error(asked, "'", session.model->artifact().path(),
                         "' searches with ", beams, " beams (", nameOf("beam"),
                         " 1 is greedy)");
  return Status::success();
}

/// What the model and the settings say of a search.
static Result<SearchOptions> searchFor(const heddle_session &session,
                                       const LineTokens &tokens) {
  const Model &model = *session.model;
  const std::string &file = model.artifact().path();
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
  std::string beam = session.settings.nameOf("beam");
  if (search.nBest && *search.nBest > settings->beams)
    return Status::error(session.settings.nameOf("n-best"), " is ",
                         *search.nBest, " but '", file, "' searches with ",
                         settings->beams,
                         settings->beams == 1 ? " beam (" : " beams (", beam,
                         " N asks for more)");
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

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

/// Gives packed answers, one line after the other, to a sink, until somebody
/// cancels the call.
static AnswerWriter writerTo(const heddle_sink &sink, heddle_session &session) {
  return [&sink,
          calls = SinkCalls(session, sink.context, sink.flush, sink.notice)](
             const std::vector<LineAnswer> &answers) mutable {
    for (const LineAnswer &answer : answers) {
      std::vector<heddle_answer_text> texts = unpackAnswers(answer.text);
      Status status = calls.give(answer.notice, [&] {
        return sink.answer(sink.context, texts.data(), texts.size());
      });
      if (!status.ok())
        return status;
    }
    return calls.flush();
  };
}

/// As above, of answers that are text alone, sentences joined.
static AnswerWriter packing(AnswerWriter write) {
  return [write = std::move(write)](const std::vector<LineAnswer> &answers) {
    std::vector<LineAnswer> packed = answers;
    for (LineAnswer &answer : packed)
      if (std::string text = std::exchange(answer.text, {}); !text.empty())
        packAnswer(answer.text, text, {}, 0, 0);
    return write(packed);
  };
}

/// Those of all tokens, if a search has kept them: 0 for a prefix.
static std::vector<float> scoresOf(const Hypothesis &hypothesis) {
  std::vector<float> scores = hypothesis.logProbabilities;
  if (!scores.empty())
    scores.insert(scores.begin(), hypothesis.tokens.size() - scores.size(), 0);
  return scores;
}

static Status translate(heddle_session &session, LineRunOptions options,
                        LineSource &source, AnswerWriter write) {
  LineTokens tokens = session.tokens();
  Result<SearchOptions> search = searchFor(session, tokens);
  if (!search.ok())
    return search.status();
  const Tokenizer *tokenizer = session.model->tokenizer();
  auto isByte = [&](int32_t id) {
    return tokenizer && byteOfPiece(tokenizer->nameOf(id)) >= 0;
  };
  TokenStream stream([&](const TokenIds &ids) { return tokens.text(ids); },
                     isByte, session.model->manifest().tokenizer.cleansUp,
                     session.onToken, session.onTokenContext,
                     session.cancelled);
  if (session.onToken)
    search->onToken = [&](int64_t input, const TokenIds &before, int32_t token,
                          bool isLast) {
      stream.add(input, before, token, isLast);
    };
  if (session.values.split) {
    SentenceLines sentences(source, session.values.splitRules);
    HypothesesFormat best = [&](const std::vector<Hypothesis> &found) {
      return found.empty() ? std::string() : tokens.text(found.front().tokens);
    };
    return translateLines(*session.workers, options, {tokens, *search, best},
                          sentences,
                          sentences.joining(packing(std::move(write))));
  }
  size_t most = size_t(
      search->nBest.value_or(std::max<int64_t>(search->alternatives, 1)));
  HypothesesFormat pack = [&](const std::vector<Hypothesis> &found) {
    std::string answers;
    if (found.empty())
      packAnswer(answers, "", {}, kLowest, kLowest);
    for (size_t i = 0; i < std::min(found.size(), most); ++i)
      packAnswer(answers, tokens.text(found[i].tokens), found[i].tokens,
                 found[i].sum, found[i].score, scoresOf(found[i]));
    return answers;
  };
  return translateLines(*session.workers, options, {tokens, *search, pack},
                        source, write);
}

static Status score(heddle_session &session, LineRunOptions options,
                    LineSource &source, AnswerWriter write) {
  LineTokens tokens = session.tokens();
  auto pack = [&](const TokenIds &target, const std::vector<float> &scores) {
    double sum = 0;
    for (float each : scores)
      sum += each;
    std::string answer;
    packAnswer(answer, tokens.text(target), target, float(sum), float(sum),
               scores);
    return answer;
  };
  return scoreLines(*session.workers, options, tokens, source, pack, write);
}

/// A job over a source, for a caller who takes the answers.
using Job = Status (*)(heddle_session &, LineRunOptions, LineSource &,
                       AnswerWriter);

static heddle_status run(Job job, heddle_session *session,
                         const heddle_source *source, const heddle_sink *sink) {
  return callOverSource(session, source, sink, sink && sink->answer,
                        [&](const LineRunOptions &options, LineSource &lines) {
                          Status status = session->model->checkTask("generate");
                          return status.ok() ? job(*session, options, lines,
                                                   writerTo(*sink, *session))
                                             : status;
                        });
}

heddle_status heddle_translate_stream(heddle_session *session,
                                      const heddle_source *source,
                                      const heddle_sink *sink) {
  return run(translate, session, source, sink);
}

heddle_status heddle_score_stream(heddle_session *session,
                                  const heddle_source *source,
                                  const heddle_sink *sink) {
  return run(score, session, source, sink);
}

//===----------------------------------------------------------------------===//
// Batches
//===----------------------------------------------------------------------===//

static heddle_status run(Job job, heddle_session *session,
                         const heddle_input *inputs, size_t count,
                         heddle_answers **answers) {
  if (answers)
    *answers = nullptr;
  auto gathered = std::make_unique<heddle_answers>();
  auto gather = [&](const std::vector<LineAnswer> &packed) {
    for (const LineAnswer &answer : packed) {
      gathered->packed.push_back(answer.text);
      gathered->notices.push_back(answer.notice);
    }
    return Status::success();
  };
  heddle_status status = callOverInputs(
      session, inputs, count, {{"answers", answers}},
      [&] { return session->model->checkTask("generate"); },
      [&](const LineRunOptions &options, LineSource &lines) {
        return job(*session, options, lines, gather);
      });
  if (status != HEDDLE_OK)
    return status;
  for (const std::string &packed : gathered->packed)
    gathered->texts.push_back(unpackAnswers(packed));
  *answers = gathered.release();
  return HEDDLE_OK;
}

heddle_status heddle_translate(heddle_session *session,
                               const heddle_input *inputs, size_t count,
                               heddle_answers **answers) {
  return run(translate, session, inputs, count, answers);
}

heddle_status heddle_score(heddle_session *session, const heddle_input *inputs,
                           size_t count, heddle_answers **answers) {
  return run(score, session, inputs, count, answers);
}

size_t heddle_answer_count(const heddle_answers *answers, size_t input) {
  return answers && input < answers->texts.size() ? answers->texts[input].size()
                                                  : 0;
}

const heddle_answer_text *heddle_answer(const heddle_answers *answers,
                                        size_t input, size_t rank) {
  return rank < heddle_answer_count(answers, input)
             ? &answers->texts[input][rank]
             : nullptr;
}

const char *heddle_answer_notice(const heddle_answers *answers, size_t input) {
  return answers && input < answers->notices.size() &&
                 !answers->notices[input].empty()
             ? answers->notices[input].c_str()
             : nullptr;
}

void heddle_answers_free(heddle_answers *answers) { delete answers; }
