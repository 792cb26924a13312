// A linear finishes the rows that it computes.
// RUN: heddle-opt %s -transformer-fuse-epilogues -mlir-print-debuginfo -mlir-print-local-scope -remarks-filter=.* -remark-format=emitRemark 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK <%t

!x = tensor<?x8xf32>
!w = tensor<8x8xf32>
!v = tensor<8xf32>

// All parts, and the names of all.

// REMARK: "wo applies relu, adds its residual and applies the norm ln itself"
// CHECK-LABEL: func.func @whole_chain(
// CHECK-NEXT: %[[Y:.*]] = transformer.linear %arg0, %arg1, %arg2 activation(relu) residual(%arg0) norm(layer, %arg2, %arg2, 5.000000e-01) : {{.*}} loc(fused["wo", "ln"])
// CHECK-NEXT: return %[[Y]]
func.func @whole_chain(%x: !x, %w: !w, %v: !v) -> !x {
  %l = transformer.linear %x, %w, %v : (!x, !w, !v) -> !x loc("wo")
  %a = transformer.activation relu %l : (!x) -> !x loc("wo")
  %s = transformer.add %x, %a : (!x, !x) -> !x loc("wo")
  %y = transformer.norm layer %s, %v, %v {epsilon = 0.5 : f32} : (!x, !v, !v) -> !x loc("ln")
  return %y : !x
}

// The gate of a gated ffn, which may be computed after the linear; the other linear
// stays as it is.

// REMARK: "up applies silu and multiplies its gate itself"
// CHECK-LABEL: func.func @gated(
// CHECK-NEXT: %[[G:.*]] = transformer.linear %arg0, %arg1 :
// CHECK-NEXT: %[[Y:.*]] = transformer.linear %arg0, %arg1 activation(silu) gate(%[[G]])
// CHECK-NEXT: return %[[Y]]
func.func @gated(%x: !x, %w: !w) -> !x {
  %u = transformer.linear %x, %w : (!x, !w) -> !x loc("up")
  %a = transformer.activation silu %u : (!x) -> !x
  %g = transformer.linear %x, %w : (!x, !w) -> !x loc("gate")
  %y = transformer.multiply %a, %g : (!x, !x) -> !x
  return %y : !x
}

// A row is no gate of itself, and has a gate or a residual.

// REMARK: "the residual after wo stays an op of its own, since a linear applies an activation, a residual or a gate and a norm, in this order and each at most once"
// CHECK-LABEL: func.func @gate_and_residual(
// CHECK-NEXT: %[[Y:.*]] = transformer.linear %arg0, %arg1 gate(%arg0)
// CHECK-NEXT: transformer.add %[[Y]], %arg0
func.func @gate_and_residual(%x: !x, %w: !w) -> (!x, !x) {
  %l = transformer.linear %x, %w : (!x, !w) -> !x loc("wo")
  %y = transformer.multiply %x, %l : (!x, !x) -> !x
  %s = transformer.add %y, %x : (!x, !x) -> !x
  // CHECK: %[[Z:.*]] = transformer.linear
  // CHECK-NEXT: transformer.multiply %[[Z]], %[[Z]]
  %m = transformer.linear %x, %w : (!x, !w) -> !x loc("squared")
  %z = transformer.multiply %m, %m : (!x, !x) -> !x
  return %s, %z : !x, !x
}

// The residual may be computed after the linear, on either side.

// REMARK: "first adds its residual itself"
// REMARK: "second applies gelu itself"
// CHECK-LABEL: func.func @late_residual(
// CHECK-NEXT: %[[R:.*]] = transformer.linear %arg0, %arg1 activation(gelu)
// CHECK-NEXT: %[[Y:.*]] = transformer.linear %arg0, %arg1 residual(%[[R]])
// CHECK-NEXT: return %[[Y]]
func.func @late_residual(%x: !x, %w: !w) -> !x {
  %l = transformer.linear %x, %w : (!x, !w) -> !x loc("first")
  %m = transformer.linear %x, %w : (!x, !w) -> !x loc("second")
  %r = transformer.activation gelu %m : (!x) -> !x
  %s = transformer.add %l, %r : (!x, !x) -> !x
  return %s : !x
}

// What a row is read by is said where it is known.

// REMARK: "the norm ln after wo stays an op of its own, since the row between them is read elsewhere, too"
// REMARK: "wo adds its residual itself"
// CHECK-LABEL: func.func @sum_read_twice(
// CHECK-NEXT: %[[S:.*]] = transformer.linear %arg0, %arg1 residual(%arg0)
// CHECK-NEXT: transformer.norm rms %[[S]]
func.func @sum_read_twice(%x: !x, %w: !w, %v: !v) -> (!x, !x) {
  %l = transformer.linear %x, %w : (!x, !w) -> !x loc("wo")
  %s = transformer.add %l, %x : (!x, !x) -> !x
  %y = transformer.norm rms %s, %v {epsilon = 0.5 : f32} : (!x, !v) -> !x loc("ln")
  return %s, %y : !x, !x
}

