//===- Choice.td - What a greedy choice needs of logits -------*- tablegen -*-===//

#ifndef HEDDLE_DIALECT_CHOICE
#define HEDDLE_DIALECT_CHOICE

include "dialect/Base.td"

def LargestLogitsOp : Transformer_LayerOp<"largest_logits", [AttrSizedOperandSegments],
                                          [], ["buildFlops"]> {
  let summary = "the largest logits of each range of a vocabulary";
  let description = [{
    Of the logits l = x W + b, which are never stored, what a greedy choice needs.
    The vocabulary is cut into ranges of `range` ids, the last one may be shorter.
    With the ids n of range k that do not stand in forbidden[r, :]:

        values[r, k] = max l[r, n]
        ids[r, k]    = the first n with l[r, n] = values[r, k]

    Where no such logit is above -inf, ids[r, k] is -1, and values[r, k] is -inf
    or, where one of them is no number, NaN. What is no number is never largest.

    x [rows, in], W [in, vocabulary], b [vocabulary], forbidden [rows, any number]
    -> values f32 and ids i32, both [rows, ranges]. Ids outside of the vocabulary
    forbid nothing. x W + b is that of `linear`, bit for bit, with its scales and
    `shift`. Made by fuse-choice.

    ```mlir
    %values, %ids = transformer.largest_logits %x, %w, %b without %forbidden
                      {range = 2016 : i64, vocabulary = 32000 : i64}
      : (tensor<?x256xf32>, tensor<256x32000xf32>, tensor<32000xf32>,
         tensor<?x?xi32>) -> (tensor<?x16xf32>, tensor<?x16xi32>)
    ```

    Constraints:
    - (C1) x has rank 2; W, its scales and b are as in linear, of `vocabulary`
      columns.
    - (C2) forbidden has rank 2.
    - (C3) `range` is a multiple of the panels' 32 columns.
    - (C4) destinations are of f32 and i32.
  }];
  let arguments = (ins Transformer_Factors:$input,
                       Optional<Transformer_Values>:$input_scales,
                       Transformer_Factors:$weight,
                       Optional<Transformer_Vectors>:$weight_scales,
                       Optional<Transformer_Vectors>:$bias,
                       Transformer_Ids:$forbidden,
                       Variadic<AnyTypeOf<[Transformer_Values,
                                           Transformer_Ids]>>:$destinations,
                       Transformer_Count:$range,
                       Transformer_Count:$vocabulary,
                       OptionalAttr<I64Attr>:$shift);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let assemblyFormat = [{
    $input (`scales` `(` $input_scales^ `)`)? (`shift` $shift^)?
        `,` $weight (`scales` `(` $weight_scales^ `)`)? (`,` $bias^)?
        `without` $forbidden (`into` $destinations^)? attr-dict
        `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    int64_t getNumRanges() {
      return ::llvm::divideCeil(getVocabulary(), getRange());
    }
  }];
}

#endif // HEDDLE_DIALECT_CHOICE
