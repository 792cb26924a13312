//===- LineNotices.cpp - What is said of lines that fail ------------------===//

#include "tools/run/LineNotices.h"

#include "tools/SignalCleanup.h"

#include <utility>

using namespace heddle;

/// How many lines are named: a file of another kind fails in each.
static constexpr int64_t kMostNamed = 10;

void LineNotices::name(const std::string &sentence, bool isSkipped) {
  if (++named <= kMostNamed)
    printSentence("warning", sentence + (isSkipped ? "; it is skipped" : ""));
}

void LineNotices::skipCounted(const std::string &sentence) {
  name(sentence, /*isSkipped=*/true);
  ++skipped;
}

bool LineNotices::count(bool hasAnswer) {
  ++lines;
  std::string sentence = std::exchange(waiting, {});
  if (sentence.empty())
    return false;
  bool isSkipped = !hasAnswer;
  name(sentence, isSkipped);
  skipped += isSkipped;
  cut += hasAnswer;
  return isSkipped;
}

void LineNotices::report() const {
  auto say = [&](int64_t count, const char *what) {
    if (count == 0)
      return;
    std::string sentence = std::to_string(count) + " of " +
                           std::to_string(lines) +
                           (lines == 1 ? " line" : " lines") +
                           (count == 1 ? " was " : " were ") + what;
    if (named > kMostNamed)
      sentence += ", the first " + std::to_string(kMostNamed) + " as above";
    printSentence("warning", sentence);
  };
  say(skipped, "skipped");
  say(cut, "cut");
}
