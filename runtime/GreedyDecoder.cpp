//===- GreedyDecoder.cpp - The likeliest token, again and again -----------===//
//
// All rows step together. A row whose sentence is complete is finished, which
// lets the last row take its place; going through the rows from the last to
// the first, each row's logits are still where the step wrote them.
//
//===----------------------------------------------------------------------===//

#include "runtime/GreedyDecoder.h"

#include "runtime/TokenChoice.h"

#include <algorithm>
#include <limits>
#include <utility>

using namespace heddle;

/// Room for results is taken before the first step, up to a length that no
/// sentence has: limits can be much larger than what is generated.
static constexpr int64_t kReservedTokens = 1 << 14;
/// Positions are i32.
static constexpr int64_t kMaxLength = std::numeric_limits<int32_t>::max();

Result<std::vector<TokenIds>>
heddle::decodeGreedy(const Model &model, Session &session,
                     const std::vector<TokenIds> &sources,
                     const DecodeOptions &options) {
  Generation generation = model.manifest().generation;
  if (!generation.start)
    return Status::error("'", model.artifact().path(),
                         "' has no start token to generate from");
  for (auto [name, length] : {std::pair("maximal", options.maxLength),
                              std::pair("minimal", options.minLength)})
    if (length && (*length < 1 || *length > kMaxLength))
      return Status::error("the ", name, " length is ", *length,
                           ", expected a number from 1 to ", kMaxLength);
  generation.minLength = options.minLength.value_or(generation.minLength);

  std::vector<int64_t> limits;
  std::vector<TokenIds> generated(sources.size());
  int64_t longest = 1;
  for (size_t i = 0; i < sources.size(); ++i) {
    limits.push_back(
        lengthLimit(generation, int64_t(sources[i].size()), options.maxLength));
    longest = std::max(longest, limits.back());
    generated[i].reserve(std::min(limits.back(), kReservedTokens));
  }
  std::vector<TokenIds> candidates;
  const Shortlist *shortlist =
      options.useShortlist ? model.shortlist() : nullptr;
  if (shortlist)
    for (const TokenIds &source : sources)
      candidates.push_back(shortlist->candidates(source));
  bool isGreedy = !shortlist && model.entryPoint(Role::Greedy);
  DecoderForm form = shortlist  ? DecoderForm::ShortlistStep
                     : isGreedy ? DecoderForm::GreedyStep
                                : DecoderForm::Step;
  if (Status status = session.begin(sources, form, longest, candidates,
                                    isGreedy ? mostForbidden(generation) : 0);
      !status.ok())
    return status;

  auto logitsOf = [&](int64_t row) -> NextTokenLogits {
    if (!shortlist) {
      int64_t width = model.manifest().targetVocabulary;
      return {session.logits() + row * width, width};
    }
    const TokenIds &list = candidates[session.sentence(row)];
    return {session.logits() + row * session.candidateWidth(),
            int64_t(list.size()), list.data()};
  };
  auto choose = [&](int64_t row) {
    int32_t sentence = session.sentence(row);
    const TokenIds &tokens = generated[sentence];
    int64_t limit = limits[sentence];
    return isGreedy
               ? chooseToken(generation, tokens, limit, session.largest(row))
               : chooseToken(generation, tokens, limit, logitsOf(row));
  };
  for (int32_t position = 0; session.rows() > 0; ++position) {
    for (int64_t row = 0; row < session.rows(); ++row) {
      const TokenIds &tokens = generated[session.sentence(row)];
      session.ids()[row] = tokens.empty() ? *generation.start : tokens.back();
      if (isGreedy)
        writeForbidden(generation, tokens, session.forbidden(row),
                       session.forbiddenWidth());
    }
    session.runStep(position);
    for (int64_t row = session.rows() - 1; row >= 0; --row) {
      int32_t sentence = session.sentence(row);
      TokenIds &tokens = generated[sentence];
      tokens.push_back(choose(row));
      bool ended = std::count(generation.eos.begin(), generation.eos.end(),
                              tokens.back()) != 0;
      if (ended || int64_t(tokens.size()) == limits[sentence])
        session.finish(row);
    }
  }
  return generated;
}
