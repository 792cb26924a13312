//===- CudaDevice.cpp - A session on an NVIDIA GPU ------------------------===//
//
// All that a session asks for goes into one stream, and happens there in that
// order. What the host has is pinned, so that copies run behind its back;
// `fetch` waits for them, and for all that was asked for before.
//
//===----------------------------------------------------------------------===//

#include "runtime/FloatEnvironment.h"
#include "runtime/cuda/CallGraphs.h"
#include "runtime/cuda/CudaModel.h"

#include <algorithm>
#include <set>
#include <utility>

using namespace heddle;
using namespace heddle::cuda;

/// CUstream_flags: beside the streams of other sessions.
static constexpr unsigned kNonBlocking = 1;

/// Rows that a thread moves where their order does not matter.
static constexpr int64_t kRowsOfMover = 4;

/// What short sentences are taken for.
static constexpr int64_t kLeastPositions = 8;
/// More than any memory has room for.
static constexpr int64_t kMostRounded = int64_t(1) << 40;

static Pointer addressOf(const char *memory) {
  return reinterpret_cast<Pointer>(memory);
}

static int64_t blocksFor(int64_t threads, int64_t ofBlock) {
  return (threads + ofBlock - 1) / ofBlock;
}

namespace {
class CudaDevice final : public heddle::Device, private HeddleDevice {
public:
  explicit CudaDevice(const CudaModel &model)
      : HeddleDevice{launchKernel, takeScratch, 0}, model(model),
        api(model.driver()) {}
  ~CudaDevice() override;

  Result<char *> take(int64_t bytes) override;
  void giveBack(char *memory, int64_t bytes) override;
  Result<char *> takeMirror(char *memory, int64_t bytes) override;
  void giveBackMirror(char *mirror, int64_t bytes) override;
  Status send(char *memory, const char *mirror, int64_t bytes) override;
  Status fetch(char *mirror, const char *memory, int64_t bytes) override;
  Status clear(char *memory, int64_t bytes) override;
  Status moveRows(const DeviceRows &rows,
                  const std::vector<int32_t> &parents) override;
  int64_t roundPositions(int64_t count) const override;
  int64_t roundRows(int64_t count) const override;
  int64_t rehearse(HeddleEntry entry, const CallSizes &sizes,
                   const int64_t *dims) override;
  Status makeReady() override;
  bool mergesRanges() const override { return true; }
  Status call(HeddleEntry entry, HeddleCall &call, const CallSizes &sizes,
              const CallFrame &frame) override;

private:
  static void launchKernel(HeddleDevice *device, int64_t kernel, int64_t blocks,
                           const void *context);
  static void *takeScratch(HeddleDevice *device, int64_t bytes);
  Status begin();
  Status start(HeddleEntry entry, const HeddleCall &call,
               const CallFrame &frame);
  Status startEntry(HeddleEntry entry, const HeddleCall &call);
  Status write(const HistoryWrite &history);
  Status merge(const RangeMerge &ranges);
  Status sendParents(const std::vector<int32_t> &parents);
  Status launchNumber(int64_t number, int64_t blocks, const void *context);

  const CudaModel &model;
  const Driver &api;
  Stream stream = nullptr;
  /// Kernels of rehearsed calls that may not be ready.
  std::set<int64_t> rehearsed;
  /// What kernels leave for each other: of the call that is made, or, where
  /// that has too little, of the device.
  const HeddleCall *current = nullptr;
  char *scratchAt = nullptr;
  int64_t scratchBytes = 0;
  CallGraphs graphs{api};
  /// The device's copy of `parents`.
  char *parentsAt = nullptr;
  int64_t parentsBytes = 0;
  std::vector<int32_t> parents;
  /// What made `status` of an entry what it is.
  Status failure = Status::success();
};
} // namespace

