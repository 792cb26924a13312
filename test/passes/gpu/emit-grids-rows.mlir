// Ops of rows and elements become blocks whose threads have pieces of 16 bytes
// where rows are made of such.
// RUN: heddle-opt %s -transformer-emit-grids=architecture=sm_80 -split-input-file | FileCheck %s

// CHECK-LABEL: @pieces
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-COUNT-4: arith.divf
// CHECK-NOT: arith.divf
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
// CHECK: transformer.launch = {shared_bytes = 0 : i64, threads = 128 : i64}
// CHECK-NOT: transformer.activation
func.func private @pieces(%x: memref<?x?x256xf32>, %y: memref<?x?x256xf32>)
    attributes {transformer.kernel} {
  transformer.activation silu %x into %y
    : (memref<?x?x256xf32>, memref<?x?x256xf32>) -> ()
  return
}

// -----

// CHECK-LABEL: @elements
// CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> f32
// CHECK-NOT: vector<4xf32>
// CHECK-NOT: transformer.activation
func.func private @elements(%x: memref<?x?xf32>, %y: memref<?x?xf32>)
    attributes {transformer.kernel} {
  transformer.activation relu %x into %y
    : (memref<?x?xf32>, memref<?x?xf32>) -> ()
  return
}

// -----

// What is copied is eight bf16 at once.

// CHECK-LABEL: @rows_of_bf16
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
// CHECK-NOT: transformer.cache.append
func.func private @rows_of_bf16(%x: memref<?x64xbf16>, %at: memref<?xi32>,
    %cache: memref<?x?x64xbf16>) attributes {transformer.kernel} {
  transformer.cache.append %x at %at into %cache
    : (memref<?x64xbf16>, memref<?xi32>, memref<?x?x64xbf16>) -> ()
  return
}

// -----

// A column's positions: eight loads of each input are under way at once.

// CHECK-LABEL: @recurrence
// CHECK: scf.for
// CHECK-COUNT-16: llvm.load
// CHECK: math.fma
// CHECK-NOT: llvm.load
// CHECK-NOT: transformer.recurrence
func.func private @recurrence(%f: memref<?x?x256xf32>, %v: memref<?x?x256xf32>,
    %y: memref<?x?x256xf32>) attributes {transformer.kernel} {
  transformer.recurrence %f, %v into %y
    : (memref<?x?x256xf32>, memref<?x?x256xf32>, memref<?x?x256xf32>) -> ()
  return
}

// -----

// Four lanes share a column of 64 features: 16 sums of a thread and as many
// totals pass from position to position in registers.

// CHECK-LABEL: @linear_attention
// CHECK: nvvm.barrier0
// CHECK: nvvm.barrier0
// CHECK: scf.for {{.*}} iter_args
// CHECK: math.fma
// CHECK: nvvm.shfl.sync bfly
// CHECK: transformer.launch = {shared_bytes = 12288 : i64, threads = 128 : i64}
// CHECK-NOT: transformer.linear_attention
func.func private @linear_attention(%q: memref<?x?x128xf32>,
    %k: memref<?x?x128xf32>, %v: memref<?x?x128xf32>, %y: memref<?x?x128xf32>)
    attributes {transformer.kernel} {
  transformer.linear_attention %q, %k, %v causal into %y {heads = 2 : i64}
    : (memref<?x?x128xf32>, memref<?x?x128xf32>, memref<?x?x128xf32>,
       memref<?x?x128xf32>) -> ()
  return
}

// -----

// What no emitter has is left: rows with gaps, and more features than registers
// hold.

// CHECK-LABEL: @left
// CHECK: transformer.activation
// CHECK: transformer.linear_attention.sums
func.func private @left(%x: memref<?x8xf32, strided<[16, 1]>>,
    %k: memref<?x?x255xf32>, %v: memref<?x?x64xf32>,
    %s: memref<?x1x255x64xf32>, %z: memref<?x1x255xf32>)
    attributes {transformer.kernel} {
  transformer.activation relu %x into %x
    : (memref<?x8xf32, strided<[16, 1]>>, memref<?x8xf32, strided<[16, 1]>>) -> ()
  transformer.linear_attention.sums %k, %v into %s, %z {heads = 1 : i64}
    : (memref<?x?x255xf32>, memref<?x?x64xf32>, memref<?x1x255x64xf32>,
       memref<?x1x255xf32>) -> ()
  return
}

// -----

// What callers pass and get back is copied by entry points themselves.

// CHECK-LABEL: @copies
// CHECK: scf.parallel
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
// CHECK-NOT: memref.copy
func.func private @copies(%x: memref<?x8xf32>, %y: memref<?x8xf32>) {
  memref.copy %x, %y : memref<?x8xf32> to memref<?x8xf32>
  return
}

// -----

// Rows of 24 bytes are pieces of 8.

// CHECK-LABEL: @short_pieces
// CHECK: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> vector<2xf32>
// CHECK: llvm.store %{{.*}} {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<1>
func.func private @short_pieces(%a: memref<?x6xf32>, %b: memref<?x6xf32>,
    %y: memref<?x6xf32>) attributes {transformer.kernel} {
  transformer.add %a, %b into %y
    : (memref<?x6xf32>, memref<?x6xf32>, memref<?x6xf32>) -> ()
  return
}

// -----

// A thread has a column of a sequence over all positions; of one that has none,
// the last is nothing.

// CHECK-LABEL: @pools
// CHECK: scf.for
// CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> f32
// CHECK: arith.divf
// CHECK: llvm.store
// CHECK: arith.select
// CHECK: llvm.store
// CHECK: transformer.launch = {shared_bytes = 0 : i64, threads = 128 : i64}
// CHECK-NOT: transformer.pool
func.func private @pools(%x: memref<?x?x24xf32>, %n: memref<?xi32>,
    %first: memref<?xi32>, %y: memref<?x48xf32>)
    attributes {transformer.kernel} {
  transformer.pool [mean, last] %x of %n from %first into %y
    : (memref<?x?x24xf32>, memref<?xi32>, memref<?xi32>, memref<?x48xf32>) -> ()
  return
}

// -----

// A warp has a row, in pieces of 16 bytes.

// CHECK-LABEL: @normalizes
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-COUNT-5: nvvm.shfl.sync
// CHECK: math.sqrt
// CHECK: arith.maximumf
// CHECK-COUNT-4: arith.divf
// CHECK-NOT: arith.divf
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
// CHECK-NOT: transformer.normalize
func.func private @normalizes(%x: memref<?x24xf32>, %y: memref<?x24xf32>)
    attributes {transformer.kernel} {
  transformer.normalize %x into %y {epsilon = 1.0e-12 : f32}
    : (memref<?x24xf32>, memref<?x24xf32>) -> ()
  return
}
