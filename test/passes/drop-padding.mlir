// RUN: heddle-opt %s -transformer-drop-padding -canonicalize -split-input-file | FileCheck %s

// Rows of tokens, with lists of where they stand where something asks; what a
// mask says beside padding stays, and what reads one vector for each text does
// not change.

// CHECK-LABEL: func.func private @encode(
// CHECK-SAME: %[[IDS:[^:]*]]: tensor<?xi32> {transformer.dims = ["tokens"], transformer.name = "ids"},
// CHECK-SAME: %[[N:[^:]*]]: tensor<?xi32> {transformer.dims = ["batch"], transformer.name = "lengths"},
// CHECK-SAME: %[[AT:[^:]*]]: tensor<?xi32> {transformer.dims = ["tokens"], transformer.name = "positions"},
// CHECK-SAME: %[[OF:[^:]*]]: tensor<?xi32> {transformer.dims = ["tokens"], transformer.name = "sequences"},
// CHECK-SAME: %[[BLOCKS:[^:]*]]: tensor<?xi32> {transformer.dims = ["blocks"], transformer.name = "blocks"})
// CHECK-SAME: -> (tensor<?x8xf32> {transformer.name = "memory"})
// CHECK-SAME: transformer.forms = ["full"], transformer.role = "encode"
// CHECK-NOT: transformer.mask.padding
// CHECK: %[[X:.*]] = transformer.embedding %[[IDS]], %{{.*}} positions(learned, %{{.*}}, 0) at %[[AT]] : (tensor<?xi32>,
// CHECK: %[[R:.*]] = transformer.positions.rotary %[[X]], %{{.*}} at %[[AT]]
// CHECK: %[[Y:.*]] = transformer.attention %[[R]], %[[R]], %[[X]] at %[[AT]] of %[[OF]] ragged(%[[BLOCKS]], %[[N]]) {heads = 2 : i64} : (tensor<?x8xf32>
// CHECK: %[[WINDOW:.*]] = transformer.mask.window
// CHECK-NOT: transformer.mask
// CHECK: %[[Z:.*]] = transformer.attention %[[Y]], %[[Y]], %[[Y]] mask(%[[WINDOW]]) at %[[AT]] of %[[OF]] ragged(%[[BLOCKS]], %[[N]]) {heads = 2 : i64} score {
// CHECK: %[[Q:.*]]:2 = transformer.quantize %[[Z]] : (tensor<?x8xf32>) -> (tensor<?x8xi8>, tensor<?xf32>)
// CHECK: %[[L:.*]] = transformer.linear %[[Q]]#0 scales(%[[Q]]#1), %{{.*}} scales(%{{.*}}) residual(%[[Z]]) : (tensor<?x8xi8>
// CHECK: return %[[L]]

// CHECK-LABEL: func.func private @embed(
// CHECK-SAME: %[[MEMORY:[^:]*]]: tensor<?x8xf32> {transformer.dims = ["tokens"], transformer.name = "memory"},
// CHECK-SAME: %[[N:[^:]*]]: tensor<?xi32> {transformer.dims = ["batch"], transformer.name = "lengths"},
// CHECK-SAME: %[[STARTS:[^:]*]]: tensor<?xi32> {transformer.dims = ["batch"], transformer.name = "starts"})
// CHECK-SAME: -> (tensor<?x8xf32> {transformer.name = "vectors"})
// CHECK: %[[V:.*]] = transformer.pool [mean] %[[MEMORY]] of %[[N]] starts %[[STARTS]]
// CHECK: transformer.normalize %[[V]] {{.*}} : (tensor<?x8xf32>)

