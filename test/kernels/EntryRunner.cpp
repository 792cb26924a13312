//===- EntryRunner.cpp - Call the entry points of a module ----------------===//
//
// The compiler runs in a child that is forked from this process: a crash is the
// child's, and LLVM's libraries are loaded once. To load them takes longer than
// to compile most layers.
//
//===----------------------------------------------------------------------===//

#include "test/kernels/EntryRunner.h"

#include "runtime/code/FloatEnvironment.h"
#include "runtime/code/IsaLevels.h"
#include "test/kernels/ArtifactCache.h"
#include "tools/compile/Compiler.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <sys/mman.h>
#include <sys/wait.h>
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
  }
  int64_t threads = pool ? pool->size() : 1;
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

/// A file of safetensors: the length of a JSON header, it, the bytes. Empty if
/// there are no weights.
static std::string safetensorsOf(const Weights &weights) {
  if (weights.empty())
    return "";
  std::string header, bytes;
  for (const auto &[name, weight] : weights) {
    header += header.empty() ? "{" : ",";
    header += "\"" + name + "\":{\"dtype\":\"F32\",\"shape\":[";
    for (size_t i = 0; i < weight.shape.size(); ++i)
      header += (i ? "," : "") + std::to_string(weight.shape[i]);
    header += "],\"data_offsets\":[" + std::to_string(bytes.size()) + ",";
    bytes.append(reinterpret_cast<const char *>(weight.values.data()),
                 4 * weight.values.size());
    header += std::to_string(bytes.size()) + "]}";
  }
  header += "}";
  uint64_t length = header.size();
  std::string file(reinterpret_cast<const char *>(&length), sizeof length);
  return file + header + bytes;
}

/// What a whole model has to have; entries without a role are left alone.
static constexpr const char *kModelBegin = R"(
module attributes {
  transformer.family = "test",
  transformer.generation = {eos = array<i32: 0>, max_source = 8 : i32,
                            max_target = 8 : i32},
  transformer.vocabulary = {source = 8 : i32, target = 8 : i32}
} {
  transformer.parameter @nothing : tensor<8x8xf32> zeros
  func.func private @encode(%ids: tensor<?x?xi32> {
      transformer.name = "ids", transformer.dims = ["batch", "source"]})
      attributes {transformer.forms = ["full"]} {
    return
  }
  func.func private @decode(%ids: tensor<?x?xi32> {
      transformer.name = "ids", transformer.dims = ["batch", "target"],
      transformer.target}) -> (tensor<?x?x8xf32> {transformer.name = "logits"})
      attributes {transformer.forms = ["full"]} {
    %nothing = transformer.weight @nothing : tensor<8x8xf32>
    %logits = transformer.embedding %ids, %nothing
      : (tensor<?x?xi32>, tensor<8x8xf32>) -> tensor<?x?x8xf32>
    return %logits : tensor<?x?x8xf32>
  }
)";

