// RUN: heddle-opt %s -transformer-emit-kernels=isa=x86-64-v3 -split-input-file | FileCheck %s --check-prefixes=CHECK,V3
// RUN: heddle-opt %s -transformer-emit-kernels=isa=x86-64-v4 -split-input-file | FileCheck %s --check-prefixes=CHECK,V4
// RUN: heddle-opt %s -transformer-emit-kernels=isa=avx512-bf16 -split-input-file | FileCheck %s --check-prefix=BF16
// RUN: heddle-opt %s -transformer-emit-kernels=isa=amx -split-input-file | FileCheck %s --check-prefix=AMX
// RUN: heddle-opt %s -transformer-emit-kernels=isa=x86-64-v3+tiles -split-input-file | FileCheck %s --check-prefix=SIGNED

// Accumulators stay in registers; one fused multiply-add an element.
// CHECK-LABEL: @accumulates
func.func private @accumulates(%x: memref<?x256xf32>, %w: memref<2x256x32xf32>,
    %b: memref<64xf32>, %y: memref<?x64xf32>, %row: index, %column: index) {
  // V3: %{{.*}}:8 = scf.for {{.*}} step %c4{{.*}} -> (vector<8xf32>
  // V3-COUNT-32: math.fma {{.*}} : vector<8xf32>
  // V4: %{{.*}}:4 = scf.for {{.*}} step %c8{{.*}} -> (vector<16xf32>
  // V4-COUNT-32: math.fma {{.*}} : vector<16xf32>
  // CHECK-NOT: math.fma
  // CHECK: scf.yield
  // V3-COUNT-8: vector.store
  // V4-COUNT-4: vector.store
  // CHECK-NOT: transformer
  transformer.linear.tile %x, %w, %b into %y at [%row, %column] rows 2 columns 32
    : (memref<?x256xf32>, memref<2x256x32xf32>, memref<64xf32>, memref<?x64xf32>, index, index) -> ()
  return
}

// -----

// While a tile computes, it asks for rows of other panels to the L2 cache: as
// many as it is told for eight groups of inputs.
// CHECK-LABEL: @fetches_rows
func.func private @fetches_rows(%x: memref<?x256xf32>,
    %w: memref<2x256x32xf32>, %y: memref<?x64xf32>, %row: index,
    %column: index, %next: index, %fetched: index) {
  // CHECK: scf.for %[[K:[a-z0-9]+]] = {{.*}} step %c8{{.*}} iter_args
  // CHECK: %[[TURN:.*]] = arith.divui %[[K]], %c8
  // CHECK: %[[BEFORE:.*]] = arith.muli %[[TURN]], %arg6
  // CHECK: %[[FIRST:.*]] = arith.addi %arg5, %[[BEFORE]]
  // CHECK: %[[ROWS:.*]] = memref.collapse_shape %arg1 {{\[}}[0, 1], [2]]
  // CHECK: scf.for %[[I:[a-z0-9]+]] = %c0{{.*}} to %arg6 step %c1
  // CHECK: %[[ROW:.*]] = arith.addi %[[FIRST]], %[[I]]
  // CHECK: memref.prefetch %[[ROWS]][%[[ROW]], %c0{{.*}}], read, locality<2>, data
  // CHECK: memref.prefetch %[[ROWS]][%[[ROW]], %c16{{.*}}], read, locality<2>, data
  // CHECK: vector.load %arg1
  // CHECK-NOT: memref.prefetch
  // CHECK: scf.yield
  transformer.linear.tile %x, %w into %y at [%row, %column] next %next fetched %fetched rows 6 columns 32
    : (memref<?x256xf32>, memref<2x256x32xf32>, memref<?x64xf32>, index, index, index, index) -> ()
  return
}

// -----

