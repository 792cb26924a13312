//===- Layers.td - Ops that act on each position alone --------*- tablegen -*-===//

#ifndef HEDDLE_DIALECT_LAYERS
#define HEDDLE_DIALECT_LAYERS

include "dialect/Positions.td"

def EmbeddingOp : Transformer_RowsOp<"embedding",
                                     ["buildStep", "buildRagged", "isStep"],
                                     ["buildBytes"], ["getStoredFactors"]> {
  let summary = "rows of a table, with their positions added";
  let description = [{
        y[..., :] = scale * table[ids[...], :],   0 if ids[...] < 0

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

def MultiplyOp : Transformer_LayerOp<"multiply", [], [], [], [],
                                     ["getRowInputs"]> {
  let summary = "y = a * b, element by element";
  let description = [{
    Both of the same shape: the gate of a gated ffn (arXiv:2002.05202).

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
