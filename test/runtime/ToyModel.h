//===- ToyModel.h - A model whose every token is known ----------*- C++ -*-===//
//
// The artifact around ToyKernel.c, and an oracle for it: the kernel's function
// and greedy generation for one sentence, written from the documentation of
// transformers' logits processors and sharing nothing with the runtime.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_RUNTIME_TOYMODEL_H
#define HEDDLE_TEST_RUNTIME_TOYMODEL_H

#include "ArtifactBuilder.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heddle::test {

using Ids = std::vector<int32_t>;

inline constexpr int32_t kToySourceVocabulary = 9;
inline constexpr int32_t kToyTargetVocabulary = 11;
inline constexpr int32_t kToyEos = 0;
inline constexpr int32_t kToyStart = -1;

/// The manifest, which tests change before they build the artifact. Its
/// "generation" has start, eos and max_length 12.
nlohmann::json toyManifest();
/// The manifest with a step that returns the largest logits in place of the one
/// that returns all.
nlohmann::json withGreedyStep(nlohmann::json manifest);
/// The manifest with a step that returns the best logits beside the one that
/// returns all; it keeps tokens in caches, whose history rows share.
nlohmann::json withBestStep(nlohmann::json manifest);
/// With a chunk that the former goes on from, and without the latter.
nlohmann::json withBestStepAndChunk(nlohmann::json manifest);
/// The manifest with an encoder that takes global tokens: the second element of
/// global token g becomes 100 + g.
nlohmann::json withGlobalTokens(nlohmann::json manifest);
/// The manifest with the task `embed` beside what it has, and an encoder that
/// takes types and positions of tokens; 5 is the token without a position.
nlohmann::json withEmbedding(nlohmann::json manifest);
/// The manifest with the tasks `classify` and `tag`, of three labels, and
/// `fill`, whose mask is kToyMask. ToyKernel.c says what their logits are.
nlohmann::json withLabels(nlohmann::json manifest);
inline constexpr int32_t kToyMask = 7;
/// The manifest without the task `generate` and all entries of its decoders.
nlohmann::json withoutGeneration(nlohmann::json manifest);
/// The artifact, with a shortlist if the model generates.
ArtifactBuilder toyArtifact(const nlohmann::json &manifest);

/// The logits behind a prefix of generated tokens.
std::vector<float> toyLogits(const Ids &source, const Ids &generated);
/// The target ids that the artifact's shortlist admits.
Ids toyCandidates(const Ids &source);
/// The greedy output; `limit` in tokens. With `candidates`, only among them.
Ids toyGreedy(const Ids &source, const nlohmann::json &generation,
              int64_t limit, const std::optional<Ids> &candidates);

/// The vector of a source of which so many tokens are a prompt's; tokens have
/// type 0.
std::vector<float> toyVector(const Ids &source, int32_t promptTokens = 0);

/// `count` sentences of 1 to 9 ids, the same ones each time.
std::vector<Ids> toySources(size_t count);

/// Tests that load code skip on machines that the toy artifact is not for.
class ToyModelTest : public testing::Test {
protected:
  void SetUp() override {
    if (!__builtin_cpu_supports("x86-64-v3"))
      GTEST_SKIP() << "the toy artifact is for x86-64-v3";
  }
};

} // namespace heddle::test

#endif // HEDDLE_TEST_RUNTIME_TOYMODEL_H
