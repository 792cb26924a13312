//===- StageRing.h - From copies to products --------------------*- C++ -*-===//
//
// A ring of stages of shared memory, with an mbarrier for each stage that is
// full and one for each that is empty. A thread goes over them one after the
// other: one that copies waits until a stage is empty, one that multiplies
// until it is full.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_GPU_THREADS_STAGERING_H
#define HEDDLE_LIB_KERNELS_GPU_THREADS_STAGERING_H

#include "lib/Kernels/Gpu/Threads/WarpgroupCode.h"

namespace heddle {

struct StageRing {
  int64_t stages, stageBytes;
  /// Where the first stage begins in shared memory, in bytes, and behind the
  /// barriers: a multiple of 8 if the bytes of stages are.
  int64_t memory = 0;
  /// Blocks of a cluster that copy into each other's stages: one is empty when
  /// it is in all of them.
  int64_t cluster = 1;
  int64_t end() const { return memory + stages * (stageBytes + 16); }

  /// Where a thread is: a stage's number, and the parity of the phase that it
  /// waits for there; i32.
  struct Place {
    mlir::Value slot, parity;
  };
  /// The first stage, for those that multiply; to those that copy it is empty.
  Place firstFull(WarpgroupCode &code) const;
  Place firstEmpty(WarpgroupCode &code) const;
  Place next(const Place &place, WarpgroupCode &code) const;
  /// The number of the stage so many before, at most all of them.
  mlir::Value slotBefore(mlir::Value slot, int64_t stages,
                         WarpgroupCode &code) const;
  /// Where a stage begins.
  mlir::Value memoryOf(mlir::Value slot, WarpgroupCode &code) const;

  // Barriers of a stage.
  mlir::Value full(mlir::Value slot, WarpgroupCode &code) const;
  mlir::Value empty(mlir::Value slot, WarpgroupCode &code) const;
  /// All threads of the cluster get here first. The arrivals of a block that
  /// make a stage full and empty are i32.
  void makeBarriers(mlir::Value ofFull, mlir::Value ofEmpty,
                    WarpgroupCode &code) const;
  /// A warp that multiplies has done with a stage, if the condition holds.
  void release(mlir::Value slot, mlir::Value condition,
               WarpgroupCode &code) const;

private:
  mlir::Value barrier(mlir::Value slot, int64_t firstBarrier,
                      WarpgroupCode &code) const;
};

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_THREADS_STAGERING_H
