// RUN: heddle-opt %s -transformer-tile-linear=isa=x86-64-v3 -split-input-file | FileCheck %s --check-prefixes=CHECK,V3
// RUN: heddle-opt %s -transformer-tile-linear=isa=x86-64-v4 -split-input-file | FileCheck %s --check-prefixes=CHECK,V4
// RUN: heddle-opt %s -transformer-tile-linear=isa=amx -split-input-file | FileCheck %s --check-prefix=AMX

// Few rows take several panels at once. Otherwise whole tiles fill the
// registers, and below them stand the sums of the rows that are left: what
// follows them stands there once, whatever their number.
// CHECK-LABEL: @fills_registers
func.func private @fills_registers(%x: memref<?x256xf32>,
    %w: memref<48x256x32xf32>, %b: memref<1536xf32>, %y: memref<?x1536xf32>) {
  // One thread alone takes all rows as one task, as far as that may have them.
  // CHECK: %[[THREADS:.*]] = transformer.threads
  // CHECK: %[[ALONE:.*]] = arith.cmpi eq, %[[THREADS]], %c1
  // CHECK: arith.select %[[ALONE]], %c1{{.*}}, %c8
  // CHECK: scf.forall
  // V3: %[[SUMS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<5x64xf32>
  // V4: %[[SUMS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<5x128xf32>
  // CHECK: scf.index_switch
  // CHECK: case 1
  // V3: linear.sums {{.*}}] rows 1 columns 64
  // V3: linear.finish %[[SUMS]], {{.*}} rows %c1{{.*}} columns 64
  // V3: case 3
  // V3: linear.sums {{.*}} ahead rows 3 columns 32
  // V3: linear.finish %[[SUMS]], {{.*}} rows %c3{{.*}} columns 32
  // V4: linear.sums {{.*}}] rows 1 columns 128
  // V4: linear.finish %[[SUMS]], {{.*}} rows %c1{{.*}} columns 128
  // V4: case 3
  // V4: linear.sums {{.*}} ahead rows 3 columns 128
  // V4: linear.finish %[[SUMS]], {{.*}} rows %c3{{.*}} columns 128
  // CHECK: default
  // V3: scf.for {{.*}} step %c16
  // V3: scf.for {{.*}} step %c6
  // V3: linear.tile %{{.*}}, %arg1, %arg2 into %{{.*}} at[%{{.*}}, %{{.*}}]{{.*}} rows 6 columns 16
  // V4: scf.for {{.*}} step %c64
  // V4: scf.for {{.*}} step %c6
  // V4: linear.tile %{{.*}}, %arg1, %arg2 into %{{.*}} at[%{{.*}}, %{{.*}}]{{.*}} rows 6 columns 64
  // CHECK: scf.index_switch %[[LEFT:[0-9a-z_]+]]
  // CHECK: case 1
  // CHECK: case 5
  // V3-NEXT: linear.sums %{{.*}}, %arg1 into %[[SUMS]] at[%[[ROW:.*]], %[[COLUMN:.*]]] ahead rows 5 columns 16
  // V4-NEXT: linear.sums %{{.*}}, %arg1 into %[[SUMS]] at[%[[ROW:.*]], %[[COLUMN:.*]]] ahead rows 5 columns 64
  // CHECK-NOT: linear.finish
  // V3: linear.finish %[[SUMS]], %arg2 into %{{.*}} at[%[[ROW]], %[[COLUMN]]] rows %[[LEFT]] columns 16 :
  // V4: linear.finish %[[SUMS]], %arg2 into %{{.*}} at[%[[ROW]], %[[COLUMN]]] rows %[[LEFT]] columns 64 :
  // CHECK-NOT: transformer.linear
  // CHECK: return
  transformer.linear %x, %w, %b into %y
    : (memref<?x256xf32>, memref<48x256x32xf32>, memref<1536xf32>,
       memref<?x1536xf32>) -> ()
  return
}

// -----

