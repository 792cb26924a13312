//===- SourceInputs.cpp - What a batch gives to its encoder ---------------===//
//
// A class for each role. Results do not depend on what stands behind a length.
//
//===----------------------------------------------------------------------===//

#include "runtime/session/SourceInputs.h"

#include <algorithm>
#include <limits>

using namespace heddle;

/// Writes the lists of a batch, each filled up to a width.
static void fillRows(const std::vector<std::vector<int32_t>> &lists,
                     int64_t width, int32_t filler, int32_t *values) {
  for (const std::vector<int32_t> &list : lists) {
    std::fill(std::copy(list.begin(), list.end(), values), values + width,
              filler);
    values += width;
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
    fillRows(batch.sources, dims[Dim::Source], pad, values);
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
      std::fill_n(values, int64_t(batch.sources.size()) * dims[Dim::Source], 0);
    else
      fillRows(batch.features.types, dims[Dim::Source], 0, values);
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
      std::fill(values + source.size(), values + dims[Dim::Source], pad);
      values += dims[Dim::Source];
    }
  }
};

/// Positions of the tokens that a Longformer takes for global ones, of each
/// source those that it has.
class GlobalTokens final : public SourceInput {
public:
  void measure(const SourceBatch &batch, DimValues &dims) const override {
    dims[Dim::Globals] = std::max<int64_t>(int64_t(tokens(batch).size()), 1);
  }
  void fill(const SourceBatch &batch, const DimValues &dims,
            int32_t *values) const override {
    // No position of a source, and behind all that are.
    constexpr int32_t none = std::numeric_limits<int32_t>::max();
    const std::vector<int32_t> &all = tokens(batch);
    for (const std::vector<int32_t> &source : batch.sources) {
      auto behind =
          std::lower_bound(all.begin(), all.end(), int32_t(source.size()));
      std::fill(std::copy(all.begin(), behind, values),
                values + dims[Dim::Globals], none);
      values += dims[Dim::Globals];
    }
  }
  std::string describe() const override {
    return "token 0 of a line, unless --global says otherwise";
  }

private:
  static const std::vector<int32_t> &tokens(const SourceBatch &batch) {
    static const std::vector<int32_t> first = {0};
    auto asked = batch.settings.find("global");
    return asked == batch.settings.end() ? first : asked->second;
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
    size_t most = 1;
    for (const std::vector<int32_t> &source : batch.sources)
      most = std::max(most, masksOf(source, batch.manifest).size());
    dims[Dim::Masks] = int64_t(most);
  }
  void fill(const SourceBatch &batch, const DimValues &dims,
            int32_t *values) const override {
    std::vector<std::vector<int32_t>> lists;
    for (const std::vector<int32_t> &source : batch.sources)
      lists.push_back(masksOf(source, batch.manifest));
    // No position has this number.
    fillRows(lists, dims[Dim::Masks], -1, values);
  }
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
  void fill(const SourceBatch &batch, const DimValues &,
            int32_t *values) const override {
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
  static const std::vector<const SourceInput *> all = {
      &ids,    &lengths, &types,      &positions, &global,
      &prompt, &masks,   &candidates, &counts};
  return all;
}

const SourceInput *heddle::sourceInput(std::string_view role) {
  const std::vector<InputRole> &roles = sourceRoles();
  for (size_t i = 0; i < roles.size(); ++i)
    if (roles[i].name == role)
      return sourceInputs()[i];
  return nullptr;
}
