//===- ApiTests.cpp - heddle.h from outside -------------------------------===//
//
// The toy model through the C API: answers against the toy's oracle, and what
// only the API has - settings by name, sessions on several threads, tokens as
// they come. ApiCancelTests.cpp has cancelling, ApiArgumentTests.cpp what
// nobody may pass.
//
//===----------------------------------------------------------------------===//

#include "ApiTest.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <thread>

using namespace heddle::test;

TEST_F(ApiTest, translates_a_batch) {
  std::vector<Ids> sources = toySources(50);
  std::vector<heddle_input> inputs = inputsOf(sources);
  inputs.push_back({});
  for (const char *workers : {"1", "3", "all"}) {
    ASSERT_EQ(set("workers", workers), HEDDLE_OK);
    heddle_answers *answers = nullptr;
    ASSERT_EQ(
        heddle_translate(session, inputs.data(), inputs.size() - 1, &answers),
        HEDDLE_OK)
        << heddle_error();
    for (size_t i = 0; i < sources.size(); ++i) {
      ASSERT_EQ(heddle_answer_count(answers, i), 1u);
      const heddle_answer_text *answer = heddle_answer(answers, i, 0);
      EXPECT_EQ(idsOf(*answer), expected(sources[i]));
      EXPECT_EQ(answer->log_probabilities, nullptr);
      // Without a tokenizer and without "ids" there is no text.
      EXPECT_EQ(std::string(answer->text), "");
    }
    EXPECT_EQ(heddle_answer(answers, 0, 1), nullptr);
    EXPECT_EQ(heddle_answer(answers, sources.size(), 0), nullptr);
    heddle_answers_free(answers);
  }
}

TEST_F(ApiTest, texts_that_are_ids) {
  ASSERT_EQ(set("ids", "true"), HEDDLE_OK);
  heddle_input inputs[3] = {};
  inputs[0].text = "1 2 and more";
  inputs[0].text_size = 3;
  heddle_answers *answers = nullptr;
  ASSERT_EQ(heddle_translate(session, inputs, 2, &answers), HEDDLE_OK)
      << heddle_error();
  std::string text;
  for (int32_t id : expected({1, 2}))
    text += (text.empty() ? "" : " ") + std::to_string(id);
  EXPECT_EQ(heddle_answer(answers, 0, 0)->text, text);
  EXPECT_EQ(heddle_answer(answers, 0, 0)->text_size, text.size());
  // No token, no answer.
  EXPECT_EQ(heddle_answer_count(answers, 1), 0u);
  heddle_answers_free(answers);

  int32_t *ids = nullptr;
  size_t count = 0;
  ASSERT_EQ(
      heddle_encode(session, HEDDLE_SOURCE, "3 4", 3, nullptr, &ids, &count),
      HEDDLE_OK);
  EXPECT_EQ(Ids(ids, ids + count), (Ids{3, 4}));
  heddle_free(ids);
  char *decoded = nullptr;
  size_t size = 0;
  int32_t target[] = {7, 10};
  ASSERT_EQ(heddle_decode(session, target, 2, &decoded, &size), HEDDLE_OK);
  EXPECT_EQ(std::string(decoded, size), "7 10");
  heddle_free(decoded);
}

