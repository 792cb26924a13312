// RUN: heddle-opt %s -transformer-tile-attention=isa=x86-64-v4 -canonicalize -split-input-file | FileCheck %s --check-prefixes=CHECK,V4
// RUN: heddle-opt %s -transformer-tile-attention=isa=x86-64-v3 -canonicalize -split-input-file | FileCheck %s --check-prefixes=CHECK,V3
// RUN: heddle-opt %s -transformer-tile-attention=isa=amx -canonicalize -split-input-file | FileCheck %s --check-prefix=AMX

// The example of the pass's description. Queries, weights and sums of a block
// have a column a query; tiles end where their run does.
// CHECK-LABEL: @visits_tiles_of_keys
func.func private @visits_tiles_of_keys(%q: memref<?x?x512xf32>,
    %y: memref<?x?x512xf32>) {
  %causal = transformer.mask.causal
  // CHECK: %[[CAUSAL:.*]] = transformer.mask.causal
  // CHECK: scf.forall (%{{.*}}) in (%{{.*}}) {
  // V4: memref.alloca() {{.*}} : memref<64x32xf32>
  // V4: memref.alloca() {{.*}} : memref<256x32xf32>
  // V3: memref.alloca() {{.*}} : memref<64x16xf32>
  // V3: memref.alloca() {{.*}} : memref<256x16xf32>
  // A copy of the values where there are blocks enough to share it.
  // CHECK: %[[VALUES:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : memref<?x64xf32, strided<[?, 1], offset: ?>>
  // CHECK: %[[ROWS:.*]] = memref.subview %arg0[%[[B:.*]], 0, %{{.*}}] {{.*}} to memref<?x64xf32, strided<[512, 1], offset: ?>>
  // The scale is part of the factor, with log2 e: weights are powers of 2.
  // CHECK: transformer.online.init block %[[ROWS]][%[[I:.*]]] into %[[QUERIES:.*]], %[[SUMS:.*]], %[[STATE:.*]] {scale = 1.000000e+00 : f32}
  // CHECK: scf.while (%[[KEY:.*]] = %c0)
  // CHECK: %[[COUNT:.*]], %[[NEXT:.*]] = transformer.mask.tile_runs mask(%[[CAUSAL]]) of %[[B]], %[[H:.*]] queries %[[I]] to %{{.*}} keys %{{.*}} to %{{.*}} into %[[RUNS:.*]] {tile
  // CHECK: scf.for %[[ROW:.*]] = %{{.*}} to %[[COUNT]]
  // CHECK: %[[FIRST:.*]] = memref.load %[[RUNS]][%[[ROW]], %{{.*}}]
  // CHECK: %[[LAST:.*]] = memref.load %[[RUNS]][%[[ROW]], %{{.*}}]
  // CHECK: scf.for %[[J:.*]] = %[[FIRST]] to %[[LAST]] step %c256
  // CHECK: transformer.online.probabilities block %[[QUERIES]], %{{.*}}[%[[J]] to %[[END:.*]]] full %{{.*}} to %{{.*}} mask(%[[CAUSAL]]) of %[[B]], %[[H]], %[[I]] into %[[PROBABILITIES:.*]], %[[SUMS]], %[[STATE]] {factor = 0.180336878 : f32, tile
  // CHECK: transformer.online.update block %[[PROBABILITIES]], %[[VALUES]][%[[J]] to %[[END]]] full %{{.*}} to %{{.*}} into %[[SUMS]]
  // CHECK: scf.yield %[[NEXT]]
  // CHECK: transformer.online.finish block %[[SUMS]], %[[STATE]] into %{{.*}}[%[[I]]]
  // CHECK-NOT: transformer.attention
  transformer.attention %q, %q, %q mask(%causal) into %y {heads = 8 : i64}
    : (memref<?x?x512xf32>, memref<?x?x512xf32>, memref<?x?x512xf32>,
       !transformer.mask, memref<?x?x512xf32>) -> ()
  return
}

// -----

