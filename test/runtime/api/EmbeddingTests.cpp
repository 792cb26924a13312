//===- EmbeddingTests.cpp - Vectors of heddle.h ---------------------------===//
//
// Vectors of the toy model against their formula: what encoder and task are
// given of each text, with prompts in front of texts and texts that are cut.
//
//===----------------------------------------------------------------------===//

#include "ApiTest.h"
#include "test/runtime/ToyTokenizer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <tuple>

using namespace heddle::test;
using nlohmann::json;

namespace {

using Vectors = std::vector<std::vector<float>>;

/// What a stream gives: vectors, empty ones of what was skipped.
struct Streamed : StreamedInputs {
  Vectors vectors = {};
  size_t most = std::numeric_limits<size_t>::max();
};

class EmbeddingTest : public ApiTest {
protected:
  void SetUp() override {
    ApiTest::SetUp();
    if (!IsSkipped())
      load(withEmbedding(toyManifest()));
  }

  /// The model whose characters "abcd" are tokens 4 to 7, between the special
  /// tokens 1 and 2, of which the second has type 1.
  void loadTexts(const json &task, std::optional<int> positions = {}) {
    json manifest = withoutGeneration(withEmbedding(toyManifest()));
    manifest["tasks"]["embed"] = task;
    manifest["tokenizer"] = {{"kind", "characters"}, {"special", {1, 2}}};
    if (positions)
      manifest["source"]["positions"] = *positions;
    load(manifest,
         {{"tokenizer", buildToyTokenizer("____abcd", "____abcd", 3, 4,
                                          {{1}, {2}, -1, /*typeBehind=*/1})}});
  }

  Vectors embed(const std::vector<heddle_input> &inputs) {
    float *values = nullptr;
    size_t width = 0, asked = 0;
    EXPECT_EQ(
        heddle_embed(session, inputs.data(), inputs.size(), &values, &width),
        HEDDLE_OK)
        << heddle_error();
    EXPECT_EQ(heddle_vector_width(session, &asked), HEDDLE_OK);
    EXPECT_EQ(width, asked);
    Vectors vectors;
    for (size_t i = 0; values && i < inputs.size(); ++i)
      vectors.emplace_back(values + i * width, values + (i + 1) * width);
    heddle_free(values);
    return vectors;
  }

  heddle_status stream(Streamed &streamed) {
    heddle_source source = streamed.source();
    heddle_vector_sink sink = {
        static_cast<StreamedInputs *>(&streamed),
        [](void *context, const float *values, size_t width) {
          auto &all =
              *static_cast<Streamed *>(static_cast<StreamedInputs *>(context));
          all.vectors.emplace_back(values, values + width);
          return int(all.vectors.size() == all.most);
        },
        /*flush=*/nullptr, StreamedInputs::notice};
    return heddle_embed_stream(session, &source, &sink);
  }

  void expectFailure(heddle_status found, heddle_status status,
                     const std::string &sentence) {
    EXPECT_EQ(found, status) << sentence;
    EXPECT_EQ(std::string(heddle_error()), sentence);
  }
  void expectFails(const std::vector<heddle_input> &inputs,
                   const std::string &sentence) {
    float one = 0, *values = &one;
    size_t width = 7;
    expectFailure(
        heddle_embed(session, inputs.data(), inputs.size(), &values, &width),
        HEDDLE_FAILED, sentence);
    EXPECT_EQ(values, nullptr);
    EXPECT_EQ(width, 0u);
  }

  /// The vector of a text with its special tokens.
  static std::vector<float> vectorOf(const Ids &ids, int32_t promptTokens = 0) {
    std::vector<float> vector = toyVector(ids, promptTokens);
    if (!ids.empty() && ids.back() == 2)
      vector[3] += 100 * float(ids.size());
    return vector;
  }
};

} // namespace

