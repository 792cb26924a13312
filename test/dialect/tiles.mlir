// RUN: heddle-opt %s | heddle-opt | FileCheck %s

// CHECK-LABEL: @tiles
func.func @tiles(%x: memref<?x8xf32>, %w: memref<2x8x32xf32>, %b: memref<33xf32>,
                 %y: memref<?x33xf32>, %row: index, %column: index) {
  // CHECK: transformer.linear.tile %arg0, %arg1, %arg2 into %arg3 at[%arg4, %arg5] rows 6 columns 16
  // CHECK-SAME: (memref<?x8xf32>, memref<2x8x32xf32>, memref<33xf32>, memref<?x33xf32>, index, index) -> ()
  transformer.linear.tile %x, %w, %b into %y at [%row, %column] rows 6 columns 16
    : (memref<?x8xf32>, memref<2x8x32xf32>, memref<33xf32>, memref<?x33xf32>, index, index) -> ()
  // CHECK: transformer.linear.tile %arg0, %arg1 activation gelu residual(%arg3) gates into %arg3 at[%arg4, %arg5] next %arg5 fetched %arg4 rows 1 columns 64 partial
  transformer.linear.tile %x, %w activation gelu residual(%y) gates into %y at [%row, %column] next %column fetched %row rows 1 columns 64 partial
    : (memref<?x8xf32>, memref<2x8x32xf32>, memref<?x33xf32>, memref<?x33xf32>, index, index, index, index) -> ()
  return
}

// CHECK-LABEL: @sums
func.func @sums(%x: memref<?x8xf32>, %w: memref<2x8x32xf32>, %b: memref<33xf32>,
                %sums: memref<3x64xf32>, %y: memref<?x33xf32>, %row: index,
                %column: index, %rows: index) {
  // CHECK: transformer.linear.sums %arg0, %arg1 into %arg3 at[%arg5, %arg6] rows 3 columns 64
  // CHECK-SAME: (memref<?x8xf32>, memref<2x8x32xf32>, memref<3x64xf32>, index, index) -> ()
  transformer.linear.sums %x, %w into %sums at [%row, %column] rows 3 columns 64
    : (memref<?x8xf32>, memref<2x8x32xf32>, memref<3x64xf32>, index, index) -> ()
  // CHECK: transformer.linear.sums %arg0, %arg1 into %arg3 at[%arg5, %arg6] next %arg5 fetched %arg7 rows 3 columns 64
  transformer.linear.sums %x, %w into %sums at [%row, %column] next %row fetched %rows rows 3 columns 64
    : (memref<?x8xf32>, memref<2x8x32xf32>, memref<3x64xf32>, index, index, index, index) -> ()
  // CHECK: transformer.linear.sums %arg0, %arg1 into %arg3 at[%arg5, %arg6] ahead from %arg5 inputs 2 rows 3 columns 64
  transformer.linear.sums %x, %w into %sums at [%row, %column] ahead from %row inputs 2 rows 3 columns 64
    : (memref<?x8xf32>, memref<2x8x32xf32>, memref<3x64xf32>, index, index, index) -> ()
  // CHECK: transformer.linear.finish %arg3, %arg2 activation gelu residual(%arg4) gates into %arg4 at[%arg5, %arg6] rows %arg7 columns 64 partial
  transformer.linear.finish %sums, %b activation gelu residual(%y) gates into %y at [%row, %column] rows %rows columns 64 partial
    : (memref<3x64xf32>, memref<33xf32>, memref<?x33xf32>, memref<?x33xf32>, index, index, index) -> ()
  return
}

// CHECK-LABEL: @unpacked
func.func @unpacked(%x: memref<?x64xbf16>, %w: memref<2x68x32xi8>,
                    %panel: memref<32x32x2xbf16>, %sums: memref<32x32xf32>,
                    %row: index, %column: index) {
  // CHECK: transformer.linear.unpack %arg1 into %arg2 at %arg5 : (memref<2x68x32xi8>, memref<32x32x2xbf16>, index) -> ()
  transformer.linear.unpack %w into %panel at %column
    : (memref<2x68x32xi8>, memref<32x32x2xbf16>, index) -> ()
  // CHECK: transformer.linear.sums %arg0, %arg1 unpacked(%arg2) into %arg3 at[%arg4, %arg5] rows 32 columns 32
  transformer.linear.sums %x, %w unpacked(%panel) into %sums at [%row, %column] rows 32 columns 32
    : (memref<?x64xbf16>, memref<2x68x32xi8>, memref<32x32x2xbf16>, memref<32x32xf32>, index, index) -> ()
  return
}

// CHECK-LABEL: @beside
func.func @beside(%x: memref<?x64xbf16>, %w: memref<2x32x32x2xbf16>,
                  %before: memref<16x32xf32>, %sums: memref<32x32xf32>,
                  %y: memref<?x64xf32>, %row: index, %column: index) {
  // CHECK: transformer.linear.sums %arg0, %arg1 into %arg3 at[%arg5, %arg6] rows 32 columns 32 beside {
  // CHECK-NEXT: ^bb0(%[[STEP:.*]]: index):
  // CHECK-NEXT: transformer.linear.finish %arg2 into %arg4 at[%[[STEP]], %arg6] rows %arg5 columns 32
  transformer.linear.sums %x, %w into %sums at [%row, %column] rows 32 columns 32 beside {
  ^bb0(%step: index):
    transformer.linear.finish %before into %y at [%step, %column] rows %row columns 32
      : (memref<16x32xf32>, memref<?x64xf32>, index, index, index) -> ()
  } : (memref<?x64xbf16>, memref<2x32x32x2xbf16>, memref<32x32xf32>, index, index) -> ()
  return
}
