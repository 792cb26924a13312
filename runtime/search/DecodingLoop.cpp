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

DecodingLoop::DecodingLoop(Session &session, RowTokens &tokens,
                           Chooser &chooser)
    : session(session), tokens(tokens), chooser(chooser) {
  next.reserve(size_t(tokens.size()));
  kept.reserve(size_t(tokens.size()));
  parents.reserve(size_t(tokens.size()));
  sentences.reserve(size_t(session.rows()));
}

Status DecodingLoop::choose(int32_t sentence, int64_t first, int64_t count) {
  size_t begin = next.size();
  Status status = chooser.choose(sentence, first, count, next);
  sentences.push_back({begin, next.size()});
  return status;
}

Status DecodingLoop::keep() {
  fillGaps(sentences);
  kept.clear();
  parents.clear();
  for (KeptRows sentence : sentences)
    for (size_t i = sentence.begin; i < sentence.end; ++i) {
      kept.push_back(next[i]);
      parents.push_back(next[i].row);
    }
  next.clear();
  sentences.clear();
  tokens.keep(kept);
  return session.keep(parents);
}

Status DecodingLoop::run(int32_t start) {
  while (session.rows() > 0) {
    if (session.isCancelled())
      return Status::error("the decoding was cancelled");
    for (int64_t row = 0; row < session.rows(); ++row) {
      session.ids()[row] = tokens[row].empty() ? start : tokens[row].back();
      chooser.prepare(row);
    }
    if (Status status = session.runStep(); !status.ok())
      return status;
    for (int64_t first = 0, end = 0; first < session.rows(); first = end) {
      int32_t sentence = session.sentence(first);
      while (end < session.rows() && session.sentence(end) == sentence)
        ++end;
      if (Status status = choose(sentence, first, end - first); !status.ok())
        return status;
    }
    if (Status status = keep(); !status.ok())
      return status;
  }
  return Status::success();
}
