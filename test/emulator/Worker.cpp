//===- Worker.cpp - One host thread that runs blocks ----------------------===//

#include "Worker.h"
#include "Waitable.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <map>

using namespace heddle::emulator;

/// Frames of the host's code are larger than those of the GPU's: what does not
/// fit into registers is here, too.
static constexpr size_t kStackBytes = 256 << 10;

std::string heddle::emulator::format(const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  return text;
}

static std::string describeTriple(const uint32_t (&triple)[3]) {
  return format("(%u, %u, %u)", triple[0], triple[1], triple[2]);
}

std::string heddle::emulator::describeThread(const Context &context) {
  return "thread " + describeTriple(context.thread);
}

void heddle::emulator::fail(Context &context, FailureCode code,
                            std::string sentence) {
  context.worker->fail(context, code, std::move(sentence));
}

void Worker::fail(const Context &context, FailureCode code,
                  std::string sentence) {
  failure = {code, "kernel '" + grid->kernel.info.name + "', block " +
                       describeTriple(context.block) + ", " +
                       describeThread(context) + ": " + std::move(sentence)};
  grid->hasFailed = true;
  // The thread is never entered again.
  for (;;)
    current->fiber.leave();
}

void Worker::wait(Thread &thread, const Waitable &at) {
  thread.waitsAt = &at;
  thread.fiber.leave();
  thread.waitsAt = nullptr;
}

void Worker::wake(Thread &thread) {
  ready.push_back(&thread);
  hasProgressed = true;
}

void Worker::letOthersRun(Thread &thread, const Waitable &at) {
  asking.push_back(&thread);
  wait(thread, at);
}

void Worker::makeThreads(unsigned count, size_t stackBytes) {
  if (!threads.empty() && threads[0]->fiber.stackBytes() < stackBytes)
    threads.clear();
  while (threads.size() < count)
    threads.push_back(std::make_unique<Thread>(stackBytes));
}

void Worker::run(Grid &wholeGrid) {
  grid = &wholeGrid;
  failure.reset();
  const KernelInfo &kernel = grid->kernel.info;
  const Launch &launch = grid->launch;
  numThreads = launch.block[0] * launch.block[1] * launch.block[2];
  knownRanges.assign(grid->kernel.numAccesses, KnownRange());
  makeThreads(kernel.waits ? numThreads : 1, kStackBytes + kernel.localBytes);
  shared.resize(kernel.dynamicSharedOffset + launch.dynamicSharedBytes,
                kernel.dynamicSharedOffset, kernel.sharedAlignment, numThreads);
  shared.isChecked = grid->checks;
  uint64_t numBlocks =
      uint64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2];
  while (!grid->hasFailed) {
    uint64_t block = grid->nextBlock++;
    if (block >= numBlocks)
      return;
    startBlock(block);
    if (kernel.waits)
      runFibers();
    else
      runPlainly();
  }
}

void Worker::startBlock(uint64_t index) {
  const Launch &launch = grid->launch;
  const uint32_t block[3] = {
      static_cast<uint32_t>(index % launch.grid[0]),
      static_cast<uint32_t>(index / launch.grid[0] % launch.grid[1]),
      static_cast<uint32_t>(index / launch.grid[0] / launch.grid[1])};
  unsigned count = grid->kernel.info.waits ? numThreads : 1;
  for (unsigned i = 0; i < count; ++i) {
    Thread &thread = *threads[i];
    thread.linearThread = i;
    thread.thread[0] = i % launch.block[0];
    thread.thread[1] = i / launch.block[0] % launch.block[1];
    thread.thread[2] = i / launch.block[0] / launch.block[1];
    std::copy(block, block + 3, thread.Context::block);
    std::copy(launch.block.begin(), launch.block.end(), thread.blockSize);
    std::copy(launch.grid.begin(), launch.grid.end(), thread.gridSize);
    thread.dynamicSharedBytes = launch.dynamicSharedBytes;
    thread.sharedBase = shared.base();
    thread.sharedWindow = shared.window();
    thread.knownRanges = knownRanges.data();
    thread.worker = this;
    thread.hasEnded = false;
    thread.waitsAt = nullptr;
    thread.clock.clear();
  }
  shared.clear();
}

void Worker::runAllThreads(void *argument) {
  auto &worker = *static_cast<Worker *>(argument);
  Thread &thread = *worker.threads[0];
  const Kernel &kernel = worker.grid->kernel;
  const void *const *parameters = worker.grid->launch.parameters.data();
  const auto &size = worker.grid->launch.block;
  for (uint32_t z = 0; z < size[2]; ++z)
    for (uint32_t y = 0; y < size[1]; ++y)
      for (uint32_t x = 0; x < size[0]; ++x) {
        thread.thread[0] = x;
        thread.thread[1] = y;
        thread.thread[2] = z;
        kernel.entry(&thread, parameters);
        ++thread.linearThread;
      }
  for (;;)
    thread.fiber.leave();
}

void Worker::runPlainly() {
  current = threads[0].get();
  threads[0]->fiber.start(runAllThreads, this);
  threads[0]->fiber.enter();
}

void Worker::runThread(void *argument) {
  auto &thread = *static_cast<Thread *>(argument);
  Worker &worker = *thread.worker;
  worker.grid->kernel.entry(&thread, worker.grid->launch.parameters.data());
  thread.copies.checkEnd(thread);
  thread.hasEnded = true;
  worker.hasProgressed = true;
  --worker.numAlive;
  for (;;)
    thread.fiber.leave();
}

void Worker::runFibers() {
  ready.clear();
  numAlive = numThreads;
  barriers.clear();
  transactions.clear();
  meetings.clear((numThreads + 31) / 32);
  warpgroups.clear((numThreads + 127) / 128);
  for (unsigned i = 0; i < numThreads; ++i) {
    Thread &thread = *threads[i];
    thread.copies.clear();
    thread.products.clear();
    thread.fiber.start(runThread, &thread);
    ready.push_back(&thread);
  }
  asking.clear();
  while (!ready.empty()) {
    current = ready.front();
    ready.pop_front();
    current->fiber.enter();
    if (failure)
      return;
    // Asking again is of use if anything happened since the last time.
    if (ready.empty() && hasProgressed) {
      ready.swap(asking);
      hasProgressed = false;
    }
  }
  if (numAlive)
    failAtDeadlock();
}

/// Who waits where: "threads 0 to 63 wait at barrier 0 (64 of 128 threads are
/// there), threads 64 to 127 have ended".
void Worker::failAtDeadlock() {
  std::map<std::string, std::vector<unsigned>> groups;
  for (unsigned i = 0; i < numThreads; ++i) {
    const Thread &thread = *threads[i];
    groups[thread.hasEnded ? std::string("have ended")
                           : "wait at " + thread.waitsAt->describe()]
        .push_back(i);
  }
  std::string sentence;
  for (const auto &[what, members] : groups) {
    std::string ranges;
    for (size_t i = 0; i < members.size();) {
      size_t last = i;
      while (last + 1 < members.size() &&
             members[last + 1] == members[last] + 1)
        ++last;
      ranges += (ranges.empty() ? "" : ", ") + std::to_string(members[i]);
      if (last > i)
        ranges += " to " + std::to_string(members[last]);
      i = last + 1;
    }
    sentence += (sentence.empty() ? "" : "; ") + std::string("threads ") +
                ranges + " " + what;
  }
  failure = {kLaunchTimeout, "kernel '" + grid->kernel.info.name + "', block " +
                                 describeTriple(threads[0]->block) +
                                 ": deadlock: " + sentence};
  grid->hasFailed = true;
}
