//===- CandidateCases.h - Logits of a shortlist's candidates ----*- C++ -*-===//
//
// One call of candidate_logits that tests of every short type make: rows of
// sentences that have none, a few and all of a list of candidates from a
// vocabulary of 40. Logits behind a sentence's candidates are -inf.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_KERNELS_LINEAR_CANDIDATECASES_H
#define HEDDLE_TEST_KERNELS_LINEAR_CANDIDATECASES_H

#include "test/kernels/LayerTest.h"

namespace heddle::test {

inline constexpr int64_t kCandidateVocabulary = 40, kCandidateRows = 5;
/// The row of the sentence that has none.
inline constexpr int64_t kRowWithoutCandidates = 1;

/// The function "NAME_WIDTH": `lines` compute %y from %x [rows, WIDTH], %ids,
/// %counts and the rows' sentences %of.
std::string candidatesText(const std::string &name, int64_t width,
                           const std::string &lines);

/// The dims to prepare a call of such a function with.
std::vector<std::pair<Dim, int64_t>> candidateDims();

/// Runs the call for x and expects logit(row, id) for each candidate, exactly.
void expectCandidates(
    EntryCall call, const std::vector<float> &x,
    const std::function<double(int64_t row, int64_t id)> &logit);

} // namespace heddle::test

#endif // HEDDLE_TEST_KERNELS_LINEAR_CANDIDATECASES_H