// A piece of the depth goes on with the sums of the inputs before it; the first
// one reads none.
// CHECK-LABEL: @goes_on
func.func private @goes_on(%x: memref<?x256xf32>, %w: memref<2x256x32xf32>,
    %sums: memref<1x32xf32>, %row: index, %column: index, %from: index) {
  // CHECK: %[[IS_LATER:.*]] = arith.cmpi sgt, %arg5, %c0
  // CHECK: %[[MASK:.*]] = vector.broadcast %[[IS_LATER]]
  // V3-COUNT-4: vector.maskedload %arg2{{.*}}, %[[MASK]]
  // V4-COUNT-2: vector.maskedload %arg2{{.*}}, %[[MASK]]
  // CHECK: %[[END:.*]] = arith.addi %arg5, %c64
  // CHECK: scf.for %[[K:[a-z0-9]+]] = %arg5 to %[[END]]
  // CHECK: vector.load %arg1[%{{.*}}, %[[K]], %
  // V3-COUNT-4: vector.store {{.*}} %arg2
  // V4-COUNT-2: vector.store {{.*}} %arg2
  transformer.linear.sums %x, %w into %sums at [%row, %column] from %from inputs 64 rows 1 columns 32
    : (memref<?x256xf32>, memref<2x256x32xf32>, memref<1x32xf32>, index, index, index) -> ()
  return
}

// -----

// Depths that no unrolling divides end in a tail; columns that are no vector
// are masked.
// CHECK-LABEL: @masks_columns
func.func private @masks_columns(%x: memref<?x5xf32>, %w: memref<1x5x32xf32>,
    %b: memref<11xf32>, %y: memref<?x11xf32>, %row: index, %column: index) {
  // CHECK: vector.create_mask
  // CHECK: vector.maskedload %arg2
  // CHECK: vector.maskedstore %arg3
  // CHECK-NOT: vector.store
  transformer.linear.tile %x, %w, %b into %y at [%row, %column] rows 1 columns 32 partial
    : (memref<?x5xf32>, memref<1x5x32xf32>, memref<11xf32>, memref<?x11xf32>, index, index) -> ()
  return
}

// -----

// A tile that is the first to read its panels asks for each line before it
// takes it.
// CHECK-LABEL: @fetches_ahead
func.func private @fetches_ahead(%x: memref<?x256xf32>,
    %w: memref<2x256x32xf32>, %sums: memref<3x32xf32>, %row: index,
    %column: index) {
  // CHECK: scf.for %[[K:[a-z0-9]+]] = {{.*}} iter_args
  // CHECK: vector.load %arg1[%[[PANEL:.*]], %[[K]], %[[COLUMN:.*]]]
  // CHECK: %[[AHEAD:.*]] = arith.addi %[[K]], %c16
  // CHECK: memref.prefetch %arg1[%[[PANEL]], %[[AHEAD]], %[[COLUMN]]], read, locality<3>, data
  // V3: vector.load %arg1
  // V3-NOT: memref.prefetch
  // CHECK: vector.load %arg1
  // CHECK: memref.prefetch %arg1[%[[PANEL]], %{{.*}}, %{{.*}}], read, locality<3>, data
  // V3: vector.load %arg1
  // CHECK-NOT: memref.prefetch
  // CHECK: math.fma
  transformer.linear.sums %x, %w into %sums at [%row, %column] ahead rows 3 columns 32
    : (memref<?x256xf32>, memref<2x256x32xf32>, memref<3x32xf32>, index, index) -> ()
  return
}

// -----