// CHECK-LABEL: func.func private @fill(
// CHECK-SAME: %[[MEMORY:[^:]*]]: tensor<?x8xf32> {transformer.dims = ["tokens"], transformer.name = "memory"},
// CHECK-SAME: %[[MASKS:[^:]*]]: tensor<?xi32> {transformer.dims = ["masks"], transformer.name = "masks"})
// CHECK: %[[TAKEN:.*]] = transformer.take_rows %[[MEMORY]] at %[[MASKS]] : (tensor<?x8xf32>, tensor<?xi32>) -> tensor<?x8xf32>
// CHECK: transformer.linear %[[TAKEN]], %{{.*}} -> tensor<?x9xf32>
transformer.parameter @table : tensor<9x8xf32>
transformer.parameter @positions : tensor<64x8xf32>
transformer.parameter @frequencies : tensor<2xf32>
transformer.parameter @w : tensor<8x8xi8>
transformer.parameter @s : tensor<8xf32>
transformer.parameter @head : tensor<8x9xf32>
func.func private @encode(%ids: tensor<?x?xi32> {transformer.name = "ids", transformer.dims = ["batch", "source"]}, %n: tensor<?xi32> {transformer.name = "lengths", transformer.dims = ["batch"]}) -> (tensor<?x?x8xf32> {transformer.name = "memory"}) attributes {transformer.forms = ["full"], transformer.role = "encode"} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %positions = transformer.weight @positions : tensor<64x8xf32>
  %x = transformer.embedding %ids, %table positions(learned, %positions, 0) : (tensor<?x?xi32>, tensor<9x8xf32>, tensor<64x8xf32>) -> tensor<?x?x8xf32>
  %f = transformer.weight @frequencies : tensor<2xf32>
  %r = transformer.positions.rotary %x, %f {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<2xf32>) -> tensor<?x?x8xf32>
  %valid = transformer.mask.padding %n : tensor<?xi32>
  %y = transformer.attention %r, %r, %x mask(%valid) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, !transformer.mask) -> tensor<?x?x8xf32>
  %window = transformer.mask.window [left = 3, right = 3]
  %both = transformer.mask.and %window, %valid
  %z = transformer.attention %y, %y, %y mask(%both) {heads = 2 : i64} score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    %t = math.tanh %s : f32
    transformer.yield %t : f32
  } : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, !transformer.mask) -> tensor<?x?x8xf32>
  %q, %qs = transformer.quantize %z : (tensor<?x?x8xf32>) -> (tensor<?x?x8xi8>, tensor<?x?xf32>)
  %w = transformer.weight @w : tensor<8x8xi8>
  %s = transformer.weight @s : tensor<8xf32>
  %l = transformer.linear %q scales(%qs), %w scales(%s) residual(%z) : (tensor<?x?x8xi8>, tensor<?x?xf32>, tensor<8x8xi8>, tensor<8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %l : tensor<?x?x8xf32>
}
func.func private @embed(%memory: tensor<?x?x8xf32> {transformer.name = "memory", transformer.dims = ["batch", "source"]}, %n: tensor<?xi32> {transformer.name = "lengths", transformer.dims = ["batch"]}) -> (tensor<?x8xf32> {transformer.name = "vectors"}) attributes {transformer.forms = ["full"], transformer.role = "embed", transformer.task = "embed"} {
  %v = transformer.pool [mean] %memory of %n : (tensor<?x?x8xf32>, tensor<?xi32>) -> tensor<?x8xf32>
  %u = transformer.normalize %v {epsilon = 1.0e-12 : f32} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return %u : tensor<?x8xf32>
}
func.func private @fill(%memory: tensor<?x?x8xf32> {transformer.name = "memory", transformer.dims = ["batch", "source"]}, %masks: tensor<?x?xi32> {transformer.name = "masks", transformer.dims = ["batch", "masks"]}) -> (tensor<?x?x9xf32> {transformer.name = "logits"}) attributes {transformer.forms = ["full"], transformer.role = "fill", transformer.task = "fill"} {
  %rows = transformer.take_rows %memory at %masks : (tensor<?x?x8xf32>, tensor<?x?xi32>) -> tensor<?x?x8xf32>
  %w = transformer.weight @head : tensor<8x9xf32>
  %y = transformer.linear %rows, %w : (tensor<?x?x8xf32>, tensor<8x9xf32>) -> tensor<?x?x9xf32>
  return %y : tensor<?x?x9xf32>
}

