//===- LabelTests.cpp - Labels of heddle.h --------------------------------===//
//
// Labels of the toy model against their formulas: of texts, of their tokens
// with the places of these, and of masks.
//
//===----------------------------------------------------------------------===//

#include "ApiTest.h"
#include "test/runtime/ToyTokenizer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string_view>

using namespace heddle::test;
using nlohmann::json;

namespace {

/// What is compared of a label, and its score.
struct Found {
  std::string text;
  int32_t id;
  size_t token;
  float score;

  bool operator==(const Found &other) const {
    return text == other.text && id == other.id && token == other.token &&
           std::abs(score - other.score) <= 1e-6f;
  }
};
void PrintTo(const Found &found, std::ostream *out) {
  *out << found.text << " " << found.id << " of " << found.token << " "
       << found.score;
}
using Labels = std::vector<std::vector<Found>>;

/// What a stream gives, and after how many inputs it has enough.
struct Streamed : StreamedInputs {
  Labels labels = {};
  size_t most = SIZE_MAX;
};

using Task = heddle_status(heddle_session *, const heddle_input *, size_t,
                           heddle_labels **);
using TaskStream = heddle_status(heddle_session *, const heddle_source *,
                                 const heddle_label_sink *);

const std::vector<std::string> kTexts = {"first", "long", "last"},
                               kTags = {"id", "place", "length"};

std::vector<Found> foundIn(const heddle_label *labels, size_t count) {
  if (!labels)
    return {{"skipped", 0, 0, 0}};
  std::vector<Found> found;
  for (size_t i = 0; i < count; ++i) {
    const heddle_label &each = labels[i];
    EXPECT_EQ(std::strlen(each.text), each.text_size);
    found.push_back({each.text, each.id, each.token, each.score});
  }
  return found;
}

/// The `top` best of a place.
std::vector<Found> bestOf(const std::vector<float> &logits, size_t token,
                          size_t top, const std::vector<std::string> &names) {
  std::vector<int32_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    float first = logits[size_t(a)], second = logits[size_t(b)];
    return first != second ? first > second : a < b;
  });
  double sum = 0;
  for (float logit : logits)
    sum += std::exp(double(logit));
  std::vector<Found> found;
  for (int32_t id : order)
    if (found.size() < top)
      found.push_back({names.empty() ? "" : names[size_t(id)], id, token,
                       float(std::exp(double(logits[size_t(id)])) / sum)});
  return found;
}

std::vector<Found> classesOf(const Ids &ids, size_t top = 3) {
  return bestOf({float(ids.front()), float(ids.size()), float(ids.back())}, 0,
                top, kTexts);
}
std::vector<Found> tagsOf(const Ids &ids, size_t first = 0, size_t behind = 0,
                          size_t top = 1) {
  std::vector<Found> all;
  for (size_t i = first; i < ids.size() - behind; ++i)
    for (const Found &each :
         bestOf({float(ids[i]) / 2, float(i) / 2, float(ids.size()) / 2}, i,
                top, kTags))
      all.push_back(each);
  return all;
}
std::vector<Found> fillsOf(const Ids &ids, size_t top = 5,
                           const std::vector<std::string> &names = {}) {
  std::vector<Found> all;
  for (size_t i = 0; i < ids.size(); ++i) {
    std::vector<float> logits;
    for (size_t word = 0; word < size_t(kToySourceVocabulary); ++word)
      logits.push_back(i % 9 == word ? 3 : float(word) / 4);
    if (ids[i] == kToyMask)
      for (const Found &each : bestOf(logits, i, top, names))
        all.push_back(each);
  }
  return all;
}

class LabelTest : public ApiTest {
protected:
  void SetUp() override {
    ApiTest::SetUp();
    if (!IsSkipped())
      load(withLabels(toyManifest()));
  }

