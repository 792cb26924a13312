//===- CudaDevice.cpp - A session on an NVIDIA GPU ------------------------===//
//
// All that a session asks for goes into one stream, and happens there in that
// order. What the host has is pinned, so that copies run behind its back;
// `fetch` waits for them, and for all that was asked for before.
//
//===----------------------------------------------------------------------===//

#include "runtime/code/FloatEnvironment.h"
#include "runtime/cuda/CallGraphs.h"
#include "runtime/cuda/CudaModel.h"

#include <algorithm>
#include <set>
#include <utility>

using namespace heddle;
using namespace heddle::cuda;

/// Parents that there is room for at least: 4 KiB.
static constexpr int64_t kLeastParents = 1024;

/// Rows that a thread moves if their order does not matter.
static constexpr int64_t kRowsOfMover = 4;

/// What short sentences are taken for.
static constexpr int64_t kLeastPositions = 8;
/// Rows up to which their number is a power of two.
static constexpr int64_t kFewRows = 32;
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
  Status copy(char *to, const char *from, int64_t bytes) override;
  Status clear(char *memory, int64_t bytes) override;
  Status moveRows(const DeviceRows &rows,
                  const std::vector<int32_t> &parents) override;
  int64_t roundPositions(int64_t count) const override;
  int64_t roundRows(int64_t count) const override;
  int64_t rehearse(HeddleEntry entry, const CallSizes &sizes,
                   const int64_t *dims) override;
  Status makeReady(int64_t rows) override;
  bool mergesRanges() const override { return true; }
  Status failure() const override { return failedFirst; }
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
  Status takeParents(int64_t count);
  void giveBackParents();
  Status sendParents(const std::vector<int32_t> &next);
  Status move(const DeviceRows &rows, const std::vector<int32_t> &next);
  Status wait();
  Status noted(Status status);
  Status ended(Status status);
  Status launchNumber(int64_t number, int64_t blocks, const void *context);

  const CudaModel &model;
  const Driver &api;
  Stream stream = nullptr;
  /// Kernels of rehearsed calls that may not be ready.
  std::set<int64_t> rehearsed;
  /// The call that is made.
  const HeddleCall *current = nullptr;
  CallGraphs graphs{api};
  /// Where rows come from: what the device has or gets, and memory for as many
  /// of them, pinned and its own.
  std::vector<int32_t> parents;
  char *pinnedParents = nullptr, *deviceParents = nullptr;
  int64_t mostParents = 0;
  /// They may not have arrived.
  bool sendsParents = false;
  /// What made `status` of an entry what it is.
  Status launchFailure = Status::success();
  Status failedFirst = Status::success();
};
} // namespace

CudaDevice::~CudaDevice() {
  if (!stream || !model.enter().ok())
    return;
  graphs.clear();
  giveBackParents();
  api.cuStreamDestroy_v2(stream);
}

/// Makes this thread the device's, and the stream if there is none.
Status CudaDevice::begin() {
  if (Status status = model.enter(); !status.ok())
    return noted(status);
  if (stream)
    return Status::success();
  return noted(
      api.check(api.cuStreamCreate(&stream, kNonBlocking), "cuStreamCreate"));
}

/// Remembers that something failed.
Status CudaDevice::noted(Status status) {
  if (failedFirst.ok())
    failedFirst = status;
  return status;
}

Result<char *> CudaDevice::take(int64_t bytes) {
  if (Status status = begin(); !status.ok())
    return Status::error("cannot run: ", status.message());
  Pointer memory = 0;
  if (Status status = noted(api.allocate(&memory, size_t(bytes), "a batch"));
      !status.ok())
    return Status::error("cannot run: ", status.message());
  return reinterpret_cast<char *>(memory);
}

/// Until all is done that was asked for.
Status CudaDevice::wait() {
  sendsParents = false;
  return noted(
      api.check(api.cuStreamSynchronize(stream), "cuStreamSynchronize"));
}

/// What became of something that was asked for: after a failure the host may
/// write again what the device would have read.
Status CudaDevice::ended(Status status) {
  status = noted(std::move(status));
  if (!status.ok() && stream)
    (void)wait();
  return status;
}

