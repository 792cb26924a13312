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
    decoders of a module get the same. If several rules name the same attention,
    the last one wins; a rule that matches no attention is an error.

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
    does not change. The folder `dir` gets an SVG image of the mask of each
    attention, named after the function and the attention:
    `encode.encoder_l1_self.svg`, or `encode.encoder.self.1.svg` if its location,
    that is the checkpoint, has no name for it. Masks that look alike share the
    image of the first; heads that differ stand side by side, at most `heads` of
    them.

    An image shows `length` queries and as many keys of one sentence: the pairs that
    attend, the tiles of 32 queries and 8 keys that kernels visit, and the tiles
    without a masked pair. It counts them, says their shares of full attention, and
    counts the pairs that lists give without tiles.

    The pass evaluates the methods of the mask itself, its predicate, segments,
    stride and lists, on constants. Arguments with one number per sentence, such as
    lengths, are `length`, unless `values` gives others by name, `lengths=40;
    segments=0,0,1`: elements in their order, the last of which is repeated. A mask
    that reads any other value that is no constant is an error.
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
    folded. After it their ops are defined for every operand, as `attention` says,
    so that a lowering may evaluate them on pairs outside of the mask; and every
    lowering knows them:

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
    Comes in: functions on tensors, all f32. `dtype` says which
    products change their type:

    - `f32`: none;
    - `int8`: products by a parameter multiply integers;
    - `int8w`: weights of products are integers, which vectors of f32, or of bf16
      if `activations` says so, multiply (weight-only quantization);
    - `auto`: products by a parameter that the checkpoint stores as integers
      multiply integers;
    - `bf16`, `f16` (short floats): products by a parameter, and attention,
      multiply these.

    `attention` says what attention multiplies in place of what dtype says: bf16 or
    f16 halve the KV caches of a model whose products are integers or f32. With
    `int8` decoders keep keys and values as integers, from `quantize_heads`, with a
    scale for each position and kv head: self-attention over a target multiplies
    them by queries of f32, whatever dtype says. Other attention is what dtype says
    it is, over an encoder's memory for one. It is an error if there is none to keep.

    A product of short floats reads its left side from a `round` and its weight
    from a parameter that is `rounded`, or `rounded_to_f16`; embedding tables are
    rounded, too. Queries, keys and values come from a `round`, before split-phases
    makes caches of them. Norms, softmax and residuals stay f32, as does attention
    when products are integers and `attention` says nothing.

    A product of integers reads its left side from a `quantize` and its weight from
    a parameter of i8. If the checkpoint has integers and multipliers, as Marian's
    int8 models do, these are kept; otherwise each vector and each output has a
    scale of its own. Embedding tables become integers by the same rule, with a
    scale per row. With `int8w` each 32 inputs of an output share a scale, and
    linears and logits alone have such weights. Vectors stay f32; with
    `activations=bf16` they come from a `round`, and so do the factors of attention
    if `attention` says nothing. With `rotated`, vectors
    with scales are rotated before they are quantised, and so are the weights of
    their linears: the error of a product gets several times smaller where vectors
    have a few large numbers (see `quantize`).

    ```mlir
    %w = transformer.weight @w : tensor<256x512xf32>
    %y = transformer.linear %x, %w, %b
    // becomes, with dtype int8
    %q, %s = transformer.quantize %x
    %i = transformer.weight @w.column_integers : tensor<256x512xi8>
    %t = transformer.weight @w.column_scales : tensor<512xf32>
    %y = transformer.linear %q scales(%s), %i scales(%t), %b
    ```

    `keep` has rules such as `bf16:encoder_l1_*`: the first rule that matches
    a weight's name gives its type, if that is at least as wide as `dtype`. A rule
    that matches no weight of a product and no table is an error.

    A remark says why a product stays f32.
  }];
  let options = [
    Option<"dtype", "dtype", "std::string", /*default=*/[{"auto"}],
           "auto, f32, bf16, f16, int8 or int8w">,
    ListOption<"keep", "keep", "std::string",
               "int8:GLOB, int8w:GLOB, bf16:GLOB, f16:GLOB or f32:GLOB: at least so "
               "wide">,
    Option<"rotated", "rotated", "bool", /*default=*/"false",
           "rotate vectors with scales before they are quantised">,
    Option<"activations", "activations", "std::string", /*default=*/[{"f32"}],
           "f32 or bf16, what multiplies weights of int8w">,
    Option<"attention", "attention", "std::string", /*default=*/[{""}],
           "f32, bf16 or f16, in place of what dtype says of attention; or int8, for "
           "what decoders keep">
  ];
}

