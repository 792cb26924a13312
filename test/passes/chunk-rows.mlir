// Layers between others become a loop over chunks of rows.
// RUN: heddle-opt %s -transformer-chunk-rows=rows=64 -split-input-file | FileCheck %s

// The example of the pass's description.

// CHECK-LABEL: @hidden_vectors_of_a_chunk
// CHECK: %[[ROWS:.*]] = arith.muli
// CHECK: %[[X:.*]] = memref.collapse_shape %{{.*}} {{\[\[}}0, 1], [2]]
// CHECK: %[[LONGEST:.*]] = arith.minui %[[ROWS]], %c64
// CHECK: %[[H:.*]] = memref.alloc(%[[LONGEST]]) : memref<?x32xf32>
// CHECK: %[[Y:.*]] = memref.collapse_shape
// CHECK: %[[CHUNKS:.*]] = arith.ceildivui %[[ROWS]], %c64
// CHECK: scf.for %[[I:.*]] = %c0{{.*}} to %[[CHUNKS]] step
// CHECK: %[[FIRST:.*]] = arith.divui %{{.*}}, %[[CHUNKS]]
// CHECK: %[[END:.*]] = arith.divui %{{.*}}, %[[CHUNKS]]
// CHECK: %[[LENGTH:.*]] = arith.subi %[[END]], %[[FIRST]]
// CHECK: %[[XR:.*]] = transformer.rows %[[X]][%[[FIRST]] for %[[LENGTH]]]
// CHECK: %[[HR:.*]] = transformer.rows %[[H]][%c0{{.*}} for %[[LENGTH]]]
// CHECK: %[[YR:.*]] = transformer.rows %[[Y]][%[[FIRST]] for %[[LENGTH]]]
// CHECK: transformer.linear %[[XR]], %{{.*}} activation(gelu) into %[[HR]]
// CHECK: transformer.linear %[[HR]], %{{.*}} into %[[YR]]
// CHECK: return
transformer.parameter @w1 : tensor<8x32xf32>
transformer.parameter @w2 : tensor<32x8xf32>
func.func private @hidden_vectors_of_a_chunk(%x: memref<?x?x8xf32> {transformer.dims = ["batch", "source"]}, %y: memref<?x?x8xf32> {transformer.dims = ["batch", "source"]}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = memref.dim %x, %c0 : memref<?x?x8xf32>
  %source = memref.dim %x, %c1 : memref<?x?x8xf32>
  %w1 = transformer.weight @w1 : memref<8x32xf32>
  %h = memref.alloc(%batch, %source) : memref<?x?x32xf32>
  transformer.linear %x, %w1 activation(gelu) into %h : (memref<?x?x8xf32>, memref<8x32xf32>, memref<?x?x32xf32>) -> ()
  %w2 = transformer.weight @w2 : memref<32x8xf32>
  transformer.linear %h, %w2 into %y : (memref<?x?x32xf32>, memref<32x8xf32>, memref<?x?x8xf32>) -> ()
  return
}

// -----

// Integers and their scales are rows, too; what is read behind the layers stays
// whole, and a layer that reads nothing else stays outside.

// CHECK-LABEL: @what_others_read_stays_whole
// CHECK: %[[KEPT:.*]] = memref.alloc(%{{.*}}, %{{.*}}) : memref<?x?x8xf32>
// CHECK-NOT: memref.alloc(%{{.*}}, %{{.*}})
// CHECK: memref.alloc(%{{.*}}) : memref<?x8xi8>
// CHECK: memref.alloc(%{{.*}}) : memref<?xf32>
// CHECK: scf.for
// CHECK: transformer.quantize
// CHECK: transformer.linear
// CHECK: }
// CHECK: transformer.activation relu %[[KEPT]]
// CHECK: memref.copy %[[KEPT]]
transformer.parameter @w : tensor<8x8xi8>
transformer.parameter @t : tensor<8xf32>
func.func private @what_others_read_stays_whole(%x: memref<?x?x8xf32> {transformer.dims = ["batch", "source"]}, %y: memref<?x?x8xf32> {transformer.dims = ["batch", "source"]}, %z: memref<?x?x8xf32> {transformer.dims = ["batch", "source"]}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = memref.dim %x, %c0 : memref<?x?x8xf32>
  %source = memref.dim %x, %c1 : memref<?x?x8xf32>
  %kept = memref.alloc(%batch, %source) : memref<?x?x8xf32>
  %q = memref.alloc(%batch, %source) : memref<?x?x8xi8>
  %s = memref.alloc(%batch, %source) : memref<?x?xf32>
  %w = transformer.weight @w : memref<8x8xi8>
  %t = transformer.weight @t : memref<8xf32>
  transformer.quantize %x into %q, %s : (memref<?x?x8xf32>, memref<?x?x8xi8>, memref<?x?xf32>) -> ()
  transformer.linear %q scales(%s), %w scales(%t) into %kept : (memref<?x?x8xi8>, memref<?x?xf32>, memref<8x8xi8>, memref<8xf32>, memref<?x?x8xf32>) -> ()
  transformer.activation relu %kept into %y : (memref<?x?x8xf32>, memref<?x?x8xf32>) -> ()
  memref.copy %kept, %z : memref<?x?x8xf32> to memref<?x?x8xf32>
  return
}

