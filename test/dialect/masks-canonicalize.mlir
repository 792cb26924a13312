// Folding and canonicalisation of the mask algebra and of attention under it.
// RUN: heddle-opt %s -canonicalize | FileCheck %s

func.func private @use(!transformer.mask)

// CHECK-LABEL: @full_is_neutral_for_and
func.func @full_is_neutral_for_and() {
  // CHECK-NEXT: %[[CAUSAL:.*]] = transformer.mask.causal
  // CHECK-NEXT: call @use(%[[CAUSAL]])
  // CHECK-NEXT: call @use(%[[CAUSAL]])
  %full = transformer.mask.full
  %causal = transformer.mask.causal
  %0 = transformer.mask.and %full, %causal
  call @use(%0) : (!transformer.mask) -> ()
  %1 = transformer.mask.and %causal, %full
  call @use(%1) : (!transformer.mask) -> ()
  return
}

// CHECK-LABEL: @empty_absorbs_in_and
func.func @empty_absorbs_in_and() {
  // CHECK-NEXT: %[[EMPTY:.*]] = transformer.mask.empty
  // CHECK-NEXT: call @use(%[[EMPTY]])
  // CHECK-NEXT: call @use(%[[EMPTY]])
  %empty = transformer.mask.empty
  %causal = transformer.mask.causal
  %0 = transformer.mask.and %empty, %causal
  call @use(%0) : (!transformer.mask) -> ()
  %1 = transformer.mask.and %causal, %empty
  call @use(%1) : (!transformer.mask) -> ()
  return
}

// CHECK-LABEL: @empty_is_neutral_for_or
func.func @empty_is_neutral_for_or() {
  // CHECK-NEXT: %[[CAUSAL:.*]] = transformer.mask.causal
  // CHECK-NEXT: call @use(%[[CAUSAL]])
  // CHECK-NEXT: call @use(%[[CAUSAL]])
  %empty = transformer.mask.empty
  %causal = transformer.mask.causal
  %0 = transformer.mask.or %empty, %causal
  call @use(%0) : (!transformer.mask) -> ()
  %1 = transformer.mask.or %causal, %empty
  call @use(%1) : (!transformer.mask) -> ()
  return
}

// CHECK-LABEL: @full_absorbs_in_or
func.func @full_absorbs_in_or() {
  // CHECK-NEXT: %[[FULL:.*]] = transformer.mask.full
  // CHECK-NEXT: call @use(%[[FULL]])
  // CHECK-NEXT: call @use(%[[FULL]])
  %full = transformer.mask.full
  %causal = transformer.mask.causal
  %0 = transformer.mask.or %full, %causal
  call @use(%0) : (!transformer.mask) -> ()
  %1 = transformer.mask.or %causal, %full
  call @use(%1) : (!transformer.mask) -> ()
  return
}

// CHECK-LABEL: @and_or_of_the_same
func.func @and_or_of_the_same() {
  // CHECK-NEXT: %[[CAUSAL:.*]] = transformer.mask.causal
  // CHECK-NEXT: call @use(%[[CAUSAL]])
  // CHECK-NEXT: call @use(%[[CAUSAL]])
  %causal = transformer.mask.causal
  %0 = transformer.mask.and %causal, %causal
  call @use(%0) : (!transformer.mask) -> ()
  %1 = transformer.mask.or %causal, %causal
  call @use(%1) : (!transformer.mask) -> ()
  return
}

// CHECK-LABEL: @double_negation
func.func @double_negation() {
  // CHECK-NEXT: %[[CAUSAL:.*]] = transformer.mask.causal
  // CHECK-NEXT: call @use(%[[CAUSAL]])
  %causal = transformer.mask.causal
  %0 = transformer.mask.not %causal
  %1 = transformer.mask.not %0
  call @use(%1) : (!transformer.mask) -> ()
  return
}

// CHECK-LABEL: @complements_of_constants
func.func @complements_of_constants() {
  // CHECK-NEXT: %[[EMPTY:.*]] = transformer.mask.empty
  // CHECK-NEXT: call @use(%[[EMPTY]])
  // CHECK-NEXT: %[[FULL:.*]] = transformer.mask.full
  // CHECK-NEXT: call @use(%[[FULL]])
  %full = transformer.mask.full
  %empty = transformer.mask.empty
  %0 = transformer.mask.not %full
  call @use(%0) : (!transformer.mask) -> ()
  %1 = transformer.mask.not %empty
  call @use(%1) : (!transformer.mask) -> ()
  return
}

