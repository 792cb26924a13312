// A linear whose gate is a linear of the same input computes both.
// RUN: heddle-opt %s -transformer-fuse-gates -split-input-file -remarks-filter=.* -remark-format=emitRemark 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK <%t

!x = tensor<?x8xf32>
!w = tensor<8x16xf32>
!h = tensor<?x16xf32>

// REMARK: "w1 computes its gate w2 itself"
// CHECK-LABEL: module @gated
// CHECK: transformer.parameter @"w1+w2" : tensor<8x32xf32> columns(8) of [@w1, @w2]
// CHECK: %[[W:.*]] = transformer.weight @"w1+w2" : tensor<8x32xf32>
// CHECK-NEXT: %[[Y:.*]] = transformer.linear %arg0, %[[W]] activation(silu) gated round : (tensor<?x8xf32>, tensor<8x32xf32>) -> tensor<?x16xbf16>
// CHECK-NEXT: return %[[Y]]
module @gated {
  transformer.parameter @w1 : !w
  transformer.parameter @w2 : !w
  func.func @f(%x: !x) -> tensor<?x16xbf16> {
    %w1 = transformer.weight @w1 : !w
    %w2 = transformer.weight @w2 : !w
    %u = transformer.linear %x, %w2 : (!x, !w) -> !h loc("w2")
    %y = transformer.linear %x, %w1 activation(silu) gate(%u) round : (!x, !w, !h) -> tensor<?x16xbf16> loc("w1")
    return %y : tensor<?x16xbf16>
  }
}

// -----

// A bias that one of them lacks is zero; scales of columns take turns, too.

!x = tensor<?x8xi8>
!s = tensor<?xf32>
!w = tensor<8x16xi8>
!v = tensor<16xf32>
!h = tensor<?x16xf32>

// REMARK: "i1 computes its gate i2 itself"
// CHECK-LABEL: module @integers
// CHECK-DAG: transformer.parameter @[[B:.*]] : tensor<32xf32> columns(8) of [@zeros.16, @b2]
// CHECK-DAG: transformer.parameter @"s1+s2" : tensor<32xf32> columns(8) of [@s1, @s2]
// CHECK-DAG: transformer.parameter @"i1+i2" : tensor<8x32xi8> columns(8) of [@i1, @i2]
// CHECK: transformer.linear %arg0 scales(%arg1), %{{.*}} scales(%{{.*}}), %{{.*}} activation(silu) gated :
module @integers {
  transformer.parameter @w1 : tensor<8x16xf32>
  transformer.parameter @w2 : tensor<8x16xf32>
  transformer.parameter @b2 : !v
  transformer.parameter @i1 : !w column_integers of [@w1]
  transformer.parameter @s1 : !v column_scales of [@w1]
  transformer.parameter @i2 : !w column_integers of [@w2]
  transformer.parameter @s2 : !v column_scales of [@w2]
  func.func @f(%x: !x, %t: !s) -> !h {
    %i1 = transformer.weight @i1 : !w
    %s1 = transformer.weight @s1 : !v
    %i2 = transformer.weight @i2 : !w
    %s2 = transformer.weight @s2 : !v
    %b2 = transformer.weight @b2 : !v
    %u = transformer.linear %x scales(%t), %i2 scales(%s2), %b2 : (!x, !s, !w, !v, !v) -> !h loc("i2")
    %y = transformer.linear %x scales(%t), %i1 scales(%s1) activation(silu) gate(%u) : (!x, !s, !w, !v, !h) -> !h loc("i1")
    return %y : !h
  }
}

// -----

// What stays two linears.

!x = tensor<?x8xf32>
!w = tensor<8x16xf32>
!h = tensor<?x16xf32>
!n = tensor<8x12xf32>
!m = tensor<?x12xf32>

// REMARK-DAG: "w1 reads its gate from memory, since its gate is read elsewhere, too"
// REMARK-DAG: "w1 reads its gate from memory, since its gate reads another input"
// REMARK-DAG: "w1 reads its gate from memory, since what gates it is not a plain linear"
// REMARK-DAG: "n1 reads its gate from memory, since its columns fill no panels together with the gate's"
// CHECK-LABEL: module @apart
// CHECK-NOT: gated
module @apart {
  transformer.parameter @w1 : !w
  transformer.parameter @w2 : !w
  transformer.parameter @n1 : !n
  func.func @read_twice(%x: !x) -> (!h, !h) {
    %w1 = transformer.weight @w1 : !w
    %w2 = transformer.weight @w2 : !w
    %u = transformer.linear %x, %w2 : (!x, !w) -> !h
    %y = transformer.linear %x, %w1 activation(silu) gate(%u) : (!x, !w, !h) -> !h loc("w1")
    return %y, %u : !h, !h
  }
  func.func @another_input(%x: !x, %z: !x) -> !h {
    %w1 = transformer.weight @w1 : !w
    %w2 = transformer.weight @w2 : !w
    %u = transformer.linear %z, %w2 : (!x, !w) -> !h
    %y = transformer.linear %x, %w1 activation(silu) gate(%u) : (!x, !w, !h) -> !h loc("w1")
    return %y : !h
  }
  func.func @activated_gate(%x: !x) -> !h {
    %w1 = transformer.weight @w1 : !w
    %w2 = transformer.weight @w2 : !w
    %u = transformer.linear %x, %w2 activation(relu) : (!x, !w) -> !h
    %y = transformer.linear %x, %w1 gate(%u) : (!x, !w, !h) -> !h loc("w1")
    return %y : !h
  }
  func.func @narrow(%x: !x) -> !m {
    %n1 = transformer.weight @n1 : !n
    %u = transformer.linear %x, %n1 : (!x, !n) -> !m
    %y = transformer.linear %x, %n1 activation(silu) gate(%u) : (!x, !n, !m) -> !m loc("n1")
    return %y : !m
  }
}