  /// The model whose characters "abcd" are tokens 4 to 7, any other is token 3,
  /// between the special tokens 1 and 2.
  void loadTexts(const json &classify = {{"labels", kTexts}}) {
    json manifest = withoutGeneration(withLabels(toyManifest()));
    manifest["tasks"]["classify"] = classify;
    manifest["tokenizer"] = {{"kind", "characters"}, {"special", {1, 2}}};
    load(manifest, {{"tokenizer", buildToyTokenizer("____abcd", "____abcd", 3,
                                                    4, {{1}, {2}})}});
  }

  Labels label(Task *task, const std::vector<heddle_input> &inputs) {
    heddle_labels *labels = nullptr;
    EXPECT_EQ(task(session, inputs.data(), inputs.size(), &labels), HEDDLE_OK)
        << heddle_error();
    Labels all;
    for (size_t i = 0; i < inputs.size(); ++i) {
      size_t count = 7;
      const heddle_label *each = heddle_labels_of(labels, i, &count);
      all.push_back(foundIn(each, count));
    }
    EXPECT_EQ(heddle_labels_of(labels, inputs.size(), nullptr), nullptr);
    heddle_labels_free(labels);
    return all;
  }

  heddle_status stream(TaskStream *task, Streamed &streamed) {
    heddle_source source = streamed.source();
    heddle_label_sink sink = {
        static_cast<StreamedInputs *>(&streamed),
        [](void *context, const heddle_label *labels, size_t count) {
          auto &all =
              *static_cast<Streamed *>(static_cast<StreamedInputs *>(context));
          all.labels.push_back(foundIn(labels, count));
          return int(all.labels.size() == all.most);
        },
        /*flush=*/nullptr, StreamedInputs::notice};
    return task(session, &source, &sink);
  }

  void expectFails(Task *task, const std::vector<heddle_input> &inputs,
                   heddle_status status, const std::string &sentence) {
    heddle_labels *labels = reinterpret_cast<heddle_labels *>(this);
    EXPECT_EQ(task(session, inputs.data(), inputs.size(), &labels), status);
    EXPECT_EQ(std::string(heddle_error()), sentence);
    EXPECT_EQ(labels, nullptr);
  }
};

} // namespace

TEST_F(LabelTest, has_labels_for_each_input) {
  std::vector<Ids> sources = toySources(50);
  std::vector<heddle_input> inputs = inputsOf(sources);
  Labels classes, tags, fills;
  for (const Ids &source : sources) {
    classes.push_back(classesOf(source));
    tags.push_back(tagsOf(source));
    fills.push_back(fillsOf(source));
  }
  for (const char *workers : {"1", "3", "all"})
    for (const char *batch : {"1", "7", "64"}) {
      ASSERT_EQ(set("workers", workers), HEDDLE_OK);
      ASSERT_EQ(set("batch", batch), HEDDLE_OK);
      EXPECT_EQ(label(heddle_classify, inputs), classes);
      EXPECT_EQ(label(heddle_tag, inputs), tags);
      EXPECT_EQ(label(heddle_fill, inputs), fills);
    }
  for (auto [task, labels] : {std::pair(&heddle_classify_stream, &classes),
                              {&heddle_tag_stream, &tags},
                              {&heddle_fill_stream, &fills}}) {
    Streamed streamed{{inputs}};
    ASSERT_EQ(stream(task, streamed), HEDDLE_OK) << heddle_error();
    EXPECT_EQ(streamed.labels, *labels);
    EXPECT_TRUE(streamed.notices.empty());
  }
  EXPECT_TRUE(label(heddle_tag, {}).empty());
  EXPECT_EQ(heddle_labels_of(nullptr, 0, nullptr), nullptr);
  heddle_labels_free(nullptr);
}

