// RUN: heddle-opt %s -transformer-split-linear-attention -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @all_positions(
// CHECK-SAME: %[[Q:[^:]*]]: tensor<?x?x8xf32>, %[[K:[^:]*]]: tensor<?x?x4xf32>, %[[N:[^:]*]]: tensor<?xi32>
// CHECK: %[[S:.*]]:2 = transformer.linear_attention.sums %[[K]], %[[K]] lengths(%[[N]]) {heads = 2 : i64} features taylor
// CHECK-SAME: -> (tensor<?x2x3x2xf32>, tensor<?x2x3xf32>)
// CHECK: %[[Y:.*]] = transformer.linear_attention.read %[[Q]], %[[S]]#0, %[[S]]#1 {heads = 4 : i64} features taylor
// CHECK: return %[[Y]]
func.func @all_positions(%q: tensor<?x?x8xf32>, %k: tensor<?x?x4xf32>, %n: tensor<?xi32>) -> tensor<?x?x8xf32> {
  %y = transformer.linear_attention %q, %k, %k lengths(%n) {heads = 4 : i64, kv_heads = 2 : i64} features taylor : (tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?xi32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

// Both have the region; the place of the result stays.

// CHECK-LABEL: func.func @region(
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x?x8xf32>, %[[TO:[^:]*]]: tensor<?x?x8xf32>
// CHECK: transformer.linear_attention.sums %[[X]], %[[X]] {heads = 2 : i64} features {
// CHECK: math.exp
// CHECK: transformer.linear_attention.read %[[X]], %{{.*}}, %{{.*}} into %[[TO]] {heads = 2 : i64} features {
// CHECK: math.exp
func.func @region(%x: tensor<?x?x8xf32>, %to: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %y = transformer.linear_attention %x, %x, %x into %to {heads = 2 : i64} features {
  ^bb0(%e: f32):
    %f = math.exp %e : f32
    transformer.yield %f : f32
  } : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

// A causal one has other sums at each position.

// CHECK-LABEL: func.func @causal(
// CHECK-NOT: linear_attention.
// CHECK: transformer.linear_attention {{.*}} causal
// CHECK-NOT: linear_attention.
func.func @causal(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %y = transformer.linear_attention %x, %x, %x causal {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}
