// Products become products of integers: all, or those whose weight is stored so;
// or all of them products of bf16 or f16.
// RUN: heddle-opt %s -transformer-choose-precision=dtype=int8 -remarks-filter=.* -remark-format=emitRemark 2>%t | FileCheck %s --check-prefixes=CHECK,INT8
// RUN: FileCheck %s --check-prefix=REMARK <%t
// RUN: heddle-opt %s -transformer-choose-precision=dtype=auto | FileCheck %s --check-prefixes=CHECK,AUTO
// RUN: heddle-opt %s -transformer-choose-precision=dtype=f32 | FileCheck %s --check-prefix=F32

// RUN: heddle-opt %s -transformer-choose-precision=dtype=bf16 -remarks-filter=.* -remark-format=emitRemark 2>%t.bf16 | FileCheck %s --check-prefix=BF16
// RUN: FileCheck %s --check-prefix=BF16-REMARK <%t.bf16
// RUN: heddle-opt %s -transformer-choose-precision=dtype=f16 -remarks-filter=.* -remark-format=emitRemark 2>%t.f16 | FileCheck %s --check-prefix=F16
// RUN: FileCheck %s --check-prefix=F16-REMARK <%t.f16

// Attention has a type of its own if one is asked for.
// RUN: heddle-opt %s -transformer-choose-precision="dtype=f32 attention=bf16" | FileCheck %s --check-prefix=SHORT
// RUN: heddle-opt %s -transformer-choose-precision="dtype=int8 attention=bf16" | FileCheck %s --check-prefix=SHORT
// RUN: heddle-opt %s -transformer-choose-precision="dtype=bf16 attention=f32" | FileCheck %s --check-prefix=WIDE
// RUN: not heddle-opt %s -transformer-choose-precision="attention=int4" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: attention is 'int4', expected f32, bf16, f16 or int8

// F32-NOT: i8
// F32-NOT: f16

transformer.parameter @w : tensor<8x4xf32>
transformer.parameter @v : tensor<8x4xf32>
transformer.parameter @o : tensor<4x8xf32>
transformer.parameter @b : tensor<4xf32>
transformer.parameter @q : tensor<8x4xf32> from <"m.bin", offset = 0, encoding = intgemm8, input_multiplier = 12.5 : f32>
transformer.parameter @p : tensor<8x4xf32> from <"m.bin", offset = 64, encoding = intgemm8>
transformer.parameter @t : tensor<9x8xf32>
transformer.parameter @u : tensor<9x8xf32> from <"m.bin", offset = 128, encoding = intgemm8, input_multiplier = 8.0 : f32>
transformer.parameter @c : tensor<9xf32>