TEST_F(ApiTest, sentences_of_errors) {
  auto expectError = [&](heddle_status found, heddle_status status,
                         const std::string &sentence) {
    EXPECT_EQ(found, status);
    EXPECT_EQ(std::string(heddle_error()), sentence);
  };
  heddle_model *none = model;
  expectError(heddle_model_load((folder + "/absent").c_str(), 0, &none),
              HEDDLE_FAILED,
              "cannot open '" + folder + "/absent': No such file or directory");
  EXPECT_EQ(none, nullptr);
  expectError(heddle_settings_set(settings, "beams", "4"), HEDDLE_MISUSED,
              "unknown setting 'beams'");
  expectError(heddle_settings_set(settings, "beam", "0"), HEDDLE_MISUSED,
              "beam has the value '0', expected a number from 1 to 256");
  expectError(heddle_settings_set(settings, "sample", "yes"), HEDDLE_MISUSED,
              "sample has the value 'yes', expected true or false");
  ASSERT_EQ(heddle_settings_set(settings, "top-k", "3"), HEDDLE_OK);
  expectError(heddle_session_configure(session, settings), HEDDLE_MISUSED,
              "top-k needs sample");
  ASSERT_EQ(heddle_settings_set(settings, "top-k", nullptr), HEDDLE_OK);
  EXPECT_EQ(heddle_session_configure(session, settings), HEDDLE_OK);

  heddle_answers *answers = nullptr;
  std::vector<Ids> sources = {{1, 2}, {1, 9}};
  std::vector<heddle_input> inputs = inputsOf(sources);
  expectError(heddle_translate(session, inputs.data(), 2, &answers),
              HEDDLE_FAILED, "input 2 has the id 9 but the vocabulary has 9");
  EXPECT_EQ(answers, nullptr);
  inputs[1] = {};
  inputs[1].text = "hello";
  inputs[1].text_size = 5;
  expectError(heddle_translate(session, inputs.data(), 2, &answers),
              HEDDLE_FAILED,
              "input 2 is text, but '" + path + "' has no tokenizer");
  char *text = nullptr;
  expectError(heddle_session_profile(session, HEDDLE_PROFILE_JSON, &text),
              HEDDLE_MISUSED,
              "nothing was counted, expected the setting profile");
  expectError(heddle_model_load(path.c_str(), 9, &none), HEDDLE_MISUSED,
              "the flags of loading are 9, expected those of HEDDLE_VERIFY, "
              "HEDDLE_CPU and HEDDLE_CUDA");
  expectError(heddle_describe(path.c_str(), 0, -1, &text), HEDDLE_MISUSED,
              "the positions are -1, expected 0 or more");
  int32_t *ids = nullptr;
  size_t count = 0;
  expectError(heddle_encode(session, 7, "a", 1, nullptr, &ids, &count),
              HEDDLE_MISUSED,
              "the kind of text is 7, expected 0 to 3, or 16 to 19 for ids");
  heddle_source source = {};
  heddle_sink sink = {};
  expectError(heddle_translate_stream(session, &source, &sink), HEDDLE_MISUSED,
              "the source has no function to call");
  // Each thread has its own.
  std::thread([] { EXPECT_EQ(std::string(heddle_error()), ""); }).join();
}

TEST_F(ApiTest, an_encoder_of_any_name) {
  nlohmann::json manifest = toyManifest();
  manifest["entries"][0]["name"] = "reader";
  load(manifest);
  char *text = nullptr;
  ASSERT_EQ(heddle_describe(path.c_str(), 0, 0, &text), HEDDLE_OK);
  EXPECT_NE(std::string(text).find("reader (batch, source)"),
            std::string::npos);
  heddle_free(text);
  EXPECT_EQ(set("global", "0"), HEDDLE_FAILED);
  EXPECT_EQ(std::string(heddle_error()),
            "global is given, but '" + path + "' has no input 'global'");
  ASSERT_EQ(set("global", nullptr), HEDDLE_OK);
  size_t width = 0;
  ASSERT_EQ(heddle_hidden_width(model, &width), HEDDLE_OK) << heddle_error();
  EXPECT_EQ(width, 2u);
  Ids source = {5, 3, 1};
  heddle_input input = inputOf(source);
  auto take = [](void *context, size_t, size_t, size_t rows,
                 const float *values, size_t) {
    for (size_t i = 0; i < rows; ++i)
      static_cast<Ids *>(context)->push_back(int32_t(values[2 * i]));
    return 0;
  };
  Ids found;
  ASSERT_EQ(heddle_hidden_states(session, &input, 1, take, &found), HEDDLE_OK)
      << heddle_error();
  EXPECT_EQ(found, source);
  heddle_answers *answers = nullptr;
  ASSERT_EQ(heddle_translate(session, &input, 1, &answers), HEDDLE_OK);
  EXPECT_EQ(idsOf(*heddle_answer(answers, 0, 0)), expected(source));
  heddle_answers_free(answers);
  // The sentence about one without such an output names it.
  manifest["entries"][0]["arguments"][2]["dtype"] = "i32";
  for (nlohmann::json &entry : manifest["entries"])
    for (nlohmann::json &argument : entry["arguments"])
      if (argument["name"] == "memory")
        argument["dtype"] = "i32";
  load(manifest);
  EXPECT_EQ(heddle_hidden_width(model, &width), HEDDLE_FAILED);
  EXPECT_EQ(std::string(heddle_error()),
            "'" + path +
                "' has 0 outputs f32 [batch, source, width] in the "
                "entry 'reader', expected one");
}