// Sums go to scratch, and what follows them is a loop over any number of rows.
// CHECK-LABEL: @finishes_sums
func.func private @finishes_sums(%x: memref<?x256xf32>, %w: memref<2x256x32xf32>,
    %b: memref<64xf32>, %sums: memref<7x128xf32>, %r: memref<?x64xf32>,
    %y: memref<?x64xf32>, %row: index, %column: index, %rows: index) {
  // V3: %{{.*}}:8 = scf.for
  // V3-COUNT-8: vector.store %{{.*}}, %arg3
  // V4: %{{.*}}:4 = scf.for
  // V4-COUNT-4: vector.store %{{.*}}, %arg3
  transformer.linear.sums %x, %w into %sums at [%row, %column] rows 2 columns 32
    : (memref<?x256xf32>, memref<2x256x32xf32>, memref<7x128xf32>, index, index) -> ()
  // CHECK: scf.for %{{.*}} = %c0{{.*}} to %arg8
  // V3: scf.for %{{.*}} = %c0{{.*}} to %c32{{.*}} step %c8
  // V4: scf.for %{{.*}} = %c0{{.*}} to %c32{{.*}} step %c16
  // CHECK: %[[SUM:.*]] = vector.load %arg3
  // CHECK: %[[BIAS:.*]] = vector.load %arg2
  // CHECK: %[[Y:.*]] = arith.addf %[[SUM]], %[[BIAS]]
  // CHECK: %[[RESIDUAL:.*]] = vector.load %arg4
  // CHECK: arith.addf %[[RESIDUAL]], %
  // CHECK-COUNT-1: vector.store %{{.*}}, %arg5
  // CHECK-NOT: vector.store
  // CHECK-NOT: transformer
  transformer.linear.finish %sums, %b activation relu residual(%r) into %y at [%row, %column] rows %rows columns 32
    : (memref<7x128xf32>, memref<64xf32>, memref<?x64xf32>, memref<?x64xf32>, index, index, index) -> ()
  return
}

// -----

// CHECK-LABEL: @emits_candidates_of_a_step
func.func private @emits_candidates_of_a_step(%x: memref<?x8xf32>,
    %rows: memref<?x?x8xf32>, %bias: memref<?x?xf32>, %counts: memref<?xi32>,
    %sentences: memref<?xi32>, %y: memref<?x?xf32>) {
  // CHECK-NOT: memref.prefetch
  // CHECK: vector.reduction <add>
  // CHECK-NOT: transformer
  transformer.candidate_logits %x, %rows, %bias, %counts of %sentences into %y
    : (memref<?x8xf32>, memref<?x?x8xf32>, memref<?x?xf32>, memref<?xi32>,
       memref<?xi32>, memref<?x?xf32>) -> ()
  return
}

// -----

// Four rows of a table at a time, while the next four are on their way.
// CHECK-LABEL: @fetches_candidates_ahead
func.func private @fetches_candidates_ahead(%x: memref<?x64xf32>,
    %table: memref<300x64xf32>, %bias: memref<300xf32>, %counts: memref<?xi32>,
    %ids: memref<?x?xi32>, %sentences: memref<?xi32>, %y: memref<?x?xf32>) {
  // CHECK: scf.for %[[D:.*]] = {{.*}} iter_args
  // CHECK-COUNT-4: memref.prefetch %arg1[%{{.*}}, %[[D]]], read
  // CHECK: vector.load %arg0[%{{.*}}, %[[D]]]
  // CHECK-COUNT-4: vector.load %arg1[%{{.*}}, %[[D]]]
  // CHECK-NOT: memref.prefetch
  transformer.candidate_logits %x, %table, %bias, %counts gather(%ids)
      of %sentences into %y
    : (memref<?x64xf32>, memref<300x64xf32>, memref<300xf32>, memref<?xi32>,
       memref<?x?xi32>, memref<?xi32>, memref<?x?xf32>) -> ()
  return
}

// -----

