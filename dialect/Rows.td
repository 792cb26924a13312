//===- Rows.td - Some rows as a buffer of their own -----------*- tablegen -*-===//

#ifndef HEDDLE_DIALECT_ROWS
#define HEDDLE_DIALECT_ROWS

include "dialect/Base.td"
include "mlir/Interfaces/ViewLikeInterface.td"

def RowsOp : Transformer_Op<"rows", [
      Pure, DeclareOpInterfaceMethods<ViewLikeOpInterface>,
      TypesMatchWith<"the type of the buffer", "source", "result", "$_self">
    ]> {
  let summary = "some rows of a buffer, as a buffer of their own";
  let description = [{
        y[r, ...] = x[first + r, ...],   0 <= r < count

    A view: x [rows, ...] and y share memory. Unlike those of `memref.subview` its
    type says nothing of where it begins, so that a kernel takes it as it takes all
    rows, and there is one kernel for both.

    ```mlir
    %y = transformer.rows %x[%first for %count] : memref<?x768xf32>
    ```

    Constraints:
    - (C1) x is dense, and only the number of its rows is dynamic.
  }];
  let arguments = (ins MemRefRankOf<[F32, BF16, F16, I8, I32], [1, 2]>:$source,
                       Index:$first, Index:$count);
  let results = (outs MemRefRankOf<[F32, BF16, F16, I8, I32], [1, 2]>:$result);
  let assemblyFormat = [{
    $source `[` $first `for` $count `]` attr-dict `:` type($source)
  }];
  let hasVerifier = 1;
}

#endif // HEDDLE_DIALECT_ROWS
