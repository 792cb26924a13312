//===- TextEngine.cpp - An encoder for requests as they come --------------===//
//
// A step is a batch. What comes while one runs waits for the next.
//
//===----------------------------------------------------------------------===//

#include "runtime/lines/TextEngine.h"

#include "runtime/session/MemoryPlan.h"

#include <algorithm>
#include <utility>

using namespace heddle;

/// Tokens of a batch, with padding where the code of a model has that.
static constexpr int64_t kBatchTokens = 4096;

static void add(Sentence &sentence, Batch &batch) {
  SourceFeatures &features = batch.features;
  batch.lines.push_back(int64_t(batch.sources.size()));
  batch.sources.push_back(sentence.source);
  batch.targets.emplace_back();
  features.types.push_back(sentence.types);
  features.promptTokens.push_back(sentence.promptTokens);
  features.places.push_back(sentence.places);
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

Status TextEngine::check(OpenRequest &request) {
  for (size_t i = 0; i < request.left; ++i) {
    Sentence &window = request.window(i);
    auto size = int64_t(window.source.size());
    if (size == 0)
      return Status::error("the input has no token");
    if (size > limits.tokens.value_or(size))
      return Status::error("the input has ", size,
                           " tokens, but a slot has room for ", *limits.tokens);
    if (!limits.memory)
      continue;
    Batch alone;
    add(window, alone);
    std::lock_guard<std::mutex> lock(planning);
    Result<int64_t> bytes = planner.bytesFor(
        alone.sources, taskRequest(request.request.job->task), alone.features);
    if (!bytes.ok())
      return bytes.status();
    if (*bytes > *limits.memory)
      return Status::error("the input needs ", toMebibytes(*bytes),
                           " MiB of memory, but the engine may take ",
                           *limits.memory >> 20);
  }
  return Status::success();
}

Result<uint64_t>
TextEngine::submit(TextRequest request,
                   const std::function<void(uint64_t number)> &numbered) {
  auto open = std::make_shared<OpenRequest>();
  open->request = std::move(request);
  open->left = 1 + open->request.sentence.windows.size();
  open->answers.resize(open->left);
  if (Status status = check(*open); !status.ok())
    return status;
  std::lock_guard<std::mutex> lock(mutex);
  open->number = ++lastNumber;
  if (numbered)
    numbered(open->number);
  unfinished[open->number] = open;
  for (size_t i = 0; i < open->left; ++i)
    waiting.push_back({open, i});
  ++counts.submitted;
  return open->number;
}

void TextEngine::cancel(uint64_t number) {
  std::lock_guard<std::mutex> lock(mutex);
  if (auto found = unfinished.find(number); found != unfinished.end())
    found->second->isCancelled = true;
}

EngineStatistics TextEngine::statistics() const {
  std::lock_guard<std::mutex> lock(mutex);
  return counts;
}

void TextEngine::end(OpenRequest &request, Result<LineAnswer> answer) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (unfinished.erase(request.number) == 0)
      return;
    ++counts.finished;
  }
  if (request.request.finished)
    request.request.finished(std::move(answer));
}

void TextEngine::endAll(const Status &status) {
  std::unordered_map<uint64_t, std::shared_ptr<OpenRequest>> all;
  {
    std::lock_guard<std::mutex> lock(mutex);
    waiting.clear();
    all = unfinished;
  }
  for (const auto &[number, request] : all)
    end(*request, status);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

void TextEngine::endCancelled() {
  std::vector<std::shared_ptr<OpenRequest>> ended;
  {
    std::lock_guard<std::mutex> lock(mutex);
    for (const auto &[number, request] : unfinished)
      if (request->isCancelled)
        ended.push_back(request);
    auto isOver = [](const Window &window) { return window.of->isCancelled; };
    waiting.erase(std::remove_if(waiting.begin(), waiting.end(), isOver),
                  waiting.end());
  }
  for (const std::shared_ptr<OpenRequest> &request : ended)
    end(*request, cancellation());
}

/// The first windows that wait, of one task.
std::vector<TextEngine::Window> TextEngine::takeBatch() {
  std::vector<Window> taken;
  std::lock_guard<std::mutex> lock(mutex);
  size_t longest = 0;
  while (!waiting.empty() && int64_t(taken.size()) < limits.slots) {
    Window &next = waiting.front();
    size_t length =
        std::max(longest, next.of->window(next.number).source.size());
    bool isOther = !taken.empty() && next.of->request.job->task !=
                                         taken.front().of->request.job->task;
    bool isFull =
        !taken.empty() && int64_t((taken.size() + 1) * length) > kBatchTokens;
    if (isOther || isFull)
      break;
    longest = length;
    taken.push_back(std::move(next));
    waiting.pop_front();
  }
  counts.running = int64_t(taken.size());
  return taken;
}

/// A batch of windows; those that find no memory wait again.
Result<Batch> TextEngine::fit(std::vector<Window> &windows) {
  while (true) {
    Batch batch;
    for (const Window &window : windows)
      add(window.of->window(window.number), batch);
    if (!limits.memory || windows.size() == 1)
      return batch;
    Result<int64_t> bytes = session.bytesFor(
        batch.sources, taskRequest(windows.front().of->request.job->task),
        batch.features);
    if (!bytes.ok())
      return bytes.status();
    if (*bytes <= *limits.memory)
      return batch;
    std::lock_guard<std::mutex> lock(mutex);
    for (size_t kept = (windows.size() + 1) / 2; windows.size() > kept;
         windows.pop_back())
      waiting.push_front(std::move(windows.back()));
    counts.running = int64_t(windows.size());
  }
}

Result<bool> TextEngine::step() {
  if (options.cancelled && *options.cancelled) {
    Status status = Status::error("the engine was cancelled");
    endAll(status);
    return status;
  }
  endCancelled();
  std::vector<Window> windows = takeBatch();
  if (!windows.empty()) {
    Result<Batch> batch = fit(windows);
    Status status = batch.status();
    if (status.ok())
      status = runTask(
          model, windows.front().of->request.job->task, session, batch->sources,
          batch->features, [&](size_t text, const float *rows) {
            auto &[of, number] = windows[text];
            of->answers[number] = of->request.job->read(*batch, text, rows);
          });
    {
      std::lock_guard<std::mutex> lock(mutex);
      counts.running = 0;
    }
    if (!status.ok()) {
      endAll(status);
      return status;
    }
    {
      std::lock_guard<std::mutex> lock(mutex);
      ++counts.steps;
      for (const TokenIds &source : batch->sources)
        counts.stepRows += int64_t(source.size());
    }
    for (const auto &[of, number] : windows) {
      if (--of->left > 0)
        continue;
      LineAnswer line(std::move(of->answers.front()));
      for (size_t i = 1; i < of->answers.size(); ++i)
        line.addWindow(std::move(of->answers[i]));
      line.notice = of->request.sentence.notice;
      line.kept = of->request.sentence.kept;
      end(*of, std::move(line));
    }
  }
  std::lock_guard<std::mutex> lock(mutex);
  return !unfinished.empty();
}
