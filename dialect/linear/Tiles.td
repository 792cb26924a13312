//===- Tiles.td - What tiling leaves for emitters -------------*- tablegen -*-===//
//
// One op a tile that stays in registers, or two if its sums pass through
// scratch memory. The loops around them are plain scf: changing those, or a
// tile's size, in a dump changes the code.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECT_TILES
#define HEDDLE_DIALECT_TILES

include "dialect/Base.td"

/// x or y, and W in panels.
def Transformer_TileValues : MemRefRankOf<[F32, BF16, F16, I8], [2]>;
def Transformer_Panels : MemRefRankOf<[F32, BF16, F16, I8], [3, 4]>;
def Transformer_Sums : MemRefRankOf<[F32, I32], [2]>;
def Transformer_TileVector : MemRefRankOf<[F32], [1]>;
/// A panel in groups of two inputs.
def Transformer_UnpackedPanel : MemRefRankOf<[BF16], [3]>;

def LinearTileOp : Transformer_Op<"linear.tile", [
      AttrSizedOperandSegments,
      DeclareOpInterfaceMethods<MemoryEffectsOpInterface>
    ]> {
  let summary = "a tile of linear";
  let description = [{
        y[row + r, column + c] = (residual + activation(x W + b))[row + r, column + c]

    for r < rows and c < columns. x [rows, in], W packed [panels, in, 32],
    b [out], y and the residual [rows, out], which `gates` multiplies. With `gates` and
    no residual the gate is among the columns of W, which are twice as many as those of
    y: that is `gated` of `linear`, and the tile's columns are those of W. With `partial`
    columns behind the last one of y are left out; without it there are none. Sums run over `in`,
    ascending, one fused multiply-add each, and then the bias, whatever the tile:
    its size changes no bit. With `next` the tile asks for rows of W that are
    needed later: from row `next` on, counted through all panels, `fetched` rows
    for every eight groups of inputs that it multiplies. With `ahead` it asks for
    its own, some groups of inputs before it takes them: nobody else would have.

    Of i8, x W, its scales and `quantize` are those of `linear`; a scale of x
    stands for each row. Panels of i8 that f32 multiplies hold their scales. Of
    short floats sums take a pair of inputs after the other, the odd one of a pair
    first; a y of such is rounded.

    ```mlir
    transformer.linear.tile %x, %w, %b activation relu into %y at [%row, %column] rows 8 columns 32
      : (memref<?x256xf32>, memref<48x256x32xf32>, memref<1536xf32>,
         memref<?x1536xf32>, index, index) -> ()
    ```

    Constraints:
    - (C1) columns is 8, 16 or a multiple of the panels' 32.
    - (C2) x, W, b, residual and y fit together as in linear.
    - (C3) `next` and `fetched` are given together, without `ahead`.
  }];
  let arguments = (ins Transformer_TileValues:$input,
                       Optional<Transformer_TileVector>:$input_scales,
                       Transformer_Panels:$weight,
                       Optional<Transformer_TileVector>:$weight_scales,
                       Optional<Transformer_TileVector>:$bias,
                       Optional<MemRefRankOf<[F32], [2]>>:$residual,
                       Optional<Transformer_TileVector>:$multiplier,
                       Transformer_TileValues:$destination,
                       Index:$row, Index:$column,
                       Optional<Index>:$next, Optional<Index>:$fetched,
                       UnitAttr:$ahead,
                       Transformer_Count:$rows,
                       Transformer_Count:$columns,
                       OptionalAttr<I64Attr>:$shift,
                       OptionalAttr<Transformer_ActivationKind>:$activation,
                       UnitAttr:$partial, UnitAttr:$gates);
  let assemblyFormat = [{
    $input (`scales` `(` $input_scales^ `)`)? (`shift` $shift^)?
        `,` $weight (`scales` `(` $weight_scales^ `)`)? (`,` $bias^)?
        (`activation` `` $activation^)? (`residual` `(` $residual^ `)`)?
        (`gates` $gates^)? (`quantize` `(` $multiplier^ `)`)? `into` $destination
        `at` `[` $row `,` $column `]` (`next` $next^ `fetched` $fetched)?
        (`ahead` $ahead^)? `rows` $rows `columns` $columns
        (`partial` $partial^)? attr-dict
        `:` functional-type(operands, results)
  }];
  let builders = [
    OpBuilder<(ins "const ::heddle::TileOperands &":$operands,
                   "const ::heddle::TilePlace &":$place, "int64_t":$rows,
                   "const ::heddle::WeightRows &":$fetched)>
  ];
  let hasVerifier = 1;
}

