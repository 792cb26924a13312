// One case per constraint of Masks.td, and masks that no mask op builds.
// RUN: heddle-opt %s -verify-diagnostics -split-input-file

func.func @mask_window_c1_left() {
  // expected-error @below {{expects left and right of at least 0, found -1}}
  %m = transformer.mask.window [left = -1, right = 2]
  return
}

// -----

func.func @mask_window_c1_right() {
  // expected-error @below {{expects left and right of at least 0, found -2}}
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
  // expected-error @below {{expects one value or one for each of 1 heads, found 0}}
  %m = transformer.mask.window [left = 1, right = 2, dilation = []]
  return
}

// -----

func.func @mask_window_c3_left() {
  // expected-error @below {{expects left times the dilation to be at most 2147483647, found 2147483648 times 1}}
  %m = transformer.mask.window [left = 2147483648, right = 0]
  return
}

// -----

func.func @mask_window_c3_right() {
  // expected-error @below {{expects right times the dilation to be at most 2147483647, found 1073741824 times 2}}
  %m = transformer.mask.window [left = 0, right = 1073741824, dilation = [1, 2]]
  return
}

// -----

func.func @mask_window_c3_dilation() {
  // expected-error @below {{expects left times the dilation to be at most 2147483647, found 0 times 4294967296}}
  %m = transformer.mask.window [left = 0, right = 0, dilation = [4294967296]]
  return
}

// -----

func.func @mask_window_c2_heads() {
  // expected-error @below {{expects one value or one for each of 3 heads, found 2}}
  %m = transformer.mask.window [left = [1, 2], right = 0, dilation = [1, 1, 2]]
  return
}

// -----

func.func @mask_global_c1(%tokens: tensor<?xi32>) {
  // expected-error @below {{expects either a count or tokens}}
  %m = transformer.mask.global [count = 2] of %tokens : tensor<?xi32>
  return
}

// -----

func.func @mask_global_c1_none() {
  // expected-error @below {{expects either a count or tokens}}
  %m = transformer.mask.global columns
  return
}

// -----

func.func @mask_global_c2(%tokens: tensor<?x?x?xi32>) {
  // expected-error @below {{expects tokens [k] or [batch, k], found 'tensor<?x?x?xi32>'}}
  %m = transformer.mask.global of %tokens : tensor<?x?x?xi32>
  return
}

// -----

func.func @mask_segments_c1(%ids: tensor<?xi32>) {
  // expected-error @below {{expects ids [batch, n], found 'tensor<?xi32>'}}
  %m = transformer.mask.segments %ids : tensor<?xi32>
  return
}

// -----

func.func @mask_dense_c1(%table: tensor<?xi8>) {
  // expected-error @below {{expects a table [n, m], [batch, n, m] or [batch, heads, n, m], found 'tensor<?xi8>'}}
  %m = transformer.mask.dense %table : tensor<?xi8>
  return
}

// -----

func.func @mask_where_c1_arguments() {
  // expected-error @below {{expects where region arguments ('i32', 'i32', 'i32', 'i32'), found ('i32')}}
  %m = transformer.mask.where {
  ^bb0(%i: i32):
    %is = arith.cmpi eq, %i, %i : i32
    transformer.yield %is : i1
  }
  return
}

// -----

func.func @mask_where_c1_yield(%x: f32) {
  // expected-error @below {{expects its where region to end in 'transformer.yield' of 'i1'}}
  %m = transformer.mask.where {
  ^bb0(%b: i32, %h: i32, %i: i32, %j: i32):
    transformer.yield %x : f32
  }
  return
}

// -----

func.func @mask_where_c2(%buffer: memref<4xi1>) {
  %m = transformer.mask.where {
  ^bb0(%b: i32, %h: i32, %i: i32, %j: i32):
    %at = arith.index_cast %i : i32 to index
    // expected-error @below {{cannot be evaluated lane by lane in a where region}}
    %is = memref.load %buffer[%at] : memref<4xi1>
    transformer.yield %is : i1
  }
  return
}

// -----

func.func @mask_where_c3() {
  // expected-error @below {{expects left and right from 0 to 2147483647, found -1}}
  %m = transformer.mask.where within [left = 3, right = -1] {
  ^bb0(%b: i32, %h: i32, %i: i32, %j: i32):
    %is = arith.cmpi eq, %i, %j : i32
    transformer.yield %is : i1
  }
  return
}

// -----

func.func @mask_random_blocks_c1() {
  // expected-error @below {{expects a seed from 0 to 4294967295, found -1}}
  %m = transformer.mask.random_blocks [block = 8, count = 2, seed = -1]
  return
}

