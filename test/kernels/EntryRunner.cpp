//===- EntryRunner.cpp - Call the entry points of a module ----------------===//
//
// Without the compiler, so that recorded calls and benchmarks run where LLVM is
// not installed. EntryCompiler.cpp has what compiles a module.
//
//===----------------------------------------------------------------------===//

#include "test/kernels/EntryRunner.h"

#include "runtime/code/FloatEnvironment.h"
#include "runtime/code/IsaLevels.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace heddle;
using namespace heddle::test;

/// A NaN that nothing computes.
static constexpr uint32_t kGuardWord = 0x7fc0beef;

bool test::machineHas(std::string_view target) {
  // What follows a '+' or a ',' needs no more of a machine.
  int rank = rankOfIsa(target.substr(0, target.find_first_of("+,")));
  const char *best = getenv("HEDDLE_ISA");
  return rank > 0 && (!best || !*best || rank <= rankOfIsa(best));
}

//===----------------------------------------------------------------------===//
// EntryCall
//===----------------------------------------------------------------------===//

static int64_t toMultiple(int64_t bytes, int64_t of) {
  return (bytes + of - 1) / of * of;
}

/// Bytes of elements up to the end of their cache line, and of the guard before
/// them.
static constexpr int64_t kLine = 64;

void EntryCall::Buffer::Unmap::operator()(std::byte *pages) const {
  munmap(pages, size);
}

EntryCall::Buffer::Buffer(std::string name, int64_t count, int64_t elementBytes,
                          bool isWritten)
    : name(std::move(name)), count(count), bytes(count * elementBytes),
      pages(nullptr, Unmap{0}) {
  int64_t page = sysconf(_SC_PAGESIZE);
  int64_t used = kGuard * sizeof *words + toMultiple(bytes, kLine);
  int64_t accessible = toMultiple(used, page);
  void *memory = mmap(nullptr, accessible + page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    std::abort();
  auto *first = static_cast<std::byte *>(memory);
  pages.reset(first);
  pages.get_deleter().size = accessible + page;
  if (mprotect(first + accessible, page, PROT_NONE) != 0)
    std::abort();
  words = reinterpret_cast<uint32_t *>(first + accessible - used);
  std::fill_n(words, used / sizeof *words, kGuardWord);
  if (!isWritten)
    std::memset(elements(), 0, bytes);
}

bool EntryCall::Buffer::hasIntactGuards() const {
  auto *all = reinterpret_cast<const unsigned char *>(words);
  auto *guard = reinterpret_cast<const unsigned char *>(&kGuardWord);
  auto isIntact = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      if (all[i] != guard[i % sizeof kGuardWord])
        return false;
    return true;
  };
  constexpr int64_t guardBytes = kGuard * sizeof kGuardWord;
  return isIntact(0, guardBytes) &&
         isIntact(guardBytes + bytes, guardBytes + toMultiple(bytes, kLine));
}

EntryCall::Buffer &EntryCall::find(std::string_view name) {
  for (Buffer &buffer : buffers)
    if (buffer.name == name)
      return buffer;
  std::abort();
}

HeddleCall EntryCall::describe() const {
  HeddleCall call = {};
  call.buffers = addresses.data();
  call.dims = dims.data();
  call.arena = arena.front().elements();
  call.weights = weights;
  call.threads = 1;
  return call;
}

void EntryCall::operator()(ThreadPool *pool) {
  FloatEnvironment environment;
  HeddleCall call = describe();
  if (device) {
    if (recorder)
      record.before = bytes();
    Status status = runOnDevice(call, /*runs=*/1, /*seconds=*/nullptr);
    if (recorder && status.ok()) {
      record.after = bytes();
      status = recorder->add(record);
    }
    if (!status.ok())
      failure = status;
    return;
  }
  if (pool) {
    call.parallelFor = ThreadPool::parallelFor;
    call.pool = pool;
    call.threads = pool->size();
  }
  int64_t threads = call.threads;
  if (scratch.empty() || scratch.front().count < threads * scratchBytes) {
    scratch.clear();
    scratch.emplace_back("scratch memory", threads * scratchBytes,
                         /*elementBytes=*/1, /*isWritten=*/true);
  }
  call.scratch = scratch.front().elements();
  call.scratchBytes = scratchBytes;
  function(&call);
}

std::vector<std::string> EntryCall::bytes() const {
  std::vector<std::string> all;
  for (const Buffer &buffer : buffers)
    all.emplace_back(static_cast<char *>(buffer.elements()),
                     static_cast<size_t>(buffer.bytes));
  return all;
}

Result<double> EntryCall::timeOnDevice(int64_t runs) {
  HeddleCall call = describe();
  double seconds = 0;
  if (Status status = runOnDevice(call, runs, &seconds); !status.ok())
    return status;
  return seconds;
}

