//===- Positions.td - Ops that say where a vector stands -------*- tablegen -*-===//

#ifndef HEDDLE_DIALECT_POSITIONS
#define HEDDLE_DIALECT_POSITIONS

include "dialect/Base.td"

def Transformer_PositionLayoutCases : Transformer_Cases<"PositionLayout", [
    I32EnumAttrCase<"Halves", 0, "halves">,
    I32EnumAttrCase<"Interleaved", 1, "interleaved">
  ]>;
def Transformer_PositionLayout : Transformer_Enum<Transformer_PositionLayoutCases, "position_layout"> {
  let summary = "where sines and cosines stand";
}

def SinusoidalPositionsOp : Transformer_LayerOp<"positions.sinusoidal", [AttrSizedOperandSegments],
                                                ["buildStep", "buildRagged", "isStep"]> {
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
                                             ["buildStep", "buildRagged", "isStep"]> {
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

def RotaryPositionsOp : Transformer_LayerOp<"positions.rotary", [AttrSizedOperandSegments],
                                            ["buildStep", "buildRagged", "isStep"]> {
  let summary = "rotary positions, RoPE (arXiv:2104.09864, section 3.4)";
  let description = [{
    With p the position (the index on axis 1, or `at`), f the n frequencies, and x one
    head's vector of the w = d / heads elements of each head:

        c[k] = scale * cos(p * f[k]), s[k] = scale * sin(p * f[k])    k < n
        y[k]     = x[k] * c[k] - x[k + n] * s[k]
        y[k + n] = x[k + n] * c[k] + x[k] * s[k]
        y[j]     = x[j]                                               j >= 2 n

    The angle p * f[k] is rounded to f32, and sine and cosine of that angle are
    rounded once: published models were trained with such angles, and exact ones
    differ by 1e-4 from position 4096 on. `scale` is the attention factor of
    long contexts. Pairs are (k, k + n); a model whose pairs are (2 k, 2 k + 1) has
    the columns of its query and key matrices in another order.

    x [batch, length, d] or, with `at`, [rows, d]; frequencies [n], see the derivation
    `rotary_frequencies` -> as x. Positions are below 2^20.

    ```mlir
    %q = transformer.positions.rotary %x, %f {heads = 12 : i64}
      : (tensor<?x?x768xf32>, tensor<32xf32>) -> tensor<?x?x768xf32>
    ```

    Constraints:
    - (C1) x has rank 3, or rank 2 with `at`.
    - (C2) heads divides d.
    - (C3) frequencies have rank 1, and 2 n <= w.
  }];
  let arguments = (ins Transformer_Vectors:$input,
                       Transformer_Vectors:$frequencies,
                       Optional<Transformer_PerRow>:$positions,
                       Optional<Transformer_Values>:$destination,
                       Transformer_Count:$heads,
                       DefaultValuedAttr<F32Attr, "1.0f">:$scale);
  let assemblyFormat = [{
    $input `,` $frequencies (`at` $positions^)? (`into` $destination^)? attr-dict
        `:` functional-type(operands, results)
  }];
}

#endif // HEDDLE_DIALECT_POSITIONS
