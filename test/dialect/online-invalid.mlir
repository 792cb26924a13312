// One case per constraint of Online.td.
// RUN: heddle-opt %s -split-input-file -verify-diagnostics

func.func @mask_tile_runs_c1(%i: index, %runs: memref<2x4xindex>) {
  // expected-error @+1 {{expects runs of type memref<8x4xindex> or longer, found 'memref<2x4xindex>'}}
  %count, %next = transformer.mask.tile_runs of %i, %i queries %i to %i keys %i to %i into %runs {tile = 8 : i64} : memref<2x4xindex>
  return
}

// -----

func.func @online_init_c1_columns(%i: index, %rows: memref<?x8xf32>, %queries: memref<8x32xf32>, %sums: memref<8x16xf32>, %state: memref<4x32xf32>) {
  // expected-error @+1 {{expects one static number of columns, found 32 and 16}}
  transformer.online.init block %rows[%i] into %queries, %sums, %state {scale = 1.0 : f32} : memref<?x8xf32>, memref<8x32xf32>, memref<8x16xf32>, memref<4x32xf32>
  return
}

// -----

func.func @online_init_c1_kind(%i: index, %rows: memref<?x8xf32>, %queries: memref<8xf32>, %sums: memref<8xf32>, %state: memref<4x16xf32>) {
  // expected-error @+1 {{expects sums [width, queries] of a block and [width] of a row, found 'memref<8xf32>' of a block}}
  transformer.online.init block %rows[%i] into %queries, %sums, %state {scale = 1.0 : f32} : memref<?x8xf32>, memref<8xf32>, memref<8xf32>, memref<4x16xf32>
  return
}

// -----

func.func @online_init_c1_width(%i: index, %rows: memref<?x4xf32>, %queries: memref<8x32xf32>, %sums: memref<8x32xf32>, %state: memref<4x32xf32>) {
  // expected-error @+1 {{expects one static width of queries, found 4 and 8}}
  transformer.online.init block %rows[%i] into %queries, %sums, %state {scale = 1.0 : f32} : memref<?x4xf32>, memref<8x32xf32>, memref<8x32xf32>, memref<4x32xf32>
  return
}

// -----

func.func @online_init_c1_state(%i: index, %rows: memref<?x8xf32>, %queries: memref<8x32xf32>, %sums: memref<8x32xf32>, %state: memref<2x32xf32>) {
  // expected-error @+1 {{expects a state of 4 rows and the columns of 'memref<8x32xf32>', found 'memref<2x32xf32>'}}
  transformer.online.init block %rows[%i] into %queries, %sums, %state {scale = 1.0 : f32} : memref<?x8xf32>, memref<8x32xf32>, memref<8x32xf32>, memref<2x32xf32>
  return
}

// -----

func.func @online_probabilities_c1_columns(%i: index, %queries: memref<8x32xf32>, %keys: memref<?x8xf32>, %probabilities: memref<64x16xf32>, %sums: memref<8x32xf32>, %state: memref<4x32xf32>) {
  // expected-error @+1 {{expects one static number of columns, found 32 and 16}}
  transformer.online.probabilities block %queries, %keys[%i to %i] full %i to %i of %i, %i, %i into %probabilities, %sums, %state {factor = 1.0 : f32, tile = 8 : i64} : memref<8x32xf32>, memref<?x8xf32>, memref<64x16xf32>, memref<8x32xf32>, memref<4x32xf32>
  return
}

// -----

func.func @online_probabilities_c1_kind(%i: index, %queries: memref<8x32xf32>, %keys: memref<?x8xf32>, %probabilities: memref<64x32xf32>, %sums: memref<8x32xf32>, %state: memref<4x32xf32>) {
  // expected-error @+1 {{expects sums [width, queries] of a block and [width] of a row, found 'memref<8x32xf32>' of a row}}
  transformer.online.probabilities row %queries, %keys[%i to %i] full %i to %i of %i, %i, %i into %probabilities, %sums, %state {factor = 1.0 : f32, tile = 8 : i64} : memref<8x32xf32>, memref<?x8xf32>, memref<64x32xf32>, memref<8x32xf32>, memref<4x32xf32>
  return
}

// -----

