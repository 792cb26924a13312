// The ops of tiled attention survive printing, the generic form and bytecode.
// RUN: heddle-opt %s | heddle-opt | FileCheck %s
// RUN: heddle-opt %s --mlir-print-op-generic | heddle-opt | FileCheck %s
// RUN: heddle-opt %s --emit-bytecode | heddle-opt | FileCheck %s

// CHECK-LABEL: @block
func.func @block(%rows: memref<?x64xf32>, %keys: memref<?x64xf32>,
    %values: memref<?x48xf32>, %result: memref<?x48xf32>,
    %lengths: memref<?xi32>, %b: index, %h: index, %i: index, %j: index,
    %end: index) {
  %queries = memref.alloca() : memref<64x32xf32>
  %probabilities = memref.alloca() : memref<256x32xf32>
  %sums = memref.alloca() : memref<48x32xf32>
  %state = memref.alloca() : memref<4x32xf32>
  %runs = memref.alloca() : memref<8x4xindex>
  %valid = transformer.mask.padding %lengths : memref<?xi32>
  // CHECK: transformer.online.init block %{{.*}}[%{{.*}}] into %{{.*}}, %{{.*}}, %{{.*}} {scale = 1.250000e-01 : f32} : memref<?x64xf32>, memref<64x32xf32>, memref<48x32xf32>, memref<4x32xf32>
  transformer.online.init block %rows[%i] into %queries, %sums, %state {scale = 0.125 : f32} : memref<?x64xf32>, memref<64x32xf32>, memref<48x32xf32>, memref<4x32xf32>
  // CHECK: %{{.*}}, %{{.*}} = transformer.mask.tile_runs mask(%{{.*}}) of %{{.*}}, %{{.*}} queries %{{.*}} to %{{.*}} keys %{{.*}} to %{{.*}} into %{{.*}} {tile = 8 : i64} : memref<8x4xindex>
  %count, %next = transformer.mask.tile_runs mask(%valid) of %b, %h queries %i to %end keys %j to %end into %runs {tile = 8 : i64} : memref<8x4xindex>
  // CHECK: transformer.online.probabilities block %{{.*}}, %{{.*}}[%{{.*}} to %{{.*}}] full %{{.*}} to %{{.*}} mask(%{{.*}}) of %{{.*}}, %{{.*}}, %{{.*}} into %{{.*}}, %{{.*}}, %{{.*}} {factor = 1.000000e+00 : f32, tile = 8 : i64} : memref<64x32xf32>, memref<?x64xf32>, memref<256x32xf32>, memref<48x32xf32>, memref<4x32xf32>
  transformer.online.probabilities block %queries, %keys[%j to %end] full %j to %end mask(%valid) of %b, %h, %i into %probabilities, %sums, %state {factor = 1.0 : f32, tile = 8 : i64} : memref<64x32xf32>, memref<?x64xf32>, memref<256x32xf32>, memref<48x32xf32>, memref<4x32xf32>
  // CHECK: transformer.online.update block %{{.*}}, %{{.*}}[%{{.*}} to %{{.*}}] full %{{.*}} to %{{.*}} into %{{.*}} {tile = 8 : i64} : memref<256x32xf32>, memref<?x48xf32>, memref<48x32xf32>
  transformer.online.update block %probabilities, %values[%j to %end] full %j to %end into %sums {tile = 8 : i64} : memref<256x32xf32>, memref<?x48xf32>, memref<48x32xf32>
  // CHECK: transformer.online.finish block %{{.*}}, %{{.*}} into %{{.*}}[%{{.*}}] : memref<48x32xf32>, memref<4x32xf32>, memref<?x48xf32>
  transformer.online.finish block %sums, %state into %result[%i] : memref<48x32xf32>, memref<4x32xf32>, memref<?x48xf32>
  return
}