TEST_F(ApiTest, entries_that_fail) {
  Ids source = {5, 3, 1};
  heddle_input input = inputOf(source);
  for (size_t entry : {0, 4, 5}) {
    nlohmann::json manifest = toyManifest();
    manifest["entries"][entry]["symbol"] = "failing";
    load(manifest);
    heddle_answers *answers = nullptr;
    EXPECT_EQ(heddle_translate(session, &input, 1, &answers), HEDDLE_FAILED);
    EXPECT_EQ(std::string(heddle_error()),
              "the compiled code ended with the status 7");
    EXPECT_EQ(answers, nullptr);
  }
}

TEST_F(ApiTest, progress_of_loading) {
  // A CPU uses weights where they are mapped.
  auto count = [](void *context, uint64_t, uint64_t) {
    ++*static_cast<int *>(context);
  };
  int calls = 0;
  heddle_model *loaded = nullptr;
  ASSERT_EQ(heddle_model_load_with_progress(path.c_str(), HEDDLE_CPU, count,
                                            &calls, &loaded),
            HEDDLE_OK)
      << heddle_error();
  EXPECT_EQ(heddle_model_source_vocabulary(loaded), kToySourceVocabulary);
  EXPECT_EQ(calls, 0);
  heddle_model_free(loaded);
  // What it refuses is what heddle_model_load does.
  EXPECT_EQ(
      heddle_model_load_with_progress(path.c_str(), 8, count, &calls, &loaded),
      HEDDLE_MISUSED);
  EXPECT_EQ(loaded, nullptr);
}

TEST_F(ApiTest, models_in_memory) {
  void *copy = nullptr;
  ASSERT_EQ(posix_memalign(&copy, 4096, bytes.size()), 0);
  std::copy(bytes.begin(), bytes.end(), static_cast<char *>(copy));
  heddle_model *loaded = nullptr;
  ASSERT_EQ(heddle_model_load_memory(copy, bytes.size(), "bytes", HEDDLE_VERIFY,
                                     &loaded),
            HEDDLE_OK)
      << heddle_error();
  heddle_session *own = nullptr;
  ASSERT_EQ(heddle_session_create(loaded, nullptr, &own), HEDDLE_OK);
  // The session goes on without its model's owner.
  heddle_model_free(loaded);
  Ids source = {5, 3};
  heddle_input input = inputOf(source);
  heddle_answers *answers = nullptr;
  ASSERT_EQ(heddle_translate(own, &input, 1, &answers), HEDDLE_OK);
  EXPECT_EQ(idsOf(*heddle_answer(answers, 0, 0)), expected(source));
  heddle_answers_free(answers);
  heddle_session_free(own);
  EXPECT_EQ(
      heddle_model_load_memory(copy, bytes.size() - 1, "bytes", 0, &loaded),
      HEDDLE_FAILED);
  EXPECT_EQ(std::string(heddle_error()).find("'bytes' has "), 0u);
  free(copy);
}

TEST_F(ApiTest, sessions_on_several_threads) {
  std::vector<Ids> sources = toySources(40);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      heddle_session *own = nullptr;
      ASSERT_EQ(heddle_session_create(model, settings, &own), HEDDLE_OK);
      for (const Ids &source : sources) {
        heddle_input input = inputOf(source);
        heddle_answers *answers = nullptr;
        ASSERT_EQ(heddle_translate(own, &input, 1, &answers), HEDDLE_OK);
        EXPECT_EQ(idsOf(*heddle_answer(answers, 0, 0)), expected(source));
        heddle_answers_free(answers);
      }
      heddle_session_free(own);
    });
  for (std::thread &thread : threads)
    thread.join();
}

