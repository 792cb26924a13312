//===- BeamSearchTests.cpp - Searches of the toy model --------------------===//
//
// A search as wide as all sequences finds the best of them; how transformers
// searches narrower is compared with its own results in test/execution/search.
//
//===----------------------------------------------------------------------===//

#include "test/runtime/ToyModel.h"

#include "runtime/search/Generate.h"

#include <algorithm>
#include <cmath>
#include <set>

using namespace heddle;
using namespace heddle::test;
using nlohmann::json;

namespace {

/// Searches read rows of logits, or the best of each range; then prefixes are
/// fed step by step, or as a chunk.
enum class Form { Logits, Best, BestAndChunk };

class BeamSearchTest : public ToyModelTest,
                       public testing::WithParamInterface<Form> {
protected:
  static Model load() {
    json manifest = toyManifest();
    if (GetParam() == Form::Best)
      manifest = withBestStep(manifest);
    if (GetParam() == Form::BestAndChunk)
      manifest = withBestStepAndChunk(manifest);
    TemporaryFile file(toyArtifact(manifest).build());
    Result<Model> model = Model::load(file.path());
    EXPECT_TRUE(model.ok()) << model.message();
    return std::move(*model);
  }

  static std::vector<std::vector<Hypothesis>>
  search(const Model &model, const std::vector<Ids> &sources, size_t batch,
         const SearchOptions &options, const std::vector<Ids> &prefixes = {}) {
    Session session(model);
    std::vector<std::vector<Hypothesis>> results;
    for (size_t i = 0; i < sources.size(); i += batch) {
      size_t end = std::min(i + batch, sources.size());
      auto part = [&](const std::vector<Ids> &all) {
        return all.empty() ? all
                           : std::vector<Ids>(all.begin() + ptrdiff_t(i),
                                              all.begin() + ptrdiff_t(end));
      };
      auto found =
          generate(model, session, part(sources), part(prefixes), options);
      EXPECT_TRUE(found.ok()) << found.message();
      if (found.ok())
        std::move(found->begin(), found->end(), std::back_inserter(results));
    }
    return results;
  }
};

/// The log-probabilities of what follows `tokens`.
std::vector<double> logProbabilities(const Ids &source, const Ids &tokens) {
  std::vector<float> logits = toyLogits(source, tokens);
  double sum = 0;
  for (float logit : logits)
    sum += std::exp(double(logit));
  std::vector<double> result;
  for (float logit : logits)
    result.push_back(logit - std::log(sum));
  return result;
}

/// The best sequence of at most `limit` of the ids below `count`, by its sum
/// over the length to the power of `penalty`.
struct Exhaustive {
  const Ids &source;
  int64_t limit;
  int32_t count;
  double penalty;
  double word = 0;
  Ids best = {};
  double bestScore = -1e30;

  void extend(const Ids &tokens, double sum) {
    std::vector<double> next = logProbabilities(source, tokens);
    for (int32_t id = 0; id < count; ++id) {
      Ids longer = tokens;
      longer.push_back(id);
      double length = double(longer.size()), total = sum + next[size_t(id)];
      if (id != kToyEos && int64_t(longer.size()) < limit) {
        extend(longer, total);
      } else if (double score =
                     (total - word * length) / std::pow(length, penalty);
                 score > bestScore) {
        best = longer;
        bestScore = score;
      }
    }
  }
};

/// Marian's search, as its src/translator/beam_search.cpp and history.h have
/// it, over all sequences so far, in f64.
struct MarianSearch {
  struct Path {
    Ids tokens;
    double sum;
  };
  const Ids &source;
  size_t beams, limit;
  double lengthPenalty, wordPenalty;
  std::vector<std::pair<double, Ids>> found = {};
  bool isAmbiguous = false;

