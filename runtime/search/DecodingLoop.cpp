//===- DecodingLoop.cpp - Steps of all rows until none is left ------------===//
//
// Rows of a sentence stand together. When a sentence ends, the rows of the
// last one take their place if they are as many: so little moves.
//
//===----------------------------------------------------------------------===//

#include "runtime/search/DecodingLoop.h"

#include <algorithm>
#include <utility>

using namespace heddle;

void RowTokens::reset(int64_t count, int64_t tokens) {
  for (std::vector<TokenIds> *each : {&rows, &spare}) {
    each->resize(static_cast<size_t>(count));
    for (TokenIds &row : *each) {
      row.clear();
      row.reserve(static_cast<size_t>(tokens));
    }
  }
}

void RowTokens::keep(const std::vector<Continuation> &kept) {
  for (size_t i = 0; i < kept.size(); ++i) {
    const TokenIds &parent = rows[size_t(kept[i].row)];
    spare[i].assign(parent.begin(), parent.end());
    spare[i].push_back(kept[i].token);
  }
  std::swap(rows, spare);
}

namespace {
/// The rows of a sentence that goes on: a range of the continuations.
struct Kept {
  size_t begin, end;
  size_t size() const { return end - begin; }
};
} // namespace

/// Brings the continuations of sentences that go on to the front, in place of
/// those that have ended.
static void fillGaps(std::vector<Kept> &sentences) {
  size_t last = sentences.size(), place = 0;
  for (; place < last; ++place) {
    if (sentences[place].size() != 0)
      continue;
    while (last > place + 1 && sentences[last - 1].size() == 0)
      --last;
    if (last == place + 1)
      break;
    sentences[place] = sentences[--last];
  }
  sentences.resize(place);
}

Status heddle::runSteps(Session &session, int32_t start, RowTokens &tokens,
                        Chooser &chooser) {
  std::vector<Continuation> next, kept;
  std::vector<Kept> sentences;
  std::vector<int32_t> parents;
  next.reserve(size_t(tokens.size()));
  kept.reserve(size_t(tokens.size()));
  parents.reserve(size_t(tokens.size()));
  sentences.reserve(size_t(session.rows()));
  while (session.rows() > 0) {
    if (session.isCancelled())
      return Status::error("the decoding was cancelled");
    for (int64_t row = 0; row < session.rows(); ++row) {
      session.ids()[row] = tokens[row].empty() ? start : tokens[row].back();
      chooser.prepare(row);
    }
    if (Status status = session.runStep(); !status.ok())
      return status;
    next.clear();
    sentences.clear();
    for (int64_t first = 0, end = 0; first < session.rows(); first = end) {
      int32_t sentence = session.sentence(first);
      while (end < session.rows() && session.sentence(end) == sentence)
        ++end;
      size_t begin = next.size();
      if (Status status = chooser.choose(sentence, first, end - first, next);
          !status.ok())
        return status;
      sentences.push_back({begin, next.size()});
    }
    fillGaps(sentences);
    kept.clear();
    parents.clear();
    for (Kept sentence : sentences)
      for (size_t i = sentence.begin; i < sentence.end; ++i) {
        kept.push_back(next[i]);
        parents.push_back(next[i].row);
      }
    tokens.keep(kept);
    if (Status status = session.keep(parents); !status.ok())
      return status;
  }
  return Status::success();
}
