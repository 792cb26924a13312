// The parts of fused ops, in their tensor, step and memref form, survive
// printing, the generic form and bytecode.
// RUN: heddle-opt %s | heddle-opt | FileCheck %s
// RUN: heddle-opt %s --mlir-print-op-generic | heddle-opt | FileCheck %s
// RUN: heddle-opt %s --emit-bytecode | heddle-opt | FileCheck %s

// CHECK-LABEL: @linears
func.func @linears(%x: tensor<?x?x8xf32>, %w: tensor<8x4xf32>, %wide: tensor<8x64xf32>, %b: tensor<4xf32>, %r: tensor<?x?x4xf32>, %g: tensor<4xf32>) {
  // CHECK: transformer.linear %{{.*}}, %{{.*}}, %{{.*}} activation(relu) : (tensor<?x?x8xf32>, tensor<8x4xf32>, tensor<4xf32>)
  %a = transformer.linear %x, %w, %b activation(relu) : (tensor<?x?x8xf32>, tensor<8x4xf32>, tensor<4xf32>) -> tensor<?x?x4xf32>
  // CHECK: transformer.linear %{{.*}}, %{{.*}} residual(%{{.*}}) : (tensor<?x?x8xf32>, tensor<8x4xf32>, tensor<?x?x4xf32>)
  %c = transformer.linear %x, %w residual(%r) : (tensor<?x?x8xf32>, tensor<8x4xf32>, tensor<?x?x4xf32>) -> tensor<?x?x4xf32>
  // CHECK: transformer.linear %{{.*}}, %{{.*}} activation(silu) gate(%{{.*}}) : (tensor<?x?x8xf32>, tensor<8x4xf32>, tensor<?x?x4xf32>)
  %u = transformer.linear %x, %w activation(silu) gate(%r) : (tensor<?x?x8xf32>, tensor<8x4xf32>, tensor<?x?x4xf32>) -> tensor<?x?x4xf32>
  // CHECK: transformer.linear %{{.*}}, %{{.*}} activation(silu) gated round : (tensor<?x?x8xf32>, tensor<8x64xf32>) -> tensor<?x?x32xbf16>
  %two = transformer.linear %x, %wide activation(silu) gated round : (tensor<?x?x8xf32>, tensor<8x64xf32>) -> tensor<?x?x32xbf16>
  // CHECK: transformer.linear %{{.*}}, %{{.*}} norm(rms, %{{.*}}, 5.000000e-01) :
  %d = transformer.linear %x, %w norm(rms, %g, 0.5) : (tensor<?x?x8xf32>, tensor<8x4xf32>, tensor<4xf32>) -> tensor<?x?x4xf32>
  // CHECK: transformer.linear %{{.*}}, %{{.*}}, %{{.*}} activation(gelu_tanh) residual(%{{.*}}) norm(layer, %{{.*}}, %{{.*}}, 9.99999997E-7) into %{{.*}} :
  %e = transformer.linear %x, %w, %b activation(gelu_tanh) residual(%r) norm(layer, %g, %b, 1.0e-6) into %r : (tensor<?x?x8xf32>, tensor<8x4xf32>, tensor<4xf32>, tensor<?x?x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<?x?x4xf32>) -> tensor<?x?x4xf32>
  // CHECK: %{{.*}}:2 = transformer.linear %{{.*}}, %{{.*}}, %{{.*}} split [1, 3] : (tensor<?x?x8xf32>, tensor<8x4xf32>, tensor<4xf32>) -> (tensor<?x?x1xf32>, tensor<?x?x3xf32>)
  %f:2 = transformer.linear %x, %w, %b split [1, 3] : (tensor<?x?x8xf32>, tensor<8x4xf32>, tensor<4xf32>) -> (tensor<?x?x1xf32>, tensor<?x?x3xf32>)
  // CHECK: transformer.linear %{{.*}}, %{{.*}} split [1, 3] into %{{.*}}, %{{.*}} :
  %h:2 = transformer.linear %x, %w split [1, 3] into %f#0, %f#1 : (tensor<?x?x8xf32>, tensor<8x4xf32>, tensor<?x?x1xf32>, tensor<?x?x3xf32>) -> (tensor<?x?x1xf32>, tensor<?x?x3xf32>)
  return
}

