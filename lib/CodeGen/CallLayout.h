//===- CallLayout.h - What passes know of the runtime's call ----*- C++ -*-===//
//
// The numbers of runtime/code/KernelAbi.h and runtime/artifact/ArtifactFormat.h
// that generated code depends on. Passes see the runtime through this header
// alone.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_CODEGEN_CALLLAYOUT_H
#define HEDDLE_LIB_CODEGEN_CALLLAYOUT_H

#include "runtime/artifact/ArtifactFormat.h"
#include "runtime/code/KernelAbi.h"
#include <cstddef>

namespace heddle {

/// Bytes; of buffers in an arena, of scratch memory and of tensors in the
/// weights section.
inline constexpr int64_t kBufferAlignment = format::kTensorAlignment;

/// Fields of HeddleCall by index; each is a word of 8 bytes.
enum class CallField : int32_t {
  Buffers,
  Dims,
  Arena,
  Weights,
  ParallelFor,
  Pool,
  Profile,
  Scratch,
  ScratchBytes,
  Device,
  Threads
};
static_assert(offsetof(HeddleCall, buffers) == 8 * int(CallField::Buffers) &&
              offsetof(HeddleCall, dims) == 8 * int(CallField::Dims) &&
              offsetof(HeddleCall, arena) == 8 * int(CallField::Arena) &&
              offsetof(HeddleCall, weights) == 8 * int(CallField::Weights) &&
              offsetof(HeddleCall, parallelFor) ==
                  8 * int(CallField::ParallelFor) &&
              offsetof(HeddleCall, pool) == 8 * int(CallField::Pool) &&
              offsetof(HeddleCall, profile) == 8 * int(CallField::Profile) &&
              offsetof(HeddleCall, scratch) == 8 * int(CallField::Scratch) &&
              offsetof(HeddleCall, scratchBytes) ==
                  8 * int(CallField::ScratchBytes) &&
              offsetof(HeddleCall, device) == 8 * int(CallField::Device) &&
              offsetof(HeddleCall, threads) == 8 * int(CallField::Threads));

/// Fields of HeddleDevice by index.
enum class DeviceField : int32_t { Launch, Scratch, Status };
static_assert(offsetof(HeddleDevice, launch) == 8 * int(DeviceField::Launch) &&
              offsetof(HeddleDevice, scratch) ==
                  8 * int(DeviceField::Scratch) &&
              offsetof(HeddleDevice, status) == 8 * int(DeviceField::Status));

/// Fields of HeddleRowMove by index: four words of 8 bytes and five of 4.
enum class MoveField : int32_t {
  From,
  To,
  Parents,
  RowBytes,
  Rows,
  Pieces,
  PieceBytes,
  RowsOfThread,
  Gathers
};
static_assert(offsetof(HeddleRowMove, rowBytes) ==
                  8 * int(MoveField::RowBytes) &&
              offsetof(HeddleRowMove, rows) == 8 * int(MoveField::Rows) &&
              offsetof(HeddleRowMove, gathers) ==
                  8 * int(MoveField::Rows) + 16);

/// Fields of HeddleHistoryWrite by index: three words of 8 bytes and two of 4.
enum class HistoryField : int32_t {
  History,
  Positions,
  Caches,
  Rows,
  Capacity
};
static_assert(
    offsetof(HeddleHistoryWrite, caches) == 8 * int(HistoryField::Caches) &&
    offsetof(HeddleHistoryWrite, rows) == 8 * int(HistoryField::Rows) &&
    offsetof(HeddleHistoryWrite, capacity) == 8 * int(HistoryField::Rows) + 4);

/// Fields of HeddleRangeMerge by index: four words of 8 bytes and three of 4.
enum class MergeField : int32_t {
  Values,
  Ids,
  BestValues,
  BestIds,
  Rows,
  Ranges,
  Count
};
static_assert(offsetof(HeddleRangeMerge, bestIds) ==
                  8 * int(MergeField::BestIds) &&
              offsetof(HeddleRangeMerge, rows) == 8 * int(MergeField::Rows) &&
              offsetof(HeddleRangeMerge, count) ==
                  8 * int(MergeField::Rows) + 8);

/// Fields of HeddleProfile by index.
enum class ProfileField : int32_t { Now, Add };
static_assert(offsetof(HeddleProfile, now) == 8 * int(ProfileField::Now) &&
              offsetof(HeddleProfile, add) == 8 * int(ProfileField::Add));

/// The function of KernelAbi.h that linear calls under --gemm=onednn, and the
/// library that has it.
inline constexpr char kOneDnnLinear[] = "heddle_onednn_linear";
inline constexpr char kOneDnnLibrary[] = "libheddle-onednn.so";

} // namespace heddle

#endif // HEDDLE_LIB_CODEGEN_CALLLAYOUT_H
