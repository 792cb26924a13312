// A linear writes the integers or bf16 that the next one multiplies.
// RUN: heddle-opt %s -transformer-fuse-quantize -remarks-filter=.* -remark-format=emitRemark 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK <%t

// REMARK: "first writes int8 itself"
// CHECK-LABEL: func.func @fused(
// CHECK-NEXT: %[[H:.*]] = transformer.linear %arg0 shift 127, %arg1 scales(%arg2), %arg2 activation(relu) quantize(%arg3) :
// CHECK-SAME: -> tensor<?x4xi8>
// CHECK-NEXT: return %[[H]]
func.func @fused(%x: tensor<?x8xi8>, %w: tensor<8x4xi8>, %s: tensor<4xf32>, %m: tensor<1xf32>) -> tensor<?x4xi8> {
  %h = transformer.linear %x shift 127, %w scales(%s), %s activation(relu) : (tensor<?x8xi8>, tensor<8x4xi8>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x4xf32> loc("first")
  %q = transformer.quantize %h multiplier(%m) : (tensor<?x4xf32>, tensor<1xf32>) -> tensor<?x4xi8>
  return %q : tensor<?x4xi8>
}

// What needs whole rows, or f32 beside, is for fuse-short-rows: nothing is said.
// REMARK-NOT: an op of its own
// CHECK-LABEL: func.func @scales(
// CHECK: transformer.quantize
func.func @scales(%x: tensor<?x8xf32>, %w: tensor<8x4xf32>) -> (tensor<?x4xi8>, tensor<?xf32>) {
  %h = transformer.linear %x, %w : (tensor<?x8xf32>, tensor<8x4xf32>) -> tensor<?x4xf32>
  %q, %t = transformer.quantize %h : (tensor<?x4xf32>) -> (tensor<?x4xi8>, tensor<?xf32>)
  return %q, %t : tensor<?x4xi8>, tensor<?xf32>
}

// CHECK-LABEL: func.func @read_twice(
// CHECK: transformer.quantize
func.func @read_twice(%x: tensor<?x8xf32>, %w: tensor<8x4xf32>, %m: tensor<1xf32>) -> (tensor<?x4xi8>, tensor<?x4xf32>) {
  %h = transformer.linear %x, %w : (tensor<?x8xf32>, tensor<8x4xf32>) -> tensor<?x4xf32>
  %q = transformer.quantize %h multiplier(%m) : (tensor<?x4xf32>, tensor<1xf32>) -> tensor<?x4xi8>
  return %q, %h : tensor<?x4xi8>, tensor<?x4xf32>
}

// CHECK-LABEL: func.func @norm(
// CHECK: transformer.quantize
func.func @norm(%x: tensor<?x8xf32>, %w: tensor<8x4xf32>, %g: tensor<4xf32>, %m: tensor<1xf32>) -> tensor<?x4xi8> {
  %h = transformer.linear %x, %w norm(rms, %g, 1.0e-6) : (tensor<?x8xf32>, tensor<8x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  %q = transformer.quantize %h multiplier(%m) : (tensor<?x4xf32>, tensor<1xf32>) -> tensor<?x4xi8>
  return %q : tensor<?x4xi8>
}

// REMARK: "first writes bf16 itself"
// CHECK-LABEL: func.func @rounded(
// CHECK-NEXT: %[[H:.*]] = transformer.linear %arg0, %arg1 activation(relu) round :
// CHECK-SAME: -> tensor<?x4xbf16>
// CHECK-NEXT: return %[[H]]
func.func @rounded(%x: tensor<?x8xbf16>, %w: tensor<8x4xbf16>) -> tensor<?x4xbf16> {
  %h = transformer.linear %x, %w activation(relu) : (tensor<?x8xbf16>, tensor<8x4xbf16>) -> tensor<?x4xf32> loc("first")
  %r = transformer.round %h : (tensor<?x4xf32>) -> tensor<?x4xbf16>
  return %r : tensor<?x4xbf16>
}

// REMARK: "second writes f16 itself"
// CHECK-LABEL: func.func @rounded_to_f16(
// CHECK-NEXT: transformer.linear %arg0, %arg1 round(f16) : {{.*}} -> tensor<?x4xf16>
func.func @rounded_to_f16(%x: tensor<?x8xf16>, %w: tensor<8x4xf16>) -> tensor<?x4xf16> {
  %h = transformer.linear %x, %w : (tensor<?x8xf16>, tensor<8x4xf16>) -> tensor<?x4xf32> loc("second")
  %r = transformer.round %h to f16 : (tensor<?x4xf32>) -> tensor<?x4xf16>
  return %r : tensor<?x4xf16>
}

// CHECK-LABEL: func.func @rounded_and_read(
// CHECK: transformer.round
func.func @rounded_and_read(%x: tensor<?x8xbf16>, %w: tensor<8x4xbf16>) -> (tensor<?x4xbf16>, tensor<?x4xf32>) {
  %h = transformer.linear %x, %w : (tensor<?x8xbf16>, tensor<8x4xbf16>) -> tensor<?x4xf32> loc("first")
  %r = transformer.round %h : (tensor<?x4xf32>) -> tensor<?x4xbf16>
  return %r, %h : tensor<?x4xbf16>, tensor<?x4xf32>
}

// REMARK: "attention writes bf16 itself"
// CHECK-LABEL: func.func @attention(
// CHECK-NEXT: %[[Y:.*]] = transformer.attention %arg0, %arg0, %arg0 round {heads = 2 : i64} :
// CHECK-SAME: -> tensor<?x?x8xbf16>
// CHECK-NEXT: return %[[Y]]
func.func @attention(%x: tensor<?x?x8xbf16>) -> tensor<?x?x8xbf16> {
  %y = transformer.attention %x, %x, %x {heads = 2 : i64} : (tensor<?x?x8xbf16>, tensor<?x?x8xbf16>, tensor<?x?x8xbf16>) -> tensor<?x?x8xf32>
  %r = transformer.round %y : (tensor<?x?x8xf32>) -> tensor<?x?x8xbf16>
  return %r : tensor<?x?x8xbf16>
}
