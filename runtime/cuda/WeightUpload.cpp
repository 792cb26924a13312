//===- WeightUpload.cpp - Two carriers that take turns --------------------===//
//
// A carrier has pinned memory for a piece of 16 MiB and a stream. It waits for
// its own last piece only, so that the other's is on its way while it copies
// from the file. The last piece may be smaller. After an error the destructor
// waits for a copy under way before it frees the pinned memory.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/WeightUpload.h"

#include <algorithm>
#include <cstring>

using namespace heddle;
using namespace heddle::cuda;

/// Large enough for the bus, small enough to pin at once.
static constexpr size_t kPieceBytes = size_t(16) << 20;

namespace {
/// Pinned memory for a piece, and a stream that it travels in.
class Carrier {
public:
  explicit Carrier(const Driver &api) : api(api) {}
  Carrier(const Carrier &) = delete;
  ~Carrier();

  /// Sends a piece, of at most `most` bytes, once the one before has arrived.
  Status send(Pointer to, std::string_view piece, size_t most);
  /// Until it has arrived.
  Status wait();

private:
  Status take(size_t bytes);
  Status check(Code code, const char *function) const;

  const Driver &api;
  Stream stream = nullptr;
  void *memory = nullptr;
};
} // namespace

Carrier::~Carrier() {
  if (stream) {
    api.cuStreamSynchronize(stream);
    api.cuStreamDestroy_v2(stream);
  }
  if (memory)
    api.cuMemFreeHost(memory);
}

Status Carrier::check(Code code, const char *function) const {
  Status status = api.check(code, function);
  return status.ok() ? status
                     : Status::error("the weights cannot go to the GPU: ",
                                     status.message());
}

Status Carrier::take(size_t bytes) {
  if (Status status =
          check(api.cuStreamCreate(&stream, kNonBlocking), "cuStreamCreate");
      !status.ok())
    return status;
  return check(api.cuMemHostAlloc(&memory, bytes, /*flags=*/0),
               "cuMemHostAlloc");
}

Status Carrier::wait() {
  if (!stream)
    return Status::success();
  return check(api.cuStreamSynchronize(stream), "cuStreamSynchronize");
}

Status Carrier::send(Pointer to, std::string_view piece, size_t most) {
  if (Status status = stream ? wait() : take(most); !status.ok())
    return status;
  std::memcpy(memory, piece.data(), piece.size());
  return check(api.cuMemcpyHtoDAsync_v2(to, memory, piece.size(), stream),
               "cuMemcpyHtoDAsync");
}

Status heddle::uploadWeights(const Driver &api, Pointer to,
                             std::string_view bytes,
                             const UploadProgress &progress) {
  Carrier carriers[] = {Carrier(api), Carrier(api)};
  size_t most = std::min(kPieceBytes, bytes.size()), number = 0;
  for (size_t at = 0; at < bytes.size(); at += most) {
    if (Status status =
            carriers[number++ % 2].send(to + at, bytes.substr(at, most), most);
        !status.ok())
      return status;
    if (progress)
      progress(std::min(at + most, bytes.size()), bytes.size());
  }
  for (Carrier &carrier : carriers)
    if (Status status = carrier.wait(); !status.ok())
      return status;
  return Status::success();
}
