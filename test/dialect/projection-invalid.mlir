// One case per constraint of Projection.td, and what attention says of it.
// RUN: heddle-opt %s -verify-diagnostics -split-input-file

func.func @project_sequence_c1(%x: memref<?x8xf32>, %e: memref<4x16xf32>, %y: memref<?x4x8xf32>) {
  // expected-error @below {{expects an input of rank 3, found 'memref<?x8xf32>'}}
  transformer.project_sequence %x, %e into %y : (memref<?x8xf32>, memref<4x16xf32>, memref<?x4x8xf32>) -> ()
  return
}

// -----

func.func @project_sequence_c2_rank(%x: memref<?x?x8xf32>, %e: memref<16xf32>, %y: memref<?x4x8xf32>) {
  // expected-error @below {{expects a projection [rows, positions] or [heads, rows, positions] of static shape, found 'memref<16xf32>'}}
  transformer.project_sequence %x, %e into %y : (memref<?x?x8xf32>, memref<16xf32>, memref<?x4x8xf32>) -> ()
  return
}

// -----

func.func @project_sequence_c2_static(%x: tensor<?x?x8xf32>, %e: tensor<?x16xf32>) {
  // expected-error @below {{expects a projection [rows, positions] or [heads, rows, positions] of static shape, found 'tensor<?x16xf32>'}}
  %y = transformer.project_sequence %x, %e : (tensor<?x?x8xf32>, tensor<?x16xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @project_sequence_c2_heads(%x: tensor<?x?x8xf32>, %e: tensor<3x4x16xf32>) {
  // expected-error @below {{expects a width that 3 heads divide, found 'tensor<?x?x8xf32>'}}
  %y = transformer.project_sequence %x, %e : (tensor<?x?x8xf32>, tensor<3x4x16xf32>) -> tensor<?x4x8xf32>
  return
}

// -----

func.func @project_sequence_c3(%x: tensor<?x17x8xf32>, %e: tensor<4x16xf32>) {
  // expected-error @below {{projects 17 positions by a matrix for 16}}
  %y = transformer.project_sequence %x, %e : (tensor<?x17x8xf32>, tensor<4x16xf32>) -> tensor<?x4x8xf32>
  return
}

// -----

func.func @project_sequence_result(%x: memref<?x?x8xf32>, %e: memref<4x16xf32>, %y: memref<?x5x8xf32>) {
  // expected-error @below {{writes a result of shape [?, 4, 8] into a destination of type 'memref<?x5x8xf32>'}}
  transformer.project_sequence %x, %e into %y : (memref<?x?x8xf32>, memref<4x16xf32>, memref<?x5x8xf32>) -> ()
  return
}

// -----

func.func @attention_c13_causal(%x: tensor<?x?x8xf32>, %e: tensor<4x16xf32>) {
  %k = transformer.project_sequence %x, %e : (tensor<?x?x8xf32>, tensor<4x16xf32>) -> tensor<?x4x8xf32>
  %m = transformer.mask.causal
  // expected-error @below {{has a mask over keys that are projected along the sequence: each mixes all positions and has none of its own}}
  %y = transformer.attention %x, %k, %k mask(%m) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x4x8xf32>, tensor<?x4x8xf32>, !transformer.mask) -> tensor<?x?x8xf32>
  return
}

// -----

// A linear behind the projection changes nothing.

func.func @attention_c13_padding(%x: tensor<?x?x8xf32>, %e: tensor<4x16xf32>, %w: tensor<8x8xf32>, %n: tensor<?xi32>) {
  %p = transformer.project_sequence %x, %e lengths(%n) : (tensor<?x?x8xf32>, tensor<4x16xf32>, tensor<?xi32>) -> tensor<?x4x8xf32>
  %k = transformer.linear %p, %w : (tensor<?x4x8xf32>, tensor<8x8xf32>) -> tensor<?x4x8xf32>
  %m = transformer.mask.padding %n : tensor<?xi32>
  // expected-error @below {{has a mask over keys that are projected along the sequence}}
  %y = transformer.attention %x, %k, %k mask(%m) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x4x8xf32>, tensor<?x4x8xf32>, !transformer.mask) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_c13_values(%x: tensor<?x?x8xf32>, %e: tensor<4x16xf32>) {
  %k = transformer.project_sequence %x, %e : (tensor<?x?x8xf32>, tensor<4x16xf32>) -> tensor<?x4x8xf32>
  // expected-error @below {{expects both keys and values projected along the sequence, or neither}}
  %y = transformer.attention %x, %k, %x {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x4x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// Nor does a bias of its rows.

func.func @attention_c13_sum(%x: tensor<?x?x8xf32>, %e: tensor<4x16xf32>, %b: tensor<?x4x8xf32>) {
  %p = transformer.project_sequence %x, %e : (tensor<?x?x8xf32>, tensor<4x16xf32>) -> tensor<?x4x8xf32>
  %k = transformer.add %b, %p : (tensor<?x4x8xf32>, tensor<?x4x8xf32>) -> tensor<?x4x8xf32>
  %m = transformer.mask.causal
  // expected-error @below {{has a mask over keys that are projected along the sequence}}
  %y = transformer.attention %x, %k, %k mask(%m) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x4x8xf32>, tensor<?x4x8xf32>, !transformer.mask) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @project_sequence_c1_lengths(%x: tensor<?x?x8xf32>, %e: tensor<4x16xf32>, %n: tensor<2xi32>) {
  // expected-error @below {{expects an element for each sentence of 'tensor<?x?x8xf32>', found 'tensor<2xi32>'}}
  %p = transformer.project_sequence %x, %e lengths(%n) : (tensor<?x?x8xf32>, tensor<4x16xf32>, tensor<2xi32>) -> tensor<?x4x8xf32>
  return
}

// -----

// A linear that adds a projection changes nothing, either.

func.func @attention_of_projected_residual(%x: tensor<?x?x8xf32>, %e: tensor<4x16xf32>, %w: tensor<8x8xf32>, %r: tensor<?x4x8xf32>, %n: tensor<?xi32>) {
  %p = transformer.project_sequence %x, %e lengths(%n) : (tensor<?x?x8xf32>, tensor<4x16xf32>, tensor<?xi32>) -> tensor<?x4x8xf32>
  %k = transformer.linear %r, %w residual(%p) : (tensor<?x4x8xf32>, tensor<8x8xf32>, tensor<?x4x8xf32>) -> tensor<?x4x8xf32>
  %valid = transformer.mask.padding %n : tensor<?xi32>
  // expected-error @below {{has a mask over keys that are projected along the sequence}}
  %y = transformer.attention %x, %k, %k mask(%valid) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x4x8xf32>, tensor<?x4x8xf32>, !transformer.mask) -> tensor<?x?x8xf32>
  return
}
