//===- EngineTests.cpp - Requests from several threads --------------------===//
//
// Requests to the toy, of each form of its decoder, come from several threads
// while one runs the engine: their answers are those of a session of their own.
// Runs under ThreadSanitizer too.
//
//===----------------------------------------------------------------------===//

#include "test/runtime/api/ApiTest.h"

#include <atomic>
#include <thread>

using namespace heddle::test;

namespace {

/// A request and what became of it.
struct Request {
  Ids source;
  heddle_settings *settings = nullptr;
  /// Cancelled at once.
  bool isUnwanted = false;
  uint64_t number = 0;
  std::vector<Ids> answers;
  std::string failure;
  std::atomic<int> ends = 0;

  static void finish(void *context, uint64_t number,
                     const heddle_answer_text *answers, size_t count,
                     const char *failure) {
    auto &self = *static_cast<Request *>(context);
    for (size_t i = 0; i < count; ++i)
      self.answers.push_back(idsOf(answers[i]));
    self.failure = failure ? failure : "";
    ++self.ends;
  }
};

class EngineTest : public ApiTest {
protected:
  void TearDown() override {
    for (heddle_settings *each : kinds)
      heddle_settings_free(each);
    ApiTest::TearDown();
  }
  /// Settings of requests, name and value by turns.
  void addKind(const std::vector<const char *> &words) {
    heddle_settings *kind = nullptr;
    ASSERT_EQ(heddle_settings_create("", &kind), HEDDLE_OK);
    for (size_t i = 0; i < words.size(); i += 2)
      ASSERT_EQ(heddle_settings_set(kind, words[i], words[i + 1]), HEDDLE_OK)
          << heddle_error();
    kinds.push_back(kind);
  }
  std::vector<Ids> alone(const Request &request) {
    heddle_session *own = nullptr;
    EXPECT_EQ(heddle_session_create(model, request.settings, &own), HEDDLE_OK);
    heddle_input input = inputOf(request.source);
    heddle_answers *answers = nullptr;
    EXPECT_EQ(heddle_translate(own, &input, 1, &answers), HEDDLE_OK)
        << heddle_error();
    std::vector<Ids> ids;
    for (size_t i = 0; i < heddle_answer_count(answers, 0); ++i)
      ids.push_back(idsOf(*heddle_answer(answers, 0, i)));
    heddle_answers_free(answers);
    heddle_session_free(own);
    return ids;
  }
  void runRequests(heddle_engine *engine, std::vector<Request> &requests);
  void expectAsAlone();

  std::vector<heddle_settings *> kinds;
};

/// Three threads submit, each every third one, and one cancels; this one runs
/// the engine.
void EngineTest::runRequests(heddle_engine *engine,
                             std::vector<Request> &requests) {
  std::atomic<size_t> submitted = 0;
  auto submit = [&](size_t first) {
    for (size_t i = first; i < requests.size(); i += 3) {
      Request &request = requests[i];
      heddle_input input = inputOf(request.source);
      heddle_request asked = {&input,  request.settings, &request,
                              nullptr, Request::finish,  nullptr,
                              nullptr};
      ASSERT_EQ(heddle_engine_submit(engine, &asked, &request.number),
                HEDDLE_OK)
          << heddle_error();
      if (request.isUnwanted)
        heddle_engine_cancel(engine, request.number);
      ++submitted;
    }
  };
  std::vector<std::thread> threads;
  for (size_t first = 0; first < 3; ++first)
    threads.emplace_back(submit, first);
  int isLeft = 1;
  for (bool hasAll = false; isLeft || !hasAll;) {
    hasAll = submitted == requests.size();
    ASSERT_EQ(heddle_engine_step(engine, &isLeft), HEDDLE_OK) << heddle_error();
    heddle_engine_counts counts;
    heddle_engine_count(engine, &counts);
    EXPECT_LE(counts.running, 4u);
  }
  for (std::thread &thread : threads)
    thread.join();
}

void EngineTest::expectAsAlone() {
  std::vector<Request> requests(90);
  std::vector<Ids> sources = toySources(90);
  for (size_t i = 0; i < requests.size(); ++i) {
    requests[i].source = sources[i];
    requests[i].settings = kinds[i % kinds.size()];
    requests[i].isUnwanted = i % 10 == 9;
  }
  heddle_engine_limits limits = {};
  limits.slots = 4;
  limits.beams = 3;
  limits.threads = 2;
  heddle_engine *engine = nullptr;
  ASSERT_EQ(heddle_engine_create(model, &limits, &engine), HEDDLE_OK)
      << heddle_error();
  runRequests(engine, requests);
  heddle_engine_counts counts;
  heddle_engine_count(engine, &counts);
  heddle_engine_free(engine);
  EXPECT_EQ(counts.submitted, requests.size());
  EXPECT_EQ(counts.finished, requests.size());
  EXPECT_EQ(counts.running, 0u);
  for (const Request &request : requests) {
    EXPECT_EQ(request.ends, 1);
    // One may be done before somebody cancels it.
    if (request.isUnwanted && !request.failure.empty()) {
      EXPECT_EQ(request.failure, "the request was cancelled");
      continue;
    }
    EXPECT_EQ(request.failure, "");
    EXPECT_EQ(request.answers, alone(request));
  }
}

} // namespace

