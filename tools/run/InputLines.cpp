//===- InputLines.cpp - The lines of a run --------------------------------===//
//
// Lines before one at fault are handed out first, so that their answers are not
// lost.
//
//===----------------------------------------------------------------------===//

#include "tools/run/InputLines.h"

#include <cstdio>

using namespace heddle;

Result<InputLines> InputLines::open(const std::vector<std::string> &texts,
                                    const std::string &targets,
                                    bool keepsEnds) {
  std::optional<LineReader> targetLines;
  if (!targets.empty()) {
    Result<LineReader> opened = LineReader::open(targets);
    if (!opened.ok())
      return opened.status();
    targetLines.emplace(std::move(*opened));
  }
  Result<LineReader> lines = texts.empty()
                                 ? LineReader::standardInput(keepsEnds)
                                 : LineReader::texts(texts);
  if (!lines.ok())
    return lines.status();
  return InputLines(std::move(*lines), std::move(targetLines), texts.size());
}

Result<InputLines> InputLines::openFile(const std::string &path) {
  Result<LineReader> lines = LineReader::open(path);
  if (!lines.ok())
    return lines.status();
  return InputLines(std::move(*lines), std::nullopt, /*count=*/0);
}

Result<std::optional<std::string>> InputLines::next() { return lines.next(); }

bool InputLines::skipTooLong() {
  bool isTooLong = lines.isTooLong();
  if (isTooLong)
    lines.skipLine();
  return isTooLong;
}

/// Reads what is said of the line that was read last.
Status InputLines::readTarget() {
  Result<std::optional<std::string>> next = targets->next();
  if (!next.ok())
    return next.status();
  if (*next) {
    target = std::move(**next);
    return Status::success();
  }
  if (targets->linesRead() == 0)
    return Status::error(targets->name(),
                         " has no line, but the input has lines");
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

/// Takes the line that was read last for a text, or for two.
heddle_next InputLines::setTexts(heddle_input &input) {
  input.text = text.data();
  input.text_size = text.size();
  if (first) {
    input.pair = text.data();
    input.pair_size = text.size();
    input.text = first->data();
    input.text_size = first->size();
  }
  if (!hasPairs)
    return HEDDLE_NEXT_INPUT;
  size_t tab = text.find('\t');
  if (tab == std::string::npos) {
    failure = Status::error(lines.nameOf(lines.linesRead() - 1),
                            " has no tab, expected two texts with a tab "
                            "between them");
    return HEDDLE_NEXT_UNREADABLE;
  }
  input.text_size = tab;
  input.pair = text.data() + tab + 1;
  input.pair_size = text.size() - tab - 1;
  return HEDDLE_NEXT_INPUT;
}

heddle_next InputLines::readInput(bool mayWait, heddle_input &input) {
  if (!mayWait && !lines.isReady())
    return HEDDLE_NEXT_LATER;
  // Only if somebody asks for more: the rest may be long in coming.
  for (LineReader *reader : {&lines, targets ? &*targets : nullptr})
    if (reader && reader->isTooLong())
      reader->skipLine();
  Result<std::optional<std::string>> line = lines.next();
  failure = line.status();
  bool isUnreadable = lines.isTooLong();
  if (isUnreadable && targets)
    if (Status status = readTarget(); !status.ok() && !targets->isTooLong()) {
      failure = status;
      return HEDDLE_NEXT_FAILED;
    }
  if (failure.ok() && !*line)
    failure = checkTargetsEnd();
  else if (failure.ok() && targets)
    failure = readTarget();
  isUnreadable |= targets && targets->isTooLong();
  if (!failure.ok())
    return isUnreadable ? HEDDLE_NEXT_UNREADABLE : HEDDLE_NEXT_FAILED;
  if (!*line)
    return HEDDLE_NEXT_END;
  text = std::move(**line);
  input = {};
  if (targets && areTargetsPairs) {
    input.pair = target.data();
    input.pair_size = target.size();
  } else if (targets) {
    input.target = target.data();
    input.target_size = target.size();
  }
  return setTexts(input);
}

heddle_source InputLines::source() {
  heddle_source source = {};
  source.context = this;
  source.count = count;
  source.next = [](void *context, int mayWait, heddle_input *input) {
    auto *self = static_cast<InputLines *>(context);
    heddle_next next = self->readInput(mayWait, *input);
    bool isLine = next == HEDDLE_NEXT_INPUT;
    if (self->listens && (isLine || next == HEDDLE_NEXT_UNREADABLE))
      self->listens(isLine ? self->text : std::string());
    return next;
  };
  source.interrupt = [](void *context) {
    static_cast<InputLines *>(context)->lines.interrupt();
  };
  source.name = [](void *context, int64_t number, int isTarget, char *text,
                   size_t size) {
    auto *self = static_cast<InputLines *>(context);
    const LineReader &named =
        isTarget && self->targets ? *self->targets : self->lines;
    snprintf(text, size, "%s", named.nameOf(number).c_str());
  };
  source.failure = [](void *context, char *text, size_t size) {
    snprintf(text, size, "%s",
             static_cast<InputLines *>(context)->failure.message().c_str());
  };
  return source;
}
