//===- SharedMemory.cpp - A block's shared memory, and its past -----------===//

#include "SharedMemory.h"
#include "test/emulator/RuntimeCalls.h"
#include "test/emulator/Worker.h"

using namespace heddle::emulator;

void SharedMemory::resize(uint64_t window, uint32_t newBytes,
                          uint32_t dynamicOffset, uint32_t alignment) {
  mapping = window;
  bytes = newBytes;
  // The first KiB is the system's. Dynamic memory is at an odd multiple of the
  // alignment: code that needs more has to say so.
  first = (1024 + alignment - 1) / alignment * alignment;
  if ((first + dynamicOffset) / alignment % 2 == 0)
    first += alignment;
  size_t numWords = bytes / kWord + 1;
  if (words.size() < numWords) {
    words.resize(numWords);
    splitBytes.resize(numWords * kWord);
  }
}

void SharedMemory::clear() {
  if (!bytes)
    return;
  std::memset(at(first), 0xff, bytes);
  std::fill_n(words.begin(), bytes / kWord + 1, Past());
  lastTicket = 0;
}

// What an access finds alike, it leaves alike.
template <typename Visit>
void SharedMemory::eachPast(uint64_t address, uint64_t size, Visit visit) {
  Past before;
  const Past *after = nullptr;
  for (uint64_t i = address - first, end = i + size; i < end;) {
    Past *past = &words[i / kWord];
    bool isWhole = !past->isSplit && i % kWord == 0 && end - i >= kWord;
    if (!isWhole) {
      if (!past->isSplit)
        splitWord(i / kWord);
      past = &splitBytes[i];
    }
    if (after && *past == before) {
      *past = *after;
    } else {
      before = *past;
      visit(*past, i);
      after = past;
    }
    i += isWhole ? kWord : 1;
  }
}

void SharedMemory::splitWord(uint64_t word) {
  std::fill_n(&splitBytes[word * kWord], kWord, words[word]);
  words[word].isSplit = true;
}

void SharedMemory::joinWords(uint64_t address, uint64_t size) {
  uint64_t begin = address - first;
  for (uint64_t word = (begin + kWord - 1) / kWord;
       (word + 1) * kWord <= begin + size; ++word)
    if (words[word].isSplit)
      words[word] = splitBytes[word * kWord];
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
                               const char *what, const Past &past) const {
  std::string sentence =
      std::string(what) + " " + describeByte(context, address - first);
  switch (past.state) {
  case kUnwritten:
    fail(context, kLaunchFailed, sentence + ", which nobody wrote");
  case kBeingCopied:
    fail(context, kLaunchFailed,
         sentence + ", to which an asynchronous copy of " +
             home.worker.describeActor(context, past.writer) +
             " is under way: nobody has waited for it");
  default:
    fail(context, kLaunchFailed, sentence + ", which belongs to an mbarrier");
  }
}

void SharedMemory::failAtBounds(Context &context, uint64_t address,
                                uint64_t size, uint32_t alignment,
                                const char *what) const {
  uint64_t offset = address - first;
  if (offset > bytes || size > bytes - offset)
    fail(context, kIllegalAddress,
         format("%s of %llu bytes at shared offset %lld, the launch has %u "
                "bytes of shared memory",
                what, static_cast<unsigned long long>(size),
                static_cast<long long>(offset), bytes));
  fail(context, kMisalignedAddress,
       format("%s of %llu bytes at shared offset %llu, which is not a "
              "multiple of %u (address 0x%llx)",
              what, static_cast<unsigned long long>(size),
              static_cast<unsigned long long>(offset), alignment,
              static_cast<unsigned long long>(address)));
}

uint32_t SharedMemory::bulkActor() const {
  return home.rank * home.worker.actorsPerBlock() + home.worker.numThreads;
}

//===----------------------------------------------------------------------===//
// Accesses of threads
//===----------------------------------------------------------------------===//

/// Three are kept: an earlier one is replaced, then one of the same warp.
__attribute__((always_inline)) inline void
SharedMemory::addReader(Past &past, const Clock &clock, uint32_t actor,
                        uint32_t time) const {
  auto put = [&](unsigned i) {
    past.readers[i] = actor;
    past.readTimes[i] = time;
  };
  for (unsigned i = 0; i < kReaders; ++i)
    if (past.readers[i] == actor ||
        (past.readTimes[i] < kUnfinished &&
         (!past.readTimes[i] ||
          clock.hasSeen(past.readers[i], past.readTimes[i]))))
      return put(i);
  const Worker &worker = home.worker;
  uint32_t warp = worker.warpOfActor(actor);
  for (unsigned i = 0; i < kReaders; ++i)
    if (past.readTimes[i] < kUnfinished &&
        worker.warpOfActor(past.readers[i]) == warp)
      return put(i);
}

bool SharedMemory::readWords(const Thread &thread, uint64_t address,
                             uint64_t size) {
  uint64_t offset = address - first;
  if (!isChecked || (offset | size) % kWord || offset >= bytes ||
      size > bytes - offset)
    return false;
  const Clock &clock = thread.clock;
  uint32_t actor = thread.actor;
  for (Past *past = &words[offset / kWord], *end = past + size / kWord;
       past < end; ++past) {
    if (past->isSplit || !isReadable(*past) ||
        (past->writer != actor &&
         !clock.hasSeen(past->writer, past->writeTime)))
      return false;
    addReader(*past, clock, actor, clock.now());
  }
  return true;
}

