//===- Online.td - Attention as tiles of keys -----------------*- tablegen -*-===//
//
// What `transformer-tile-attention` makes of attention and emitters turn into
// vector code. Queries come in blocks or one by one; keys in tiles, each used
// once, whatever their number: no matrix of scores exists.
//
// What is multiplied is f32, bf16 or f16, of which the last two are short floats
// below; scores, sums and totals are f32. A block of short floats stands in pairs
// of the axis that is summed over, as MultiplyAdd (lib/Kernels) takes them:
// queries [ceil(width / 2), queries, 2], of which zeros fill an odd end, and
// weights [keys / 2, queries, 2]. Levels with tiles multiply 32 keys at once: what
// is said of groups of keys below is for them.
//
// States pass in scratch memory whose shape is the level's that tile-attention was
// told: the columns of a block of queries, or the lanes of a vector over which one
// query is spread. Emitters of the same level keep what fits in registers inside an
// op. GPUs meet none of these ops: there states of queries are registers of the
// lanes that share a fragment, and tiles are copied while others are multiplied, so
// that emit-grids takes attention whole.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECT_ONLINE
#define HEDDLE_DIALECT_ONLINE

include "dialect/attention/Attention.td"

/// Rows of one head; the last dimension is its width.
def Transformer_HeadRows : MemRefRankOf<[F32, BF16, F16], [2]>;
/// Rows of one head, or pairs of them.
def Transformer_PairedRows : MemRefRankOf<[F32, BF16, F16], [2, 3]>;
/// [size, queries] for a block of queries, [size] for one query.
def Transformer_QuerySums : MemRefRankOf<[F32], [1, 2]>;
/// The same, or a block of short floats in pairs.
def Transformer_Columns : MemRefRankOf<[F32, BF16, F16], [1, 2, 3]>;
def Transformer_State : MemRefRankOf<[F32], [2]>;
/// Keys of a tile.
def Transformer_Copies : MemRefRankOf<[F32], [2]>;
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
    Writes runs of tiles in ascending order, none of which overlap: rows
    [begin, end, full begin, full end] of `runs`. Tiles of `tile` keys count from
    key 0; what the mask's op says of the queries is rounded outward to tiles.
    Keys outside all runs belong to no query; those in a run's full part to every
    one. A run can be empty.

    With `strided`, queries and keys count the positions of one remainder: number k
    is position remainder + stride k. The mask sees no others.

    There may be more runs than rows: results are how many runs there are here,
    and the key to go on from, which is the end of keys behind the last run. A
    closed form has all of its runs at once. Without a mask there is one run, all
    of it full.

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
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The op that builds the mask, or null.
    ::heddle::MaskOpInterface getMaskOp();
  }];
}