// CHECK-LABEL: @cuts_the_last_panel
func.func private @cuts_the_last_panel(%x: memref<?x5xf32>,
    %w: memref<2x5x32xf32>, %b: memref<33xf32>, %y: memref<?x33xf32>) {
  // V3: rows 6 columns 16 :
  // V3: rows 6 columns 16 partial
  // V3: linear.finish {{.*}} columns 16 partial
  // V4-NOT: columns 64
  // V4: rows 6 columns 32 partial
  // V4: linear.finish {{.*}} columns 32 partial
  transformer.linear %x, %w, %b into %y
    : (memref<?x5xf32>, memref<2x5x32xf32>, memref<33xf32>,
       memref<?x33xf32>) -> ()
  return
}

// -----

// Sums that nothing follows need no scratch.
// CHECK-LABEL: @stores_plain_sums
func.func private @stores_plain_sums(%x: memref<?x5xf32>,
    %w: memref<1x5x32xf32>, %y: memref<?x32xf32>) {
  // CHECK-NOT: alloca
  // CHECK-NOT: linear.sums
  // V3: linear.tile {{.*}} rows 5 columns 16
  // V4: linear.tile {{.*}} rows 5 columns 32
  // CHECK-NOT: linear.finish
  // CHECK: return
  transformer.linear %x, %w into %y
    : (memref<?x5xf32>, memref<1x5x32xf32>, memref<?x32xf32>) -> ()
  return
}

// -----

// Weights that the L2 cache cannot hold are read once: a task has all rows that
// it may have. Blocks of rows are as equal as tiles allow.
// CHECK-LABEL: @reads_large_weights_once
func.func private @reads_large_weights_once(%x: memref<?x512xf32>,
    %w: memref<17x512x32xf32>, %y: memref<?x544xf32>) {
  // CHECK: %[[ROWS:.*]] = arith.maxsi %{{.*}}, %c192
  // CHECK: %[[BLOCKS:.*]] = arith.ceildivui %{{.*}}, %[[ROWS]]
  // CHECK: scf.forall (%[[TASK:.*]]) in
  // CHECK: %[[BLOCK:.*]] = arith.divui %[[TASK]], %
  // CHECK: %[[TILES:.*]] = arith.ceildivui %{{.*}}, %c6
  // CHECK: %[[PART:.*]] = arith.muli %[[BLOCK]], %[[TILES]]
  // CHECK: %[[TILE:.*]] = arith.divui %[[PART]], %[[BLOCKS]]
  // CHECK: arith.muli %[[TILE]], %c6
  // CHECK: linear.tile
  // CHECK: return
  transformer.linear %x, %w into %y
    : (memref<?x512xf32>, memref<17x512x32xf32>, memref<?x544xf32>) -> ()
  return
}

// -----

// A norm behind such weights waits for all of them: blocks of whole rows would
// each read them.
// CHECK-LABEL: @norms_last
func.func private @norms_last(%x: memref<?x512xf32>, %w: memref<20x512x32xf32>,
    %g: memref<640xf32>, %y: memref<?x640xf32>) {
  // CHECK: scf.forall
  // CHECK: linear.finish
  // CHECK: transformer.norm layer %arg3, %arg2 into %arg3
  transformer.linear %x, %w residual(%y) norm(layer, %g, 1.0e-6) into %y
    : (memref<?x512xf32>, memref<20x512x32xf32>, memref<?x640xf32>,
       memref<640xf32>, memref<?x640xf32>) -> ()
  return
}

// -----