TEST_F(LabelTest, gives_as_many_as_are_asked_for) {
  Ids source = {5, kToyMask, 1, kToyMask};
  std::vector<heddle_input> inputs = {inputOf(source)};
  for (size_t top : {1, 2, 3, 9, 10}) {
    ASSERT_EQ(set("top", std::to_string(top).c_str()), HEDDLE_OK);
    EXPECT_EQ(label(heddle_classify, inputs), Labels{classesOf(source, top)});
    EXPECT_EQ(label(heddle_tag, inputs), Labels{tagsOf(source, 0, 0, top)});
    EXPECT_EQ(label(heddle_fill, inputs), Labels{fillsOf(source, top)});
  }
  EXPECT_EQ(heddle_settings_set(settings, "top", "0"), HEDDLE_MISUSED);
  EXPECT_EQ(std::string(heddle_error()),
            "top has the value '0', expected a number from 1 to 1048576");
}

TEST_F(LabelTest, has_probabilities_of_each_label_or_numbers) {
  std::vector<heddle_input> inputs = {textOf("a")};
  // The logits of the tokens 1, 4 and 2.
  for (auto [scores, last] :
       {std::pair("sigmoid", 1 / (1 + std::exp(-2.0))), {"none", 2.0}}) {
    loadTexts({{"labels", kTexts}, {"scores", scores}});
    double first = last == 2 ? 1 : 1 / (1 + std::exp(-1.0)),
           size = last == 2 ? 3 : 1 / (1 + std::exp(-3.0));
    EXPECT_EQ(label(heddle_classify, inputs),
              (Labels{{{"long", 1, 0, float(size)},
                       {"last", 2, 0, float(last)},
                       {"first", 0, 0, float(first)}}}));
  }
}

TEST_F(LabelTest, knows_where_tokens_of_texts_stand) {
  loadTexts();
  // Characters of two and of four bytes, a mask, and a text without any.
  const std::string text = "a\xC3\xA9\xF0\x9F\x99\x82"
                           "db";
  std::vector<heddle_input> inputs = {textOf(text), textOf("")};
  Ids ids = {1, 4, 3, 3, kToyMask, 5, 2};
  const std::vector<std::string> names = {"",  "",  "",  "", "a",
                                          "b", "c", "d", ""};
  EXPECT_EQ(label(heddle_classify, inputs),
            (Labels{classesOf(ids), classesOf({1, 2})}));
  EXPECT_EQ(label(heddle_tag, inputs), (Labels{tagsOf(ids, 1, 1), {}}));
  EXPECT_EQ(label(heddle_fill, inputs), (Labels{fillsOf(ids, 5, names), {}}));
  struct Range {
    const char *name;
    size_t firstByte, lastByte, first, last;
  };
  const std::vector<Range> expected = {{"a", 0, 1, 0, 1},
                                       {"", 1, 3, 1, 2},
                                       {"", 3, 7, 2, 3},
                                       {"d", 7, 8, 3, 4},
                                       {"b", 8, 9, 4, 5}};
  auto expectPlace = [](const heddle_label &label, const Range &range) {
    EXPECT_STREQ(label.token_name, range.name);
    EXPECT_EQ(label.first_byte, range.firstByte);
    EXPECT_EQ(label.last_byte, range.lastByte);
    EXPECT_EQ(label.first_character, range.first);
    EXPECT_EQ(label.last_character, range.last);
  };
  heddle_labels *labels = nullptr;
  ASSERT_EQ(heddle_tag(session, inputs.data(), 1, &labels), HEDDLE_OK);
  for (size_t i = 0; i < expected.size(); ++i)
    expectPlace(heddle_labels_of(labels, 0, nullptr)[i], expected[i]);
  heddle_labels_free(labels);
  ASSERT_EQ(heddle_fill(session, inputs.data(), 1, &labels), HEDDLE_OK);
  expectPlace(heddle_labels_of(labels, 0, nullptr)[0], expected[3]);
  heddle_labels_free(labels);
  ASSERT_EQ(heddle_classify(session, inputs.data(), 1, &labels), HEDDLE_OK);
  expectPlace(heddle_labels_of(labels, 0, nullptr)[0], {nullptr, 0, 0, 0, 0});
  heddle_labels_free(labels);
}

