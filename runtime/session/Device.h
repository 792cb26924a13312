//===- Device.h - What a session runs on ------------------------*- C++ -*-===//
//
// Owns the memory that entries read and write, moves data between it and the
// host's, and calls entries. A session plans its buffers and says what moves;
// whether that is a copy, and when it is done, is the device's affair: what it
// is asked for happens in that order, and is with the host when `fetch`
// returns.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_SESSION_DEVICE_H
#define HEDDLE_RUNTIME_SESSION_DEVICE_H

#include "runtime/Result.h"
#include "runtime/code/KernelAbi.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace heddle {

/// Rows of `rowBytes` each, of which the first `usedBytes` mean something.
struct DeviceRows {
  char *rows;
  int64_t rowBytes, usedBytes;
  /// Memory for as many of them; null if rows only move to the front.
  char *spare;
};

/// How long the lists of a call are.
struct CallSizes {
  size_t buffers, dims;
};

// What a device does around an entry, with its own memory.

/// In front of it row r of a history, i32 [rows, capacity], gets caches[r] at
/// positions[r], i32 [rows] both.
struct HistoryWrite {
  char *history;
  const char *positions, *caches;
  int64_t rows, capacity;
};

/// Behind it each row's lists, one a range, become one: values f32 and ids i32
/// [rows, ranges, count], as the roles `greedy` and `best` of ArtifactFormat.h
/// leave them, and [rows, count]. Its order is that of findBest and findLargest
/// (BestLogits.h, GreedyChoice.h), to which it says what all of them do.
struct RangeMerge {
  const char *values, *ids;
  char *bestValues, *bestIds;
  int64_t rows, ranges, count;
};

/// What is around an entry.
struct CallFrame {
  std::optional<HistoryWrite> history;
  std::optional<RangeMerge> merge;
};

/// Of one session, and of one thread at a time. Behind an error nothing is
/// under way: the host may write mirrors again.
class Device {
public:
  virtual ~Device() = default;

  /// Takes memory, aligned as KernelAbi.h promises, whose content is undefined.
  /// An error begins with a verb.
  virtual Result<char *> take(int64_t bytes) = 0;
  virtual void giveBack(char *memory, int64_t bytes) = 0;
  /// Takes memory that costs nothing where nobody has touched it, and is given
  /// back as the other.
  virtual Result<char *> reserve(int64_t bytes) = 0;
  /// These bytes of it are written from now on.
  virtual Status touch(char *memory, int64_t bytes) = 0;
  /// Nobody reads them before they are touched and written again: they cost
  /// nothing meanwhile.
  virtual Status forget(char *memory, int64_t bytes) = 0;
  /// The size of the pages that get memory when they are touched; nullopt if a
  /// block gets all of its memory when it is reserved.
  virtual std::optional<int64_t> pageBytes() const = 0;
  /// Memory that is free, if the device says so.
  virtual std::optional<int64_t> freeBytes() { return std::nullopt; }
  /// Whether it would give so many bytes more.
  virtual bool mayTake(int64_t) { return true; }
  /// Whether that memory has pages of this process, in whose place others may
  /// be mapped.
  virtual bool hasPages() const { return false; }
  /// Takes what the host reads and writes in place of the first `bytes` of
  /// `memory`; of a device that is the host, these themselves.
  virtual Result<char *> takeMirror(char *memory, int64_t bytes) = 0;
  virtual void giveBackMirror(char *mirror, int64_t bytes) = 0;

  /// Gives the device what the host wrote to a mirror.
  virtual Status send(char *memory, const char *mirror, int64_t bytes) = 0;
  /// And the host what the device wrote to its memory, which may be nothing;
  /// mirrors may be written again then.
  virtual Status fetch(char *mirror, const char *memory, int64_t bytes) = 0;
  /// Copies what does not overlap.
  virtual Status copy(char *to, const char *from, int64_t bytes) = 0;
  /// Writes zeros.
  virtual Status clear(char *memory, int64_t bytes) = 0;
  /// Row i becomes what row parents[i] was.
  virtual Status moveRows(const DeviceRows &rows,
                          const std::vector<int32_t> &parents) = 0;

  /// With how many positions, or candidates, or rows, a call should be made
  /// that needs `count` of them: no fewer, and what it gives for more of them
  /// is not less. Calls of few different sizes are alike more often.
  virtual int64_t roundPositions(int64_t count) const = 0;
  virtual int64_t roundRows(int64_t count) const = 0;
  /// Runs an entry with these dims as far as the host does: what it asks for is
  /// written down, and nothing happens. Returns the bytes of scratch memory
  /// (HeddleDevice) that such a call needs.
  virtual int64_t rehearse(HeddleEntry entry, const CallSizes &sizes,
                           const int64_t *dims) = 0;
  /// Has the kernels of all calls ready that were rehearsed since it was called
  /// last, which takes time if they were not before, and memory to move
  /// `rows`.
  virtual Status makeReady(int64_t rows) = 0;
  /// Whether it merges ranges. If their lists are the host's anyway nobody
  /// asks for that.
  virtual bool mergesRanges() const = 0;
  /// What failed first of all that was asked of it, for whatever reason: a
  /// device of another kind may do it.
  virtual Status failure() const = 0;
  /// Calls an entry with buffers in the memory of the device, and does what is
  /// around it. The call has the scratch memory that its rehearsal asked for.
  virtual Status call(HeddleEntry entry, HeddleCall &call,
                      const CallSizes &sizes, const CallFrame &frame) = 0;
};

/// The CPU that this process runs on: all memory is shared.
std::unique_ptr<Device> makeHostDevice();

/// Whether each row goes on as itself.
inline bool stayInPlace(const std::vector<int32_t> &parents) {
  for (size_t i = 0; i < parents.size(); ++i)
    if (parents[i] != static_cast<int32_t>(i))
      return false;
  return true;
}

/// Whether rows only move to the front: if they then move in their order, none
/// is overwritten before it is read.
inline bool moveToFront(const std::vector<int32_t> &parents) {
  for (size_t i = 0; i < parents.size(); ++i)
    if (parents[i] < static_cast<int32_t>(i))
      return false;
  return true;
}

/// Moves rows of the host's memory.
void moveHostRows(const DeviceRows &rows, const std::vector<int32_t> &parents);

} // namespace heddle

#endif // HEDDLE_RUNTIME_SESSION_DEVICE_H
