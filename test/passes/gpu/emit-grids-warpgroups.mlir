// Where an architecture has them, warpgroups multiply bf16 and integers.
// RUN: heddle-opt %s -transformer-emit-grids=architecture=sm_90a -split-input-file | FileCheck %s

// Up to 16 rows have blocks of one warpgroup that copies and one that
// multiplies, others have more rows and, where there are tiles for a third of
// the multiprocessors, two that multiply. From a half of them on, these blocks
// stay, and are clusters of two, which meet before the first copy and after the last arrival. Panels come as
// they are, of 32 words of depth each; the 65th word is a stage of its own, which is
// one of the loop, too, with zeros behind that word. Of
// products one group is under way while weights of the next one are loaded. Of few
// stages each is said to be there before the next ones are waited for.

// CHECK-LABEL: @bf16
// CHECK: %[[SMALL:.*]] = arith.cmpi ult, %{{.*}}, %c44
// CHECK: %[[MEDIUM:.*]] = arith.cmpi ult, %{{.*}}, %c67
// CHECK: %[[FEW:.*]] = arith.cmpi ult, %{{.*}}, %c17
// CHECK: scf.if %[[FEW]]
// CHECK: scf.parallel
// CHECK: nvvm.mbarrier.init
// CHECK: nvvm.fence.mbarrier.init
// CHECK: nvvm.barrier0
// CHECK-NOT: nvvm.setmaxregister
// CHECK: mbarrier.try_wait.parity
// CHECK: nvvm.mbarrier.arrive.expect_tx
// CHECK: nvvm.cp.async.bulk.shared.cluster.global
// CHECK: nvvm.cp.async.shared.global
// CHECK: nvvm.cp.async.wait.group 4
// CHECK: nvvm.fence.proxy
// CHECK: nvvm.mbarrier.arrive %
// CHECK: nvvm.cp.async.wait.group 3
// CHECK: nvvm.mbarrier.arrive %
// CHECK: nvvm.cp.async.wait.group 2
// CHECK: nvvm.mbarrier.arrive %
// CHECK: nvvm.cp.async.wait.group 1
// CHECK: nvvm.mbarrier.arrive %
// CHECK: nvvm.cp.async.wait.group 0
// CHECK: nvvm.mbarrier.arrive %
// CHECK: } else {
// CHECK: scf.for
// CHECK: mbarrier.try_wait.parity
// CHECK-COUNT-4: m64n16k16.f32.bf16.bf16
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: nvvm.wgmma.wait.group.sync.aligned 1
// CHECK: scf.yield
// CHECK-NOT: m64n16k16.f32.bf16.bf16
// CHECK: wgmma.wait_group.sync.aligned 0
// CHECK: llvm.store {{.*}}alignment = 16
// CHECK: transformer.launch = {shared_bytes = 110688 : i64, threads = 256 : i64}
// CHECK: } else {
// CHECK: scf.if %[[SMALL]]
// CHECK: m64n64k16.f32.bf16.bf16
// CHECK: transformer.launch = {shared_bytes = 98368 : i64, threads = 256 : i64}
// CHECK: } else {
// CHECK: scf.if %[[MEDIUM]]
// CHECK: m64n64k16.f32.bf16.bf16
// CHECK: transformer.launch = {shared_bytes = 204880 : i64, threads = 384 : i64}
// CHECK: } else {
// CHECK: %[[BLOCKS:.*]] = arith.muli %{{.*}}, %c2
// CHECK: scf.parallel {{.*}} to (%[[BLOCKS]])
// CHECK: nvvm.read.ptx.sreg.nclusterid.x
// CHECK: nvvm.mbarrier.init
// CHECK-NOT: nvvm.barrier0
// CHECK: nvvm.cluster.arrive
// CHECK: nvvm.cluster.wait
// CHECK: nvvm.setmaxregister decrease 88
// CHECK: mbarrier.try_wait.parity
// CHECK: nvvm.cp.async.bulk.shared.cluster.global {{.*}} multicast_mask =
// CHECK: nvvm.setmaxregister increase 208
// CHECK: m64n128k16.f32.bf16.bf16
// CHECK: nvvm.mapa
// CHECK: nvvm.mbarrier.arrive {{.*}} : !llvm.ptr<7>
// CHECK: nvvm.cluster.arrive
// CHECK: nvvm.cluster.wait
// CHECK: transformer.launch = {cluster = 2 : i64, shared_bytes = 196672 : i64, stays, threads = 384 : i64}
// CHECK-NOT: nvvm.mma.sync
func.func private @bf16(%x: memref<?x130xbf16>, %w: memref<8x65x32x2xbf16>,
    %y: memref<?x256xf32>) attributes {transformer.kernel} {
  transformer.linear %x, %w into %y
    : (memref<?x130xbf16>, memref<8x65x32x2xbf16>, memref<?x256xf32>) -> ()
  return
}