TEST_F(EmbeddingTest, has_a_vector_for_each_input) {
  std::vector<Ids> sources = toySources(50);
  std::vector<heddle_input> inputs = inputsOf(sources);
  Vectors expectedVectors;
  for (const Ids &source : sources)
    expectedVectors.push_back(toyVector(source));
  for (const char *workers : {"1", "3", "all"})
    for (const char *batch : {"1", "7", "64"}) {
      ASSERT_EQ(set("workers", workers), HEDDLE_OK);
      ASSERT_EQ(set("batch", batch), HEDDLE_OK);
      EXPECT_EQ(embed(inputs), expectedVectors);
    }
  Streamed streamed{{inputs}};
  ASSERT_EQ(stream(streamed), HEDDLE_OK) << heddle_error();
  EXPECT_EQ(streamed.vectors, expectedVectors);
  EXPECT_TRUE(streamed.notices.empty());
  EXPECT_TRUE(embed({}).empty());

  // The same session translates.
  heddle_answers *answers = nullptr;
  ASSERT_EQ(heddle_translate(session, inputs.data(), inputs.size(), &answers),
            HEDDLE_OK)
      << heddle_error();
  for (size_t i = 0; i < sources.size(); ++i)
    EXPECT_EQ(idsOf(*heddle_answer(answers, i, 0)), expected(sources[i]));
  heddle_answers_free(answers);
}

TEST_F(EmbeddingTest, knows_the_tasks_of_models) {
  auto expectTasks = [&](int generates, int embeds) {
    EXPECT_EQ(heddle_model_has_task(model, "generate"), generates);
    EXPECT_EQ(heddle_model_has_task(model, "embed"), embeds);
    EXPECT_EQ(heddle_model_has_task(model, "embedding"), 0);
  };
  Ids source = {5, 3, 1};
  heddle_input input = inputOf(source);
  heddle_answers *answers = nullptr;
  expectTasks(1, 1);
  load(toyManifest());
  expectTasks(1, 0);
  const std::string none = "'" + path + "' has no task ";
  expectFails({input}, none + "'embed': it generates text");
  size_t width = 7;
  expectFailure(heddle_vector_width(session, &width), HEDDLE_FAILED,
                none + "'embed': it generates text");
  EXPECT_EQ(width, 0u);
  load(withoutGeneration(toyManifest()));
  expectTasks(0, 0);
  expectFails({input}, none + "'embed': it gives hidden states alone");
  load(withoutGeneration(withEmbedding(toyManifest())));
  expectTasks(0, 1);
  EXPECT_EQ(embed({input}), Vectors{toyVector(source)});
  expectFailure(heddle_translate(session, &input, 1, &answers), HEDDLE_FAILED,
                none + "'generate': it embeds texts");
  EXPECT_EQ(heddle_model_has_task(model, nullptr), 0);
  EXPECT_EQ(heddle_model_has_task(nullptr, "embed"), 0);

  char *text = nullptr;
  ASSERT_EQ(heddle_describe(path.c_str(), 0, 0, &text), HEDDLE_OK);
  EXPECT_NE(std::string(text).find("vectors     4 numbers\n"),
            std::string::npos)
      << text;
  heddle_free(text);
}

