//===- TextEngineTests.cpp - Texts for an encoder, as they come -----------===//
//
// Requests to tasks of the toy come from several threads while one runs the
// engine: their answers are those of a session of their own. Runs under
// ThreadSanitizer too.
//
//===----------------------------------------------------------------------===//

#include "test/runtime/ToyTokenizer.h"
#include "test/runtime/api/ApiTest.h"

#include <atomic>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

using namespace heddle::test;
using nlohmann::json;

namespace {

/// What is compared of labels.
using Found = std::vector<std::tuple<std::string, size_t, float, size_t>>;

Found foundIn(const heddle_label *labels, size_t count) {
  Found found;
  for (size_t i = 0; i < count; ++i)
    found.emplace_back(std::string(labels[i].text, labels[i].text_size),
                       labels[i].token, labels[i].score, labels[i].last_byte);
  return found;
}

/// A request and what became of it.
struct Request {
  heddle_input input = {};
  heddle_settings *settings = nullptr;
  /// Cancelled at once.
  bool isUnwanted = false;
  std::vector<float> vector;
  Found labels;
  std::string failure;
  std::atomic<int> ends = 0;

  static void finishVector(void *context, uint64_t, const float *values,
                           size_t width, const char *failure) {
    auto &self = *static_cast<Request *>(context);
    EXPECT_EQ(values == nullptr, failure != nullptr);
    self.vector.assign(values, values + width);
    self.failure = failure ? failure : "";
    ++self.ends;
  }
  static void finishLabels(void *context, uint64_t, const heddle_label *labels,
                           size_t count, const char *failure) {
    auto &self = *static_cast<Request *>(context);
    EXPECT_EQ(labels == nullptr, failure != nullptr);
    self.labels = foundIn(labels, count);
    self.failure = failure ? failure : "";
    ++self.ends;
  }
};

heddle_request asked(Request &request, bool isVector) {
  return {&request.input,
          request.settings,
          &request,
          /*token=*/nullptr,
          /*finished=*/nullptr,
          isVector ? Request::finishVector : nullptr,
          isVector ? nullptr : Request::finishLabels};
}

class TextEngineTest : public ApiTest {
protected:
  void TearDown() override {
    heddle_engine_free(engine);
    for (heddle_settings *each : kinds)
      heddle_settings_free(each);
    ApiTest::TearDown();
  }
  /// An encoder with a tokenizer: the characters "abcd" are tokens 4 to 7.
  void loadTexts(json manifest) {
    manifest = withoutGeneration(std::move(manifest));
    manifest["tokenizer"] = {{"kind", "characters"}, {"special", {1, 2}}};
    load(manifest, {{"tokenizer", buildToyTokenizer("____abcd", "____abcd", 3,
                                                    4, {{1}, {2}})}});
  }
  /// The toy with one of the tasks that label.
  void loadLabels(const std::string &task) {
    json manifest = withLabels(toyManifest());
    for (const char *each : {"classify", "tag", "fill"})
      if (each != task)
        manifest["tasks"].erase(each);
    json entries = json::array();
    for (const json &entry : manifest["entries"])
      if (entry["role"] == task ||
          (entry["role"] != "classify" && entry["role"] != "tag" &&
           entry["role"] != "fill"))
        entries.push_back(entry);
    manifest["entries"] = entries;
    loadTexts(manifest);
  }
  void open(heddle_engine_limits limits) {
    heddle_engine_free(engine);
    engine = nullptr;
    ASSERT_EQ(heddle_engine_create(model, &limits, &engine), HEDDLE_OK)
        << heddle_error();
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

  void runRequests(std::vector<Request> &requests, bool isVector);
  void expectAsAlone(bool isVector);
  std::pair<std::vector<float>, Found> alone(const Request &request,
                                             bool isVector);
  void expectRefused(const heddle_request &request, heddle_status status,
                     const std::string &sentence) {
    uint64_t number = 7;
    EXPECT_EQ(heddle_engine_submit(engine, &request, &number), status);
    EXPECT_EQ(std::string(heddle_error()), sentence);
    EXPECT_EQ(number, 0u);
  }

  heddle_engine *engine = nullptr;
  std::vector<heddle_settings *> kinds;
};

/// Three threads submit, each every third one, and one cancels; this one runs
/// the engine.
void TextEngineTest::runRequests(std::vector<Request> &requests,
                                 bool isVector) {
  std::atomic<size_t> submitted = 0;
  auto submit = [&](size_t first) {
    for (size_t i = first; i < requests.size(); i += 3) {
      heddle_request request = asked(requests[i], isVector);
      uint64_t number = 0;
      ASSERT_EQ(heddle_engine_submit(engine, &request, &number), HEDDLE_OK)
          << heddle_error();
      if (requests[i].isUnwanted)
        heddle_engine_cancel(engine, number);
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
  }
  for (std::thread &thread : threads)
    thread.join();
}

std::pair<std::vector<float>, Found>
TextEngineTest::alone(const Request &request, bool isVector) {
  heddle_session *own = nullptr;
  EXPECT_EQ(heddle_session_create(model, request.settings, &own), HEDDLE_OK);
  std::pair<std::vector<float>, Found> result;
  if (isVector) {
    float *values = nullptr;
    size_t width = 0;
    EXPECT_EQ(heddle_embed(own, &request.input, 1, &values, &width), HEDDLE_OK)
        << heddle_error();
    result.first.assign(values, values + width);
    heddle_free(values);
  } else {
    heddle_labels *labels = nullptr;
    auto label = heddle_model_has_task(model, "classify") ? heddle_classify
                 : heddle_model_has_task(model, "tag")    ? heddle_tag
                                                          : heddle_fill;
    EXPECT_EQ(label(own, &request.input, 1, &labels), HEDDLE_OK)
        << heddle_error();
    size_t count = 0;
    const heddle_label *found = heddle_labels_of(labels, 0, &count);
    result.second = foundIn(found, count);
    heddle_labels_free(labels);
  }
  heddle_session_free(own);
  return result;
}

/// Texts of many lengths, of which some are read in windows.
void TextEngineTest::expectAsAlone(bool isVector) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < 90; ++i) {
    std::string &text = texts.emplace_back();
    for (size_t k = 0; k <= i * 7 % 23; ++k)
      text += "abcd"[(i + k * k) % 4];
  }
  std::vector<Request> requests(texts.size());
  for (size_t i = 0; i < requests.size(); ++i) {
    requests[i].input.text = texts[i].data();
    requests[i].input.text_size = texts[i].size();
    requests[i].settings = kinds[i % kinds.size()];
    requests[i].isUnwanted = i % 10 == 9;
  }
  heddle_engine_limits limits = {};
  limits.slots = 4;
  limits.threads = 2;
  open(limits);
  runRequests(requests, isVector);
  heddle_engine_counts counts;
  heddle_engine_count(engine, &counts);
  EXPECT_EQ(counts.submitted, requests.size());
  EXPECT_EQ(counts.finished, requests.size());
  EXPECT_EQ(counts.running, 0u);
  EXPECT_GE(4 * counts.steps, requests.size() * 9 / 10);
  for (const Request &request : requests) {
    EXPECT_EQ(request.ends, 1);
    // One may be done before somebody cancels it.
    if (request.isUnwanted && !request.failure.empty()) {
      EXPECT_EQ(request.failure, "the request was cancelled");
      continue;
    }
    EXPECT_EQ(request.failure, "");
    auto [vector, labels] = alone(request, isVector);
    EXPECT_EQ(request.vector, vector);
    EXPECT_EQ(request.labels, labels);
  }
}

} // namespace

