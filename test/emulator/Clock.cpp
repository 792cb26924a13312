//===- Clock.cpp - What a thread knows to have happened -------------------===//

#include "Clock.h"

using namespace heddle::emulator;

__attribute__((target_clones("avx2", "default"))) static void
takeLarger(uint32_t *times, const uint32_t *others, size_t count) {
  for (size_t i = 0; i < count; ++i)
    times[i] = std::max(times[i], others[i]);
}

void heddle::emulator::join(Times &times, const Times &others) {
  if (times.size() < others.size())
    times.resize(others.size());
  takeLarger(times.data(), others.data(), others.size());
}
