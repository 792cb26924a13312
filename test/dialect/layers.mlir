// Every layer op in its tensor, step and memref form survives printing, the
// generic form and bytecode.
// RUN: heddle-opt %s | heddle-opt | FileCheck %s
// RUN: heddle-opt %s --mlir-print-op-generic | heddle-opt | FileCheck %s
// RUN: heddle-opt %s --emit-bytecode | heddle-opt | FileCheck %s

// CHECK-LABEL: @tensors
func.func @tensors(%ids: tensor<?x?xi32>, %table: tensor<32x8xf32>, %f2: tensor<2xf32>, %biases: tensor<32xf32>, %w: tensor<8x4xf32>, %b: tensor<4xf32>, %gamma: tensor<8xf32>, %rows: tensor<?x?x8xf32>, %rowBias: tensor<?x?xf32>, %counts: tensor<?xi32>) {
  // CHECK: transformer.embedding %{{.*}}, %{{.*}} {scale = 1.600000e+01 : f32} : (tensor<?x?xi32>, tensor<32x8xf32>) -> tensor<?x?x8xf32>
  %x = transformer.embedding %ids, %table {scale = 16.0 : f32} : (tensor<?x?xi32>, tensor<32x8xf32>) -> tensor<?x?x8xf32>
  // CHECK: transformer.embedding %{{.*}}, %{{.*}} : (tensor<?x?xi32>, tensor<32xf32>) -> tensor<?x?xf32>
  %g = transformer.embedding %ids, %biases : (tensor<?x?xi32>, tensor<32xf32>) -> tensor<?x?xf32>
  // CHECK: transformer.positions.sinusoidal %{{.*}} {timescales = 3 : i64} :
  %s = transformer.positions.sinusoidal %x {timescales = 3 : i64} : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  // CHECK: transformer.positions.sinusoidal %{{.*}} {layout = #transformer<position_layout interleaved>, timescales = 4 : i64} :
  %i = transformer.positions.sinusoidal %x {timescales = 4 : i64, layout = #transformer<position_layout interleaved>} : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  // CHECK: transformer.positions.learned %{{.*}}, %{{.*}} {offset = 2 : i64} : (tensor<?x?x8xf32>, tensor<32x8xf32>)
  %p = transformer.positions.learned %x, %table {offset = 2 : i64} : (tensor<?x?x8xf32>, tensor<32x8xf32>) -> tensor<?x?x8xf32>
  // CHECK: transformer.positions.rotary %{{.*}}, %{{.*}} {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<2xf32>) -> tensor<?x?x8xf32>
  %rp = transformer.positions.rotary %x, %f2 {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<2xf32>) -> tensor<?x?x8xf32>
  // CHECK: transformer.linear %{{.*}}, %{{.*}} : (tensor<?x?x8xf32>, tensor<8x4xf32>) -> tensor<?x?x4xf32>
  %l = transformer.linear %x, %w : (tensor<?x?x8xf32>, tensor<8x4xf32>) -> tensor<?x?x4xf32>
  // CHECK: transformer.linear %{{.*}}, %{{.*}}, %{{.*}} : (tensor<?x?x8xf32>, tensor<8x4xf32>, tensor<4xf32>)
  %lb = transformer.linear %x, %w, %b : (tensor<?x?x8xf32>, tensor<8x4xf32>, tensor<4xf32>) -> tensor<?x?x4xf32>
  // CHECK: transformer.candidate_logits %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?xf32>, tensor<?xi32>) -> tensor<?x?x?xf32>
  %c = transformer.candidate_logits %x, %rows, %rowBias, %counts : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?xf32>, tensor<?xi32>) -> tensor<?x?x?xf32>
  // CHECK: transformer.norm layer %{{.*}}, %{{.*}}, %{{.*}} {epsilon = 5.000000e-01 : f32} : (tensor<?x?x8xf32>, tensor<8xf32>, tensor<8xf32>)
  %n = transformer.norm layer %x, %gamma, %gamma {epsilon = 0.5 : f32} : (tensor<?x?x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  // CHECK: transformer.norm rms %{{.*}}, %{{.*}} {epsilon = 0.000000e+00 : f32} : (tensor<?x?x8xf32>, tensor<8xf32>)
  %r = transformer.norm rms %x, %gamma {epsilon = 0.0 : f32} : (tensor<?x?x8xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  // CHECK: transformer.add %{{.*}}, %{{.*}} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>)
  %a = transformer.add %x, %n : (tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  // CHECK: transformer.multiply %{{.*}}, %{{.*}} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>)
  %m = transformer.multiply %x, %n : (tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  // CHECK: transformer.fill like %{{.*}} {value = 1.000000e+00 : f32, width = 4 : i64} : (tensor<?x?x8xf32>) -> tensor<?x?x4xf32>
  %f = transformer.fill like %x {value = 1.0 : f32, width = 4 : i64} : (tensor<?x?x8xf32>) -> tensor<?x?x4xf32>
  return
}

// CHECK-LABEL: @activations
func.func @activations(%x: tensor<?x4xf32>) {
  // CHECK: transformer.activation relu %{{.*}} : (tensor<?x4xf32>)
  %0 = transformer.activation relu %x : (tensor<?x4xf32>) -> tensor<?x4xf32>
  // CHECK: transformer.activation gelu %
  %1 = transformer.activation gelu %x : (tensor<?x4xf32>) -> tensor<?x4xf32>
  // CHECK: transformer.activation gelu_tanh %
  %2 = transformer.activation gelu_tanh %x : (tensor<?x4xf32>) -> tensor<?x4xf32>
  // CHECK: transformer.activation quick_gelu %
  %3 = transformer.activation quick_gelu %x : (tensor<?x4xf32>) -> tensor<?x4xf32>
  // CHECK: transformer.activation silu %
  %4 = transformer.activation silu %x : (tensor<?x4xf32>) -> tensor<?x4xf32>
  // CHECK: transformer.activation tanh %
  %5 = transformer.activation tanh %x : (tensor<?x4xf32>) -> tensor<?x4xf32>
  // CHECK: transformer.activation sigmoid %
  %6 = transformer.activation sigmoid %x : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return
}

// CHECK-LABEL: @steps
func.func @steps(%x: tensor<?x8xf32>, %table: tensor<32x8xf32>, %f2: tensor<2xf32>, %rows: tensor<?x?x8xf32>, %bias: tensor<?x?xf32>, %ids: tensor<?xi32>, %out: tensor<?x8xf32>) {
  // CHECK: transformer.positions.sinusoidal %{{.*}} at %{{.*}} {timescales = 3 : i64} : (tensor<?x8xf32>, tensor<?xi32>)
  %s = transformer.positions.sinusoidal %x at %ids {timescales = 3 : i64} : (tensor<?x8xf32>, tensor<?xi32>) -> tensor<?x8xf32>
  // CHECK: transformer.positions.learned %{{.*}}, %{{.*}} at %{{.*}} into %{{.*}} :
  %p = transformer.positions.learned %x, %table at %ids into %out : (tensor<?x8xf32>, tensor<32x8xf32>, tensor<?xi32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK: transformer.positions.rotary %{{.*}}, %{{.*}} at %{{.*}} into %{{.*}} {heads = 1 : i64, scale = 5.000000e-01 : f32} :
  %rp = transformer.positions.rotary %x, %f2 at %ids into %out {heads = 1 : i64, scale = 0.5 : f32} : (tensor<?x8xf32>, tensor<2xf32>, tensor<?xi32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK: transformer.candidate_logits %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} of %{{.*}} :
  %c = transformer.candidate_logits %x, %rows, %bias, %ids of %ids : (tensor<?x8xf32>, tensor<?x?x8xf32>, tensor<?x?xf32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x?xf32>
  return
}

// CHECK-LABEL: @memrefs
func.func @memrefs(%ids: memref<?xi32>, %table: memref<32x8xf32>, %x: memref<?x8xf32>, %w: memref<8x4xf32>, %b: memref<4xf32>, %gamma: memref<8xf32>, %y: memref<?x4xf32>, %strided: memref<?x8xf32, strided<[?, 1]>>, %rows: memref<?x?x8xf32>, %bias: memref<?x?xf32>, %logits: memref<?x?xf32>) {
  // CHECK: transformer.embedding %{{.*}}, %{{.*}} into %{{.*}} : (memref<?xi32>, memref<32x8xf32>, memref<?x8xf32>) -> ()
  transformer.embedding %ids, %table into %x : (memref<?xi32>, memref<32x8xf32>, memref<?x8xf32>) -> ()
  // CHECK: transformer.positions.sinusoidal %{{.*}} at %{{.*}} into %{{.*}} {timescales = 3 : i64} : (memref<?x8xf32>, memref<?xi32>, memref<?x8xf32>) -> ()
  transformer.positions.sinusoidal %x at %ids into %x {timescales = 3 : i64} : (memref<?x8xf32>, memref<?xi32>, memref<?x8xf32>) -> ()
  // CHECK: transformer.positions.learned %{{.*}}, %{{.*}} at %{{.*}} into %{{.*}} : (
  transformer.positions.learned %x, %table at %ids into %x : (memref<?x8xf32>, memref<32x8xf32>, memref<?xi32>, memref<?x8xf32>) -> ()
  // CHECK: transformer.linear %{{.*}}, %{{.*}} into %{{.*}} : (memref<?x8xf32>, memref<8x4xf32>, memref<?x4xf32>) -> ()
  transformer.linear %x, %w into %y : (memref<?x8xf32>, memref<8x4xf32>, memref<?x4xf32>) -> ()
  // CHECK: transformer.linear %{{.*}}, %{{.*}}, %{{.*}} into %{{.*}} : (memref<?x8xf32>, memref<8x4xf32>, memref<4xf32>, memref<?x4xf32>) -> ()
  transformer.linear %x, %w, %b into %y : (memref<?x8xf32>, memref<8x4xf32>, memref<4xf32>, memref<?x4xf32>) -> ()
  // CHECK: transformer.candidate_logits %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} of %{{.*}} into %{{.*}} : (
  transformer.candidate_logits %x, %rows, %bias, %ids of %ids into %logits : (memref<?x8xf32>, memref<?x?x8xf32>, memref<?x?xf32>, memref<?xi32>, memref<?xi32>, memref<?x?xf32>) -> ()
  // CHECK: transformer.activation relu %{{.*}} into %{{.*}} : (memref<?x8xf32>, memref<?x8xf32, strided<[?, 1]>>) -> ()
  transformer.activation relu %x into %strided : (memref<?x8xf32>, memref<?x8xf32, strided<[?, 1]>>) -> ()
  // CHECK: transformer.norm rms %{{.*}}, %{{.*}} into %{{.*}} {epsilon = 0.000000e+00 : f32} : (
  transformer.norm rms %x, %gamma into %x {epsilon = 0.0 : f32} : (memref<?x8xf32>, memref<8xf32>, memref<?x8xf32>) -> ()
  // CHECK: transformer.add %{{.*}}, %{{.*}} into %{{.*}} : (memref<?x8xf32>, memref<?x8xf32, strided<[?, 1]>>, memref<?x8xf32>) -> ()
  transformer.add %x, %strided into %x : (memref<?x8xf32>, memref<?x8xf32, strided<[?, 1]>>, memref<?x8xf32>) -> ()
  // CHECK: transformer.multiply %{{.*}}, %{{.*}} into %{{.*}} : (memref<?x8xf32>, memref<?x8xf32, strided<[?, 1]>>, memref<?x8xf32>) -> ()
  transformer.multiply %x, %strided into %x : (memref<?x8xf32>, memref<?x8xf32, strided<[?, 1]>>, memref<?x8xf32>) -> ()
  // CHECK: transformer.fill like %{{.*}} into %{{.*}} {value = 0.000000e+00 : f32, width = 4 : i64} : (memref<?x8xf32>, memref<?x4xf32>) -> ()
  transformer.fill like %x into %y {value = 0.0 : f32, width = 4 : i64} : (memref<?x8xf32>, memref<?x4xf32>) -> ()
  return
}
