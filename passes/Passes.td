//===- Passes.td - Heddle's passes, in pipeline order ---------*- tablegen -*-===//

#ifndef HEDDLE_PASSES_PASSES
#define HEDDLE_PASSES_PASSES

include "mlir/Pass/PassBase.td"

def RestrictAttentionPass
    : Pass<"transformer-restrict-attention", "::mlir::ModuleOp"> {
  let summary = "Intersect masks with those of rules";
  let description = [{
    Comes in: a module as imported, and `rules` in the language of
    lib/Masks/AttentionRules.h. After it the attention that a rule names lets only
    those pairs attend that both its mask and the rule's contain.

    What an attention is called follows from the arguments that its queries and
    keys are computed from, see lib/Masks/AttentionSites.h. Layers count from 1
    within each function, the attention of each name by itself, so that all
    decoders of a module get the same. Where several rules name one attention the
    last counts; a rule that no attention gets is an error.

    ```mlir
    %valid = transformer.mask.padding %lengths
    %y = transformer.attention %q, %k, %v mask(%valid)
    // becomes, with `encoder.self: window(128) | causal`
    %valid = transformer.mask.padding %lengths
    %window = transformer.mask.window [left = 128, right = 128]
    %causal = transformer.mask.causal
    %either = transformer.mask.or %window, %causal
    %both = transformer.mask.and %valid, %either
    %y = transformer.attention %q, %k, %v mask(%both)
    ```

    Attention in the step form is left alone: split-phases derives it later.
  }];
  let options = [
    Option<"rules", "rules", "std::string", /*default=*/"",
           "such as encoder.self: window(128)">
  ];
}

