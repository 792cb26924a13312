//===- Waitable.h - What threads wait at ------------------------*- C++ -*-===//

#ifndef HEDDLE_TEST_EMULATOR_WAITABLE_H
#define HEDDLE_TEST_EMULATOR_WAITABLE_H

#include <string>

namespace heddle::emulator {

class Waitable {
public:
  virtual ~Waitable() = default;
  /// For a sentence: "barrier 1 (64 of 128 threads are there)".
  virtual std::string describe() const = 0;
};

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_WAITABLE_H