def LinearSumsOp : Transformer_Op<"linear.sums", [
      AttrSizedOperandSegments, NoTerminator, RecursiveMemoryEffects,
      SingleBlock,
      DeclareOpInterfaceMethods<MemoryEffectsOpInterface>
    ]> {
  let summary = "the sums of a tile of linear, in scratch memory";
  let description = [{
        sums[r, c] = (x W)[row + r, column + c]

    for r < rows and c < columns: the sums of `linear.tile`, for `linear.finish`
    to go on with. What is left of a block has any number of rows below a tile's;
    each number has sums of its own, and all of them share what follows. Columns
    behind the last one of W sum its padding. Of i8 the sums are i32, `shift`
    included.

    With `next` it asks for rows of W that are needed later: from row `next` on,
    counted through all panels, `fetched` rows for every eight groups of inputs,
    or, if a level multiplies tiles, for each whole tile of x along its depth.
    It may ask for rows that are not there. `ahead` is that of `linear.tile`.

    If a level multiplies tiles, x of bf16 by integers with scales takes a panel
    from `linear.unpack` in `unpacked`, and its scales from W.

    A depth whose panels no cache holds is summed piece by piece. With `from`
    the op takes `inputs` inputs from there on, and adds their products to the
    sums of those before, in their order: none before 0.

    The region of `beside` is work that does not read these sums: it runs once for
    each tile of x of 64 bytes along the depth, at least once, and gets the number of
    the tile. A level that multiplies tiles lets it run while their products are made.
    It holds a share of the rows of `linear.finish` for the tile before, whose sums
    have come to rest by then: sums that are read at once wait for the last product.

    ```mlir
    transformer.linear.sums %x, %w into %sums at [%row, %column] rows 3 columns 32
      : (memref<?x256xf32>, memref<48x256x32xf32>, memref<7x128xf32>, index, index) -> ()
    ```

    Constraints:
    - (C1) columns is 8, 16 or a multiple of the panels' 32.
    - (C2) x and W have one depth, and the sums room for the tile and the type of
      the products.
    - (C3) `next` and `fetched` are given together, without `ahead`, and so are
      `from` and `inputs`.
    - (C4) `inputs` are whole groups, no more than there are.
    - (C5) `unpacked` has the groups of a panel of W, of integers with scales. It
      stands with x of bf16, rows in multiples of 16 and 32 columns, without `from`.
    - (C6) The region of `beside` has one argument, of type index.
  }];
  let arguments = (ins Transformer_TileValues:$input,
                       Transformer_Panels:$weight,
                       Optional<Transformer_UnpackedPanel>:$unpacked,
                       Transformer_Sums:$destination,
                       Index:$row, Index:$column,
                       Optional<Index>:$next, Optional<Index>:$fetched,
                       Optional<Index>:$from,
                       UnitAttr:$ahead,
                       Transformer_Count:$rows,
                       Transformer_Count:$columns,
                       OptionalAttr<I64Attr>:$inputs,
                       OptionalAttr<I64Attr>:$shift);
  let regions = (region AnyRegion:$beside);
  let assemblyFormat = [{
    $input (`shift` $shift^)? `,` $weight (`unpacked` `(` $unpacked^ `)`)?
        `into` $destination
        `at` `[` $row `,` $column `]` (`next` $next^ `fetched` $fetched)?
        (`ahead` $ahead^)? (`from` $from^ `inputs` $inputs)?
        `rows` $rows `columns` $columns (`beside` $beside^)? attr-dict
        `:` functional-type(operands, results)
  }];
  let builders = [
    OpBuilder<(ins "const ::heddle::TileOperands &":$operands,
                   "::mlir::Value":$sums, "const ::heddle::TilePlace &":$place,
                   "int64_t":$rows, "const ::heddle::WeightRows &":$fetched,
                   "const ::heddle::DepthPiece &":$piece,
                   CArg<"::mlir::Value", "{}">:$unpacked)>
  ];
  let hasVerifier = 1;
}