// Weights that no L2 cache holds: while whole tiles compute, they ask for the
// panels behind their own, and behind the last ones for the first. All tiles of
// rows share that; few of them ask for more at once.
// CHECK-LABEL: @asks_for_the_next_panels
func.func private @asks_for_the_next_panels(%x: memref<?x512xf32>,
    %w: memref<258x512x32xf32>, %y: memref<?x8256xf32>) {
  // CHECK: scf.index_switch
  // CHECK-NOT: next
  // CHECK: default
  // CHECK: scf.for %[[COLUMN:.*]] = %{{.*}} to %{{.*}} step
  // CHECK: %[[WHOLE:.*]] = arith.divui %{{.*}}, %c6
  // CHECK: %[[TILES:.*]] = arith.maxsi %[[WHOLE]], %c1
  // CHECK: scf.for %[[ROW:.*]] = %c0
  // CHECK: %[[PANEL:.*]] = arith.divui %[[COLUMN]], %c32
  // V3: %[[BEHIND:.*]] = arith.addi %[[PANEL]], %c1
  // V3: %[[INSIDE:.*]] = arith.cmpi sle, %[[BEHIND]], %c257
  // V4: %[[BEHIND:.*]] = arith.addi %[[PANEL]], %c2
  // V4: %[[INSIDE:.*]] = arith.cmpi sle, %[[BEHIND]], %c256
  // CHECK: %[[CHOSEN:.*]] = arith.select %[[INSIDE]], %[[BEHIND]], %c0
  // CHECK: %[[FIRST:.*]] = arith.muli %[[CHOSEN]], %c512
  // CHECK: %[[TURNS:.*]] = arith.muli %[[TILES]], %c64
  // CHECK: %[[AT_ONCE:.*]] = arith.ceildivui %c{{.*}}, %[[TURNS]]
  // CHECK: arith.divui %[[ROW]], %c6
  // V3: %[[IS_ASKED:.*]] = arith.cmpi slt, %[[BEFORE:.*]], %c512
  // V4: %[[IS_ASKED:.*]] = arith.cmpi slt, %[[BEFORE:.*]], %c1024
  // CHECK: %[[NEXT:.*]] = arith.addi %[[FIRST]], %[[BEFORE]]
  // CHECK: %[[FETCHED:.*]] = arith.select %[[IS_ASKED]], %[[AT_ONCE]], %c0
  // V3: linear.tile {{.*}} next %[[NEXT]] fetched %[[FETCHED]] rows 6 columns 16
  // V4: linear.tile {{.*}} next %[[NEXT]] fetched %[[FETCHED]] rows 6 columns 64
  // CHECK-NOT: next
  // CHECK: return
  transformer.linear %x, %w into %y
    : (memref<?x512xf32>, memref<258x512x32xf32>, memref<?x8256xf32>) -> ()
  return
}

// -----

// Of panels as deep as these the L2 cache holds no others: all rows pass over a
// piece of the depth, then over the next one, and their sums wait. Tiles ask for
// the piece behind their own: of the next panels, or the next one of the first.
// CHECK-LABEL: @multiplies_pieces
func.func private @multiplies_pieces(%x: memref<?x4096xf32>,
    %w: memref<8x4096x32xf32>, %b: memref<256xf32>, %y: memref<?x256xf32>) {
  // V3: %[[SUMS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<3072x16xf32>
  // V4: %[[SUMS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<768x64xf32>
  // CHECK-NOT: linear.tile
  // V3: scf.for %[[FROM:.*]] = %{{.*}} to %c4096{{.*}} step %c1024
  // V4: scf.for %[[FROM:.*]] = %{{.*}} to %c4096{{.*}} step %c512
  // CHECK: scf.for %[[COLUMN:.*]] = %
  // CHECK: scf.for %[[ROW:.*]] = %
  // CHECK: %[[TILE:.*]] = memref.subview %{{.*}}[%[[ROW]], 0] [6,
  // V3: linear.sums %{{.*}}, %arg1 into %[[TILE]] at[%[[ROW]], %[[COLUMN]]] next %{{.*}} fetched %{{.*}} from %[[FROM]] inputs 1024 rows 6 columns 16
  // V4: linear.sums %{{.*}}, %arg1 into %[[TILE]] at[%[[ROW]], %[[COLUMN]]] next %{{.*}} fetched %{{.*}} from %[[FROM]] inputs 512 rows 6 columns 64
  // CHECK: case 5
  // V3: linear.sums {{.*}} from %[[FROM]] inputs 1024 rows 5 columns 16
  // V4: linear.sums {{.*}} from %[[FROM]] inputs 512 rows 5 columns 64
  // CHECK: linear.finish
  // CHECK: return
  transformer.linear %x, %w, %b into %y
    : (memref<?x4096xf32>, memref<8x4096x32xf32>, memref<256xf32>,
       memref<?x256xf32>) -> ()
  return
}

