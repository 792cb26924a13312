//===- CudaDeviceMemory.cpp - The memory of a session on a GPU ------------===//
//
// Taken, given back, and copied.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/CudaDevice.h"

#include <utility>

using namespace heddle;
using namespace heddle::cuda;

Result<char *> CudaDevice::take(int64_t bytes) {
  if (Status status = begin(); !status.ok())
    return Status::error("cannot run: ", status.message());
  Pointer memory = 0;
  if (Status status = noted(api.allocate(&memory, size_t(bytes), "a batch"));
      !status.ok())
    return Status::error("cannot run: ", status.message());
  return reinterpret_cast<char *>(memory);
}

void CudaDevice::giveBack(char *memory, int64_t) {
  if (!model.enter().ok())
    return;
  // What still runs may use it.
  (void)wait();
  if (paged && paged->holds(memory))
    return paged.reset();
  api.cuMemFree_v2(addressOf(memory));
}

/// Of a block so large a page is larger than it has to be: each is mapped by a
/// call of its own.
static constexpr int64_t kMostPages = 1 << 14;

std::optional<int64_t> CudaDevice::pageBytes() const {
  return paged ? paged->pageSize() : model.pageBytes();
}

Result<char *> CudaDevice::reserve(int64_t bytes) {
  if (!model.pageBytes())
    return take(bytes);
  if (Status status = begin(); !status.ok())
    return Status::error("cannot run: ", status.message());
  int64_t pageBytes = *model.pageBytes();
  while (bytes / pageBytes >= kMostPages)
    pageBytes *= 2;
  auto reserved = PagedMemory::reserve(api, model.number(), bytes, pageBytes);
  if (!reserved.ok())
    return Status::error("cannot run: ", noted(reserved.status()).message());
  paged = std::move(*reserved);
  return paged->begin();
}

Status CudaDevice::touch(char *memory, int64_t bytes) {
  if (!paged)
    return Status::success();
  if (Status status = begin(); !status.ok())
    return status;
  return noted(paged->touch(memory, bytes));
}

Status CudaDevice::forget(char *memory, int64_t bytes) {
  if (!paged)
    return Status::success();
  if (Status status = begin(); !status.ok())
    return status;
  return noted(paged->forget(memory, bytes));
}

std::optional<int64_t> CudaDevice::freeBytes() {
  size_t free = 0, total = 0;
  if (!model.pageBytes() || !begin().ok() ||
      api.cuMemGetInfo_v2(&free, &total) != 0)
    return std::nullopt;
  return int64_t(free);
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
