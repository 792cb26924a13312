//===- ApiArgumentTests.cpp - What nobody may pass to heddle.h ------------===//
//
// NULL where something has to be, sizes of nothing and of more than there is,
// values that no argument has: a sentence each, nothing given out, and the
// session as it was. Arrays without elements may be anywhere.
//
//===----------------------------------------------------------------------===//

#include "ApiTest.h"

#include <climits>
#include <functional>

using namespace heddle::test;

namespace {
class ApiArgumentTest : public ApiTest {
protected:
  /// Expects that a call is misused, with this sentence.
  static void expectMisuse(heddle_status status, const std::string &sentence) {
    EXPECT_EQ(status, HEDDLE_MISUSED) << sentence;
    EXPECT_EQ(std::string(heddle_error()), sentence);
  }
  /// Expects the ids of a source that is given out of nothing else.
  void expectStillTranslates() {
    Ids source = {5, 3};
    heddle_input input = inputOf(source);
    heddle_answers *answers = nullptr;
    ASSERT_EQ(heddle_translate(session, &input, 1, &answers), HEDDLE_OK)
        << heddle_error();
    EXPECT_EQ(idsOf(*heddle_answer(answers, 0, 0)), expected(source));
    heddle_answers_free(answers);
  }

  static int takeRows(void *, size_t, size_t, size_t, const float *, size_t) {
    return 0;
  }
};

/// What is not NULL before a call, and is behind it.
template <typename T> T *garbage() { return reinterpret_cast<T *>(64); }
} // namespace

