//===- SharedMemory.cpp - A block's shared memory, and its past -----------===//

#include "SharedMemory.h"
#include "test/emulator/RuntimeCalls.h"
#include "test/emulator/Worker.h"

#include <cstring>

using namespace heddle::emulator;

static constexpr uint64_t kWord = 4;

void SharedMemory::resize(uint64_t window, uint32_t newBytes,
                          uint32_t dynamicOffset, uint32_t alignment) {
  mapping = window;
  bytes = newBytes;
  // The first KiB is the system's. Dynamic memory is at an odd multiple of the
  // alignment: code that needs more has to say so.
  first = (1024 + alignment - 1) / alignment * alignment;
  if ((first + dynamicOffset) / alignment % 2 == 0)
    first += alignment;
  if (states.size() < bytes) {
    states.resize(bytes);
    past.resize(bytes);
    isWhole.resize(bytes / kWord + 1);
  }
}

void SharedMemory::clear() {
  if (!bytes)
    return;
  std::memset(at(first), 0xff, bytes);
  std::memset(states.data(), kUnwritten, bytes);
  std::fill(isWhole.begin(), isWhole.end(), true);
  lastTicket = 0;
}

template <typename Visit>
void SharedMemory::eachPast(uint64_t address, uint64_t size, Visit visit) {
  for (uint64_t i = address - first, end = i + size; i < end;) {
    uint64_t word = i / kWord, start = word * kWord;
    if (isWhole[word]) {
      if (i == start && i + kWord <= end) {
        visit(i);
        i += kWord;
        continue;
      }
      for (uint64_t k = start + 1; k < start + kWord && k < bytes; ++k) {
        states[k] = states[start];
        past[k] = past[start];
      }
      isWhole[word] = false;
    }
    visit(i++);
  }
}

void SharedMemory::joinWords(uint64_t address, uint64_t size) {
  uint64_t begin = address - first;
  for (uint64_t word = (begin + kWord - 1) / kWord;
       (word + 1) * kWord <= begin + size; ++word)
    isWhole[word] = true;
}

//===----------------------------------------------------------------------===//
// Sentences
//===----------------------------------------------------------------------===//

std::string SharedMemory::describeByte(const Context &context,
                                       uint64_t offset) const {
  std::string byte =
      format("shared byte %llu", static_cast<unsigned long long>(offset));
  bool isOther = home.rank != context.clusterRank;
  return isOther ? byte + " of " + home.describe() : byte;
}

void SharedMemory::failAtRace(Context &context, uint64_t address,
                              const char *what, const char *other,
                              uint32_t actor) const {
  fail(context, kLaunchFailed,
       std::string("race: ") + what + " " +
           describeByte(context, address - first) + ", which " +
           home.worker.describeActor(context, actor) + " " + other +
           " without a barrier in between");
}

void SharedMemory::failAtState(Context &context, uint64_t address,
                               const char *what, State state,
                               uint32_t actor) const {
  std::string sentence =
      std::string(what) + " " + describeByte(context, address - first);
  switch (state) {
  case kUnwritten:
    fail(context, kLaunchFailed, sentence + ", which nobody wrote");
  case kBeingCopied:
    fail(context, kLaunchFailed,
         sentence + ", to which an asynchronous copy of " +
             home.worker.describeActor(context, actor) +
             " is under way: nobody has waited for it");
  default:
    fail(context, kLaunchFailed, sentence + ", which belongs to an mbarrier");
  }
}

//===----------------------------------------------------------------------===//
// Actors
//===----------------------------------------------------------------------===//

uint32_t SharedMemory::bulkActor() const {
  return home.rank * home.worker.actorsPerBlock() + home.worker.numThreads;
}

uint32_t SharedMemory::warpOf(uint32_t actor) const {
  unsigned inBlock = actor % home.worker.actorsPerBlock();
  return inBlock < home.worker.numThreads ? actor - inBlock % 32 : actor;
}

//===----------------------------------------------------------------------===//
// Accesses of threads
//===----------------------------------------------------------------------===//

void SharedMemory::checkBounds(Context &context, uint64_t address,
                               uint64_t size, uint32_t alignment,
                               const char *what) const {
  uint64_t offset = address - first;
  if (offset > bytes || size > bytes - offset)
    fail(context, kIllegalAddress,
         format("%s of %llu bytes at shared offset %lld, the launch has %u "
                "bytes of shared memory",
                what, static_cast<unsigned long long>(size),
                static_cast<long long>(offset), bytes));
  if (address % alignment)
    fail(context, kMisalignedAddress,
         format("%s of %llu bytes at shared offset %llu, which is not a "
                "multiple of %u (address 0x%llx)",
                what, static_cast<unsigned long long>(size),
                static_cast<unsigned long long>(offset), alignment,
                static_cast<unsigned long long>(address)));
}

/// Three are kept: an earlier one is replaced, then one of the same warp.
void SharedMemory::addReader(Byte &byte, const Clock &clock, uint32_t actor,
                             uint32_t time) const {
  for (unsigned i = 0; i < kReaders; ++i)
    if (byte.readers[i] == actor ||
        (byte.readTimes[i] < kUnfinished &&
         (!byte.readTimes[i] ||
          clock.hasSeen(byte.readers[i], byte.readTimes[i])))) {
      byte.readers[i] = actor;
      byte.readTimes[i] = time;
      return;
    }
  for (unsigned i = 0; i < kReaders; ++i)
    if (byte.readTimes[i] < kUnfinished &&
        warpOf(byte.readers[i]) == warpOf(actor)) {
      byte.readers[i] = actor;
      byte.readTimes[i] = time;
      return;
    }
}

