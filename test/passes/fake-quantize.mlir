// What a product would multiply in fewer bits is rounded and stays f32; without
// `on` the same ops read parameters that round nothing.
// RUN: heddle-opt %s "-transformer-fake-quantize=dtype=int8 keep=f32:kept on" | FileCheck %s --check-prefixes=CHECK,ON
// RUN: heddle-opt %s "-transformer-fake-quantize=dtype=int8 keep=f32:kept" | FileCheck %s --check-prefixes=CHECK,OFF
// RUN: heddle-opt %s "-transformer-fake-quantize=dtype=bf16 keep=f32:kept on" | FileCheck %s --check-prefix=BF16
// RUN: heddle-opt %s "-transformer-fake-quantize=dtype=f16 keep=f32:kept on" | FileCheck %s --check-prefix=F16
// RUN: not heddle-opt %s "-transformer-fake-quantize=dtype=int8 keep=i8:w" 2>&1 | FileCheck %s --check-prefix=RULE

// RULE: expected a type and a pattern of names to keep, such as bf16:encoder_*, found 'i8:w'

transformer.parameter @w : tensor<8x4xf32>
transformer.parameter @kept : tensor<8x4xf32>
transformer.parameter @b : tensor<4xf32>
transformer.parameter @q : tensor<8x4xf32> from <"m.bin", offset = 0, encoding = intgemm8, input_multiplier = 12.5 : f32>
transformer.parameter @t : tensor<9x8xf32>

// ON-DAG: transformer.parameter @w.one : tensor<1xf32> one of [@w]{{$}}
// ON-DAG: transformer.parameter @w.as_column_i8 : tensor<8x4xf32> as_column_i8 of [@w]
// ON-DAG: transformer.parameter @t.as_row_i8 : tensor<9x8xf32> as_row_i8 of [@t]
// OFF-DAG: transformer.parameter @w.one : tensor<1xf32> one of [@w] scaled by 0.000000e+00
// OFF-DAG: transformer.parameter @[[WOFF:.*]] : tensor<8x4xf32> columns of [@w]
// OFF-DAG: transformer.parameter @[[TOFF:.*]] : tensor<9x8xf32> columns of [@t]
// The integers of a file are what they stand for, on or off.
// CHECK-DAG: transformer.parameter @[[Q:.*]] : tensor<8x4xf32> columns of [@q]

// CHECK-LABEL: func.func @linears(
// CHECK-DAG: %[[ONE:.*]] = transformer.weight @w.one
// CHECK-DAG: %[[X:.*]] = transformer.fake_quantize %arg0 as i8 when(%[[ONE]]) :
// ON-DAG: %[[W:.*]] = transformer.weight @w.as_column_i8
// OFF-DAG: %[[W:.*]] = transformer.weight @[[WOFF]] :
// CHECK: transformer.linear %[[X]], %[[W]], %{{.*}} :
// CHECK: %[[KEPT:.*]] = transformer.weight @kept
// CHECK: transformer.linear %arg0, %[[KEPT]] :
// CHECK-DAG: %[[A:.*]] = transformer.weight @q.integers.input_multiplier
// CHECK-DAG: %[[QONE:.*]] = transformer.weight @q.one
// CHECK-DAG: %[[Y:.*]] = transformer.fake_quantize %arg0 as i8 multiplier(%[[A]]) when(%[[QONE]]) :
// CHECK-DAG: %[[V:.*]] = transformer.weight @[[Q]] :
// CHECK: transformer.linear %[[Y]], %[[V]] :
// BF16: transformer.fake_quantize %arg0 as bf16
// BF16: transformer.weight @w.as_bf16 : tensor<8x4xf32>
// F16: transformer.fake_quantize %arg0 as f16
// F16: transformer.weight @w.as_f16 : tensor<8x4xf32>
func.func @linears(%x: tensor<?x8xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) {
  %w = transformer.weight @w : tensor<8x4xf32>
  %b = transformer.weight @b : tensor<4xf32>
  %y = transformer.linear %x, %w, %b : (tensor<?x8xf32>, tensor<8x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  %kept = transformer.weight @kept : tensor<8x4xf32>
  %z = transformer.linear %x, %kept : (tensor<?x8xf32>, tensor<8x4xf32>) -> tensor<?x4xf32>
  %q = transformer.weight @q : tensor<8x4xf32>
  %u = transformer.linear %x, %q : (tensor<?x8xf32>, tensor<8x4xf32>) -> tensor<?x4xf32>
  return %y, %z, %u : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>
}

// CHECK-LABEL: func.func @table(
// ON: %[[T:.*]] = transformer.weight @t.as_row_i8
// OFF: %[[T:.*]] = transformer.weight @[[TOFF]] :
// CHECK: transformer.embedding %arg0, %[[T]] :
func.func @table(%ids: tensor<?x?xi32>) -> tensor<?x?x8xf32> {
  %t = transformer.weight @t : tensor<9x8xf32>
  %e = transformer.embedding %ids, %t : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  return %e : tensor<?x?x8xf32>
}
