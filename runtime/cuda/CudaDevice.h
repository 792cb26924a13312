//===- CudaDevice.h - A session on an NVIDIA GPU ----------------*- C++ -*-===//
//
// All that a session asks for goes into one stream, and happens there in that
// order. What the host has is pinned, so that copies run behind its back;
// `fetch` waits for them, and for all that was asked for before.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_CUDA_CUDADEVICE_H
#define HEDDLE_RUNTIME_CUDA_CUDADEVICE_H

#include "runtime/cuda/CallGraphs.h"
#include "runtime/cuda/CudaModel.h"
#include "runtime/cuda/PagedMemory.h"
#include "runtime/session/Device.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <vector>

namespace heddle {

namespace cuda {
inline Pointer addressOf(const char *memory) {
  return reinterpret_cast<Pointer>(memory);
}

/// Blocks of `ofBlock` threads that have so many.
inline int64_t blocksFor(int64_t threads, int64_t ofBlock) {
  return (threads + ofBlock - 1) / ofBlock;
}
} // namespace cuda

/// Borrows the model. One thread at a time.
class CudaDevice final : public Device, private HeddleDevice {
public:
  explicit CudaDevice(const CudaModel &model)
      : HeddleDevice{launchKernel, takeScratch, 0}, model(model),
        api(model.driver()) {}
  ~CudaDevice() override;

  Result<char *> take(int64_t bytes) override;
  void giveBack(char *memory, int64_t bytes) override;
  Result<char *> reserve(int64_t bytes) override;
  Status touch(char *memory, int64_t bytes) override;
  Status forget(char *memory, int64_t bytes) override;
  std::optional<int64_t> pageBytes() const override;
  std::optional<int64_t> freeBytes() override;
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
  const cuda::Driver &api;
  cuda::Stream stream = nullptr;
  /// Kernels of rehearsed calls that may not be ready.
  std::set<int64_t> rehearsed;
  /// The call that is made.
  const HeddleCall *current = nullptr;
  CallGraphs graphs{api};
  /// What costs memory where it is touched; null if the device maps none.
  std::unique_ptr<PagedMemory> paged;
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

} // namespace heddle

#endif // HEDDLE_RUNTIME_CUDA_CUDADEVICE_H