CudaDevice::~CudaDevice() {
  if (!stream || !model.enter().ok())
    return;
  graphs.clear();
  if (scratchAt)
    giveBack(scratchAt, scratchBytes);
  if (parentsAt)
    giveBack(parentsAt, parentsBytes);
  api.cuStreamDestroy_v2(stream);
}

/// Makes this thread the device's, and the stream where there is none.
Status CudaDevice::begin() {
  if (Status status = model.enter(); !status.ok())
    return status;
  if (stream)
    return Status::success();
  return api.check(api.cuStreamCreate(&stream, kNonBlocking), "cuStreamCreate");
}

Result<char *> CudaDevice::take(int64_t bytes) {
  if (Status status = begin(); !status.ok())
    return Status::error("cannot run: ", status.message());
  Pointer memory = 0;
  if (Status status =
          api.check(api.cuMemAlloc_v2(&memory, size_t(bytes)), "cuMemAlloc");
      !status.ok())
    return Status::error("needs ", bytes,
                         " bytes of the GPU's memory: ", status.message());
  return reinterpret_cast<char *>(memory);
}

void CudaDevice::giveBack(char *memory, int64_t) {
  if (!model.enter().ok())
    return;
  // What still runs may use it.
  api.cuStreamSynchronize(stream);
  api.cuMemFree_v2(addressOf(memory));
}

Result<char *> CudaDevice::takeMirror(char *, int64_t bytes) {
  if (Status status = begin(); !status.ok())
    return Status::error("cannot run: ", status.message());
  void *mirror = nullptr;
  if (Status status =
          api.check(api.cuMemHostAlloc(&mirror, size_t(bytes), /*flags=*/0),
                    "cuMemHostAlloc");
      !status.ok())
    return Status::error("needs ", bytes,
                         " bytes of pinned memory: ", status.message());
  return static_cast<char *>(mirror);
}

void CudaDevice::giveBackMirror(char *mirror, int64_t) {
  if (!model.enter().ok())
    return;
  api.cuStreamSynchronize(stream);
  api.cuMemFreeHost(mirror);
}

Status CudaDevice::send(char *memory, const char *mirror, int64_t bytes) {
  if (bytes == 0)
    return Status::success();
  if (Status status = begin(); !status.ok())
    return status;
  return api.check(api.cuMemcpyHtoDAsync_v2(addressOf(memory), mirror,
                                            size_t(bytes), stream),
                   "cuMemcpyHtoDAsync");
}

Status CudaDevice::fetch(char *mirror, const char *memory, int64_t bytes) {
  if (Status status = begin(); !status.ok())
    return status;
  if (bytes > 0)
    if (Status status =
            api.check(api.cuMemcpyDtoHAsync_v2(mirror, addressOf(memory),
                                               size_t(bytes), stream),
                      "cuMemcpyDtoHAsync");
        !status.ok())
      return status;
  return api.check(api.cuStreamSynchronize(stream), "cuStreamSynchronize");
}

Status CudaDevice::clear(char *memory, int64_t bytes) {
  if (Status status = begin(); !status.ok())
    return status;
  return api.check(
      api.cuMemsetD8Async(addressOf(memory), 0, size_t(bytes), stream),
      "cuMemsetD8Async");
}

/// All states of a session move by the same ones.
Status CudaDevice::sendParents(const std::vector<int32_t> &next) {
  if (next == parents)
    return Status::success();
  // Until the copy is there.
  parents.clear();
  int64_t bytes = int64_t(next.size() * sizeof(int32_t));
  if (bytes > parentsBytes) {
    if (parentsAt)
      giveBack(std::exchange(parentsAt, nullptr),
               std::exchange(parentsBytes, 0));
    Result<char *> taken = take(bytes);
    if (!taken.ok())
      return taken.status();
    parentsAt = *taken;
    parentsBytes = bytes;
  }
  // Not pinned: the driver has read it when it returns.
  Status status =
      send(parentsAt, reinterpret_cast<const char *>(next.data()), bytes);
  if (status.ok())
    parents = next;
  return status;
}

