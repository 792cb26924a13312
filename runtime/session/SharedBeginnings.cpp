//===- SharedBeginnings.cpp - Blocks that several slots read --------------===//
//
// A mapping of the file is made at a new address and then moved to where it
// belongs (mremap): what the system refuses stays a slot's own memory with the
// same content. Blocks are written with pwrite, which fails if memory is short;
// a mapping would be a signal.
//
//===----------------------------------------------------------------------===//

#include "runtime/session/SharedBeginnings.h"

#include "runtime/threads/SystemFile.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>

using namespace heddle;

/// The mappings of a process, if the system does not say how many it may have.
static constexpr int64_t kUsualMappings = 65530;

/// Bytes of the file.
static int64_t sizeOf(const std::vector<SlotCaches> &caches, int64_t blocks) {
  int64_t bytes = 0;
  for (const SlotCaches &cache : caches)
    bytes += blocks * cache.blockBytes;
  return bytes;
}

/// Half of the mappings that a process may have.
static int64_t mostMappings() {
  std::string text = readSystemFile("/proc/sys/vm/max_map_count");
  int64_t most = text.empty() ? kUsualMappings : std::atoll(text.c_str());
  return most / 2;
}

std::unique_ptr<SharedBeginnings>
SharedBeginnings::create(std::vector<SlotCaches> caches, int64_t slots,
                         int64_t slotBlocks) {
  int64_t bytes = sizeOf(caches, slots * slotBlocks);
  // A file that grows beyond this limit is a signal.
  rlimit limit;
  if (bytes == 0 || getrlimit(RLIMIT_FSIZE, &limit) != 0 ||
      (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < rlim_t(bytes)))
    return nullptr;
  int file = memfd_create("heddle-beginnings", MFD_CLOEXEC);
  if (file < 0)
    return nullptr;
  if (ftruncate(file, bytes) != 0) {
    close(file);
    return nullptr;
  }
  return std::unique_ptr<SharedBeginnings>(new SharedBeginnings(
      std::move(caches), slots, slotBlocks, file, ::mostMappings()));
}

SharedBeginnings::SharedBeginnings(std::vector<SlotCaches> all, int64_t slots,
                                   int64_t slotBlocks, int file,
                                   int64_t mostMappings)
    : caches(std::move(all)), slotBlocks(slotBlocks), file(file),
      mostMappings(mostMappings), rows(size_t(slots)),
      readers(size_t(slots * slotBlocks)) {
  int64_t offset = 0;
  for (const SlotCaches &cache : caches) {
    offsets.push_back(offset);
    offset += slots * slotBlocks * cache.blockBytes;
  }
}

SharedBeginnings::~SharedBeginnings() { close(file); }

//===----------------------------------------------------------------------===//
// What is counted
//===----------------------------------------------------------------------===//

int64_t SharedBeginnings::blockBytes() const { return sizeOf(caches, 1); }

int64_t SharedBeginnings::commonBlocks(int32_t slot, int32_t other) const {
  const std::vector<int32_t> &own = rows[size_t(slot)],
                             &others = rows[size_t(other)];
  auto compared = ptrdiff_t(std::min(own.size(), others.size()));
  return std::mismatch(own.begin(), own.begin() + compared, others.begin())
             .first -
         own.begin();
}

int64_t
SharedBeginnings::differentBlocks(const std::vector<int64_t> &counts) const {
  std::vector<char> isCounted(readers.size(), false);
  int64_t different = 0;
  for (size_t slot = 0; slot < counts.size(); ++slot)
    for (int64_t k = 0; k < std::min(counts[slot], blocksOf(int32_t(slot)));
         ++k) {
      char &counted = isCounted[size_t(rows[slot][size_t(k)] * slotBlocks + k)];
      different += !std::exchange(counted, true);
    }
  return different;
}