// Each vector and each output has a scale; vectors are quantised once.
// INT8-DAG: transformer.parameter @w.column_integers : tensor<8x4xi8> column_integers of [@w]
// INT8-DAG: transformer.parameter @w.column_scales : tensor<4xf32> column_scales of [@w]
// REMARK: w multiplies int8, each vector and each output with a scale of its own
// BF16-DAG: transformer.parameter @w.rounded : tensor<8x4xbf16> rounded of [@w]
// BF16-REMARK: w multiplies bf16
// F16-DAG: transformer.parameter @w.rounded_to_f16 : tensor<8x4xf16> rounded_to_f16 of [@w]
// F16-REMARK: w multiplies f16
// F16-LABEL: func.func @linears(
// F16-NEXT: %[[R:.*]] = transformer.round %arg0 to f16 : {{.*}} -> tensor<?x?x8xf16>
// F16: %[[W:.*]] = transformer.weight @w.rounded_to_f16
// F16: transformer.linear %[[R]], %[[W]], %{{.*}} :
// F16-NOT: bf16
// BF16-LABEL: func.func @linears(
// BF16-NEXT: %[[R:.*]] = transformer.round %arg0 :
// BF16: %[[B:.*]] = transformer.weight @b
// BF16: %[[W:.*]] = transformer.weight @w.rounded
// BF16: transformer.linear %[[R]], %[[W]], %[[B]] :
// BF16-NOT: transformer.round
// BF16: transformer.linear %[[R]], %{{[^,]*}} :
// BF16: return
// CHECK-LABEL: func.func @linears(
// INT8-NEXT: %[[Q:.*]]:2 = transformer.quantize %arg0 :
// INT8: %[[W:.*]] = transformer.weight @w.column_integers
// INT8: %[[S:.*]] = transformer.weight @w.column_scales
// INT8: %[[B:.*]] = transformer.weight @b
// INT8: transformer.linear %[[Q]]#0 scales(%[[Q]]#1), %[[W]] scales(%[[S]]), %[[B]] :
// INT8-NOT: quantize
// INT8: transformer.linear %[[Q]]#0 scales(%[[Q]]#1), %{{.*}} scales(%{{[^)]*}}) :
// AUTO-NOT: quantize
// CHECK: return
func.func @linears(%x: tensor<?x?x8xf32>) -> (tensor<?x?x4xf32>, tensor<?x?x4xf32>) {
  %w = transformer.weight @w : tensor<8x4xf32>
  %v = transformer.weight @v : tensor<8x4xf32>
  %b = transformer.weight @b : tensor<4xf32>
  %y = transformer.linear %x, %w, %b : (tensor<?x?x8xf32>, tensor<8x4xf32>, tensor<4xf32>) -> tensor<?x?x4xf32> loc("w")
  %z = transformer.linear %x, %v : (tensor<?x?x8xf32>, tensor<8x4xf32>) -> tensor<?x?x4xf32>
  return %y, %z : tensor<?x?x4xf32>, tensor<?x?x4xf32>
}

// What stands behind a product in one op with it stays there.
// BF16-LABEL: func.func @fused(
// BF16: transformer.linear %{{.*}}, %{{.*}}, %{{.*}} activation(relu) residual(%arg1) :
// CHECK-LABEL: func.func @fused(
// INT8: transformer.linear %{{.*}} scales(%{{[^)]*}}), %{{.*}} scales(%{{[^)]*}}), %{{.*}} activation(relu) residual(%arg1) :
// CHECK: return
func.func @fused(%x: tensor<?x?x8xf32>, %r: tensor<?x?x4xf32>) -> tensor<?x?x4xf32> {
  %w = transformer.weight @w : tensor<8x4xf32>
  %b = transformer.weight @b : tensor<4xf32>
  %y = transformer.linear %x, %w, %b activation(relu) residual(%r) : (tensor<?x?x8xf32>, tensor<8x4xf32>, tensor<4xf32>, tensor<?x?x4xf32>) -> tensor<?x?x4xf32>
  return %y : tensor<?x?x4xf32>
}

// Integers and multipliers that are stored are kept; a bias takes back the shift
// where there was none, too.
// BF16-LABEL: func.func @stored(
// BF16: transformer.weight @q.rounded : tensor<8x4xbf16>
// CHECK-LABEL: func.func @stored(
// CHECK: %[[A:.*]] = transformer.weight @q.integers.input_multiplier : tensor<1xf32>
// CHECK: %[[Q:.*]] = transformer.quantize %arg0 multiplier(%[[A]])
// CHECK: %[[W:.*]] = transformer.weight @q.integers : tensor<8x4xi8>
// CHECK: %[[S:.*]] = transformer.weight @q.integers.product_scales : tensor<4xf32>
// CHECK: %[[B:.*]] = transformer.weight @zeros.4.column_shifted_bias : tensor<4xf32>
// CHECK: transformer.linear %[[Q]] shift 127, %[[W]] scales(%[[S]]), %[[B]] :
func.func @stored(%x: tensor<?x?x8xf32>) -> tensor<?x?x4xf32> {
  %w = transformer.weight @q : tensor<8x4xf32>
  %y = transformer.linear %x, %w : (tensor<?x?x8xf32>, tensor<8x4xf32>) -> tensor<?x?x4xf32>
  return %y : tensor<?x?x4xf32>
}