TEST_F(TextEngineTest, vectors_of_texts_from_several_threads) {
  loadTexts(withEmbedding(toyManifest()));
  addKind({});
  addKind({"dimensions", "2"});
  addKind({"normalize", "true", "max-source", "9"});
  expectAsAlone(/*isVector=*/true);
}

TEST_F(TextEngineTest, labels_of_texts_from_several_threads) {
  for (const char *task : {"classify", "tag", "fill"}) {
    loadLabels(task);
    addKind({});
    addKind({"top", "2"});
    expectAsAlone(/*isVector=*/false);
  }
}

// Spans of windows that overlap are put together, whatever ran between them.
TEST_F(TextEngineTest, texts_in_windows) {
  loadLabels("tag");
  addKind({"aggregate", "simple", "max-source", "8", "stride", "2"});
  addKind({"aggregate", "first"});
  expectAsAlone(/*isVector=*/false);
}

TEST_F(TextEngineTest, requests_that_can_never_run) {
  loadTexts(withEmbedding(toyManifest()));
  heddle_engine_limits limits = {};
  limits.tokens = 4;
  open(limits);
  Request request;
  request.input = {};
  request.input.text = "abc";
  request.input.text_size = 3;
  heddle_request wanted = asked(request, /*isVector=*/true);
  expectRefused(wanted, HEDDLE_FAILED,
                "the input has 5 tokens, but a slot has room for 4");
  request.input.pair = "b";
  request.input.pair_size = 1;
  expectRefused(wanted, HEDDLE_FAILED,
                "the input is a pair of texts, expected one text");
  request.input.pair = nullptr;
  request.input.pair_size = 0;
  addKind({"dimensions", "1000"});
  wanted.settings = kinds.front();
  EXPECT_EQ(heddle_engine_submit(engine, &wanted, nullptr), HEDDLE_FAILED);
  wanted.settings = nullptr;
  wanted.labels = Request::finishLabels;
  expectRefused(wanted, HEDDLE_MISUSED,
                "the request has 2 callbacks for its answer, expected one: "
                "'vector'");
  wanted.vector = nullptr;
  EXPECT_EQ(heddle_engine_submit(engine, &wanted, nullptr), HEDDLE_MISUSED);
  EXPECT_EQ(std::string(heddle_error())
                .find("the request has the callback "
                      "'labels', but '"),
            0u);
  wanted.labels = nullptr;
  expectRefused(wanted, HEDDLE_MISUSED,
                "the request has 0 callbacks for its answer, expected one: "
                "'vector'");
  EXPECT_EQ(request.ends, 0);
}

// Within a limit of memory fewer texts run together.
TEST_F(TextEngineTest, memory_for_few_texts) {
  loadTexts(withEmbedding(toyManifest()));
  addKind({});
  std::string text(20, 'a');
  std::vector<Request> requests(60);
  for (Request &request : requests) {
    request.input.text = text.data();
    request.input.text_size = text.size();
  }
  heddle_engine_limits limits = {};
  limits.slots = 1000;
  limits.memory = 1;
  open(limits);
  runRequests(requests, /*isVector=*/true);
  for (const Request &request : requests)
    EXPECT_EQ(request.vector, alone(request, /*isVector=*/true).first);
}
