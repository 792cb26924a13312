// Ops that have no form in LLVM.
// RUN: heddle-opt %s -transformer-lower-to-llvm -verify-diagnostics

func.func @scan(%x: vector<2x4xf32>, %initial: vector<2xf32>) -> vector<2x4xf32> {
  // expected-error @below {{failed to legalize operation 'vector.scan'}}
  %y, %last = vector.scan <add>, %x, %initial {inclusive = true, reduction_dim = 1 : i64} : vector<2x4xf32>, vector<2xf32>
  return %y : vector<2x4xf32>
}
