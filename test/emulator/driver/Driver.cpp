//===- Driver.cpp - What the fake driver knows ----------------------------===//

#include "Driver.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <sys/mman.h>

using namespace heddle::emulator;

namespace {
/// Reads variables, and keeps what is wrong with the first that is.
class Environment {
public:
  explicit Environment(DriverSettings &settings) : settings(settings) {}

  /// A number, where the variable is there.
  template <typename Number>
  void read(const char *name, Number &number, Number least);
  /// One of two words.
  void expect(const char *name, std::string_view one, std::string_view other);
  /// NUMBER:TEXT, which is the emulator's.
  void expectOmission(const char *name);
  /// MAJOR.MINOR.
  void readCapability(const char *name);
  /// FUNCTION:CALL=RESULT, separated by commas.
  void readFailures(const char *name);
  void refuse(const char *name, const std::string &value, const char *expected);

private:
  DriverSettings &settings;
};
} // namespace

void Environment::refuse(const char *name, const std::string &value,
                         const char *expected) {
  if (settings.problem.empty())
    settings.problem =
        std::string(name) + " is '" + value + "', expected " + expected;
}

/// The number that begins at `text`, which goes behind it.
template <typename Number>
static bool takeNumber(const char *&text, const char *end, Number &number) {
  auto [rest, error] = std::from_chars(text, end, number);
  text = rest;
  return error == std::errc();
}

template <typename Number>
void Environment::read(const char *name, Number &number, Number least) {
  const char *value = std::getenv(name), *text = value;
  if (!value)
    return;
  const char *end = value + std::strlen(value);
  if (!takeNumber(text, end, number) || text != end || number < least)
    refuse(name, value, "a number");
}

void Environment::expect(const char *name, std::string_view one,
                         std::string_view other) {
  const char *value = std::getenv(name);
  if (value && value != one && value != other)
    refuse(name, value,
           (std::string(one) + " or " + std::string(other)).c_str());
}

void Environment::expectOmission(const char *name) {
  const char *value = std::getenv(name), *text = value;
  unsigned number = 0;
  if (value && (!takeNumber(text, value + std::strlen(value), number) ||
                number == 0 || *text++ != ':' || !*text))
    refuse(name, value, "NUMBER:TEXT");
}

void Environment::readCapability(const char *name) {
  const char *value = std::getenv(name), *text = value;
  if (!value)
    return;
  const char *end = value + std::strlen(value);
  if (!takeNumber(text, end, settings.major) || *text++ != '.' ||
      !takeNumber(text, end, settings.minor) || text != end)
    refuse(name, value, "MAJOR.MINOR");
}

void Environment::readFailures(const char *name) {
  const char *value = std::getenv(name);
  std::stringstream stream(value ? value : "");
  for (std::string part; std::getline(stream, part, ',');) {
    size_t colon = part.find(':');
    const char *text = part.c_str() + colon + 1;
    const char *end = part.c_str() + part.size();
    uint64_t call = 0;
    int result = 0;
    if (colon == std::string::npos || !takeNumber(text, end, call) ||
        *text++ != '=' || !takeNumber(text, end, result) || text != end)
      refuse(name, value, "FUNCTION:CALL=RESULT,...");
    else
      settings.failures[part.substr(0, colon)][call] =
          static_cast<CUresult>(result);
  }
}

DriverSettings DriverSettings::fromEnvironment() {
  DriverSettings settings;
  Environment environment(settings);
  environment.readCapability("HEDDLE_FAKE_CUDA_CAPABILITY");
  environment.read("HEDDLE_FAKE_CUDA_VERSION", settings.version, 0);
  environment.read<uint64_t>("HEDDLE_FAKE_CUDA_MEMORY", settings.memoryBytes,
                             0);
  environment.read<uint64_t>("HEDDLE_FAKE_CUDA_GRANULARITY",
                             settings.granularity, 0);
  if (settings.granularity % 4096)
    environment.refuse("HEDDLE_FAKE_CUDA_GRANULARITY",
                       std::to_string(settings.granularity),
                       "a multiple of 4096");
  environment.read("HEDDLE_FAKE_CUDA_LOADS", settings.loadsAtOnce, 1u);
  environment.read("HEDDLE_FAKE_CUDA_MULTIPROCESSORS", settings.multiprocessors,
                   1);
  environment.readFailures("HEDDLE_FAKE_CUDA_FAIL");
  environment.expect("HEDDLE_EMULATOR_CHECKS", "all", "none");
  environment.expectOmission("HEDDLE_EMULATOR_OMIT");
  // Of the machine, which takes up to its own limit.
  int threads = 1;
  environment.read("HEDDLE_EMULATOR_THREADS", threads, 1);
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
  mapped.reset();
  memory = std::make_unique<DeviceMemory>(settings.memoryBytes);
  mapped = std::make_unique<VirtualMemory>(*memory);
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
