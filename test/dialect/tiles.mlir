// RUN: heddle-opt %s | heddle-opt | FileCheck %s

// CHECK-LABEL: @tiles
func.func @tiles(%x: memref<?x8xf32>, %w: memref<2x8x32xf32>, %b: memref<33xf32>,
                 %y: memref<?x33xf32>, %row: index, %column: index) {
  // CHECK: transformer.linear.tile %arg0, %arg1, %arg2 into %arg3 at[%arg4, %arg5] rows 6 columns 16
  // CHECK-SAME: (memref<?x8xf32>, memref<2x8x32xf32>, memref<33xf32>, memref<?x33xf32>, index, index) -> ()
  transformer.linear.tile %x, %w, %b into %y at [%row, %column] rows 6 columns 16
    : (memref<?x8xf32>, memref<2x8x32xf32>, memref<33xf32>, memref<?x33xf32>, index, index) -> ()
  // CHECK: transformer.linear.tile %arg0, %arg1 activation gelu residual(%arg3) into %arg3 at[%arg4, %arg5] next %arg5 rows 1 columns 64 partial
  transformer.linear.tile %x, %w activation gelu residual(%y) into %y at [%row, %column] next %column rows 1 columns 64 partial
    : (memref<?x8xf32>, memref<2x8x32xf32>, memref<?x33xf32>, memref<?x33xf32>, index, index, index) -> ()
  return
}
