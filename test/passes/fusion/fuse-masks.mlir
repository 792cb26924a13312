// Masks that something else implies are dropped.
// RUN: heddle-opt %s -transformer-fuse-masks -canonicalize -remarks-filter=.* -remark-format=emitRemark 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK <%t

!row = tensor<?x8xf32>
!cache = tensor<?x?x8xf32>
!ring = tensor<?x4x8xf32>
!perRow = tensor<?xi32>
!mask = !transformer.mask

// REMARK: "attn needs no mask.causal in a step: its cache ends at the query itself"
// CHECK-LABEL: func.func @causal_step(
// CHECK-NOT: transformer.mask
// CHECK: transformer.attention %arg0, %arg1, %arg1 at %arg2 of %arg2 {heads
func.func @causal_step(%q: !row, %k: !cache, %at: !perRow) -> !row {
  %causal = transformer.mask.causal
  %y = transformer.attention %q, %k, %k mask(%causal) at %at of %at {heads = 2 : i64} : (!row, !cache, !cache, !mask, !perRow, !perRow) -> !row loc("attn")
  return %y : !row
}

// REMARK: "attn keeps mask.padding in a step, since its cache alone does not imply it"
// REMARK: "attn needs no mask.causal in a step
// CHECK-LABEL: func.func @causal_and_padding_step(
// CHECK-NEXT: %[[VALID:.*]] = transformer.mask.padding
// CHECK-NEXT: transformer.attention {{.*}} mask(%[[VALID]])
func.func @causal_and_padding_step(%q: !row, %k: !cache, %at: !perRow) -> !row {
  %causal = transformer.mask.causal
  %valid = transformer.mask.padding %at : !perRow
  %m = transformer.mask.and %valid, %causal
  %y = transformer.attention %q, %k, %k mask(%m) at %at of %at {heads = 2 : i64} : (!row, !cache, !cache, !mask, !perRow, !perRow) -> !row loc("attn")
  return %y : !row
}

// A ring of four slots is a window of three and the query itself.

// REMARK: "attn needs no mask.window in a step
// CHECK-LABEL: func.func @window_of_the_ring(
// CHECK-NEXT: transformer.attention %arg0, %arg1, %arg1 at
func.func @window_of_the_ring(%q: !row, %k: !ring, %at: !perRow) -> !row {
  %w = transformer.mask.window [left = 3, right = 0]
  %y = transformer.attention %q, %k, %k mask(%w) at %at of %at {heads = 2 : i64} : (!row, !ring, !ring, !mask, !perRow, !perRow) -> !row loc("attn")
  return %y : !row
}

// So is one whose slots have the bound in their name, behind what is appended.

// REMARK: "attn needs no mask.window in a step
// REMARK: "attn keeps mask.window in a step
// CHECK-LABEL: func.func @window_of_a_bounded_ring(
// CHECK: %[[K:.*]] = transformer.cache.append
// CHECK-NOT: left = 3
// CHECK: transformer.attention %arg0, %[[K]], %[[K]] at
// CHECK: transformer.attention %arg0, %[[K]], %[[K]] mask(
func.func @window_of_a_bounded_ring(%q: !row, %s: !cache {transformer.dims = ["rows", "capacity<=4"]}, %at: !perRow) -> (!row, !row) {
  %w = transformer.mask.window [left = 3, right = 0]
  %n = transformer.mask.window [left = 2, right = 0]
  %k = transformer.cache.append %q at %at into %s : (!row, !perRow, !cache) -> !cache
  %y = transformer.attention %q, %k, %k mask(%w) at %at of %at {heads = 2 : i64} : (!row, !cache, !cache, !mask, !perRow, !perRow) -> !row loc("attn")
  %z = transformer.attention %q, %k, %k mask(%n) at %at of %at {heads = 2 : i64} : (!row, !cache, !cache, !mask, !perRow, !perRow) -> !row loc("attn")
  return %y, %z : !row, !row
}

// REMARK: "attn keeps mask.window in a step
// REMARK: "attn keeps mask.window in a step
// CHECK-LABEL: func.func @narrower_or_dilated(
// CHECK-COUNT-2: mask(
func.func @narrower_or_dilated(%q: !row, %k: !ring, %at: !perRow) -> (!row, !row) {
  %w = transformer.mask.window [left = 2, right = 0]
  %d = transformer.mask.window [left = 3, right = 0, dilation = [2]]
  %y = transformer.attention %q, %k, %k mask(%w) at %at of %at {heads = 2 : i64} : (!row, !ring, !ring, !mask, !perRow, !perRow) -> !row loc("attn")
  %z = transformer.attention %q, %k, %k mask(%d) at %at of %at {heads = 2 : i64} : (!row, !ring, !ring, !mask, !perRow, !perRow) -> !row loc("attn")
  return %y, %z : !row, !row
}

// The memory of a sentence is no cache of the row's: nothing is implied.

// CHECK-LABEL: func.func @shared_memory(
// CHECK: mask(
func.func @shared_memory(%q: !row, %k: !cache, %at: !perRow) -> !row {
  %causal = transformer.mask.causal
  %y = transformer.attention %q, %k, %k mask(%causal) at %at of %at shared {heads = 2 : i64} : (!row, !cache, !cache, !mask, !perRow, !perRow) -> !row
  return %y : !row
}

// On whole sequences one mask can imply another; of two equal ones one stays.

// REMARK: "encoder needs no mask.causal: its other masks imply it"
// CHECK-LABEL: func.func @dilated_window_is_causal(
// CHECK-NEXT: %[[W:.*]] = transformer.mask.window [left = 3, right = 0, dilation = 2]
// CHECK-NEXT: transformer.attention {{.*}} mask(%[[W]])
func.func @dilated_window_is_causal(%x: !cache, %lengths: !perRow) -> !cache {
  %causal = transformer.mask.causal
  %w = transformer.mask.window [left = 3, right = 0, dilation = [2]]
  %m = transformer.mask.and %causal, %w
  %y = transformer.attention %x, %x, %x mask(%m) {heads = 2 : i64} : (!cache, !cache, !cache, !mask) -> !cache loc("encoder")
  return %y : !cache
}

// CHECK-LABEL: func.func @two_causal(
// CHECK-NEXT: %[[C:.*]] = transformer.mask.causal
// CHECK-NEXT: transformer.attention {{.*}} mask(%[[C]])
func.func @two_causal(%x: !cache) -> !cache {
  %a = transformer.mask.causal
  %b = transformer.mask.causal
  %m = transformer.mask.and %a, %b
  %y = transformer.attention %x, %x, %x mask(%m) {heads = 2 : i64} : (!cache, !cache, !cache, !mask) -> !cache
  return %y : !cache
}