// Tasks of whole rows, vectors of columns, a mask where the width ends. Rows may
// lie apart.
// CHECK-LABEL: @shares_rows
func.func private @shares_rows(%x: memref<?x?x17xf32>,
    %y: memref<?x?x17xf32>, %z: memref<?x17xf32, strided<[32, 1]>>) {
  // CHECK-NOT: transformer.activation
  // CHECK: %[[IN:.*]] = memref.collapse_shape %arg0 {{\[\[}}0, 1], [2]]
  // CHECK: %[[OUT:.*]] = memref.collapse_shape %arg1 {{\[\[}}0, 1], [2]]
  // CHECK: scf.forall (%{{.*}}) in (%{{.*}}) {
  // CHECK: scf.for %[[ROW:.*]] =
  // CHECK: scf.for %[[COLUMN:.*]] =
  // V3: %[[X:.*]] = vector.load %[[IN]][%[[ROW]], %[[COLUMN]]] : {{.*}}, vector<8xf32>
  // V4: %[[X:.*]] = vector.load %[[IN]][%[[ROW]], %[[COLUMN]]] : {{.*}}, vector<16xf32>
  // CHECK: vector.store %{{.*}}, %[[OUT]][%[[ROW]], %[[COLUMN]]]
  // V3: vector.constant_mask [1] : vector<8xi1>
  // V4: vector.constant_mask [1] : vector<16xi1>
  // CHECK: vector.maskedload %[[IN]]
  // CHECK: vector.maskedstore %[[OUT]]
  transformer.activation relu %x into %y
    : (memref<?x?x17xf32>, memref<?x?x17xf32>) -> ()
  // CHECK-NOT: transformer.add
  transformer.add %z, %z into %z
    : (memref<?x17xf32, strided<[32, 1]>>, memref<?x17xf32, strided<[32, 1]>>,
       memref<?x17xf32, strided<[32, 1]>>) -> ()
  return
}

// -----

// A row that fits registers is read once, a longer one for each use.
// CHECK-LABEL: @normalises_rows
func.func private @normalises_rows(%x: memref<?x64xf32>,
    %gamma: memref<64xf32>, %long: memref<?x1024xf32>,
    %beta: memref<1024xf32>) {
  // V3-COUNT-8: vector.load %arg0
  // V4-COUNT-4: vector.load %arg0
  // CHECK-NOT: vector.load %arg0
  // CHECK: math.sqrt
  transformer.norm layer %x, %gamma into %x {epsilon = 1.0e-5 : f32}
    : (memref<?x64xf32>, memref<64xf32>, memref<?x64xf32>) -> ()
  // CHECK: scf.for
  // CHECK-COUNT-4: vector.load %arg2
  // CHECK: math.sqrt
  // CHECK: vector.load %arg2
  transformer.norm rms %long, %beta, %beta into %long {epsilon = 1.0e-5 : f32}
    : (memref<?x1024xf32>, memref<1024xf32>, memref<1024xf32>,
       memref<?x1024xf32>) -> ()
  return
}

// -----

// Frequencies are numbers of the program, one constant for equal ops.
// CHECK: memref.global "private" constant @frequencies_4_4 : memref<{{8|16}}xf64> = dense<[1.000000e+00, 0.0999
// CHECK-NOT: memref.global
// CHECK-LABEL: @adds_positions
func.func private @adds_positions(%x: memref<?x?x8xf32>) {
  // CHECK-COUNT-2: memref.get_global @frequencies_4_4
  transformer.positions.sinusoidal %x into %x {timescales = 4 : i64}
    : (memref<?x?x8xf32>, memref<?x?x8xf32>) -> ()
  transformer.positions.sinusoidal %x into %x {timescales = 4 : i64}
    : (memref<?x?x8xf32>, memref<?x?x8xf32>) -> ()
  return
}

// -----

// What has no emitter is left to the reference lowering.
// CHECK-LABEL: @leaves_the_rest_alone
func.func private @leaves_the_rest_alone(%x: memref<?x8xf32>,
    %w: memref<8x8xf32>, %y: memref<?x8xf32>) {
  // CHECK: transformer.linear
  transformer.linear %x, %w into %y
    : (memref<?x8xf32>, memref<8x8xf32>, memref<?x8xf32>) -> ()
  return
}

// -----

