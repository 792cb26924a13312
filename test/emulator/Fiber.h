//===- Fiber.h - A stack that can be left and entered again -----*- C++ -*-===//

#ifndef HEDDLE_TEST_EMULATOR_FIBER_H
#define HEDDLE_TEST_EMULATOR_FIBER_H

#include <cstddef>

namespace heddle::emulator {

/// Runs a function on a stack of its own, behind which no page can be touched.
/// Whoever enters a fiber is where it returns to when it leaves.
class Fiber {
public:
  explicit Fiber(size_t stackBytes);
  Fiber(const Fiber &) = delete;
  Fiber &operator=(const Fiber &) = delete;
  ~Fiber();

  /// Lets the next enter() call the function, whatever was on the stack before.
  /// The function must not return: it leaves for good.
  void start(void (*function)(void *), void *argument);
  void enter();
  /// To be called on the fiber's own stack.
  void leave();
  /// The same, and enters another one for whom it returns to.
  void leaveTo(Fiber &other);

  bool holds(const void *address) const {
    return address >= stack && address < static_cast<char *>(stack) + bytes;
  }
  size_t stackBytes() const { return bytes - unusedBytes; }

private:
  void *mapping;
  size_t mappingBytes;
  void *stack;
  size_t bytes, unusedBytes;
  void *ownPointer = nullptr;
  void *callerPointer = nullptr;
};

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_FIBER_H
