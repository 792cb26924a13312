//===- AccessCheck.cpp - Whether a thread may touch memory ----------------===//

#include "test/emulator/RuntimeCalls.h"
#include "test/emulator/Worker.h"

using namespace heddle::emulator;

void heddle::emulator::failAtDivision(Context *context) {
  fail(*context, kLaunchFailed, "an integer is divided by zero, or overflows");
}

/// "reads 4 bytes at 0x..., ": the start of a sentence.
static std::string describe(uint64_t address, uint64_t size, uint32_t flags) {
  const char *verb = flags & kIsAtomic ? "updates"
                     : flags & kWrites ? "writes"
                                       : "reads";
  return format("%s %llu bytes at 0x%llx, ", verb,
                static_cast<unsigned long long>(size),
                static_cast<unsigned long long>(address));
}

static void checkAlignment(Context &context, uint64_t address, uint64_t size,
                           uint32_t alignment, uint32_t flags) {
  if (address & (alignment - 1))
    fail(context, kMisalignedAddress,
         describe(address, size, flags) +
             format("which is not a multiple of %u", alignment));
}

/// Of an address that may name another block of the cluster, or of this block's
/// own shared memory.
static void checkShared(Context &context, uint64_t address, uint64_t size,
                        uint32_t alignment, uint32_t flags, bool isOwn) {
  RunningBlock &own = blockOf(context);
  SharedPlace place = isOwn ? SharedPlace{&own, own.shared.address(address)}
                            : context.worker->place(context, address);
  if (place.block != &own)
    place.block->allowRemote(context, flags & kWrites ? "writes" : "reads");
  SharedMemory &shared = place.block->shared;
  address = place.address;
  shared.checkBounds(context, address, size, alignment,
                     flags & kWrites ? "a write" : "a read");
  bool isAtomic = flags & kIsAtomic;
  if (flags & kWrites)
    shared.write(context, address, size, isAtomic);
  else
    shared.read(context, address, size);
}

/// Whether the bytes are those of a kernel's parameters.
static bool isParameter(const Worker &worker, uint64_t address, uint64_t size) {
  const Launch &launch = worker.grid->launch;
  const auto &parameters = worker.grid->kernel.info.parameters;
  for (size_t i = 0; i < parameters.size(); ++i) {
    uint64_t offset =
        address - reinterpret_cast<uint64_t>(launch.parameters[i]);
    if (offset < parameters[i].size && size <= parameters[i].size - offset)
      return true;
  }
  return false;
}

static void checkAnyAccess(Context *context, uint64_t address, uint64_t size,
                           uint32_t alignment, uint32_t flags,
                           KnownRange *range) {
  if (!size)
    return;
  Worker &worker = *context->worker;
  uint32_t space = flags >> kSpaceShift;
  if (flags & kIsBeyondVariable)
    fail(*context, kIllegalAddress,
         describe(address, size, flags) +
             "which is outside of the thread's own variable");
  if (space == kShared || space == kSharedCluster ||
      (space == kGeneric && worker.holdsGeneric(address))) {
    checkShared(*context, address, size, alignment, flags,
                /*isOwn=*/space == kShared);
    return;
  }
  checkAlignment(*context, address, size, alignment, flags);
  if (space != kGlobal &&
      threadOf(*context).fiber.holds(reinterpret_cast<const void *>(address)))
    return;
  MemoryRange found = worker.find(address, size);
  if (found.size) {
    if (range)
      *range = {found.first, found.size - size};
    return;
  }
  if (space != kGlobal && !(flags & kWrites) &&
      isParameter(worker, address, size))
    return;
  fail(*context, kIllegalAddress,
       describe(address, size, flags) + worker.grid->memory.describe(address));
}

void heddle::emulator::checkAccess(Context *context, uint64_t address,
                                   uint64_t size, uint32_t alignment,
                                   uint32_t flags, KnownRange *range) {
  // By far the most frequent access.
  bool isSharedRead = flags == (kReads | kShared << kSpaceShift) &&
                      !(address & (alignment - 1));
  const Thread &thread = threadOf(*context);
  if (!isSharedRead || !thread.home->shared.readWords(thread, address, size))
    checkAnyAccess(context, address, size, alignment, flags, range);
}
