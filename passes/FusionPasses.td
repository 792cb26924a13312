//===- FusionPasses.td - Passes that make fewer ops -----------*- tablegen -*-===//
//
// In pipeline order; fuse-masks and fuse-choice run after split-phases. Each reports
// in remarks what it fused, what it declined and why (lib/Fusion/FusionRemarks.h).
// Without any of them all tokens stay the same.
//
// The totals of --explain count these remarks. The passes have no `statistics`:
// Debian's MLIR is built without them, so Pass::Statistic counts nothing and
// --mlir-pass-statistics prints nothing.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_PASSES_FUSIONPASSES
#define HEDDLE_PASSES_FUSIONPASSES

include "mlir/Pass/PassBase.td"

def FoldScalesPass : Pass<"transformer-fold-scales", "::mlir::ModuleOp"> {
  let summary = "Multiply weights in place of activations";
  let description = [{
    Comes in: functions on tensors. The scale of an embedding's rows becomes part
    of the table, a parameter `scaled by` it: its bytes are multiplied while the
    artifact is written.

    ```mlir
    %e = transformer.embedding %ids, %table {scale = 16.0 : f32}
    // becomes, with @table.scaled : columns of [@table] scaled by 16.0
    %table.scaled = transformer.weight @table.scaled
    %e = transformer.embedding %ids, %table.scaled
    ```

    Declined if readers of the table, in all functions, want different factors: the
    table would be stored twice. The scale of attention's scores is not folded:
    exponents need a factor anyway, and scores that are sums of few digits stay
    exact.
  }];
}

def FusePositionsPass : Pass<"transformer-fuse-positions", "::mlir::ModuleOp"> {
  let summary = "Add positions while rows are looked up";
  let description = [{
    Comes in: functions on tensors. Positions, sinusoidal or learned, that are
    added to an embedding become part of it.

    ```mlir
    %e = transformer.embedding %ids, %table {scale = 16.0 : f32}
    %x = transformer.positions.sinusoidal %e {timescales = 127 : i64}
    // becomes
    %x = transformer.embedding %ids, %table positions(sinusoidal, 127, halves)
           {scale = 16.0 : f32}
    ```

    Declined if the embedding without positions has other readers.
  }];
}

def FuseCandidatesPass
    : Pass<"transformer-fuse-candidates", "::mlir::ModuleOp"> {
  let summary = "Read candidates where their table has them";
  let description = [{
    Comes in: functions on tensors. The logits of a shortlist look up the rows and
    biases of candidates themselves. Otherwise these would be copied once per
    sentence and read in every step; now sentences share what they read.

    ```mlir
    %rows = transformer.embedding %ids, %table
    %bias = transformer.embedding %ids, %biases
    %y = transformer.candidate_logits %x, %rows, %bias, %counts
    // becomes
    %y = transformer.candidate_logits %x, %table, %biases, %counts gather(%ids)
    ```

    Declined if rows are scaled, or looked up for other ids than biases.
  }];
}

def FuseEpiloguesPass : Pass<"transformer-fuse-epilogues", "::mlir::ModuleOp"> {
  let summary = "Finish rows in the linear that computes them";
  let description = [{
    Comes in: functions on tensors. A linear applies the activation, the residual
    and the norm that follow it, each optional and in this order, so that a row is
    finished before it leaves the cache. In place of a residual there may be the
    gate of a gated ffn.

    ```mlir
    %h = transformer.linear %a, %wo, %bo
    %s = transformer.add %x, %h
    %y = transformer.norm layer %s, %gamma, %beta {epsilon = 1.0e-6 : f32}
    // becomes
    %y = transformer.linear %a, %wo, %bo residual(%x)
           norm(layer, %gamma, %beta, 1.0e-6)
    ```

    Fusion stops at a value with several readers: in a pre-norm model the sum is
    the next residual, too, so its norm stays an op. Ops that follow anything but a
    linear stay ops as well: the norm of an embedding, the relu of a recurrence.
  }];
}

def FuseQuantizePass : Pass<"transformer-fuse-quantize", "::mlir::ModuleOp"> {
  let summary = "Write integers or short floats where a product has its sums";
  let description = [{
    Comes in: functions on tensors. A linear whose result is only quantised, with
    one multiplier for all vectors, writes the integers itself; a linear or an
    attention whose result is only rounded writes short floats.

    ```mlir
    %h = transformer.linear %q, %w scales(%s), %b activation(relu)
    %r = transformer.quantize %h multiplier 1.25e+01
    // becomes
    %r = transformer.linear %q, %w scales(%s), %b activation(relu)
           quantize(1.25e+01)
    ```

    Declined after a norm, if vectors have scales of their own, or if another reader
    needs f32: fuse-short-rows handles these.
  }];
}

def FuseFfnPass : Pass<"transformer-fuse-ffn", "::mlir::ModuleOp"> {
  let summary = "Keep the hidden vector of two linears in the caches";
  let description = [{
    Comes in: functions on tensors. Two linears with at most an activation between
    them become one op, together with the residual and norm of the second. So do
    two of short floats or i8, and what rounds or quantises the hidden vector.

    ```mlir
    %h = transformer.linear %x, %w1, %b1 activation(relu)
    %y = transformer.linear %h, %w2, %b2 residual(%x)
    // becomes
    %y = transformer.ffn %x, %w1, %b1, %w2, %b2 activation(relu) residual(%x)
    ```

    Declined if
    - the hidden vector has other readers or is too wide for the cache;
    - one of the two linears has a bias and the other has none;
    - their types or shifts differ;
    - another op stands between them;
    - types are bf16 or i8 and the weights exceed 2 MB.
  }];
}

