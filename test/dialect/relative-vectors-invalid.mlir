// Vectors of relative positions that attention cannot have.
// RUN: heddle-opt %s -verify-diagnostics -split-input-file

func.func @attention_c17_step(%q: tensor<?x8xf32>, %k: tensor<?x?x8xf32>, %a: tensor<8x9xf32>, %r: tensor<?xi32>) {
  // expected-error @below {{has vectors of relative positions in the step form}}
  %y = transformer.attention %q, %k, %k at %r of %r relative_keys(%a) {heads = 2 : i64} : (tensor<?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?xi32>, tensor<?xi32>, tensor<8x9xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c17_rows(%q: tensor<?x?x8xf32>, %a: tensor<4x9xf32>) {
  // expected-error @below {{expects vectors of relative positions [8, 2 far + 1], found 'tensor<4x9xf32>'}}
  %y = transformer.attention %q, %q, %q relative_keys(%a) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<4x9xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_c17_columns(%q: tensor<?x?x8xf32>, %a: tensor<8x8xf32>) {
  // expected-error @below {{expects vectors of relative positions [8, 2 far + 1], found 'tensor<8x8xf32>'}}
  %y = transformer.attention %q, %q, %q relative_queries(%a) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<8x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_c17_shapes(%q: tensor<?x?x8xf32>, %a: tensor<8x9xf32>, %b: tensor<8x7xf32>) {
  // expected-error @below {{expects relative keys and queries of one shape, found 'tensor<8x9xf32>' and 'tensor<8x7xf32>'}}
  %y = transformer.attention %q, %q, %q relative_keys(%a) relative_queries(%b) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<8x9xf32>, tensor<8x7xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_c17_heads(%q: tensor<?x?x8xf32>, %k: tensor<?x?x4xf32>, %a: tensor<8x9xf32>) {
  // expected-error @below {{has vectors of relative positions and expects as many kv heads as heads, found 1 and 2}}
  %y = transformer.attention %q, %k, %k relative_keys(%a) {heads = 2 : i64, kv_heads = 1 : i64} : (tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<8x9xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_c17_similarity(%q: tensor<?x?x8xf32>, %a: tensor<8x9xf32>) {
  // expected-error @below {{has vectors of relative positions beside a similarity region, which computes the whole score}}
  %y = transformer.attention %q, %q, %q relative_keys(%a) {heads = 2 : i64} similarity {
  ^bb0(%x: vector<4xf32>, %k: vector<4xf32>):
    %p = arith.mulf %x, %k : vector<4xf32>
    %s = vector.reduction <add>, %p : vector<4xf32> into f32
    transformer.yield %s : f32
  } : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<8x9xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_c17_taken(%q: tensor<?x?x8xf32>, %at: tensor<?x?xi32>, %a: tensor<8x9xf32>) {
  %k = transformer.take_rows %q at %at : (tensor<?x?x8xf32>, tensor<?x?xi32>) -> tensor<?x?x8xf32>
  // expected-error @below {{has vectors of relative positions, but queries or keys without positions of their own}}
  %y = transformer.attention %q, %k, %k relative_keys(%a) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<8x9xf32>) -> tensor<?x?x8xf32>
  return
}
