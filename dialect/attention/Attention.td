//===- Attention.td - General attention -----------------------*- tablegen -*-===//

#ifndef HEDDLE_DIALECT_ATTENTION
#define HEDDLE_DIALECT_ATTENTION

include "dialect/Base.td"

def Transformer_NormalizerCases : Transformer_Cases<"Normalizer", [
    I32EnumAttrCase<"Softmax", 0, "softmax">,
    I32EnumAttrCase<"Sum", 1, "sum">,
    I32EnumAttrCase<"None", 2, "none">,
    I32EnumAttrCase<"Region", 3, "region">
  ]>;
def Transformer_Normalizer : Transformer_Enum<Transformer_NormalizerCases, "normalizer_kind"> {
  let summary = "how scores become probabilities";
}

def AttentionOp : Transformer_LayerOp<"attention", [
      AttrSizedOperandSegments
    ], ["stateTypes", "buildStep", "buildChunk", "buildRagged", "isStep"],
    ["describe", "buildFlops", "buildBytes"], [],
    ["getComputedFactors"]> {
  let summary = "general attention";
  let description = [{
    For each head h (of width query width / heads; kv head h / (heads /
    kvHeads)) and query i, over the keys j with (b, h, i, j) in the mask:

        s_j = score(similarity(q_i, k_j), b, h, i, j)
        y_i = sum_j w_j v_j,  w = normalizer(s)

    and y_i = 0 if the mask allows no key.

    - `similarity`: a region (vector of q, vector of k) -> f32; by default
      scale * q . k. Without it `scale` has to be given or is 1 / sqrt(d_k).
    - `score`: a region (f32, b, h, i, j : i32) -> f32; by default the identity.
      Soft caps, ALiBi and relative biases are instances.
    - `normalizer`: `softmax`; `sum` (w_j = s_j / sum s); `none` (w_j = s_j); or
      a region f32 -> f32 (w_j = f(s_j) / sum f(s)). A sum of 0 yields 0.
    - `relative_keys` a and `relative_queries` b: vectors of relative positions.
      The default similarity is scale * (q_i . k_j + q_i . a_r + k_j . b_r), r =
      i - j, of which an absent table has no term: disentangled attention (He et
      al. 2020, arXiv:2006.03654, equation 4), or, with a alone, that of Shaw et
      al. (2018, arXiv:1803.02155, equation 4). Both are f32 [heads d_k, 2 far +
      1]; a_r is column far + r, or the nearest end, of the rows of its head.
      Products with them are summed in f32, whatever type queries and keys have.

    Dot-product, Luong's and Bahdanau's scores are instances; queries and keys
    may differ in width from values.

    Regions are total functions, since lowerings may evaluate them on pairs
    outside of the mask, too. If arith and math leave a result undefined:

    - of integers x / 0 is 0 and x rem 0 is x, in all kinds of division, and the
      lowest one by -1 wraps; floats divide as IEEE 754 says;
    - a shift by the width or more leaves 0, or the sign under `shrsi`;
    - floats become the nearest integer of the type towards zero, NaN becomes 0;
    - `ipowi` takes 0 to a negative power to 0; `clampf` is
      minimumf(maximumf(x, min), max).

    Flags (`nsw`, `nuw`, `exact`, fast math) are dropped: a result depends on
    operands alone. Ops on f16 and bf16 compute in f32, and each result is
    rounded. expand-regions writes all of this out.

    query [batch, n, heads d_k], key [batch, m, kvHeads d_k], value
    [batch, m, kvHeads d_v] -> [batch, n, heads d_v]. Heads stay inside the width:
    their layout in memory is the tiler's choice.

    Queries, keys and values of bf16 or f16, as choose-precision makes them, are
    multiplied exactly and summed in f32, as `linear` does; a similarity region
    sees them as f32. Scores are f32; the scale multiplies them, not queries. A
    probability is rounded to that type, to nearest even, before it multiplies its
    value and is added to the divisor of the sum. Probabilities of softmax are
    w_j = bf16(2^(s_j log2 e - n)). All keys of a query have one integer n. It does
    not change the rounding; in f16, as long as w_j is 2^-14 or more. (If s_j log2 e
    is 2^23 or more, n is any number.) Denormals of bf16 count as zeros.
    Probabilities of other normalizers have any size, and f16 has not: beside f16
    they stay f32. If a GPU's product multiplies f16, they are 2^n f16(2^-n w_j), and
    n brings the query's largest one into [2^14, 2^15): down to 2^-28 of the largest,
    probabilities round as f16 does; smaller ones are off by up to 2^-39 of it.

    Keys and values of i8, as choose-precision makes them of decoders with
    `quantize_heads`, have a scale for each position and kv head, `key_scales` and
    `value_scales`: an element is its integer times that scale. Queries, scores,
    probabilities and all sums are f32 then. Where f32 rounds is not fixed: a scale
    multiplies each element of its key, or the sum of the products with it; each
    element of its value, or the probability.

    With `round`, which fuse-quantize adds, the result is rounded and has type
    bf16, or f16 with `round(f16)`, see the op.

    The step form, derived by split-phases, has one query a row: query
    [rows, heads d_k], with its position behind `at` and the mask's b behind
    `of`. Row r reads the keys of `of`[r] under `shared` (an encoder's memory), and
    otherwise those of a cache, where position j stands in slot j modulo the number
    of slots; `pinned` slots, which hold the first positions for good, are no part
    of that ring. A row at position p sees the keys j <= p that are still there:
    p - slots < j, or j < pinned and, in the ring, p - (slots - pinned) < j.

    The cache is that of row r, or `in`[r], [rows]. With `through`, [rows,
    positions], each position has its own: key j of row r stands in cache
    `through`[r, j], that of whichever row was the ancestor of r when it was
    written. So beams part and end without a copy of their past, and each result
    has the bits that a copy would give. If slots are a ring, rows that share a
    past are at one position: another would have written over it.

    With `prefill`, which the extend form has, some of the rows are a prompt, of
    which a call brings several at once: rows o[0] to o[n] - 1, o being the list, are
    n blocks, and those of block k, o[k] to o[k + 1] - 1, are neighbouring positions
    of one sentence and one cache, all with the same position / 32, rounded down.
    Kernels compute a block's queries together, and rows from o[n] on, which are
    generated, one by one. Blocks count from position 0 and rows see their keys in
    the cache: however a prompt is cut into calls, its rows have the same bits.

    With `parts`, which divide-pasts adds, the past of a row at position p is parts of
    256 max(2, ceil((p + 1) / 4096)) positions, 16 at most. Each has sums of its own,
    and these are merged in order. Threads share the past of few rows then, and the
    bits do not depend on how many threads there are. `parts` is scratch memory,
    [rows, heads, parts, elements], of as many rows as are few.

    The ragged form, derived by drop-padding, has the sequences of a batch one
    behind the other (in the literature packed, or of variable length): query, key
    and value are [tokens, ...], with the position of each token behind `at` and its
    sequence, the mask's b, behind `of`. A query sees keys of its own sequence, of
    which there are `lengths`[b]. Kernels work on blocks of 32 queries; `blocks` are
    the tokens with which these begin, those of a sequence at the positions 0, 32,
    64, ..., so that no row depends on other sequences.

    Queries of a ragged batch that `take_rows` lists stay [batch, k, heads d_k]. They
    see the keys of their sequence b, rows starts[b] to starts[b] + lengths[b] - 1:
    only keys and values are ragged then.

    ```mlir
    %y = transformer.attention %q, %k, %v mask(%m) {heads = 8 : i64}
      : (tensor<?x?x256xf32>, tensor<?x?x256xf32>, tensor<?x?x256xf32>,
         !transformer.mask) -> tensor<?x?x256xf32>
    %y = transformer.attention %q, %k, %v at %positions of %sequences
           ragged(%blocks, %lengths) {heads = 8 : i64}
      : (tensor<?x256xf32>, tensor<?x256xf32>, tensor<?x256xf32>, tensor<?xi32>,
         tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x256xf32>
    %y = transformer.attention %global, %k, %v ragged_keys(%starts, %lengths)
           {heads = 8 : i64}
      : (tensor<?x?x256xf32>, tensor<?x256xf32>, tensor<?x256xf32>,
         tensor<?xi32>, tensor<?xi32>) -> tensor<?x?x256xf32>
    %y = transformer.attention %q, %ints, %ints key_scales(%s) value_scales(%s)
           mask(%m) {heads = 8 : i64}
      : (tensor<?x?x256xf32>, tensor<?x?x256xi8>, tensor<?x?x256xi8>,
         tensor<?x?x8xf32>, tensor<?x?x8xf32>, !transformer.mask)
        -> tensor<?x?x256xf32>
    ```

    Constraints:
    - (C1) query, key and value have rank 3; in the step form the query has
      rank 2, in the ragged form all of them, with `ragged_keys` key and value. Key
      and value agree in batch and length.
    - (C2) `at` and `of` come together; `shared`, `in`, `through` and `ragged` need
      them, and exclude each other; `ragged_keys` stands without them. Slots are
      pinned, 0 or more, in a step without `shared`. `prefill` stands
      beside `shared` or `in`.
    - (C3) heads and kvHeads divide their widths, kvHeads divides heads.
    - (C4) without a similarity region queries and keys have one width a head.
    - (C5) regions have the arguments above and yield one f32.
    - (C6) a mask is the result of an op that implements MaskOpInterface.
    - (C7) a normalizer region is given exactly if the normalizer is one.
    - (C8) a mask that tells heads apart has as many as the op: others would have
      no mask, or none would have its own.
    - (C9) regions hold elementwise ops of arith and math and
      `transformer.lookup`; similarity regions also ops of vector that move
      elements or add them up, at constant places.
    - (C10) their values are f16, bf16, f32, f64, index, i1, i8, i16, i32 or i64,
      or vectors of these in similarity regions.
    - (C11) the scale is a finite number.
    - (C12) query, key and value have one element type, but queries beside keys and
      values of i8 are f32; a destination is of the result's type.
    - (C13) keys and values are both projected along the sequence
      (`project_sequence`) or neither is; if they are, perhaps with a linear
      between, there is no mask but the full one: a projected row is made of all
      positions and has none that a mask could allow.
    - (C14) a similarity region stands without a scale, which is part of the
      default it replaces.
    - (C15) what a mask reads of sentences has an element for each of them: a
      number of elements only if the batch is that number.
    - (C16) if queries are rows that `take_rows` lists, perhaps with a linear
      between, masks know positions of keys alone: they are full, empty, padding,
      prefix, global columns, or made of these. If keys are such rows, a key's
      position is its number in the list.
    - (C17) relative keys and queries have a row for each element of a query, an odd
      number of columns, and one shape; they stand without a similarity region, in
      the full and the ragged form, and as many kv heads as heads. Queries and keys
      have positions of their own: they are neither rows that `take_rows` lists nor
      projected along the sequence.
    - (C18) keys and values have scales exactly if they are i8: the leading
      dimensions of keys, then kvHeads. Such keys are neither ragged nor relative.
    - (C19) parts are f32 [any, heads, 16, width of a value and 64 more], on memrefs,
      in a step without `shared`.

    split-phases derives a step only if a query sees no later position. It
    refuses, for self-attention in a decoder:

    - a mask that looks ahead (`window` with right > 0, `prefix`, `full`, none):
      keys that a step has not seen. With `and causal` it has a step;
    - rows of global tokens: token i sees the keys behind it, each of which would
      change y_i after later positions have read it. With `and causal` it has one,
      and so have columns with it;
    - a mask that reads what depends on the target, segments of its ids, say: a
      step has the id of its own position and none of the others;
    - vectors of relative positions: the step form has no kernel for them;
    - projected keys, see `project_sequence`.
  }];
  let arguments = (ins Transformer_FloatVectors:$query,
                       Transformer_Factors:$key,
                       Transformer_Factors:$value,
                       Optional<Transformer_Vectors>:$key_scales,
                       Optional<Transformer_Vectors>:$value_scales,
                       Optional<Transformer_Mask>:$mask,
                       Optional<Transformer_PerRow>:$positions,
                       Optional<Transformer_PerRow>:$sentences,
                       Optional<Transformer_PerRow>:$caches,
                       Optional<Transformer_Ids>:$history,
                       Optional<Transformer_PerRow>:$prefill,
                       Optional<Transformer_Values>:$parts,
                       Optional<Transformer_PerRow>:$blocks,
                       Optional<Transformer_PerRow>:$starts,
                       Optional<Transformer_PerRow>:$lengths,
                       Optional<Transformer_Values>:$relative_keys,
                       Optional<Transformer_Values>:$relative_queries,
                       Optional<Transformer_Floats>:$destination,
                       Transformer_Count:$heads,
                       OptionalAttr<Transformer_Count>:$kv_heads,
                       OptionalAttr<F32Attr>:$scale, UnitAttr:$shared,
                       OptionalAttr<Transformer_ShortFloat>:$rounds,
                       DefaultValuedAttr<I64Attr, "0">:$pinned,
                       DefaultValuedAttr<Transformer_Normalizer,
                                  "::heddle::Normalizer::Softmax">:$normalizer);
  let regions = (region MaxSizedRegion<1>:$similarity,
                        MaxSizedRegion<1>:$score,
                        MaxSizedRegion<1>:$normalizerRegion);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`key_scales` `(` $key_scales^ `)`)?
        (`value_scales` `(` $value_scales^ `)`)? (`mask` `(` $mask^ `)`)?
        (`at` $positions^ `of` $sentences)? (`in` $caches^)?
        (`through` $history^)? (`shared` $shared^)?
        (`prefill` `(` $prefill^ `)`)? (`parts` `(` $parts^ `)`)?
        `` custom<RaggedLists>($blocks, $starts, $lengths)
        (`relative_keys` `(` $relative_keys^ `)`)?
        (`relative_queries` `(` $relative_queries^ `)`)?
        `` custom<Rounds>($rounds) (`into` $destination^)? attr-dict
        (`similarity` $similarity^)? (`score` $score^)?
        `` custom<Normalizer>($normalizer, $normalizerRegion)
        `:` functional-type(operands, results)
  }];
  let builders = [OpBuilder<(ins "const ::heddle::AttentionSpec &":$spec)>];
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    int64_t getKeyValueHeads() { return getKvHeads().value_or(getHeads()); }
    /// Widths of one head.
    int64_t getQueryWidth();
    int64_t getKeyWidth();
    int64_t getValueWidth();
    /// The factor of the default similarity.
    float getEffectiveScale();
    /// What it multiplies: f32, of which keys and values may be stored as i8, or
    /// a short float, and which of both.
    ::mlir::Type getFactorType();
    bool isOfShortFloats();
    /// That of the result: a short float with `round`, or f32.
    ::mlir::Type getResultElementType();
    /// The op that builds the mask, or null.
    ::heddle::MaskOpInterface getMaskOp();
    /// Whether queries, keys and values are ragged, or keys and values at least.
    bool isRagged() { return bool(getBlocks()); }
    bool hasRaggedKeys() { return bool(getLengths()); }
    /// Whether scores have products with vectors of relative positions.
    bool isRelative() { return getRelativeKeys() || getRelativeQueries(); }
    /// What has an element for each sentence of the batch in front.
    ::mlir::Value getOfSentences() {
      return hasRaggedKeys() ? getLengths() : getKey();
    }
  }];
}

