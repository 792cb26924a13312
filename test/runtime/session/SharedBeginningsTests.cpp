//===- SharedBeginningsTests.cpp - Blocks that several slots read ---------===//
//
// Slots of memory, as a session has them: what each has, what all take, and
// what happens if the system refuses. Runs under ThreadSanitizer too.
//
//===----------------------------------------------------------------------===//

#include "runtime/session/SharedBeginnings.h"

#include "runtime/threads/SystemFile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <thread>
#include <vector>

using namespace heddle;

namespace {

constexpr int64_t kBlock = SharedBeginnings::kBlock;

/// ThreadSanitizer has memory beside what a program has.
constexpr bool kMeasures = !__has_feature(thread_sanitizer);

/// Slots with two caches, of 16 and 48 bytes a position.
class Slots {
public:
  Slots(int64_t count, int64_t blocks) : count(count), blocks(blocks) {
    int64_t offset = 0;
    for (int64_t width : {16, 48}) {
      caches.push_back(
          {nullptr, (blocks + 1) * kBlock * width, kBlock * width});
      offset += count * caches.back().stride;
    }
    size = offset;
    memory = static_cast<char *>(mmap(
        nullptr, size_t(size), PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, /*fd=*/-1, /*offset=*/0));
    offset = 0;
    for (SlotCaches &cache : caches) {
      cache.first = memory + offset;
      offset += count * cache.stride;
    }
    shared = SharedBeginnings::create(caches, count, blocks);
  }
  ~Slots() {
    shared.reset();
    munmap(memory, size_t(size));
  }

  /// Writes positions that depend on a seed alone.
  void write(int32_t slot, int64_t first, int64_t end, int seed) {
    for (const SlotCaches &cache : caches)
      for (int64_t position = first; position < end; ++position)
        std::memset(at(cache, slot, position), valueOf(seed, position),
                    size_t(cache.blockBytes / kBlock));
  }
  bool has(int32_t slot, int64_t first, int64_t end, int seed) const {
    for (const SlotCaches &cache : caches)
      for (int64_t position = first; position < end; ++position) {
        const char *bytes = at(cache, slot, position);
        if (std::any_of(bytes, bytes + cache.blockBytes / kBlock,
                        [&](char c) { return c != valueOf(seed, position); }))
          return false;
      }
    return true;
  }
  /// What a session does: whole blocks are shared, the rest is copied.
  void copy(int32_t from, int32_t to, int64_t positions) {
    Result<int64_t> read = shared->share(from, to, positions / kBlock);
    ASSERT_TRUE(read.ok()) << read.message();
    for (const SlotCaches &cache : caches) {
      int64_t width = cache.blockBytes / kBlock, first = *read * kBlock;
      std::memcpy(at(cache, to, first), at(cache, from, first),
                  size_t((positions - first) * width));
    }
  }

  const int64_t count, blocks;
  std::vector<SlotCaches> caches;
  std::unique_ptr<SharedBeginnings> shared;

private:
  static char valueOf(int seed, int64_t position) {
    return char(seed * 31 + position * 7 + position / 13);
  }
  static char *at(const SlotCaches &cache, int32_t slot, int64_t position) {
    return cache.first + slot * cache.stride +
           position * (cache.blockBytes / kBlock);
  }

  char *memory;
  int64_t size;
};

/// Bytes of this process in memory of its own and in files of memory. RSS
/// counts a page of a file with each mapping.
int64_t residentBytes() {
  std::string text = readSystemFile("/proc/self/smaps_rollup");
  int64_t kibibytes = 0;
  for (const char *name : {"Pss_Anon:", "Pss_Shmem:"})
    if (size_t at = text.find(name); at != std::string::npos)
      kibibytes += std::atoll(text.c_str() + at + std::strlen(name));
  return kibibytes << 10;
}

} // namespace

TEST(SharedBeginningsTest, blocks_stand_once) {
  // 64 KiB a block, of which a prompt has 15.
  Slots slots(8, 16);
  ASSERT_TRUE(slots.shared);
  EXPECT_EQ(slots.shared->blockBytes(), 16 << 10);
  EXPECT_TRUE(slots.shared->mayServeAll());
  int64_t before = residentBytes();
  slots.write(0, 0, 16 * kBlock, 1);
  for (int32_t slot = 1; slot < 8; ++slot) {
    slots.copy(0, slot, 15 * kBlock + 40);
    slots.write(slot, 15 * kBlock + 40, 15 * kBlock + 60, slot);
  }
  std::vector<int64_t> all(8, 16);
  EXPECT_EQ(slots.shared->differentBlocks(all), 15);
  for (int32_t slot = 1; slot < 8; ++slot) {
    EXPECT_EQ(slots.shared->blocksOf(slot), 15);
    EXPECT_TRUE(slots.has(slot, 0, 15 * kBlock + 40, 1));
    EXPECT_TRUE(slots.has(slot, 15 * kBlock + 40, 15 * kBlock + 60, slot));
  }
  // One prompt, and the last block of each.
  int64_t more = residentBytes() - before;
  if (kMeasures) {
    EXPECT_GE(more, 16 * slots.shared->blockBytes());
    EXPECT_LE(more, 27 * slots.shared->blockBytes());
  }
  // The first that had them may end, and all others.
  for (int32_t slot = 0; slot < 8; ++slot) {
    ASSERT_TRUE(slots.shared->part(slot, 0, 0).ok());
    if (slot < 7)
      EXPECT_TRUE(slots.has(7, 0, 15 * kBlock, 1));
    slots.write(slot, 0, 3, 100);
  }
  EXPECT_EQ(slots.shared->differentBlocks(all), 0);
  if (kMeasures)
    EXPECT_LE(residentBytes() - before, 14 * slots.shared->blockBytes());
}