void CudaDevice::giveBack(char *memory, int64_t) {
  if (!model.enter().ok())
    return;
  // What still runs may use it.
  (void)wait();
  api.cuMemFree_v2(addressOf(memory));
}

Result<char *> CudaDevice::takeMirror(char *, int64_t bytes) {
  if (Status status = begin(); !status.ok())
    return Status::error("cannot run: ", status.message());
  void *mirror = nullptr;
  if (Status status = noted(api.check(
          api.cuMemHostAlloc(&mirror, size_t(bytes), 0), "cuMemHostAlloc"));
      !status.ok())
    return Status::error("needs ", bytes,
                         " bytes of pinned memory: ", status.message());
  return static_cast<char *>(mirror);
}

void CudaDevice::giveBackMirror(char *mirror, int64_t) {
  if (!model.enter().ok())
    return;
  (void)wait();
  api.cuMemFreeHost(mirror);
}

Status CudaDevice::send(char *memory, const char *mirror, int64_t bytes) {
  if (bytes == 0)
    return Status::success();
  if (Status status = begin(); !status.ok())
    return status;
  return ended(api.check(api.cuMemcpyHtoDAsync_v2(addressOf(memory), mirror,
                                                  size_t(bytes), stream),
                         "cuMemcpyHtoDAsync"));
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
      return ended(status);
  return wait();
}

Status CudaDevice::copy(char *to, const char *from, int64_t bytes) {
  if (Status status = begin(); !status.ok())
    return status;
  return ended(
      api.check(api.cuMemcpyDtoDAsync_v2(addressOf(to), addressOf(from),
                                         size_t(bytes), stream),
                "cuMemcpyDtoDAsync"));
}

Status CudaDevice::clear(char *memory, int64_t bytes) {
  if (Status status = begin(); !status.ok())
    return status;
  return ended(api.check(
      api.cuMemsetD8Async(addressOf(memory), 0, size_t(bytes), stream),
      "cuMemsetD8Async"));
}

static int64_t bytesOfParents(int64_t count) {
  return count * int64_t(sizeof(int32_t));
}

void CudaDevice::giveBackParents() {
  parents.clear();
  if (deviceParents)
    giveBack(std::exchange(deviceParents, nullptr),
             bytesOfParents(mostParents));
  if (pinnedParents)
    giveBackMirror(std::exchange(pinnedParents, nullptr),
                   bytesOfParents(mostParents));
  mostParents = 0;
}

/// Memory for the parents of so many rows.
Status CudaDevice::takeParents(int64_t count) {
  if (count <= mostParents)
    return Status::success();
  giveBackParents();
  count = std::max(count, kLeastParents);
  Result<char *> own = take(bytesOfParents(count));
  if (!own.ok())
    return own.status();
  deviceParents = *own;
  Result<char *> pinned = takeMirror(deviceParents, bytesOfParents(count));
  if (!pinned.ok())
    return pinned.status();
  pinnedParents = *pinned;
  mostParents = count;
  return Status::success();
}

/// All states of a session move by the same ones.
Status CudaDevice::sendParents(const std::vector<int32_t> &next) {
  if (next == parents)
    return Status::success();
  int64_t count = int64_t(next.size());
  if (Status status = takeParents(count); !status.ok())
    return status;
  // The driver reads what is pinned when the copy is made.
  if (sendsParents)
    if (Status status = wait(); !status.ok())
      return status;
  // Until the copy is there.
  parents.clear();
  std::copy(next.begin(), next.end(),
            reinterpret_cast<int32_t *>(pinnedParents));
  sendsParents = true;
  Status status = send(deviceParents, pinnedParents, bytesOfParents(count));
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
  return ended(move(rows, next));
}

/// Whether rows are moved in pieces of 16 bytes.
static bool areWide(const DeviceRows &rows) {
  uint64_t all = addressOf(rows.rows) | addressOf(rows.spare) |
                 uint64_t(rows.rowBytes) | uint64_t(rows.usedBytes);
  return all % 16 == 0;
}