// -----

// CHECK-LABEL: @integers
// CHECK: m64n16k32.s32.s8.s8
// CHECK: m64n64k32.s32.s8.s8
// CHECK: m64n128k32.s32.s8.s8
// CHECK-NOT: nvvm.mma.sync
func.func private @integers(%x: memref<?x256xi8>, %s: memref<?xf32>,
    %w: memref<8x65x32x4xi8>, %t: memref<256xf32>, %y: memref<?x256xf32>)
    attributes {transformer.kernel} {
  transformer.linear %x scales(%s), %w scales(%t) into %y
    : (memref<?x256xi8>, memref<?xf32>, memref<8x65x32x4xi8>, memref<256xf32>,
       memref<?x256xf32>) -> ()
  return
}

// -----

// f32 are multiplied and added as on a CPU.

// CHECK-LABEL: @floats
// CHECK: math.fma
// CHECK-NOT: wgmma
func.func private @floats(%x: memref<?x256xf32>, %w: memref<8x256x32xf32>,
    %y: memref<?x256xf32>) attributes {transformer.kernel} {
  transformer.linear %x, %w into %y
    : (memref<?x256xf32>, memref<8x256x32xf32>, memref<?x256xf32>) -> ()
  return
}

// -----

// Attention of bf16 has a warpgroup that copies queries with the first keys, then
// keys and, if there were any before, their values, of which it looks for what
// is not finite in tiles that are not full. Two warpgroups multiply: the next
// keys, of 32 of depth, before the 128 values that they have weights of. Of 64
// queries and fewer one multiplies, in blocks that a multiprocessor has two of.

// CHECK-LABEL: @attention
// CHECK: %[[SHORT:.*]] = arith.cmpi ule, %{{.*}}, %c64
// CHECK: scf.if %[[SHORT]]
// CHECK: nvvm.setmaxregister decrease 32
// CHECK: nvvm.setmaxregister increase 224
// CHECK: transformer.launch = {blocks = 2 : i64, shared_bytes = 90272 : i64, threads = 256 : i64}
// CHECK: } else {
// CHECK: %[[ACTIVE:.*]] = arith.select %{{.*}}, %c2_i32
// CHECK: %[[WARPS:.*]] = arith.muli %[[ACTIVE]]
// CHECK: nvvm.mbarrier.init %{{.*}}, %c128_i32
// CHECK: nvvm.mbarrier.init %{{.*}}, %[[WARPS]]
// CHECK: nvvm.setmaxregister decrease 40
// CHECK: nvvm.cp.async.shared.global
// CHECK: scf.while
// CHECK: mbarrier.try_wait.parity
// CHECK: nvvm.cp.async.shared.global
// CHECK: nvvm.cp.async.wait.group 2
// CHECK: nvvm.vote.sync ballot
// CHECK: nvvm.fence.proxy
// CHECK: nvvm.mbarrier.arrive %
// CHECK: mbarrier.try_wait.parity
// CHECK: nvvm.cp.async.wait.group 1
// CHECK: nvvm.mbarrier.arrive %
// CHECK: nvvm.cp.async.wait.group 0
// CHECK: nvvm.mbarrier.arrive %
// CHECK: nvvm.setmaxregister increase 232
// CHECK: scf.if
// CHECK-COUNT-2: m64n128k16.f32.bf16.bf16
// CHECK: wgmma.wait_group.sync.aligned 0
// CHECK: scf.while
// CHECK: nvvm.wgmma.fence.aligned
// CHECK-COUNT-2: m64n128k16.f32.bf16.bf16
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: nvvm.wgmma.fence.aligned
// CHECK-COUNT-8: m64n32k16.f32.bf16.bf16
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: wgmma.wait_group.sync.aligned 1
// CHECK: nvvm.mbarrier.arrive %
// CHECK: "llvm.nvvm.ex2.approx.ftz.f32"
// CHECK: scf.if
// CHECK-NEXT: llvm.intr.trap
// CHECK: wgmma.wait_group.sync.aligned 0
// CHECK: nvvm.mbarrier.arrive %
// CHECK-COUNT-8: m64n32k16.f32.bf16.bf16
// CHECK: wgmma.wait_group.sync.aligned 0
// CHECK: transformer.launch = {shared_bytes = 98464 : i64, threads = 384 : i64}
// CHECK-NOT: nvvm.mma.sync
func.func private @attention(%q: memref<?x?x64xbf16>, %k: memref<?x?x64xbf16>,
    %v: memref<?x?x64xbf16>, %y: memref<?x?x64xf32>)
    attributes {transformer.kernel} {
  %mask = transformer.mask.causal
  transformer.attention %q, %k, %v mask(%mask) into %y {heads = 2 : i64, scale = 1.0 : f32}
    : (memref<?x?x64xbf16>, memref<?x?x64xbf16>, memref<?x?x64xbf16>,
       !transformer.mask, memref<?x?x64xf32>) -> ()
  return
}

