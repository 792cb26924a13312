//===- Weights.td - Parameters and their bytes ----------------*- tablegen -*-===//

#ifndef HEDDLE_DIALECT_WEIGHTS
#define HEDDLE_DIALECT_WEIGHTS

include "dialect/Base.td"
include "mlir/IR/SymbolInterfaces.td"

def Transformer_EncodingCases : Transformer_Cases<"Encoding", [
    I32EnumAttrCase<"F32", 0, "f32">,
    I32EnumAttrCase<"F16", 1, "f16">,
    I32EnumAttrCase<"BF16", 2, "bf16">,
    I32EnumAttrCase<"IntGemm8", 3, "intgemm8">,
    I32EnumAttrCase<"Int8Rows", 4, "int8_rows">,
    I32EnumAttrCase<"Int16", 5, "int16">
  ]>;
def Transformer_Encoding : Transformer_Enum<Transformer_EncodingCases, "encoding"> {
  let summary = "how a file stores a tensor";
}

def Transformer_Source : AttrDef<Transformer_Dialect, "Source"> {
  let mnemonic = "source";
  let summary = "where the bytes of a parameter stand";
  let description = [{
    `file` is one of the files of the model's weight source, `offset` >= 0 counts
    bytes. `intgemm8` is Marian's: int8 values, then one f32 multiplier m; the
    weight is value / m. `input_multiplier`, which Marian calls QuantMultA,
    quantises what is multiplied by such a weight.

    `int8_rows` and `int16` are CTranslate2's. f32 multipliers stand at the byte
    `multipliers` of the same file: of `int8_rows` one for each row of the matrix that
    the file stores, of `int16` one for all of it, which is 1000 if none is named. The
    weight is value / multiplier.
  }];
  let parameters = (ins StringRefParameter<"file">:$file, "int64_t":$offset,
                        EnumParameter<Transformer_EncodingCases>:$encoding,
                        OptionalParameter<"::mlir::FloatAttr">:$input_multiplier,
                        OptionalParameter<"std::optional<int64_t>">:$multipliers);
  let genVerifyDecl = 1;
  let assemblyFormat = [{
    `<` $file `,` `offset` `=` $offset `,` `encoding` `=` $encoding
        (`,` `input_multiplier` `=` $input_multiplier^)?
        (`multipliers` `at` $multipliers^)? `>`
  }];
}

def Transformer_DerivationCases : Transformer_Cases<"Derivation", [
    I32EnumAttrCase<"Columns", 0, "columns">,
    I32EnumAttrCase<"ColumnIntegers", 1, "column_integers">,
    I32EnumAttrCase<"ColumnScales", 2, "column_scales">,
    I32EnumAttrCase<"RowIntegers", 3, "row_integers">,
    I32EnumAttrCase<"RowScales", 4, "row_scales">,
    I32EnumAttrCase<"Multiplier", 5, "multiplier">,
    I32EnumAttrCase<"InputMultiplier", 6, "input_multiplier">,
    I32EnumAttrCase<"ProductScales", 7, "product_scales">,
    I32EnumAttrCase<"ColumnShiftedBias", 8, "column_shifted_bias">,
    I32EnumAttrCase<"RowShiftedBias", 9, "row_shifted_bias">,
    I32EnumAttrCase<"Rounded", 10, "rounded">,
    I32EnumAttrCase<"RoundedToF16", 11, "rounded_to_f16">,
    I32EnumAttrCase<"AsColumnI8", 12, "as_column_i8">,
    I32EnumAttrCase<"AsRowI8", 13, "as_row_i8">,
    I32EnumAttrCase<"AsBF16", 14, "as_bf16">,
    I32EnumAttrCase<"AsF16", 15, "as_f16">,
    I32EnumAttrCase<"One", 16, "one">,
    I32EnumAttrCase<"RelativeBuckets", 17, "relative_buckets">,
    I32EnumAttrCase<"Rotated", 18, "rotated">,
    I32EnumAttrCase<"RotaryFrequencies", 19, "rotary_frequencies">,
    I32EnumAttrCase<"RowNorms", 20, "row_norms">,
    I32EnumAttrCase<"Product", 21, "product">,
    I32EnumAttrCase<"LogBuckets", 22, "log_buckets">,
    I32EnumAttrCase<"BlockIntegers", 23, "block_integers">,
    I32EnumAttrCase<"BlockScales", 24, "block_scales">,
    I32EnumAttrCase<"AsBlockI8", 25, "as_block_i8">,
    I32EnumAttrCase<"WithScales", 26, "with_scales">,
    I32EnumAttrCase<"Sinusoids", 27, "sinusoids">,
    I32EnumAttrCase<"SplitPairs", 28, "split_pairs">,
    I32EnumAttrCase<"AlibiSlopes", 29, "alibi_slopes">,
    I32EnumAttrCase<"Shifted", 30, "shifted">
  ]>;
