// RUN: heddle-opt %s -transformer-emit-kernels=isa=x86-64-v4 -split-input-file -verify-diagnostics

func.func private @columns(%queries: memref<8x24xf32>, %keys: memref<?x8xf32>,
    %probabilities: memref<64x24xf32>, %sums: memref<8x24xf32>,
    %state: memref<4x24xf32>, %i: index) {
  // expected-error @+1 {{expects columns in multiples of 16 on x86-64-v4, found 24}}
  transformer.online.probabilities block %queries, %keys[%i to %i] full %i to %i of %i, %i, %i into %probabilities, %sums, %state {factor = 1.0 : f32, tile = 8 : i64} : memref<8x24xf32>, memref<?x8xf32>, memref<64x24xf32>, memref<8x24xf32>, memref<4x24xf32>
  return
}

// -----

func.func private @tile(%queries: memref<8xf32>, %keys: memref<?x8xf32>,
    %probabilities: memref<64xf32>, %sums: memref<8xf32>, %state: memref<4x8xf32>,
    %i: index) {
  // expected-error @+1 {{expects a tile of 16 on x86-64-v4, found 8}}
  transformer.online.probabilities row %queries, %keys[%i to %i] full %i to %i of %i, %i, %i into %probabilities, %sums, %state {factor = 1.0 : f32, tile = 8 : i64} : memref<8xf32>, memref<?x8xf32>, memref<64xf32>, memref<8xf32>, memref<4x8xf32>
  return
}
