//===- AnswerLines.cpp - How answers are printed --------------------------===//
//
// How texts and scores become lines.
//
//===----------------------------------------------------------------------===//

#include "tools/run/AnswerLines.h"

#include "runtime/tokenizer/Utf8.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

using namespace heddle;

static constexpr const char *kBar = " ||| ";

// std::to_chars has tables of 100 KB.
std::string heddle::formatNumber(float number) {
  char text[32];
  for (int digits = 6; digits <= 9; ++digits) {
    snprintf(text, sizeof text, "%.*g", digits, double(number));
    if (strtof(text, nullptr) == number)
      break;
  }
  return text;
}

std::string heddle::oneLine(std::string_view text) {
  std::string line(text);
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

/// Those of all tokens.
static std::string formatLogProbabilities(const heddle_answer_text &answer) {
  std::string each;
  for (size_t i = 0; i < answer.id_count; ++i)
    each += (i == 0 ? "" : " ") + formatNumber(answer.log_probabilities[i]);
  return each;
}

/// Pairs, or of each token of the text the weights of the source's tokens.
static std::string formatAlignment(const heddle_answer_text &answer,
                                   bool wantsWeights) {
  std::string text;
  for (size_t i = 0; i < answer.pair_count; ++i) {
    text += i == 0 ? "" : " ";
    if (!wantsWeights)
      text += std::to_string(answer.pairs[2 * i]) + "-" +
              std::to_string(answer.pairs[2 * i + 1]);
    else
      for (size_t j = 0; j < answer.source_count; ++j)
        text += (j == 0 ? "" : ",") +
                formatNumber(answer.attention[i * answer.source_count + j]);
  }
  return text;
}

std::string heddle::formatAnswers(int64_t number,
                                  const heddle_answer_text *answers,
                                  size_t count, const RunOptions &options) {
  // An input without a token has an empty text, which is certain.
  static constexpr heddle_answer_text kNothing = {
      "", 0, nullptr, 0, 0, 0, nullptr, nullptr, 0, nullptr, 0};
  if (count == 0) {
    answers = &kNothing;
    count = 1;
  }
  std::string lines;
  for (size_t i = 0; i < count; ++i) {
    const heddle_answer_text &each = answers[i];
    // No hypothesis has ended.
    if (options.nBest && std::isinf(each.score))
      continue;
    // Of running text ends of lines are the input's own.
    std::string text = options.split ? std::string(each.text, each.text_size)
                                     : oneLine({each.text, each.text_size});
    std::string scores =
        options.tokenScores ? formatLogProbabilities(each) : std::string();
    if (options.aligns)
      text += kBar + formatAlignment(each, options.alignsWeights);
    if (options.nBest)
      lines += std::to_string(number) + kBar + text + kBar +
               (options.tokenScores ? "WordScores= " + scores + kBar : "") +
               "F0= " + formatNumber(each.sum) + kBar +
               formatNumber(each.score) + "\n";
    else
      lines += (options.scores ? formatNumber(each.score) + "\t" : "") +
               (options.tokenScores ? scores + "\t" : "") + text + "\n";
  }
  return lines;
}

std::string heddle::formatScores(const heddle_answer_text *answers,
                                 size_t count) {
  if (count == 0)
    return "\n";
  const heddle_answer_text &answer = *answers;
  return formatNumber(answer.sum) + "\t" + formatLogProbabilities(answer) +
         "\n";
}

void Perplexity::add(const heddle_answer_text &answer) {
  for (size_t i = 0; i < answer.id_count; ++i)
    sum += answer.log_probabilities[i];
  tokens += int64_t(answer.id_count);
}

std::string Perplexity::describe() const {
  double entropy = tokens == 0 ? 0 : -sum / static_cast<double>(tokens);
  char text[128];
  snprintf(text, sizeof text,
           "perplexity %.6g (cross-entropy %.6g nats a token, %lld tokens)",
           std::exp(entropy), entropy, static_cast<long long>(tokens));
  return text;
}

std::string heddle::quoteJson(std::string_view text) {
  std::string quoted = "\"";
  for (char c : repairUtf8(text)) {
    char escape[8];
    snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned char>(c));
    if (static_cast<unsigned char>(c) < ' ')
      quoted += escape;
    else
      (quoted += c == '"' || c == '\\' ? "\\" : "") += c;
  }
  return quoted + "\"";
}

std::string heddle::formatJsonNumber(float value) {
  return std::isfinite(value) ? formatNumber(value) : "null";
}

std::string heddle::formatRankedLine(const RankedLine &ranked, bool isPlain) {
  std::string text = isPlain ? "" : "{";
  auto add = [&](const char *name, const std::string &value) {
    if (!isPlain)
      ((text += text.size() > 1 ? ", \"" : "\"") += name) += "\": ";
    else if (!text.empty())
      text += '\t';
    text += value;
  };
  if (ranked.query)
    add("query", std::to_string(*ranked.query + 1));
  if (!isPlain)
    add("line", std::to_string(ranked.line + 1));
  add("score",
      isPlain ? formatNumber(ranked.score) : formatJsonNumber(ranked.score));
  if (ranked.text)
    add("text", isPlain ? oneLine(*ranked.text) : quoteJson(*ranked.text));
  else if (isPlain)
    add("line", std::to_string(ranked.line + 1));
  return text + (isPlain ? "\n" : "}\n");
}
