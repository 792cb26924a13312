//===- DecodingTests.cpp - Generation against the oracle ------------------===//
//
// Every sentence of every batch has exactly the tokens of the oracle, which
// knows one sentence at a time: so batching, padding, compaction and states
// cannot leave a trace.
//
//===----------------------------------------------------------------------===//

#include "test/runtime/ToyModel.h"

#include "runtime/search/Generate.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

using namespace heddle;
using namespace heddle::test;
using nlohmann::json;

static const json kNothing = json::object();
static std::atomic<size_t> allocations{0};

// ThreadSanitizer has functions of its own, and nothing is counted.
#if !__has_feature(thread_sanitizer)
void *operator new(size_t size) {
  ++allocations;
  if (void *memory = std::malloc(size))
    return memory;
  throw std::bad_alloc();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
#endif

namespace {

/// The best hypothesis of each source.
Result<std::vector<Ids>> decodeBest(const Model &model, Session &session,
                                    const std::vector<Ids> &sources,
                                    const SearchOptions &options) {
  auto found = generate(model, session, sources, /*prefixes=*/{}, options);
  if (!found.ok())
    return found.status();
  std::vector<Ids> best;
  for (std::vector<Hypothesis> &hypotheses : *found)
    best.push_back(std::move(hypotheses.front().tokens));
  return best;
}

class DecodingTest : public ToyModelTest {
protected:
  /// The toy model with these keys added to its task.
  static Model load(const json &added, bool hasGreedyStep = false) {
    json manifest = toyManifest();
    manifest["tasks"]["generate"].update(added);
    if (hasGreedyStep)
      manifest = withGreedyStep(manifest);
    return loadManifest(manifest);
  }

  static Model loadManifest(const json &manifest) {
    TemporaryFile file(toyArtifact(manifest).build());
    Result<Model> model = Model::load(file.path());
    EXPECT_TRUE(model.ok()) << model.message();
    return std::move(*model);
  }

  static std::vector<Ids> decode(const Model &model,
                                 const std::vector<Ids> &sources, size_t batch,
                                 const SearchOptions &options) {
    Session session(model);
    std::vector<Ids> results;
    for (size_t i = 0; i < sources.size(); i += batch) {
      std::vector<Ids> part(sources.begin() + i,
                            sources.begin() +
                                std::min(i + batch, sources.size()));
      auto decoded = decodeBest(model, session, part, options);
      EXPECT_TRUE(decoded.ok()) << decoded.message();
      if (decoded.ok())
        results.insert(results.end(), decoded->begin(), decoded->end());
    }
    return results;
  }

  /// Compares 60 sentences with the oracle: with and without shortlist, all
  /// logits or the largest, in batches of several sizes. `requested` and
  /// `atLeast` are what a caller says of the length.
  static void expectOracle(const json &added, int64_t limit,
                           std::optional<int64_t> requested = std::nullopt,
                           std::optional<int64_t> atLeast = std::nullopt) {
    Model all = load(added), greedy = load(added, /*hasGreedyStep=*/true);
    json generation = toyManifest()["tasks"]["generate"];
    generation.update(added);
    // That of a manifest counts the start token.
    if (atLeast)
      generation["min_length"] = *atLeast + 1;
    std::vector<Ids> sources = toySources(60);
    for (bool shortlist : {false, true}) {
      std::vector<Ids> expected;
      for (const Ids &source : sources)
        expected.push_back(toyGreedy(
            source, generation, limit,
            shortlist ? std::optional(toyCandidates(source)) : std::nullopt));
      for (size_t batch : {1, 7, 60}) {
        SearchOptions options;
        options.withoutShortlist = !shortlist;
        options.maxLength = requested;
        options.minNewTokens = atLeast;
        EXPECT_EQ(decode(all, sources, batch, options), expected)
            << added << " shortlist " << shortlist << " batch " << batch;
        EXPECT_EQ(decode(greedy, sources, batch, options), expected)
            << added << " largest, shortlist " << shortlist << " batch "
            << batch;
      }
    }
  }
};

} // namespace

TEST_F(DecodingTest, matches_the_oracle) { expectOracle(kNothing, 12); }

TEST_F(DecodingTest, sentences_of_the_toy_end_at_different_lengths) {
  // Otherwise the tests above and below would not see compaction.
  std::vector<size_t> lengths;
  for (const Ids &source : toySources(60))
    lengths.push_back(
        toyGreedy(source, toyManifest()["tasks"]["generate"], 12, {}).size());
  std::sort(lengths.begin(), lengths.end());
  EXPECT_LE(lengths[5], 4u);
  EXPECT_GE(lengths[54], 10u);
}

TEST_F(DecodingTest, order_in_the_batch_leaves_no_trace) {
  Model model = load(kNothing);
  std::vector<Ids> sources = toySources(16);
  std::vector<Ids> expected = decode(model, sources, 16, {});
  std::reverse(sources.begin(), sources.end());
  std::reverse(expected.begin(), expected.end());
  EXPECT_EQ(decode(model, sources, 16, {}), expected);
}

TEST_F(DecodingTest, forced_first_token) {
  expectOracle({{"forced_bos", 7}}, 12);
}

TEST_F(DecodingTest, forced_last_token) {
  // 9 is no eos, and in few of the shortlists.
  expectOracle({{"forced_eos", 9}}, 12);
  expectOracle({{"forced_eos", 0}, {"max_length", 3}}, 3);
}

TEST_F(DecodingTest, forced_last_token_wins_over_forced_first) {
  expectOracle({{"forced_bos", 7}, {"forced_eos", 9}, {"max_length", 1}}, 1);
}

TEST_F(DecodingTest, suppressed_tokens) {
  expectOracle({{"suppress", {1, 4, 8}}}, 12);
}

TEST_F(DecodingTest, suppressed_at_the_beginning) {
  expectOracle({{"begin_suppress", {0, 1, 2, 3, 4}}}, 12);
  expectOracle({{"begin_suppress", {0, 1, 2, 3, 4}}, {"forced_bos", 3}}, 12);
}

TEST_F(DecodingTest, forced_and_suppressed) {
  json generation = {{"eos", {9}}, {"suppress", {7}}};
  auto with = [&](const char *key, const json &value) {
    json changed = generation;
    changed[key] = value;
    return changed;
  };
  expectOracle(with("forced_eos", 7), 12);
  Model model = load(with("forced_bos", 7));
  Session session(model);
  EXPECT_EQ(decodeBest(model, session, {{1}}, {}).message(),
            "no token may come first: it has to be 7, which is suppressed");
  generation = {{"eos", {9}}, {"forced_eos", 3}, {"max_length", 2}};
  expectOracle(with("begin_suppress", {3}), 2);
  generation["forced_bos"] = 5;
  expectOracle(with("begin_suppress", {3}), 2);
  expectOracle(with("begin_suppress", {5}), 2);
  // What else is forbidden does not touch a forced token.
  generation["bad_words"] = {{5}, {3}};
  expectOracle(with("min_length", 4), 2);
}

TEST_F(DecodingTest, bad_words) {
  // [0] is the eos, which cannot be a bad word.
  expectOracle({{"bad_words", {{0}, {3}, {1, 1}, {8, 1}, {9, 6, 2}}}}, 12);
  // Every second token is forbidden behind every other one.
  std::vector<Ids> pairs;
  for (int32_t first = 0; first < 11; ++first)
    for (int32_t second = 1; second < 11; second += 2)
      pairs.push_back({first, second});
  expectOracle({{"bad_words", pairs}}, 12);
}

TEST_F(DecodingTest, minimal_length) { expectOracle({{"min_length", 7}}, 12); }

TEST_F(DecodingTest, minimal_length_of_the_caller) {
  expectOracle(kNothing, 12, std::nullopt, /*atLeast=*/7);
  // In place of the model's own, and no further than any limit.
  expectOracle({{"min_length", 9}}, 12, std::nullopt, /*atLeast=*/2);
  expectOracle({{"min_length", 9}}, 12, std::nullopt, /*atLeast=*/0);
  expectOracle(kNothing, 5, /*requested=*/5, /*atLeast=*/5);
  expectOracle({{"max_target", 4}}, 4, std::nullopt, /*atLeast=*/9);
}

TEST_F(DecodingTest, several_end_tokens) {
  expectOracle({{"eos", {0, 6}}}, 12);
}

TEST_F(DecodingTest, limits) {
  expectOracle({{"max_length", 5}}, 5);
  expectOracle({{"max_target", 4}}, 4);
  expectOracle({{"max_length", 5}}, 30, /*requested=*/30);
  expectOracle({{"max_target", 8}}, 8, /*requested=*/30);
  expectOracle(kNothing, 1, /*requested=*/1);
}

TEST_F(DecodingTest, limit_by_the_length_of_the_source) {
  Model model = load({{"length_factor", 0.5}, {"suppress", {0}}});
  std::vector<Ids> sources = toySources(20);
  std::vector<Ids> decoded = decode(model, sources, 20, {});
  ASSERT_EQ(decoded.size(), sources.size());
  for (size_t i = 0; i < sources.size(); ++i)
    EXPECT_EQ(decoded[i].size(), (sources[i].size() + 1) / 2);
}

TEST_F(DecodingTest, candidates_are_sorted_and_unique) {
  Model model = load(kNothing);
  ASSERT_NE(model.shortlist(), nullptr);
  for (const Ids &source : toySources(40))
    EXPECT_EQ(model.shortlist()->candidates(source), toyCandidates(source));
}

/// Batches of 8 sentences of 2 and of 200 steps allocate as often.
static void expectNoAllocationInSteps(const Model &model,
                                      SearchOptions options) {
  std::vector<Ids> sources = toySources(8);
  Session session(model);
  auto count = [&](int64_t length) {
    options.maxLength = length;
    size_t before = allocations;
    auto decoded = decodeBest(model, session, sources, options);
    EXPECT_TRUE(decoded.ok()) << decoded.message();
    return allocations - before;
  };
  count(200); // Takes the memory that later batches reuse.
  EXPECT_EQ(count(2), count(200));
}

TEST_F(DecodingTest, checks_sources) {
  json manifest = toyManifest();
  manifest["source"]["positions"] = 4;
  Model model = loadManifest(manifest);
  EXPECT_TRUE(model.checkSource({1, 2, 3, 8}).ok());
  EXPECT_EQ(model.checkSource({}).message(), "has no token");
  EXPECT_EQ(model.checkSource({1, 9}).message(),
            "has the id 9 but the vocabulary has 9");
  EXPECT_EQ(model.checkSource({1, -1}).message(),
            "has the id -1 but the vocabulary has 9");
  EXPECT_EQ(model.checkSource({1, 2, 3, 4, 5}).message(),
            "has 5 tokens but the model has positions for 4");
}

TEST_F(DecodingTest, steps_allocate_nothing) {
  Model model = load({{"suppress", {0}}, {"bad_words", {{3, 4}}}});
  expectNoAllocationInSteps(model, SearchOptions());
}

TEST_F(DecodingTest, steps_with_scores_and_of_beams_allocate_nothing) {
  for (bool hasBestStep : {false, true})
    for (bool ends : {false, true})
      for (int64_t beams : {1, 4}) {
        json manifest = toyManifest();
        if (!ends)
          manifest["tasks"]["generate"]["suppress"] = {0};
        if (hasBestStep)
          manifest = withBestStep(manifest);
        SCOPED_TRACE(std::to_string(hasBestStep) + " " + std::to_string(ends) +
                     " " + std::to_string(beams));
        SearchOptions options;
        options.beams = beams;
        options.wantsSums = true;
        options.withoutShortlist = true;
        options.noRepeatNgram = 4;
        expectNoAllocationInSteps(loadManifest(manifest), options);
      }
}

TEST_F(DecodingTest, refuses_what_it_cannot_decode) {
  json manifest = toyManifest();
  manifest["source"]["positions"] = 4;
  Model model = loadManifest(manifest);
  Session session(model);
  auto message = [&](const std::vector<Ids> &sources,
                     const SearchOptions &options = {}) {
    auto decoded = decodeBest(model, session, sources, options);
    return decoded.ok() ? "decoded" : decoded.message();
  };
  EXPECT_EQ(message({}), "a batch has no sentence");
  for (int64_t length : {int64_t(0), int64_t(1) << 31}) {
    SearchOptions options;
    options.maxLength = length;
    EXPECT_EQ(message({{1}}, options),
              "the maximal length is " + std::to_string(length) +
                  ", expected a number from 1 to 2147483647");
  }
  SearchOptions options;
  options.minNewTokens = -1;
  EXPECT_EQ(message({{1}}, options), "the minimal length is -1, expected a "
                                     "number from 0 to 2147483647");
  options.minNewTokens = 0;
  EXPECT_EQ(message({{1}}, options), "decoded");
  // A failure leaves the session usable.
  EXPECT_EQ(message({{1, 2}}), "decoded");
}

TEST_F(DecodingTest, memory_that_nobody_has) {
  auto message = [](int64_t width, const char *slots = "capacity") {
    json manifest = toyManifest();
    manifest["entries"][3]["dims"].push_back("capacity<=6");
    manifest["entries"][3]["arguments"][0]["shape"] = {"rows", slots, width};
    TemporaryFile file(toyArtifact(manifest).build());
    Result<Model> model = Model::load(file.path());
    EXPECT_TRUE(model.ok()) << model.message();
    Session session(*model);
    SearchOptions options;
    options.withoutShortlist = true;
    auto decoded = decodeBest(*model, session, {{1}, {2, 3}}, options);
    return decoded.ok() ? "decoded" : decoded.message();
  };
  EXPECT_EQ(message(int64_t(1) << 60),
            "a batch of 2 sentences with 2 source and 12 target tokens needs "
            "more memory than 63 bits can address");
  // 2 rows x 12 positions x 2^43 x 4 bytes: more than an address space.
  EXPECT_NE(message(int64_t(1) << 43).find("tokens needs 8444249301"),
            std::string::npos)
      << message(int64_t(1) << 43);
  // 6 slots are enough.
  EXPECT_NE(
      message(int64_t(1) << 43, "capacity<=6").find("tokens needs 4222124650"),
      std::string::npos)
      << message(int64_t(1) << 43, "capacity<=6");
}
