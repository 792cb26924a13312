//===- Worker.cpp - One host thread that runs blocks ----------------------===//

#include "Worker.h"
#include "Waitable.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <map>
#include <sys/mman.h>

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

std::string heddle::emulator::describeBlock(const Context &context) {
  return "block " + describeTriple(context.block);
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
  failure = {code, "kernel '" + grid->kernel.info.name + "', " +
                       describeBlock(context) + ", " + describeThread(context) +
                       ": " + std::move(sentence)};
  grid->hasFailed = true;
  // The thread is never entered again.
  for (;;)
    current->fiber.leave();
}

void Worker::wait(Thread &thread, const Waitable &at) {
  thread.waitsAt = &at;
  letNextRun(thread);
  thread.waitsAt = nullptr;
}

// Fibers that follow each other at one switch return to where the processor
// expects it; by way of the worker they do not.
void Worker::letNextRun(Thread &thread) {
  if (ready.empty())
    return thread.fiber.leave();
  current = ready.front();
  ready.pop_front();
  thread.fiber.leaveTo(current->fiber);
}

void Worker::wake(Thread &thread) {
  ready.push_back(&thread);
  hasProgressed = true;
}

void Worker::letOthersRun(Thread &thread, const Waitable &at) {
  asking.push_back(&thread);
  wait(thread, at);
}

//===----------------------------------------------------------------------===//
// Blocks of a cluster
//===----------------------------------------------------------------------===//

Worker::~Worker() {
  if (window)
    munmap(reinterpret_cast<void *>(window), windowBytes);
}

void Worker::makeBlocks(unsigned count) {
  size_t bytes = kSharedDistance * count;
  if (windowBytes < bytes) {
    if (window)
      munmap(reinterpret_cast<void *>(window), windowBytes);
    // Most of it is never touched.
    void *pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED)
      std::abort();
    window = reinterpret_cast<uint64_t>(pages);
    windowBytes = bytes;
  }
  while (blocks.size() < count)
    blocks.push_back(std::make_unique<RunningBlock>(*this, blocks.size()));
}

SharedPlace Worker::place(Context &context, uint64_t address) {
  if (holdsGeneric(address)) {
    uint64_t distance = address - window;
    return {blocks[distance / kSharedDistance].get(),
            distance % kSharedDistance};
  }
  auto word = static_cast<uint32_t>(address);
  uint64_t name = word / kSharedDistance;
  if (name > numBlocks)
    fail(context, kIllegalAddress,
         format("shared address 0x%x of a cluster of %u blocks", word,
                numBlocks));
  return {name ? blocks[name - 1].get() : &blockOf(context),
          word % kSharedDistance};
}

MemoryRange Worker::find(uint64_t address, uint64_t size) {
  if (lastFound.holds(address, size))
    return lastFound;
  MemoryRange found = grid->memory.find(address, size);
  if (!found.size)
    found = grid->kernel.variables->find(address, size);
  if (found.size)
    lastFound = found;
  return found;
}

void Worker::listActors() {
  actors.clear();
  for (unsigned rank = 0; rank < numBlocks; ++rank) {
    const auto &threads = blocks[rank]->threads;
    for (unsigned inBlock = 0; inBlock < actorsPerBlock(); ++inBlock) {
      auto actor = static_cast<uint32_t>(actors.size());
      bool isThread = inBlock < numThreads;
      actors.push_back({isThread && inBlock < threads.size()
                            ? threads[inBlock].get()
                            : nullptr,
                        isThread ? actor - inBlock % 32 : actor});
    }
  }
}

std::string Worker::describeActor(const Context &context,
                                  uint32_t actor) const {
  unsigned inBlock = actor % actorsPerBlock();
  const RunningBlock &block = *blocks[actor / actorsPerBlock()];
  bool isOther = block.rank != context.clusterRank;
  std::string other = isOther ? " of " + block.describe() : "";
  if (inBlock == numThreads)
    return isOther ? "a bulk copy to " + block.describe() : "a bulk copy";
  if (inBlock > numThreads)
    return "wgmma of warpgroup " + std::to_string(inBlock - numThreads - 1) +
           other;
  const Thread *thread = threadOfActor(actor);
  return (thread ? describeThread(*thread)
                 : "thread " + std::to_string(inBlock)) +
         other;
}

//===----------------------------------------------------------------------===//
// Grids
//===----------------------------------------------------------------------===//