def LinearUnpackOp : Transformer_Op<"linear.unpack", [
      DeclareOpInterfaceMethods<MemoryEffectsOpInterface>
    ]> {
  let summary = "a panel of integers as bf16, for tiles";
  let description = [{
        to[g, c, e] = W[2 g + e, column + c]

    for c < 32 and e < 2, without the scales of W: bf16 holds integers of 8 bits
    exactly. What stands behind the depth of W is 0. Tiles of all rows of a task
    read the panel from there.

    ```mlir
    transformer.linear.unpack %w into %panel at %column
      : (memref<48x272x32xi8>, memref<128x32x2xbf16>, index) -> ()
    ```

    Constraints:
    - (C1) W is integers with scales, packed, and `to` has the groups of a panel.
  }];
  let arguments = (ins MemRefRankOf<[I8], [3]>:$weight,
                       Transformer_UnpackedPanel:$destination,
                       Index:$column);
  let assemblyFormat = [{
    $weight `into` $destination `at` $column attr-dict
        `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def LinearFinishOp : Transformer_Op<"linear.finish", [
      AttrSizedOperandSegments,
      DeclareOpInterfaceMethods<MemoryEffectsOpInterface>
    ]> {
  let summary = "what follows the sums of a tile of linear";
  let description = [{
        y[row + r, column + c] = (residual + activation(sums + b))[row + r, column + c]

    for r < `rows`, which may be 0, and c < columns, with sums[r, c] from
    `linear.sums`: bit for bit what one `linear.tile` stores. `partial` as there.

    ```mlir
    transformer.linear.finish %sums, %b activation relu into %y at [%row, %column] rows %left columns 32
      : (memref<7x128xf32>, memref<1536xf32>, memref<?x1536xf32>, index, index, index) -> ()
    ```

    Constraints:
    - (C1) columns is 8, 16 or a multiple of the panels' 32.
    - (C2) the sums have room for the columns; b, residual and y fit together as
      in linear.
  }];
  let arguments = (ins Transformer_Sums:$sums,
                       Optional<Transformer_TileVector>:$input_scales,
                       Optional<Transformer_TileVector>:$weight_scales,
                       Optional<Transformer_TileVector>:$bias,
                       Optional<MemRefRankOf<[F32], [2]>>:$residual,
                       Optional<Transformer_TileVector>:$multiplier,
                       Transformer_TileValues:$destination,
                       Index:$row, Index:$column, Index:$rows,
                       Transformer_Count:$columns,
                       OptionalAttr<Transformer_ActivationKind>:$activation,
                       UnitAttr:$partial, UnitAttr:$gates);
  let assemblyFormat = [{
    $sums (`scales` `(` $input_scales^ `)`)?
        (`by` `scales` `(` $weight_scales^ `)`)? (`,` $bias^)?
        (`activation` `` $activation^)? (`residual` `(` $residual^ `)`)?
        (`gates` $gates^)? (`quantize` `(` $multiplier^ `)`)? `into` $destination
        `at` `[` $row `,` $column `]` `rows` $rows `columns` $columns
        (`partial` $partial^)? attr-dict
        `:` functional-type(operands, results)
  }];
  let builders = [
    OpBuilder<(ins "const ::heddle::TileOperands &":$operands,
                   "::mlir::Value":$sums, "const ::heddle::TilePlace &":$place,
                   "::mlir::Value":$rows)>
  ];
  let hasVerifier = 1;
}

#endif // HEDDLE_DIALECT_TILES
