// Linear attention survives printing, the generic form and bytecode.
// RUN: heddle-opt %s | heddle-opt | FileCheck %s
// RUN: heddle-opt %s --mlir-print-op-generic | heddle-opt | FileCheck %s
// RUN: heddle-opt %s --emit-bytecode | heddle-opt | FileCheck %s

// CHECK-LABEL: @tensors
func.func @tensors(%x: tensor<?x?x8xf32>, %n: tensor<?xi32>, %v: tensor<?x?x6xf32>, %h: tensor<?x?x8xbf16>) {
  // CHECK: transformer.linear_attention %{{.*}}, %{{.*}}, %{{.*}} {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x6xf32>) -> tensor<?x?x6xf32>
  %a = transformer.linear_attention %x, %x, %v {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x6xf32>) -> tensor<?x?x6xf32>
  // CHECK: transformer.linear_attention %{{.*}}, %{{.*}}, %{{.*}} lengths(%{{.*}}) causal {heads = 4 : i64, kv_heads = 2 : i64} features taylor : (tensor<?x?x8xbf16>, tensor<?x?x4xbf16>, tensor<?x?x4xbf16>, tensor<?xi32>) -> tensor<?x?x8xf32>
  %k = tensor.extract_slice %h[0, 0, 0] [1, 1, 4] [1, 1, 1] : tensor<?x?x8xbf16> to tensor<1x1x4xbf16>
  %g = tensor.cast %k : tensor<1x1x4xbf16> to tensor<?x?x4xbf16>
  %b = transformer.linear_attention %h, %g, %g lengths(%n) causal {heads = 4 : i64, kv_heads = 2 : i64} features taylor : (tensor<?x?x8xbf16>, tensor<?x?x4xbf16>, tensor<?x?x4xbf16>, tensor<?xi32>) -> tensor<?x?x8xf32>
  // CHECK: transformer.linear_attention {{.*}} {heads = 2 : i64} features {
  // CHECK-NEXT: ^bb0(%[[X:.*]]: f32):
  // CHECK-NEXT: %[[Y:.*]] = math.exp %[[X]] : f32
  // CHECK-NEXT: transformer.yield %[[Y]] : f32
  // CHECK-NEXT: } : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %c = transformer.linear_attention %x, %x, %x {heads = 2 : i64} features {
  ^bb0(%e: f32):
    %y = math.exp %e : f32
    transformer.yield %y : f32
  } : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  // CHECK: transformer.linear_attention.sums %{{.*}}, %{{.*}} lengths(%{{.*}}) {heads = 2 : i64} features relu : (tensor<?x?x8xf32>, tensor<?x?x6xf32>, tensor<?xi32>) -> (tensor<?x2x4x3xf32>, tensor<?x2x4xf32>)
  %s, %z = transformer.linear_attention.sums %x, %v lengths(%n) {heads = 2 : i64} features relu : (tensor<?x?x8xf32>, tensor<?x?x6xf32>, tensor<?xi32>) -> (tensor<?x2x4x3xf32>, tensor<?x2x4xf32>)
  // CHECK: transformer.linear_attention.read %{{.*}}, %{{.*}}, %{{.*}} {heads = 2 : i64} features relu : (tensor<?x?x8xf32>, tensor<?x2x4x3xf32>, tensor<?x2x4xf32>) -> tensor<?x?x6xf32>
  %r = transformer.linear_attention.read %x, %s, %z {heads = 2 : i64} features relu : (tensor<?x?x8xf32>, tensor<?x2x4x3xf32>, tensor<?x2x4xf32>) -> tensor<?x?x6xf32>
  return
}

// One row a position; phi has one more feature than a head has elements.

// CHECK-LABEL: @steps
func.func @steps(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>, %s: tensor<?x2x5x4xf32>, %z: tensor<?x2x5xf32>, %of: tensor<?xi32>) {
  // CHECK: transformer.linear_attention step %{{.*}}, %{{.*}}, %{{.*}} into %{{.*}}, %{{.*}}, %{{.*}} {heads = 2 : i64} features taylor : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x2x5x4xf32>, tensor<?x2x5xf32>) -> (tensor<?x8xf32>, tensor<?x2x5x4xf32>, tensor<?x2x5xf32>)
  %a:3 = transformer.linear_attention step %x, %x, %x into %y, %s, %z {heads = 2 : i64} features taylor : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x2x5x4xf32>, tensor<?x2x5xf32>) -> (tensor<?x8xf32>, tensor<?x2x5x4xf32>, tensor<?x2x5xf32>)
  // CHECK: transformer.linear_attention.read %{{.*}}, %{{.*}}, %{{.*}} of %{{.*}} {heads = 2 : i64} features taylor : (tensor<?x8xf32>, tensor<?x2x5x4xf32>, tensor<?x2x5xf32>, tensor<?xi32>) -> tensor<?x8xf32>
  %r = transformer.linear_attention.read %x, %s, %z of %of {heads = 2 : i64} features taylor : (tensor<?x8xf32>, tensor<?x2x5x4xf32>, tensor<?x2x5xf32>, tensor<?xi32>) -> tensor<?x8xf32>
  return
}

// CHECK-LABEL: @memrefs
func.func @memrefs(%x: memref<?x?x8xf32>, %row: memref<?x8xf32>, %s: memref<?x2x4x4xf32>, %z: memref<?x2x4xf32>) {
  // CHECK: transformer.linear_attention %{{.*}}, %{{.*}}, %{{.*}} causal into %{{.*}} {heads = 2 : i64} : (memref<?x?x8xf32>, memref<?x?x8xf32>, memref<?x?x8xf32>, memref<?x?x8xf32>) -> ()
  transformer.linear_attention %x, %x, %x causal into %x {heads = 2 : i64} : (memref<?x?x8xf32>, memref<?x?x8xf32>, memref<?x?x8xf32>, memref<?x?x8xf32>) -> ()
  // CHECK: transformer.linear_attention step %{{.*}}, %{{.*}}, %{{.*}} into %{{.*}}, %{{.*}}, %{{.*}} {heads = 2 : i64}
  transformer.linear_attention step %row, %row, %row into %row, %s, %z {heads = 2 : i64} : (memref<?x8xf32>, memref<?x8xf32>, memref<?x8xf32>, memref<?x8xf32>, memref<?x2x4x4xf32>, memref<?x2x4xf32>) -> ()
  // CHECK: transformer.linear_attention.sums %{{.*}}, %{{.*}} into %{{.*}}, %{{.*}} {heads = 2 : i64}
  transformer.linear_attention.sums %x, %x into %s, %z {heads = 2 : i64} : (memref<?x?x8xf32>, memref<?x?x8xf32>, memref<?x2x4x4xf32>, memref<?x2x4xf32>) -> ()
  // CHECK: transformer.linear_attention.read %{{.*}}, %{{.*}}, %{{.*}} into %{{.*}} {heads = 2 : i64}
  transformer.linear_attention.read %x, %s, %z into %x {heads = 2 : i64} : (memref<?x?x8xf32>, memref<?x2x4x4xf32>, memref<?x2x4xf32>, memref<?x?x8xf32>) -> ()
  return
}