  /// One hypothesis a beam, the best first.
  void run() {
    std::vector<Path> running = {{{}, 0}};
    for (size_t places = beams; places > 0; places = running.size()) {
      std::vector<Path> next;
      for (const Path &path : running) {
        std::vector<double> scores = logProbabilities(source, path.tokens);
        for (size_t id = 0; id < scores.size(); ++id) {
          next.push_back({path.tokens, path.sum + scores[id]});
          next.back().tokens.push_back(int32_t(id));
        }
      }
      std::sort(next.begin(), next.end(),
                [](auto &a, auto &b) { return a.sum > b.sum; });
      // Which of two that are as likely goes on is nobody's business.
      isAmbiguous |= places < next.size() &&
                     next[places - 1].sum - next[places].sum < 1e-5;
      next.resize(std::min(places, next.size()));
      running.clear();
      for (Path &path : next) {
        double length = double(path.tokens.size());
        if (path.tokens.back() != kToyEos && path.tokens.size() < limit)
          running.push_back(path);
        else
          found.emplace_back((path.sum - wordPenalty * length) /
                                 std::pow(length, lengthPenalty),
                             path.tokens);
      }
    }
    std::sort(found.rbegin(), found.rend());
  }
};

/// A search that is over when it has `wanted` hypotheses, as CTranslate2's
/// decoding.cc and arXiv:2204.05424 have it, over all sequences so far, in f64.
struct PatientSearch {
  const Ids &source;
  size_t beams, limit, wanted;
  double lengthPenalty;
  std::vector<std::pair<double, Ids>> found = {};
  bool isAmbiguous = false;

  /// The best first.
  void run() {
    std::vector<std::pair<double, Ids>> running = {{0, {}}};
    while (!running.empty() && found.size() < wanted) {
      std::vector<std::pair<double, Ids>> next;
      for (const auto &[sum, tokens] : running) {
        std::vector<double> scores = logProbabilities(source, tokens);
        for (size_t id = 0; id < scores.size(); ++id) {
          next.emplace_back(sum + scores[id], tokens);
          next.back().second.push_back(int32_t(id));
        }
      }
      std::sort(next.rbegin(), next.rend());
      running.clear();
      // Which of two that are as likely is the last one is nobody's business.
      isAmbiguous |= beams < next.size() &&
                     next[beams - 1].first - next[beams].first < 1e-5;
      for (size_t rank = 0; rank < std::min(next.size(), 2 * beams); ++rank) {
        auto &[sum, tokens] = next[rank];
        bool isDone = tokens.back() == kToyEos || tokens.size() == limit;
        if (isDone && rank < beams)
          found.emplace_back(sum / std::pow(tokens.size(), lengthPenalty),
                             tokens);
        else if (!isDone && running.size() < beams)
          running.emplace_back(sum, tokens);
        else if (!isDone)
          isAmbiguous |= running.back().first - sum < 1e-5;
      }
    }
    std::sort(found.rbegin(), found.rend());
    isAmbiguous |= wanted < found.size() &&
                   found[wanted - 1].first - found[wanted].first < 1e-5;
    found.resize(std::min(found.size(), wanted));
  }
};

} // namespace

INSTANTIATE_TEST_SUITE_P(Forms, BeamSearchTest,
                         testing::Values(Form::Logits, Form::Best,
                                         Form::BestAndChunk),
                         [](const auto &form) {
                           return form.param == Form::Logits ? "logits"
                                  : form.param == Form::Best ? "best"
                                                             : "chunk";
                         });

TEST_P(BeamSearchTest, a_wide_search_finds_the_best_of_all_sequences) {
  Model model = load();
  constexpr int32_t kIds = 5;
  SearchOptions options;
  options.withoutShortlist = true;
  options.maxLength = 4;
  options.beams = 128; // 4^3 sequences of three tokens without eos.
  options.earlyStopping = EarlyStopping::Never;
  options.suppress.emplace();
  for (int32_t id = kIds; id < kToyTargetVocabulary; ++id)
    options.suppress->push_back(id);
  for (double penalty : {0.0, 1.0, 2.0}) {
    options.lengthPenalty = penalty;
    std::vector<Ids> sources = toySources(20);
    auto found = search(model, sources, 7, options);
    ASSERT_EQ(found.size(), sources.size());
    for (size_t i = 0; i < sources.size(); ++i) {
      Exhaustive all{sources[i], 4, kIds, penalty};
      all.extend({}, 0);
      EXPECT_EQ(found[i].front().tokens, all.best) << i << " " << penalty;
      EXPECT_NEAR(found[i].front().score, all.bestScore, 1e-5);
    }
  }
}