TEST_F(EmbeddingTest, gives_the_first_numbers_of_length_one) {
  Ids source = {5, 3, 1, 8};
  heddle_input input = inputOf(source);
  std::vector<float> whole = toyVector(source),
                     some(whole.begin(), whole.begin() + 2);
  ASSERT_EQ(set("dimensions", "2"), HEDDLE_OK);
  EXPECT_EQ(embed({input}), Vectors{some});
  ASSERT_EQ(set("normalize", "true"), HEDDLE_OK);
  double length = std::hypot(double(some[0]), double(some[1]));
  for (float &value : some)
    value = float(value / length);
  Vectors found = embed({input});
  ASSERT_EQ(found.size(), 1u);
  for (size_t i = 0; i < some.size(); ++i)
    EXPECT_FLOAT_EQ(found[0][i], some[i]);
  // A vector of zeros stays one.
  ASSERT_EQ(set("dimensions", "1"), HEDDLE_OK);
  Ids zeros = {0, 0};
  EXPECT_EQ(embed({inputOf(zeros)}), Vectors{{0.0f}});
  ASSERT_EQ(set("dimensions", "4"), HEDDLE_OK);
  ASSERT_EQ(set("normalize", "false"), HEDDLE_OK);
  EXPECT_EQ(embed({input}), Vectors{whole});

  EXPECT_EQ(set("dimensions", "5"), HEDDLE_FAILED);
  EXPECT_EQ(heddle_error(),
            "dimensions is 5, but the vectors of '" + path + "' have 4");
  ASSERT_EQ(set("dimensions", nullptr), HEDDLE_OK);
  EXPECT_EQ(set("prompt", "q"), HEDDLE_FAILED);
  EXPECT_EQ(heddle_error(), "prompt is 'q', but '" + path + "' has no prompts");
}

TEST_F(EmbeddingTest, puts_prompts_in_front_of_texts) {
  loadTexts({{"prompts", {{"query", "ab"}, {"passage", "d"}, {"none", ""}}},
             {"prompt", "query"}});
  std::vector<heddle_input> inputs = {textOf("cd"), textOf("")};
  // A prompt's tokens are those in front of it, too.
  EXPECT_EQ(embed(inputs), (Vectors{vectorOf({1, 4, 5, 6, 7, 2}, 3),
                                    vectorOf({1, 4, 5, 2}, 3)}));
  ASSERT_EQ(set("prompt", "passage"), HEDDLE_OK);
  EXPECT_EQ(embed(inputs),
            (Vectors{vectorOf({1, 7, 6, 7, 2}, 2), vectorOf({1, 7, 2}, 2)}));
  for (const char *none : {"", "none"}) {
    ASSERT_EQ(set("prompt", none), HEDDLE_OK);
    EXPECT_EQ(embed(inputs),
              (Vectors{vectorOf({1, 6, 7, 2}), vectorOf({1, 2})}));
  }
  ASSERT_EQ(set("prompt", nullptr), HEDDLE_OK);
  // Ids have what they have.
  Ids ids = {1, 6, 7, 1};
  EXPECT_EQ(embed({inputOf(ids)}), Vectors{vectorOf(ids)});
  EXPECT_EQ(set("prompt", "other"), HEDDLE_FAILED);
  EXPECT_EQ(heddle_error(), "prompt is 'other', but '" + path +
                                "' has the prompts none, passage, query");
}

