// Functions that a GPU has in no form are errors, one sentence each.
// RUN: heddle-opt %s -split-input-file -verify-diagnostics \
// RUN:   -transformer-expand-math

func.func @of_unknown_types(%x: f128) -> f128 {
  // expected-error @+1 {{a GPU has no 'math.sin' of 'f128'}}
  %0 = math.sin %x : f128
  return %0 : f128
}

// -----

func.func @of_unknown_instructions(%x: f128) -> f128 {
  // expected-error @+1 {{a GPU has no 'math.sqrt' of 'f128'}}
  %0 = math.sqrt %x : f128
  return %0 : f128
}

// -----

func.func @unknown(%x: f32) -> i1 {
  // expected-error @+1 {{a GPU has no 'math.isnan' of 'f32'}}
  %0 = math.isnan %x : f32
  return %0 : i1
}
