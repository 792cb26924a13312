//===- engine-requests.cpp - Requests together and alone ------------------===//
//
//   engine-requests MODEL REQUESTS SLOTS[:TOKENS[:MIB]] BEAMS THREADS
//                   [gpu|memory]
//
// Each line of REQUESTS is a request to a model that generates: the step at
// which it arrives, settings (name=value with commas between) or "-", ids and,
// if there are some, ids that the answer begins with, with tabs between. A
// setting cancel=N ends a request when it hears of its token N. Runs all of
// them in an engine, and each by itself in a session: ids and log-probabilities
// have to be the same, bit for bit, and streams those of the answer. Prints
// what the engine has counted and, with `memory`, the KiB that the process had
// more at most, between steps. Exit code 0, or 1 and one sentence.
//
//===----------------------------------------------------------------------===//

#include "runtime/heddle.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace {
struct Answer {
  std::vector<int32_t> ids;
  std::vector<float> logProbabilities;
  float sum = 0, score = 0;
};

struct Request {
  long arrival = 0;
  std::string settings, ids, target;
  long cancelAt = -1;
  bool isTold = false;
  /// Of the engine.
  uint64_t number = 0;
  std::vector<int32_t> stream;
  std::vector<Answer> answers;
  std::string failure;
  bool hasFinished = false;
};
} // namespace

[[noreturn]] static void fail(const std::string &sentence) {
  fprintf(stderr, "engine-requests: %s\n", sentence.c_str());
  exit(1);
}
static void check(heddle_status status) {
  if (status != HEDDLE_OK)
    fail(heddle_error());
}

static std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);)
    parts.push_back(part);
  return parts;
}

static std::vector<Request> readRequests(const char *path) {
  std::vector<Request> requests;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> parts = split(line, '\t');
    if (parts.size() != 3 && parts.size() != 4)
      fail("expected a step, settings and ids, found '" + line + "'");
    parts.resize(4);
    Request &request = requests.emplace_back();
    request.arrival = std::strtol(parts[0].c_str(), nullptr, 10);
    request.settings = parts[1];
    request.ids = parts[2];
    request.target = parts[3];
  }
  return requests;
}

/// The settings of a request, which it frees; reads what is its own.
static heddle_settings *settingsOf(Request &request) {
  heddle_settings *settings = nullptr;
  check(heddle_settings_create("", &settings));
  check(heddle_settings_set(settings, "ids", "true"));
  if (request.settings.find("n-best") == std::string::npos)
    check(heddle_settings_set(settings, "scores", "true"));
  check(heddle_settings_set(settings, "token-scores", "true"));
  request.isTold = true;
  for (const std::string &word : split(request.settings, ',')) {
    if (word == "-")
      continue;
    std::string name = word.substr(0, word.find('='));
    std::string value = word.substr(name.size() + 1);
    if (name == "cancel") {
      request.cancelAt = std::strtol(value.c_str(), nullptr, 10);
      continue;
    }
    check(heddle_settings_set(settings, name.c_str(), value.c_str()));
    request.isTold &= (name != "beam" || value == "1") && name != "n-best";
  }
  return settings;
}

static std::vector<Answer> answersOf(const heddle_answer_text *texts,
                                     size_t count) {
  std::vector<Answer> answers;
  for (size_t i = 0; i < count; ++i) {
    const heddle_answer_text &text = texts[i];
    Answer &answer = answers.emplace_back();
    answer.ids.assign(text.ids, text.ids + text.id_count);
    if (text.log_probabilities)
      answer.logProbabilities.assign(text.log_probabilities,
                                     text.log_probabilities + text.id_count);
    answer.sum = text.sum;
    answer.score = text.score;
  }
  return answers;
}

static bool isSame(const Answer &a, const Answer &b) {
  auto isEqual = [](float x, float y) { return !memcmp(&x, &y, sizeof x); };
  if (a.ids != b.ids || a.logProbabilities.size() != b.logProbabilities.size())
    return false;
  for (size_t i = 0; i < a.logProbabilities.size(); ++i)
    if (!isEqual(a.logProbabilities[i], b.logProbabilities[i]))
      return false;
  return isEqual(a.sum, b.sum) && isEqual(a.score, b.score);
}

static std::string describe(const Answer &answer) {
  std::string text;
  for (int32_t id : answer.ids)
    text += std::to_string(id) + " ";
  char sum[32];
  snprintf(sum, sizeof sum, "%.9g", double(answer.sum));
  for (float each : answer.logProbabilities) {
    char one[32];
    snprintf(one, sizeof one, "%.9g ", double(each));
    text += one;
  }
  return "ids " + text + "with the sum " + sum;
}

static heddle_input inputOf(const Request &request) {
  heddle_input input = {};
  input.text = request.ids.data();
  input.text_size = request.ids.size();
  if (!request.target.empty()) {
    input.target = request.target.data();
    input.target_size = request.target.size();
  }
  return input;
}

static std::vector<Answer> answerAlone(const heddle_model *model,
                                       Request &request) {
  heddle_settings *settings = settingsOf(request);
  heddle_session *session = nullptr;
  check(heddle_session_create(model, settings, &session));
  heddle_input input = inputOf(request);
  heddle_answers *answers = nullptr;
  check(heddle_translate(session, &input, 1, &answers));
  std::vector<Answer> result;
  for (size_t i = 0; i < heddle_answer_count(answers, 0); ++i)
    for (const Answer &answer : answersOf(heddle_answer(answers, 0, i), 1))
      result.push_back(answer);
  heddle_answers_free(answers);
  heddle_session_free(session);
  heddle_settings_free(settings);
  return result;
}

