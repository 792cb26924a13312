// Masks read buffers before anything else does.
// RUN: heddle-opt %s -transformer-buffer-masks | FileCheck %s

// CHECK-LABEL: @reads_a_buffer(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x8xf32>, %[[LENGTHS:.*]]: tensor<?xi32>)
func.func @reads_a_buffer(%x: tensor<?x?x8xf32>, %lengths: tensor<?xi32>)
    -> tensor<?x?x8xf32> {
  // CHECK: %[[BUFFER:.*]] = bufferization.to_buffer %[[LENGTHS]] read_only : tensor<?xi32> to memref<?xi32>
  // CHECK: %[[VALID:.*]] = transformer.mask.padding %[[BUFFER]] : memref<?xi32>
  %valid = transformer.mask.padding %lengths : tensor<?xi32>
  // CHECK: transformer.attention %[[X]], %[[X]], %[[X]] mask(%[[VALID]])
  %y = transformer.attention %x, %x, %x mask(%valid) {heads = 2 : i64}
    : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>,
       !transformer.mask) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// What a region reads, too.
// CHECK-LABEL: @reads_a_table(
// CHECK-SAME: %{{.*}}: tensor<?x?x8xf32>, %[[TABLE:.*]]: tensor<4xf32>)
func.func @reads_a_table(%x: tensor<?x?x8xf32>, %table: tensor<4xf32>)
    -> tensor<?x?x8xf32> {
  %zero = arith.constant 0.0 : f32
  // CHECK: %[[BUFFER:.*]] = bufferization.to_buffer %[[TABLE]] read_only
  // CHECK: transformer.mask.where
  // CHECK: transformer.lookup %[[BUFFER]][%{{.*}}] : memref<4xf32> -> f32
  %mask = transformer.mask.where {
  ^bb0(%b: i32, %h: i32, %i: i32, %j: i32):
    %slope = transformer.lookup %table[%h] : tensor<4xf32> -> f32
    %is = arith.cmpf ogt, %slope, %zero : f32
    transformer.yield %is : i1
  }
  %y = transformer.attention %x, %x, %x mask(%mask) {heads = 2 : i64}
    : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>,
       !transformer.mask) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}