// Blocks of queries, eight at least, share a copy of the values of their head,
// unless it is too long for the second cache.
// CHECK-LABEL: @copies_values_that_blocks_share
func.func private @copies_values_that_blocks_share(%q: memref<?x?x256xf32>,
    %kv: memref<?x?x128xf32>, %y: memref<?x?x256xf32>) {
  // CHECK: %[[SHARES:.*]] = arith.cmpi sge, %{{.*}}, %c8
  // CHECK: %[[COPY:.*]] = memref.alloca() {{.*}} : memref<1024x64xf32>
  // CHECK: %[[HELD:.*]] = memref.alloca() {{.*}} : memref<1xindex>
  // CHECK: %[[FITS:.*]] = arith.cmpi sle, %{{.*}}, %c1024
  // CHECK: %[[IS_COPIED:.*]] = arith.andi %[[SHARES]], %[[FITS]]
  // CHECK: scf.if %[[IS_COPIED]]
  // CHECK: memref.load %[[HELD]]
  // CHECK: vector.store %{{.*}}, %[[COPY]]
  // CHECK: arith.select %[[IS_COPIED]]
  transformer.attention %q, %kv, %kv into %y {heads = 4 : i64, kv_heads = 2 : i64}
    : (memref<?x?x256xf32>, memref<?x?x128xf32>, memref<?x?x128xf32>,
       memref<?x?x256xf32>) -> ()
  return
}

// -----

// The values of a single head have no gaps.
// CHECK-LABEL: @reads_values_of_one_head
func.func private @reads_values_of_one_head(%x: memref<?x?x64xf32>) {
  // CHECK-NOT: memref<1xindex>
  // CHECK: transformer.online.update {{.*}} strided<[64, 1], offset: ?>
  transformer.attention %x, %x, %x into %x {heads = 1 : i64}
    : (memref<?x?x64xf32>, memref<?x?x64xf32>, memref<?x?x64xf32>,
       memref<?x?x64xf32>) -> ()
  return
}

// -----

// One query a row, in lanes of its width; a cache is read as a ring.
// CHECK-LABEL: @takes_one_query_a_row
func.func private @takes_one_query_a_row(%q: memref<?x64xf32>,
    %k: memref<?x?x32xf32>, %v: memref<?x?x48xf32>, %y: memref<?x96xf32>,
    %positions: memref<?xi32>, %sentences: memref<?xi32>) {
  // All heads take turns with tiles of keys, or the two that share one head of
  // them, if threads then have about as much to do.
  // CHECK: transformer.threads
  // CHECK: %[[SHARING:.*]] = arith.select %{{.*}}, %c2, %c1
  // CHECK: %[[TOGETHER:.*]] = arith.select %{{.*}}, %c4, %[[SHARING]]
  // CHECK: %[[UNITS:.*]] = arith.divui %c4, %[[TOGETHER]]
  // CHECK: scf.forall
  // CHECK: memref.alloca() {{.*}} : memref<4x16xf32>
  // CHECK: memref.alloca() {{.*}} : memref<256xf32>
  // CHECK: %[[SUMS:.*]] = memref.alloca() {{.*}} : memref<4x24xf32>
  // V4: memref.alloca() {{.*}} : memref<16x16xf32>
  // V3: memref.alloca() {{.*}} : memref<16x8xf32>
  // CHECK: %[[UNIT:.*]] = arith.remui %{{.*}}, %[[UNITS]]
  // CHECK: %[[H:.*]] = arith.muli %[[UNIT]], %[[TOGETHER]]
  // CHECK: scf.for {{.*}} to %[[TOGETHER]]
  // CHECK: transformer.online.init
  // CHECK: transformer.mask.tile_runs of %{{.*}}, %[[H]] queries %[[P:.*]] to %{{.*}} keys {{.*}} {tile = 1 : i64}
  // CHECK: scf.for %[[NUMBER:.*]] = %c0 to %[[TOGETHER]]
  // CHECK: %[[OWN:.*]] = arith.addi %[[H]], %[[NUMBER]]
  // CHECK: memref.subview %[[SUMS]][%[[NUMBER]], 0]
  // CHECK: transformer.online.probabilities row {{.*}} of %{{.*}}, %[[OWN]], %[[P]] ring %[[ORIGIN:.*]] into
  // CHECK: transformer.online.update {{.*}} ring %[[ORIGIN]] into
  transformer.attention %q, %k, %v at %positions of %sentences into %y
    {heads = 4 : i64, kv_heads = 2 : i64}
    : (memref<?x64xf32>, memref<?x?x32xf32>, memref<?x?x48xf32>,
       memref<?xi32>, memref<?xi32>, memref<?x96xf32>) -> ()
  return
}

