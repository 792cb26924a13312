//===- SentenceLines.cpp - Running text, a sentence at a time -------------===//
//
// One thread reads while another one writes; what they share are the lines in
// between.
//
//===----------------------------------------------------------------------===//

#include "runtime/lines/SentenceLines.h"

#include <algorithm>
#include <iterator>
#include <utility>

using namespace heddle;

/// A line without a sentence has an empty one, whose answer is empty.
void SentenceLines::add(std::string_view line, std::vector<Line> &sentences) {
  std::vector<SentenceSpan> spans = splitSentences(line, rules);
  size_t before =
      spans.empty() ? line.size() : size_t(spans[0].text.data() - line.data());
  OpenLine added = {sentencesRead, {}, std::string(line.substr(0, before))};
  for (const SentenceSpan &sentence : spans) {
    sentences.push_back({{std::string(sentence.text)}});
    added.spaces.emplace_back(sentence.space);
  }
  if (added.spaces.empty()) {
    sentences.emplace_back();
    added.spaces.emplace_back();
  }
  sentencesRead += int64_t(added.spaces.size());
  open.push_back(std::move(added));
}

Lines SentenceLines::next(const LineLimits &limits) {
  Lines result = lines.next(limits);
  std::vector<Line> sentences;
  for (const Line &line : result.lines) {
    if (line.source.ids || line.target.bytes() > 0) {
      result.failure =
          Status::error(lines.nameOf(linesRead),
                        line.source.ids ? " holds ids" : " has a target",
                        ", but running text is cut into sentences");
      result.last = true;
      break;
    }
    std::lock_guard<std::mutex> lock(mutex);
    add(line.source.text, sentences);
    sentences.back().failure = line.failure;
    ++linesRead;
  }
  result.lines = std::move(sentences);
  return result;
}

std::string SentenceLines::nameOf(int64_t number) const {
  std::unique_lock<std::mutex> lock(mutex);
  auto behind = std::upper_bound(
      open.begin(), open.end(), number,
      [](int64_t wanted, const OpenLine &line) { return wanted < line.first; });
  int64_t index = behind - open.begin() - 1;
  int64_t place = number - open[size_t(index)].first + 1;
  int64_t line = linesAnswered + index;
  lock.unlock(); // Others may wait for it in the functions of the source.
  return "sentence " + std::to_string(place) + " of " + lines.nameOf(line);
}

/// Takes the answer of the next sentence; whether it is the last one of its
/// line, whose answer is then in `joined`.
bool SentenceLines::join(LineAnswer &sentence, LineAnswer &joined) {
  OpenLine &line = open.front();
  size_t place = size_t(sentencesAnswered++ - line.first);
  // Ends of lines are the text's alone.
  if (auto texts = takeList<AnswerText>(sentence.answer); !texts.empty())
    std::replace_copy(texts[0].text.begin(), texts[0].text.end(),
                      std::back_inserter(line.answer), '\n', ' ');
  // The first failure, or else the first cut.
  if (line.notice.empty() || (sentence.hasFailed && !line.hasFailed))
    line.notice = sentence.notice;
  line.hasFailed |= sentence.hasFailed;
  line.answer += line.spaces[place];
  if (place + 1 < line.spaces.size())
    return false;
  std::vector<AnswerText> texts;
  if (!line.hasFailed && !line.answer.empty())
    texts.push_back({std::move(line.answer)});
  joined.answer = std::move(texts);
  joined.notice = std::move(line.notice);
  joined.hasFailed = line.hasFailed;
  open.pop_front();
  ++linesAnswered;
  return true;
}

AnswerWriter SentenceLines::joining(AnswerWriter write) {
  return [this,
          write = std::move(write)](std::vector<LineAnswer> answers) -> Status {
    std::vector<LineAnswer> whole;
    {
      std::lock_guard<std::mutex> lock(mutex);
      LineAnswer joined;
      for (LineAnswer &sentence : answers)
        if (join(sentence, joined))
          whole.push_back(std::move(joined));
    }
    return whole.empty() ? Status::success() : write(std::move(whole));
  };
}
