//===- RandomNumber.cpp - For C libraries before glibc 2.36 ---------------===//
//
// LLVM and the C++ library ask for arc4random, which is younger than the
// machines that a wheel is for.
//
//===----------------------------------------------------------------------===//

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <sys/random.h>

extern "C" __attribute__((visibility("hidden"))) uint32_t arc4random() {
  uint32_t number = 0;
  ssize_t count;
  do
    count = getrandom(&number, sizeof number, /*flags=*/0);
  while (count < 0 && errno == EINTR);
  if (count != sizeof number)
    abort();
  return number;
}
