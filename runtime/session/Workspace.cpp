//===- Workspace.cpp - Memory that is planned, then taken -----------------===//
//
// The block holds the shared places, then the device's own, then those that are
// touched first: one copy moves any run of shared ones. Sizes come from lengths
// that a caller says; a sum that overflows makes the whole plan one without a
// size, which size() reports before anything is taken. A larger block means
// another mirror, so both are given back first.
//
//===----------------------------------------------------------------------===//

#include "runtime/session/Workspace.h"

using namespace heddle;

static constexpr int64_t kPage = 4096;

/// The next multiple of `alignment`; nullopt where there was or is an overflow.
static std::optional<int64_t> align(std::optional<int64_t> bytes,
                                    int64_t alignment) {
  int64_t end;
  if (!bytes || __builtin_add_overflow(*bytes, alignment - 1, &end))
    return std::nullopt;
  return end / alignment * alignment;
}

/// Adds a place to a part of the block that has `planned` bytes so far.
static int64_t append(std::optional<int64_t> &planned,
                      std::optional<int64_t> bytes, int64_t alignment) {
  int64_t offset = planned.value_or(0), end;
  if (!planned || !bytes || *bytes < 0 ||
      __builtin_add_overflow(offset, *bytes, &end))
    planned = std::nullopt;
  else
    planned = align(end, alignment);
  return planned ? offset : 0;
}

Place Workspace::place(std::optional<int64_t> bytes) {
  return {Part::Own, append(own, bytes, kBufferAlignment)};
}

Place Workspace::placeTouched(std::optional<int64_t> bytes) {
  return {Part::Touched, append(touched, bytes, kPage)};
}

Place Workspace::placeShared(std::optional<int64_t> bytes) {
  return {Part::Shared, append(shared, bytes, kBufferAlignment)};
}

std::optional<int64_t> Workspace::ownBegin() const {
  return align(shared, kBufferAlignment);
}

/// Of a plan without such places the end.
std::optional<int64_t> Workspace::touchedBegin() const {
  std::optional<int64_t> begin = ownBegin();
  int64_t end;
  if (!begin || !own || __builtin_add_overflow(*begin, *own, &end))
    return std::nullopt;
  return touched == 0 ? end : align(end, kPage);
}

Place Workspace::placeNumbers(int64_t count, int64_t width) {
  int64_t bytes;
  if (__builtin_mul_overflow(count, width, &bytes) ||
      __builtin_mul_overflow(bytes, 4, &bytes))
    return placeShared(std::nullopt);
  return placeShared(bytes);
}

std::optional<int64_t> Workspace::size() const {
  std::optional<int64_t> begin = touchedBegin();
  int64_t bytes;
  if (!begin || !touched || __builtin_add_overflow(*begin, *touched, &bytes))
    return std::nullopt;
  return bytes;
}

void Workspace::release() {
  if (mirror)
    device.giveBackMirror(mirror, mirrorSize);
  if (block)
    device.giveBack(block, blockSize);
  block = mirror = nullptr;
  blockSize = mirrorSize = 0;
}

/// A block that is large enough, of the right kind, in which nothing is touched
/// but the parts in front.
Status Workspace::takeBlock(int64_t bytes) {
  bool reserves = touched > 0;
  if (bytes > blockSize || reserves != isReserved) {
    release();
    Result<char *> taken =
        reserves ? device.reserve(bytes) : device.take(bytes);
    if (!taken.ok())
      return taken.status();
    block = *taken;
    blockSize = bytes;
    isReserved = reserves;
  }
  if (!isReserved)
    return Status::success();
  int64_t front = *touchedBegin();
  if (Status status = device.forget(block + front, blockSize - front);
      !status.ok())
    return status;
  return device.touch(block, front);
}

Status Workspace::take() {
  if (Status status = takeBlock(*size()); !status.ok())
    return status;
  if (*shared <= mirrorSize)
    return Status::success();
  if (mirror)
    device.giveBackMirror(mirror, mirrorSize);
  mirror = nullptr;
  mirrorSize = 0;
  Result<char *> taken = device.takeMirror(block, *shared);
  if (!taken.ok())
    return taken.status();
  mirror = *taken;
  mirrorSize = *shared;
  return Status::success();
}

static int64_t sizeOf(const PlaceRange &range) {
  return range.end.offset - range.begin.offset;
}

Status Workspace::send(const PlaceRange &range) {
  return device.send(at(range.begin), hostAt(range.begin), sizeOf(range));
}

Status Workspace::fetch(const PlaceRange &range) {
  return device.fetch(hostAt(range.begin), at(range.begin), sizeOf(range));
}
