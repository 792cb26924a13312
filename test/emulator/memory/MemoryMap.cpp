//===- MemoryMap.cpp - Which global addresses are allocated ---------------===//

#include "MemoryMap.h"

#include <cstdio>

using namespace heddle::emulator;

MemoryRange MemoryMap::find(uint64_t address, uint64_t size) const {
  auto next = ranges.upper_bound(address);
  if (next == ranges.begin())
    return {};
  --next;
  MemoryRange range = {next->first, next->second};
  // Mapped memory may go on in the next one.
  while (!range.holds(address, size) && ++next != ranges.end() &&
         next->first == range.first + range.size)
    range.size += next->second;
  return range.holds(address, size) ? range : MemoryRange();
}

std::string MemoryMap::describe(uint64_t address) const {
  auto next = ranges.upper_bound(address);
  char text[128];
  if (next == ranges.begin()) {
    if (next == ranges.end())
      return "nothing is allocated";
    std::snprintf(text, sizeof(text),
                  "%llu bytes before the allocation of %llu bytes at 0x%llx",
                  static_cast<unsigned long long>(next->first - address),
                  static_cast<unsigned long long>(next->second),
                  static_cast<unsigned long long>(next->first));
    return text;
  }
  auto [first, bytes] = *--next;
  uint64_t offset = address - first;
  bool isInside = offset < bytes;
  std::snprintf(
      text, sizeof(text),
      isInside ? "%llu bytes before the end of the allocation of %llu "
                 "bytes at 0x%llx"
               : "%llu bytes behind the allocation of %llu bytes at 0x%llx",
      static_cast<unsigned long long>(isInside ? bytes - offset
                                               : offset - bytes),
      static_cast<unsigned long long>(bytes),
      static_cast<unsigned long long>(first));
  return text;
}
