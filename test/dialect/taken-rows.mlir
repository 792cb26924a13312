// Rows that lists name survive printing, the generic form and bytecode.
// RUN: heddle-opt %s | heddle-opt | FileCheck %s
// RUN: heddle-opt %s --mlir-print-op-generic | heddle-opt | FileCheck %s
// RUN: heddle-opt %s --emit-bytecode | heddle-opt | FileCheck %s

// CHECK-LABEL: @tensors
func.func @tensors(%x: tensor<?x?x8xf32>, %at: tensor<?x?xi32>, %two: tensor<?x2xi32>, %rows: tensor<?x8xf32>, %list: tensor<?xi32>) {
  // CHECK: %[[R:.*]] = transformer.take_rows %{{.*}} at %{{.*}} : (tensor<?x?x8xf32>, tensor<?x?xi32>) -> tensor<?x?x8xf32>
  %r = transformer.take_rows %x at %at : (tensor<?x?x8xf32>, tensor<?x?xi32>) -> tensor<?x?x8xf32>
  // CHECK: transformer.take_rows %{{.*}} at %{{.*}} : (tensor<?x?x8xf32>, tensor<?x2xi32>) -> tensor<?x2x8xf32>
  %s = transformer.take_rows %x at %two : (tensor<?x?x8xf32>, tensor<?x2xi32>) -> tensor<?x2x8xf32>
  // Rows of tokens.
  // CHECK: transformer.take_rows %{{.*}} at %{{.*}} : (tensor<?x8xf32>, tensor<?xi32>) -> tensor<?x8xf32>
  %t = transformer.take_rows %rows at %list : (tensor<?x8xf32>, tensor<?xi32>) -> tensor<?x8xf32>
  // CHECK: transformer.put_rows %[[R]] at %{{.*}} into %{{.*}} : (tensor<?x?x8xf32>, tensor<?x?xi32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %y = transformer.put_rows %r at %at into %x : (tensor<?x?x8xf32>, tensor<?x?xi32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  // Positions of sequences that stand one behind the other.
  // CHECK: %[[U:.*]] = transformer.take_rows %{{.*}} at %{{.*}} of(%{{.*}}, %{{.*}}) : (tensor<?x8xf32>, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x?x8xf32>
  %u = transformer.take_rows %rows at %at of(%list, %list) : (tensor<?x8xf32>, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x?x8xf32>
  // CHECK: transformer.put_rows %[[U]] at %{{.*}} of(%{{.*}}, %{{.*}}) into %{{.*}} : (tensor<?x?x8xf32>, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %z = transformer.put_rows %u at %at of(%list, %list) into %rows : (tensor<?x?x8xf32>, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// CHECK-LABEL: @memrefs
func.func @memrefs(%x: memref<?x?x8xf32>, %at: memref<?x?xi32>, %r: memref<?x?x8xf32>, %rows: memref<?x8xf32>, %n: memref<?xi32>) {
  // CHECK: transformer.take_rows %{{.*}} at %{{.*}} into %{{.*}} : (memref<?x?x8xf32>, memref<?x?xi32>, memref<?x?x8xf32>) -> ()
  transformer.take_rows %x at %at into %r : (memref<?x?x8xf32>, memref<?x?xi32>, memref<?x?x8xf32>) -> ()
  // CHECK: transformer.take_rows %{{.*}} at %{{.*}} of(%{{.*}}, %{{.*}}) into %{{.*}} : (memref<?x8xf32>, memref<?x?xi32>, memref<?xi32>, memref<?xi32>, memref<?x?x8xf32>) -> ()
  transformer.take_rows %rows at %at of(%n, %n) into %r : (memref<?x8xf32>, memref<?x?xi32>, memref<?xi32>, memref<?xi32>, memref<?x?x8xf32>) -> ()
  // CHECK: transformer.put_rows %{{.*}} at %{{.*}} into %{{.*}} : (memref<?x?x8xf32>, memref<?x?xi32>, memref<?x?x8xf32>) -> ()
  transformer.put_rows %r at %at into %x : (memref<?x?x8xf32>, memref<?x?xi32>, memref<?x?x8xf32>) -> ()
  return
}

// Masks over queries without positions tell keys apart, whatever they are made
// of.

// CHECK-LABEL: @masks
func.func @masks(%x: tensor<?x?x8xf32>, %at: tensor<?x?xi32>, %n: tensor<?xi32>) {
  %q = transformer.take_rows %x at %at : (tensor<?x?x8xf32>, tensor<?x?xi32>) -> tensor<?x?x8xf32>
  %valid = transformer.mask.padding %n : tensor<?xi32>
  %first = transformer.mask.prefix [length = 3]
  %columns = transformer.mask.global columns of %at : tensor<?x?xi32>
  %full = transformer.mask.full
  %rest = transformer.mask.not %first
  %some = transformer.mask.or %rest, %columns
  %both = transformer.mask.and %valid, %some
  %mask = transformer.mask.and %both, %full
  // CHECK: transformer.attention
  %y = transformer.attention %q, %x, %x mask(%mask) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, !transformer.mask) -> tensor<?x?x8xf32>
  return
}