// More beams than ids begin with some that are not there: whatever they end
// with is no hypothesis.
TEST_P(BeamSearchTest, a_search_wider_than_its_vocabulary) {
  Model model = load();
  SearchOptions options;
  options.withoutShortlist = true;
  options.maxLength = 3;
  options.beams = 16;
  options.suppress.emplace();
  for (int32_t id = 3; id < kToyTargetVocabulary; ++id)
    options.suppress->push_back(id);
  for (EarlyStopping rule : {EarlyStopping::AtOnce, EarlyStopping::Never}) {
    options.earlyStopping = rule;
    for (const auto &hypotheses : search(model, toySources(20), 7, options)) {
      // One of a token, two of two, and all eight that the limit ends and four
      // that eos does.
      EXPECT_EQ(hypotheses.size(), 15u);
      std::set<Ids> different;
      for (const Hypothesis &each : hypotheses) {
        EXPECT_GT(each.sum, -1e6f);
        different.insert(each.tokens);
      }
      EXPECT_EQ(different.size(), hypotheses.size());
    }
  }
}

TEST_P(BeamSearchTest, a_shrinking_search_is_that_of_Marian) {
  Model model = load();
  std::vector<Ids> sources = toySources(30);
  SearchOptions options;
  options.withoutShortlist = true;
  options.earlyStopping = EarlyStopping::Shrink;
  options.maxLength = 12;
  // Of 480.
  int ambiguous = 0;
  for (int64_t beams : {2, 3, 6, 11})
    for (auto [length, word] : {std::pair(0.0, 0.0), std::pair(1.0, 0.0),
                                std::pair(0.6, 0.4), std::pair(0.0, -0.7)}) {
      options.beams = beams;
      options.lengthPenalty = length;
      options.wordPenalty = word;
      auto found = search(model, sources, 7, options);
      ASSERT_EQ(found.size(), sources.size());
      for (size_t i = 0; i < sources.size(); ++i) {
        MarianSearch marian{sources[i], size_t(beams), 12, length, word};
        marian.run();
        if (marian.isAmbiguous) {
          ++ambiguous;
          continue;
        }
        ASSERT_EQ(found[i].size(), marian.found.size());
        std::set<Ids> ours, theirs;
        for (size_t rank = 0; rank < found[i].size(); ++rank) {
          EXPECT_NEAR(found[i][rank].score, marian.found[rank].first, 1e-5);
          ours.insert(found[i][rank].tokens);
          theirs.insert(marian.found[rank].second);
        }
        EXPECT_EQ(ours, theirs);
      }
    }
  EXPECT_LT(ambiguous, 300);
}

