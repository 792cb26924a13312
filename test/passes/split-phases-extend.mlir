// Rows of prompts and of steps in one call: a step that is told which are which.
// RUN: heddle-opt %s -transformer-split-phases -split-input-file | FileCheck %s
// RUN: heddle-opt %s -transformer-split-phases -transformer-fuse-masks -split-input-file | FileCheck %s --check-prefix=FUSED

// All rows are written before any is read, so the mask of a block stays.

// CHECK-LABEL: func.func private @self_attention.step(
// CHECK-LABEL: func.func private @self_attention.beam(
// CHECK-LABEL: func.func private @self_attention.extend(
// CHECK-SAME: %[[IDS:[^:]*]]: tensor<?xi32> {transformer.dims = ["tokens"], transformer.name = "ids"},
// CHECK-SAME: %[[AT:[^:]*]]: tensor<?xi32> {transformer.dims = ["tokens"], transformer.name = "positions"},
// CHECK-SAME: %[[OF:[^:]*]]: tensor<?xi32> {transformer.dims = ["tokens"], transformer.name = "sentences"},
// CHECK-SAME: %[[IN:[^:]*]]: tensor<?xi32> {transformer.dims = ["tokens"], transformer.name = "caches"},
// CHECK-SAME: %[[BLOCKS:[^:]*]]: tensor<?xi32> {transformer.dims = ["blocks"], transformer.name = "prefill"},
// CHECK-SAME: %[[WANTED:[^:]*]]: tensor<?xi32> {transformer.dims = ["wanted"], transformer.name = "wanted"},
// CHECK-SAME: %[[K0:[^:]*]]: tensor<?x?x8xf32> {transformer.dims = ["caches", "capacity"], transformer.name = "state0", transformer.state},
// CHECK-SAME: -> (tensor<?x8xf32> {transformer.name = "logits"}, tensor<?x?x8xf32>, tensor<?x?x8xf32>)
// CHECK-SAME: transformer.decoder = "self_attention", transformer.role = "extend"
// CHECK: %[[X:.*]] = transformer.embedding %[[IDS]]
// CHECK: %[[P:.*]] = transformer.positions.sinusoidal %[[X]] at %[[AT]]
// CHECK: %[[K:.*]] = transformer.cache.append %[[P]] at %[[AT]] in %[[IN]] into %[[K0]]
// CHECK: %[[V:.*]] = transformer.cache.append %[[X]] at %[[AT]] in %[[IN]] into
// CHECK: %[[Y:.*]] = transformer.attention %[[P]], %[[K]], %[[V]] mask(%{{.*}}) at %[[AT]] of %[[OF]] in %[[IN]] prefill(%[[BLOCKS]]) {heads = 2 : i64}
// CHECK: %[[TAKEN:.*]] = transformer.take_rows %[[Y]] at %[[WANTED]] : (tensor<?x8xf32>, tensor<?xi32>)
// CHECK: return %[[TAKEN]], %[[K]], %[[V]]
// CHECK-NOT: @self_attention.chunk

