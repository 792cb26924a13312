//===- SessionMemoryTests.cpp - Memory that workers divide ----------------===//
//
// Who works beside whom, and numbers of workers within a limit. Runs under
// ThreadSanitizer too.
//
//===----------------------------------------------------------------------===//

#include "ToyModel.h"

#include "runtime/search/Generate.h"
#include "runtime/session/MemoryPlan.h"
#include "runtime/session/SessionMemory.h"
#include "runtime/session/Workspace.h"
#include "runtime/threads/Thread.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <regex>
#include <thread>

using namespace heddle;
using namespace heddle::test;

namespace {

constexpr int64_t kMebibyte = 1 << 20;

using SessionMemoryTest = ToyModelTest;

/// Runs `work` on threads with numbers from 0.
void onThreads(int count, const std::function<void(int)> &work) {
  std::vector<Thread> threads;
  for (int number = 0; number < count; ++number) {
    Result<Thread> thread = Thread::start([&work, number] { work(number); });
    ASSERT_TRUE(thread.ok()) << thread.message();
    threads.push_back(std::move(*thread));
  }
}

} // namespace

TEST_F(SessionMemoryTest, shares_are_used_together) {
  SessionMemory memory(100, 3);
  EXPECT_EQ(memory.bytes(), 100);
  EXPECT_EQ(memory.share(), 33);
  std::atomic<int> inside{0};
  onThreads(3, [&](int) {
    memory.together([&] {
      ++inside;
      while (inside < 3)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
  });
  EXPECT_EQ(inside, 3);
}

TEST_F(SessionMemoryTest, who_needs_all_is_alone) {
  TemporaryFile file(toyArtifact(toyManifest()).build());
  Result<Model> model = Model::load(file.path());
  ASSERT_TRUE(model.ok()) << model.message();
  SessionMemory memory(100, 3);
  std::atomic<int> inside{0}, alone{0};
  onThreads(3, [&](int number) {
    Session session(*model);
    memory.add(session);
    auto answer = [&] {
      auto found = generate(*model, session, {{1, 2, 3}}, {}, {});
      EXPECT_TRUE(found.ok());
    };
    for (int turn = 0; turn < 200; ++turn) {
      Result<int64_t> bytes =
          bytesToGenerate(*model, session, {{1, 2, 3}}, {}, {});
      EXPECT_TRUE(bytes.ok() && *bytes > 0);
      if (turn % 7 == number)
        memory.alone([&] {
          EXPECT_EQ(inside++, 0);
          answer();
          --inside;
          ++alone;
        });
      else
        memory.together([&] {
          ++inside;
          answer();
          --inside;
        });
    }
    memory.remove(session);
  });
  EXPECT_EQ(alone, 3 * 29);
}

TEST_F(SessionMemoryTest, who_waits_to_be_alone_comes_first) {
  SessionMemory memory(100, 3);
  std::atomic<bool> done{false};
  onThreads(3, [&](int number) {
    if (number == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      memory.alone([&] { done = true; });
    }
    while (!done)
      memory.together(
          [] { std::this_thread::sleep_for(std::chrono::microseconds(200)); });
  });
}

TEST_F(SessionMemoryTest, holders_give_back_what_they_have) {
  struct Holder : MemoryHolder {
    void release() override { has = false; }
    std::atomic<bool> has{false};
  };
  SessionMemory memory(100, 3);
  std::atomic<int> inside{0}, alone{0};
  std::vector<Holder> holders(3);
  for (Holder &holder : holders)
    memory.add(holder);
  onThreads(3, [&](int number) {
    for (int turn = 0; turn < 200; ++turn) {
      if (turn % 7 == number) {
        memory.alone([&] {
          EXPECT_EQ(inside, 0);
          for (Holder &holder : holders)
            EXPECT_FALSE(holder.has);
          ++alone;
        });
        continue;
      }
      memory.enter();
      ++inside;
      holders[size_t(number)].has = true;
      // Who is inside hears of it.
      for (int step = 0; step < 50 && !memory.isAwaited(); ++step)
        std::this_thread::yield();
      --inside;
      memory.exit();
    }
  });
  EXPECT_EQ(alone, 3 * 29);
  for (Holder &holder : holders)
    memory.remove(holder);
}

TEST_F(SessionMemoryTest, a_session_says_what_it_takes) {
  TemporaryFile file(toyArtifact(toyManifest()).build());
  Result<Model> model = Model::load(file.path());
  ASSERT_TRUE(model.ok()) << model.message();
  Session session(*model);
  auto bytesFor = [&](size_t sentences, int64_t beams, int64_t length) {
    SearchOptions options;
    options.beams = beams;
    options.maxLength = length;
    Result<int64_t> bytes = bytesToGenerate(
        *model, session, std::vector<TokenIds>(sentences, {1, 2}), {}, options);
    EXPECT_TRUE(bytes.ok()) << bytes.message();
    return *bytes;
  };
  int64_t one = bytesFor(1, 1, 100);
  EXPECT_GT(bytesFor(2, 1, 100), one);
  EXPECT_GT(bytesFor(1, 1, 1000), one + 900 * 4);
  // What generate refuses is refused here, too.
  auto refused = bytesToGenerate(*model, session, {}, {}, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.message(), "a batch has no sentence");
  // Asking does no harm to what comes next, and neither does giving back.
  auto answer = [&] {
    auto found = generate(*model, session, {{1, 2}}, {}, {});
    EXPECT_TRUE(found.ok());
    return found->front().front().tokens;
  };
  Ids expected = answer();
  bytesFor(300, 1, 4000);
  EXPECT_EQ(answer(), expected);
  session.release();
  EXPECT_EQ(answer(), expected);
}

TEST(MemoryPlanTest, the_most_workers_that_have_what_they_want) {
  auto workersOf = [](int64_t limit, int64_t wanted, bool mayBeFewer) {
    MemoryPlan plan(limit * kMebibyte, /*held=*/10 * kMebibyte, /*workers=*/4);
    Status status =
        plan.chooseWorkers(wanted * kMebibyte, kMebibyte, mayBeFewer);
    if (!status.ok())
      return int64_t(0);
    EXPECT_GE(plan.forSessions(), plan.workers() * kMebibyte);
    EXPECT_LT(plan.forSessions(), (limit - 10) * kMebibyte);
    return plan.workers();
  };
  EXPECT_EQ(workersOf(1000, 20, true), 4);
  EXPECT_EQ(workersOf(1000, 20, false), 4);
  EXPECT_EQ(workersOf(70, 20, true), 2);
  EXPECT_EQ(workersOf(70, 20, false), 4);
  EXPECT_EQ(workersOf(40, 20, true), 1);
  // Less than one wants, but no less than it needs.
  EXPECT_EQ(workersOf(20, 20, true), 1);
  EXPECT_EQ(workersOf(20, 20, false), 0);
  EXPECT_EQ(workersOf(12, 20, true), 0);
}

TEST(MemoryPlanTest, the_number_that_is_needed_is_enough) {
  for (bool mayBeFewer : {false, true}) {
    MemoryPlan small(8 * kMebibyte, 10 * kMebibyte, /*workers=*/4);
    Status status = small.chooseWorkers(kMebibyte, kMebibyte, mayBeFewer);
    ASSERT_FALSE(status.ok());
    std::smatch match;
    ASSERT_TRUE(std::regex_match(status.message(), match,
                                 std::regex("needs (\\d+) MiB of memory")))
        << status.message();
    MemoryPlan enough(std::stoll(match[1]) * kMebibyte, 10 * kMebibyte, 4);
    EXPECT_TRUE(enough.chooseWorkers(kMebibyte, kMebibyte, mayBeFewer).ok());
  }
}

TEST(MemoryPlanTest, memory_of_this_process) {
  int64_t before = anonymousMemory();
  EXPECT_GT(before, 0);
  std::unique_ptr<Device> device = makeHostDevice();
  Workspace workspace(*device);
  Place place = workspace.place(64 * kMebibyte);
  ASSERT_TRUE(workspace.take().ok());
  std::memset(workspace.at(place), 1, size_t(64 * kMebibyte));
  EXPECT_GE(anonymousMemory() - before, 63 * kMebibyte);
  workspace.release();
  EXPECT_LE(anonymousMemory() - before, kMebibyte);
}