Status CudaDevice::moveRows(const DeviceRows &rows,
                            const std::vector<int32_t> &next) {
  if (stayInPlace(next))
    return Status::success();
  if (Status status = begin(); !status.ok())
    return status;
  if (Status status = sendParents(next); !status.ok())
    return status;
  int64_t words = rows.usedBytes / 4, count = int64_t(next.size());
  auto move = [&](const char *from, char *to, int64_t rowsOfThread,
                  bool gathers) {
    HeddleRowMove parameter = {addressOf(from),       addressOf(to),
                               addressOf(parentsAt),  uint64_t(rows.rowBytes),
                               int32_t(count),        int32_t(words),
                               int32_t(rowsOfThread), gathers};
    int64_t threads = words * blocksFor(count, rowsOfThread);
    return launchNumber(model.ownKernels().moveRows,
                        blocksFor(threads, HEDDLE_MOVE_THREADS), &parameter);
  };
  if (moveToFront(next))
    return move(rows.rows, rows.rows, count, /*gathers=*/true);
  if (Status status = move(rows.rows, rows.spare, kRowsOfMover, true);
      !status.ok())
    return status;
  return move(rows.spare, rows.rows, kRowsOfMover, false);
}

/// The least power of two that is not below; `count` is at most kMostRounded.
static int64_t toPowerOfTwo(int64_t count) {
  int64_t power = 1;
  while (power < count)
    power *= 2;
  return power;
}

/// A quarter more at most, but for the shortest ones.
int64_t CudaDevice::roundPositions(int64_t count) const {
  if (count > kMostRounded)
    return count;
  int64_t step = std::max<int64_t>(toPowerOfTwo(count) / 8, kLeastPositions);
  return (count + step - 1) / step * step;
}

/// Few rows cost what one does: weights are read once.
int64_t CudaDevice::roundRows(int64_t count) const {
  return count == 0 || count > kMostRounded ? count : toPowerOfTwo(count);
}

namespace {
/// Takes down what an entry asks for, and does nothing.
struct Rehearsal : HeddleDevice {
  Rehearsal() : HeddleDevice{noteKernel, noteScratch, 0} {}

  static void noteKernel(HeddleDevice *device, int64_t kernel, int64_t blocks,
                         const void *) {
    if (blocks > 0)
      static_cast<Rehearsal *>(device)->kernels.insert(kernel);
  }
  static void *noteScratch(HeddleDevice *device, int64_t bytes) {
    int64_t &most = static_cast<Rehearsal *>(device)->scratchBytes;
    most = std::max(most, bytes);
    return nullptr;
  }

  std::set<int64_t> kernels;
  int64_t scratchBytes = 0;
};
} // namespace

int64_t CudaDevice::rehearse(HeddleEntry entry, const CallSizes &sizes,
                             const int64_t *dims) {
  Rehearsal rehearsal;
  // Addresses are handed on and never followed.
  std::vector<void *> buffers(sizes.buffers);
  HeddleCall call = {};
  call.buffers = buffers.data();
  call.dims = dims;
  call.device = &rehearsal;
  FloatEnvironment environment;
  entry(&call);
  rehearsed.merge(rehearsal.kernels);
  return rehearsal.scratchBytes;
}

Status CudaDevice::makeReady() {
  if (Status status = begin(); !status.ok())
    return status;
  const CudaModel::OwnKernels &own = model.ownKernels();
  rehearsed.insert({own.moveRows, own.writeHistory, own.mergeRanges});
  return model.loadKernels(std::exchange(rehearsed, {}));
}

Status CudaDevice::call(HeddleEntry entry, HeddleCall &call,
                        const CallSizes &sizes, const CallFrame &frame) {
  if (Status begun = begin(); !begun.ok())
    return begun;
  call.device = this;
  return graphs.call(entry, call, sizes, frame, stream,
                     [&] { return start(entry, call, frame); });
}

