// Layer ops become blocks of a GPU's threads.
// RUN: heddle-opt %s -transformer-emit-grids=architecture=sm_80 -split-input-file | FileCheck %s
// RUN: not heddle-opt %s -transformer-emit-grids=architecture=sm_1 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// UNKNOWN: there is no architecture 'sm_1' (supported: sm_80, sm_90a)

// Few rows have blocks of two warps, others of four, which multiply eight words
// of depth at once whatever they hold: here 32 bytes. What ends the product
// stands behind it, and a norm in a grid of its own.

// CHECK-LABEL: @products
// CHECK: %[[FEW:.*]] = arith.cmpi ult, %{{.*}}, %c65
// CHECK: scf.if %[[FEW]]
// CHECK: scf.parallel
// CHECK: nvvm.cp.async.shared.global
// CHECK: nvvm.cp.async.wait.group 2
// CHECK: nvvm.barrier0
// CHECK: nvvm.ldmatrix
// CHECK: nvvm.mma.sync {{.*}}shape = #nvvm.shape<m = 16, n = 8, k = 32>
// CHECK: arith.sitofp
// CHECK: llvm.store {{.*}}alignment = 16
// CHECK: transformer.launch = {shared_bytes = 25600 : i64, threads = 64 : i64}
// CHECK: else
// CHECK: transformer.launch = {shared_bytes = 61440 : i64, threads = 128 : i64}
// CHECK: scf.parallel
// CHECK: math.sqrt
// CHECK: transformer.launch = {shared_bytes = 0 : i64, threads = 128 : i64}
// CHECK-NOT: transformer.linear
// CHECK-NOT: transformer.norm
func.func private @products(%x: memref<?x256xi8>, %s: memref<?xf32>,
    %w: memref<8x65x32x4xi8>, %t: memref<256xf32>, %b: memref<256xf32>,
    %r: memref<?x256xf32>, %gamma: memref<256xf32>, %y: memref<?x256xf32>)
    attributes {transformer.kernel} {
  transformer.linear %x scales(%s), %w scales(%t), %b residual(%r)
      norm(rms, %gamma, 1.0e-06) into %y
    : (memref<?x256xi8>, memref<?xf32>, memref<8x65x32x4xi8>, memref<256xf32>,
       memref<256xf32>, memref<?x256xf32>, memref<256xf32>, memref<?x256xf32>) -> ()
  return
}

// -----

// f32 are multiplied and added by one instruction, as on a CPU.

// CHECK-LABEL: @floats
// CHECK: math.fma
// CHECK-NOT: nvvm.mma
// CHECK: transformer.launch = {{.*}}threads = 256
func.func private @floats(%x: memref<?x256xf32>, %w: memref<8x256x32xf32>,
    %y: memref<?x256xf32>) attributes {transformer.kernel} {
  transformer.linear %x, %w into %y
    : (memref<?x256xf32>, memref<8x256x32xf32>, memref<?x256xf32>) -> ()
  return
}

// -----

// Blocks of 128 queries: keys are copied while values are multiplied, the mask
// says which tiles are read, and is asked for pairs where a tile is not full.

// CHECK-LABEL: @attention_by_blocks
// CHECK: nvvm.cp.async.shared.global
// CHECK: scf.while
// CHECK: nvvm.barrier0
// CHECK: nvvm.cp.async.shared.global
// CHECK: nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<row>
// CHECK: nvvm.mma.sync {{.*}}shape = #nvvm.shape<m = 16, n = 8, k = 16>
// CHECK: nvvm.barrier0
// CHECK: nvvm.cp.async.shared.global
// CHECK: nvvm.shfl.sync
// CHECK: "llvm.nvvm.ex2.approx.ftz.f32"
// CHECK: nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<col>
// CHECK: nvvm.mma.sync
// CHECK: transformer.launch = {shared_bytes = 20496 : i64, threads = 128 : i64}
// CHECK-NOT: transformer.attention
func.func private @attention_by_blocks(%q: memref<?x?x64xbf16>,
    %k: memref<?x?x64xbf16>, %v: memref<?x?x64xbf16>, %y: memref<?x?x64xf32>)
    attributes {transformer.kernel} {
  %mask = transformer.mask.window [left = 8, right = 8]
  transformer.attention %q, %k, %v mask(%mask) into %y {heads = 2 : i64, scale = 1.0 : f32}
    : (memref<?x?x64xbf16>, memref<?x?x64xbf16>, memref<?x?x64xbf16>,
       !transformer.mask, memref<?x?x64xf32>) -> ()
  return
}