namespace {
/// What a callback has heard of tokens.
struct Heard {
  std::vector<Ids> ids;
  std::vector<std::string> texts;
  std::vector<int> ends;

  explicit Heard(size_t inputs) : ids(inputs), texts(inputs), ends(inputs) {}
  static int hear(void *context, size_t input, int32_t id, const char *text,
                  size_t size, int isLast) {
    auto *self = static_cast<Heard *>(context);
    self->ids[input].push_back(id);
    self->texts[input].append(text, size);
    self->ends[input] += isLast;
    return 0;
  }
};
} // namespace

TEST_F(ApiTest, searches_that_tell_tokens) {
  auto tells = [&] { return heddle_session_tells_tokens(session); };
  EXPECT_EQ(tells(), 1);
  ASSERT_EQ(set("beam", "2"), HEDDLE_OK);
  EXPECT_EQ(tells(), 0);
  ASSERT_EQ(set("beam", "1"), HEDDLE_OK);
  ASSERT_EQ(set("alternatives", "3"), HEDDLE_OK);
  EXPECT_EQ(tells(), 0);
  EXPECT_EQ(heddle_session_tells_tokens(nullptr), 0);
  // It translates.
  EXPECT_EQ(heddle_model_continues_texts(model), 0);
  EXPECT_EQ(heddle_model_continues_texts(nullptr), 0);
}

TEST_F(ApiTest, tokens_as_they_come) {
  ASSERT_EQ(heddle_settings_set(settings, "ids", "true"), HEDDLE_OK);
  std::vector<Ids> sources = toySources(20);
  std::vector<heddle_input> inputs = inputsOf(sources);
  Ids begun = {4, 6};
  inputs[3].target_ids = begun.data();
  inputs[3].target_id_count = begun.size();
  for (const char *workers : {"1", "3"}) {
    ASSERT_EQ(set("workers", workers), HEDDLE_OK);
    Heard heard(sources.size());
    heddle_session_on_token(session, Heard::hear, &heard);
    heddle_answers *answers = nullptr;
    ASSERT_EQ(heddle_translate(session, inputs.data(), inputs.size(), &answers),
              HEDDLE_OK)
        << heddle_error();
    for (size_t i = 0; i < sources.size(); ++i) {
      const heddle_answer_text *answer = heddle_answer(answers, i, 0);
      Ids generated = idsOf(*answer);
      if (i == 3)
        generated.erase(generated.begin(), generated.begin() + 2);
      EXPECT_EQ(heard.ids[i], generated);
      EXPECT_EQ(heard.texts[i], answer->text);
      EXPECT_EQ(heard.ends[i], 1);
    }
    heddle_answers_free(answers);
  }
}

namespace {
/// Inputs one after the other, and what became of them.
struct Stream {
  const std::vector<Ids> &sources;
  size_t next = 0, failsAt = SIZE_MAX;
  std::vector<Ids> answers = {};
  int flushes = 0;
  std::vector<std::pair<size_t, std::string>> notices = {};

  heddle_source source() {
    heddle_source source = {};
    source.context = this;
    source.next = [](void *context, int mayWait, heddle_input *input) {
      auto *self = static_cast<Stream *>(context);
      if (self->next == self->failsAt)
        return HEDDLE_NEXT_FAILED;
      if (self->next == self->sources.size())
        return HEDDLE_NEXT_END;
      // Not more than seven at once.
      if (!mayWait && self->next % 7 == 0)
        return HEDDLE_NEXT_LATER;
      *input = inputOf(self->sources[self->next++]);
      return HEDDLE_NEXT_INPUT;
    };
    source.failure = [](void *, char *text, size_t size) {
      snprintf(text, size, "there is nothing more to read");
    };
    return source;
  }
  heddle_sink sink() {
    return {this,
            [](void *context, const heddle_answer_text *answers, size_t count) {
              static_cast<Stream *>(context)->answers.push_back(
                  count > 0 ? idsOf(*answers) : Ids());
              return 0;
            },
            [](void *context) {
              ++static_cast<Stream *>(context)->flushes;
              return 0;
            },
            [](void *context, size_t input, const char *sentence) {
              static_cast<Stream *>(context)->notices.emplace_back(input,
                                                                   sentence);
            }};
  }
};
} // namespace

