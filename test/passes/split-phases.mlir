// Hand-written decoders, each with one way to carry the past.
// RUN: heddle-opt %s -transformer-split-phases -split-input-file | FileCheck %s

// Self-attention: keys and values go to caches of one slot a position.

// CHECK-LABEL: func.func private @self_attention(
// CHECK-SAME: transformer.decoder = "self_attention", transformer.forms = ["full"], transformer.role = "full"
// CHECK: transformer.attention {{.*}} : (tensor<?x?x8xf32>

// CHECK-LABEL: func.func private @self_attention.step(
// CHECK-SAME: %[[IDS:[^:]*]]: tensor<?xi32> {transformer.dims = ["rows"], transformer.name = "ids"},
// CHECK-SAME: %[[AT:[^:]*]]: tensor<?xi32> {transformer.dims = ["rows"], transformer.name = "positions"},
// CHECK-SAME: %[[OF:[^:]*]]: tensor<?xi32> {transformer.dims = ["rows"], transformer.name = "sentences"},
// CHECK-SAME: %[[IN:[^:]*]]: tensor<?xi32> {transformer.dims = ["rows"], transformer.name = "caches"},
// CHECK-SAME: %[[K0:[^:]*]]: tensor<?x?x8xf32> {transformer.dims = ["caches", "capacity"], transformer.name = "state0", transformer.state},
// CHECK-SAME: %[[V0:[^:]*]]: tensor<?x?x8xf32> {transformer.dims = ["caches", "capacity"], transformer.name = "state1", transformer.state})
// CHECK-SAME: -> (tensor<?x8xf32> {transformer.name = "logits"}, tensor<?x?x8xf32>, tensor<?x?x8xf32>)
// CHECK-SAME: transformer.decoder = "self_attention", transformer.role = "step"
// CHECK-DAG: %[[CAUSAL:.*]] = transformer.mask.causal
// CHECK-DAG: %[[TABLE:.*]] = transformer.weight @table
// CHECK-DAG: %[[X:.*]] = transformer.embedding %[[IDS]], %[[TABLE]] : (tensor<?xi32>, tensor<9x8xf32>) -> tensor<?x8xf32>
// CHECK: %[[P:.*]] = transformer.positions.sinusoidal %[[X]] at %[[AT]]
// CHECK: %[[K:.*]] = transformer.cache.append %[[P]] at %[[AT]] in %[[IN]] into %[[K0]]
// CHECK: %[[V:.*]] = transformer.cache.append %[[X]] at %[[AT]] in %[[IN]] into %[[V0]]
// CHECK: %[[Y:.*]] = transformer.attention %[[P]], %[[K]], %[[V]] mask(%[[CAUSAL]]) at %[[AT]] of %[[OF]] in %[[IN]] {heads = 2 : i64}
// CHECK: return %[[Y]], %[[K]], %[[V]]

// A beam's rows write to their own caches, too, and read those of others.
// CHECK-LABEL: func.func private @self_attention.beam(
// CHECK-SAME: %[[AT:[^:]*]]: tensor<?xi32> {transformer.dims = ["rows"], transformer.name = "positions"},
// CHECK-SAME: %[[IN:[^:]*]]: tensor<?xi32> {transformer.dims = ["rows"], transformer.name = "caches"},
// CHECK-SAME: %[[THROUGH:[^:]*]]: tensor<?x?xi32> {transformer.dims = ["rows", "capacity"], transformer.name = "history"},
// CHECK-SAME: transformer.decoder = "self_attention", transformer.role = "beam"
// CHECK: %[[K:.*]] = transformer.cache.append %{{.*}} at %[[AT]] in %[[IN]] into
// CHECK: %[[V:.*]] = transformer.cache.append %{{.*}} at %[[AT]] in %[[IN]] into
// CHECK: transformer.attention %{{.*}}, %[[K]], %[[V]] mask(%{{.*}}) at %[[AT]] of %{{.*}} through %[[THROUGH]] {heads = 2 : i64}