TEST_F(EngineTest, requests_from_several_threads) {
  addKind({});
  addKind({"no-shortlist", "true"});
  addKind({"beam", "3", "n-best", "2"});
  addKind({"sample", "true", "seed", "7", "n-best", "3"});
  expectAsAlone();
}

TEST_F(EngineTest, forms_that_tell_less_than_all_logits) {
  load(withGreedyStep(toyManifest()));
  addKind({"no-shortlist", "true"});
  expectAsAlone();
  load(withBestStep(toyManifest()));
  addKind({"no-shortlist", "true", "beam", "2"});
  addKind({"no-shortlist", "true", "sample", "true", "seed", "2"});
  addKind({"no-shortlist", "true", "no-repeat-ngram", "2", "scores", "true"});
  expectAsAlone();
}

TEST_F(EngineTest, settings_that_are_of_files) {
  heddle_engine *engine = nullptr;
  ASSERT_EQ(heddle_engine_create(model, nullptr, &engine), HEDDLE_OK);
  addKind({"split", "true"});
  Request request;
  request.source = toySources(1).front();
  heddle_input input = inputOf(request.source);
  heddle_request asked = {&input,          kinds.front(), &request, nullptr,
                          Request::finish, nullptr,       nullptr};
  EXPECT_EQ(heddle_engine_submit(engine, &asked, nullptr), HEDDLE_FAILED);
  EXPECT_EQ(std::string(heddle_error()),
            "a request to an engine takes no setting 'split'");
  EXPECT_EQ(request.ends, 0);
  heddle_engine_free(engine);
}

// A request whose step fails ends all that are under way: what comes later has
// its own answers.
TEST_F(EngineTest, requests_behind_a_failure) {
  nlohmann::json manifest = toyManifest();
  for (nlohmann::json &entry : manifest["entries"])
    if (entry["role"] == "step" && entry["name"] != "shortlist.step")
      entry["symbol"] = "failing", entry["arena_symbol"] = "failing_arena";
  load(manifest);
  addKind({"no-shortlist", "true"});
  addKind({});
  std::vector<Request> requests(6);
  std::vector<Ids> sources = toySources(6);
  heddle_engine *engine = nullptr;
  ASSERT_EQ(heddle_engine_create(model, nullptr, &engine), HEDDLE_OK);
  for (size_t i = 0; i < requests.size(); ++i) {
    requests[i].source = sources[i];
    requests[i].settings = kinds[i == 3 ? 0 : 1];
    heddle_input input = inputOf(sources[i]);
    heddle_request asked = {&input,  requests[i].settings, &requests[i],
                            nullptr, Request::finish,      nullptr,
                            nullptr};
    ASSERT_EQ(heddle_engine_submit(engine, &asked, nullptr), HEDDLE_OK)
        << heddle_error();
    int isLeft = 0;
    EXPECT_EQ(heddle_engine_step(engine, &isLeft),
              i == 3 ? HEDDLE_FAILED : HEDDLE_OK);
  }
  EXPECT_EQ(heddle_engine_run(engine), HEDDLE_OK) << heddle_error();
  heddle_engine_free(engine);
  EXPECT_EQ(requests[3].failure, "the compiled code ended with the status 7");
  for (size_t i : {4, 5})
    EXPECT_EQ(requests[i].answers, alone(requests[i]));
}

TEST_F(EngineTest, models_without_a_task) {
  load(withoutGeneration(toyManifest()));
  heddle_engine *engine = nullptr;
  EXPECT_EQ(heddle_engine_create(model, nullptr, &engine), HEDDLE_FAILED);
  EXPECT_EQ(std::string(heddle_error()),
            "'" + path + "' does not generate texts");
}