// A pre-norm model: the sum is the next residual, too.

// REMARK: "the norm ln after wo stays an op of its own, since the row between them is the next residual, too"
// CHECK-LABEL: func.func @next_residual(
// CHECK-NEXT: %[[S:.*]] = transformer.linear %arg0, %arg1 residual(%arg0)
// CHECK-NEXT: %[[N:.*]] = transformer.norm rms %[[S]]
// CHECK-NEXT: transformer.linear %[[N]], %arg1 residual(%[[S]])
func.func @next_residual(%x: !x, %w: !w, %v: !v) -> !x {
  %l = transformer.linear %x, %w : (!x, !w) -> !x loc("wo")
  %s = transformer.add %x, %l : (!x, !x) -> !x
  %n = transformer.norm rms %s, %v {epsilon = 0.5 : f32} : (!x, !v) -> !x loc("ln")
  %m = transformer.linear %n, %w : (!x, !w) -> !x
  %y = transformer.add %s, %m : (!x, !x) -> !x
  return %y : !x
}

// REMARK: "the silu after w1 stays an op of its own, since the row between them is read elsewhere, too"
// CHECK-LABEL: func.func @gate(
// CHECK-NEXT: transformer.linear
// CHECK-NEXT: transformer.activation silu
func.func @gate(%x: !x, %w: !w) -> (!x, !x) {
  %l = transformer.linear %x, %w : (!x, !w) -> !x loc("w1")
  %a = transformer.activation silu %l : (!x) -> !x
  return %l, %a : !x, !x
}

// REMARK: "the tanh after wo stays an op of its own, since a linear applies an activation, a residual or a gate and a norm, in this order and each at most once"
// REMARK: "wo adds its residual itself"
// CHECK-LABEL: func.func @activation_behind_the_residual(
// CHECK-NEXT: transformer.linear %arg0, %arg1 residual(%arg0)
// CHECK-NEXT: transformer.activation tanh
func.func @activation_behind_the_residual(%x: !x, %w: !w) -> !x {
  %l = transformer.linear %x, %w : (!x, !w) -> !x loc("wo")
  %s = transformer.add %l, %x : (!x, !x) -> !x
  %y = transformer.activation tanh %s : (!x) -> !x
  return %y : !x
}

// Behind anything but a linear, activations and norms stay ops. A sum in front
// of a norm is fuse-add-norm's.

// REMARK: "the relu after rnn stays an op of its own, since its rows come from a recurrence, not from a linear"
// REMARK: "the norm ln stays an op of its own, since its rows come from an activation, not from a linear"
// REMARK: "the gelu after activation stays an op of its own, since its rows come from the caller, not from a linear"
// REMARK-NOT: "the norm behind_sum
// CHECK-LABEL: func.func @without_linear(
// CHECK: transformer.activation relu
// CHECK-NEXT: transformer.norm
// CHECK-NEXT: transformer.activation gelu
// CHECK-NEXT: transformer.add
// CHECK-NEXT: transformer.norm
func.func @without_linear(%x: tensor<?x?x8xf32>, %h: tensor<?x?x8xf32>, %v: !v) -> tensor<?x?x8xf32> {
  %c = transformer.recurrence %x, %h : (tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32> loc("rnn")
  %r = transformer.activation relu %c : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32> loc("rnn")
  %n = transformer.norm rms %r, %v {epsilon = 0.5 : f32} : (tensor<?x?x8xf32>, !v) -> tensor<?x?x8xf32> loc("ln")
  %a = transformer.activation gelu %h : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %s = transformer.add %n, %a : (tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %y = transformer.norm rms %s, %v {epsilon = 0.5 : f32} : (tensor<?x?x8xf32>, !v) -> tensor<?x?x8xf32> loc("behind_sum")
  return %y : tensor<?x?x8xf32>
}

// What has a place already, and what several read without finishing rows, is
// none of the pass's business.

// REMARK-NOT: remark:
// CHECK-LABEL: func.func @others(
// CHECK-NEXT: transformer.linear
// CHECK-NEXT: transformer.add
// CHECK-NEXT: transformer.linear
// CHECK-NEXT: transformer.activation {{.*}} into
func.func @others(%x: !x, %w: !w, %out: !x) -> (!x, !x) {
  %l = transformer.linear %x, %w : (!x, !w) -> !x
  %s = transformer.add %l, %l : (!x, !x) -> !x
  %m = transformer.linear %x, %w : (!x, !w) -> !x
  %a = transformer.activation relu %m into %out : (!x, !x) -> !x
  return %s, %a : !x, !x
}
