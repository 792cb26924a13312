//===- Layers.td - Ops that act on each position alone --------*- tablegen -*-===//

#ifndef HEDDLE_DIALECT_LAYERS
#define HEDDLE_DIALECT_LAYERS

include "dialect/Base.td"

def Transformer_PositionLayoutCases : Transformer_Cases<"PositionLayout", [
    I32EnumAttrCase<"Halves", 0, "halves">,
    I32EnumAttrCase<"Interleaved", 1, "interleaved">
  ]>;
def Transformer_PositionLayout : Transformer_Enum<Transformer_PositionLayoutCases, "position_layout"> {
  let summary = "where sines and cosines stand";
}

def EmbeddingOp : Transformer_RowsOp<"embedding", ["buildStep", "isStep"],
                                     ["buildBytes"], ["getStoredFactors"]> {
  let summary = "rows of a table, with their positions added";
  let description = [{
        y[..., :] = scale * table[ids[...], :],   0 where ids[...] < 0

    ids [...], table [vocabulary, d] or [vocabulary] -> [..., d] or [...]. A
    negative id is the zero vector: the start of Marian's decoders. Gathers the
    rows of a shortlist, too.

    A table of i8 gives rows of i8. With `scales` [vocabulary] or [1] it gives rows
    of f32: table[id, :] * scales[id] replaces table[id, :]. With `divides` too,
    table[id, :] / scales[id] replaces it. Each operation rounds. A table of bf16 or
    f16 gives rows of its own type, or with `widen` rows of f32.

    `positions`, which fuse-positions adds, are those of the ops
    `positions.sinusoidal` (timescales, layout) and `positions.learned` (table,
    offset), added to y: ids [batch, length] or, with `at`, [rows].

    ```mlir
    %e = transformer.embedding %ids, %table {scale = 16.0 : f32}
      : (tensor<?x?xi32>, tensor<32000x256xf32>) -> tensor<?x?x256xf32>
    %x = transformer.embedding %ids, %table positions(sinusoidal, 127, halves)
           at %positions {scale = 16.0 : f32}
      : (tensor<?xi32>, tensor<32000x256xf32>, tensor<?xi32>)
        -> tensor<?x256xf32>
    %l = transformer.embedding %ids, %table positions(learned, %rows, 2)
      : (tensor<?x?xi32>, tensor<320x256xf32>, tensor<34x256xf32>)
        -> tensor<?x?x256xf32>
    ```

    Constraints:
    - (C1) the table has rank 1 or 2 and a static shape.
    - (C2) with positions the table has rank 2 and ids rank 2, or rank 1 with
      `at`; `at` stands with positions only.
    - (C3) sinusoidal positions: d is even and timescales > 0.
    - (C4) learned positions: a table [positions, d] of static shape, with
      0 <= offset < positions.
    - (C5) scales stand with a table of i8 and rank 2 only, `widen` with one of
      bf16 or f16 and rank 2; without them such a table has neither scale nor positions.
      `divides` stands with scales.
    - (C6) `also` stands with a table of rank 2 and results of f32.
  }];
  let arguments = (ins Transformer_Ids:$ids, Transformer_Entries:$table,
                       Optional<Transformer_Vectors>:$scales,
                       Optional<Transformer_Vectors>:$position_table,
                       Optional<Transformer_PerRow>:$positions,
                       Optional<Transformer_Vectors>:$also_multiplier,
                       Variadic<Transformer_Entries>:$destinations,
                       DefaultValuedAttr<F32Attr, "1.0f">:$scale,
                       UnitAttr:$divides, UnitAttr:$widen,
                       OptionalAttr<I64Attr>:$timescales,
                       OptionalAttr<Transformer_PositionLayout>:$layout,
                       OptionalAttr<I64Attr>:$offset,
                       OptionalAttr<Transformer_Shortening>:$also);
  let assemblyFormat = [{
    $ids `,` $table (`scales` `(` $scales^ `)`)? (`divides` $divides^)?
        (`widen` $widen^)?
        `` custom<Positions>($position_table, $timescales, $layout, $offset)
        (`at` $positions^)? `` custom<Also>($also, $also_multiplier)
        (`into` $destinations^)? attr-dict
        `:` functional-type(operands, results)
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$ids, "::mlir::Value":$table,
                   "::mlir::Value":$destination, "::mlir::FloatAttr":$scale)>
  ];
  let extraClassDeclaration = [{
    bool hasPositions() { return getPositionTable() || getTimescales(); }
    /// That of the result, without those of `also`.
    ::mlir::Type getResultElementType();
  }];
}

