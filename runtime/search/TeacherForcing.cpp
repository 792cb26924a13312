//===- TeacherForcing.cpp - Logits along given targets --------------------===//
//
// The full form runs once over a padded batch: what stands behind a target's
// end cannot reach its logits, since a decoder looks back only. The step form
// is fed the same tokens one by one, a prefill several at once.
//
//===----------------------------------------------------------------------===//

#include "runtime/search/TeacherForcing.h"

#include "runtime/search/DecodingLoop.h"

#include <algorithm>

using namespace heddle;

int64_t heddle::taughtPositions(const Model &model, const TokenIds &source,
                                const TokenIds &target) {
  size_t before = model.manifest().promptsTarget ? source.size() : 1;
  return target.empty() ? 0 : int64_t(before + target.size()) - 1;
}

Status heddle::checkTaught(const Model &model, const TokenIds &source,
                           const TokenIds &target) {
  if (Status status = model.checkTarget(target); !status.ok())
    return status;
  std::optional<int64_t> positions = model.manifest().generation.maxTarget;
  int64_t taken = taughtPositions(model, source, target);
  return !positions || taken <= *positions
             ? Status::success()
             : Status::error("takes ", taken,
                             " positions with its prompt but the model has ",
                             *positions);
}

namespace {
/// What a decoder is fed of a sentence: the start token, or its prompt, and all
/// but the last token of its target. Nothing if that is empty.
struct Lesson {
  TokenIds inputs;
  /// Where the target's first token is said.
  int64_t first = 0;
};
} // namespace

static Lesson lessonOf(const TokenIds &beginning, const TokenIds &target) {
  if (target.empty())
    return {};
  Lesson lesson{beginning, int64_t(beginning.size()) - 1};
  lesson.inputs.insert(lesson.inputs.end(), target.begin(), target.end() - 1);
  return lesson;
}

static Result<std::vector<Lesson>>
prepareLessons(const Model &model, const std::vector<TokenIds> &sources,
               const std::vector<TokenIds> &targets,
               std::optional<int32_t> start) {
  bool isPrompted = model.manifest().promptsTarget;
  if (!isPrompted && !start)
    return Status::error("'", model.artifact().path(),
                         "' has no start token to score from");
  if (sources.size() != targets.size())
    return Status::error("a batch of ",
                         countOf(int64_t(sources.size()), "sentence"), " has ",
                         targets.size(), " targets");
  std::vector<Lesson> lessons;
  for (size_t i = 0; i < targets.size(); ++i) {
    lessons.push_back(
        lessonOf(isPrompted ? sources[i] : TokenIds{*start}, targets[i]));
    if (Status status = checkTaught(model, sources[i], targets[i]);
        !status.ok())
      return Status::error("target ", i + 1, " of a batch ", status.message());
  }
  return lessons;
}

static Status runPrefill(Session &session, const std::vector<Lesson> &lessons,
                         const LogitsSink &sink) {
  std::vector<TokenIds> inputs;
  std::vector<int64_t> from;
  for (const Lesson &lesson : lessons) {
    inputs.push_back(lesson.inputs);
    from.push_back(lesson.first);
  }
  auto tell = [&](int64_t sentence, int64_t position, float *logits) {
    return sink(sentence, position - from[size_t(sentence)], logits);
  };
  return session.runPrefill(inputs, from, tell);
}

static Status runFull(Session &session, const std::vector<Lesson> &lessons,
                      int64_t longest, int64_t vocabulary,
                      const LogitsSink &sink) {
  int32_t *ids = session.ids();
  for (const Lesson &lesson : lessons) {
    std::fill(std::copy(lesson.inputs.begin(), lesson.inputs.end(), ids),
              ids + longest, 0);
    ids += longest;
  }
  if (Status status = session.runFull(); !status.ok())
    return status;
  for (size_t i = 0; i < lessons.size(); ++i)
    for (int64_t k = lessons[i].first; k < int64_t(lessons[i].inputs.size());
         ++k)
      if (Status status =
              sink(int64_t(i), k - lessons[i].first,
                   session.logits() + (int64_t(i) * longest + k) * vocabulary);
          !status.ok())
        return status;
  return Status::success();
}

namespace {
/// The next token is the teacher's.
class GivenTargets : public Chooser {
public:
  GivenTargets(Session &session, const std::vector<Lesson> &lessons,
               int64_t vocabulary, const LogitsSink &sink)
      : session(session), lessons(lessons), vocabulary(vocabulary), sink(sink) {
  }

  void prepare(int64_t) override {}
  Status choose(int32_t sentence, int64_t row, int64_t,
                std::vector<Continuation> &next) override {
    const Lesson &lesson = lessons[size_t(sentence)];
    // One step too many, if there is nothing to score.
    if (lesson.inputs.empty())
      return Status::success();
    int64_t position = session.position(row) - 1;
    if (position + 1 < int64_t(lesson.inputs.size()))
      next.push_back(
          {static_cast<int32_t>(row), lesson.inputs[size_t(position) + 1]});
    if (position < lesson.first)
      return Status::success();
    return sink(sentence, position - lesson.first,
                session.logits() + row * vocabulary);
  }

private:
  Session &session;
  const std::vector<Lesson> &lessons;
  int64_t vocabulary;
  const LogitsSink &sink;
};
} // namespace

static Status runOneByOne(Session &session, const std::vector<Lesson> &lessons,
                          int64_t longest, int64_t vocabulary,
                          const LogitsSink &sink) {
  RowTokens tokens;
  tokens.reset(int64_t(lessons.size()), longest);
  for (size_t i = 0; i < lessons.size(); ++i)
    if (!lessons[i].inputs.empty())
      tokens.set(int64_t(i), {lessons[i].inputs.front()});
  GivenTargets given(session, lessons, vocabulary, sink);
  return DecodingLoop(session, tokens, given).run(/*start=*/0);
}

Status heddle::scoreTargets(const Model &model, Session &session,
                            const std::vector<TokenIds> &sources,
                            const std::vector<TokenIds> &targets,
                            const Teaching &teaching, const LogitsSink &sink) {
  auto lessons = prepareLessons(model, sources, targets, teaching.start);
  if (!lessons.ok())
    return lessons.status();
  int64_t longest = 0;
  for (const Lesson &lesson : *lessons)
    longest = std::max(longest, int64_t(lesson.inputs.size()));
  if (longest == 0)
    return Status::success();
  if (Status status =
          session.begin(sources, {teaching.form, longest}, teaching.features);
      !status.ok())
    return status;
  int64_t vocabulary = model.manifest().targetVocabulary;
  if (teaching.form == DecoderForm::Step)
    return runOneByOne(session, *lessons, longest, vocabulary, sink);
  return teaching.form == DecoderForm::Full
             ? runFull(session, *lessons, longest, vocabulary, sink)
             : runPrefill(session, *lessons, sink);
}
