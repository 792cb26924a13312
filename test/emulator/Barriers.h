#pragma once
namespace heddle::emulator {
struct NamedBarriers {
  void clear() {}
};
} // namespace heddle::emulator
