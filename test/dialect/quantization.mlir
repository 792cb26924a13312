// Quantised vectors and what multiplies them survive printing, the generic form
// and bytecode.
// RUN: heddle-opt %s | heddle-opt | FileCheck %s
// RUN: heddle-opt %s --mlir-print-op-generic | heddle-opt | FileCheck %s
// RUN: heddle-opt %s --emit-bytecode | heddle-opt | FileCheck %s

// CHECK: transformer.parameter @q : tensor<8x4xi8>
// CHECK-SAME: from <"m.bin", offset = 0, encoding = intgemm8, input_multiplier = 1.250000e+01 : f32> transposed
transformer.parameter @q : tensor<8x4xi8> from <"m.bin", offset = 0, encoding = intgemm8, input_multiplier = 12.5 : f32> transposed
transformer.parameter @w : tensor<8x4xf32>
transformer.parameter @b : tensor<4xf32>
transformer.parameter @c : tensor<8xf32>
// CHECK: @wi : tensor<8x4xi8> column_integers of [@w]
transformer.parameter @wi : tensor<8x4xi8> column_integers of [@w]
// CHECK: @ws : tensor<4xf32> column_scales of [@w] scaled by 5.000000e-01
transformer.parameter @ws : tensor<4xf32> column_scales of [@w] scaled by 0.5
// CHECK: @ri : tensor<8x4xi8> row_integers of [@w]
transformer.parameter @ri : tensor<8x4xi8> row_integers of [@w]
// CHECK: @bi : tensor<8x4xi8> block_integers of [@w]
transformer.parameter @bi : tensor<8x4xi8> block_integers of [@w]
// CHECK: @bs : tensor<1x4xf32> block_scales of [@w]
transformer.parameter @bs : tensor<1x4xf32> block_scales of [@w]
// CHECK: @bw : tensor<1x34x32xi8> with_scales of [@bi, @bs] packed [4] depth 8
transformer.parameter @bw : tensor<1x34x32xi8> with_scales of [@bi, @bs] packed [4] depth 8
// CHECK: @rs : tensor<8xf32> row_scales of [@w]
transformer.parameter @rs : tensor<8xf32> row_scales of [@w]
// CHECK: @wh : tensor<8x4xf32> rotated of [@w]
transformer.parameter @wh : tensor<8x4xf32> rotated of [@w]
// CHECK: @whi : tensor<8x4xi8> column_integers of [@wh]
transformer.parameter @whi : tensor<8x4xi8> column_integers of [@wh]
// CHECK: @m : tensor<1xf32> multiplier of [@q]
transformer.parameter @m : tensor<1xf32> multiplier of [@q]
// CHECK: @im : tensor<1xf32> input_multiplier of [@q]
transformer.parameter @im : tensor<1xf32> input_multiplier of [@q]
// CHECK: @ps : tensor<7xf32> product_scales of [@q]
transformer.parameter @ps : tensor<7xf32> product_scales of [@q]
// CHECK: @cb : tensor<4xf32> column_shifted_bias of [@b, @q]
transformer.parameter @cb : tensor<4xf32> column_shifted_bias of [@b, @q]
// CHECK: @rb : tensor<8xf32> row_shifted_bias of [@c, @q]
transformer.parameter @rb : tensor<8xf32> row_shifted_bias of [@c, @q]
// CHECK: @wide : tensor<8x8xi8> columns of [@wi, @q]
transformer.parameter @wide : tensor<8x8xi8> columns of [@wi, @q]
// CHECK: @wr : tensor<8x4xbf16> rounded of [@w]
transformer.parameter @wr : tensor<8x4xbf16> rounded of [@w]
// CHECK: @wwr : tensor<8x8xbf16> columns of [@wr, @wr]
transformer.parameter @wwr : tensor<8x8xbf16> columns of [@wr, @wr]
// CHECK: @odd : tensor<1x2x32x2xbf16> rounded of [@w3] packed [5] depth 3
transformer.parameter @w3 : tensor<3x5xf32>
transformer.parameter @odd : tensor<1x2x32x2xbf16> rounded of [@w3] packed [5] depth 3