void Worker::run(Grid &wholeGrid) {
  grid = &wholeGrid;
  failure.reset();
  const KernelInfo &kernel = grid->kernel.info;
  const Launch &launch = grid->launch;
  numThreads = launch.block[0] * launch.block[1] * launch.block[2];
  numBlocks = kernel.clusterSize;
  knownRanges.assign(grid->kernel.numAccesses, KnownRange());
  makeBlocks(numBlocks);
  for (unsigned rank = 0; rank < numBlocks; ++rank) {
    RunningBlock &block = *blocks[rank];
    block.makeThreads(kernel.waits ? numThreads : 1,
                      kStackBytes + kernel.localBytes);
    block.shared.resize(window + rank * kSharedDistance,
                        kernel.dynamicSharedOffset + launch.dynamicSharedBytes,
                        kernel.dynamicSharedOffset, kernel.sharedAlignment);
    block.shared.isChecked = grid->checks;
  }
  listActors();
  lastFound = MemoryRange();
  uint64_t numClusters =
      uint64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2] / numBlocks;
  while (!grid->hasFailed) {
    uint64_t cluster = grid->nextCluster++;
    if (cluster >= numClusters)
      return;
    for (unsigned rank = 0; rank < numBlocks; ++rank)
      startBlock(*blocks[rank], cluster * numBlocks + rank);
    if (kernel.waits)
      runFibers();
    else
      runPlainly();
  }
}

void Worker::startBlock(RunningBlock &block, uint64_t index) {
  const Launch &launch = grid->launch;
  const uint32_t number[3] = {
      static_cast<uint32_t>(index % launch.grid[0]),
      static_cast<uint32_t>(index / launch.grid[0] % launch.grid[1]),
      static_cast<uint32_t>(index / launch.grid[0] / launch.grid[1])};
  unsigned count = grid->kernel.info.waits ? numThreads : 1;
  for (unsigned i = 0; i < count; ++i) {
    Thread &thread = *block.threads[i];
    thread.linearThread = i;
    thread.thread[0] = i % launch.block[0];
    thread.thread[1] = i / launch.block[0] % launch.block[1];
    thread.thread[2] = i / launch.block[0] / launch.block[1];
    std::copy(number, number + 3, thread.block);
    std::copy(launch.block.begin(), launch.block.end(), thread.blockSize);
    std::copy(launch.grid.begin(), launch.grid.end(), thread.gridSize);
    thread.clusterSize = numBlocks;
    thread.clusterRank = block.rank;
    thread.dynamicSharedBytes = launch.dynamicSharedBytes;
    thread.sharedBase = block.shared.base();
    thread.sharedWindow = block.shared.window();
    thread.clusterWindow = window - kSharedDistance;
    thread.knownRanges = knownRanges.data();
    thread.worker = this;
    thread.home = &block;
    thread.actor = block.rank * actorsPerBlock() + i;
    thread.hasEnded = false;
    thread.waitsAt = nullptr;
    thread.clock.clear();
  }
  block.shared.clear();
}

void Worker::runAllThreads(void *argument) {
  auto &worker = *static_cast<Worker *>(argument);
  Thread &thread = *worker.blocks[0]->threads[0];
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
        ++thread.actor;
      }
  for (;;)
    thread.fiber.leave();
}

void Worker::runPlainly() {
  current = blocks[0]->threads[0].get();
  current->fiber.start(runAllThreads, this);
  current->fiber.enter();
}

void Worker::runThread(void *argument) {
  auto &thread = *static_cast<Thread *>(argument);
  Worker &worker = *thread.worker;
  worker.grid->kernel.entry(&thread, worker.grid->launch.parameters.data());
  thread.copies.checkEnd(thread);
  if (thread.home->numAlive == 1)
    thread.home->checkEnd(thread);
  thread.hasEnded = true;
  worker.hasProgressed = true;
  --thread.home->numAlive;
  worker.clusterBarrier.leave(thread);
  for (;;)
    worker.letNextRun(thread);
}

void Worker::runFibers() {
  ready.clear();
  clusterBarrier.clear(numBlocks * numThreads);
  for (unsigned rank = 0; rank < numBlocks; ++rank) {
    RunningBlock &block = *blocks[rank];
    block.clear();
    for (unsigned i = 0; i < numThreads; ++i) {
      Thread &thread = *block.threads[i];
      thread.copies.clear();
      thread.products.clear();
      thread.clusterArrivals = thread.clusterWaits = 0;
      thread.fiber.start(runThread, &thread);
      ready.push_back(&thread);
    }
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
  for (unsigned rank = 0; rank < numBlocks; ++rank)
    if (!blocks[rank]->hasEnded())
      return failAtDeadlock();
}

//===----------------------------------------------------------------------===//
// Deadlocks
//===----------------------------------------------------------------------===//

/// Who waits where: "threads 0 to 63 wait at barrier 0 (64 of 128 threads are
/// there); threads 64 to 127 have ended".
std::string Worker::describeWaiting(const RunningBlock &block) const {
  std::map<std::string, std::vector<unsigned>> groups;
  for (unsigned i = 0; i < numThreads; ++i) {
    const Thread &thread = *block.threads[i];
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
  return sentence;
}

void Worker::failAtDeadlock() {
  std::string sentence = describeWaiting(*blocks[0]);
  for (unsigned rank = 1; rank < numBlocks; ++rank)
    sentence += "; in " + blocks[rank]->describe() + ", " +
                describeWaiting(*blocks[rank]);
  failure = {kLaunchTimeout, "kernel '" + grid->kernel.info.name + "', " +
                                 blocks[0]->describe() +
                                 ": deadlock: " + sentence};
  grid->hasFailed = true;
}
