//===- Online.td - Attention as tiles of keys -----------------*- tablegen -*-===//
//
// `transformer-tile-attention` lowers attention to these ops, and emitters turn them
// into vector code (flash attention, arXiv:2205.14135). Queries are computed in
// blocks or one by one. Keys are read in tiles, each once, whatever their number: no
// matrix of scores exists.
//
// Factors are f32 or short floats, that is bf16 or f16; scores, sums and totals are
// f32. A block of short floats is stored in pairs along the axis of summation, as
// MultiplyAdd (lib/Kernels/Vectors) takes them: queries [ceil(width / 2), queries, 2],
// with zeros at an odd end, and probabilities [keys / 2, queries, 2]. Groups of 32 keys,
// below, are for levels with tile instructions (AMX). Keys and values that are stored
// as i8 have a scale a row, and are multiplied as f32.
//
// An op says whether it computes a `block` of queries, a column each, or the query of
// one `row`, whose width or keys are lanes: each has emitters of its own.
//
// Ops pass states in scratch memory. Its shape follows from the ISA level: the columns
// of a block of queries, or the lanes of the vector over which one query is spread.
// Inside an op, emitters keep states in registers if they fit. GPUs do not use these
// ops: there the states of queries are registers of the threads that share a fragment,
// and tiles are copied while others are multiplied, so emit-grids lowers attention as
// a whole.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECT_ONLINE
#define HEDDLE_DIALECT_ONLINE

include "dialect/attention/Attention.td"

def Transformer_OnlineKindCases : Transformer_Cases<"OnlineKind", [
    I32EnumAttrCase<"Block", 0, "block">, I32EnumAttrCase<"Row", 1, "row">
  ]>;
def Transformer_OnlineKind : Transformer_Enum<Transformer_OnlineKindCases, "online_kind"> {
  let summary = "a block of queries, or the query of one row";
}

/// Rows of one head; the last dimension is its width.
def Transformer_HeadRows : MemRefRankOf<[F32, BF16, F16, I8], [2]>;
/// Rows of one head, or pairs of them.
def Transformer_PairedRows : MemRefRankOf<[F32, BF16, F16, I8], [2, 3]>;
/// The scales of rows of integers, [n, 1].
def Transformer_RowScales : MemRefRankOf<[F32], [2]>;
/// [size, queries] for a block of queries, [size] for one query.
def Transformer_QuerySums : MemRefRankOf<[F32], [1, 2]>;
/// The same, or a block of short floats in pairs.
def Transformer_Columns : MemRefRankOf<[F32, BF16, F16], [1, 2, 3]>;
def Transformer_State : MemRefRankOf<[F32], [2]>;
/// Keys of a tile.
def Transformer_Copies : MemRefRankOf<[F32], [2]>;
/// Vectors of relative positions of one head.
def Transformer_RelativeVectors : MemRefRankOf<[F32], [2]>;
/// [slots, width, keys of a group], and what each slot holds.
def Transformer_KeyGroups : MemRefRankOf<[BF16], [3]>;
def Transformer_Slots : MemRefRankOf<[Index], [2]>;
/// Bounds of runs: begin, end, begin and end of the full part.
def Transformer_Runs : MemRefRankOf<[Index], [2]>;

/// Positions of keys, with room for a vector behind the last one.
def Transformer_KeyList : MemRefRankOf<[I32], [1]>;

