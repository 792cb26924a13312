// Functions that cannot be entry points.
// RUN: heddle-opt %s -transformer-pass-destinations -verify-diagnostics -split-input-file

func.func private @argument_without_dims(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-error @below {{cannot name dimension 0 of a value of type 'tensor<?x8xf32>': it does not come from an argument with 'transformer.dims'}}
  %y = transformer.activation relu %x : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

func.func private @too_few_dims(%x: tensor<?x?x8xf32> {transformer.dims = ["batch"]}) -> tensor<?x?x8xf32> {
  // expected-error @below {{cannot name dimension 1 of a value of type 'tensor<?x?x8xf32>'}}
  %y = transformer.activation relu %x : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

// expected-error @below {{argument #0 has 'transformer.dims' with the value [1], expected a list of strings}}
func.func private @dims_that_are_no_strings(%x: tensor<?x8xf32> {transformer.dims = [1]}) -> tensor<?x8xf32> {
  %y = transformer.activation relu %x : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

func.func private @size_that_is_computed(%x: tensor<?xf32> {transformer.dims = ["rows"]}) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?xf32>
  %twice = arith.addi %rows, %rows : index
  // expected-error @below {{cannot name dimension 0 of a value of type 'tensor<?xf32>'}}
  %y = tensor.empty(%twice) : tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// expected-error @below {{returns a value of type 'f32', expected a ranked tensor}}
func.func private @scalar_result(%x: f32) -> f32 {
  return %x : f32
}

// -----

// expected-error @below {{returns a value of type '!transformer.mask', expected a ranked tensor}}
func.func private @mask_as_a_result() -> !transformer.mask {
  %causal = transformer.mask.causal
  return %causal : !transformer.mask
}

// -----

// expected-error @below {{expects one block, found 2}}
func.func private @two_blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^exit(%x : tensor<4xf32>)
^exit(%y: tensor<4xf32>):
  return %y : tensor<4xf32>
}

// -----

// expected-error @below {{expects a body that ends in 'func.return'}}
func.func private @no_return(%x: tensor<4xf32>) -> tensor<4xf32> {
  llvm.unreachable
}

// -----

func.func private @callee(%x: tensor<4xf32>) {
  return
}
func.func private @caller(%x: tensor<4xf32>) {
  // expected-error @below {{'func.call' op calls a function, which an entry point cannot do}}
  call @callee(%x) : (tensor<4xf32>) -> ()
  return
}
