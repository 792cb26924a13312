//===- TeacherForcing.cpp - Logits along given targets --------------------===//
//
// The full form runs once over a padded batch: what stands behind a target's
// end cannot reach its logits, since a decoder looks back only. The step form
// is fed the same tokens one by one, a chunk those of each sentence at once.
//
//===----------------------------------------------------------------------===//

#include "runtime/search/TeacherForcing.h"

#include "runtime/search/DecodingLoop.h"

#include <algorithm>

using namespace heddle;

/// The decoder's input at a position: what the teacher says before it.
static int32_t inputAt(const TokenIds &target, int64_t position,
                       int32_t start) {
  return position == 0 ? start : target[position - 1];
}

static Status runFull(Session &session, const std::vector<TokenIds> &targets,
                      int64_t longest, int32_t start) {
  for (size_t i = 0; i < targets.size(); ++i)
    for (int64_t k = 0; k < longest; ++k)
      session.ids()[i * longest + k] = k < int64_t(targets[i].size())
                                           ? inputAt(targets[i], k, start)
                                           : start;
  return session.runFull();
}

static Status runChunk(Session &session, const std::vector<TokenIds> &targets,
                       int32_t start) {
  std::vector<TokenIds> inputs(targets.size());
  for (size_t i = 0; i < targets.size(); ++i)
    for (size_t k = 0; k < targets[i].size(); ++k)
      inputs[i].push_back(inputAt(targets[i], int64_t(k), start));
  return session.runChunk(inputs);
}

/// Passes on what stands in [sentences, longest, vocabulary].
static Status tellLogits(Session &session, const std::vector<TokenIds> &targets,
                         int64_t longest, int64_t vocabulary,
                         const LogitsSink &sink) {
  for (size_t i = 0; i < targets.size(); ++i)
    for (size_t k = 0; k < targets[i].size(); ++k)
      if (Status status =
              sink(i, k, session.logits() + (i * longest + k) * vocabulary);
          !status.ok())
        return status;
  return Status::success();
}

namespace {
/// The next token is the teacher's.
class GivenTargets : public Chooser {
public:
  GivenTargets(Session &session, const std::vector<TokenIds> &targets,
               int64_t vocabulary, const LogitsSink &sink)
      : session(session), targets(targets), vocabulary(vocabulary), sink(sink) {
  }

  void prepare(int64_t) override {}
  Status choose(int32_t sentence, int64_t row, int64_t,
                std::vector<Continuation> &next) override {
    const TokenIds &target = targets[size_t(sentence)];
    // One step too many, if there is nothing to score.
    if (target.empty())
      return Status::success();
    int64_t position = session.position(row) - 1;
    if (position + 1 < int64_t(target.size()))
      next.push_back({static_cast<int32_t>(row), target[size_t(position)]});
    return sink(sentence, position, session.logits() + row * vocabulary);
  }

private:
  Session &session;
  const std::vector<TokenIds> &targets;
  int64_t vocabulary;
  const LogitsSink &sink;
};
} // namespace

Status heddle::scoreTargets(const Model &model, Session &session,
                            const std::vector<TokenIds> &sources,
                            const std::vector<TokenIds> &targets,
                            const Teaching &teaching, const LogitsSink &sink) {
  const auto &[form, start] = teaching;
  if (!start)
    return Status::error("'", model.artifact().path(),
                         "' has no start token to score from");
  if (sources.size() != targets.size())
    return Status::error("a batch of ", sources.size(), " sentences has ",
                         targets.size(), " targets");
  int64_t longest = 0;
  for (size_t i = 0; i < targets.size(); ++i) {
    if (Status status = model.checkTarget(targets[i]); !status.ok())
      return Status::error("target ", i + 1, " of a batch ", status.message());
    longest = std::max(longest, int64_t(targets[i].size()));
  }
  if (longest == 0)
    return Status::success();
  if (Status status = session.begin(sources, {form, longest}); !status.ok())
    return status;
  int64_t vocabulary = model.manifest().targetVocabulary;
  if (form == DecoderForm::Full || form == DecoderForm::Chunk) {
    Status status = form == DecoderForm::Full
                        ? runFull(session, targets, longest, *start)
                        : runChunk(session, targets, *start);
    if (!status.ok())
      return status;
    return tellLogits(session, targets, longest, vocabulary, sink);
  }
  RowTokens tokens;
  tokens.reset(int64_t(sources.size()), longest);
  GivenTargets given(session, targets, vocabulary, sink);
  return runSteps(session, *start, tokens, given);
}