TEST_F(ApiArgumentTest, null_where_something_has_to_be) {
  heddle_model *loaded = garbage<heddle_model>();
  expectMisuse(heddle_model_load(nullptr, 0, &loaded), "'path' is NULL");
  EXPECT_EQ(loaded, nullptr);
  expectMisuse(heddle_model_load(path.c_str(), 0, nullptr), "'model' is NULL");
  loaded = garbage<heddle_model>();
  expectMisuse(heddle_model_load_with_progress(path.c_str(), 0, nullptr,
                                               nullptr, &loaded),
               "'callback' is NULL");
  EXPECT_EQ(loaded, nullptr);
  loaded = garbage<heddle_model>();
  expectMisuse(heddle_model_load_memory(nullptr, 100, "name", 0, &loaded),
               "'bytes' is NULL");
  EXPECT_EQ(loaded, nullptr);
  expectMisuse(heddle_model_load_memory("", 0, nullptr, 0, &loaded),
               "'name' is NULL");
  char *text = garbage<char>();
  expectMisuse(heddle_describe(nullptr, 0, 0, &text), "'path' is NULL");
  EXPECT_EQ(text, nullptr);
  expectMisuse(heddle_describe(path.c_str(), 0, 0, nullptr), "'text' is NULL");
  size_t size = 7;
  expectMisuse(heddle_hidden_width(nullptr, &size), "'model' is NULL");
  EXPECT_EQ(size, 0u);
  expectMisuse(heddle_hidden_width(model, nullptr), "'width' is NULL");

  expectMisuse(heddle_settings_create("", nullptr), "'settings' is NULL");
  expectMisuse(heddle_settings_set(nullptr, "beam", "2"), "'settings' is NULL");
  expectMisuse(heddle_settings_set(settings, nullptr, "2"), "'name' is NULL");
  for (auto add : {heddle_settings_add_bad_words, heddle_settings_add_allowed,
                   heddle_settings_add_stop})
    expectMisuse(add(nullptr, "", 0), "'settings' is NULL");
  expectMisuse(heddle_settings_add_stop(settings, "", 0),
               "the stop string is empty, expected a text");
  expectMisuse(heddle_settings_add_stop(settings, "\xc3", 1),
               "the stop string is no UTF-8");
  expectMisuse(heddle_settings_check(nullptr), "'settings' is NULL");
  heddle_session *created = garbage<heddle_session>();
  expectMisuse(heddle_session_create(nullptr, settings, &created),
               "'model' is NULL");
  EXPECT_EQ(created, nullptr);
  expectMisuse(heddle_session_create(model, settings, nullptr),
               "'session' is NULL");
  expectMisuse(heddle_session_configure(nullptr, settings),
               "'session' is NULL");
  expectMisuse(heddle_session_on_token(nullptr, nullptr, nullptr),
               "'session' is NULL");
  text = garbage<char>();
  expectMisuse(heddle_session_profile(nullptr, HEDDLE_PROFILE_JSON, &text),
               "'session' is NULL");
  EXPECT_EQ(text, nullptr);
  expectMisuse(heddle_session_profile(session, HEDDLE_PROFILE_JSON, nullptr),
               "'text' is NULL");

  int32_t *ids = garbage<int32_t>();
  expectMisuse(heddle_encode(nullptr, 0, "1", 1, nullptr, &ids, &size),
               "'session' is NULL");
  EXPECT_EQ(ids, nullptr);
  expectMisuse(heddle_encode(session, 0, "1", 1, nullptr, nullptr, &size),
               "'ids' is NULL");
  expectMisuse(heddle_encode(session, 0, "1", 1, nullptr, &ids, nullptr),
               "'count' is NULL");
  text = garbage<char>();
  expectMisuse(heddle_decode(nullptr, nullptr, 0, &text, &size),
               "'session' is NULL");
  EXPECT_EQ(text, nullptr);
  expectMisuse(heddle_decode(session, nullptr, 0, nullptr, &size),
               "'text' is NULL");

  heddle_input input = {};
  heddle_answers *answers = garbage<heddle_answers>();
  for (auto call : {heddle_translate, heddle_score}) {
    answers = garbage<heddle_answers>();
    expectMisuse(call(nullptr, &input, 1, &answers), "'session' is NULL");
    EXPECT_EQ(answers, nullptr);
    expectMisuse(call(session, &input, 1, nullptr), "'answers' is NULL");
  }
  heddle_source source = {};
  heddle_sink sink = {};
  for (auto call : {heddle_translate_stream, heddle_score_stream}) {
    expectMisuse(call(nullptr, &source, &sink), "'session' is NULL");
    expectMisuse(call(session, nullptr, &sink), "'source' is NULL");
    expectMisuse(call(session, &source, nullptr), "'sink' is NULL");
  }
  expectMisuse(heddle_logits(nullptr, &input, 1, "full", takeRows, nullptr),
               "'session' is NULL");
  expectMisuse(heddle_logits(session, &input, 1, nullptr, takeRows, nullptr),
               "'form' is NULL");
  expectMisuse(heddle_logits(session, &input, 1, "full", nullptr, nullptr),
               "'take' is NULL");
  expectMisuse(heddle_hidden_states(nullptr, &input, 1, takeRows, nullptr),
               "'session' is NULL");
  expectMisuse(heddle_hidden_states(session, &input, 1, nullptr, nullptr),
               "'take' is NULL");
  expectStillTranslates();
}

TEST_F(ApiArgumentTest, null_where_an_engine_has_to_be) {
  heddle_engine *engine = garbage<heddle_engine>();
  expectMisuse(heddle_engine_create(nullptr, nullptr, &engine),
               "'model' is NULL");
  EXPECT_EQ(engine, nullptr);
  expectMisuse(heddle_engine_create(model, nullptr, nullptr),
               "'engine' is NULL");
  heddle_engine_limits limits = {};
  limits.beams = size_t(1) << 40;
  expectMisuse(heddle_engine_create(model, &limits, &engine),
               "the limit 'beams' is 1099511627776, expected at most 256");
  ASSERT_EQ(heddle_engine_create(model, nullptr, &engine), HEDDLE_OK);
  expectMisuse(heddle_engine_submit(engine, nullptr, nullptr),
               "'request' is NULL");
  heddle_engine_free(engine);
  heddle_request request = {};
  uint64_t number = 7;
  expectMisuse(heddle_engine_submit(nullptr, &request, &number),
               "'engine' is NULL");
  EXPECT_EQ(number, 0u);
  int isLeft = 7;
  expectMisuse(heddle_engine_step(nullptr, &isLeft), "'engine' is NULL");
  EXPECT_EQ(isLeft, 0);
  expectMisuse(heddle_engine_run(nullptr), "'engine' is NULL");
  expectMisuse(heddle_engine_cancel(nullptr, 1), "'engine' is NULL");
  heddle_engine_counts counts;
  expectMisuse(heddle_engine_count(nullptr, &counts), "'engine' is NULL");
  heddle_engine_free(nullptr);
}

