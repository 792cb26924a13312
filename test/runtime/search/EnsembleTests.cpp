//===- EnsembleTests.cpp - Several models that decode as one --------------===//
//
// The toy model beside itself, where the second member reads another source: so
// its logits are others. The oracle takes the mean in double from the logits of
// each member.
//
//===----------------------------------------------------------------------===//

#include "test/runtime/ToyModel.h"

#include "runtime/search/Ensemble.h"
#include "runtime/search/Generate.h"
#include "runtime/search/TargetScores.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace heddle;
using namespace heddle::test;

namespace {

/// What each member reads, with its weight.
struct Reader {
  Ids source;
  double weight;
};

class EnsembleTest : public ToyModelTest {
protected:
  void SetUp() override {
    ToyModelTest::SetUp();
    if (!IsSkipped())
      model = load(toyManifest());
  }

  static std::unique_ptr<Model> load(const nlohmann::json &manifest) {
    TemporaryFile file(toyArtifact(manifest).build());
    Result<Model> loaded = Model::load(file.path());
    EXPECT_TRUE(loaded.ok()) << loaded.message();
    return std::make_unique<Model>(std::move(*loaded));
  }

  /// The model with as many others as weights ask for, which are itself.
  Ensemble ensembleOf(const std::vector<double> &weights,
                      EnsembleMean mean = EnsembleMean::LogProbabilities) {
    Ensemble ensemble;
    ensemble.others.assign(weights.size() - 1, model.get());
    ensemble.starts.assign(weights.size() - 1, kToyStart);
    ensemble.mean = mean;
    ensemble.setWeights(weights);
    return ensemble;
  }

  /// The hypotheses of all sources, in batches; without an ensemble those of
  /// the model, with all logits.
  std::vector<std::vector<Hypothesis>>
  search(const Ensemble *ensemble, const std::vector<Ids> &sources,
         const std::vector<std::vector<Ids>> &others, size_t batch,
         SearchOptions options, const std::vector<Ids> &prefixes = {}) {
    options.withoutShortlist = true;
    Session session(*model, {nullptr, nullptr, {}, nullptr, ensemble});
    std::vector<std::vector<Hypothesis>> all;
    for (size_t i = 0; i < sources.size(); i += batch) {
      size_t end = std::min(i + batch, sources.size());
      auto part = [&](const auto &list) {
        return list.empty() ? list
                            : std::decay_t<decltype(list)>(list.begin() + i,
                                                           list.begin() + end);
      };
      options.others = part(others);
      auto found =
          generate(*model, session, part(sources), part(prefixes), options);
      EXPECT_TRUE(found.ok()) << found.message();
      for (std::vector<Hypothesis> &each : *found)
        all.push_back(std::move(each));
    }
    return all;
  }

  std::unique_ptr<Model> model;
};

/// What follows, by its formula.
std::vector<double> mixed(const std::vector<Reader> &members, EnsembleMean mean,
                          const Ids &before) {
  bool isLog = mean == EnsembleMean::LogProbabilities;
  std::vector<double> result(kToyTargetVocabulary, 0);
  double weights = 0;
  for (const Reader &member : members)
    weights += member.weight;
  for (const Reader &member : members) {
    std::vector<float> logits = toyLogits(member.source, before);
    double sum = 0;
    for (float logit : logits)
      sum += std::exp(double(logit));
    for (size_t id = 0; id < logits.size(); ++id) {
      double own = double(logits[id]) - std::log(sum);
      result[id] += member.weight / weights * (isLog ? own : std::exp(own));
    }
  }
  if (!isLog)
    for (double &each : result)
      each = std::log(each);
  return result;
}

double sumOf(const std::vector<Reader> &members, EnsembleMean mean,
             const Ids &target) {
  double sum = 0;
  for (size_t i = 0; i < target.size(); ++i)
    sum += mixed(members, mean,
                 Ids(target.begin(), target.begin() + i))[target[i]];
  return sum;
}

/// Other sources than these, for the second member and the third.
std::vector<std::vector<Ids>> otherSources(size_t count) {
  std::vector<Ids> all = toySources(3 * count);
  std::vector<std::vector<Ids>> others;
  for (size_t i = 0; i < count; ++i)
    others.push_back({all[count + i], all[2 * count + i]});
  return others;
}

std::vector<Reader> readers(const Ids &source, const std::vector<Ids> &others,
                            const std::vector<double> &weights) {
  std::vector<Reader> members = {{source, weights[0]}};
  for (size_t i = 0; i + 1 < weights.size(); ++i)
    members.push_back({others[i], weights[i + 1]});
  return members;
}

const EnsembleMean kMeans[] = {EnsembleMean::LogProbabilities,
                               EnsembleMean::Probabilities};

bool isSame(const std::vector<Hypothesis> &a,
            const std::vector<Hypothesis> &b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Hypothesis &x, const Hypothesis &y) {
                      return x.tokens == y.tokens && x.sum == y.sum &&
                             x.score == y.score &&
                             x.logProbabilities == y.logProbabilities;
                    });
}

} // namespace

