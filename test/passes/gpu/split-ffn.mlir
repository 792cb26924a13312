// An ffn becomes two linears, with its hidden vectors in front of the arena.
// RUN: heddle-opt %s -transformer-split-ffn -canonicalize | FileCheck %s

// 2,048 rows of 128 integers, of as many f32, and of a scale each.
// CHECK-LABEL: func.func private @encode(
// CHECK-SAME: %[[IDS:[^:]*]]: memref<?x?x64xi8>
// CHECK-SAME: %[[ARENA:[^:]*]]: memref<?xi8> {transformer.arena})
// CHECK: memref.view %[[ARENA]][%c1318912][%{{.*}}]
// CHECK: %[[X:.*]] = memref.collapse_shape %[[IDS]]
// CHECK: %[[ROWS:.*]] = memref.dim %[[X]], %c0
// CHECK: scf.for %[[FIRST:.*]] = %c0 to %[[ROWS]] step %c2048
// CHECK: %[[LEFT:.*]] = arith.subi %[[ROWS]], %[[FIRST]]
// CHECK: %[[COUNT:.*]] = arith.minui %[[LEFT]], %c2048
// CHECK: %[[FACTORS:.*]] = memref.view %[[ARENA]][%c0][%[[COUNT]]] : memref<?xi8> to memref<?x128xi8>
// CHECK: %[[HIDDEN:.*]] = memref.view %[[ARENA]][%c262144][%[[COUNT]]] : memref<?xi8> to memref<?x128xf32>
// CHECK: %[[SCALES:.*]] = memref.view %[[ARENA]][%c1310720][%[[COUNT]]] : memref<?xi8> to memref<?xf32>
// CHECK: transformer.linear {{.*}} activation(relu) into %[[HIDDEN]]
// CHECK: transformer.quantize %[[HIDDEN]] into %[[FACTORS]], %[[SCALES]]
// CHECK: transformer.linear %[[FACTORS]] scales(%[[SCALES]]), {{.*}} residual(
// CHECK-NOT: transformer.ffn
func.func private @encode(%x: memref<?x?x64xi8>, %s: memref<?x?xf32>,
    %w1: memref<4x17x32x4xi8>, %t1: memref<128xf32>, %w2: memref<2x33x32x4xi8>,
    %t2: memref<64xf32>, %y: memref<?x?x64xf32>,
    %arena: memref<?xi8> {transformer.arena}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = memref.dim %x, %c0 : memref<?x?x64xi8>
  %length = memref.dim %x, %c1 : memref<?x?x64xi8>
  %r = memref.view %arena[%c0][%batch, %length] : memref<?xi8> to memref<?x?x64xf32>
  transformer.ffn %x scales(%s), %w1 scales(%t1), %w2 scales(%t2) activation(relu)
      residual(%r) into %y
    : (memref<?x?x64xi8>, memref<?x?xf32>, memref<4x17x32x4xi8>, memref<128xf32>,
       memref<2x33x32x4xi8>, memref<64xf32>, memref<?x?x64xf32>, memref<?x?x64xf32>) -> ()
  return
}

// CHECK-LABEL: func.func private @encode.arena(
// CHECK: %[[ALL:.*]] = arith.addi %{{.*}}, %c1318912
// CHECK: return %[[ALL]]
func.func private @encode.arena(%batch: index, %length: index) -> index
    attributes {transformer.arena = @encode} {
  %rows = arith.muli %batch, %length : index
  return %rows : index
}