TEST_F(ApiTest, streams) {
  std::vector<Ids> sources = toySources(500);
  for (const char *workers : {"1", "3"}) {
    ASSERT_EQ(set("workers", workers), HEDDLE_OK);
    Stream stream = {sources};
    heddle_source source = stream.source();
    heddle_sink sink = stream.sink();
    ASSERT_EQ(heddle_translate_stream(session, &source, &sink), HEDDLE_OK);
    ASSERT_EQ(stream.answers.size(), sources.size());
    for (size_t i = 0; i < sources.size(); ++i)
      EXPECT_EQ(stream.answers[i], expected(sources[i]));
    EXPECT_GE(stream.flushes, 2);

    Stream failing = {sources};
    failing.failsAt = 30;
    source = failing.source();
    sink = failing.sink();
    EXPECT_EQ(heddle_translate_stream(session, &source, &sink), HEDDLE_FAILED);
    EXPECT_EQ(std::string(heddle_error()), "there is nothing more to read");
    EXPECT_EQ(failing.answers.size(), 30u);
  }
}

// Inputs that fail have no answer and a notice, in batches and streams.
TEST_F(ApiTest, inputs_that_are_skipped) {
  EXPECT_EQ(std::string(heddle_session_on_error(session)), "stop");
  std::vector<Ids> sources = toySources(100), good = sources;
  for (size_t i = 3; i < sources.size(); i += 10)
    sources[i] = {1, 99};
  auto sentenceOf = [](size_t i) {
    return "input " + std::to_string(i + 1) +
           " has the id 99 but the vocabulary has 9";
  };
  std::vector<heddle_input> inputs = inputsOf(sources);
  heddle_answers *answers = nullptr;
  EXPECT_EQ(heddle_translate(session, inputs.data(), inputs.size(), &answers),
            HEDDLE_FAILED);
  EXPECT_EQ(std::string(heddle_error()), sentenceOf(3));
  for (const char *workers : {"1", "3"}) {
    ASSERT_EQ(set("workers", workers), HEDDLE_OK);
    ASSERT_EQ(set("on-error", "skip"), HEDDLE_OK);
    EXPECT_EQ(std::string(heddle_session_on_error(session)), "skip");
    ASSERT_EQ(heddle_translate(session, inputs.data(), inputs.size(), &answers),
              HEDDLE_OK)
        << heddle_error();
    for (size_t i = 0; i < sources.size(); ++i) {
      const char *notice = heddle_answer_notice(answers, i);
      if (i % 10 == 3) {
        EXPECT_EQ(heddle_answer_count(answers, i), 0u);
        EXPECT_EQ(std::string(notice ? notice : ""), sentenceOf(i));
      } else {
        EXPECT_EQ(idsOf(*heddle_answer(answers, i, 0)), expected(good[i]));
        EXPECT_EQ(notice, nullptr);
      }
    }
    EXPECT_EQ(heddle_answer_notice(answers, sources.size()), nullptr);
    heddle_answers_free(answers);

    Stream stream = {sources};
    heddle_source source = stream.source();
    heddle_sink sink = stream.sink();
    ASSERT_EQ(heddle_translate_stream(session, &source, &sink), HEDDLE_OK);
    ASSERT_EQ(stream.answers.size(), sources.size());
    ASSERT_EQ(stream.notices.size(), 10u);
    for (size_t i = 0; i < 10; ++i) {
      EXPECT_EQ(stream.notices[i].first, 10 * i + 3);
      EXPECT_EQ(stream.notices[i].second, sentenceOf(10 * i + 3));
      EXPECT_EQ(stream.answers[10 * i + 3], Ids());
      EXPECT_EQ(stream.answers[10 * i + 4], expected(good[10 * i + 4]));
    }
    // Whoever has no ear for them.
    sink.notice = nullptr;
    Stream deaf = {sources};
    source = deaf.source();
    EXPECT_EQ(heddle_translate_stream(session, &source, &sink), HEDDLE_OK);
  }

  // No rows, and why.
  struct Rows {
    std::map<size_t, size_t> counts;
    std::map<size_t, std::string> reasons;
  } rows;
  auto take = [](void *context, size_t input, size_t, size_t count,
                 const float *, size_t) {
    auto *rows = static_cast<Rows *>(context);
    rows->counts[input] = count;
    if (count == 0)
      rows->reasons[input] = heddle_error();
    return 0;
  };
  ASSERT_EQ(
      heddle_hidden_states(session, inputs.data(), inputs.size(), take, &rows),
      HEDDLE_OK)
      << heddle_error();
  EXPECT_EQ(rows.counts.size(), sources.size());
  for (size_t i = 0; i < sources.size(); ++i)
    EXPECT_EQ(rows.counts[i], i % 10 == 3 ? 0 : sources[i].size());
  EXPECT_EQ(rows.reasons[13], sentenceOf(13));
  EXPECT_EQ(set("on-error", "go"), HEDDLE_MISUSED);
  EXPECT_EQ(std::string(heddle_error()),
            "on-error has the value 'go', expected stop, skip or crop");
}