// A pair of bf16 is one step, or two where the level has no instruction for it;
// the odd end of the depth is read alone, and y is rounded.
// CHECK-LABEL: @multiplies_bf16
// CHECK-COUNT-2: math.fma
// CHECK-NOT: llvm.x86
// CHECK: return
// BF16-LABEL: @multiplies_bf16
// BF16: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
// BF16: memref.load %arg0{{.*}} : memref<?x5xbf16>
// BF16: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
// BF16-NOT: math.fma
// BF16: llvm.call_intrinsic "llvm.x86.avx512bf16.cvtneps2bf16.512"
// BF16: return
func.func private @multiplies_bf16(%x: memref<?x5xbf16>, %w: memref<1x3x32x2xbf16>,
    %y: memref<?x32xbf16>, %row: index, %column: index) {
  transformer.linear.tile %x, %w into %y at [%row, %column] rows 1 columns 32
    : (memref<?x5xbf16>, memref<1x3x32x2xbf16>, memref<?x32xbf16>, index, index) -> ()
  return
}

// -----

// Two tiles of x by both halves of a panel, whose sums start with those of its
// columns, in every row. Without VNNI x has a sign, and sums start at 0.
// AMX-LABEL: @multiplies_tiles
// SIGNED-LABEL: @multiplies_tiles
func.func private @multiplies_tiles(%x: memref<?x256xi8>,
    %w: memref<2x65x32x4xi8>, %sums: memref<32x32xi32>, %row: index,
    %column: index) {
  // AMX-COUNT-2: vector.store {{.*}} : memref<32x32xi32>, vector<16xi32>
  // AMX-COUNT-4: amx.tile_load %arg2[%{{.*}}, %{{.*}}], %c0{{.*}} into !amx.tile<16x16xi32>
  // SIGNED-COUNT-4: amx.tile_zero
  // AMX: scf.for {{.*}} step %c64
  // AMX-COUNT-2: amx.tile_load %arg0[{{.*}}] : memref<?x256xi8> into !amx.tile<16x64xi8>
  // AMX-COUNT-2: amx.tile_load %{{.*}} {nontemporal} : memref<2x65x128xi8> into !amx.tile<16x64xi8>
  // AMX-COUNT-4: amx.tile_muli %{{.*}} zext, %{{.*}},
  // SIGNED-COUNT-4: amx.tile_muli %{{.*}}, %{{.*}}, %{{.*}} :
  // AMX-NOT: amx.tile_muli
  // AMX: scf.yield
  // AMX-COUNT-4: amx.tile_store %arg2
  // AMX: return
  transformer.linear.sums %x, %w into %sums at [%row, %column] rows 32 columns 32
    : (memref<?x256xi8>, memref<2x65x32x4xi8>, memref<32x32xi32>, index, index)
      -> ()
  return
}

// -----

// What runs beside the products stands in their loop, in front of them, with the
// number of the step; one tile of x by a panel has two steps along 128 bytes. A
// level without tiles runs it before the sums.
// AMX-LABEL: @runs_beside_products
// V3-LABEL: @runs_beside_products
func.func private @runs_beside_products(%x: memref<?x64xbf16>,
    %w: memref<1x32x32x2xbf16>, %before: memref<64x32xf32>,
    %sums: memref<32x32xf32>, %y: memref<?x32xf32>, %row: index, %column: index) {
  // AMX: scf.for %[[K:.*]] = %c0{{.*}} step %c32
  // AMX: %[[STEP:.*]] = arith.divui %[[K]], %c32
  // AMX: arith.addi %[[STEP]],
  // AMX: vector.load %arg2
  // AMX: vector.store {{.*}}, %arg4
  // AMX: amx.tile_load %arg0
  // AMX-NOT: vector.load %arg2
  // V3: scf.for %{{.*}} = %c0{{.*}} to %c2
  // V3: vector.store {{.*}}, %arg4
  // V3: vector.store {{.*}}, %arg3
  transformer.linear.sums %x, %w into %sums at [%row, %column] rows 32 columns 32 beside {
  ^bb0(%step: index):
    transformer.linear.finish %before into %y at [%step, %column] rows %row columns 32
      : (memref<64x32xf32>, memref<?x32xf32>, index, index, index) -> ()
  } : (memref<?x64xbf16>, memref<1x32x32x2xbf16>, memref<32x32xf32>, index,
       index) -> ()
  return
}