TEST_P(BeamSearchTest, patience_says_how_many_hypotheses_are_wanted) {
  Model model = load();
  std::vector<Ids> sources = toySources(30);
  SearchOptions options;
  options.withoutShortlist = true;
  options.earlyStopping = EarlyStopping::AtOnce;
  options.maxLength = 12;
  // Of 360, and with other results than those of a patience of 1.
  int ambiguous = 0, different = 0;
  for (int64_t beams : {2, 3, 5})
    for (auto [patience, wanted] :
         {std::pair(0.1, size_t(1)), std::pair(1.0, size_t(beams)),
          std::pair(1.5, size_t(double(beams) * 1.5 + 0.5)),
          std::pair(4.0, size_t(4 * beams))}) {
      options.beams = beams;
      options.lengthPenalty = 0.6;
      options.patience = std::nullopt;
      auto usual = search(model, sources, 7, options);
      options.patience = patience;
      auto found = search(model, sources, 7, options);
      for (size_t i = 0; i < sources.size(); ++i) {
        PatientSearch all{sources[i], size_t(beams), 12, wanted, 0.6};
        all.run();
        if (all.isAmbiguous) {
          ++ambiguous;
          continue;
        }
        ASSERT_EQ(found[i].size(), all.found.size());
        std::set<Ids> ours, theirs;
        for (size_t rank = 0; rank < found[i].size(); ++rank) {
          EXPECT_NEAR(found[i][rank].score, all.found[rank].first, 1e-5);
          ours.insert(found[i][rank].tokens);
          theirs.insert(all.found[rank].second);
        }
        EXPECT_EQ(ours, theirs);
        different += found[i].front().tokens != usual[i].front().tokens;
      }
    }
  EXPECT_LT(ambiguous, 250);
  EXPECT_GT(different, 10);
}

TEST_P(BeamSearchTest, a_shrinking_search_has_no_patience) {
  Model model = load();
  SearchOptions options;
  options.beams = 2;
  options.patience = 2;
  options.earlyStopping = EarlyStopping::Shrink;
  Session session(model);
  auto found = generate(model, session, toySources(1), {}, options);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.message(),
            "the patience is 2, but with the early stopping 'shrink' each "
            "finished hypothesis takes its beam along: expected a patience of "
            "1, or another early stopping");
}

// Of 3 ids there are no 6 beams at first, and all of them soon.
TEST_P(BeamSearchTest, a_shrinking_search_wider_than_its_vocabulary) {
  Model model = load();
  SearchOptions options;
  options.withoutShortlist = true;
  options.earlyStopping = EarlyStopping::Shrink;
  options.maxLength = 3;
  options.beams = 6;
  options.suppress.emplace();
  for (int32_t id = 3; id < kToyTargetVocabulary; ++id)
    options.suppress->push_back(id);
  for (const auto &hypotheses : search(model, toySources(20), 7, options)) {
    EXPECT_EQ(hypotheses.size(), 6u);
    std::set<Ids> different;
    for (const Hypothesis &each : hypotheses) {
      EXPECT_GT(each.sum, -1e6f);
      different.insert(each.tokens);
    }
    EXPECT_EQ(different.size(), hypotheses.size());
  }
}

// What a word costs or is worth, where a search goes on until nothing can
// become better.
TEST_P(BeamSearchTest, a_word_penalty_counts_each_token) {
  Model model = load();
  constexpr int32_t kIds = 5;
  SearchOptions options;
  options.withoutShortlist = true;
  options.maxLength = 4;
  options.beams = 128;
  options.earlyStopping = EarlyStopping::Never;
  options.suppress.emplace();
  for (int32_t id = kIds; id < kToyTargetVocabulary; ++id)
    options.suppress->push_back(id);
  std::vector<Ids> sources = toySources(20);
  for (double penalty : {0.0, 0.5, 2.0})
    for (double word : {-3.0, 1.5}) {
      options.lengthPenalty = penalty;
      options.wordPenalty = word;
      auto found = search(model, sources, 7, options);
      for (size_t i = 0; i < sources.size(); ++i) {
        Exhaustive all{sources[i], 4, kIds, penalty, word};
        all.extend({}, 0);
        EXPECT_EQ(found[i].front().tokens, all.best) << i << " " << penalty;
        EXPECT_NEAR(found[i].front().score, all.bestScore, 1e-4);
      }
    }
}

