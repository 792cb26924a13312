//===- Linear.td - Products with weights ----------------------*- tablegen -*-===//

#ifndef HEDDLE_DIALECT_LINEAR
#define HEDDLE_DIALECT_LINEAR

include "dialect/Layers.td"

def LinearOp : Transformer_RowsOp<"linear", [], ["buildFlops"],
                                  ["getRowInputs", "getStoredFactors"]> {
  let summary = "y = norm(residual + activation(x W + b))";
  let description = [{
    x [..., in], W [in, out], b [out] -> [..., out]. Weights are [in, out]
    everywhere; importers transpose.

    b is optional, and so is everything outside of x W + b. Imported models have
    only x W + b; fusion passes add the rest. The formulas are those of the ops
    `activation` and `norm`; the residual has the shape of the result. A `gate` in
    its place is multiplied: y = norm(gate * activation(x W + b)).

    With `gated`, which fuse-gates adds, the gate is a product of the same x: of each
    16 columns of x W + b = z the last eight are those of the gate,

        y[8 g + i] = z[16 g + 8 + i] * activation(z[16 g + i])    for i < 8,

    and y has half as many columns as W.

    On memrefs W may be packed, see `parameter`: split parts have panels of their
    own.

    x and W of i8 are multiplied as integers, their exact sums S then as f32,
    each operation rounded by itself:

        x W = f32(S + shift sum_k W[k, n]) * (s * w[n])

    with the scales s [...] of the vectors of x, from `quantize`, and w [out] of
    the columns of W. Without s the second factor is w[n] alone: w then includes the
    scale of x. Marian shifts x by 127 to unsigned bytes. This changes the rounding
    of f32; Marian's bias takes the shift back.

    x of f32 or of short floats multiplies W of i8 in f32, with a scale
    w [in / 32, out] for each 32 inputs of a column (weight-only quantization):

        x W = sum_k x[k] (f32(W[k, n]) * w[k / 32, n])

    Kernels may multiply the sum of 32 products by their scale, once. Panels hold
    the scales in bf16.

    x and W of bf16 or f16 are multiplied exactly and summed in f32, without
    scales. How a dot of two rounds is the instruction's: ISA levels agree within a
    tolerance, not bit for bit. On each level the order of a sum depends on `in`
    alone. Denormals of bf16 count as zeros.

    With `quantize`, which fuse-quantize adds, the result is quantised by a
    multiplier [1] and has type i8, see the op; with `round` it is rounded and has
    type bf16, or f16 with `round(f16)`, see there.

    With `also` it writes its vectors in fewer bits beside f32, for a product
    that reads them and a residual that reads f32.

    With `split`, a linear that stands for several with one input: the columns
    [0, n0), [n0, n0 + n1), ... of x W + b are results of their own, each dense.

    ```mlir
    %y = transformer.linear %x, %w, %b
      : (tensor<?x?x256xf32>, tensor<256x1536xf32>, tensor<1536xf32>)
        -> tensor<?x?x1536xf32>
    %z = transformer.linear %x, %w, %b residual(%r)
           norm(layer, %gamma, %beta, 1.0e-06) : ...
    %g = transformer.linear %x, %w, %b activation(silu) gate(%u) : ...
    %k, %v = transformer.linear %x, %w, %b split [256, 256] : ...
    %i = transformer.linear %q scales(%s), %v scales(%t), %b
      : (tensor<?x?x256xi8>, tensor<?x?xf32>, tensor<256x64xi8>, tensor<64xf32>,
         tensor<64xf32>) -> tensor<?x?x64xf32>
    ```

    Constraints:
    - (C1) W is [in, out] of static shape, or, on memrefs, packed:
      [panels, in, 32] with as many panels as `out` needs.
    - (C2) the last dimension of x is the first of W, or the second of panels.
    - (C3) b is [out].
    - (C4) the residual, or the gate, has the shape of the result.
    - (C5) gamma, beta and epsilon stand with `norm` only, which needs gamma
      and epsilon; gamma and beta are [out], epsilon >= 0.
    - (C6) the widths of `split` are positive and add up to out; activation,
      residual, norm, quantize and `also` do not stand with it.
    - (C7) x and W have one element type. If it is i8, W has scales [out], and the
      scales of x have the leading dimensions of x. With x of floats and W of i8, W
      has scales [in / 32, out], rounded up, or is packed and has none. Other types
      have neither scales nor `shift`.
    - (C8) `shift` is 0, 127 or 128; the multiplier of `quantize` has one value. At
      most one of norm, `quantize` and `round` is given. `also` is given without
      `quantize` and `round`. A destination has the type of the result.
    - (C9) `gated` stands without residual, split, norm and `also`; W has a multiple of
      32 columns, which the bias and the scales have, too.
  }];
  let arguments = (ins Transformer_Factors:$input,
                       Optional<Transformer_Values>:$input_scales,
                       Transformer_Factors:$weight,
                       Optional<Transformer_Vectors>:$weight_scales,
                       Optional<Transformer_Vectors>:$bias,
                       Optional<Transformer_Vectors>:$residual,
                       Optional<Transformer_Vectors>:$gamma,
                       Optional<Transformer_Vectors>:$beta,
                       Optional<Transformer_Vectors>:$multiplier,
                       Optional<Transformer_Vectors>:$also_multiplier,
                       Variadic<Transformer_Entries>:$destinations,
                       OptionalAttr<I64Attr>:$shift,
                       OptionalAttr<Transformer_ActivationKind>:$activation,
                       OptionalAttr<Transformer_NormKind>:$norm,
                       OptionalAttr<F32Attr>:$epsilon,
                       OptionalAttr<Transformer_ShortFloat>:$rounds,
                       OptionalAttr<DenseI64ArrayAttr>:$split,
                       OptionalAttr<Transformer_Shortening>:$also,
                       UnitAttr:$gates);
  let assemblyFormat = [{
    $input (`scales` `(` $input_scales^ `)`)? (`shift` $shift^)?
        `,` $weight (`scales` `(` $weight_scales^ `)`)? (`,` $bias^)?
        `` custom<GatedEpilogue>($activation, $residual, $gates, $norm, $gamma,
                                 $beta, $epsilon)
        (`quantize` `(` $multiplier^ `)`)? `` custom<Rounds>($rounds)
        `` custom<Also>($also, $also_multiplier)
        (`split` $split^)? (`into` $destinations^)? attr-dict
        `:` functional-type(operands, results)
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$input, "::mlir::Value":$weight,
                   "::mlir::Value":$bias)>,
    OpBuilder<(ins "const ::heddle::LinearSpec &":$spec)>
  ];
  let extraClassDeclaration = [{
    /// x W + b and nothing else.
    bool isPlain() { return isPlainOrRounded() && !getRounds(); }
    bool isPlainOrRounded() {
      return !getActivation() && !getResidual() && !getNorm() &&
             !getMultiplier() && !getSplit() && !getAlso();
    }
    /// That of the results, without those of `also`: i8 with `quantize`, a short
    /// float with `round`, or f32.
    ::mlir::Type getResultElementType();
    /// The widths of these results: those of `split`, or out.
    ::llvm::SmallVector<int64_t> getWidths();
  }];
}

