//===- Choice.td - What a choice needs of logits --------------*- tablegen -*-===//

#ifndef HEDDLE_DIALECT_CHOICE
#define HEDDLE_DIALECT_CHOICE

include "dialect/Base.td"

/// Keeps some of the logits l = x W + b of each range of a vocabulary.
class Transformer_RangedLogitsOp<string mnemonic>
    : Transformer_LayerOp<mnemonic, [AttrSizedOperandSegments,
                                     RangedLogitsOpInterface],
                          [], ["describe", "buildFlops"]> {
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
  let builders = [
    /// Of the logits that a linear makes.
    OpBuilder<(ins "::heddle::LinearOp":$linear, "::mlir::Value":$forbidden,
                   "::mlir::ValueRange":$destinations, "int64_t":$range), [{
      build($_builder, $_state, linear.getInput(), linear.getInputScales(),
            linear.getWeight(), linear.getWeightScales(), linear.getBias(),
            forbidden, destinations, range, linear.getWidths().front(),
            linear.getShiftAttr());
    }]>
  ];
  let extraClassDeclaration = [{
    int64_t getNumRanges() {
      return ::llvm::divideCeil(getVocabulary(), getRange());
    }
  }];
}

def LargestLogitsOp : Transformer_RangedLogitsOp<"largest_logits"> {
  let summary = "the largest logits of each range of a vocabulary";
  let description = [{
    Of the logits l = x W + b, which are never stored, what a greedy choice needs.
    The vocabulary is cut into ranges of `range` ids, the last one may be shorter.
    With the ids n of range k that row r does not forbid:

        values[r, k] = max l[r, n]
        ids[r, k]    = the first n with l[r, n] = values[r, k]

    If no such logit is above -inf, ids[r, k] is -1, and values[r, k] is -inf
    or, if one of them is no number, NaN. What is no number is never largest.

    x [rows, in], W [in, vocabulary], b [vocabulary], forbidden [rows, any number]
    -> values f32 and ids i32, both [rows, ranges]. A row forbids the ids in front
    of the first negative one of forbidden[r, :], or all; those outside of the
    vocabulary forbid nothing. x W + b is that of `linear`, bit for bit, with its
    scales and `shift`. Made by fuse-choice.

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
}

def BestLogitsOp : Transformer_RangedLogitsOp<"best_logits"> {
  let summary = "log-softmax of a vocabulary's ranges and the best of each";
  let description = [{
    Of the logits l = x W + b, which are never stored, what a search needs that
    compares log-probabilities. Ranges are those of `largest_logits`. With all ids
    n of range k, those that row r forbids, too, but if the last number of
    forbidden[r, :] is -2 without them (log-probabilities that are renormalised):

        maxima[r, k] = max l[r, n]
        sums[r, k]   = sum exp(l[r, n] - maxima[r, k])

    so that the log-probability of id n is l[r, n] - log(sum_k sums[r, k]
    exp(maxima[r, k])). And without those that row r forbids:

        values[r, k, :] = the largest of l[r, n], descending
        ids[r, k, :]    = their n, of equal ones the first one first

    as many as the destinations have room for, at least one. If fewer logits
    are above -inf, -inf and -1 stand behind them. What is no number is neither
    among the best nor a maximum; it makes the sum NaN, and so does +inf. If
    all are -inf, the maximum is -inf and the sum 0.

    Each sum is within 1e-5 of itself. It is added up in an order of the ranges
    alone: its bits depend on nothing but the row.

    x [rows, in], W [in, vocabulary], b [vocabulary], forbidden [rows, any number]
    -> maxima and sums f32 [rows, ranges], values f32 and ids i32 [rows, ranges,
    best]. No input has the size `best`: results are always written `into`
    something. The rest is as in `largest_logits`. Made by fuse-choice.

    ```mlir
    %results:4 = transformer.best_logits %x, %w, %b without %forbidden
                   into %maxima, %sums, %values, %ids
                   {range = 2016 : i64, vocabulary = 32000 : i64}
      : (tensor<?x256xf32>, tensor<256x32000xf32>, tensor<32000xf32>,
         tensor<?x?xi32>, tensor<?x16xf32>, tensor<?x16xf32>,
         tensor<?x16x?xf32>, tensor<?x16x?xi32>)
      -> (tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x16x?xf32>,
          tensor<?x16x?xi32>)
    ```

    Constraints:
    - (C1) x, W, its scales and b, forbidden and `range` are as in largest_logits.
    - (C2) there are four destinations, three of f32 and one of i32.
    - (C3) values and ids have room for as many.
  }];
  let reifyMethod = [{
    ::llvm::LogicalResult $cppClass::reifyResultShapes(
        ::mlir::OpBuilder &builder,
        ::mlir::ReifiedRankedShapedTypeDims &shapes) {
      for (::mlir::Value destination : getDestinations())
        shapes.push_back(::mlir::tensor::getMixedSizes(builder, getLoc(),
                                                       destination));
      return ::mlir::success();
    }
  }];
}

#endif // HEDDLE_DIALECT_CHOICE
