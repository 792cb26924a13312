//===- AttentionCases.h - Attention against its formula ---------*- C++ -*-===//
//
// Attention ops by masks and heads, what they compute in double, and what tests
// of whole sentences expect of them.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_KERNELS_ATTENTION_ATTENTIONCASES_H
#define HEDDLE_TEST_KERNELS_ATTENTION_ATTENTIONCASES_H

#include "test/kernels/LayerTest.h"

namespace heddle::test {

/// A mask as IR, which defines %mask, and as its definition.
struct Mask {
  std::string name, text;
  std::function<bool(int64_t i, int64_t j, int64_t length)> contains;
};

struct Heads {
  int64_t count, kvCount, keyWidth, valueWidth;
};

/// One attention op; sizes are those of its buffers.
struct Case {
  Heads heads;
  Mask mask;

  std::string name() const {
    return mask.name + "_" + std::to_string(heads.count) + "_" +
           std::to_string(heads.keyWidth) + "_" +
           std::to_string(heads.valueWidth);
  }
};

struct Sizes {
  int64_t batch, queries, keys;
};

extern const Mask kFull, kCausal, kPadding, kWindow;
/// Several ranges, dilation, a complement; its stride is 1.
extern const Mask kMixed;
/// Masks of sentences: rows behind the last one allow nothing. Where the ranges
/// of keys begin and end depends on queries, in all but the first.
std::vector<Mask> masksOfSentences();

/// The text of a case with one form's types and operands.
std::string moduleOf(const Case &each, const std::string &text,
                     const std::string &element);
/// Of whole sentences.
extern const char *const kFullForm;

/// y of one query, from its rows of keys and values for the positions
/// [0, count) that `allowed` holds.
void attend(const Heads &heads, const float *q, const float *k, const float *v,
            int64_t count, const std::function<bool(int64_t)> &allowed,
            std::vector<double> &y);

/// What a call of the full form reads.
struct Inputs {
  std::vector<float> q, k, v;
  std::vector<int32_t> lengths;

  /// The first sentence is full, the last has no key.
  Inputs(const Heads &heads, const Sizes &sizes);
};

/// What a call of the ragged form reads of sequences, one behind the other.
struct RaggedRows {
  std::vector<int32_t> lengths, positions, sequences, blocks;

  explicit RaggedRows(const std::vector<int64_t> &lengths);
  std::vector<std::pair<Dim, int64_t>> dims() const;
  void setOn(EntryCall &call) const;
};

class AttentionCaseTest : public LayerTest {
protected:
  /// Scores of up to 30 from sums of up to 256 products, with an error of 256
  /// half units of the last place at worst. Weights w_j of bf16 have one of up
  /// to 2^-8 w_j, which moves the mean of the values v_j, all in [-1, 1], by at
  /// most 2^-8 sum w_j |v_j - y| / sum w_j.
  static double tolerance() { return 5e-5 + (isOfBf16() ? 0x1p-7 : 0); }

  /// A call of the full form.
  static std::vector<float> run(const EntryRunner &code, const Case &each,
                                const Sizes &sizes, const Inputs &inputs);

  // Of each case.
  /// y is that of the formula.
  void expectFormula(const std::vector<Case> &cases,
                     const std::vector<Sizes> &all);
  /// Two queries, and what queries before `firstKey` do not see under a causal
  /// mask of its key and those behind, change no bit of others; there are as
  /// many keys as queries.
  void expectBitsBesideHostileRows(const std::vector<Case> &cases,
                                   const Sizes &sizes, int64_t firstKey);
  /// Sentences of these lengths have the same bits in a batch that is padded to
  /// longer ones.
  void expectBitsInPadding(const std::vector<Case> &cases,
                           const std::vector<int64_t> &lengths);
};

} // namespace heddle::test

#endif // HEDDLE_TEST_KERNELS_ATTENTION_ATTENTIONCASES_H
