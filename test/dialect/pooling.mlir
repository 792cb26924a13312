// Pooled vectors and vectors of length 1 survive printing, the generic form and
// bytecode.
// RUN: heddle-opt %s | heddle-opt | FileCheck %s
// RUN: heddle-opt %s --mlir-print-op-generic | heddle-opt | FileCheck %s
// RUN: heddle-opt %s --emit-bytecode | heddle-opt | FileCheck %s

// CHECK-LABEL: @tensors
func.func @tensors(%x: tensor<?x?x8xf32>, %n: tensor<?xi32>, %three: tensor<3x?x8xf32>) {
  // CHECK: %[[Y:.*]] = transformer.pool [mean] %{{.*}} of %{{.*}} : (tensor<?x?x8xf32>, tensor<?xi32>) -> tensor<?x8xf32>
  %y = transformer.pool [mean] %x of %n : (tensor<?x?x8xf32>, tensor<?xi32>) -> tensor<?x8xf32>
  // Every mode, in an order of its own.
  // CHECK: transformer.pool [last, cls, weighted_mean, max, mean_sqrt, mean] %{{.*}} of %[[N:.*]] from %[[N]] : (tensor<?x?x8xf32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x48xf32>
  %all = transformer.pool [last, cls, weighted_mean, max, mean_sqrt, mean] %x of %n from %n : (tensor<?x?x8xf32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x48xf32>
  // CHECK: transformer.pool [cls] %{{.*}} of %{{.*}} : (tensor<3x?x8xf32>, tensor<?xi32>) -> tensor<3x8xf32>
  %known = transformer.pool [cls] %three of %n : (tensor<3x?x8xf32>, tensor<?xi32>) -> tensor<3x8xf32>
  // Sequences one behind the other.
  // CHECK: transformer.pool [mean, last] %[[Y]] of %[[N]] starts %[[N]] : (tensor<?x8xf32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x16xf32>
  %ragged = transformer.pool [mean, last] %y of %n starts %n : (tensor<?x8xf32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x16xf32>
  // CHECK: transformer.pool [cls] %{{.*}} of %[[N]] from %[[N]] starts %[[N]] into
  %into = transformer.pool [cls] %y of %n from %n starts %n into %y : (tensor<?x8xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK: transformer.normalize %[[Y]] {epsilon = 9.99999996E-13 : f32} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %z = transformer.normalize %y {epsilon = 1.0e-12 : f32} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK: transformer.normalize %{{.*}} into %{{.*}} {epsilon = 1.000000e+00 : f32} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %w = transformer.normalize %x into %x {epsilon = 1.0 : f32} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// CHECK-LABEL: @memrefs
func.func @memrefs(%x: memref<?x?x8xf32>, %n: memref<?xi32>, %y: memref<?x16xf32>, %part: memref<?x8xf32>, %first: index) {
  // CHECK: transformer.pool [max, mean] %{{.*}} of %{{.*}} into %{{.*}} : (memref<?x?x8xf32>, memref<?xi32>, memref<?x16xf32>) -> ()
  transformer.pool [max, mean] %x of %n into %y : (memref<?x?x8xf32>, memref<?xi32>, memref<?x16xf32>) -> ()
  // CHECK: transformer.pool [max, mean] %{{.*}} of %{{.*}} from %{{.*}} into %{{.*}} : (memref<?x?x8xf32>, memref<?xi32>, memref<?xi32>, memref<?x16xf32>) -> ()
  transformer.pool [max, mean] %x of %n from %n into %y : (memref<?x?x8xf32>, memref<?xi32>, memref<?xi32>, memref<?x16xf32>) -> ()
  // CHECK: transformer.pool [max] %{{.*}} of %{{.*}} starts %{{.*}} rows %{{.*}} into %{{.*}} : (memref<?x8xf32>, memref<?xi32>, memref<?xi32>, index, memref<?x8xf32>) -> ()
  transformer.pool [max] %part of %n starts %n rows %first into %part : (memref<?x8xf32>, memref<?xi32>, memref<?xi32>, index, memref<?x8xf32>) -> ()
  // CHECK: transformer.normalize %{{.*}} into %{{.*}} {epsilon = 9.99999996E-13 : f32} : (memref<?x16xf32>, memref<?x16xf32>) -> ()
  transformer.normalize %y into %y {epsilon = 1.0e-12 : f32} : (memref<?x16xf32>, memref<?x16xf32>) -> ()
  return
}
