// One case per constraint of the parts of fused ops in Layers.td and Linear.td.
// RUN: heddle-opt %s -verify-diagnostics -split-input-file

func.func @linear_c4(%x: tensor<?x8xf32>, %w: tensor<8x4xf32>) {
  // expected-error @below {{expects a residual of the shape of its result, found 'tensor<?x8xf32>'}}
  %y = transformer.linear %x, %w residual(%x) : (tensor<?x8xf32>, tensor<8x4xf32>, tensor<?x8xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @linear_c9(%x: tensor<?x8xf32>, %w: tensor<8x24xf32>) {
  // expected-error @below {{is gated and expects a multiple of 32 columns, found 24, and neither split, norm nor also}}
  %y = transformer.linear %x, %w gated : (tensor<?x8xf32>, tensor<8x24xf32>) -> tensor<?x12xf32>
  return
}

// -----

func.func @linear_c9_norm(%x: tensor<?x8xf32>, %w: tensor<8x64xf32>, %g: tensor<32xf32>) {
  // expected-error @below {{is gated and expects a multiple of 32 columns, found 64, and neither split, norm nor also}}
  %y = transformer.linear %x, %w gated norm(rms, %g, 1.0) : (tensor<?x8xf32>, tensor<8x64xf32>, tensor<32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @linear_c9_bias(%x: tensor<?x8xf32>, %w: tensor<8x64xf32>, %b: tensor<32xf32>) {
  // expected-error @below {{bias has type 'tensor<32xf32>', expected 64 values}}
  %y = transformer.linear %x, %w, %b gated : (tensor<?x8xf32>, tensor<8x64xf32>, tensor<32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @linear_c5_gamma(%x: tensor<?x8xf32>, %w: tensor<8x4xf32>, %g: tensor<8xf32>) {
  // expected-error @below {{gamma has type 'tensor<8xf32>', expected 4 values}}
  %y = transformer.linear %x, %w norm(rms, %g, 1.0) : (tensor<?x8xf32>, tensor<8x4xf32>, tensor<8xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @linear_c5_beta(%x: tensor<?x8xf32>, %w: tensor<8x4xf32>, %g: tensor<4xf32>, %b: tensor<8xf32>) {
  // expected-error @below {{beta has type 'tensor<8xf32>', expected 4 values}}
  %y = transformer.linear %x, %w norm(layer, %g, %b, 1.0) : (tensor<?x8xf32>, tensor<8x4xf32>, tensor<4xf32>, tensor<8xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @linear_c5_epsilon(%x: tensor<?x8xf32>, %w: tensor<8x4xf32>, %g: tensor<4xf32>) {
  // expected-error @below {{expects an epsilon of at least 0, found -1.000000e+00}}
  %y = transformer.linear %x, %w norm(rms, %g, -1.0) : (tensor<?x8xf32>, tensor<8x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @linear_c5_without_norm(%x: tensor<?x8xf32>, %w: tensor<8x4xf32>) {
  // expected-error @below {{has gamma, beta or epsilon and expects a norm}}
  %y = "transformer.linear"(%x, %w) <{epsilon = 1.0 : f32, operandSegmentSizes = array<i32: 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0>}> : (tensor<?x8xf32>, tensor<8x4xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @linear_c5_without_gamma(%x: tensor<?x8xf32>, %w: tensor<8x4xf32>) {
  // expected-error @below {{has a norm and expects gamma and epsilon}}
  %y = "transformer.linear"(%x, %w) <{epsilon = 1.0 : f32, norm = #transformer<norm_kind rms>, operandSegmentSizes = array<i32: 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0>}> : (tensor<?x8xf32>, tensor<8x4xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @linear_c6_width(%x: tensor<?x8xf32>, %w: tensor<8x4xf32>) {
  // expected-error @below {{expects widths of 1 to 4 to split into, found 0}}
  %y:2 = transformer.linear %x, %w split [0, 4] : (tensor<?x8xf32>, tensor<8x4xf32>) -> (tensor<?x0xf32>, tensor<?x4xf32>)
  return
}

// -----

func.func @linear_c6_sum(%x: tensor<?x8xf32>, %w: tensor<8x4xf32>) {
  // expected-error @below {{expects widths that add up to 4 to split into, found 3}}
  %y:2 = transformer.linear %x, %w split [1, 2] : (tensor<?x8xf32>, tensor<8x4xf32>) -> (tensor<?x1xf32>, tensor<?x2xf32>)
  return
}

// -----

func.func @linear_c6_epilogue(%x: tensor<?x8xf32>, %w: tensor<8x4xf32>) {
  // expected-error @below {{splits its result and expects no activation, residual, norm, quantize or also}}
  %y:2 = transformer.linear %x, %w activation(relu) split [2, 2] : (tensor<?x8xf32>, tensor<8x4xf32>) -> (tensor<?x2xf32>, tensor<?x2xf32>)
  return
}

// -----

func.func @linear_destinations(%x: memref<?x8xf32>, %w: memref<8x4xf32>, %y: memref<?x2xf32>) {
  // expected-error @below {{expects 2 destinations, found 1}}
  transformer.linear %x, %w split [2, 2] into %y : (memref<?x8xf32>, memref<8x4xf32>, memref<?x2xf32>) -> ()
  return
}

// -----

func.func @linear_destination_of_results(%x: tensor<?x8xf32>, %w: tensor<8x4xf32>, %y: tensor<?x2xf32>) {
  // expected-error @below {{expects a destination for each of 2 results, found 1}}
  %z:2 = transformer.linear %x, %w split [2, 2] into %y : (tensor<?x8xf32>, tensor<8x4xf32>, tensor<?x2xf32>) -> (tensor<?x2xf32>, tensor<?x2xf32>)
  return
}

// -----

func.func @linear_activation(%x: tensor<?x8xf32>, %w: tensor<8x4xf32>) {
  // expected-error @below {{expected an activation, found 'swish'}}
  %y = transformer.linear %x, %w activation(swish) : (tensor<?x8xf32>, tensor<8x4xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @ffn_c1_first(%x: tensor<?x8xf32>, %w1: tensor<4x16xf32>, %w2: tensor<16x8xf32>) {
  // expected-error @below {{weight size 4 does not match the last input dimension 8}}
  %y = transformer.ffn %x, %w1, %w2 : (tensor<?x8xf32>, tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @ffn_c1_second(%x: tensor<?x8xf32>, %w1: tensor<8x16xf32>, %w2: tensor<8x8xf32>) {
  // expected-error @below {{weight size 8 does not match the last input dimension 16}}
  %y = transformer.ffn %x, %w1, %w2 : (tensor<?x8xf32>, tensor<8x16xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @ffn_c2_length(%x: tensor<?x8xf32>, %w1: tensor<8x16xf32>, %b: tensor<8xf32>, %w2: tensor<16x8xf32>) {
  // expected-error @below {{the first bias has type 'tensor<8xf32>', expected 16 values}}
  %y = transformer.ffn %x, %w1, %b, %w2, %b : (tensor<?x8xf32>, tensor<8x16xf32>, tensor<8xf32>, tensor<16x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @ffn_c2_together(%x: tensor<?x8xf32>, %w1: tensor<8x16xf32>, %b: tensor<16xf32>, %w2: tensor<16x8xf32>) {
  // expected-error @below {{expects both biases or none}}
  %y = "transformer.ffn"(%x, %w1, %b, %w2) <{operandSegmentSizes = array<i32: 1, 0, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0>}> : (tensor<?x8xf32>, tensor<8x16xf32>, tensor<16xf32>, tensor<16x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @ffn_c4(%x: tensor<?x8xf32>, %w1: tensor<8x32769xf32>, %w2: tensor<32769x8xf32>) {
  // expected-error @below {{has a hidden width of 32769, expected at most 32768}}
  %y = transformer.ffn %x, %w1, %w2 : (tensor<?x8xf32>, tensor<8x32769xf32>, tensor<32769x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @ffn_c5_types(%x: tensor<?x8xbf16>, %w1: tensor<8x16xbf16>, %w2: tensor<16x8xf32>) {
  // expected-error @below {{expected one element type}}
  %y = transformer.ffn %x, %w1, %w2 : (tensor<?x8xbf16>, tensor<8x16xbf16>, tensor<16x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @ffn_c5_scales(%x: tensor<?x8xi8>, %w1: tensor<8x16xi8>, %s: tensor<8xf32>, %w2: tensor<16x8xi8>) {
  // expected-error @below {{the first weight's scale has type 'tensor<8xf32>', expected 16 values}}
  %y = transformer.ffn %x, %w1 scales(%s), %w2 scales(%s) : (tensor<?x8xi8>, tensor<8x16xi8>, tensor<8xf32>, tensor<16x8xi8>, tensor<8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @ffn_c5_multiplier(%x: tensor<?x8xf32>, %w1: tensor<8x16xf32>, %w2: tensor<16x8xf32>, %m: tensor<1xf32>) {
  // expected-error @below {{quantises hidden vectors and expects products of integers}}
  %y = transformer.ffn %x, %w1, %w2 quantize(%m) : (tensor<?x8xf32>, tensor<8x16xf32>, tensor<16x8xf32>, tensor<1xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @ffn_c3(%x: tensor<?x8xf32>, %w1: tensor<8x16xf32>, %w2: tensor<16x4xf32>) {
  // expected-error @below {{expects a residual of the shape of its result, found 'tensor<?x8xf32>'}}
  %y = transformer.ffn %x, %w1, %w2 residual(%x) : (tensor<?x8xf32>, tensor<8x16xf32>, tensor<16x4xf32>, tensor<?x8xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @norm_c3(%x: tensor<?x8xf32>, %g: tensor<8xf32>, %r: tensor<?x4xf32>) {
  // expected-error @below {{expects a residual of the shape of its result, found 'tensor<?x4xf32>'}}
  %y = transformer.norm rms %x, %g residual(%r) {epsilon = 0.0 : f32} : (tensor<?x8xf32>, tensor<8xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @embedding_c2_at(%ids: tensor<?xi32>, %table: tensor<9x8xf32>) {
  // expected-error @below {{has no positions to add and expects no 'at'}}
  %y = transformer.embedding %ids, %table at %ids : (tensor<?xi32>, tensor<9x8xf32>, tensor<?xi32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @embedding_c2_table(%ids: tensor<?x?xi32>, %table: tensor<9xf32>) {
  // expected-error @below {{expects a table of rank 2 with positions, found 'tensor<9xf32>'}}
  %y = transformer.embedding %ids, %table positions(sinusoidal, 4, halves) : (tensor<?x?xi32>, tensor<9xf32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @embedding_c2_full(%ids: tensor<?xi32>, %table: tensor<9x8xf32>) {
  // expected-error @below {{expects ids of rank 2 without 'at', found rank 1}}
  %y = transformer.embedding %ids, %table positions(sinusoidal, 4, halves) : (tensor<?xi32>, tensor<9x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @embedding_c2_step(%ids: tensor<?x?xi32>, %at: tensor<?xi32>, %table: tensor<9x8xf32>) {
  // expected-error @below {{expects ids of rank 1 with 'at', found rank 2}}
  %y = transformer.embedding %ids, %table positions(sinusoidal, 4, halves) at %at : (tensor<?x?xi32>, tensor<9x8xf32>, tensor<?xi32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @embedding_c3(%ids: tensor<?x?xi32>, %table: tensor<9x7xf32>) {
  // expected-error @below {{expects an even width and timescales of at least 1, found width 7 and timescales 4}}
  %y = transformer.embedding %ids, %table positions(sinusoidal, 4, halves) : (tensor<?x?xi32>, tensor<9x7xf32>) -> tensor<?x?x7xf32>
  return
}

// -----

func.func @embedding_c3_layout(%ids: tensor<?x?xi32>, %table: tensor<9x8xf32>) {
  // expected-error @below {{expects positions with timescales and a layout, or with a table and an offset}}
  %y = "transformer.embedding"(%ids, %table) <{timescales = 4 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0>}> : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @embedding_c4_table(%ids: tensor<?x?xi32>, %table: tensor<9x8xf32>, %places: tensor<9x4xf32>) {
  // expected-error @below {{expects a table [positions, 8] of static shape, found 'tensor<9x4xf32>'}}
  %y = transformer.embedding %ids, %table positions(learned, %places, 0) : (tensor<?x?xi32>, tensor<9x8xf32>, tensor<9x4xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @embedding_c4_offset(%ids: tensor<?x?xi32>, %table: tensor<9x8xf32>) {
  // expected-error @below {{has offset 9 outside its table of 9 positions}}
  %y = transformer.embedding %ids, %table positions(learned, %table, 9) : (tensor<?x?xi32>, tensor<9x8xf32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  return
}