TEST_F(LabelTest, has_places_in_texts_that_are_not_utf8) {
  loadTexts();
  const std::string text = "\x80\xA9"
                           "d\xC3"
                           "a";
  heddle_input input = textOf(text);
  heddle_labels *labels = nullptr;
  ASSERT_EQ(heddle_tag(session, &input, 1, &labels), HEDDLE_OK)
      << heddle_error();
  size_t count = 0, byte = 0, character = 0;
  const heddle_label *each = heddle_labels_of(labels, 0, &count);
  ASSERT_GE(count, 3u);
  for (size_t i = 0; i < count; ++i) {
    EXPECT_EQ(each[i].first_byte, byte);
    EXPECT_GE(each[i].first_character, character ? character - 1 : 0);
    EXPECT_LE(each[i].first_character, each[i].last_character);
    byte = each[i].last_byte;
    character = each[i].last_character;
  }
  EXPECT_EQ(byte, text.size());
  EXPECT_LE(character, text.size());
  heddle_labels_free(labels);
}

TEST_F(LabelTest, takes_pairs_to_classify) {
  loadTexts();
  heddle_input input = textOf("ab");
  input.pair = "c";
  input.pair_size = 1;
  expectFails(heddle_tag, {input}, HEDDLE_FAILED,
              "input 1 is a pair of texts, expected one text");
  expectFails(heddle_fill, {textOf("a"), input}, HEDDLE_FAILED,
              "input 2 is a pair of texts, expected one text");
  const Ids ids = {1, 4, 2};
  heddle_input wrong = inputOf(ids);
  wrong.pair = "c";
  expectFails(heddle_classify, {wrong}, HEDDLE_MISUSED,
              "input 1: 'pair' is given beside 'ids', expected two texts");
  wrong = textOf("a");
  wrong.pair_size = 3;
  expectFails(heddle_classify, {wrong}, HEDDLE_MISUSED,
              "input 1: 'pair' is NULL but 'pair_size' is 3");
}

TEST_F(LabelTest, names_tokens_in_utf8) {
  const std::string pieces = "____\xE6"
                             "bcd";
  json manifest = withoutGeneration(withLabels(toyManifest()));
  manifest["tokenizer"] = {{"kind", "characters"}};
  load(manifest, {{"tokenizer", buildToyTokenizer(pieces, pieces, 3, 4)}});
  // A piece of bytes may be a part of a character.
  Ids source = {4, 5};
  heddle_input input = inputOf(source);
  heddle_labels *labels = nullptr;
  ASSERT_EQ(heddle_tag(session, &input, 1, &labels), HEDDLE_OK)
      << heddle_error();
  const heddle_label *each = heddle_labels_of(labels, 0, nullptr);
  EXPECT_STREQ(each[0].token_name, "\xEF\xBF\xBD");
  EXPECT_STREQ(each[1].token_name, "b");
  // Labels outlive their model.
  load(toyManifest());
  EXPECT_STREQ(each[0].text, "id");
  heddle_labels_free(labels);
}

TEST_F(LabelTest, cuts_and_skips_texts) {
  loadTexts({{"labels", kTexts}, {"max_tokens", 4}});
  std::vector<heddle_input> inputs = {textOf("ab"), textOf("abc")};
  Ids cut = {1, 4, 5, 2}, whole = {1, 4, 5, 6, 2};
  Streamed streamed{{inputs}};
  ASSERT_EQ(stream(heddle_classify_stream, streamed), HEDDLE_OK);
  EXPECT_EQ(streamed.labels, (Labels{classesOf(cut), classesOf(cut)}));
  EXPECT_EQ(
      streamed.notices,
      std::vector<std::string>{"1: input 2 has more than 4 tokens and is cut"});
  // It is that task's limit alone.
  EXPECT_EQ(label(heddle_tag, inputs),
            (Labels{tagsOf(cut, 1, 1), tagsOf(whole, 1, 1)}));
  ASSERT_EQ(set("no-truncate", "true"), HEDDLE_OK);
  expectFails(heddle_classify, inputs, HEDDLE_FAILED,
              "input 2 has more than 4 tokens");
  ASSERT_EQ(set("on-error", "skip"), HEDDLE_OK);
  EXPECT_EQ(label(heddle_classify, inputs),
            (Labels{classesOf(cut), {{"skipped", 0, 0, 0}}}));
}