// Without a multiplier for what it multiplies, vectors have scales.
// CHECK-LABEL: func.func @stored_weight_only(
// CHECK: %[[Q:.*]]:2 = transformer.quantize %arg0 :
// CHECK: %[[S:.*]] = transformer.weight @p.integers.product_scales
// CHECK: transformer.linear %[[Q]]#0 scales(%[[Q]]#1), %{{.*}} scales(%[[S]]) :
func.func @stored_weight_only(%x: tensor<?x?x8xf32>) -> tensor<?x?x4xf32> {
  %w = transformer.weight @p : tensor<8x4xf32>
  %y = transformer.linear %x, %w : (tensor<?x?x8xf32>, tensor<8x4xf32>) -> tensor<?x?x4xf32>
  return %y : tensor<?x?x4xf32>
}

// Tables have a scale a row, or the divisor of their file.
// BF16-LABEL: func.func @tables(
// BF16: transformer.embedding %arg0, %{{.*}} widen {scale = 2.000000e+00 : f32} : (tensor<?x?xi32>, tensor<9x8xbf16>) -> tensor<?x?x8xf32>
// CHECK-LABEL: func.func @tables(
// INT8: transformer.embedding %arg0, %{{.*}} scales(%{{.*}}) {scale = 2.000000e+00 : f32} : (tensor<?x?xi32>, tensor<9x8xi8>, tensor<9xf32>)
// AUTO: transformer.embedding %arg0, %{{.*}} {scale = 2.000000e+00 : f32} : (tensor<?x?xi32>, tensor<9x8xf32>)
// CHECK: %[[T:.*]] = transformer.weight @u.integers
// CHECK: %[[M:.*]] = transformer.weight @u.integers.multiplier : tensor<1xf32>
// CHECK: transformer.embedding %arg0, %[[T]] scales(%[[M]]) divides :
func.func @tables(%ids: tensor<?x?xi32>) -> (tensor<?x?x8xf32>, tensor<?x?x8xf32>) {
  %t = transformer.weight @t : tensor<9x8xf32>
  %u = transformer.weight @u : tensor<9x8xf32>
  %y = transformer.embedding %ids, %t {scale = 2.0 : f32} : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  %z = transformer.embedding %ids, %u : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  return %y, %z : tensor<?x?x8xf32>, tensor<?x?x8xf32>
}

// Candidates' rows, scales and biases are looked up together.
// BF16-LABEL: func.func @candidates(
// BF16: %[[R:.*]] = transformer.round %arg0
// BF16: %[[B:.*]] = transformer.embedding %arg1, %{{.*}} : (tensor<?x?xi32>, tensor<9xf32>)
// BF16: %[[ROWS:.*]] = transformer.embedding %arg1, %{{.*}} : (tensor<?x?xi32>, tensor<9x8xbf16>) -> tensor<?x?x8xbf16>
// BF16: transformer.candidate_logits %[[R]], %[[ROWS]], %[[B]], %arg2 :
// CHECK-LABEL: func.func @candidates(
// CHECK: %[[A:.*]] = transformer.weight @u.integers.input_multiplier
// CHECK: %[[Q:.*]] = transformer.quantize %arg0 multiplier(%[[A]])
// CHECK: %[[R:.*]] = transformer.embedding %arg1, %{{.*}} : (tensor<?x?xi32>, tensor<9x8xi8>) -> tensor<?x?x8xi8>
// CHECK: %[[S:.*]] = transformer.embedding %arg1, %{{.*}} : (tensor<?x?xi32>, tensor<9xf32>) -> tensor<?x?xf32>
// CHECK: %[[BIAS:.*]] = transformer.weight @c.row_shifted_bias
// CHECK: %[[B:.*]] = transformer.embedding %arg1, %[[BIAS]]
// CHECK: transformer.candidate_logits %[[Q]] shift 127, %[[R]] scales(%[[S]]), %[[B]], %arg2 :
func.func @candidates(%x: tensor<?x?x8xf32>, %ids: tensor<?x?xi32>, %counts: tensor<?xi32>) -> tensor<?x?x?xf32> {
  %t = transformer.weight @u : tensor<9x8xf32>
  %c = transformer.weight @c : tensor<9xf32>
  %r = transformer.embedding %ids, %t : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  %b = transformer.embedding %ids, %c : (tensor<?x?xi32>, tensor<9xf32>) -> tensor<?x?xf32>
  %y = transformer.candidate_logits %x, %r, %b, %counts : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?xf32>, tensor<?xi32>) -> tensor<?x?x?xf32>
  return %y : tensor<?x?x?xf32>
}

