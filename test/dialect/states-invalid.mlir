// One case per constraint of States.td.
// RUN: heddle-opt %s -verify-diagnostics -split-input-file

func.func @recurrence_c1_shape(%f: tensor<?x?x8xf32>, %v: tensor<?x?x4xf32>) {
  // expected-error @below {{expects operands of one shape and rank 3, found 'tensor<?x?x8xf32>' and 'tensor<?x?x4xf32>'}}
  %c = transformer.recurrence %f, %v : (tensor<?x?x8xf32>, tensor<?x?x4xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @recurrence_c1_rank(%f: tensor<?x8xf32>) {
  // expected-error @below {{expects operands of one shape and rank 3, found 'tensor<?x8xf32>' and 'tensor<?x8xf32>'}}
  %c = transformer.recurrence %f, %f : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @recurrence_c1_step(%f: tensor<?x?x8xf32>) {
  // expected-error @below {{expects operands of one shape and rank 2, found 'tensor<?x?x8xf32>' and 'tensor<?x?x8xf32>'}}
  %c = transformer.recurrence step %f, %f into %f : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @recurrence_c2(%f: tensor<?x8xf32>) {
  // expected-error @below {{expects a state after 'into' in the step form}}
  %c = transformer.recurrence step %f, %f : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @cache_append_c1_input(%x: tensor<?x?x8xf32>, %at: tensor<?xi32>, %cache: tensor<?x?x8xf32>) {
  // expected-error @below {{expects an input [rows, d] and a cache [caches, slots, d] of at least one slot, found 'tensor<?x?x8xf32>' and 'tensor<?x?x8xf32>'}}
  %k = transformer.cache.append %x at %at into %cache : (tensor<?x?x8xf32>, tensor<?xi32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @cache_append_c1_width(%x: tensor<?x4xf32>, %at: tensor<?xi32>, %cache: tensor<?x?x8xf32>) {
  // expected-error @below {{expects an input [rows, d] and a cache [caches, slots, d] of at least one slot, found 'tensor<?x4xf32>' and 'tensor<?x?x8xf32>'}}
  %k = transformer.cache.append %x at %at into %cache : (tensor<?x4xf32>, tensor<?xi32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @cache_append_c1_slots(%x: tensor<?x8xf32>, %at: tensor<?xi32>, %cache: tensor<?x0x8xf32>) {
  // expected-error @below {{expects an input [rows, d] and a cache [caches, slots, d] of at least one slot, found 'tensor<?x8xf32>' and 'tensor<?x0x8xf32>'}}
  %k = transformer.cache.append %x at %at into %cache : (tensor<?x8xf32>, tensor<?xi32>, tensor<?x0x8xf32>) -> tensor<?x0x8xf32>
  return
}

// -----

func.func @cache_append_c2(%x: tensor<?x8xf32>, %at: tensor<?xi32>, %cache: tensor<?x?x8xbf16>) {
  // expected-error @below {{writes 'tensor<?x8xf32>' to a cache of type 'tensor<?x?x8xbf16>', expected one element type}}
  %k = transformer.cache.append %x at %at into %cache : (tensor<?x8xf32>, tensor<?xi32>, tensor<?x?x8xbf16>) -> tensor<?x?x8xbf16>
  return
}

// -----

func.func @cache_append_without_cache(%x: tensor<?x8xf32>, %at: tensor<?xi32>) {
  // expected-error @below {{expected 3 or more operands, but found 2}}
  %k = "transformer.cache.append"(%x, %at) : (tensor<?x8xf32>, tensor<?xi32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @cache_append_result(%x: tensor<?x8xf32>, %at: tensor<?xi32>, %cache: tensor<?x?x8xf32>) {
  // expected-error @below {{works on tensors and expects a result}}
  transformer.cache.append %x at %at into %cache : (tensor<?x8xf32>, tensor<?xi32>, tensor<?x?x8xf32>) -> ()
  return
}

// -----

func.func @cache_append_c3(%x: tensor<?x8xf32>, %at: tensor<?xi32>, %cache: tensor<?x?x8xf32>) {
  // expected-error @below {{expects at least 0 pinned slots, found -1}}
  %k = transformer.cache.append %x at %at into %cache {pinned = -1 : i64} : (tensor<?x8xf32>, tensor<?xi32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @cache_fill_c1(%x: tensor<?x8xf32>, %n: tensor<?xi32>, %cache: tensor<?x?x8xf32>) {
  // expected-error @below {{expects an input [batch, n, d] and a cache [caches, slots, d] of at least one slot, found 'tensor<?x8xf32>' and 'tensor<?x?x8xf32>'}}
  %k = transformer.cache.fill %x lengths(%n) into %cache : (tensor<?x8xf32>, tensor<?xi32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @cache_fill_c2(%x: tensor<?x?x8xbf16>, %n: tensor<?xi32>, %cache: tensor<?x?x8xf32>) {
  // expected-error @below {{writes 'tensor<?x?x8xbf16>' to a cache of type 'tensor<?x?x8xf32>', expected one element type}}
  %k = transformer.cache.fill %x lengths(%n) into %cache : (tensor<?x?x8xbf16>, tensor<?xi32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @cache_fill_c3(%x: tensor<?x?x8xf32>, %n: tensor<?xi32>, %cache: tensor<?x?x8xf32>) {
  // expected-error @below {{expects at least 0 pinned slots, found -2}}
  %k = transformer.cache.fill %x lengths(%n) into %cache {pinned = -2 : i64} : (tensor<?x?x8xf32>, tensor<?xi32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @last_rows_c1(%x: tensor<?x?x8xf32>, %n: tensor<?xi32>, %state: tensor<?x4xf32>) {
  // expected-error @below {{expects an input [batch, n, d] and a state [batch, d], found 'tensor<?x?x8xf32>' and 'tensor<?x4xf32>'}}
  %c = transformer.last_rows %x lengths(%n) into %state : (tensor<?x?x8xf32>, tensor<?xi32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return
}
