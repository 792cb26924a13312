//===- GpuPasses.td - From layer ops to kernels of a GPU ------*- tablegen -*-===//
//
// In pipeline order; these run once for each architecture, expand-math on each
// kernel.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_PASSES_GPUPASSES
#define HEDDLE_PASSES_GPUPASSES

include "mlir/Pass/PassBase.td"

def SplitFfnPass : Pass<"transformer-split-ffn", "::mlir::ModuleOp"> {
  let summary = "Make two linears of an ffn, for a GPU";
  let description = [{
    Comes in: functions whose memory is planned. An ffn that keeps its hidden vectors
    in the caches of a core becomes two linears, of 2,048 rows at a time, with the
    hidden vectors in the arena in front of everything else; what computes its size
    counts them. No bit changes.

    ```mlir
    transformer.ffn %q scales(%s), %w1 scales(%t1), %w2 scales(%t2) activation(relu)
        into %y
    // becomes
    scf.for %first = %c0 to %rows step %c2048 {
      %hidden = memref.view %arena[%c3145728][%count] : ... memref<?x1536xf32>
      transformer.linear %rows_of_q scales(%...), %w1 scales(%t1) activation(relu)
          into %hidden
      transformer.quantize %hidden into %integers, %scales
      transformer.linear %integers scales(%scales), %w2 scales(%t2) into %rows_of_y
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"
  ];
}

def EmitGridsPass : Pass<"transformer-emit-grids", "::mlir::ModuleOp"> {
  let summary = "Turn layer ops into blocks of threads of a GPU";
  let description = [{
    Comes in: kernels that are one layer op each, on memrefs. Ops that have an
    emitter become parallel loops whose iterations are blocks: `transformer.launch`
    says of how many threads, how much shared memory they have together and, where
    blocks reach into each other's, how many are a `cluster`, and that they stay
    (`stays`) where few of them do what there is for all. What
    stands inside is what one of the threads does, on addresses. Emitters and sizes of
    tiles are those of the architecture: sm_90a multiplies short floats and i8 by
    warpgroups, and has attention of short floats by them.
    Other ops are left to their reference loops, a thread an iteration.

    ```mlir
    transformer.linear %x, %w, %b activation relu into %y
    // becomes
    %few = arith.cmpi ult, %rows, %c65 : index
    scf.if %few {
      scf.parallel (%block) = (%c0) to (%blocks) step (%c1) {
        ...
        %d:4 = nvvm.mma.sync ...
      } {transformer.launch = {shared_bytes = 25600 : i64, threads = 64 : i64}}
    } else {
      ...
    }
    ```
  }];
  let options = [
    Option<"architecture", "architecture", "std::string", "",
           "The GPU's, as in --target">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect"
  ];
}

def LaunchKernelsPass : Pass<"transformer-launch-kernels", "::mlir::ModuleOp"> {
  let summary = "Hand parallel loops to a GPU";
  let description = [{
    Comes in: entry points and kernels whose work is in loops `scf.parallel` on
    memrefs, which are the device's. Each loop's body becomes a kernel in a
    `gpu.module`, one thread an iteration, and the loop a launch of KernelAbi.h,
    by number; what the body captured is the kernel's parameter. Memory that a
    body takes for itself is the thread's; what a function takes by `memref.alloc`,
    of one dimension and once at most, is scratch memory of the device,
    for one loop to leave something to the next. Functions with such a loop get
    the pointer to the `HeddleCall`, as in lower-parallel, and entry points return
    what the device's status is.

    ```mlir
    func.func private @scale(%x: memref<?x8xf32>, %rows: index)
        attributes {transformer.kernel}
      scf.parallel (%row, %d) = (%c0, %c0) to (%rows, %c8) step (%c1, %c1) {
        ... %x[%row, %d] ...
      }
    // becomes
    func.func private @scale(%x: memref<?x8xf32>, %rows: index, %call: !llvm.ptr)
      %context = llvm.alloca ... x !llvm.struct<(struct<...>, i64)>
      %blocks = arith.ceildivui %iterations, %c128
      llvm.call %launch(%device, %number, %blocks, %context)
    gpu.module @scale {
      func.func @scale(%context: !llvm.ptr {llvm.byval = ...})
          attributes {nvvm.kernel, nvvm.maxntid = array<i32: 128, 1, 1>}
        %thread = ...  // block * 128 + thread of the block
        scf.if %isIteration { ... }
    }
    ```

    Where the loop has `transformer.launch`, as emit-grids leaves it, an iteration is
    a block of so many threads, which have so much shared memory. Of a `cluster` of
    blocks the kernel says itself how many it has, so that a launch need not; of
    blocks that stay it starts no more than the device has room for.

    A loop with results or other bounds, one inside another, one outside of entry
    points and kernels, and a load or store outside of such a loop is an error.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect"
  ];
}

def AddRuntimeKernelsPass
    : Pass<"transformer-add-runtime-kernels", "::mlir::ModuleOp"> {
  let summary = "Add the kernels that the runtime starts itself";
  let description = [{
    Comes in: the kernels of a GPU, numbered by launch-kernels. Behind them come
    those that no entry point starts but the runtime around a step, each of which
    KernelAbi.h describes: HEDDLE_MOVE_ROWS moves rows of states where rows of a
    beam part or sentences end, HEDDLE_WRITE_HISTORY says which cache has a row's
    next position, and HEDDLE_MERGE_RANGES makes one list of what largest_logits
    and best_logits keep of each range.

    ```mlir
    gpu.module @heddle_move_rows {
      func.func @heddle_move_rows(%move: !llvm.ptr {llvm.byval = ...})
    }
    gpu.module @heddle_write_history ...
    gpu.module @heddle_merge_ranges ...
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect"
  ];
}

def ExpandMathPass : Pass<"transformer-expand-math"> {
  let summary = "Make arithmetic of functions that a GPU has no instruction for";
  let description = [{
    Comes in: kernels of a GPU, for which there is no library of mathematics. Ops
    of `math` that PTX has no instruction for, rounded as IEEE 754 says, become
    polynomials, and `arith.remf` a division of integers: exp, exp2, tanh and erf of
    f32 those of the CPU's kernels, all others ones of f64. What has no such form is
    an error.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"
  ];
}

#endif // HEDDLE_PASSES_GPUPASSES
