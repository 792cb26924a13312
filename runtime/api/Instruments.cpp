//===- Instruments.cpp - Logits and hidden states of heddle.h -------------===//
//
// Rows of floats go to a callback as they are computed and are never collected.
// Logits come from one worker, in the order of the inputs; if its GPU fails,
// the CPU computes all of them again, and rows that were given are not given
// twice. Hidden states come from all workers, behind a lock; an input that has
// failed has no rows.
//
//===----------------------------------------------------------------------===//

#include "runtime/api/Arguments.h"
#include "runtime/api/InputSource.h"
#include "runtime/api/Session.h"
#include "runtime/api/SettingValues.h"
#include "runtime/search/TeacherForcing.h"
#include "runtime/session/HiddenStates.h"

#include <mutex>
#include <utility>

using namespace heddle;

/// What nobody is to hear: a call says itself that it was cancelled.
static Status cancellation() { return Status::error("the call was cancelled"); }

namespace {
/// Where a caller takes rows of numbers, one after the other, until somebody
/// cancels the call.
struct Taker {
  heddle_session &session;
  heddle_rows_callback take;
  void *context;
  size_t width;

  Status operator()(int64_t input, int64_t first, int64_t rows,
                    const float *values) const;
};
} // namespace

Status Taker::operator()(int64_t input, int64_t first, int64_t rows,
                         const float *values) const {
  if (!session.cancelled && take(context, size_t(input), size_t(first),
                                 size_t(rows), values, width) != 0)
    heddle_cancel(&session);
  return session.cancelled ? cancellation() : Status::success();
}

//===----------------------------------------------------------------------===//
// Logits
//===----------------------------------------------------------------------===//

/// The ids of all inputs and targets. Fails on an input without a token.
static Status encodeAll(const heddle_session &session,
                        const heddle_input *inputs, size_t count,
                        std::vector<TokenIds> &sources,
                        std::vector<TokenIds> &targets,
                        SourceFeatures &features) {
  LineTokens tokens = session.tokens();
  std::vector<LineTokens> others = session.otherTokens();
  ArraySource names(inputs, count);
  for (size_t i = 0; i < count; ++i) {
    if (session.cancelled)
      return cancellation();
    Line line = lineOf(inputs[i]);
    auto encode = [&](const LineTokens &own) {
      Result<TokenIds> source = own.source(line.source);
      return source.ok() && source->empty()
                 ? Result<TokenIds>(Status::error("has no token"))
                 : source;
    };
    Result<TokenIds> source = encode(tokens);
    if (!source.ok())
      return Status::error(names.nameOf(int64_t(i)), " ", source.message());
    features.others.emplace_back();
    for (const LineTokens &other : others) {
      Result<TokenIds> own = encode(other);
      if (!own.ok())
        return Status::error(names.nameOf(int64_t(i)), ", as '", other.file(),
                             "' reads it, ", own.message());
      features.others.back().push_back(std::move(*own));
    }
    Result<TokenIds> target = tokens.target(line.target, TargetPart::Whole);
    if (!target.ok())
      return Status::error(names.nameOfTarget(int64_t(i)), " ",
                           target.message());
    sources.push_back(std::move(*source));
    targets.push_back(std::move(*target));
  }
  return Status::success();
}

heddle_status heddle_logits(heddle_session *session, const heddle_input *inputs,
                            size_t count, const char *form,
                            heddle_rows_callback take, void *context) {
  Status asked =
      checkPointers({{"session", session}, {"form", form}, {"take", take}});
  if (asked.ok())
    asked = checkInputs(inputs, count);
  if (!asked.ok())
    return reportMisuse(asked);
  Result<DecoderForm> known = parseForm(session->settings.nameOf("form"), form);
  if (!known.ok())
    return reportMisuse(known.status());
  if (count == 0)
    return HEDDLE_OK;
  SessionCall call(*session);
  if (Status status = call.check(); !status.ok())
    return reportMisuse(status);
  const Model &model = *session->model;
  if (Status status = model.checkTask("generate"); !status.ok())
    return session->finish(status);
  Taker give = {*session, take, context,
                size_t(model.manifest().targetVocabulary)};
  if (!session->others.empty() && *known == DecoderForm::Prefill)
    return session->finish(
        Status::error("the form is prefill, but '", model.artifact().path(),
                      "' is the first of an ensemble: expected full or step"));
  std::vector<TokenIds> sources, targets;
  SourceFeatures features;
  Status status =
      encodeAll(*session, inputs, count, sources, targets, features);
  if (!status.ok())
    return session->finish(status);
  // Of each input, whichever device they are of.
  std::vector<int64_t> given(count, 0);
  auto sink = [&](int64_t input, int64_t position, const float *logits) {
    if (position < given[size_t(input)])
      return Status::success();
    ++given[size_t(input)];
    return give(input, position, /*rows=*/1, logits);
  };
  auto score = [&] {
    return scoreTargets(
        model, session->workers->session(0), sources, targets,
        {*known, session->tokens().generation().start, features}, sink);
  };
  status = score();
  if (!status.ok() && session->workers->goOnWithCpu(0))
    status = score();
  return session->finish(status);
}

