//===- Alignments.cpp - What finished targets attend to -------------------===//
//
// A batch of targets is padded: what stands behind a target's end reaches none
// of its rows, since a decoder looks back only. Products and exponentials are
// double, in the order of the tokens.
//
//===----------------------------------------------------------------------===//

#include "runtime/search/Alignments.h"

#include <algorithm>
#include <cmath>

using namespace heddle;

Status heddle::checkAligns(const Model &model) {
  return model.entryPoint(Role::Align)
             ? Status::success()
             : Status::error("has no code for: none of its attentions gives "
                             "probabilities to the tokens of a source");
}

namespace {
/// The attention of a sentence: rows of whole heads.
struct AttentionRows {
  const AlignedHeads &heads;
  const float *queries, *keys;
  int64_t headWidth, sourceTokens;

  /// The probabilities of source tokens for a position of the target.
  void write(int64_t position, float *row);

  std::vector<double> scores = std::vector<double>(size_t(sourceTokens));
  std::vector<double> sums = std::vector<double>(size_t(sourceTokens));
};
} // namespace

void AttentionRows::write(int64_t position, float *row) {
  std::fill(sums.begin(), sums.end(), 0);
  int64_t headsOfKey = heads.queries / heads.keys;
  for (int64_t head = 0; head < heads.aligned; ++head) {
    const float *query =
        queries + (position * heads.queries + head) * headWidth;
    for (int64_t j = 0; j < sourceTokens; ++j) {
      const float *key =
          keys + (j * heads.keys + head / headsOfKey) * headWidth;
      double product = 0;
      for (int64_t i = 0; i < headWidth; ++i)
        product += double(query[i]) * double(key[i]);
      scores[size_t(j)] = heads.scale * product;
    }
    double largest = *std::max_element(scores.begin(), scores.end()), sum = 0;
    for (double &score : scores)
      sum += score = std::exp(score - largest);
    for (size_t j = 0; j < scores.size(); ++j)
      sums[j] += scores[j] / sum;
  }
  for (size_t j = 0; j < sums.size(); ++j)
    row[j] = float(sums[j] / double(heads.aligned));
}

Result<int64_t> heddle::bytesToAlign(Session &session,
                                     const std::vector<TokenIds> &sources,
                                     int64_t tokens) {
  return session.bytesFor(sources, {DecoderForm::Align, tokens});
}

/// Aligns a batch, whose rows go behind those of the batches before.
static Status alignBatch(const Model &model, Session &session,
                         const std::vector<TokenIds> &sources,
                         const std::vector<TokenIds> &targets, int32_t start,
                         std::vector<std::vector<float>> &all) {
  size_t longest = 1;
  for (const TokenIds &target : targets)
    longest = std::max(longest, target.size());
  if (Status status =
          session.begin(sources, {DecoderForm::Align, int64_t(longest)});
      !status.ok())
    return status;
  int32_t *ids = session.ids();
  std::fill_n(ids, targets.size() * longest, 0);
  for (const TokenIds &target : targets) {
    // Row t is fed the token in front of token t.
    if (!target.empty()) {
      *ids = start;
      std::copy(target.begin(), target.end() - 1, ids + 1);
    }
    ids += longest;
  }
  if (Status status = session.runFull(); !status.ok())
    return status;
  const Entry &entry = *model.manifest().entry(Role::Align);
  const AlignedHeads &heads = *entry.heads;
  int64_t queryWidth =
      entry.argument("queries", ArgumentKind::Output)->shape[2].size;
  int64_t headWidth = queryWidth / heads.queries;
  int64_t keyWidth = headWidth * heads.keys;
  for (size_t i = 0; i < targets.size(); ++i) {
    auto tokens = int64_t(targets[i].size()),
         width = int64_t(sources[i].size());
    AttentionRows rows = {
        heads, session.aligned("queries") + int64_t(i * longest) * queryWidth,
        session.aligned("keys") +
            int64_t(i) * session.sourceTokens() * keyWidth,
        headWidth, width};
    std::vector<float> &own = all.emplace_back(size_t(tokens * width));
    for (int64_t t = 0; t < tokens; ++t)
      rows.write(t, own.data() + t * width);
  }
  return Status::success();
}

Result<std::vector<std::vector<float>>> heddle::attentionOf(
    const Model &model, Session &session, const std::vector<TokenIds> &sources,
    const std::vector<TokenIds> &targets, int32_t start, size_t together) {
  std::vector<std::vector<float>> all;
  for (size_t first = 0; first < targets.size(); first += together) {
    auto begin = ptrdiff_t(first),
         end = ptrdiff_t(std::min(first + together, targets.size()));
    if (Status status = alignBatch(
            model, session, {sources.begin() + begin, sources.begin() + end},
            {targets.begin() + begin, targets.begin() + end}, start, all);
        !status.ok())
      return status;
  }
  return all;
}