def FakeQuantizePass
    : Pass<"transformer-fake-quantize", "::mlir::ModuleOp"> {
  let summary = "Round what products multiply and go on in f32";
  let description = [{
    Replaces choose-precision when `--calibrate` measures what fewer bits cost.
    Comes in: functions on tensors, all f32. Products that choose-precision would
    give fewer bits, by `dtype` and `keep`, stay in f32: their left side comes from
    a `fake_quantize`, their weight and the tables of embeddings from parameters of
    the same values (`as_column_i8`, ...).

    Without `on`, the bytes of the new parameters switch the rounding off and the
    module computes what it did before. Only these bytes differ with `on`, not code,
    types or offsets. One program can hence measure each weight by itself: it takes
    that weight's bytes from the module with `on` and all others from the one
    without.

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

    Left sides of candidates and the factors of attention stay f32: the former are
    those of the product of all logits, the latter are no weights.
  }];
  let options = [
    Option<"dtype", "dtype", "std::string", /*default=*/[{"auto"}],
           "auto, f32, bf16, f16, int8 or int8w">,
    ListOption<"keep", "keep", "std::string",
               "as that of choose-precision">,
    Option<"on", "on", "bool", /*default=*/"false", "switch all of it on">,
    Option<"rotated", "rotated", "bool", /*default=*/"false",
           "as that of choose-precision">,
    Option<"activations", "activations", "std::string", /*default=*/[{"f32"}],
           "as that of choose-precision">
  ];
}