def TileRunsOp : Transformer_Op<"mask.tile_runs", [AttrSizedOperandSegments]> {
  let summary = "the tiles of keys that a block of queries touches";
  let description = [{
    Writes runs of tiles to the rows of `runs`, [begin, end, full begin, full end], in
    ascending order and without overlap. Tiles of `tile` keys count from key 0; the
    ranges of the mask's op are rounded outward to tiles. No query sees a key outside
    of all runs; every query sees all keys of a run's full part. A run can be empty.

    With `strided`, queries and keys are numbered within one remainder: number k is
    position remainder + stride k. The mask sees only these positions.

    There may be more runs than rows. The results are the number of runs written and
    the key from which to continue: the end of the keys after the last run. A closed
    form writes all of its runs at once. Without a mask there is one run, which is
    full.

    ```mlir
    %count, %next = transformer.mask.tile_runs mask(%mask) of %b, %h
        queries %i to %end keys %from to %keys into %runs {tile = 8 : i64}
        : memref<8x4xindex>
    ```

    Constraints:
    - (C1) `runs` has four columns and a row for each range of a closed form.
  }];
  let arguments = (ins Optional<Transformer_Mask>:$mask, Index:$batch,
                       Index:$head, Index:$queryBegin, Index:$queryEnd,
                       Index:$keyBegin, Index:$keyEnd,
                       Optional<Index>:$remainder, Transformer_Runs:$runs,
                       Transformer_Count:$tile,
                       DefaultValuedAttr<Transformer_Count, "1">:$stride);
  let results = (outs Index:$count, Index:$next);
  let assemblyFormat = [{
    (`mask` `(` $mask^ `)`)? `of` $batch `,` $head
        `queries` $queryBegin `to` $queryEnd `keys` $keyBegin `to` $keyEnd
        (`strided` `(` $remainder^ `)`)? `into` $runs attr-dict `:` type($runs)
  }];
  let builders = [OpBuilder<(ins "const ::heddle::TileRunsSpec &":$spec)>];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The op that builds the mask, or null.
    ::heddle::MaskOpInterface getMaskOp();
  }];
}

def ListSizeOp : Transformer_Op<"mask.list_size", [Pure]> {
  let summary = "how many places the list of a query has";
  let description = [{
    The answer of KeyListOpInterface for the query at a position.

    ```mlir
    %size = transformer.mask.list_size %keys of %b, %h, %i
    ```

    Constraints:
    - (C1) the mask is one with lists.
  }];
  let arguments = (ins Transformer_Mask:$keys, Index:$batch, Index:$head,
                       Index:$query);
  let results = (outs Index:$size);
  let assemblyFormat = "$keys `of` $batch `,` $head `,` $query attr-dict";
  let hasVerifier = 1;
}

def ListedKeysOp : Transformer_Op<"mask.listed_keys"> {
  let summary = "the keys that a list has for a query";
  let description = [{
    Reads the places [begin, end) of a query's list and writes to `list` the keys that
    exist, lie in [key begin, key end) and are in the mask of `where`. The result
    counts them. If there are any, the last one is repeated after them for as many
    places as two vectors have lanes: kernels read whole vectors of keys, and
    prefetch.

    ```mlir
    %count = transformer.mask.listed_keys %keys[%at to %end] where(%mask)
        of %b, %h, %i keys %c0 to %n into %list : memref<288xi32>
    ```

    Constraints:
    - (C1) the mask is one with lists.
  }];
  let arguments = (ins Transformer_Mask:$keys, Index:$begin, Index:$end,
                       Transformer_Mask:$where, Index:$batch, Index:$head,
                       Index:$query, Index:$keyBegin, Index:$keyEnd,
                       Transformer_KeyList:$list);
  let results = (outs Index:$count);
  let assemblyFormat = [{
    $keys `[` $begin `to` $end `]` `where` `(` $where `)`
        `of` $batch `,` $head `,` $query `keys` $keyBegin `to` $keyEnd
        `into` $list attr-dict `:` type($list)
  }];
  let builders = [OpBuilder<(ins "const ::heddle::ListedKeysSpec &":$spec)>];
  let hasVerifier = 1;
}

