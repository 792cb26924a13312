//===- HostDevice.cpp - A session on the CPU ------------------------------===//
//
// Memory comes from mmap: a refusal is a status and not an exception, and pages
// that no batch touches cost nothing. With HEDDLE_POISON in the environment all
// bits of memory are ones where nothing has been written, which are no number
// in any float: a test sees who reads it.
//
//===----------------------------------------------------------------------===//

#include "runtime/code/FloatEnvironment.h"
#include "runtime/session/Device.h"

#include <cassert>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace heddle;

void heddle::moveHostRows(const DeviceRows &rows,
                          const std::vector<int32_t> &parents) {
  auto copy = [&](char *to, size_t row, const char *from, size_t other) {
    std::memcpy(to + static_cast<int64_t>(row) * rows.rowBytes,
                from + static_cast<int64_t>(other) * rows.rowBytes,
                static_cast<size_t>(rows.usedBytes));
  };
  char *next = moveToFront(parents) ? rows.rows : rows.spare;
  for (size_t i = 0; i < parents.size(); ++i)
    if (size_t parent = static_cast<size_t>(parents[i]); parent != i)
      copy(next, i, rows.rows, parent);
  for (size_t i = 0; i < parents.size() && next == rows.spare; ++i)
    if (static_cast<size_t>(parents[i]) != i)
      copy(rows.rows, i, rows.spare, i);
}

static void writeHistory(const HistoryWrite &write) {
  auto *history = reinterpret_cast<int32_t *>(write.history);
  auto *positions = reinterpret_cast<const int32_t *>(write.positions);
  auto *caches = reinterpret_cast<const int32_t *>(write.caches);
  for (int64_t row = 0; row < write.rows; ++row)
    history[row * write.capacity + positions[row]] = caches[row];
}

static void poison(char *memory, int64_t bytes) {
  static const bool isAsked = getenv("HEDDLE_POISON");
  if (isAsked)
    std::memset(memory, 0xff, static_cast<size_t>(bytes));
}

/// Addresses for so many bytes, which cost memory once they are written.
static void *map(int64_t bytes) {
  return mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, /*fd=*/-1,
              /*offset=*/0);
}

namespace {
class HostDevice final : public Device {
public:
  Result<char *> take(int64_t bytes) override {
    void *memory = map(bytes);
    if (memory == MAP_FAILED)
      return Status::error("needs ", bytes,
                           " bytes of memory: ", strerror(errno));
    poison(static_cast<char *>(memory), bytes);
    return static_cast<char *>(memory);
  }
  void giveBack(char *memory, int64_t bytes) override {
    munmap(memory, static_cast<size_t>(bytes));
  }
  /// All memory is such.
  Result<char *> reserve(int64_t bytes) override { return take(bytes); }
  Status touch(char *, int64_t) override { return Status::success(); }
  std::optional<int64_t> pageBytes() const override {
    return sysconf(_SC_PAGESIZE);
  }
  bool mayTake(int64_t bytes) override {
    void *memory = map(bytes);
    return memory != MAP_FAILED &&
           munmap(memory, static_cast<size_t>(bytes)) == 0;
  }
  bool hasPages() const override { return true; }
  Result<char *> takeMirror(char *memory, int64_t) override { return memory; }
  void giveBackMirror(char *, int64_t) override {}

  Status send(char *, const char *, int64_t) override {
    return Status::success();
  }
  Status fetch(char *, const char *, int64_t) override {
    return Status::success();
  }
  Status forget(char *memory, int64_t bytes) override {
    // Whole pages alone.
    auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    uintptr_t address = reinterpret_cast<uintptr_t>(memory);
    uintptr_t first = (address + page - 1) / page * page;
    uintptr_t end = (address + static_cast<uintptr_t>(bytes)) / page * page;
    if (first < end)
      madvise(reinterpret_cast<void *>(first), end - first, MADV_DONTNEED);
    poison(memory, bytes);
    return Status::success();
  }
  Status copy(char *to, const char *from, int64_t bytes) override {
    std::memcpy(to, from, static_cast<size_t>(bytes));
    return Status::success();
  }
  Status clear(char *memory, int64_t bytes) override {
    std::memset(memory, 0, static_cast<size_t>(bytes));
    return Status::success();
  }
  Status moveRows(const DeviceRows &rows,
                  const std::vector<int32_t> &parents) override {
    moveHostRows(rows, parents);
    return Status::success();
  }

  int64_t roundPositions(int64_t count) const override { return count; }
  int64_t roundRows(int64_t count) const override { return count; }
  int64_t rehearse(HeddleEntry, const CallSizes &, const int64_t *) override {
    return 0;
  }
  Status makeReady(int64_t) override { return Status::success(); }
  bool mergesRanges() const override { return false; }
  Status failure() const override { return Status::success(); }
  Status call(HeddleEntry entry, HeddleCall &call, const CallSizes &,
              const CallFrame &frame) override {
    assert(!frame.merge && "nobody asks for that");
    if (frame.history)
      writeHistory(*frame.history);
    FloatEnvironment environment;
    if (int32_t status = entry(&call); status != 0)
      return Status::error("the compiled code ended with the status ", status);
    return Status::success();
  }
};
} // namespace

std::unique_ptr<Device> heddle::makeHostDevice() {
  return std::make_unique<HostDevice>();
}