TEST_F(LabelTest, knows_the_tasks_of_models) {
  for (const char *task : {"generate", "classify", "tag", "fill"})
    EXPECT_EQ(heddle_model_has_task(model, task), 1) << task;
  EXPECT_EQ(heddle_model_has_task(model, "embed"), 0);
  char *text = nullptr;
  ASSERT_EQ(heddle_describe(path.c_str(), 0, 0, &text), HEDDLE_OK);
  EXPECT_NE(std::string(text).find(
                "classify    3 labels, first, long, last, scores softmax\n"
                "tag         3 labels, id, place, length\n"
                "fill        token 7\n"),
            std::string::npos)
      << text;
  heddle_free(text);
  load(withEmbedding(toyManifest()));
  Ids source = {5, 3, 1};
  const std::string does = ": it generates text and embeds texts";
  for (auto [task, name] : {std::pair(&heddle_classify, "classify"),
                            {&heddle_tag, "tag"},
                            {&heddle_fill, "fill"}})
    expectFails(task, {inputOf(source)}, HEDDLE_FAILED,
                "'" + path + "' has no task '" + name + "'" + does);
  EXPECT_EQ(set("top", "2"), HEDDLE_FAILED);
  EXPECT_EQ(std::string(heddle_error()),
            "top is given, but '" + path + "' generates text and embeds texts");
}

TEST_F(LabelTest, may_be_cancelled) {
  std::vector<Ids> sources = toySources(20);
  std::vector<heddle_input> inputs = inputsOf(sources);
  heddle_cancel(session);
  EXPECT_TRUE(label(heddle_tag, {}).empty());
  expectFails(heddle_tag, inputs, HEDDLE_CANCELLED, "the call was cancelled");
  Streamed streamed{{inputs}};
  streamed.most = 3;
  EXPECT_EQ(stream(heddle_fill_stream, streamed), HEDDLE_CANCELLED);
  EXPECT_EQ(streamed.labels.size(), 3u);
  EXPECT_EQ(label(heddle_tag, inputs).size(), 20u);
}

TEST_F(LabelTest, refuses_what_nobody_may_pass) {
  heddle_input input = {};
  heddle_labels *labels = nullptr;
  heddle_source source = {};
  heddle_label_sink sink = {};
  auto expectMisuse = [&](heddle_status status, const std::string &sentence) {
    EXPECT_EQ(status, HEDDLE_MISUSED);
    EXPECT_EQ(std::string(heddle_error()), sentence);
  };
  for (Task *task : {heddle_classify, heddle_tag, heddle_fill}) {
    expectMisuse(task(nullptr, &input, 1, &labels), "'session' is NULL");
    expectMisuse(task(session, &input, 1, nullptr), "'labels' is NULL");
    expectMisuse(task(session, nullptr, 1, &labels),
                 "'inputs' is NULL but 'count' is 1");
  }
  source.next = [](void *, int, heddle_input *) { return HEDDLE_NEXT_END; };
  for (TaskStream *task :
       {heddle_classify_stream, heddle_tag_stream, heddle_fill_stream}) {
    expectMisuse(task(session, nullptr, &sink), "'source' is NULL");
    expectMisuse(task(session, &source, nullptr), "'sink' is NULL");
    expectMisuse(task(session, &source, &sink),
                 "the sink has no function to call");
  }
}
