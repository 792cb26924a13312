//===- CodePasses.td - From layer ops to LLVM's dialect -------*- tablegen -*-===//
//
// In pipeline order. They run once for each ISA level; the general ones also run for
// each GPU architecture (GpuPasses.td).
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_PASSES_CODEPASSES
#define HEDDLE_PASSES_CODEPASSES

include "mlir/Pass/PassBase.td"

def OutlineKernelsPass
    : Pass<"transformer-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Put each kind of layer op into a function of its own";
  let description = [{
    Comes in: layer ops on memrefs. Each moves into a private function with
    `transformer.kernel`, together with the masks and constants that it uses. Equal
    layers share a function, so code grows with the number of different kernels,
    not with the number of layers. Leading dimensions that only count rows are
    collapsed to one.

    ```mlir
    transformer.linear %x, %w1 into %y : (memref<?x?x8xf32>, ...)
    transformer.linear %y, %w2 into %z : (memref<?x?x8xf32>, ...)
    // becomes, each %...r a collapse_shape to memref<?x8xf32>
    call @linear_8(%xr, %w1, %yr)
    call @linear_8(%yr, %w2, %zr)
    func.func private @linear_8(%x, %w, %y) attributes {transformer.kernel}
      transformer.linear %x, %w into %y
    ```
  }];
  let dependentDialects = [
    "::mlir::func::FuncDialect", "::mlir::memref::MemRefDialect"
  ];
}

