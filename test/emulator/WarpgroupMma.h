#pragma once
namespace heddle::emulator {
struct PendingProducts {
  void clear() {}
};
struct WarpgroupMeetings {
  void clear(unsigned) {}
};
} // namespace heddle::emulator
