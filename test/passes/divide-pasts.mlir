// A step over caches of its own gets memory for the parts of its pasts.
// RUN: heddle-opt %s -transformer-divide-pasts -split-input-file | FileCheck %s

// The rows are those of the function, however the query is made.

// CHECK-LABEL: @divides_a_long_past
// CHECK-SAME: %[[AT:[^:]*]]: memref<?xi32> {transformer.dims = ["rows"]}
// CHECK: %[[ROWS:.*]] = memref.dim %[[AT]], %{{.*}}
// CHECK: %[[FEW:.*]] = arith.minui %[[ROWS]], %c16
// CHECK: %[[PARTS:.*]] = memref.alloc(%[[FEW]]) : memref<?x4x16x104xf32>
// CHECK: transformer.attention {{.*}} parts(%[[PARTS]]) into
func.func private @divides_a_long_past(
    %at: memref<?xi32> {transformer.dims = ["rows"]},
    %of: memref<?xi32> {transformer.dims = ["rows"]},
    %in: memref<?xi32> {transformer.dims = ["rows"]},
    %q: memref<?x96xf32> {transformer.dims = ["rows"]},
    %k: memref<?x?x48xf32> {transformer.dims = ["caches", "capacity"]},
    %v: memref<?x?x80xf32> {transformer.dims = ["caches", "capacity"]},
    %y: memref<?x160xf32> {transformer.dims = ["rows"]}) {
  %m = transformer.mask.causal
  transformer.attention %q, %k, %v mask(%m) at %at of %of in %in into %y
    {heads = 4 : i64, kv_heads = 2 : i64}
    : (memref<?x96xf32>, memref<?x?x48xf32>, memref<?x?x80xf32>,
       !transformer.mask, memref<?xi32>, memref<?xi32>, memref<?xi32>,
       memref<?x160xf32>) -> ()
  return
}

// -----

// The ring of a short window has one part, and an encoder's memory is no past.

// CHECK-LABEL: @leaves_what_is_short
// CHECK-NOT: parts(
func.func private @leaves_what_is_short(
    %at: memref<?xi32> {transformer.dims = ["rows"]},
    %of: memref<?xi32> {transformer.dims = ["rows"]},
    %q: memref<?x96xf32> {transformer.dims = ["rows"]},
    %ring: memref<?x?x96xf32> {transformer.dims = ["rows", "capacity<=512"]},
    %memory: memref<?x?x96xf32> {transformer.dims = ["batch", "source"]},
    %y: memref<?x96xf32> {transformer.dims = ["rows"]}) {
  %w = transformer.mask.window [left = 511, right = 0]
  transformer.attention %q, %ring, %ring mask(%w) at %at of %of into %y
    {heads = 4 : i64}
    : (memref<?x96xf32>, memref<?x?x96xf32>, memref<?x?x96xf32>,
       !transformer.mask, memref<?xi32>, memref<?xi32>, memref<?x96xf32>) -> ()
  transformer.attention %q, %memory, %memory at %at of %of shared into %y
    {heads = 4 : i64}
    : (memref<?x96xf32>, memref<?x?x96xf32>, memref<?x?x96xf32>, memref<?xi32>,
       memref<?xi32>, memref<?x96xf32>) -> ()
  return
}
