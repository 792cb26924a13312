#pragma once
namespace heddle::emulator {
struct CopyGroups {
  void clear() {}
};
struct TransactionBarriers {
  void clear() {}
};
} // namespace heddle::emulator