// -----

// f32 are products of tf32, three for each.

// CHECK-LABEL: @attention_of_floats
// CHECK: nvvm.mma.sync {{.*}}multiplicandAPtxType = #nvvm.mma_type<tf32>
// CHECK: math.exp
// CHECK: transformer.launch = {shared_bytes = 36880 : i64, threads = 128 : i64}
func.func private @attention_of_floats(%q: memref<?x?x64xf32>,
    %k: memref<?x?x64xf32>, %v: memref<?x?x64xf32>, %y: memref<?x?x64xf32>)
    attributes {transformer.kernel} {
  transformer.attention %q, %k, %v into %y {heads = 2 : i64, scale = 1.0 : f32}
    : (memref<?x?x64xf32>, memref<?x?x64xf32>, memref<?x?x64xf32>,
       memref<?x?x64xf32>) -> ()
  return
}

// -----

// A step: a block takes a chunk of a query's keys, pieces of 16 bytes are read,
// and warps meet in shared memory; chunks meet in a second grid, of no blocks
// where there is one.

// CHECK-LABEL: @attention_in_a_step
// CHECK: %[[CHUNKS:.*]] = arith.ceildivui %{{.*}}, %c512
// CHECK: %[[STATES:.*]] = memref.alloc(%{{.*}}) : memref<?xf32>
// CHECK: scf.parallel
// CHECK: scf.while
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
// CHECK: nvvm.barrier0
// CHECK: transformer.launch = {blocks = 3 : i64, shared_bytes = 544 : i64, threads = 128 : i64}
// CHECK: arith.select %{{.*}}, %{{.*}}, %c0
// CHECK: scf.parallel
// CHECK: transformer.launch = {shared_bytes = 0 : i64, threads = 128 : i64}
// CHECK-NOT: transformer.attention
func.func private @attention_in_a_step(%q: memref<?x64xbf16>,
    %k: memref<?x?x64xbf16>, %v: memref<?x?x64xbf16>, %at: memref<?xi32>,
    %of: memref<?xi32>, %y: memref<?x64xf32>) attributes {transformer.kernel} {
  %mask = transformer.mask.causal
  transformer.attention %q, %k, %v mask(%mask) at %at of %of into %y {heads = 2 : i64, scale = 1.0 : f32}
    : (memref<?x64xbf16>, memref<?x?x64xbf16>, memref<?x?x64xbf16>,
       !transformer.mask, memref<?xi32>, memref<?xi32>, memref<?x64xf32>) -> ()
  return
}

// -----

// Heads of other widths and regions of similarity: a warp takes a query.

// CHECK-LABEL: @attention_by_warps
// CHECK: scf.while
// CHECK: nvvm.vote.sync
// CHECK: nvvm.shfl.sync
// CHECK: transformer.launch = {shared_bytes = 0 : i64, threads = 128 : i64}
// CHECK-NOT: transformer.attention
func.func private @attention_by_warps(%q: memref<?x?x24xf32>,
    %k: memref<?x?x24xf32>, %v: memref<?x?x24xf32>, %y: memref<?x?x24xf32>)
    attributes {transformer.kernel} {
  %mask = transformer.mask.window [left = 8, right = 8]
  transformer.attention %q, %k, %v mask(%mask) into %y {heads = 2 : i64, scale = 1.0 : f32}
    : (memref<?x?x24xf32>, memref<?x?x24xf32>, memref<?x?x24xf32>,
       !transformer.mask, memref<?x?x24xf32>) -> ()
  return
}

// -----

// Weights that are not packed stay.

// CHECK-LABEL: @others
// CHECK: transformer.linear
// CHECK-NOT: scf.parallel
func.func private @others(%x: memref<?x8xf32>, %w: memref<8x8xf32>,
    %y: memref<?x8xf32>) attributes {transformer.kernel} {
  transformer.linear %x, %w into %y
    : (memref<?x8xf32>, memref<8x8xf32>, memref<?x8xf32>) -> ()
  return
}

// -----

// Heads that share keys read them once: a block takes four queries of 64
// elements, and warps bring four states to shared memory. A mask that asks for
// the head may say something else of each, which takes a block for itself.