def FfnOp : Transformer_RowsOp<"ffn", [], ["describe", "buildFlops"],
                               ["getRowInputs"]> {
  let summary = "y = norm(residual + activation(x W1 + b1) W2 + b2)";
  let description = [{
    Two linears with an activation between, whose hidden vector is never stored:
    x [..., in], W1 [in, hidden], b1 [hidden], W2 [hidden, out], b2 [out] ->
    [..., out]. The biases come together; activation, residual and norm are
    optional. Made by fuse-ffn.

    x, W1 and W2 of i8, bf16 or f16 are multiplied as in `linear`, with one
    `shift`. The hidden vector gets the type of W2. With short floats, it is rounded
    as by `round`. With i8, it is quantised as by `quantize`: with a scale of its
    own, `rotated` or not, or, if `quantize` is given, by that multiplier [1].

    ```mlir
    %y = transformer.ffn %x, %w1, %b1, %w2, %b2 activation(gelu) residual(%x)
           norm(layer, %gamma, %beta, 1.0e-05) : ...
    %z = transformer.ffn %q scales(%s), %w1 scales(%t1), %w2 scales(%t2)
           activation(relu) : ...
    ```

    Constraints:
    - (C1) W1 and W2 are as in linear's (C1); the last dimension of x is the first
      of W1, the last of W1 the first of W2.
    - (C2) b1 is [hidden], b2 is [out]; either both are given or none.
    - (C3) as linear's (C4) and (C5).
    - (C4) hidden is at most 32,768: the hidden vectors of a tile of rows, 1 MB
      then, lie on the stack. Wider ones are two linears.
    - (C5) both products are as in linear's (C7), of one element type, and `shift`
      as in (C8); the
      multiplier has one value and stands with i8 only, `rotated` with scales
      only. The result is f32, and with `also` it is in fewer bits, too.
  }];
  let arguments = (ins Transformer_Factors:$input,
                       Optional<Transformer_Values>:$input_scales,
                       Transformer_Factors:$weight1,
                       Optional<Transformer_Vectors>:$weight1_scales,
                       Optional<Transformer_Vectors>:$bias1,
                       Transformer_Factors:$weight2,
                       Optional<Transformer_Vectors>:$weight2_scales,
                       Optional<Transformer_Vectors>:$bias2,
                       Optional<Transformer_Vectors>:$multiplier,
                       Optional<Transformer_Vectors>:$residual,
                       Optional<Transformer_Vectors>:$gamma,
                       Optional<Transformer_Vectors>:$beta,
                       Optional<Transformer_Vectors>:$also_multiplier,
                       Variadic<Transformer_Entries>:$destinations,
                       OptionalAttr<I64Attr>:$shift,
                       OptionalAttr<Transformer_ActivationKind>:$activation,
                       OptionalAttr<Transformer_NormKind>:$norm,
                       OptionalAttr<F32Attr>:$epsilon,
                       OptionalAttr<Transformer_Shortening>:$also,
                       UnitAttr:$rotated);
  let assemblyFormat = [{
    $input (`scales` `(` $input_scales^ `)`)? (`shift` $shift^)?
        `,` custom<FfnWeights>($weight1, $weight1_scales, $bias1,
                               $weight2, $weight2_scales, $bias2)
        (`quantize` `(` $multiplier^ `)`)? (`rotated` $rotated^)?
        `` custom<Epilogue>($activation, $residual, $norm, $gamma, $beta,
                            $epsilon)
        `` custom<Also>($also, $also_multiplier)
        (`into` $destinations^)? attr-dict
        `:` functional-type(operands, results)
  }];
  let builders = [OpBuilder<(ins "const ::heddle::FfnSpec &":$spec)>];
  let extraClassDeclaration = [{
    static constexpr int64_t kMostHiddenWidth = 32768;
    /// The width of the hidden vector.
    int64_t getHiddenWidth();
    /// Whether a scale of the hidden vector is computed from it.
    bool scalesHidden();
  }];
}

