//===- BulkCopies.cpp - TMA: boxes of tensors, and plain bulk copies ------===//
//
// A box is written to shared memory row by row, its innermost dimension first;
// with a swizzle, the 16-byte chunks of a row change places as the address
// says. Elements outside of the tensor are zeros, or are not stored.
//
//===----------------------------------------------------------------------===//

#include "TensorMap.h"
#include "test/emulator/Operations.h"
#include "test/emulator/Worker.h"

#include <array>
#include <cstring>

using namespace heddle::emulator;

namespace {

/// A tensor map with the coordinates of a box.
struct Box {
  TensorMap map;
  std::array<int32_t, 5> start = {};

  /// Calls function(byte of the box, element's address or 0 outside).
  template <typename Function> void forEach(Function function) const;
};

} // namespace

template <typename Function> void Box::forEach(Function function) const {
  std::array<unsigned, 5> at = {};
  uint64_t count = map.boxBytes() / map.elementBytes;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t address = map.address;
    bool isInside = true;
    for (unsigned d = 0; d < map.rank; ++d) {
      int64_t index =
          int64_t(start[d]) + int64_t(at[d]) * map.elementStrides[d];
      isInside &= index >= 0 && uint64_t(index) < map.dim(d);
      address += index * (d ? map.strides[d - 1] : map.elementBytes);
    }
    function(i * map.elementBytes, isInside ? address : 0);
    for (unsigned d = 0; d < map.rank && ++at[d] == map.box[d]; ++d)
      at[d] = 0;
  }
}

/// The box of an operation's operands: the map's address, then coordinates.
static Box readBox(Context &context, const Operation &operation,
                   const uint64_t *operands) {
  Box box;
  std::memcpy(&box.map, reinterpret_cast<const void *>(operands[0]),
              sizeof(TensorMap));
  if (box.map.magic != TensorMap::kMagic)
    fail(context, kIllegalInstruction,
         operation.name + " with what cuTensorMapEncodeTiled did not make");
  if (box.map.rank != operation.detail[0])
    fail(context, kIllegalInstruction,
         format("%s with a tensor map of rank %u", operation.name.c_str(),
                box.map.rank));
  for (int i = 0; i < operation.detail[0]; ++i)
    box.start[i] = static_cast<int32_t>(operands[1 + i]);
  unsigned rowBytes = box.map.box[0] * box.map.elementBytes;
  if (box.map.swizzleBytes && rowBytes != box.map.swizzleBytes)
    fail(
        context, kIllegalInstruction,
        format("%s with rows of %u bytes and a swizzle of %u, expected as many",
               operation.name.c_str(), rowBytes, box.map.swizzleBytes));
  MemoryRange range =
      context.worker->grid->memory.find(box.map.address, box.map.extent());
  if (context.worker->grid->checks && !range.size)
    fail(context, kIllegalAddress,
         format("%s of a tensor of %llu bytes at 0x%llx, ",
                operation.name.c_str(),
                static_cast<unsigned long long>(box.map.extent()),
                static_cast<unsigned long long>(box.map.address)) +
             context.worker->grid->memory.describe(box.map.address));
  return box;
}

static uint64_t placeOf(const Box &box, uint64_t shared, uint64_t byte) {
  uint64_t address = shared + byte;
  return box.map.swizzleBytes ? swizzled(address, box.map.swizzleBytes)
                              : address;
}

//===----------------------------------------------------------------------===//
// To shared memory
//===----------------------------------------------------------------------===//

namespace {

/// Blocks of the cluster, as bits, and the places in each of them.
struct Targets {
  uint32_t blocks = 0;
  uint64_t to = 0, barrier = 0;
};

} // namespace

/// Of a destination and an mbarrier; `rest` are the operands where a mask is
/// looked for.
static Targets readTargets(Context &context, const Operation &operation,
                           const uint64_t *operands, const uint64_t *rest,
                           int form) {
  Worker &worker = *context.worker;
  SharedPlace to = worker.place(context, operands[0]),
              barrier = worker.place(context, operands[1]);
  Targets targets = {1u << to.block->rank, to.address, barrier.address};
  if (form == kHasMask || (form == kMayHaveMask && (rest[2] & 1))) {
    targets.blocks = static_cast<uint16_t>(rest[0]);
    if (!targets.blocks || targets.blocks >> worker.numBlocks)
      fail(context, kIllegalInstruction,
           format("%s with mask 0x%x, the cluster has %u blocks",
                  operation.name.c_str(), targets.blocks, worker.numBlocks));
  } else if (to.block != barrier.block) {
    fail(context, kIllegalInstruction,
         operation.name + " with an mbarrier of another block");
  }
  return targets;
}

/// A copy to each of the blocks, whose own mbarrier counts it.
static void copyToBlocks(Context &context, const Operation &operation,
                         const Targets &targets, uint64_t size,
                         uint32_t alignment,
                         const std::function<void(SharedMemory &)> &write) {
  Worker &worker = *context.worker;
  for (unsigned rank = 0; rank < worker.numBlocks; ++rank) {
    if (!(targets.blocks >> rank & 1))
      continue;
    RunningBlock &block = *worker.blocks[rank];
    SharedMemory &shared = block.shared;
    block.allowRemote(context, operation.name + " writes", /*isCopy=*/true);
    if (shared.isChecked) {
      shared.checkBounds(context, targets.to, size, alignment,
                         operation.name.c_str());
      shared.beginCopy(context, targets.to, size);
    }
    block.transactions.add(
        context, targets.barrier,
        {size, [&shared, write, size, to = targets.to](uint32_t time) {
           write(shared);
           shared.finishCopy(to, size, shared.bulkActor(), time);
         }});
  }
}

