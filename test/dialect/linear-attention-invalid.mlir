// One case per constraint of LinearAttention.td.
// RUN: heddle-opt %s -verify-diagnostics -split-input-file

func.func @linear_attention_c1_query(%q: tensor<?x8xf32>, %x: tensor<?x?x8xf32>) {
  // expected-error @below {{expects a query of rank 3, found 'tensor<?x8xf32>'}}
  %y = transformer.linear_attention %q, %x, %x {heads = 2 : i64} : (tensor<?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @linear_attention_c1_values(%x: tensor<?x?x8xf32>, %k: tensor<?x5x8xf32>, %v: tensor<?x6x8xf32>) {
  // expected-error @below {{expects a value for each key, of rank 3, found 'tensor<?x5x8xf32>' and 'tensor<?x6x8xf32>'}}
  %y = transformer.linear_attention %x, %k, %v {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x5x8xf32>, tensor<?x6x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @linear_attention_c1_batch(%q: tensor<2x?x8xf32>, %k: tensor<3x?x8xf32>) {
  // expected-error @below {{expects a query of each sentence, found 'tensor<2x?x8xf32>' and 'tensor<3x?x8xf32>'}}
  %y = transformer.linear_attention %q, %k, %k {heads = 2 : i64} : (tensor<2x?x8xf32>, tensor<3x?x8xf32>, tensor<3x?x8xf32>) -> tensor<2x?x8xf32>
  return
}

// -----

func.func @linear_attention_c1_causal(%q: tensor<?x4x8xf32>, %k: tensor<?x5x8xf32>) {
  // expected-error @below {{expects a query for each key, found 'tensor<?x4x8xf32>' and 'tensor<?x5x8xf32>'}}
  %y = transformer.linear_attention %q, %k, %k causal {heads = 2 : i64} : (tensor<?x4x8xf32>, tensor<?x5x8xf32>, tensor<?x5x8xf32>) -> tensor<?x4x8xf32>
  return
}

// -----

func.func @linear_attention_c2_lengths(%x: tensor<?x8xf32>, %n: tensor<?xi32>, %s: tensor<?x2x4x4xf32>, %z: tensor<?x2x4xf32>) {
  // expected-error @below {{expects neither lengths nor 'causal' in the step form, which has one key a row}}
  %y:3 = transformer.linear_attention step %x, %x, %x lengths(%n) into %x, %s, %z {heads = 2 : i64} : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?xi32>, tensor<?x8xf32>, tensor<?x2x4x4xf32>, tensor<?x2x4xf32>) -> (tensor<?x8xf32>, tensor<?x2x4x4xf32>, tensor<?x2x4xf32>)
  return
}

// -----

func.func @linear_attention_c2_no_state(%x: tensor<?x8xf32>) {
  // expected-error @below {{expects states after 'into' in the step form}}
  %y:3 = transformer.linear_attention step %x, %x, %x {heads = 2 : i64} : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x2x4x4xf32>, tensor<?x2x4xf32>)
  return
}

// -----

func.func @linear_attention_c2_state(%x: memref<?x8xf32>, %s: memref<?x2x4x5xf32>, %z: memref<?x2x4xf32>) {
  // expected-error @below {{writes a result of shape [?, 2, 4, 4] into a destination of type 'memref<?x2x4x5xf32>'}}
  transformer.linear_attention step %x, %x, %x into %x, %s, %z {heads = 2 : i64} : (memref<?x8xf32>, memref<?x8xf32>, memref<?x8xf32>, memref<?x8xf32>, memref<?x2x4x5xf32>, memref<?x2x4xf32>) -> ()
  return
}

// -----

func.func @linear_attention_c2_taylor(%x: memref<?x8xf32>, %s: memref<?x2x4x4xf32>, %z: memref<?x2x4xf32>) {
  // expected-error @below {{writes a result of shape [?, 2, 5, 4] into a destination of type 'memref<?x2x4x4xf32>'}}
  transformer.linear_attention step %x, %x, %x into %x, %s, %z {heads = 2 : i64} features taylor : (memref<?x8xf32>, memref<?x8xf32>, memref<?x8xf32>, memref<?x8xf32>, memref<?x2x4x4xf32>, memref<?x2x4xf32>) -> ()
  return
}

// -----

func.func @linear_attention_c3_heads(%x: tensor<?x?x8xf32>) {
  // expected-error @below {{expects a query width that 3 heads divide, found 'tensor<?x?x8xf32>'}}
  %y = transformer.linear_attention %x, %x, %x {heads = 3 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x6xf32>
  return
}

// -----

func.func @linear_attention_c3_kv_heads(%x: tensor<?x?x8xf32>) {
  // expected-error @below {{expects kv_heads to divide heads, found 3 and 4}}
  %y = transformer.linear_attention %x, %x, %x {heads = 4 : i64, kv_heads = 3 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @linear_attention_c3_value(%x: tensor<?x?x8xf32>, %v: tensor<?x?x7xf32>) {
  // expected-error @below {{expects a value width that 2 heads divide, found 'tensor<?x?x7xf32>'}}
  %y = transformer.linear_attention %x, %x, %v {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x7xf32>) -> tensor<?x?x6xf32>
  return
}

// -----

func.func @linear_attention_c4(%q: tensor<?x?x8xf32>, %k: tensor<?x?x6xf32>) {
  // expected-error @below {{expects queries and keys of one width, found 4 and 3 a head}}
  %y = transformer.linear_attention %q, %k, %k {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x6xf32>, tensor<?x?x6xf32>) -> tensor<?x?x6xf32>
  return
}

// -----

func.func @linear_attention_c5_argument(%x: tensor<?x?x8xf32>) {
  // expected-error @below {{expects features region arguments ('f32'), found ('f64')}}
  %y = transformer.linear_attention %x, %x, %x {heads = 2 : i64} features {
  ^bb0(%e: f64):
    %f = arith.truncf %e : f64 to f32
    transformer.yield %f : f32
  } : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @linear_attention_c5_op(%x: tensor<?x?x8xf32>, %m: memref<f32>) {
  %y = transformer.linear_attention %x, %x, %x {heads = 2 : i64} features {
  ^bb0(%e: f32):
    // expected-error @below {{cannot be evaluated lane by lane in a features region (expected elementwise ops of arith and math and transformer.lookup)}}
    %f = memref.load %m[] : memref<f32>
    transformer.yield %f : f32
  } : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @linear_attention_c5_missing(%x: tensor<?x?x8xf32>) {
  // expected-error @below {{expects a features region exactly if the features are 'region'}}
  %y = "transformer.linear_attention"(%x, %x, %x) <{heads = 2 : i64, features = #transformer<feature_map region>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}> ({}) : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @linear_attention_c5_unknown(%x: tensor<?x?x8xf32>) {
  // expected-error @below {{expected elu, relu, taylor or a region, found 'softmax'}}
  %y = transformer.linear_attention %x, %x, %x {heads = 2 : i64} features softmax : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @linear_attention_c6(%x: tensor<?x?x8xf32>, %h: tensor<?x?x8xbf16>) {
  // expected-error @below {{expects operands of one element type, found 'tensor<?x?x8xf32>' and 'tensor<?x?x8xbf16>'}}
  %y = transformer.linear_attention %x, %x, %h {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xbf16>) -> tensor<?x?x8xf32>
  return
}

// -----

// A window is a sum of its own for each query.

func.func @linear_attention_mask(%x: tensor<?x?x8xf32>) {
  %m = transformer.mask.window [left = 2, right = 0]
  // expected-error @below {{expected ':'}}
  %y = transformer.linear_attention %x, %x, %x mask(%m) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, !transformer.mask) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @linear_attention_sums_c1(%k: tensor<?x8xf32>) {
  // expected-error @below {{expects a value for each key, of rank 3, found 'tensor<?x8xf32>' and 'tensor<?x8xf32>'}}
  %s, %z = transformer.linear_attention.sums %k, %k {heads = 2 : i64} : (tensor<?x8xf32>, tensor<?x8xf32>) -> (tensor<?x2x4x4xf32>, tensor<?x2x4xf32>)
  return
}

// -----

func.func @linear_attention_sums_c2(%k: tensor<?x?x8xf32>) {
  // expected-error @below {{expects a key width that 3 heads divide, found 'tensor<?x?x8xf32>'}}
  %s, %z = transformer.linear_attention.sums %k, %k {heads = 3 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> (tensor<?x3x2x2xf32>, tensor<?x3x2xf32>)
  return
}

// -----

func.func @linear_attention_sums_c3(%k: tensor<?x?x8xf32>) {
  // expected-error @below {{expects features region arguments ('f32'), found ()}}
  %s, %z = transformer.linear_attention.sums %k, %k {heads = 2 : i64} features {
    %f = arith.constant 1.0 : f32
    transformer.yield %f : f32
  } : (tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> (tensor<?x2x4x4xf32>, tensor<?x2x4xf32>)
  return
}

// -----

func.func @linear_attention_sums_c4(%k: memref<?x?x8xf32>, %s: memref<?x2x4x4xf32>) {
  // expected-error @below {{expects 2 destinations, found 1}}
  transformer.linear_attention.sums %k, %k into %s {heads = 2 : i64} : (memref<?x?x8xf32>, memref<?x?x8xf32>, memref<?x2x4x4xf32>) -> ()
  return
}

// -----

func.func @linear_attention_read_c1(%q: tensor<?x8xf32>, %s: tensor<?x2x4x4xf32>, %z: tensor<?x2x4xf32>) {
  // expected-error @below {{expects a query of rank 3 without 'of', found 'tensor<?x8xf32>'}}
  %y = transformer.linear_attention.read %q, %s, %z {heads = 2 : i64} : (tensor<?x8xf32>, tensor<?x2x4x4xf32>, tensor<?x2x4xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @linear_attention_read_c2(%q: tensor<?x?x8xf32>, %s: tensor<?x3x4x4xf32>, %z: tensor<?x3x4xf32>) {
  // expected-error @below {{expects kv_heads to divide heads, found 3 and 2}}
  %y = transformer.linear_attention.read %q, %s, %z {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x3x4x4xf32>, tensor<?x3x4xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @linear_attention_read_c3_totals(%q: tensor<?x?x8xf32>, %s: tensor<?x2x4x4xf32>, %z: tensor<?x2x5xf32>) {
  // expected-error @below {{expects sums [batch, heads, features, width] and [batch, heads, features], found 'tensor<?x2x4x4xf32>' and 'tensor<?x2x5xf32>'}}
  %y = transformer.linear_attention.read %q, %s, %z {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x2x4x4xf32>, tensor<?x2x5xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @linear_attention_read_c3_features(%q: tensor<?x?x8xf32>, %s: tensor<?x2x4x4xf32>, %z: tensor<?x2x4xf32>) {
  // expected-error @below {{expects sums of 5 features, found 'tensor<?x2x4x4xf32>'}}
  %y = transformer.linear_attention.read %q, %s, %z {heads = 2 : i64} features taylor : (tensor<?x?x8xf32>, tensor<?x2x4x4xf32>, tensor<?x2x4xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @linear_attention_read_c4(%q: tensor<?x?x8xf32>, %s: tensor<?x2x4x4xf32>, %z: tensor<?x2x4xf32>) {
  // expected-error @below {{expects features region arguments ('f32'), found ('i32')}}
  %y = transformer.linear_attention.read %q, %s, %z {heads = 2 : i64} features {
  ^bb0(%e: i32):
    %f = arith.sitofp %e : i32 to f32
    transformer.yield %f : f32
  } : (tensor<?x?x8xf32>, tensor<?x2x4x4xf32>, tensor<?x2x4xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @linear_attention_read_c5(%q: memref<?x?x8xf32>, %s: memref<?x2x4x4xf32>, %z: memref<?x2x4xf32>, %y: memref<?x?x7xf32>) {
  // expected-error @below {{writes a result of shape [?, ?, 8] into a destination of type 'memref<?x?x7xf32>'}}
  transformer.linear_attention.read %q, %s, %z into %y {heads = 2 : i64} : (memref<?x?x8xf32>, memref<?x2x4x4xf32>, memref<?x2x4xf32>, memref<?x?x7xf32>) -> ()
  return
}

// -----

func.func @linear_attention_c1_lengths(%x: tensor<?x?x8xf32>, %n: tensor<1xi32>) {
  // expected-error @below {{expects an element for each sentence of 'tensor<?x?x8xf32>', found 'tensor<1xi32>'}}
  %y = transformer.linear_attention %x, %x, %x lengths(%n) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<1xi32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @linear_attention_sums_c1_lengths(%k: tensor<?x?x8xf32>, %n: tensor<1xi32>) {
  // expected-error @below {{expects an element for each sentence of 'tensor<?x?x8xf32>', found 'tensor<1xi32>'}}
  %s, %z = transformer.linear_attention.sums %k, %k lengths(%n) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<1xi32>) -> (tensor<?x2x4x4xf32>, tensor<?x2x4xf32>)
  return
}

// -----

func.func @features_and_region(%x: tensor<?x?x8xf32>) {
  %y = transformer.linear_attention %x, %x, %x {heads = 2 : i64}
    // expected-error @below {{expected no region beside 'taylor', which says what the features are}}
    features taylor {
  ^bb0(%d: f32):
    transformer.yield %d : f32
  } : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}