// A model may say that sources are cut; a setting says otherwise.
TEST_F(ApiTest, inputs_that_are_cut) {
  nlohmann::json manifest = toyManifest();
  manifest["tasks"]["generate"]["max_source_length"] = 3;
  manifest["tasks"]["generate"]["crop_source"] = 1;
  load(manifest);
  EXPECT_EQ(std::string(heddle_session_on_error(session)), "crop");
  // The toy's end, which its sources need not have, stays.
  std::vector<Ids> sources = {{5, 4}, {5, 4, 3, 2, 1}, {5, 4, 3, 2, 0}};
  std::vector<Ids> cut = {{5, 4}, {5, 4, 3}, {5, 4, 0}};
  std::vector<heddle_input> inputs = inputsOf(sources);
  heddle_answers *answers = nullptr;
  ASSERT_EQ(heddle_translate(session, inputs.data(), inputs.size(), &answers),
            HEDDLE_OK)
      << heddle_error();
  for (size_t i = 0; i < cut.size(); ++i)
    EXPECT_EQ(idsOf(*heddle_answer(answers, i, 0)), expected(cut[i]));
  EXPECT_EQ(heddle_answer_notice(answers, 0), nullptr);
  EXPECT_EQ(std::string(heddle_answer_notice(answers, 2)),
            "input 3 has 5 tokens and is cut to 3");
  heddle_answers_free(answers);
  // What is not too long and fails.
  sources[0] = {99};
  inputs = inputsOf(sources);
  EXPECT_EQ(heddle_translate(session, inputs.data(), inputs.size(), &answers),
            HEDDLE_FAILED);

  int32_t *ids = nullptr;
  size_t count = 0;
  unsigned kind = HEDDLE_SOURCE | HEDDLE_IDS;
  EXPECT_EQ(heddle_encode(session, kind, "5 4 3 2 0", 9, nullptr, &ids, &count),
            HEDDLE_FAILED);
  ASSERT_EQ(heddle_encode(session, kind | HEDDLE_CROP, "5 4 3 2 0", 9, nullptr,
                          &ids, &count),
            HEDDLE_OK);
  EXPECT_EQ(Ids(ids, ids + count), (Ids{5, 4, 0}));
  heddle_free(ids);
  ASSERT_EQ(set("on-error", "stop"), HEDDLE_OK);
  EXPECT_EQ(heddle_translate(session, inputs.data() + 1, 1, &answers),
            HEDDLE_FAILED);
}

