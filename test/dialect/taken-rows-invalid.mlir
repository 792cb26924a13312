// One case per constraint of TakenRows.td, and what attention says of it.
// RUN: heddle-opt %s -verify-diagnostics -split-input-file

func.func @take_rows_c1(%x: memref<?x8xf32>, %at: memref<?x?xi32>, %y: memref<?x?x8xf32>) {
  // expected-error @below {{expects rows [batch, n, d] and tokens [batch, k], found 'memref<?x8xf32>' and 'memref<?x?xi32>'}}
  transformer.take_rows %x at %at into %y : (memref<?x8xf32>, memref<?x?xi32>, memref<?x?x8xf32>) -> ()
  return
}

// -----

func.func @take_rows_c1_tokens(%x: tensor<?x?x8xf32>, %at: tensor<?xi32>) {
  // expected-error @below {{expects rows [batch, n, d] and tokens [batch, k], found 'tensor<?x?x8xf32>' and 'tensor<?xi32>'}}
  %y = transformer.take_rows %x at %at : (tensor<?x?x8xf32>, tensor<?xi32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @take_rows_c2(%x: tensor<2x?x8xf32>, %at: tensor<3x?xi32>) {
  // expected-error @below {{has 3 lists of tokens for a batch of 2}}
  %y = transformer.take_rows %x at %at : (tensor<2x?x8xf32>, tensor<3x?xi32>) -> tensor<3x?x8xf32>
  return
}

// -----

func.func @take_rows_c1_of(%x: tensor<?x?x8xf32>, %at: tensor<?x?xi32>, %n: tensor<?xi32>) {
  // expected-error @below {{expects rows [rows, d] and tokens [batch, k], found 'tensor<?x?x8xf32>' and 'tensor<?x?xi32>'}}
  %y = transformer.take_rows %x at %at of(%n, %n) : (tensor<?x?x8xf32>, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @take_rows_c2_of(%x: tensor<?x8xf32>, %at: tensor<2x?xi32>, %n: tensor<2xi32>, %m: tensor<3xi32>) {
  // expected-error @below {{expects an element for each sentence of 'tensor<2x?xi32>', found 'tensor<3xi32>'}}
  %y = transformer.take_rows %x at %at of(%n, %m) : (tensor<?x8xf32>, tensor<2x?xi32>, tensor<2xi32>, tensor<3xi32>) -> tensor<2x?x8xf32>
  return
}

// -----

func.func @take_rows_c3(%x: tensor<?x8xf32>, %at: tensor<?x?xi32>, %n: tensor<?xi32>) {
  // expected-error @below {{expects starts and lengths together}}
  %y = "transformer.take_rows"(%x, %at, %n) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}> : (tensor<?x8xf32>, tensor<?x?xi32>, tensor<?xi32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @take_rows_result(%x: memref<?x?x8xf32>, %at: memref<?x2xi32>, %y: memref<?x3x8xf32>) {
  // expected-error @below {{writes a result of shape [?, 2, 8] into a destination of type 'memref<?x3x8xf32>'}}
  transformer.take_rows %x at %at into %y : (memref<?x?x8xf32>, memref<?x2xi32>, memref<?x3x8xf32>) -> ()
  return
}

// -----

func.func @put_rows_c1(%x: memref<?x8xf32>, %at: memref<?x?xi32>, %r: memref<?x?x8xf32>) {
  // expected-error @below {{expects rows [batch, n, d] and tokens [batch, k], found 'memref<?x8xf32>' and 'memref<?x?xi32>'}}
  transformer.put_rows %r at %at into %x : (memref<?x?x8xf32>, memref<?x?xi32>, memref<?x8xf32>) -> ()
  return
}

// -----

func.func @put_rows_c1_of(%x: tensor<?x8xf32>, %at: tensor<?x?xi32>, %r: tensor<?x8xf32>, %n: tensor<?xi32>) {
  // expected-error @below {{expects rows [batch, n, d] and tokens [batch, k], found 'tensor<?x8xf32>' and 'tensor<?x?xi32>'}}
  %y = transformer.put_rows %r at %at of(%n, %n) into %x : (tensor<?x8xf32>, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @put_rows_c3(%x: tensor<?x8xf32>, %at: tensor<?x?xi32>, %r: tensor<?x?x8xf32>, %n: tensor<?xi32>) {
  // expected-error @below {{expects starts and lengths together}}
  %y = "transformer.put_rows"(%r, %at, %n, %x) <{operandSegmentSizes = array<i32: 1, 1, 0, 1, 1>}> : (tensor<?x?x8xf32>, tensor<?x?xi32>, tensor<?xi32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @put_rows_c1_width(%x: tensor<?x?x8xf32>, %at: tensor<?x?xi32>, %r: tensor<?x?x4xf32>) {
  // expected-error @below {{puts 'tensor<?x?x4xf32>' into 'tensor<?x?x8xf32>', expected one width}}
  %y = transformer.put_rows %r at %at into %x : (tensor<?x?x4xf32>, tensor<?x?xi32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @put_rows_c2_batch(%x: tensor<2x?x8xf32>, %at: tensor<2x?xi32>, %r: tensor<3x?x8xf32>) {
  // expected-error @below {{has 2 lists of tokens for a batch of 3}}
  %y = transformer.put_rows %r at %at into %x : (tensor<3x?x8xf32>, tensor<2x?xi32>, tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
  return
}

// -----

func.func @put_rows_c2_rows(%x: tensor<?x?x8xf32>, %at: tensor<?x2xi32>, %r: tensor<?x3x8xf32>) {
  // expected-error @below {{has 2 tokens for 3 rows}}
  %y = transformer.put_rows %r at %at into %x : (tensor<?x3x8xf32>, tensor<?x2xi32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_c16(%x: tensor<?x?x8xf32>, %at: tensor<?x?xi32>, %n: tensor<?xi32>) {
  %q = transformer.take_rows %x at %at : (tensor<?x?x8xf32>, tensor<?x?xi32>) -> tensor<?x?x8xf32>
  %valid = transformer.mask.padding %n : tensor<?xi32>
  // expected-note @below {{the mask compares them here}}
  %near = transformer.mask.window [left = 2, right = 2]
  %mask = transformer.mask.and %valid, %near
  // expected-error @below {{has queries from 'take_rows', which have no positions of their own, but its mask compares positions of queries}}
  %y = transformer.attention %q, %x, %x mask(%mask) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, !transformer.mask) -> tensor<?x?x8xf32>
  return
}

// -----

// A linear behind the list changes nothing; rows of global tokens are queries.

func.func @attention_c16_rows(%x: tensor<?x?x8xf32>, %at: tensor<?x?xi32>, %w: tensor<8x8xf32>) {
  %r = transformer.take_rows %x at %at : (tensor<?x?x8xf32>, tensor<?x?xi32>) -> tensor<?x?x8xf32>
  %q = transformer.linear %r, %w : (tensor<?x?x8xf32>, tensor<8x8xf32>) -> tensor<?x?x8xf32>
  // expected-note @below {{the mask compares them here}}
  %mask = transformer.mask.global of %at : tensor<?x?xi32>
  // expected-error @below {{has queries from 'take_rows', which have no positions of their own}}
  %y = transformer.attention %q, %x, %x mask(%mask) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, !transformer.mask) -> tensor<?x?x8xf32>
  return
}