TEST(EnsembleMixTest, is_its_formula_where_probabilities_underflow) {
  // Differences of 200 are beyond e^x in f32.
  std::vector<std::vector<float>> logits = {
      {3, -200, 0, 1.5f, -std::numeric_limits<float>::infinity()},
      {-100, 2, 1, 0.25f, -std::numeric_limits<float>::infinity()},
      {0, 0, -90, 4, -std::numeric_limits<float>::infinity()}};
  const double weights[] = {0.5, 0.2, 0.3};
  for (EnsembleMean mean : kMeans) {
    std::vector<float> row = logits[0];
    for (size_t m = 0; m < 3; ++m)
      mixMember(m == 0 ? row.data() : logits[m].data(), 5, float(weights[m]),
                mean, m == 0, row.data());
    for (size_t i = 0; i < 4; ++i) {
      long double expected = 0;
      for (size_t m = 0; m < 3; ++m) {
        long double sum = 0;
        for (float logit : logits[m])
          sum += std::exp((long double)logit);
        long double own = logits[m][i] - std::log(sum);
        expected +=
            weights[m] *
            (mean == EnsembleMean::LogProbabilities ? own : std::exp(own));
      }
      if (mean == EnsembleMean::Probabilities)
        expected = std::log(expected);
      EXPECT_NEAR(row[i], double(expected),
                  2e-6 * std::max(1.0, std::abs(double(expected))))
          << i;
    }
    EXPECT_EQ(row[4], -std::numeric_limits<float>::infinity());
  }
}

TEST_F(EnsembleTest, greedy_search_takes_the_largest_mean) {
  std::vector<Ids> sources = toySources(40);
  auto others = otherSources(40);
  const std::vector<double> weights = {1, 2, 1.5};
  SearchOptions options;
  options.wantsSums = true;
  for (EnsembleMean mean : kMeans) {
    Ensemble ensemble = ensembleOf(weights, mean);
    auto found = search(&ensemble, sources, others, 7, options);
    ASSERT_EQ(found.size(), sources.size());
    for (size_t s = 0; s < sources.size(); ++s) {
      auto members = readers(sources[s], others[s], weights);
      const Ids &tokens = found[s][0].tokens;
      ASSERT_FALSE(tokens.empty());
      for (size_t i = 0; i < tokens.size(); ++i) {
        auto scores =
            mixed(members, mean, Ids(tokens.begin(), tokens.begin() + i));
        // Ties of the oracle are none of sums in f32.
        EXPECT_GE(scores[tokens[i]],
                  *std::max_element(scores.begin(), scores.end()) - 1e-5);
      }
      EXPECT_NEAR(found[s][0].sum, sumOf(members, mean, tokens), 1e-4);
      EXPECT_TRUE(tokens.back() == kToyEos || tokens.size() == 12);
    }
  }
}

