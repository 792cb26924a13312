// RUN: heddle-opt %s -transformer-emit-kernels=isa=x86-64-v3 -split-input-file | FileCheck %s --check-prefixes=CHECK,V3
// RUN: heddle-opt %s -transformer-emit-kernels=isa=x86-64-v4 -split-input-file | FileCheck %s --check-prefixes=CHECK,V4

// The example of the pass's description.
// CHECK-LABEL: @collapses_rows
func.func private @collapses_rows(%x: memref<?x?x256xf32>,
    %w: memref<256x1536xf32>, %b: memref<1536xf32>,
    %y: memref<?x?x1536xf32>) {
  // CHECK: %[[ROWS:.*]] = memref.collapse_shape %arg0 {{\[\[}}0, 1], [2]]
  // CHECK: %[[OUT:.*]] = memref.collapse_shape %arg3 {{\[\[}}0, 1], [2]]
  // CHECK: call @linear_256x1536_bias(%[[ROWS]], %arg1, %arg2, %[[OUT]])
  // CHECK-NOT: transformer.linear
  transformer.linear %x, %w, %b into %y
    : (memref<?x?x256xf32>, memref<256x1536xf32>, memref<1536xf32>,
       memref<?x?x1536xf32>) -> ()
  return
}
// The widest tile of rows of each level; one fused multiply-add an element.
// CHECK-LABEL: func.func private @linear_256x1536_bias
// CHECK-SAME: transformer.kernel
// V3: scf.for {{.*}} -> (vector<8xf32>
// V3-COUNT-12: vector.fma {{.*}} : vector<8xf32>
// V4: scf.for {{.*}} -> (vector<16xf32>
// V4-COUNT-16: vector.fma {{.*}} : vector<16xf32>

// -----

// CHECK-LABEL: @builds_equal_kernels_once
func.func private @builds_equal_kernels_once(%x: memref<?x8xf32>,
    %w: memref<8x8xf32>, %y: memref<?x8xf32>, %z: memref<?x8xf32>) {
  // CHECK-COUNT-2: call @linear_8x8(
  transformer.linear %x, %w into %y
    : (memref<?x8xf32>, memref<8x8xf32>, memref<?x8xf32>) -> ()
  transformer.linear %y, %w into %z
    : (memref<?x8xf32>, memref<8x8xf32>, memref<?x8xf32>) -> ()
  return
}
// CHECK: func.func private @linear_8x8(
// CHECK-NOT: func.func private @linear_8x8(

// -----

// Eleven columns are one vector of eight, one of two and one element.
// CHECK-LABEL: @cuts_columns_into_powers_of_two
func.func private @cuts_columns_into_powers_of_two(%x: memref<?x5xf32>,
    %w: memref<5x11xf32>, %y: memref<?x11xf32>) {
  transformer.linear %x, %w into %y
    : (memref<?x5xf32>, memref<5x11xf32>, memref<?x11xf32>) -> ()
  return
}
// CHECK-LABEL: func.func private @linear_5x11
// CHECK-DAG: vector<8xf32>
// CHECK-DAG: vector<2xf32>
// CHECK-DAG: vector<1xf32>
// CHECK-NOT: vector<4xf32>

// -----

// CHECK-LABEL: @emits_candidates_of_a_step
func.func private @emits_candidates_of_a_step(%x: memref<?x8xf32>,
    %rows: memref<?x?x8xf32>, %bias: memref<?x?xf32>, %counts: memref<?xi32>,
    %sentences: memref<?xi32>, %y: memref<?x?xf32>) {
  // CHECK: call @candidates_8(%arg0, %arg1, %arg2, %arg3, %arg4, %arg5)
  transformer.candidate_logits %x, %rows, %bias, %counts of %sentences into %y
    : (memref<?x8xf32>, memref<?x?x8xf32>, memref<?x?xf32>, memref<?xi32>,
       memref<?xi32>, memref<?x?xf32>) -> ()
  return
}

// -----

// What has no emitter, or no dense layout, is left to the reference lowering.
// CHECK-LABEL: @leaves_the_rest_alone
func.func private @leaves_the_rest_alone(%x: memref<?x8xf32>,
    %w: memref<8x8xf32, strided<[1, 8]>>, %y: memref<?x8xf32>) {
  // CHECK: transformer.activation
  // CHECK: transformer.linear
  // CHECK-NOT: call
  transformer.activation relu %x into %y
    : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  transformer.linear %x, %w into %y
    : (memref<?x8xf32>, memref<8x8xf32, strided<[1, 8]>>, memref<?x8xf32>)
      -> ()
  return
}

// -----

// A function of the model that has a kernel's name is not taken for one.
// CHECK-LABEL: func.func private @linear_4x4(%arg0: memref<?x4xf32>
func.func private @linear_4x4(%x: memref<?x4xf32>, %w: memref<4x4xf32>,
    %y: memref<?x4xf32>, %z: memref<?x4xf32>) {
  // CHECK: call @[[KERNEL:linear_4x4_0]](%arg0, %arg1, %arg2)
  // CHECK: call @[[KERNEL]](%arg2, %arg1, %arg3)
  transformer.linear %x, %w into %y
    : (memref<?x4xf32>, memref<4x4xf32>, memref<?x4xf32>) -> ()
  transformer.linear %y, %w into %z
    : (memref<?x4xf32>, memref<4x4xf32>, memref<?x4xf32>) -> ()
  return
}
// CHECK: func.func private @[[KERNEL]]({{.*}} attributes {transformer.kernel}
