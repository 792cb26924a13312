//===- BatchPipeline.cpp - Lines through workers, in order ----------------===//
//
// A monitor: one mutex, one condition. Windows stay where they are while they
// are worked on, since a deque moves nothing when it grows or shrinks at an
// end.
//
//===----------------------------------------------------------------------===//

#include "runtime/lines/BatchPipeline.h"

#include "runtime/threads/Thread.h"

#include <algorithm>
#include <iterator>
#include <utility>

using namespace heddle;

/// What one worker encodes at a time: little enough that all have some of a
/// small window, and enough to be worth a lock.
static constexpr LineLimits kRange = {16, 8 << 10};

void BatchPipeline::OpenWindow::fail(size_t line, Status status) {
  if (line >= end && !failure.ok())
    return;
  end = line;
  failure = std::move(status);
}

/// All sentences, first those that lines begin with. From `end` on they are
/// without tokens.
Sentences BatchPipeline::OpenWindow::gather() {
  for (size_t line = end; line < answers.size(); ++line)
    sentences.sources[line].clear();
  for (auto &[line, sentence, answer] : further) {
    sentences.more.push_back(sentences.first + int64_t(line));
    sentences.sources.push_back(line < end ? std::move(sentence.source)
                                           : TokenIds());
    sentences.targets.emplace_back();
    sentences.features.types.push_back(std::move(sentence.types));
    sentences.features.promptTokens.push_back(0);
    sentences.features.places.push_back(std::move(sentence.places));
    sentences.features.others.emplace_back();
  }
  return std::move(sentences);
}

/// Puts the answers of a line's windows behind each other.
void BatchPipeline::OpenWindow::join() {
  for (FurtherWindow &window : further)
    answers[window.line].addWindow(std::move(window.answer));
  for (LineAnswer &answer : answers)
    if (answer.hasFailed)
      answer.answer = {};
  answers.resize(end);
}

namespace {
/// One batch after the other.
class OneByOne : public BatchPipeline::Runner {
public:
  explicit OneByOne(BatchPipeline::Worker worker) : worker(std::move(worker)) {}
  void begin(const Batch &batch, std::function<void(Answers)> done) override {
    done(worker(batch));
  }

private:
  BatchPipeline::Worker worker;
};
} // namespace

Status
BatchPipeline::run(int64_t workers, int64_t least,
                   const std::function<Worker(int64_t number)> &makeWorker) {
  auto makeRunner = [&](int64_t number) -> std::unique_ptr<Runner> {
    return std::make_unique<OneByOne>(makeWorker(number));
  };
  return run(workers, least,
             std::function<std::unique_ptr<Runner>(int64_t)>(makeRunner));
}

Status BatchPipeline::run(
    int64_t workers, int64_t least,
    const std::function<std::unique_ptr<Runner>(int64_t number)> &makeRunner) {
  std::vector<Thread> threads;
  {
    // Nobody takes anything before all workers are there.
    Lock lock(mutex);
    for (int64_t number = 1; number < workers; ++number) {
      Result<Thread> thread = Thread::start(
          [this, &makeRunner, number] { work(*makeRunner(number)); });
      if (thread.ok()) {
        threads.push_back(std::move(*thread));
        continue;
      }
      if (number < least)
        stop(lock, Status::error("cannot start worker ", number + 1, " of ",
                                 workers, ": ", thread.message()));
      break;
    }
  }
  work(*makeRunner(0));
  threads.clear(); // Waits for each.
  return failure;
}

/// What a worker does all its life.
void BatchPipeline::work(Runner &runner) {
  for (;;) {
    std::optional<Task> task;
    if (!runner.isBusy() || runner.hasRoom())
      task = take(/*mayWait=*/!runner.isBusy());
    if (task && !task->batch) {
      while (runner.isBusy() && waits(*task))
        runner.advance();
      encode(*task);
    } else if (task) {
      auto own = std::make_shared<Task>(std::move(*task));
      runner.begin(*own->batch, [this, own](Answers answers) {
        put(*own, std::move(answers));
      });
    } else if (!runner.isBusy() || isStopped()) {
      return;
    } else {
      runner.advance();
    }
  }
}

bool BatchPipeline::isStopped() {
  Lock lock(mutex);
  return stopped;
}

bool BatchPipeline::mayRead() const {
  return !opening && !inputEnded && unwritten.lines < limits.ahead.lines &&
         unwritten.bytes < limits.ahead.bytes;
}

/// Whether no task waits and none will.
bool BatchPipeline::isOver() const {
  return inputEnded && waiting.empty() && !opening;
}

/// The next task; none if nothing is left, or, unless it may wait for input or
/// for others, if there is none now.
std::optional<BatchPipeline::Task> BatchPipeline::take(bool mayWait) {
  Lock lock(mutex);
  for (;;) {
    if (!mayWait && waiting.empty())
      return std::nullopt;
    mayTake.wait(lock, [&] {
      return stopped || isOver() || !waiting.empty() || mayRead();
    });
    if (stopped || isOver())
      return std::nullopt;
    if (!waiting.empty()) {
      Task task = std::move(waiting.front());
      waiting.pop_front();
      return task;
    }
    read(lock);
  }
}