TEST_F(ApiTest, targets_and_their_logits) {
  std::vector<Ids> sources = toySources(10), targets = toySources(11);
  targets.erase(targets.begin());
  std::vector<heddle_input> inputs = inputsOf(sources);
  for (size_t i = 0; i < inputs.size(); ++i) {
    inputs[i].target_ids = targets[i].data();
    inputs[i].target_id_count = targets[i].size();
  }
  heddle_answers *answers = nullptr;
  ASSERT_EQ(heddle_score(session, inputs.data(), inputs.size(), &answers),
            HEDDLE_OK)
      << heddle_error();
  struct Rows {
    const std::vector<Ids> &sources, &targets;
    size_t count = 0;
  } rows = {sources, targets};
  auto take = [](void *context, size_t input, size_t first, size_t count,
                 const float *values, size_t width) {
    auto *rows = static_cast<Rows *>(context);
    const Ids &target = rows->targets[input];
    EXPECT_EQ(width, size_t(kToyTargetVocabulary));
    for (size_t i = 0; i < count; ++i, ++rows->count)
      EXPECT_EQ(
          std::vector<float>(values + i * width, values + (i + 1) * width),
          toyLogits(rows->sources[input],
                    Ids(target.begin(), target.begin() + first + i)));
    return 0;
  };
  size_t tokens = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const heddle_answer_text *answer = heddle_answer(answers, i, 0);
    EXPECT_EQ(idsOf(*answer), targets[i]);
    double sum = 0;
    for (size_t j = 0; j < answer->id_count; ++j)
      sum += answer->log_probabilities[j];
    EXPECT_EQ(answer->sum, float(sum));
    tokens += targets[i].size();
  }
  heddle_answers_free(answers);
  for (const char *form : {"full", "step"}) {
    rows.count = 0;
    ASSERT_EQ(
        heddle_logits(session, inputs.data(), inputs.size(), form, take, &rows),
        HEDDLE_OK)
        << heddle_error();
    EXPECT_EQ(rows.count, tokens);
  }
  EXPECT_EQ(heddle_logits(session, inputs.data(), 1, "half", take, &rows),
            HEDDLE_MISUSED);
}

TEST_F(ApiTest, what_a_file_holds) {
  char *text = nullptr;
  ASSERT_EQ(heddle_describe(path.c_str(), HEDDLE_VERIFY, 0, &text), HEDDLE_OK);
  EXPECT_NE(std::string(text).find("toy (hash)"), std::string::npos);
  heddle_free(text);
  EXPECT_EQ(heddle_model_source_vocabulary(model), kToySourceVocabulary);
  EXPECT_EQ(heddle_model_target_vocabulary(model), kToyTargetVocabulary);
  EXPECT_FALSE(heddle_model_has_tokenizer(model));
}

TEST(ApiSettingsTest, all_settings_have_help_and_are_read) {
  size_t count = 0;
  const heddle_setting *settings = heddle_settings_list(&count);
  heddle_settings *set = nullptr;
  ASSERT_EQ(heddle_settings_create("--", &set), HEDDLE_OK);
  for (size_t i = 0; i < count; ++i) {
    SCOPED_TRACE(settings[i].name);
    EXPECT_NE(std::string(settings[i].help), "");
    EXPECT_NE(std::string(settings[i].group), "");
    // A model may call its prompts anything.
    if (settings[i].name == std::string("prompt"))
      continue;
    EXPECT_EQ(heddle_settings_set(set, settings[i].name, "~"), HEDDLE_MISUSED);
    EXPECT_EQ(std::string(heddle_error())
                  .find("--" + std::string(settings[i].name) +
                        " has the value '~', expected "),
              0u)
        << heddle_error();
    if (!settings[i].value)
      EXPECT_EQ(heddle_settings_set(set, settings[i].name, "false"), HEDDLE_OK);
  }
  EXPECT_EQ(heddle_settings_check(set), HEDDLE_OK) << heddle_error();
  heddle_settings_free(set);
}