TEST_P(BeamSearchTest, neighbours_leave_no_trace) {
  Model model = load();
  std::vector<Ids> sources = toySources(30);
  for (bool shortlist : {false, true})
    for (int64_t beams : {2, 5}) {
      SearchOptions options;
      options.withoutShortlist = !shortlist;
      options.beams = beams;
      options.lengthPenalty = 0.7;
      auto expected = search(model, sources, 1, options);
      for (size_t batch : {4, 30}) {
        auto found = search(model, sources, batch, options);
        ASSERT_EQ(found.size(), expected.size());
        for (size_t i = 0; i < found.size(); ++i) {
          ASSERT_EQ(found[i].size(), expected[i].size());
          for (size_t k = 0; k < found[i].size(); ++k) {
            EXPECT_EQ(found[i][k].tokens, expected[i][k].tokens);
            EXPECT_EQ(found[i][k].sum, expected[i][k].sum);
            EXPECT_EQ(found[i][k].score, expected[i][k].score);
          }
        }
      }
    }
}

TEST_P(BeamSearchTest, hypotheses_are_different_and_in_order) {
  Model model = load();
  SearchOptions options;
  options.beams = 4;
  for (auto &hypotheses : search(model, toySources(30), 30, options)) {
    EXPECT_LE(hypotheses.size(), 4u);
    for (size_t k = 1; k < hypotheses.size(); ++k) {
      EXPECT_GE(hypotheses[k - 1].score, hypotheses[k].score);
      EXPECT_NE(hypotheses[k - 1].tokens, hypotheses[k].tokens);
    }
  }
}

TEST_P(BeamSearchTest, sums_are_those_of_the_model) {
  Model model = load();
  std::vector<Ids> sources = toySources(10);
  for (int64_t beams : {1, 3}) {
    SearchOptions options;
    options.withoutShortlist = true;
    options.beams = beams;
    options.wantsSums = true;
    auto found = search(model, sources, 10, options);
    for (size_t i = 0; i < sources.size(); ++i) {
      double sum = 0;
      Ids before;
      for (int32_t id : found[i].front().tokens) {
        sum += logProbabilities(sources[i], before)[size_t(id)];
        before.push_back(id);
      }
      EXPECT_NEAR(found[i].front().sum, sum, 1e-5);
    }
  }
}

TEST_P(BeamSearchTest, a_prefix_is_no_part_of_sums_and_limits) {
  Model model = load();
  std::vector<Ids> sources = toySources(12), prefixes;
  for (size_t i = 0; i < sources.size(); ++i)
    prefixes.push_back(Ids(i % 4, int32_t(1 + i % 3)));
  for (int64_t beams : {1, 3}) {
    SearchOptions options;
    options.withoutShortlist = true;
    options.beams = beams;
    options.wantsSums = true;
    options.maxLength = 3;
    auto expected = search(model, sources, 1, options, prefixes);
    auto found = search(model, sources, 12, options, prefixes);
    for (size_t i = 0; i < sources.size(); ++i) {
      const Hypothesis &best = found[i].front();
      EXPECT_EQ(best.tokens, expected[i].front().tokens);
      EXPECT_EQ(best.sum, expected[i].front().sum);
      size_t prefix = prefixes[i].size();
      ASSERT_GE(best.tokens.size(), prefix + 1);
      EXPECT_LE(best.tokens.size(), prefix + 3);
      EXPECT_TRUE(std::equal(prefixes[i].begin(), prefixes[i].end(),
                             best.tokens.begin()));
      double sum = 0;
      Ids before = prefixes[i];
      for (size_t k = prefix; k < best.tokens.size(); ++k) {
        sum += logProbabilities(sources[i], before)[size_t(best.tokens[k])];
        before.push_back(best.tokens[k]);
      }
      EXPECT_NEAR(best.sum, sum, 1e-5);
    }
  }
}