/// The end of the blocks of a slot, from `first` on, that are one mapping.
int64_t SharedBeginnings::runEnd(int32_t slot, int64_t first) const {
  const std::vector<int32_t> &own = rows[size_t(slot)];
  auto end = std::find_if(own.begin() + first, own.end(), [&](int32_t row) {
    return row != own[size_t(first)];
  });
  return end - own.begin();
}

/// Of all slots, which have one behind the blocks, too.
int64_t SharedBeginnings::mappings() const {
  int64_t count = 0;
  for (size_t slot = 0; slot < rows.size(); ++slot)
    for (int64_t k = 0; k < blocksOf(int32_t(slot));
         k = runEnd(int32_t(slot), k))
      count += 1 + (k == 0);
  return count * int64_t(caches.size());
}

bool SharedBeginnings::mayServeAll() const {
  return !isRefused && 2 * int64_t(rows.size() * caches.size()) <= mostMappings;
}

//===----------------------------------------------------------------------===//
// Mappings
//===----------------------------------------------------------------------===//

/// Moves a mapping to where another one is; whether the system has done so.
static bool moveTo(char *to, void *mapping, int64_t bytes) {
  if (mapping == MAP_FAILED)
    return false;
  if (mremap(mapping, size_t(bytes), size_t(bytes),
             MREMAP_MAYMOVE | MREMAP_FIXED, to) != MAP_FAILED)
    return true;
  munmap(mapping, size_t(bytes));
  return false;
}

static void *mapFile(int file, int64_t offset, int64_t bytes) {
  return mmap(nullptr, size_t(bytes), PROT_READ, MAP_SHARED, file, offset);
}

static bool writeAll(int file, const char *from, int64_t bytes,
                     int64_t offset) {
  while (bytes > 0) {
    ssize_t written = pwrite(file, from, size_t(bytes), offset);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return false;
    from += written;
    offset += written;
    bytes -= written;
  }
  return true;
}

/// How many blocks of a row nobody reads, from `first` on.
int64_t SharedBeginnings::freeBlocks(int64_t row, int64_t first,
                                     int64_t end) const {
  int64_t block = first;
  while (block < end && readers[size_t(row * slotBlocks + block)] == 0)
    ++block;
  return block - first;
}

/// The row for the next blocks of a slot: that of the blocks before them, or
/// that with the most room. A slot without a block there leaves one free.
int64_t SharedBeginnings::rowFor(int32_t slot, int64_t first,
                                 int64_t end) const {
  int64_t best = first > 0 ? rows[size_t(slot)].back() : 0;
  int64_t most = freeBlocks(best, first, end);
  for (int64_t row = 0; row < int64_t(rows.size()) && most < end - first; ++row)
    if (int64_t count = freeBlocks(row, first, end); count > most)
      best = row, most = count;
  return best;
}

/// Moves the first blocks of a slot to the file, if they are not there; whether
/// they are. A slot that has no mapping for a block keeps its own memory, which
/// has the same content.
bool SharedBeginnings::publish(int32_t slot, int64_t count) {
  std::vector<int32_t> &own = rows[size_t(slot)];
  for (int64_t first; (first = blocksOf(slot)) < count;) {
    int64_t row = rowFor(slot, first, count);
    int64_t end = first + freeBlocks(row, first, count);
    bool isWritten = true;
    for (size_t i = 0; i < caches.size() && isWritten; ++i)
      isWritten = writeAll(file, at(caches[i], slot, first),
                           (end - first) * caches[i].blockBytes,
                           offsetOf(i, row, first));
    own.resize(size_t(end), int32_t(row));
    for (int64_t block = first; block < end; ++block)
      ++readers[size_t(row * slotBlocks + block)];
    if (!isWritten) {
      isRefused = true;
      giveBack(slot, first);
      return false;
    }
    for (size_t i = 0; i < caches.size(); ++i) {
      int64_t bytes = (end - first) * caches[i].blockBytes;
      isRefused |=
          !moveTo(at(caches[i], slot, first),
                  mapFile(file, offsetOf(i, row, first), bytes), bytes);
    }
  }
  return true;
}