def CandidateLogitsOp : Transformer_LayerOp<"candidate_logits", [AttrSizedOperandSegments],
                                            ["buildStep", "isStep"],
                                            ["buildFlops", "buildBytes"]> {
  let summary = "logits of a ragged list of candidates a sentence";
  let description = [{
    With s the sentence (the index on axis 0, or `of`):

        y[..., c] = x[...] . rows[s, c] + bias[s, c]   for c < counts[s]
        y[..., c] = -inf                               otherwise

    x [batch, length, d] or, with `of`, [rows, d]; rows [batch, candidates, d],
    bias [batch, candidates], counts [batch] -> [batch, length, candidates] or
    [rows, candidates]. The lists are never merged: the bits of a sentence must
    not depend on its neighbours.

    With `gather`, which fuse-candidates adds, rows and bias are tables
    [vocabulary, d] and [vocabulary], and the candidates' ids [batch, candidates]
    pick from them: rows[s, c] is rows[ids[s, c]]. Sentences then share what they
    read.

    For types other than f32, the product x . rows is that of `linear`. Integers
    have scales of x and of rows; the scales of rows have the shape of the bias.

    Constraints:
    - (C1) x has rank 3, or rank 2 with `of`.
    - (C2) rows has the width of x and rank 3, or 2 with `gather`; bias has the
      shape of rows without the width.
    - (C3) x and rows have one element type. With i8 rows have scales of the
      shape of the bias; scales of x and `shift` as in linear.
  }];
  let arguments = (ins Transformer_Factors:$input,
                       Optional<Transformer_Values>:$input_scales,
                       Transformer_Factors:$rows,
                       Optional<Transformer_Values>:$row_scales,
                       Transformer_Values:$bias, Transformer_PerRow:$counts,
                       Optional<Transformer_Ids>:$candidates,
                       Optional<Transformer_PerRow>:$sentences,
                       Optional<Transformer_Values>:$destination,
                       OptionalAttr<I64Attr>:$shift);
  let assemblyFormat = [{
    $input (`scales` `(` $input_scales^ `)`)? (`shift` $shift^)?
        `,` $rows (`scales` `(` $row_scales^ `)`)? `,` $bias `,` $counts
        (`gather` `(` $candidates^ `)`)? (`of` $sentences^)?
        (`into` $destination^)? attr-dict
        `:` functional-type(operands, results)
  }];
  let builders = [
    /// Of f32 tensors: rows are those of each sentence.
    OpBuilder<(ins "::mlir::Value":$input, "::mlir::Value":$rows,
                   "::mlir::Value":$bias, "::mlir::Value":$counts)>
  ];
  let reifyMethod = [{
    ::llvm::LogicalResult $cppClass::reifyResultShapes(
        ::mlir::OpBuilder &builder,
        ::mlir::ReifiedRankedShapedTypeDims &shapes) {
      shapes.push_back(::mlir::tensor::getMixedSizes(builder, getLoc(),
                                                     getInput()));
      shapes.back().back() = ::mlir::tensor::getMixedSize(
          builder, getLoc(), getCandidates() ? getCandidates() : getRows(), 1);
      return ::mlir::success();
    }
  }];
}

#endif // HEDDLE_DIALECT_LINEAR
