//===- Fiber.cpp - A stack that can be left and entered again -------------===//

#include "Fiber.h"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <sys/mman.h>

using namespace heddle::emulator;

// Saves what a call has to preserve, and the stack pointer to *from.
extern "C" void heddleEmulatorSwitch(void **from, void *to);
extern "C" void heddleEmulatorStart();
asm(R"(
.text
.hidden heddleEmulatorSwitch
.globl heddleEmulatorSwitch
.type heddleEmulatorSwitch, @function
heddleEmulatorSwitch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size heddleEmulatorSwitch, . - heddleEmulatorSwitch

.hidden heddleEmulatorStart
.globl heddleEmulatorStart
.type heddleEmulatorStart, @function
heddleEmulatorStart:
  movq %r13, %rdi
  call *%r12
  ud2
.size heddleEmulatorStart, . - heddleEmulatorStart
)");

static constexpr size_t kPage = 4096;

/// Stacks begin at different offsets of their pages, so that the processor's
/// caches hold many.
static size_t nextOffset() {
  static std::atomic<size_t> count{0};
  return count++ % (kPage / 128) * 128;
}

Fiber::Fiber(size_t stackBytes) {
  unusedBytes = nextOffset();
  bytes = (stackBytes + unusedBytes + kPage - 1) / kPage * kPage;
  mappingBytes = bytes + kPage;
  mapping = mmap(nullptr, mappingBytes, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  stack = static_cast<char *>(mapping) + kPage;
  if (mapping == MAP_FAILED || mprotect(stack, bytes, PROT_READ | PROT_WRITE))
    std::abort();
}

Fiber::~Fiber() { munmap(mapping, mappingBytes); }

void Fiber::start(void (*function)(void *), void *argument) {
  auto *top = reinterpret_cast<uint64_t *>(static_cast<char *>(stack) + bytes -
                                           unusedBytes);
  // The callee finds the stack as behind a call: off by one word from 16 bytes.
  *--top = 0;
  *--top = 0;
  *--top = reinterpret_cast<uint64_t>(&heddleEmulatorStart);
  *--top = 0;                                    // rbp
  *--top = 0;                                    // rbx
  *--top = reinterpret_cast<uint64_t>(function); // r12
  *--top = reinterpret_cast<uint64_t>(argument); // r13
  *--top = 0;                                    // r14
  *--top = 0;                                    // r15
  ownPointer = top;
}

void Fiber::enter() { heddleEmulatorSwitch(&callerPointer, ownPointer); }

void Fiber::leave() { heddleEmulatorSwitch(&ownPointer, callerPointer); }

void Fiber::leaveTo(Fiber &other) {
  other.callerPointer = callerPointer;
  heddleEmulatorSwitch(&ownPointer, other.ownPointer);
}
