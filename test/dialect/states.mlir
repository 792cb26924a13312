// Recurrences and caches survive printing, the generic form and bytecode.
// RUN: heddle-opt %s | heddle-opt | FileCheck %s
// RUN: heddle-opt %s --mlir-print-op-generic | heddle-opt | FileCheck %s
// RUN: heddle-opt %s --emit-bytecode | heddle-opt | FileCheck %s

// CHECK-LABEL: @tensors
func.func @tensors(%f: tensor<?x?x8xf32>, %row: tensor<?x8xf32>, %state: tensor<?x8xf32>, %positions: tensor<?xi32>, %cache: tensor<?x?x8xf32>, %ring: tensor<?x4x8xf32>) {
  // CHECK: transformer.recurrence %{{.*}}, %{{.*}} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %c = transformer.recurrence %f, %f : (tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  // CHECK: transformer.recurrence step %{{.*}}, %{{.*}} into %{{.*}} : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %s = transformer.recurrence step %row, %row into %state : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK: transformer.cache.append %{{.*}} at %{{.*}} into %{{.*}} : (tensor<?x8xf32>, tensor<?xi32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %k = transformer.cache.append %row at %positions into %cache : (tensor<?x8xf32>, tensor<?xi32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  // CHECK: transformer.cache.append %{{.*}} at %{{.*}} into %{{.*}} : (tensor<?x8xf32>, tensor<?xi32>, tensor<?x4x8xf32>) -> tensor<?x4x8xf32>
  %r = transformer.cache.append %row at %positions into %ring : (tensor<?x8xf32>, tensor<?xi32>, tensor<?x4x8xf32>) -> tensor<?x4x8xf32>
  // CHECK: transformer.cache.append %[[ROW:.*]] at %[[AT:.*]] in %[[AT]] into %[[CACHE:.*]] : (tensor<?x8xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %i = transformer.cache.append %row at %positions in %positions into %cache : (tensor<?x8xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  // CHECK: transformer.cache.fill %[[F:.*]] lengths(%[[AT]]) into %[[CACHE]] {pinned = 2 : i64} : (tensor<?x?x8xf32>, tensor<?xi32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %l = transformer.cache.fill %f lengths(%positions) into %cache {pinned = 2 : i64} : (tensor<?x?x8xf32>, tensor<?xi32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  // CHECK: transformer.cache.fill %[[F]] lengths(%[[AT]]) in %[[AT]] into %[[CACHE]] : (tensor<?x?x8xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %m = transformer.cache.fill %f lengths(%positions) in %positions into %cache : (tensor<?x?x8xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  // CHECK: transformer.last_rows %[[F]] lengths(%[[AT]]) into %{{.*}} : (tensor<?x?x8xf32>, tensor<?xi32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %n = transformer.last_rows %f lengths(%positions) into %state : (tensor<?x?x8xf32>, tensor<?xi32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// CHECK-LABEL: @memrefs
func.func @memrefs(%f: memref<?x?x8xf32>, %row: memref<?x8xf32>, %positions: memref<?xi32>, %cache: memref<?x?x8xf32>) {
  // CHECK: transformer.recurrence %{{.*}}, %{{.*}} into %{{.*}} : (memref<?x?x8xf32>, memref<?x?x8xf32>, memref<?x?x8xf32>) -> ()
  transformer.recurrence %f, %f into %f : (memref<?x?x8xf32>, memref<?x?x8xf32>, memref<?x?x8xf32>) -> ()
  // CHECK: transformer.recurrence step %{{.*}}, %{{.*}} into %{{.*}} : (memref<?x8xf32>, memref<?x8xf32>, memref<?x8xf32>) -> ()
  transformer.recurrence step %row, %row into %row : (memref<?x8xf32>, memref<?x8xf32>, memref<?x8xf32>) -> ()
  // CHECK: transformer.cache.append %{{.*}} at %{{.*}} into %{{.*}} : (memref<?x8xf32>, memref<?xi32>, memref<?x?x8xf32>) -> ()
  transformer.cache.append %row at %positions into %cache : (memref<?x8xf32>, memref<?xi32>, memref<?x?x8xf32>) -> ()
  // CHECK: transformer.cache.fill %{{.*}} lengths(%{{.*}}) in %{{.*}} into %{{.*}} : (memref<?x?x8xf32>, memref<?xi32>, memref<?xi32>, memref<?x?x8xf32>) -> ()
  transformer.cache.fill %f lengths(%positions) in %positions into %cache : (memref<?x?x8xf32>, memref<?xi32>, memref<?xi32>, memref<?x?x8xf32>) -> ()
  // CHECK: transformer.last_rows %{{.*}} lengths(%{{.*}}) into %{{.*}} : (memref<?x?x8xf32>, memref<?xi32>, memref<?x8xf32>) -> ()
  transformer.last_rows %f lengths(%positions) into %row : (memref<?x?x8xf32>, memref<?xi32>, memref<?x8xf32>) -> ()
  return
}