// -----

// Panels in pairs leave a last one to a tile of its own.
// CHECK-LABEL: @leaves_a_panel
func.func private @leaves_a_panel(%x: memref<?x8xf32>,
    %w: memref<3x8x32xf32>, %y: memref<?x96xf32>) {
  // V3: rows 6 columns 16 :
  // V3-NOT: rows 6
  // V4: rows 6 columns 64 :
  // V4: rows 6 columns 32 :
  // V4-NOT: rows 6
  // CHECK: return
  transformer.linear %x, %w into %y
    : (memref<?x8xf32>, memref<3x8x32xf32>, memref<?x96xf32>) -> ()
  return
}

// -----

// Weights in rows are left to the reference lowering.
// CHECK-LABEL: @leaves_rows
func.func private @leaves_rows(%x: memref<?x8xf32>, %w: memref<8x8xf32>,
                               %y: memref<?x8xf32>) {
  // CHECK: transformer.linear %
  transformer.linear %x, %w into %y
    : (memref<?x8xf32>, memref<8x8xf32>, memref<?x8xf32>) -> ()
  return
}

// -----

// The tiles of equal parts are built once; a part is chosen at run time.
// CHECK-LABEL: @splits_evenly
func.func private @splits_evenly(%x: memref<?x8xf32>, %w: memref<4x8x32xf32>,
    %b: memref<128xf32>, %k: memref<?x64xf32>, %v: memref<?x64xf32>) {
  // CHECK: scf.forall
  // CHECK: scf.for %[[PART:.*]] = %c0{{.*}} to %c2
  // CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : memref<?x64xf32,
  // CHECK: memref.subview %arg1[%{{.*}}, 0, 0] [2, 8, 32]
  // CHECK: memref.subview %arg2[%{{.*}}] [64] [1]
  // CHECK-COUNT-8: linear.sums
  // CHECK-NOT: linear.sums
  // CHECK: return
  transformer.linear %x, %w, %b split [64, 64] into %k, %v
    : (memref<?x8xf32>, memref<4x8x32xf32>, memref<128xf32>, memref<?x64xf32>,
       memref<?x64xf32>) -> ()
  return
}

// -----

// Each result of a split has panels of its own; a norm keeps rows whole and
// works on the rows that a task has just written.
// CHECK-LABEL: @splits_and_norms
func.func private @splits_and_norms(%x: memref<?x8xf32>,
    %w: memref<3x8x32xf32>, %g: memref<64xf32>, %v: memref<2x8x32xf32>,
    %k: memref<?x33xf32>, %q: memref<?x8xf32>, %y: memref<?x64xf32>) {
  // CHECK: memref.subview %arg1[0, 0, 0] [2, 8, 32]
  // CHECK: linear.tile {{.*}} memref<?x33xf32,
  // CHECK: memref.subview %arg1[2, 0, 0] [1, 8, 32]
  // CHECK: linear.tile {{.*}} memref<?x8xf32,
  transformer.linear %x, %w split [33, 8] into %k, %q
    : (memref<?x8xf32>, memref<3x8x32xf32>, memref<?x33xf32>,
       memref<?x8xf32>) -> ()
  // CHECK: scf.forall
  // CHECK: linear.tile {{.*}} activation relu residual(%{{.*}}) into %[[Y:[a-z_0-9]+]] at
  // CHECK: transformer.norm layer %[[Y]], %arg2 into %[[Y]]
  transformer.linear %x, %v activation(relu) residual(%y) norm(layer, %g, 1.0e-6) into %y
    : (memref<?x8xf32>, memref<2x8x32xf32>, memref<?x64xf32>, memref<64xf32>,
       memref<?x64xf32>) -> ()
  return
}

// -----