// -----

// What is left of a depth has tiles of its own, which nothing behind a row of x
// enters: 34 is a step of 32 and one pair. 16 rows at a time leave registers.
// AMX-LABEL: @ends_within_a_tile
func.func private @ends_within_a_tile(%x: memref<?x34xbf16>,
    %w: memref<1x17x32x2xbf16>, %sums: memref<32x32xf32>, %row: index,
    %column: index) {
  // AMX-COUNT-2: amx.tile_zero
  // AMX: scf.for
  // AMX-COUNT-2: amx.tile_mulf {{.*}} !amx.tile<16x32xbf16>, !amx.tile<16x32xbf16>, !amx.tile<16x16xf32>
  // AMX: amx.tile_load %arg0{{.*}} into !amx.tile<16x2xbf16>
  // AMX-COUNT-2: amx.tile_load {{.*}} into !amx.tile<1x32xbf16>
  // AMX-COUNT-2: amx.tile_mulf {{.*}} !amx.tile<16x2xbf16>, !amx.tile<1x32xbf16>, !amx.tile<16x16xf32>
  // AMX-COUNT-2: amx.tile_store
  // AMX-COUNT-2: amx.tile_zero
  // AMX: return
  transformer.linear.sums %x, %w into %sums at [%row, %column] rows 32 columns 32
    : (memref<?x34xbf16>, memref<1x17x32x2xbf16>, memref<32x32xf32>, index,
       index) -> ()
  return
}

// -----

// With each whole tile along the depth, 32 inputs, as many rows of the weights
// come to the L2 cache as the op says, in two lines each.
// AMX-LABEL: @asks_for_rows_of_weights
func.func private @asks_for_rows_of_weights(%x: memref<?x96xbf16>,
    %w: memref<2x48x32x2xbf16>, %sums: memref<32x32xf32>, %row: index,
    %column: index, %next: index, %fetched: index) {
  // AMX: %[[ROWS:.*]] = memref.collapse_shape %{{.*}} {{\[\[}}0, 1], [2]] {{.*}} into memref<96x64xbf16>
  // AMX: scf.for %[[I:.*]] = %c0{{.*}} to %arg6
  // AMX: %[[AT:.*]] = arith.addi %{{.*}}, %[[I]]
  // AMX: memref.prefetch %[[ROWS]][%[[AT]], %c0{{.*}}], read, locality<2>, data
  // AMX: memref.prefetch %[[ROWS]][%[[AT]], %c32{{.*}}], read, locality<2>, data
  // AMX-NOT: memref.prefetch
  // AMX: amx.tile_mulf
  transformer.linear.sums %x, %w into %sums at [%row, %column] next %next fetched %fetched rows 32 columns 32
    : (memref<?x96xbf16>, memref<2x48x32x2xbf16>, memref<32x32xf32>, index,
       index, index, index) -> ()
  return
}

// -----

// 32 rows of 1,024 bytes do not stay in the L1 cache beside all else: every
// second panel takes the depth from its end.
// AMX-LABEL: @turns_in_deep_rows
func.func private @turns_in_deep_rows(%x: memref<?x1024xi8>,
    %w: memref<2x257x32x4xi8>, %sums: memref<32x32xi32>, %row: index,
    %column: index) {
  // AMX: %[[PANEL:.*]] = arith.divui %arg4
  // AMX: scf.for %[[K:.*]] = %c0{{.*}} to %c1024{{.*}} step %c64
  // AMX: arith.index_cast %[[PANEL]]
  // AMX: %[[IS_ODD:.*]] = arith.trunci
  // AMX: %[[BACK:.*]] = arith.subi %c960{{.*}}, %[[K]]
  // AMX: arith.select %[[IS_ODD]], %[[BACK]], %[[K]]
  transformer.linear.sums %x, %w into %sums at [%row, %column] rows 16 columns 32
    : (memref<?x1024xi8>, memref<2x257x32x4xi8>, memref<32x32xi32>, index,
       index) -> ()
  return
}

