//===- QuestionAnswers.cpp - Answers that stand in a text -----------------===//
//
// A window gives the best pairs of a first and a last token as candidates;
// those of all windows are put together when the line is written.
//
//===----------------------------------------------------------------------===//

#include "runtime/lines/QuestionAnswers.h"

#include "runtime/tokenizer/UnicodeTables.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

using namespace heddle;

namespace {
/// The tokens of a window and the logits of each, a pair of those of the first
/// token of an answer and of the last one.
class Window {
public:
  Window(const TokenIds &ids, const std::vector<TokenPlace> &places,
         const float *logits)
      : ids(ids), places(places), first(chances(logits)),
        last(chances(logits + 1)) {}

  std::vector<AnswerCandidate> findBest(size_t count, size_t longest) const;

private:
  std::vector<double> chances(const float *logits) const;
  AnswerCandidate candidate(size_t begin, size_t end) const;
  /// Tokens that count: those of the text, and the one in front of all, which
  /// stands for no answer.
  bool counts(size_t token) const {
    return places[token].isOfText || ids[token] == ids[0];
  }

  const TokenIds &ids;
  const std::vector<TokenPlace> &places;
  /// How probable each token is as the first of an answer, and as the last.
  const std::vector<double> first, last;
};

class AnswerJob : public TextJob {
public:
  AnswerJob(const Model &model, const AnswerOptions &options,
            const LineSource &source)
      : TextJob(model, Role::Answer), options(options), source(source),
        reader(model, *model.manifest().answer, options, source,
               {/*prompt=*/"", TextUse::Places::OfPair, stride()}) {}

  Result<Sentence> encode(int64_t number, const Line &line) override;
  bool takesPairs() const override { return true; }
  Answer read(const Batch &batch, size_t text,
              const float *logits) const override;

private:
  int64_t stride() const;

  const AnswerOptions &options;
  const LineSource &source;
  const TextReader reader;
};
} // namespace

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// The softmax of every second logit, over tokens that count.
std::vector<double> Window::chances(const float *logits) const {
  double largest = -INFINITY, sum = 0;
  for (size_t i = 0; i < ids.size(); ++i)
    if (counts(i))
      largest = std::max(largest, double(logits[2 * i]));
  std::vector<double> chances(ids.size());
  for (size_t i = 0; i < ids.size(); ++i)
    if (counts(i))
      sum += chances[i] = std::exp(logits[2 * i] - largest);
  for (double &chance : chances)
    chance /= sum > 0 ? sum : 1;
  return chances;
}

/// The words from one token to another.
AnswerCandidate Window::candidate(size_t begin, size_t end) const {
  auto isOf = [&](size_t token, size_t other) {
    return places[token].isOfText && places[token].word == places[other].word;
  };
  double score = first[begin] * last[end];
  while (begin > 0 && isOf(begin - 1, begin))
    --begin;
  while (end + 1 < ids.size() && isOf(end + 1, end))
    ++end;
  return {score,
          {places[begin].bytes.begin, places[end].bytes.end},
          {places[begin].characters.begin, places[end].characters.end},
          /*isNone=*/false};
}

/// At most `count` candidates of at most `longest` tokens, the best ones first,
/// behind the one that there is no answer.
std::vector<AnswerCandidate> Window::findBest(size_t count,
                                              size_t longest) const {
  struct Pair {
    double score;
    size_t begin, end;
  };
  auto isBefore = [](const Pair &a, const Pair &b) {
    return a.score != b.score   ? a.score > b.score
           : a.begin != b.begin ? a.begin < b.begin
                                : a.end < b.end;
  };
  // A heap, the worst of the best in front. What is no number is no answer.
  std::vector<Pair> best;
  for (size_t begin = 0; begin < ids.size(); ++begin) {
    size_t behind = std::min(ids.size(), begin + longest);
    for (size_t end = begin; end < behind && places[begin].isOfText; ++end) {
      Pair pair = {first[begin] * last[end], begin, end};
      bool isBetter = best.size() < count || isBefore(pair, best.front());
      if (!places[end].isOfText || !(pair.score > 0) || !isBetter)
        continue;
      if (best.size() == count) {
        std::pop_heap(best.begin(), best.end(), isBefore);
        best.pop_back();
      }
      best.push_back(pair);
      std::push_heap(best.begin(), best.end(), isBefore);
    }
  }
  std::sort(best.begin(), best.end(), isBefore);
  std::vector<AnswerCandidate> found = {
      {first[0] * last[0], {}, {}, /*isNone=*/true}};
  for (const Pair &pair : best)
    found.push_back(candidate(pair.begin, pair.end));
  return found;
}

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

