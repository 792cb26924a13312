// Rows as a buffer of their own survive printing, the generic form and bytecode.
// RUN: heddle-opt %s | heddle-opt | FileCheck %s
// RUN: heddle-opt %s --mlir-print-op-generic | heddle-opt | FileCheck %s
// RUN: heddle-opt %s --emit-bytecode | heddle-opt | FileCheck %s

// CHECK-LABEL: @rows
func.func @rows(%x: memref<?x8xf32>, %ids: memref<?xi32>, %first: index, %count: index) {
  // CHECK: transformer.rows %{{.*}}[%{{.*}} for %{{.*}}] : memref<?x8xf32>
  %y = transformer.rows %x[%first for %count] : memref<?x8xf32>
  // CHECK: transformer.rows %{{.*}}[%{{.*}} for %{{.*}}] : memref<?xi32>
  %some = transformer.rows %ids[%first for %count] : memref<?xi32>
  return
}