// -----

// A memory has no ring.
// CHECK-LABEL: @reads_a_shared_memory
func.func private @reads_a_shared_memory(%q: memref<?x64xf32>,
    %k: memref<?x?x64xf32>, %rows: memref<?xi32>) {
  // CHECK: transformer.online.probabilities
  // CHECK-NOT: ring
  transformer.attention %q, %k, %k at %rows of %rows shared into %q
    {heads = 2 : i64}
    : (memref<?x64xf32>, memref<?x?x64xf32>, memref<?x?x64xf32>,
       memref<?xi32>, memref<?xi32>, memref<?x64xf32>) -> ()
  return
}

// -----

// Scores go through the region before they are exponents.
// CHECK-LABEL: @keeps_regions
func.func private @keeps_regions(%x: memref<?x?x16xf32>,
    %y: memref<?x?x16xf32>) {
  // CHECK: transformer.online.init {{.*}} {scale = 2.500000e-01 : f32}
  // CHECK: transformer.online.probabilities {{.*}} {factor = 1.44269502 : f32, {{.*}}} score {
  // CHECK: math.tanh
  transformer.attention %x, %x, %x into %y {heads = 1 : i64} score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    %capped = math.tanh %s : f32
    transformer.yield %capped : f32
  } : (memref<?x?x16xf32>, memref<?x?x16xf32>, memref<?x?x16xf32>,
       memref<?x?x16xf32>) -> ()
  // CHECK: transformer.online.init {{.*}} {scale = 2.500000e-01 : f32}
  // CHECK: transformer.online.probabilities {{.*}} normalizer sum
  // CHECK: transformer.online.finish {{.*}} {normalizer = #transformer<normalizer_kind sum>}
  transformer.attention %x, %x, %x into %y {heads = 1 : i64} normalizer sum
    : (memref<?x?x16xf32>, memref<?x?x16xf32>, memref<?x?x16xf32>,
       memref<?x?x16xf32>) -> ()
  return
}

// -----

// What cannot be tiled is left to the reference lowering.
// CHECK-LABEL: @leaves_the_rest_alone
func.func private @leaves_the_rest_alone(%x: memref<?x?x16xf32>,
    %t: memref<?x?x16xf32, strided<[?, 1, ?]>>, %y: memref<?x?x16xf32>,
    %wide: memref<?x?x520xf32>, %wide_y: memref<?x?x520xf32>) {
  // CHECK: transformer.attention
  transformer.attention %x, %t, %t into %y {heads = 1 : i64}
    : (memref<?x?x16xf32>, memref<?x?x16xf32, strided<[?, 1, ?]>>,
       memref<?x?x16xf32, strided<[?, 1, ?]>>, memref<?x?x16xf32>) -> ()
  // CHECK: transformer.attention
  transformer.attention %wide, %wide, %wide into %wide_y {heads = 1 : i64}
    : (memref<?x?x520xf32>, memref<?x?x520xf32>, memref<?x?x520xf32>,
       memref<?x?x520xf32>) -> ()
  return
}

// -----

// A block of bf16 works in pairs: of the width, and of keys. The scale of scores
// that a region reads multiplies them, not queries.
// CHECK-LABEL: @works_in_pairs
func.func private @works_in_pairs(%q: memref<?x?x49xbf16>,
    %y: memref<?x?x49xbf16>) {
  // V4-DAG: memref.alloca() {{.*}} : memref<25x32x2xbf16>
  // V4-DAG: memref.alloca() {{.*}} : memref<128x32x2xbf16>
  // V4-DAG: memref.alloca() {{.*}} : memref<49x32xf32>
  // V4-DAG: %[[PAIRS:.*]] = memref.alloca() {{.*}} : memref<128x49x2xbf16>
  // CHECK: transformer.online.init {{.*}} {scale = 1.000000e+00 : f32}
  // CHECK: transformer.online.probabilities {{.*}} {factor = 1.44269502 : f32, scale = 1.250000e-01 : f32, tile
  // CHECK: transformer.online.pairs %{{.*}}[%[[J:.*]] to %[[END:.*]]] into %[[PAIRS:.*]] :
  // CHECK: transformer.online.update block %{{.*}}, %[[PAIRS]][%[[J]] to %[[END]]]
  transformer.attention %q, %q, %q round into %y
    {heads = 1 : i64, scale = 0.125 : f32} score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    %t = math.tanh %s : f32
    transformer.yield %t : f32
  } : (memref<?x?x49xbf16>, memref<?x?x49xbf16>, memref<?x?x49xbf16>,
       memref<?x?x49xbf16>) -> ()
  return
}

