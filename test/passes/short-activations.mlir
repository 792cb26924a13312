// Weights of int8w meet vectors of bf16 if activations says so: these come from a
// round, once, and so do the factors of attention, if it has no type of its own.
// RUN: heddle-opt %s -transformer-choose-precision="dtype=int8w activations=bf16" -remarks-filter=.* -remark-format=emitRemark 2>%t | FileCheck %s --check-prefixes=CHECK,SHORT
// RUN: FileCheck %s --check-prefix=REMARK <%t
// RUN: heddle-opt %s -transformer-choose-precision="dtype=int8w activations=bf16 attention=f32" | FileCheck %s --check-prefixes=CHECK,WIDE
// RUN: heddle-opt %s -transformer-choose-precision="dtype=int8w" | FileCheck %s --check-prefix=F32
// RUN: heddle-opt %s -transformer-choose-precision="dtype=int8w activations=bf16 keep=f32:v,bf16:u" | FileCheck %s --check-prefix=KEPT
// RUN: heddle-opt %s -transformer-fake-quantize="dtype=int8w activations=bf16 on" | FileCheck %s --check-prefix=FAKE
// RUN: not heddle-opt %s -transformer-choose-precision="dtype=int8w activations=f16" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: activations is 'f16', expected f32 or bf16

// REMARK: w multiplies bf16 by int8, each 32 inputs of an output with a scale of their own
// REMARK: attention multiplies bf16

transformer.parameter @u : tensor<8x8xf32>
transformer.parameter @v : tensor<8x8xf32>
transformer.parameter @w : tensor<8x8xf32>

// CHECK-LABEL: func.func @layer(
// CHECK-NEXT: %[[X:.*]] = transformer.round %arg0 : (tensor<?x?x8xf32>) -> tensor<?x?x8xbf16>
// CHECK-DAG: %[[W:.*]] = transformer.weight @w.block_integers : tensor<8x8xi8>
// CHECK-DAG: %[[S:.*]] = transformer.weight @w.block_scales : tensor<1x8xf32>
// CHECK-NOT: transformer.round %arg0
// CHECK: %[[Q:.*]] = transformer.linear %[[X]], %[[W]] scales(%[[S]]) : (tensor<?x?x8xbf16>, tensor<8x8xi8>, tensor<1x8xf32>) -> tensor<?x?x8xf32>
// SHORT: %[[R:.*]] = transformer.round %[[Q]]
// CHECK: transformer.linear %[[X]],
// CHECK: transformer.linear %[[X]],
// SHORT: transformer.attention %[[R]], %{{.*}} : (tensor<?x?x8xbf16>, tensor<?x?x8xbf16>, tensor<?x?x8xbf16>)
// WIDE-NOT: transformer.round
// WIDE: transformer.attention %[[Q]], %{{.*}} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>)

// F32-LABEL: func.func @layer(
// F32-NOT: bf16
// F32: return

// KEPT-LABEL: func.func @layer(
// KEPT: %[[X:.*]] = transformer.round %arg0
// KEPT: transformer.linear %[[X]], %{{.*}} scales(
// KEPT: %[[U:.*]] = transformer.weight @u.rounded
// KEPT: transformer.linear %[[X]], %[[U]] :
// KEPT: transformer.linear %arg0, %{{.*}} : (tensor<?x?x8xf32>, tensor<8x8xf32>)

// FAKE-LABEL: func.func @layer(
// FAKE: %[[X:.*]] = transformer.fake_quantize %arg0 as bf16 when(
// FAKE: transformer.weight @w.as_block_i8
// FAKE: transformer.linear %[[X]],
func.func @layer(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %w = transformer.weight @w : tensor<8x8xf32>
  %q = transformer.linear %x, %w : (tensor<?x?x8xf32>, tensor<8x8xf32>) -> tensor<?x?x8xf32>
  %u = transformer.weight @u : tensor<8x8xf32>
  %k = transformer.linear %x, %u : (tensor<?x?x8xf32>, tensor<8x8xf32>) -> tensor<?x?x8xf32>
  %v = transformer.weight @v : tensor<8x8xf32>
  %o = transformer.linear %x, %v : (tensor<?x?x8xf32>, tensor<8x8xf32>) -> tensor<?x?x8xf32>
  %y = transformer.attention %q, %k, %o {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}
