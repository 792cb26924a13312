//===- Masks.td - The mask algebra ----------------------------*- tablegen -*-===//

#ifndef HEDDLE_DIALECT_MASKS
#define HEDDLE_DIALECT_MASKS

include "dialect/Base.td"

/// A mask op; also the base of masks that other dialects define.
class Transformer_MaskOp<string mnemonic, list<Trait> traits = [],
                         list<string> moreMethods = []>
    : Transformer_Op<"mask." # mnemonic, !listconcat(traits, [
        Pure,
        DeclareOpInterfaceMethods<MaskOpInterface, !listconcat(
            ["keyRanges", "reach", "containsBand"], moreMethods)>
      ])> {
  let results = (outs Transformer_Mask:$mask);
}

def MaskFullOp : Transformer_MaskOp<"full"> {
  let summary = "every pair";
  let assemblyFormat = "attr-dict";
}

def MaskEmptyOp : Transformer_MaskOp<"empty"> {
  let summary = "no pair";
  let description = [{
    A query without keys yields 0 on every path; attention with an empty mask
    folds to a `transformer.fill`.
  }];
  let assemblyFormat = "attr-dict";
}

def MaskCausalOp : Transformer_MaskOp<"causal"> {
  let summary = "keys at or before the query: j <= i";
  let assemblyFormat = "attr-dict";
}

def MaskPaddingOp
    : Transformer_MaskOp<"padding", [], ["operandsOfSentences"]> {
  let summary = "keys inside the batch element's length: j < lengths[b]";
  let description = [{
    ```mlir
    %valid = transformer.mask.padding %lengths : tensor<?xi32>
    ```
  }];
  let arguments = (ins Transformer_PerRow:$lengths);
  let assemblyFormat = "$lengths attr-dict `:` type($lengths)";
}

def MaskWindowOp : Transformer_MaskOp<"window", [], ["numHeads"]> {
  let summary = "a sliding window, dilated per head";
  let description = [{
    With d the dilation of head h (one value serves all heads):

        -right * d <= i - j <= left * d   and   d divides i - j

    as in Longformer (arXiv:2004.05150, section 3.1).

    ```mlir
    %w = transformer.mask.window [left = 128, right = 0]
    %d = transformer.mask.window [left = 2, right = 2, dilation = [1, 1, 2, 4]]
    ```

    Constraints:
    - (C1) left >= 0 and right >= 0.
    - (C2) every dilation >= 1; at least one is given.
    - (C3) left * d, right * d and d are below 2^31: coordinates are i32.
  }];
  let arguments = (ins I64Attr:$left, I64Attr:$right,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{1}">:$dilation);
  let assemblyFormat = [{
    ` ` `[` `left` `=` $left `,` `right` `=` $right
        (`,` `dilation` `=` $dilation^)? `]` attr-dict
  }];
  let hasVerifier = 1;
}

class Transformer_BinaryMaskOp<string mnemonic>
    : Transformer_MaskOp<mnemonic, [Commutative]> {
  let arguments = (ins Transformer_Mask:$lhs, Transformer_Mask:$rhs);
  let assemblyFormat = "$lhs `,` $rhs attr-dict";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def MaskAndOp : Transformer_BinaryMaskOp<"and"> {
  let summary = "pairs in both masks";
  let description = [{
    Folds: `and(full, x)` to x, `and(empty, x)` to empty, `and(x, x)` to x.
    Canonicalises `and(causal, window[l, r])` to `window[l, 0]` and two windows
    of the same dilation to the narrower.
  }];
}

def MaskOrOp : Transformer_BinaryMaskOp<"or"> {
  let summary = "pairs in either mask";
  let description = [{
    Folds: `or(empty, x)` to x, `or(full, x)` to full, `or(x, x)` to x.
  }];
}

def MaskNotOp : Transformer_MaskOp<"not"> {
  let summary = "pairs outside a mask";
  let description = [{
    `not(not(x))` folds to x; `not(full)` canonicalises to empty and back.
    Canonicalisation pushes `not` to the leaves by De Morgan's laws, so that the
    key ranges of a complement stay few.
  }];
  let arguments = (ins Transformer_Mask:$operand);
  let assemblyFormat = "$operand attr-dict";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

#endif // HEDDLE_DIALECT_MASKS