TEST_F(ApiArgumentTest, null_without_a_status) {
  EXPECT_EQ(heddle_model_has_tokenizer(nullptr), 0);
  EXPECT_EQ(heddle_model_tokenizer_problem(nullptr), nullptr);
  EXPECT_EQ(heddle_model_source_vocabulary(nullptr), 0);
  EXPECT_EQ(heddle_model_target_vocabulary(nullptr), 0);
  EXPECT_EQ(heddle_session_uses_gpu(nullptr), 0);
  EXPECT_EQ(heddle_session_gpu_failure(nullptr), nullptr);
  EXPECT_EQ(heddle_answer_count(nullptr, 0), 0u);
  EXPECT_EQ(heddle_answer(nullptr, 0, 0), nullptr);
  EXPECT_EQ(heddle_answer_notice(nullptr, 0), nullptr);
  EXPECT_EQ(heddle_session_on_error(nullptr), nullptr);
  EXPECT_NE(heddle_settings_list(nullptr), nullptr);
  heddle_cancel(nullptr);
  heddle_free(nullptr);
  heddle_answers_free(nullptr);
  heddle_model_free(nullptr);
  heddle_session_free(nullptr);
  heddle_settings_free(nullptr);
}

TEST_F(ApiArgumentTest, a_session_that_is_in_a_call) {
  static const char *const kInACall =
      "the session is in a call, expected one call at a time";
  Ids source = {5, 3};
  heddle_input input = inputOf(source);
  struct Calls {
    heddle_session *session;
    const heddle_input *input;
    int count = 0;
  } calls{session, &input};
  auto callBack = [](void *context, size_t, int32_t, const char *, size_t,
                     int) {
    auto &[session, input, count] = *static_cast<Calls *>(context);
    heddle_answers *answers = garbage<heddle_answers>();
    expectMisuse(heddle_translate(session, input, 1, &answers), kInACall);
    EXPECT_EQ(answers, nullptr);
    expectMisuse(heddle_score(session, input, 1, &answers), kInACall);
    expectMisuse(heddle_hidden_states(session, input, 1, takeRows, nullptr),
                 kInACall);
    expectMisuse(heddle_logits(session, input, 1, "full", takeRows, nullptr),
                 kInACall);
    expectMisuse(heddle_session_configure(session, nullptr), kInACall);
    expectMisuse(heddle_session_on_token(session, nullptr, nullptr), kInACall);
    char *text = nullptr;
    expectMisuse(heddle_session_profile(session, HEDDLE_PROFILE_TABLE, &text),
                 kInACall);
    ++count;
    return 0;
  };
  ASSERT_EQ(heddle_session_on_token(session, callBack, &calls), HEDDLE_OK);
  expectStillTranslates();
  EXPECT_GT(calls.count, 0);
  ASSERT_EQ(heddle_session_on_token(session, nullptr, nullptr), HEDDLE_OK);
  expectStillTranslates();
}

