//===- InputSource.h - The inputs of heddle.h as lines ----------*- C++ -*-===//

#ifndef HEDDLE_RUNTIME_API_INPUTSOURCE_H
#define HEDDLE_RUNTIME_API_INPUTSOURCE_H

#include "runtime/heddle.h"
#include "runtime/lines/LineRun.h"
#include "runtime/lines/Lines.h"

#include <cstddef>
#include <cstdint>
#include <functional>
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

/// A call of heddle.h over a source: checks its arguments and runs `job` as the
/// session's one call. `sink` may be null, and its function may be missing,
/// which is misuse.
heddle_status callOverSource(
    heddle_session *session, const heddle_source *source, const void *sink,
    bool hasFunction,
    const std::function<Status(const LineRunOptions &, LineSource &)> &job);

} // namespace heddle

#endif // HEDDLE_RUNTIME_API_INPUTSOURCE_H