int64_t AnswerJob::stride() const {
  auto most = mostTokens(model, *model.manifest().answer, options);
  return options.stride.value_or(
      most ? std::min(int64_t(*most / 2), kAnswerStride) : kAnswerStride);
}

Result<Sentence> AnswerJob::encode(int64_t number, const Line &line) {
  if (!line.pair)
    return Status::error(source.nameOf(number), " is one ",
                         line.source.ids || options.ids ? "list of ids"
                                                        : "text",
                         ", expected a question and a text");
  Result<Sentence> sentence = reader.read(number, line);
  if (sentence.ok())
    sentence->kept = *line.pair;
  return sentence;
}

Answer AnswerJob::read(const Batch &batch, size_t text,
                       const float *logits) const {
  Window window(batch.sources[text], batch.features.places[text], logits);
  // Words that candidates share make answers of several of them.
  return window.findBest(size_t(2 * options.top + 10), size_t(options.longest));
}

std::unique_ptr<TextJob> heddle::makeAnswerJob(const Model &model,
                                               const AnswerOptions &options,
                                               const LineSource &source) {
  return std::make_unique<AnswerJob>(model, options, source);
}

/// A text in small letters, as Python's lower() has it but for the sigma at the
/// end of a word.
static std::string lowerCase(std::string_view text) {
  std::string lower;
  while (!text.empty())
    appendUtf8(toLowercase(takeCodePoint(text).value), lower);
  return lower;
}

std::vector<TextAnswer> heddle::takeAnswers(LineAnswer &line,
                                            const AnswerOptions &options) {
  std::vector<TextAnswer> answers;
  // In small letters.
  std::unordered_map<std::string, size_t> known;
  double none = INFINITY;
  for (const AnswerCandidate &each : takeList<AnswerCandidate>(line.answer)) {
    if (each.isNone) {
      none = std::min(none, each.score);
      continue;
    }
    std::string text =
        line.kept.substr(each.bytes.begin, each.bytes.end - each.bytes.begin);
    auto [at, isNew] = known.emplace(lowerCase(text), answers.size());
    if (isNew)
      answers.push_back(
          {std::move(text), each.score, each.bytes, each.characters});
    else
      answers[at->second].score += each.score;
  }
  if (options.mayBeNone && none < INFINITY)
    answers.push_back({"", none, {}, {}});
  std::sort(answers.begin(), answers.end(),
            [](const TextAnswer &a, const TextAnswer &b) {
              return a.score != b.score ? a.score > b.score
                                        : a.bytes.begin < b.bytes.begin;
            });
  if (answers.size() > size_t(options.top))
    answers.resize(size_t(options.top));
  return answers;
}

Status heddle::answerLines(const Workers &workers,
                           const LineRunOptions &options,
                           const AnswerOptions &answer, LineSource &source,
                           const TextAnswerWriter &writer) {
  AnswerJob job(workers.model(), answer, source);
  return runLines(
      workers, options, source, job, [&](std::vector<LineAnswer> lines) {
        for (LineAnswer &line : lines) {
          std::vector<TextAnswer> answers = takeAnswers(line, answer);
          Status status =
              writer.write(line.hasFailed ? nullptr : &answers, line.notice);
          if (!status.ok())
            return status;
        }
        return writer.flush();
      });
}
