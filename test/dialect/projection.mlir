// Projected sequences survive printing, the generic form and bytecode.
// RUN: heddle-opt %s | heddle-opt | FileCheck %s
// RUN: heddle-opt %s --mlir-print-op-generic | heddle-opt | FileCheck %s
// RUN: heddle-opt %s --emit-bytecode | heddle-opt | FileCheck %s

// CHECK-LABEL: @tensors
func.func @tensors(%x: tensor<?x?x8xf32>, %e: tensor<4x16xf32>, %h: tensor<2x4x16xf32>, %n: tensor<?xi32>) {
  // CHECK: %[[K:.*]] = transformer.project_sequence %{{.*}}, %{{.*}} : (tensor<?x?x8xf32>, tensor<4x16xf32>) -> tensor<?x4x8xf32>
  %k = transformer.project_sequence %x, %e : (tensor<?x?x8xf32>, tensor<4x16xf32>) -> tensor<?x4x8xf32>
  // CHECK: %[[V:.*]] = transformer.project_sequence %{{.*}}, %{{.*}} lengths(%{{.*}}) : (tensor<?x?x8xf32>, tensor<2x4x16xf32>, tensor<?xi32>) -> tensor<?x4x8xf32>
  %v = transformer.project_sequence %x, %h lengths(%n) : (tensor<?x?x8xf32>, tensor<2x4x16xf32>, tensor<?xi32>) -> tensor<?x4x8xf32>
  // CHECK: transformer.attention %{{.*}}, %[[K]], %[[V]] {heads = 2 : i64}
  %y = transformer.attention %x, %k, %v {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x4x8xf32>, tensor<?x4x8xf32>) -> tensor<?x?x8xf32>
  %all = transformer.mask.full
  %z = transformer.attention %x, %k, %v mask(%all) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x4x8xf32>, tensor<?x4x8xf32>, !transformer.mask) -> tensor<?x?x8xf32>
  return
}

// CHECK-LABEL: @memrefs
func.func @memrefs(%x: memref<?x?x8xf32>, %e: memref<4x16xf32>, %y: memref<?x4x8xf32>) {
  // CHECK: transformer.project_sequence %{{.*}}, %{{.*}} into %{{.*}} : (memref<?x?x8xf32>, memref<4x16xf32>, memref<?x4x8xf32>) -> ()
  transformer.project_sequence %x, %e into %y : (memref<?x?x8xf32>, memref<4x16xf32>, memref<?x4x8xf32>) -> ()
  return
}