// The hidden vectors of a task's rows stay on its stack.
// CHECK-LABEL: @keeps_hidden_vectors
func.func private @keeps_hidden_vectors(%x: memref<?x8xf32>,
    %w1: memref<2x8x32xf32>, %w2: memref<1x33x32xf32>, %y: memref<?x8xf32>) {
  // CHECK: scf.forall
  // V3: %[[HIDDEN:.*]] = memref.alloca() {alignment = 64 : i64} : memref<192x33xf32>
  // CHECK: linear.tile {{.*}} activation gelu into
  // CHECK: linear.tile
  transformer.ffn %x, %w1, %w2 activation(gelu) into %y
    : (memref<?x8xf32>, memref<2x8x32xf32>, memref<1x33x32xf32>,
       memref<?x8xf32>) -> ()
  return
}

// -----

// Both weights of an ffn together come from memory: 36 rows and more read them
// at once, and the stack holds 60 hidden vectors in place of 12. Of panels as
// deep as the second ones the L2 cache holds no others: they are multiplied piece
// by piece.
// CHECK-LABEL: @shares_large_weights
func.func private @shares_large_weights(%x: memref<?x1024xf32>,
    %w1: memref<128x1024x32xf32>, %w2: memref<32x4096x32xf32>,
    %y: memref<?x1024xf32>) {
  // CHECK: arith.maxsi %{{.*}}, %c36
  // CHECK: memref.alloca() {alignment = 64 : i64} : memref<60x4096xf32>
  // CHECK: linear.tile {{.*}} next
  // CHECK: linear.sums {{.*}} next {{.*}} from
  // CHECK: return
  transformer.ffn %x, %w1, %w2 into %y
    : (memref<?x1024xf32>, memref<128x1024x32xf32>, memref<32x4096x32xf32>,
       memref<?x1024xf32>) -> ()
  return
}

// -----

// Tiles of the machine take 32 rows, or 16 where no more are left. What follows
// them runs beside the products of the next tile, 8 rows of it beside each of
// their four steps, and behind the last tile. So sums have two halves of scratch
// memory in turn. Rows below 16 are read from a copy, 16 as they are. A few rows
// of integers take vectors. Rows pass over groups of panels of 512 KB.
// AMX-LABEL: @multiplies_tiles
func.func private @multiplies_tiles(%x: memref<?x256xi8>,
    %w: memref<2x65x32x4xi8>, %s: memref<33xf32>, %y: memref<?x33xf32>) {
  // AMX: %[[SUMS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<64x32xi32>
  // AMX: %[[FEW:.*]] = memref.alloca() {alignment = 64 : i64} : memref<5x128xi32>
  // AMX: %[[COPY:.*]] = memref.alloca() {alignment = 64 : i64} : memref<32x256xi8>
  // AMX: scf.if %[[IS_TILE:.*]] {
  // AMX-NEXT: } else {
  // AMX: memref.copy
  // AMX: %[[LAST:.*]] = arith.select %[[IS_TILE]], %[[ROWS:.*]], %{{.*}} : memref<?x256xi8
  // AMX: case 3
  // AMX: linear.sums %[[ROWS]], %arg1 into %[[FEW]] {{.*}} rows 3 columns 128
  // AMX: arith.ceildivui %{{.*}}, %c2016
  // AMX: %[[ALL:.*]]:4 = scf.for
  // AMX: scf.for {{.*}} step %c32
  // AMX: %[[X:.*]] = arith.select %{{.*}}, %[[LAST]], %[[ROWS]]
  // AMX: scf.for %[[COLUMN:.*]] = {{.*}} step %c32{{.*}} iter_args(%[[ROW:.*]] = %{{.*}}, %[[BEFORE:.*]] = %{{.*}}, %[[COUNT:.*]] = %{{.*}}, %[[HALF:.*]] = %
  // AMX: %[[OTHER:.*]] = arith.subi %c1{{.*}}, %[[HALF]]
  // AMX: %[[FIRST:.*]] = arith.muli %[[OTHER]], %c32
  // AMX: %[[WRITTEN:.*]] = memref.subview %[[SUMS]][%[[FIRST]], 0] [32, 32]
  // AMX: linear.sums %[[X]], %arg1 into %[[WRITTEN]] at{{.*}} rows 16 columns 32 beside {
  // AMX: linear.sums %[[X]], %arg1 into %[[WRITTEN]] at{{.*}} rows 32 columns 32 beside {
  // AMX-NEXT: ^bb0(%[[STEP:.*]]: index):
  // AMX: %[[FROM:.*]] = arith.muli %[[STEP]], %c8
  // AMX: arith.subi %[[COUNT]], %[[FROM]]
  // AMX: arith.muli %[[HALF]], %c32
  // AMX: %[[READ:.*]] = memref.subview %[[SUMS]][%{{.*}}, 0] [8, 32]
  // AMX: %[[TO:.*]] = arith.addi %[[ROW]], %[[FROM]]
  // AMX: linear.finish %[[READ]] {{.*}} at[%[[TO]], %[[BEFORE]]] rows %{{.*}} columns 32 :
  // AMX: scf.yield %{{.*}}, %[[COLUMN]], %{{.*}}, %[[OTHER]]
  // AMX: linear.finish {{.*}} at[%[[ALL]]#0, %[[ALL]]#1] rows %{{.*}} columns 32 :
  // AMX-COUNT-2: linear.sums
  // AMX: linear.finish {{.*}} columns 32 partial
  // AMX: linear.finish {{.*}} columns 32 partial
  // AMX-NOT: transformer.linear
  // AMX: return
  transformer.linear %x, %w scales(%s) into %y
    : (memref<?x256xi8>, memref<2x65x32x4xi8>, memref<33xf32>, memref<?x33xf32>)
      -> ()
  return
}

