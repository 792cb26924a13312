// One case per constraint of Pooling.td.
// RUN: heddle-opt %s -verify-diagnostics -split-input-file

func.func @pool_c1(%x: tensor<?x8xf32>, %n: tensor<?xi32>) {
  // expected-error @below {{expects sequences [batch, n, d] of at least one position, found 'tensor<?x8xf32>'}}
  %y = transformer.pool [mean] %x of %n : (tensor<?x8xf32>, tensor<?xi32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @pool_c1_rank(%x: memref<?x?x?x8xf32>, %n: memref<?xi32>, %y: memref<?x8xf32>) {
  // expected-error @below {{expects sequences [batch, n, d] of at least one position, found 'memref<?x?x?x8xf32>'}}
  transformer.pool [mean] %x of %n into %y : (memref<?x?x?x8xf32>, memref<?xi32>, memref<?x8xf32>) -> ()
  return
}

// -----

func.func @pool_c1_positions(%x: tensor<?x0x8xf32>, %n: tensor<?xi32>) {
  // expected-error @below {{expects sequences [batch, n, d] of at least one position, found 'tensor<?x0x8xf32>'}}
  %y = transformer.pool [cls] %x of %n : (tensor<?x0x8xf32>, tensor<?xi32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @pool_c2(%x: tensor<2x?x8xf32>, %n: tensor<3xi32>) {
  // expected-error @below {{expects an element for each sentence of 'tensor<2x?x8xf32>', found 'tensor<3xi32>'}}
  %y = transformer.pool [mean] %x of %n : (tensor<2x?x8xf32>, tensor<3xi32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @pool_c2_first(%x: tensor<2x?x8xf32>, %n: tensor<2xi32>, %first: tensor<1xi32>) {
  // expected-error @below {{expects an element for each sentence of 'tensor<2x?x8xf32>', found 'tensor<1xi32>'}}
  %y = transformer.pool [mean] %x of %n from %first : (tensor<2x?x8xf32>, tensor<2xi32>, tensor<1xi32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @pool_c3(%x: tensor<?x?x8xf32>, %n: tensor<?xi32>) {
  // expected-error @below {{expects at least one mode}}
  %y = transformer.pool [] %x of %n : (tensor<?x?x8xf32>, tensor<?xi32>) -> tensor<?x0xf32>
  return
}

// -----

func.func @pool_c3_twice(%x: tensor<?x?x8xf32>, %n: tensor<?xi32>) {
  // expected-error @below {{has the mode 'max' twice}}
  %y = transformer.pool [max, mean, max] %x of %n : (tensor<?x?x8xf32>, tensor<?xi32>) -> tensor<?x24xf32>
  return
}

// -----

func.func @pool_unknown(%x: tensor<?x?x8xf32>, %n: tensor<?xi32>) {
  // expected-error @below {{expected a mode of pooling, found 'median'}}
  %y = transformer.pool [mean, median] %x of %n : (tensor<?x?x8xf32>, tensor<?xi32>) -> tensor<?x16xf32>
  return
}

// -----

func.func @pool_result(%x: tensor<?x?x8xf32>, %n: tensor<?xi32>) {
  // expected-error @below {{inferred type(s) 'tensor<?x16xf32>' are incompatible with return type(s) of operation 'tensor<?x8xf32>'}}
  // expected-error @below {{failed to infer returned types}}
  %y = transformer.pool [max, mean] %x of %n : (tensor<?x?x8xf32>, tensor<?xi32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @pool_destination(%x: memref<3x?x8xf32>, %n: memref<?xi32>, %y: memref<3x8xf32>) {
  // expected-error @below {{writes a result of shape [3, 16] into a destination of type 'memref<3x8xf32>'}}
  transformer.pool [max, mean] %x of %n into %y : (memref<3x?x8xf32>, memref<?xi32>, memref<3x8xf32>) -> ()
  return
}

// -----

func.func @pool_scalar(%x: tensor<f32>, %n: tensor<?xi32>) {
  // expected-error @below {{operand #0 must be vectors of a static width (f32 tensor or memref), but got 'tensor<f32>'}}
  %y = transformer.pool [mean] %x of %n : (tensor<f32>, tensor<?xi32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @normalize_c1(%x: tensor<?x8xf32>) {
  // expected-error @below {{expects a finite epsilon above 0, found 0}}
  %y = transformer.normalize %x {epsilon = 0.0 : f32} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @normalize_c1_negative(%x: tensor<?x8xf32>) {
  // expected-error @below {{expects a finite epsilon above 0, found -1}}
  %y = transformer.normalize %x {epsilon = -1.0 : f32} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @normalize_c1_nan(%x: tensor<?x8xf32>) {
  // expected-error @below {{expects a finite epsilon above 0, found}}
  %y = transformer.normalize %x {epsilon = 0x7FC00000 : f32} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @normalize_destination(%x: memref<?x8xf32>, %y: memref<?x4xf32>) {
  // expected-error @below {{writes a result of shape [?, 8] into a destination of type 'memref<?x4xf32>'}}
  transformer.normalize %x into %y {epsilon = 1.0 : f32} : (memref<?x8xf32>, memref<?x4xf32>) -> ()
  return
}

// -----

func.func @normalize_scalar(%x: tensor<f32>) {
  // expected-error @below {{operand #0 must be vectors of a static width (f32 tensor or memref), but got 'tensor<f32>'}}
  %y = transformer.normalize %x {epsilon = 1.0 : f32} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @pool_c1_ragged(%x: tensor<?x?x8xf32>, %n: tensor<?xi32>) {
  // expected-error @below {{expects sequences [tokens, d] with 'starts', found 'tensor<?x?x8xf32>'}}
  %y = transformer.pool [mean] %x of %n starts %n : (tensor<?x?x8xf32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @pool_c2_ragged(%x: tensor<?x8xf32>, %n: tensor<2xi32>, %starts: tensor<3xi32>) {
  // expected-error @below {{expects an element for each sentence of 'tensor<2xi32>', found 'tensor<3xi32>'}}
  %y = transformer.pool [mean] %x of %n starts %starts : (tensor<?x8xf32>, tensor<2xi32>, tensor<3xi32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @pool_c4_mode(%x: memref<?x8xf32>, %n: memref<?xi32>, %i: index, %y: memref<?x16xf32>) {
  // expected-error @below {{pools some rows, which ragged ones with the mode max on memrefs can}}
  transformer.pool [max, mean] %x of %n starts %n rows %i into %y : (memref<?x8xf32>, memref<?xi32>, memref<?xi32>, index, memref<?x16xf32>) -> ()
  return
}

// -----

func.func @pool_c4_padded(%x: memref<?x?x8xf32>, %n: memref<?xi32>, %i: index, %y: memref<?x8xf32>) {
  // expected-error @below {{pools some rows, which ragged ones with the mode max on memrefs can}}
  transformer.pool [max] %x of %n rows %i into %y : (memref<?x?x8xf32>, memref<?xi32>, index, memref<?x8xf32>) -> ()
  return
}

// -----

func.func @pool_c4_tensors(%x: tensor<?x8xf32>, %n: tensor<?xi32>, %i: index) {
  // expected-error @below {{pools some rows, which ragged ones with the mode max on memrefs can}}
  %y = transformer.pool [max] %x of %n starts %n rows %i : (tensor<?x8xf32>, tensor<?xi32>, tensor<?xi32>, index) -> tensor<?x8xf32>
  return
}
