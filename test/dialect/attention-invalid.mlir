// One case per constraint of Attention.td.
// RUN: heddle-opt %s -verify-diagnostics -split-input-file

func.func @attention_c1_query(%q: tensor<?x8xf32>, %x: tensor<?x?x8xf32>) {
  // expected-error @below {{expects a query of rank 3 and key and value of rank 3, found 'tensor<?x8xf32>', 'tensor<?x?x8xf32>' and 'tensor<?x?x8xf32>'}}
  %y = transformer.attention %q, %x, %x {heads = 2 : i64} : (tensor<?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c1_step(%x: tensor<?x?x8xf32>, %r: tensor<?xi32>) {
  // expected-error @below {{expects a query of rank 2 and key and value of rank 3, found 'tensor<?x?x8xf32>', 'tensor<?x?x8xf32>' and 'tensor<?x?x8xf32>'}}
  %y = transformer.attention %x, %x, %x at %r of %r {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_c1_values(%x: tensor<?x?x8xf32>, %k: tensor<?x5x8xf32>, %v: tensor<?x6x8xf32>) {
  // expected-error @below {{expects a value for each key, found 'tensor<?x5x8xf32>' and 'tensor<?x6x8xf32>'}}
  %y = transformer.attention %x, %k, %v {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x5x8xf32>, tensor<?x6x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_c2_shared(%x: tensor<?x?x8xf32>) {
  // expected-error @below {{expects 'at' and 'of' together, and both if 'shared', 'in', 'through' or 'ragged' is given}}
  %y = transformer.attention %x, %x, %x shared {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_c2_in(%x: tensor<?x?x8xf32>, %r: tensor<?xi32>) {
  // expected-error @below {{expects 'at' and 'of' together, and both if 'shared', 'in', 'through' or 'ragged' is given}}
  %y = transformer.attention %x, %x, %x in %r {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?xi32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_c2_in_and_through(%q: tensor<?x8xf32>, %x: tensor<?x?x8xf32>, %r: tensor<?xi32>, %h: tensor<?x?xi32>) {
  // expected-error @below {{expects at most one of 'shared', 'in', 'through' and 'ragged', found 2}}
  %y = transformer.attention %q, %x, %x at %r of %r in %r through %h {heads = 2 : i64} : (tensor<?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?x?xi32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c2_prefill_through(%q: tensor<?x8xf32>, %x: tensor<?x?x8xf32>, %r: tensor<?xi32>, %h: tensor<?x?xi32>) {
  // expected-error @below {{expects 'prefill' beside 'shared' or 'in'}}
  %y = transformer.attention %q, %x, %x at %r of %r through %h prefill(%r) {heads = 2 : i64} : (tensor<?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?x?xi32>, tensor<?xi32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c2_through_shared(%q: tensor<?x8xf32>, %x: tensor<?x?x8xf32>, %r: tensor<?xi32>, %h: tensor<?x?xi32>) {
  // expected-error @below {{expects at most one of 'shared', 'in', 'through' and 'ragged', found 2}}
  %y = transformer.attention %q, %x, %x at %r of %r through %h shared {heads = 2 : i64} : (tensor<?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?x?xi32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c2_history(%q: tensor<?x8xf32>, %x: tensor<?x?x8xf32>, %r: tensor<?xi32>) {
  // expected-error @below {{expects a history [rows, positions], found 'tensor<?xi32>'}}
  %y = transformer.attention %q, %x, %x at %r of %r through %r {heads = 2 : i64} : (tensor<?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c2_at(%q: tensor<?x8xf32>, %x: tensor<?x?x8xf32>, %r: tensor<?xi32>) {
  // expected-error @below {{expects 'at' and 'of' together, and both if 'shared', 'in', 'through' or 'ragged' is given}}
  %y = "transformer.attention"(%q, %x, %x, %r) <{heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}> ({}, {}, {}) : (tensor<?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?xi32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c3_heads(%x: tensor<?x?x8xf32>) {
  // expected-error @below {{expects a query width that 3 heads divide, found 'tensor<?x?x8xf32>'}}
  %y = transformer.attention %x, %x, %x {heads = 3 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_c3_kv_heads(%x: tensor<?x?x8xf32>) {
  // expected-error @below {{expects kv_heads to divide heads, found 3 and 4}}
  %y = transformer.attention %x, %x, %x {heads = 4 : i64, kv_heads = 3 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_c3_value(%x: tensor<?x?x8xf32>, %v: tensor<?x?x7xf32>) {
  // expected-error @below {{expects a value width that 2 heads divide, found 'tensor<?x?x7xf32>'}}
  %y = transformer.attention %x, %x, %v {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x7xf32>) -> tensor<?x?x7xf32>
  return
}

// -----

func.func @attention_no_heads(%x: tensor<?x?x8xf32>) {
  // expected-error @below {{attribute 'heads' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %y = transformer.attention %x, %x, %x {heads = 0 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_negative_kv_heads(%x: tensor<?x?x8xf32>) {
  // expected-error @below {{attribute 'kv_heads' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %y = transformer.attention %x, %x, %x {heads = 2 : i64, kv_heads = -2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_c4(%x: tensor<?x?x8xf32>, %k: tensor<?x?x4xf32>) {
  // expected-error @below {{expects queries and keys of one width without a similarity region, found 4 and 2 a head}}
  %y = transformer.attention %x, %k, %x {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_c5_similarity(%x: tensor<?x?x8xf32>) {
  // expected-error @below {{expects similarity region arguments ('vector<4xf32>', 'vector<4xf32>'), found ('f32')}}
  %y = transformer.attention %x, %x, %x {heads = 2 : i64} similarity {
  ^bb0(%s: f32):
    transformer.yield %s : f32
  } : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_c5_score(%x: tensor<?x?x8xf32>) {
  // expected-error @below {{expects score region arguments ('f32', 'i32', 'i32', 'i32', 'i32'), found ('f32', 'i32')}}
  %y = transformer.attention %x, %x, %x {heads = 2 : i64} score {
  ^bb0(%s: f32, %h: i32):
    transformer.yield %s : f32
  } : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_c5_normalizer(%x: tensor<?x?x8xf32>) {
  // expected-error @below {{expects normalizer region arguments ('f32'), found ('vector<4xf32>')}}
  %y = transformer.attention %x, %x, %x {heads = 2 : i64} normalizer {
  ^bb0(%s: vector<4xf32>):
    %0 = arith.constant 1.0 : f32
    transformer.yield %0 : f32
  } : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_c6(%mask: !transformer.mask, %x: tensor<?x?x8xf32>) {
  // expected-error @below {{'transformer.attention' op expects its mask to be built by mask ops, found a block argument}}
  %y = transformer.attention %x, %x, %x mask(%mask) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, !transformer.mask) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_c7_no_region(%x: tensor<?x?x8xf32>) {
  // expected-error @below {{expects a normalizer region exactly if the normalizer is 'region'}}
  %y = "transformer.attention"(%x, %x, %x) <{heads = 2 : i64, normalizer = #transformer<normalizer_kind region>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}> ({}, {}, {}) : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_c7_region(%x: tensor<?x?x8xf32>) {
  // expected-error @below {{expects a normalizer region exactly if the normalizer is 'region'}}
  %y = "transformer.attention"(%x, %x, %x) <{heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}> ({}, {}, {
  ^bb0(%s: f32):
    transformer.yield %s : f32
  }) : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_destination(%q: memref<?x?x8xf32>, %v: memref<?x?x6xf32>) {
  // expected-error @below {{writes a result of shape [?, ?, 6] into a destination of type 'memref<?x?x8xf32>'}}
  transformer.attention %q, %q, %v into %q {heads = 2 : i64} : (memref<?x?x8xf32>, memref<?x?x8xf32>, memref<?x?x6xf32>, memref<?x?x8xf32>) -> ()
  return
}

// -----

func.func @lookup_c1_indices(%table: tensor<4x8xf32>, %h: i32) {
  // expected-error @below {{expects 2 indices into 'tensor<4x8xf32>', found 1}}
  %s = transformer.lookup %table[%h] : tensor<4x8xf32> -> f32
  return
}

// -----

func.func @lookup_c1_vector(%table: tensor<4x8xf32>, %h: i32) {
  // expected-error @below {{expects a vector as long as the last dimension of 'tensor<4x8xf32>', found 'vector<4xf32>'}}
  %s = transformer.lookup %table[%h] : tensor<4x8xf32> -> vector<4xf32>
  return
}

// -----

func.func @lookup_c2(%table: tensor<4x0xf32>, %h: i32) {
  // expected-error @below {{expects a table with elements, found 'tensor<4x0xf32>'}}
  %s = transformer.lookup %table[%h, %h] : tensor<4x0xf32> -> f32
  return
}

// -----

func.func @attention_c5_yield(%x: tensor<?x?x8xf32>) {
  %y = transformer.attention %x, %x, %x {heads = 2 : i64} score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    // expected-error @below {{operand #0 must be 32-bit float or 1-bit signless integer, but got 'i32'}}
    transformer.yield %h : i32
  } : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @score_region_by_lane(%x: tensor<?x?x8xf32>, %table: memref<8xf32>) {
  %y = transformer.attention %x, %x, %x {heads = 2 : i64} score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    %at = arith.index_cast %j : i32 to index
    // expected-error @below {{'memref.load' op cannot be evaluated lane by lane in a score region}}
    %t = memref.load %table[%at] : memref<8xf32>
    transformer.yield %t : f32
  } : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_c9_normalizer(%x: tensor<?x?x8xf32>) {
  %y = transformer.attention %x, %x, %x {heads = 2 : i64} normalizer {
  ^bb0(%s: f32):
    %c = arith.constant true
    // expected-error @below {{'scf.if' op cannot be evaluated lane by lane in a normalizer region (expected elementwise ops of arith and math and transformer.lookup)}}
    %w = scf.if %c -> f32 { scf.yield %s : f32 } else { scf.yield %s : f32 }
    transformer.yield %s : f32
  } : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_c9_similarity(%x: tensor<?x?x8xf32>) {
  %y = transformer.attention %x, %x, %x {heads = 2 : i64} similarity {
  ^bb0(%q: vector<4xf32>, %k: vector<4xf32>):
    %at = arith.constant 9 : index
    // expected-error @below {{'vector.extract' op cannot be evaluated lane by lane in a similarity region (expected elementwise ops of arith and math, ops of vector at constant places and transformer.lookup)}}
    %s = vector.extract %q[%at] : f32 from vector<4xf32>
    transformer.yield %s : f32
  } : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_c9_poison(%x: tensor<?x?x8xf32>) {
  %y = transformer.attention %x, %x, %x {heads = 2 : i64} score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    // expected-error @below {{'ub.poison' op cannot be evaluated lane by lane in a score region}}
    %p = ub.poison : f32
    transformer.yield %s : f32
  } : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_c9_scaling(%x: tensor<?x?x8xf32>) {
  %y = transformer.attention %x, %x, %x {heads = 2 : i64} score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    // expected-error @below {{'arith.scaling_truncf' op cannot be evaluated lane by lane in a score region}}
    %p = arith.scaling_truncf %s, %s : f32, f32 to f16
    transformer.yield %s : f32
  } : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_c9_rounding(%x: tensor<?x?x8xf32>) {
  %y = transformer.attention %x, %x, %x {heads = 2 : i64} score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    // expected-error @below {{'arith.truncf' op cannot round downward in a score region (expected to_nearest_even)}}
    %p = arith.truncf %s downward : f32 to f16
    transformer.yield %s : f32
  } : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_c10(%x: tensor<?x?x8xf32>) {
  %y = transformer.attention %x, %x, %x {heads = 2 : i64} score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    // expected-error @below {{'arith.extf' op has a value of type 'f80' in a score region (expected f16, bf16, f32, f64, index, i1, i8, i16, i32 or i64)}}
    %p = arith.extf %s : f32 to f80
    transformer.yield %s : f32
  } : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_c10_vector(%x: tensor<?x?x8xf32>) {
  %y = transformer.attention %x, %x, %x {heads = 2 : i64} score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    // expected-error @below {{'arith.constant' op has a value of type 'vector<4xf32>' in a score region}}
    %p = arith.constant dense<1.0> : vector<4xf32>
    transformer.yield %s : f32
  } : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_c10_similarity(%x: tensor<?x?x8xf32>) {
  %y = transformer.attention %x, %x, %x {heads = 2 : i64} similarity {
  ^bb0(%q: vector<4xf32>, %k: vector<4xf32>):
    %s = vector.reduction <add>, %q : vector<4xf32> into f32
    // expected-error @below {{'arith.fptosi' op has a value of type 'vector<4xi128>' in a similarity region (expected f16, bf16, f32, f64, index, i1, i8, i16, i32, i64 or vectors of them)}}
    %p = arith.fptosi %q : vector<4xf32> to vector<4xi128>
    transformer.yield %s : f32
  } : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_c8(%x: tensor<?x?x8xf32>) {
  %causal = transformer.mask.causal
  // expected-note @below {{the mask tells heads apart here}}
  %window = transformer.mask.window [left = 2, right = 0, dilation = [1, 2, 4]]
  %mask = transformer.mask.and %causal, %window
  // expected-error @below {{has 2 heads but its mask has 3}}
  %y = transformer.attention %x, %x, %x mask(%mask) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, !transformer.mask) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_c11(%x: tensor<?x?x8xf32>) {
  // expected-error @below {{expects a finite scale, found 0x7F800000 : f32}}
  %y = transformer.attention %x, %x, %x {heads = 2 : i64, scale = 0x7F800000 : f32} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_c12_values(%x: tensor<?x?x8xbf16>, %v: tensor<?x?x8xf32>) {
  // expected-error @below {{expects queries, keys and values of one element type, found 'tensor<?x?x8xbf16>' and 'tensor<?x?x8xf32>'}}
  %y = transformer.attention %x, %x, %v {heads = 2 : i64} : (tensor<?x?x8xbf16>, tensor<?x?x8xbf16>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_c12_destination(%x: memref<?x?x8xbf16>) {
  // expected-error @below {{expects a destination of 'f32', found 'memref<?x?x8xbf16>'}}
  transformer.attention %x, %x, %x into %x {heads = 2 : i64} : (memref<?x?x8xbf16>, memref<?x?x8xbf16>, memref<?x?x8xbf16>, memref<?x?x8xbf16>) -> ()
  return
}

// -----

func.func @attention_c12_round(%x: memref<?x?x8xf32>) {
  // expected-error @below {{expects a destination of 'bf16', found 'memref<?x?x8xf32>'}}
  transformer.attention %x, %x, %x round into %x {heads = 2 : i64} : (memref<?x?x8xf32>, memref<?x?x8xf32>, memref<?x?x8xf32>, memref<?x?x8xf32>) -> ()
  return
}

// -----

func.func @normalizer_keyword(%x: tensor<?x?x8xf32>) {
  // expected-error @below {{expected softmax, sum, none or a region, found 'region'}}
  %y = transformer.attention %x, %x, %x {heads = 2 : i64} normalizer region : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_c5_yield_predicate(%x: tensor<?x?x8xf32>) {
  // expected-error @below {{expects its score region to end in 'transformer.yield' of 'f32'}}
  %y = transformer.attention %x, %x, %x {heads = 2 : i64} score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    %is = arith.cmpi eq, %i, %j : i32
    transformer.yield %is : i1
  } : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_c2_pinned(%x: tensor<?x?x8xf32>) {
  // expected-error @below {{expects pinned slots in a step over its own cache alone, found 2}}
  %y = transformer.attention %x, %x, %x {heads = 2 : i64, pinned = 2 : i64}
    : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @yield_elsewhere(%s: f32) {
  // expected-error @below {{expects parent op to be one of 'transformer.attention, transformer.linear_attention, transformer.linear_attention.read, transformer.linear_attention.sums, transformer.mask.where, transformer.online.probabilities'}}
  transformer.yield %s : f32
}

// -----

func.func @normalizer_and_region(%x: tensor<?x?x8xf32>) {
  %y = transformer.attention %x, %x, %x {heads = 2 : i64}
    // expected-error @below {{expected no region beside 'sum', which says what the normalizer is}}
    normalizer sum {
  ^bb0(%s: f32):
    transformer.yield %s : f32
  } : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_c8_table(%x: tensor<?x?x8xf32>, %t: tensor<?x3x?x?xi8>) {
  // expected-note @below {{the mask tells heads apart here}}
  %m = transformer.mask.dense %t : tensor<?x3x?x?xi8>
  // expected-error @below {{has 2 heads but its mask has 3}}
  %y = transformer.attention %x, %x, %x mask(%m) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, !transformer.mask) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_c14(%x: tensor<?x?x8xf32>) {
  // expected-error @below {{has a scale beside a similarity region, which computes the whole score}}
  %y = transformer.attention %x, %x, %x {heads = 2 : i64, scale = 0.5 : f32} similarity {
  ^bb0(%q: vector<4xf32>, %k: vector<4xf32>):
    %p = arith.subf %q, %k : vector<4xf32>
    %s = vector.reduction <add>, %p : vector<4xf32> into f32
    transformer.yield %s : f32
  } : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// Of a mask inside of another, too. A batch of that number has them.

func.func @attention_c15(%x: tensor<?x?x8xf32>, %of_two: tensor<2x?x8xf32>) {
  %lengths = arith.constant dense<[3, 2]> : tensor<2xi32>
  %c = transformer.mask.causal
  %p = transformer.mask.padding %lengths : tensor<2xi32>
  %m = transformer.mask.and %c, %p
  %y = transformer.attention %of_two, %of_two, %of_two mask(%m) {heads = 2 : i64} : (tensor<2x?x8xf32>, tensor<2x?x8xf32>, tensor<2x?x8xf32>, !transformer.mask) -> tensor<2x?x8xf32>
  // expected-error @below {{expects an element for each sentence of 'tensor<?x?x8xf32>', found 'tensor<2xi32>'}}
  %z = transformer.attention %x, %x, %x mask(%m) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, !transformer.mask) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_c15_table(%x: tensor<3x?x8xf32>, %t: tensor<2x?x?xi8>) {
  %m = transformer.mask.dense %t : tensor<2x?x?xi8>
  // expected-error @below {{expects an element for each sentence of 'tensor<3x?x8xf32>', found 'tensor<2x?x?xi8>'}}
  %y = transformer.attention %x, %x, %x mask(%m) {heads = 2 : i64} : (tensor<3x?x8xf32>, tensor<3x?x8xf32>, tensor<3x?x8xf32>, !transformer.mask) -> tensor<3x?x8xf32>
  return
}

// -----

func.func @attention_c1_ragged(%q: tensor<?x8xf32>, %k: tensor<?x?x8xf32>, %rows: tensor<?xi32>) {
  // expected-error @below {{expects a query of rank 2 and key and value of rank 2, found 'tensor<?x8xf32>', 'tensor<?x?x8xf32>' and 'tensor<?x?x8xf32>'}}
  %y = transformer.attention %q, %k, %k at %rows of %rows ragged(%rows, %rows) {heads = 2 : i64} : (tensor<?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c2_ragged_without_positions(%q: tensor<?x?x8xf32>, %k: tensor<?x8xf32>, %rows: tensor<?xi32>) {
  // expected-error @below {{expects 'at' and 'of' together, and both if 'shared', 'in', 'through' or 'ragged' is given}}
  %y = "transformer.attention"(%q, %k, %k, %rows, %rows) <{heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0>}> ({}, {}, {}) : (tensor<?x?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_c1_ragged_keys(%q: tensor<?x?x8xf32>, %rows: tensor<?xi32>) {
  // expected-error @below {{expects a query of rank 3 and key and value of rank 2, found 'tensor<?x?x8xf32>', 'tensor<?x?x8xf32>' and 'tensor<?x?x8xf32>'}}
  %y = transformer.attention %q, %q, %q ragged_keys(%rows, %rows) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_c2_ragged_keys_at(%q: tensor<?x8xf32>, %rows: tensor<?xi32>) {
  // expected-error @below {{expects lengths with blocks, or with starts if there is no 'at'}}
  %y = transformer.attention %q, %q, %q at %rows of %rows ragged_keys(%rows, %rows) {heads = 2 : i64} : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c2_starts_without_lengths(%q: tensor<?x?x8xf32>, %rows: tensor<?xi32>) {
  // expected-error @below {{expects lengths with blocks, or with starts if there is no 'at'}}
  %y = "transformer.attention"(%q, %q, %q, %rows) <{heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0>}> ({}, {}, {}) : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?xi32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_c15_ragged_keys(%q: tensor<2x?x8xf32>, %k: tensor<?x8xf32>, %rows: tensor<2xi32>, %n: tensor<3xi32>) {
  %valid = transformer.mask.padding %n : tensor<3xi32>
  // expected-error @below {{expects an element for each sentence of 'tensor<2xi32>', found 'tensor<3xi32>'}}
  %y = transformer.attention %q, %k, %k mask(%valid) ragged_keys(%rows, %rows) {heads = 2 : i64} : (tensor<2x?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, !transformer.mask, tensor<2xi32>, tensor<2xi32>) -> tensor<2x?x8xf32>
  return
}

// -----

func.func @attention_c2_ragged_in_caches(%q: tensor<?x8xf32>, %rows: tensor<?xi32>) {
  // expected-error @below {{expects at most one of 'shared', 'in', 'through' and 'ragged', found 2}}
  %y = transformer.attention %q, %q, %q at %rows of %rows in %rows ragged(%rows, %rows) {heads = 2 : i64} : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c15_ragged(%q: tensor<?x8xf32>, %rows: tensor<?xi32>, %two: tensor<2xi32>, %three: tensor<3xi32>) {
  %m = transformer.mask.padding %three : tensor<3xi32>
  // expected-error @below {{expects an element for each sentence of 'tensor<2xi32>', found 'tensor<3xi32>'}}
  %y = transformer.attention %q, %q, %q mask(%m) at %rows of %rows ragged(%rows, %two) {heads = 2 : i64} : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, !transformer.mask, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<2xi32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @attention_c12_integers(%q: tensor<?x?x8xbf16>, %k: tensor<?x?x8xi8>, %s: tensor<?x?x2xf32>) {
  // expected-error @below {{expects queries of f32 beside keys of i8, found 'tensor<?x?x8xbf16>'}}
  %y = transformer.attention %q, %k, %k key_scales(%s) value_scales(%s) {heads = 2 : i64} : (tensor<?x?x8xbf16>, tensor<?x?x8xi8>, tensor<?x?x8xi8>, tensor<?x?x2xf32>, tensor<?x?x2xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_c12_keys(%q: tensor<?x?x8xf32>, %k: tensor<?x?x8xi8>, %s: tensor<?x?x2xf32>) {
  // expected-error @below {{expects keys and values of one element type, found 'tensor<?x?x8xi8>' and 'tensor<?x?x8xf32>'}}
  %y = transformer.attention %q, %k, %q key_scales(%s) value_scales(%s) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xi8>, tensor<?x?x8xf32>, tensor<?x?x2xf32>, tensor<?x?x2xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_c18_none(%q: tensor<?x?x8xf32>, %k: tensor<?x?x8xi8>, %s: tensor<?x?x2xf32>) {
  // expected-error @below {{expects scales of keys and values exactly if these are i8, found 'tensor<?x?x8xi8>'}}
  %y = transformer.attention %q, %k, %k key_scales(%s) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xi8>, tensor<?x?x8xi8>, tensor<?x?x2xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_c18_floats(%q: tensor<?x?x8xf32>, %s: tensor<?x?x2xf32>) {
  // expected-error @below {{expects scales of keys and values exactly if these are i8, found 'tensor<?x?x8xf32>'}}
  %y = transformer.attention %q, %q, %q key_scales(%s) value_scales(%s) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x2xf32>, tensor<?x?x2xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_c18_heads(%q: tensor<?x?x8xf32>, %k: tensor<?x?x4xi8>, %s: tensor<?x?x2xf32>) {
  // expected-error @below {{expects a scale for each of 1 kv heads of 'tensor<?x?x4xi8>', found 'tensor<?x?x2xf32>'}}
  %y = transformer.attention %q, %k, %k key_scales(%s) value_scales(%s) {heads = 2 : i64, kv_heads = 1 : i64} : (tensor<?x?x8xf32>, tensor<?x?x4xi8>, tensor<?x?x4xi8>, tensor<?x?x2xf32>, tensor<?x?x2xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_c18_relative(%q: tensor<?x?x8xf32>, %k: tensor<?x?x8xi8>, %s: tensor<?x?x2xf32>, %a: tensor<8x9xf32>) {
  // expected-error @below {{expects keys of i8 neither ragged nor beside vectors of relative positions}}
  %y = transformer.attention %q, %k, %k key_scales(%s) value_scales(%s) relative_keys(%a) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xi8>, tensor<?x?x8xi8>, tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<8x9xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_c19_shape(%q: memref<?x8xf32>, %x: memref<?x?x8xf32>, %r: memref<?xi32>, %parts: memref<?x2x16x64xf32>) {
  // expected-error @below {{expects parts of f32 [rows, 2, 16, 68], found 'memref<?x2x16x64xf32>'}}
  transformer.attention %q, %x, %x at %r of %r in %r parts(%parts) into %q {heads = 2 : i64} : (memref<?x8xf32>, memref<?x?x8xf32>, memref<?x?x8xf32>, memref<?xi32>, memref<?xi32>, memref<?xi32>, memref<?x2x16x64xf32>, memref<?x8xf32>) -> ()
  return
}

// -----

func.func @attention_c19_shared(%q: memref<?x8xf32>, %x: memref<?x?x8xf32>, %r: memref<?xi32>, %parts: memref<?x2x16x68xf32>) {
  // expected-error @below {{has parts and expects a step over caches of its own, on memrefs}}
  transformer.attention %q, %x, %x at %r of %r shared parts(%parts) into %q {heads = 2 : i64} : (memref<?x8xf32>, memref<?x?x8xf32>, memref<?x?x8xf32>, memref<?xi32>, memref<?xi32>, memref<?x2x16x68xf32>, memref<?x8xf32>) -> ()
  return
}
