//===- Machine.cpp - Grids, block after block -----------------------------===//

#include "Emulator.h"
#include "Worker.h"

#include <algorithm>
#include <cstdlib>
#include <thread>

using namespace heddle::emulator;

/// What a block may have of shared memory, and a thread of its own memory.
static constexpr uint32_t kMaxSharedBytes = 227 << 10;
static constexpr uint64_t kMaxLocalBytes = 512 << 10;
static constexpr uint64_t kThreadsPerHelper = 4096;

static unsigned hostThreads() {
  const char *value = std::getenv("HEDDLE_EMULATOR_THREADS");
  int count = value ? std::atoi(value) : 1;
  return std::clamp(count, 1, 64);
}

Machine::Machine() {
  for (unsigned i = 0, n = hostThreads(); i < n; ++i)
    workers.push_back(std::make_unique<Worker>());
}

Machine::~Machine() = default;

/// What no block of this size can do; empty if it can.
static std::string limitOf(const Kernel &kernel, const Launch &launch) {
  uint64_t threads =
      uint64_t(launch.block[0]) * launch.block[1] * launch.block[2];
  uint64_t sharedBytes =
      uint64_t(kernel.info.dynamicSharedOffset) + launch.dynamicSharedBytes;
  if (threads == 0 || threads > kernel.info.maxThreads)
    return format("%llu threads a block, expected 1 to %u",
                  static_cast<unsigned long long>(threads),
                  kernel.info.maxThreads);
  if (sharedBytes > kMaxSharedBytes)
    return format("%llu bytes of shared memory, the limit is %u",
                  static_cast<unsigned long long>(sharedBytes),
                  kMaxSharedBytes);
  if (kernel.info.localBytes > kMaxLocalBytes)
    return format("%llu bytes of a thread's own memory, the limit is %llu",
                  static_cast<unsigned long long>(kernel.info.localBytes),
                  static_cast<unsigned long long>(kMaxLocalBytes));
  if (launch.grid[0] % kernel.info.clusterSize)
    return format("%u blocks, expected a multiple of the %u of a cluster",
                  launch.grid[0], kernel.info.clusterSize);
  if (launch.parameters.size() != kernel.info.parameters.size())
    return format("%zu parameters, expected %zu", launch.parameters.size(),
                  kernel.info.parameters.size());
  return {};
}

std::optional<Failure> Machine::run(const Kernel &kernel, const Launch &launch,
                                    const MemoryMap &memory) {
  std::string limit = limitOf(kernel, launch);
  if (!limit.empty())
    return Failure{1, "kernel '" + kernel.info.name + "': " + limit};
  Grid grid{kernel, launch, memory};
  grid.checks = checksAreOn();
  uint64_t numBlocks =
      uint64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2];
  // A thread of the host costs more than a small grid.
  uint64_t numThreads =
      numBlocks * launch.block[0] * launch.block[1] * launch.block[2];
  uint64_t numClusters = numBlocks / kernel.info.clusterSize;
  size_t used = numThreads < kThreadsPerHelper
                    ? std::min<uint64_t>(1, numClusters)
                    : std::min<uint64_t>(workers.size(), numClusters);
  std::vector<std::thread> helpers;
  for (size_t i = 1; i < used; ++i)
    helpers.emplace_back([&, i] { workers[i]->run(grid); });
  if (used)
    workers[0]->run(grid);
  for (std::thread &helper : helpers)
    helper.join();
  for (size_t i = 0; i < used; ++i)
    if (workers[i]->failure)
      return workers[i]->failure;
  return std::nullopt;
}
