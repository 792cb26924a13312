// One case per constraint of Online.td.
// RUN: heddle-opt %s -split-input-file -verify-diagnostics

func.func @mask_tile_runs_c1(%i: index, %runs: memref<2x4xindex>) {
  // expected-error @+1 {{expects runs of type memref<8x4xindex> or longer, found 'memref<2x4xindex>'}}
  %count = transformer.mask.tile_runs of %i, %i queries %i to %i keys %i to %i into %runs {tile = 8 : i64} : memref<2x4xindex>
  return
}

// -----

func.func @online_init_c1_columns(%i: index, %rows: memref<?x8xf32>, %queries: memref<8x32xf32>, %sums: memref<8x16xf32>, %state: memref<4x32xf32>) {
  // expected-error @+1 {{expects one static number of columns, found 32 and 16}}
  transformer.online.init %rows[%i] into %queries, %sums, %state {scale = 1.0 : f32} : memref<?x8xf32>, memref<8x32xf32>, memref<8x16xf32>, memref<4x32xf32>
  return
}

// -----

func.func @online_init_c1_width(%i: index, %rows: memref<?x4xf32>, %queries: memref<8x32xf32>, %sums: memref<8x32xf32>, %state: memref<4x32xf32>) {
  // expected-error @+1 {{expects one static width of queries, found 4 and 8}}
  transformer.online.init %rows[%i] into %queries, %sums, %state {scale = 1.0 : f32} : memref<?x4xf32>, memref<8x32xf32>, memref<8x32xf32>, memref<4x32xf32>
  return
}

// -----

func.func @online_init_c1_state(%i: index, %rows: memref<?x8xf32>, %queries: memref<8x32xf32>, %sums: memref<8x32xf32>, %state: memref<2x32xf32>) {
  // expected-error @+1 {{expects a state of 4 rows and the columns of 'memref<8x32xf32>', found 'memref<2x32xf32>'}}
  transformer.online.init %rows[%i] into %queries, %sums, %state {scale = 1.0 : f32} : memref<?x8xf32>, memref<8x32xf32>, memref<8x32xf32>, memref<2x32xf32>
  return
}

// -----

func.func @online_weights_c1_columns(%i: index, %queries: memref<8x32xf32>, %keys: memref<?x8xf32>, %weights: memref<64x16xf32>, %sums: memref<8x32xf32>, %state: memref<4x32xf32>) {
  // expected-error @+1 {{expects one static number of columns, found 32 and 16}}
  transformer.online.weights %queries, %keys[%i to %i] full %i to %i of %i, %i, %i into %weights, %sums, %state {factor = 1.0 : f32, tile = 8 : i64} : memref<8x32xf32>, memref<?x8xf32>, memref<64x16xf32>, memref<8x32xf32>, memref<4x32xf32>
  return
}

// -----

func.func @online_weights_c1_width(%i: index, %queries: memref<8x32xf32>, %keys: memref<?x4xf32>, %weights: memref<64x32xf32>, %sums: memref<8x32xf32>, %state: memref<4x32xf32>) {
  // expected-error @+1 {{expects one static width of keys, found 4 and 8}}
  transformer.online.weights %queries, %keys[%i to %i] full %i to %i of %i, %i, %i into %weights, %sums, %state {factor = 1.0 : f32, tile = 8 : i64} : memref<8x32xf32>, memref<?x4xf32>, memref<64x32xf32>, memref<8x32xf32>, memref<4x32xf32>
  return
}

// -----

func.func @online_weights_c2(%i: index, %queries: memref<8x32xf32>, %keys: memref<?x8xf32>, %weights: memref<64x32xf32>, %sums: memref<8x32xf32>, %state: memref<4x32xf32>) {
  // expected-error @+1 {{expects a normalizer region exactly where the normalizer is 'region'}}
  "transformer.online.weights"(%queries, %keys, %i, %i, %i, %i, %i, %i, %i, %weights, %sums, %state) <{factor = 1.0 : f32, tile = 8 : i64, normalizer = #transformer<normalizer_kind region>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1>}> ({}, {}) : (memref<8x32xf32>, memref<?x8xf32>, index, index, index, index, index, index, index, memref<64x32xf32>, memref<8x32xf32>, memref<4x32xf32>) -> ()
  return
}

// -----

func.func @online_update_c1_width(%i: index, %weights: memref<64x32xf32>, %values: memref<?x4xf32>, %sums: memref<8x32xf32>) {
  // expected-error @+1 {{expects one static width of values, found 4 and 8}}
  transformer.online.update %weights, %values[%i to %i] full %i to %i into %sums {tile = 8 : i64} : memref<64x32xf32>, memref<?x4xf32>, memref<8x32xf32>
  return
}

// -----

func.func @online_finish_c1(%i: index, %sums: memref<8x32xf32>, %state: memref<4x32xf32>, %rows: memref<?x4xf32>) {
  // expected-error @+1 {{expects one static width of rows, found 4 and 8}}
  transformer.online.finish %sums, %state into %rows[%i] : memref<8x32xf32>, memref<4x32xf32>, memref<?x4xf32>
  return
}
