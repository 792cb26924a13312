// Every form of attention survives printing, the generic form and bytecode.
// RUN: heddle-opt %s | heddle-opt | FileCheck %s
// RUN: heddle-opt %s --mlir-print-op-generic | heddle-opt | FileCheck %s
// RUN: heddle-opt %s --emit-bytecode | heddle-opt | FileCheck %s

// CHECK-LABEL: @tensors
func.func @tensors(%q: tensor<?x?x8xf32>, %kv: tensor<?x?x4xf32>, %v: tensor<?x?x6xf32>) {
  // CHECK: transformer.attention %{{.*}}, %{{.*}}, %{{.*}} {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %0 = transformer.attention %q, %q, %q {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  // CHECK: transformer.attention %{{.*}}, %{{.*}}, %{{.*}} mask(%{{.*}}) {heads = 2 : i64, scale = 2.500000e-01 : f32} : (
  %causal = transformer.mask.causal
  %1 = transformer.attention %q, %q, %q mask(%causal) {heads = 2 : i64, scale = 0.25 : f32} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, !transformer.mask) -> tensor<?x?x8xf32>
  // CHECK: transformer.attention %{{.*}}, %{{.*}}, %{{.*}} {heads = 4 : i64, kv_heads = 2 : i64} normalizer sum : ({{.*}}) -> tensor<?x?x12xf32>
  %2 = transformer.attention %q, %kv, %v {heads = 4 : i64, kv_heads = 2 : i64} normalizer sum : (tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?x6xf32>) -> tensor<?x?x12xf32>
  // CHECK: transformer.attention %{{.*}}, %{{.*}}, %{{.*}} {heads = 2 : i64} normalizer none : (
  %3 = transformer.attention %q, %q, %q {heads = 2 : i64} normalizer none : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  // CHECK: transformer.attention %{{.*}}, %{{.*}}, %{{.*}} {heads = 2 : i64} : (
  %4 = transformer.attention %q, %q, %q {heads = 2 : i64} normalizer softmax : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// CHECK-LABEL: @regions
func.func @regions(%q: tensor<?x?x8xf32>, %k: tensor<?x?x4xf32>, %slopes: tensor<2xf32>, %vectors: tensor<2x4xf32>) {
  // CHECK: transformer.attention %{{.*}}, %{{.*}}, %{{.*}} {heads = 2 : i64} similarity {
  %0 = transformer.attention %q, %k, %k {heads = 2 : i64} similarity {
  // CHECK-NEXT: ^bb0(%[[Q:.*]]: vector<4xf32>, %{{.*}}: vector<2xf32>):
  ^bb0(%qv: vector<4xf32>, %kv: vector<2xf32>):
    %s = vector.reduction <add>, %qv : vector<4xf32> into f32
    // CHECK: transformer.yield %{{.*}} : f32
    transformer.yield %s : f32
  // CHECK-NEXT: } : (
  } : (tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>) -> tensor<?x?x4xf32>

  // CHECK: transformer.attention %{{.*}}, %{{.*}}, %{{.*}} {heads = 2 : i64} score {
  %1 = transformer.attention %q, %q, %q {heads = 2 : i64} score {
  // CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: i32, %[[H:.*]]: i32, %{{.*}}: i32, %{{.*}}: i32):
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    // CHECK-NEXT: transformer.lookup %{{.*}}[%[[H]]] : tensor<2xf32> -> f32
    %slope = transformer.lookup %slopes[%h] : tensor<2xf32> -> f32
    transformer.yield %slope : f32
  } : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>

  // CHECK: transformer.attention %{{.*}} similarity {
  %2 = transformer.attention %q, %q, %q {heads = 2 : i64} similarity {
  ^bb0(%qv: vector<4xf32>, %kv: vector<4xf32>):
    // CHECK: transformer.lookup %{{.*}}[%{{.*}}] : tensor<2x4xf32> -> vector<4xf32>
    %zero = arith.constant 0 : i32
    %vector = transformer.lookup %vectors[%zero] : tensor<2x4xf32> -> vector<4xf32>
    %s = vector.reduction <add>, %vector : vector<4xf32> into f32
    transformer.yield %s : f32
  // CHECK: } score {
  } score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    transformer.yield %s : f32
  // CHECK: } normalizer {
  } normalizer {
  // CHECK-NEXT: ^bb0(%{{.*}}: f32):
  ^bb0(%s: f32):
    transformer.yield %s : f32
  // CHECK: } : (
  } : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// CHECK-LABEL: @steps
