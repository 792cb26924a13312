//===- AvailableCoresTests.cpp - Affinities and quotas --------------------===//
//
// Folders that look like /proc and /sys on machines of several kinds.
//
//===----------------------------------------------------------------------===//

#include "runtime/threads/AvailableCores.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sched.h>

using namespace heddle;

namespace {

class AvailableCoresTest : public testing::Test {
protected:
  void SetUp() override {
    root = testing::TempDir() + "heddle-cores-XXXXXX";
    ASSERT_NE(mkdtemp(root.data()), nullptr);
  }
  void TearDown() override { std::filesystem::remove_all(root); }

  void write(const std::string &path, const std::string &text) {
    std::filesystem::path file = root + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  /// A machine with the second version alone.
  void mountSecond(const std::string &mounted, const std::string &group) {
    write("/proc/self/mountinfo",
          "23 28 0:21 / /proc rw - proc proc rw\n"
          "29 23 0:26 " +
              mounted +
              " /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n");
    write("/proc/self/cgroup", "0::" + group + "\n");
  }
  int64_t coresOf(int64_t affinity) { return coresWithinQuota(affinity, root); }

  std::string root;
};

} // namespace

TEST_F(AvailableCoresTest, nothing_limits_where_nothing_can_be_read) {
  EXPECT_EQ(coresOf(8), 8);
  EXPECT_EQ(coresOf(0), 1);
  write("/proc/self/mountinfo", "1 2\n - \nno mounts\n");
  write("/proc/self/cgroup", "::\n0\n");
  EXPECT_EQ(coresOf(8), 8);
}

TEST_F(AvailableCoresTest, quota_of_the_second_version) {
  mountSecond("/", "/");
  write("/sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_EQ(coresOf(8), 8);
  write("/sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_EQ(coresOf(8), 2);
  EXPECT_EQ(coresOf(1), 1);
  // Part of a core counts as one.
  write("/sys/fs/cgroup/cpu.max", "250000 100000\n");
  EXPECT_EQ(coresOf(8), 3);
  write("/sys/fs/cgroup/cpu.max", "1000 100000\n");
  EXPECT_EQ(coresOf(8), 1);
  for (const char *text : {"", "-1 100000", "5 0", "many", "100000"}) {
    write("/sys/fs/cgroup/cpu.max", text);
    EXPECT_EQ(coresOf(8), 8) << text;
  }
}

TEST_F(AvailableCoresTest, groups_above_limit_too) {
  mountSecond("/", "/jobs/mine/step");
  write("/sys/fs/cgroup/jobs/mine/step/cpu.max", "700000 100000\n");
  write("/sys/fs/cgroup/jobs/mine/cpu.max", "max 100000\n");
  write("/sys/fs/cgroup/jobs/cpu.max", "150000 50000\n");
  EXPECT_EQ(coresOf(16), 3);
  // Another group's.
  write("/sys/fs/cgroup/jobs/other/cpu.max", "100000 100000\n");
  EXPECT_EQ(coresOf(16), 3);
}

TEST_F(AvailableCoresTest, containers_see_part_of_a_hierarchy) {
  // The group of the container is mounted as the root.
  mountSecond("/docker/1234", "/docker/1234/child");
  write("/sys/fs/cgroup/cpu.max", "400000 100000\n");
  EXPECT_EQ(coresOf(16), 4);
  write("/sys/fs/cgroup/child/cpu.max", "200000 100000\n");
  EXPECT_EQ(coresOf(16), 2);
  // Names that only begin alike, and a group outside of the namespace.
  mountSecond("/docker/1234", "/docker/12345");
  EXPECT_EQ(coresOf(16), 4);
  mountSecond("/", "/../../elsewhere");
  EXPECT_EQ(coresOf(16), 4);
}

TEST_F(AvailableCoresTest, quota_of_the_first_version) {
  write("/proc/self/mountinfo",
        "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
        "32 31 0:29 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
        "33 31 0:30 / /sys/fs/cgroup/cpu,a\\040b rw - cgroup cgroup "
        "rw,cpu,cpuacct\n"
        "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  write("/proc/self/cgroup", "7:cpuset:/\n4:cpu,cpuacct:/box/in\n0::/\n");
  std::string folder = "/sys/fs/cgroup/cpu,a b/box";
  write(folder + "/in/cpu.cfs_quota_us", "-1\n");
  write(folder + "/in/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(coresOf(16), 16);
  write(folder + "/cpu.cfs_quota_us", "500000\n");
  write(folder + "/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(coresOf(16), 5);
  write("/sys/fs/cgroup/unified/cpu.max", "100000 100000\n");
  EXPECT_EQ(coresOf(16), 1);
}

TEST_F(AvailableCoresTest, affinity_of_this_process) {
  EXPECT_GE(availableCores(), 1);
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &before)) {
      CPU_SET(cpu, &one);
      break;
    }
  EXPECT_LE(availableCores(), CPU_COUNT(&before));
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(availableCores(), 1);
  EXPECT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}
