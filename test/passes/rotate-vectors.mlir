// Vectors are rotated before they are quantised, and so are the weights that
// multiply them; a norm does so while it finishes its row.
// RUN: heddle-opt %s "-transformer-choose-precision=dtype=int8 rotated" -remarks-filter=.* -remark-format=emitRemark 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK <%t
// RUN: heddle-opt %s "-transformer-choose-precision=dtype=bf16 rotated" | FileCheck %s --check-prefix=BF16
// RUN: heddle-opt %s "-transformer-choose-precision=dtype=int8 rotated" -transformer-fuse-short-rows -transformer-fuse-ffn | FileCheck %s --check-prefix=FUSED
// RUN: heddle-opt %s "-transformer-fake-quantize=dtype=int8 rotated on" | FileCheck %s --check-prefixes=FAKE,ON
// RUN: heddle-opt %s "-transformer-fake-quantize=dtype=int8 rotated" | FileCheck %s --check-prefixes=FAKE,OFF

// CHECK-DAG: transformer.parameter @w.rotated : tensor<8x16xf32> rotated of [@w]
// CHECK-DAG: transformer.parameter @w.rotated.column_integers : tensor<8x16xi8> column_integers of [@w.rotated]
// CHECK-DAG: transformer.parameter @w.rotated.column_scales : tensor<16xf32> column_scales of [@w.rotated]
// Integers of a file, and their vectors, are as they are.
// CHECK-NOT: @q.rotated
// BF16-NOT: rotated
// ON-DAG: transformer.parameter @w.rotated.as_column_i8 : tensor<8x16xf32> as_column_i8 of [@w.rotated]
// OFF-DAG: transformer.parameter @[[OFF:.*]] : tensor<8x16xf32> columns of [@w.rotated]
transformer.parameter @w : tensor<8x16xf32>
transformer.parameter @v : tensor<16x8xf32>
transformer.parameter @q : tensor<8x16xf32> from <"m.bin", offset = 0, encoding = intgemm8>
transformer.parameter @g : tensor<8xf32>

// CHECK-LABEL: func.func @layer(
// CHECK: %[[P:.*]]:2 = transformer.quantize %arg0 :
// CHECK: %[[X:.*]] = transformer.norm
// CHECK: %[[Q:.*]]:2 = transformer.quantize %[[X]] rotated :
// CHECK-DAG: %[[W:.*]] = transformer.weight @w.rotated.column_integers
// CHECK: %[[H:.*]] = transformer.linear %[[Q]]#0 scales(%[[Q]]#1), %[[W]] scales(
// REMARK: w multiplies int8, each vector and each output with a scale of its own, vectors rotated
// CHECK: transformer.linear %[[P]]#0 scales(%[[P]]#1)
// CHECK: %[[A:.*]] = transformer.activation gelu %[[H]]
// CHECK: transformer.quantize %[[A]] rotated :
// FUSED: transformer.norm rms {{.*}} also quantize rotated {
// FUSED: transformer.ffn {{.*}} rotated activation(gelu)
// FAKE: %[[X:.*]] = transformer.norm
// FAKE: transformer.fake_quantize %[[X]] as i8 rotated when(
// OFF: transformer.weight @[[OFF]] :
func.func @layer(%x: tensor<?x?x8xf32>) -> (tensor<?x?x8xf32>, tensor<?x?x16xf32>) {
  %gain = transformer.weight @g : tensor<8xf32>
  %n = transformer.norm rms %x, %gain {epsilon = 1.0 : f32} : (tensor<?x?x8xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  %w = transformer.weight @w : tensor<8x16xf32>
  %h = transformer.linear %n, %w : (tensor<?x?x8xf32>, tensor<8x16xf32>) -> tensor<?x?x16xf32>
  %q = transformer.weight @q : tensor<8x16xf32>
  %z = transformer.linear %x, %q : (tensor<?x?x8xf32>, tensor<8x16xf32>) -> tensor<?x?x16xf32>
  %a = transformer.activation gelu %h : (tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  %v = transformer.weight @v : tensor<16x8xf32>
  %y = transformer.linear %a, %v : (tensor<?x?x16xf32>, tensor<16x8xf32>) -> tensor<?x?x8xf32>
  return %y, %z : tensor<?x?x8xf32>, tensor<?x?x16xf32>
}
