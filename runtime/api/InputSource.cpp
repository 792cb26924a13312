//===- InputSource.cpp - The inputs of heddle.h as lines ------------------===//
//
// Callbacks are not trusted: what they return may be no enumerator, and what
// they write is read up to its first NUL or the end of the buffer. An input
// that cannot be read becomes a line with a failure, and the next one is asked
// for; a failure of the source ends all. A callback may wait for the first
// input of a batch alone: inputs that are there do not wait for more.
//
//===----------------------------------------------------------------------===//

#include "runtime/api/InputSource.h"

#include "runtime/api/Arguments.h"
#include "runtime/api/Session.h"

#include <algorithm>

using namespace heddle;

/// The most bytes of a name or sentence, its NUL included: paths have 4096.
static constexpr size_t kMostNameBytes = 8192;

static LineText textOf(const char *text, size_t size, const int32_t *ids,
                       size_t count) {
  if (ids)
    return {{}, std::vector<int32_t>(ids, ids + count)};
  return {text ? std::string(text, size) : std::string()};
}

Line heddle::lineOf(const heddle_input &input) {
  Line line = {textOf(input.text, input.text_size, input.ids, input.id_count),
               textOf(input.target, input.target_size, input.target_ids,
                      input.target_id_count)};
  if (input.pair)
    line.pair = std::string(input.pair, input.pair_size);
  return line;
}

static std::string inputName(int64_t number, bool isTarget) {
  return (isTarget ? "the target of input " : "input ") +
         std::to_string(number + 1);
}

Lines ArraySource::next(const LineLimits &limits) {
  Lines result;
  for (int64_t bytes = 0; taken < count && bytes < limits.bytes &&
                          int64_t(result.lines.size()) < limits.lines;
       ++taken) {
    result.lines.push_back(lineOf(inputs[taken]));
    bytes += result.lines.back().bytes();
  }
  result.last = taken == count;
  return result;
}

std::string ArraySource::nameOf(int64_t number) const {
  return inputName(number, /*isTarget=*/false);
}

std::string ArraySource::nameOfTarget(int64_t number) const {
  return inputName(number, /*isTarget=*/true);
}

Status CallbackSource::failure() const {
  std::string text(kMostNameBytes, '\0');
  if (source.failure)
    source.failure(source.context, text.data(), text.size());
  const char *sentence = text.c_str();
  return Status::error(*sentence ? sentence : "the inputs cannot be read");
}

Lines CallbackSource::next(const LineLimits &limits) {
  Lines result;
  auto fail = [&](Status status) {
    result.failure = std::move(status);
    result.last = true;
    return std::move(result);
  };
  for (int64_t bytes = 0;
       bytes < limits.bytes && int64_t(result.lines.size()) < limits.lines;) {
    heddle_input input = {};
    // Whatever it is, it need be none of the enumerators.
    int said = source.next(source.context, result.lines.empty(), &input);
    switch (said) {
    case HEDDLE_NEXT_INPUT:
      if (Status status = checkInput(input); !status.ok())
        return fail(Status::error(nameOf(taken), ": ", status.message()));
      result.lines.push_back(lineOf(input));
      bytes += result.lines.back().bytes();
      ++taken;
      break;
    case HEDDLE_NEXT_UNREADABLE:
      result.lines.emplace_back();
      result.lines.back().failure = failure().message();
      ++taken;
      break;
    case HEDDLE_NEXT_LATER:
      return result;
    case HEDDLE_NEXT_END:
      result.last = true;
      return result;
    case HEDDLE_NEXT_FAILED:
      return fail(failure());
    default:
      return fail(Status::error("'next' of the source returned ", said,
                                ", expected 0 to ",
                                int(HEDDLE_NEXT_UNREADABLE)));
    }
  }
  return result;
}

void CallbackSource::interrupt() {
  if (source.interrupt)
    source.interrupt(source.context);
}

std::string CallbackSource::name(int64_t number, bool isTarget) const {
  if (!source.name)
    return inputName(number, isTarget);
  std::string text(kMostNameBytes, '\0');
  source.name(source.context, number, isTarget, text.data(), text.size());
  return text.c_str();
}

std::string CallbackSource::nameOf(int64_t number) const {
  return name(number, /*isTarget=*/false);
}

std::string CallbackSource::nameOfTarget(int64_t number) const {
  return name(number, /*isTarget=*/true);
}

heddle_status heddle::callOverSource(
    heddle_session *session, const heddle_source *source, const void *sink,
    bool hasFunction,
    const std::function<Status(const LineRunOptions &, LineSource &)> &job) {
  if (Status status = checkPointers(
          {{"session", session}, {"source", source}, {"sink", sink}});
      !status.ok())
    return reportMisuse(status);
  if (!source->next || !hasFunction)
    return reportMisuse(Status::error("the ", source->next ? "sink" : "source",
                                      " has no function to call"));
  SessionCall call(*session);
  if (Status status = call.check(); !status.ok())
    return reportMisuse(status);
  CallbackSource lines(*source);
  LineRunOptions options = session->runOptions();
  if (source->count > 0)
    options.mostLines = int64_t(std::min(source->count, size_t(INT64_MAX)));
  return session->finish(job(options, lines));
}

heddle_status heddle::callOverInputs(
    heddle_session *session, const heddle_input *inputs, size_t count,
    std::initializer_list<Pointer> places, const std::function<Status()> &check,
    const std::function<Status(const LineRunOptions &, LineSource &)> &job) {
  Status asked = checkPointers({{"session", session}});
  if (asked.ok())
    asked = checkPointers(places);
  if (asked.ok())
    asked = checkInputs(inputs, count);
  if (!asked.ok())
    return reportMisuse(asked);
  SessionCall call(*session);
  if (Status status = call.check(); !status.ok())
    return reportMisuse(status);
  if (Status status = check(); !status.ok())
    return session->finish(status);
  if (count == 0)
    return HEDDLE_OK;
  ArraySource lines(inputs, count);
  LineRunOptions options = session->runOptions();
  options.mostLines = int64_t(count);
  return session->finish(job(options, lines));
}

Status SinkCalls::ended() const {
  return session.cancelled ? Status::error("the call was cancelled")
                           : Status::success();
}

Status SinkCalls::give(const std::string &notice,
                       const std::function<int()> &take) {
  if (session.cancelled)
    return ended();
  if (!notice.empty() && notices)
    notices(context, input, notice.c_str());
  ++input;
  if (take() != 0)
    heddle_cancel(&session);
  return ended();
}

Status SinkCalls::flush() {
  if (!session.cancelled && flushes && flushes(context) != 0)
    heddle_cancel(&session);
  return ended();
}