/// Puts the kernels of an entry, and those around them, into the stream.
Status CudaDevice::start(HeddleEntry entry, const HeddleCall &call,
                         const CallFrame &frame) {
  if (frame.history)
    if (Status written = write(*frame.history); !written.ok())
      return written;
  if (Status started = startEntry(entry, call); !started.ok())
    return started;
  return frame.merge ? merge(*frame.merge) : Status::success();
}

Status CudaDevice::write(const HistoryWrite &history) {
  HeddleHistoryWrite parameter = {
      addressOf(history.history), addressOf(history.positions),
      addressOf(history.caches), int32_t(history.rows),
      int32_t(history.capacity)};
  return launchNumber(model.ownKernels().writeHistory,
                      blocksFor(history.rows, HEDDLE_HISTORY_THREADS),
                      &parameter);
}

Status CudaDevice::merge(const RangeMerge &ranges) {
  int64_t elements = ranges.rows * ranges.ranges * ranges.count;
  if (elements > INT32_MAX)
    return Status::error("a step keeps ", elements,
                         " logits, more than a GPU merges");
  HeddleRangeMerge parameter = {
      addressOf(ranges.values),     addressOf(ranges.ids),
      addressOf(ranges.bestValues), addressOf(ranges.bestIds),
      int32_t(ranges.rows),         int32_t(ranges.ranges),
      int32_t(ranges.count)};
  return launchNumber(model.ownKernels().mergeRanges,
                      blocksFor(elements, HEDDLE_MERGE_THREADS), &parameter);
}

Status CudaDevice::startEntry(HeddleEntry entry, const HeddleCall &call) {
  {
    FloatEnvironment environment;
    current = &call;
    if (entry(&call) == 0)
      return Status::success();
  }
  // Another batch may do better.
  status = 0;
  return std::exchange(failure, Status::success());
}

Status CudaDevice::launchNumber(int64_t number, int64_t blocks,
                                const void *context) {
  Result<const CudaModel::Kernel *> found = model.kernel(number);
  if (!found.ok())
    return found.status();
  const CudaModel::Kernel &kernel = **found;
  if (blocks > INT32_MAX)
    return Status::error("kernel '", kernel.name, "' needs ", blocks,
                         " blocks, more than a GPU counts");
  void *parameters[] = {const_cast<void *>(context)};
  Status status =
      api.check(api.cuLaunchKernel(kernel.function, unsigned(blocks), 1, 1,
                                   kernel.threads, 1, 1, kernel.sharedBytes,
                                   stream, parameters, /*extra=*/nullptr),
                "cuLaunchKernel");
  if (!status.ok())
    return Status::error("kernel '", kernel.name, "': ", status.message());
  return status;
}

void CudaDevice::launchKernel(HeddleDevice *device, int64_t kernel,
                              int64_t blocks, const void *context) {
  auto &self = *static_cast<CudaDevice *>(device);
  if (self.status != 0 || blocks == 0)
    return;
  self.failure = self.launchNumber(kernel, blocks, context);
  self.status = self.failure.ok() ? 0 : 1;
}

void *CudaDevice::takeScratch(HeddleDevice *device, int64_t bytes) {
  auto &self = *static_cast<CudaDevice *>(device);
  if (bytes <= self.current->scratchBytes)
    return self.current->scratch;
  if (self.status != 0 || bytes <= self.scratchBytes)
    return self.scratchAt;
  // Graphs name it.
  self.graphs.clear();
  if (self.scratchAt)
    self.giveBack(std::exchange(self.scratchAt, nullptr),
                  std::exchange(self.scratchBytes, 0));
  Result<char *> taken = self.take(bytes);
  if (taken.ok()) {
    self.scratchAt = *taken;
    self.scratchBytes = bytes;
  } else {
    self.failure = taken.status();
    self.status = 1;
  }
  return self.scratchAt;
}

std::unique_ptr<heddle::Device> CudaModel::makeDevice() const {
  return std::make_unique<CudaDevice>(*this);
}
