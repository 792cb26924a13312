//===- Answers.cpp - Translations and scores of heddle.h ------------------===//
//
// A batch is a stream of inputs that are in memory, and of answers that stay
// there.
//
//===----------------------------------------------------------------------===//

#include "runtime/api/Arguments.h"
#include "runtime/api/InputSource.h"
#include "runtime/api/SearchRequest.h"
#include "runtime/api/Session.h"
#include "runtime/api/TokenStream.h"
#include "runtime/lines/SentenceLines.h"
#include "runtime/lines/Translation.h"
#include "runtime/tokenizer/Tokenizer.h"

#include <utility>

using namespace heddle;

struct heddle_answers {
  /// Of each input, and as heddle.h has them.
  std::vector<std::vector<AnswerText>> texts;
  std::vector<std::vector<heddle_answer_text>> views;
  /// Of each input, empty if nothing is to be said.
  std::vector<std::string> notices;
};

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

/// Gives answers, one line after the other, to a sink, until somebody
/// cancels the call.
static AnswerWriter writerTo(const heddle_sink &sink, heddle_session &session) {
  return [&sink,
          calls = SinkCalls(session, sink.context, sink.flush, sink.notice)](
             std::vector<LineAnswer> answers) mutable {
    for (LineAnswer &line : answers) {
      auto texts = takeList<AnswerText>(line.answer);
      std::vector<heddle_answer_text> views = viewsOf(texts);
      Status status = calls.give(line.notice, [&] {
        return sink.answer(sink.context, views.data(), views.size());
      });
      if (!status.ok())
        return status;
    }
    return calls.flush();
  };
}

static Status translate(heddle_session &session, LineRunOptions options,
                        LineSource &source, AnswerWriter write) {
  LineTokens tokens = session.tokens();
  std::vector<LineTokens> others = session.otherTokens();
  Result<SearchOptions> search = searchFor(session, tokens);
  if (!search.ok())
    return search.status();
  const Tokenizer *tokenizer = session.model->tokenizer();
  auto isByte = [&](int32_t id) {
    return tokenizer && byteOfPiece(tokenizer->nameOf(id)) >= 0;
  };
  StopStrings stops = stopsOf(session);
  TokenStream stream([&](const TokenIds &ids) { return tokens.text(ids); },
                     isByte, session.model->manifest().tokenizer.cleansUp,
                     stops, session.onToken, session.onTokenContext,
                     session.cancelled);
  if (session.onToken)
    search->onToken = [&](int64_t input, const TokenIds &before, int32_t token,
                          bool isLast) {
      stream.add(input, before, token, isLast);
    };
  if (session.values.split) {
    SentenceLines sentences(source, session.values.splitRules);
    HypothesesFormat best = [&](const std::vector<Hypothesis> &found) {
      std::vector<AnswerText> texts;
      if (!found.empty())
        texts.push_back({textOf(found.front(), *search, stops, tokens)});
      return texts;
    };
    return translateLines(*session.workers, options,
                          {tokens, *search, best, others}, sentences,
                          sentences.joining(std::move(write)));
  }
  HypothesesFormat all = [&](const std::vector<Hypothesis> &found) {
    return answersOf(found, *search, stops, tokens);
  };
  return translateLines(*session.workers, options,
                        {tokens, *search, all, others}, source, write);
}

static Status score(heddle_session &session, LineRunOptions options,
                    LineSource &source, AnswerWriter write) {
  LineTokens tokens = session.tokens();
  std::vector<LineTokens> others = session.otherTokens();
  auto format = [&](const TokenIds &target, const std::vector<float> &scores) {
    double sum = 0;
    for (float each : scores)
      sum += each;
    return std::vector<AnswerText>{
        {tokens.text(target), target, float(sum), float(sum), scores}};
  };
  return scoreLines(*session.workers, options,
                    {tokens, format, session.values.stride, others}, source,
                    write);
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
  auto gather = [&](std::vector<LineAnswer> lines) {
    for (LineAnswer &line : lines) {
      gathered->texts.push_back(takeList<AnswerText>(line.answer));
      gathered->notices.push_back(std::move(line.notice));
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
  for (const std::vector<AnswerText> &texts : gathered->texts)
    gathered->views.push_back(viewsOf(texts));
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
  return answers && input < answers->views.size() ? answers->views[input].size()
                                                  : 0;
}

const heddle_answer_text *heddle_answer(const heddle_answers *answers,
                                        size_t input, size_t rank) {
  return rank < heddle_answer_count(answers, input)
             ? &answers->views[input][rank]
             : nullptr;
}

const char *heddle_answer_notice(const heddle_answers *answers, size_t input) {
  return answers && input < answers->notices.size() &&
                 !answers->notices[input].empty()
             ? answers->notices[input].c_str()
             : nullptr;
}

void heddle_answers_free(heddle_answers *answers) { delete answers; }