// -----

// Weights that no softmax limits are f32 beside f16, and values stay where they
// are.
// CHECK-LABEL: @keeps_the_range_of_weights
func.func private @keeps_the_range_of_weights(%q: memref<?x?x48xf16>,
    %y: memref<?x?x48xf32>) {
  // V4-DAG: memref.alloca() {{.*}} : memref<24x32x2xf16>
  // V4-DAG: memref.alloca() {{.*}} : memref<256x32xf32>
  // CHECK-NOT: transformer.online.pairs
  // V4: transformer.online.update {{.*}} : memref<256x32xf32>, memref<?x48xf16, {{.*}}>, memref<48x32xf32>
  transformer.attention %q, %q, %q into %y {heads = 1 : i64} normalizer sum
    : (memref<?x?x48xf16>, memref<?x?x48xf16>, memref<?x?x48xf16>,
       memref<?x?x48xf32>) -> ()
  return
}

// -----

// One query of bf16 is read where it stands; its scores are f32.
// CHECK-LABEL: @reads_the_query_in_place
func.func private @reads_the_query_in_place(%q: memref<?x64xbf16>,
    %k: memref<?x?x64xbf16>, %y: memref<?x64xf32>, %positions: memref<?xi32>,
    %sentences: memref<?xi32>) {
  // CHECK-DAG: %[[PROBABILITIES:.*]] = memref.alloca() {{.*}} : memref<256xbf16>
  // CHECK-DAG: %[[SCORES:.*]] = memref.alloca() {{.*}} : memref<256xf32>
  // CHECK: scf.while
  // CHECK: %[[ROW:.*]] = memref.subview {{.*}} to memref<32xbf16, strided<[1], offset: ?>>
  // CHECK: transformer.online.probabilities row %[[ROW]], {{.*}} scores(%[[SCORES]] : memref<256xf32>) into %[[PROBABILITIES]],
  // CHECK: transformer.online.update row %[[PROBABILITIES]],
  transformer.attention %q, %k, %k at %positions of %sentences into %y
    {heads = 2 : i64}
    : (memref<?x64xbf16>, memref<?x?x64xbf16>, memref<?x?x64xbf16>,
       memref<?xi32>, memref<?xi32>, memref<?x64xf32>) -> ()
  return
}

// -----

// Levels with tiles take 32 keys at once: runs are multiples of them, and values
// in columns stay for the blocks of queries that follow: a task has a head, or
// eight blocks of one.
// AMX-LABEL: @takes_groups_of_keys
// CHECK-LABEL: @takes_groups_of_keys
func.func private @takes_groups_of_keys(%q: memref<?x?x128xbf16>,
    %k: memref<?x?x64xbf16>, %y: memref<?x?x128xf32>) {
  // AMX: %[[HEADS:.*]] = arith.muli %{{.*}}, %c2
  // AMX: %[[UNITS:.*]] = arith.muli %[[HEADS]]
  // AMX: %[[SHARES:.*]] = arith.divui %[[UNITS]], %c8
  // AMX: %[[MOST:.*]] = arith.maxsi %[[HEADS]], %[[SHARES]]
  // AMX: arith.minsi %{{.*}}, %[[MOST]]
  // AMX-DAG: %[[SCORES:.*]] = memref.alloca() {{.*}} : memref<32x32xf32>
  // AMX-DAG: %[[FEW:.*]] = memref.alloca() {{.*}} : memref<32x16xf32>
  // AMX-DAG: %[[COLUMNS:.*]] = memref.alloca() {{.*}} : memref<128x64x32xbf16>
  // AMX-DAG: %[[SLOTS:.*]] = memref.alloca() {{.*}} : memref<128x2xindex>
  // AMX-NOT: online.pairs
  // AMX: transformer.mask.tile_runs {{.*}} {tile = 32 : i64}
  // AMX: transformer.online.probabilities {{.*}} scores(%[[FEW]] : memref<32x16xf32>) last(%{{.*}} : memref<32x64xbf16>) into {{.*}} tile = 8 : i64
  // AMX: transformer.online.columns %[[VALUES:.*]][%[[J:.*]] to %[[END:.*]]] of %{{.*}} into %[[COLUMNS]], %[[SLOTS]]
  // AMX: transformer.online.update block %{{.*}}, %[[VALUES]][%[[J]] to %[[END]]] {{.*}} columns(%[[COLUMNS]] : {{.*}}) slots(%[[SLOTS]] :
  // AMX: scores(%[[SCORES]] : memref<32x32xf32>)
  // CHECK-NOT: online.columns
  // CHECK: return
  transformer.attention %q, %k, %k into %y
    {heads = 2 : i64, kv_heads = 1 : i64}
    : (memref<?x?x128xbf16>, memref<?x?x64xbf16>, memref<?x?x64xbf16>,
       memref<?x?x128xf32>) -> ()
  return
}