// FUSED-LABEL: func.func private @self_attention.step(
// FUSED: transformer.attention %{{[^m]*}} at
// FUSED-LABEL: func.func private @self_attention.extend(
// FUSED: transformer.attention {{.*}} mask(
transformer.parameter @table : tensor<9x8xf32>
func.func private @self_attention(%ids: tensor<?x?xi32> {transformer.name = "ids", transformer.dims = ["batch", "target"], transformer.target}) -> (tensor<?x?x8xf32> {transformer.name = "logits"}) attributes {transformer.forms = ["step", "extend"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  %p = transformer.positions.sinusoidal %x {timescales = 4 : i64} : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %causal = transformer.mask.causal
  %y = transformer.attention %p, %p, %x mask(%causal) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, !transformer.mask) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

// A ring has room for the 256 rows of a call behind its window, and ends, as
// pinned slots do, where blocks of 32 queries do: 32 + 288 slots.

// CHECK-LABEL: func.func private @pinned.step(
// CHECK-SAME: transformer.dims = ["caches", "capacity<=320"], transformer.name = "state0", transformer.pinned = 32 : i64, transformer.state}
// CHECK: transformer.cache.append {{.*}} {pinned = 32 : i64}
// CHECK: transformer.attention {{.*}} {heads = 2 : i64, pinned = 32 : i64}
// CHECK-LABEL: func.func private @pinned.extend(
// CHECK-SAME: transformer.dims = ["caches", "capacity<=320"], transformer.name = "state0", transformer.pinned = 32 : i64, transformer.state}
// CHECK: transformer.cache.append {{.*}} {pinned = 32 : i64}
// CHECK: transformer.attention {{.*}} prefill(%{{.*}}) {heads = 2 : i64, pinned = 32 : i64}
// A step's cache holds more than its window then, and keeps the mask.
// FUSED-LABEL: func.func private @pinned.step(
// FUSED: transformer.attention {{.*}} mask(
transformer.parameter @table : tensor<9x8xf32>
func.func private @pinned(%ids: tensor<?x?xi32> {transformer.target}) -> tensor<?x?x8xf32> attributes {transformer.forms = ["step", "extend"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  %window = transformer.mask.window [left = 3, right = 0]
  %global = transformer.mask.global [count = 2]
  %either = transformer.mask.or %window, %global
  %causal = transformer.mask.causal
  %mask = transformer.mask.and %either, %causal
  %y = transformer.attention %x, %x, %x mask(%mask) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, !transformer.mask) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

// A memory that sentences share, and logits of candidates, which ask whose row it
// is.

// CHECK-LABEL: func.func private @shortlist.extend(
// CHECK-SAME: %[[OF:[^:]*]]: tensor<?xi32> {transformer.dims = ["tokens"], transformer.name = "sentences"},
// CHECK-SAME: %[[BLOCKS:[^:]*]]: tensor<?xi32> {transformer.dims = ["blocks"], transformer.name = "prefill"},
// CHECK-SAME: %[[WANTED:[^:]*]]: tensor<?xi32> {transformer.dims = ["wanted"], transformer.name = "wanted"},
// CHECK-SAME: %[[WHOSE:[^:]*]]: tensor<?xi32> {transformer.dims = ["wanted"], transformer.name = "wanted_sentences"},
// CHECK: %[[Y:.*]] = transformer.attention {{.*}} of %[[OF]] shared prefill(%[[BLOCKS]])
// CHECK: %[[TAKEN:.*]] = transformer.take_rows %[[Y]] at %[[WANTED]]
// CHECK: transformer.candidate_logits %[[TAKEN]], {{.*}} of %[[WHOSE]] : (tensor<?x8xf32>
transformer.parameter @table : tensor<9x8xf32>
transformer.parameter @bias : tensor<9xf32>
func.func private @shortlist(%ids: tensor<?x?xi32> {transformer.name = "ids", transformer.dims = ["batch", "target"], transformer.target}, %memory: tensor<?x?x8xf32> {transformer.name = "memory", transformer.dims = ["batch", "source"]}, %candidates: tensor<?x?xi32> {transformer.name = "candidates", transformer.dims = ["batch", "candidates"]}, %counts: tensor<?xi32> {transformer.name = "counts", transformer.dims = ["batch"]}) -> tensor<?x?x?xf32> attributes {transformer.forms = ["step", "extend"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %biases = transformer.weight @bias : tensor<9xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  %y = transformer.attention %x, %memory, %memory {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %rows = transformer.embedding %candidates, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  %bias = transformer.embedding %candidates, %biases : (tensor<?x?xi32>, tensor<9xf32>) -> tensor<?x?xf32>
  %l = transformer.candidate_logits %y, %rows, %bias, %counts : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?xf32>, tensor<?xi32>) -> tensor<?x?x?xf32>
  return %l : tensor<?x?x?xf32>
}

// -----

// Rows of one call do not see each other's states: a recurrence has chunks.

// CHECK-LABEL: func.func private @recurrence.step(
// CHECK-NOT: @recurrence.extend
// CHECK-LABEL: func.func private @recurrence.chunk(
// CHECK-NOT: @recurrence.extend
transformer.parameter @table : tensor<9x8xf32>
func.func private @recurrence(%ids: tensor<?x?xi32> {transformer.target}) -> tensor<?x?x8xf32> attributes {transformer.forms = ["step", "extend"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  %y = transformer.recurrence %x, %x : (tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}