TEST_F(EnsembleTest, beams_have_the_sums_of_the_formula_in_any_batch) {
  std::vector<Ids> sources = toySources(40);
  auto others = otherSources(40);
  const std::vector<double> weights = {3, 1, 2};
  SearchOptions options;
  options.beams = 4;
  options.nBest = 4;
  options.tokenScores = true;
  std::vector<Ids> prefixes(sources.size());
  for (size_t i = 0; i < prefixes.size(); i += 3)
    prefixes[i] = {int32_t(1 + i % 10), 4};
  for (EnsembleMean mean : kMeans)
    for (bool hasPrefixes : {false, true}) {
      Ensemble ensemble = ensembleOf(weights, mean);
      std::vector<Ids> given = hasPrefixes ? prefixes : std::vector<Ids>();
      auto alone = search(&ensemble, sources, others, 1, options, given);
      for (size_t s = 0; s < sources.size(); ++s) {
        auto members = readers(sources[s], others[s], weights);
        for (const Hypothesis &each : alone[s]) {
          double before = hasPrefixes ? sumOf(members, mean, prefixes[s]) : 0.0;
          EXPECT_NEAR(each.sum, sumOf(members, mean, each.tokens) - before,
                      1e-4);
        }
        for (size_t i = 1; i < alone[s].size(); ++i)
          EXPECT_GE(alone[s][i - 1].score, alone[s][i].score);
      }
      for (size_t batch : {7, 40}) {
        auto together =
            search(&ensemble, sources, others, batch, options, given);
        for (size_t s = 0; s < sources.size(); ++s)
          EXPECT_TRUE(isSame(alone[s], together[s])) << s;
      }
    }
}

TEST_F(EnsembleTest, of_a_model_with_itself_is_the_model) {
  std::vector<Ids> sources = toySources(40);
  for (int64_t beams : {1, 4}) {
    SearchOptions options;
    options.beams = beams;
    options.wantsSums = options.tokenScores = true;
    auto own = search(nullptr, sources, {}, 16, options);
    for (EnsembleMean mean : kMeans) {
      Ensemble twice = ensembleOf({1, 1}, mean);
      auto found = search(&twice, sources, {}, 16, options);
      for (size_t s = 0; s < sources.size(); ++s) {
        ASSERT_EQ(found[s].size(), own[s].size());
        for (size_t i = 0; i < own[s].size(); ++i) {
          EXPECT_EQ(found[s][i].tokens, own[s][i].tokens);
          EXPECT_NEAR(found[s][i].sum, own[s][i].sum, 2e-5);
        }
      }
    }
  }
}

TEST_F(EnsembleTest, weights_of_nothing_leave_members_out) {
  std::vector<Ids> sources = toySources(40);
  auto others = otherSources(40);
  std::vector<Ids> seconds;
  for (const std::vector<Ids> &each : others)
    seconds.push_back(each[0]);
  SearchOptions options;
  options.beams = 3;
  options.tokenScores = true;
  for (EnsembleMean mean : kMeans) {
    Ensemble first = ensembleOf({2, 0, 0}, mean),
             second = ensembleOf({0, 1, 0}, mean);
    auto own = search(nullptr, sources, {}, 16, options);
    auto found = search(&first, sources, others, 16, options);
    for (size_t s = 0; s < sources.size(); ++s)
      EXPECT_TRUE(isSame(own[s], found[s])) << s;
    own = search(nullptr, seconds, {}, 16, options);
    found = search(&second, sources, others, 16, options);
    for (size_t s = 0; s < sources.size(); ++s)
      EXPECT_EQ(own[s][0].tokens, found[s][0].tokens) << s;
  }
}

TEST_F(EnsembleTest, samples_alternatives_and_constraints_do_not_mix_sources) {
  std::vector<Ids> sources = toySources(20);
  auto others = otherSources(20);
  Ensemble ensemble = ensembleOf({1, 1, 1});
  SearchOptions samples, alternatives, constrained;
  samples.samples = true;
  samples.nBest = 3;
  samples.wantsSums = true;
  alternatives.alternatives = 3;
  alternatives.beams = 2;
  constrained.beams = 3;
  constrained.suppress = Ids{3, 5};
  constrained.repetitionPenalty = 1.5;
  constrained.noRepeatNgram = 2;
  for (const SearchOptions &options : {samples, alternatives, constrained}) {
    auto alone = search(&ensemble, sources, others, 1, options),
         together = search(&ensemble, sources, others, 20, options);
    for (size_t s = 0; s < sources.size(); ++s)
      EXPECT_TRUE(isSame(alone[s], together[s])) << s;
  }
  auto found = search(&ensemble, sources, others, 20, constrained);
  for (const std::vector<Hypothesis> &each : found)
    for (const Hypothesis &hypothesis : each)
      for (int32_t id : hypothesis.tokens)
        EXPECT_TRUE(id != 3 && id != 5);
}