// -----

// A similarity region stands where the products did, on queries of f32. Keys of
// f32 are read in place.
// CHECK-LABEL: @scores_by_a_region
func.func private @scores_by_a_region(%q: memref<?x?x16xf32>,
    %k: memref<?x?x48xf32>, %y: memref<?x?x48xf32>) {
  // V4: memref.alloca() {{.*}} : memref<16x32xf32>
  // V3: memref.alloca() {{.*}} : memref<16x16xf32>
  // CHECK: transformer.online.init {{.*}} {scale = 1.000000e+00 : f32}
  // CHECK-NOT: copies
  // CHECK: transformer.online.probabilities {{.*}} {factor = 1.44269502 : f32, tile = {{.}} : i64} similarity {
  // CHECK: vector.reduction <maximumf>
  transformer.attention %q, %k, %k into %y {heads = 1 : i64}
    similarity {
  ^bb0(%a: vector<16xf32>, %b: vector<48xf32>):
    %s = vector.reduction <maximumf>, %b : vector<48xf32> into f32
    transformer.yield %s : f32
  } : (memref<?x?x16xf32>, memref<?x?x48xf32>, memref<?x?x48xf32>,
       memref<?x?x48xf32>) -> ()
  return
}

// -----

// Queries and keys of bf16 are widened, and values multiplied as ever: by tiles
// where there are some. One query has a key a lane.
// CHECK-LABEL: @widens_for_a_region
// AMX-LABEL: @widens_for_a_region
func.func private @widens_for_a_region(%x: memref<?x?x32xbf16>,
    %y: memref<?x?x32xf32>, %row: memref<?x32xbf16>, %rows: memref<?xi32>,
    %step: memref<?x32xf32>) {
  // V4-DAG: %[[QUERIES:.*]] = memref.alloca() {{.*}} : memref<32x32xf32>
  // V4-DAG: %[[COPIES:.*]] = memref.alloca() {{.*}} : memref<8x32xf32>
  // V3-DAG: %[[COPIES:.*]] = memref.alloca() {{.*}} : memref<4x32xf32>
  // CHECK: transformer.online.probabilities {{.*}} copies(%{{.*}} : memref<{{[48]}}x32xf32>) into {{.*}} similarity
  // CHECK: transformer.online.pairs
  // AMX: transformer.mask.tile_runs {{.*}} {tile = 32 : i64}
  // AMX-NOT: scores(
  // AMX: transformer.online.probabilities {{.*}} copies(%{{.*}} : memref<8x32xf32>) into {{.*}} similarity
  // AMX: transformer.online.columns
  transformer.attention %x, %x, %x into %y {heads = 1 : i64} similarity {
  ^bb0(%a: vector<32xf32>, %b: vector<32xf32>):
    %s = vector.reduction <maximumf>, %b : vector<32xf32> into f32
    transformer.yield %s : f32
  } : (memref<?x?x32xbf16>, memref<?x?x32xbf16>, memref<?x?x32xbf16>,
       memref<?x?x32xf32>) -> ()
  // CHECK: %[[ONE:.*]] = memref.alloca() {{.*}} : memref<32xf32>
  // V4: memref.alloca() {{.*}} : memref<32x16xf32>
  // V3: memref.alloca() {{.*}} : memref<32x8xf32>
  // CHECK: transformer.online.init row %{{.*}}[%{{.*}}] into %[[ONE]]
  // CHECK: transformer.online.probabilities row %[[ONE]], {{.*}} scores({{.*}} copies({{.*}} similarity
  transformer.attention %row, %x, %x at %rows of %rows into %step
    {heads = 1 : i64} similarity {
  ^bb0(%a: vector<32xf32>, %b: vector<32xf32>):
    %s = vector.reduction <maximumf>, %b : vector<32xf32> into f32
    transformer.yield %s : f32
  } : (memref<?x32xbf16>, memref<?x?x32xbf16>, memref<?x?x32xbf16>,
       memref<?xi32>, memref<?xi32>, memref<?x32xf32>) -> ()
  return
}