def DrawMasksPass : Pass<"transformer-draw-masks", "::mlir::ModuleOp"> {
  let summary = "Draw each mask of a module";
  let description = [{
    Comes in: attention over whole sequences, before it is bufferised. The module
    stays as it is; the folder `dir` gets an image, SVG, of each mask that an
    attention has, named after the function and the attention:
    `encode.encoder_l1_self.svg`, or `encode.encoder.self.1.svg` where its
    location, and with it the checkpoint, has no name for it. Masks that look alike share the image of the first; heads that
    differ stand beside each other, at most `heads` of them.

    It shows `length` queries and as many keys of one sentence: pairs that attend;
    tiles of 32 queries and 8 keys that kernels visit, and those that they take
    whole; their numbers and their shares of what full attention computes, and the
    number of pairs that lists give without tiles.

    All of it is what the mask says of itself: its predicate, its segments, its
    stride and its lists, run on constants. Arguments that have one number a sentence, such as lengths, are
    `length`, unless `values` gives others by name, `lengths=40;
    segments=0,0,1`: elements in their order, the last of which stands for all
    that follow. A mask that reads anything else that no constant defines is an
    error.
  }];
  let options = [
    Option<"dir", "dir", "std::string", /*default=*/"", "the folder to draw in">,
    Option<"length", "length", "unsigned", /*default=*/"64",
           "queries, and keys: 1 to 4096">,
    Option<"heads", "heads", "unsigned", /*default=*/"4",
           "how many heads that differ are drawn">,
    Option<"values", "values", "std::string", /*default=*/"",
           "what masks read: NAME=NUMBER,NUMBER...; NAME=...">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def ExpandRegionsPass : Pass<"transformer-expand-regions", "::mlir::ModuleOp"> {
  let summary = "Make regions of attention total functions";
  let description = [{
    Comes in: attention, or linear attention, with regions, before anything has
    folded. After it their
    ops are defined for every operand, as `attention` says, so that a lowering may
    evaluate them on pairs outside of the mask; and every lowering knows them:

    - divisors, shifts and floats that have no result are replaced, and the result
      with them; constants that are harmless stay as they are;
    - f16 and bf16 are computed in f32 and rounded, bf16 with integer ops;
    - ipowi, fpowi, clampf, sincos, rounded divisions become simpler ops;
    - flags of overflow and fast math are dropped.

    ```mlir
    score {
    ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
      %q = arith.divui %i, %j : i32
    // becomes
      %none = arith.cmpi eq, %j, %c0 : i32
      %safe = arith.select %none, %c1, %j : i32
      %part = arith.divui %i, %safe : i32
      %q = arith.select %none, %c0, %part : i32
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"
  ];
}

def ChoosePrecisionPass
    : Pass<"transformer-choose-precision", "::mlir::ModuleOp"> {
  let summary = "Choose the element types of products";
  let description = [{
    Comes in: functions on tensors, all f32. `dtype` says which products become
    products of integers: `f32` none, `int8` all whose weight is a parameter,
    `auto` those whose weight the checkpoint stores as integers. With `bf16` or
    `f16`, the short floats, all whose weight is a parameter become products of
    them, and attention multiplies them.

    A product of short floats gets its left side from a `round`, its weight from a
    parameter that is `rounded`, or `rounded_to_f16`; tables of embeddings are, too. Queries, keys and
    values come from a `round`, before split-phases makes caches of them. Norms,
    softmax and residuals stay f32, and so does attention beside integers.

    A product of integers gets its left side from a `quantize`, its weight from a
    parameter of i8. Where the checkpoint has integers and multipliers, as
    Marian's int8 models do, these are kept; otherwise each vector and each
    output has a scale of its own. Tables of embeddings become integers by the
    same rule, one scale a row.

    ```mlir
    %w = transformer.weight @w : tensor<256x512xf32>
    %y = transformer.linear %x, %w, %b
    // becomes, with dtype int8
    %q, %s = transformer.quantize %x
    %i = transformer.weight @w.column_integers : tensor<256x512xi8>
    %t = transformer.weight @w.column_scales : tensor<512xf32>
    %y = transformer.linear %q scales(%s), %i scales(%t), %b
    ```

    `keep` has rules such as `bf16:encoder_l1_*`: a weight is multiplied in the
    type of the first rule that has its name, where that is as wide at least. A rule that
    has no name of a product's weight or a table is an error.

    What is multiplied as f32 says in a remark why.
  }];
  let options = [
    Option<"dtype", "dtype", "std::string", /*default=*/[{"auto"}],
           "auto, f32, bf16, f16 or int8">,
    ListOption<"keep", "keep", "std::string",
               "int8:GLOB, bf16:GLOB, f16:GLOB or f32:GLOB: at least so wide">
  ];
}

def FakeQuantizePass
    : Pass<"transformer-fake-quantize", "::mlir::ModuleOp"> {
  let summary = "Round what products multiply and go on in f32";
  let description = [{
    Stands in for choose-precision where `--calibrate` measures what fewer bits
    cost. Comes in: functions on tensors, all f32. Products that
    choose-precision would give fewer bits, by `dtype` and `keep`, stay in f32:
    their left side comes from a `fake_quantize`, their weight and the tables of
    embeddings from parameters of the same values (`as_column_i8`, ...).

    Without `on` all of it is switched off by the parameters' bytes: the module
    computes what it did. The two differ in those bytes alone, not in code, types
    or places, so that one program measures each weight by itself: its parameters
    are those of `on`, all others those without.

    ```mlir
    %y = transformer.linear %x, %w, %b
    // becomes, with dtype=int8
    %w1 = transformer.weight @w.one : tensor<1xf32>
    %q = transformer.fake_quantize %x as i8 when(%w1)
    %w2 = transformer.weight @w.as_column_i8 : tensor<256x512xf32>
    %y = transformer.linear %q, %w2, %b
    // of parameters with `on`, and without
    transformer.parameter @w.one : tensor<1xf32> one of [@w]
    transformer.parameter @w.one : tensor<1xf32> one of [@w] scaled by 0.0
    ```

    The left side of candidates and what attention multiplies stay as they are:
    the former is that of the product of all logits, the latter has no weight.
  }];
  let options = [
    Option<"dtype", "dtype", "std::string", /*default=*/[{"auto"}],
           "auto, f32, bf16, f16 or int8">,
    ListOption<"keep", "keep", "std::string",
               "as that of choose-precision">,
    Option<"on", "on", "bool", /*default=*/"false", "switch all of it on">
  ];
}

def SplitLinearAttentionPass
    : Pass<"transformer-split-linear-attention", "::mlir::ModuleOp"> {
  let summary = "Give the sums of linear attention an op of their own";
  let description = [{
    Comes in: linear attention on tensors. After it each one that is not causal is
    a `linear_attention.sums` and a `linear_attention.read`: what reads the sums
    works on rows alone, and the sums over a decoder's memory do not depend on the
    target, so that split-phases prepares them once a sentence. A causal one is
    left alone; its sums are another state at each position.

    ```mlir
    %y = transformer.linear_attention %q, %k, %v lengths(%n) {heads = 8 : i64}
    // becomes
    %s, %z = transformer.linear_attention.sums %k, %v lengths(%n)
      {heads = 8 : i64}
    %y = transformer.linear_attention.read %q, %s, %z {heads = 8 : i64}
    ```
  }];
}

include "passes/FusionPasses.td"

def SplitPhasesPass : Pass<"transformer-split-phases", "::mlir::ModuleOp"> {
  let summary = "Derive prepare, step and chunk from a decoder";
  let description = [{
    Comes in: functions with `transformer.forms`, written over whole sequences.
    For each one, @f, whose forms include "step", an analysis marks the values that
    depend on the target (the argument with `transformer.target`: ids [batch, n] or
    vectors [batch, n, width]) and which of their dimensions is time. Then

    - `@f.prepare` computes what does not depend on the target and is used by
      what does, once a sentence;
    - `@f.step` computes one position of each of its rows: ops rewrite themselves
      through `IncrementalOpInterface`, weights and masks are cloned, states
      become arguments with `transformer.state`. Where there are caches, `caches`
      [rows] says which of them a row has: what is in them never moves;
    - `@f.beam`, where there are caches, is a step whose rows part and end as beams
      do: `history` [rows, capacity] says which cache holds each position of a
      row's past, the last one its own;
    - `@f.chunk`, where forms include "chunk", computes the first `target_lengths`
      [batch] positions of each sentence as the full form does and leaves the
      states behind, so that steps go on from there. It returns results at the
      positions `wanted` [batch, wanted] alone: layers in front of them that act
      on each position, logits above all, take these rows only. Where neither
      results nor what such layers read has rows that `take_rows` takes, there is
      no chunk.

    The function itself stays where its forms include "full". No symbol name and
    no model type is read: only interfaces and attributes.

    What the runtime calls has `transformer.role`: "encode", a function with forms
    and no target; and of a decoder over ids, which `transformer.decoder` names,
    "full", "prepare", "step", "beam" or "chunk". fuse-choice adds "greedy" and
    "best".

    ```mlir
    func.func @decode(%ids: tensor<?x?xi32> {transformer.target, ...},
                      %memory: tensor<?x?x8xf32>, %lengths: tensor<?xi32>)
      %k = transformer.linear %memory, %wk
      %x = transformer.embedding %ids, %table
      %valid = transformer.mask.padding %lengths
      %y = transformer.attention %x, %k, %k mask(%valid)
    // becomes
    func.func @decode.prepare(%memory, %lengths) -> tensor<?x?x8xf32>
      %k = transformer.linear %memory, %wk
    func.func @decode.step(%ids: tensor<?xi32>, %positions: tensor<?xi32>,
                           %sentences: tensor<?xi32>, %lengths, %k)
      %x = transformer.embedding %ids, %table
      %valid = transformer.mask.padding %lengths
      %y = transformer.attention %x, %k, %k mask(%valid)
             at %positions of %sentences shared
    ```

    Self-attention keeps its keys and values:

    ```mlir
      %y = transformer.attention %q, %k, %v mask(%causal)
    // becomes in @decode.step
      %k1 = transformer.cache.append %k at %positions in %caches into %k0
      %v1 = transformer.cache.append %v at %positions in %caches into %v0
      %y = transformer.attention %q, %k1, %v1 mask(%causal)
             at %positions of %sentences in %caches
    // in @decode.beam
      %y = transformer.attention %q, %k1, %v1 mask(%causal)
             at %positions of %sentences through %history
    // and in @decode.chunk
      %y = transformer.attention %q, %k, %v mask(%causal)
      %k1 = transformer.cache.fill %k lengths(%target_lengths) in %caches into %k0
      %v1 = transformer.cache.fill %v lengths(%target_lengths) in %caches into %v0
    ```

    An op that cannot be evaluated position by position is an error that names
    the op and the reason; so is a form of another name.
  }];
}

def BufferMasksPass : Pass<"transformer-buffer-masks"> {
  let summary = "Let masks read buffers";
  let description = [{
    Comes in: masks on tensors. Masks are no data, and bufferisation knows nothing
    of them: what an op that implements MaskOpInterface reads of tensors, by its
    operands or in its region, it reads of their buffers from here on, which
    bufferisation then finds.

    ```mlir
    %valid = transformer.mask.padding %lengths : tensor<?xi32>
    // becomes
    %buffer = bufferization.to_buffer %lengths read_only : tensor<?xi32> to memref<?xi32>
    %valid = transformer.mask.padding %buffer : memref<?xi32>
    ```
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect"];
}

def PassDestinationsPass
    : Pass<"transformer-pass-destinations", "::mlir::ModuleOp"> {
  let summary = "Let callers own the memory of results";
  let description = [{
    Comes in: functions on tensors that return values. Each returned value gets an
    argument with `transformer.output` as the destination of the op that computes
    it, so that bufferisation writes straight into the caller's buffer. New states
    are left alone: they already are their argument.

    ```mlir
    func.func @f(%x: tensor<?x8xf32> {transformer.dims = ["rows"]})
        -> tensor<?x4xf32>
      %y = transformer.linear %x, %w
      return %y
    // becomes
    func.func @f(%x: tensor<?x8xf32> {transformer.dims = ["rows"]},
                 %out: tensor<?x4xf32> {transformer.dims = ["rows"],
                                        transformer.output})
        -> tensor<?x4xf32>
      %y = transformer.linear %x, %w into %out
      return %y
    ```

    A value that already has a destination, is returned twice, or is an argument
    is copied. Bufferisation is told not to write into other arguments. Functions
    become private, since no one but the runtime calls them; several blocks, calls
    and results that are no tensors are errors.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect"];
}

def ChunkRowsPass : Pass<"transformer-chunk-rows", "::mlir::ModuleOp"> {
  let summary = "Pass long sequences through layers in chunks of rows";
  let description = [{
    Comes in: functions on memrefs. Layers that compute row by row and stand behind
    each other, with nothing but such layers between them, become a loop over
    chunks of at most `rows` rows, where a buffer is only theirs: it is as long as
    a chunk from here on. Chunks differ by one row at most, and what fits one is
    one.

    ```mlir
    %h = memref.alloc(%batch, %source) : memref<?x?x3072xf32>
    transformer.linear %x, %w1 activation(gelu) into %h
    transformer.linear %h, %w2 into %y
    // becomes
    %rows = arith.muli %source, %batch
    %longest = arith.minui %rows, %c2048
    %h = memref.alloc(%longest) : memref<?x3072xf32>
    scf.for %number = %c0 to %chunks step %c1
      %xr = transformer.rows %xc[%first for %length] : memref<?x768xf32>
      %hr = transformer.rows %h[%c0 for %length] : memref<?x3072xf32>
      %yr = transformer.rows %yc[%first for %length] : memref<?x768xf32>
      transformer.linear %xr, %w1 activation(gelu) into %hr
      transformer.linear %hr, %w2 into %yr
    ```

    Where a layer reads some rows last, a later one, or a norm itself, may write rows
    of the same type over them; of several the oldest, so that what goes through all
    layers stays in one place, and in the end in that of the result.

    Layers whose operands are no dense buffers of the same named dimensions, or
    weights, are left alone, and so are those of steps: rows of a step are few.
  }];
  let options = [
    Option<"rows", "rows", "int64_t", /*default=*/"2048",
           "of a chunk, at most">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"
  ];
}

def PlanMemoryPass : Pass<"transformer-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Place every buffer of a function in one arena";
  let description = [{
    Comes in: functions on memrefs, straight-line but for loops that allocate
    nothing, whose allocations have sizes that are products of named dimensions,
    or as many rows as such a product and a constant both allow. After it nothing allocates: a buffer is
    a view of the argument with `transformer.arena`, and `@f.arena`, a function of
    the named dimensions, returns how many bytes `@f` needs.

    Attention over whole sequences writes over its queries where nothing reads them
    later. Buffers that look like an argument with `transformer.output` take its
    memory, one after the other, until it is written.

    Buffers that are never alive together share a slot; a slot is as large as the
    largest of its buffers, whatever the dimensions turn out to be. Offsets are
    sums of slot sizes, multiples of 64 bytes.

    ```mlir
    %a = memref.alloc(%rows) : memref<?x8xf32>      // dies before %c is born
    %b = memref.alloc(%rows) : memref<?x8xf32>
    %c = memref.alloc(%rows) : memref<?x8xf32>
    // becomes
    %size = arith.muli %rows, %c32                  // rounded up to 64
    %a = memref.view %arena[%c0][%rows] : memref<?xi8> to memref<?x8xf32>
    %b = memref.view %arena[%size][%rows] : memref<?xi8> to memref<?x8xf32>
    %c = memref.view %arena[%c0][%rows] : memref<?xi8> to memref<?x8xf32>
    ```

    An allocation inside a region, of any other size, or that is freed is an
    error.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"
  ];
}

def PackWeightsPass : Pass<"transformer-pack-weights", "::mlir::ModuleOp"> {
  let summary = "Put the weights of linears into panels";
  let description = [{
    Comes in: linears on memrefs. Each reads a packed copy of its weight, whose
    bytes are in the order in which kernels read them: panels of 32 columns. What
    else reads the parameter keeps the original; place-weights drops an original
    that nobody reads.

    ```mlir
    transformer.parameter @w : tensor<256x1536xf32>
    %w = transformer.weight @w : memref<256x1536xf32>
    transformer.linear %x, %w, %b into %y
    // becomes
    transformer.parameter @w.packed : tensor<48x256x32xf32> packed [1536]
    %w = transformer.weight @w.packed : memref<48x256x32xf32>
    transformer.linear %x, %w, %b into %y
    ```
  }];
}

def PlaceWeightsPass : Pass<"transformer-place-weights", "::mlir::ModuleOp"> {
  let summary = "Give each parameter its place in the artifact";
  let description = [{
    Parameters that are read get an offset in the weights section, in the order of
    their declaration, each at a multiple of 64 bytes; parameters that nothing
    reads are dropped, unless a placed one is made of them: then they stay,
    without a place.

    ```mlir
    transformer.parameter @w : tensor<8x8xf32>
    transformer.parameter @unused : tensor<8xf32>
    // becomes
    transformer.parameter @w : tensor<8x8xf32> placed at 0
    ```
  }];
}

include "passes/CodePasses.td"
include "passes/GpuPasses.td"

#endif // HEDDLE_PASSES_PASSES
