//===- SmallCopies.cpp - cp.async of 4, 8 or 16 bytes ---------------------===//

#include "test/emulator/Operations.h"
#include "test/emulator/Worker.h"

#include <cstring>

using namespace heddle::emulator;

void CopyGroups::clear() {
  small.clear();
  openStores.clear();
  committedStores.clear();
  proxyFenceTime = barrierFenceTime = 0;
  proxyFenceSeen.reset();
}

/// Operands destination, source, and with detail[1] the bytes to read.
/// detail[0] is the size.
void heddle::emulator::copyAsync(Context &context, const Operation &operation,
                                 const uint64_t *operands, uint64_t *) {
  auto size = static_cast<uint32_t>(operation.detail[0]);
  SharedMemory &shared = blockOf(context).shared;
  SmallCopy copy{shared.address(operands[0]), operands[1], size,
                 operation.detail[1] ? static_cast<uint32_t>(operands[2])
                                     : size};
  if (copy.read > size)
    fail(context, kIllegalInstruction,
         format("%s reads %u bytes", operation.name.c_str(), copy.read));
  if (shared.isChecked) {
    shared.checkBounds(context, copy.to, size, size, operation.name.c_str());
    if (copy.from % size)
      fail(context, kMisalignedAddress,
           format("%s reads at 0x%llx, which is not a multiple of %u",
                  operation.name.c_str(),
                  static_cast<unsigned long long>(copy.from), size));
    checkAccess(&context, copy.from, copy.read, 1,
                kReads | kGlobal << kSpaceShift, nullptr);
    shared.beginCopy(context, copy.to, size);
  }
  threadOf(context).copies.small.add(copy);
}

/// The first `count` of these copies.
static void finish(Context &context, const std::vector<SmallCopy> &copies,
                   size_t count) {
  Thread &thread = threadOf(context);
  SharedMemory &shared = blockOf(context).shared;
  for (size_t i = 0; i < count; ++i) {
    const SmallCopy &copy = copies[i];
    std::memcpy(shared.at(copy.to), reinterpret_cast<const void *>(copy.from),
                copy.read);
    std::memset(shared.at(copy.to) + copy.read, 0, copy.size - copy.read);
    shared.finishCopy(copy.to, copy.size, thread.actor, thread.clock.now());
  }
}

void heddle::emulator::commitCopies(Context &context, const Operation &,
                                    const uint64_t *, uint64_t *) {
  threadOf(context).copies.small.commit();
}

void heddle::emulator::waitForCopies(Context &context, const Operation &,
                                     const uint64_t *operands, uint64_t *) {
  CommitGroups<SmallCopy> &copies = threadOf(context).copies.small;
  finish(context, copies.all(), copies.size(operands[0]));
  copies.drop(operands[0]);
}

void heddle::emulator::waitForAllCopies(Context &context, const Operation &,
                                        const uint64_t *, uint64_t *) {
  CommitGroups<SmallCopy> &copies = threadOf(context).copies.small;
  finish(context, copies.all(), copies.all().size());
  copies.clear();
}

/// The thread's copies so far end, at the latest, with the phase in which this
/// arrival counts. detail[0]: noinc, the arrival is one of those expected.
void heddle::emulator::arriveAfterCopies(Context &context,
                                         const Operation &operation,
                                         const uint64_t *operands, uint64_t *) {
  RunningBlock &block = blockOf(context);
  Thread &thread = threadOf(context);
  std::vector<SmallCopy> copies = thread.copies.small.all();
  thread.copies.small.clear();
  TransactionBarriers &barriers = block.transactions;
  uint64_t barrier = block.shared.address(operands[0]);
  barriers.add(context, barrier,
               {0, [&context, copies](uint32_t time) {
                  SharedMemory &shared = blockOf(context).shared;
                  finish(context, copies, copies.size());
                  for (const SmallCopy &copy : copies)
                    shared.finishCopy(copy.to, copy.size, shared.bulkActor(),
                                      time);
                }});
  if (operation.detail[0])
    barriers.arrive(context, barrier, Arrival());
}