TEST_F(ApiArgumentTest, sizes_that_no_array_has) {
  const std::string most = std::to_string((size_t(1) << 47) / 4);
  int32_t *ids = garbage<int32_t>();
  size_t count = 7;
  expectMisuse(
      heddle_encode(session, HEDDLE_SOURCE, nullptr, 5, "x", &ids, &count),
      "'text' is NULL but 'size' is 5");
  EXPECT_EQ(ids, nullptr);
  EXPECT_EQ(count, 0u);
  expectMisuse(
      heddle_encode(session, HEDDLE_SOURCE, "1", SIZE_MAX, "x", &ids, &count),
      "'size' is 18446744073709551615, expected at most 140737488355328");
  char *text = garbage<char>();
  int32_t id = 3;
  expectMisuse(heddle_decode(session, nullptr, 2, &text, &count),
               "'ids' is NULL but 'count' is 2");
  EXPECT_EQ(text, nullptr);
  expectMisuse(heddle_decode(session, &id, SIZE_MAX, &text, &count),
               "'count' is 18446744073709551615, expected at most " + most);
  for (auto add :
       {heddle_settings_add_bad_words, heddle_settings_add_allowed}) {
    expectMisuse(add(settings, nullptr, 1), "'text' is NULL but 'size' is 1");
    expectMisuse(
        add(settings, "a", SIZE_MAX),
        "'size' is 18446744073709551615, expected at most 140737488355328");
  }
  heddle_model *loaded = nullptr;
  expectMisuse(
      heddle_model_load_memory(bytes.data(), SIZE_MAX, "x", 0, &loaded),
      "'size' is 18446744073709551615, expected at most 140737488355328");

  ASSERT_EQ(set("ids", "true"), HEDDLE_OK);
  // An input by itself, and what is said of its target.
  struct Case {
    std::function<void(heddle_input &)> change;
    std::string sentence;
  } cases[] = {
      {[](heddle_input &input) { input.text_size = 5; },
       "'text' is NULL but 'text_size' is 5"},
      {[](heddle_input &input) {
         input.text = "a";
         input.text_size = SIZE_MAX;
       },
       "'text_size' is 18446744073709551615, expected at most "
       "140737488355328"},
      {[](heddle_input &input) { input.id_count = 1; },
       "'ids' is NULL but 'id_count' is 1"},
      {[&](heddle_input &input) {
         input.ids = &id;
         input.id_count = SIZE_MAX / 4;
       },
       "'id_count' is 4611686018427387903, expected at most " + most},
      {[](heddle_input &input) { input.target_size = 5; },
       "'target' is NULL but 'target_size' is 5"},
      {[](heddle_input &input) { input.target_id_count = SIZE_MAX; },
       "'target_ids' is NULL but 'target_id_count' is 18446744073709551615"}};
  for (const Case &each : cases) {
    heddle_input inputs[2] = {};
    each.change(inputs[1]);
    std::string sentence = "input 2: " + each.sentence;
    for (auto call : {heddle_translate, heddle_score}) {
      heddle_answers *answers = garbage<heddle_answers>();
      expectMisuse(call(session, inputs, 2, &answers), sentence);
      EXPECT_EQ(answers, nullptr);
    }
    expectMisuse(heddle_logits(session, inputs, 2, "full", takeRows, nullptr),
                 sentence);
    expectMisuse(heddle_hidden_states(session, inputs, 2, takeRows, nullptr),
                 sentence);
    // A source is asked no more; what came before it is answered.
    struct Streamed {
      const heddle_input *inputs;
      int asked = 0, answered = 0;
    } streamed = {inputs};
    heddle_source source = {};
    source.context = &streamed;
    source.count = SIZE_MAX;
    source.next = [](void *context, int, heddle_input *input) {
      auto *self = static_cast<Streamed *>(context);
      *input = self->inputs[self->asked++];
      return HEDDLE_NEXT_INPUT;
    };
    heddle_sink sink = {&streamed,
                        [](void *context, const heddle_answer_text *, size_t) {
                          ++static_cast<Streamed *>(context)->answered;
                          return 0;
                        },
                        nullptr, nullptr};
    EXPECT_EQ(heddle_translate_stream(session, &source, &sink), HEDDLE_FAILED);
    EXPECT_EQ(std::string(heddle_error()), sentence);
    EXPECT_EQ(streamed.asked, 2);
    EXPECT_EQ(streamed.answered, 1);
  }
  heddle_answers *answers = nullptr;
  for (auto call : {heddle_translate, heddle_score}) {
    expectMisuse(call(session, nullptr, 3, &answers),
                 "'inputs' is NULL but 'count' is 3");
    heddle_input input = {};
    expectMisuse(call(session, &input, SIZE_MAX, &answers),
                 "'count' is 18446744073709551615, expected at most " +
                     std::to_string((size_t(1) << 47) / sizeof input));
  }
  expectStillTranslates();
}