// -----

// An op that has no such form keeps the padding of all functions.

// CHECK-LABEL: func.func private @embed(
// CHECK-SAME: tensor<?x?x8xf32> {transformer.dims = ["batch", "source"]
// CHECK-LABEL: func.func private @encode(
// CHECK-SAME: tensor<?x?xi32> {transformer.dims = ["batch", "source"]
// CHECK: transformer.linear_attention
// CHECK-NOT: ragged
transformer.parameter @table : tensor<9x8xf32>
func.func private @embed(%memory: tensor<?x?x8xf32> {transformer.name = "memory", transformer.dims = ["batch", "source"]}, %n: tensor<?xi32> {transformer.name = "lengths", transformer.dims = ["batch"]}) -> (tensor<?x8xf32> {transformer.name = "vectors"}) attributes {transformer.forms = ["full"], transformer.role = "embed", transformer.task = "embed"} {
  %v = transformer.pool [cls] %memory of %n : (tensor<?x?x8xf32>, tensor<?xi32>) -> tensor<?x8xf32>
  return %v : tensor<?x8xf32>
}
func.func private @encode(%ids: tensor<?x?xi32> {transformer.name = "ids", transformer.dims = ["batch", "source"]}, %n: tensor<?xi32> {transformer.name = "lengths", transformer.dims = ["batch"]}) -> (tensor<?x?x8xf32> {transformer.name = "memory"}) attributes {transformer.forms = ["full"], transformer.role = "encode"} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  %y = transformer.linear_attention %x, %x, %x lengths(%n) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?xi32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

// A mask that reads tokens has them by sequence.

// CHECK-LABEL: func.func private @encode(
// CHECK-SAME: tensor<?x?xi32> {transformer.dims = ["batch", "source"]
transformer.parameter @table : tensor<9x8xf32>
func.func private @encode(%ids: tensor<?x?xi32> {transformer.name = "ids", transformer.dims = ["batch", "source"]}) -> (tensor<?x?x8xf32> {transformer.name = "memory"}) attributes {transformer.forms = ["full"], transformer.role = "encode"} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  %same = transformer.mask.segments %ids : tensor<?x?xi32>
  %y = transformer.attention %x, %x, %x mask(%same) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, !transformer.mask) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}
func.func private @tag(%memory: tensor<?x?x8xf32> {transformer.name = "memory", transformer.dims = ["batch", "source"]}) -> (tensor<?x?x8xf32> {transformer.name = "logits"}) attributes {transformer.forms = ["full"], transformer.role = "tag", transformer.task = "tag"} {
  return %memory : tensor<?x?x8xf32>
}

// -----

// Nothing is asked of the hidden states, or a decoder reads them.

// CHECK-LABEL: func.func private @encode(
// CHECK-SAME: tensor<?x?xi32> {transformer.dims = ["batch", "source"]
transformer.parameter @table : tensor<9x8xf32>
func.func private @encode(%ids: tensor<?x?xi32> {transformer.name = "ids", transformer.dims = ["batch", "source"]}) -> (tensor<?x?x8xf32> {transformer.name = "memory"}) attributes {transformer.forms = ["full"], transformer.role = "encode"} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  return %x : tensor<?x?x8xf32>
}

// -----

// Rows of global tokens: their lists stay positions of each text, masks read them by
// text, and their queries see the rows of their text.