// CHECK-LABEL: @de_morgan_and
func.func @de_morgan_and(%lengths: tensor<?xi32>) {
  // CHECK-DAG: %[[CAUSAL:.*]] = transformer.mask.causal
  // CHECK-DAG: %[[PADDING:.*]] = transformer.mask.padding
  // CHECK-DAG: %[[FUTURE:.*]] = transformer.mask.not %[[CAUSAL]]
  // CHECK-DAG: %[[INVALID:.*]] = transformer.mask.not %[[PADDING]]
  // CHECK: transformer.mask.or %[[FUTURE]], %[[INVALID]]
  %causal = transformer.mask.causal
  %padding = transformer.mask.padding %lengths : tensor<?xi32>
  %and = transformer.mask.and %causal, %padding
  %not = transformer.mask.not %and
  call @use(%not) : (!transformer.mask) -> ()
  return
}

// CHECK-LABEL: @de_morgan_or
func.func @de_morgan_or(%lengths: tensor<?xi32>) {
  // CHECK-DAG: %[[CAUSAL:.*]] = transformer.mask.causal
  // CHECK-DAG: %[[PADDING:.*]] = transformer.mask.padding
  // CHECK-DAG: %[[INVALID:.*]] = transformer.mask.not %[[PADDING]]
  // CHECK: transformer.mask.and %[[CAUSAL]], %[[INVALID]]
  %causal = transformer.mask.causal
  %future = transformer.mask.not %causal
  %padding = transformer.mask.padding %lengths : tensor<?xi32>
  %or = transformer.mask.or %future, %padding
  %not = transformer.mask.not %or
  call @use(%not) : (!transformer.mask) -> ()
  return
}

// CHECK-LABEL: @causal_narrows_a_window
func.func @causal_narrows_a_window() {
  // CHECK-COUNT-2: transformer.mask.window [left = 128, right = 0, dilation = [1, 2]]
  // CHECK-NOT: transformer.mask.and
  %causal = transformer.mask.causal
  %window = transformer.mask.window [left = 128, right = 64, dilation = [1, 2]]
  %0 = transformer.mask.and %causal, %window
  call @use(%0) : (!transformer.mask) -> ()
  %1 = transformer.mask.and %window, %causal
  call @use(%1) : (!transformer.mask) -> ()
  return
}

// CHECK-LABEL: @two_windows_meet_in_the_narrower
func.func @two_windows_meet_in_the_narrower() {
  // CHECK-NEXT: transformer.mask.window [left = 3, right = 2]
  // CHECK-NOT: transformer.mask.and
  %0 = transformer.mask.window [left = 3, right = 8]
  %1 = transformer.mask.window [left = 5, right = 2]
  %2 = transformer.mask.and %0, %1
  call @use(%2) : (!transformer.mask) -> ()
  return
}

// CHECK-LABEL: @windows_of_different_dilation_stay
func.func @windows_of_different_dilation_stay() {
  // CHECK: transformer.mask.and
  %0 = transformer.mask.window [left = 3, right = 8]
  %1 = transformer.mask.window [left = 5, right = 2, dilation = [2]]
  %2 = transformer.mask.and %0, %1
  call @use(%2) : (!transformer.mask) -> ()
  return
}

// CHECK-LABEL: @attention_under_an_empty_mask_is_zero
// CHECK-SAME: (%[[QUERY:.*]]: tensor<?x?x8xf32>, %[[KEY:.*]]: tensor<?x?x8xf32>,
func.func @attention_under_an_empty_mask_is_zero(%query: tensor<?x?x8xf32>, %key: tensor<?x?x8xf32>, %value: tensor<?x?x4xf32>) -> tensor<?x?x4xf32> {
  // CHECK-NEXT: %[[ZERO:.*]] = transformer.fill like %[[QUERY]] {value = 0.000000e+00 : f32, width = 4 : i64}
  // CHECK-NEXT: return %[[ZERO]]
  %full = transformer.mask.full
  %empty = transformer.mask.not %full
  %y = transformer.attention %query, %key, %value mask(%empty) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x4xf32>, !transformer.mask) -> tensor<?x?x4xf32>
  return %y : tensor<?x?x4xf32>
}

// CHECK-LABEL: @attention_drops_a_full_mask
// CHECK-SAME: (%[[X:.*]]: tensor<?x?x8xf32>)
func.func @attention_drops_a_full_mask(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  // CHECK-NEXT: transformer.attention %[[X]], %[[X]], %[[X]] {heads = 2 : i64} :
  %full = transformer.mask.full
  %y = transformer.attention %x, %x, %x mask(%full) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, !transformer.mask) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// CHECK-LABEL: @attention_keeps_another_mask
func.func @attention_keeps_another_mask(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  // CHECK: transformer.attention {{.*}} mask(
  %causal = transformer.mask.causal
  %y = transformer.attention %x, %x, %x mask(%causal) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, !transformer.mask) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}
