// In a step, heads that share keys share a block where their mask says the same of
// them all: a mask of a plugin says so by what it asks for.
// RUN: heddle-opt %s --load-dialect-plugin=%{parity} -transformer-emit-grids=architecture=sm_80 -split-input-file | FileCheck %s

// CHECK-LABEL: @same_of_all
// CHECK: transformer.launch = {blocks = 2 : i64, shared_bytes = 4224 : i64, threads = 128 : i64}
func.func private @same_of_all(%q: memref<?x256xbf16>, %k: memref<?x?x64xbf16>,
    %at: memref<?xi32>, %of: memref<?xi32>, %y: memref<?x256xf32>)
    attributes {transformer.kernel} {
  %causal = transformer.mask.causal
  %same = parity.same
  %mask = transformer.mask.and %causal, %same
  transformer.attention %q, %k, %k mask(%mask) at %at of %of into %y {heads = 4 : i64, kv_heads = 1 : i64, scale = 1.0 : f32}
    : (memref<?x256xbf16>, memref<?x?x64xbf16>, memref<?x?x64xbf16>,
       !transformer.mask, memref<?xi32>, memref<?xi32>, memref<?x256xf32>) -> ()
  return
}

// -----

// CHECK-LABEL: @own_of_each
// CHECK: transformer.launch = {blocks = 3 : i64, shared_bytes = 1056 : i64, threads = 128 : i64}
func.func private @own_of_each(%q: memref<?x256xbf16>, %k: memref<?x?x64xbf16>,
    %at: memref<?xi32>, %of: memref<?xi32>, %y: memref<?x256xf32>)
    attributes {transformer.kernel} {
  %causal = transformer.mask.causal
  %own = parity.of_head
  %mask = transformer.mask.and %causal, %own
  transformer.attention %q, %k, %k mask(%mask) at %at of %of into %y {heads = 4 : i64, kv_heads = 1 : i64, scale = 1.0 : f32}
    : (memref<?x256xbf16>, memref<?x?x64xbf16>, memref<?x?x64xbf16>,
       !transformer.mask, memref<?xi32>, memref<?xi32>, memref<?x256xf32>) -> ()
  return
}
