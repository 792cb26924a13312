// Layers between others become a loop over chunks of rows.
// RUN: heddle-opt %s "-transformer-chunk-rows=rows=64 bytes=524288" -split-input-file | FileCheck %s

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

// A layer writes over rows that are read no more, the oldest ones; what goes
// through all layers stands in the memory of the result.

// CHECK-LABEL: @residual_stream
// CHECK-SAME: %[[OUT:[^:]*]]: memref<?x?x8xf32> {transformer.dims = ["batch", "source"], transformer.output}
// CHECK: transformer.activation relu %{{.*}} into %[[OUT]] :
// CHECK: transformer.attention %[[OUT]], %[[OUT]], %[[OUT]] into %[[A:.*]] {heads
// CHECK: memref.collapse_shape %[[A]]
// CHECK: %[[X:.*]] = memref.collapse_shape %[[OUT]]
// CHECK: scf.for
// CHECK: %[[XR:.*]] = transformer.rows %[[X]]
// CHECK: transformer.linear %{{.*}} residual(%[[XR]]) into
// CHECK: transformer.linear %{{.*}} into %[[XR]] :
// CHECK: }
// CHECK: transformer.attention %[[OUT]], %[[OUT]], %[[OUT]] into
// CHECK: scf.for
// CHECK: transformer.linear
// CHECK: transformer.linear %{{.*}} into
// CHECK-NOT: transformer.activation
transformer.parameter @w : tensor<8x8xf32>
func.func private @residual_stream(%ids: memref<?x?x8xf32> {transformer.dims = ["batch", "source"]}, %out: memref<?x?x8xf32> {transformer.dims = ["batch", "source"], transformer.output}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = memref.dim %ids, %c0 : memref<?x?x8xf32>
  %source = memref.dim %ids, %c1 : memref<?x?x8xf32>
  %w = transformer.weight @w : memref<8x8xf32>
  %x = memref.alloc(%batch, %source) : memref<?x?x8xf32>
  transformer.activation relu %ids into %x : (memref<?x?x8xf32>, memref<?x?x8xf32>) -> ()
  %a = memref.alloc(%batch, %source) : memref<?x?x8xf32>
  transformer.attention %x, %x, %x into %a {heads = 1 : i64} : (memref<?x?x8xf32>, memref<?x?x8xf32>, memref<?x?x8xf32>, memref<?x?x8xf32>) -> ()
  %h = memref.alloc(%batch, %source) : memref<?x?x8xf32>
  transformer.linear %a, %w residual(%x) into %h : (memref<?x?x8xf32>, memref<8x8xf32>, memref<?x?x8xf32>, memref<?x?x8xf32>) -> ()
  %y = memref.alloc(%batch, %source) : memref<?x?x8xf32>
  transformer.linear %h, %w into %y : (memref<?x?x8xf32>, memref<8x8xf32>, memref<?x?x8xf32>) -> ()
  %b = memref.alloc(%batch, %source) : memref<?x?x8xf32>
  transformer.attention %y, %y, %y into %b {heads = 1 : i64} : (memref<?x?x8xf32>, memref<?x?x8xf32>, memref<?x?x8xf32>, memref<?x?x8xf32>) -> ()
  %i = memref.alloc(%batch, %source) : memref<?x?x8xf32>
  transformer.linear %b, %w residual(%y) into %i : (memref<?x?x8xf32>, memref<8x8xf32>, memref<?x?x8xf32>, memref<?x?x8xf32>) -> ()
  transformer.linear %i, %w into %out : (memref<?x?x8xf32>, memref<8x8xf32>, memref<?x?x8xf32>) -> ()
  return
}

// -----

// Rows that are read later stay; a norm works in place.

