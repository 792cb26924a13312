// The form of a decoder that shows alignments.
// RUN: heddle-opt %s -transformer-split-phases -split-input-file | FileCheck %s

// It ends at the attention to the memory of the layer that is named, and has nothing
// behind it, nor arguments that nothing in front of it reads.

// CHECK-LABEL: func.func private @decode.align(
// CHECK-SAME: %[[IDS:[^:]*]]: tensor<?x?xi32> {transformer.dims = ["batch", "target"], transformer.name = "ids"},
// CHECK-SAME: %[[MEMORY:[^:]*]]: tensor<?x?x8xf32> {transformer.dims = ["batch", "source"], transformer.name = "memory"},
// CHECK-SAME: %[[LENGTHS:[^:]*]]: tensor<?xi32> {transformer.dims = ["batch"], transformer.name = "lengths"})
// CHECK-SAME: -> (tensor<?x?x8xf32> {transformer.name = "queries"}, tensor<?x?x8xf32> {transformer.name = "keys"})
// CHECK-SAME: transformer.decoder = "decode", transformer.heads = {aligned = 1 : i32, keys = 2 : i32, queries = 2 : i32, scale = 5.000000e-01 : f32}, transformer.role = "align"
// CHECK: %[[FIRST:.*]] = transformer.attention {{.*}}, %[[MEMORY]], %[[MEMORY]] mask(
// CHECK-NOT: transformer.attention
// CHECK: return %[[FIRST]], %[[MEMORY]]
transformer.parameter @table : tensor<9x8xf32>
func.func private @decode(%ids: tensor<?x?xi32> {transformer.name = "ids", transformer.dims = ["batch", "target"], transformer.target}, %memory: tensor<?x?x8xf32> {transformer.name = "memory", transformer.dims = ["batch", "source"]}, %lengths: tensor<?xi32> {transformer.name = "lengths", transformer.dims = ["batch"]}) -> (tensor<?x?x8xf32> {transformer.name = "logits"}) attributes {transformer.alignment = {layer = -1 : i32, heads = 1 : i32}, transformer.forms = ["full", "step", "align"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  %valid = transformer.mask.padding %lengths : tensor<?xi32>
  %a = transformer.attention %x, %memory, %memory mask(%valid) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, !transformer.mask) -> tensor<?x?x8xf32>
  %b = transformer.attention %a, %memory, %memory mask(%valid) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, !transformer.mask) -> tensor<?x?x8xf32>
  return %b : tensor<?x?x8xf32>
}

// -----

// Without a word all heads of the last layer count. Nothing reads lengths in front of
// the first attention.

// CHECK-LABEL: func.func private @one_layer.align(
// CHECK-NOT: "lengths"
// CHECK-SAME: transformer.heads = {aligned = 2 : i32, keys = 2 : i32, queries = 2 : i32, scale = 1.000000e+00 : f32}
// CHECK-NOT: transformer.attention
// CHECK: return
transformer.parameter @table : tensor<9x8xf32>
func.func private @one_layer(%ids: tensor<?x?xi32> {transformer.name = "ids", transformer.dims = ["batch", "target"], transformer.target}, %memory: tensor<?x?x8xf32> {transformer.name = "memory", transformer.dims = ["batch", "source"]}, %lengths: tensor<?xi32> {transformer.name = "lengths", transformer.dims = ["batch"]}) -> (tensor<?x?x8xf32> {transformer.name = "logits"}) attributes {transformer.forms = ["full", "step", "align"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  %valid = transformer.mask.padding %lengths : tensor<?xi32>
  %a = transformer.attention %x, %memory, %memory mask(%valid) {heads = 2 : i64, scale = 1.0 : f32} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, !transformer.mask) -> tensor<?x?x8xf32>
  return %a : tensor<?x?x8xf32>
}

// -----

// Scores of its own: no form.

// CHECK-LABEL: func.func private @own_scores(
// CHECK-NOT: @own_scores.align
transformer.parameter @table : tensor<9x8xf32>
func.func private @own_scores(%ids: tensor<?x?xi32> {transformer.name = "ids", transformer.dims = ["batch", "target"], transformer.target}, %memory: tensor<?x?x8xf32> {transformer.name = "memory", transformer.dims = ["batch", "source"]}, %lengths: tensor<?xi32> {transformer.name = "lengths", transformer.dims = ["batch"]}) -> (tensor<?x?x8xf32> {transformer.name = "logits"}) attributes {transformer.forms = ["full", "step", "align"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  %valid = transformer.mask.padding %lengths : tensor<?xi32>
  %a = transformer.attention %x, %memory, %memory mask(%valid) {heads = 2 : i64} score {
  ^bb0(%s: f32, %n: i32, %h: i32, %i: i32, %j: i32):
    %t = math.tanh %s : f32
    transformer.yield %t : f32
  } : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, !transformer.mask) -> tensor<?x?x8xf32>
  return %a : tensor<?x?x8xf32>
}