def OnlineInitOp : Transformer_Op<"online.init"> {
  let summary = "queries in columns; no key seen yet";
  let description = [{
    queries[d, l] = scale * rows[first + l, d]; sums, and the total of probabilities in
    `state`, become 0. Columns beyond the last row repeat that row, so that they hold no
    values of their own.

    A `row` has a single query, rows[first], with its width in lanes. That of short
    floats is a view of the row and is not copied. A similarity region reads queries in
    f32, whatever the type of rows.

    ```mlir
    transformer.online.init block %rows[%i] into %queries, %sums, %state
        {scale = 0.125 : f32} : memref<?x64xf32>, memref<64x32xf32>,
        memref<64x32xf32>, memref<4x32xf32>
    ```

    Constraints:
    - (C1) queries and sums have one number of columns, none for a row, and queries
      the width of rows; state is [4, columns], or [4, lanes] for a row.
    - (C2) queries have the element type of rows, or are f32; the scale of rows of
      short floats is 1.
  }];
  let arguments = (ins Transformer_OnlineKind:$kind,
                       Transformer_HeadRows:$rows, Index:$first,
                       Transformer_Columns:$queries, Transformer_QuerySums:$sums,
                       Transformer_State:$state, F32Attr:$scale);
  let assemblyFormat = [{
    $kind $rows `[` $first `]` `into` $queries `,` $sums `,` $state attr-dict
        `:` type($rows) `,` type($queries) `,` type($sums) `,` type($state)
  }];
  let builders = [
    OpBuilder<(ins "const ::heddle::QueryScratch &":$scratch,
                   "::mlir::Value":$rows, "::mlir::Value":$first,
                   "float":$scale)>
  ];
  let hasVerifier = 1;
}

def OnlineResumeOp : Transformer_Op<"online.resume"> {
  let summary = "one query of a block goes on by itself";
  let description = [{
    Copies the sums and the state of one column of a block to those of a single query.

    ```mlir
    transformer.online.resume %sums, %state [%column] into %own, %ownState
        : memref<64x32xf32>, memref<4x32xf32>, memref<64xf32>, memref<4x16xf32>
    ```

    Constraints:
    - (C1) both sums have one width; states are [4, columns] and [4, lanes].
  }];
  let arguments = (ins Transformer_QuerySums:$sums, Transformer_State:$state,
                       Index:$column, Transformer_QuerySums:$own,
                       Transformer_State:$ownState);
  let assemblyFormat = [{
    $sums `,` $state `[` $column `]` `into` $own `,` $ownState attr-dict
        `:` type($sums) `,` type($state) `,` type($own) `,` type($ownState)
  }];
  let hasVerifier = 1;
}

def OnlineMergeOp : Transformer_Op<"online.merge"> {
  let summary = "what a query has of some keys joins what it has of others";
  let description = [{
    Adds the sums and the total of one row to those of another, which are of the same
    query and of other keys. With softmax the reference point of the result is that of
    both with the larger score, and the sums of the other one are rescaled to it, as
    `online.probabilities` does. Sums that have seen no key change nothing.

    ```mlir
    transformer.online.merge %sums, %state into %own, %ownState
        {factor = 1.0 : f32} : memref<64xf32>, memref<4x16xf32>, memref<64xf32>,
        memref<4x16xf32>
    ```

    Constraints:
    - (C1) both sums have one width; states are [4, lanes].
  }];
  let arguments = (ins Transformer_QuerySums:$sums, Transformer_State:$state,
                       Transformer_QuerySums:$own, Transformer_State:$ownState,
                       F32Attr:$factor,
                       DefaultValuedAttr<Transformer_Normalizer,
                                  "::heddle::Normalizer::Softmax">:$normalizer);
  let assemblyFormat = [{
    $sums `,` $state `into` $own `,` $ownState attr-dict
        `:` type($sums) `,` type($state) `,` type($own) `,` type($ownState)
  }];
  let hasVerifier = 1;
}