def SplitLinearAttentionPass
    : Pass<"transformer-split-linear-attention", "::mlir::ModuleOp"> {
  let summary = "Give the sums of linear attention an op of their own";
  let description = [{
    Comes in: linear attention on tensors. Each op that is not causal becomes
    a `linear_attention.sums` and a `linear_attention.read`. The read works on each
    row alone, and the sums over a decoder's memory do not depend on the target, so
    split-phases computes them once per sentence. Causal ops are left alone: their
    sums differ at each position.

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
  let summary = "Derive prepare, step and extend from a decoder";
  let description = [{
    Comes in: functions with `transformer.forms`, written over whole sequences.
    For each one, @f, whose forms include "step", an analysis marks the values that
    depend on the target (the argument with `transformer.target`: ids [batch, n] or
    vectors [batch, n, width]) and which of their dimensions is time. Then

    - `@f.prepare` computes what does not depend on the target and is used by
      what does, once a sentence;
    - `@f.step` computes one position of each of its rows: ops rewrite themselves
      through `IncrementalOpInterface`, weights and masks are cloned, states
      become arguments with `transformer.state`. If there are caches, `caches`
      [rows] says which cache a row uses; the contents of caches never move;
    - `@f.beam`, if there are caches, is a step for beam search, in which hypotheses
      split and end: `history` [rows, capacity] says which cache holds each position
      of a row's past, the last one its own;
    - `@f.extend`, if forms include "extend", is a step over more rows: positions of
      prompts and generated ones, in any number, of any `caches` [tokens], of which
      later ones see earlier ones. Rows of prompts stand in front, and `prefill`
      [blocks] says where blocks of them begin, see `attention`. It returns the
      results of the rows `wanted` [wanted] alone: layers in front of them that act
      on each position, such as logits, compute these rows only. A call has at most
      256 rows, for which rings of windows have room;
    - `@f.chunk`, if forms include "chunk", or "extend" where there are states other
      than KV caches, such as that of a recurrence, computes the first `target_lengths`
      [batch] positions of each sentence as the full form does and leaves the
      states behind, so that steps go on from there. It returns results at the
      positions `wanted` [batch, wanted] alone;
    - `@f.align`, if forms include "align", computes all positions of whole targets, as
      the full form does, up to the attention to a memory that `transformer.alignment`
      names. It returns the queries and keys there, and `transformer.heads` says how
      the probabilities follow from them: softmax over the tokens of the source of
      scale * q . k, the mean of some heads. There is none, and a remark, if those of
      the attention are others.

    There is neither of the last two if neither the results nor the inputs of layers
    that act on each position have rows for `take_rows`.

    The function itself stays if its forms include "full". No symbol name and
    no model type is read: only interfaces and attributes.

    What the runtime calls has `transformer.role`: "encode", a function with forms
    and no target, or the task of a function with `transformer.task`; and of a decoder over ids, which `transformer.decoder` names,
    "full", "prepare", "step", "beam", "extend", "chunk" or "align". fuse-choice adds "greedy"
    and "best".

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
    // in @decode.extend
      %y = transformer.attention %q, %k1, %v1 mask(%causal)
             at %positions of %sentences in %caches prefill(%blocks)
    // and in @decode.chunk
      %y = transformer.attention %q, %k, %v mask(%causal)
      %k1 = transformer.cache.fill %k lengths(%target_lengths) in %caches into %k0
      %v1 = transformer.cache.fill %v lengths(%target_lengths) in %caches into %v0
    ```

    An op that cannot be evaluated position by position is an error that names
    the op and the reason; so is a form of another name.
  }];
}

def DropPaddingPass : Pass<"transformer-drop-padding", "::mlir::ModuleOp"> {
  let summary = "Put the sequences of a batch one behind the other";
  let description = [{
    Comes in: an encoder and what computes tasks from its hidden states, as
    split-phases leaves them, on values [batch, n, ...] whose shorter sequences are
    padded. After it values are ragged, [tokens, ...]: the tokens of all sequences,
    one sequence behind the other (known as packed, or of variable length). Linears,
    norms and ffn then do no work on padding, whatever lengths a batch has.

    Arguments `ids`, `types` and the like lose a dimension, and `masks` are tokens
    of all sequences. Ops rewrite themselves through `IncrementalOpInterface`; those
    that need to know their sequence read arguments that are added where something
    reads them:

    - `positions` and `sequences` [tokens]: where a token stands;
    - `starts` [batch]: the first token of each sequence;
    - `blocks` [blocks]: the tokens with which each 32 of a sequence begin.

    Attention sees the tokens of its sequence alone, and its mask no longer says
    which of them are padding.

    ```mlir
    func.func @encode(%ids: tensor<?x?xi32>, %lengths: tensor<?xi32>)
      %x = transformer.embedding %ids, %table
      %valid = transformer.mask.padding %lengths
      %y = transformer.attention %x, %x, %x mask(%valid)
    func.func @embed(%memory: tensor<?x?x8xf32>, %lengths: tensor<?xi32>)
      %v = transformer.pool [mean] %memory of %lengths
    // becomes
    func.func @encode(%ids: tensor<?xi32>, %lengths: tensor<?xi32>,
                      %positions: tensor<?xi32>, %sequences: tensor<?xi32>,
                      %blocks: tensor<?xi32>)
      %x = transformer.embedding %ids, %table
      %y = transformer.attention %x, %x, %x at %positions of %sequences
             ragged(%blocks, %lengths)
    func.func @embed(%memory: tensor<?x8xf32>, %lengths: tensor<?xi32>,
                     %starts: tensor<?xi32>)
      %v = transformer.pool [mean] %memory of %lengths starts %starts
    ```

    A module that decodes keeps its padding: batches of translation are sorted, and
    hold 4 % of it. So does an encoder with an op that has no ragged form, which a
    remark names, and one without a task.
  }];
}

def BufferMasksPass : Pass<"transformer-buffer-masks"> {
  let summary = "Let masks read buffers";
  let description = [{
    Comes in: masks on tensors. A mask is no data, so bufferisation does
    not convert it. This pass does: an op that implements MaskOpInterface and reads
    tensors, as operands or in its region, reads their buffers instead.

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
    chunks of at most `rows` rows, if a buffer is only theirs: it is as long as
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

    Rows that no later layer reads may be overwritten: by a later layer, or by a
    norm in place, with rows of the same type. Of several the oldest is taken, so
    that the residual stream stays in one buffer, in the end that of the result.

    A `pool` that only keeps the largest number of each column belongs to the layers
    in front of it, if it alone reads the rows of the last one: its vectors begin as
    the lowest number, and each chunk moves them up. Such a chunk has at most `bytes`
    of these rows.

    Declined: layers with an operand that is neither a weight nor a dense buffer of
    the same named dimensions, and layers of steps, which have few rows.
  }];
  let options = [
    Option<"rows", "rows", "int64_t", /*default=*/"2048",
           "of a chunk, at most">,
    Option<"bytes", "bytes", "int64_t", /*default=*/"1 << 25",
           "of a chunk of rows that are pooled, at most">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"
  ];
}

def DividePastsPass : Pass<"transformer-divide-pasts", "::mlir::ModuleOp"> {
  let summary = "Give attention memory for the parts of long pasts";
  let description = [{
    Comes in: functions on memrefs. A step over caches of its own gets scratch memory
    for the parts of its rows' pasts, so that threads can share the past of few rows.
    Rings of 512 slots at most need none.

    ```mlir
    transformer.attention %q, %keys, %values mask(%m) at %p of %s in %c into %y
        {heads = 8 : i64}
    // becomes
    %few = arith.minui %rows, %c16
    %parts = memref.alloc(%few) : memref<?x8x16x128xf32>
    transformer.attention %q, %keys, %values mask(%m) at %p of %s in %c
        parts(%parts) into %y {heads = 8 : i64}
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"
  ];
}

def PlanMemoryPass : Pass<"transformer-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Place every buffer of a function in one arena";
  let description = [{
    Comes in: functions on memrefs without control flow, except loops that allocate
    nothing. Sizes of allocations are products of named dimensions; the number of
    rows may be the minimum of such a product and a constant. After it nothing
    allocates: a buffer is a view of the argument with `transformer.arena`, and
    `@f.arena`, a function of the named dimensions, returns how many bytes `@f`
    needs.

    Attention over whole sequences overwrites its queries if nothing reads them
    later. Buffers of the type and size of an argument with `transformer.output` use
    its memory, one after the other, until the result is written.

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
    Comes in: linears on memrefs. Each reads a packed copy of its weight: panels of
    32 columns, the order in which kernels read it. Other ops keep reading the
    original; place-weights drops an original that nothing reads.

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
