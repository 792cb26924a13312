//===- AnswerLines.cpp - How answers are printed --------------------------===//
//
// Scores are printed with as many digits as tell them from their neighbours.
//
//===----------------------------------------------------------------------===//

#include "tools/AnswerLines.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

using namespace heddle;

static constexpr const char *kBar = " ||| ";

static std::string formatNumber(float number) {
  char text[32];
  auto [end, error] = std::to_chars(text, text + sizeof text, number);
  return std::string(text, end);
}

static std::string formatScored(const std::string &target, float sum,
                                float score) {
  return kBar + target + kBar + "F0= " + formatNumber(sum) + kBar +
         formatNumber(score);
}

std::string heddle::formatAnswer(const LineTokens &tokens,
                                 const std::vector<Hypothesis> &hypotheses,
                                 const RunOptions &options) {
  if (!options.nBest) {
    std::string text = tokens.line(hypotheses[0].tokens);
    return options.scores ? formatNumber(hypotheses[0].score) + "\t" + text
                          : text;
  }
  std::string lines;
  size_t count = std::min(hypotheses.size(), size_t(*options.nBest));
  for (size_t i = 0; i < count; ++i) {
    const Hypothesis &each = hypotheses[i];
    lines += (i == 0 ? "" : "\n") +
             formatScored(tokens.line(each.tokens), each.sum, each.score);
  }
  return lines;
}

std::string heddle::numberAnswer(int64_t number, const std::string &answer,
                                 const RunOptions &options) {
  if (!options.nBest)
    return (answer.empty() && options.scores ? "0\t" : answer) + "\n";
  std::string lines = answer.empty() ? formatScored("", 0, 0) : answer;
  std::string numbered;
  for (size_t begin = 0; begin <= lines.size();) {
    size_t end = std::min(lines.find('\n', begin), lines.size());
    numbered +=
        std::to_string(number) + lines.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return numbered;
}

std::string heddle::formatScores(const std::vector<float> &scores) {
  double sum = 0;
  std::string each;
  for (float score : scores) {
    sum += score;
    each += (each.empty() ? "\t" : " ") + formatNumber(score);
  }
  return formatNumber(static_cast<float>(sum)) + (each.empty() ? "\t" : each);
}

void Perplexity::add(const std::string &answer) {
  const char *at = answer.data(), *end = at + answer.size();
  at = std::find(at, end, '\t');
  while (at != end) {
    float score = 0;
    auto [rest, error] = std::from_chars(at + 1, end, score);
    if (error != std::errc())
      return;
    sum += score;
    ++tokens;
    at = rest;
  }
}

std::string Perplexity::describe() const {
  double entropy = tokens == 0 ? 0 : -sum / static_cast<double>(tokens);
  char text[128];
  snprintf(text, sizeof text,
           "perplexity %.6g (cross-entropy %.6g nats a token, %lld tokens)",
           std::exp(entropy), entropy, static_cast<long long>(tokens));
  return text;
}
