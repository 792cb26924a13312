//===- Tiles.td - What tiling leaves for emitters -------------*- tablegen -*-===//
//
// One op a tile that stays in registers. The loops around it are plain scf:
// changing them, or a tile's size, in a dump changes the code.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECT_TILES
#define HEDDLE_DIALECT_TILES

include "dialect/Base.td"

def LinearTileOp : Transformer_Op<"linear.tile", [
      AttrSizedOperandSegments,
      DeclareOpInterfaceMethods<MemoryEffectsOpInterface>
    ]> {
  let summary = "a tile of linear";
  let description = [{
        y[row + r, column + c] = (residual + activation(x W + b))[row + r, column + c]

    for r < rows and c < columns. x [rows, in], W packed [panels, in, 32],
    b [out], y and the residual [rows, out]. With `partial` columns behind the
    last one of y are left out; without it there are none. Sums run over `in`,
    ascending, one fused multiply-add each, and then the bias, whatever the tile:
    its size changes no bit. With `next` the tile asks for as many columns of W
    from there on, before another tile needs them.

    ```mlir
    transformer.linear.tile %x, %w, %b activation relu into %y at [%row, %column] rows 8 columns 32
      : (memref<?x256xf32>, memref<48x256x32xf32>, memref<1536xf32>,
         memref<?x1536xf32>, index, index) -> ()
    ```

    Constraints:
    - (C1) columns is a multiple of 8, and of the panels' 32 where it is larger.
    - (C2) x, W, b, residual and y fit together as in linear.
  }];
  let arguments = (ins MemRefRankOf<[F32], [2]>:$input,
                       MemRefRankOf<[F32], [3]>:$weight,
                       Optional<MemRefRankOf<[F32], [1]>>:$bias,
                       Optional<MemRefRankOf<[F32], [2]>>:$residual,
                       MemRefRankOf<[F32], [2]>:$destination,
                       Index:$row, Index:$column, Optional<Index>:$next,
                       Transformer_Count:$rows,
                       Transformer_Count:$columns,
                       OptionalAttr<Transformer_ActivationKind>:$activation,
                       UnitAttr:$partial);
  let assemblyFormat = [{
    $input `,` $weight (`,` $bias^)? (`activation` `` $activation^)?
        (`residual` `(` $residual^ `)`)? `into` $destination
        `at` `[` $row `,` $column `]` (`next` $next^)?
        `rows` $rows `columns` $columns (`partial` $partial^)? attr-dict
        `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // HEDDLE_DIALECT_TILES
