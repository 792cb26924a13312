//===- EntryRunner.h - Call the entry points of a module --------*- C++ -*-===//
//
// From the text of a module to machine code that runs: the compiler makes an
// artifact, the runtime's classes load it, and an entry is called with buffers
// by name. What tests and benchmarks of single layers share; of GoogleTest it
// knows nothing.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_KERNELS_ENTRYRUNNER_H
#define HEDDLE_TEST_KERNELS_ENTRYRUNNER_H

#include "runtime/Result.h"
#include "runtime/artifact/Artifact.h"
#include "runtime/artifact/Manifest.h"
#include "runtime/code/CodeLibrary.h"
#include "runtime/code/KernelAbi.h"
#include "runtime/cuda/CudaModel.h"
#include "runtime/threads/ThreadPool.h"
#include "test/kernels/CallRecord.h"

#include <cstddef>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::test {

/// A parameter's values, row-major.
struct Weight {
  std::vector<int64_t> shape;
  std::vector<float> values;
};
using Weights = std::map<std::string, Weight>;

/// How to compile.
struct CodeChoice {
  /// A --target with one ISA level, or with a GPU behind it.
  std::string target = "x86-64-v3";
  /// The reference lowering in place of generated kernels.
  bool reference = false;
  /// More flags of heddle-compile.
  std::string flags;
};

/// Behind an ISA level: what runs then are kernels of a GPU, in the emulator.
inline constexpr char kEmulatedGpu[] = ",sm_80+emulated",
                      kEmulatedHopper[] = ",sm_90a+emulated";

/// Whether this machine runs code for such a --target, or would if it had no
/// better level than HEDDLE_ISA.
bool machineHas(std::string_view target);

/// One call of an entry point, which may be repeated: memory for its arguments,
/// each between guards of NaNs, and for its arena. Where a cache line ends
/// behind the last element, so does memory: what reads there is a fault.
class EntryCall {
public:
  /// The elements of an argument; states and inputs hold zeros until they are
  /// written here, outputs NaNs. `name` has to be one, and Number as long as
  /// its elements: uint16_t for bf16.
  template <typename Number> Number *data(std::string_view name) {
    return static_cast<Number *>(find(name).elements());
  }
  int64_t size(std::string_view name) const { return find(name).count; }

  /// Copies values to an argument of that many elements.
  template <typename Number>
  void set(std::string_view name, const std::vector<Number> &values) {
    if (static_cast<int64_t>(values.size()) != size(name))
      std::abort();
    std::copy(values.begin(), values.end(), data<Number>(name));
  }
  template <typename Number = float>
  std::vector<Number> get(std::string_view name) {
    return {data<Number>(name), data<Number>(name) + size(name)};
  }

  /// Runs the entry, on the threads of `pool` where there is one.
  void operator()(ThreadPool *pool = nullptr);
  /// The seconds that one of so many runs takes a device, one behind the other
  /// after the first ones.
  Result<double> timeOnDevice(int64_t runs);

  /// Fails where memory around an argument or the arena was written, or a
  /// device has failed.
  Status checkGuards() const;

private:
  friend class EntryRunner;

  /// Elements of an argument, or of the arena, with the guards around them.
  struct Buffer {
    Buffer(std::string name, int64_t count, int64_t elementBytes,
           bool isWritten);
    void *elements() const { return words + kGuard; }
    bool hasIntactGuards() const;

    /// Words before the elements; behind them a part of a cache line.
    static constexpr int64_t kGuard = 64;
    std::string name;
    int64_t count, bytes;
    /// The pages, of which the last one cannot be touched.
    struct Unmap {
      size_t size;
      void operator()(std::byte *pages) const;
    };
    std::unique_ptr<std::byte, Unmap> pages;
    uint32_t *words;
  };

  HeddleCall describe() const;
  Status runOnDevice(HeddleCall &call, int64_t runs, double *seconds);
  /// What arguments hold.
  std::vector<std::string> bytes() const;
  Buffer &find(std::string_view name);
  const Buffer &find(std::string_view name) const {
    return const_cast<EntryCall *>(this)->find(name);
  }

  HeddleEntry function = nullptr;
  std::vector<Buffer> buffers;
  std::vector<HeddleAddress> addresses;
  std::vector<int64_t> dims;
  std::vector<Buffer> arena;
  /// Of all threads, as soon as it is known how many there are.
  std::vector<Buffer> scratch;
  int64_t scratchBytes = 0;
  const void *weights = nullptr;
  /// Null for the CPU.
  std::unique_ptr<Device> device;
  Status failure = Status::success();
  /// Null unless calls are recorded; and what a record says of this one.
  std::shared_ptr<CallRecorder> recorder;
  RecordedCall record;
};

/// The compiled code of a module. Has to outlive its calls.
class EntryRunner {
public:
  /// Compiles functions and parameters, the text of a module's body; `weights`
  /// holds each parameter. Fails with the compiler's words.
  static Result<EntryRunner> compile(const std::string &body,
                                     const Weights &weights,
                                     const CodeChoice &choice);

  /// Compiles such a module for one GPU and assembles its PTX for others, see
  /// test/tools/check-ptx, whose words it fails with.
  static Status assemble(const std::string &body, const Weights &weights,
                         const std::string &gpu,
                         const std::string &architectures);
  /// Whether there is what does that.
  static bool canAssemble();

  /// Loads what was compiled. Code for a GPU runs in the emulator unless
  /// HEDDLE_LIBCUDA names a driver.
  static Result<EntryRunner> open(const std::string &path);

  /// Functions and parameters, and before them aliases of types, as the text of
  /// a model that heddle-compile takes: what heddle-run would ask of it is
  /// there, and empty.
  static std::string wholeModel(const std::string &body);

  const std::vector<Entry> &entries() const { return manifest.entries; }
  /// What the artifact says of an entry; null where there is none.
  const Entry *entry(std::string_view name) const {
    for (const Entry &entry : manifest.entries)
      if (entry.name == name)
        return &entry;
    return nullptr;
  }

  /// A device like those that calls run on; borrows this.
  std::unique_ptr<Device> makeDevice() const {
    return gpu ? gpu->makeDevice() : makeHostDevice();
  }

  /// A call of an entry for these dims; others are 1. Fails where there is no
  /// such entry.
  Result<EntryCall>
  prepare(std::string_view entry,
          const std::vector<std::pair<Dim, int64_t>> &dims) const;

private:
  EntryRunner(Artifact artifact, Manifest manifest, CodeLibrary library,
              std::unique_ptr<CudaModel> gpu)
      : artifact(std::move(artifact)), manifest(std::move(manifest)),
        library(std::move(library)), gpu(std::move(gpu)) {}

  Artifact artifact;
  Manifest manifest;
  CodeLibrary library;
  /// Null where the module has no code for one.
  std::unique_ptr<CudaModel> gpu;
  std::shared_ptr<CallRecorder> recorder;
};

} // namespace heddle::test

#endif // HEDDLE_TEST_KERNELS_ENTRYRUNNER_H