// -----

// 32 keys by 32 queries are four tiles; their scores are used before those of
// the next keys. Values that are not finite are added by vectors.
// AMX-LABEL: @attends_by_tiles
func.func private @attends_by_tiles(%queries: memref<32x32x2xbf16>,
    %keys: memref<?x64xbf16>, %scores: memref<32x32xf32>,
    %last: memref<32x64xbf16>, %probabilities: memref<128x32x2xbf16>,
    %sums: memref<64x32xf32>, %state: memref<4x32xf32>,
    %values: memref<?x64xbf16>, %columns: memref<128x64x32xbf16>,
    %slots: memref<128x2xindex>, %i: index, %j: index, %end: index) {
  // AMX: scf.for {{.*}} step %c32
  // AMX-COUNT-4: amx.tile_zero
  // AMX-COUNT-8: amx.tile_mulf
  // AMX-NOT: amx.tile_mulf
  // AMX-COUNT-4: amx.tile_store %arg2
  // AMX: scf.for {{.*}} step %c8
  transformer.online.probabilities block %queries, %keys[%j to %end] full %j to %end
      of %i, %i, %i scores(%scores : memref<32x32xf32>)
      last(%last : memref<32x64xbf16>) into %probabilities, %sums, %state
      {factor = 1.0 : f32, tile = 8 : i64}
      : memref<32x32x2xbf16>, memref<?x64xbf16>, memref<128x32x2xbf16>,
        memref<64x32xf32>, memref<4x32xf32>
  // AMX: scf.for {{.*}} = %c0{{.*}} to %c64{{.*}} step %c32
  // AMX-COUNT-4: amx.tile_load %arg5
  // AMX: scf.for {{.*}} step %c32
  // AMX-COUNT-2: amx.tile_load %arg8
  // AMX-COUNT-4: amx.tile_mulf
  // AMX-NEXT: scf.yield
  // AMX-COUNT-4: amx.tile_store %arg5
  // AMX: scf.for {{.*}} step %c32
  // AMX: memref.load %arg9
  // AMX: math.fma
  // AMX: return
  transformer.online.update block %probabilities, %values[%j to %end] full %j to %end
      columns(%columns : memref<128x64x32xbf16>)
      slots(%slots : memref<128x2xindex>) into %sums {tile = 8 : i64}
      : memref<128x32x2xbf16>, memref<?x64xbf16>, memref<64x32xf32>
  return
}

// -----

// Sums over keys: a tile of four features by as many vectors of values, in
// registers while the keys of a chunk pass; no memory that grows with length.
// CHECK-LABEL: @sums_over_keys
// CHECK: scf.forall
// V3: %{{.*}}:8 = scf.for {{.*}} -> (vector<8xf32>
// V3-COUNT-8: math.fma {{.*}} : vector<8xf32>
// V4: %{{.*}}:16 = scf.for {{.*}} -> (vector<16xf32>
// V4-COUNT-16: math.fma {{.*}} : vector<16xf32>
// CHECK-NOT: math.fma
// CHECK: scf.yield
// CHECK-NOT: transformer.linear_attention
func.func private @sums_over_keys(%k: memref<?x?x128xf32>, %v: memref<?x?x128xf32>, %s: memref<?x2x64x64xf32>, %z: memref<?x2x64xf32>) {
  transformer.linear_attention.sums %k, %v into %s, %z {heads = 2 : i64} features relu
    : (memref<?x?x128xf32>, memref<?x?x128xf32>, memref<?x2x64x64xf32>, memref<?x2x64xf32>) -> ()
  return
}

