//===- AvailableCores.cpp - How much of the machine is ours ---------------===//
//
// /proc/self/cgroup says where in each hierarchy of control groups the process
// is, /proc/self/mountinfo where a hierarchy is mounted. Of the second version
// there is one, with a file cpu.max "QUOTA PERIOD" a group; of the first, the
// one of the controller cpu has a file for each number. Every group on the way
// to the root limits what is below it.
//
//===----------------------------------------------------------------------===//

#include "runtime/threads/AvailableCores.h"

#include "runtime/threads/SystemFile.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <optional>
#include <sched.h>
#include <unistd.h>
#include <vector>

using namespace heddle;

/// More than any machine has.
static constexpr int kMostCpus = 1 << 20;

namespace {
/// The files of a hierarchy as the process sees them.
struct Mount {
  /// The group that is mounted, and where.
  std::string group, folder;
  bool isSecond;
};
} // namespace

static std::vector<std::string> split(const std::string &text, char mark) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find(mark, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

static bool has(const std::vector<std::string> &parts, const char *part) {
  return std::find(parts.begin(), parts.end(), part) != parts.end();
}

/// mountinfo writes spaces and the like as three octal digits.
static std::string withoutEscapes(const std::string &text) {
  auto isDigit = [&](size_t i) {
    return i < text.size() && text[i] >= '0' && text[i] <= '7';
  };
  std::string result;
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\\' && isDigit(i + 1) && isDigit(i + 2) && isDigit(i + 3)) {
      result += char((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                     (text[i + 3] - '0'));
      i += 3;
    } else {
      result += text[i];
    }
  return result;
}

/// The mounted hierarchies that may have quotas of cores.
static std::vector<Mount> findMounts(const std::string &root) {
  std::vector<Mount> mounts;
  for (const std::string &line :
       split(readSystemFile(root + "/proc/self/mountinfo"), '\n')) {
    size_t middle = line.find(" - ");
    if (middle == std::string::npos)
      continue;
    std::vector<std::string> front = split(line.substr(0, middle), ' ');
    std::vector<std::string> back = split(line.substr(middle + 3), ' ');
    if (front.size() < 5 || back.size() < 3)
      continue;
    bool isSecond = back[0] == "cgroup2";
    if (isSecond || (back[0] == "cgroup" && has(split(back[2], ','), "cpu")))
      mounts.push_back(
          {withoutEscapes(front[3]), withoutEscapes(front[4]), isSecond});
  }
  return mounts;
}

/// The group of the process in a hierarchy.
static std::optional<std::string> findGroup(const std::string &root,
                                            bool isSecond) {
  for (const std::string &line :
       split(readSystemFile(root + "/proc/self/cgroup"), '\n')) {
    size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos)
      continue;
    std::string controllers = line.substr(first + 1, second - first - 1);
    if (isSecond ? line.substr(0, second + 1) == "0::"
                 : has(split(controllers, ','), "cpu"))
      return line.substr(second + 1);
  }
  return std::nullopt;
}

/// The group's path below what is mounted; that itself if the group is
/// outside, as in a container that sees its own group as the root.
static std::string pathWithin(const Mount &mount, const std::string &group) {
  std::string root = mount.group == "/" ? "" : mount.group;
  bool isBelow = group.compare(0, root.size(), root) == 0 &&
                 (group.size() == root.size() || group[root.size()] == '/');
  std::string path = isBelow ? group.substr(root.size()) : "";
  return path == "/" || path.compare(0, 3, "/..") == 0 ? "" : path;
}

/// How many cores a group may use, from its folder: a quota of microseconds in
/// each period.
static std::optional<int64_t> readQuota(const std::string &folder,
                                        bool isSecond) {
  std::string text = isSecond
                         ? readSystemFile(folder + "/cpu.max")
                         : readSystemFile(folder + "/cpu.cfs_quota_us") + " " +
                               readSystemFile(folder + "/cpu.cfs_period_us");
  int64_t quota = 0, period = 0;
  sscanf(text.c_str(), "%" SCNd64 "%" SCNd64, &quota, &period);
  // "max" and -1 are no quota.
  if (quota <= 0 || period <= 0)
    return std::nullopt;
  return quota / period + (quota % period != 0);
}

int64_t heddle::coresWithinQuota(int64_t cores, const std::string &root) {
  for (const Mount &mount : findMounts(root)) {
    std::optional<std::string> group = findGroup(root, mount.isSecond);
    if (!group)
      continue;
    std::string path = pathWithin(mount, *group);
    for (;;) {
      if (std::optional<int64_t> quota =
              readQuota(root + mount.folder + path, mount.isSecond))
        cores = std::min(cores, *quota);
      if (path.empty())
        break;
      path.resize(path.rfind('/'));
    }
  }
  return std::max<int64_t>(cores, 1);
}

static int64_t countAffinity() {
  for (int cpus = CPU_SETSIZE; cpus <= kMostCpus; cpus *= 2) {
    cpu_set_t *set = CPU_ALLOC(cpus);
    size_t bytes = CPU_ALLOC_SIZE(cpus);
    bool isRead = set && sched_getaffinity(/*pid=*/0, bytes, set) == 0;
    int64_t count = isRead ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (isRead)
      return count;
  }
  return sysconf(_SC_NPROCESSORS_ONLN);
}

int64_t heddle::availableCores() {
  return coresWithinQuota(countAffinity(), /*root=*/"");
}