func.func @online_probabilities_c1_width(%i: index, %queries: memref<8x32xf32>, %keys: memref<?x4xf32>, %probabilities: memref<64x32xf32>, %sums: memref<8x32xf32>, %state: memref<4x32xf32>) {
  // expected-error @+1 {{expects one static width of keys, found 4 and 8}}
  transformer.online.probabilities block %queries, %keys[%i to %i] full %i to %i of %i, %i, %i into %probabilities, %sums, %state {factor = 1.0 : f32, tile = 8 : i64} : memref<8x32xf32>, memref<?x4xf32>, memref<64x32xf32>, memref<8x32xf32>, memref<4x32xf32>
  return
}

// -----

func.func @online_probabilities_c2(%i: index, %queries: memref<8x32xf32>, %keys: memref<?x8xf32>, %probabilities: memref<64x32xf32>, %sums: memref<8x32xf32>, %state: memref<4x32xf32>) {
  // expected-error @+1 {{expects a normalizer region exactly if the normalizer is 'region'}}
  "transformer.online.probabilities"(%queries, %keys, %i, %i, %i, %i, %i, %i, %i, %probabilities, %sums, %state) <{kind = #transformer<online_kind block>, factor = 1.0 : f32, tile = 8 : i64, normalizer = #transformer<normalizer_kind region>, operandSegmentSizes = array<i32: 1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1>}> ({}, {}, {}) : (memref<8x32xf32>, memref<?x8xf32>, index, index, index, index, index, index, index, memref<64x32xf32>, memref<8x32xf32>, memref<4x32xf32>) -> ()
  return
}

// -----

func.func @online_update_c1_width(%i: index, %probabilities: memref<64x32xf32>, %values: memref<?x4xf32>, %sums: memref<8x32xf32>) {
  // expected-error @+1 {{expects one static width of values, found 4 and 8}}
  transformer.online.update block %probabilities, %values[%i to %i] full %i to %i into %sums {tile = 8 : i64} : memref<64x32xf32>, memref<?x4xf32>, memref<8x32xf32>
  return
}

// -----

func.func @online_update_c1_kind(%i: index, %probabilities: memref<64x32xf32>, %values: memref<?x8xf32>, %sums: memref<8x32xf32>) {
  // expected-error @+1 {{expects sums [width, queries] of a block and [width] of a row, found 'memref<8x32xf32>' of a row}}
  transformer.online.update row %probabilities, %values[%i to %i] full %i to %i into %sums {tile = 8 : i64} : memref<64x32xf32>, memref<?x8xf32>, memref<8x32xf32>
  return
}

// -----

func.func @online_finish_c1(%i: index, %sums: memref<8x32xf32>, %state: memref<4x32xf32>, %rows: memref<?x4xf32>) {
  // expected-error @+1 {{expects one static width of rows, found 4 and 8}}
  transformer.online.finish block %sums, %state into %rows[%i] : memref<8x32xf32>, memref<4x32xf32>, memref<?x4xf32>
  return
}

// -----

func.func @online_finish_c1_kind(%i: index, %rows: memref<?x8xf32>, %sums: memref<8xf32>, %state: memref<4x16xf32>) {
  // expected-error @+1 {{expects sums [width, queries] of a block and [width] of a row, found 'memref<8xf32>' of a block}}
  transformer.online.finish block %sums, %state into %rows[%i] : memref<8xf32>, memref<4x16xf32>, memref<?x8xf32>
  return
}

// -----

func.func @online_init_c1_pairs(%i: index, %rows: memref<?x7xbf16>, %queries: memref<3x32x2xbf16>, %sums: memref<8x32xf32>, %state: memref<4x32xf32>) {
  // expected-error @+1 {{expects one static width of queries, found 8 and 6}}
  transformer.online.init block %rows[%i] into %queries, %sums, %state {scale = 1.0 : f32} : memref<?x7xbf16>, memref<3x32x2xbf16>, memref<8x32xf32>, memref<4x32xf32>
  return
}

// -----

func.func @online_init_c2_elements(%i: index, %rows: memref<?x8xf32>, %queries: memref<4x32x2xbf16>, %sums: memref<8x32xf32>, %state: memref<4x32xf32>) {
  // expected-error @+1 {{multiplies 'memref<?x8xf32>' and 'memref<4x32x2xbf16>', expected one element type}}
  transformer.online.init block %rows[%i] into %queries, %sums, %state {scale = 1.0 : f32} : memref<?x8xf32>, memref<4x32x2xbf16>, memref<8x32xf32>, memref<4x32xf32>
  return
}

// -----

func.func @online_init_c2_pairs(%i: index, %rows: memref<?x8xbf16>, %queries: memref<8x32xbf16>, %sums: memref<8x32xf32>, %state: memref<4x32xf32>) {
  // expected-error @+1 {{expects [size / 2, queries, 2] for a block of short floats and no third dimension otherwise, found 'memref<8x32xbf16>'}}
  transformer.online.init block %rows[%i] into %queries, %sums, %state {scale = 1.0 : f32} : memref<?x8xbf16>, memref<8x32xbf16>, memref<8x32xf32>, memref<4x32xf32>
  return
}

// -----

func.func @online_init_c2_scale(%i: index, %rows: memref<?x8xbf16>, %queries: memref<4x32x2xbf16>, %sums: memref<8x32xf32>, %state: memref<4x32xf32>) {
  // expected-error @+1 {{expects a scale of 1 for 'bf16', found 5.000000e-01}}
  transformer.online.init block %rows[%i] into %queries, %sums, %state {scale = 0.5 : f32} : memref<?x8xbf16>, memref<4x32x2xbf16>, memref<8x32xf32>, memref<4x32xf32>
  return
}

// -----

func.func @online_probabilities_c3_tile(%i: index, %queries: memref<4x32x2xbf16>, %keys: memref<?x8xbf16>, %probabilities: memref<32x32x2xbf16>, %sums: memref<8x32xf32>, %state: memref<4x32xf32>) {
  // expected-error @+1 {{expects tiles of an even number of keys, found 7}}
  transformer.online.probabilities block %queries, %keys[%i to %i] full %i to %i of %i, %i, %i into %probabilities, %sums, %state {factor = 1.0 : f32, tile = 7 : i64} : memref<4x32x2xbf16>, memref<?x8xbf16>, memref<32x32x2xbf16>, memref<8x32xf32>, memref<4x32xf32>
  return
}

// -----

func.func @online_probabilities_c3_scores(%i: index, %queries: memref<8xbf16>, %keys: memref<?x8xbf16>, %probabilities: memref<64xbf16>, %sums: memref<8xf32>, %state: memref<4x16xf32>) {
  // expected-error @+1 {{expects scores for one query exactly if keys are short floats, for a block only if they are bf16}}
  transformer.online.probabilities row %queries, %keys[%i to %i] full %i to %i of %i, %i, %i into %probabilities, %sums, %state {factor = 1.0 : f32, tile = 16 : i64} : memref<8xbf16>, memref<?x8xbf16>, memref<64xbf16>, memref<8xf32>, memref<4x16xf32>
  return
}

// -----

func.func @online_probabilities_c3_number(%i: index, %queries: memref<8xbf16>, %keys: memref<?x8xbf16>, %scores: memref<32xf32>, %probabilities: memref<64xbf16>, %sums: memref<8xf32>, %state: memref<4x16xf32>) {
  // expected-error @+1 {{expects one static number of scores, found 32 and 64}}
  transformer.online.probabilities row %queries, %keys[%i to %i] full %i to %i of %i, %i, %i scores(%scores : memref<32xf32>) into %probabilities, %sums, %state {factor = 1.0 : f32, tile = 16 : i64} : memref<8xbf16>, memref<?x8xbf16>, memref<64xbf16>, memref<8xf32>, memref<4x16xf32>
  return
}

// -----

func.func @online_probabilities_c3_weights(%i: index, %queries: memref<4x32x2xf16>, %keys: memref<?x8xf16>, %probabilities: memref<32x32x2xf16>, %sums: memref<8x32xf32>, %state: memref<4x32xf32>) {
  // expected-error @+1 {{expects probabilities of 'f32' beside 'memref<?x8xf16>', found 'memref<32x32x2xf16>'}}
  transformer.online.probabilities block %queries, %keys[%i to %i] full %i to %i of %i, %i, %i into %probabilities, %sums, %state {factor = 1.0 : f32, tile = 8 : i64} normalizer sum : memref<4x32x2xf16>, memref<?x8xf16>, memref<32x32x2xf16>, memref<8x32xf32>, memref<4x32xf32>
  return
}

// -----

func.func @online_probabilities_c4_together(%i: index, %queries: memref<32x32x2xbf16>, %keys: memref<?x64xbf16>, %scores: memref<32x32xf32>, %probabilities: memref<32x32x2xbf16>, %sums: memref<8x32xf32>, %state: memref<4x32xf32>) {
  // expected-error @+1 {{expects scores and last keys together}}
  transformer.online.probabilities block %queries, %keys[%i to %i] full %i to %i of %i, %i, %i scores(%scores : memref<32x32xf32>) into %probabilities, %sums, %state {factor = 1.0 : f32, tile = 8 : i64} : memref<32x32x2xbf16>, memref<?x64xbf16>, memref<32x32x2xbf16>, memref<8x32xf32>, memref<4x32xf32>
  return
}

// -----

func.func @online_probabilities_c4_shapes(%i: index, %queries: memref<32x32x2xbf16>, %keys: memref<?x64xbf16>, %scores: memref<32x32xf32>, %last: memref<32x32xbf16>, %probabilities: memref<32x32x2xbf16>, %sums: memref<8x32xf32>, %state: memref<4x32xf32>) {
  // expected-error @+1 {{expects scores [32, queries] and last keys [32, width] of bf16, found 'memref<32x32xf32>' and 'memref<32x32xbf16>'}}
  transformer.online.probabilities block %queries, %keys[%i to %i] full %i to %i of %i, %i, %i scores(%scores : memref<32x32xf32>) last(%last : memref<32x32xbf16>) into %probabilities, %sums, %state {factor = 1.0 : f32, tile = 8 : i64} : memref<32x32x2xbf16>, memref<?x64xbf16>, memref<32x32x2xbf16>, memref<8x32xf32>, memref<4x32xf32>
  return
}

// -----

func.func @online_probabilities_c4_width(%i: index, %queries: memref<24x32x2xbf16>, %keys: memref<?x48xbf16>, %scores: memref<32x32xf32>, %last: memref<32x48xbf16>, %probabilities: memref<32x32x2xbf16>, %sums: memref<8x32xf32>, %state: memref<4x32xf32>) {
  // expected-error @+1 {{expects a width in multiples of 32 and a tile that divides it, found 48 and 8}}
  transformer.online.probabilities block %queries, %keys[%i to %i] full %i to %i of %i, %i, %i scores(%scores : memref<32x32xf32>) last(%last : memref<32x48xbf16>) into %probabilities, %sums, %state {factor = 1.0 : f32, tile = 8 : i64} : memref<24x32x2xbf16>, memref<?x48xbf16>, memref<32x32x2xbf16>, memref<8x32xf32>, memref<4x32xf32>
  return
}

// -----

func.func @online_columns_c1(%i: index, %values: memref<?x32xbf16>, %columns: memref<64x64x32xbf16>, %slots: memref<64x2xindex>) {
  // expected-error @+1 {{expects values of bf16 in multiples of 32, columns [slots, width, 32] and slots [slots, 2], found 'memref<?x32xbf16>', 'memref<64x64x32xbf16>' and 'memref<64x2xindex>'}}
  transformer.online.columns %values[%i to %i] of %i into %columns, %slots : memref<?x32xbf16>, memref<64x64x32xbf16>, memref<64x2xindex>
  return
}

// -----

func.func @online_update_c3(%i: index, %probabilities: memref<32x32x2xbf16>, %values: memref<?x32xbf16>, %columns: memref<64x32x32xbf16>, %sums: memref<32x32xf32>) {
  // expected-error @+1 {{expects columns and slots together}}
  transformer.online.update block %probabilities, %values[%i to %i] full %i to %i columns(%columns : memref<64x32x32xbf16>) into %sums {tile = 8 : i64} : memref<32x32x2xbf16>, memref<?x32xbf16>, memref<32x32xf32>
  return
}

// -----

func.func @online_pairs_c1_elements(%i: index, %values: memref<?x8xf32>, %pairs: memref<32x8x2xbf16>) {
  // expected-error @+1 {{expects values of short floats and pairs [keys / 2, width, 2] of them, found 'memref<?x8xf32>' and 'memref<32x8x2xbf16>'}}
  transformer.online.pairs %values[%i to %i] into %pairs : memref<?x8xf32>, memref<32x8x2xbf16>
  return
}

// -----

func.func @online_pairs_c1_width(%i: index, %values: memref<?x8xbf16>, %pairs: memref<32x4x2xbf16>) {
  // expected-error @+1 {{expects one static width of values, found 8 and 4}}
  transformer.online.pairs %values[%i to %i] into %pairs : memref<?x8xbf16>, memref<32x4x2xbf16>
  return
}

// -----

func.func @online_update_c2_elements(%i: index, %probabilities: memref<32x32x2xbf16>, %values: memref<?x8xf32>, %sums: memref<8x32xf32>) {
  // expected-error @+1 {{multiplies 'memref<32x32x2xbf16>' and 'memref<?x8xf32>', expected one element type}}
  transformer.online.update block %probabilities, %values[%i to %i] full %i to %i into %sums {tile = 8 : i64} : memref<32x32x2xbf16>, memref<?x8xf32>, memref<8x32xf32>
  return
}

// -----

func.func @online_update_c2_pairs(%i: index, %probabilities: memref<32x32x2xbf16>, %values: memref<?x8xbf16>, %sums: memref<8x32xf32>) {
  // expected-error @+1 {{expects values in pairs exactly if probabilities are, found 'memref<32x32x2xbf16>' and 'memref<?x8xbf16>'}}
  transformer.online.update block %probabilities, %values[%i to %i] full %i to %i into %sums {tile = 8 : i64} : memref<32x32x2xbf16>, memref<?x8xbf16>, memref<8x32xf32>
  return
}

// -----

func.func @online_probabilities_c3_queries(%i: index, %queries: memref<4x32x2xbf16>, %keys: memref<?x8xbf16>, %copies: memref<8x8xf32>, %probabilities: memref<32x32x2xbf16>, %sums: memref<8x32xf32>, %state: memref<4x32xf32>) {
  // expected-error @+1 {{expects queries of f32 before a similarity region or relative keys, found 'memref<4x32x2xbf16>'}}
  transformer.online.probabilities block %queries, %keys[%i to %i] full %i to %i of %i, %i, %i copies(%copies : memref<8x8xf32>) into %probabilities, %sums, %state {factor = 1.0 : f32, tile = 8 : i64} similarity {
  ^bb0(%q: vector<8xf32>, %k: vector<8xf32>):
    %s = vector.extract %k[0] : f32 from vector<8xf32>
    transformer.yield %s : f32
  } : memref<4x32x2xbf16>, memref<?x8xbf16>, memref<32x32x2xbf16>, memref<8x32xf32>, memref<4x32xf32>
  return
}

// -----

func.func @online_probabilities_c5(%i: index, %queries: memref<9x32xf32>, %keys: memref<?x8xf32>, %probabilities: memref<64x32xf32>, %sums: memref<8x32xf32>, %state: memref<4x32xf32>) {
  // expected-error @+1 {{expects similarity region arguments ('vector<9xf32>', 'vector<8xf32>'), found ('vector<8xf32>', 'vector<8xf32>')}}
  transformer.online.probabilities block %queries, %keys[%i to %i] full %i to %i of %i, %i, %i into %probabilities, %sums, %state {factor = 1.0 : f32, tile = 8 : i64} similarity {
  ^bb0(%q: vector<8xf32>, %k: vector<8xf32>):
    %s = vector.extract %k[0] : f32 from vector<8xf32>
    transformer.yield %s : f32
  } : memref<9x32xf32>, memref<?x8xf32>, memref<64x32xf32>, memref<8x32xf32>, memref<4x32xf32>
  return
}

// -----

func.func @online_probabilities_c5_widths(%i: index, %queries: memref<?x32xf32>, %keys: memref<?x8xf32>, %probabilities: memref<64x32xf32>, %sums: memref<8x32xf32>, %state: memref<4x32xf32>) {
  // expected-error @+1 {{expects static widths before a similarity region, found 'memref<?x32xf32>' and 'memref<?x8xf32>'}}
  transformer.online.probabilities block %queries, %keys[%i to %i] full %i to %i of %i, %i, %i into %probabilities, %sums, %state {factor = 1.0 : f32, tile = 8 : i64} similarity {
  ^bb0(%q: vector<8xf32>, %k: vector<8xf32>):
    %s = vector.extract %k[0] : f32 from vector<8xf32>
    transformer.yield %s : f32
  } : memref<?x32xf32>, memref<?x8xf32>, memref<64x32xf32>, memref<8x32xf32>, memref<4x32xf32>
  return
}

// -----

func.func @online_probabilities_c6(%i: index, %queries: memref<8xf32>, %keys: memref<?x8xf32>, %probabilities: memref<64xf32>, %sums: memref<8xf32>, %state: memref<4x16xf32>) {
  // expected-error @+1 {{expects copies of keys exactly if a similarity region, products with relative keys or a block cannot read them in place}}
  transformer.online.probabilities row %queries, %keys[%i to %i] full %i to %i of %i, %i, %i into %probabilities, %sums, %state {factor = 1.0 : f32, tile = 16 : i64} similarity {
  ^bb0(%q: vector<8xf32>, %k: vector<8xf32>):
    %s = vector.extract %k[0] : f32 from vector<8xf32>
    transformer.yield %s : f32
  } : memref<8xf32>, memref<?x8xf32>, memref<64xf32>, memref<8xf32>, memref<4x16xf32>
  return
}

// -----

func.func @online_probabilities_c6_shape(%i: index, %queries: memref<8xf32>, %keys: memref<?x8xf32>, %copies: memref<16x8xf32>, %probabilities: memref<64xf32>, %sums: memref<8xf32>, %state: memref<4x16xf32>) {
  // expected-error @+1 {{expects copies [8, 16], found 'memref<16x8xf32>'}}
  transformer.online.probabilities row %queries, %keys[%i to %i] full %i to %i of %i, %i, %i copies(%copies : memref<16x8xf32>) into %probabilities, %sums, %state {factor = 1.0 : f32, tile = 16 : i64} similarity {
  ^bb0(%q: vector<8xf32>, %k: vector<8xf32>):
    %s = vector.extract %k[0] : f32 from vector<8xf32>
    transformer.yield %s : f32
  } : memref<8xf32>, memref<?x8xf32>, memref<64xf32>, memref<8xf32>, memref<4x16xf32>
  return
}

// -----

func.func @mask_list_size_c1(%i: index) {
  %mask = transformer.mask.causal
  // expected-error @+1 {{expects a mask that lists keys}}
  %size = transformer.mask.list_size %mask of %i, %i, %i
  return
}

// -----

func.func @mask_listed_keys_c1(%i: index, %list: memref<272xi32>) {
  %mask = transformer.mask.causal
  // expected-error @+1 {{expects a mask that lists keys}}
  %count = transformer.mask.listed_keys %mask[%i to %i] where(%mask) of %i, %i, %i keys %i to %i into %list : memref<272xi32>
  return
}

// -----

func.func @online_resume_c1(%i: index, %sums: memref<8x32xf32>, %state: memref<4x32xf32>, %own: memref<9xf32>, %lanes: memref<4x16xf32>) {
  // expected-error @+1 {{expects sums of a block and of one query, of one width, found 'memref<8x32xf32>' and 'memref<9xf32>'}}
  transformer.online.resume %sums, %state[%i] into %own, %lanes : memref<8x32xf32>, memref<4x32xf32>, memref<9xf32>, memref<4x16xf32>
  return
}

// -----

func.func @online_merge_c1(%sums: memref<8xf32>, %state: memref<4x16xf32>, %own: memref<9xf32>) {
  // expected-error @+1 {{expects sums of one query, of one width, found 'memref<8xf32>' and 'memref<9xf32>'}}
  transformer.online.merge %sums, %state into %own, %state {factor = 1.0 : f32} : memref<8xf32>, memref<4x16xf32>, memref<9xf32>, memref<4x16xf32>
  return
}

// -----

func.func @online_merge_c1_lanes(%sums: memref<8xf32>, %state: memref<4x16xf32>, %lanes: memref<4x8xf32>) {
  // expected-error @+1 {{expects one static number of lanes, found 16 and 8}}
  transformer.online.merge %sums, %state into %sums, %lanes {factor = 1.0 : f32} : memref<8xf32>, memref<4x16xf32>, memref<8xf32>, memref<4x8xf32>
  return
}

// -----

func.func @online_probabilities_c4_similarity(%i: index, %queries: memref<32x32xf32>, %keys: memref<?x32xbf16>, %scores: memref<32x32xf32>, %last: memref<32x32xbf16>, %copies: memref<8x32xf32>, %probabilities: memref<32x32x2xbf16>, %sums: memref<8x32xf32>, %state: memref<4x32xf32>) {
  // expected-error @+1 {{expects no scores by tiles beside a similarity region}}
  transformer.online.probabilities block %queries, %keys[%i to %i] full %i to %i of %i, %i, %i scores(%scores : memref<32x32xf32>) last(%last : memref<32x32xbf16>) copies(%copies : memref<8x32xf32>) into %probabilities, %sums, %state {factor = 1.0 : f32, tile = 8 : i64} similarity {
  ^bb0(%q: vector<32xf32>, %k: vector<32xf32>):
    %s = vector.extract %k[0] : f32 from vector<32xf32>
    transformer.yield %s : f32
  } : memref<32x32xf32>, memref<?x32xbf16>, memref<32x32x2xbf16>, memref<8x32xf32>, memref<4x32xf32>
  return
}

// -----

func.func @online_probabilities_c7(%i: index, %queries: memref<8xf32>, %keys: memref<?x8xf32>, %probabilities: memref<64xf32>, %sums: memref<8xf32>, %state: memref<4x16xf32>) {
  // expected-error @+1 {{fetches values only for a list of one query}}
  transformer.online.probabilities row %queries, %keys[%i to %i] full %i to %i of %i, %i, %i fetched(%keys : memref<?x8xf32>) into %probabilities, %sums, %state {factor = 1.0 : f32, tile = 8 : i64} : memref<8xf32>, memref<?x8xf32>, memref<64xf32>, memref<8xf32>, memref<4x16xf32>
  return
}

// -----

func.func @online_probabilities_c8(%i: index, %history: memref<?xi32>, %queries: memref<8xf32>, %keys: memref<?x8xf32>, %probabilities: memref<64xf32>, %sums: memref<8xf32>, %state: memref<4x16xf32>) {
  // expected-error @+1 {{expects no history of a remainder's positions}}
  transformer.online.probabilities row %queries, %keys[%i to %i] full %i to %i of %i, %i, %i through(%history of %i : memref<?xi32>) strided(%i) into %probabilities, %sums, %state {factor = 1.0 : f32, tile = 8 : i64} : memref<8xf32>, memref<?x8xf32>, memref<64xf32>, memref<8xf32>, memref<4x16xf32>
  return
}

// -----

func.func @online_probabilities_c8_block(%i: index, %history: memref<?xi32>, %queries: memref<8x16xf32>, %keys: memref<?x8xf32>, %probabilities: memref<64x16xf32>, %sums: memref<8x16xf32>, %state: memref<4x16xf32>) {
  // expected-error @+1 {{expects a history for one query only}}
  transformer.online.probabilities block %queries, %keys[%i to %i] full %i to %i of %i, %i, %i through(%history of %i : memref<?xi32>) into %probabilities, %sums, %state {factor = 1.0 : f32, tile = 8 : i64} : memref<8x16xf32>, memref<?x8xf32>, memref<64x16xf32>, memref<8x16xf32>, memref<4x16xf32>
  return
}

// -----

func.func @online_update_c4(%i: index, %history: memref<?xi32>, %probabilities: memref<64x16xf32>, %values: memref<?x8xf32>, %sums: memref<8x16xf32>) {
  // expected-error @+1 {{expects a history for one query only}}
  transformer.online.update block %probabilities, %values[%i to %i] full %i to %i through(%history of %i : memref<?xi32>) into %sums {tile = 8 : i64} : memref<64x16xf32>, memref<?x8xf32>, memref<8x16xf32>
  return
}

// -----

func.func @online_probabilities_c9_width(%i: index, %queries: memref<8x32xf32>, %keys: memref<?x8xf32>, %probabilities: memref<32x32xf32>, %sums: memref<8x32xf32>, %state: memref<4x32xf32>, %a: memref<4x9xf32>) {
  // expected-error @+1 {{expects relative keys and queries [8, 2 far + 1], found 'memref<4x9xf32>'}}
  transformer.online.probabilities block %queries, %keys[%i to %i] full %i to %i of %i, %i, %i relative_keys(%a : memref<4x9xf32>) into %probabilities, %sums, %state {factor = 1.0 : f32, tile = 8 : i64} : memref<8x32xf32>, memref<?x8xf32>, memref<32x32xf32>, memref<8x32xf32>, memref<4x32xf32>
  return
}

// -----

func.func @online_probabilities_c9_columns(%i: index, %queries: memref<8x32xf32>, %keys: memref<?x8xf32>, %probabilities: memref<32x32xf32>, %sums: memref<8x32xf32>, %state: memref<4x32xf32>, %a: memref<8x8xf32>) {
  // expected-error @+1 {{expects relative keys and queries [8, 2 far + 1], found 'memref<8x8xf32>'}}
  transformer.online.probabilities block %queries, %keys[%i to %i] full %i to %i of %i, %i, %i relative_keys(%a : memref<8x8xf32>) into %probabilities, %sums, %state {factor = 1.0 : f32, tile = 8 : i64} : memref<8x32xf32>, memref<?x8xf32>, memref<32x32xf32>, memref<8x32xf32>, memref<4x32xf32>
  return
}

// -----

func.func @online_probabilities_c9_strided(%i: index, %queries: memref<8x32xf32>, %keys: memref<?x8xf32>, %probabilities: memref<32x32xf32>, %sums: memref<8x32xf32>, %state: memref<4x32xf32>, %a: memref<8x9xf32>) {
  // expected-error @+1 {{expects relative keys and queries for a block, of all positions and without a similarity region}}
  transformer.online.probabilities block %queries, %keys[%i to %i] full %i to %i of %i, %i, %i strided(%i) relative_keys(%a : memref<8x9xf32>) into %probabilities, %sums, %state {factor = 1.0 : f32, tile = 8 : i64} : memref<8x32xf32>, memref<?x8xf32>, memref<32x32xf32>, memref<8x32xf32>, memref<4x32xf32>
  return
}

// -----

func.func @online_probabilities_c10(%i: index, %query: memref<8xf32>, %keys: memref<?x8xi8>, %weights: memref<32xf32>, %sum: memref<8xf32>, %own: memref<4x16xf32>) {
  // expected-error @+1 {{expects scales [rows, 1] exactly beside i8, found 'memref<?x8xi8>'}}
  transformer.online.probabilities row %query, %keys[%i to %i] full %i to %i of %i, %i, %i into %weights, %sum, %own {factor = 1.0 : f32, tile = 16 : i64} : memref<8xf32>, memref<?x8xi8>, memref<32xf32>, memref<8xf32>, memref<4x16xf32>
  return
}

// -----

func.func @online_probabilities_c6_integers(%i: index, %keys: memref<?x8xi8>, %scales: memref<?x1xf32>, %queries: memref<8x32xf32>, %probabilities: memref<32x32xf32>, %sums: memref<8x32xf32>, %state: memref<4x32xf32>) {
  // expected-error @+1 {{expects copies of keys exactly if a similarity region, products with relative keys or a block cannot read them in place}}
  transformer.online.probabilities block %queries, %keys[%i to %i] full %i to %i scales(%scales : memref<?x1xf32>) of %i, %i, %i into %probabilities, %sums, %state {factor = 1.0 : f32, tile = 8 : i64} : memref<8x32xf32>, memref<?x8xi8>, memref<32x32xf32>, memref<8x32xf32>, memref<4x32xf32>
  return
}

// -----

func.func @online_widen_c1(%i: index, %values: memref<?x8xf32>, %scales: memref<?x1xf32>, %copy: memref<32x8xf32>) {
  // expected-error @+1 {{expects values of i8, found 'memref<?x8xf32>'}}
  transformer.online.widen %values[%i to %i] scales(%scales) into %copy : memref<?x8xf32>, memref<?x1xf32>, memref<32x8xf32>
  return
}

// -----

func.func @online_update_c2_scales(%i: index, %probabilities: memref<32xf32>, %values: memref<?x8xi8>, %scales: memref<?x2xf32>, %sums: memref<8xf32>) {
  // expected-error @+1 {{expects scales [rows, 1] exactly beside i8, found 'memref<?x2xf32>' beside 'memref<?x8xi8>'}}
  transformer.online.update row %probabilities, %values[%i to %i] full %i to %i scales(%scales : memref<?x2xf32>) into %sums {tile = 16 : i64} : memref<32xf32>, memref<?x8xi8>, memref<8xf32>
  return
}

// -----

func.func @online_update_c2_block(%i: index, %probabilities: memref<32x32xf32>, %values: memref<?x8xi8>, %scales: memref<?x1xf32>, %sums: memref<8x32xf32>) {
  // expected-error @+1 {{multiplies 'memref<32x32xf32>' and 'memref<?x8xi8>', expected one element type}}
  transformer.online.update block %probabilities, %values[%i to %i] full %i to %i scales(%scales : memref<?x1xf32>) into %sums {tile = 8 : i64} : memref<32x32xf32>, memref<?x8xi8>, memref<8x32xf32>
  return
}