//===----------------------------------------------------------------------===//
// Hidden states
//===----------------------------------------------------------------------===//

namespace {
/// Gives what the encoder makes of inputs; answers nothing.
class HiddenStatesJob : public LineJob {
public:
  HiddenStatesJob(const LineTokens &tokens, const LineSource &source,
                  OnError onError, const HiddenOutput &hidden,
                  const Taker &give)
      : tokens(tokens), source(source), crops(onError == OnError::Crop),
        hidden(hidden), give(give) {}

  Result<Sentence> encode(int64_t number, const Line &line) override {
    std::string cut;
    Result<TokenIds> ids = tokens.source(line.source, crops ? &cut : nullptr);
    if (!ids.ok())
      return Status::error(source.nameOf(number), " ", ids.message());
    return Sentence{std::move(*ids), {}};
  }
  Result<int64_t> bytesFor(Session &worker, const Batch &batch) override {
    return worker.bytesFor(batch.sources, DecoderRequest());
  }
  Result<std::vector<Answer>> answer(Session &worker,
                                     const Batch &batch) override {
    auto sink = [&](int64_t sentence, int64_t rows, const float *states) {
      std::lock_guard<std::mutex> lock(mutex);
      return give(batch.lines[size_t(sentence)], /*first=*/0, rows, states);
    };
    Status status = encodeSources(worker, hidden, batch.sources, sink);
    if (!status.ok())
      return status;
    return std::vector<Answer>(batch.lines.size());
  }
  /// Gives no rows of an input that has failed.
  Status skip(int64_t input, const std::string &why) {
    std::lock_guard<std::mutex> lock(mutex);
    (void)report(Status::error(why));
    return give(input, /*first=*/0, /*rows=*/0, nullptr);
  }

private:
  const LineTokens &tokens;
  const LineSource &source;
  const bool crops;
  const HiddenOutput &hidden;
  const Taker &give;
  std::mutex mutex;
};
} // namespace

heddle_status heddle_hidden_states(heddle_session *session,
                                   const heddle_input *inputs, size_t count,
                                   heddle_rows_callback take, void *context) {
  Status asked = checkPointers({{"session", session}, {"take", take}});
  if (asked.ok())
    asked = checkInputs(inputs, count);
  if (!asked.ok())
    return reportMisuse(asked);
  if (count == 0)
    return HEDDLE_OK;
  SessionCall call(*session);
  if (Status status = call.check(); !status.ok())
    return reportMisuse(status);
  Result<HiddenOutput> hidden = findHiddenOutput(*session->model);
  if (!hidden.ok())
    return session->finish(hidden.status());
  ArraySource lines(inputs, count);
  LineTokens tokens = session->tokens();
  Taker give = {*session, take, context, size_t(hidden->width)};
  LineRunOptions options = session->runOptions();
  options.mostLines = int64_t(count);
  HiddenStatesJob job(tokens, lines, options.onError, *hidden, give);
  int64_t input = 0;
  auto write = [&](const std::vector<LineAnswer> &answers) {
    for (const LineAnswer &answer : answers) {
      if (answer.hasFailed)
        if (Status status = job.skip(input, answer.notice); !status.ok())
          return status;
      ++input;
    }
    return Status::success();
  };
  return session->finish(
      runLines(*session->workers, options, lines, job, write));
}
