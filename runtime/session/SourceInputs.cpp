//===- SourceInputs.cpp - What a batch gives to its encoder ---------------===//
//
// A class for each role. Results do not depend on what stands behind a length.
//
//===----------------------------------------------------------------------===//

#include "runtime/session/SourceInputs.h"

#include "runtime/code/KernelAbi.h"

#include <algorithm>
#include <limits>
#include <numeric>

using namespace heddle;

/// Writes lists, each filled up to a width.
static void fillRows(const std::vector<std::vector<int32_t>> &lists,
                     int64_t width, int32_t filler, int32_t *values) {
  for (const std::vector<int32_t> &list : lists) {
    std::fill(std::copy(list.begin(), list.end(), values), values + width,
              filler);
    values += width;
  }
}

/// Writes lists with an element for each token of a batch; shorter ones are
/// filled up.
static void fillTokens(const SourceBatch &batch, const DimValues &dims,
                       const std::vector<std::vector<int32_t>> &lists,
                       int32_t filler, int32_t *values) {
  if (!batch.isRagged)
    return fillRows(lists, dims[Dim::Source], filler, values);
  for (size_t i = 0; i < lists.size(); ++i) {
    int32_t *end = values + batch.sources[i].size();
    std::fill(std::copy(lists[i].begin(), lists[i].end(), values), end, filler);
    values = end;
  }
}

static void fillSizes(const std::vector<std::vector<int32_t>> &lists,
                      int32_t *values) {
  for (const std::vector<int32_t> &list : lists)
    *values++ = int32_t(list.size());
}

std::vector<int32_t> heddle::masksOf(const std::vector<int32_t> &source,
                                     const Manifest &manifest) {
  std::vector<int32_t> positions;
  for (size_t i = 0; manifest.fill && i < source.size(); ++i)
    if (source[i] == manifest.fill->mask)
      positions.push_back(int32_t(i));
  return positions;
}

