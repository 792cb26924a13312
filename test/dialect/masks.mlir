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