static int hear(void *context, size_t, int32_t id, const char *, size_t,
                int isLast) {
  Request &request = *static_cast<Request *>(context);
  if (id >= 0)
    request.stream.push_back(id);
  return !isLast && request.cancelAt == long(request.stream.size());
}

static void finish(void *context, uint64_t number,
                   const heddle_answer_text *texts, size_t count,
                   const char *failure) {
  Request &request = *static_cast<Request *>(context);
  if (request.hasFinished || request.number != number)
    fail("a request has finished twice, or as another one");
  request.hasFinished = true;
  request.answers = answersOf(texts, count);
  request.failure = failure ? failure : "";
}

static void submit(heddle_engine *engine, Request &request) {
  heddle_settings *settings = settingsOf(request);
  heddle_input input = inputOf(request);
  heddle_request asked = {
      &input, settings, &request, request.isTold ? hear : nullptr,
      finish, nullptr,  nullptr};
  if (heddle_engine_submit(engine, &asked, &request.number) != HEDDLE_OK) {
    request.failure = heddle_error();
    request.hasFinished = true;
  }
  heddle_settings_free(settings);
}

/// KiB of this process in memory of its own and in files of memory, of which
/// RSS counts a page with each mapping.
static long residentMemory() {
  long all = 0;
  std::ifstream file("/proc/self/smaps_rollup");
  for (std::string line; std::getline(file, line);)
    for (const char *name : {"Pss_Anon:", "Pss_Shmem:"})
      if (line.rfind(name, 0) == 0)
        all += std::strtol(line.c_str() + strlen(name), nullptr, 10);
  return all;
}

int main(int argc, char **argv) {
  bool isOnGpu = argc == 7 && argv[6] == std::string("gpu");
  bool isMeasured = argc == 7 && argv[6] == std::string("memory");
  if (argc != 6 && !isOnGpu && !isMeasured)
    fail("expected MODEL REQUESTS SLOTS[:TOKENS[:MIB]] BEAMS THREADS, or gpu "
         "or memory behind them");
  heddle_model *model = nullptr;
  check(heddle_model_load(argv[1], isOnGpu ? HEDDLE_CUDA : HEDDLE_CPU, &model));
  std::vector<Request> requests = readRequests(argv[2]);
  auto number = [&](int at) { return std::strtoul(argv[at], nullptr, 10); };
  std::vector<std::string> sizes = split(argv[3], ':');
  sizes.resize(3, "0");
  heddle_engine_limits limits = {std::stoul(sizes[0]), number(4),
                                 std::stoul(sizes[1]), number(5),
                                 std::stoul(sizes[2])};
  heddle_engine *engine = nullptr;
  long before = residentMemory(), most = 0;
  check(heddle_engine_create(model, &limits, &engine));
  size_t next = 0;
  int isLeft = 1;
  for (long step = 0; isLeft || next < requests.size(); ++step) {
    while (next < requests.size() && requests[next].arrival <= step)
      submit(engine, requests[next++]);
    check(heddle_engine_step(engine, &isLeft));
    if (isMeasured)
      most = std::max(most, residentMemory() - before);
  }
  heddle_engine_counts counts;
  check(heddle_engine_count(engine, &counts));
  heddle_engine_free(engine);

  size_t answered = 0, cancelled = 0, refused = 0;
  for (size_t i = 0; i < requests.size(); ++i) {
    Request &request = requests[i];
    std::string name = "request " + std::to_string(i + 1) + " ";
    if (!request.hasFinished)
      fail(name + "has not finished");
    if (request.failure == "the request was cancelled") {
      if (long(request.stream.size()) != request.cancelAt)
        fail(name + "was cancelled at another token");
      ++cancelled;
      continue;
    }
    if (!request.failure.empty()) {
      printf("%s%s\n", name.c_str(), request.failure.c_str());
      ++refused;
      continue;
    }
    std::vector<Answer> alone = answerAlone(model, request);
    if (alone.size() != request.answers.size())
      fail(name + "has another number of answers alone");
    for (size_t k = 0; k < alone.size(); ++k)
      if (!isSame(alone[k], request.answers[k]))
        fail(name + "has " + describe(request.answers[k]) + ", alone " +
             describe(alone[k]));
    std::vector<int32_t> generated = request.answers.front().ids;
    generated.erase(generated.begin(),
                    generated.begin() +
                        long(split(request.target, ' ').size()));
    if (request.isTold && request.stream != generated)
      fail(name + "was told other tokens than its answer's");
    ++answered;
  }
  if (counts.submitted != counts.finished || counts.running != 0)
    fail("the engine has lost a request");
  printf("%zu answered, %zu cancelled, %zu refused, %.2f rows a step", answered,
         cancelled, refused,
         double(counts.step_tokens) /
             double(std::max<uint64_t>(counts.steps, 1)));
  if (counts.guesses > 0)
    printf(", %llu of %llu guesses right",
           static_cast<unsigned long long>(counts.right_guesses),
           static_cast<unsigned long long>(counts.guesses));
  if (counts.shared_tokens > 0)
    printf(", %llu tokens shared",
           static_cast<unsigned long long>(counts.shared_tokens));
  if (isMeasured)
    printf(", %ld KiB", most);
  printf("\n");
  heddle_model_free(model);
  return 0;
}
