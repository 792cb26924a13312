//===- Projection.td - Sequences of a fixed length ------------*- tablegen -*-===//

#ifndef HEDDLE_DIALECT_PROJECTION
#define HEDDLE_DIALECT_PROJECTION

include "dialect/Base.td"

def ProjectSequenceOp : Transformer_LayerOp<"project_sequence",
                                            [AttrSizedOperandSegments], [],
                                            ["describe", "buildFlops",
                                             "buildBytes"]> {
  let summary = "a sequence of fixed length from one of any, by a linear map";
  let description = [{
        y[b, p, :] = sum_(j < lengths[b]) E[p, j] x[b, j, :]

    Linformer's projection of keys or values to k rows (Wang et al. 2020,
    arXiv:2006.04768, equation 7): attention to it costs n k instead of n^2. E has
    a column for each position up to the longest, and is shared by all heads or
    one of each: of E [heads, k, longest] matrix h projects the h-th part of the
    width. Without lengths all positions are summed.

    x [batch, n, d], E [k, longest] or [heads, k, longest] -> [batch, k, d]. The
    runtime keeps n at most `longest`, as it does for tables of positions.

    A row of the result is made of all positions and has none of its own: no mask
    over it means anything, which `attention` refuses, and it has no form that
    advances position by position, since each new position would change rows that
    earlier queries have read (there is no causal Linformer).

    ```mlir
    %keys = transformer.project_sequence %k, %e lengths(%n)
      : (tensor<?x?x256xf32>, tensor<64x512xf32>, tensor<?xi32>)
        -> tensor<?x64x256xf32>
    ```

    Constraints:
    - (C1) x has rank 3, and a length for each sentence.
    - (C2) E has rank 2, or rank 3 with heads that divide the width, and a static
      shape of at least one row and column.
    - (C3) a static n is at most the columns of E.
  }];
  let arguments = (ins Transformer_Vectors:$input, Transformer_Vectors:$projection,
                       Optional<Transformer_PerRow>:$lengths,
                       Optional<Transformer_Values>:$destination);
  let assemblyFormat = [{
    $input `,` $projection (`lengths` `(` $lengths^ `)`)?
        (`into` $destination^)? attr-dict
        `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    /// Matrices of the projection, each for as many parts of the width.
    int64_t getHeads();
    /// Rows of the result.
    int64_t getRows();
    /// Positions that the projection has columns for.
    int64_t getLongest();
  }];
}

#endif // HEDDLE_DIALECT_PROJECTION
