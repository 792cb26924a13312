// Decoders that cannot be evaluated position by position, with the reason.
// RUN: heddle-opt %s -transformer-split-phases -verify-diagnostics -split-input-file

transformer.parameter @table : tensor<9x8xf32>
func.func private @bidirectional_attention(%ids: tensor<?x?xi32> {transformer.target}) -> tensor<?x?x8xf32> attributes {transformer.forms = ["step"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  // expected-error @below {{'transformer.attention' op cannot be evaluated position by position: its mask lets a query see all later positions (is 'transformer.mask.causal' missing?)}}
  %y = transformer.attention %x, %x, %x {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

// expected-error @below {{computes a task and expects 'transformer.forms' to list "full"}}
func.func private @task_without_forms(%memory: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> attributes {transformer.task = "tag"} {
  return %memory : tensor<?x?x8xf32>
}

// -----

transformer.parameter @table : tensor<9x8xf32>
func.func private @mask_without_causality(%ids: tensor<?x?xi32> {transformer.target}, %lengths: tensor<?xi32>) -> tensor<?x?x8xf32> attributes {transformer.forms = ["step"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  %valid = transformer.mask.padding %lengths : tensor<?xi32>
  // expected-error @below {{'transformer.attention' op cannot be evaluated position by position: its mask lets a query see all later positions (is 'transformer.mask.causal' missing?)}}
  %y = transformer.attention %x, %x, %x mask(%valid) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, !transformer.mask) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

transformer.parameter @table : tensor<9x8xf32>
func.func private @window_to_the_right(%ids: tensor<?x?xi32> {transformer.target}) -> tensor<?x?x8xf32> attributes {transformer.forms = ["step"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  %window = transformer.mask.window [left = 4, right = 2, dilation = [1, 3]]
  // expected-error @below {{'transformer.attention' op cannot be evaluated position by position: its mask lets a query see 6 later positions (is 'transformer.mask.causal' missing?)}}
  %y = transformer.attention %x, %x, %x mask(%window) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, !transformer.mask) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

transformer.parameter @table : tensor<9x8xf32>
func.func private @op_without_the_interface(%ids: tensor<?x?xi32> {transformer.target}) -> tensor<?x2x8xf32> attributes {transformer.forms = ["step"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  // expected-error @below {{'tensor.cast' op cannot be evaluated position by position: it does not implement IncrementalOpInterface}}
  %y = tensor.cast %x : tensor<?x?x8xf32> to tensor<?x2x8xf32>
  return %y : tensor<?x2x8xf32>
}

// -----

transformer.parameter @table : tensor<9x8xf32>
func.func private @mask_from_the_target(%ids: tensor<?x?xi32> {transformer.target}) -> tensor<?x?x8xf32> attributes {transformer.forms = ["step"]} {
  %c0 = arith.constant 0 : index
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  %lengths = tensor.empty(%c0) : tensor<?xi32>
  // expected-error @below {{'tensor.extract' op cannot be evaluated position by position: it does not implement IncrementalOpInterface}}
  %id = tensor.extract %ids[%c0, %c0] : tensor<?x?xi32>
  %l = tensor.insert %id into %lengths[%c0] : tensor<?xi32>
  %valid = transformer.mask.padding %l : tensor<?xi32>
  %y = transformer.attention %x, %x, %x mask(%valid) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, !transformer.mask) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

transformer.parameter @table : tensor<9x8xf32>
func.func private @only_keys_depend_on_the_target(%ids: tensor<?x?xi32> {transformer.target}, %memory: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> attributes {transformer.forms = ["step"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  // expected-error @below {{'transformer.attention' op cannot be evaluated position by position: its keys depend on the target, its queries do not}}
  %y = transformer.attention %memory, %x, %x {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

transformer.parameter @table : tensor<9x8xf32>
func.func private @only_values_depend_on_the_target(%ids: tensor<?x?xi32> {transformer.target}, %memory: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> attributes {transformer.forms = ["step"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  // expected-error @below {{'transformer.attention' op cannot be evaluated position by position: only one of its keys and values depends on the target}}
  %y = transformer.attention %x, %memory, %x {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

transformer.parameter @table : tensor<9x8xf32>
func.func private @rows_depend_on_the_target(%ids: tensor<?x?xi32> {transformer.target}, %bias: tensor<?x?xf32>, %counts: tensor<?xi32>) -> tensor<?x?x?xf32> attributes {transformer.forms = ["step"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  // expected-error @below {{'transformer.candidate_logits' op cannot be evaluated position by position: operand #1 depends on the target}}
  %y = transformer.candidate_logits %x, %x, %bias, %counts : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?xf32>, tensor<?xi32>) -> tensor<?x?x?xf32>
  return %y : tensor<?x?x?xf32>
}

// -----

transformer.parameter @table : tensor<9x8xf32>
func.func private @sum_of_different_times(%ids: tensor<?x?xi32> {transformer.target}, %memory: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> attributes {transformer.forms = ["step"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  // expected-error @below {{'transformer.add' op cannot be evaluated position by position: operand #1 does not depend on the target}}
  %y = transformer.add %x, %memory : (tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

transformer.parameter @table : tensor<9x8xf32>
func.func private @result_with_a_destination(%ids: tensor<?x?xi32> {transformer.target}, %memory: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> attributes {transformer.forms = ["step"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  // expected-error @below {{'transformer.activation' op cannot be evaluated position by position: its result has a destination already}}
  %y = transformer.activation relu %x into %memory : (tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

transformer.parameter @table : tensor<9x8xf32>
func.func private @region_reads_the_target(%ids: tensor<?x?xi32> {transformer.target}) -> tensor<?x?x8xf32> attributes {transformer.forms = ["step"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  %causal = transformer.mask.causal
  // expected-error @below {{'transformer.attention' op cannot be evaluated position by position: one of its regions reads a value that depends on the target}}
  %y = transformer.attention %x, %x, %x mask(%causal) {heads = 2 : i64} score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    %t = transformer.lookup %x[%b, %i, %h] : tensor<?x?x8xf32> -> f32
    transformer.yield %t : f32
  } : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, !transformer.mask) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

transformer.parameter @table : tensor<9x8xf32>
func.func private @region_reads_a_computed_scalar(%ids: tensor<?x?xi32> {transformer.target}, %scale: f32) -> tensor<?x?x8xf32> attributes {transformer.forms = ["step"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  %causal = transformer.mask.causal
  // expected-error @below {{'arith.mulf' op cannot be prepared: the step reads its result of type 'f32', expected a tensor}}
  %cap = arith.mulf %scale, %scale : f32
  %y = transformer.attention %x, %x, %x mask(%causal) {heads = 2 : i64} score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    %t = arith.mulf %s, %cap : f32
    transformer.yield %t : f32
  } : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, !transformer.mask) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

transformer.parameter @table : tensor<9x8xf32>
// expected-error @below {{has a step form but returns a value that does not depend on the target}}
func.func private @result_of_the_source_alone(%ids: tensor<?x?xi32> {transformer.target}, %memory: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> attributes {transformer.forms = ["step"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  return %memory : tensor<?x?x8xf32>
}

// -----

transformer.parameter @table : tensor<9x8xf32>
// expected-error @below {{has a step form but no argument with 'transformer.target'}}
func.func private @no_target(%ids: tensor<?x?xi32>) -> tensor<?x?x8xf32> attributes {transformer.forms = ["step"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  return %x : tensor<?x?x8xf32>
}

// -----

// expected-error @below {{expects the argument with 'transformer.target' to be tensor<?x?xi32>, or tensor<?x?xNxf32> of a static width N, found 'tensor<?xi32>'}}
func.func private @target_of_another_type(%x: tensor<?xi32> {transformer.target}) -> tensor<?xi32> attributes {transformer.forms = ["step"]} {
  return %x : tensor<?xi32>
}

// -----

// expected-error @below {{expects the argument with 'transformer.target' to be tensor<?x?xi32>, or tensor<?x?xNxf32> of a static width N, found 'tensor<?x?x?xf32>'}}
func.func private @vectors_of_any_width(%x: tensor<?x?x?xf32> {transformer.target}) -> tensor<?x?x?xf32> attributes {transformer.forms = ["step"]} {
  return %x : tensor<?x?x?xf32>
}

// -----

// expected-error @below {{expects the argument with 'transformer.target' to be tensor<?x?xi32>, or tensor<?x?xNxf32> of a static width N, found 'tensor<?x?x8xbf16>'}}
func.func private @vectors_of_another_type(%x: tensor<?x?x8xbf16> {transformer.target}) -> tensor<?x?x8xbf16> attributes {transformer.forms = ["step"]} {
  return %x : tensor<?x?x8xbf16>
}

// -----

// expected-error @below {{expects the argument with 'transformer.target' to be tensor<?x?xi32>, or tensor<?x?xNxf32> of a static width N, found 'tensor<3x?x8xf32>'}}
func.func private @vectors_of_some_sentences(%x: tensor<3x?x8xf32> {transformer.target}) -> tensor<3x?x8xf32> attributes {transformer.forms = ["step"]} {
  return %x : tensor<3x?x8xf32>
}

// -----

// expected-error @below {{has a step form and expects one block, found 0}}
func.func private @declaration(%ids: tensor<?x?xi32> {transformer.target}) -> tensor<?x?xi32> attributes {transformer.forms = ["step"]}

// -----

transformer.parameter @table : tensor<9x8xf32>
transformer.parameter @key : tensor<8x8xf32>
func.func private @prepared_value_without_names(%ids: tensor<?x?xi32> {transformer.target}, %memory: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> attributes {transformer.forms = ["step"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  %wk = transformer.weight @key : tensor<8x8xf32>
  // expected-error @below {{cannot name dimension 0 of a value of type 'tensor<?x?x8xf32>': it does not come from an argument with 'transformer.dims'}}
  %k = transformer.linear %memory, %wk : (tensor<?x?x8xf32>, tensor<8x8xf32>) -> tensor<?x?x8xf32>
  %y = transformer.attention %x, %k, %k {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

func.func private @along_the_axis_of_time(%ids: tensor<?x?xi32> {transformer.target}) -> tensor<?x?xf32> attributes {transformer.forms = ["step"]} {
  %table = transformer.weight @column : tensor<9xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9xf32>) -> tensor<?x?xf32>
  // expected-error @below {{'transformer.fill' op cannot be evaluated position by position: it works along the axis of time of operand #0}}
  %y = transformer.fill like %x {value = 0.0 : f32, width = 4 : i64} : (tensor<?x?xf32>) -> tensor<?x4xf32>
  %z = tensor.cast %y : tensor<?x4xf32> to tensor<?x?xf32>
  return %z : tensor<?x?xf32>
}
transformer.parameter @column : tensor<9xf32>

// -----

// expected-error @below {{expects 'transformer.forms' to list "full", "step" or both, and "extend", "chunk" or "align" beside "step", found ["whole"]}}
func.func private @form_of_another_name(%ids: tensor<?x?xi32> {transformer.target}) -> tensor<?x?xi32> attributes {transformer.forms = ["whole"]} {
  return %ids : tensor<?x?xi32>
}

// -----

// expected-error @below {{has the form 'extend' but no step form, which would continue from its states}}
func.func private @extend_without_a_step(%ids: tensor<?x?xi32> {transformer.target}) -> tensor<?x?xi32> attributes {transformer.forms = ["full", "extend"]} {
  return %ids : tensor<?x?xi32>
}

// -----

// expected-error @below {{has the form 'chunk' but no step form, which would continue from its states}}
func.func private @chunk_without_a_step(%ids: tensor<?x?xi32> {transformer.target}) -> tensor<?x?xi32> attributes {transformer.forms = ["full", "chunk"]} {
  return %ids : tensor<?x?xi32>
}

// -----

// A residual has to move with the target, too.

transformer.parameter @table : tensor<9x8xf32>
func.func @residual(%ids: tensor<?x?xi32> {transformer.target}, %r: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> attributes {transformer.forms = ["step"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %w = arith.constant dense<1.0> : tensor<8x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  // expected-error @below {{cannot be evaluated position by position: operand #2 does not depend on the target}}
  %y = transformer.linear %x, %w residual(%r) : (tensor<?x?x8xf32>, tensor<8x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

transformer.parameter @table : tensor<9x8xf32>
func.func private @linear_attention_to_all(%ids: tensor<?x?xi32> {transformer.target}, %memory: tensor<?x?x8xf32>, %n: tensor<?xi32>) -> tensor<?x?x8xf32> attributes {transformer.forms = ["step"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  // expected-error @below {{'transformer.linear_attention' op cannot be evaluated position by position: a query sees all later positions (is 'causal' missing?)}}
  %y = transformer.linear_attention %x, %x, %x {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

transformer.parameter @table : tensor<9x8xf32>
func.func private @linear_attention_to_lengths(%ids: tensor<?x?xi32> {transformer.target}, %memory: tensor<?x?x8xf32>, %n: tensor<?xi32>) -> tensor<?x?x8xf32> attributes {transformer.forms = ["step"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  // expected-error @below {{'transformer.linear_attention' op cannot be evaluated position by position: its lengths are those of whole targets, which a step does not know}}
  %y = transformer.linear_attention %x, %x, %x lengths(%n) causal {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?xi32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

transformer.parameter @table : tensor<9x8xf32>
func.func private @linear_attention_of_memory(%ids: tensor<?x?xi32> {transformer.target}, %memory: tensor<?x?x8xf32>, %n: tensor<?xi32>) -> tensor<?x?x8xf32> attributes {transformer.forms = ["step"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  // expected-error @below {{'transformer.linear_attention' op cannot be evaluated position by position: its keys depend on the target, its queries do not}}
  %y = transformer.linear_attention %memory, %x, %x {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

transformer.parameter @table : tensor<9x8xf32>
func.func private @linear_attention_to_half(%ids: tensor<?x?xi32> {transformer.target}, %memory: tensor<?x?x8xf32>, %n: tensor<?xi32>) -> tensor<?x?x8xf32> attributes {transformer.forms = ["step"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  // expected-error @below {{'transformer.linear_attention' op cannot be evaluated position by position: only one of its keys and values depends on the target}}
  %y = transformer.linear_attention %x, %x, %memory {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

transformer.parameter @table : tensor<9x8xf32>
func.func private @linear_attention_to_memory(%ids: tensor<?x?xi32> {transformer.target}, %memory: tensor<?x?x8xf32>, %n: tensor<?xi32>) -> tensor<?x?x8xf32> attributes {transformer.forms = ["step"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  // expected-error @below {{'transformer.linear_attention' op cannot be evaluated position by position: its keys do not depend on the target (is 'transformer-split-linear-attention' missing?)}}
  %y = transformer.linear_attention %x, %memory, %memory {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

transformer.parameter @table : tensor<9x8xf32>
func.func private @sums_of_targets(%ids: tensor<?x?xi32> {transformer.target}, %memory: tensor<?x?x8xf32>, %n: tensor<?xi32>) -> tensor<?x?x8xf32> attributes {transformer.forms = ["step"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  // expected-error @below {{'transformer.linear_attention.sums' op cannot be evaluated position by position: it sums over all positions of the target (is 'causal' missing?)}}
  %s, %z = transformer.linear_attention.sums %x, %x {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> (tensor<?x2x4x4xf32>, tensor<?x2x4xf32>)
  %y = transformer.linear_attention.read %x, %s, %z {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x2x4x4xf32>, tensor<?x2x4xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

// There is no causal Linformer.

transformer.parameter @table : tensor<9x8xf32>
transformer.parameter @project : tensor<4x16xf32>
func.func private @projected_target(%ids: tensor<?x?xi32> {transformer.target}) -> tensor<?x?x8xf32> attributes {transformer.forms = ["step"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %e = transformer.weight @project : tensor<4x16xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  // expected-error @below {{'transformer.project_sequence' op cannot be evaluated position by position: each projected row mixes all positions, so that every new one changes what earlier queries have read}}
  %k = transformer.project_sequence %x, %e : (tensor<?x?x8xf32>, tensor<4x16xf32>) -> tensor<?x4x8xf32>
  %y = transformer.attention %x, %k, %k {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x4x8xf32>, tensor<?x4x8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

transformer.parameter @table : tensor<9x8xf32>
func.func private @taken_of_target(%ids: tensor<?x?xi32> {transformer.target}, %at: tensor<?x?xi32>) -> tensor<?x?x8xf32> attributes {transformer.forms = ["step"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  // expected-error @below {{'transformer.take_rows' op cannot be evaluated position by position: its tokens may be later positions}}
  %y = transformer.take_rows %x at %at : (tensor<?x?x8xf32>, tensor<?x?xi32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

transformer.parameter @table : tensor<9x8xf32>
func.func private @put_into_target(%ids: tensor<?x?xi32> {transformer.target}, %rows: tensor<?x?x8xf32>, %at: tensor<?x?xi32>) -> tensor<?x?x8xf32> attributes {transformer.forms = ["step"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  // expected-error @below {{'transformer.put_rows' op cannot be evaluated position by position: a later token would change rows of earlier positions}}
  %y = transformer.put_rows %rows at %at into %x : (tensor<?x?x8xf32>, tensor<?x?xi32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

// A global token's own row; columns alone look as far as the last of them.

transformer.parameter @table : tensor<9x8xf32>
func.func private @global_rows(%ids: tensor<?x?xi32> {transformer.target}) -> tensor<?x?x8xf32> attributes {transformer.forms = ["step"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  %w = transformer.mask.window [left = 3, right = 0]
  %g = transformer.mask.global [count = 2]
  %m = transformer.mask.or %w, %g
  // expected-error @below {{its mask lets a query see all later positions (is 'transformer.mask.causal' missing?)}}
  %y = transformer.attention %x, %x, %x mask(%m) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, !transformer.mask) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

transformer.parameter @table : tensor<9x8xf32>
func.func private @global_columns(%ids: tensor<?x?xi32> {transformer.target}) -> tensor<?x?x8xf32> attributes {transformer.forms = ["step"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  %m = transformer.mask.global columns [count = 2]
  // expected-error @below {{its mask lets a query see 1 later position (is 'transformer.mask.causal' missing?)}}
  %y = transformer.attention %x, %x, %x mask(%m) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, !transformer.mask) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

transformer.parameter @table : tensor<9x8xf32>
func.func private @random_blocks_of_whole_sentences(%ids: tensor<?x?xi32> {transformer.target}, %n: tensor<?xi32>) -> tensor<?x?x8xf32> attributes {transformer.forms = ["step"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  %m = transformer.mask.random_blocks [block = 4, count = 2, seed = 0] of %n : tensor<?xi32>
  // expected-error @below {{its mask lets a query see all later positions (is 'transformer.mask.causal' missing?)}}
  %y = transformer.attention %x, %x, %x mask(%m) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, !transformer.mask) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

transformer.parameter @table : tensor<9x8xf32>
func.func private @segments_of_the_target(%ids: tensor<?x?xi32> {transformer.target}) -> tensor<?x?x8xf32> attributes {transformer.forms = ["step"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  %c = transformer.mask.causal
  // expected-error @below {{'transformer.mask.segments' op cannot be evaluated position by position: it reads a value that depends on the target, but a step has only the value of its own position}}
  %s = transformer.mask.segments %ids : tensor<?x?xi32>
  %m = transformer.mask.and %c, %s
  %y = transformer.attention %x, %x, %x mask(%m) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, !transformer.mask) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

// There is no causal Linformer.

transformer.parameter @table : tensor<9x8xf32>
func.func private @projected_keys(%ids: tensor<?x?xi32> {transformer.target}, %e: tensor<4x16xf32>) -> tensor<?x?x8xf32> attributes {transformer.forms = ["step"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  // expected-error @below {{each projected row mixes all positions, so that every new one changes what earlier queries have read}}
  %k = transformer.project_sequence %x, %e : (tensor<?x?x8xf32>, tensor<4x16xf32>) -> tensor<?x4x8xf32>
  %y = transformer.attention %x, %k, %k {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x4x8xf32>, tensor<?x4x8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

transformer.parameter @table : tensor<9x8xf32>
// expected-error @below {{expects one argument with 'transformer.target', found it at arguments #0 and #2}}
func.func private @two_targets(%ids: tensor<?x?xi32> {transformer.target}, %memory: tensor<?x?x8xf32>, %others: tensor<?x?xi32> {transformer.target}) -> tensor<?x?x8xf32> attributes {transformer.forms = ["step"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  return %x : tensor<?x?x8xf32>
}

// -----

transformer.parameter @table : tensor<9x8xf32>
func.func private @pooled_target(%ids: tensor<?x?xi32> {transformer.target}, %lengths: tensor<?xi32>) -> tensor<?x8xf32> attributes {transformer.forms = ["step"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  // expected-error @below {{'transformer.pool' op cannot be evaluated position by position: the vector of a sequence is known at its end}}
  %y = transformer.pool [last] %x of %lengths : (tensor<?x?x8xf32>, tensor<?xi32>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

transformer.parameter @table : tensor<9x8xf32>
transformer.parameter @vectors : tensor<8x9xf32>
func.func private @relative_positions(%ids: tensor<?x?xi32> {transformer.target}) -> tensor<?x?x8xf32> attributes {transformer.forms = ["step"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %a = transformer.weight @vectors : tensor<8x9xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  %causal = transformer.mask.causal
  // expected-error @below {{'transformer.attention' op cannot be evaluated position by position: it has vectors of relative positions}}
  %y = transformer.attention %x, %x, %x mask(%causal) relative_keys(%a) {heads = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, !transformer.mask, tensor<8x9xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

// expected-error @below {{has the form 'align' but no step form, whose translations it aligns}}
func.func private @align_without_step(%ids: tensor<?x?xi32> {transformer.target}) -> tensor<?x?xi32> attributes {transformer.forms = ["full", "align"]} {
  return %ids : tensor<?x?xi32>
}

// -----

transformer.parameter @table : tensor<9x8xf32>
// expected-error @below {{has the form 'align' with the layer 1 of 'transformer.alignment', but attention to a memory in 0 layers}}
func.func private @align_without_memory(%ids: tensor<?x?xi32> {transformer.name = "ids", transformer.dims = ["batch", "target"], transformer.target}) -> tensor<?x?x8xf32> attributes {transformer.alignment = {layer = 1 : i32}, transformer.forms = ["full", "step", "align"]} {
  %table = transformer.weight @table : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  return %x : tensor<?x?x8xf32>
}
