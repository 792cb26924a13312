// Queries from `take_rows` have no positions of their own: a plugin's mask may
// say that it compares none.
// RUN: heddle-opt %s --load-dialect-plugin=%{parity} | FileCheck %s

// CHECK-LABEL: func.func @of_head
// CHECK: %[[MASK:.*]] = parity.of_head
// CHECK: transformer.attention {{.*}} mask(%[[MASK]])
func.func @of_head(%x: tensor<?x?x8xf32>, %at: tensor<?x?xi32>)
    -> tensor<?x?x8xf32> {
  %q = transformer.take_rows %x at %at
    : (tensor<?x?x8xf32>, tensor<?x?xi32>) -> tensor<?x?x8xf32>
  %mask = parity.of_head
  %y = transformer.attention %q, %x, %x mask(%mask) {heads = 2 : i64}
    : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>,
       !transformer.mask) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}
