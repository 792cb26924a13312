//===- InputLines.cpp - The lines of a run --------------------------------===//
//
// Lines before one at fault are handed out first, so that their answers are not
// lost.
//
//===----------------------------------------------------------------------===//

#include "tools/InputLines.h"

using namespace heddle;

Result<std::string> InputLines::readTarget() {
  if (!targets)
    return std::string();
  Result<std::optional<std::string>> target = targets->next();
  if (!target.ok())
    return target.status();
  if (*target)
    return std::move(**target);
  if (targets->linesRead() == 0)
    return Status::error(targets->name(), " has no line, but the input has");
  return Status::error(targets->nameOf(targets->linesRead() - 1),
                       " is the last, but the input has more lines");
}

/// What is wrong with the targets behind the last line.
Status InputLines::checkTargetsEnd() {
  if (!targets)
    return Status::success();
  Result<std::optional<std::string>> more = targets->next();
  if (!more.ok())
    return more.status();
  return *more ? Status::error(targets->nameOf(targets->linesRead() - 1),
                               " belongs to no line of input")
               : Status::success();
}

/// Appends the next line, or says that it was the last one.
Status InputLines::readOne(Lines &result) {
  Result<std::optional<std::string>> text = lines.next();
  if (!text.ok())
    return text.status();
  if (!*text) {
    result.last = true;
    return checkTargetsEnd();
  }
  Result<std::string> target = readTarget();
  if (!target.ok())
    return target.status();
  result.lines.push_back({std::move(**text), std::move(*target)});
  return Status::success();
}

Lines InputLines::next(const LineLimits &limits) {
  Lines result;
  int64_t bytes = 0;
  do {
    result.failure = readOne(result);
    if (!result.failure.ok())
      result.last = true;
    if (!result.last)
      bytes += result.lines.back().bytes();
  } while (!result.last && int64_t(result.lines.size()) < limits.lines &&
           bytes < limits.bytes && lines.isReady());
  return result;
}
