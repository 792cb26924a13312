// One case per constraint of Weights.td.
// RUN: heddle-opt %s -verify-diagnostics -split-input-file

// expected-error @below {{'transformer.parameter' op expects a static shape, found 'tensor<?x8xf32>'}}
transformer.parameter @parameter_c1 : tensor<?x8xf32>

// -----

// expected-error @below {{'transformer.parameter' op expects at most 1099511627776 elements, found 'tensor<4294967296x4294967296xf32>'}}
transformer.parameter @parameter_c1_size : tensor<4294967296x4294967296xf32>

// -----

// expected-error @below {{'transformer.parameter' op is transposed and expects rank 2, found rank 1}}
transformer.parameter @parameter_c2 : tensor<8xf32> transposed

// -----

// expected-error @below {{'transformer.parameter' op expects a place that is a multiple of 64, found 100}}
transformer.parameter @parameter_c3 : tensor<8xf32> placed at 100

// -----

// expected-error @below {{'transformer.parameter' op expects a place that is a multiple of 64, found -64}}
transformer.parameter @parameter_c3_negative : tensor<8xf32> placed at -64

// -----

transformer.parameter @source_offset : tensor<8xf32>
  // expected-error @below {{expects an offset of at least 0 into 'model.bin', found -4}}
  from <"model.bin", offset = -4, encoding = f32>

// -----

// expected-note @below {{declared here}}
transformer.parameter @w : tensor<8x4xf32>
func.func @weight_c1() {
  // expected-error @below {{'transformer.weight' op has type 'tensor<4x8xf32>' but parameter 'w' is declared as 'tensor<8x4xf32>'}}
  %w = transformer.weight @w : tensor<4x8xf32>
  return
}

// -----

func.func @weight_c1_undeclared() {
  // expected-error @below {{'transformer.weight' op reads parameter 'w', which is not declared}}
  %w = transformer.weight @w : tensor<4x8xf32>
  return
}
