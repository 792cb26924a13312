// A mask of a dialect that only a plugin knows round-trips, and decoders under
// it split into phases: nothing in Heddle names it.
// RUN: heddle-opt %s --load-dialect-plugin=%{parity} | FileCheck %s
// RUN: heddle-opt %s --load-dialect-plugin=%{parity} -transformer-split-phases | FileCheck %s --check-prefix=STEP
// RUN: not heddle-opt %s 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// UNKNOWN: parity.same

// CHECK-LABEL: func.func private @decode(
// CHECK: %[[SAME:.*]] = parity.same
// CHECK: %[[MASK:.*]] = transformer.mask.and %{{.*}}, %[[SAME]]
// CHECK: transformer.attention {{.*}} mask(%[[MASK]])

// STEP-LABEL: func.func private @decode.step(
// STEP-SAME: tensor<?x?x8xf32> {transformer.dims = ["caches", "capacity"], transformer.name = "state0", transformer.state}
// STEP: %[[SAME:.*]] = parity.same
// STEP: %[[MASK:.*]] = transformer.mask.and %{{.*}}, %[[SAME]]
// STEP: transformer.attention {{.*}} mask(%[[MASK]]) at
transformer.parameter @table : tensor<9x8xf32>
func.func private @decode(%ids: tensor<?x?xi32> {transformer.target})
    -> tensor<?x?x8xf32> attributes {transformer.forms = ["full", "step"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table
    : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  %causal = transformer.mask.causal
  %same = parity.same
  %mask = transformer.mask.and %causal, %same
  %y = transformer.attention %x, %x, %x mask(%mask) {heads = 2 : i64}
    : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>,
       !transformer.mask) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}