// REMARK: linear multiplies f32, since its weight is no parameter
// BF16-REMARK: linear multiplies f32, since its weight is no parameter
// BF16-LABEL: func.func @no_parameter(
// BF16-NOT: transformer.round
// CHECK-LABEL: func.func @no_parameter(
// CHECK-NOT: quantize
func.func @no_parameter(%x: tensor<?x?x8xf32>, %w: tensor<8x4xf32>) -> tensor<?x?x4xf32> {
  %y = transformer.linear %x, %w : (tensor<?x?x8xf32>, tensor<8x4xf32>) -> tensor<?x?x4xf32>
  return %y : tensor<?x?x4xf32>
}

// Two products that a module has fused stay as they are.
// REMARK: w multiplies f32, since its module has fused two products
// BF16-REMARK: w multiplies f32, since its module has fused two products
// CHECK-LABEL: func.func @ffn(
// CHECK-NOT: quantize
func.func @ffn(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %w = transformer.weight @w : tensor<8x4xf32>
  %o = transformer.weight @o : tensor<4x8xf32>
  %y = transformer.ffn %x, %w, %o : (tensor<?x?x8xf32>, tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// Attention has no weights: it multiplies bf16 where that was ordered, and no
// integers. Keys that are values, too, are rounded once.
// REMARK: attention multiplies f32, since none of its factors is a weight
// BF16-REMARK: attention multiplies bf16
// BF16-LABEL: func.func @attention(
// BF16-DAG: %[[Q:.*]] = transformer.round %arg0 :
// BF16-DAG: %[[K:.*]] = transformer.round %arg1 :
// BF16-NOT: transformer.round
// BF16: transformer.attention %[[Q]], %[[K]], %[[K]] {heads = 2 : i64} : (tensor<?x?x8xbf16>, tensor<?x?x8xbf16>, tensor<?x?x8xbf16>) -> tensor<?x?x8xf32>
// SHORT-LABEL: func.func @attention(
// SHORT: transformer.attention {{.*}} : (tensor<?x?x8xbf16>, tensor<?x?x8xbf16>, tensor<?x?x8xbf16>) -> tensor<?x?x8xf32>
// WIDE-LABEL: func.func @attention(
// WIDE-NEXT: transformer.attention %arg0, %arg1, %arg1
// CHECK-LABEL: func.func @attention(
// CHECK-NEXT: transformer.attention %arg0, %arg1, %arg1
func.func @attention(%q: tensor<?x?x8xf32>, %k: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %y = transformer.attention %q, %k, %k {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// So does linear attention; its sums are f32.
// REMARK: linear_attention multiplies f32, since none of its factors is a weight
// BF16-REMARK: linear_attention multiplies bf16
// BF16-LABEL: func.func @linear_attention(
// BF16-DAG: %[[Q:.*]] = transformer.round %arg0 :
// BF16-DAG: %[[K:.*]] = transformer.round %arg1 :
// BF16-NOT: transformer.round
// BF16: transformer.linear_attention %[[Q]], %[[K]], %[[K]] {heads = 2 : i64} : (tensor<?x?x8xbf16>, tensor<?x?x8xbf16>, tensor<?x?x8xbf16>) -> tensor<?x?x8xf32>
// CHECK-LABEL: func.func @linear_attention(
// CHECK-NEXT: transformer.linear_attention %arg0, %arg1, %arg1
func.func @linear_attention(%q: tensor<?x?x8xf32>, %k: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %y = transformer.linear_attention %q, %k, %k {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}
