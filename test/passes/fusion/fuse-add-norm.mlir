// A norm adds the residual in front of it.
// RUN: heddle-opt %s -transformer-fuse-add-norm -remarks-filter=.* -remark-format=emitRemark 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK <%t

// REMARK: "the norm after rnn adds the residual itself"
// CHECK-LABEL: func.func @sum(
// CHECK-NEXT: %[[Y:.*]] = transformer.norm layer %arg1, %arg2, %arg2 residual(%arg0) {epsilon = 5.000000e-01 : f32}
// CHECK-NEXT: return %[[Y]]
func.func @sum(%x: tensor<?x8xf32>, %h: tensor<?x8xf32>, %g: tensor<8xf32>) -> tensor<?x8xf32> {
  %s = transformer.add %x, %h : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32> loc("rnn")
  %y = transformer.norm layer %s, %g, %g {epsilon = 0.5 : f32} : (tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// REMARK: "the norm ln does not add its residual itself, since the sum is read elsewhere, too"
// CHECK-LABEL: func.func @sum_read_twice(
// CHECK-NEXT: transformer.add
// CHECK-NEXT: transformer.norm rms
func.func @sum_read_twice(%x: tensor<?x8xf32>, %g: tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %s = transformer.add %x, %x : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %y = transformer.norm rms %s, %g {epsilon = 0.5 : f32} : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32> loc("ln")
  return %s, %y : tensor<?x8xf32>, tensor<?x8xf32>
}

// REMARK: "the residual after last is added by an op of its own, since no norm follows it"
// CHECK-LABEL: func.func @no_norm(
// CHECK-NEXT: transformer.add
func.func @no_norm(%x: tensor<?x8xf32>, %h: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %s = transformer.add %x, %h : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32> loc("last")
  return %s : tensor<?x8xf32>
}

// One residual is enough for a norm.

// REMARK-NOT: remark:
// CHECK-LABEL: func.func @residual_already(
// CHECK-NEXT: transformer.add
// CHECK-NEXT: transformer.norm {{.*}} residual
func.func @residual_already(%x: tensor<?x8xf32>, %g: tensor<8xf32>) -> tensor<?x8xf32> {
  %s = transformer.add %x, %x : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %y = transformer.norm rms %s, %g residual(%x) {epsilon = 0.5 : f32} : (tensor<?x8xf32>, tensor<8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