def OnlineProbabilitiesOp : Transformer_Op<"online.probabilities", [
      AttrSizedOperandSegments
    ]> {
  let summary = "attention probabilities of one tile of keys";
  let description = [{
    For the keys j in [begin, end) of a tile and the queries of the block:

        s_j = score(scale k_j . q),  w_j = 2^((s_j - offset) factor - shift)

    A `similarity` region replaces k_j . q by its own function of q and k_j. With
    `relative_keys` a or `relative_queries` b, [width, 2 far + 1] of the head, it is
    k_j . q + q . a_r + k_j . b_r, see `attention`. The reference point factor offset +
    shift, which the op keeps in `state` beside the total of the probabilities, is close
    to the largest factor s so far and is the same for all keys of a query. It moves
    only if factor s exceeds it by 8, so that probabilities stay below 2^9; sums and
    total are then rescaled. Either shift or offset is 0, so that large scores lose no
    precision. Each query moves its own reference point, at tiles of `tile` keys counted
    from key 0: values of other queries do not change its bits. Normalizers other than
    softmax have no maximum: w_j = s_j, or the result of the normalizer's region.

    Probabilities of short floats are rounded before they are added to the total. With
    f16, probabilities of normalizers other than softmax are f32. Shifts of short floats
    are whole numbers: a probability has the same digits whatever its shift, and
    rescaling does not round it again (f16: as long as it stays above 2^-14). The scores
    of a `row` are stored in `scores` until their maximum is known. On a level with tile
    instructions the scores of a block pass through `scores`, 32 keys at a time; a last
    group of fewer keys is copied to `last`, whose rows tiles may read to the end.

    probabilities[j - begin'] is w_j, or -0.0 if (b, h, query, j) is not in the mask;
    all keys in [full begin, full end) are. begin' is begin rounded down to tiles of
    `tile` keys, whose scores stay in registers until they are probabilities.

    Where position j is stored:

    - row j of `keys`;
    - with `ring`, row j - origin, or one lap earlier if that is beyond the last row;
      the first `pinned` positions have rows of their own, before the ring;
    - with `through`, row j of cache history[j]: keys are several caches of `of` rows
      each;
    - with `listed`, key j is number j of a list of positions;
    - with `strided`, queries, keys and rows count the positions remainder + stride j.

    While the keys of a list are scored, the same rows of `fetched`, their values, are
    prefetched: the hardware cannot foresee them.

    A similarity region and products with relative keys and queries see f32. Keys of
    another layout are copied to `copies`, a tile at a time: short floats are widened,
    and for a single query, whose lanes are keys, each key becomes a column. For a
    block of queries so are keys of i8, multiplied by their `scales`. For a single
    query a scale multiplies the products of its key.

    ```mlir
    transformer.online.probabilities block %queries, %keys[%j to %end] full %from to %to
        mask(%mask) of %b, %h, %i into %probabilities, %sums, %state
        {factor = 1.0 : f32, tile = 8 : i64} : ...
    ```

    Constraints:
    - (C1) queries, probabilities and sums have one number of columns, none for a row,
      and queries the width of keys, or any before a similarity region; probabilities
      has a row for each key of a tile.
    - (C2) a normalizer region is given exactly if the normalizer is one.
    - (C3) queries, keys and probabilities have one element type, but queries that a
      similarity region or relative keys read, probabilities beside f16 that are
      none of softmax, and both beside keys of i8 are f32. Tiles of short floats have an even number of keys; with
      a row of them stand scores [keys of a tile].
    - (C4) with a block of bf16 may stand scores [32, queries] and last
      [32, width of keys], both or none; then the width is a multiple of 32, and
      32 one of the tile. Beside a similarity region or relative keys stands neither.
    - (C5) a similarity region is one of attention, for these widths.
    - (C6) copies stand with what sees f32, for a row and for short floats, and with
      a block beside keys of i8: [width of keys, tile] for a row, [tile, width of
      keys] for a block.
    - (C7) fetched stands with a list, for a row.
    - (C8) a history and the rows of a cache stand together, for a row and without
      `strided`.
    - (C9) relative keys and queries have the width of keys and one shape; they stand
      with a block, without `strided` and without a similarity region.
    - (C10) keys have scales [rows, 1] exactly if they are i8.
  }];
  let arguments = (ins Transformer_OnlineKind:$kind,
                       Transformer_Columns:$queries, Transformer_HeadRows:$keys,
                       Optional<Transformer_RowScales>:$scales, Index:$begin, Index:$end, Index:$fullBegin,
                       Index:$fullEnd, Optional<Transformer_Mask>:$mask,
                       Index:$batch, Index:$head, Index:$first,
                       Optional<Index>:$origin,
                       Optional<Transformer_KeyList>:$history,
                       Optional<Index>:$cacheRows,
                       Optional<Transformer_KeyList>:$list,
                       Optional<Transformer_HeadRows>:$fetched,
                       Optional<Index>:$remainder,
                       Optional<Transformer_QuerySums>:$scores,
                       Optional<Transformer_HeadRows>:$last,
                       Optional<Transformer_Copies>:$copies,
                       Optional<Transformer_RelativeVectors>:$relative_keys,
                       Optional<Transformer_RelativeVectors>:$relative_queries,
                       Transformer_Columns:$probabilities, Transformer_QuerySums:$sums,
                       Transformer_State:$state, F32Attr:$factor,
                       DefaultValuedAttr<F32Attr, "1.0f">:$scale,
                       Transformer_Count:$tile,
                       DefaultValuedAttr<I64Attr, "0">:$pinned,
                       DefaultValuedAttr<Transformer_Count, "1">:$stride,
                       DefaultValuedAttr<Transformer_Normalizer,
                                  "::heddle::Normalizer::Softmax">:$normalizer);
  let regions = (region MaxSizedRegion<1>:$similarity,
                        MaxSizedRegion<1>:$score,
                        MaxSizedRegion<1>:$normalizerRegion);
  let assemblyFormat = [{
    $kind $queries `,` $keys `[` $begin `to` $end `]` `full` $fullBegin `to` $fullEnd
        (`scales` `(` $scales^ `:` type($scales) `)`)?
        (`mask` `(` $mask^ `)`)? `of` $batch `,` $head `,` $first
        (`ring` $origin^)?
        (`through` `(` $history^ `of` $cacheRows `:` type($history) `)`)?
        (`listed` `(` $list^ `:` type($list) `)`)?
        (`fetched` `(` $fetched^ `:` type($fetched) `)`)?
        (`strided` `(` $remainder^ `)`)?
        (`scores` `(` $scores^ `:` type($scores) `)`)?
        (`last` `(` $last^ `:` type($last) `)`)?
        (`copies` `(` $copies^ `:` type($copies) `)`)?
        (`relative_keys` `(` $relative_keys^ `:` type($relative_keys) `)`)?
        (`relative_queries` `(` $relative_queries^ `:` type($relative_queries) `)`)?
        `into` $probabilities `,` $sums `,` $state attr-dict
        (`similarity` $similarity^)? (`score` $score^)?
        `` custom<Normalizer>($normalizer, $normalizerRegion)
        `:` type($queries) `,` type($keys) `,` type($probabilities) `,` type($sums)
        `,` type($state)
  }];
  let builders = [OpBuilder<(ins "const ::heddle::OnlineProbabilitiesSpec &":$spec)>];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The op that builds the mask, or null.
    ::heddle::MaskOpInterface getMaskOp();
    /// Whether scores have products with vectors of relative positions.
    bool isRelative() { return getRelativeKeys() || getRelativeQueries(); }
    /// Whether queries and keys are read as f32, whatever type these have.
    bool readsF32() { return isRelative() || !getSimilarity().empty(); }
  }];
}