// CHECK-LABEL: func.func private @encode(
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x8xf32> {transformer.dims = ["tokens"], transformer.name = "x"},
// CHECK-SAME: %[[N:[^:]*]]: tensor<?xi32> {transformer.dims = ["batch"], transformer.name = "lengths"},
// CHECK-SAME: %[[G:[^:]*]]: tensor<?x?xi32> {transformer.dims = ["batch", "globals"], transformer.name = "global"},
// CHECK-SAME: %[[STARTS:[^:]*]]: tensor<?xi32> {transformer.dims = ["batch"], transformer.name = "starts"},
// CHECK-SAME: %[[AT:[^:]*]]: tensor<?xi32> {transformer.dims = ["tokens"], transformer.name = "positions"},
// CHECK: %[[COLUMNS:.*]] = transformer.mask.global columns of %[[G]]
// CHECK: %[[SEEN:.*]] = transformer.mask.or %{{.*}}, %[[COLUMNS]]
// CHECK: %[[Y:.*]] = transformer.attention %[[X]], %[[X]], %[[X]] mask(%[[SEEN]]) at %[[AT]] of %{{.*}} ragged(%{{.*}}, %[[N]])
// CHECK: %[[TAKEN:.*]] = transformer.take_rows %[[X]] at %[[G]] of(%[[STARTS]], %[[N]]) : {{.*}} -> tensor<?x?x8xf32>
// CHECK: %[[Q:.*]] = transformer.linear %[[TAKEN]], %{{.*}} -> tensor<?x?x8xf32>
// CHECK: %[[Z:.*]] = transformer.attention %[[Q]], %[[X]], %[[X]] ragged_keys(%[[STARTS]], %[[N]]) {heads = 2 : i64} : {{.*}} -> tensor<?x?x8xf32>
// CHECK: %[[R:.*]] = transformer.put_rows %[[Z]] at %[[G]] of(%[[STARTS]], %[[N]]) into %[[Y]] : {{.*}} -> tensor<?x8xf32>
// CHECK: return %[[R]]
transformer.parameter @w : tensor<8x8xf32>
func.func private @encode(%x: tensor<?x?x8xf32> {transformer.name = "x", transformer.dims = ["batch", "source"]}, %n: tensor<?xi32> {transformer.name = "lengths", transformer.dims = ["batch"]}, %g: tensor<?x?xi32> {transformer.name = "global", transformer.dims = ["batch", "globals"]}) -> (tensor<?x?x8xf32> {transformer.name = "memory"}) attributes {transformer.forms = ["full"], transformer.role = "encode"} {
  %valid = transformer.mask.padding %n : tensor<?xi32>
  %columns = transformer.mask.global columns of %g : tensor<?x?xi32>
  %near = transformer.mask.window [left = 3, right = 3]
  %either = transformer.mask.or %near, %columns
  %seen = transformer.mask.and %either, %valid
  %y = transformer.attention %x, %x, %x mask(%seen) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, !transformer.mask) -> tensor<?x?x8xf32>
  %taken = transformer.take_rows %x at %g : (tensor<?x?x8xf32>, tensor<?x?xi32>) -> tensor<?x?x8xf32>
  %w = transformer.weight @w : tensor<8x8xf32>
  %q = transformer.linear %taken, %w : (tensor<?x?x8xf32>, tensor<8x8xf32>) -> tensor<?x?x8xf32>
  %z = transformer.attention %q, %x, %x mask(%valid) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, !transformer.mask) -> tensor<?x?x8xf32>
  %r = transformer.put_rows %z at %g into %y : (tensor<?x?x8xf32>, tensor<?x?xi32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %r : tensor<?x?x8xf32>
}
func.func private @embed(%memory: tensor<?x?x8xf32> {transformer.name = "memory", transformer.dims = ["batch", "source"]}, %n: tensor<?xi32> {transformer.name = "lengths", transformer.dims = ["batch"]}) -> (tensor<?x8xf32> {transformer.name = "vectors"}) attributes {transformer.forms = ["full"], transformer.role = "embed", transformer.task = "embed"} {
  %v = transformer.pool [cls] %memory of %n : (tensor<?x?x8xf32>, tensor<?xi32>) -> tensor<?x8xf32>
  return %v : tensor<?x8xf32>
}