def LookupOp : Transformer_Op<"lookup", [
      DeclareOpInterfaceMethods<MemoryEffectsOpInterface>
    ]> {
  let summary = "an element of a table inside a region of attention";
  let description = [{
    `table[indices]`: a scalar, or a vector when the last index is left out.
    Slopes, relative biases and the vectors of an additive score are tables.
    Indices are i32; one outside of the table is limited to it: below 0 it is the
    first, behind the end the last.

    ```mlir
    %slope = transformer.lookup %slopes[%h] : tensor<8xf32> -> f32
    %v = transformer.lookup %vectors[%h] : tensor<8x64xf32> -> vector<64xf32>
    ```

    Constraints:
    - (C1) as many indices as the table has dimensions for a scalar, one fewer
      for a vector, whose length is the last dimension.
    - (C2) no dimension of the table is 0.
  }];
  let arguments = (ins Transformer_Values:$table, Variadic<I32>:$indices);
  let results = (outs AnyTypeOf<[F32, VectorOfRankAndType<[1], [F32]>]>:$result);
  let assemblyFormat = [{
    $table `[` $indices `]` attr-dict `:` type($table) `->` type($result)
  }];
  let hasVerifier = 1;
}

def YieldOp : Transformer_Op<"yield", [
      Pure, Terminator, ParentOneOf<[
        "AttentionOp", "LinearAttentionOp", "LinearAttentionReadOp",
        "LinearAttentionSumsOp", "MaskWhereOp", "OnlineProbabilitiesOp"]>
    ]> {
  let summary = "ends a region of attention or of a mask";
  let arguments = (ins AnyTypeOf<[F32, I1]>:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

#endif // HEDDLE_DIALECT_ATTENTION