// -----

// An op that mixes rows ends what a chunk can do; so do other rows.

// CHECK-LABEL: @rows_that_see_each_other
// CHECK-NOT: scf.for
// CHECK: return
func.func private @rows_that_see_each_other(%x: memref<?x?x8xf32> {transformer.dims = ["batch", "source"]}, %y: memref<?x?x8xf32> {transformer.dims = ["batch", "source"]}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = memref.dim %x, %c0 : memref<?x?x8xf32>
  %source = memref.dim %x, %c1 : memref<?x?x8xf32>
  %a = memref.alloc(%batch, %source) : memref<?x?x8xf32>
  %b = memref.alloc(%batch, %source) : memref<?x?x8xf32>
  %full = transformer.mask.full
  transformer.activation relu %x into %a : (memref<?x?x8xf32>, memref<?x?x8xf32>) -> ()
  transformer.attention %a, %a, %a mask(%full) into %b {heads = 1 : i64} : (memref<?x?x8xf32>, memref<?x?x8xf32>, memref<?x?x8xf32>, !transformer.mask, memref<?x?x8xf32>) -> ()
  transformer.activation relu %b into %y : (memref<?x?x8xf32>, memref<?x?x8xf32>) -> ()
  return
}

// CHECK-LABEL: @rows_of_other_dimensions
// CHECK-NOT: scf.for
// CHECK: return
func.func private @rows_of_other_dimensions(%x: memref<?x?x8xf32> {transformer.dims = ["batch", "source"]}, %y: memref<?x?x8xf32> {transformer.dims = ["batch", "target"]}, %z: memref<?x?x8xf32> {transformer.dims = ["batch", "source"]}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = memref.dim %x, %c0 : memref<?x?x8xf32>
  %source = memref.dim %x, %c1 : memref<?x?x8xf32>
  %a = memref.alloc(%batch, %source) : memref<?x?x8xf32>
  transformer.activation relu %x into %a : (memref<?x?x8xf32>, memref<?x?x8xf32>) -> ()
  transformer.activation gelu %y into %y : (memref<?x?x8xf32>, memref<?x?x8xf32>) -> ()
  transformer.activation relu %a into %z : (memref<?x?x8xf32>, memref<?x?x8xf32>) -> ()
  return
}

// -----

// Rows of a step are few.

// CHECK-LABEL: @rows_of_a_step
// CHECK-NOT: scf.for
// CHECK: return
func.func private @rows_of_a_step(%x: memref<?x8xf32> {transformer.dims = ["rows"]}, %y: memref<?x8xf32> {transformer.dims = ["rows"]}) {
  %c0 = arith.constant 0 : index
  %rows = memref.dim %x, %c0 : memref<?x8xf32>
  %a = memref.alloc(%rows) : memref<?x8xf32>
  transformer.activation relu %x into %a : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  transformer.activation relu %a into %y : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  return
}

// -----

// A weight that is computed may be what the layers before it write.

// CHECK-LABEL: @computed_weight
// CHECK-NOT: scf.for
// CHECK: return
func.func private @computed_weight(%x: memref<?x?x8xf32> {transformer.dims = ["batch", "source"]}, %w: memref<8x8xf32>, %y: memref<?x?x8xf32> {transformer.dims = ["batch", "source"]}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = memref.dim %x, %c0 : memref<?x?x8xf32>
  %source = memref.dim %x, %c1 : memref<?x?x8xf32>
  %a = memref.alloc(%batch, %source) : memref<?x?x8xf32>
  transformer.activation relu %x into %a : (memref<?x?x8xf32>, memref<?x?x8xf32>) -> ()
  transformer.linear %a, %w into %y : (memref<?x?x8xf32>, memref<8x8xf32>, memref<?x?x8xf32>) -> ()
  return
}
