//===- RefusedPagesTests.cpp - Shared beginnings that are refused ---------===//
//
// The linker gives this file what asks the system for pages (--wrap), which
// then refuses from the n-th time on: slots have the content that they have
// otherwise, as copies.
//
//===----------------------------------------------------------------------===//

#include "runtime/session/SharedBeginnings.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

using namespace heddle;

/// How often the system gives something more.
static int64_t left = INT64_MAX;

static bool isRefused() { return left-- <= 0; }

extern "C" {
int __real_memfd_create(const char *name, unsigned flags);
int __wrap_memfd_create(const char *name, unsigned flags) {
  errno = ENOSYS;
  return isRefused() ? -1 : __real_memfd_create(name, flags);
}
void *__real_mmap(void *to, size_t bytes, int protection, int flags, int file,
                  off_t offset);
void *__wrap_mmap(void *to, size_t bytes, int protection, int flags, int file,
                  off_t offset) {
  errno = ENOMEM;
  return isRefused() ? MAP_FAILED
                     : __real_mmap(to, bytes, protection, flags, file, offset);
}
void *__real_mremap(void *from, size_t old, size_t bytes, int flags, ...);
void *__wrap_mremap(void *from, size_t old, size_t bytes, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  void *to = va_arg(rest, void *);
  va_end(rest);
  errno = ENOMEM;
  return isRefused() ? MAP_FAILED : __real_mremap(from, old, bytes, flags, to);
}
ssize_t __real_pwrite(int file, const void *from, size_t bytes, off_t offset);
ssize_t __wrap_pwrite(int file, const void *from, size_t bytes, off_t offset) {
  errno = ENOSPC;
  return isRefused() ? -1 : __real_pwrite(file, from, bytes, offset);
}
}

static constexpr int64_t kBytes = 16 * SharedBeginnings::kBlock;

TEST(RefusedPagesTest, slots_have_copies) {
  // A block has one page of each of two caches; two slots have three each.
  constexpr int64_t kCache = 2 * 3 * kBytes;
  for (int64_t allowed = 0; allowed < 20; ++allowed) {
    char *memory = static_cast<char *>(
        __real_mmap(nullptr, 2 * kCache, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    std::vector<SlotCaches> caches;
    for (int64_t cache = 0; cache < 2; ++cache)
      caches.push_back({memory + cache * kCache, 3 * kBytes, kBytes});
    auto slotOf = [&](const SlotCaches &cache, int64_t slot) {
      return cache.first + slot * cache.stride;
    };
    for (size_t i = 0; i < 2; ++i)
      std::memset(slotOf(caches[i], 0), int(i) + 1, 3 * kBytes);
    left = allowed;
    std::unique_ptr<SharedBeginnings> shared =
        SharedBeginnings::create(caches, /*slots=*/2, /*slotBlocks=*/3);
    EXPECT_EQ(bool(shared), allowed > 0);
    int64_t read = 0;
    if (shared) {
      Result<int64_t> count = shared->share(0, 1, 2);
      ASSERT_TRUE(count.ok()) << count.message();
      read = *count;
      EXPECT_EQ(shared->mayServeAll(), left >= 0);
    }
    left = INT64_MAX;
    EXPECT_TRUE(read == 0 || read == 2);
    for (size_t i = 0; i < 2; ++i) {
      std::memcpy(slotOf(caches[i], 1) + read * kBytes,
                  slotOf(caches[i], 0) + read * kBytes,
                  size_t((2 - read) * kBytes));
      EXPECT_EQ(
          std::memcmp(slotOf(caches[i], 0), slotOf(caches[i], 1), 2 * kBytes),
          0);
      EXPECT_EQ(*slotOf(caches[i], 1), char(i + 1));
    }
    // Each has memory of its own again, and what it keeps.
    for (int32_t slot = 0; slot < 2 && shared; ++slot) {
      ASSERT_TRUE(shared->part(slot, 0, 300).ok());
      for (size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(slotOf(caches[i], slot)[299 * 16], char(i + 1));
        std::memset(slotOf(caches[i], slot), 9, 3 * kBytes);
      }
    }
    shared.reset();
    munmap(memory, 2 * kCache);
  }
}

TEST(RefusedPagesTest, a_slot_that_cannot_part_says_so) {
  char *memory = static_cast<char *>(
      __real_mmap(nullptr, 2 * kBytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  std::unique_ptr<SharedBeginnings> shared =
      SharedBeginnings::create({{memory, kBytes, kBytes}}, 2, 1);
  ASSERT_TRUE(shared);
  std::memset(memory, 5, kBytes);
  ASSERT_TRUE(shared->share(0, 1, 1).ok());
  // What it keeps has a place meanwhile.
  for (int64_t allowed : {0, 1}) {
    left = allowed;
    Status status = shared->part(1, 0, allowed * 256);
    left = INT64_MAX;
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.message(), "the system refuses 4096 bytes of memory in "
                                "place of a shared beginning");
  }
  EXPECT_EQ(shared->blocksOf(1), 1);
  ASSERT_TRUE(shared->part(1, 0, 0).ok());
  memory[kBytes] = 1;
  EXPECT_EQ(memory[0], 5);
  shared.reset();
  munmap(memory, 2 * kBytes);
}

TEST(RefusedPagesTest, what_is_read_already_stays) {
  char *memory = static_cast<char *>(
      __real_mmap(nullptr, 4 * kBytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  std::unique_ptr<SharedBeginnings> shared =
      SharedBeginnings::create({{memory, 2 * kBytes, kBytes}}, 2, 2);
  ASSERT_TRUE(shared);
  std::memset(memory, 5, 2 * kBytes);
  ASSERT_TRUE(shared->share(0, 1, 1).ok());
  left = 0;
  Result<int64_t> count = shared->share(0, 1, 2);
  left = INT64_MAX;
  ASSERT_TRUE(count.ok()) << count.message();
  ASSERT_EQ(*count, 1);
  std::memset(memory + 3 * kBytes, 6, kBytes);
  EXPECT_EQ(memory[2 * kBytes], 5);
  // Of a beginning that it shares no more it has nothing.
  left = 1;
  count = shared->share(0, 1, 0);
  left = INT64_MAX;
  ASSERT_TRUE(count.ok()) << count.message();
  EXPECT_EQ(*count, 0);
  std::memset(memory + 2 * kBytes, 7, kBytes);
  EXPECT_EQ(memory[0], 5);
  shared.reset();
  munmap(memory, 4 * kBytes);
}
