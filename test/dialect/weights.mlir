// Parameters and weights survive printing, the generic form and bytecode.
// RUN: heddle-opt %s | heddle-opt | FileCheck %s
// RUN: heddle-opt %s --mlir-print-op-generic | heddle-opt | FileCheck %s
// RUN: heddle-opt %s --emit-bytecode | heddle-opt | FileCheck %s

// CHECK: transformer.parameter @bound : tensor<8xf32>
transformer.parameter @bound : tensor<8xf32>
// CHECK: transformer.parameter @stored : tensor<256x1536xf32>
// CHECK-SAME: from <"model.bin", offset = 8192, encoding = intgemm8>{{$}}
transformer.parameter @stored : tensor<256x1536xf32>
  from <"model.bin", offset = 8192, encoding = intgemm8>
// CHECK: transformer.parameter @rows : tensor<8x4xf32>
// CHECK-SAME: from <"model.bin", offset = 64, encoding = int8_rows multipliers at 96> transposed
transformer.parameter @rows : tensor<8x4xf32>
  from <"model.bin", offset = 64, encoding = int8_rows multipliers at 96> transposed
// CHECK: transformer.parameter @wide_integers : tensor<8x4xf32>
// CHECK-SAME: from <"model.bin", offset = 112, encoding = int16>
transformer.parameter @wide_integers : tensor<8x4xf32>
  from <"model.bin", offset = 112, encoding = int16>
// CHECK: transformer.parameter @half : tensor<4x8xf32>
// CHECK-SAME: from <"model.safetensors", offset = 0, encoding = f16> transposed
transformer.parameter @half : tensor<4x8xf32>
  from <"model.safetensors", offset = 0, encoding = f16> transposed
// CHECK: transformer.parameter @placed : tensor<f32> placed at 128
transformer.parameter @placed : tensor<f32> placed at 128
// CHECK: transformer.parameter @packed : tensor<3x8x32xf32> packed [33, 32] placed at 256
transformer.parameter @packed : tensor<3x8x32xf32> packed [33, 32] placed at 256

// CHECK: transformer.parameter @none : tensor<4x2xf32> zeros
transformer.parameter @none : tensor<4x2xf32> zeros
// CHECK: transformer.parameter @wide : tensor<4x18xf32> columns of [@half, @none, @half] placed at 192
transformer.parameter @wide : tensor<4x18xf32> columns of [@half, @none, @half] placed at 192
// CHECK: transformer.parameter @by_turns : tensor<4x4xf32> columns(1) of [@none, @none]
transformer.parameter @by_turns : tensor<4x4xf32> columns(1) of [@none, @none]
// CHECK: transformer.parameter @scaled : tensor<8xf32> columns of [@bound] scaled by 2.500000e-01
transformer.parameter @scaled : tensor<8xf32> columns of [@bound] scaled by 0.25

// CHECK: transformer.parameter @buckets : tensor<32x6xf32>
transformer.parameter @buckets : tensor<32x6xf32>
// CHECK: transformer.parameter @spread : tensor<6x257xf32> relative_buckets(32, 128) of [@buckets]
transformer.parameter @spread : tensor<6x257xf32> relative_buckets(32, 128) of [@buckets]
// The table may have more buckets than are read.
// CHECK: transformer.parameter @fewer : tensor<6x17xf32> relative_buckets(12, 8) of [@buckets] placed at 64
transformer.parameter @fewer : tensor<6x17xf32> relative_buckets(12, 8) of [@buckets] placed at 64
// Of one direction.
// CHECK: transformer.parameter @behind : tensor<6x17xf32> relative_buckets(6, 8, 1) of [@buckets]
transformer.parameter @behind : tensor<6x17xf32> relative_buckets(6, 8, 1.0) of [@buckets]

// CHECK: transformer.parameter @vectors : tensor<8x6xf32>
transformer.parameter @vectors : tensor<8x6xf32>
transformer.parameter @gain : tensor<6xf32>
transformer.parameter @projection : tensor<6x4xf32>
transformer.parameter @offset : tensor<4xf32>
// CHECK: transformer.parameter @norms : tensor<8x6xf32> row_norms(2.500000e-01) of [@vectors, @gain, @gain]
transformer.parameter @norms : tensor<8x6xf32> row_norms(0.25) of [@vectors, @gain, @gain]
// CHECK: transformer.parameter @projected : tensor<8x4xf32> product of [@norms, @projection, @offset]
transformer.parameter @projected : tensor<8x4xf32> product of [@norms, @projection, @offset]
// CHECK: transformer.parameter @far : tensor<4x41xf32> log_buckets(4, 16, 20) of [@projected]
transformer.parameter @far : tensor<4x41xf32> log_buckets(4, 16, 20) of [@projected]
// CHECK: transformer.parameter @near : tensor<4x9xf32> log_buckets(0, 4, 4) of [@projected]
transformer.parameter @near : tensor<4x9xf32> log_buckets(0, 4, 4) of [@projected]

// CHECK: transformer.parameter @turns : tensor<32xf32> rotary_frequencies(160000)
transformer.parameter @turns : tensor<32xf32> rotary_frequencies(160000)
// CHECK: transformer.parameter @halved : tensor<32xf32> rotary_frequencies(10000, 2)
transformer.parameter @halved : tensor<32xf32> rotary_frequencies(10000, 2)
// CHECK: transformer.parameter @by_parts : tensor<32xf32> rotary_frequencies(500000, 8, 1, 4, 8192)
transformer.parameter @by_parts : tensor<32xf32> rotary_frequencies(500000, 8, 1, 4, 8192)
// CHECK: transformer.parameter @slow : tensor<1xf32> rotary_frequencies(1.500000e+00) placed at 64
transformer.parameter @slow : tensor<1xf32> rotary_frequencies(1.5) placed at 64

// CHECK: transformer.parameter @sines : tensor<19x8xf32> sinusoids(1)
transformer.parameter @sines : tensor<19x8xf32> sinusoids(1)

// CHECK: transformer.parameter @pairs : tensor<4x12xf32>
transformer.parameter @pairs : tensor<4x12xf32>
// CHECK: transformer.parameter @halves : tensor<4x12xf32> split_pairs(6, 2) of [@pairs]
transformer.parameter @halves : tensor<4x12xf32> split_pairs(6, 2) of [@pairs]
// CHECK: transformer.parameter @slopes : tensor<3xf32> alibi_slopes scaled by 5.000000e-01
transformer.parameter @slopes : tensor<3xf32> alibi_slopes scaled by 0.5
// CHECK: transformer.parameter @raised : tensor<4x12xf32> shifted(1) of [@pairs]
transformer.parameter @raised : tensor<4x12xf32> shifted(1) of [@pairs]

// CHECK-LABEL: @weights
func.func @weights() {
  // CHECK: transformer.weight @bound : tensor<8xf32>
  %b = transformer.weight @bound : tensor<8xf32>
  // CHECK: transformer.weight @stored : memref<256x1536xf32>
  %s = transformer.weight @stored : memref<256x1536xf32>
  return
}