// A chunk is the full form, which fills the caches; it returns what is wanted.
// CHECK-LABEL: func.func private @self_attention.chunk(
// CHECK-SAME: %[[IDS:[^:]*]]: tensor<?x?xi32> {transformer.dims = ["batch", "target"], transformer.name = "ids"},
// CHECK-SAME: %[[N:[^:]*]]: tensor<?xi32> {transformer.dims = ["batch"], transformer.name = "target_lengths"},
// CHECK-SAME: %[[WANTED:[^:]*]]: tensor<?x?xi32> {transformer.dims = ["batch", "wanted"], transformer.name = "wanted"},
// CHECK-SAME: %[[IN:[^:]*]]: tensor<?xi32> {transformer.dims = ["batch"], transformer.name = "caches"},
// CHECK-SAME: %[[K0:[^:]*]]: tensor<?x?x8xf32> {transformer.dims = ["caches", "capacity"], transformer.name = "state0", transformer.state},
// CHECK-SAME: transformer.decoder = "self_attention", transformer.role = "chunk"
// CHECK: %[[X:.*]] = transformer.embedding %[[IDS]]
// CHECK: %[[P:.*]] = transformer.positions.sinusoidal %[[X]] {
// CHECK: %[[Y:.*]] = transformer.attention %[[P]], %[[P]], %[[X]] mask(%{{.*}}) {heads = 2 : i64}
// CHECK: %[[K:.*]] = transformer.cache.fill %[[P]] lengths(%[[N]]) in %[[IN]] into %[[K0]]
// CHECK: %[[V:.*]] = transformer.cache.fill %[[X]] lengths(%[[N]]) in %[[IN]] into
// CHECK: %[[TAKEN:.*]] = transformer.take_rows %[[Y]] at %[[WANTED]]
// CHECK: return %[[TAKEN]], %[[K]], %[[V]]

// Nothing is independent of the target, so there is nothing to prepare.
// CHECK-NOT: @self_attention.prepare
transformer.parameter @table : tensor<9x8xf32>
func.func private @self_attention(%ids: tensor<?x?xi32> {transformer.name = "ids", transformer.dims = ["batch", "target"], transformer.target}) -> (tensor<?x?x8xf32> {transformer.name = "logits"}) attributes {transformer.forms = ["full", "step", "chunk"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  %p = transformer.positions.sinusoidal %x {timescales = 4 : i64} : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %causal = transformer.mask.causal
  %y = transformer.attention %p, %p, %x mask(%causal) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, !transformer.mask) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

// Vectors in place of ids: a step has one of each row, by the name that they had.

// CHECK-LABEL: func.func private @vectors.step(
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x8xf32> {transformer.dims = ["rows"], transformer.name = "x"},
// CHECK-SAME: %[[AT:[^:]*]]: tensor<?xi32> {transformer.dims = ["rows"], transformer.name = "positions"},
// CHECK: %[[K:.*]] = transformer.cache.append %[[X]] at %[[AT]] in %{{.*}} into
// CHECK: transformer.attention %[[X]], %[[K]],
// CHECK-LABEL: func.func private @vectors_without_a_name.step(
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x8xf32> {transformer.dims = ["rows"], transformer.name = "vectors"},
func.func private @vectors(%x: tensor<?x?x8xf32> {transformer.name = "x", transformer.dims = ["batch", "target"], transformer.target}) -> (tensor<?x?x8xf32> {transformer.name = "y"}) attributes {transformer.forms = ["step"]} {
  %causal = transformer.mask.causal
  %y = transformer.attention %x, %x, %x mask(%causal) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, !transformer.mask) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}
