// Masks survive printing, the generic form and bytecode.
// RUN: heddle-opt %s | heddle-opt | FileCheck %s
// RUN: heddle-opt %s --mlir-print-op-generic | heddle-opt | FileCheck %s
// RUN: heddle-opt %s --emit-bytecode | heddle-opt | FileCheck %s

// CHECK-LABEL: @masks
// CHECK-SAME: (%[[LENGTHS:.*]]: tensor<?xi32>, %[[BUFFER:.*]]: memref<?xi32>)
func.func @masks(%lengths: tensor<?xi32>, %buffer: memref<?xi32>) {
  // CHECK: %[[FULL:.*]] = transformer.mask.full{{$}}
  %full = transformer.mask.full
  // CHECK: transformer.mask.empty{{$}}
  %empty = transformer.mask.empty
  // CHECK: %[[CAUSAL:.*]] = transformer.mask.causal{{$}}
  %causal = transformer.mask.causal
  // CHECK: transformer.mask.padding %[[LENGTHS]] : tensor<?xi32>
  %padding = transformer.mask.padding %lengths : tensor<?xi32>
  // CHECK: transformer.mask.padding %[[BUFFER]] : memref<?xi32>
  %valid = transformer.mask.padding %buffer : memref<?xi32>
  // CHECK: transformer.mask.window [left = 128, right = 0]
  %window = transformer.mask.window [left = 128, right = 0]
  // CHECK: transformer.mask.window [left = 2, right = 2, dilation = [1, 1, 2, 4]]
  %dilated = transformer.mask.window [left = 2, right = 2, dilation = [1, 1, 2, 4]]
  // CHECK: transformer.mask.window [left = [1, 2], right = 0, dilation = 3]
  %per_head = transformer.mask.window [left = [1, 2], right = [0], dilation = [3]]
  // CHECK: transformer.mask.window [left = 2147483647, right = 0]
  %widest = transformer.mask.window [left = 2147483647, right = 0]
  // CHECK: %[[AND:.*]] = transformer.mask.and %[[CAUSAL]], %[[FULL]]
  %and = transformer.mask.and %causal, %full
  // CHECK: %[[OR:.*]] = transformer.mask.or %[[AND]], %[[CAUSAL]]
  %or = transformer.mask.or %and, %causal
  // CHECK: transformer.mask.not %[[OR]]
  %not = transformer.mask.not %or
  return
}

// CHECK-LABEL: @sparse_masks
func.func @sparse_masks(%per_row: tensor<?xi32>, %ids: tensor<?x?xi32>, %table: tensor<?x?xi8>) {
  // CHECK: transformer.mask.prefix [length = 16]
  %prefix = transformer.mask.prefix [length = 16]
  // CHECK: transformer.mask.global [count = 2]
  %global = transformer.mask.global [count = 2]
  // CHECK: transformer.mask.global columns of %{{.*}} : tensor<?x?xi32>
  %tokens = transformer.mask.global columns of %ids : tensor<?x?xi32>
  // CHECK: transformer.mask.segments %{{.*}} : tensor<?x?xi32>
  %segments = transformer.mask.segments %ids : tensor<?x?xi32>
  // CHECK: transformer.mask.blocks %{{.*}}, %{{.*}}[block = 64] : tensor<?xi32>, tensor<?xi32>
  %blocks = transformer.mask.blocks %per_row, %per_row [block = 64] : tensor<?xi32>, tensor<?xi32>
  // CHECK: transformer.mask.pairs %{{.*}}, %{{.*}} : tensor<?xi32>, tensor<?xi32>
  %pairs = transformer.mask.pairs %per_row, %per_row : tensor<?xi32>, tensor<?xi32>
  // CHECK: transformer.mask.dense %{{.*}} : tensor<?x?xi8>
  %dense = transformer.mask.dense %table : tensor<?x?xi8>
  // CHECK: transformer.mask.where within[left = 4, right = 0] {
  // CHECK-NEXT: ^bb0(%{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32):
  %where = transformer.mask.where within [left = 4, right = 0] {
  ^bb0(%b: i32, %h: i32, %i: i32, %j: i32):
    %is = arith.cmpi ne, %i, %j : i32
    transformer.yield %is : i1
  }
  // CHECK: transformer.mask.random_blocks [block = 64, count = 3, seed = 1] of %{{.*}} : tensor<?xi32>
  %random_blocks = transformer.mask.random_blocks [block = 64, count = 3, seed = 1] of %per_row : tensor<?xi32>
  // CHECK: transformer.mask.random_tokens [count = 64, seed = 4294967295]{{$}}
  %random_tokens = transformer.mask.random_tokens [count = 64, seed = 4294967295]
  return
}