// CHECK-LABEL: @heads_that_share_keys
// CHECK: transformer.launch = {blocks = 2 : i64, shared_bytes = 4224 : i64, threads = 128 : i64}
// CHECK-LABEL: @heads_with_masks_of_their_own
// CHECK: transformer.launch = {blocks = 3 : i64, shared_bytes = 1056 : i64, threads = 128 : i64}
func.func private @heads_that_share_keys(%q: memref<?x512xf32>,
    %k: memref<?x?x128xf32>, %v: memref<?x?x128xf32>, %at: memref<?xi32>,
    %of: memref<?xi32>, %y: memref<?x512xf32>) attributes {transformer.kernel} {
  transformer.attention %q, %k, %v at %at of %of into %y
      {heads = 8 : i64, kv_heads = 2 : i64, scale = 1.0 : f32}
    : (memref<?x512xf32>, memref<?x?x128xf32>, memref<?x?x128xf32>,
       memref<?xi32>, memref<?xi32>, memref<?x512xf32>) -> ()
  return
}
func.func private @heads_with_masks_of_their_own(%q: memref<?x512xf32>,
    %k: memref<?x?x128xf32>, %v: memref<?x?x128xf32>, %at: memref<?xi32>,
    %of: memref<?xi32>, %y: memref<?x512xf32>) attributes {transformer.kernel} {
  %mask = transformer.mask.where {
  ^bb0(%b: i32, %h: i32, %i: i32, %j: i32):
    %is = arith.cmpi sle, %h, %j : i32
    transformer.yield %is : i1
  }
  transformer.attention %q, %k, %v mask(%mask) at %at of %of into %y
      {heads = 8 : i64, kv_heads = 2 : i64, scale = 1.0 : f32}
    : (memref<?x512xf32>, memref<?x?x128xf32>, memref<?x?x128xf32>,
       !transformer.mask, memref<?xi32>, memref<?xi32>, memref<?x512xf32>) -> ()
  return
}

// -----

// A window of every third position: blocks of every third query, for each
// remainder, read every third row of 256 bytes of the keys.

// CHECK-LABEL: @dilated
// CHECK: %[[QUERIES:.*]] = arith.ceildivui %{{.*}}, %c3
// CHECK: %[[REMAINDERS:.*]] = arith.minui {{.*}}%c3
// CHECK: %[[OF_REMAINDER:.*]] = arith.ceildivui %[[QUERIES]], %c128
// CHECK: arith.muli %[[OF_REMAINDER]], %[[REMAINDERS]]
// CHECK: arith.constant 768 : i64
// CHECK: nvvm.cp.async.shared.global
// CHECK-NOT: scf.index_switch
// CHECK: transformer.launch
func.func private @dilated(%q: memref<?x?x64xf32>, %k: memref<?x?x64xf32>,
    %v: memref<?x?x64xf32>, %y: memref<?x?x64xf32>)
    attributes {transformer.kernel} {
  %mask = transformer.mask.window [left = 8, right = 8, dilation = [3]]
  transformer.attention %q, %k, %v mask(%mask) into %y {heads = 2 : i64, scale = 1.0 : f32}
    : (memref<?x?x64xf32>, memref<?x?x64xf32>, memref<?x?x64xf32>,
       !transformer.mask, memref<?x?x64xf32>) -> ()
  return
}

// -----

// Heads whose windows differ are different code of one kernel.

// CHECK-LABEL: @windows_of_heads
// CHECK: scf.parallel
// CHECK: scf.index_switch
// CHECK: case 1
// CHECK: arith.constant 512 : i64
// CHECK: default
// CHECK: transformer.launch
func.func private @windows_of_heads(%q: memref<?x?x64xf32>,
    %k: memref<?x?x64xf32>, %v: memref<?x?x64xf32>, %y: memref<?x?x64xf32>)
    attributes {transformer.kernel} {
  %mask = transformer.mask.window [left = 8, right = 8, dilation = [1, 2]]
  transformer.attention %q, %k, %v mask(%mask) into %y {heads = 2 : i64, scale = 1.0 : f32}
    : (memref<?x?x64xf32>, memref<?x?x64xf32>, memref<?x?x64xf32>,
       !transformer.mask, memref<?x?x64xf32>) -> ()
  return
}