/// Operands destination, mbarrier, map, coordinates, and behind them what
/// detail[1] says. detail[0] is the rank.
void heddle::emulator::copyTensorToShared(Context &context,
                                          const Operation &operation,
                                          const uint64_t *operands,
                                          uint64_t *) {
  Box box = readBox(context, operation, operands + 2);
  Targets targets =
      readTargets(context, operation, operands, operands + 3 + box.map.rank,
                  operation.detail[1]);
  copyToBlocks(context, operation, targets, box.map.boxBytes(), 128,
               [box, to = targets.to](SharedMemory &shared) {
                 unsigned bytes = box.map.elementBytes;
                 box.forEach([&](uint64_t byte, uint64_t from) {
                   std::byte *place = shared.at(placeOf(box, to, byte));
                   if (from)
                     std::memcpy(place, reinterpret_cast<const void *>(from),
                                 bytes);
                   else
                     std::memset(place, 0, bytes);
                 });
               });
}

static void checkBulk(Context &context, const Operation &operation,
                      uint64_t global, uint64_t size, bool writes) {
  if (size % 16 || global % 16)
    fail(context, kMisalignedAddress,
         format("%s of %llu bytes at 0x%llx, expected multiples of 16",
                operation.name.c_str(), static_cast<unsigned long long>(size),
                static_cast<unsigned long long>(global)));
  if (context.worker->grid->checks)
    checkAccess(&context, global, size, 16,
                (writes ? kWrites : kReads) | kGlobal << kSpaceShift, nullptr);
}

/// Operands destination, mbarrier, source, size, and behind them what detail[0]
/// says.
void heddle::emulator::copyBulkToShared(Context &context,
                                        const Operation &operation,
                                        const uint64_t *operands, uint64_t *) {
  Targets targets = readTargets(context, operation, operands, operands + 4,
                                operation.detail[0]);
  uint64_t from = operands[2];
  auto size = static_cast<uint32_t>(operands[3]);
  checkBulk(context, operation, from, size, /*writes=*/false);
  copyToBlocks(context, operation, targets, size, 16,
               [=, to = targets.to](SharedMemory &shared) {
                 std::memcpy(shared.at(to),
                             reinterpret_cast<const void *>(from), size);
               });
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

/// Reads of shared memory that last until the thread waits for their group.
static void addStore(Context &context, const Operation &operation,
                     uint64_t from, uint64_t size, uint32_t alignment,
                     std::function<void()> store) {
  Thread &thread = threadOf(context);
  SharedMemory &shared = thread.home->shared;
  uint32_t ticket = shared.nextTicket();
  if (shared.isChecked) {
    shared.checkBounds(context, from, size, alignment, operation.name.c_str());
    shared.beginRead(context, from, size, shared.bulkActor(), ticket,
                     operation.name);
  }
  thread.copies.openStores.push_back([=, &shared, &thread] {
    store();
    // From here on the bytes are the thread's to write.
    shared.finishRead(from, size, shared.bulkActor(), ticket, 0);
    if (shared.isChecked)
      shared.read(thread, from, size);
  });
}

/// Operands source, map, coordinates.
void heddle::emulator::copyTensorToGlobal(Context &context,
                                          const Operation &operation,
                                          const uint64_t *operands,
                                          uint64_t *) {
  SharedMemory &shared = blockOf(context).shared;
  Box box = readBox(context, operation, operands + 1);
  uint64_t from = shared.address(operands[0]);
  addStore(context, operation, from, box.map.boxBytes(), 128, [=, &shared] {
    box.forEach([&](uint64_t byte, uint64_t to) {
      if (to)
        std::memcpy(reinterpret_cast<void *>(to),
                    shared.at(placeOf(box, from, byte)), box.map.elementBytes);
    });
  });
}

/// Operands destination, source, size.
void heddle::emulator::copyBulkToGlobal(Context &context,
                                        const Operation &operation,
                                        const uint64_t *operands, uint64_t *) {
  SharedMemory &shared = blockOf(context).shared;
  uint64_t to = operands[0], from = shared.address(operands[1]);
  auto size = static_cast<uint32_t>(operands[2]);
  checkBulk(context, operation, to, size, /*writes=*/true);
  addStore(context, operation, from, size, 16, [=, &shared] {
    std::memcpy(reinterpret_cast<void *>(to), shared.at(from), size);
  });
}

void heddle::emulator::commitBulkStores(Context &context, const Operation &,
                                        const uint64_t *, uint64_t *) {
  CopyGroups &groups = threadOf(context).copies;
  groups.committedStores.push_back(std::move(groups.openStores));
  groups.openStores.clear();
}

void heddle::emulator::waitForBulkStores(Context &context, const Operation &,
                                         const uint64_t *operands, uint64_t *) {
  CopyGroups &groups = threadOf(context).copies;
  while (groups.committedStores.size() > operands[0]) {
    for (const auto &store : groups.committedStores.front())
      store();
    groups.committedStores.pop_front();
  }
}

void CopyGroups::checkEnd(Context &context) const {
  if (!openStores.empty() || !committedStores.empty())
    fail(context, kLaunchFailed,
         "the thread ends while bulk stores read its shared memory: nobody has "
         "waited for them");
}

/// What the thread wrote, or has seen, can be read by copies and wgmma.
void heddle::emulator::fenceAsyncProxy(Context &context, const Operation &,
                                       const uint64_t *, uint64_t *) {
  Thread &thread = threadOf(context);
  thread.copies.proxyFenceTime = thread.clock.now();
  thread.copies.proxyFenceSeen = thread.clock.vector();
  thread.clock.advance();
}
