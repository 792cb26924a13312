// Rules meet the attention that they name, in every function alike.
// RUN: heddle-opt %s -transformer-restrict-attention='rules="encoder.self: window(4); decoder.self: window(1, 3, dilation=[1, 2]) | full; decoder.cross.2: !causal"' | FileCheck %s
// RUN: heddle-opt %s -transformer-restrict-attention='rules={ encoder.self:causal&!empty&(full|window(dilation=2,left=5)) }' | FileCheck %s --check-prefix=GRAMMAR
// RUN: heddle-opt %s -transformer-restrict-attention='rules="decoder.self: full; decoder.self.2: empty"' | FileCheck %s --check-prefix=LAST
// RUN: heddle-opt %s -transformer-restrict-attention='rules="decoder.self: full"' -canonicalize | FileCheck %s --check-prefix=UNCHANGED
// RUN: heddle-opt %s -transformer-restrict-attention='rules="encoder.self: empty"' -canonicalize | FileCheck %s --check-prefix=ZEROS
// RUN: heddle-opt %s -transformer-restrict-attention='rules="decoder.self: window(3)"' -canonicalize | FileCheck %s --check-prefix=NARROWED
// RUN: heddle-opt %s -transformer-restrict-attention='rules="encoder.self: prefix(3) | global(2) | random_blocks(8, 3, seed=5); decoder.self: random_tokens(count=4)"' | FileCheck %s --check-prefix=NEW
// RUN: not heddle-opt %s -transformer-restrict-attention='rules="encoder.self.3: full"' 2>&1 | FileCheck %s --check-prefix=MISSES
// RUN: not heddle-opt %s -transformer-restrict-attention='rules="encoder.self.2: full; encoder.self: full"' 2>&1 | FileCheck %s --check-prefix=REPLACED
// RUN: not heddle-opt %s -transformer-restrict-attention='rules="encoder.self: windw(1)"' 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: not heddle-opt %s -transformer-restrict-attention='rules="encoder.self: window(1, dilation=[1, 2, 3])"' 2>&1 | FileCheck %s --check-prefix=HEADS
// RUN: heddle-opt %s -transformer-restrict-attention='rules="encoder.self: window([1, 2], dilation=[2, 1])"' -o /dev/null

// MISSES: error: the rule for 'encoder.self.3' matches no attention: the module has encoder.self.1 to encoder.self.2 and decoder.self.1 to decoder.self.2 and decoder.cross.1 to decoder.cross.2
// REPLACED: error: the rule for 'encoder.self.2' has no effect, since later rules replace it
// TEXT: error: the unknown mask 'windw' (is 'window' meant?)
// TEXT: encoder.self: windw(1)
// HEADS: error: 'window' tells 3 heads apart, but 'encoder.self.1' has 2

!ids = tensor<?x?xi32>
!x = tensor<?x?x8xf32>
!lengths = tensor<?xi32>
!mask = !transformer.mask

transformer.parameter @table : tensor<9x8xf32>

// What several layers read is written once. The third attention has queries of
// its own, which come from no argument: nobody can name it.

// CHECK-LABEL: func.func private @encode(
// CHECK: %[[VALID:.*]] = transformer.mask.padding
// CHECK-NEXT: %[[WINDOW:.*]] = transformer.mask.window [left = 4, right = 4]
// CHECK-NEXT: %[[BOTH:.*]] = transformer.mask.and %[[VALID]], %[[WINDOW]]
// CHECK-NEXT: %[[A:.*]] = transformer.attention {{.*}} mask(%[[BOTH]])
// CHECK-NEXT: %[[B:.*]] = transformer.attention %[[A]], {{.*}} mask(%[[BOTH]])
// CHECK: transformer.attention %{{.*}}, %[[B]], %[[B]] mask(%[[VALID]])

// GRAMMAR-LABEL: func.func private @encode(
// GRAMMAR: %[[VALID:.*]] = transformer.mask.padding
// GRAMMAR-NEXT: %[[CAUSAL:.*]] = transformer.mask.causal
// GRAMMAR-NEXT: %[[EMPTY:.*]] = transformer.mask.empty
// GRAMMAR-NEXT: %[[NOT:.*]] = transformer.mask.not %[[EMPTY]]
// GRAMMAR-NEXT: %[[LEFT:.*]] = transformer.mask.and %[[CAUSAL]], %[[NOT]]
// GRAMMAR-NEXT: %[[FULL:.*]] = transformer.mask.full
// GRAMMAR-NEXT: %[[WINDOW:.*]] = transformer.mask.window [left = 5, right = 5, dilation = 2]
// GRAMMAR-NEXT: %[[RIGHT:.*]] = transformer.mask.or %[[FULL]], %[[WINDOW]]
// GRAMMAR-NEXT: %[[RULE:.*]] = transformer.mask.and %[[LEFT]], %[[RIGHT]]
// GRAMMAR-NEXT: transformer.mask.and %[[VALID]], %[[RULE]]

// Keys are drawn from the sentences of the padding that is there; without, from
// those before the query.

// NEW-LABEL: func.func private @encode(
// NEW: transformer.mask.prefix [length = 3]
// NEW: transformer.mask.global [count = 2]
// NEW: transformer.mask.random_blocks [block = 8, count = 3, seed = 5] of %arg1 : tensor<?xi32>
// NEW-LABEL: func.func private @decode(
// NEW: transformer.mask.random_tokens [count = 4, seed = 0]{{$}}

