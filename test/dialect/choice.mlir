// Forms that the ops of a choice have.
// RUN: heddle-opt %s | heddle-opt | FileCheck %s

// CHECK-LABEL: @tensors(
func.func @tensors(%x: tensor<?x8xf32>, %w: tensor<8x70xf32>, %b: tensor<70xf32>, %f: tensor<?x?xi32>) -> (tensor<?x3xf32>, tensor<?x3xi32>) {
  // CHECK: transformer.largest_logits %{{.*}}, %{{.*}}, %{{.*}} without %{{.*}} {range = 32 : i64, vocabulary = 70 : i64} : (tensor<?x8xf32>, tensor<8x70xf32>, tensor<70xf32>, tensor<?x?xi32>) -> (tensor<?x3xf32>, tensor<?x3xi32>)
  %v, %i = transformer.largest_logits %x, %w, %b without %f {range = 32 : i64, vocabulary = 70 : i64} : (tensor<?x8xf32>, tensor<8x70xf32>, tensor<70xf32>, tensor<?x?xi32>) -> (tensor<?x3xf32>, tensor<?x3xi32>)
  return %v, %i : tensor<?x3xf32>, tensor<?x3xi32>
}

// CHECK-LABEL: @integers(
func.func @integers(%x: tensor<?x8xi8>, %s: tensor<?xf32>, %w: tensor<8x70xi8>, %t: tensor<70xf32>, %f: tensor<?x?xi32>) -> (tensor<?x1xf32>, tensor<?x1xi32>) {
  // CHECK: transformer.largest_logits %{{.*}} scales(%{{.*}}), %{{.*}} scales(%{{.*}}) without %{{.*}} {range = 96 : i64, vocabulary = 70 : i64} :
  %v, %i = transformer.largest_logits %x scales(%s), %w scales(%t) without %f {range = 96 : i64, vocabulary = 70 : i64} : (tensor<?x8xi8>, tensor<?xf32>, tensor<8x70xi8>, tensor<70xf32>, tensor<?x?xi32>) -> (tensor<?x1xf32>, tensor<?x1xi32>)
  return %v, %i : tensor<?x1xf32>, tensor<?x1xi32>
}

// CHECK-LABEL: @memory(
func.func @memory(%x: memref<?x8xf32>, %w: memref<3x8x32xf32>, %f: memref<?x?xi32>, %v: memref<?x3xf32>, %i: memref<?x3xi32>) {
  // CHECK: transformer.largest_logits %{{.*}}, %{{.*}} without %{{.*}} into %{{.*}}, %{{.*}} {range = 32 : i64, vocabulary = 70 : i64} :
  transformer.largest_logits %x, %w without %f into %v, %i {range = 32 : i64, vocabulary = 70 : i64} : (memref<?x8xf32>, memref<3x8x32xf32>, memref<?x?xi32>, memref<?x3xf32>, memref<?x3xi32>) -> ()
  return
}

// CHECK-LABEL: @best(
func.func @best(%x: tensor<?x8xf32>, %w: tensor<8x70xf32>, %b: tensor<70xf32>, %f: tensor<?x?xi32>, %m: tensor<?x3xf32>, %s: tensor<?x3xf32>, %v: tensor<?x3x?xf32>, %i: tensor<?x3x?xi32>) -> tensor<?x3x?xi32> {
  // CHECK: transformer.best_logits %{{.*}}, %{{.*}}, %{{.*}} without %{{.*}} into %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {range = 32 : i64, vocabulary = 70 : i64} : (tensor<?x8xf32>, tensor<8x70xf32>, tensor<70xf32>, tensor<?x?xi32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3x?xf32>, tensor<?x3x?xi32>) -> (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3x?xf32>, tensor<?x3x?xi32>)
  %r:4 = transformer.best_logits %x, %w, %b without %f into %m, %s, %v, %i {range = 32 : i64, vocabulary = 70 : i64} : (tensor<?x8xf32>, tensor<8x70xf32>, tensor<70xf32>, tensor<?x?xi32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3x?xf32>, tensor<?x3x?xi32>) -> (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3x?xf32>, tensor<?x3x?xi32>)
  return %r#3 : tensor<?x3x?xi32>
}

// CHECK-LABEL: @best_in_memory(
func.func @best_in_memory(%x: memref<?x8xi8>, %t: memref<?xf32>, %w: memref<8x70xi8>, %u: memref<70xf32>, %f: memref<?x?xi32>, %m: memref<?x1xf32>, %s: memref<?x1xf32>, %v: memref<?x1x4xf32>, %i: memref<?x1x4xi32>) {
  // CHECK: transformer.best_logits %{{.*}} scales(%{{.*}}), %{{.*}} scales(%{{.*}}) without %{{.*}} into %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {range = 96 : i64, vocabulary = 70 : i64} :
  transformer.best_logits %x scales(%t), %w scales(%u) without %f into %m, %s, %v, %i {range = 96 : i64, vocabulary = 70 : i64} : (memref<?x8xi8>, memref<?xf32>, memref<8x70xi8>, memref<70xf32>, memref<?x?xi32>, memref<?x1xf32>, memref<?x1xf32>, memref<?x1x4xf32>, memref<?x1x4xi32>) -> ()
  return
}
