//===- CudaDeviceRows.cpp - Rows of states move on a GPU ------------------===//
//
// By kernels, which read where each row comes from.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/CudaDevice.h"

#include <algorithm>
#include <utility>

using namespace heddle;
using namespace heddle::cuda;

/// Parents that there is room for at least: 4 KiB.
static constexpr int64_t kLeastParents = 1024;

/// Rows that a thread moves if their order does not matter.
static constexpr int64_t kRowsOfMover = 4;

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