// One query, a ring of keys, regions and another normalizer.
// CHECK-LABEL: @row
func.func @row(%queries: memref<64xf32>, %keys: memref<?x64xf32>,
    %probabilities: memref<256xf32>, %sums: memref<48xf32>, %state: memref<4x16xf32>,
    %values: memref<?x48xf32>, %result: memref<?x48xf32>, %b: index, %h: index,
    %i: index, %j: index, %end: index) {
  // CHECK: transformer.online.probabilities {{.*}} of %{{.*}}, %{{.*}}, %{{.*}} ring %{{.*}} into %{{.*}}, %{{.*}}, %{{.*}} {factor = 1.000000e+00 : f32, tile = 16 : i64} score {
  transformer.online.probabilities row %queries, %keys[%j to %end] full %j to %end of %b, %h, %i ring %j into %probabilities, %sums, %state {factor = 1.0 : f32, tile = 16 : i64} score {
  // CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32):
  ^bb0(%s: f32, %sb: i32, %sh: i32, %si: i32, %sj: i32):
    transformer.yield %s : f32
  // CHECK: } normalizer {
  } normalizer {
  ^bb0(%s: f32):
    transformer.yield %s : f32
  // CHECK: } : memref<64xf32>
  } : memref<64xf32>, memref<?x64xf32>, memref<256xf32>, memref<48xf32>, memref<4x16xf32>
  // CHECK: transformer.online.update {{.*}} full %{{.*}} to %{{.*}} ring %{{.*}} into %{{.*}}
  transformer.online.update row %probabilities, %values[%j to %end] full %j to %end ring %j into %sums {tile = 16 : i64} : memref<256xf32>, memref<?x48xf32>, memref<48xf32>
  // CHECK: transformer.online.finish {{.*}} {normalizer = #transformer<normalizer_kind none>} : memref<48xf32>
  transformer.online.finish row %sums, %state into %result[%i] {normalizer = #transformer<normalizer_kind none>} : memref<48xf32>, memref<4x16xf32>, memref<?x48xf32>
  return
}

// Positions stand in the caches that a history gives.
// CHECK-LABEL: @history
func.func @history(%queries: memref<64xf32>, %keys: memref<?x64xf32>,
    %probabilities: memref<256xf32>, %sums: memref<48xf32>, %state: memref<4x16xf32>,
    %values: memref<?x48xf32>, %caches: memref<?xi32>, %slots: index,
    %j: index, %end: index) {
  // CHECK: transformer.online.probabilities {{.*}} ring %{{.*}} through(%{{.*}} of %{{.*}} : memref<?xi32>) into
  transformer.online.probabilities row %queries, %keys[%j to %end] full %j to %end of %j, %j, %j ring %j through(%caches of %slots : memref<?xi32>) into %probabilities, %sums, %state {factor = 1.0 : f32, tile = 16 : i64} : memref<64xf32>, memref<?x64xf32>, memref<256xf32>, memref<48xf32>, memref<4x16xf32>
  // CHECK: transformer.online.update {{.*}} through(%{{.*}} of %{{.*}} : memref<?xi32>) into
  transformer.online.update row %probabilities, %values[%j to %end] full %j to %end through(%caches of %slots : memref<?xi32>) into %sums {tile = 16 : i64} : memref<256xf32>, memref<?x48xf32>, memref<48xf32>
  return
}

// A block of bf16 stands in pairs, the values of a tile too.
// CHECK-LABEL: @block_of_bf16
func.func @block_of_bf16(%rows: memref<?x7xbf16>, %keys: memref<?x7xbf16>, %values: memref<?x48xbf16>, %result: memref<?x48xbf16>, %b: index, %i: index, %end: index) {
  %queries = memref.alloca() : memref<4x32x2xbf16>
  %probabilities = memref.alloca() : memref<128x32x2xbf16>
  %pairs = memref.alloca() : memref<128x48x2xbf16>
  %sums = memref.alloca() : memref<48x32xf32>
  %state = memref.alloca() : memref<4x32xf32>
  // CHECK: transformer.online.init {{.*}} : memref<?x7xbf16>, memref<4x32x2xbf16>, memref<48x32xf32>, memref<4x32xf32>
  transformer.online.init block %rows[%i] into %queries, %sums, %state {scale = 1.0 : f32} : memref<?x7xbf16>, memref<4x32x2xbf16>, memref<48x32xf32>, memref<4x32xf32>
  // CHECK: transformer.online.probabilities {{.*}} {factor = 1.000000e+00 : f32, scale = 5.000000e-01 : f32, tile = 8 : i64} : memref<4x32x2xbf16>
  transformer.online.probabilities block %queries, %keys[%i to %end] full %i to %end of %b, %b, %i into %probabilities, %sums, %state {factor = 1.0 : f32, scale = 0.5 : f32, tile = 8 : i64} : memref<4x32x2xbf16>, memref<?x7xbf16>, memref<128x32x2xbf16>, memref<48x32xf32>, memref<4x32xf32>
  // CHECK: transformer.online.pairs %{{.*}}[%{{.*}} to %{{.*}}] into %{{.*}} : memref<?x48xbf16>, memref<128x48x2xbf16>
  transformer.online.pairs %values[%i to %end] into %pairs : memref<?x48xbf16>, memref<128x48x2xbf16>
  // CHECK: transformer.online.update {{.*}} : memref<128x32x2xbf16>, memref<128x48x2xbf16>, memref<48x32xf32>
  transformer.online.update block %probabilities, %pairs[%i to %end] full %i to %end into %sums {tile = 8 : i64} : memref<128x32x2xbf16>, memref<128x48x2xbf16>, memref<48x32xf32>
  // CHECK: transformer.online.finish {{.*}} : memref<48x32xf32>, memref<4x32xf32>, memref<?x48xbf16>
  transformer.online.finish block %sums, %state into %result[%i] : memref<48x32xf32>, memref<4x32xf32>, memref<?x48xbf16>
  return
}

// CHECK-LABEL: @row_of_bf16
func.func @row_of_bf16(%queries: memref<64xbf16>, %keys: memref<?x64xbf16>, %scores: memref<256xf32>, %probabilities: memref<256xbf16>, %sums: memref<48xf32>, %state: memref<4x16xf32>, %values: memref<?x48xbf16>, %j: index, %end: index) {
  // CHECK: transformer.online.probabilities {{.*}} ring %{{.*}} scores(%{{.*}} : memref<256xf32>) into
  transformer.online.probabilities row %queries, %keys[%j to %end] full %j to %end of %j, %j, %j ring %j scores(%scores : memref<256xf32>) into %probabilities, %sums, %state {factor = 1.0 : f32, tile = 16 : i64} : memref<64xbf16>, memref<?x64xbf16>, memref<256xbf16>, memref<48xf32>, memref<4x16xf32>
  // CHECK: transformer.online.update {{.*}} : memref<256xbf16>, memref<?x48xbf16>, memref<48xf32>
  transformer.online.update row %probabilities, %values[%j to %end] full %j to %end ring %j into %sums {tile = 16 : i64} : memref<256xbf16>, memref<?x48xbf16>, memref<48xf32>
  return
}

// Weights of other normalizers than softmax are f32 beside f16.
// CHECK-LABEL: @block_of_f16
func.func @block_of_f16(%queries: memref<4x32x2xf16>, %keys: memref<?x7xf16>, %probabilities: memref<256x32xf32>, %values: memref<?x48xf16>, %sums: memref<48x32xf32>, %state: memref<4x32xf32>, %i: index, %end: index) {
  // CHECK: transformer.online.probabilities {{.*}} normalizer sum : memref<4x32x2xf16>, memref<?x7xf16>, memref<256x32xf32>
  transformer.online.probabilities block %queries, %keys[%i to %end] full %i to %end of %i, %i, %i into %probabilities, %sums, %state {factor = 1.0 : f32, tile = 8 : i64} normalizer sum : memref<4x32x2xf16>, memref<?x7xf16>, memref<256x32xf32>, memref<48x32xf32>, memref<4x32xf32>
  // CHECK: transformer.online.update {{.*}} : memref<256x32xf32>, memref<?x48xf16>, memref<48x32xf32>
  transformer.online.update block %probabilities, %values[%i to %end] full %i to %end into %sums {tile = 8 : i64} : memref<256x32xf32>, memref<?x48xf16>, memref<48x32xf32>
  return
}

// CHECK-LABEL: @groups_of_keys
func.func @groups_of_keys(%queries: memref<32x32x2xbf16>, %keys: memref<?x64xbf16>, %scores: memref<32x32xf32>, %last: memref<32x64xbf16>, %probabilities: memref<128x32x2xbf16>, %sums: memref<96x32xf32>, %state: memref<4x32xf32>, %values: memref<?x96xbf16>, %columns: memref<64x96x32xbf16>, %slots: memref<64x2xindex>, %j: index, %end: index) {
  // CHECK: transformer.online.probabilities {{.*}} scores(%{{.*}} : memref<32x32xf32>) last(%{{.*}} : memref<32x64xbf16>) into
  transformer.online.probabilities block %queries, %keys[%j to %end] full %j to %end of %j, %j, %j scores(%scores : memref<32x32xf32>) last(%last : memref<32x64xbf16>) into %probabilities, %sums, %state {factor = 1.0 : f32, tile = 8 : i64} : memref<32x32x2xbf16>, memref<?x64xbf16>, memref<128x32x2xbf16>, memref<96x32xf32>, memref<4x32xf32>
  // CHECK: transformer.online.columns %{{.*}}[%{{.*}} to %{{.*}}] of %{{.*}} into %{{.*}}, %{{.*}} : memref<?x96xbf16>, memref<64x96x32xbf16>, memref<64x2xindex>
  transformer.online.columns %values[%j to %end] of %j into %columns, %slots : memref<?x96xbf16>, memref<64x96x32xbf16>, memref<64x2xindex>
  // CHECK: transformer.online.update {{.*}} columns(%{{.*}} : memref<64x96x32xbf16>) slots(%{{.*}} : memref<64x2xindex>) into
  transformer.online.update block %probabilities, %values[%j to %end] full %j to %end columns(%columns : memref<64x96x32xbf16>) slots(%slots : memref<64x2xindex>) into %sums {tile = 8 : i64} : memref<128x32x2xbf16>, memref<?x96xbf16>, memref<96x32xf32>
  return
}

// CHECK-LABEL: @similarity
func.func @similarity(%queries: memref<7x32xf32>, %keys: memref<?x9xbf16>, %copies: memref<8x9xf32>, %probabilities: memref<128x32x2xbf16>, %sums: memref<48x32xf32>, %state: memref<4x32xf32>, %rows: memref<?x7xbf16>, %j: index, %end: index) {
  // CHECK: transformer.online.init {{.*}} : memref<?x7xbf16>, memref<7x32xf32>,
  transformer.online.init block %rows[%j] into %queries, %sums, %state {scale = 1.0 : f32} : memref<?x7xbf16>, memref<7x32xf32>, memref<48x32xf32>, memref<4x32xf32>
  // CHECK: transformer.online.probabilities {{.*}} copies(%{{.*}} : memref<8x9xf32>) into {{.*}} similarity {
  // CHECK-NEXT: ^bb0(%{{.*}}: vector<7xf32>, %[[KEY:.*]]: vector<9xf32>):
  // CHECK-NEXT: vector.extract %[[KEY]][8]
  // CHECK-NEXT: transformer.yield
  transformer.online.probabilities block %queries, %keys[%j to %end] full %j to %end of %j, %j, %j copies(%copies : memref<8x9xf32>) into %probabilities, %sums, %state {factor = 1.0 : f32, tile = 8 : i64} similarity {
  ^bb0(%q: vector<7xf32>, %k: vector<9xf32>):
    %s = vector.extract %k[8] : f32 from vector<9xf32>
    transformer.yield %s : f32
  } : memref<7x32xf32>, memref<?x9xbf16>, memref<128x32x2xbf16>, memref<48x32xf32>, memref<4x32xf32>
  return
}

// CHECK-LABEL: @relative
func.func @relative(%i: index, %queries: memref<8x32xf32>, %keys: memref<?x8xf32>, %probabilities: memref<32x32xf32>, %sums: memref<8x32xf32>, %state: memref<4x32xf32>, %a: memref<8x9xf32, strided<[9, 1], offset: ?>>) {
  // CHECK: transformer.online.probabilities block {{.*}} relative_keys(%{{.*}} : memref<8x9xf32, strided<[9, 1], offset: ?>>) relative_queries(%{{.*}} : memref<8x9xf32, strided<[9, 1], offset: ?>>) into
  transformer.online.probabilities block %queries, %keys[%i to %i] full %i to %i of %i, %i, %i relative_keys(%a : memref<8x9xf32, strided<[9, 1], offset: ?>>) relative_queries(%a : memref<8x9xf32, strided<[9, 1], offset: ?>>) into %probabilities, %sums, %state {factor = 1.0 : f32, tile = 8 : i64} : memref<8x32xf32>, memref<?x8xf32>, memref<32x32xf32>, memref<8x32xf32>, memref<4x32xf32>
  return
}

// Rows of integers have scales: one query multiplies them in place, a block reads
// copies.
// CHECK-LABEL: @integers
func.func @integers(%i: index, %keys: memref<?x8xi8>, %scales: memref<?x1xf32>, %query: memref<8xf32>, %weights: memref<32xf32>, %sum: memref<8xf32>, %own: memref<4x16xf32>, %queries: memref<8x32xf32>, %probabilities: memref<32x32xf32>, %sums: memref<8x32xf32>, %state: memref<4x32xf32>) {
  // CHECK: transformer.online.probabilities row {{.*}} full %{{.*}} to %{{.*}} scales(%{{.*}} : memref<?x1xf32>) of
  transformer.online.probabilities row %query, %keys[%i to %i] full %i to %i scales(%scales : memref<?x1xf32>) of %i, %i, %i into %weights, %sum, %own {factor = 1.0 : f32, tile = 16 : i64} : memref<8xf32>, memref<?x8xi8>, memref<32xf32>, memref<8xf32>, memref<4x16xf32>
  // CHECK: transformer.online.update row {{.*}} scales(%{{.*}} : memref<?x1xf32>) into
  transformer.online.update row %weights, %keys[%i to %i] full %i to %i scales(%scales : memref<?x1xf32>) into %sum {tile = 16 : i64} : memref<32xf32>, memref<?x8xi8>, memref<8xf32>
  %copies = memref.alloca() : memref<8x8xf32>
  %copy = memref.alloca() : memref<32x8xf32>
  // CHECK: transformer.online.probabilities block {{.*}} scales(%{{.*}} : memref<?x1xf32>) of {{.*}} copies(%{{.*}} : memref<8x8xf32>) into
  transformer.online.probabilities block %queries, %keys[%i to %i] full %i to %i scales(%scales : memref<?x1xf32>) of %i, %i, %i copies(%copies : memref<8x8xf32>) into %probabilities, %sums, %state {factor = 1.0 : f32, tile = 8 : i64} : memref<8x32xf32>, memref<?x8xi8>, memref<32x32xf32>, memref<8x32xf32>, memref<4x32xf32>
  // CHECK: transformer.online.widen %{{.*}}[%{{.*}} to %{{.*}}] scales(%{{.*}}) into %{{.*}} : memref<?x8xi8>, memref<?x1xf32>, memref<32x8xf32>
  transformer.online.widen %keys[%i to %i] scales(%scales) into %copy : memref<?x8xi8>, memref<?x1xf32>, memref<32x8xf32>
  return
}