void SharedMemory::read(Context &context, uint64_t address, uint64_t size) {
  if (!isChecked)
    return;
  const Thread &thread = threadOf(context);
  uint32_t actor = thread.actor;
  eachPast(address, size, [&](uint64_t i) {
    Byte &byte = past[i];
    State state = states[i];
    if (state != kWritten && state != kWrittenAtomically)
      failAtState(context, first + i, "reads", state, byte.writer);
    if (byte.writer != actor &&
        !thread.clock.hasSeen(byte.writer, byte.writeTime))
      failAtRace(context, first + i, "reads", "writes", byte.writer);
    addReader(byte, thread.clock, actor, thread.clock.now());
  });
}

void SharedMemory::write(Context &context, uint64_t address, uint64_t size,
                         bool isAtomic) {
  if (!isChecked)
    return;
  const Thread &thread = threadOf(context);
  uint32_t actor = thread.actor;
  eachPast(address, size, [&](uint64_t i) {
    Byte &byte = past[i];
    State state = states[i];
    if (state == kBeingCopied || state == kBarrier ||
        (isAtomic && state == kUnwritten))
      failAtState(context, first + i, "writes", state, byte.writer);
    if (state != kUnwritten) {
      bool areBothAtomic = isAtomic && state == kWrittenAtomically;
      // A copy that somebody has waited for is done, whatever the scope.
      bool isSeen = home.worker.threadOfActor(byte.writer)
                        ? thread.clock.hasSeen(byte.writer, byte.writeTime)
                        : thread.clock.hasSeenRead(byte.writer, byte.writeTime);
      if (byte.writer != actor && !areBothAtomic && !isSeen)
        failAtRace(context, first + i, "writes", "writes", byte.writer);
      for (unsigned k = 0; k < kReaders; ++k)
        if (byte.readTimes[k] && byte.readers[k] != actor &&
            !thread.clock.hasSeenRead(byte.readers[k], byte.readTimes[k]))
          failAtRace(context, first + i, "writes",
                     byte.readTimes[k] >= kUnfinished ? "is reading" : "reads",
                     byte.readers[k]);
    }
    states[i] = isAtomic ? kWrittenAtomically : kWritten;
    byte = {thread.clock.now(), {}, static_cast<uint16_t>(actor), {}};
  });
  joinWords(address, size);
}

//===----------------------------------------------------------------------===//
// Accesses of copies and products
//===----------------------------------------------------------------------===//

void SharedMemory::beginCopy(Context &context, uint64_t address,
                             uint64_t size) {
  if (!isChecked)
    return;
  write(context, address, size);
  std::memset(&states[address - first], kBeingCopied, size);
}

void SharedMemory::finishCopy(uint64_t address, uint64_t size, uint32_t actor,
                              uint32_t time) {
  if (!isChecked)
    return;
  eachPast(address, size, [&](uint64_t i) {
    states[i] = kWritten;
    past[i] = {time, {}, static_cast<uint16_t>(actor), {}};
  });
  joinWords(address, size);
}

/// Whether what a thread wrote can be read by asynchronous units: it said so
/// after it wrote, or the reader did after it had seen it.
bool SharedMemory::isFenced(const Thread &reader, const Byte &byte) const {
  const Thread *writer = home.worker.threadOfActor(byte.writer);
  if (!writer || writer->copies.proxyFenceTime >= byte.writeTime)
    return true;
  const auto &seen = reader.copies.proxyFenceSeen;
  return seen && byte.writer < seen->size() &&
         (*seen)[byte.writer] >= byte.writeTime;
}

void SharedMemory::beginRead(Context &context, uint64_t address, uint64_t size,
                             uint32_t actor, uint32_t ticket,
                             const std::string &what) {
  if (!isChecked)
    return;
  const std::string reads = what + " reads";
  const Thread &thread = threadOf(context);
  eachPast(address, size, [&](uint64_t i) {
    Byte &byte = past[i];
    State state = states[i];
    if (state != kWritten && state != kWrittenAtomically)
      failAtState(context, first + i, reads.c_str(), state, byte.writer);
    if (byte.writer != thread.actor &&
        !thread.clock.hasSeen(byte.writer, byte.writeTime))
      failAtRace(context, first + i, reads.c_str(), "writes", byte.writer);
    if (!isFenced(thread, byte))
      fail(context, kLaunchFailed,
           reads + " " + describeByte(context, i) + ", which " +
               home.worker.describeActor(context, byte.writer) +
               " wrote without fence.proxy.async in between");
    addReader(byte, thread.clock, actor, ticket);
  });
}

void SharedMemory::finishRead(uint64_t address, uint64_t size, uint32_t actor,
                              uint32_t ticket, uint32_t time) {
  if (!isChecked)
    return;
  eachPast(address, size, [&](uint64_t i) {
    for (unsigned k = 0; k < kReaders; ++k)
      if (past[i].readers[k] == actor && past[i].readTimes[k] == ticket)
        past[i].readTimes[k] = time;
  });
}

void SharedMemory::beginBarrier(Context &context, uint64_t address) {
  checkBounds(context, address, 8, 8, "mbarrier");
  if (!isChecked)
    return;
  write(context, address, 8);
  std::memset(&states[address - first], kBarrier, 8);
}

void SharedMemory::endBarrier(uint64_t address) {
  if (isChecked)
    std::memset(&states[address - first], kUnwritten, 8);
}

void SharedMemory::useBarrier(Context &context, uint64_t address) {
  checkBounds(context, address, 8, 8, "mbarrier");
  if (!isChecked)
    return;
  const Thread &thread = threadOf(context);
  const Byte &byte = past[address - first];
  if (byte.writer != thread.actor &&
      !thread.clock.hasSeen(byte.writer, byte.writeTime))
    failAtRace(context, address, "uses the mbarrier at", "initialises",
               byte.writer);
}
