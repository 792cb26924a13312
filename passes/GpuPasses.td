//===- GpuPasses.td - From layer ops to kernels of a GPU ------*- tablegen -*-===//
//
// In pipeline order. They run once for each architecture, expand-math on each kernel.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_PASSES_GPUPASSES
#define HEDDLE_PASSES_GPUPASSES

include "mlir/Pass/PassBase.td"

def SplitFfnPass : Pass<"transformer-split-ffn", "::mlir::ModuleOp"> {
  let summary = "Make two linears of an ffn, for a GPU";
  let description = [{
    Comes in: functions whose memory is planned. On a CPU, an ffn keeps its hidden
    vectors in the cache of a core. For a GPU it becomes two linears over 2,048
    rows at a time, with the hidden vectors at the beginning of the arena, whose
    size function counts them. No bit changes.

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
    Comes in: kernels that are one layer op each, on memrefs. Ops with an emitter
    become parallel loops: an iteration is a thread block, and the body is the code
    of one thread, on addresses. `transformer.launch` has the number of threads of
    a block and the bytes of its shared memory; `cluster`, if blocks access each
    other's shared memory, the number of blocks in a cluster; and `stays`, if the
    grid is persistent (a few blocks do the work of all). Emitters and tile sizes
    follow from the architecture: on sm_90a, warpgroups multiply short floats and
    i8 and compute attention of short floats. Other ops become their reference
    loops, with an iteration per thread.

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
    `gpu.module`, with one thread per iteration, and the loop becomes a launch of
    KernelAbi.h, by number; captured values are the kernel's parameter. Memory that
    a body allocates belongs to the thread. A `memref.alloc` of a function, of one
    dimension and at most one per function, is scratch memory of the device, which
    passes data from one loop to the next. Functions with such a loop get the
    pointer to the `HeddleCall`, as in lower-parallel, and entry points return the
    device's status.

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

    If the loop has `transformer.launch`, from emit-grids, an iteration is a block
    of that many threads with that much shared memory. The size of a `cluster` is
    an attribute of the kernel, so launches do not repeat it. A persistent grid
    (`stays`) launches no more blocks than the device can run at once.

    Errors: a loop with results or other bounds, a loop inside another, a loop
    outside of entry points and kernels, a load or store outside of such a loop.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect"
  ];
}

def AddRuntimeKernelsPass
    : Pass<"transformer-add-runtime-kernels", "::mlir::ModuleOp"> {
  let summary = "Add the kernels that the runtime launches itself";
  let description = [{
    Comes in: the kernels of a GPU, numbered by launch-kernels. The pass appends
    the kernels that the runtime, not an entry point, launches around a step
    (KernelAbi.h): HEDDLE_MOVE_ROWS reorders rows of states when beams are
    reordered or sentences end; HEDDLE_WRITE_HISTORY writes which cache holds a
    row's next position; HEDDLE_MERGE_RANGES merges the lists that largest_logits
    and best_logits keep for each range.

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
  let summary = "Expand functions that a GPU has no instruction for";
  let description = [{
    Comes in: kernels of a GPU, for which there is no math library. Ops of `math`
    become polynomials unless PTX has an instruction for them that rounds as IEEE
    754 says: exp, exp2, tanh and erf of f32 those of the CPU's kernels, all others
    polynomials in f64. `arith.remf` becomes a division of integers. Any other op
    of `math` is an error. A division of f32 by a constant becomes multiply-adds.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"
  ];
}

#endif // HEDDLE_PASSES_GPUPASSES