// -----

// Sums of bf16 have one order for any number of rows: tiles, also for one.
// AMX-LABEL: @multiplies_tiles_of_bf16
func.func private @multiplies_tiles_of_bf16(%x: memref<?x64xbf16>,
    %w: memref<2x32x32x2xbf16>, %y: memref<?x64xf32>) {
  // AMX-NOT: scf.index_switch
  // AMX: linear.sums {{.*}} rows 16 columns 32
  // AMX: linear.sums {{.*}} rows 32 columns 32
  // AMX-COUNT-2: linear.finish
  // AMX-NOT: transformer.linear
  // AMX: return
  transformer.linear %x, %w into %y
    : (memref<?x64xbf16>, memref<2x32x32x2xbf16>, memref<?x64xf32>) -> ()
  return
}

// -----

// Integers with scales have vectors for a few rows, of all panels, and tiles for
// others, which read one panel after the other as bf16.
// AMX-LABEL: @unpacks_panels
func.func private @unpacks_panels(%x: memref<?x64xbf16>,
    %w: memref<5x68x32xi8>, %y: memref<?x160xf32>) {
  // AMX: %[[PANEL:.*]] = memref.alloca() {alignment = 64 : i64} : memref<32x32x2xbf16>
  // AMX: case 3
  // AMX: linear.tile {{.*}} ahead rows 3 columns 128
  // AMX: linear.tile {{.*}} ahead rows 3 columns 32
  // AMX: scf.for
  // AMX: linear.unpack %arg1 into %[[PANEL]] at %[[COLUMN:.*]] :
  // AMX: scf.for {{.*}} step %c32
  // AMX: linear.sums {{.*}} unpacked(%[[PANEL]]) {{.*}} rows 16 columns 32
  // AMX: linear.sums {{.*}} unpacked(%[[PANEL]]) {{.*}} rows 32 columns 32
  // AMX-COUNT-2: linear.finish
  // AMX-NOT: transformer.linear
  // AMX: return
  transformer.linear %x, %w into %y
    : (memref<?x64xbf16>, memref<5x68x32xi8>, memref<?x160xf32>) -> ()
  return
}

// -----

// Rows that are no whole words long, and f32, keep tiles of vectors.
// AMX-LABEL: @keeps_vectors
func.func private @keeps_vectors(%x: memref<?x37xi8>,
    %w: memref<1x11x32x4xi8>, %s: memref<32xf32>, %y: memref<?x32xf32>,
    %v: memref<1x32x32xf32>, %z: memref<?x32xf32>) {
  // AMX: linear.tile {{.*}} rows 6 columns 32
  transformer.linear %x, %w scales(%s) into %y
    : (memref<?x37xi8>, memref<1x11x32x4xi8>, memref<32xf32>, memref<?x32xf32>)
      -> ()
  // AMX: linear.tile {{.*}} rows 6 columns 32
  transformer.linear %y, %v into %z
    : (memref<?x32xf32>, memref<1x32x32xf32>, memref<?x32xf32>) -> ()
  return
}