TEST_P(BeamSearchTest, a_cold_sample_is_greedy) {
  if (GetParam() == Form::BestAndChunk)
    GTEST_SKIP() << "samples read rows of logits";
  Model model = load();
  std::vector<Ids> sources = toySources(30);
  SearchOptions greedy, sample;
  sample.samples = true;
  auto tokensOf = [&](const SearchOptions &options, size_t batch) {
    std::vector<Ids> tokens;
    for (auto &hypotheses : search(model, sources, batch, options))
      tokens.push_back(hypotheses.front().tokens);
    return tokens;
  };
  sample.temperature = 0;
  EXPECT_EQ(tokensOf(sample, 30), tokensOf(greedy, 30));
  // Of tokens that are as likely either may come.
  sample.temperature = 1e-4;
  sample.withoutShortlist = true;
  std::vector<Ids> cold = tokensOf(sample, 30);
  for (size_t i = 0; i < sources.size(); ++i) {
    Ids before;
    for (int32_t id : cold[i]) {
      std::vector<float> logits = toyLogits(sources[i], before);
      EXPECT_EQ(logits[size_t(id)],
                *std::max_element(logits.begin(), logits.end()));
      before.push_back(id);
    }
  }
  sample.withoutShortlist = false;
  sample.temperature = 3;
  EXPECT_NE(tokensOf(sample, 30), tokensOf(greedy, 30));
  EXPECT_EQ(tokensOf(sample, 30), tokensOf(sample, 1));
  auto first = tokensOf(sample, 30);
  sample.seed = 1;
  EXPECT_NE(tokensOf(sample, 30), first);
}

/// Leaves these ids, none of them an end, each of which may come once.
static SearchOptions leaving(const Ids &ids) {
  SearchOptions options;
  options.withoutShortlist = true;
  options.wantsSums = true;
  options.noRepeatNgram = 1;
  options.suppress.emplace();
  for (int32_t id = 0; id < kToyTargetVocabulary; ++id)
    if (!std::count(ids.begin(), ids.end(), id))
      options.suppress->push_back(id);
  return options;
}

TEST_P(BeamSearchTest, ends_where_nothing_may_follow) {
  Model model = load();
  std::vector<Ids> sources = toySources(6);
  SearchOptions options = leaving({3, 4});
  for (bool samples : {false, true}) {
    // Samples read rows of logits.
    if (samples && GetParam() == Form::BestAndChunk)
      continue;
    options.samples = samples;
    std::vector<Ids> told(sources.size());
    std::vector<bool> hasEnded(sources.size());
    options.onToken = [&](int64_t sentence, const Ids &, int32_t token,
                          bool isLast) {
      told[size_t(sentence)].push_back(token);
      hasEnded[size_t(sentence)] = isLast;
    };
    auto found = search(model, sources, sources.size(), options);
    for (size_t i = 0; i < sources.size(); ++i) {
      Ids tokens = found[i].front().tokens;
      std::sort(tokens.begin(), tokens.end());
      EXPECT_EQ(tokens, (Ids{3, 4}));
      EXPECT_EQ(told[i].size(), 3u);
      EXPECT_EQ(told[i].back(), -1);
      EXPECT_TRUE(hasEnded[i]);
    }
  }
  // Of a search that has beams nothing ends with an eos or at the limit.
  options = leaving({3, 4});
  options.beams = 3;
  for (const auto &hypotheses : search(model, sources, 6, options))
    EXPECT_TRUE(hypotheses.empty());
  options.maxLength = 2;
  for (const auto &hypotheses : search(model, sources, 6, options))
    EXPECT_EQ(hypotheses.size(), 2u);
}

TEST_P(BeamSearchTest, refuses_constraints_that_leave_nothing) {
  Model model = load();
  Session session(model);
  auto message = [&](SearchOptions options) {
    auto found = generate(model, session, {{1}}, {}, options);
    return found.ok() ? "found" : found.message();
  };
  SearchOptions options = leaving({});
  for (int64_t beams : {1, 3}) {
    options.beams = beams;
    EXPECT_EQ(message(options), "no token may come: all 11 of the vocabulary "
                                "are suppressed or bad words");
  }
  options = leaving({5});
  options.badWords = {{5}};
  EXPECT_NE(message(options), "found");
  // A bad word that is an end alone forbids nothing.
  options = leaving({kToyEos});
  options.badWords = {{kToyEos}};
  EXPECT_EQ(message(options), "found");
}