// ZEROS-LABEL: func.func private @encode(
// ZEROS-COUNT-2: transformer.fill
// ZEROS: transformer.attention
func.func private @encode(%ids: !ids, %lengths: !lengths, %queries: !x) -> !x {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (!ids, tensor<9x8xf32>) -> !x
  %valid = transformer.mask.padding %lengths : !lengths
  %a = transformer.attention %x, %x, %x mask(%valid) {heads = 2 : i64} : (!x, !x, !x, !mask) -> !x
  %b = transformer.attention %a, %x, %x mask(%valid) {heads = 2 : i64} : (!x, !x, !x, !mask) -> !x
  %c = transformer.attention %queries, %b, %b mask(%valid) {heads = 2 : i64} : (!x, !x, !x, !mask) -> !x
  return %c : !x
}

// Queries of the first cross attention depend on the memory too; keys decide.
// An attention without a mask gets that of the rule.

// CHECK-LABEL: func.func private @decode(
// CHECK: transformer.mask.window [left = 1, right = 3, dilation = [1, 2]]
// CHECK: %[[RULE:.*]] = transformer.mask.or
// CHECK: %[[SELF:.*]] = transformer.mask.and %{{.*}}, %[[RULE]]
// CHECK: transformer.attention {{.*}} mask(%[[SELF]])
// CHECK-NEXT: transformer.attention {{.*}} {heads
// CHECK-NEXT: transformer.attention {{.*}} mask(%[[SELF]])
// CHECK-NEXT: %[[CAUSAL:.*]] = transformer.mask.causal
// CHECK-NEXT: %[[NOT:.*]] = transformer.mask.not %[[CAUSAL]]
// CHECK-NEXT: transformer.attention {{.*}} mask(%[[NOT]])

// The last rule for a layer is its own.

// LAST-LABEL: func.func private @decode(
// LAST: %[[CAUSAL:.*]] = transformer.mask.causal
// LAST: %[[FULL:.*]] = transformer.mask.full
// LAST: transformer.mask.and %[[CAUSAL]], %[[FULL]]
// LAST: %[[EMPTY:.*]] = transformer.mask.empty
// LAST: transformer.mask.and %[[CAUSAL]], %[[EMPTY]]

// UNCHANGED-LABEL: func.func private @decode(
// UNCHANGED: %[[CAUSAL:.*]] = transformer.mask.causal
// UNCHANGED-NOT: transformer.mask
// UNCHANGED: transformer.attention {{.*}} mask(%[[CAUSAL]])

// NARROWED-LABEL: func.func private @decode(
// NARROWED: %[[WINDOW:.*]] = transformer.mask.window [left = 3, right = 0]
// NARROWED-NOT: transformer.mask
// NARROWED: transformer.attention {{.*}} mask(%[[WINDOW]])
func.func private @decode(%ids: !ids {transformer.target}, %memory: !x) -> !x {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (!ids, tensor<9x8xf32>) -> !x
  %causal = transformer.mask.causal
  %a = transformer.attention %x, %x, %x mask(%causal) {heads = 2 : i64} : (!x, !x, !x, !mask) -> !x
  %b = transformer.attention %a, %memory, %memory {heads = 2 : i64} : (!x, !x, !x) -> !x
  %c = transformer.attention %b, %b, %b mask(%causal) {heads = 2 : i64} : (!x, !x, !x, !mask) -> !x
  %d = transformer.attention %c, %memory, %memory {heads = 2 : i64} : (!x, !x, !x) -> !x
  return %d : !x
}

// CHECK-LABEL: func.func private @shortlist(
// CHECK: transformer.mask.window [left = 1, right = 3, dilation = [1, 2]]
// CHECK: %[[BOTH:.*]] = transformer.mask.and
// CHECK: transformer.attention {{.*}} mask(%[[BOTH]])
func.func private @shortlist(%ids: !ids {transformer.target}, %memory: !x) -> !x {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (!ids, tensor<9x8xf32>) -> !x
  %causal = transformer.mask.causal
  %a = transformer.attention %x, %x, %x mask(%causal) {heads = 2 : i64} : (!x, !x, !x, !mask) -> !x
  return %a : !x
}

// Rows that are taken from the others have no name: they have no positions that
// a rule could mean.

// CHECK-LABEL: func.func private @longformer(
// CHECK: %[[VALID:.*]] = transformer.mask.padding
// CHECK: %[[BOTH:.*]] = transformer.mask.and %[[VALID]]
// CHECK: transformer.attention {{.*}} mask(%[[BOTH]])
// CHECK: transformer.take_rows
// CHECK: transformer.attention {{.*}} mask(%[[VALID]])
func.func private @longformer(%ids: !ids, %lengths: !lengths, %tokens: !ids) -> !x {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (!ids, tensor<9x8xf32>) -> !x
  %valid = transformer.mask.padding %lengths : !lengths
  %a = transformer.attention %x, %x, %x mask(%valid) {heads = 2 : i64} : (!x, !x, !x, !mask) -> !x
  %q = transformer.take_rows %x at %tokens : (!x, !ids) -> !x
  %b = transformer.attention %q, %x, %x mask(%valid) {heads = 2 : i64} : (!x, !x, !x, !mask) -> !x
  %c = transformer.put_rows %b at %tokens into %a : (!x, !ids, !x) -> !x
  return %c : !x
}