// CHECK-LABEL: @rows_that_are_needed
// CHECK: transformer.attention %{{.*}} into %alloc {heads
// CHECK: scf.for
// CHECK: %[[Z:.*]] = transformer.rows %collapse_shape[
// CHECK: transformer.linear %[[Z]], %{{.*}} into %[[H:[0-9]+]] :
// CHECK: transformer.norm layer %[[H]], %{{.*}} residual(%[[Z]]) into %[[Z]] {
// CHECK: transformer.linear %[[Z]],
// CHECK: }
// CHECK: transformer.attention %alloc, %[[Y:alloc_[0-9]+]], %[[Y]] into %arg1
transformer.parameter @w : tensor<8x8xf32>
transformer.parameter @g : tensor<8xf32>
func.func private @rows_that_are_needed(%x: memref<?x?x8xf32> {transformer.dims = ["batch", "source"]}, %out: memref<?x?x8xf32> {transformer.dims = ["batch", "source"], transformer.output}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = memref.dim %x, %c0 : memref<?x?x8xf32>
  %source = memref.dim %x, %c1 : memref<?x?x8xf32>
  %w = transformer.weight @w : memref<8x8xf32>
  %g = transformer.weight @g : memref<8xf32>
  %a = memref.alloc(%batch, %source) : memref<?x?x8xf32>
  transformer.attention %x, %x, %x into %a {heads = 1 : i64} : (memref<?x?x8xf32>, memref<?x?x8xf32>, memref<?x?x8xf32>, memref<?x?x8xf32>) -> ()
  %h = memref.alloc(%batch, %source) : memref<?x?x8xf32>
  transformer.linear %a, %w into %h : (memref<?x?x8xf32>, memref<8x8xf32>, memref<?x?x8xf32>) -> ()
  %z = memref.alloc(%batch, %source) : memref<?x?x8xf32>
  transformer.norm layer %h, %g residual(%a) into %z {epsilon = 1.0e-5 : f32} : (memref<?x?x8xf32>, memref<8xf32>, memref<?x?x8xf32>, memref<?x?x8xf32>) -> ()
  %i = memref.alloc(%batch, %source) : memref<?x?x8xf32>
  transformer.activation relu %z into %i : (memref<?x?x8xf32>, memref<?x?x8xf32>) -> ()
  %y = memref.alloc(%batch, %source) : memref<?x?x8xf32>
  transformer.linear %z, %w residual(%i) into %y : (memref<?x?x8xf32>, memref<8x8xf32>, memref<?x?x8xf32>, memref<?x?x8xf32>) -> ()
  transformer.attention %z, %y, %y into %out {heads = 1 : i64} : (memref<?x?x8xf32>, memref<?x?x8xf32>, memref<?x?x8xf32>, memref<?x?x8xf32>) -> ()
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

// -----

// Rows that are pooled: each chunk moves the largest numbers up. Of 16 kilobytes a row
// 32 are half a mebibyte.

// CHECK-LABEL: @largest_of_chunks
// CHECK-SAME: %[[X:[^:]*]]: memref<?x8xf32>
// CHECK-SAME: %[[Y:[^:]*]]: memref<?x4096xf32>
// CHECK: %[[LONGEST:.*]] = arith.minui %{{.*}}, %c32
// CHECK: %[[LOGITS:.*]] = memref.alloc(%[[LONGEST]]) : memref<?x4096xf32>
// CHECK: transformer.fill like %[[Y]] into %[[Y]] {value = -1.000000e+09 : f32, width = 4096 : i64}
// CHECK: scf.for
// CHECK: %[[FIRST:.*]] = arith.divui
// CHECK: %[[L:.*]] = transformer.rows %[[LOGITS]][%c0{{.*}} for %{{.*}}]
// CHECK: transformer.linear %{{.*}}, %{{.*}} into %[[L]]
// CHECK: transformer.pool [max] %[[L]] of %{{.*}} starts %{{.*}} rows %[[FIRST]] into %[[Y]]
// CHECK: }
// CHECK-NEXT: return
transformer.parameter @w : tensor<8x4096xf32>
func.func private @largest_of_chunks(%x: memref<?x8xf32> {transformer.dims = ["tokens"]}, %n: memref<?xi32> {transformer.dims = ["batch"]}, %starts: memref<?xi32> {transformer.dims = ["batch"]}, %y: memref<?x4096xf32> {transformer.dims = ["batch"]}) {
  %c0 = arith.constant 0 : index
  %tokens = memref.dim %x, %c0 : memref<?x8xf32>
  %w = transformer.weight @w : memref<8x4096xf32>
  %logits = memref.alloc(%tokens) : memref<?x4096xf32>
  transformer.linear %x, %w into %logits : (memref<?x8xf32>, memref<8x4096xf32>, memref<?x4096xf32>) -> ()
  transformer.pool [max] %logits of %n starts %starts into %y : (memref<?x4096xf32>, memref<?xi32>, memref<?xi32>, memref<?x4096xf32>) -> ()
  return
}

// -----

// Other modes read all rows, and so does what else asks for them.

// CHECK-LABEL: @means_of_all
// CHECK-NOT: scf.for
// CHECK: return
// CHECK-LABEL: @read_by_others
// CHECK-NOT: rows %
// CHECK: transformer.pool [max] %{{.*}} of %{{.*}} starts %{{.*}} into
transformer.parameter @w : tensor<8x4096xf32>
func.func private @means_of_all(%x: memref<?x8xf32> {transformer.dims = ["tokens"]}, %n: memref<?xi32> {transformer.dims = ["batch"]}, %starts: memref<?xi32> {transformer.dims = ["batch"]}, %y: memref<?x8192xf32> {transformer.dims = ["batch"]}) {
  %c0 = arith.constant 0 : index
  %tokens = memref.dim %x, %c0 : memref<?x8xf32>
  %w = transformer.weight @w : memref<8x4096xf32>
  %logits = memref.alloc(%tokens) : memref<?x4096xf32>
  transformer.linear %x, %w into %logits : (memref<?x8xf32>, memref<8x4096xf32>, memref<?x4096xf32>) -> ()
  transformer.pool [max, mean] %logits of %n starts %starts into %y : (memref<?x4096xf32>, memref<?xi32>, memref<?xi32>, memref<?x8192xf32>) -> ()
  return
}
func.func private @read_by_others(%x: memref<?x8xf32> {transformer.dims = ["tokens"]}, %n: memref<?xi32> {transformer.dims = ["batch"]}, %starts: memref<?xi32> {transformer.dims = ["batch"]}, %y: memref<?x4096xf32> {transformer.dims = ["batch"]}, %z: memref<?x4096xf32> {transformer.dims = ["tokens"]}) {
  %c0 = arith.constant 0 : index
  %tokens = memref.dim %x, %c0 : memref<?x8xf32>
  %w = transformer.weight @w : memref<8x4096xf32>
  %logits = memref.alloc(%tokens) : memref<?x4096xf32>
  transformer.linear %x, %w into %logits : (memref<?x8xf32>, memref<8x4096xf32>, memref<?x4096xf32>) -> ()
  transformer.pool [max] %logits of %n starts %starts into %y : (memref<?x4096xf32>, memref<?xi32>, memref<?xi32>, memref<?x4096xf32>) -> ()
  memref.copy %logits, %z : memref<?x4096xf32> to memref<?x4096xf32>
  return
}