def ListSizeOp : Transformer_Op<"mask.list_size", [Pure]> {
  let summary = "how many places the list of a query has";
  let description = [{
    What KeyListOpInterface says of the query at a position.

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
    Writes to `list` those of the keys at the places [begin, end) of a query's list
    that exist, stand in [key begin, key end) and are in the mask behind `where`.
    The result counts them. Where there are any, the last one is repeated behind
    them, for as many places as two vectors have lanes: kernels read whole vectors
    of keys, and ahead.

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
  let hasVerifier = 1;
}

def OnlineInitOp : Transformer_Op<"online.init"> {
  let summary = "queries in columns; no key seen yet";
  let description = [{
    queries[d, l] = scale * rows[first + l, d]; sums, and the total of weights in
    `state`, become 0. Columns beyond the last row repeat it, so that they never
    hold anything that a query does not.

    With queries of rank 1 there is one, rows[first], in lanes of its width. One of
    short floats is a view of that row: nothing is copied. A similarity region reads
    queries of f32, whatever rows are.

    ```mlir
    transformer.online.init %rows[%i] into %queries, %sums, %state
        {scale = 0.125 : f32} : memref<?x64xf32>, memref<64x32xf32>,
        memref<64x32xf32>, memref<4x32xf32>
    ```

    Constraints:
    - (C1) queries and sums have one number of columns, and queries the width of
      rows; state is [4, columns], or [4, lanes] for one query.
    - (C2) queries have the element type of rows, or are f32; the scale of rows of
      short floats is 1.
  }];
  let arguments = (ins Transformer_HeadRows:$rows, Index:$first,
                       Transformer_Columns:$queries, Transformer_QuerySums:$sums,
                       Transformer_State:$state, F32Attr:$scale);
  let assemblyFormat = [{
    $rows `[` $first `]` `into` $queries `,` $sums `,` $state attr-dict
        `:` type($rows) `,` type($queries) `,` type($sums) `,` type($state)
  }];
  let hasVerifier = 1;
}

def OnlineResumeOp : Transformer_Op<"online.resume"> {
  let summary = "one query of a block goes on by itself";
  let description = [{
    The sums and the state of a column of a block become those of one query.

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

def OnlineWeightsOp : Transformer_Op<"online.weights", [
      AttrSizedOperandSegments
    ]> {
  let summary = "weights of one tile of keys";
  let description = [{
    For the keys j in [begin, end) of a tile and the queries of the block:

        s_j = score(scale k_j . q),  w_j = 2^((s_j - offset) factor - shift)

    or with what the `similarity` region makes of q and k_j for k_j . q, and
    where factor offset + shift, which the op keeps in `state` with the total of
    the weights, is about the largest factor s so far: common to all keys of a
    query, whatever it is. It only follows where factor s exceeds it by 8, so that
    weights stay below 2^9; then sums and total shrink with it. Either shift or
    offset is 0, so that large scores lose no precision.
    Each query decides for itself, at tiles of `tile` keys counted from key 0: no
    other query's values change its bits. Other normalizers than softmax have no
    maximum: w_j = s_j, or what the normalizer's region makes of it.

    Weights of short floats are rounded, and so added to the total; beside f16 those
    of other normalizers than softmax are f32. Shifts of such are whole numbers: a
    weight has the same digits whatever its shift, and shrinks without rounding
    again, of f16 as far as it stays above 2^-14. The scores of one query wait in
    `scores` until the largest of them is known. Those of a block on a level with
    tiles, 32 keys from `begin` on at a time, pass through `scores`; keys that
    are fewer stand in `last` then, where tiles may read behind them.

    weights[j - begin'] holds w_j, and -0.0 where (b, h, query, j) is not in the
    mask; keys in [full begin, full end) are known to be. begin' is begin rounded
    down to tiles of `tile` keys, whose scores stay in registers until they are
    weights.

    Position j stands in row j of `keys`; with `ring` in row j - origin, or one
    lap earlier where that is behind the last row. The first `pinned` positions
    stand in rows of their own, before the ring. With `through`, rows are those of
    several caches one behind the other, of `of` rows each, and j stands in that
    row of cache history[j]. With `listed`, key j is number j of a list of
    positions; with `strided`, queries and keys count the positions
    remainder + stride j, and so do rows. While keys of a list are scored, the rows
    of `fetched` that belong to them are asked for: their values, which nothing
    else foresees.

    A similarity region sees f32. Keys that do not stand as it reads them pass
    through `copies`, a tile at a time: short floats widened, and for one query,
    whose lanes are keys, with a key a column.

    ```mlir
    transformer.online.weights %queries, %keys[%j to %end] full %from to %to
        mask(%mask) of %b, %h, %i into %weights, %sums, %state
        {factor = 1.0 : f32, tile = 8 : i64} : ...
    ```

    Constraints:
    - (C1) queries, weights and sums have one number of columns, and queries the
      width of keys, or any before a similarity region; weights has a row for each
      key of a tile.
    - (C2) a normalizer region is given exactly where the normalizer is one.
    - (C3) queries, keys and weights have one element type, but queries that a
      similarity region reads, and weights beside f16 that are none of softmax, are
      f32. Tiles of short floats have an even number of keys; with one query of them
      stand scores [keys of a tile].
    - (C4) with a block of bf16 may stand scores [32, queries] and last
      [32, width of keys], both or none; then the width is a multiple of 32, and
      32 one of the tile. Beside a similarity region stands neither.
    - (C5) a similarity region is one of attention, for these widths.
    - (C6) copies stand with a similarity region, for one query and for short
      floats: [width of keys, tile] for one query, [tile, width of keys] for a
      block.
    - (C7) fetched stands with a list, for one query.
    - (C8) a history and the rows of a cache stand together, for one query and
      without `strided`.
  }];
  let arguments = (ins Transformer_Columns:$queries, Transformer_HeadRows:$keys,
                       Index:$begin, Index:$end, Index:$fullBegin,
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
                       Transformer_Columns:$weights, Transformer_QuerySums:$sums,
                       Transformer_State:$state, F32Attr:$factor,
                       DefaultValuedAttr<F32Attr, "1.0f">:$scale,
                       Transformer_Count:$tile,
                       DefaultValuedAttr<I64Attr, "0">:$pinned,
                       DefaultValuedAttr<Transformer_Count, "1">:$stride,
                       DefaultValuedAttr<Transformer_Normalizer,
                                  "::heddle::Normalizer::Softmax">:$normalizer);
  let regions = (region MaxSizedRegion<1>:$similarity,
                        MaxSizedRegion<1>:$score,
                        MaxSizedRegion<1>:$weighting);
  let assemblyFormat = [{
    $queries `,` $keys `[` $begin `to` $end `]` `full` $fullBegin `to` $fullEnd
        (`mask` `(` $mask^ `)`)? `of` $batch `,` $head `,` $first
        (`ring` $origin^)?
        (`through` `(` $history^ `of` $cacheRows `:` type($history) `)`)?
        (`listed` `(` $list^ `:` type($list) `)`)?
        (`fetched` `(` $fetched^ `:` type($fetched) `)`)?
        (`strided` `(` $remainder^ `)`)?
        (`scores` `(` $scores^ `:` type($scores) `)`)?
        (`last` `(` $last^ `:` type($last) `)`)?
        (`copies` `(` $copies^ `:` type($copies) `)`)?
        `into` $weights `,` $sums `,` $state attr-dict
        (`similarity` $similarity^)? (`score` $score^)? `` custom<Normalizer>($normalizer, $weighting)
        `:` type($queries) `,` type($keys) `,` type($weights) `,` type($sums)
        `,` type($state)
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The op that builds the mask, or null.
    ::heddle::MaskOpInterface getMaskOp();
  }];
}

def OnlinePairsOp : Transformer_Op<"online.pairs"> {
  let summary = "the values of two keys side by side";
  let description = [{
        pairs[(j - begin) / 2, d, (j - begin) mod 2] = values[j, d]

    for the keys j in [begin, end), up to a whole pair; zeros stand for the rows
    behind the last one. What a block of queries adds to its sums of short
    floats, made once a tile.

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

def OnlineColumnsOp : Transformer_Op<"online.columns"> {
  let summary = "the values of groups of 32 keys, a width each";
  let description = [{
        columns[(j / 32) mod slots, d, j mod 32] = values[j, d]

    for the groups of keys that [begin, end) touches. Zeros stand for the rows
    behind the last one, and for values that are infinite or no numbers. What
    tiles of a block add to its sums of bf16. `slots` says of each slot the number
    of its group, 2^32 head + j / 32, and whether such a value was left out: a group
    that is there already stays. -1 is no group.

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
  let summary = "adds the weighted values of one tile of keys";
  let description = [{
        sums[d, query] += weights[j - begin', query] values[j, d]

    for the keys j in [begin, end), ascending. Where a weight is -0.0 nothing is
    added, whatever the value. Rows as in `transformer.online.weights`; weights of a
    block that are short floats take those of the tile in pairs, from
    `online.pairs`, or in groups, from `online.columns`: then a tile begins with a
    group, and groups are added whole, with weights of -0.0 behind the last key.
    Those of f32 widen values of f16.

    ```mlir
    transformer.online.update %weights, %values[%j to %end] full %from to %to
        into %sums {tile = 8 : i64}
        : memref<256x32xf32>, memref<?x64xf32>, memref<64x32xf32>
    ```

    Constraints:
    - (C1) weights and sums have one number of columns, sums the width of values.
    - (C2) weights and values have one element type, or f32 and f16; weights of a block
      that are short floats have values [keys / 2, width, 2], or rows and groups of them.
    - (C3) columns and slots stand together, as in `online.columns`.
    - (C4) a history and the rows of a cache stand together, for one query.
  }];
  let arguments = (ins Transformer_Columns:$weights,
                       Transformer_PairedRows:$values, Index:$begin, Index:$end,
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
    $weights `,` $values `[` $begin `to` $end `]`
        `full` $fullBegin `to` $fullEnd (`ring` $origin^)?
        (`through` `(` $history^ `of` $cacheRows `:` type($history) `)`)?
        (`listed` `(` $list^ `:` type($list) `)`)?
        (`columns` `(` $columns^ `:` type($columns) `)`)?
        (`slots` `(` $slots^ `:` type($slots) `)`)? `into` $sums
        attr-dict `:` type($weights) `,` type($values) `,` type($sums)
  }];
  let hasVerifier = 1;
}

def OnlineFinishOp : Transformer_Op<"online.finish"> {
  let summary = "rows of the result";
  let description = [{
    rows[first + l, d] = sums[d, l] / total[l], or 0 where the total is 0, for the
    columns l that are rows. Without a normalizer (`none`) sums are the result.
    Rows of short floats are rounded to them.

    ```mlir
    transformer.online.finish %sums, %state into %rows[%i]
        : memref<64x32xf32>, memref<4x32xf32>, memref<?x64xf32>
    ```

    Constraints:
    - (C1) sums has the width of rows; state is [4, columns], or [4, lanes] for
      one query.
  }];
  let arguments = (ins Transformer_QuerySums:$sums, Transformer_State:$state,
                       Transformer_HeadRows:$rows, Index:$first,
                       DefaultValuedAttr<Transformer_Normalizer,
                                  "::heddle::Normalizer::Softmax">:$normalizer);
  let assemblyFormat = [{
    $sums `,` $state `into` $rows `[` $first `]` attr-dict
        `:` type($sums) `,` type($state) `,` type($rows)
  }];
  let hasVerifier = 1;
}

#endif // HEDDLE_DIALECT_ONLINE
