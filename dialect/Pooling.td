//===- Pooling.td - One vector for a sequence -----------------*- tablegen -*-===//

#ifndef HEDDLE_DIALECT_POOLING
#define HEDDLE_DIALECT_POOLING

include "dialect/Base.td"

/// In the order in which sentence-transformers concatenates them.
def Transformer_PoolingCases : Transformer_Cases<"Pooling", [
    I32EnumAttrCase<"Cls", 0, "cls">,
    I32EnumAttrCase<"Max", 1, "max">,
    I32EnumAttrCase<"Mean", 2, "mean">,
    I32EnumAttrCase<"MeanSqrt", 3, "mean_sqrt">,
    I32EnumAttrCase<"WeightedMean", 4, "weighted_mean">,
    I32EnumAttrCase<"Last", 5, "last">
  ]>;
def Transformer_Pooling : Transformer_Enum<Transformer_PoolingCases, "pooling"> {
  let summary = "how the vectors of a sequence become one";
}

def PoolOp : Transformer_LayerOp<"pool", [AttrSizedOperandSegments],
                                 ["buildRagged"], [], ["readsDestinations"]> {
  let summary = "one vector for each sequence of a batch";
  let description = [{
    Over the positions i of sequence b, first[b] <= i < lengths[b]; without `from`
    first[b] is 0:

    | mode | y[b, :] |
    |---|---|
    | cls | x[b, 0, :], whatever first[b] is |
    | max | max x[b, i, :] |
    | mean | sum x[b, i, :] / count |
    | mean_sqrt | sum x[b, i, :] / sqrt(count) |
    | weighted_mean | sum (i + 1) x[b, i, :] / sum (i + 1) |
    | last | x[b, lengths[b] - 1, :] |

    Several modes stand side by side in y, in the order of the list. Sums go up in
    i, so that neither padding nor other sequences change a bit. Of no position
    sums and `last` are 0, and the largest number is -1e9, as in
    sentence-transformers 5.

    x [batch, n, d], lengths [batch], first [batch] -> [batch, modes d]. In the
    ragged form, which drop-padding derives, x is [tokens, d], and sequence b begins
    at row starts[b]: x[b, i, :] is x[starts[b] + i, :].

    ```mlir
    %y = transformer.pool [cls, mean] %x of %lengths
      : (tensor<?x?x384xf32>, tensor<?xi32>) -> tensor<?x768xf32>
    %y = transformer.pool [mean] %x of %lengths starts %starts
      : (tensor<?x384xf32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x384xf32>
    ```

    With `rows`, an index, x holds some rows of all, from that one on, and y becomes
    the largest of its numbers and theirs: chunk-rows lets rows that are only pooled,
    as logits of words are, pass through a short buffer so.

    There is no form that advances position by position: the vector of a sequence
    is known at its end.

    Constraints:
    - (C1) x has rank 3 and at least one position, or rank 2 with `starts`.
    - (C2) lengths, `from` and `starts` have an element for each sequence.
    - (C3) there is at least one mode, and none stands twice.
    - (C4) with `rows` there are `starts`, memrefs, and no mode but max.
  }];
  let arguments = (ins Transformer_Vectors:$input, Transformer_PerRow:$lengths,
                       Optional<Transformer_PerRow>:$first,
                       Optional<Transformer_PerRow>:$starts,
                       Optional<Index>:$rows,
                       Optional<Transformer_Values>:$destination,
                       TypedArrayAttrBase<Transformer_Pooling,
                                          "modes of pooling">:$modes);
  let assemblyFormat = [{
    custom<Modes>($modes) $input `of` $lengths (`from` $first^)?
        (`starts` $starts^)? (`rows` $rows^)? (`into` $destination^)? attr-dict
        `:` functional-type(operands, results)
  }];
  let reifyMethod = [{
    ::llvm::LogicalResult $cppClass::reifyResultShapes(
        ::mlir::OpBuilder &builder,
        ::mlir::ReifiedRankedShapedTypeDims &shapes) {
      shapes.push_back({
          ::mlir::tensor::getMixedSize(builder, getLoc(), getLengths(), 0),
          builder.getIndexAttr(getOutputWidth())});
      return ::mlir::success();
    }
  }];
  let extraClassDeclaration = [{
    ::llvm::SmallVector<::heddle::Pooling> getModeList();
    /// The width of a result.
    int64_t getOutputWidth();
  }];
}

def NormalizeOp : Transformer_LayerOp<"normalize", [], [], [], [],
                                      ["getRowInputs"]> {
  let summary = "vectors of length 1";
  let description = [{
        y = x / max(sqrt(sum x^2), epsilon)

    over the last dimension. x [..., d] -> [..., d]. The product of two vectors of
    length 1 is their cosine.

    ```mlir
    %y = transformer.normalize %x {epsilon = 1.0e-12 : f32}
      : (tensor<?x384xf32>) -> tensor<?x384xf32>
    ```

    Constraints:
    - (C1) epsilon > 0.
  }];
  let arguments = (ins Transformer_Vectors:$input,
                       Optional<Transformer_Values>:$destination,
                       F32Attr:$epsilon);
  let assemblyFormat = [{
    $input (`into` $destination^)? attr-dict
        `:` functional-type(operands, results)
  }];
}

#endif // HEDDLE_DIALECT_POOLING
