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

// REMARK: since an ffn has no activation after its second linear
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

// Hidden vectors are rounded by the first linear, or by an op between.

// CHECK-LABEL: func.func @rounded(
// CHECK-COUNT-2: transformer.ffn %arg0, %arg1, %arg2 activation(relu) : (tensor<?x32xbf16>, tensor<32x64xbf16>, tensor<64x32xbf16>)
// CHECK-NOT: transformer
func.func @rounded(%x: tensor<?x32xbf16>, %w1: tensor<32x64xbf16>, %w2: tensor<64x32xbf16>) -> (tensor<?x32xf32>, tensor<?x32xf32>) {
  %h = transformer.linear %x, %w1 activation(relu) round : (tensor<?x32xbf16>, tensor<32x64xbf16>) -> tensor<?x64xbf16>
  %y = transformer.linear %h, %w2 : (tensor<?x64xbf16>, tensor<64x32xbf16>) -> tensor<?x32xf32>
  %f = transformer.linear %x, %w1 : (tensor<?x32xbf16>, tensor<32x64xbf16>) -> tensor<?x64xf32>
  %a = transformer.activation relu %f : (tensor<?x64xf32>) -> tensor<?x64xf32>
  %r = transformer.round %a : (tensor<?x64xf32>) -> tensor<?x64xbf16>
  %z = transformer.linear %r, %w2 : (tensor<?x64xbf16>, tensor<64x32xbf16>) -> tensor<?x32xf32>
  return %y, %z : tensor<?x32xf32>, tensor<?x32xf32>
}

// Integers with a scale a vector, and with one multiplier.

// CHECK-LABEL: func.func @quantised(
// CHECK: transformer.ffn %arg0 scales(%arg1), %arg2 scales(%arg3), %arg4 scales(%arg5) : (
// CHECK: transformer.ffn %arg0 shift 127, %arg2 scales(%arg3), %arg4 scales(%arg5) quantize(%arg6) : (
// CHECK-NOT: transformer
func.func @quantised(%x: tensor<?x8xi8>, %s: tensor<?xf32>, %w1: tensor<8x16xi8>, %s1: tensor<16xf32>,
                     %w2: tensor<16x8xi8>, %s2: tensor<8xf32>, %m: tensor<1xf32>) -> (!x, !x) {
  %h = transformer.linear %x scales(%s), %w1 scales(%s1)
    : (tensor<?x8xi8>, tensor<?xf32>, tensor<8x16xi8>, tensor<16xf32>) -> !h
  %q, %t = transformer.quantize %h : (!h) -> (tensor<?x16xi8>, tensor<?xf32>)
  %y = transformer.linear %q scales(%t), %w2 scales(%s2)
    : (tensor<?x16xi8>, tensor<?xf32>, tensor<16x8xi8>, tensor<8xf32>) -> !x
  %g = transformer.linear %x shift 127, %w1 scales(%s1) quantize(%m)
    : (tensor<?x8xi8>, tensor<8x16xi8>, tensor<16xf32>, tensor<1xf32>) -> tensor<?x16xi8>
  %z = transformer.linear %g shift 127, %w2 scales(%s2)
    : (tensor<?x16xi8>, tensor<16x8xi8>, tensor<8xf32>) -> !x
  return %y, %z : !x, !x
}

// REMARK: since they shift their vectors differently
// REMARK: since the hidden vector is read elsewhere, too
// CHECK-LABEL: func.func @shifts(
// CHECK-NOT: transformer.ffn
func.func @shifts(%x: tensor<?x8xi8>, %w1: tensor<8x16xi8>, %s1: tensor<16xf32>, %w2: tensor<16x8xi8>,
                  %s2: tensor<8xf32>, %m: tensor<1xf32>) -> (!x, !x, tensor<?xf32>) {
  %g = transformer.linear %x shift 127, %w1 scales(%s1) quantize(%m)
    : (tensor<?x8xi8>, tensor<8x16xi8>, tensor<16xf32>, tensor<1xf32>) -> tensor<?x16xi8>
  %y = transformer.linear %g, %w2 scales(%s2)
    : (tensor<?x16xi8>, tensor<16x8xi8>, tensor<8xf32>) -> !x
  %h = transformer.linear %x, %w1 scales(%s1) : (tensor<?x8xi8>, tensor<8x16xi8>, tensor<16xf32>) -> !h
  %q, %t = transformer.quantize %h : (!h) -> (tensor<?x16xi8>, tensor<?xf32>)
  %z = transformer.linear %q scales(%t), %w2 scales(%s2)
    : (tensor<?x16xi8>, tensor<?xf32>, tensor<16x8xi8>, tensor<8xf32>) -> !x
  return %y, %z, %t : !x, !x, tensor<?xf32>
}

// REMARK: since a depth that ends within a tile of bf16 is summed in another order by an ffn
// CHECK-LABEL: func.func @part_of_a_tile(
// CHECK-NOT: transformer.ffn
func.func @part_of_a_tile(%x: tensor<?x32xbf16>, %w1: tensor<32x40xbf16>, %w2: tensor<40x32xbf16>) -> tensor<?x32xf32> {
  %h = transformer.linear %x, %w1 round : (tensor<?x32xbf16>, tensor<32x40xbf16>) -> tensor<?x40xbf16>
  %y = transformer.linear %h, %w2 : (tensor<?x40xbf16>, tensor<40x32xbf16>) -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// REMARK: since reading their weights for each block of rows takes longer than multiplying
// CHECK-LABEL: func.func @large(
// CHECK-NOT: transformer.ffn
func.func @large(%x: tensor<?x512xbf16>, %w1: tensor<512x2048xbf16>, %w2: tensor<2048x512xbf16>) -> tensor<?x512xf32> {
  %h = transformer.linear %x, %w1 round : (tensor<?x512xbf16>, tensor<512x2048xbf16>) -> tensor<?x2048xbf16>
  %y = transformer.linear %h, %w2 : (tensor<?x2048xbf16>, tensor<2048x512xbf16>) -> tensor<?x512xf32>
  return %y : tensor<?x512xf32>
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