// -----

// Weights of more than a group of panels: while rows, at most 256 of them, pass
// over one, they ask for the next one. 128 rows have short groups; 16 ask for
// nothing. More rows than a tile's have one range of panels if a thread is alone:
// what they ask for stays with it.
// AMX-LABEL: @asks_for_the_next_group
func.func private @asks_for_the_next_group(%x: memref<?x768xbf16>,
    %w: memref<24x384x32x2xbf16>, %y: memref<?x768xf32>) {
  // AMX: arith.minsi %{{.*}}, %c256
  // AMX: %[[RANGES:.*]] = arith.minsi %{{.*}}, %c16
  // AMX: %[[IS_BLOCK:.*]] = arith.cmpi sgt, %{{.*}}, %c32
  // AMX: %[[ALONE:.*]] = arith.select %{{.*}}, %c1{{.*}}, %[[RANGES]]
  // AMX: arith.select %[[IS_BLOCK]], %[[ALONE]], %[[RANGES]]
  // AMX: %[[WIDTH:.*]] = arith.select %{{.*}}, %c64, %c160
  // AMX: arith.ceildivui %{{.*}}, %[[WIDTH]]
  // AMX: %[[SHARE:.*]] = arith.ceildivui %c16
  // AMX: %[[FETCHED:.*]] = arith.select %{{.*}}, %[[SHARE]], %c0
  // AMX: scf.for {{.*}} step %c32
  // AMX: scf.for {{.*}} step %c32
  // AMX: linear.sums {{.*}} at[%{{[a-z0-9_]*}}, %{{[a-z0-9_]*}}] rows 16
  // AMX: linear.sums {{.*}} next %{{.*}} fetched %[[FETCHED]] rows 32
  // AMX-NOT: linear.sums
  // AMX: return
  transformer.linear %x, %w into %y
    : (memref<?x768xbf16>, memref<24x384x32x2xbf16>, memref<?x768xf32>) -> ()
  return
}

// -----

// Finished rows are quantised by their task, or where a norm waits for all.
// CHECK-LABEL: @finished_rows_get_fewer_bits
// CHECK: scf.forall
// CHECK: transformer.norm layer %[[Y:[a-z0-9_]*]], %arg2 also quantize into %[[Y]], %{{.*}}, %{{.*}} {
// CHECK-NEXT: {{^ *[}]}}
// CHECK-NEXT: return
func.func private @finished_rows_get_fewer_bits(%x: memref<?x32xf32>,
    %w: memref<1x32x32xf32>, %g: memref<32xf32>, %y: memref<?x32xf32>,
    %q: memref<?x32xi8>, %s: memref<?xf32>) {
  transformer.linear %x, %w norm(layer, %g, 1.0e-6) also quantize into %y, %q, %s
    : (memref<?x32xf32>, memref<1x32x32xf32>, memref<32xf32>, memref<?x32xf32>,
       memref<?x32xi8>, memref<?xf32>) -> ()
  return
}

// CHECK-LABEL: @rows_of_large_weights_get_fewer_bits
// CHECK: scf.forall
// CHECK: transformer.norm layer %arg3, %arg2 also round into %arg3, %arg4 {
// CHECK-NEXT: return
func.func private @rows_of_large_weights_get_fewer_bits(%x: memref<?x1024xf32>,
    %w: memref<32x1024x32xf32>, %g: memref<1024xf32>, %y: memref<?x1024xf32>,
    %q: memref<?x1024xbf16>) {
  transformer.linear %x, %w norm(layer, %g, 1.0e-6) also round into %y, %q
    : (memref<?x1024xf32>, memref<32x1024x32xf32>, memref<1024xf32>,
       memref<?x1024xf32>, memref<?x1024xbf16>) -> ()
  return
}