TEST_F(EmbeddingTest, cuts_texts_that_are_too_long) {
  loadTexts({{"max_tokens", 5}, {"prompts", {{"long", "dddd"}}}}, 6);
  // Exactly as many, and more.
  const std::string text(2000, 'a');
  std::vector<heddle_input> inputs = {textOf("abc"), textOf("abcd"),
                                      textOf(text)};
  auto expectCut = [&](const Vectors &vectors,
                       const std::vector<std::string> &notices) {
    Streamed streamed{{inputs}};
    ASSERT_EQ(stream(streamed), HEDDLE_OK) << heddle_error();
    EXPECT_EQ(streamed.vectors, vectors);
    EXPECT_EQ(streamed.notices, notices);
    EXPECT_EQ(embed(inputs), vectors);
  };
  Ids abc = {1, 4, 5, 6, 2}, aaa = {1, 4, 4, 4, 2};
  expectCut({vectorOf(abc), vectorOf(abc), vectorOf(aaa)},
            {"1: input 2 has more than 5 tokens and is cut",
             "2: input 3 has more than 5 tokens and is cut"});
  ASSERT_EQ(set("max-source", "3"), HEDDLE_OK);
  expectCut({vectorOf({1, 4, 2}), vectorOf({1, 4, 2}), vectorOf({1, 4, 2})},
            {"0: input 1 has more than 3 tokens and is cut",
             "1: input 2 has more than 3 tokens and is cut",
             "2: input 3 has more than 3 tokens and is cut"});
  // No more than the model has positions.
  ASSERT_EQ(set("max-source", "100"), HEDDLE_OK);
  expectCut({vectorOf(abc), vectorOf({1, 4, 5, 6, 7, 2}),
             vectorOf({1, 4, 4, 4, 4, 2})},
            {"2: input 3 has more than 6 tokens and is cut"});
  // The prompt is a part of the text; the special token behind it is none.
  ASSERT_EQ(set("prompt", "long"), HEDDLE_OK);
  ASSERT_EQ(set("max-source", "4"), HEDDLE_OK);
  Ids dd = {1, 7, 7, 2};
  expectCut({vectorOf(dd, 3), vectorOf(dd, 3), vectorOf(dd, 3)},
            {"0: input 1 has more than 4 tokens and is cut",
             "1: input 2 has more than 4 tokens and is cut",
             "2: input 3 has more than 4 tokens and is cut"});
  ASSERT_EQ(set("prompt", nullptr), HEDDLE_OK);

  ASSERT_EQ(set("max-source", nullptr), HEDDLE_OK);
  ASSERT_EQ(set("no-truncate", "true"), HEDDLE_OK);
  expectFails(inputs, "input 2 has more than 5 tokens");
  ASSERT_EQ(set("on-error", "skip"), HEDDLE_OK);
  Streamed streamed{{inputs}};
  ASSERT_EQ(stream(streamed), HEDDLE_OK) << heddle_error();
  EXPECT_EQ(streamed.vectors, (Vectors{vectorOf(abc), {}, {}}));
  EXPECT_EQ(streamed.notices,
            (std::vector<std::string>{"1: input 2 has more than 5 tokens",
                                      "2: input 3 has more than 5 tokens"}));
  Vectors block = embed(inputs);
  ASSERT_EQ(block.size(), 3u);
  EXPECT_EQ(block[0], vectorOf(abc));
  for (size_t i : {1, 2})
    for (float value : block[i])
      EXPECT_TRUE(std::isnan(value));
}

TEST_F(EmbeddingTest, has_no_room_for_a_text_between_special_tokens) {
  loadTexts(json::object());
  const std::vector<heddle_input> inputs = {textOf("ab")};
  ASSERT_EQ(set("max-source", "1"), HEDDLE_OK);
  expectFails(inputs, "input 1 has 2 special tokens around its text, expected "
                      "at most 1");
  // None of the text is left, which is cut all the same.
  ASSERT_EQ(set("max-source", "2"), HEDDLE_OK);
  Streamed streamed{{inputs}};
  ASSERT_EQ(stream(streamed), HEDDLE_OK) << heddle_error();
  EXPECT_EQ(streamed.vectors, Vectors{vectorOf({1, 2})});
  EXPECT_EQ(
      streamed.notices,
      std::vector<std::string>{"0: input 1 has more than 2 tokens and is cut"});
  ASSERT_EQ(set("no-truncate", "true"), HEDDLE_OK);
  expectFails(inputs, "input 1 has more than 2 tokens");
}