// -----

// Heads whose windows differ have code of their own. Every second position is a
// view of its own: what lies between does not see it.
// CHECK-LABEL: @groups_heads_and_strides
func.func private @groups_heads_and_strides(%x: memref<?x?x64xf32>,
    %y: memref<?x?x64xf32>) {
  // CHECK-DAG: %[[NEAR:.*]] = transformer.mask.window [left = 8, right = 8]{{$}}
  // CHECK-DAG: %[[FAR:.*]] = transformer.mask.window [left = 8, right = 8, dilation = 2]
  // CHECK: scf.index_switch
  // CHECK: case 1 {
  // CHECK: %[[ROWS:.*]] = memref.subview %{{.*}}[%[[REST:.*]], 0] [%{{.*}}, 16] [2, 1]
  // CHECK: transformer.online.init block %[[ROWS]]
  // CHECK: transformer.mask.tile_runs mask(%[[FAR]]) {{.*}} strided(%[[REST]]) into {{.*}} {stride = 2 : i64
  // CHECK: transformer.online.probabilities {{.*}} mask(%[[FAR]]) {{.*}} strided(%[[REST]]) into
  // CHECK: default {
  // CHECK: transformer.mask.tile_runs mask(%[[NEAR]])
  // CHECK-NOT: strided(
  %w = transformer.mask.window [left = 8, right = 8, dilation = [1, 2, 1, 2]]
  transformer.attention %x, %x, %x mask(%w) into %y {heads = 4 : i64}
    : (memref<?x?x64xf32>, memref<?x?x64xf32>, memref<?x?x64xf32>,
       !transformer.mask, memref<?x?x64xf32>) -> ()
  return
}

// -----

// Tiles first, then the keys of a list for each query by itself.
// CHECK-LABEL: @gathers_keys_of_lists
func.func private @gathers_keys_of_lists(%x: memref<?x?x64xf32>,
    %y: memref<?x?x64xf32>, %lengths: memref<?xi32>) {
  %w = transformer.mask.window [left = 8, right = 8]
  %r = transformer.mask.random_tokens [count = 9, seed = 1] of %lengths : memref<?xi32>
  %o = transformer.mask.or %w, %r
  // CHECK-DAG: %[[WINDOW:.*]] = transformer.mask.window
  // CHECK-DAG: %[[DRAWN:.*]] = transformer.mask.random_tokens
  // CHECK-DAG: %[[REST:.*]] = transformer.mask.not %[[WINDOW]]
  // CHECK: transformer.mask.tile_runs mask(%[[WINDOW]])
  // CHECK: transformer.online.probabilities block {{.*}} mask(%[[WINDOW]])
  // CHECK: scf.for %[[I:.*]] =
  // CHECK: transformer.online.resume %{{.*}}, %{{.*}}[%{{.*}}] into %[[SUMS:.*]], %[[STATE:.*]] :
  // CHECK: %[[SIZE:.*]] = transformer.mask.list_size %[[DRAWN]] of %{{.*}}, %{{.*}}, %[[I]]
  // CHECK: %[[COUNT:.*]] = transformer.mask.listed_keys %[[DRAWN]][%{{.*}} to %{{.*}}] where(%[[REST]]) of %{{.*}}, %{{.*}}, %[[I]] {{.*}} into %[[LIST:.*]] :
  // CHECK: transformer.online.probabilities row {{.*}}[%c0 to %[[COUNT]]] full %c0 to %[[COUNT]] of {{.*}} listed(%[[LIST]] : {{.*}}) fetched(%[[VALUES:[a-z0-9_]+]] :
  // CHECK: transformer.online.update row %{{.*}}, %[[VALUES]][{{.*}} listed(%[[LIST]] : {{.*}} into %[[SUMS]]
  // CHECK: transformer.online.finish row %[[SUMS]], %[[STATE]]
  transformer.attention %x, %x, %x mask(%o) into %y {heads = 4 : i64}
    : (memref<?x?x64xf32>, memref<?x?x64xf32>, memref<?x?x64xf32>,
       !transformer.mask, memref<?x?x64xf32>) -> ()
  return
}

