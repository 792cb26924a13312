// What a decoder keeps becomes integers with a scale for each head of a position,
// whatever products multiply; attention over a memory does not. Caches of scales
// stand beside those of integers in every form.
// RUN: heddle-opt %s -split-input-file -transformer-choose-precision="dtype=f32 attention=int8" -remarks-filter=.* -remark-format=emitRemark 2>%t | FileCheck %s --check-prefixes=CHECK,F32
// RUN: FileCheck %s --check-prefix=REMARK <%t
// RUN: heddle-opt %s -split-input-file -transformer-choose-precision="dtype=bf16 attention=int8" | FileCheck %s --check-prefixes=CHECK,BF16
// RUN: heddle-opt %s -split-input-file -transformer-choose-precision="dtype=f32 attention=int8" -transformer-split-phases | FileCheck %s --check-prefix=FORMS

// REMARK: attention keeps keys and values as int8, each head of a position with a scale of its own
// CHECK-LABEL: func.func @decode(
// CHECK: %[[E:.*]] = transformer.embedding
// CHECK: %[[K:.*]]:2 = transformer.quantize_heads %[[E]] {heads = 2 : i64} : (tensor<?x?x8xf32>) -> (tensor<?x?x8xi8>, tensor<?x?x2xf32>)
// CHECK-NOT: quantize_heads
// CHECK: transformer.attention %[[E]], %[[K]]#0, %[[K]]#0 key_scales(%[[K]]#1) value_scales(%[[K]]#1) mask
// F32: transformer.attention {{.*}} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, !transformer.mask)
// BF16: transformer.attention {{.*}} : (tensor<?x?x8xbf16>, tensor<?x?x8xbf16>, tensor<?x?x8xbf16>, !transformer.mask)

// FORMS-LABEL: func.func private @decode.step(
// FORMS-SAME: tensor<?x?x8xi8> {transformer.dims = ["caches", "capacity"], transformer.name = "state0", transformer.state}
// FORMS-SAME: tensor<?x?x8xi8> {{{.*}} transformer.name = "state1", transformer.state}
// FORMS-SAME: tensor<?x?x2xf32> {transformer.dims = ["caches", "capacity"], transformer.name = "state2", transformer.state}
// FORMS-SAME: tensor<?x?x2xf32> {{{.*}} transformer.name = "state3", transformer.state}
// FORMS: %[[Q:.*]]:2 = transformer.quantize_heads {{.*}} {heads = 2 : i64} : (tensor<?x8xf32>) -> (tensor<?x8xi8>, tensor<?x2xf32>)
// FORMS: %[[K:.*]] = transformer.cache.append %[[Q]]#0 {{.*}} -> tensor<?x?x8xi8>
// FORMS: %[[V:.*]] = transformer.cache.append %[[Q]]#0 {{.*}} -> tensor<?x?x8xi8>
// FORMS: %[[KS:.*]] = transformer.cache.append %[[Q]]#1 {{.*}} -> tensor<?x?x2xf32>
// FORMS: %[[VS:.*]] = transformer.cache.append %[[Q]]#1 {{.*}} -> tensor<?x?x2xf32>
// FORMS: transformer.attention %{{.*}}, %[[K]], %[[V]] key_scales(%[[KS]]) value_scales(%[[VS]]) mask
// FORMS: return %{{.*}}, %[[K]], %[[V]], %[[KS]], %[[VS]]
// FORMS-LABEL: func.func private @decode.beam(
// FORMS: through
// FORMS-LABEL: func.func private @decode.extend(
// FORMS: key_scales({{.*}} prefill(
transformer.parameter @table : tensor<9x8xf32>
func.func @decode(%ids: tensor<?x?xi32> {transformer.name = "ids", transformer.dims = ["batch", "target"], transformer.target}, %memory: tensor<?x?x8xf32>, %lengths: tensor<?xi32>) -> (tensor<?x?x8xf32> {transformer.name = "logits"}) attributes {transformer.forms = ["step", "extend"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  %causal = transformer.mask.causal
  %y = transformer.attention %x, %x, %x mask(%causal) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, !transformer.mask) -> tensor<?x?x8xf32>
  %valid = transformer.mask.padding %lengths : tensor<?xi32>
  %z = transformer.attention %y, %memory, %memory mask(%valid) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, !transformer.mask) -> tensor<?x?x8xf32>
  return %z : tensor<?x?x8xf32>
}
