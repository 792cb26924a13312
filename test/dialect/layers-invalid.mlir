// One case per constraint of Layers.td and Linear.td, and what holds for every layer op.
// RUN: heddle-opt %s -verify-diagnostics -split-input-file

func.func @embedding_c1_rank(%ids: tensor<?xi32>, %table: tensor<2x4x8xf32>) {
  // expected-error @below {{expects a table of rank 1 or 2 and static shape, found 'tensor<2x4x8xf32>'}}
  %y = transformer.embedding %ids, %table : (tensor<?xi32>, tensor<2x4x8xf32>) -> tensor<?x4x8xf32>
  return
}

// -----

func.func @embedding_c1_dynamic(%ids: tensor<?xi32>, %table: tensor<?x8xf32>) {
  // expected-error @below {{expects a table of rank 1 or 2 and static shape, found 'tensor<?x8xf32>'}}
  %y = transformer.embedding %ids, %table : (tensor<?xi32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @positions_sinusoidal_c1(%x: tensor<?x8xf32>) {
  // expected-error @below {{expects an input of rank 3 without 'at', found rank 2}}
  %y = transformer.positions.sinusoidal %x {timescales = 4 : i64} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @positions_sinusoidal_c1_step(%x: tensor<?x?x8xf32>, %at: tensor<?xi32>) {
  // expected-error @below {{expects an input of rank 2 with 'at', found rank 3}}
  %y = transformer.positions.sinusoidal %x at %at {timescales = 4 : i64} : (tensor<?x?x8xf32>, tensor<?xi32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @positions_sinusoidal_c2_width(%x: tensor<?x?x7xf32>) {
  // expected-error @below {{expects an even width and timescales of at least 1, found width 7 and timescales 4}}
  %y = transformer.positions.sinusoidal %x {timescales = 4 : i64} : (tensor<?x?x7xf32>) -> tensor<?x?x7xf32>
  return
}

// -----

func.func @positions_sinusoidal_c2_timescales(%x: tensor<?x?x8xf32>) {
  // expected-error @below {{expects an even width and timescales of at least 1, found width 8 and timescales -1}}
  %y = transformer.positions.sinusoidal %x {timescales = -1 : i64} : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @positions_learned_c1(%x: tensor<?x8xf32>, %table: tensor<9x8xf32>) {
  // expected-error @below {{expects an input of rank 3 without 'at', found rank 2}}
  %y = transformer.positions.learned %x, %table : (tensor<?x8xf32>, tensor<9x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @positions_learned_c2_width(%x: tensor<?x?x8xf32>, %table: tensor<9x4xf32>) {
  // expected-error @below {{expects a table [positions, 8] of static shape, found 'tensor<9x4xf32>'}}
  %y = transformer.positions.learned %x, %table : (tensor<?x?x8xf32>, tensor<9x4xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @positions_learned_c2_dynamic(%x: tensor<?x?x8xf32>, %table: tensor<?x8xf32>) {
  // expected-error @below {{expects a table [positions, 8] of static shape, found 'tensor<?x8xf32>'}}
  %y = transformer.positions.learned %x, %table : (tensor<?x?x8xf32>, tensor<?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @positions_learned_c2_offset(%x: tensor<?x?x8xf32>, %table: tensor<9x8xf32>) {
  // expected-error @below {{has offset 9 outside its table of 9 positions}}
  %y = transformer.positions.learned %x, %table {offset = 9 : i64} : (tensor<?x?x8xf32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @positions_learned_c2_negative(%x: tensor<?x?x8xf32>, %table: tensor<9x8xf32>) {
  // expected-error @below {{has offset -1 outside its table of 9 positions}}
  %y = transformer.positions.learned %x, %table {offset = -1 : i64} : (tensor<?x?x8xf32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @positions_rotary_c1(%x: tensor<?x8xf32>, %f: tensor<2xf32>) {
  // expected-error @below {{expects an input of rank 3 without 'at', found rank 2}}
  %y = transformer.positions.rotary %x, %f {heads = 2 : i64} : (tensor<?x8xf32>, tensor<2xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @positions_rotary_c2(%x: tensor<?x?x8xf32>, %f: tensor<1xf32>) {
  // expected-error @below {{expects heads that divide the width 8, found 3}}
  %y = transformer.positions.rotary %x, %f {heads = 3 : i64} : (tensor<?x?x8xf32>, tensor<1xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @positions_rotary_c3(%x: tensor<?x?x8xf32>, %f: tensor<3xf32>) {
  // expected-error @below {{expects at most 2 frequencies for heads of width 4, found 'tensor<3xf32>'}}
  %y = transformer.positions.rotary %x, %f {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<3xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @positions_rotary_c3_rank(%x: tensor<?x?x8xf32>, %f: tensor<1x2xf32>) {
  // expected-error @below {{expects at most 2 frequencies for heads of width 4, found 'tensor<1x2xf32>'}}
  %y = transformer.positions.rotary %x, %f {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<1x2xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @linear_c1(%x: tensor<?x8xf32>, %w: tensor<?x4xf32>) {
  // expected-error @below {{expects a weight [in, out] of static shape, found 'tensor<?x4xf32>'}}
  %y = transformer.linear %x, %w : (tensor<?x8xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @linear_c1_panels(%x: memref<?x8xf32>, %w: memref<1x8x32xf32>, %y: memref<?x33xf32>) {
  // expected-error @below {{expects panels [2, in, 32], found 'memref<1x8x32xf32>'}}
  transformer.linear %x, %w into %y : (memref<?x8xf32>, memref<1x8x32xf32>, memref<?x33xf32>) -> ()
  return
}

// -----

func.func @linear_c2_panels(%x: memref<?x8xf32>, %w: memref<1x7x32xf32>, %y: memref<?x4xf32>) {
  // expected-error @below {{weight size 7 does not match the last input dimension 8}}
  transformer.linear %x, %w into %y : (memref<?x8xf32>, memref<1x7x32xf32>, memref<?x4xf32>) -> ()
  return
}

// -----

func.func @linear_c2(%x: tensor<?x8xf32>, %w: tensor<7x4xf32>) {
  // expected-error @below {{weight size 7 does not match the last input dimension 8}}
  %y = transformer.linear %x, %w : (tensor<?x8xf32>, tensor<7x4xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @linear_c3(%x: tensor<?x8xf32>, %w: tensor<8x4xf32>, %b: tensor<5xf32>) {
  // expected-error @below {{bias has type 'tensor<5xf32>', expected 4 values}}
  %y = transformer.linear %x, %w, %b : (tensor<?x8xf32>, tensor<8x4xf32>, tensor<5xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @candidate_logits_c2_gather(%x: tensor<?x?x8xf32>, %table: tensor<9x7xf32>, %bias: tensor<9xf32>, %counts: tensor<?xi32>, %ids: tensor<?x?xi32>) {
  // expected-error @below {{expects rows [vocabulary, 8], found 'tensor<9x7xf32>'}}
  %y = transformer.candidate_logits %x, %table, %bias, %counts gather(%ids) : (tensor<?x?x8xf32>, tensor<9x7xf32>, tensor<9xf32>, tensor<?xi32>, tensor<?x?xi32>) -> tensor<?x?x?xf32>
  return
}

// -----

func.func @candidate_logits_c1(%x: tensor<?x8xf32>, %rows: tensor<?x?x8xf32>, %bias: tensor<?x?xf32>, %counts: tensor<?xi32>) {
  // expected-error @below {{expects an input of rank 3 without 'of', found rank 2}}
  %y = transformer.candidate_logits %x, %rows, %bias, %counts : (tensor<?x8xf32>, tensor<?x?x8xf32>, tensor<?x?xf32>, tensor<?xi32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @candidate_logits_c2_width(%x: tensor<?x?x8xf32>, %rows: tensor<?x?x4xf32>, %bias: tensor<?x?xf32>, %counts: tensor<?xi32>) {
  // expected-error @below {{expects rows [batch, candidates, 8], found 'tensor<?x?x4xf32>'}}
  %y = transformer.candidate_logits %x, %rows, %bias, %counts : (tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?xf32>, tensor<?xi32>) -> tensor<?x?x?xf32>
  return
}

// -----

func.func @candidate_logits_c2_rank(%x: tensor<?x?x8xf32>, %rows: tensor<?x8xf32>, %bias: tensor<?x?xf32>, %counts: tensor<?xi32>) {
  // expected-error @below {{expects rows [batch, candidates, 8], found 'tensor<?x8xf32>'}}
  %y = transformer.candidate_logits %x, %rows, %bias, %counts : (tensor<?x?x8xf32>, tensor<?x8xf32>, tensor<?x?xf32>, tensor<?xi32>) -> tensor<?x?x?xf32>
  return
}

// -----

func.func @candidate_logits_c2_bias(%x: tensor<?x?x8xf32>, %rows: tensor<?x5x8xf32>, %bias: tensor<?x6xf32>, %counts: tensor<?xi32>) {
  // expected-error @below {{expects a bias [batch, candidates] for rows 'tensor<?x5x8xf32>', found 'tensor<?x6xf32>'}}
  %y = transformer.candidate_logits %x, %rows, %bias, %counts : (tensor<?x?x8xf32>, tensor<?x5x8xf32>, tensor<?x6xf32>, tensor<?xi32>) -> tensor<?x?x5xf32>
  return
}

// -----

func.func @activation_kind(%x: tensor<?x8xf32>) {
  // expected-error @+2 {{failed to parse Transformer_ActivationKind parameter 'value'}}
  // expected-error @below {{expected ::heddle::ActivationKind to be one of: relu, gelu, gelu_tanh, quick_gelu, silu, tanh, sigmoid}}
  %y = transformer.activation swish %x : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @norm_c1_gamma(%x: tensor<?x8xf32>, %gamma: tensor<4xf32>) {
  // expected-error @below {{gamma has type 'tensor<4xf32>', expected 8 values}}
  %y = transformer.norm rms %x, %gamma {epsilon = 0.0 : f32} : (tensor<?x8xf32>, tensor<4xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @norm_c1_beta(%x: tensor<?x8xf32>, %gamma: tensor<8xf32>, %beta: tensor<1x8xf32>) {
  // expected-error @below {{beta has type 'tensor<1x8xf32>', expected 8 values}}
  %y = transformer.norm layer %x, %gamma, %beta {epsilon = 0.0 : f32} : (tensor<?x8xf32>, tensor<8xf32>, tensor<1x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @norm_c2(%x: tensor<?x8xf32>, %gamma: tensor<8xf32>) {
  // expected-error @below {{expects an epsilon of at least 0, found -5.000000e-01}}
  %y = transformer.norm layer %x, %gamma {epsilon = -0.5 : f32} : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @add_c1(%x: tensor<?x8xf32>, %y: tensor<?x4xf32>) {
  // expected-error @below {{expects operands of one shape, found 'tensor<?x8xf32>' and 'tensor<?x4xf32>'}}
  %z = transformer.add %x, %y : (tensor<?x8xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @multiply_c1(%x: tensor<?x8xf32>, %y: tensor<?x4xf32>) {
  // expected-error @below {{expects operands of one shape, found 'tensor<?x8xf32>' and 'tensor<?x4xf32>'}}
  %z = transformer.multiply %x, %y : (tensor<?x8xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @fill_width(%x: tensor<?x8xf32>) {
  // expected-error @below {{attribute 'width' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %z = transformer.fill like %x {value = 0.0 : f32, width = 0 : i64} : (tensor<?x8xf32>) -> tensor<?x0xf32>
  return
}

// -----

func.func @rank_0(%x: tensor<f32>) {
  // expected-error @below {{operand #0 must be values of rank 1 or more (f32 tensor or memref), but got 'tensor<f32>'}}
  %y = transformer.activation relu %x : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @rank_0_memref(%x: memref<f32>, %w: memref<8x8xf32>) {
  // expected-error @below {{operand #0 must be vectors of a static width (f32, bf16, f16 or i8 tensor or memref), but got 'memref<f32>'}}
  transformer.linear %x, %w into %x : (memref<f32>, memref<8x8xf32>, memref<f32>) -> ()
  return
}

// -----

func.func @dynamic_width(%x: tensor<?x?xf32>, %gamma: tensor<?xf32>) {
  // expected-error @below {{operand #0 must be vectors of a static width (f32 tensor or memref), but got 'tensor<?x?xf32>'}}
  %y = transformer.norm rms %x, %gamma {epsilon = 0.0 : f32} : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @double_precision(%x: tensor<?x8xf64>) {
  // expected-error @below {{operand #0 must be values of rank 1 or more (f32 tensor or memref), but got 'tensor<?x8xf64>'}}
  %y = transformer.activation relu %x : (tensor<?x8xf64>) -> tensor<?x8xf64>
  return
}

// -----

func.func @inferred_type(%x: tensor<?x8xf32>, %w: tensor<8x4xf32>) {
  // expected-error @+2 {{inferred type(s) 'tensor<?x4xf32>' are incompatible with return type(s) of operation 'tensor<?x8xf32>'}}
  // expected-error @below {{failed to infer returned types}}
  %y = transformer.linear %x, %w : (tensor<?x8xf32>, tensor<8x4xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @mixed_forms(%x: tensor<?x8xf32>, %y: memref<?x8xf32>) {
  // expected-error @below {{expects operands that are all tensors or all memrefs, found 'tensor<?x8xf32>' and 'memref<?x8xf32>'}}
  %z = transformer.activation relu %x into %y : (tensor<?x8xf32>, memref<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @memref_without_destination(%x: memref<?x8xf32>) {
  // expected-error @below {{works on memrefs and expects a destination}}
  transformer.activation relu %x : (memref<?x8xf32>) -> ()
  return
}

// -----

func.func @destination_type(%x: tensor<?x8xf32>, %y: tensor<4x8xf32>) {
  // expected-error @below {{writes a result of type 'tensor<?x8xf32>' into a destination of type 'tensor<4x8xf32>'}}
  %z = transformer.activation relu %x into %y : (tensor<?x8xf32>, tensor<4x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @destination_shape(%x: memref<?x8xf32>, %w: memref<8x4xf32>, %y: memref<?x8xf32>) {
  // expected-error @below {{writes a result of shape [?, 4] into a destination of type 'memref<?x8xf32>'}}
  transformer.linear %x, %w into %y : (memref<?x8xf32>, memref<8x4xf32>, memref<?x8xf32>) -> ()
  return
}

// -----

func.func @linear_of_four_bits(%x: tensor<?x8xi4>, %w: tensor<8x8xi4>) {
  // expected-error @below {{operand #0 must be vectors of a static width (f32, bf16, f16 or i8 tensor or memref), but got 'tensor<?x8xi4>'}}
  %y = transformer.linear %x, %w : (tensor<?x8xi4>, tensor<8x8xi4>) -> tensor<?x8xf32>
  return
}

// -----

func.func @packed_linear_of_four_bits(%x: memref<?x8xf32>, %w: memref<1x1x32x8xi4>, %y: memref<?x8xf32>) {
  // expected-error @below {{operand #1 must be vectors of a static width (f32, bf16, f16 or i8 tensor or memref), but got 'memref<1x1x32x8xi4>'}}
  transformer.linear %x, %w into %y : (memref<?x8xf32>, memref<1x1x32x8xi4>, memref<?x8xf32>) -> ()
  return
}
