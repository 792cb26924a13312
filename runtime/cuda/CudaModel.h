//===- CudaModel.h - A model on an NVIDIA GPU -------------------*- C++ -*-===//
//
// What the sessions of a model share: the device's context, the weights in its
// memory, and the kernels of the architecture that fits it.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_CUDA_CUDAMODEL_H
#define HEDDLE_RUNTIME_CUDA_CUDAMODEL_H

#include "runtime/Result.h"
#include "runtime/artifact/Artifact.h"
#include "runtime/cuda/CudaDriver.h"
#include "runtime/cuda/WeightUpload.h"
#include "runtime/session/Device.h"

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace heddle {

/// Any number of threads and sessions may share it. Borrows the artifact.
class CudaModel {
public:
  /// Finds the first GPU and its best architecture among `gpus`, the names in
  /// the manifest, or the one that the environment variable HEDDLE_GPU_ARCH
  /// names, and copies the weights there, which `progress` may follow. Errors
  /// are sentences.
  static Result<std::unique_ptr<CudaModel>>
  open(const Artifact &artifact, const std::vector<std::string> &gpus,
       const UploadProgress &progress = {});
  ~CudaModel();
  CudaModel(const CudaModel &) = delete;

  /// The architecture of the code, and so of the entry points.
  const std::string &architecture() const { return name; }
  /// In the device's memory.
  const void *weights() const {
    return reinterpret_cast<const void *>(weightsAt);
  }
  /// What a session runs on; borrows this.
  std::unique_ptr<Device> makeDevice() const;

  const cuda::Driver &driver() const { return *api; }
  cuda::Device number() const { return device; }
  /// The bytes in which the device maps memory to addresses; nullopt if it does
  /// not.
  std::optional<int64_t> pageBytes() const { return mappedBytes; }
  /// Makes this thread one of the device's.
  Status enter() const;

  struct Kernel {
    const char *name, *image;
    /// A cubin, or null.
    const char *binary;
    unsigned threads, sharedBytes;
    /// As the format has it.
    unsigned stayingCluster;
    /// That a launch starts if they stay, once it is loaded.
    int64_t mostBlocks = 0;
    /// Null until it is loaded, by whoever has the lock.
    std::atomic<cuda::Function> function = nullptr;
    cuda::Module module = nullptr;
    /// Why it cannot be loaded, once that is known, of whoever has the lock.
    Status failure = Status::success();
    std::mutex loading = {};
  };
  /// Kernel number `number`, for a thread of the device's; loads its code when
  /// it is asked for first, which the driver may have to assemble then. Who
  /// asks meanwhile for the same one waits.
  Result<const Kernel *> kernel(int64_t number) const;
  /// Loads kernels that are not there yet, as many at a time as there are
  /// cores, whichever sessions ask: the driver takes about 0.1 s for each. Ends
  /// at the first that fails.
  Status loadKernels(const std::set<int64_t> &numbers) const;

  /// The numbers of the kernels that the runtime starts itself (KernelAbi.h).
  struct OwnKernels {
    int64_t moveRows = -1, writeHistory = -1, mergeRanges = -1;
  };
  const OwnKernels &ownKernels() const { return own; }

private:
  CudaModel(const cuda::Driver *api, cuda::Device device, cuda::Context context,
            std::string name)
      : api(api), device(device), context(context), name(std::move(name)) {}

  Status measurePages();
  Status readKernels(const Artifact &artifact);
  Status copyWeights(const Artifact &artifact, const UploadProgress &progress);
  std::vector<int64_t> missingOf(const std::set<int64_t> &numbers) const;
  Status load(Kernel &kernel) const;
  Status loadImage(Kernel &kernel, const char *image) const;
  Status countBlocks(Kernel &kernel, cuda::Function function) const;

  const cuda::Driver *api;
  cuda::Device device;
  cuda::Context context;
  std::string name;
  std::optional<int64_t> mappedBytes;
  cuda::Pointer weightsAt = 0;
  OwnKernels own;
  /// None of them ever moves.
  mutable std::deque<Kernel> kernels;
  /// Of loadKernels.
  mutable std::mutex loadingAll;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_CUDA_CUDAMODEL_H