namespace {
class SourceIds final : public SourceInput {
public:
  void fill(const SourceBatch &batch, const DimValues &dims,
            int32_t *values) const override {
    // Any id would do.
    int32_t pad = batch.manifest.generation.pad.value_or(0);
    if (pad >= batch.manifest.sourceVocabulary)
      pad = 0;
    fillTokens(batch, dims, batch.sources, pad, values);
  }
};

class SourceLengths final : public SourceInput {
public:
  void fill(const SourceBatch &batch, const DimValues &,
            int32_t *values) const override {
    fillSizes(batch.sources, values);
  }
};

class TokenTypes final : public SourceInput {
public:
  void fill(const SourceBatch &batch, const DimValues &dims,
            int32_t *values) const override {
    if (batch.features.types.empty())
      std::fill_n(values,
                  batch.isRagged
                      ? dims[Dim::Tokens]
                      : int64_t(batch.sources.size()) * dims[Dim::Source],
                  0);
    else
      fillTokens(batch, dims, batch.features.types, 0, values);
  }
};

/// RoBERTa's positions: those of tokens that are not `pad` count from pad + 1,
/// `pad` itself has position pad, inside a text as well.
class SourcePositions final : public SourceInput {
public:
  void fill(const SourceBatch &batch, const DimValues &dims,
            int32_t *values) const override {
    int32_t pad = batch.manifest.sourcePad.value_or(0);
    for (const std::vector<int32_t> &source : batch.sources) {
      int32_t next = pad;
      for (size_t i = 0; i < source.size(); ++i)
        values[i] = source[i] == pad ? pad : ++next;
      int32_t *end = values + source.size();
      values = batch.isRagged ? end : values + dims[Dim::Source];
      std::fill(end, values, pad);
    }
  }
};

/// Positions of the tokens that a Longformer takes for global ones, of each
/// source those that it has. By default those of transformers' classes: the
/// first token of what gets labels or is translated, the question of what is
/// answered, none for anything else.
class GlobalTokens final : public SourceInput {
public:
  void measure(const SourceBatch &batch, DimValues &dims) const override {
    int64_t &most = dims[Dim::Globals] = 1;
    for (const std::vector<int32_t> &source : batch.sources)
      most = std::max<int64_t>(most, countOf(source, batch));
  }
  void fill(const SourceBatch &batch, const DimValues &dims,
            int32_t *values) const override {
    // No position of a source, and behind all that are.
    constexpr int32_t none = std::numeric_limits<int32_t>::max();
    const std::vector<int32_t> *asked = askedOf(batch);
    for (const std::vector<int32_t> &source : batch.sources) {
      int32_t count = countOf(source, batch);
      for (int32_t i = 0; i < int32_t(dims[Dim::Globals]); ++i)
        *values++ = i >= count ? none : asked ? (*asked)[size_t(i)] : i;
    }
  }
  std::string describe(const Manifest &manifest) const override {
    return manifest.answer
               ? "the tokens of a question, unless --global says otherwise"
               : "token 0 of a line, unless --global says otherwise";
  }

private:
  /// The positions that a setting says; null for none.
  static const std::vector<int32_t> *askedOf(const SourceBatch &batch) {
    auto asked = batch.settings.find("global");
    return asked == batch.settings.end() ? nullptr : &asked->second;
  }
  /// How many a source has: of those that are asked for, or its first tokens.
  static int32_t countOf(const std::vector<int32_t> &source,
                         const SourceBatch &batch) {
    auto size = int32_t(source.size());
    if (const std::vector<int32_t> *asked = askedOf(batch))
      return int32_t(std::lower_bound(asked->begin(), asked->end(), size) -
                     asked->begin());
    const Manifest &manifest = batch.manifest;
    if (batch.task == Role::Answer && manifest.answer->separator) {
      int32_t count = 0;
      while (count < size &&
             source[size_t(count)] != *manifest.answer->separator)
        ++count;
      return count;
    }
    bool hasFirst = manifest.generates || batch.task == Role::Classify;
    return std::min(size, int32_t(hasFirst));
  }
};

class PromptTokens final : public SourceInput {
public:
  void fill(const SourceBatch &batch, const DimValues &,
            int32_t *values) const override {
    const std::vector<int32_t> &counts = batch.features.promptTokens;
    for (size_t i = 0; i < batch.sources.size(); ++i)
      values[i] = counts.empty() ? 0 : counts[i];
  }
};

/// Positions of tokens that are masks, which the task `fill` guesses.
class MaskPositions final : public SourceInput {
public:
  void measure(const SourceBatch &batch, DimValues &dims) const override {
    size_t most = 1, all = 0;
    for (const std::vector<int32_t> &source : batch.sources) {
      size_t count = masksOf(source, batch.manifest).size();
      most = std::max(most, count);
      all += count;
    }
    dims[Dim::Masks] =
        int64_t(batch.isRagged ? std::max<size_t>(all, 1) : most);
  }
  void fill(const SourceBatch &batch, const DimValues &dims,
            int32_t *values) const override {
    std::vector<std::vector<int32_t>> lists;
    for (const std::vector<int32_t> &source : batch.sources)
      lists.push_back(masksOf(source, batch.manifest));
    // No position has this number.
    if (!batch.isRagged)
      return fillRows(lists, dims[Dim::Masks], -1, values);
    std::fill_n(values, dims[Dim::Masks], -1);
    int32_t start = 0;
    for (size_t i = 0; i < lists.size(); ++i) {
      for (int32_t position : lists[i])
        *values++ = start + position;
      start += int32_t(batch.sources[i].size());
    }
  }
};

/// Where each token of a ragged batch stands in its source, and in which.
class TokenPositions final : public SourceInput {
public:
  void measure(const SourceBatch &batch, DimValues &dims) const override {
    dims[Dim::Tokens] = 0;
    for (const std::vector<int32_t> &source : batch.sources)
      dims[Dim::Tokens] += int64_t(source.size());
  }
  void fill(const SourceBatch &batch, const DimValues &,
            int32_t *values) const override {
    for (const std::vector<int32_t> &source : batch.sources) {
      std::iota(values, values + source.size(), 0);
      values += source.size();
    }
  }
};

class TokenSequences final : public SourceInput {
public:
  void fill(const SourceBatch &batch, const DimValues &,
            int32_t *values) const override {
    for (size_t i = 0; i < batch.sources.size(); ++i)
      values = std::fill_n(values, batch.sources[i].size(), int32_t(i));
  }
};

/// The first token of each source.
class SourceStarts final : public SourceInput {
public:
  void fill(const SourceBatch &batch, const DimValues &,
            int32_t *values) const override {
    int32_t start = 0;
    for (const std::vector<int32_t> &source : batch.sources) {
      *values++ = start;
      start += int32_t(source.size());
    }
  }
};

/// The tokens with which blocks of queries begin.
class QueryBlocks final : public SourceInput {
public:
  void measure(const SourceBatch &batch, DimValues &dims) const override {
    dims[Dim::Blocks] = 0;
    for (const std::vector<int32_t> &source : batch.sources)
      dims[Dim::Blocks] += int64_t((source.size() + kBlock - 1) / kBlock);
  }
  void fill(const SourceBatch &batch, const DimValues &,
            int32_t *values) const override {
    int32_t start = 0;
    for (const std::vector<int32_t> &source : batch.sources) {
      for (size_t position = 0; position < source.size(); position += kBlock)
        *values++ = start + int32_t(position);
      start += int32_t(source.size());
    }
  }

private:
  static constexpr size_t kBlock = HEDDLE_QUERY_BLOCK;
};

class Candidates final : public SourceInput {
public:
  void measure(const SourceBatch &batch, DimValues &dims) const override {
    size_t widest = 1;
    for (const std::vector<int32_t> &list : batch.features.candidates)
      widest = std::max(widest, list.size());
    dims[Dim::Shortlist] = int64_t(widest);
  }
  void fill(const SourceBatch &batch, const DimValues &dims,
            int32_t *values) const override {
    fillRows(batch.features.candidates, dims[Dim::Shortlist], 0, values);
  }
};

class CandidateCounts final : public SourceInput {
public:
  void fill(const SourceBatch &batch, const DimValues &dims,
            int32_t *values) const override {
    std::fill_n(values, dims[Dim::Batch], 0);
    fillSizes(batch.features.candidates, values);
  }
};
} // namespace

const std::vector<const SourceInput *> &heddle::sourceInputs() {
  static const SourceIds ids;
  static const SourceLengths lengths;
  static const TokenTypes types;
  static const SourcePositions positions;
  static const GlobalTokens global;
  static const PromptTokens prompt;
  static const MaskPositions masks;
  static const Candidates candidates;
  static const CandidateCounts counts;
  static const TokenPositions inSources;
  static const TokenSequences sequences;
  static const SourceStarts starts;
  static const QueryBlocks blocks;
  static const std::vector<const SourceInput *> all = {
      &ids,        &lengths, &types,     &positions, &global, &prompt, &masks,
      &candidates, &counts,  &inSources, &sequences, &starts, &blocks};
  return all;
}

const SourceInput *heddle::sourceInput(std::string_view role) {
  const std::vector<InputRole> &roles = raggedRoles();
  for (size_t i = 0; i < roles.size(); ++i)
    if (roles[i].name == role)
      return sourceInputs()[i];
  return nullptr;
}