func.func private @vectors_without_a_name(%x: tensor<?x?x8xf32> {transformer.target}) -> tensor<?x?x8xf32> attributes {transformer.forms = ["step"]} {
  %y = transformer.activation relu %x : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

// A window bounds the cache: at most its reach and the query's own position.
// A function without the full form disappears.

// CHECK-NOT: @window(
// CHECK-LABEL: func.func private @window.step(
// CHECK-SAME: %[[K0:[^:]*]]: tensor<?x?x4xf32> {transformer.dims = ["caches", "capacity<=7"], transformer.name = "state0", transformer.state},
// CHECK-SAME: tensor<?x?x4xf32> {transformer.dims = ["caches", "capacity<=7"], transformer.name = "state1", transformer.state})
// CHECK: transformer.cache.append %{{.*}} into %[[K0]]
// CHECK: transformer.attention {{.*}} {heads = 4 : i64, kv_heads = 2 : i64, scale = 1.000000e+00 : f32} normalizer sum :
// CHECK-SAME: (tensor<?x8xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>,
transformer.parameter @table : tensor<9x8xf32>
transformer.parameter @shrink : tensor<8x4xf32>
func.func private @window(%ids: tensor<?x?xi32> {transformer.target}) -> tensor<?x?x8xf32> attributes {transformer.forms = ["step"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %shrink = transformer.weight @shrink : tensor<8x4xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  %k = transformer.linear %x, %shrink : (tensor<?x?x8xf32>, tensor<8x4xf32>) -> tensor<?x?x4xf32>
  %dilated = transformer.mask.window [left = 3, right = 0, dilation = [1, 1, 2, 2]]
  %y = transformer.attention %x, %k, %k mask(%dilated) {heads = 4 : i64, kv_heads = 2 : i64, scale = 1.0 : f32} normalizer sum : (tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>, !transformer.mask) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

// Beside a window the first keys have slots of their own, for good.

// CHECK-LABEL: func.func private @pinned.step(
// CHECK-SAME: %[[K0:[^:]*]]: tensor<?x?x8xf32> {transformer.dims = ["caches", "capacity<=6"], transformer.name = "state0", transformer.pinned = 2 : i64, transformer.state},
// CHECK-SAME: tensor<?x?x8xf32> {transformer.dims = ["caches", "capacity<=6"], transformer.name = "state1", transformer.pinned = 2 : i64, transformer.state})
// CHECK: transformer.cache.append %{{.*}} into %[[K0]] {pinned = 2 : i64}
// CHECK: transformer.attention {{.*}} {heads = 2 : i64, pinned = 2 : i64}
// CHECK-LABEL: func.func private @pinned.chunk(
// CHECK: transformer.attention {{.*}} {heads = 2 : i64}
// CHECK: transformer.cache.fill {{.*}} {pinned = 2 : i64}
transformer.parameter @table : tensor<9x8xf32>
func.func private @pinned(%ids: tensor<?x?xi32> {transformer.target}) -> tensor<?x?x8xf32> attributes {transformer.forms = ["step", "chunk"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  %window = transformer.mask.window [left = 3, right = 0]
  %global = transformer.mask.global [count = 2]
  %either = transformer.mask.or %window, %global
  %causal = transformer.mask.causal
  %mask = transformer.mask.and %causal, %either
  %y = transformer.attention %x, %x, %x mask(%mask) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, !transformer.mask) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

// A recurrence carries one vector a row; ops on each position are cloned.

// CHECK-LABEL: func.func private @recurrence.step(
// CHECK-SAME: %[[C0:[^:]*]]: tensor<?x8xf32> {transformer.dims = ["rows"], transformer.name = "state0", transformer.state})
// CHECK: %[[X:.*]] = transformer.embedding
// CHECK: %[[C:.*]] = transformer.recurrence step %[[X]], %[[X]] into %[[C0]]
// CHECK: %[[A:.*]] = transformer.activation relu %[[C]] : (tensor<?x8xf32>) -> tensor<?x8xf32>
// CHECK: %[[S:.*]] = transformer.add %[[X]], %[[A]]
// CHECK: %[[N:.*]] = transformer.norm layer %[[S]]
// CHECK: %[[Y:.*]] = transformer.linear %[[N]], %{{.*}} : (tensor<?x8xf32>, tensor<8x9xf32>) -> tensor<?x9xf32>
// CHECK: return %[[Y]], %[[C]]
// Without caches there is nothing that beams could share.
// CHECK-NOT: @recurrence.beam
// CHECK-LABEL: func.func private @recurrence.chunk(
// CHECK-SAME: %[[C0:[^:]*]]: tensor<?x8xf32> {transformer.dims = ["batch"], transformer.name = "state0", transformer.state})
// CHECK: %[[C:.*]] = transformer.recurrence %[[X:.*]], %[[X]] : (tensor<?x?x8xf32>
// CHECK: %[[S:.*]] = transformer.last_rows %[[C]] lengths(%{{.*}}) into %[[C0]]
// CHECK: %[[N:.*]] = transformer.norm layer
// Logits are those of the wanted rows.
// CHECK-NEXT: %[[TAKEN:.*]] = transformer.take_rows %[[N]] at
// CHECK-NEXT: %[[Y:.*]] = transformer.linear %[[TAKEN]],
// CHECK-NEXT: return %[[Y]], %[[S]]
transformer.parameter @table : tensor<9x8xf32>
transformer.parameter @gamma : tensor<8xf32>
transformer.parameter @out : tensor<8x9xf32>
func.func private @recurrence(%ids: tensor<?x?xi32> {transformer.target}) -> tensor<?x?x9xf32> attributes {transformer.forms = ["step", "chunk"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %gamma = transformer.weight @gamma : tensor<8xf32>
  %out = transformer.weight @out : tensor<8x9xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  %c = transformer.recurrence %x, %x : (tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %a = transformer.activation relu %c : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %s = transformer.add %x, %a : (tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %n = transformer.norm layer %s, %gamma {epsilon = 0.0 : f32} : (tensor<?x?x8xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  %y = transformer.linear %n, %out : (tensor<?x?x8xf32>, tensor<8x9xf32>) -> tensor<?x?x9xf32>
  return %y : tensor<?x?x9xf32>
}

// -----

// Causal linear attention carries the sums of its keys, whatever the length.

// CHECK-LABEL: func.func private @linear_attention.step(
// CHECK-SAME: %[[S0:[^:]*]]: tensor<?x2x5x4xf32> {transformer.dims = ["rows"], transformer.name = "state0", transformer.state}
// CHECK-SAME: %[[Z0:[^:]*]]: tensor<?x2x5xf32> {transformer.dims = ["rows"], transformer.name = "state1", transformer.state})
// CHECK: %[[X:.*]] = transformer.embedding
// CHECK: %[[EMPTY:.*]] = tensor.empty(%{{.*}}) : tensor<?x8xf32>
// CHECK: %[[Y:.*]]:3 = transformer.linear_attention step %[[X]], %[[X]], %[[X]] into %[[EMPTY]], %[[S0]], %[[Z0]] {heads = 2 : i64} features taylor
// CHECK: return %[[Y]]#0, %[[Y]]#1, %[[Y]]#2
// CHECK-LABEL: func.func private @linear_attention.chunk(
// CHECK-SAME: %[[N:[^:]*]]: tensor<?xi32> {transformer.dims = ["batch"], transformer.name = "target_lengths"}
// CHECK-SAME: %[[S0:[^:]*]]: tensor<?x2x5x4xf32> {transformer.dims = ["batch"], transformer.name = "state0", transformer.state}
// CHECK-SAME: %[[Z0:[^:]*]]: tensor<?x2x5xf32> {transformer.dims = ["batch"], transformer.name = "state1", transformer.state})
// CHECK: transformer.linear_attention %[[X:.*]], %[[X]], %[[X]] causal {heads = 2 : i64} features taylor
// CHECK: transformer.linear_attention.sums %[[X]], %[[X]] lengths(%[[N]]) into %[[S0]], %[[Z0]] {heads = 2 : i64} features taylor
transformer.parameter @table : tensor<9x8xf32>
func.func private @linear_attention(%ids: tensor<?x?xi32> {transformer.target}) -> tensor<?x?x8xf32> attributes {transformer.forms = ["step", "chunk"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  %y = transformer.linear_attention %x, %x, %x causal {heads = 2 : i64} features taylor : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

// Sums over the memory are prepared, with their region; each row reads those of
// its sentence.

// CHECK-LABEL: func.func private @linear_memory.prepare(
// CHECK: transformer.linear_attention.sums %{{.*}}, %{{.*}} {heads = 2 : i64} features {
// CHECK: return %{{.*}}#0, %{{.*}}#1 : tensor<?x2x4x4xf32>, tensor<?x2x4xf32>
// CHECK-LABEL: func.func private @linear_memory.step(
// CHECK-SAME: %[[OF:[^:]*]]: tensor<?xi32> {transformer.dims = ["rows"], transformer.name = "sentences"}
// CHECK-SAME: %[[S:[^:]*]]: tensor<?x2x4x4xf32> {transformer.dims = ["batch"], transformer.name = "prepared0", transformer.prepared}
// CHECK-SAME: %[[Z:[^:]*]]: tensor<?x2x4xf32> {transformer.dims = ["batch"], transformer.name = "prepared1", transformer.prepared}
// CHECK-NOT: transformer.linear_attention.sums
// CHECK: transformer.linear_attention.read %{{.*}}, %[[S]], %[[Z]] of %[[OF]] {heads = 2 : i64} features {
// CHECK: math.exp
// CHECK-LABEL: func.func private @linear_memory.chunk(
// CHECK-SAME: %[[S:[^:]*]]: tensor<?x2x4x4xf32> {transformer.dims = ["batch"], transformer.name = "prepared0", transformer.prepared}
// CHECK: transformer.linear_attention.read %{{.*}}, %[[S]], %{{.*}} {heads = 2 : i64} features {
transformer.parameter @table : tensor<9x8xf32>
func.func private @linear_memory(%ids: tensor<?x?xi32> {transformer.target}, %memory: tensor<?x?x8xf32> {transformer.name = "memory", transformer.dims = ["batch", "source"]}) -> tensor<?x?x8xf32> attributes {transformer.forms = ["step", "chunk"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  %s, %z = transformer.linear_attention.sums %memory, %memory {heads = 2 : i64} features {
  ^bb0(%e: f32):
    %f = math.exp %e : f32
    transformer.yield %f : f32
  } : (tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> (tensor<?x2x4x4xf32>, tensor<?x2x4xf32>)
  %y = transformer.linear_attention.read %x, %s, %z {heads = 2 : i64} features {
  ^bb0(%e: f32):
    %f = math.exp %e : f32
    transformer.yield %f : f32
  } : (tensor<?x?x8xf32>, tensor<?x2x4x4xf32>, tensor<?x2x4xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

// Over the memory: keys are prepared, lengths are passed through, nothing is
// carried. What prepare does not need is not computed by it.

// CHECK-LABEL: func.func private @cross_attention.prepare(
// CHECK-SAME: %[[M:[^:]*]]: tensor<?x?x8xf32> {transformer.dims = ["batch", "source"], transformer.name = "memory"}, %{{[^:]*}}: tensor<?xi32> {{.*}}) -> (tensor<?x?x8xf32> {transformer.name = "prepared0"})
// CHECK-NOT: transformer.mask
// CHECK-NOT: transformer.embedding
// CHECK: %[[K:.*]] = transformer.linear %[[M]]
// CHECK: return %[[K]]

// CHECK-LABEL: func.func private @cross_attention.step(
// CHECK-SAME: %[[OF:[^:]*]]: tensor<?xi32> {transformer.dims = ["rows"], transformer.name = "sentences"},
// CHECK-SAME: %[[L:[^:]*]]: tensor<?xi32> {transformer.dims = ["batch"], transformer.name = "lengths"},
// CHECK-SAME: %[[K:[^:]*]]: tensor<?x?x8xf32> {transformer.dims = ["batch", "source"], transformer.name = "prepared0", transformer.prepared})
// CHECK-NOT: transformer.cache
// CHECK-DAG: %[[VALID:.*]] = transformer.mask.padding %[[L]]
// CHECK-DAG: %[[X:.*]] = transformer.embedding
// CHECK: transformer.attention %[[X]], %[[K]], %[[K]] mask(%[[VALID]]) at %{{.*}} of %[[OF]] shared
transformer.parameter @table : tensor<9x8xf32>
transformer.parameter @key : tensor<8x8xf32>
func.func private @cross_attention(%ids: tensor<?x?xi32> {transformer.name = "ids", transformer.dims = ["batch", "target"], transformer.target}, %memory: tensor<?x?x8xf32> {transformer.name = "memory", transformer.dims = ["batch", "source"]}, %lengths: tensor<?xi32> {transformer.name = "lengths", transformer.dims = ["batch"]}) -> tensor<?x?x8xf32> attributes {transformer.forms = ["full", "step"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %wk = transformer.weight @key : tensor<8x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  %k = transformer.linear %memory, %wk : (tensor<?x?x8xf32>, tensor<8x8xf32>) -> tensor<?x?x8xf32>
  %valid = transformer.mask.padding %lengths : tensor<?xi32>
  %y = transformer.attention %x, %k, %k mask(%valid) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, !transformer.mask) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

// A shortlist: its rows and biases are gathered once a sentence.

// CHECK-LABEL: func.func private @shortlist.prepare(
// CHECK-SAME: %[[C:[^:]*]]: tensor<?x?xi32> {transformer.dims = ["batch", "candidates"]
// CHECK-SAME: -> (tensor<?x?x8xf32> {transformer.name = "prepared0"}, tensor<?x?xf32> {transformer.name = "prepared1"})
// CHECK: %[[ROWS:.*]] = transformer.embedding %[[C]], %{{.*}} : (tensor<?x?xi32>, tensor<9x8xf32>)
// CHECK: %[[BIAS:.*]] = transformer.embedding %[[C]], %{{.*}} : (tensor<?x?xi32>, tensor<9xf32>)
// CHECK: return %[[ROWS]], %[[BIAS]]

// CHECK-LABEL: func.func private @shortlist.step(
// CHECK-SAME: %[[OF:[^:]*]]: tensor<?xi32> {transformer.dims = ["rows"], transformer.name = "sentences"},
// CHECK-SAME: %[[N:[^:]*]]: tensor<?xi32> {transformer.dims = ["batch"], transformer.name = "counts"},
// CHECK-SAME: %[[ROWS:[^:]*]]: tensor<?x?x8xf32> {transformer.dims = ["batch", "candidates"], transformer.name = "prepared0", transformer.prepared},
// CHECK-SAME: %[[BIAS:[^:]*]]: tensor<?x?xf32> {transformer.dims = ["batch", "candidates"], transformer.name = "prepared1", transformer.prepared})
// CHECK-SAME: -> tensor<?x?xf32>
// CHECK: transformer.candidate_logits %{{.*}}, %[[ROWS]], %[[BIAS]], %[[N]] of %[[OF]]
// CHECK-LABEL: func.func private @shortlist.chunk(
// CHECK-SAME: %[[ROWS:[^:]*]]: tensor<?x?x8xf32> {transformer.dims = ["batch", "candidates"], transformer.name = "prepared0", transformer.prepared},
// CHECK: %[[TAKEN:.*]] = transformer.take_rows
// CHECK: transformer.candidate_logits %[[TAKEN]], %[[ROWS]], %{{.*}}, %{{.*}} : (tensor<?x?x8xf32>
transformer.parameter @table : tensor<9x8xf32>
transformer.parameter @bias : tensor<9xf32>
func.func private @shortlist(%ids: tensor<?x?xi32> {transformer.name = "ids", transformer.dims = ["batch", "target"], transformer.target}, %candidates: tensor<?x?xi32> {transformer.name = "candidates", transformer.dims = ["batch", "candidates"]}, %counts: tensor<?xi32> {transformer.name = "counts", transformer.dims = ["batch"]}) -> tensor<?x?x?xf32> attributes {transformer.forms = ["step", "chunk"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %biases = transformer.weight @bias : tensor<9xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  %rows = transformer.embedding %candidates, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  %bias = transformer.embedding %candidates, %biases : (tensor<?x?xi32>, tensor<9xf32>) -> tensor<?x?xf32>
  %y = transformer.candidate_logits %x, %rows, %bias, %counts : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?xf32>, tensor<?xi32>) -> tensor<?x?x?xf32>
  return %y : tensor<?x?x?xf32>
}

// -----

// Regions capture weights and constants; both are cloned.

// CHECK-LABEL: func.func private @captured_table.step(
// CHECK-DAG: %[[SLOPES:.*]] = transformer.weight @slopes
// CHECK-DAG: %[[CAP:.*]] = arith.constant 3.000000e+01
// CHECK: transformer.attention {{.*}} score {
// CHECK: transformer.lookup %[[SLOPES]][
// CHECK: arith.mulf %{{.*}}, %[[CAP]]
transformer.parameter @table : tensor<9x8xf32>
transformer.parameter @slopes : tensor<2xf32>
func.func private @captured_table(%ids: tensor<?x?xi32> {transformer.target}) -> tensor<?x?x8xf32> attributes {transformer.forms = ["step"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %slopes = transformer.weight @slopes : tensor<2xf32>
  %cap = arith.constant 30.0 : f32
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  %causal = transformer.mask.causal
  %y = transformer.attention %x, %x, %x mask(%causal) {heads = 2 : i64} score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    %slope = transformer.lookup %slopes[%h] : tensor<2xf32> -> f32
    %t = arith.mulf %slope, %cap : f32
    transformer.yield %t : f32
  } : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, !transformer.mask) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

// Vectors in fewer bits are made anew of the rows that are wanted.

// CHECK-LABEL: func.func private @short_rows.chunk(
// CHECK: %[[X:.*]] = transformer.embedding
// CHECK: %[[R:.*]] = transformer.activation relu %[[X]]
// CHECK-DAG: %[[WX:.*]] = transformer.take_rows %[[X]] at
// CHECK-DAG: %[[WR:.*]] = transformer.take_rows %[[R]] at
// CHECK: %[[N:.*]]:3 = transformer.norm rms %[[WX]], %{{.*}} residual(%[[WR]]) also quantize
// CHECK: %[[Y:.*]] = transformer.linear %[[N]]#1 scales(%[[N]]#2)
// CHECK: return %[[Y]]
transformer.parameter @table : tensor<9x8xf32>
transformer.parameter @gamma : tensor<8xf32>
transformer.parameter @out : tensor<8x9xi8>
transformer.parameter @scales : tensor<9xf32>
func.func private @short_rows(%ids: tensor<?x?xi32> {transformer.target}) -> tensor<?x?x9xf32> attributes {transformer.forms = ["step", "chunk"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %gamma = transformer.weight @gamma : tensor<8xf32>
  %out = transformer.weight @out : tensor<8x9xi8>
  %scales = transformer.weight @scales : tensor<9xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  %r = transformer.activation relu %x : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %n:3 = transformer.norm rms %x, %gamma residual(%r) also quantize {epsilon = 0.5 : f32} : (tensor<?x?x8xf32>, tensor<8xf32>, tensor<?x?x8xf32>) -> (tensor<?x?x8xf32>, tensor<?x?x8xi8>, tensor<?x?xf32>)
  %y = transformer.linear %n#1 scales(%n#2), %out scales(%scales) : (tensor<?x?x8xi8>, tensor<?x?xf32>, tensor<8x9xi8>, tensor<9xf32>) -> tensor<?x?x9xf32>
  return %y : tensor<?x?x9xf32>
}

// -----

// An encoder has no step: it is left alone.

// CHECK-LABEL: func.func private @encoder(
// CHECK-SAME: transformer.forms = ["full"], transformer.role = "encode"
// CHECK-NOT: @encoder.
func.func private @encoder(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> attributes {transformer.forms = ["full"]} {
  %y = transformer.attention %x, %x, %x {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

// Fused ops: an embedding learns each row's position, a residual is the step's,
// and all results of a split linear lose time.

// CHECK-LABEL: func.func private @fused.step(
// CHECK-SAME: %[[IDS:[^:]*]]: tensor<?xi32> {{[^%]*}}%[[AT:[^:]*]]: tensor<?xi32>
// CHECK: %[[X:.*]] = transformer.embedding %[[IDS]], %{{.*}} positions(sinusoidal, 4, halves) at %[[AT]] : (tensor<?xi32>, tensor<9x8xf32>, tensor<?xi32>) -> tensor<?x8xf32>
// CHECK: %[[F:.*]]:2 = transformer.linear %[[X]], %{{.*}} split [4, 4] : (tensor<?x8xf32>, tensor<8x8xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>)
// CHECK: %[[C:.*]] = transformer.recurrence step %[[F]]#0, %[[F]]#1
// CHECK: %[[Y:.*]] = transformer.linear %[[C]], %{{.*}} activation(relu) residual(%[[X]]) : (tensor<?x4xf32>, tensor<4x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
// CHECK: %[[N:.*]] = transformer.norm rms %[[Y]], %{{.*}} residual(%[[X]]) {{.*}} -> tensor<?x8xf32>
// CHECK: transformer.ffn %[[N]], %{{.*}}, %{{.*}} residual(%[[N]]) : {{.*}} -> tensor<?x8xf32>
transformer.parameter @table : tensor<9x8xf32>
transformer.parameter @fv : tensor<8x8xf32>
transformer.parameter @up : tensor<4x8xf32>
transformer.parameter @gamma : tensor<8xf32>
func.func private @fused(%ids: tensor<?x?xi32> {transformer.target}) -> tensor<?x?x8xf32> attributes {transformer.forms = ["step"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %fv = transformer.weight @fv : tensor<8x8xf32>
  %up = transformer.weight @up : tensor<4x8xf32>
  %gamma = transformer.weight @gamma : tensor<8xf32>
  %x = transformer.embedding %ids, %table positions(sinusoidal, 4, halves) : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  %f:2 = transformer.linear %x, %fv split [4, 4] : (tensor<?x?x8xf32>, tensor<8x8xf32>) -> (tensor<?x?x4xf32>, tensor<?x?x4xf32>)
  %c = transformer.recurrence %f#0, %f#1 : (tensor<?x?x4xf32>, tensor<?x?x4xf32>) -> tensor<?x?x4xf32>
  %y = transformer.linear %c, %up activation(relu) residual(%x) : (tensor<?x?x4xf32>, tensor<4x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %n = transformer.norm rms %y, %gamma residual(%x) {epsilon = 0.5 : f32} : (tensor<?x?x8xf32>, tensor<8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %z = transformer.ffn %n, %fv, %fv residual(%n) : (tensor<?x?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %z : tensor<?x?x8xf32>
}

// -----

// There is no chunk of results whose rows nothing can take.

// CHECK-LABEL: func.func private @chunk_without_rows.step(
// CHECK-NOT: @chunk_without_rows.chunk
transformer.parameter @column : tensor<9xf32>
func.func private @chunk_without_rows(%ids: tensor<?x?xi32> {transformer.target}) -> tensor<?x?xf32> attributes {transformer.forms = ["step", "chunk"]} {
  %table = transformer.weight @column : tensor<9xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9xf32>) -> tensor<?x?xf32>
  return %x : tensor<?x?xf32>
}

// -----

// The task of a function is its role, and it is no form of a decoder.

// CHECK-LABEL: func.func private @vectors(
// CHECK-NOT: transformer.decoder
// CHECK-SAME: attributes {transformer.forms = ["full"], transformer.role = "embed", transformer.task = "embed"}
// CHECK: transformer.pool [mean]
// CHECK-NOT: @vectors.
func.func private @vectors(%memory: tensor<?x?x8xf32> {transformer.name = "memory", transformer.dims = ["batch", "source"]}, %lengths: tensor<?xi32> {transformer.name = "lengths", transformer.dims = ["batch"]}) -> (tensor<?x8xf32> {transformer.name = "vectors"}) attributes {transformer.forms = ["full"], transformer.task = "embed"} {
  %y = transformer.pool [mean] %memory of %lengths : (tensor<?x?x8xf32>, tensor<?xi32>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// Vectors of length 1 are those of a row, in a step as well.

// CHECK-LABEL: func.func private @normalized.step(
// CHECK: %[[X:.*]] = transformer.embedding {{.*}} -> tensor<?x8xf32>
// CHECK: transformer.normalize %[[X]] {epsilon = {{.*}} : f32} : (tensor<?x8xf32>) -> tensor<?x8xf32>
transformer.parameter @table : tensor<9x8xf32>
func.func private @normalized(%ids: tensor<?x?xi32> {transformer.name = "ids", transformer.dims = ["batch", "target"], transformer.target}) -> (tensor<?x?x8xf32> {transformer.name = "logits"}) attributes {transformer.forms = ["step"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  %y = transformer.normalize %x {epsilon = 1.0e-12 : f32} : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}