TEST(SharedBeginningsTest, a_slot_parts_in_a_block) {
  Slots slots(3, 4);
  ASSERT_TRUE(slots.shared);
  slots.write(0, 0, 4 * kBlock, 1);
  slots.copy(0, 1, 4 * kBlock);
  slots.copy(0, 2, 4 * kBlock);
  ASSERT_TRUE(slots.shared->part(1, kBlock + 100, kBlock + 100).ok());
  EXPECT_EQ(slots.shared->blocksOf(1), 1);
  EXPECT_TRUE(slots.has(1, 0, kBlock + 100, 1));
  slots.write(1, kBlock + 100, 4 * kBlock, 2);
  // All that it has becomes its own.
  ASSERT_TRUE(slots.shared->part(2, 0, 3 * kBlock + 7).ok());
  EXPECT_EQ(slots.shared->blocksOf(2), 0);
  EXPECT_TRUE(slots.has(2, 0, 3 * kBlock + 7, 1));
  slots.write(2, 0, 9, 3);
  // And blocks that differ stand beside each other.
  slots.copy(1, 2, 4 * kBlock);
  EXPECT_EQ(slots.shared->differentBlocks({4, 4, 4}), 4 + 3);
  EXPECT_TRUE(slots.has(0, 0, 4 * kBlock, 1));
  for (int32_t slot : {1, 2}) {
    EXPECT_TRUE(slots.has(slot, 0, kBlock + 100, 1));
    EXPECT_TRUE(slots.has(slot, kBlock + 100, 4 * kBlock, 2));
  }
}

TEST(SharedBeginningsTest, readers_come_and_go) {
  struct Text {
    int64_t length = 0;
    /// The end of what has a seed, and the seed, in order.
    std::vector<std::pair<int64_t, int>> parts;
  };
  Slots slots(6, 5);
  ASSERT_TRUE(slots.shared);
  std::vector<Text> texts(6);
  std::mt19937 random(7);
  auto draw = [&](int64_t most) { return int64_t(random() % uint64_t(most)); };
  auto expectRight = [&](int32_t slot) {
    int64_t first = 0;
    for (auto [end, seed] : texts[size_t(slot)].parts) {
      ASSERT_TRUE(slots.has(slot, first, std::min(end, first + 9), seed));
      ASSERT_TRUE(slots.has(slot, std::max(first, end - 9), end, seed));
      first = end;
    }
  };
  auto cut = [](Text &text, int64_t length) {
    while (!text.parts.empty() && text.parts.back().first > length) {
      int seed = text.parts.back().second;
      text.parts.pop_back();
      if (text.parts.empty() || text.parts.back().first < length) {
        text.parts.emplace_back(length, seed);
        break;
      }
    }
    if (length == 0)
      text.parts.clear();
    text.length = length;
  };
  for (int turn = 0; turn < 1000; ++turn) {
    auto slot = int32_t(draw(6)), source = int32_t(draw(6));
    Text &text = texts[size_t(slot)];
    int64_t kept = draw(3) == 0 ? draw(text.length + 1) : 0;
    ASSERT_TRUE(slots.shared->part(slot, draw(2) ? kept : 0, kept).ok());
    cut(text, kept);
    if (const Text &from = texts[size_t(source)];
        source != slot && from.length > 0 && draw(4) > 0) {
      int64_t count = 1 + draw(from.length);
      ASSERT_TRUE(slots.shared->part(slot, 0, 0).ok());
      slots.copy(source, slot, count);
      text = from;
      cut(text, count);
    }
    // And goes on with tokens of its own.
    int64_t end = std::min(text.length + draw(3 * kBlock), 5 * kBlock);
    if (end > text.length) {
      slots.write(slot, text.length, end, turn);
      text.parts.emplace_back(end, turn);
      text.length = end;
    }
    for (int32_t each = 0; each < 6; ++each)
      expectRight(each);
    if (testing::Test::HasFatalFailure())
      return;
  }
  for (int32_t slot = 0; slot < 6; ++slot)
    ASSERT_TRUE(slots.shared->part(slot, 0, 0).ok());
  EXPECT_EQ(slots.shared->differentBlocks(std::vector<int64_t>(6, 5)), 0);
}

TEST(SharedBeginningsTest, other_threads_read_the_blocks) {
  Slots slots(4, 2);
  ASSERT_TRUE(slots.shared);
  for (int turn = 0; turn < 20; ++turn) {
    slots.write(0, 0, 2 * kBlock, turn);
    for (int32_t slot = 1; slot < 4; ++slot)
      slots.copy(0, slot, 2 * kBlock);
    std::vector<std::thread> threads;
    std::vector<char> found(4);
    for (int32_t slot = 0; slot < 4; ++slot)
      threads.emplace_back([&, slot] {
        found[size_t(slot)] = slots.has(slot, 0, 2 * kBlock, turn);
      });
    for (std::thread &thread : threads)
      thread.join();
    EXPECT_EQ(found, std::vector<char>(4, true));
    for (int32_t slot = 0; slot < 4; ++slot)
      ASSERT_TRUE(slots.shared->part(slot, 0, 0).ok());
  }
}

TEST(SharedBeginningsTest, files_have_a_limit) {
  rlimit before, small;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  small = before;
  small.rlim_cur = 4096;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  Slots slots(2, 2);
  EXPECT_FALSE(slots.shared);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
}