def Transformer_Derivation : Transformer_Enum<Transformer_DerivationCases, "derivation"> {
  let summary = "how a parameter is made of others";
}

def ParameterOp : Transformer_Op<"parameter",
    [Symbol, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a tensor of the model";
  let description = [{
    Declares a parameter; its bytes stay in the memory-mapped checkpoint until
    the artifact is written. Without a source it is bound by name to the file
    given with `--weights`. `transposed` says that the file stores the transpose
    (of a rank-2 tensor). `place-weights` adds its place in the artifact.

    Passes make parameters of others, which are computed while the artifact is
    written, a block of rows at a time: `zeros` has no bytes in any file, `scaled
    by` multiplies each element, rounded to f32, and a derivation names its
    parts:

    | derivation | type | value |
    |---|---|---|
    | `columns of [a, b, ...]` | any | their concatenation along the last axis |
    | `columns(n) of [a, b, ...]` | any | the same by turns: n columns of each part, then the next n |
    | `column_integers of [w]` | i8, as w | clip(rint(w / s_n), -127, 127), s the column scales |
    | `column_scales of [w]` | f32 [columns] | max \|w[:, n]\| / 127; of zeros 1; of columns that are rows of `int8_rows` 1 / multiplier |
    | `row_integers`, `row_scales of [w]` | i8, f32 [rows] | the same along rows |
    | `block_integers of [w]` | i8, as w | clip(rint(w / s_gn), -127, 127), s the block scales, g = k / 32 |
    | `block_scales of [w]` | f32 [rows / 32, columns] | max \|w[32 g to 32 g + 31, n]\| / 127, rounded up to bf16; of zeros 1 |
    | `with_scales of [q, s]` | i8, as q, packed | block_integers and block_scales of one weight |
    | `rotated of [w]` | f32, as w | R^T w / b, R and b of vectors of as many elements as w has rows: see `quantize` |
    | `rounded`, `rounded_to_f16 of [w]` | bf16, f16, as w | w as `round` has it |
    | `as_column_i8`, `as_row_i8 of [w]` | f32, as w | column_integers * column_scales, or of rows |
    | `as_block_i8 of [w]` | f32, as w | block_integers * block_scales |
    | `as_bf16`, `as_f16 of [w]` | f32, as w | the numbers that `rounded`, `rounded_to_f16` make |
    | `one of [w]` | f32 [1] | 1, that `scaled by 0.0` switches off: see `fake_quantize` |
    | `multiplier`, `input_multiplier of [q]` | f32 [1] | m; a |
    | `product_scales of [q]` | f32 [n] | 1 / (a m), n times; without a 1 / m |
    | `column_shifted_bias of [b, q]` | f32, as b | b - ((127 / a) (127 / m) / 127) sum_k q[k, n] |
    | `row_shifted_bias of [b, q]` | f32, as b | the same with sum_k q[n, k] |
    | `relative_buckets(n, far) of [t]` | f32 [heads, 2 far + 1] | t[bucket(c - far), h] at [h, c] |
    | `relative_buckets(n, far, 1) of [t]` | f32 [heads, 2 far + 1] | the same of one direction |
    | `rotary_frequencies(base)` | f32 [n] | 1 / base^(k / n), for `positions.rotary` |
    | `rotary_frequencies(base, factor)` | f32 [n] | the same divided by factor |
    | `rotary_frequencies(base, factor, low, high, length)` | f32 [n] | the same divided by part |
    | `split_pairs(w, n) of [x]` | f32, as x | of each w columns of x, the first 2 n: those at 0, 2, 4, ..., then those at 1, 3, 5, ... |
    | `shifted(c) of [x]` | f32, as x | x + c: norms whose weights are stored without the 1 |
    | `alibi_slopes` | f32 [heads] | 2^(-8 (h + 1) / heads), for ALiBi |
    | `sinusoids(pad)` | f32 [n, d] | sines and cosines of positions, row pad zero |
    | `row_norms(eps) of [x, gamma, beta]` | f32, as x | the layer norm of each row |
    | `product of [x, w, b]` | f32 [rows of x, columns of w] | x w + b |
    | `log_buckets(n, most, far) of [t]` | f32 [d, 2 far + 1] | t[clip(bucket(c - far) + s, 0, 2 s - 1), k] at [k, c], t [2 s, d] |

    q is a parameter of type i8 whose source is `intgemm8`: its integers as they
    are stored, with m their multiplier and a the `input_multiplier`. What these
    formulas are for is in `linear`. Each operation rounds to f32.

    t [buckets, heads], with at least n buckets, has a bias for each bucket of
    distances: bucket(r) of r = key - query is b(|r|), plus n / 2 if r > 0, and with
    m = n / 4

        b(r) = r                                              r < m
               min(m + floor(ln(r / m) / ln(far / m) * m), 2 m - 1)   else

    each operation in f32: T5's of both directions (arXiv:1910.10683, section 2.1).
    Of one direction, as T5's decoders have them, bucket(r) is b(-r) with m = n / 2,
    and 0 if r > 0, which a causal mask hides.
    Those of `log_buckets` are of r = query - key, for `relative_keys` of `attention`:
    r itself if n is 0 and, with m = floor(n / 2), as DeBERTa-v2 computes them in f32,

        bucket(r) = r                                                  |r| <= m
                    sign(r) (ceil(ln(|r| / m) / ln((most - 1) / m) (m - 1)) + m)   else

    Norms and products are sums in f64, rounded to f32. A `lookup` at far + key -
    query limits distances to those of the table.

    Rotary frequencies are those that models are trained with: k / n, the power and
    the quotient are each rounded to f32. With `low` and `high`, those f whose waves
    are short compared with a text of `length` stay, as in Llama 3.1 (arXiv:2407.21783):
    with turns t = length f / (2 pi)

        f                                                                    t > high
        f / factor                                                           t < low
        (1 - s) f / factor + s f, s = (t - low) / (high - low)               else

    Pairs of `positions.rotary` are (k, k + n): `split_pairs` makes them of columns
    whose pairs are (2 k, 2 k + 1), of heads of width w.

    If the number of heads is no power of 2, the slopes are those of m heads, m the
    greatest power of 2 below it, and behind them those of 2 m heads at 0, 2, 4, ...,
    as in ALiBi (arXiv:2108.12409). Each is computed in f64 and rounded to f32.

    Sinusoids are a table that M2M100 computes and does not store, with angles in f32:
    row p is sin(p f[k]) at k and cos(p f[k]) at k + d / 2, with

        f[k] = exp(-(ln(10000) / (d / 2 - 1)) k)

    where f and the angle are rounded to f32; row pad is zero.

    `packed [n0, n1, ...]`, from `pack-weights`, says that the parameter is a
    weight [in, n0 + n1 + ...] in panels: each part is cut into panels of 32
    columns, filled up with zeros, and a panel has its columns side by side for
    one input after the other: [panels, in, 32]. PanelLayout.h says how elements
    shorter than f32 stand; `depth` is `in` if panels have room for more of
    them. A kernel reads a panel from its beginning to its end.

    ```mlir
    transformer.parameter @encoder_l1_ffn_W1 : tensor<256x1536xf32>
      from <"model.bin", offset = 8192, encoding = intgemm8> transposed
    transformer.parameter @qkv : tensor<256x768xf32> columns of [@q, @k, @v]
    transformer.parameter @none : tensor<256xf32> zeros
    transformer.parameter @half : tensor<256xf32> columns of [@b] scaled by 0.5
    ```

    Constraints:
    - (C1) the shape is static, of at most 2^40 elements.
    - (C2) a transposed parameter has rank 2.
    - (C3) `placed` is a multiple of 64, at least 0.
    - (C4) at most one of source, a derivation and `zeros` is given;
      `transposed` and either of the last two do not go together.
    - (C5) each part is a parameter declared before. `columns` has parts, with
      the leading dimensions of this one and widths that add up to its; those that take
      turns have one width, a multiple of n. Other
      derivations have the parts, types and numbers of the table. n is a multiple
      of 4 and far > n / 4; of one direction n is even and far > n / 2. A base is
      finite and above 1. eps is finite and at least 0. A pad is a row of sinusoids, and
      their d is even and at least 4. Of `log_buckets` n is 0, or at least 2 and
      most > n / 2 + 1. Of `split_pairs` w divides the columns, n is at least 1
      and 2 n <= w. c is finite.
    - (C6) the factor is finite, and the type f32.
    - (C7) a packed parameter has the shape of the panels of its parts, each of at
      least one column, and of its depth. Integers `with_scales` are packed.
    - (C8) the source of a parameter of type i8 is `intgemm8`; one of type bf16
      or f16 has a derivation.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       TypeAttrOf<RankedTensorOf<[F32, BF16, F16, I8]>>:$type,
                       OptionalAttr<Transformer_Source>:$source,
                       UnitAttr:$transposed,
                       OptionalAttr<Transformer_Derivation>:$derivation,
                       OptionalAttr<DenseF64ArrayAttr>:$numbers,
                       OptionalAttr<FlatSymbolRefArrayAttr>:$parts,
                       UnitAttr:$zeros, OptionalAttr<F32Attr>:$factor,
                       OptionalAttr<DenseI64ArrayAttr>:$packed,
                       OptionalAttr<I64Attr>:$depth,
                       OptionalAttr<I64Attr>:$placed);
  let assemblyFormat = [{
    $sym_name `:` $type (`from` $source^)? (`transposed` $transposed^)?
        `` custom<Derivation>($derivation, $numbers, $parts) (`zeros` $zeros^)?
        (`scaled` `by` $factor^)? (`packed` $packed^)?
        (`depth` $depth^)? (`placed` `at` $placed^)? attr-dict
  }];
  let builders = [
    OpBuilder<(ins "::llvm::StringRef":$symbol,
                   "::mlir::RankedTensorType":$type,
                   "::heddle::SourceAttr":$source, "bool":$transposed), [{
      build($_builder, $_state, $_builder.getStringAttr(symbol),
            ::mlir::TypeAttr::get(type), source,
            transposed ? $_builder.getUnitAttr() : ::mlir::UnitAttr(),
            /*derivation=*/::heddle::DerivationAttr(),
            /*numbers=*/::mlir::DenseF64ArrayAttr(),
            /*parts=*/::mlir::ArrayAttr(), /*zeros=*/::mlir::UnitAttr(),
            /*factor=*/::mlir::FloatAttr(),
            /*packed=*/::mlir::DenseI64ArrayAttr(),
            /*depth=*/::mlir::IntegerAttr(),
            /*placed=*/::mlir::IntegerAttr());
    }]>
  ];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTensorType() {
      return ::llvm::cast<::mlir::RankedTensorType>(getType());
    }
    /// The parameters it is made of; null if one is not declared.
    ::llvm::SmallVector<ParameterOp, 0> getPartOps();
    /// Whether its bytes stand in one place of a file.
    bool isStored() { return !getParts() && !getZeros(); }
    /// Whether its values are the integers of an `intgemm8` source.
    bool isStoredAsIntegers() {
      return isStored() && getTensorType().getElementType().isInteger(8);
    }
    /// How it stands in panels if it is packed.
    ::heddle::WeightFormat getWeightFormat() {
      return ::heddle::weightFormatOf(getTensorType().getElementType(),
                                      getDerivation() == Derivation::WithScales);
    }
    /// The type of what `derivation` makes of `parts`;
    /// null if they are not what it needs. `length` is that of product
    /// scales, `numbers` stand behind its name. Columns and frequencies have none.
    static ::mlir::RankedTensorType
    derivedType(::heddle::Derivation derivation,
                ::llvm::ArrayRef<ParameterOp> parts, int64_t length,
                ::llvm::ArrayRef<double> numbers = {});
    /// The shape before it was packed: that of the tensor in the checkpoint.
    ::llvm::SmallVector<int64_t> getLogicalShape();
  }];
}

def WeightOp : Transformer_Op<"weight",
    [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "reads a parameter";
  let description = [{
    ```mlir
    %w = transformer.weight @encoder_l1_ffn_W1 : tensor<256x1536xf32>
    ```

    Constraints:
    - (C1) `parameter` names a `transformer.parameter` of the same shape and
      element type.
  }];
  let arguments = (ins FlatSymbolRefAttr:$parameter);
  let results = (outs Transformer_Entries:$value);
  let assemblyFormat = "$parameter attr-dict `:` type($value)";
}

#endif // HEDDLE_DIALECT_WEIGHTS