/// A folder that goes with its object.
namespace {
class TemporaryFolder {
public:
  TemporaryFolder()
      : path(std::filesystem::temp_directory_path() / "heddle-XXXXXX") {
    if (!mkdtemp(path.data()))
      path.clear();
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  ~TemporaryFolder() {
    if (!path.empty())
      std::filesystem::remove_all(path);
  }

  std::string path;
};
} // namespace

std::string EntryRunner::wholeModel(const std::string &body) {
  // MLIR takes aliases outside of modules alone.
  std::string aliases, rest;
  std::istringstream lines(body);
  for (std::string line; std::getline(lines, line);)
    (line[0] == '!' ? aliases : rest) += line + "\n";
  return aliases + kModelBegin + rest + "}\n";
}

/// Does what heddle-compile does with these arguments in a folder.
static Status runCompilerIn(const std::string &folder,
                            const std::vector<std::string> &arguments) {
  std::vector<const char *> pointers;
  for (const std::string &argument : arguments)
    pointers.push_back(argument.c_str());
  std::string errors = folder + "/errors";
  fflush(nullptr);
  pid_t child = fork();
  if (child == 0) {
    int file = open(errors.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
    if (dup2(file, STDERR_FILENO) < 0 || chdir(folder.c_str()) != 0)
      _exit(1);
    _exit(runCompiler(pointers));
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child)
    return Status::error("cannot start a child: ", strerror(errno));
  if (status == 0)
    return Status::success();
  std::ostringstream text;
  text << std::ifstream(errors).rdbuf();
  if (WIFSIGNALED(status))
    text << "the compiler ended by signal " << WTERMSIG(status);
  return Status::error(text.str());
}

/// Compiles a module to `output` with these flags. `weights` are a file's
/// bytes, empty if there are none.
static Status compileTo(const std::string &output, const std::string &module,
                        const std::string &weights, const std::string &flags) {
  TemporaryFolder folder;
  if (folder.path.empty())
    return Status::error("cannot create a temporary folder");
  std::ofstream(folder.path + "/layer.mlir") << module;
  std::ofstream(folder.path + "/weights.safetensors", std::ios::binary)
      << weights;
  std::vector<std::string> arguments = {"layer.mlir", "-o", output};
  if (!weights.empty())
    arguments.insert(arguments.end(), {"--weights", "weights.safetensors"});
  std::istringstream words(flags);
  arguments.insert(arguments.end(), std::istream_iterator<std::string>(words),
                   {});
  return runCompilerIn(folder.path, arguments);
}

/// Compiles a module with these flags, unless a test of this build has: the
/// path of the artifact, which is `unkept` if no artifacts are kept.
static Result<std::string> compileOnce(const std::string &body,
                                       const Weights &weights,
                                       const std::string &flags,
                                       const std::string &unkept) {
  std::string module = EntryRunner::wholeModel(body);
  std::string bytes = safetensorsOf(weights);
  return ArtifactCache::ofBuild().find(
      {module, flags, bytes}, unkept, [&](const std::string &path) {
        return compileTo(path, module, bytes, flags);
      });
}

Result<EntryRunner> EntryRunner::compile(const std::string &body,
                                         const Weights &weights,
                                         const CodeChoice &choice) {
  TemporaryFolder folder;
  if (folder.path.empty())
    return Status::error("cannot create a temporary folder");
  std::string flags = "--target " + choice.target +
                      (choice.reference ? " --reference " : " ") + choice.flags;
  Result<std::string> artifact =
      compileOnce(body, weights, flags, folder.path + "/layer.heddle");
  if (!artifact.ok())
    return artifact.status();
  Result<EntryRunner> runner = open(*artifact);
  if (!runner.ok() || !runner->gpu)
    return runner;
  runner->recorder = CallRecorder::next();
  if (!runner->recorder)
    return runner;
  if (Status status =
          compileTo(std::filesystem::absolute(runner->recorder->artifact()),
                    wholeModel(body), safetensorsOf(weights),
                    "--target " + CallRecorder::target() + " " + choice.flags);
      !status.ok())
    return status;
  return runner;
}

bool EntryRunner::canAssemble() {
  return std::system("'" HEDDLE_CHECK_PTX "' --find > /dev/null 2>&1") == 0;
}

Status EntryRunner::assemble(const std::string &body, const Weights &weights,
                             const std::string &gpu,
                             const std::string &architectures) {
  TemporaryFolder folder;
  if (folder.path.empty())
    return Status::error("cannot create a temporary folder");
  std::string ptx = folder.path + "/layer.ptx",
              report = folder.path + "/report";
  Status status = compileTo(ptx, wholeModel(body), safetensorsOf(weights),
                            "--emit=asm --target " + gpu);
  if (!status.ok())
    return status;
  std::string command = "'" HEDDLE_CHECK_PTX "' '" + ptx + "' " +
                        architectures + " > '" + report + "' 2>&1";
  if (std::system(command.c_str()) == 0)
    return Status::success();
  std::ostringstream found;
  found << std::ifstream(report).rdbuf();
  return Status::error(found.str());
}

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