// -----

// Heads beyond the memory of a task are left to plain loops.
// CHECK-LABEL: @heads_too_wide
// CHECK: transformer.linear_attention {{.*}} causal
func.func private @heads_too_wide(%x: memref<?x?x264xf32>, %y: memref<?x?x264xf32>) {
  transformer.linear_attention %x, %x, %x causal into %y {heads = 1 : i64}
    : (memref<?x?x264xf32>, memref<?x?x264xf32>, memref<?x?x264xf32>, memref<?x?x264xf32>) -> ()
  return
}

// -----

// A projection is read row by row; sums go on from the result, position by
// position.
// CHECK-LABEL: @projects
// CHECK: scf.forall
// V3: %{{.*}}:8 = scf.for {{.*}} -> (vector<8xf32>
// V3-COUNT-8: math.fma {{.*}} : vector<8xf32>
// V4: %{{.*}}:16 = scf.for {{.*}} -> (vector<16xf32>
// V4-COUNT-16: math.fma {{.*}} : vector<16xf32>
// CHECK-NOT: math.fma
// CHECK: scf.yield
// CHECK-NOT: transformer.project_sequence
func.func private @projects(%x: memref<?x?x64xf32>, %e: memref<128x512xf32>, %y: memref<?x128x64xf32>) {
  transformer.project_sequence %x, %e into %y
    : (memref<?x?x64xf32>, memref<128x512xf32>, memref<?x128x64xf32>) -> ()
  return
}

// -----

// Only rows that lists name are read and written; the rest of a width by a mask.
// CHECK-LABEL: @takes_and_puts
// CHECK: scf.forall
// CHECK: arith.cmpi ult
// V3: vector.load {{.*}} vector<8xf32>
// V4: vector.load {{.*}} vector<16xf32>
// CHECK: vector.maskedload
// CHECK: scf.forall
// CHECK: scf.if
// CHECK: vector.maskedstore
// CHECK-NOT: transformer
func.func private @takes_and_puts(%x: memref<?x?x21xf32>, %at: memref<?x?xi32>, %r: memref<?x?x21xf32>) {
  transformer.take_rows %x at %at into %r : (memref<?x?x21xf32>, memref<?x?xi32>, memref<?x?x21xf32>) -> ()
  transformer.put_rows %r at %at into %x : (memref<?x?x21xf32>, memref<?x?xi32>, memref<?x?x21xf32>) -> ()
  return
}

// -----

// Sums of a vector of columns stay in a register over all positions; the rest of
// a width by a mask.
// CHECK-LABEL: @pools
// CHECK: scf.forall
// V3: scf.for {{.*}} -> (vector<8xf32>
// V3: vector.load {{.*}} vector<8xf32>
// V4: scf.for {{.*}} -> (vector<16xf32>
// V4: vector.load {{.*}} vector<16xf32>
// CHECK: arith.addf
// CHECK: vector.maskedload
// CHECK-NOT: transformer
func.func private @pools(%x: memref<?x?x21xf32>, %n: memref<?xi32>, %y: memref<?x42xf32>) {
  transformer.pool [mean, max] %x of %n into %y : (memref<?x?x21xf32>, memref<?xi32>, memref<?x42xf32>) -> ()
  return
}

// -----

// CHECK-LABEL: @normalizes
// V3: math.fma {{.*}} : vector<8xf32>
// V4: math.fma {{.*}} : vector<16xf32>
// CHECK: math.sqrt {{.*}} : f32
// V3: arith.divf {{.*}} : vector<8xf32>
// V4: arith.divf {{.*}} : vector<16xf32>
// CHECK-NOT: transformer
func.func private @normalizes(%x: memref<?x32xf32>, %y: memref<?x32xf32>) {
  transformer.normalize %x into %y {epsilon = 1.0e-12 : f32} : (memref<?x32xf32>, memref<?x32xf32>) -> ()
  return
}