def OnlinePairsOp : Transformer_Op<"online.pairs"> {
  let summary = "the values of two keys side by side";
  let description = [{
        pairs[(j - begin) / 2, d, (j - begin) mod 2] = values[j, d]

    for the keys j in [begin, end), up to a whole pair; rows after the last one are
    zeros. Made once per tile, for sums of short floats of a block of queries.

    ```mlir
    transformer.online.pairs %values[%j to %end] into %pairs
        : memref<?x64xbf16>, memref<128x64x2xbf16>
    ```

    Constraints:
    - (C1) both are of one short float; pairs is [keys / 2, width of values, 2].
  }];
  let arguments = (ins Transformer_HeadRows:$values, Index:$begin, Index:$end,
                       Transformer_PairedRows:$pairs);
  let assemblyFormat = [{
    $values `[` $begin `to` $end `]` `into` $pairs attr-dict
        `:` type($values) `,` type($pairs)
  }];
  let hasVerifier = 1;
}

def OnlineWidenOp : Transformer_Op<"online.widen"> {
  let summary = "the values of integers of a tile as f32";
  let description = [{
        copy[j - begin, d] = scales[j] values[j, d]

    for the keys j in [begin, end) that are rows. Made once per tile, for sums of a
    block of queries, which read each value several times.

    ```mlir
    transformer.online.widen %values[%j to %end] scales(%scales) into %copy
        : memref<?x64xi8>, memref<?x1xf32>, memref<256x64xf32>
    ```

    Constraints:
    - (C1) values are i8 and scales [rows, 1]; copy is f32 [keys, width of values].
  }];
  let arguments = (ins Transformer_HeadRows:$values, Index:$begin, Index:$end,
                       Transformer_RowScales:$scales,
                       Transformer_Copies:$copy);
  let assemblyFormat = [{
    $values `[` $begin `to` $end `]` `scales` `(` $scales `)` `into` $copy
        attr-dict `:` type($values) `,` type($scales) `,` type($copy)
  }];
  let hasVerifier = 1;
}

