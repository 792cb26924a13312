//===- Quantization.td - From f32 to fewer bits ---------------*- tablegen -*-===//
//
// If choose-precision gives a product integers, bf16 or f16 to multiply, its left
// side is quantised or rounded by an op of its own, which later passes fuse into
// what computes it. The product says what its sums are worth: see `linear`.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECT_QUANTIZATION
#define HEDDLE_DIALECT_QUANTIZATION

include "dialect/Base.td"

def QuantizeOp : Transformer_LayerOp<"quantize", [AttrSizedOperandSegments],
                                     [], [], [], ["getRowInputs"]> {
  let summary = "vectors as 8-bit integers";
  let description = [{
    x [..., d] -> q [..., d] of i8 and, without `multiplier`, scales s [...]:

        s = max |x[..., :]| / 127, of zeros 1
        q = clip(rint(x / s), -127, 127)

    With a multiplier a [1], one for all vectors:

        q = clip(rint(x * a), -127, 127)

    Each operation rounds to f32, rint to the nearest integer, of two the even
    one. -128 never occurs. What is no number makes the scale of its vector no
    number, an infinity makes it infinite; their integers are 0.

    `rotated` quantises x R in place of x. R has blocks D H_b on its diagonal, b the
    largest power of two, at most 128, that divides d:

        H_1 = [1]   H_2n = [H_n H_n; H_n -H_n]   (Sylvester's Hadamard matrices)
        D[i, i] = -1 if i has an odd number of neighbouring ones in binary, else 1

    A number that is far from all others of its vector, and so makes the scale too
    large for these, is spread over its block (QuaRot, arXiv:2404.00456). So is what
    all numbers of a block have in common: the signs are those of the Rudin-Shapiro
    sequence, of which each element of a row of H is as large. A product has the
    weights R^T W / b, since R R^T = b I: see the derivation `rotated` of
    ParameterOp. Sums are those of pairs at distances 1, 2, 4, ..., in this order.

    ```mlir
    %q, %s = transformer.quantize %x
      : (tensor<?x?x256xf32>) -> (tensor<?x?x256xi8>, tensor<?x?xf32>)
    %p, %t = transformer.quantize %x rotated
      : (tensor<?x?x256xf32>) -> (tensor<?x?x256xi8>, tensor<?x?xf32>)
    %r = transformer.quantize %x multiplier(%a)
      : (tensor<?x?x256xf32>, tensor<1xf32>) -> tensor<?x?x256xi8>
    ```

    Constraints:
    - (C1) the multiplier has one value, and stands without `rotated`.
    - (C2) scales have the leading dimensions of x; x has rank 2 or more.
  }];
  let arguments = (ins Transformer_Vectors:$input,
                       Optional<Transformer_Vectors>:$multiplier,
                       Variadic<Transformer_Entries>:$destinations,
                       UnitAttr:$rotated);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let assemblyFormat = [{
    $input (`rotated` $rotated^)? (`multiplier` `(` $multiplier^ `)`)?
        (`into` $destinations^)? attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    /// The largest integer, and minus the smallest.
    static constexpr int64_t kMost = 127;
    /// The scales of memrefs that it writes; null with a multiplier.
    ::mlir::Value getScales() {
      return getDestinations().size() > 1 ? getDestinations()[1]
                                          : ::mlir::Value();
    }
  }];
}

def QuantizeHeadsOp : Transformer_LayerOp<"quantize_heads", [], [], [], [],
                                          ["getRowInputs"]> {
  let summary = "heads of vectors as 8-bit integers";
  let description = [{
    x [..., heads d] -> q [..., heads d] of i8 and scales s [..., heads]: what
    `quantize` makes of each head's d elements by themselves, bit for bit. Keys and
    values of decoders are kept in caches so, see `attention`. Heads have a scale of
    their own because their magnitudes differ, and because a kernel reads the keys
    of one head alone. Integers are stored as they are; those of `quantize` in the
    form that a level's products take.

    ```mlir
    %q, %s = transformer.quantize_heads %k {heads = 3 : i64}
      : (tensor<?x?x192xf32>) -> (tensor<?x?x192xi8>, tensor<?x?x3xf32>)
    ```

    Constraints:
    - (C1) heads divides the width of x, which has rank 2 or more.
    - (C2) destinations are i8 of the shape of x and f32, none or both.
  }];
  let arguments = (ins Transformer_Vectors:$input,
                       Variadic<Transformer_Entries>:$destinations,
                       Transformer_Count:$heads);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let assemblyFormat = [{
    $input (`into` $destinations^)? attr-dict
        `:` functional-type(operands, results)
  }];
}

def RoundOp : Transformer_LayerOp<"round", [], [], [], [], ["getRowInputs"]> {
  let summary = "vectors as bf16 or f16";
  let description = [{
    x [..., d] -> the nearest bf16 or, with `to f16`, f16, of two the even one.
    What is above the largest (65,504 of f16) by half a step or more becomes
    infinite. What is no number stays none, made quiet: of bf16 the upper half of
    its bits. Denormals become zeros of their sign, as everywhere in kernels, whose
    bf16 have none: their exponents are those of f32. Those that f16 has, multiples
    of 2^-24 below 2^-14, are numbers like others. All ISA levels and the reference
    agree bit for bit.

    ```mlir
    %r = transformer.round %x : (tensor<?x?x256xf32>) -> tensor<?x?x256xbf16>
    %h = transformer.round %x to f16 : (tensor<?x?x256xf32>) -> tensor<?x?x256xf16>
    ```

    Constraints:
    - (C1) a destination is of that type.
  }];
  let arguments = (ins Transformer_Values:$input,
                       Optional<Transformer_Entries>:$destination,
                       Transformer_ShortFloat:$to);
  let assemblyFormat = [{
    $input `` custom<RoundedType>($to) (`into` $destination^)? attr-dict
        `:` functional-type(operands, results)
  }];
}

def FakeQuantizeOp : Transformer_LayerOp<"fake_quantize", [AttrSizedOperandSegments],
                                         [], [], [], ["getRowInputs"]> {
  let summary = "f32 vectors with the values that fewer bits have";
  let description = [{
    x [..., d] -> y [..., d], x itself, or x R, if `on` [1] is 0, and otherwise what
    that is worth in fewer bits (fake quantisation, arXiv:1712.05877, section 3):

        i8          y = q * s        of quantize x, or of quantize x rotated
        i8 with a   y = q / a        of quantize x multiplier(a)
        bf16, f16   y                the number that round x makes

    A product of such vectors and of weights of the same kind (see the derivation
    `as_column_i8` of ParameterOp) is that of the integers or short floats, but for
    how f32 rounds its sum. Whether it is on is data: one program measures what
    each layer's rounding does to the result, layer by layer. An infinity is no
    number in i8.

    ```mlir
    %y = transformer.fake_quantize %x as i8 when(%on)
      : (tensor<?x?x256xf32>, tensor<1xf32>) -> tensor<?x?x256xf32>
    %z = transformer.fake_quantize %x as i8 multiplier(%a) when(%on)
      : (tensor<?x?x256xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<?x?x256xf32>
    ```

    Constraints:
    - (C1) the multiplier, of i8 alone, and `on` have one value. `rotated` is of i8
      without a multiplier.
    - (C2) x has rank 2 or more.
  }];
  let arguments = (ins Transformer_Vectors:$input,
                       Optional<Transformer_Vectors>:$multiplier,
                       Transformer_Vectors:$on,
                       Optional<Transformer_Vectors>:$destination,
                       Transformer_ShortType:$as, UnitAttr:$rotated);
  let assemblyFormat = [{
    $input `as` $as (`rotated` $rotated^)? (`multiplier` `(` $multiplier^ `)`)? `when` `(` $on `)`
        (`into` $destination^)? attr-dict `:` functional-type(operands, results)
  }];
}

#endif // HEDDLE_DIALECT_QUANTIZATION