// -----

// Many ranges are walked over with more registers, and have smaller tiles.

// CHECK-LABEL: @many_ranges
// CHECK: nvvm.setmaxregister decrease 88
// CHECK: nvvm.setmaxregister increase 208
// CHECK: m64n64k16.f32.bf16.bf16
// CHECK: transformer.launch = {shared_bytes = 57504 : i64, threads = 384 : i64}
func.func private @many_ranges(%q: memref<?x?x64xbf16>, %k: memref<?x?x64xbf16>,
    %v: memref<?x?x64xbf16>, %y: memref<?x?x64xf32>)
    attributes {transformer.kernel} {
  %mask = transformer.mask.random_blocks [block = 64, count = 3, seed = 7]
  transformer.attention %q, %k, %v mask(%mask) into %y {heads = 2 : i64, scale = 1.0 : f32}
    : (memref<?x?x64xbf16>, memref<?x?x64xbf16>, memref<?x?x64xbf16>,
       !transformer.mask, memref<?x?x64xf32>) -> ()
  return
}

// -----

// Heads that are too wide, and f32, have blocks of warps.

// CHECK-LABEL: @wide_attention
// CHECK: nvvm.mma.sync
// CHECK-NOT: wgmma
func.func private @wide_attention(%q: memref<?x?x256xbf16>,
    %k: memref<?x?x256xbf16>, %v: memref<?x?x256xbf16>, %y: memref<?x?x256xf32>)
    attributes {transformer.kernel} {
  transformer.attention %q, %k, %v into %y {heads = 1 : i64, scale = 1.0 : f32}
    : (memref<?x?x256xbf16>, memref<?x?x256xbf16>, memref<?x?x256xbf16>,
       memref<?x?x256xf32>) -> ()
  return
}

// -----

// CHECK-LABEL: @attention_of_floats
// CHECK: nvvm.mma.sync
// CHECK-NOT: wgmma
func.func private @attention_of_floats(%q: memref<?x?x64xf32>,
    %k: memref<?x?x64xf32>, %v: memref<?x?x64xf32>, %y: memref<?x?x64xf32>)
    attributes {transformer.kernel} {
  transformer.attention %q, %k, %v into %y {heads = 1 : i64, scale = 1.0 : f32}
    : (memref<?x?x64xf32>, memref<?x?x64xf32>, memref<?x?x64xf32>,
       memref<?x?x64xf32>) -> ()
  return
}