TEST_F(EmbeddingTest, names_inputs_that_fail) {
  std::vector<Ids> sources = {{1, 2}, {1, 9}, {3}};
  std::vector<heddle_input> inputs = inputsOf(sources);
  expectFails(inputs, "input 2 has the id 9 but the vocabulary has 9");
  inputs[1] = textOf("text");
  expectFails(inputs, "input 2 is text, but '" + path + "' has no tokenizer");
  ASSERT_EQ(set("ids", "true"), HEDDLE_OK);
  inputs[1] = textOf("4 7");
  EXPECT_EQ(embed(inputs),
            (Vectors{toyVector({1, 2}), toyVector({4, 7}), toyVector({3})}));
  inputs[1] = textOf("4 a");
  expectFails(inputs,
              "input 2 has 'a', expected token ids separated by spaces");
  inputs[1] = {};
  expectFails(inputs, "input 2 has no token");
  // Those before it have theirs in a stream.
  ASSERT_EQ(set("batch", "1"), HEDDLE_OK);
  Streamed streamed{{inputs}};
  EXPECT_EQ(stream(streamed), HEDDLE_FAILED);
  EXPECT_EQ(std::string(heddle_error()), "input 2 has no token");
  EXPECT_EQ(streamed.vectors, Vectors{toyVector({1, 2})});
  json manifest = withEmbedding(toyManifest());
  manifest["entries"].back()["symbol"] = "failing";
  load(manifest);
  inputs.resize(1);
  expectFails(inputs, "the compiled code ended with the status 7");
}

TEST_F(EmbeddingTest, may_be_cancelled) {
  std::vector<Ids> sources = toySources(20);
  std::vector<heddle_input> inputs = inputsOf(sources);
  float *values = nullptr;
  size_t width = 0;
  // A call without inputs leaves it to the next one.
  heddle_cancel(session);
  EXPECT_TRUE(embed({}).empty());
  EXPECT_EQ(
      heddle_embed(session, inputs.data(), inputs.size(), &values, &width),
      HEDDLE_CANCELLED);
  EXPECT_EQ(values, nullptr);
  EXPECT_EQ(embed(inputs).size(), 20u);
  // A sink that has enough.
  Streamed streamed{{inputs}};
  streamed.most = 3;
  EXPECT_EQ(stream(streamed), HEDDLE_CANCELLED);
  EXPECT_EQ(streamed.vectors.size(), 3u);
  EXPECT_EQ(embed(inputs).size(), 20u);
}

TEST_F(EmbeddingTest, refuses_what_nobody_may_pass) {
  heddle_input input = {};
  float one = 0, *values = &one;
  size_t width = 7;
  auto expectMisuse = [&](heddle_status status, const std::string &sentence) {
    expectFailure(status, HEDDLE_MISUSED, sentence);
  };
  expectMisuse(heddle_embed(nullptr, &input, 1, &values, &width),
               "'session' is NULL");
  EXPECT_EQ(values, nullptr);
  EXPECT_EQ(width, 0u);
  expectMisuse(heddle_embed(session, &input, 1, nullptr, &width),
               "'vectors' is NULL");
  expectMisuse(heddle_embed(session, &input, 1, &values, nullptr),
               "'width' is NULL");
  values = &one;
  expectMisuse(heddle_embed(session, nullptr, 1, &values, &width),
               "'inputs' is NULL but 'count' is 1");
  EXPECT_EQ(values, nullptr);
  expectMisuse(heddle_vector_width(nullptr, &width), "'session' is NULL");
  expectMisuse(heddle_vector_width(session, nullptr), "'width' is NULL");
  heddle_source source = {};
  heddle_vector_sink sink = {};
  expectMisuse(heddle_embed_stream(nullptr, &source, &sink),
               "'session' is NULL");
  expectMisuse(heddle_embed_stream(session, nullptr, &sink),
               "'source' is NULL");
  expectMisuse(heddle_embed_stream(session, &source, nullptr),
               "'sink' is NULL");
  expectMisuse(heddle_embed_stream(session, &source, &sink),
               "the source has no function to call");
  source.next = [](void *, int, heddle_input *) { return HEDDLE_NEXT_END; };
  expectMisuse(heddle_embed_stream(session, &source, &sink),
               "the sink has no function to call");
  for (auto [name, value, sentence] :
       {std::tuple("dimensions", "0",
                   "dimensions has the value '0', expected a number from 1 to "
                   "1048576"),
        std::tuple("normalize", "1",
                   "normalize has the value '1', expected true or false")})
    expectMisuse(heddle_settings_set(settings, name, value), sentence);
}