def OnlineColumnsOp : Transformer_Op<"online.columns"> {
  let summary = "the values of groups of 32 keys, a width each";
  let description = [{
        columns[(j / 32) mod slots, d, j mod 32] = values[j, d]

    for the groups of keys that [begin, end) touches, which tile instructions add to the
    sums of a block of bf16. Rows after the last one, infinities and NaNs are replaced
    by zeros. `slots` holds for each slot the number of its group, 2^32 head + j / 32
    (-1: none), and whether such a value was replaced. A group that is in its slot
    already is not copied again.

    ```mlir
    transformer.online.columns %values[%j to %end] of %head into %columns, %slots
        : memref<?x64xbf16>, memref<64x64x32xbf16>, memref<64x2xindex>
    ```

    Constraints:
    - (C1) values are bf16; columns is [slots, width of values, 32], slots
      [slots, 2], and the width a multiple of 32.
  }];
  let arguments = (ins Transformer_HeadRows:$values, Index:$begin, Index:$end,
                       Index:$head, Transformer_KeyGroups:$columns,
                       Transformer_Slots:$slots);
  let assemblyFormat = [{
    $values `[` $begin `to` $end `]` `of` $head `into` $columns `,` $slots
        attr-dict `:` type($values) `,` type($columns) `,` type($slots)
  }];
  let hasVerifier = 1;
}

