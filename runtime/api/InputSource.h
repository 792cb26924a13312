//===- InputSource.h - The inputs of heddle.h as lines ----------*- C++ -*-===//

#ifndef HEDDLE_RUNTIME_API_INPUTSOURCE_H
#define HEDDLE_RUNTIME_API_INPUTSOURCE_H

#include "runtime/api/Arguments.h"
#include "runtime/heddle.h"
#include "runtime/lines/LineRun.h"
#include "runtime/lines/Lines.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>

namespace heddle {

/// A copy of an input.
Line lineOf(const heddle_input &input);

/// Inputs in memory, borrowed.
class ArraySource : public LineSource {
public:
  ArraySource(const heddle_input *inputs, size_t count)
      : inputs(inputs), count(count) {}

  Lines next(const LineLimits &limits) override;
  /// "input 3".
  std::string nameOf(int64_t number) const override;
  std::string nameOfTarget(int64_t number) const override;

private:
  const heddle_input *inputs;
  size_t count, taken = 0;
};

/// Inputs that callbacks give. If they give none that can be one, it is a
/// failure.
class CallbackSource : public LineSource {
public:
  explicit CallbackSource(const heddle_source &source) : source(source) {}

  Lines next(const LineLimits &limits) override;
  void interrupt() override;
  std::string nameOf(int64_t number) const override;
  std::string nameOfTarget(int64_t number) const override;

private:
  std::string name(int64_t number, bool isTarget) const;
  Status failure() const;

  const heddle_source &source;
  int64_t taken = 0;
};

/// A call of heddle.h over inputs in memory, whose answer has a name and a
/// place: checks its arguments, and what `check` says of the session, and runs
/// `job` as the session's one call. A call without inputs runs no job, and
/// takes nobody's wish to cancel one.
heddle_status callOverInputs(
    heddle_session *session, const heddle_input *inputs, size_t count,
    std::initializer_list<Pointer> places, const std::function<Status()> &check,
    const std::function<Status(const LineRunOptions &, LineSource &)> &job);

/// The functions of a sink, in the order of its inputs, until one of them or
/// somebody else cancels the call. Borrows the session.
class SinkCalls {
public:
  SinkCalls(heddle_session &session, void *context,
            heddle_flush_callback flushes, heddle_notice_callback notices)
      : session(session), context(context), flushes(flushes), notices(notices) {
  }

  /// Gives what is said of the next input, if anything is, and then by `take`
  /// what became of it. Fails if the call is cancelled.
  Status give(const std::string &notice, const std::function<int()> &take);
  Status flush();

private:
  Status ended() const;

  heddle_session &session;
  void *context;
  heddle_flush_callback flushes;
  heddle_notice_callback notices;
  size_t input = 0;
};

/// A call of heddle.h over a source: checks its arguments and runs `job` as the
/// session's one call. `sink` may be null, and its function may be missing,
/// which is misuse.
heddle_status callOverSource(
    heddle_session *session, const heddle_source *source, const void *sink,
    bool hasFunction,
    const std::function<Status(const LineRunOptions &, LineSource &)> &job);

} // namespace heddle

#endif // HEDDLE_RUNTIME_API_INPUTSOURCE_H
