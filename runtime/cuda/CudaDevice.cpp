//===- CudaDevice.cpp - The calls of a session on a GPU -------------------===//
//
// An entry is the host's code, which puts kernels into the stream. It is
// rehearsed first, so that they are loaded, and its scratch memory taken,
// before it is called.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/CudaDevice.h"

#include "runtime/code/FloatEnvironment.h"

#include <algorithm>
#include <set>
#include <utility>

using namespace heddle;
using namespace heddle::cuda;

/// What short sentences are taken for.
static constexpr int64_t kLeastPositions = 8;
/// Rows up to which their number is a power of two.
static constexpr int64_t kFewRows = 32;
/// More than any memory has room for.
static constexpr int64_t kMostRounded = int64_t(1) << 40;

CudaDevice::~CudaDevice() {
  if (!stream || !model.enter().ok())
    return;
  graphs.clear();
  giveBackParents();
  paged.reset();
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
