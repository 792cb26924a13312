// Constraints of Choice.td, by their numbers.
// RUN: heddle-opt %s -split-input-file -verify-diagnostics

func.func @largest_logits_c1_rank(%x: tensor<?x?x8xf32>, %w: tensor<8x70xf32>, %f: tensor<?x?xi32>) {
  // expected-error @below {{expects an input [rows, in], found 'tensor<?x?x8xf32>'}}
  %v, %i = transformer.largest_logits %x, %w without %f {range = 32 : i64, vocabulary = 70 : i64} : (tensor<?x?x8xf32>, tensor<8x70xf32>, tensor<?x?xi32>) -> (tensor<?x?x3xf32>, tensor<?x?x3xi32>)
  return
}

// -----

func.func @largest_logits_c1_vocabulary(%x: tensor<?x8xf32>, %w: tensor<8x71xf32>, %f: tensor<?x?xi32>) {
  // expected-error @below {{expects a vocabulary of 71, found 70}}
  %v, %i = transformer.largest_logits %x, %w without %f {range = 32 : i64, vocabulary = 70 : i64} : (tensor<?x8xf32>, tensor<8x71xf32>, tensor<?x?xi32>) -> (tensor<?x3xf32>, tensor<?x3xi32>)
  return
}

// -----

func.func @largest_logits_c1_bias(%x: tensor<?x8xf32>, %w: tensor<8x70xf32>, %b: tensor<69xf32>, %f: tensor<?x?xi32>) {
  // expected-error @below {{bias has type 'tensor<69xf32>', expected 70 values}}
  %v, %i = transformer.largest_logits %x, %w, %b without %f {range = 32 : i64, vocabulary = 70 : i64} : (tensor<?x8xf32>, tensor<8x70xf32>, tensor<69xf32>, tensor<?x?xi32>) -> (tensor<?x3xf32>, tensor<?x3xi32>)
  return
}

// -----

func.func @largest_logits_c1_scales(%x: tensor<?x8xi8>, %w: tensor<8x70xi8>, %f: tensor<?x?xi32>) {
  // expected-error @below {{multiplies integers and expects scales of its weight}}
  %v, %i = transformer.largest_logits %x, %w without %f {range = 32 : i64, vocabulary = 70 : i64} : (tensor<?x8xi8>, tensor<8x70xi8>, tensor<?x?xi32>) -> (tensor<?x3xf32>, tensor<?x3xi32>)
  return
}

// -----

func.func @largest_logits_c2(%x: tensor<?x8xf32>, %w: tensor<8x70xf32>, %f: tensor<?xi32>) {
  // expected-error @below {{expects forbidden ids [rows, ids], found 'tensor<?xi32>'}}
  %v, %i = transformer.largest_logits %x, %w without %f {range = 32 : i64, vocabulary = 70 : i64} : (tensor<?x8xf32>, tensor<8x70xf32>, tensor<?xi32>) -> (tensor<?x3xf32>, tensor<?x3xi32>)
  return
}

// -----

func.func @largest_logits_c3(%x: tensor<?x8xf32>, %w: tensor<8x70xf32>, %f: tensor<?x?xi32>) {
  // expected-error @below {{expects a range in multiples of 32, found 40}}
  %v, %i = transformer.largest_logits %x, %w without %f {range = 40 : i64, vocabulary = 70 : i64} : (tensor<?x8xf32>, tensor<8x70xf32>, tensor<?x?xi32>) -> (tensor<?x2xf32>, tensor<?x2xi32>)
  return
}

// -----

func.func @largest_logits_c4(%x: memref<?x8xf32>, %w: memref<3x8x32xf32>, %f: memref<?x?xi32>, %v: memref<?x3xf32>) {
  // expected-error @below {{expects destinations of f32 and i32, found 'memref<?x3xf32>'}}
  transformer.largest_logits %x, %w without %f into %v, %v {range = 32 : i64, vocabulary = 70 : i64} : (memref<?x8xf32>, memref<3x8x32xf32>, memref<?x?xi32>, memref<?x3xf32>, memref<?x3xf32>) -> ()
  return
}

// -----

func.func @best_logits_c1(%x: tensor<?x8xf32>, %w: tensor<8x71xf32>, %f: tensor<?x?xi32>, %m: tensor<?x3xf32>, %v: tensor<?x3x?xf32>, %i: tensor<?x3x?xi32>) {
  // expected-error @below {{expects a vocabulary of 71, found 70}}
  %r:4 = transformer.best_logits %x, %w without %f into %m, %m, %v, %i {range = 32 : i64, vocabulary = 70 : i64} : (tensor<?x8xf32>, tensor<8x71xf32>, tensor<?x?xi32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3x?xf32>, tensor<?x3x?xi32>) -> (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3x?xf32>, tensor<?x3x?xi32>)
  return
}

// -----

func.func @best_logits_c2_count(%x: memref<?x8xf32>, %w: memref<3x8x32xf32>, %f: memref<?x?xi32>, %m: memref<?x3xf32>) {
  // expected-error @below {{expects 4 destinations, found 2}}
  transformer.best_logits %x, %w without %f into %m, %m {range = 32 : i64, vocabulary = 70 : i64} : (memref<?x8xf32>, memref<3x8x32xf32>, memref<?x?xi32>, memref<?x3xf32>, memref<?x3xf32>) -> ()
  return
}

// -----

func.func @best_logits_c2_type(%x: memref<?x8xf32>, %w: memref<3x8x32xf32>, %f: memref<?x?xi32>, %m: memref<?x3xf32>, %v: memref<?x3x?xf32>) {
  // expected-error @below {{expects destinations of f32, f32, f32 and i32, found 'memref<?x3x?xf32>' as number 4}}
  transformer.best_logits %x, %w without %f into %m, %m, %v, %v {range = 32 : i64, vocabulary = 70 : i64} : (memref<?x8xf32>, memref<3x8x32xf32>, memref<?x?xi32>, memref<?x3xf32>, memref<?x3xf32>, memref<?x3x?xf32>, memref<?x3x?xf32>) -> ()
  return
}

// -----

func.func @best_logits_c2_shape(%x: memref<?x8xf32>, %w: memref<3x8x32xf32>, %f: memref<?x?xi32>, %m: memref<?x3xf32>, %s: memref<?x2xf32>, %v: memref<?x3x?xf32>, %i: memref<?x3x?xi32>) {
  // expected-error @below {{writes a result of shape [?, 3] into a destination of type 'memref<?x2xf32>'}}
  transformer.best_logits %x, %w without %f into %m, %s, %v, %i {range = 32 : i64, vocabulary = 70 : i64} : (memref<?x8xf32>, memref<3x8x32xf32>, memref<?x?xi32>, memref<?x3xf32>, memref<?x2xf32>, memref<?x3x?xf32>, memref<?x3x?xi32>) -> ()
  return
}

// -----

func.func @best_logits_c3(%x: memref<?x8xf32>, %w: memref<3x8x32xf32>, %f: memref<?x?xi32>, %m: memref<?x3xf32>, %v: memref<?x3x8xf32>, %i: memref<?x3x4xi32>) {
  // expected-error @below {{writes a result of shape [?, 3, 4] into a destination of type 'memref<?x3x8xf32>'}}
  transformer.best_logits %x, %w without %f into %m, %m, %v, %i {range = 32 : i64, vocabulary = 70 : i64} : (memref<?x8xf32>, memref<3x8x32xf32>, memref<?x?xi32>, memref<?x3xf32>, memref<?x3xf32>, memref<?x3x8xf32>, memref<?x3x4xi32>) -> ()
  return
}