TEST_F(EnsembleTest, renormalized_beams_compare_distributions) {
  // A mean of log-probabilities is none; its log-softmax is.
  std::vector<Ids> sources = toySources(10);
  auto others = otherSources(10);
  const std::vector<double> weights = {1, 1, 1};
  Ensemble ensemble = ensembleOf(weights);
  SearchOptions options;
  options.beams = 2;
  options.renormalizes = true;
  auto found = search(&ensemble, sources, others, 4, options);
  for (size_t s = 0; s < sources.size(); ++s) {
    auto members = readers(sources[s], others[s], weights);
    const Ids &tokens = found[s][0].tokens;
    double expected = 0;
    for (size_t i = 0; i < tokens.size(); ++i) {
      auto scores = mixed(members, ensemble.mean,
                          Ids(tokens.begin(), tokens.begin() + i));
      double sum = 0;
      for (double score : scores)
        sum += std::exp(score);
      expected += scores[tokens[i]] - std::log(sum);
    }
    EXPECT_NEAR(found[s][0].sum, expected, 1e-4);
  }
}

TEST_F(EnsembleTest, scores_of_targets_are_those_of_the_formula) {
  std::vector<Ids> sources = toySources(20), targets = toySources(21);
  targets.erase(targets.begin());
  targets[3].clear();
  auto others = otherSources(20);
  const std::vector<double> weights = {1, 2, 3};
  for (EnsembleMean mean : kMeans) {
    Ensemble ensemble = ensembleOf(weights, mean);
    Session session(*model, {nullptr, nullptr, {}, nullptr, &ensemble});
    auto scores =
        scoreTokens(*model, session, sources, targets, kToyStart, others);
    ASSERT_TRUE(scores.ok()) << scores.message();
    for (size_t s = 0; s < sources.size(); ++s) {
      auto members = readers(sources[s], others[s], weights);
      ASSERT_EQ((*scores)[s].size(), targets[s].size());
      for (size_t i = 0; i < targets[s].size(); ++i)
        EXPECT_NEAR((*scores)[s][i],
                    mixed(members, mean,
                          Ids(targets[s].begin(),
                              targets[s].begin() + i))[targets[s][i]],
                    1e-5);
    }
  }
}

TEST_F(EnsembleTest, memory_and_positions_are_those_of_all_members) {
  nlohmann::json manifest = toyManifest();
  manifest["tasks"]["generate"]["max_target"] = 5;
  std::unique_ptr<Model> shorter = load(manifest);
  Ensemble ensemble = ensembleOf({1, 1});
  ensemble.others = {shorter.get()};
  std::vector<Ids> sources = toySources(8);
  SearchOptions options;
  options.withoutShortlist = true;
  Session one(*model), both(*model, {nullptr, nullptr, {}, nullptr, &ensemble});
  options.maxLength = 4;
  options.wantsSums = true;
  auto bytesOfOne = bytesToGenerate(*model, one, sources, {}, options),
       bytesOfBoth = bytesToGenerate(*model, both, sources, {}, options);
  ASSERT_TRUE(bytesOfOne.ok() && bytesOfBoth.ok());
  EXPECT_GT(*bytesOfBoth, *bytesOfOne + *bytesOfOne / 2);
  options.maxLength = 12;
  auto found = generate(*model, both, sources, {}, options);
  ASSERT_TRUE(found.ok()) << found.message();
  for (const std::vector<Hypothesis> &each : *found)
    EXPECT_LE(each[0].tokens.size(), 5u);
}

TEST_F(EnsembleTest, members_have_one_target_vocabulary) {
  EXPECT_TRUE(checkMember(*model, *model).ok());
  std::unique_ptr<Model> encoder =
      load(withoutGeneration(withEmbedding(toyManifest())));
  Status status = checkMember(*model, *encoder);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("an ensemble is of models that translate, "
                                  "but '"),
            std::string::npos)
      << status.message();
}
