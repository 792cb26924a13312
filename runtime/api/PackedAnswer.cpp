//===- PackedAnswer.cpp - An answer as one string -------------------------===//
//
// A head, ids, log-probabilities, text with a NUL; padded, so that the next
// head is aligned. No string is so short that it stands in its own object, at
// an address that moves: a head alone is longer.
//
//===----------------------------------------------------------------------===//

#include "runtime/api/PackedAnswer.h"

#include <cstring>

using namespace heddle;

namespace {
struct Head {
  size_t textSize, idCount;
  float sum, score;
  size_t hasLogProbabilities;
};
} // namespace

template <typename T>
static void append(std::string &bytes, const T *values, size_t count) {
  bytes.append(reinterpret_cast<const char *>(values), count * sizeof(T));
}

void heddle::packAnswer(std::string &answers, std::string_view text,
                        const TokenIds &tokens, float sum, float score,
                        const std::vector<float> &logProbabilities) {
  Head head = {text.size(), tokens.size(), sum, score,
               !logProbabilities.empty()};
  append(answers, &head, 1);
  append(answers, tokens.data(), tokens.size());
  append(answers, logProbabilities.data(), logProbabilities.size());
  answers += text;
  answers.append(alignof(Head) - answers.size() % alignof(Head), '\0');
}

std::vector<heddle_answer_text>
heddle::unpackAnswers(const std::string &answers) {
  std::vector<heddle_answer_text> result;
  for (const char *at = answers.data(), *end = at + answers.size(); at < end;) {
    Head head;
    std::memcpy(&head, at, sizeof head);
    at += sizeof head;
    auto *ids = reinterpret_cast<const int32_t *>(at);
    at += head.idCount * sizeof(int32_t);
    const float *logProbabilities = nullptr;
    if (head.hasLogProbabilities) {
      logProbabilities = reinterpret_cast<const float *>(at);
      at += head.idCount * sizeof(float);
    }
    result.push_back({at, head.textSize, ids, head.idCount, head.sum,
                      head.score, logProbabilities});
    at += head.textSize;
    at += alignof(Head) - size_t(at - answers.data()) % alignof(Head);
  }
  return result;
}
