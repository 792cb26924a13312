// One case per constraint of Masks.td, and masks that no mask op builds.
// RUN: heddle-opt %s -verify-diagnostics -split-input-file

func.func @mask_window_c1_left() {
  // expected-error @below {{expects left and right of at least 0, found -1 and 2}}
  %m = transformer.mask.window [left = -1, right = 2]
  return
}

// -----

func.func @mask_window_c1_right() {
  // expected-error @below {{expects left and right of at least 0, found 1 and -2}}
  %m = transformer.mask.window [left = 1, right = -2]
  return
}

// -----

func.func @mask_window_c2() {
  // expected-error @below {{expects dilations of at least 1, found 0}}
  %m = transformer.mask.window [left = 1, right = 2, dilation = [1, 0]]
  return
}

// -----

func.func @mask_window_c2_none() {
  // expected-error @below {{expects at least one dilation, found none}}
  %m = transformer.mask.window [left = 1, right = 2, dilation = []]
  return
}

// -----

func.func @mask_window_c3_left() {
  // expected-error @below {{expects left times the largest dilation to be at most 2147483647, found 2147483648 times 1}}
  %m = transformer.mask.window [left = 2147483648, right = 0]
  return
}

// -----

func.func @mask_window_c3_right() {
  // expected-error @below {{expects right times the largest dilation to be at most 2147483647, found 1073741824 times 2}}
  %m = transformer.mask.window [left = 0, right = 1073741824, dilation = [1, 2]]
  return
}

// -----

func.func @mask_window_c3_dilation() {
  // expected-error @below {{expects left times the largest dilation to be at most 2147483647, found 0 times 4294967296}}
  %m = transformer.mask.window [left = 0, right = 0, dilation = [4294967296]]
  return
}

// -----

func.func @mask_padding_rank(%lengths: tensor<?x?xi32>) {
  // expected-error @below {{operand #0 must be one i32 a row (rank-1 tensor or memref), but got 'tensor<?x?xi32>'}}
  %m = transformer.mask.padding %lengths : tensor<?x?xi32>
  return
}

// -----

func.func @mask_from_argument(%unknown: !transformer.mask) {
  // expected-error @below {{'transformer.mask.not' op expects its mask to be built by mask ops, found a block argument}}
  %m = transformer.mask.not %unknown
  return
}

// -----

func.func @mask_from_argument_below(%unknown: !transformer.mask) {
  %causal = transformer.mask.causal
  // expected-error @below {{'transformer.mask.and' op expects its mask to be built by mask ops, found a block argument}}
  %m = transformer.mask.and %causal, %unknown
  return
}

// -----

func.func @mask_from_another_op(%condition: i1) {
  %causal = transformer.mask.causal
  %full = transformer.mask.full
  %chosen = arith.select %condition, %causal, %full : !transformer.mask
  // expected-error @below {{'transformer.mask.or' op expects its mask to be built by mask ops, found a result of 'arith.select'}}
  %m = transformer.mask.or %causal, %chosen
  return
}

// -----

// expected-error @below {{'transformer.mask.not' op expects to stand in a function}}
%cyclic = transformer.mask.not %cyclic
