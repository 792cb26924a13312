// Attributes that nobody reads: misspelt, misplaced, or of another kind.
// RUN: heddle-opt %s -verify-diagnostics -split-input-file

func.func @misspelt(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // expected-error @below {{'transformer.fill' op has the unknown attribute 'valeu' (is 'value' meant?)}}
  %y = transformer.fill like %x {value = 1.0 : f32, width = 4 : i64, valeu = 2.0 : f32} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// -----

func.func @has_none() {
  // expected-error @below {{'transformer.mask.causal' op has the unknown attribute 'lookback'}}
  %m = transformer.mask.causal {lookback = 3 : i64}
  return
}

// -----

// Those of other dialects are theirs.
func.func @foreign() {
  %m = transformer.mask.causal {llvm.note = "kept"}
  return
}

// -----

func.func @on_an_op() {
  // expected-error @below {{'transformer.mask.causal' op has the attribute 'transformer.name', expected it on a module, a function or a loop}}
  %m = transformer.mask.causal {transformer.name = "causal"}
  return
}

// -----

// expected-error @below {{has the unknown attribute 'transformer.task' (is 'transformer.tasks' meant?)}}
module attributes {transformer.task = {}} {
}

// -----

// expected-error @below {{has 'transformer.family' with the value 7 : i64, expected a string}}
module attributes {transformer.family = 7} {
}

// -----

// expected-error @below {{has the unknown attribute 'transformer.form' (is 'transformer.forms' meant?)}}
func.func private @function() attributes {transformer.form = ["full"]}

// -----

// expected-error @below {{has 'transformer.forms' with the value "full", expected a list of strings}}
func.func private @forms() attributes {transformer.forms = "full"}

// -----

// expected-error @below {{has 'transformer.task' with the value ["embed"], expected a string}}
func.func private @task() attributes {transformer.task = ["embed"]}

// -----

// expected-error @below {{argument #1 has the unknown attribute 'transformer.dim' (is 'transformer.dims' meant?)}}
func.func private @argument(tensor<?xi32>, tensor<?xi32> {transformer.dim = ["batch"]})

// -----

// expected-error @below {{argument #0 has 'transformer.target' with the value true, expected no value}}
func.func private @target(tensor<?xi32> {transformer.target = true})

// -----

// expected-error @below {{result #0 has the unknown attribute 'transformer.target' (is 'transformer.name' meant?)}}
func.func private @result() -> (tensor<?xi32> {transformer.target})

// -----

// expected-error @below {{argument #0 has 'transformer.pinned' with the value "2", expected a number}}
func.func @pinned(%x: tensor<?x?x4xf32> {transformer.pinned = "2"}) {
  return
}