def SinusoidalPositionsOp : Transformer_LayerOp<"positions.sinusoidal", [AttrSizedOperandSegments],
                                                ["buildStep", "isStep"]> {
  let summary = "adds sinusoidal positions (arXiv:1706.03762, section 3.5)";
  let description = [{
    With p the position (the index on axis 1, or `at`), for k < d / 2:

        angle(p, k) = p / 10000^(k / timescales)
        y = x + [sin(angle(p, :)), cos(angle(p, :))]            layout halves
        y[2k] = x[2k] + sin(angle(p, k)), y[2k + 1] = ... cos   interleaved

    computed in f64 and rounded once. Hugging Face spreads the timescales over
    d / 2, Marian over d / 2 - 1.

    x [batch, length, d] or, with `at`, [rows, d] -> the same.

    ```mlir
    %y = transformer.positions.sinusoidal %x {timescales = 127 : i64}
      : (tensor<?x?x256xf32>) -> tensor<?x?x256xf32>
    ```

    Constraints:
    - (C1) x has rank 3, or rank 2 with `at`.
    - (C2) d is even and timescales > 0.
  }];
  let arguments = (ins Transformer_Vectors:$input,
                       Optional<Transformer_PerRow>:$positions,
                       Optional<Transformer_Values>:$destination,
                       I64Attr:$timescales,
                       DefaultValuedAttr<Transformer_PositionLayout,
                                    "::heddle::PositionLayout::Halves">:$layout);
  let assemblyFormat = [{
    $input (`at` $positions^)? (`into` $destination^)? attr-dict
        `:` functional-type(operands, results)
  }];
}

def LearnedPositionsOp : Transformer_LayerOp<"positions.learned", [AttrSizedOperandSegments],
                                             ["buildStep", "isStep"]> {
  let summary = "adds rows of a table of positions";
  let description = [{
        y = x + table[p + offset, :]

    with p the position (the index on axis 1, or `at`).
    x [batch, length, d] or, with `at`, [rows, d]; table [positions, d] -> as x.
    BART's offset is 2. The runtime keeps p + offset inside the table.

    Constraints:
    - (C1) x has rank 3, or rank 2 with `at`.
    - (C2) the table is [positions, d] of static shape, with
      0 <= offset < positions.
  }];
  let arguments = (ins Transformer_Vectors:$input, Transformer_Vectors:$table,
                       Optional<Transformer_PerRow>:$positions,
                       Optional<Transformer_Values>:$destination,
                       DefaultValuedAttr<I64Attr, "0">:$offset);
  let assemblyFormat = [{
    $input `,` $table (`at` $positions^)? (`into` $destination^)? attr-dict
        `:` functional-type(operands, results)
  }];
}

def Transformer_ActivationKindCases : Transformer_Cases<"ActivationKind", [
    I32EnumAttrCase<"Relu", 0, "relu">,
    I32EnumAttrCase<"Gelu", 1, "gelu">,
    I32EnumAttrCase<"GeluTanh", 2, "gelu_tanh">,
    I32EnumAttrCase<"QuickGelu", 3, "quick_gelu">,
    I32EnumAttrCase<"Silu", 4, "silu">,
    I32EnumAttrCase<"Tanh", 5, "tanh">,
    I32EnumAttrCase<"Sigmoid", 6, "sigmoid">
  ]>;
