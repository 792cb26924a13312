//===- CodePasses.td - From layer ops to LLVM's dialect -------*- tablegen -*-===//
//
// In pipeline order; these run once for each ISA level, and the general ones
// among them for each architecture of a GPU (GpuPasses.td).
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
    `transformer.kernel`, alone but for the masks and constants it uses; layers
    that are alike share one function, so that code grows with the number of
    different kernels and not of layers. Where leading dimensions only count rows
    they are collapsed to one.

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
    A kernel's later forms no longer say it. Called by profiles only, and by its
    kernel alone: its linkage is internal.

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
    Each becomes a call of `heddle_onednn_linear` (KernelAbi.h), one a part of a
    split; a norm stays behind it, as an op of its own. Waives that the bits of a
    row depend on the row alone. Packed weights and other layouts are left alone.

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
    number follows from the work at run time. A task walks over blocks of queries
    of one head; what the mask sees of a block gives the tiles that it touches, in
    ascending order; for each tile weights are computed and the weighted values
    added (online softmax, arXiv:1805.02867), so that memory does not grow with the
    number of keys. Tiles that no query sees are never visited, and where all
    queries see all keys the mask's predicate is not evaluated. No mask op is named.

    Heads whose masks have other parameters are other code. Of a mask with a stride
    each remainder of positions is a view, tiled by itself. Single keys of lists are
    gathered for each query, behind the tiles of its block.

    Tile sizes are those of scratch memory and steps: changing them here changes
    the code.

    Queries and weights of short floats stand in pairs, and `online.pairs` puts the values
    of a tile in pairs before they are added; one query is read where it stands.
    Levels with tiles take 32 keys of bf16 at once where widths are multiples of 32;
    runs are, too, and `online.columns` keeps values in columns for the blocks of
    queries of a head, as far as they fit into the L2 cache.

    ```mlir
    transformer.attention %q, %k, %v mask(%causal) into %y {heads = 8 : i64}
    // becomes
    scf.forall (%task) in (%tasks) {
      %weights = memref.alloca() : memref<256x32xf32>  // and queries, sums, state
      scf.for %unit = %first to %last step %c1 {
        transformer.online.init %rows[%i] into %queries, %sums, %state
        scf.while (%from = %c0) ... {
          %count, %next = transformer.mask.tile_runs mask(%causal) of %b, %h
              queries %i to %end keys %from to %n into %runs
          scf.for %run = %c0 to %count step %c1 {
            scf.for %j = %begin to %end step %c256 {
              transformer.online.weights %queries, %keys[%j to %stop] ...
                  mask(%causal) of %b, %h, %i into %weights, %sums, %state
              transformer.online.update %weights, %values[%j to %stop] ...
                  into %sums
            }
          }
          scf.yield %next
        }
        transformer.online.finish %sums, %state into %result[%i]
      }
    }
    ```

    A similarity region takes the place of the products of queries and keys; both
    are f32 before it. Tiles then multiply values alone.

    Heads wider than 512, whose rows would not fit into scratch memory and
    registers, and buffers whose rows are not contiguous are left to the reference
    lowering. An ISA level that is not supported is an error.
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
    tasks, of a block of rows by a range of panels, and in a task loops over tiles
    that fit into the registers of the ISA level: whole ones of 8 rows (6 with 16
    registers) and below them one of the rows that are left. Those are of any
    number, and each number has code of its own for the sums alone: bias,
    activation and residual follow once for all of them, from scratch memory. A
    panel of weights stays in the L1 cache while all rows of the block pass; less
    than half a tile of rows takes several panels at once. A norm follows the rows
    of a block; the hidden vectors of an ffn stay on the stack of its task.

    Where the level has tiles for the type (`amx`), sums are those of 32 rows by a
    panel, or of 16 where no more are left, and always pass through scratch memory;
    these rows pass over panels that stay in the L2 cache together. Rows below that
    are copied to where as many may be read. Rows of integers that are fewer than
    four keep vectors, whose sums are the same.

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
    Comes in: tiles and layer ops on memrefs. Those with an emitter in lib/Kernels
    become code in vectors, or tiles, of the ISA level; what has none is left to the
    reference lowering. Layers that treat rows alike become a parallel loop over
    ranges of rows and one over the vectors of each.

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
    Comes in: layer ops and copies on memrefs. Each becomes the loops of its
    formula, one element at a time, in one fixed order of summation per row; masks
    become their predicate and keys are visited one by one. No emitter, no tiling,
    no vector: a lowering to trust, and the oracle for every faster one.

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
    sizes are its named dimensions, weights are read at their place. What the
    runtime has to know stands in `transformer.entry`, in the manifest's words.

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

    A function that still returns something (bufferisation had to copy), an
    argument without a name of its own or of elements other than f32 and i32, a
    parameter without a place, or an op that has no way to LLVM is an error.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect"
  ];
}

def ProfileKernelsPass : Pass<"transformer-profile-kernels", "::mlir::ModuleOp"> {
  let summary = "Count calls of kernels where the caller asks";
  let description = [{
    Comes in: entry points that call kernels. Kernels get the pointer to the
    `HeddleCall` as their last argument and ask around their body whether it has a
    profile; then the call is timed and counted, with the work that the kernel's
    `transformer.work` returns, zeros where it has none. Before it they get the
    number of the place that calls them: a place is one call in the text of an
    entry point, numbered through all of them. Which kernel and which layer that
    is, by number, stands in `transformer.entry`; the module's
    `transformer.kernels` and `transformer.layers`, the names in locations, name
    them. All of it goes into the manifest.

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
    Comes in: entry points and kernels whose parallel work is a loop
    `scf.forall (%task) in (%tasks)` on memrefs. The loop's body becomes a task
    function of KernelAbi.h, which finds what the body captured in a context on the
    caller's stack, and the loop a call of the runtime's `parallelFor`; or of the
    task itself, over all iterations, where there is one task or one thread.
    Scratch memory (`memref.alloca` of static size) gets a place in that of the
    thread which runs the task; `@heddle.scratch` says how much the largest needs.

    Kernels with such a loop get the pointer to the `HeddleCall` as their last
    argument, where profile-kernels gave them none; their callers pass it on.

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

    A loop of another form (several dimensions, other bounds, results), one inside
    another, directly or through a call, and one outside of entry points and
    kernels is an error.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::scf::SCFDialect"
  ];
}

def EmulateTilesPass : Pass<"transformer-emulate-tiles", "::mlir::ModuleOp"> {
  let summary = "Make loops of tiles, for tests";
  let description = [{
    Comes in: code with tiles of `amx`. They become memrefs on the stack of their
    function, one for each op that makes a tile, and a product the call of a
    function of loops, one for each type: code for machines without tiles, slow,
    that has the bits of those which have them. Sums of integers are exact; those
    of bf16 take the order of the instruction's description: products of even and
    of odd inputs apart from each other, from zero, then both together, then what
    was before; denormals are zeros where the caller's environment makes them.

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
    Comes in: functions of loops, vectors and scalars on memrefs. Behind it they are
    LLVM's, one to one, and parameters are all that is left beside them. Functions of
    `math` that LLVM has no intrinsic for become calls of libm. What has no form in
    LLVM is an error.
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
