// The lowering needs memory to write to.
// RUN: heddle-opt %s -transformer-lower-to-loops -verify-diagnostics -split-input-file

func.func @layer_op_on_tensors(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-error @below {{'transformer.activation' op is still on tensors: bufferise it first}}
  %y = transformer.activation relu %x : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

func.func @lookup_in_a_tensor(%table: tensor<8xf32>, %at: i32) -> f32 {
  // expected-error @below {{'transformer.lookup' op is still on tensors: bufferise it first}}
  %y = transformer.lookup %table[%at] : tensor<8xf32> -> f32
  return %y : f32
}