def OnlineUpdateOp : Transformer_Op<"online.update", [
      AttrSizedOperandSegments
    ]> {
  let summary = "adds the values of one tile of keys, multiplied by probabilities";
  let description = [{
        sums[d, query] += probabilities[j - begin', query] values[j, d]

    for the keys j in [begin, end), ascending. A probability of -0.0 adds nothing,
    whatever the value. Rows are addressed as in `transformer.online.probabilities`. If
    the probabilities of a block are short floats, values come in pairs, from
    `online.pairs`, or in groups, from `online.columns`: a tile then begins with a
    group, and groups are added whole, with probabilities of -0.0 after the last key.
    Probabilities of f32 widen values of f16, and of i8 for a row, whose `scales`
    multiply probabilities. A block reads such values from the copy of
    `online.widen`, which `ring` has begin at the tile.

    ```mlir
    transformer.online.update block %probabilities, %values[%j to %end] full %from to %to
        into %sums {tile = 8 : i64}
        : memref<256x32xf32>, memref<?x64xf32>, memref<64x32xf32>
    ```

    Constraints:
    - (C1) probabilities and sums have one number of columns, none for a row, sums the
      width of values.
    - (C2) probabilities and values have one element type, or f32 and f16, or, for a
      row, f32 and i8, which then have scales [rows, 1]; probabilities of a block that are short floats have values [keys / 2, width, 2], or rows and
      groups of them.
    - (C3) columns and slots stand together, as in `online.columns`.
    - (C4) a history and the rows of a cache stand together, for a row.
  }];
  let arguments = (ins Transformer_OnlineKind:$kind,
                       Transformer_Columns:$probabilities,
                       Transformer_PairedRows:$values,
                       Optional<Transformer_RowScales>:$scales,
                       Index:$begin, Index:$end,
                       Index:$fullBegin, Index:$fullEnd,
                       Optional<Index>:$origin,
                       Optional<Transformer_KeyList>:$history,
                       Optional<Index>:$cacheRows,
                       Optional<Transformer_KeyList>:$list,
                       Optional<Transformer_KeyGroups>:$columns,
                       Optional<Transformer_Slots>:$slots,
                       Transformer_QuerySums:$sums, Transformer_Count:$tile,
                       DefaultValuedAttr<I64Attr, "0">:$pinned);
  let assemblyFormat = [{
    $kind $probabilities `,` $values `[` $begin `to` $end `]`
        `full` $fullBegin `to` $fullEnd
        (`scales` `(` $scales^ `:` type($scales) `)`)? (`ring` $origin^)?
        (`through` `(` $history^ `of` $cacheRows `:` type($history) `)`)?
        (`listed` `(` $list^ `:` type($list) `)`)?
        (`columns` `(` $columns^ `:` type($columns) `)`)?
        (`slots` `(` $slots^ `:` type($slots) `)`)? `into` $sums
        attr-dict `:` type($probabilities) `,` type($values) `,` type($sums)
  }];
  let builders = [OpBuilder<(ins "const ::heddle::OnlineUpdateSpec &":$spec)>];
  let hasVerifier = 1;
}

def OnlineFinishOp : Transformer_Op<"online.finish"> {
  let summary = "rows of the result";
  let description = [{
    rows[first + l, d] = sums[d, l] / total[l], or 0 if the total is 0, for the
    columns l that are rows. Without a normalizer (`none`) sums are the result.
    Rows of short floats are rounded to them.

    ```mlir
    transformer.online.finish block %sums, %state into %rows[%i]
        : memref<64x32xf32>, memref<4x32xf32>, memref<?x64xf32>
    ```

    Constraints:
    - (C1) sums has the width of rows, and columns unless it is of a row; state is
      [4, columns], or [4, lanes] for a row.
  }];
  let arguments = (ins Transformer_OnlineKind:$kind,
                       Transformer_QuerySums:$sums, Transformer_State:$state,
                       Transformer_HeadRows:$rows, Index:$first,
                       DefaultValuedAttr<Transformer_Normalizer,
                                  "::heddle::Normalizer::Softmax">:$normalizer);
  let assemblyFormat = [{
    $kind $sums `,` $state `into` $rows `[` $first `]` attr-dict
        `:` type($sums) `,` type($state) `,` type($rows)
  }];
  let builders = [
    OpBuilder<(ins "const ::heddle::QueryScratch &":$scratch,
                   "::mlir::Value":$rows, "::mlir::Value":$first,
                   "::heddle::Normalizer":$normalizer)>
  ];
  let hasVerifier = 1;
}

#endif // HEDDLE_DIALECT_ONLINE