def CountWorkPass : Pass<"transformer-count-work", "::mlir::ModuleOp"> {
  let summary = "Write down what each kernel has to do";
  let description = [{
    Comes in: kernels that are one layer op each, with copies of its masks. Each
    gets a function of the same arguments that returns the floating-point
    operations and the bytes of a call, as the op's WorkOpInterface counts them.
    Later forms of a kernel no longer show this. Only the kernel itself calls the
    function, and only if a profile is asked for: its linkage is internal.

    ```mlir
    func.func private @linear_256(%x: memref<?x256xf32>, %w, %y)
        attributes {transformer.kernel}
      transformer.linear %x, %w into %y
    // becomes
    func.func private @linear_256(%x: memref<?x256xf32>, %w, %y)
        attributes {transformer.kernel, transformer.work = @linear_256.work}
      transformer.linear %x, %w into %y
    func.func private @linear_256.work(%x: memref<?x256xf32>, %w, %y)
        -> (index, index) attributes {llvm.linkage = ..., transformer.kernel}
      %flops = ...  // 2 * rows * 256 * 256
      return %flops, %bytes
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"
  ];
}

def CallOneDnnPass : Pass<"transformer-call-one-dnn", "::mlir::ModuleOp"> {
  let summary = "Leave linear to oneDNN";
  let description = [{
    Comes in: linears on memrefs [rows, width], with weights that are not packed.
    Each becomes a call of `heddle_onednn_linear` (KernelAbi.h), one per part of a
    split; a norm follows as an op of its own. oneDNN does not promise that the
    bits of a row depend on the row alone. Declined: packed weights and other
    layouts.

    ```mlir
    transformer.linear %x, %w, %b activation(relu) into %y
    // becomes
    call @heddle_onednn_linear(%x_at, %w_at, %b_at, %null, %y_at, %rows, %in,
                               %out, %stride, %relu)
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect"
  ];
}

def TileAttentionPass : Pass<"transformer-tile-attention"> {
  let summary = "Turn attention into loops over tiles of keys";
  let description = [{
    Comes in: attention on memrefs. Each becomes a parallel loop of tasks, whose
    number follows from the work at run time. A task computes blocks of queries of
    one head. The mask's ranges for a block give the tiles that it touches, in
    ascending order. For each tile the probabilities are computed and the weighted
    values added (online softmax, arXiv:1805.02867), so memory does not grow with the
    number of keys. Tiles that no query sees are never visited. In tiles that all
    queries see, the mask's predicate is not evaluated. The pass names no mask op.

    Heads with different mask parameters get different code. If a mask has a
    stride, the positions of each remainder are a view of their own, and tiled as
    such. Single keys of lists are gathered for each query, after the tiles of its
    block.

    The sizes of scratch memory and the steps of loops are the tile sizes: emitters
    follow them.

    Queries and probabilities of short floats are stored in pairs, and `online.pairs`
    makes pairs of the values of a tile before they are added; a single query is
    read in place. Levels with tile instructions multiply 32 keys of bf16 at once
    if widths are multiples of 32. Runs are multiples of 32 then, too, and
    `online.columns` keeps values in columns for all query blocks of a head, as far
    as they fit in the L2 cache.

    ```mlir
    transformer.attention %q, %k, %v mask(%causal) into %y {heads = 8 : i64}
    // becomes
    scf.forall (%task) in (%tasks) {
      %probabilities = memref.alloca() : memref<256x32xf32>  // and queries, sums, state
      scf.for %unit = %first to %last step %c1 {
        transformer.online.init block %rows[%i] into %queries, %sums, %state
        scf.while (%from = %c0) ... {
          %count, %next = transformer.mask.tile_runs mask(%causal) of %b, %h
              queries %i to %end keys %from to %n into %runs
          scf.for %run = %c0 to %count step %c1 {
            scf.for %j = %begin to %end step %c256 {
              transformer.online.probabilities block %queries, %keys[%j to %stop] ...
                  mask(%causal) of %b, %h, %i into %probabilities, %sums, %state
              transformer.online.update block %probabilities, %values[%j to %stop] ...
                  into %sums
            }
          }
          scf.yield %next
        }
        transformer.online.finish block %sums, %state into %result[%i]
      }
    }
    ```

    A similarity region replaces the products of queries and keys, which are
    converted to f32 first. Tile instructions then multiply values only.

    Declined, and left to the reference lowering: heads wider than 512, whose rows
    do not fit in scratch memory and registers, and buffers with rows that are not
    contiguous. An ISA level that is not supported is an error.
  }];
  let options = [
    Option<"isa", "isa", "std::string", "\"x86-64-v3\"",
           "ISA level whose vectors blocks of queries fill">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"
  ];
}

def TileLinearPass : Pass<"transformer-tile-linear", "::mlir::ModuleOp"> {
  let summary = "Cut linears into tiles";
  let description = [{
    Comes in: linears and ffns with packed weights, rows collapsed. Each becomes
    tasks, and a task computes a block of rows by a range of panels, in tiles whose
    sums fit in the registers of the ISA level. Full tiles have 8 rows (6 with 16
    registers); a last tile has the rows that are left. Each number of left rows
    has its own code for the sums; bias, activation and residual are one code for
    all of them, which reads the sums from scratch memory. A panel of weights stays
    in the L1 cache for all rows of a block; fewer rows than half a tile take
    several panels at once. A norm follows after the rows of a block; the hidden
    vectors of an ffn stay in scratch memory of its task.

    If the level has tile instructions for the type (`amx`), a tile has 32 rows by
    a panel, or 16 if no more are left, and its sums always pass through scratch
    memory; its rows are multiplied by all panels that fit in the L2 cache
    together. Fewer rows are copied to a buffer of 16. Fewer than four rows of
    integers use vectors, with the same sums.

    ```mlir
    transformer.linear %x, %w, %b into %y
    // becomes
    scf.forall (%task) in (%tasks)
      scf.for %column = %first to %end step 32
        scf.for %row = %c0 to %whole step 8
          transformer.linear.tile %xs, %w, %b into %ys at [%row, %column] rows 8 columns 32
        scf.index_switch %left
        case 7
          transformer.linear.sums %xs, %w into %sums at [%whole, %column] rows 7 columns 32
        ...
        transformer.linear.finish %sums, %b into %ys at [%whole, %column] rows %left columns 32
    ```

    An ISA level that is not supported is an error.
  }];
  let options = [
    Option<"isa", "isa", "std::string", "\"x86-64-v3\"",
           "ISA level to tile for">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"
  ];
}

def EmitKernelsPass : Pass<"transformer-emit-kernels", "::mlir::ModuleOp"> {
  let summary = "Turn tiles and layer ops into vector code";
  let description = [{
    Comes in: tiles and layer ops on memrefs. Ops with an emitter in lib/Kernels
    become vector or tile instructions of the ISA level; the others are left to the
    reference lowering. Layers that compute each row alone become a parallel loop
    over ranges of rows and a loop over the vectors of each row.

    ```mlir
    transformer.linear.tile %x, %w, %b into %y at [%row, %column] rows 8 columns 32
    // becomes, on x86-64-v4, sixteen accumulators
    %sums:16 = scf.for %k = %c0 to %c256 step %c2 iter_args(...) -> (vector<16xf32>, ...)
      %w0 = vector.load %w[%panel, %k, %inPanel]
      %x0 = memref.load %x[%row, %k]
      %s0 = math.fma ...
    %y0 = arith.addf %sums#0, %b0
    vector.store %y0, %y[%row, %column]
    ```

    An ISA level that is not supported is an error.
  }];
  let options = [
    Option<"isa", "isa", "std::string", "\"x86-64-v3\"",
           "ISA level to generate code for">
  ];
  let dependentDialects = [
    "::mlir::amx::AMXDialect", "::mlir::arith::ArithDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def LowerToLoopsPass : Pass<"transformer-lower-to-loops", "::mlir::ModuleOp"> {
  let summary = "The reference lowering: plain loops";
  let description = [{
    Comes in: layer ops and copies on memrefs. Each becomes loops over its formula,
    one element at a time, with one fixed order of summation per row. Masks become
    their predicates, and keys are visited one by one. Without emitters, tiles and
    vectors this lowering is simple enough to be the oracle for all faster ones.

    ```mlir
    transformer.linear %x, %w into %y
    // becomes
    scf.for %r = %c0 to %rows step %c1
      scf.for %j = %c0 to %out step %c1
        memref.store %zero, %y[%r, %j]
      scf.for %k = %c0 to %in step %c1
        %xk = memref.load %x[%r, %k]
        scf.for %j = %c0 to %out step %c1
          %yj = %y[%r, %j] + %xk * %w[%k, %j]
          memref.store %yj, %y[%r, %j]
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def BuildHostFunctionsPass
    : Pass<"transformer-build-host-functions", "::mlir::ModuleOp"> {
  let summary = "Turn functions into the entry points of KernelAbi.h";
  let description = [{
    Comes in: bufferised, planned functions without results. Each becomes a C
    function of one pointer to a `HeddleCall`: arguments are views of its buffers,
    sizes are its named dimensions, weights are read at their offset.
    `transformer.entry` describes the entry point for the runtime, in the
    manifest's words.

    ```mlir
    func.func private @f(%x: memref<?x8xf32> {transformer.name = "x",
                                              transformer.dims = ["rows"]}, ...)
    // becomes
    func.func @heddle.f(%call: !llvm.ptr) attributes {transformer.entry = {
        name = "f", symbol = "heddle.f", dims = ["rows"],
        arguments = [{name = "x", kind = "input", dtype = "f32",
                      shape = ["rows", 8]} ]}}
      %buffers = llvm.load %call : !llvm.ptr -> !llvm.ptr
      %x = memref.view ...
    ```

    Errors: a function that still returns a value (bufferisation had to copy), an
    argument without a unique name or with elements other than f32 and i32, a
    parameter without an offset, an op that cannot be lowered to LLVM.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect"
  ];
}

def ProfileKernelsPass : Pass<"transformer-profile-kernels", "::mlir::ModuleOp"> {
  let summary = "Count calls of kernels if the caller asks";
  let description = [{
    Comes in: entry points that call kernels. Kernels get two more arguments: the
    number of the place that calls them, and the pointer to the `HeddleCall`. If
    the call has a profile, the kernel is timed and counted, with the work that its
    `transformer.work` returns (zero if it has none). A place is one call in the
    text of an entry point; places are numbered through all entry points.
    `transformer.entry` says which kernel and layer each place is, by numbers;
    `transformer.kernels` and `transformer.layers` of the module name these, after
    locations. All of this goes into the manifest.

    ```mlir
    func.func private @linear_256(%x, %w, %y) { ... }
    // becomes
    func.func private @linear_256(%x, %w, %y, %place: i64, %call: !llvm.ptr)
      %start = scf.if %asked -> (i64) { llvm.call %now(%profile) ... }
      ...
      scf.if %asked {
        %flops, %bytes = func.call @linear_256.work(%x, %w, %y)
        llvm.call %add(%profile, %place, %nanoseconds, %flops, %bytes)
      }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::scf::SCFDialect"
  ];
}

def LowerParallelPass : Pass<"transformer-lower-parallel", "::mlir::ModuleOp"> {
  let summary = "Hand parallel loops to the runtime's threads";
  let description = [{
    Comes in: entry points and kernels whose parallel work is a loop `scf.forall
    (%task) in (%tasks)` on memrefs. The loop's body becomes a task function of
    KernelAbi.h. Captured values are passed in a context on the caller's stack. The
    loop becomes a call of the runtime's `parallelFor`, or, with one task or one
    thread, a call of the task itself over all iterations. Scratch memory
    (`memref.alloca` of static size) gets an offset in the scratch memory of the
    thread that runs the task; `@heddle.scratch` returns the size that the largest
    task needs.

    Kernels with such a loop get the pointer to the `HeddleCall` as their last
    argument, unless profile-kernels added it; their callers pass it on. So do those
    that ask for the number of threads (`transformer.threads`), which is loaded from
    the call.

    ```mlir
    func.func private @scale(%x: memref<?x8xf32>, %tasks: index)
        attributes {transformer.kernel}
      scf.forall (%task) in (%tasks) { ... %x ... }
    // becomes
    func.func private @scale(%x: memref<?x8xf32>, %tasks: index, %call: !llvm.ptr)
      %context = llvm.alloca ... x !llvm.struct<(struct<...>)>
      scf.if %direct {
        func.call @scale.task(%context, %scratch, %begin, %end)
      } else {
        llvm.call %parallel_for(%pool, %end, %task, %context, %scratch, %bytes)
      }
    func.func private @scale.task(%context: !llvm.ptr, %scratch: !llvm.ptr,
                                  %begin: i64, %end: i64)
      scf.for %task = %begin to %end step %c1 { ... }
    ```

    Errors: a loop of another form (several dimensions, other bounds, results), a
    loop inside another, directly or through a call, and a loop or a number of
    threads outside of entry points and kernels.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::scf::SCFDialect"
  ];
}

def EmulateTilesPass : Pass<"transformer-emulate-tiles", "::mlir::ModuleOp"> {
  let summary = "Replace tile instructions by loops, for tests";
  let description = [{
    Comes in: code with tiles of `amx`. Each op that makes a tile gets a memref on
    the stack of its function, and a product becomes the call of a function of
    loops, one per type. The code is slow, runs on machines without tile
    instructions and computes the same bits. Sums of integers are exact. Sums of
    bf16 follow the description of the instruction: products of even and of odd
    inputs are summed separately, starting from zero; both sums are added, then the
    accumulator. Denormals are zeros if the caller's environment flushes them.

    An accumulator tile that a loop carries is updated in place: the product may
    overwrite the tile that it adds to.

    ```mlir
    %s = amx.tile_muli %x zext, %w, %sum
      : !amx.tile<16x64xi8>, !amx.tile<16x64xi8>, !amx.tile<16x16xi32>
    // becomes
    func.call @heddle.tile_muli(%x, %w, %sum, %s)
      : (memref<16x64xi8>, memref<16x64xi8>, memref<16x16xi32>,
         memref<16x16xi32>) -> ()
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"
  ];
}

def LowerToLLVMPass : Pass<"transformer-lower-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Lower entry points and kernels to the LLVM dialect";
  let description = [{
    Comes in: functions of loops, vectors and scalars on memrefs. Each becomes a
    function of the LLVM dialect; only parameters are left beside them. Functions
    of `math` without an LLVM intrinsic become calls of libm. An op that cannot be
    lowered is an error.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::amx::AMXDialect",
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::ub::UBDialect", "::mlir::vector::VectorDialect"
  ];
}

#endif // HEDDLE_PASSES_CODEPASSES