Status CudaDevice::move(const DeviceRows &rows,
                        const std::vector<int32_t> &next) {
  if (Status status = sendParents(next); !status.ok())
    return status;
  int64_t pieceBytes = areWide(rows) ? 16 : 4;
  int64_t pieces = rows.usedBytes / pieceBytes, count = int64_t(next.size());
  auto launch = [&](const char *from, char *to, int64_t rowsOfThread,
                    bool gathers) {
    HeddleRowMove parameter = {};
    parameter.from = addressOf(from);
    parameter.to = addressOf(to);
    parameter.parents = addressOf(deviceParents);
    parameter.rowBytes = uint64_t(rows.rowBytes);
    parameter.rows = int32_t(count);
    parameter.pieces = int32_t(pieces);
    parameter.pieceBytes = int32_t(pieceBytes);
    parameter.rowsOfThread = int32_t(rowsOfThread);
    parameter.gathers = gathers;
    int64_t threads = pieces * blocksFor(count, rowsOfThread);
    return launchNumber(model.ownKernels().moveRows,
                        blocksFor(threads, HEDDLE_MOVE_THREADS), &parameter);
  };
  if (moveToFront(next))
    return launch(rows.rows, rows.rows, count, /*gathers=*/true);
  if (Status status = launch(rows.rows, rows.spare, kRowsOfMover, true);
      !status.ok())
    return status;
  return launch(rows.spare, rows.rows, kRowsOfMover, false);
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

/// Few rows cost what one does: weights are read once. More cost as much as
/// there are, or nearly.
int64_t CudaDevice::roundRows(int64_t count) const {
  return count == 0 || count > kFewRows ? roundPositions(count)
                                        : toPowerOfTwo(count);
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
  std::vector<HeddleAddress> buffers(sizes.buffers);
  HeddleCall call = {};
  call.buffers = buffers.data();
  call.dims = dims;
  call.device = &rehearsal;
  FloatEnvironment environment;
  entry(&call);
  rehearsed.merge(rehearsal.kernels);
  return rehearsal.scratchBytes;
}

Status CudaDevice::makeReady(int64_t rows) {
  if (Status status = begin(); !status.ok())
    return status;
  if (Status status = takeParents(rows); !status.ok())
    return Status::error("cannot keep the order of ", rows,
                         " rows: ", status.message());
  const CudaModel::OwnKernels &own = model.ownKernels();
  rehearsed.insert({own.moveRows, own.writeHistory, own.mergeRanges});
  return noted(model.loadKernels(std::exchange(rehearsed, {})));
}

Status CudaDevice::call(HeddleEntry entry, HeddleCall &call,
                        const CallSizes &sizes, const CallFrame &frame) {
  if (Status begun = begin(); !begun.ok())
    return begun;
  call.device = this;
  return ended(graphs.call(entry, call, sizes, frame, stream,
                           [&] { return start(entry, call, frame); }));
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
    int32_t code = entry(&call);
    if (code == 0)
      return Status::success();
    if (launchFailure.ok())
      launchFailure =
          Status::error("the compiled code ended with the status ", code);
  }
  // Another batch may do better.
  status = 0;
  return std::exchange(launchFailure, Status::success());
}

Status CudaDevice::launchNumber(int64_t number, int64_t blocks,
                                const void *context) {
  Result<const CudaModel::Kernel *> found = model.kernel(number);
  if (!found.ok())
    return found.status();
  const CudaModel::Kernel &kernel = **found;
  if (kernel.stayingCluster > 0)
    blocks = std::min(blocks, kernel.mostBlocks);
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
  self.launchFailure = self.launchNumber(kernel, blocks, context);
  self.status = self.launchFailure.ok() ? 0 : 1;
}

void *CudaDevice::takeScratch(HeddleDevice *device, int64_t bytes) {
  auto &self = *static_cast<CudaDevice *>(device);
  if (bytes <= self.current->scratchBytes)
    return self.current->scratch;
  if (self.status == 0) {
    self.launchFailure =
        Status::error("the compiled code asks for ", bytes,
                      " bytes of scratch memory, expected at most ",
                      self.current->scratchBytes);
    self.status = 1;
  }
  return nullptr;
}

std::unique_ptr<heddle::Device> CudaModel::makeDevice() const {
  return std::make_unique<CudaDevice>(*this);
}