// CHECK-LABEL: @products
func.func @products(%x: tensor<?x?x8xf32>, %w: tensor<8x4xi8>, %s: tensor<4xf32>, %rows: tensor<?x?x8xi8>, %scales: tensor<?x?xf32>, %counts: tensor<?xi32>, %a: tensor<1xf32>) {
  // CHECK: %[[Q:.*]]:2 = transformer.quantize %arg0 : (tensor<?x?x8xf32>) -> (tensor<?x?x8xi8>, tensor<?x?xf32>)
  %q, %t = transformer.quantize %x : (tensor<?x?x8xf32>) -> (tensor<?x?x8xi8>, tensor<?x?xf32>)
  // CHECK: transformer.quantize %arg0 rotated : (tensor<?x?x8xf32>) -> (tensor<?x?x8xi8>, tensor<?x?xf32>)
  %p, %u = transformer.quantize %x rotated : (tensor<?x?x8xf32>) -> (tensor<?x?x8xi8>, tensor<?x?xf32>)
  // CHECK: transformer.norm rms %arg0, %{{.*}} also quantize rotated {
  %gain = transformer.weight @c : tensor<8xf32>
  %n:3 = transformer.norm rms %x, %gain also quantize rotated {epsilon = 1.0 : f32} : (tensor<?x?x8xf32>, tensor<8xf32>) -> (tensor<?x?x8xf32>, tensor<?x?x8xi8>, tensor<?x?xf32>)
  // CHECK: transformer.fake_quantize %arg0 as i8 rotated when(%arg6) :
  %f = transformer.fake_quantize %x as i8 rotated when(%a) : (tensor<?x?x8xf32>, tensor<1xf32>) -> tensor<?x?x8xf32>
  // CHECK: %[[R:.*]] = transformer.quantize %arg0 multiplier(%arg6) : (tensor<?x?x8xf32>, tensor<1xf32>) -> tensor<?x?x8xi8>
  %r = transformer.quantize %x multiplier(%a) : (tensor<?x?x8xf32>, tensor<1xf32>) -> tensor<?x?x8xi8>
  // CHECK: transformer.linear %[[Q]]#0 scales(%[[Q]]#1), %arg1 scales(%arg2), %arg2 :
  %y = transformer.linear %q scales(%t), %w scales(%s), %s : (tensor<?x?x8xi8>, tensor<?x?xf32>, tensor<8x4xi8>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x?x4xf32>
  // CHECK: transformer.linear %[[R]] shift 127, %arg1 scales(%arg2) activation(relu) quantize(%arg6) :
  // CHECK-SAME: -> tensor<?x?x4xi8>
  %z = transformer.linear %r shift 127, %w scales(%s) activation(relu) quantize(%a) : (tensor<?x?x8xi8>, tensor<8x4xi8>, tensor<4xf32>, tensor<1xf32>) -> tensor<?x?x4xi8>
  // CHECK: transformer.candidate_logits %[[Q]]#0 scales(%[[Q]]#1), %arg3 scales(%arg4), %arg4, %arg5 :
  %l = transformer.candidate_logits %q scales(%t), %rows scales(%scales), %scales, %counts : (tensor<?x?x8xi8>, tensor<?x?xf32>, tensor<?x?x8xi8>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xi32>) -> tensor<?x?x?xf32>
  return
}

// CHECK-LABEL: @products_of_bf16
func.func @products_of_bf16(%x: tensor<?x?x8xf32>, %w: tensor<8x4xbf16>, %rows: tensor<?x?x8xbf16>, %b: tensor<?x?xf32>, %counts: tensor<?xi32>) {
  // CHECK: %[[R:.*]] = transformer.round %arg0 : (tensor<?x?x8xf32>) -> tensor<?x?x8xbf16>
  %r = transformer.round %x : (tensor<?x?x8xf32>) -> tensor<?x?x8xbf16>
  // CHECK: transformer.linear %[[R]], %arg1 : {{.*}} -> tensor<?x?x4xf32>
  %y = transformer.linear %r, %w : (tensor<?x?x8xbf16>, tensor<8x4xbf16>) -> tensor<?x?x4xf32>
  // CHECK: transformer.linear %[[R]], %arg1 activation(relu) round : {{.*}} -> tensor<?x?x4xbf16>
  %z = transformer.linear %r, %w activation(relu) round : (tensor<?x?x8xbf16>, tensor<8x4xbf16>) -> tensor<?x?x4xbf16>
  // CHECK: transformer.candidate_logits %[[R]], %arg2, %arg3, %arg4 :
  %l = transformer.candidate_logits %r, %rows, %b, %counts : (tensor<?x?x8xbf16>, tensor<?x?x8xbf16>, tensor<?x?xf32>, tensor<?xi32>) -> tensor<?x?x?xf32>
  return
}

// CHECK-LABEL: @attention_of_bf16
func.func @attention_of_bf16(%x: tensor<?x8xbf16>, %w: tensor<8x16xbf16>, %q: tensor<?x8xbf16>, %k: tensor<?x?x8xbf16>, %at: tensor<?xi32>, %cache: tensor<?x4x8xbf16>) {
  // CHECK: transformer.linear %{{.*}}, %{{.*}} round split [8, 8] : {{.*}} -> (tensor<?x8xbf16>, tensor<?x8xbf16>)
  %a, %b = transformer.linear %x, %w round split [8, 8] : (tensor<?x8xbf16>, tensor<8x16xbf16>) -> (tensor<?x8xbf16>, tensor<?x8xbf16>)
  // CHECK: transformer.cache.append %{{.*}} at %{{.*}} into %{{.*}} : (tensor<?x8xbf16>, tensor<?xi32>, tensor<?x4x8xbf16>) -> tensor<?x4x8xbf16>
  %c = transformer.cache.append %a at %at into %cache : (tensor<?x8xbf16>, tensor<?xi32>, tensor<?x4x8xbf16>) -> tensor<?x4x8xbf16>
  // CHECK: transformer.attention %{{.*}}, %{{.*}}, %{{.*}} {heads = 2 : i64} : {{.*}} -> tensor<?x?x8xf32>
  %y = transformer.attention %k, %k, %k {heads = 2 : i64} : (tensor<?x?x8xbf16>, tensor<?x?x8xbf16>, tensor<?x?x8xbf16>) -> tensor<?x?x8xf32>
  // CHECK: transformer.attention %{{.*}}, %{{.*}}, %{{.*}} at %{{.*}} of %{{.*}} shared round {heads = 2 : i64} : {{.*}} -> tensor<?x8xbf16>
  %z = transformer.attention %q, %k, %k at %at of %at shared round {heads = 2 : i64} : (tensor<?x8xbf16>, tensor<?x?x8xbf16>, tensor<?x?x8xbf16>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x8xbf16>
  return
}

// CHECK-LABEL: @rounded_to_f16
func.func @rounded_to_f16(%x: tensor<?x8xf32>, %w: tensor<8x8xf16>, %g: tensor<8xf32>, %k: tensor<?x?x8xf16>) {
  // CHECK: %[[R:.*]] = transformer.round %arg0 to f16 : (tensor<?x8xf32>) -> tensor<?x8xf16>
  %r = transformer.round %x to f16 : (tensor<?x8xf32>) -> tensor<?x8xf16>
  // CHECK: transformer.linear %[[R]], %arg1 round(f16) split [4, 4] :
  %a, %b = transformer.linear %r, %w round(f16) split [4, 4] : (tensor<?x8xf16>, tensor<8x8xf16>) -> (tensor<?x4xf16>, tensor<?x4xf16>)
  // CHECK: transformer.norm rms %arg0, %arg2 also round(f16) {
  %c:2 = transformer.norm rms %x, %g also round(f16) {epsilon = 1.0 : f32} : (tensor<?x8xf32>, tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf16>)
  // CHECK: transformer.attention %arg3, %arg3, %arg3 round(f16) {heads = 2 : i64} :
  %y = transformer.attention %k, %k, %k round(f16) {heads = 2 : i64} : (tensor<?x?x8xf16>, tensor<?x?x8xf16>, tensor<?x?x8xf16>) -> tensor<?x?x8xf16>
  // CHECK: transformer.round %arg0 : (tensor<?x8xf32>) -> tensor<?x8xbf16>
  %s = transformer.round %x to bf16 : (tensor<?x8xf32>) -> tensor<?x8xbf16>
  return
}

// CHECK-LABEL: @memrefs_of_bf16
func.func @memrefs_of_bf16(%x: memref<?x8xf32>, %r: memref<?x8xbf16>, %w: memref<1x4x32x2xbf16>, %y: memref<?x4xbf16>) {
  // CHECK: transformer.round %arg0 into %arg1 :
  transformer.round %x into %r : (memref<?x8xf32>, memref<?x8xbf16>) -> ()
  // CHECK: transformer.linear %arg1, %arg2 round into %arg3 :
  transformer.linear %r, %w round into %y : (memref<?x8xbf16>, memref<1x4x32x2xbf16>, memref<?x4xbf16>) -> ()
  return
}

// CHECK-LABEL: @memrefs
func.func @memrefs(%x: memref<?x8xf32>, %q: memref<?x8xi8>, %s: memref<?xf32>) {
  // CHECK: transformer.quantize %arg0 into %arg1, %arg2 :
  transformer.quantize %x into %q, %s : (memref<?x8xf32>, memref<?x8xi8>, memref<?xf32>) -> ()
  return
}

// CHECK-LABEL: @tables_of_bf16
func.func @tables_of_bf16(%ids: tensor<?x?xi32>, %t: tensor<9x8xbf16>) {
  // CHECK: transformer.embedding %arg0, %arg1 : {{.*}} -> tensor<?x?x8xbf16>
  %a = transformer.embedding %ids, %t : (tensor<?x?xi32>, tensor<9x8xbf16>) -> tensor<?x?x8xbf16>
  // CHECK: transformer.embedding %arg0, %arg1 widen positions(sinusoidal, 4, halves) {scale = 4.000000e+00 : f32} : {{.*}} -> tensor<?x?x8xf32>
  %b = transformer.embedding %ids, %t widen positions(sinusoidal, 4, halves) {scale = 4.0 : f32} : (tensor<?x?xi32>, tensor<9x8xbf16>) -> tensor<?x?x8xf32>
  return
}

// CHECK-LABEL: @tables
func.func @tables(%ids: tensor<?x?xi32>, %t: tensor<9x8xi8>, %s: tensor<9xf32>, %m: tensor<1xf32>) {
  // CHECK: transformer.embedding %arg0, %arg1 : {{.*}} -> tensor<?x?x8xi8>
  %a = transformer.embedding %ids, %t : (tensor<?x?xi32>, tensor<9x8xi8>) -> tensor<?x?x8xi8>
  // CHECK: transformer.embedding %arg0, %arg1 scales(%arg2) {scale = 4.000000e+00 : f32} : {{.*}} -> tensor<?x?x8xf32>
  %b = transformer.embedding %ids, %t scales(%s) {scale = 4.0 : f32} : (tensor<?x?xi32>, tensor<9x8xi8>, tensor<9xf32>) -> tensor<?x?x8xf32>
  // CHECK: transformer.embedding %arg0, %arg1 scales(%arg3) divides positions(sinusoidal, 4, halves) :
  %c = transformer.embedding %ids, %t scales(%m) divides positions(sinusoidal, 4, halves) : (tensor<?x?xi32>, tensor<9x8xi8>, tensor<1xf32>) -> tensor<?x?x8xf32>
  return
}

// CHECK-LABEL: @also
func.func @also(%ids: tensor<?x?xi32>, %x: tensor<?x?x8xf32>, %w: tensor<8x8xf32>, %g: tensor<8xf32>, %m: tensor<1xf32>) {
  // CHECK: transformer.norm rms %arg1, %arg3 residual(%arg1) also quantize {epsilon = 1.000000e+00 : f32} : {{.*}} -> (tensor<?x?x8xf32>, tensor<?x?x8xi8>, tensor<?x?xf32>)
  %a:3 = transformer.norm rms %x, %g residual(%x) also quantize {epsilon = 1.0 : f32} : (tensor<?x?x8xf32>, tensor<8xf32>, tensor<?x?x8xf32>) -> (tensor<?x?x8xf32>, tensor<?x?x8xi8>, tensor<?x?xf32>)
  // CHECK: transformer.linear %arg1, %arg2 norm(rms, %arg3, 1.000000e+00) also quantize(%arg4) : {{.*}} -> (tensor<?x?x8xf32>, tensor<?x?x8xi8>)
  %b:2 = transformer.linear %x, %w norm(rms, %g, 1.0) also quantize(%m) : (tensor<?x?x8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<1xf32>) -> (tensor<?x?x8xf32>, tensor<?x?x8xi8>)
  // CHECK: transformer.ffn %arg1, %arg2, %arg2 activation(relu) also round : {{.*}} -> (tensor<?x?x8xf32>, tensor<?x?x8xbf16>)
  %c:2 = transformer.ffn %x, %w, %w activation(relu) also round : (tensor<?x?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<?x?x8xf32>, tensor<?x?x8xbf16>)
  // CHECK: transformer.embedding %arg0, %arg2 also round : {{.*}} -> (tensor<?x?x8xf32>, tensor<?x?x8xbf16>)
  %d:2 = transformer.embedding %ids, %w also round : (tensor<?x?xi32>, tensor<8x8xf32>) -> (tensor<?x?x8xf32>, tensor<?x?x8xbf16>)
  return
}

// CHECK-LABEL: @memrefs_of_also
func.func @memrefs_of_also(%x: memref<?x8xf32>, %g: memref<8xf32>, %q: memref<?x8xi8>, %s: memref<?xf32>) {
  // CHECK: transformer.norm rms %arg0, %arg1 also quantize into %arg0, %arg2, %arg3 {epsilon = 1.000000e+00 : f32} :
  transformer.norm rms %x, %g also quantize into %x, %q, %s {epsilon = 1.0 : f32} : (memref<?x8xf32>, memref<8xf32>, memref<?x8xf32>, memref<?x8xi8>, memref<?xf32>) -> ()
  return
}

// CHECK-LABEL: @fake
func.func @fake(%x: tensor<?x?x8xf32>, %m: tensor<1xf32>, %on: tensor<1xf32>) {
  // CHECK: transformer.fake_quantize %arg0 as i8 when(%arg2) : (tensor<?x?x8xf32>, tensor<1xf32>) -> tensor<?x?x8xf32>
  %a = transformer.fake_quantize %x as i8 when(%on) : (tensor<?x?x8xf32>, tensor<1xf32>) -> tensor<?x?x8xf32>
  // CHECK: transformer.fake_quantize %arg0 as i8 multiplier(%arg1) when(%arg2) :
  %b = transformer.fake_quantize %x as i8 multiplier(%m) when(%on) : (tensor<?x?x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<?x?x8xf32>
  // CHECK: transformer.fake_quantize %arg0 as bf16 when(%arg2) :
  %c = transformer.fake_quantize %x as bf16 when(%on) : (tensor<?x?x8xf32>, tensor<1xf32>) -> tensor<?x?x8xf32>
  return
}

// CHECK-LABEL: @fake_memrefs
func.func @fake_memrefs(%x: memref<?x8xf32>, %on: memref<1xf32>) {
  // CHECK: transformer.fake_quantize %arg0 as f16 when(%arg1) into %arg0 : (memref<?x8xf32>, memref<1xf32>, memref<?x8xf32>) -> ()
  transformer.fake_quantize %x as f16 when(%on) into %x : (memref<?x8xf32>, memref<1xf32>, memref<?x8xf32>) -> ()
  return
}

// CHECK-LABEL: @heads
func.func @heads(%x: tensor<?x?x8xf32>, %y: memref<?x8xf32>, %q: memref<?x8xi8>, %s: memref<?x4xf32>) {
  // CHECK: transformer.quantize_heads %{{.*}} {heads = 4 : i64} : (tensor<?x?x8xf32>) -> (tensor<?x?x8xi8>, tensor<?x?x4xf32>)
  %a, %b = transformer.quantize_heads %x {heads = 4 : i64} : (tensor<?x?x8xf32>) -> (tensor<?x?x8xi8>, tensor<?x?x4xf32>)
  // CHECK: transformer.quantize_heads %{{.*}} into %{{.*}}, %{{.*}} {heads = 4 : i64} : (memref<?x8xf32>, memref<?x8xi8>, memref<?x4xf32>) -> ()
  transformer.quantize_heads %y into %q, %s {heads = 4 : i64} : (memref<?x8xf32>, memref<?x8xi8>, memref<?x4xf32>) -> ()
  return
}