TEST_P(BeamSearchTest, normalises_again_behind_constraints) {
  Model model = load();
  std::vector<Ids> sources = toySources(10);
  for (int64_t beams : {1, 3})
    for (const Ids &suppressed : {Ids(), Ids{1, 4, 8}}) {
      SearchOptions options;
      options.withoutShortlist = true;
      options.beams = beams;
      options.wantsSums = true;
      options.renormalizes = true;
      options.suppress = suppressed;
      auto found = search(model, sources, 10, options);
      for (size_t i = 0; i < sources.size(); ++i) {
        double sum = 0;
        Ids before;
        for (int32_t id : found[i].front().tokens) {
          std::vector<double> next = logProbabilities(sources[i], before);
          double left = 0;
          for (size_t other = 0; other < next.size(); ++other)
            if (!std::count(suppressed.begin(), suppressed.end(), other))
              left += std::exp(next[other]);
          sum += next[size_t(id)] - std::log(left);
          before.push_back(id);
        }
        EXPECT_NEAR(found[i].front().sum, sum, 1e-5);
      }
    }
}

TEST_P(BeamSearchTest, tokens_have_scores) {
  Model model = load();
  std::vector<Ids> sources = toySources(8), prefixes(8, {5, 1});
  for (int64_t beams : {1, 3}) {
    SearchOptions options;
    options.withoutShortlist = true;
    options.beams = beams;
    options.wantsSums = options.tokenScores = true;
    auto found = search(model, sources, 8, options, prefixes);
    for (size_t i = 0; i < sources.size(); ++i)
      for (const Hypothesis &each : found[i]) {
        ASSERT_EQ(each.logProbabilities.size(), each.tokens.size() - 2);
        Ids before = prefixes[i];
        for (float score : each.logProbabilities) {
          int32_t id = each.tokens[before.size()];
          EXPECT_NEAR(score, logProbabilities(sources[i], before)[size_t(id)],
                      1e-5);
          before.push_back(id);
        }
      }
  }
}

TEST_P(BeamSearchTest, only_what_is_allowed_comes) {
  if (GetParam() == Form::BestAndChunk)
    GTEST_SKIP() << "what is allowed is read from rows of logits";
  Model model = load();
  std::vector<Ids> sources = toySources(8);
  for (int64_t beams : {1, 3})
    for (bool isForAll : {true, false}) {
      SearchOptions options;
      options.beams = beams;
      // The end of the toy, and others.
      if (isForAll)
        options.allowed = {{kToyEos, 3, 7}};
      else
        for (size_t i = 0; i < sources.size(); ++i)
          options.allowed.push_back({kToyEos, int32_t(1 + i), int32_t(2 + i)});
      auto found = search(model, sources, 8, options);
      SearchOptions suppressed;
      suppressed.beams = beams;
      suppressed.withoutShortlist = true;
      for (size_t i = 0; i < sources.size(); ++i) {
        const Ids &allowed = *options.allowedOf(i);
        suppressed.suppress.emplace();
        for (int32_t id = 0; id < kToyTargetVocabulary; ++id)
          if (!std::count(allowed.begin(), allowed.end(), id))
            suppressed.suppress->push_back(id);
        auto expected = search(model, {sources[i]}, 1, suppressed);
        EXPECT_EQ(found[i].front().tokens, expected[0].front().tokens);
        EXPECT_NEAR(found[i].front().sum, expected[0].front().sum, 1e-5);
      }
    }
}

