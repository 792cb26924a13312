//===- Driver.cpp - What the fake driver knows ----------------------------===//

#include "Driver.h"

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <sys/mman.h>

using namespace heddle::emulator;

/// FUNCTION:CALL=RESULT, separated by commas.
static void readFailures(const char *text, DriverSettings &settings) {
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) {
    size_t colon = part.find(':');
    size_t equals = part.find('=', colon);
    if (colon == std::string::npos || equals == std::string::npos) {
      Driver::log("HEDDLE_FAKE_CUDA_FAIL has '" + part +
                  "', expected FUNCTION:CALL=RESULT");
      continue;
    }
    uint64_t call = std::strtoull(part.c_str() + colon + 1, nullptr, 10);
    settings.failures[part.substr(0, colon)][call] =
        static_cast<CUresult>(std::atoi(part.c_str() + equals + 1));
  }
}

DriverSettings DriverSettings::fromEnvironment() {
  DriverSettings settings;
  if (const char *capability = std::getenv("HEDDLE_FAKE_CUDA_CAPABILITY"))
    std::sscanf(capability, "%d.%d", &settings.major, &settings.minor);
  if (const char *version = std::getenv("HEDDLE_FAKE_CUDA_VERSION"))
    settings.version = std::atoi(version);
  if (const char *bytes = std::getenv("HEDDLE_FAKE_CUDA_MEMORY"))
    settings.memoryBytes = std::strtoull(bytes, nullptr, 10);
  if (const char *loads = std::getenv("HEDDLE_FAKE_CUDA_LOADS"))
    settings.loadsAtOnce = static_cast<unsigned>(std::atoi(loads));
  if (const char *count = std::getenv("HEDDLE_FAKE_CUDA_MULTIPROCESSORS"))
    settings.multiprocessors = std::atoi(count);
  if (const char *failures = std::getenv("HEDDLE_FAKE_CUDA_FAIL"))
    readFailures(failures, settings);
  return settings;
}

void Driver::log(const std::string &sentence) {
  const char *path = std::getenv("HEDDLE_EMULATOR_LOG");
  FILE *file = path ? std::fopen(path, "a") : stderr;
  if (!file)
    return;
  std::fprintf(file, "%s\n", sentence.c_str());
  if (path)
    std::fclose(file);
}

thread_local CUcontext Driver::currentContext = nullptr;

Driver &Driver::instance() {
  static Driver driver;
  return driver;
}

Driver::~Driver() {
  reset();
  const char *path = std::getenv("HEDDLE_FAKE_CUDA_COUNT");
  FILE *file = path ? std::fopen(path, "w") : nullptr;
  if (!file)
    return;
  for (const auto &[name, number] : counts)
    std::fprintf(file, "%s %llu\n", name.c_str(),
                 static_cast<unsigned long long>(number));
  std::fclose(file);
}

void Driver::initialize() {
  settings = DriverSettings::fromEnvironment();
  // Numbers of calls start again with their limits.
  counts.clear();
  count("cuInit");
  if (!isInitialized || memory->total() != settings.memoryBytes)
    reset();
  isInitialized = true;
}

void Driver::reset() {
  defaultStream.commands.clear();
  defaultStream.capture.reset();
  for (CUstream stream : streams)
    delete stream;
  for (CUevent event : events)
    delete event;
  for (CUgraph graph : graphs)
    delete graph;
  for (CUgraphExec exec : graphExecs)
    delete exec;
  streams.clear();
  events.clear();
  graphs.clear();
  graphExecs.clear();
  functions.clear();
  modules.clear();
  for (auto [first, bytes] : hostAllocations)
    munmap(reinterpret_cast<void *>(first), bytes);
  hostAllocations.clear();
  memory = std::make_unique<DeviceMemory>(settings.memoryBytes);
  machine.reset();
  stickyError = CUDA_SUCCESS;
  numRetained = 0;
}

/// A context that met one of these is lost.
static bool isSticky(CUresult result) {
  return result == CUDA_ERROR_ILLEGAL_ADDRESS ||
         result == CUDA_ERROR_LAUNCH_TIMEOUT ||
         (result >= CUDA_ERROR_ILLEGAL_INSTRUCTION &&
          result <= CUDA_ERROR_LAUNCH_FAILED);
}

CUresult Driver::enter(const char *name, bool needsContext) {
  uint64_t number = ++counts[name];
  auto failures = settings.failures.find(name);
  if (failures != settings.failures.end()) {
    auto failure = failures->second.find(number);
    if (failure != failures->second.end()) {
      if (isSticky(failure->second))
        stickyError = failure->second;
      return failure->second;
    }
  }
  if (!needsContext)
    return CUDA_SUCCESS;
  if (!isInitialized)
    return CUDA_ERROR_NOT_INITIALIZED;
  if (!numRetained || !currentContext)
    return CUDA_ERROR_INVALID_CONTEXT;
  return stickyError;
}