/// A slot reads the blocks that another one has in the file, behind those that
/// it reads already. What cannot be mapped is copied.
void SharedBeginnings::read(int32_t slot, int32_t from, int64_t end) {
  std::vector<int32_t> &own = rows[size_t(slot)];
  const std::vector<int32_t> &others = rows[size_t(from)];
  int64_t begin = blocksOf(slot);
  own.insert(own.end(), others.begin() + begin, others.begin() + end);
  for (int64_t block = begin; block < end; ++block)
    ++readers[size_t(own[size_t(block)] * slotBlocks + block)];
  for (int64_t first = begin, next; first < end; first = next) {
    next = runEnd(slot, first);
    for (size_t i = 0; i < caches.size(); ++i) {
      int64_t bytes = (next - first) * caches[i].blockBytes;
      char *to = at(caches[i], slot, first);
      int64_t offset = offsetOf(i, own[size_t(first)], first);
      if (moveTo(to, mapFile(file, offset, bytes), bytes))
        continue;
      isRefused = true;
      std::memcpy(to, at(caches[i], from, first), size_t(bytes));
    }
  }
}

/// A slot reads blocks behind `kept` no more. Without a reader they cost
/// nothing.
void SharedBeginnings::giveBack(int32_t slot, int64_t kept) {
  std::vector<int32_t> &own = rows[size_t(slot)];
  for (int64_t block = kept; block < blocksOf(slot); ++block) {
    int64_t row = own[size_t(block)];
    if (--readers[size_t(row * slotBlocks + block)] > 0)
      continue;
    for (size_t i = 0; i < caches.size(); ++i)
      (void)fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                      offsetOf(i, row, block), caches[i].blockBytes);
  }
  own.resize(size_t(kept));
}

//===----------------------------------------------------------------------===//
// Readers that come and go
//===----------------------------------------------------------------------===//

Result<int64_t> SharedBeginnings::share(int32_t from, int32_t to,
                                        int64_t count) {
  // A slot whose blocks part from one another has more mappings than two.
  int64_t most = mostMappings - int64_t(caches.size()) * 4;
  bool mayRead = !isRefused && mappings() <= most && publish(from, count);
  // What it reads already stays; the rest is for it to write in either case.
  int64_t equal = std::min(commonBlocks(from, to), count);
  if (Status status = part(to, equal * kBlock, equal * kBlock); !status.ok())
    return status;
  if (!mayRead)
    return equal;
  read(to, from, count);
  return count;
}

/// Memory of a slot's own in place of a mapping, of which the first bytes stay.
/// It needs no addresses but for what stays.
static bool replace(char *mapping, int64_t bytes, int64_t kept) {
  void *saved = MAP_FAILED;
  if (kept > 0) {
    saved = mmap(nullptr, size_t(kept), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, /*fd=*/-1, /*offset=*/0);
    if (saved == MAP_FAILED)
      return false;
    std::memcpy(saved, mapping, size_t(kept));
  }
  bool isReplaced =
      mmap(mapping, size_t(bytes), PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, /*fd=*/-1,
           /*offset=*/0) != MAP_FAILED;
  if (kept > 0) {
    if (isReplaced)
      std::memcpy(mapping, saved, size_t(kept));
    munmap(saved, size_t(kept));
  }
  return isReplaced;
}

Status SharedBeginnings::part(int32_t slot, int64_t shared, int64_t kept) {
  int64_t count = blocksOf(slot), first = shared / kBlock;
  if (first >= count)
    return Status::success();
  int64_t copied = std::min(kept, count * kBlock) - first * kBlock;
  for (const SlotCaches &cache : caches)
    if (!replace(at(cache, slot, first), (count - first) * cache.blockBytes,
                 cache.blockBytes / kBlock * copied))
      return Status::error("the system refuses ",
                           (count - first) * blockBytes(),
                           " bytes of memory in place of a shared beginning");
  giveBack(slot, first);
  return Status::success();
}
