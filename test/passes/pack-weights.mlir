// RUN: heddle-opt %s -transformer-pack-weights -split-input-file | FileCheck %s

// The example of the pass's description; a tail of columns takes a panel.
// CHECK-LABEL: module @packs
// CHECK: transformer.parameter @w : tensor<256x1536xf32>
// CHECK: transformer.parameter @w.packed : tensor<48x256x32xf32> packed [1536]
// CHECK: transformer.parameter @narrow.packed : tensor<2x256x32xf32> transposed packed [33]
module @packs {
  transformer.parameter @w : tensor<256x1536xf32>
  transformer.parameter @narrow : tensor<256x33xf32> transposed
  func.func private @f(%x: memref<?x256xf32>, %y: memref<?x1536xf32>,
                       %z: memref<?x33xf32>) {
    // CHECK: %[[W:.*]] = transformer.weight @w.packed : memref<48x256x32xf32>
    // CHECK: %[[NARROW:.*]] = transformer.weight @narrow.packed : memref<2x256x32xf32>
    // CHECK-NOT: transformer.weight
    // CHECK: transformer.linear %arg0, %[[W]] into %arg1
    // CHECK: transformer.linear %arg0, %[[NARROW]] into %arg2
    %w = transformer.weight @w : memref<256x1536xf32>
    %narrow = transformer.weight @narrow : memref<256x33xf32>
    transformer.linear %x, %w into %y
      : (memref<?x256xf32>, memref<256x1536xf32>, memref<?x1536xf32>) -> ()
    transformer.linear %x, %narrow into %z
      : (memref<?x256xf32>, memref<256x33xf32>, memref<?x33xf32>) -> ()
    return
  }
}

// -----

// One packing serves all linears; other readers keep the original.
// CHECK-LABEL: module @shares
// CHECK-COUNT-1: packed [8]
// CHECK-NOT: packed [8]
module @shares {
  transformer.parameter @w : tensor<8x8xf32>
  // CHECK-LABEL: @f
  func.func private @f(%ids: memref<?xi32>, %x: memref<?x8xf32>,
                       %y: memref<?x8xf32>) {
    // CHECK-DAG: %[[W:.*]] = transformer.weight @w :
    // CHECK-DAG: %[[PACKED:.*]] = transformer.weight @w.packed :
    // CHECK: transformer.embedding %arg0, %[[W]]
    // CHECK: transformer.linear %arg1, %[[PACKED]]
    %w = transformer.weight @w : memref<8x8xf32>
    transformer.embedding %ids, %w into %x
      : (memref<?xi32>, memref<8x8xf32>, memref<?x8xf32>) -> ()
    transformer.linear %x, %w into %y
      : (memref<?x8xf32>, memref<8x8xf32>, memref<?x8xf32>) -> ()
    return
  }
  // CHECK-LABEL: @g
  func.func private @g(%x: memref<?x8xf32>, %y: memref<?x8xf32>) {
    // CHECK: transformer.weight @w.packed
    %w = transformer.weight @w : memref<8x8xf32>
    transformer.linear %x, %w into %y
      : (memref<?x8xf32>, memref<8x8xf32>, memref<?x8xf32>) -> ()
    return
  }
}

// -----

// A weight that is no parameter stays as it is.
// CHECK-LABEL: @leaves_arguments
func.func private @leaves_arguments(%x: memref<?x8xf32>, %w: memref<8x8xf32>,
                                    %y: memref<?x8xf32>) {
  // CHECK: transformer.linear %arg0, %arg1 into %arg2
  transformer.linear %x, %w into %y
    : (memref<?x8xf32>, memref<8x8xf32>, memref<?x8xf32>) -> ()
  return
}

// -----

// bf16 stand in pairs of inputs; an odd depth is kept beside them.
// CHECK-LABEL: module @pairs
// CHECK: @r.packed : tensor<2x4x32x2xbf16> rounded of [@w] packed [33] depth 7
module @pairs {
  transformer.parameter @w : tensor<7x33xf32>
  transformer.parameter @r : tensor<7x33xbf16> rounded of [@w]
  // CHECK-LABEL: @f
  func.func private @f(%x: memref<?x7xbf16>, %y: memref<?x33xf32>) {
    // CHECK: %[[W:.*]] = transformer.weight @r.packed : memref<2x4x32x2xbf16>
    // CHECK: transformer.linear %arg0, %[[W]] into %arg1
    %w = transformer.weight @r : memref<7x33xbf16>
    transformer.linear %x, %w into %y
      : (memref<?x7xbf16>, memref<7x33xbf16>, memref<?x33xf32>) -> ()
    return
  }
}