TEST_P(BeamSearchTest, alternatives_are_the_best_next_tokens) {
  Model model = load();
  std::vector<Ids> sources = toySources(7), prefixes;
  for (size_t i = 0; i < sources.size(); ++i)
    prefixes.push_back(Ids(i % 3, int32_t(1 + i % 4)));
  for (int64_t beams : {1, 3}) {
    SearchOptions options;
    options.withoutShortlist = true;
    options.beams = beams;
    options.wantsSums = true;
    options.suppress = {6};
    options.alternatives = 4;
    auto found = search(model, sources, 7, options, prefixes);
    SearchOptions usual = options;
    usual.alternatives = 0;
    auto best = search(model, sources, 7, usual, prefixes);
    for (size_t i = 0; i < sources.size(); ++i) {
      size_t prefix = prefixes[i].size();
      std::vector<double> next = logProbabilities(sources[i], prefixes[i]);
      next[6] = -1e30;
      ASSERT_EQ(found[i].size(), 4u);
      for (const Hypothesis &each : found[i]) {
        auto likeliest = std::max_element(next.begin(), next.end());
        EXPECT_EQ(next[size_t(each.tokens[prefix])], *likeliest);
        next[size_t(each.tokens[prefix])] = -1e30;
        // What follows is what would follow the token in a prefix.
        double sum = 0;
        Ids before = prefixes[i];
        for (size_t k = prefix; k < each.tokens.size(); ++k) {
          sum += logProbabilities(sources[i], before)[size_t(each.tokens[k])];
          before.push_back(each.tokens[k]);
        }
        EXPECT_NEAR(each.sum, sum, 1e-5);
      }
      if (beams == 1) {
        EXPECT_EQ(found[i].front().tokens, best[i].front().tokens);
      }
    }
  }
}

TEST_P(BeamSearchTest, a_prefix_leaves_a_position) {
  json manifest = toyManifest();
  manifest["tasks"]["generate"]["max_target"] = 4;
  if (GetParam() != Form::Logits)
    manifest = GetParam() == Form::Best ? withBestStep(manifest)
                                        : withBestStepAndChunk(manifest);
  TemporaryFile file(toyArtifact(manifest).build());
  Result<Model> model = Model::load(file.path());
  ASSERT_TRUE(model.ok()) << model.message();
  for (int64_t beams : {1, 2}) {
    SearchOptions options;
    options.withoutShortlist = true;
    options.wantsSums = true;
    options.beams = beams;
    auto found = search(*model, {{1, 2}}, 1, options, {{5, 6, 7}});
    EXPECT_EQ(found[0].front().tokens.size(), 4u);
    Session session(*model);
    EXPECT_EQ(
        generate(*model, session, {{1, 2}}, {{5, 6, 7, 8}}, options).message(),
        "prefix 1 of a batch has 4 tokens but the model has 4 positions, the "
        "start token's among them, and one more has to follow");
  }
}

TEST_P(BeamSearchTest, refuses_what_means_nothing) {
  Model model = load();
  Session session(model);
  auto message = [&](auto change) {
    SearchOptions options;
    change(options);
    auto found = generate(model, session, {{1}}, {}, options);
    return found.ok() ? "found" : found.message();
  };
  using Options = SearchOptions &;
  EXPECT_EQ(message([](Options o) { o.beams = 0; }),
            "the number of beams is 0, expected a number from 1 to 256");
  EXPECT_EQ(message([](Options o) { o.samples = true, o.beams = 2; }),
            "a sample has one beam, found 2");
  EXPECT_EQ(message([](Options o) { o.topP = 1.5; }),
            "the top-p is 1.5, expected a number from 0 to 1");
  EXPECT_EQ(
      message([](Options o) { o.repetitionPenalty = 0; }),
      "the repetition penalty is 0, expected a number from 1.17549e-38 to "
      "3.40282e+38");
  SearchOptions options;
  auto found = generate(model, session, {{1}}, {{1}, {2}}, options);
  EXPECT_EQ(found.message(), "a batch of 1 sentence has 2 prefixes");
  found = generate(model, session, {{1}}, {{11}}, options);
  EXPECT_EQ(found.message(),
            "prefix 1 of a batch has the id 11 but the vocabulary has 11");
}