// CHECK-LABEL: @ffns
func.func @ffns(%x: tensor<?x8xf32>, %w1: tensor<8x16xf32>, %b1: tensor<16xf32>, %w2: tensor<16x8xf32>, %b2: tensor<8xf32>) {
  // CHECK: transformer.ffn %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} activation(gelu) residual(%{{.*}}) norm(layer, %{{.*}}, %{{.*}}, 5.000000e-01) : (
  %a = transformer.ffn %x, %w1, %b1, %w2, %b2 activation(gelu) residual(%x) norm(layer, %b2, %b2, 0.5) : (tensor<?x8xf32>, tensor<8x16xf32>, tensor<16xf32>, tensor<16x8xf32>, tensor<8xf32>, tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  // CHECK: transformer.ffn %{{.*}}, %{{.*}}, %{{.*}} into %{{.*}} : (tensor<?x8xf32>, tensor<8x16xf32>, tensor<16x8xf32>, tensor<?x8xf32>)
  %c = transformer.ffn %x, %w1, %w2 into %x : (tensor<?x8xf32>, tensor<8x16xf32>, tensor<16x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// CHECK-LABEL: @short_ffns
func.func @short_ffns(%x: tensor<?x8xi8>, %s: tensor<?xf32>, %w1: tensor<8x16xi8>, %s1: tensor<16xf32>,
                      %w2: tensor<16x8xi8>, %s2: tensor<8xf32>, %m: tensor<1xf32>,
                      %y: tensor<?x8xbf16>, %v1: tensor<8x16xbf16>, %v2: tensor<16x8xbf16>) {
  // CHECK: transformer.ffn %{{.*}} scales(%{{.*}}), %{{.*}} scales(%{{.*}}), %{{.*}}, %{{.*}} scales(%{{.*}}), %{{.*}} activation(relu) : (
  %a = transformer.ffn %x scales(%s), %w1 scales(%s1), %s1, %w2 scales(%s2), %s2 activation(relu) : (tensor<?x8xi8>, tensor<?xf32>, tensor<8x16xi8>, tensor<16xf32>, tensor<16xf32>, tensor<16x8xi8>, tensor<8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  // CHECK: transformer.ffn %{{.*}} shift 127, %{{.*}} scales(%{{.*}}), %{{.*}} scales(%{{.*}}) quantize(%{{.*}}) : (
  %b = transformer.ffn %x shift 127, %w1 scales(%s1), %w2 scales(%s2) quantize(%m) : (tensor<?x8xi8>, tensor<8x16xi8>, tensor<16xf32>, tensor<16x8xi8>, tensor<8xf32>, tensor<1xf32>) -> tensor<?x8xf32>
  // CHECK: transformer.ffn %{{.*}}, %{{.*}}, %{{.*}} : (tensor<?x8xbf16>, tensor<8x16xbf16>, tensor<16x8xbf16>) -> tensor<?x8xf32>
  %c = transformer.ffn %y, %v1, %v2 : (tensor<?x8xbf16>, tensor<8x16xbf16>, tensor<16x8xbf16>) -> tensor<?x8xf32>
  return
}

// CHECK-LABEL: @norms
func.func @norms(%x: tensor<?x8xf32>, %g: tensor<8xf32>) {
  // CHECK: transformer.norm layer %{{.*}}, %{{.*}}, %{{.*}} residual(%{{.*}}) {epsilon
  %a = transformer.norm layer %x, %g, %g residual(%x) {epsilon = 0.5 : f32} : (tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK: transformer.norm rms %{{.*}}, %{{.*}} residual(%{{.*}}) into %{{.*}} {epsilon
  %b = transformer.norm rms %x, %g residual(%x) into %x {epsilon = 0.5 : f32} : (tensor<?x8xf32>, tensor<8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// CHECK-LABEL: @embeddings
func.func @embeddings(%ids: tensor<?x?xi32>, %row: tensor<?xi32>, %table: tensor<32x8xf32>, %places: tensor<9x8xf32>) {
  // CHECK: transformer.embedding %{{.*}}, %{{.*}} positions(sinusoidal, 3, halves) {scale = 4.000000e+00 : f32} : (tensor<?x?xi32>, tensor<32x8xf32>) -> tensor<?x?x8xf32>
  %a = transformer.embedding %ids, %table positions(sinusoidal, 3, halves) {scale = 4.0 : f32} : (tensor<?x?xi32>, tensor<32x8xf32>) -> tensor<?x?x8xf32>
  // CHECK: transformer.embedding %{{.*}}, %{{.*}} positions(sinusoidal, 4, interleaved) at %{{.*}} : (tensor<?xi32>, tensor<32x8xf32>, tensor<?xi32>) -> tensor<?x8xf32>
  %b = transformer.embedding %row, %table positions(sinusoidal, 4, interleaved) at %row : (tensor<?xi32>, tensor<32x8xf32>, tensor<?xi32>) -> tensor<?x8xf32>
  // CHECK: transformer.embedding %{{.*}}, %{{.*}} positions(learned, %{{.*}}, 2) : (tensor<?x?xi32>, tensor<32x8xf32>, tensor<9x8xf32>)
  %c = transformer.embedding %ids, %table positions(learned, %places, 2) : (tensor<?x?xi32>, tensor<32x8xf32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  // CHECK: transformer.embedding %{{.*}}, %{{.*}} positions(learned, %{{.*}}, 0) at %{{.*}} into %{{.*}} :
  %d = transformer.embedding %row, %table positions(learned, %places, 0) at %row into %b : (tensor<?xi32>, tensor<32x8xf32>, tensor<9x8xf32>, tensor<?xi32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// CHECK-LABEL: @memrefs
func.func @memrefs(%x: memref<?x8xf32>, %w: memref<8x4xf32>, %w1: memref<8x16xf32>, %w2: memref<16x8xf32>, %g: memref<8xf32>, %y0: memref<?x1xf32>, %y1: memref<?x3xf32>) {
  // CHECK: transformer.linear %{{.*}}, %{{.*}} split [1, 3] into %{{.*}}, %{{.*}} : (memref<?x8xf32>, memref<8x4xf32>, memref<?x1xf32>, memref<?x3xf32>) -> ()
  transformer.linear %x, %w split [1, 3] into %y0, %y1 : (memref<?x8xf32>, memref<8x4xf32>, memref<?x1xf32>, memref<?x3xf32>) -> ()
  // CHECK: transformer.ffn %{{.*}}, %{{.*}}, %{{.*}} residual(%{{.*}}) into %{{.*}} : (
  transformer.ffn %x, %w1, %w2 residual(%x) into %x : (memref<?x8xf32>, memref<8x16xf32>, memref<16x8xf32>, memref<?x8xf32>, memref<?x8xf32>) -> ()
  // CHECK: transformer.norm rms %{{.*}}, %{{.*}} residual(%{{.*}}) into %{{.*}} {epsilon
  transformer.norm rms %x, %g residual(%x) into %x {epsilon = 0.5 : f32} : (memref<?x8xf32>, memref<8xf32>, memref<?x8xf32>, memref<?x8xf32>) -> ()
  return
}
