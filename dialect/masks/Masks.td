//===- Masks.td - The mask algebra ----------------------------*- tablegen -*-===//

#ifndef HEDDLE_DIALECT_MASKS
#define HEDDLE_DIALECT_MASKS

include "dialect/Base.td"

/// A number of positions, heads or blocks: below 2^31, since coordinates are i32.
def Transformer_MaskCount
    : ConfinedAttr<I64Attr, [IntPositive, IntMaxValue<0x7fffffff>]>;
def Transformer_MaskTable
    : Transformer_ValuesOf<[I8, I32], "i8 or i32">;

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

def MaskFullOp : Transformer_MaskOp<"full", [], ["knowsQueries"]> {
  let summary = "every pair";
  let assemblyFormat = "attr-dict";
}

def MaskEmptyOp : Transformer_MaskOp<"empty", [], ["knowsQueries"]> {
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
    : Transformer_MaskOp<"padding", [],
                         ["knowsQueries", "operandsOfSentences"]> {
  let summary = "keys inside the batch element's length: j < lengths[b]";
  let description = [{
    ```mlir
    %valid = transformer.mask.padding %lengths : tensor<?xi32>
    ```
  }];
  let arguments = (ins Transformer_PerRow:$lengths);
  let assemblyFormat = "$lengths attr-dict `:` type($lengths)";
}

def MaskPrefixOp : Transformer_MaskOp<"prefix", [], ["knowsQueries"]> {
  let summary = "the first keys, for every query: j < length";
  let description = [{
    `or(causal, prefix)` is the mask of a prefix language model (Raffel et al.
    2020, arXiv:1910.10683, section 3.2.1).

    ```mlir
    %p = transformer.mask.prefix [length = 16]
    ```
  }];
  let arguments = (ins Transformer_MaskCount:$length);
  let assemblyFormat = "` ` `[` `length` `=` $length `]` attr-dict";
}

def MaskWindowOp
    : Transformer_MaskOp<"window", [], ["stride", "numHeads", "forHead"]> {
  let summary = "a sliding window, dilated per head";
  let description = [{
    With d the dilation of head h, l and r its extents:

        -r d <= i - j <= l d   and   d divides i - j

    as in Longformer (arXiv:2004.05150, section 3.1). Each of the three is one
    number for all heads, or a list with one for each.

    ```mlir
    %w = transformer.mask.window [left = 128, right = 0]
    %d = transformer.mask.window [left = 2, right = [2, 2, 0, 0], dilation = [1, 1, 2, 4]]
    ```

    Constraints:
    - (C1) left >= 0 and right >= 0.
    - (C2) every dilation >= 1; lists have at least one element, and one length.
    - (C3) left d, right d and d are below 2^31: coordinates are i32.
  }];
  let arguments = (ins DenseI64ArrayAttr:$left, DenseI64ArrayAttr:$right,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{1}">:$dilation);
  let builders = [OpBuilder<(ins "int64_t":$left, "int64_t":$right,
                                 CArg<"::llvm::ArrayRef<int64_t>", "{1}">:$dilation), [{
    build($_builder, $_state, ::llvm::ArrayRef<int64_t>(left),
          ::llvm::ArrayRef<int64_t>(right), dilation);
  }]>];
  let assemblyFormat = [{
    ` ` `[` `left` `=` custom<PerHead>($left) `,`
        `right` `=` custom<PerHead>($right)
        (`,` `dilation` `=` custom<PerHead>($dilation)^)? `]` attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// How far the window of any head reaches.
    int64_t getLookback();
    int64_t getLookahead();
  }];
}

def MaskGlobalOp
    : Transformer_MaskOp<"global", [],
                         ["segmentAt", "knowsQueries", "operandsOfSentences"]> {
  let summary = "rows and columns of some tokens";
  let description = [{
    Tokens of the set see all keys, and all queries see them: i in G or j in G, as
    in Longformer (arXiv:2004.05150, section 3.1); with `columns` the latter alone.
    G is [0, count), or what a list holds: tokens [k] of all sentences, or
    [batch, k], ascending. Numbers that are no positions of a sentence mean nothing
    there: they fill lists up.

    ```mlir
    %g = transformer.mask.global [count = 2]
    %t = transformer.mask.global columns of %tokens : tensor<?x?xi32>
    ```

    A query of the set sees keys behind it, so that a decoder has no step form
    under it alone, see `attention`: `and(causal, global)` has one.

    Constraints:
    - (C1) either a count or tokens are given.
    - (C2) tokens have rank 1 or 2.
    - (C3) constant tokens ascend, as they are looked up by halving: none stands
      before a smaller one, and none from 0 to 2^31 - 2 twice.
  }];
  let arguments = (ins OptionalAttr<Transformer_MaskCount>:$count,
                       Optional<Transformer_Ids>:$tokens, UnitAttr:$columns);
  let assemblyFormat = [{
    (`columns` $columns^)? (` ` `[` `count` `=` $count^ `]`)?
        (`of` $tokens^ `:` type($tokens))? attr-dict
  }];
  let hasVerifier = 1;
}

def MaskSegmentsOp
    : Transformer_MaskOp<"segments", [], ["operandsOfSentences"]> {
  let summary = "keys of the query's own segment";
  let description = [{
        ids[b, i] = ids[b, j]

    with ids [batch, n] that do not decrease inside of a sentence: documents that
    were packed into one, sentences of a document, blocks of any length. Behind a
    sentence's end ids may be anything, if `padding` leaves those keys out. If
    ids do decrease, which keys of one id a query sees is not defined: tiles are found
    by the ids of their ends.

    ```mlir
    %s = transformer.mask.segments %ids : tensor<?x?xi32>
    ```

    Constraints:
    - (C1) ids have rank 2, and not 0 columns.
  }];
  let arguments = (ins Transformer_Ids:$ids);
  let assemblyFormat = "$ids attr-dict `:` type($ids)";
  let hasVerifier = 1;
}

def MaskBlocksOp : Transformer_MaskOp<"blocks", [], ["segmentAt"]> {
  let summary = "listed blocks of keys for each block of queries";
  let description = [{
    Block I = i / block of queries sees the blocks of keys

        blocks[offsets[I]], ..., blocks[offsets[I + 1] - 1]

    which ascend: a block-sparse layout (Child et al. 2019, arXiv:1904.10509) in
    compressed rows. Blocks of queries that have no row see nothing. Of lists that
    are not constant the same holds as of those of `pairs`.

    ```mlir
    %m = transformer.mask.blocks %offsets, %blocks [block = 64]
        : tensor<?xi32>, tensor<?xi32>
    ```

    Constraints:
    - (C1) there is an offset; constant ones do not decrease, from 0 or more to
      the number of blocks.
    - (C2) constant blocks ascend in each row, as they are looked up by halving.
  }];
  let arguments = (ins Transformer_PerRow:$offsets, Transformer_PerRow:$blocks,
                       Transformer_MaskCount:$block);
  let assemblyFormat = [{
    $offsets `,` $blocks `[` `block` `=` $block `]` attr-dict
        `:` type($offsets) `,` type($blocks)
  }];
  let hasVerifier = 1;
}

def MaskPairsOp
    : Transformer_MaskOp<"pairs", [DeclareOpInterfaceMethods<KeyListOpInterface>]> {
  let summary = "listed keys for each query: any neighbourhood N(i)";
  let description = [{
    Query i sees the keys

        keys[offsets[i]], ..., keys[offsets[i + 1] - 1]

    which ascend, in compressed rows; queries that have no row see nothing. Keys
    that a sentence does not have are left out. Single keys are gathered: the work
    is that of the pairs.

    Lists that are not constant are asked for the same, but not checked. An offset
    below 0 or behind the keys is limited to their ends, and a row that ends before
    it begins is empty; if keys of a row do not ascend, it is not defined which
    of them the query sees, and how often.

    ```mlir
    %m = transformer.mask.pairs %offsets, %keys : tensor<?xi32>, tensor<?xi32>
    ```

    Constraints:
    - (C1) there is an offset; constant ones do not decrease, from 0 or more to
      the number of keys.
    - (C2) constant keys ascend in each row, in which a key counts once.
  }];
  let arguments = (ins Transformer_PerRow:$offsets, Transformer_PerRow:$keys);
  let assemblyFormat = [{
    $offsets `,` $keys attr-dict `:` type($offsets) `,` type($keys)
  }];
  let hasVerifier = 1;
}

def MaskDenseOp
    : Transformer_MaskOp<"dense", [], ["operandsOfSentences", "numHeads"]> {
  let summary = "pairs that a table marks";
  let description = [{
    The pair is in the mask if the table is not 0; what lies outside of the
    table is not. Tables are [n, m], [batch, n, m] or [batch, heads, n, m]. All
    keys are visited: of a mask that has a structure, say it.

    ```mlir
    %m = transformer.mask.dense %table : tensor<?x?xi8>
    ```

    Constraints:
    - (C1) tables have rank 2, 3 or 4, no dimension of 0, and of rank 4 a static
      number of heads, which attention compares with its own.
  }];
  let arguments = (ins Transformer_MaskTable:$table);
  let assemblyFormat = "$table attr-dict `:` type($table)";
  let hasVerifier = 1;
}

def MaskWhereOp : Transformer_MaskOp<"where"> {
  let summary = "pairs that satisfy a predicate";
  let description = [{
    Any predicate of sentence, head, query and key, all i32: elementwise ops of
    arith, which are total functions as in the regions of attention, and
    `transformer.lookup` of f32 tables. With `within` it holds in that window at
    most, outside of which nothing is evaluated; without, all keys are visited.

    ```mlir
    %m = transformer.mask.where within [left = 64, right = 0] {
    ^bb0(%b: i32, %h: i32, %i: i32, %j: i32):
      %sum = arith.addi %i, %j : i32
      %even = arith.andi %sum, %one : i32
      %is = arith.cmpi eq, %even, %zero : i32
      transformer.yield %is : i1
    }
    ```

    Constraints:
    - (C1) the region has four arguments of type i32 and yields one i1.
    - (C2) it holds elementwise ops of arith and math and `transformer.lookup`, of
      scalars.
    - (C3) left and right come together, are at least 0 and below 2^31.
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$left, OptionalAttr<I64Attr>:$right);
  let regions = (region SizedRegion<1>:$predicate);
  let assemblyFormat = [{
    (`within` `[` `left` `=` $left^ `,` `right` `=` $right `]`)? $predicate attr-dict
  }];
  let hasRegionVerifier = 1;
}

/// A mask of keys that are drawn.
class Transformer_RandomMaskOp<string mnemonic, list<Trait> traits,
                               list<string> moreMethods>
    : Transformer_MaskOp<mnemonic, traits,
                         !listconcat(["operandsOfSentences"], moreMethods)>;

def MaskRandomBlocksOp
    : Transformer_RandomMaskOp<"random_blocks", [], ["segmentAt"]> {
  let summary = "drawn blocks of keys for each block of queries";
  let description = [{
    Block I = i / block of queries of head h sees `count` blocks of keys, as in
    BigBird (Zaheer et al. 2020, arXiv:2007.14062, section 2). They are drawn from
    the m = ceil(lengths[b] / block) blocks of the sentence, or, without lengths,
    from the m = I blocks before its own. The blocks are cut into `count` parts, of
    which the first m mod count have one more than the others, and each part gives
    one, so that a block is never drawn twice:

        q = m / count,  s = m mod count         (integers)
        first(t) = t q + min(t, s),  size(t) = q + (t < s)
        block(t) = first(t) + (draw(h, I, t) size(t)) / 2^32,   0 <= t < count

    A part without blocks gives none. With all arithmetic modulo 2^32 but that
    product, and `mix` MurmurHash3's finaliser:

        mix(x): x ^= x >> 16; x *= 0x85ebca6b; x ^= x >> 13;
                x *= 0xc2b2ae35; x ^= x >> 16
        draw(h, I, t) = mix(t + mix(I + mix(h + mix(seed))))

    ```mlir
    %r = transformer.mask.random_blocks [block = 64, count = 3, seed = 1]
        of %lengths : tensor<?xi32>
    ```

    Constraints:
    - (C1) the seed is at least 0 and below 2^32.
  }];
  let arguments = (ins Optional<Transformer_PerRow>:$lengths,
                       Transformer_MaskCount:$block, Transformer_MaskCount:$count,
                       I64Attr:$seed);
  let assemblyFormat = [{
    ` ` `[` `block` `=` $block `,` `count` `=` $count `,` `seed` `=` $seed `]`
        (`of` $lengths^ `:` type($lengths))? attr-dict
  }];
  let hasVerifier = 1;
}

def MaskRandomTokensOp
    : Transformer_RandomMaskOp<"random_tokens", [
        DeclareOpInterfaceMethods<KeyListOpInterface>
      ], []> {
  let summary = "drawn keys for each query";
  let description = [{
    Query i of head h sees `count` keys, drawn from the m = lengths[b] keys of the
    sentence, or, without lengths, from the m = i keys before its own: as blocks of
    one key in `transformer.mask.random_blocks`, with draw(h, i, t). Single keys
    are gathered: the work is that of the pairs.

    ```mlir
    %r = transformer.mask.random_tokens [count = 64, seed = 1] of %lengths
        : tensor<?xi32>
    ```

    Constraints:
    - (C1) the seed is at least 0 and below 2^32.
  }];
  let arguments = (ins Optional<Transformer_PerRow>:$lengths,
                       Transformer_MaskCount:$count, I64Attr:$seed);
  let assemblyFormat = [{
    ` ` `[` `count` `=` $count `,` `seed` `=` $seed `]`
        (`of` $lengths^ `:` type($lengths))? attr-dict
  }];
  let hasVerifier = 1;
}

class Transformer_BinaryMaskOp<string mnemonic>
    : Transformer_MaskOp<mnemonic, [Commutative],
                         ["segmentAt", "stride", "knowsQueries"]> {
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

def MaskNotOp : Transformer_MaskOp<"not", [], ["segmentAt", "knowsQueries"]> {
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
