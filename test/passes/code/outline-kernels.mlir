// RUN: heddle-opt %s -transformer-outline-kernels -split-input-file | FileCheck %s

// The example of the pass's description.
// CHECK-LABEL: @shares_a_kernel
func.func private @shares_a_kernel(%x: memref<?x?x8xf32>, %w: memref<8x8xf32>,
    %y: memref<?x?x8xf32>, %z: memref<?x?x8xf32>) {
  // CHECK: %[[X:.*]] = memref.collapse_shape %arg0 {{\[\[}}0, 1], [2]]
  // CHECK: %[[Y:.*]] = memref.collapse_shape %arg2 {{\[\[}}0, 1], [2]]
  // CHECK: call @linear_8(%[[X]], %arg1, %[[Y]])
  // CHECK: call @linear_8(
  // CHECK-NOT: transformer.linear
  transformer.linear %x, %w into %y
    : (memref<?x?x8xf32>, memref<8x8xf32>, memref<?x?x8xf32>) -> ()
  transformer.linear %y, %w into %z
    : (memref<?x?x8xf32>, memref<8x8xf32>, memref<?x?x8xf32>) -> ()
  return
}
// CHECK: func.func private @linear_8(%arg0: memref<?x8xf32>, %arg1: memref<8x8xf32>, %arg2: memref<?x8xf32>) attributes {transformer.kernel}
// CHECK-NEXT: transformer.linear %arg0, %arg1 into %arg2
// CHECK-NEXT: return

// -----

// An attribute is a difference; so is a bias.
// CHECK-LABEL: @tells_kernels_apart
func.func private @tells_kernels_apart(%x: memref<?x8xf32>,
    %g: memref<8xf32>, %y: memref<?x8xf32>) {
  // CHECK: call @norm_8(
  // CHECK: call @norm_8_0(
  // CHECK: call @norm_8_1(
  transformer.norm layer %x, %g into %y {epsilon = 1.0e-5 : f32}
    : (memref<?x8xf32>, memref<8xf32>, memref<?x8xf32>) -> ()
  transformer.norm layer %x, %g into %y {epsilon = 1.0e-6 : f32}
    : (memref<?x8xf32>, memref<8xf32>, memref<?x8xf32>) -> ()
  transformer.norm layer %x, %g, %g into %y {epsilon = 1.0e-6 : f32}
    : (memref<?x8xf32>, memref<8xf32>, memref<8xf32>, memref<?x8xf32>) -> ()
  return
}
// CHECK: @norm_8(
// CHECK: @norm_8_0(
// CHECK: @norm_8_1(

// -----

// Masks and constants move inside; what a region captures is passed.
// CHECK-LABEL: @moves_masks
func.func private @moves_masks(%q: memref<?x?x16xf32>, %lengths: memref<?xi32>,
    %slopes: memref<2xf32>, %y: memref<?x?x16xf32>) {
  // CHECK-NOT: transformer.mask
  // CHECK: call @attention_2x8(%arg0, %arg0, %arg0, %arg1, %arg3, %arg2)
  %causal = transformer.mask.causal
  %valid = transformer.mask.padding %lengths : memref<?xi32>
  %mask = transformer.mask.and %causal, %valid
  transformer.attention %q, %q, %q mask(%mask) into %y {heads = 2 : i64} score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    %slope = transformer.lookup %slopes[%h] : memref<2xf32> -> f32
    %t = arith.addf %s, %slope : f32
    transformer.yield %t : f32
  } : (memref<?x?x16xf32>, memref<?x?x16xf32>, memref<?x?x16xf32>,
       !transformer.mask, memref<?x?x16xf32>) -> ()
  return
}
// CHECK-LABEL: func.func private @attention_2x8
// CHECK-DAG: %[[CAUSAL:.*]] = transformer.mask.causal
// CHECK-DAG: %[[VALID:.*]] = transformer.mask.padding %arg3
// CHECK: %[[MASK:.*]] = transformer.mask.and %[[CAUSAL]], %[[VALID]]
// CHECK: transformer.attention %arg0, %arg1, %arg2 mask(%[[MASK]]) into %arg4
// CHECK: transformer.lookup %arg5

// -----

// A model's own function keeps its name.
// CHECK-LABEL: func.func private @add_8(
// CHECK: call @add_8_0(
func.func private @add_8(%x: memref<?x8xf32>, %y: memref<?x8xf32>) {
  transformer.add %x, %x into %y
    : (memref<?x8xf32>, memref<?x8xf32>, memref<?x8xf32>) -> ()
  return
}
// CHECK: func.func private @add_8_0(

// -----

// Heads and their width stand in the names of linear attention; a step is
// another kernel.

// CHECK-LABEL: func.func @linear_attention(
// CHECK: call @linear_attention_2x4(
// CHECK: call @linear_attention_step_2x4(
// CHECK: call @linear_attention_sums_2x4(
// CHECK: call @linear_attention_read_4x2(
// CHECK: call @linear_attention_read_step_2x4(
// CHECK-LABEL: func.func private @linear_attention_2x4(
func.func @linear_attention(%x: memref<?x?x8xf32>, %row: memref<?x8xf32>, %s: memref<?x2x4x4xf32>, %z: memref<?x2x4xf32>, %t: memref<?x2x2x4xf32>, %w: memref<?x2x2xf32>, %y: memref<?x?x16xf32>, %of: memref<?xi32>) {
  transformer.linear_attention %x, %x, %x causal into %x {heads = 2 : i64} : (memref<?x?x8xf32>, memref<?x?x8xf32>, memref<?x?x8xf32>, memref<?x?x8xf32>) -> ()
  transformer.linear_attention step %row, %row, %row into %row, %s, %z {heads = 2 : i64} : (memref<?x8xf32>, memref<?x8xf32>, memref<?x8xf32>, memref<?x8xf32>, memref<?x2x4x4xf32>, memref<?x2x4xf32>) -> ()
  transformer.linear_attention.sums %x, %x into %s, %z {heads = 2 : i64} : (memref<?x?x8xf32>, memref<?x?x8xf32>, memref<?x2x4x4xf32>, memref<?x2x4xf32>) -> ()
  transformer.linear_attention.read %x, %t, %w into %y {heads = 4 : i64} : (memref<?x?x8xf32>, memref<?x2x2x4xf32>, memref<?x2x2xf32>, memref<?x?x16xf32>) -> ()
  transformer.linear_attention.read %row, %s, %z of %of into %row {heads = 2 : i64} : (memref<?x8xf32>, memref<?x2x4x4xf32>, memref<?x2x4xf32>, memref<?xi32>, memref<?x8xf32>) -> ()
  return
}

// -----

// CHECK: call @project_sequence_8x4(
func.func @project_sequence(%x: memref<?x?x8xf32>, %e: memref<4x16xf32>, %y: memref<?x4x8xf32>) {
  transformer.project_sequence %x, %e into %y : (memref<?x?x8xf32>, memref<4x16xf32>, memref<?x4x8xf32>) -> ()
  return
}

// -----

// CHECK: call @take_rows_8(
// CHECK: call @put_rows_8(
func.func @taken_rows(%x: memref<?x?x8xf32>, %at: memref<?x?xi32>, %r: memref<?x?x8xf32>) {
  transformer.take_rows %x at %at into %r : (memref<?x?x8xf32>, memref<?x?xi32>, memref<?x?x8xf32>) -> ()
  transformer.put_rows %r at %at into %x : (memref<?x?x8xf32>, memref<?x?xi32>, memref<?x?x8xf32>) -> ()
  return
}