def FuseGatesPass : Pass<"transformer-fuse-gates", "::mlir::ModuleOp"> {
  let summary = "Make one linear of a gated ffn's first two";
  let description = [{
    Comes in: functions on tensors. A linear whose gate is a linear of the same
    input has the gate's columns in its weight, eight of each in turn, and its
    rows leave registers once: the gate's are never stored.

    ```mlir
    %u = transformer.linear %x, %w2
    %h = transformer.linear %x, %w1 activation(silu) gate(%u)
    // becomes, with a parameter columns(8) of [@w1, @w2],
    %h = transformer.linear %x, %w activation(silu) gated
    ```

    Declined if
    - the gate is read elsewhere, too, or is more than x W + b;
    - the types of the weights differ;
    - the columns are no multiple of 16.
    Left out for GPUs and for oneDNN.
  }];
}

def FuseSharedInputsPass
    : Pass<"transformer-fuse-shared-inputs", "::mlir::ModuleOp"> {
  let summary = "Make one linear of all that read one input";
  let description = [{
    Comes in: functions on tensors. Queries, keys and values of a self-attention,
    keys and values of all layers over one memory, and the two linears of a
    recurrence become one, whose weight is a parameter made of the columns of
    theirs and whose result is split. A bias that only some have is zero for the
    others.

    ```mlir
    %f = transformer.linear %x, %wf, %bf
    %v = transformer.linear %x, %w
    // becomes, with @wf+w : columns of [@wf, @w] and @bf+zeros : ... of zeros
    %fv:2 = transformer.linear %x, %wfw, %bfw split [256, 256]
    ```

    Linears that round their results join each other. Declined if a linear has an
    epilogue or its weight is computed.
  }];
}

def FuseAddNormPass : Pass<"transformer-fuse-add-norm", "::mlir::ModuleOp"> {
  let summary = "Let a norm add its residual";
  let description = [{
    Comes in: functions on tensors. For sums that no linear takes in, such as
    those behind a recurrence.

    ```mlir
    %s = transformer.add %x, %h
    %y = transformer.norm layer %s, %gamma, %beta {epsilon = 1.0e-6 : f32}
    // becomes
    %y = transformer.norm layer %h, %gamma, %beta residual(%x) {epsilon = ...}
    ```

    Declined if the sum has other readers, or no norm reads it.
  }];
}

def FuseShortRowsPass : Pass<"transformer-fuse-short-rows", "::mlir::ModuleOp"> {
  let summary = "Write integers or short floats where rows are finished";
  let description = [{
    Comes in: functions on tensors. An op that ends in a norm (a linear, an ffn, a
    norm), an ffn without a norm and an embedding write their vectors twice: in
    fewer bits for the product that reads them, and in f32 for the residual stream.

    ```mlir
    %y = transformer.norm layer %h, %gamma, %beta residual(%x) {epsilon = ...}
    %q, %s = transformer.quantize %y
    // becomes
    %y, %q, %s = transformer.norm layer %h, %gamma, %beta residual(%x)
                   also quantize {epsilon = ...}
    ```

    Declined for attention and for a linear without a norm, whose tasks compute
    parts of rows. A value that is quantised in several ways gets one of them.
  }];
}

def FuseMasksPass : Pass<"transformer-fuse-masks", "::mlir::ModuleOp"> {
  let summary = "Drop the masks that something else implies";
  let description = [{
    Comes in: functions on tensors, steps among them. From the intersection that
    an attention uses, the pass drops masks that exclude nothing: they contain all
    pairs that the other masks and the attention itself leave. A step over
    its own cache sees no later key, so a causal mask excludes nothing there, and
    neither does a window as long as the ring of its cache.

    ```mlir
    %causal = transformer.mask.causal
    %m = transformer.mask.and %causal, %valid
    %y = transformer.attention %q, %cacheK, %cacheV mask(%m) at %p of %s
    // becomes
    %y = transformer.attention %q, %cacheK, %cacheV mask(%valid) at %p of %s
    ```

    `reach` and `containsBand` of MaskOpInterface decide, for masks of any
    dialect.
  }];
}

def FuseChoicePass : Pass<"transformer-fuse-choice", "::mlir::ModuleOp"> {
  let summary = "Give steps forms that find the largest logits themselves";
  let description = [{
    Comes in: functions on tensors. A step whose logits are a plain linear gets a
    second form, `.greedy` in place of `.step`, that returns the largest logits of
    each range of the vocabulary and their ids, with the step's states. It takes
    the forbidden ids, the only other input of a greedy choice. A third form,
    `.best`, made of `.beam` if there is one, returns what beams need: the
    maximum and the sum of exponentials of each range, for log-probabilities, and
    its best logits with their ids, as many as the caller has room for.

    ```mlir
    func.func private @decode.step(%ids: tensor<?xi32>, ...) {
      %y = transformer.linear %x, %w, %b
      return %y, ...
    // gets beside it
    func.func private @decode.greedy(%ids: tensor<?xi32>, ...,
        %forbidden: tensor<?x?xi32> {transformer.name = "forbidden"}) {
      %values, %largest = transformer.largest_logits %x, %w, %b without %forbidden
      return %values, %largest, ...
    func.func private @decode.best(%ids: tensor<?xi32>, ...,
        %forbidden: tensor<?x?xi32> {transformer.name = "forbidden"},
        %maxima: tensor<?x16xf32> {transformer.output}, ...) {
      %results:4 = transformer.best_logits %x, %w, %b without %forbidden
                     into %maxima, %sums, %values, %best
      return %results#0, %results#1, %results#2, %results#3, ...
    ```

    Declined for a shortlist: its step has few logits.
  }];
}

#endif // HEDDLE_PASSES_FUSIONPASSES