/// Copies all buffers there and back. The seconds, where they are asked for,
/// are those of a run behind the first one.
Status EntryCall::runOnDevice(HeddleCall &call, int64_t runs, double *seconds) {
  std::vector<HeddleAddress> places;
  Status status = Status::success();
  auto take = [&](const Buffer &buffer) -> char * {
    if (!status.ok())
      return nullptr;
    Result<char *> memory = device->take(std::max<int64_t>(buffer.bytes, 1));
    status = memory.ok()
                 ? device->send(*memory, static_cast<char *>(buffer.elements()),
                                buffer.bytes)
                 : memory.status();
    return memory.ok() ? *memory : nullptr;
  };
  for (const Buffer &buffer : buffers)
    places.push_back({take(buffer)});
  call.buffers = places.data();
  char *arenaPlace = take(arena.front());
  call.arena = arenaPlace;
  call.scratchBytes =
      device->rehearse(function, {places.size(), dims.size()}, call.dims);
  Buffer kernelScratch("scratch memory", call.scratchBytes, /*elementBytes=*/1,
                       /*isWritten=*/true);
  char *scratchPlace = take(kernelScratch);
  call.scratch = scratchPlace;
  auto runOnce = [&] {
    if (status.ok())
      status = device->call(function, call, {places.size(), dims.size()}, {});
  };
  auto wait = [&] {
    if (status.ok())
      status = device->fetch(nullptr, nullptr, 0);
    return std::chrono::steady_clock::now();
  };
  runOnce();
  if (seconds) {
    // The second call is recorded as a graph.
    runOnce();
    auto start = wait();
    for (int64_t run = 0; run < runs; ++run)
      runOnce();
    *seconds = std::chrono::duration<double>(wait() - start).count() /
               static_cast<double>(runs);
  }
  for (size_t i = 0; i < buffers.size(); ++i) {
    char *place = static_cast<char *>(places[i].at);
    if (status.ok())
      status = device->fetch(static_cast<char *>(buffers[i].elements()), place,
                             buffers[i].bytes);
    if (place)
      device->giveBack(place, buffers[i].bytes);
  }
  if (arenaPlace)
    device->giveBack(arenaPlace, arena.front().bytes);
  if (scratchPlace)
    device->giveBack(scratchPlace, kernelScratch.bytes);
  return status;
}

Status EntryCall::checkGuards() const {
  if (!failure.ok())
    return failure;
  for (const std::vector<Buffer> *each : {&buffers, &arena, &scratch})
    for (const Buffer &buffer : *each)
      if (!buffer.hasIntactGuards())
        return Status::error("memory around '", buffer.name, "' was written");
  return Status::success();
}

//===----------------------------------------------------------------------===//
// EntryRunner
//===----------------------------------------------------------------------===//

Result<EntryRunner> EntryRunner::open(const std::string &path) {
  Result<Artifact> artifact = Artifact::open(path);
  if (!artifact.ok())
    return artifact.status();
  Result<Manifest> manifest =
      parseManifest(artifact->section("manifest").value_or(""));
  if (!manifest.ok())
    return manifest.status();
  std::unique_ptr<CudaModel> gpu;
  if (!manifest->gpus.empty()) {
    setenv("HEDDLE_LIBCUDA", HEDDLE_FAKE_CUDA, /*replace=*/0);
    auto opened = CudaModel::open(*artifact, manifest->gpus);
    if (!opened.ok())
      return opened.status();
    gpu = std::move(*opened);
  }
  Result<CodeLibrary> library =
      gpu ? CodeLibrary::loadSection(*artifact, gpu->architecture())
          : CodeLibrary::load(*artifact, manifest->isas);
  if (!library.ok())
    return library.status();
  return EntryRunner(std::move(*artifact), std::move(*manifest),
                     std::move(*library), std::move(gpu));
}

Result<EntryCall>
EntryRunner::prepare(std::string_view name,
                     const std::vector<std::pair<Dim, int64_t>> &dims) const {
  const Entry *entry = this->entry(name);
  if (!entry)
    return Status::error("there is no entry '", name, "'");
  Result<HeddleEntry> function = library.function<HeddleEntry>(entry->symbol);
  if (!function.ok())
    return function.status();
  Result<HeddleArenaSize> arenaSize =
      library.function<HeddleArenaSize>(entry->arenaSymbol);
  if (!arenaSize.ok())
    return arenaSize.status();
  auto scratchSize = library.function<HeddleScratchSize>(HEDDLE_SCRATCH);
  if (!scratchSize.ok())
    return scratchSize.status();

  DimValues values;
  for (auto [dim, value] : dims)
    values[dim] = value;
  EntryCall call;
  call.function = *function;
  for (const Argument &argument : entry->arguments) {
    int64_t size = elementSize(argument.type);
    call.buffers.emplace_back(argument.name,
                              argument.byteSize(values).value_or(0) / size,
                              size, argument.kind == ArgumentKind::Output);
  }
  for (EntryCall::Buffer &buffer : call.buffers)
    call.addresses.push_back({buffer.elements()});
  for (const Extent &dim : entry->dims)
    call.dims.push_back(dim.in(values));
  call.arena.emplace_back("the arena", (*arenaSize)(call.dims.data()),
                          /*elementBytes=*/1, /*isWritten=*/true);
  call.scratchBytes = (*scratchSize)();
  call.weights =
      gpu ? gpu->weights() : artifact.section("weights").value_or("").data();
  if (gpu)
    call.device = gpu->makeDevice();
  call.recorder = recorder;
  call.record.entry = name;
  call.record.dims = values;
  return call;
}
