#pragma once
namespace heddle::emulator {
struct WarpMeetings {
  void clear(unsigned) {}
};
} // namespace heddle::emulator