func.func @steps(%q: tensor<?x8xf32>, %k: tensor<?x?x8xf32>, %positions: tensor<?xi32>, %sentences: tensor<?xi32>) {
  %causal = transformer.mask.causal
  // CHECK: transformer.attention %{{.*}}, %{{.*}}, %{{.*}} mask(%{{.*}}) at %{{.*}} of %{{.*}} {heads = 2 : i64} : (tensor<?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, !transformer.mask, tensor<?xi32>, tensor<?xi32>) -> tensor<?x8xf32>
  %0 = transformer.attention %q, %k, %k mask(%causal) at %positions of %sentences {heads = 2 : i64} : (tensor<?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, !transformer.mask, tensor<?xi32>, tensor<?xi32>) -> tensor<?x8xf32>
  // CHECK: transformer.attention %{{.*}}, %{{.*}}, %{{.*}} at %{{.*}} of %{{.*}} shared into %{{.*}} {heads = 2 : i64} : (
  %1 = transformer.attention %q, %k, %k at %positions of %sentences shared into %q {heads = 2 : i64} : (tensor<?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// CHECK-LABEL: @caches
func.func @caches(%q: tensor<?x8xf32>, %k: tensor<?x?x8xf32>, %rows: tensor<?xi32>, %history: tensor<?x?xi32>) {
  // CHECK: transformer.attention %{{.*}}, %{{.*}}, %{{.*}} at %[[ROWS:.*]] of %[[ROWS]] in %[[ROWS]] {heads = 2 : i64} : (
  %0 = transformer.attention %q, %k, %k at %rows of %rows in %rows {heads = 2 : i64} : (tensor<?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x8xf32>
  // CHECK: transformer.attention %{{.*}}, %{{.*}}, %{{.*}} at %[[ROWS]] of %[[ROWS]] through %{{.*}} into %{{.*}} {heads = 2 : i64} : (
  %1 = transformer.attention %q, %k, %k at %rows of %rows through %history into %q {heads = 2 : i64} : (tensor<?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?x?xi32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK: transformer.attention %{{.*}}, %{{.*}}, %{{.*}} at %[[ROWS]] of %[[ROWS]] shared prefill(%[[ROWS]]) into %{{.*}} {heads = 2 : i64} : (
  %2 = transformer.attention %q, %k, %k at %rows of %rows shared prefill(%rows) into %q {heads = 2 : i64} : (tensor<?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// The ragged form: sequences one behind the other, with the tokens with which
// blocks of queries begin and the length of each.
// CHECK-LABEL: @ragged
func.func @ragged(%q: tensor<?x8xf32>, %rows: tensor<?xi32>, %blocks: tensor<?xi32>, %n: tensor<?xi32>) {
  %causal = transformer.mask.causal
  // CHECK: transformer.attention %{{.*}}, %{{.*}}, %{{.*}} mask(%{{.*}}) at %[[ROWS:.*]] of %[[ROWS]] ragged(%[[BLOCKS:.*]], %[[N:.*]]) {heads = 2 : i64} : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, !transformer.mask, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x8xf32>
  %0 = transformer.attention %q, %q, %q mask(%causal) at %rows of %rows ragged(%blocks, %n) {heads = 2 : i64} : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, !transformer.mask, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x8xf32>
  // CHECK: transformer.attention %{{.*}}, %{{.*}}, %{{.*}} at %[[ROWS]] of %[[ROWS]] ragged(%[[BLOCKS]], %[[N]]) into %{{.*}} {heads = 2 : i64} : (
  %1 = transformer.attention %q, %q, %q at %rows of %rows ragged(%blocks, %n) into %q {heads = 2 : i64} : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// Queries of a list over ragged keys.
// CHECK-LABEL: @ragged_keys
func.func @ragged_keys(%q: tensor<?x?x8xf32>, %k: tensor<?x8xf32>, %starts: tensor<?xi32>, %n: tensor<?xi32>) {
  // CHECK: transformer.attention %{{.*}}, %[[K:.*]], %[[K]] ragged_keys(%[[STARTS:.*]], %[[N:.*]]) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x?x8xf32>
  %0 = transformer.attention %q, %k, %k ragged_keys(%starts, %n) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x?x8xf32>
  // CHECK: transformer.attention %{{.*}}, %[[K]], %[[K]] ragged_keys(%[[STARTS]], %[[N]]) into %{{.*}} {heads = 2 : i64} : (
  %1 = transformer.attention %q, %k, %k ragged_keys(%starts, %n) into %q {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// CHECK-LABEL: @memrefs
func.func @memrefs(%q: memref<?x8xf32>, %k: memref<?x?x8xf32>, %rows: memref<?xi32>, %slopes: memref<2xf32>) {
  %valid = transformer.mask.padding %rows : memref<?xi32>
  // CHECK: transformer.attention %{{.*}}, %{{.*}}, %{{.*}} mask(%{{.*}}) into %{{.*}} {heads = 2 : i64} : ({{.*}}) -> ()
  transformer.attention %k, %k, %k mask(%valid) into %k {heads = 2 : i64} : (memref<?x?x8xf32>, memref<?x?x8xf32>, memref<?x?x8xf32>, !transformer.mask, memref<?x?x8xf32>) -> ()
  // CHECK: transformer.attention %{{.*}}, %{{.*}}, %{{.*}} mask(%{{.*}}) at %{{.*}} of %{{.*}} shared into %{{.*}} {heads = 2 : i64} score {
  transformer.attention %q, %k, %k mask(%valid) at %rows of %rows shared into %q {heads = 2 : i64} score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    // CHECK: transformer.lookup %{{.*}}[%{{.*}}] : memref<2xf32> -> f32
    %slope = transformer.lookup %slopes[%h] : memref<2xf32> -> f32
    transformer.yield %slope : f32
  } : (memref<?x8xf32>, memref<?x?x8xf32>, memref<?x?x8xf32>, !transformer.mask, memref<?xi32>, memref<?xi32>, memref<?x8xf32>) -> ()
  return
}

// Vectors of relative positions.
// CHECK-LABEL: @relative
func.func @relative(%q: tensor<?x?x8xf32>, %p: tensor<?x8xf32>, %a: tensor<8x9xf32>, %rows: tensor<?xi32>) {
  // CHECK: transformer.attention %{{.*}}, %{{.*}}, %{{.*}} relative_keys(%[[A:.*]]) relative_queries(%[[A]]) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<8x9xf32>, tensor<8x9xf32>) -> tensor<?x?x8xf32>
  %0 = transformer.attention %q, %q, %q relative_keys(%a) relative_queries(%a) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<8x9xf32>, tensor<8x9xf32>) -> tensor<?x?x8xf32>
  // CHECK: ragged(%{{.*}}, %{{.*}}) relative_queries(%[[A]]) {heads = 2 : i64}
  %1 = transformer.attention %p, %p, %p at %rows of %rows ragged(%rows, %rows) relative_queries(%a) {heads = 2 : i64} : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<8x9xf32>) -> tensor<?x8xf32>
  return
}

// Keys and values of integers, which have scales.
// CHECK-LABEL: @integers
func.func @integers(%q: tensor<?x?x8xf32>, %row: tensor<?x8xf32>, %k: tensor<?x?x4xi8>, %s: tensor<?x?x1xf32>, %rows: tensor<?xi32>) {
  // CHECK: transformer.attention %{{.*}}, %[[K:.*]], %[[K]] key_scales(%[[S:.*]]) value_scales(%[[S]]) {heads = 2 : i64, kv_heads = 1 : i64} : (tensor<?x?x8xf32>, tensor<?x?x4xi8>, tensor<?x?x4xi8>, tensor<?x?x1xf32>, tensor<?x?x1xf32>) -> tensor<?x?x8xf32>
  %0 = transformer.attention %q, %k, %k key_scales(%s) value_scales(%s) {heads = 2 : i64, kv_heads = 1 : i64} : (tensor<?x?x8xf32>, tensor<?x?x4xi8>, tensor<?x?x4xi8>, tensor<?x?x1xf32>, tensor<?x?x1xf32>) -> tensor<?x?x8xf32>
  // CHECK: transformer.attention %{{.*}}, %[[K]], %[[K]] key_scales(%[[S]]) value_scales(%[[S]]) at %{{.*}} of %{{.*}} in %{{.*}} {heads
  %1 = transformer.attention %row, %k, %k key_scales(%s) value_scales(%s) at %rows of %rows in %rows {heads = 2 : i64, kv_heads = 1 : i64} : (tensor<?x8xf32>, tensor<?x?x4xi8>, tensor<?x?x4xi8>, tensor<?x?x1xf32>, tensor<?x?x1xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x8xf32>
  return
}