// -----

func.func @mask_random_tokens_c1() {
  // expected-error @below {{expects a seed from 0 to 4294967295, found 4294967296}}
  %m = transformer.mask.random_tokens [count = 2, seed = 4294967296]
  return
}

// -----

func.func @mask_count() {
  // expected-error @below {{failed to satisfy constraint}}
  %m = transformer.mask.prefix [length = 2147483648]
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

// -----

// What fills a list up may repeat, on either side.

func.func @mask_global_c3() {
  %filled = arith.constant dense<[[-1, -1, 0, 7], [2, 3, 2147483647, 2147483647]]> : tensor<2x4xi32>
  %g = transformer.mask.global of %filled : tensor<2x4xi32>
  %tokens = arith.constant dense<[[0, 7], [8, 3]]> : tensor<2x2xi32>
  // expected-error @below {{expects tokens that ascend, found 3 after 8}}
  %m = transformer.mask.global of %tokens : tensor<2x2xi32>
  return
}

// -----

func.func @mask_global_c3_twice() {
  %tokens = arith.constant dense<[0, 7, 7]> : tensor<3xi32>
  // expected-error @below {{expects tokens that ascend, found 7 after 7}}
  %m = transformer.mask.global columns of %tokens : tensor<3xi32>
  return
}

// -----

func.func @mask_segments_c1_columns(%ids: tensor<?x0xi32>) {
  // expected-error @below {{expects ids [batch, n], found 'tensor<?x0xi32>'}}
  %m = transformer.mask.segments %ids : tensor<?x0xi32>
  return
}

// -----

func.func @mask_blocks_c1(%list: tensor<?xi32>) {
  %offsets = arith.constant dense<[0, 3, 2]> : tensor<3xi32>
  // expected-error @below {{expects offsets that do not decrease, within 'tensor<?xi32>', found 2 at index 2}}
  %m = transformer.mask.blocks %offsets, %list [block = 4] : tensor<3xi32>, tensor<?xi32>
  return
}

// -----

func.func @mask_blocks_c1_first(%list: tensor<?xi32>) {
  %offsets = arith.constant dense<[-1, 3]> : tensor<2xi32>
  // expected-error @below {{within 'tensor<?xi32>', found -1 at index 0}}
  %m = transformer.mask.blocks %offsets, %list [block = 4] : tensor<2xi32>, tensor<?xi32>
  return
}

// -----

func.func @mask_blocks_c2() {
  %offsets = arith.constant dense<[0, 2, 4]> : tensor<3xi32>
  %list = arith.constant dense<[1, 5, 5, 2]> : tensor<4xi32>
  // expected-error @below {{expects blocks that ascend, found 2 after 5}}
  %m = transformer.mask.blocks %offsets, %list [block = 4] : tensor<3xi32>, tensor<4xi32>
  return
}

// -----

func.func @mask_pairs_c1(%list: tensor<3xi32>) {
  %offsets = arith.constant dense<[0, 3, 1000000]> : tensor<3xi32>
  // expected-error @below {{within 'tensor<3xi32>', found 1000000 at index 2}}
  %m = transformer.mask.pairs %offsets, %list : tensor<3xi32>, tensor<3xi32>
  return
}

// -----

func.func @mask_pairs_c1_none(%offsets: tensor<0xi32>, %list: tensor<3xi32>) {
  // expected-error @below {{expects at least one offset, found 'tensor<0xi32>'}}
  %m = transformer.mask.pairs %offsets, %list : tensor<0xi32>, tensor<3xi32>
  return
}

// -----

func.func @mask_pairs_c2() {
  %offsets = arith.constant dense<[0, 2, 4]> : tensor<3xi32>
  %list = arith.constant dense<[1, 5, 3, 3]> : tensor<4xi32>
  // expected-error @below {{expects keys that ascend, found 3 after 3}}
  %m = transformer.mask.pairs %offsets, %list : tensor<3xi32>, tensor<4xi32>
  return
}

// -----

func.func @mask_dense_c1_empty(%table: tensor<0x4xi8>) {
  // expected-error @below {{expects a table with elements, found 'tensor<0x4xi8>'}}
  %m = transformer.mask.dense %table : tensor<0x4xi8>
  return
}

// -----

func.func @mask_dense_c1_heads(%table: tensor<?x?x?x?xi8>) {
  // expected-error @below {{expects a static number of heads, found 'tensor<?x?x?x?xi8>'}}
  %m = transformer.mask.dense %table : tensor<?x?x?x?xi8>
  return
}
