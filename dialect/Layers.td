//===- Layers.td - Ops that act on each position alone --------*- tablegen -*-===//

#ifndef HEDDLE_DIALECT_LAYERS
#define HEDDLE_DIALECT_LAYERS

include "dialect/Base.td"

def EmbeddingOp : Transformer_LayerOp<"embedding"> {
  let summary = "rows of a table";
  let description = [{
        y[..., :] = scale * table[ids[...], :],   0 where ids[...] < 0

    ids [...], table [vocabulary, d] or [vocabulary] -> [..., d] or [...]. A
    negative id is the zero vector: the start of Marian's decoders. Gathers the
    rows of a shortlist, too.

    ```mlir
    %e = transformer.embedding %ids, %table {scale = 16.0 : f32}
      : (tensor<?x?xi32>, tensor<32000x256xf32>) -> tensor<?x?x256xf32>
    ```

    Constraints:
    - (C1) the table has rank 1 or 2 and a static shape.
  }];
  let arguments = (ins Transformer_Ids:$ids, Transformer_Values:$table,
                       Optional<Transformer_Values>:$destination,
                       DefaultValuedAttr<F32Attr, "1.0f">:$scale);
  let assemblyFormat = [{
    $ids `,` $table (`into` $destination^)? attr-dict
        `:` functional-type(operands, results)
  }];
}

def Transformer_PositionLayoutCases : Transformer_Cases<"PositionLayout", [
    I32EnumAttrCase<"Halves", 0, "halves">,
    I32EnumAttrCase<"Interleaved", 1, "interleaved">
  ]>;
def Transformer_PositionLayout : Transformer_Enum<Transformer_PositionLayoutCases, "position_layout"> {
  let summary = "where sines and cosines stand";
}

def SinusoidalPositionsOp : Transformer_LayerOp<"positions.sinusoidal", [AttrSizedOperandSegments],
                                                ["buildStep"]> {
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
                                             ["buildStep"]> {
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

def LinearOp : Transformer_LayerOp<"linear", [AttrSizedOperandSegments]> {
  let summary = "y = x W + b";
  let description = [{
    x [..., in], W [in, out], b [out] -> [..., out]. Weights are [in, out]
    everywhere; importers transpose.

    ```mlir
    %y = transformer.linear %x, %w, %b
      : (tensor<?x?x256xf32>, tensor<256x1536xf32>, tensor<1536xf32>)
        -> tensor<?x?x1536xf32>
    ```

    Constraints:
    - (C1) W has rank 2 and a static shape.
    - (C2) the last dimension of x is the first of W.
    - (C3) b is [out].
  }];
  let arguments = (ins Transformer_Vectors:$input, Transformer_Vectors:$weight,
                       Optional<Transformer_Vectors>:$bias,
                       Optional<Transformer_Values>:$destination);
  let assemblyFormat = [{
    $input `,` $weight (`,` $bias^)? (`into` $destination^)? attr-dict
        `:` functional-type(operands, results)
  }];
}

def CandidateLogitsOp : Transformer_LayerOp<"candidate_logits", [AttrSizedOperandSegments],
                                            ["buildStep"]> {
  let summary = "logits of a ragged list of candidates a sentence";
  let description = [{
    With s the sentence (the index on axis 0, or `of`):

        y[..., c] = x[...] . rows[s, c] + bias[s, c]   for c < counts[s]
        y[..., c] = -inf                               otherwise

    x [batch, length, d] or, with `of`, [rows, d]; rows [batch, candidates, d],
    bias [batch, candidates], counts [batch] -> [batch, length, candidates] or
    [rows, candidates]. The lists are never merged: the bits of a sentence must
    not depend on its neighbours.

    Constraints:
    - (C1) x has rank 3, or rank 2 with `of`.
    - (C2) rows has rank 3 and the width of x; bias has the shape of rows
      without the width.
  }];
  let arguments = (ins Transformer_Vectors:$input, Transformer_Vectors:$rows,
                       Transformer_Values:$bias, Transformer_PerRow:$counts,
                       Optional<Transformer_PerRow>:$sentences,
                       Optional<Transformer_Values>:$destination);
  let assemblyFormat = [{
    $input `,` $rows `,` $bias `,` $counts (`of` $sentences^)?
        (`into` $destination^)? attr-dict
        `:` functional-type(operands, results)
  }];
  let reifyMethod = [{
    ::llvm::LogicalResult $cppClass::reifyResultShapes(
        ::mlir::OpBuilder &builder,
        ::mlir::ReifiedRankedShapedTypeDims &shapes) {
      shapes.push_back(::mlir::tensor::getMixedSizes(builder, getLoc(),
                                                     getInput()));
      shapes.back().back() = ::mlir::tensor::getMixedSize(
          builder, getLoc(), getRows(), 1);
      return ::mlir::success();
    }
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

def ActivationOp : Transformer_LayerOp<"activation"> {
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

def Transformer_NormKindCases : Transformer_Cases<"NormKind", [
    I32EnumAttrCase<"Layer", 0, "layer">,
    I32EnumAttrCase<"Rms", 1, "rms">
  ]>;
def Transformer_NormKind : Transformer_Enum<Transformer_NormKindCases, "norm_kind"> {
  let summary = "a normalisation";
}

def NormOp : Transformer_LayerOp<"norm", [AttrSizedOperandSegments]> {
  let summary = "layer norm (arXiv:1607.06450) or RMS norm (arXiv:1910.07467)";
  let description = [{
        layer: y = (x - mean(x)) / sqrt(var(x) + epsilon) * gamma + beta
        rms:   y = x / sqrt(mean(x^2) + epsilon) * gamma + beta

    over the last dimension; the variance is the biased one.
    x [..., d], gamma [d], beta [d] -> [..., d].

    ```mlir
    %y = transformer.norm layer %x, %gamma, %beta {epsilon = 1.0e-6 : f32}
      : (tensor<?x?x256xf32>, tensor<256xf32>, tensor<256xf32>)
        -> tensor<?x?x256xf32>
    ```

    Constraints:
    - (C1) gamma and beta are [d].
    - (C2) epsilon >= 0.
  }];
  let arguments = (ins Transformer_NormKind:$kind, Transformer_Vectors:$input,
                       Transformer_Vectors:$gamma,
                       Optional<Transformer_Vectors>:$beta,
                       Optional<Transformer_Values>:$destination,
                       F32Attr:$epsilon);
  let assemblyFormat = [{
    `` $kind $input `,` $gamma (`,` $beta^)? (`into` $destination^)? attr-dict
        `:` functional-type(operands, results)
  }];
}

def AddOp : Transformer_LayerOp<"add"> {
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
