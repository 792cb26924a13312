// What finishes whole rows writes them in fewer bits, too.
// RUN: heddle-opt %s -transformer-fuse-short-rows -remarks-filter=.* -remark-format=emitRemark 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK <%t

transformer.parameter @m : tensor<1xf32>

// REMARK: "first writes int8, too, when its row is finished"
// CHECK-LABEL: func.func @norm(
// CHECK-NEXT: %[[Y:.*]]:3 = transformer.norm layer %arg0, %arg1, %arg1 residual(%arg0) also quantize {epsilon = 1.000000e+00 : f32} :
// CHECK-SAME: -> (tensor<?x8xf32>, tensor<?x8xi8>, tensor<?xf32>)
// CHECK-NEXT: return %[[Y]]#0, %[[Y]]#1, %[[Y]]#2
func.func @norm(%x: tensor<?x8xf32>, %g: tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?x8xi8>, tensor<?xf32>) {
  %y = transformer.norm layer %x, %g, %g residual(%x) {epsilon = 1.0 : f32} : (tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32> loc("first")
  %q, %s = transformer.quantize %y : (tensor<?x8xf32>) -> (tensor<?x8xi8>, tensor<?xf32>)
  return %y, %q, %s : tensor<?x8xf32>, tensor<?x8xi8>, tensor<?xf32>
}

// The multiplier is read before it is needed.
// CHECK-LABEL: func.func @linear(
// CHECK-NEXT: %[[M:.*]] = transformer.weight @m
// CHECK-NEXT: %[[Y:.*]]:2 = transformer.linear %arg0, %arg1 norm(rms, %arg2, 1.000000e+00) also quantize(%[[M]]) :
// CHECK-SAME: -> (tensor<?x8xf32>, tensor<?x8xi8>)
func.func @linear(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>, %g: tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?x8xi8>) {
  %y = transformer.linear %x, %w norm(rms, %g, 1.0) : (tensor<?x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %m = transformer.weight @m : tensor<1xf32>
  %q = transformer.quantize %y multiplier(%m) : (tensor<?x8xf32>, tensor<1xf32>) -> tensor<?x8xi8>
  return %y, %q : tensor<?x8xf32>, tensor<?x8xi8>
}

// REMARK: writes bf16, too
// CHECK-LABEL: func.func @ffn(
// CHECK-NEXT: %[[Y:.*]]:2 = transformer.ffn %arg0, %arg1, %arg1 activation(relu) also round :
// CHECK-SAME: -> (tensor<?x8xf32>, tensor<?x8xbf16>)
func.func @ffn(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xbf16>) {
  %y = transformer.ffn %x, %w, %w activation(relu) : (tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  %r = transformer.round %y : (tensor<?x8xf32>) -> tensor<?x8xbf16>
  return %y, %r : tensor<?x8xf32>, tensor<?x8xbf16>
}

// CHECK-LABEL: func.func @embedding(
// CHECK-NEXT: transformer.embedding %arg0, %arg1 positions(sinusoidal, 4, halves) also round :
// CHECK-SAME: -> (tensor<?x?x8xf32>, tensor<?x?x8xbf16>)
func.func @embedding(%ids: tensor<?x?xi32>, %t: tensor<9x8xf32>) -> tensor<?x?x8xbf16> {
  %y = transformer.embedding %ids, %t positions(sinusoidal, 4, halves) : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  %r = transformer.round %y : (tensor<?x?x8xf32>) -> tensor<?x?x8xbf16>
  return %r : tensor<?x?x8xbf16>
}

// REMARK: is rounded by an op of its own, since it is written in another way already
// CHECK-LABEL: func.func @twice(
// CHECK: transformer.norm {{.*}} also quantize
// CHECK: transformer.round
func.func @twice(%x: tensor<?x8xf32>, %g: tensor<8xf32>) -> (tensor<?x8xbf16>, tensor<?x8xi8>) {
  %y = transformer.norm rms %x, %g {epsilon = 1.0 : f32} : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %q, %s = transformer.quantize %y : (tensor<?x8xf32>) -> (tensor<?x8xi8>, tensor<?xf32>)
  %r = transformer.round %y : (tensor<?x8xf32>) -> tensor<?x8xbf16>
  return %r, %q : tensor<?x8xbf16>, tensor<?x8xi8>
}

// REMARK: is quantised by an op of its own, since without a norm each task has only a part of its columns
// CHECK-LABEL: func.func @no_norm(
// CHECK: transformer.quantize
func.func @no_norm(%x: tensor<?x8xf32>, %w: tensor<8x4xf32>) -> (tensor<?x4xi8>, tensor<?xf32>) {
  %h = transformer.linear %x, %w : (tensor<?x8xf32>, tensor<8x4xf32>) -> tensor<?x4xf32>
  %q, %t = transformer.quantize %h : (tensor<?x4xf32>) -> (tensor<?x4xi8>, tensor<?xf32>)
  return %q, %t : tensor<?x4xi8>, tensor<?xf32>
}

// REMARK: since an attention finishes it head by head
// CHECK-LABEL: func.func @attention(
// CHECK: transformer.quantize
func.func @attention(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xi8> {
  %y = transformer.attention %x, %x, %x {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %q, %s = transformer.quantize %y : (tensor<?x?x8xf32>) -> (tensor<?x?x8xi8>, tensor<?x?xf32>)
  return %q : tensor<?x?x8xi8>
}

// REMARK: since it comes from an activation
// CHECK-LABEL: func.func @activation(
// CHECK: transformer.round
func.func @activation(%x: tensor<?x8xf32>) -> tensor<?x8xbf16> {
  %y = transformer.activation relu %x : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %r = transformer.round %y : (tensor<?x8xf32>) -> tensor<?x8xbf16>
  return %r : tensor<?x8xbf16>
}

// What the caller gives a place of its own stays as it is.
// REMARK: since its result has a place of its own
// CHECK-LABEL: func.func @into(
// CHECK: transformer.round
func.func @into(%x: tensor<?x8xf32>, %g: tensor<8xf32>, %z: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xbf16>) {
  %y = transformer.norm rms %x, %g into %z {epsilon = 1.0 : f32} : (tensor<?x8xf32>, tensor<8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %r = transformer.round %y : (tensor<?x8xf32>) -> tensor<?x8xbf16>
  return %y, %r : tensor<?x8xf32>, tensor<?x8xbf16>
}