TEST_F(ApiArgumentTest, arrays_without_elements) {
  ASSERT_EQ(set("ids", "true"), HEDDLE_OK);
  for (const char *text : {"", static_cast<const char *>(nullptr)}) {
    int32_t *ids = nullptr;
    size_t count = 7;
    ASSERT_EQ(heddle_encode(session, HEDDLE_SOURCE, text, 0, "x", &ids, &count),
              HEDDLE_OK);
    EXPECT_NE(ids, nullptr);
    EXPECT_EQ(count, 0u);
    heddle_free(ids);
    EXPECT_EQ(heddle_settings_add_bad_words(settings, text, 0), HEDDLE_OK);
  }
  EXPECT_EQ(heddle_session_configure(session, settings), HEDDLE_OK);
  int32_t id = 3;
  for (const int32_t *ids : {static_cast<const int32_t *>(nullptr),
                             static_cast<const int32_t *>(&id)}) {
    char *text = nullptr;
    ASSERT_EQ(heddle_decode(session, ids, 0, &text, nullptr), HEDDLE_OK);
    EXPECT_EQ(std::string(text), "");
    heddle_free(text);
    heddle_input input = {};
    input.ids = input.target_ids = ids;
    heddle_answers *answers = nullptr;
    ASSERT_EQ(heddle_translate(session, &input, 1, &answers), HEDDLE_OK);
    EXPECT_EQ(heddle_answer_count(answers, 0), 0u);
    heddle_answers_free(answers);
  }
  expectStillTranslates();
}

TEST_F(ApiArgumentTest, values_that_no_argument_has) {
  int32_t *ids = nullptr;
  size_t count = 0;
  for (unsigned kind : {4u, 15u, 20u, 31u, 36u, 64u, UINT_MAX}) {
    expectMisuse(heddle_encode(session, kind, "a", 1, nullptr, &ids, &count),
                 "the kind of text is " + std::to_string(kind) +
                     ", expected 0 to 3, or 16 to 19 for ids");
    EXPECT_EQ(ids, nullptr);
  }
  heddle_model *loaded = nullptr;
  for (unsigned flags : {8u, 9u, UINT_MAX})
    expectMisuse(heddle_model_load(path.c_str(), flags, &loaded),
                 "the flags of loading are " + std::to_string(flags) +
                     ", expected those of HEDDLE_VERIFY, HEDDLE_CPU and "
                     "HEDDLE_CUDA");
  expectMisuse(
      heddle_model_load(path.c_str(), HEDDLE_CPU | HEDDLE_CUDA, &loaded),
      "the flags of loading name two devices");
  ASSERT_EQ(set("profile", "true"), HEDDLE_OK);
  char *text = nullptr;
  for (int form : {2, -1, INT_MAX})
    expectMisuse(
        heddle_session_profile(session, heddle_profile_form(form), &text),
        "the form of the profile is " + std::to_string(form) +
            ", expected 0 or 1");
  heddle_input input = {};
  for (const char *form : {"", "none", "FULL", "full ", "best"}) {
    EXPECT_EQ(heddle_logits(session, &input, 1, form, takeRows, nullptr),
              HEDDLE_MISUSED);
    EXPECT_EQ(std::string(heddle_error())
                  .find("form has the value '" + std::string(form) + "'"),
              0u)
        << heddle_error();
  }
  expectStillTranslates();
}

TEST_F(ApiArgumentTest, a_source_that_returns_nonsense) {
  static Ids only = {5, 3};
  struct Streamed {
    int nonsense, asked = 0, answered = 0;
  };
  for (const char *workers : {"1", "3"})
    for (int nonsense : {5, 17, -1, INT_MAX, INT_MIN}) {
      ASSERT_EQ(set("workers", workers), HEDDLE_OK);
      Streamed streamed = {nonsense};
      heddle_source source = {};
      source.context = &streamed;
      source.next = [](void *context, int, heddle_input *input) {
        auto *self = static_cast<Streamed *>(context);
        if (self->asked++ >= 2)
          return heddle_next(self->nonsense);
        *input = inputOf(only);
        return HEDDLE_NEXT_INPUT;
      };
      heddle_sink sink = {
          &streamed,
          [](void *context, const heddle_answer_text *, size_t) {
            ++static_cast<Streamed *>(context)->answered;
            return 0;
          },
          nullptr, nullptr};
      EXPECT_EQ(heddle_translate_stream(session, &source, &sink),
                HEDDLE_FAILED);
      EXPECT_EQ(std::string(heddle_error()), "'next' of the source returned " +
                                                 std::to_string(nonsense) +
                                                 ", expected 0 to 4");
      EXPECT_EQ(streamed.asked, 3);
      EXPECT_EQ(streamed.answered, 2);
    }
}
