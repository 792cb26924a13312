//===- Driver.h - What the fake driver knows --------------------*- C++ -*-===//
//
// One device with one context, behind one lock. Streams do nothing until
// somebody waits for them.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_EMULATOR_DRIVER_DRIVER_H
#define HEDDLE_TEST_EMULATOR_DRIVER_DRIVER_H

#include "CudaAbi.h"
#include "DeviceMemory.h"
#include "VirtualMemory.h"
#include "test/emulator/Emulator.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

using Work = std::function<CUresult()>;

/// Work of a stream, in the order of the whole context.
struct Command {
  uint64_t sequence;
  Work work;
};

/// Of streams that are captured into one graph.
struct Capture {
  CUstream origin = nullptr;
  std::vector<Work> works;
  int mode = 0;
  std::thread::id thread = std::this_thread::get_id();
};

struct CUstream_st {
  /// Whether it and the default stream wait for each other.
  bool isBlocking = true;
  std::deque<Command> commands;
  std::shared_ptr<Capture> capture;
  /// Who has asked for something last.
  std::thread::id thread;
};

struct CUevent_st {
  CUstream stream = nullptr;
  /// Of the last record that was asked for, and of the last that came.
  uint64_t recorded = 0, reached = 0;
  double milliseconds = 0;
  std::shared_ptr<Capture> capture;
};

struct CUgraph_st {
  std::vector<Work> works;
};
struct CUgraphExec_st {
  std::vector<Work> works;
};

struct CUfunc_st {
  CUmodule module = nullptr;
  const heddle::emulator::Kernel *kernel = nullptr;
  int maxDynamicSharedBytes = 48 << 10;
};

struct CUmod_st {
  std::unique_ptr<heddle::emulator::Program> program;
  /// Held while that compiles.
  std::mutex compiling;
  std::map<std::string, std::unique_ptr<CUfunc_st>> functions;
  /// Where those are that were asked for.
  std::set<uint64_t> variables;
};

namespace heddle::emulator {

/// What the environment says; see README.md.
struct DriverSettings {
  int major = 9, minor = 0;
  int version = 13000;
  uint64_t memoryBytes = 4ull << 30;
  /// Of memory that is mapped; 0 for a device that maps none.
  uint64_t granularity = 2 << 20;
  unsigned loadsAtOnce = 1;
  /// 0 for those of the largest GPU.
  int multiprocessors = 0;
  /// By function: which call fails, with which result.
  std::map<std::string, std::map<uint64_t, CUresult>> failures;

  /// A variable with a wrong value; empty where there is none.
  std::string problem;

  static DriverSettings fromEnvironment();
};

class Driver {
public:
  // Of every multiprocessor: what each block has of its shared memory beside
  // its own, threads and blocks.
  static constexpr int kReservedBytes = 1024, kMostThreads = 2048,
                       kMostBlocks = 32;

  static Driver &instance();
  ~Driver();

  /// Runs a function of the interface: counts the call, lets it fail where the
  /// environment says so or where an earlier kernel did, and holds the lock.
  template <typename Function>
  static CUresult call(const char *name, Function function,
                       bool needsContext = true) {
    Driver &driver = instance();
    std::lock_guard<std::recursive_mutex> lock(driver.mutex);
    if (CUresult result = driver.enter(name, needsContext))
      return result;
    return function(driver);
  }

  /// A part of such a call that goes on behind something without the lock.
  template <typename Function> static CUresult locked(Function function) {
    Driver &driver = instance();
    std::lock_guard<std::recursive_mutex> lock(driver.mutex);
    return function(driver);
  }

  /// Reads the environment again; the context is as if new.
  void initialize();
  void reset();
  /// What HEDDLE_FAKE_CUDA_COUNT is about.
  void count(const char *name, uint64_t number = 1) { counts[name] += number; }
  void countMost(const char *name, uint64_t number) {
    counts[name] = std::max(counts[name], number);
  }

  bool isHopper() const { return settings.major >= 9; }
  int multiprocessors() const {
    return settings.multiprocessors ? settings.multiprocessors
           : isHopper()             ? 132
                                    : 108;
  }
  /// Bytes of shared memory of a multiprocessor, and of one of its blocks.
  int sharedBytes() const { return (isHopper() ? 228 : 164) << 10; }
  int maxSharedBytes() const { return sharedBytes() - kReservedBytes; }

  /// One line to HEDDLE_EMULATOR_LOG or stderr.
  static void log(const std::string &sentence);

  // Streams, see Streams.cpp. Null is the default stream.
  CUstream resolve(CUstream stream);
  /// Appends work to a stream or to the graph that it is captured into.
  CUresult enqueue(CUstream stream, Work work);
  /// Does the work of a stream up to a place in the order; all without one.
  CUresult drain(CUstream stream, uint64_t sequence = ~0ull);
  CUresult drainAll();
  /// Whether a capture forbids calls that could make its streams wait.
  bool isCapturing() const;
  /// Whether a stream has work of the calling thread that nobody has waited
  /// for.
  bool isBusy() const;

  bool isInitialized = false;
  /// Of the first call, and of cuInit since.
  DriverSettings settings = DriverSettings::fromEnvironment();
  std::unique_ptr<DeviceMemory> memory;
  /// Of that memory.
  std::unique_ptr<VirtualMemory> mapped;
  std::unique_ptr<Machine> machine;
  /// What all calls return after a kernel failed.
  CUresult stickyError = CUDA_SUCCESS;
  unsigned numRetained = 0;
  /// Of the calling thread; null for none.
  static thread_local CUcontext currentContext;
  uint64_t lastSequence = 0;
  CUstream_st defaultStream;
  std::set<CUstream> streams;
  std::set<CUevent> events;
  std::set<CUgraph> graphs;
  std::set<CUgraphExec> graphExecs;
  std::map<CUmodule, std::unique_ptr<CUmod_st>> modules;
  std::set<CUfunction> functions;
  /// Pinned memory of the host.
  std::map<uint64_t, uint64_t> hostAllocations;

private:
  CUresult enter(const char *name, bool needsContext);
  CUresult runFirst(CUstream stream);

  std::recursive_mutex mutex;
  std::map<std::string, uint64_t> counts;
};

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_DRIVER_DRIVER_H