void SharedMemory::read(Context &context, uint64_t address, uint64_t size) {
  if (!isChecked)
    return;
  const Thread &thread = threadOf(context);
  uint32_t actor = thread.actor;
  eachPast(address, size, [&](Past &past, uint64_t i) {
    if (!isReadable(past))
      failAtState(context, first + i, "reads", past);
    if (past.writer != actor &&
        !thread.clock.hasSeen(past.writer, past.writeTime))
      failAtRace(context, first + i, "reads", "writes", past.writer);
    addReader(past, thread.clock, actor, thread.clock.now());
  });
}

void SharedMemory::overwrite(Context &context, uint64_t address, uint64_t size,
                             bool isAtomic, State newState) {
  const Thread &thread = threadOf(context);
  const Clock &clock = thread.clock;
  uint32_t actor = thread.actor;
  // A copy that somebody has waited for is done, whatever the scope.
  auto hasSeenWrite = [&](const Past &past) {
    return clock.hasSeen(past.writer, past.writeTime) ||
           (!home.worker.threadOfActor(past.writer) &&
            clock.hasSeenRead(past.writer, past.writeTime));
  };
  eachPast(address, size, [&](Past &past, uint64_t i) {
    State state = past.state;
    if (state == kBeingCopied || state == kBarrier ||
        (isAtomic && state == kUnwritten))
      failAtState(context, first + i, "writes", past);
    if (state != kUnwritten) {
      bool areBothAtomic = isAtomic && state == kWrittenAtomically;
      if (past.writer != actor && !areBothAtomic && !hasSeenWrite(past))
        failAtRace(context, first + i, "writes", "writes", past.writer);
      for (unsigned k = 0; k < kReaders; ++k)
        if (past.readTimes[k] && past.readers[k] != actor &&
            !clock.hasSeenRead(past.readers[k], past.readTimes[k]))
          failAtRace(context, first + i, "writes",
                     past.readTimes[k] >= kUnfinished ? "is reading" : "reads",
                     past.readers[k]);
    }
    past = writtenBy(actor, clock.now(), newState);
  });
  joinWords(address, size);
}

void SharedMemory::write(Context &context, uint64_t address, uint64_t size,
                         bool isAtomic) {
  if (isChecked)
    overwrite(context, address, size, isAtomic,
              isAtomic ? kWrittenAtomically : kWritten);
}

//===----------------------------------------------------------------------===//
// Accesses of copies and products
//===----------------------------------------------------------------------===//

void SharedMemory::beginCopy(Context &context, uint64_t address,
                             uint64_t size) {
  if (isChecked)
    overwrite(context, address, size, /*isAtomic=*/false, kBeingCopied);
}

void SharedMemory::finishCopy(uint64_t address, uint64_t size, uint32_t actor,
                              uint32_t time) {
  if (!isChecked)
    return;
  eachPast(address, size, [&](Past &past, uint64_t) {
    past = writtenBy(actor, time, kWritten);
  });
  joinWords(address, size);
}

/// Whether what a thread wrote can be read by asynchronous units: it said so
/// after it wrote, or the reader did after it had seen it.
bool SharedMemory::isFenced(const Thread &reader, const Past &past) const {
  const Thread *writer = home.worker.threadOfActor(past.writer);
  if (!writer || writer->copies.proxyFenceTime >= past.writeTime)
    return true;
  const auto &seen = reader.copies.proxyFenceSeen;
  return seen && past.writer < seen->size() &&
         (*seen)[past.writer] >= past.writeTime;
}

void SharedMemory::beginRead(Context &context, uint64_t address, uint64_t size,
                             uint32_t actor, uint32_t ticket,
                             const std::string &what) {
  if (!isChecked)
    return;
  const Thread &thread = threadOf(context);
  eachPast(address, size, [&](Past &past, uint64_t i) {
    if (!isReadable(past))
      failAtState(context, first + i, (what + " reads").c_str(), past);
    if (past.writer != thread.actor &&
        !thread.clock.hasSeen(past.writer, past.writeTime))
      failAtRace(context, first + i, (what + " reads").c_str(), "writes",
                 past.writer);
    if (!isFenced(thread, past))
      fail(context, kLaunchFailed,
           what + " reads " + describeByte(context, i) + ", which " +
               home.worker.describeActor(context, past.writer) +
               " wrote without fence.proxy.async in between");
    addReader(past, thread.clock, actor, ticket);
  });
}

void SharedMemory::finishRead(uint64_t address, uint64_t size, uint32_t actor,
                              uint32_t ticket, uint32_t time) {
  if (!isChecked)
    return;
  eachPast(address, size, [&](Past &past, uint64_t) {
    for (unsigned k = 0; k < kReaders; ++k)
      if (past.readers[k] == actor && past.readTimes[k] == ticket)
        past.readTimes[k] = time;
  });
}

void SharedMemory::beginBarrier(Context &context, uint64_t address) {
  checkBounds(context, address, 8, 8, "mbarrier");
  if (isChecked)
    overwrite(context, address, 8, /*isAtomic=*/false, kBarrier);
}

void SharedMemory::endBarrier(uint64_t address) {
  if (!isChecked)
    return;
  eachPast(address, 8, [](Past &past, uint64_t) { past.state = kUnwritten; });
}

void SharedMemory::useBarrier(Context &context, uint64_t address) {
  checkBounds(context, address, 8, 8, "mbarrier");
  if (!isChecked)
    return;
  const Thread &thread = threadOf(context);
  const Past &past = words[(address - first) / kWord];
  if (past.writer != thread.actor &&
      !thread.clock.hasSeen(past.writer, past.writeTime))
    failAtRace(context, address, "uses the mbarrier at", "initialises",
               past.writer);
}