/// Opens the next window.
void BatchPipeline::read(Lock &lock) {
  opening = true;
  lock.unlock();
  Lines lines = stages.read(limits.window);
  lock.lock();
  if (stopped) // By a failure, in the meantime.
    return;
  inputEnded = lines.last;
  size_t count = lines.lines.size();
  LineLimits size = {int64_t(count), 0};
  for (const Line &line : lines.lines)
    size.bytes += line.bytes();
  Sentences sentences{linesRead, std::vector<TokenIds>(count),
                      std::vector<TokenIds>(count)};
  sentences.features.types.resize(count);
  sentences.features.promptTokens.resize(count);
  sentences.features.places.resize(count);
  sentences.features.others.resize(count);
  windows.push_back({std::move(lines.lines), std::move(sentences),
                     std::vector<LineAnswer>(count), /*further=*/{}, size,
                     /*open=*/0,
                     /*isDivided=*/false, count, std::move(lines.failure)});
  linesRead += size.lines;
  unwritten.lines += size.lines;
  unwritten.bytes += size.bytes;
  OpenWindow &window = windows.back();
  for (size_t begin = 0, end = 0; begin < count; begin = end) {
    int64_t bytes = 0;
    for (; end < count && int64_t(end - begin) < kRange.lines &&
           bytes < kRange.bytes;
         ++end)
      bytes += window.lines[end].bytes();
    waiting.push_back({&window, begin, end});
    ++window.open;
  }
  mayTake.notify_all();
  if (window.open == 0)
    divide(lock, window);
}

bool BatchPipeline::waits(const Task &task) const {
  const Line *lines = task.window->lines.data();
  return stages.waits &&
         std::any_of(lines + task.begin, lines + task.end, stages.waits);
}

void BatchPipeline::encode(const Task &task) {
  OpenWindow &window = *task.window;
  Sentences &sentences = window.sentences;
  size_t line = task.begin;
  std::vector<FurtherWindow> further;
  Status status = Status::success();
  for (; line < task.end; ++line) {
    Result<Sentence> sentence =
        stages.encode(sentences.first + int64_t(line), window.lines[line]);
    window.lines[line] = {};
    if (!sentence.ok()) {
      status = sentence.status();
      break;
    }
    sentences.sources[line] = std::move(sentence->source);
    sentences.targets[line] = std::move(sentence->target);
    sentences.features.types[line] = std::move(sentence->types);
    sentences.features.promptTokens[line] = sentence->promptTokens;
    sentences.features.places[line] = std::move(sentence->places);
    sentences.features.others[line] = std::move(sentence->others);
    window.answers[line].notice = std::move(sentence->notice);
    window.answers[line].hasFailed = sentence->hasFailed;
    window.answers[line].kept = std::move(sentence->kept);
    for (Sentence &more : sentence->windows)
      further.push_back({line, std::move(more)});
  }
  Lock lock(mutex);
  std::move(further.begin(), further.end(), std::back_inserter(window.further));
  if (!status.ok())
    window.fail(line, std::move(status));
  if (--window.open == 0)
    divide(lock, window);
}

/// Makes batches of a window whose lines are ids; if one of them failed,
/// nothing behind it counts.
void BatchPipeline::divide(Lock &lock, OpenWindow &window) {
  bool isFull = window.size.lines >= limits.window.lines ||
                window.size.bytes >= limits.window.bytes;
  lock.unlock();
  std::vector<Batch> batches = stages.divide(window.gather(), isFull);
  lock.lock();
  opening = false;
  inputEnded |= !window.failure.ok();
  window.isDivided = true;
  window.open = batches.size();
  for (Batch &batch : batches)
    waiting.push_back({&window, 0, 0, std::move(batch)});
  mayTake.notify_all();
  if (window.open == 0)
    writeFinished(lock);
}

void BatchPipeline::put(const Task &task, Answers answers) {
  Lock lock(mutex);
  OpenWindow &window = *task.window;
  const std::vector<int64_t> &lines = task.batch->lines;
  auto placeOf = [&](int64_t line) {
    return size_t(line - window.sentences.first);
  };
  for (size_t i = 0; i < answers.all.size(); ++i) {
    size_t number = task.batch->numbers[i], count = window.answers.size();
    (number < count ? window.answers[number].answer
                    : window.further[number - count].answer) =
        std::move(answers.all[i]);
  }
  for (const auto &[place, status] : answers.skipped) {
    LineAnswer &skipped = window.answers[placeOf(lines[place])];
    skipped.notice = status.message();
    skipped.hasFailed = true;
  }
  if (!answers.failure.ok()) {
    int64_t first = answers.failed
                        ? lines[*answers.failed]
                        : *std::min_element(lines.begin(), lines.end());
    window.fail(placeOf(first), std::move(answers.failure));
  }
  if (--window.open == 0)
    writeFinished(lock);
}

/// Writes the windows that are complete, up to the first that is not.
void BatchPipeline::writeFinished(Lock &lock) {
  if (writing) // By another worker, who will come to it.
    return;
  writing = true;
  while (!stopped && !windows.empty() && windows.front().isComplete()) {
    OpenWindow &window = windows.front();
    lock.unlock();
    window.join();
    Status status = stages.write(std::move(window.answers));
    lock.lock();
    if (status.ok())
      status = std::move(window.failure);
    unwritten.lines -= window.size.lines;
    unwritten.bytes -= window.size.bytes;
    windows.pop_front();
    if (!status.ok())
      stop(lock, std::move(status));
    mayTake.notify_all();
  }
  writing = false;
}

/// Ends the run. Who is interrupted may wait for a worker that waits for the
/// mutex.
void BatchPipeline::stop(Lock &lock, Status status) {
  failure = std::move(status);
  stopped = true;
  mayTake.notify_all();
  lock.unlock();
  stages.interrupt();
  lock.lock();
}
