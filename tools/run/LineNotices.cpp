//===- LineNotices.cpp - What is said of lines that fail ------------------===//

#include "tools/run/LineNotices.h"

#include "tools/SignalCleanup.h"

#include <string_view>
#include <utility>

using namespace heddle;

/// How many lines are named: a file of another kind fails in each.
static constexpr int64_t kMostNamed = 10;

LineNotices::LineNotices(const heddle_session &session)
    : skips(std::string_view(heddle_session_on_error(&session)) == "skip") {}

void LineNotices::add(const std::string &sentence) {
  isNoticed = true;
  if (++named <= kMostNamed)
    printSentence("warning", sentence + (skips ? "; it is skipped" : ""));
}

void LineNotices::skipCounted(const std::string &sentence) {
  add(sentence);
  isNoticed = false;
  ++skipped;
}

bool LineNotices::count(bool hasAnswer) {
  ++lines;
  bool wasNoticed = std::exchange(isNoticed, false);
  bool isSkipped = wasNoticed && !hasAnswer;
  skipped += isSkipped;
  cut += wasNoticed && hasAnswer;
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
