//===- FusionPasses.td - Passes that make fewer ops -----------*- tablegen -*-===//
//
// In pipeline order; fuse-masks and fuse-choice come behind split-phases. Each says what it did
// and what it left, and why, in remarks (lib/Fusion/FusionRemarks.h), and can be
// left out without a change of any token.
//
// How often each fired are the totals of --explain, counted from these remarks.
// No pass of ours has `statistics`: Debian's MLIR is built without them, so that
// its Pass::Statistic counts nothing and --mlir-pass-statistics prints nothing.
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

    A table is scaled where all that read it, in all functions, want the same
    factor; otherwise it would be stored twice, and the scale stays. The scale of
    an attention's scores stays with it: exponents need a factor anyway, and
    scores that are sums of few digits remain exact.
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

    Not where the embedding without positions is read elsewhere, too.
  }];
}

def FuseCandidatesPass
    : Pass<"transformer-fuse-candidates", "::mlir::ModuleOp"> {
  let summary = "Read candidates where their table has them";
  let description = [{
    Comes in: functions on tensors. The logits of a shortlist look up the rows and
    biases of candidates themselves, in place of copies that would be gathered
    once a sentence and read in every step: sentences then share what they read.

    ```mlir
    %rows = transformer.embedding %ids, %table
    %bias = transformer.embedding %ids, %biases
    %y = transformer.candidate_logits %x, %rows, %bias, %counts
    // becomes
    %y = transformer.candidate_logits %x, %table, %biases, %counts gather(%ids)
    ```

    Not where rows are scaled, or looked up for other ids than biases.
  }];
}

def FuseEpiloguesPass : Pass<"transformer-fuse-epilogues", "::mlir::ModuleOp"> {
  let summary = "Finish rows in the linear that computes them";
  let description = [{
    Comes in: functions on tensors. A linear takes in the activation, the residual
    and the norm behind it, in this order and each optional, so that a row is
    finished before it leaves the caches.

    ```mlir
    %h = transformer.linear %a, %wo, %bo
    %s = transformer.add %x, %h
    %y = transformer.norm layer %s, %gamma, %beta {epsilon = 1.0e-6 : f32}
    // becomes
    %y = transformer.linear %a, %wo, %bo residual(%x)
           norm(layer, %gamma, %beta, 1.0e-6)
    ```

    It stops where a row is read by several: in a pre-norm model the sum is the
    next residual, too, and its norm stays an op. So does what stands behind
    anything but a linear: the norm of an embedding, the relu of a recurrence.
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

    Not behind a norm, not where vectors have scales of their own, and not where
    something else reads f32: fuse-short-rows takes those.
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

    Not where the hidden vector is read elsewhere or too wide for caches, where one
    of the two linears has a bias and the other has none, where their types or
    shifts differ, or where more stands between them. Of bf16 and i8 not where
    weights are larger than 2 MB, either.
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

    Linears that round their results join those that do, too. Linears that
    do more than that, or whose weights are computed, are left.
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

    Not where the sum is read elsewhere, too, or by no norm at all.
  }];
}

def FuseShortRowsPass : Pass<"transformer-fuse-short-rows", "::mlir::ModuleOp"> {
  let summary = "Write integers or short floats where rows are finished";
  let description = [{
    Comes in: functions on tensors. What ends in a norm (a linear, an ffn, a norm
    by itself), an ffn without one and an embedding write their vectors in fewer
    bits, too, for the product that reads them; the residual stream reads f32.

    ```mlir
    %y = transformer.norm layer %h, %gamma, %beta residual(%x) {epsilon = ...}
    %q, %s = transformer.quantize %y
    // becomes
    %y, %q, %s = transformer.norm layer %h, %gamma, %beta residual(%x)
                   also quantize {epsilon = ...}
    ```

    Not of attention, nor of a linear without a norm, whose tasks have parts of
    rows; once each, if a value is quantised in more than one way.
  }];
}

def FuseMasksPass : Pass<"transformer-fuse-masks", "::mlir::ModuleOp"> {
  let summary = "Drop the masks that something else implies";
  let description = [{
    Comes in: functions on tensors, steps among them. Of the masks whose
    intersection an attention uses, those that contain whatever the others and
    the attention itself leave are dropped. A step over its own cache sees no key
    behind the query, so that a causal mask says nothing there, and neither does
    a window that is as long as the ring of its cache.

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
    the ids that may not come, which is all that a greedy choice adds to logits.
    A third form, `.best`, made of `.beam` where there is one, returns what beams
    need: the maximum and the sum of exponentials of each range, for
    log-probabilities, and its best logits with their ids, as many as the caller
    has room for.

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

    Logits of a shortlist are few: its step has no such forms.
  }];
}

#endif // HEDDLE_PASSES_FUSIONPASSES
