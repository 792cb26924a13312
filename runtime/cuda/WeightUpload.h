//===- WeightUpload.h - Weights go to a GPU ---------------------*- C++ -*-===//
//
// Weights are mapped from a file: pages come from it as they are read, and a
// driver that reads them itself would copy them once more. So they go in
// pieces, by way of two pinned ones: while a piece travels, the next is read.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_CUDA_WEIGHTUPLOAD_H
#define HEDDLE_RUNTIME_CUDA_WEIGHTUPLOAD_H

#include "runtime/Result.h"
#include "runtime/cuda/CudaDriver.h"

#include <cstdint>
#include <functional>
#include <string_view>

namespace heddle {

/// Takes how many of all bytes are on their way, or there; all of them at last.
using UploadProgress = std::function<void(uint64_t done, uint64_t all)>;

/// Copies bytes to the memory of the device that this thread is one of, which
/// they are in when it returns; behind an error, too, none is under way.
/// `progress` may be empty.
Status uploadWeights(const cuda::Driver &api, cuda::Pointer to,
                     std::string_view bytes, const UploadProgress &progress);

} // namespace heddle

#endif // HEDDLE_RUNTIME_CUDA_WEIGHTUPLOAD_H
