//===- TakenRows.td - Rows of some positions ------------------*- tablegen -*-===//

#ifndef HEDDLE_DIALECT_TAKENROWS
#define HEDDLE_DIALECT_TAKENROWS

include "dialect/Base.td"

def TakeRowsOp : Transformer_LayerOp<"take_rows", [AttrSizedOperandSegments],
                                     ["buildRagged"], ["buildBytes"]> {
  let summary = "the rows of some positions";
  let description = [{
        y[b, t, :] = x[b, tokens[b, t], :],   0 if x has no such row

    x [batch, n, d], tokens [batch, k] -> [batch, k, d]. Rows that are projected by
    weights of their own, as those of Longformer's global tokens are
    (arXiv:2004.05150, section 3.1), are taken first, so that only they are
    projected.

    drop-padding derives one of two ragged forms. If tokens are ragged, too, they are
    numbers of rows: x [rows, d], tokens [k] -> [k, d]. If they are not, they stay
    positions of sequence b, which begins at row starts[b] and has lengths[b] rows:
    x [rows, d], tokens [batch, k] -> [batch, k, d].

    ```mlir
    %g = transformer.take_rows %x at %tokens
      : (tensor<?x?x256xf32>, tensor<?x?xi32>) -> tensor<?x?x256xf32>
    %m = transformer.take_rows %x at %masks
      : (tensor<?x256xf32>, tensor<?xi32>) -> tensor<?x256xf32>
    %g = transformer.take_rows %x at %tokens of(%starts, %lengths)
      : (tensor<?x256xf32>, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>)
        -> tensor<?x?x256xf32>
    ```

    A taken row stands where its list has it: no mask that knows positions of
    queries means anything there, which `attention` refuses. There is no form that
    advances position by position, since a list may name positions to come.

    Constraints:
    - (C1) x has rank 3 and tokens have rank 2, or x has rank 2 and tokens have
      rank 1, or with `of` x and tokens have rank 2.
    - (C2) all are of one batch.
    - (C3) starts and lengths come together.
  }];
  let arguments = (ins Transformer_Vectors:$input, Transformer_Ids:$tokens,
                       Optional<Transformer_PerRow>:$starts,
                       Optional<Transformer_PerRow>:$lengths,
                       Optional<Transformer_Values>:$destination);
  let assemblyFormat = [{
    $input `at` $tokens (`of` `(` $starts^ `,` $lengths `)`)?
        (`into` $destination^)? attr-dict
        `:` functional-type(operands, results)
  }];
  let reifyMethod = [{
    ::llvm::LogicalResult $cppClass::reifyResultShapes(
        ::mlir::OpBuilder &builder,
        ::mlir::ReifiedRankedShapedTypeDims &shapes) {
      shapes.push_back(::mlir::tensor::getMixedSizes(builder, getLoc(),
                                                     getTokens()));
      shapes.back().push_back(
          ::mlir::tensor::getMixedSizes(builder, getLoc(), getInput()).back());
      return ::mlir::success();
    }
  }];
}

def PutRowsOp : Transformer_LayerOp<"put_rows", [AttrSizedOperandSegments],
                                    ["buildRagged"], ["buildBytes"],
                                    ["readsDestinations"]> {
  let summary = "replaces the rows of some positions, in place";
  let description = [{
        x[b, tokens[b, t], :] = rows[b, t, :]

    rows [batch, k, d], tokens [batch, k], x [batch, n, d] -> x. What x has no row
    for is left out, and a number that a list has twice means nothing. Rows of
    Longformer's global tokens replace those of its windows so. In the ragged form,
    which drop-padding derives, x is [rows, d], and tokens are positions of sequence
    b, which begins at row starts[b] and has lengths[b] rows.

    ```mlir
    %y = transformer.put_rows %g at %tokens into %x
      : (tensor<?x?x256xf32>, tensor<?x?xi32>, tensor<?x?x256xf32>)
        -> tensor<?x?x256xf32>
    %y = transformer.put_rows %g at %tokens of(%starts, %lengths) into %x
      : (tensor<?x?x256xf32>, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>,
         tensor<?x256xf32>) -> tensor<?x256xf32>
    ```

    There is no form that advances position by position: a list may name earlier
    positions, whose rows were used by then.

    Constraints:
    - (C1) rows have rank 3 and tokens rank 2; x has rank 3, or 2 with `of`, and
      the width of rows.
    - (C2) all are of one batch, and there are as many rows as tokens.
    - (C3) starts and lengths come together.
  }];
  let arguments = (ins Transformer_Vectors:$input, Transformer_Ids:$tokens,
                       Optional<Transformer_PerRow>:$starts,
                       Optional<Transformer_PerRow>:$lengths,
                       Transformer_Vectors:$destination);
  let assemblyFormat = [{
    $input `at` $tokens (`of` `(` $starts^ `,` $lengths `)`)?
        `into` $destination attr-dict
        `:` functional-type(operands, results)
  }];
  let reifyMethod = [{
    ::llvm::LogicalResult $cppClass::reifyResultShapes(
        ::mlir::OpBuilder &builder,
        ::mlir::ReifiedRankedShapedTypeDims &shapes) {
      shapes.push_back(::mlir::tensor::getMixedSizes(builder, getLoc(),
                                                     getDestination()));
      return ::mlir::success();
    }
  }];
}

#endif // HEDDLE_DIALECT_TAKENROWS
