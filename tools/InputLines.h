//===- InputLines.h - The lines of a run ------------------------*- C++ -*-===//
//
// Lines of standard input or of the command line, with those of a file that
// says something of each one's target. As many as are there come together:
// whoever writes one line and waits gets its answer.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_INPUTLINES_H
#define HEDDLE_TOOLS_INPUTLINES_H

#include "runtime/Lines.h"
#include "tools/LineReader.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace heddle {

class InputLines : public LineSource {
public:
  /// `targets` have as many lines, where they are given; otherwise the first
  /// line at fault ends the input.
  explicit InputLines(LineReader lines,
                      std::optional<LineReader> targets = std::nullopt)
      : lines(std::move(lines)), targets(std::move(targets)) {}

  Lines next(const LineLimits &limits) override;
  void interrupt() override { lines.interrupt(); }
  std::string nameOf(int64_t number) const override {
    return lines.nameOf(number);
  }
  std::string nameOfTarget(int64_t number) const override {
    return targets->nameOf(number);
  }

private:
  Status readOne(Lines &result);
  Result<std::string> readTarget();
  Status checkTargetsEnd();

  LineReader lines;
  std::optional<LineReader> targets;
};

} // namespace heddle

#endif // HEDDLE_TOOLS_INPUTLINES_H
