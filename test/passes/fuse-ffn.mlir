// Two linears with an activation between become one op.
// RUN: heddle-opt %s -transformer-fuse-ffn -remarks-filter=.* -remark-format=emitRemark 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK <%t

!x = tensor<?x8xf32>
!h = tensor<?x16xf32>
!up = tensor<8x16xf32>
!down = tensor<16x8xf32>
!b1 = tensor<16xf32>
!b2 = tensor<8xf32>

// REMARK: "w1 and w2 are one ffn: the 16 hidden values of a row are never stored"
// CHECK-LABEL: func.func @with_epilogue(
// CHECK-NEXT: %[[Y:.*]] = transformer.ffn %arg0, %arg1, %arg3, %arg2, %arg4 activation(relu) residual(%arg0) norm(layer, %arg4, %arg4, 5.000000e-01)
// CHECK-NEXT: return %[[Y]]
func.func @with_epilogue(%x: !x, %w1: !up, %w2: !down, %b1: !b1, %b2: !b2) -> !x {
  %h = transformer.linear %x, %w1, %b1 activation(relu) : (!x, !up, !b1) -> !h loc("w1")
  %y = transformer.linear %h, %w2, %b2 residual(%x) norm(layer, %b2, %b2, 0.5) : (!h, !down, !b2, !x, !b2, !b2) -> !x loc("w2")
  return %y : !x
}

// Where fuse-epilogues is off, the activation is still an op.

// CHECK-LABEL: func.func @activation_between(
// CHECK-NEXT: transformer.ffn %arg0, %arg1, %arg2 activation(gelu) :
// CHECK-NEXT: return
func.func @activation_between(%x: !x, %w1: !up, %w2: !down) -> !x {
  %h = transformer.linear %x, %w1 : (!x, !up) -> !h
  %a = transformer.activation gelu %h : (!h) -> !h
  %y = transformer.linear %a, %w2 : (!h, !down) -> !x
  return %y : !x
}

// REMARK: "w1 and w2 stay two linears, since the hidden vector is read elsewhere, too"
// CHECK-LABEL: func.func @hidden_read_elsewhere(
// CHECK-NOT: transformer.ffn
func.func @hidden_read_elsewhere(%x: !x, %w1: !up, %w2: !down) -> (!h, !x) {
  %h = transformer.linear %x, %w1 activation(relu) : (!x, !up) -> !h loc("w1")
  %y = transformer.linear %h, %w2 : (!h, !down) -> !x loc("w2")
  return %h, %y : !h, !x
}

// REMARK: since only one of them has a bias
// CHECK-LABEL: func.func @one_bias(
// CHECK-NOT: transformer.ffn
func.func @one_bias(%x: !x, %w1: !up, %w2: !down, %b1: !b1) -> !x {
  %h = transformer.linear %x, %w1, %b1 : (!x, !up, !b1) -> !h
  %y = transformer.linear %h, %w2 : (!h, !down) -> !x
  return %y : !x
}

// REMARK: since more than one activation stands between them
// CHECK-LABEL: func.func @two_activations(
// CHECK-NOT: transformer.ffn
func.func @two_activations(%x: !x, %w1: !up, %w2: !down) -> !x {
  %h = transformer.linear %x, %w1 activation(relu) : (!x, !up) -> !h
  %a = transformer.activation gelu %h : (!h) -> !h
  %y = transformer.linear %a, %w2 : (!h, !down) -> !x
  return %y : !x
}

// REMARK: since an ffn has no activation behind its second linear
// CHECK-LABEL: func.func @second_activation(
// CHECK-NOT: transformer.ffn
func.func @second_activation(%x: !x, %w1: !up, %w2: !down) -> !x {
  %h = transformer.linear %x, %w1 : (!x, !up) -> !h
  %y = transformer.linear %h, %w2 activation(relu) : (!h, !down) -> !x
  return %y : !x
}

// REMARK: since caches do not keep 32769 hidden values a row
// CHECK-LABEL: func.func @too_wide(
// CHECK-NOT: transformer.ffn
func.func @too_wide(%x: !x, %w1: tensor<8x32769xf32>, %w2: tensor<32769x8xf32>)
    -> !x {
  %h = transformer.linear %x, %w1
    : (!x, tensor<8x32769xf32>) -> tensor<?x32769xf32>
  %y = transformer.linear %h, %w2
    : (tensor<?x32769xf32>, tensor<32769x8xf32>) -> !x
  return %y : !x
}

// REMARK: since an ffn multiplies f32
// CHECK-LABEL: func.func @bf16(
// CHECK-NOT: transformer.ffn
func.func @bf16(%x: tensor<?x8xbf16>, %w1: tensor<8x16xbf16>, %w2: tensor<16x8xbf16>) -> !x {
  %h = transformer.linear %x, %w1 activation(relu) round : (tensor<?x8xbf16>, tensor<8x16xbf16>) -> tensor<?x16xbf16>
  %y = transformer.linear %h, %w2 : (tensor<?x16xbf16>, tensor<16x8xbf16>) -> !x
  return %y : !x
}

// What ends in a norm is a sublayer of its own, and no hidden vector.

// REMARK-NOT: remark:
// CHECK-LABEL: func.func @norm_between(
// CHECK-NOT: transformer.ffn
func.func @norm_between(%x: !x, %w1: !up, %w2: !down, %b1: !b1) -> !x {
  %h = transformer.linear %x, %w1 norm(rms, %b1, 0.5) : (!x, !up, !b1) -> !h
  %y = transformer.linear %h, %w2 : (!h, !down) -> !x
  return %y : !x
}