// -----

// The first positions of a cache have slots of their own.
// CHECK-LABEL: @keeps_pinned_slots
func.func private @keeps_pinned_slots(%q: memref<?x64xf32>,
    %k: memref<?x?x64xf32>, %rows: memref<?xi32>) {
  %w = transformer.mask.window [left = 8, right = 0]
  %p = transformer.mask.prefix [length = 4]
  %o = transformer.mask.or %w, %p
  // CHECK: scf.while (%{{.*}} = %c0)
  // CHECK: transformer.online.probabilities {{.*}} ring %{{.*}} into {{.*}} {factor = {{.*}}, pinned = 4 : i64
  transformer.attention %q, %k, %k mask(%o) at %rows of %rows into %q
    {heads = 4 : i64, pinned = 4 : i64}
    : (memref<?x64xf32>, memref<?x?x64xf32>, memref<?x?x64xf32>,
       !transformer.mask, memref<?xi32>, memref<?xi32>, memref<?x64xf32>) -> ()
  return
}

// -----

// The past of few rows is divided if threads share it, or rows: each part is a
// unit with a record of its own, and what they have is merged in order. Otherwise
// a task merges them itself. All rows come before the next part.
// CHECK-LABEL: @divides_a_long_past
func.func private @divides_a_long_past(%at: memref<?xi32>, %in: memref<?xi32>,
    %q: memref<?x256xf32>, %kv: memref<?x?x128xf32>,
    %parts: memref<?x4x16x128xf32>, %y: memref<?x256xf32>) {
  %causal = transformer.mask.causal
  // CHECK: %[[SHARING:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %c0
  // CHECK-COUNT-2: memref.load %arg1
  // CHECK: %[[NONE:.*]] = arith.cmpi eq, %[[SHARING]], %c0
  // CHECK: %[[ALONE:.*]] = arith.andi %{{.*}}, %[[NONE]]
  // CHECK: %[[MOST:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %c1)
  // CHECK: %[[PARTS:.*]] = arith.select %[[ALONE]], %c1, %[[MOST]]
  // CHECK: %[[IS_DIVIDED:.*]] = arith.cmpi sgt, %[[PARTS]], %c1
  // CHECK: %[[RECORDS:.*]] = memref.collapse_shape %{{.*}} {{\[\[}}0, 1, 2], [3]] : memref<?x4x16x128xf32> into memref<?x128xf32>
  // CHECK: %[[OF_ROWS:.*]] = arith.muli
  // CHECK: arith.muli %[[OF_ROWS]], %[[PARTS]]
  // CHECK: scf.forall
  // CHECK: %[[OWN:.*]] = memref.alloca() {{.*}} : memref<8x128xf32>
  // CHECK: scf.for %[[UNIT:.*]] =
  // CHECK-DAG: arith.remui %[[UNIT]], %[[OF_ROWS]]
  // CHECK-DAG: arith.divui %[[UNIT]], %[[OF_ROWS]]
  // CHECK: arith.select %[[IS_DIVIDED]]
  // CHECK: transformer.online.init row
  // CHECK: transformer.online.update row
  // CHECK: transformer.online.merge
  // CHECK: %[[IS_WHOLE:.*]] = arith.cmpi eq, %[[PARTS]], %c1
  // CHECK: scf.if %[[IS_WHOLE]]
  // CHECK: transformer.online.finish row
  // CHECK: scf.forall
  // CHECK-NOT: transformer.online.init
  // CHECK: transformer.online.merge
  // CHECK: transformer.online.finish row
  transformer.attention %q, %kv, %kv mask(%causal) at %at of %at in %in
    parts(%parts) into %y {heads = 4 : i64, kv_heads = 2 : i64}
    : (memref<?x256xf32>, memref<?x?x128xf32>, memref<?x?x128xf32>,
       !transformer.mask, memref<?xi32>, memref<?xi32>, memref<?xi32>,
       memref<?x4x16x128xf32>, memref<?x256xf32>) -> ()
  return
}
