//===- CommitGroups.h - What is waited for by groups ------------*- C++ -*-===//

#ifndef HEDDLE_TEST_EMULATOR_MEMORY_COMMITGROUPS_H
#define HEDDLE_TEST_EMULATOR_MEMORY_COMMITGROUPS_H

#include <cstddef>
#include <utility>
#include <vector>

namespace heddle::emulator {

/// Items of a thread in their order: those of committed groups, which end at
/// `ends`, then those of the open one. Memory is kept for the next ones.
template <typename Item> class CommitGroups {
public:
  void clear() {
    items.clear();
    ends.clear();
  }
  void add(Item item) { items.push_back(std::move(item)); }
  void commit() { ends.push_back(items.size()); }

  size_t numCommitted() const { return ends.size(); }
  /// All of them, the oldest first.
  const std::vector<Item> &all() const { return items; }
  /// How many of them the oldest committed groups have, without the last
  /// `remaining` ones.
  size_t size(size_t remaining) const {
    return ends.size() > remaining ? ends[ends.size() - remaining - 1] : 0;
  }
  /// Drops these groups.
  void drop(size_t remaining) {
    if (ends.size() <= remaining)
      return;
    size_t count = size(remaining);
    items.erase(items.begin(), items.begin() + count);
    ends.erase(ends.begin(), ends.end() - remaining);
    for (size_t &end : ends)
      end -= count;
  }

private:
  std::vector<Item> items;
  std::vector<size_t> ends;
};

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_MEMORY_COMMITGROUPS_H