def Transformer_ActivationKind : Transformer_Enum<Transformer_ActivationKindCases, "activation_kind"> {
  let summary = "an activation function";
}

def Transformer_NormKindCases : Transformer_Cases<"NormKind", [
    I32EnumAttrCase<"Layer", 0, "layer">,
    I32EnumAttrCase<"Rms", 1, "rms">
  ]>;
def Transformer_NormKind : Transformer_Enum<Transformer_NormKindCases, "norm_kind"> {
  let summary = "a normalisation";
}

def LinearOp : Transformer_RowsOp<"linear", [], ["buildFlops"],
                                  ["getRowInputs", "getStoredFactors"]> {
  let summary = "y = norm(residual + activation(x W + b))";
  let description = [{
    x [..., in], W [in, out], b [out] -> [..., out]. Weights are [in, out]
    everywhere; importers transpose.

    b is optional, and so is everything outside of x W + b. Imported models have
    only x W + b; fusion passes add the rest. The formulas are those of the ops
    `activation` and `norm`; the residual has the shape of the result.

    On memrefs W may be packed, see `parameter`: split parts have panels of their
    own.

    x and W of i8 are multiplied as integers, their exact sums S then as f32,
    each operation rounded by itself:

        x W = f32(S + shift sum_k W[k, n]) * (s * w[n])

    with the scales s [...] of the vectors of x, from `quantize`, and w [out] of
    the columns of W. Without s the second factor is w[n] alone: w then includes the
    scale of x. Marian shifts x by 127 to unsigned bytes. This changes the rounding
    of f32; Marian's bias takes the shift back.

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
    - (C4) the residual has the shape of the result.
    - (C5) gamma, beta and epsilon stand with `norm` only, which needs gamma
      and epsilon; gamma and beta are [out], epsilon >= 0.
    - (C6) the widths of `split` are positive and add up to out; activation,
      residual, norm, quantize and `also` do not stand with it.
    - (C7) x and W have one element type. If it is i8, W has scales [out], and the
      scales of x have the leading dimensions of x. Other types have neither scales
      nor `shift`.
    - (C8) `shift` is 0, 127 or 128; the multiplier of `quantize` has one value. At
      most one of norm, `quantize` and `round` is given. `also` is given without
      `quantize` and `round`. A destination has the type of the result.
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
                       OptionalAttr<Transformer_Shortening>:$also);
  let assemblyFormat = [{
    $input (`scales` `(` $input_scales^ `)`)? (`shift` $shift^)?
        `,` $weight (`scales` `(` $weight_scales^ `)`)? (`,` $bias^)?
        `` custom<Epilogue>($activation, $residual, $norm, $gamma, $beta,
                            $epsilon)
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
    own or, if `quantize` is given, by that multiplier [1].

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
    - (C5) both products are as in linear's (C7) and `shift` as in (C8); the
      multiplier has one value and stands with i8 only. The result is f32, and
      with `also` it is in fewer bits, too.
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
                       OptionalAttr<Transformer_Shortening>:$also);
  let assemblyFormat = [{
    $input (`scales` `(` $input_scales^ `)`)? (`shift` $shift^)?
        `,` custom<FfnWeights>($weight1, $weight1_scales, $bias1,
                               $weight2, $weight2_scales, $bias2)
        (`quantize` `(` $multiplier^ `)`)?
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

def ActivationOp : Transformer_LayerOp<"activation", [], [], [], [],
                                       ["getRowInputs"]> {
  let summary = "an activation, element by element";
  let description = [{
    | kind | formula |
    |---|---|
    | relu | max(x, 0) |
    | gelu | x / 2 (1 + erf(x / sqrt(2))) (arXiv:1606.08415) |
    | gelu_tanh | x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) |
    | quick_gelu | x sigmoid(1.702 x) |
    | silu | x sigmoid(x), also called swish |
    | tanh | tanh(x) |
    | sigmoid | 1 / (1 + exp(-x)) |

    ```mlir
    %y = transformer.activation relu %x
      : (tensor<?x?x256xf32>) -> tensor<?x?x256xf32>
    ```
  }];
  let arguments = (ins Transformer_ActivationKind:$kind,
                       Transformer_Values:$input,
                       Optional<Transformer_Values>:$destination);
  let assemblyFormat = [{
    `` $kind $input (`into` $destination^)? attr-dict
        `:` functional-type(operands, results)
  }];
}

def NormOp : Transformer_RowsOp<"norm", [], [], ["getRowInputs"]> {
  let summary = "layer norm (arXiv:1607.06450) or RMS norm (arXiv:1910.07467)";
  let description = [{
        layer: y = (x - mean(x)) / sqrt(var(x) + epsilon) * gamma + beta
        rms:   y = x / sqrt(mean(x^2) + epsilon) * gamma + beta

    over the last dimension; the variance is the biased one. The pass fuse-add-norm
    adds a residual of the shape of x. Then x + residual replaces x.
    x [..., d], gamma [d], beta [d] -> [..., d].

    ```mlir
    %y = transformer.norm layer %x, %gamma, %beta {epsilon = 1.0e-6 : f32}
      : (tensor<?x?x256xf32>, tensor<256xf32>, tensor<256xf32>)
        -> tensor<?x?x256xf32>
    %z, %q, %s = transformer.norm rms %x, %gamma also quantize
      {epsilon = 1.0e-6 : f32} : (tensor<?x256xf32>, tensor<256xf32>)
        -> (tensor<?x256xf32>, tensor<?x256xi8>, tensor<?xf32>)
    ```

    Constraints:
    - (C1) gamma and beta are [d].
    - (C2) epsilon >= 0.
    - (C3) the residual has the shape of x.
  }];
  let arguments = (ins Transformer_NormKind:$kind, Transformer_Vectors:$input,
                       Transformer_Vectors:$gamma,
                       Optional<Transformer_Vectors>:$beta,
                       Optional<Transformer_Vectors>:$residual,
                       Optional<Transformer_Vectors>:$also_multiplier,
                       Variadic<Transformer_Entries>:$destinations,
                       F32Attr:$epsilon,
                       OptionalAttr<Transformer_Shortening>:$also);
  let assemblyFormat = [{
    `` $kind $input `,` $gamma (`,` $beta^)?
        (`residual` `(` $residual^ `)`)? `` custom<Also>($also, $also_multiplier)
        (`into` $destinations^)? attr-dict
        `:` functional-type(operands, results)
  }];
  let builders = [
    /// The destination is null on tensors.
    OpBuilder<(ins "::heddle::NormKind":$kind, "::mlir::Value":$input,
                   "::mlir::Value":$gamma, "::mlir::Value":$beta,
                   "::mlir::Value":$destination,
                   "const ::llvm::APFloat &":$epsilon)>
  ];
}

def AddOp : Transformer_LayerOp<"add", [], [], [], [], ["getRowInputs"]> {
  let summary = "y = a + b, element by element";
  let description = [{
    Both of the same shape: the residual connection.

    Constraints:
    - (C1) both operands have the same type.
  }];
  let arguments = (ins Transformer_Values:$lhs, Transformer_Values:$rhs,
                       Optional<Transformer_Values>:$destination);
  let assemblyFormat = [{
    $lhs `,` $rhs (`into` $destination^)? attr-dict
        `:` functional-type(operands, results)
  }];
}

def FillOp : Transformer_LayerOp<"fill"> {
  let summary = "the same constant everywhere";
  let description = [{
        y[..., k] = value

    shaped like x but `width` wide: what attention under an empty mask folds to.
  }];
  let arguments = (ins Transformer_Values:$like,
                       Optional<Transformer_Values>:$destination,
                       F32Attr:$value,
                       Transformer_Count:$width);
  let assemblyFormat = [{
    `like` $like (`into` $destination^)? attr-dict
        `:` functional-type(operands, results)
  }];
}

#endif // HEDDLE_DIALECT_LAYERS
