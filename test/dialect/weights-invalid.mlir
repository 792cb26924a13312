// One case per constraint of Weights.td.
// RUN: heddle-opt %s -verify-diagnostics -split-input-file

// expected-error @below {{'transformer.parameter' op expects a static shape, found 'tensor<?x8xf32>'}}
transformer.parameter @parameter_c1 : tensor<?x8xf32>

// -----

// expected-error @below {{'transformer.parameter' op expects at most 1099511627776 elements, found 'tensor<4294967296x4294967296xf32>'}}
transformer.parameter @parameter_c1_size : tensor<4294967296x4294967296xf32>

// -----

// expected-error @below {{'transformer.parameter' op is transposed and expects rank 2, found rank 1}}
transformer.parameter @parameter_c2 : tensor<8xf32> transposed

// -----

// expected-error @below {{'transformer.parameter' op expects a place that is a multiple of 64, found 100}}
transformer.parameter @parameter_c3 : tensor<8xf32> placed at 100

// -----

// expected-error @below {{'transformer.parameter' op expects a place that is a multiple of 64, found -64}}
transformer.parameter @parameter_c3_negative : tensor<8xf32> placed at -64

// -----

// expected-error @below {{'transformer.parameter' op expects panels [3, in, 32], found 'tensor<2x8x32xf32>'}}
transformer.parameter @parameter_c4 : tensor<2x8x32xf32> packed [33, 32]

// -----

// expected-error @below {{'transformer.parameter' op expects parts of at least 1 column, found 0}}
transformer.parameter @parameter_c4_part : tensor<1x8x32xf32> packed [32, 0]

// -----

transformer.parameter @source_multipliers : tensor<8x4xf32>
  // expected-error @below {{of encoding 'int8_rows' expects multipliers}}
  from <"model.bin", offset = 0, encoding = int8_rows>

// -----

transformer.parameter @source_no_multipliers : tensor<8x4xf32>
  // expected-error @below {{of encoding 'f32' expects no multipliers}}
  from <"model.bin", offset = 0, encoding = f32 multipliers at 128>

// -----

transformer.parameter @source_multipliers_offset : tensor<8x4xf32>
  // expected-error @below {{expects multipliers at an offset of at least 0 into 'model.bin', found -4}}
  from <"model.bin", offset = 0, encoding = int8_rows multipliers at -4>

// -----

transformer.parameter @source_offset : tensor<8xf32>
  // expected-error @below {{expects an offset of at least 0 into 'model.bin', found -4}}
  from <"model.bin", offset = -4, encoding = f32>

// -----

// expected-error @below {{'transformer.parameter' op expects at most one of a source, parts and zeros}}
transformer.parameter @parameter_c4 : tensor<8xf32> from <"model.bin", offset = 4, encoding = f32> zeros

// -----

// expected-error @below {{'transformer.parameter' op has parts or zeros and cannot be transposed}}
transformer.parameter @parameter_c4_transposed : tensor<8x8xf32> transposed zeros

// -----

// expected-error @below {{'transformer.parameter' op has the part 'w', which is not declared before it}}
transformer.parameter @parameter_c5_order : tensor<8xf32> columns of [@w]
transformer.parameter @w : tensor<8xf32>

// -----

// expected-error @below {{'transformer.parameter' op has the part 'parameter_c5_itself', which is not declared before it}}
transformer.parameter @parameter_c5_itself : tensor<8xf32> columns of [@parameter_c5_itself]

// -----

transformer.parameter @w : tensor<3x4xf32>
// expected-error @below {{'transformer.parameter' op of type 'tensor<4x4xf32>' has the part 'w' of type 'tensor<3x4xf32>', expected the same leading dimensions}}
transformer.parameter @parameter_c5_rows : tensor<4x4xf32> columns of [@w]

// -----

transformer.parameter @w : tensor<4xf32>
// expected-error @below {{'transformer.parameter' op of type 'tensor<9xf32>' has parts of 8 columns}}
transformer.parameter @parameter_c5_columns : tensor<9xf32> columns of [@w, @w]

// -----

transformer.parameter @w : tensor<4xf32>
// expected-error @below {{'transformer.parameter' op expects parts of equal width, a multiple of the columns that each has in turn}}
transformer.parameter @parameter_c5_turns : tensor<8xf32> columns(3) of [@w, @w]

// -----

transformer.parameter @v : tensor<2xf32>
transformer.parameter @w : tensor<4xf32>
// expected-error @below {{'transformer.parameter' op expects parts of equal width, a multiple of the columns that each has in turn}}
transformer.parameter @parameter_c5_widths : tensor<6xf32> columns(2) of [@v, @w]

// -----

transformer.parameter @t : tensor<32x2xf32>
// expected-error @below {{'transformer.parameter' op of type 'tensor<257x2xf32>' cannot be the relative_buckets of its parts}}
transformer.parameter @parameter_c5_buckets_type : tensor<257x2xf32> relative_buckets(32, 128) of [@t]

// -----

transformer.parameter @t : tensor<2x32x2xf32>
// expected-error @below {{'transformer.parameter' op of type 'tensor<2x257xf32>' cannot be the relative_buckets of its parts}}
transformer.parameter @parameter_c5_buckets_part : tensor<2x257xf32> relative_buckets(32, 128) of [@t]

// -----

transformer.parameter @t : tensor<31x2xf32>
// expected-error @below {{'transformer.parameter' op of type 'tensor<2x257xf32>' cannot be the relative_buckets of its parts}}
transformer.parameter @parameter_c5_buckets_few : tensor<2x257xf32> relative_buckets(32, 128) of [@t]

// -----

transformer.parameter @t : tensor<32x2xf32>
// expected-error @below {{'transformer.parameter' op of type 'tensor<2x257xf32>' cannot be the relative_buckets of its parts}}
transformer.parameter @parameter_c5_buckets_multiple : tensor<2x257xf32> relative_buckets(30, 128) of [@t]

// -----

transformer.parameter @t : tensor<32x2xf32>
// expected-error @below {{'transformer.parameter' op of type 'tensor<2x257xf32>' cannot be the relative_buckets of its parts}}
transformer.parameter @parameter_c5_buckets_none : tensor<2x257xf32> relative_buckets(0, 128) of [@t]

// -----

transformer.parameter @t : tensor<32x2xf32>
// expected-error @below {{'transformer.parameter' op of type 'tensor<2x17xf32>' cannot be the relative_buckets of its parts}}
transformer.parameter @parameter_c5_buckets_far : tensor<2x17xf32> relative_buckets(32, 8) of [@t]

// -----

transformer.parameter @t : tensor<32x2xf32>
// expected-error @below {{'transformer.parameter' op of type 'tensor<2x257xf32>' cannot be the relative_buckets of its parts}}
transformer.parameter @parameter_c5_buckets_odd : tensor<2x257xf32> relative_buckets(31, 128, 1) of [@t]

// -----

transformer.parameter @t : tensor<32x2xf32>
// expected-error @below {{'transformer.parameter' op of type 'tensor<2x33xf32>' cannot be the relative_buckets of its parts}}
transformer.parameter @parameter_c5_buckets_near : tensor<2x33xf32> relative_buckets(32, 16, 1) of [@t]

// -----

transformer.parameter @t : tensor<32x2xf32>
// expected-error @below {{'transformer.parameter' op of type 'tensor<2x257xf32>' cannot be the relative_buckets of its parts}}
transformer.parameter @parameter_c5_buckets_directions : tensor<2x257xf32> relative_buckets(32, 128, 2) of [@t]

// -----

transformer.parameter @t : tensor<32x2xf32>
// expected-error @below {{'transformer.parameter' op of type 'tensor<2x2097155xf32>' cannot be the relative_buckets of its parts}}
transformer.parameter @parameter_c5_buckets_farther : tensor<2x2097155xf32> relative_buckets(32, 1048577) of [@t]

// -----

transformer.parameter @t : tensor<32x2xf32>
// expected-error @below {{'transformer.parameter' op of type 'tensor<2x257xf32>' cannot be the relative_buckets of its parts}}
transformer.parameter @parameter_c5_buckets_numbers : tensor<2x257xf32> relative_buckets(32) of [@t]

// -----

transformer.parameter @t : tensor<32x2xf32>
// expected-error @below {{'transformer.parameter' op of type 'tensor<2x257xf32>' cannot be the relative_buckets of its parts}}
transformer.parameter @parameter_c5_buckets_without : tensor<2x257xf32> relative_buckets of [@t]

// -----

transformer.parameter @t : tensor<32x2xf32>
// expected-error @below {{'transformer.parameter' op of type 'tensor<2x257xf32>' cannot be the relative_buckets of its parts}}
transformer.parameter @parameter_c5_buckets_parts : tensor<2x257xf32> relative_buckets(32, 128) of [@t, @t]

// -----

transformer.parameter @t : tensor<32x2xf32>
// expected-error @below {{'transformer.parameter' op of type 'tensor<2x257xf32>' cannot be the relative_buckets of its parts}}
transformer.parameter @parameter_c5_buckets_whole : tensor<2x257xf32> relative_buckets(32, 128.5) of [@t]

// -----

transformer.parameter @x : tensor<4x12xf32>
// expected-error @below {{'transformer.parameter' op of type 'tensor<4x12xf32>' cannot be the split_pairs of its parts (expected numbers w, a divisor of the columns, and n, at least 1 and at most w / 2, a vector or matrix of f32, and its type)}}
transformer.parameter @parameter_c5_pairs_width : tensor<4x12xf32> split_pairs(5, 2) of [@x]

// -----

transformer.parameter @x : tensor<4x12xf32>
// expected-error @below {{'transformer.parameter' op of type 'tensor<4x12xf32>' cannot be the split_pairs of its parts}}
transformer.parameter @parameter_c5_pairs_many : tensor<4x12xf32> split_pairs(6, 4) of [@x]

// -----

transformer.parameter @x : tensor<4x12xf32>
// expected-error @below {{'transformer.parameter' op of type 'tensor<4x6xf32>' cannot be the split_pairs of its parts}}
transformer.parameter @parameter_c5_pairs_type : tensor<4x6xf32> split_pairs(6, 2) of [@x]

// -----

// expected-error @below {{'transformer.parameter' op of type 'tensor<4x2xf32>' cannot be the slopes of ALiBi: they are a vector of f32 and have no numbers}}
transformer.parameter @parameter_c5_slopes : tensor<4x2xf32> alibi_slopes

// -----

transformer.parameter @x : tensor<12xf32>
// expected-error @below {{'transformer.parameter' op of type 'tensor<11xf32>' cannot be the shifted of its parts}}
transformer.parameter @parameter_c5_shifted : tensor<11xf32> shifted(1) of [@x]

// -----

// expected-error @below {{'transformer.parameter' op of type 'tensor<4x6xf32>' cannot be sinusoids: they are a table of f32 of an even width of at least 4 and have the number of the row that is zero}}
transformer.parameter @parameter_c5_sinusoids_pad : tensor<4x6xf32> sinusoids(4)

// -----

// expected-error @below {{'transformer.parameter' op of type 'tensor<4x2xf32>' cannot be sinusoids}}
transformer.parameter @parameter_c5_sinusoids_width : tensor<4x2xf32> sinusoids(1)

// -----

// expected-error @below {{'transformer.parameter' op of type 'tensor<4x6xf32>' cannot be sinusoids}}
transformer.parameter @parameter_c5_sinusoids_without : tensor<4x6xf32> sinusoids

// -----

// expected-error @below {{'transformer.parameter' op of type 'tensor<4xf32>' cannot be rotary frequencies: they are a vector of f32 and have a base above 1 and, if they are scaled, a factor above 0 or a factor, low < high above 0 and a length}}
transformer.parameter @parameter_c5_frequencies_base : tensor<4xf32> rotary_frequencies(1)

// -----

// expected-error @below {{'transformer.parameter' op of type 'tensor<4xf32>' cannot be rotary frequencies}}
transformer.parameter @parameter_c5_frequencies_without : tensor<4xf32> rotary_frequencies

// -----

// expected-error @below {{'transformer.parameter' op of type 'tensor<4xf32>' cannot be rotary frequencies}}
transformer.parameter @parameter_c5_frequencies_more : tensor<4xf32> rotary_frequencies(10000, 2, 3)

// -----

// expected-error @below {{'transformer.parameter' op of type 'tensor<4xf32>' cannot be rotary frequencies}}
transformer.parameter @parameter_c5_frequencies_factor : tensor<4xf32> rotary_frequencies(10000, 0)

// -----

// expected-error @below {{'transformer.parameter' op of type 'tensor<4xf32>' cannot be rotary frequencies}}
transformer.parameter @parameter_c5_frequencies_parts : tensor<4xf32> rotary_frequencies(10000, 8, 4, 4, 8192)

// -----

// expected-error @below {{'transformer.parameter' op of type 'tensor<2x4xf32>' cannot be rotary frequencies}}
transformer.parameter @parameter_c5_frequencies_rank : tensor<2x4xf32> rotary_frequencies(10000)

// -----

transformer.parameter @t : tensor<32x2xf32>
// expected-error @below {{'transformer.parameter' op has numbers}}
transformer.parameter @parameter_c5_other_numbers : tensor<2xf32> column_scales(32, 128) of [@t]

// -----

// expected-error @below {{'transformer.parameter' op has numbers and expects a derivation}}
"transformer.parameter"() {sym_name = "parameter_c5_numbers_alone", type = tensor<8xf32>, numbers = array<f64: 32.0, 128.0>} : () -> ()

// -----

// expected-error @below {{'transformer.parameter' op expects a finite factor, found}}
transformer.parameter @parameter_c6 : tensor<8xf32> scaled by 0x7F800000

// -----

// expected-note @below {{declared here}}
transformer.parameter @w : tensor<8x4xf32>
func.func @weight_c1() {
  // expected-error @below {{'transformer.weight' op has type 'tensor<4x8xf32>' but parameter 'w' is declared as 'tensor<8x4xf32>'}}
  %w = transformer.weight @w : tensor<4x8xf32>
  return
}

// -----

func.func @weight_c1_undeclared() {
  // expected-error @below {{'transformer.weight' op reads parameter 'w', which is not declared}}
  %w = transformer.weight @w : tensor<4x8xf32>
  return
}

// -----

// expected-error @below {{attribute 'type' failed to satisfy constraint: type attribute of ranked tensor of 32-bit float or bfloat16 type or 16-bit float or 8-bit signless integer values}}
transformer.parameter @parameter_of_four_bits : tensor<1x1x32x8xi4> packed [32]

// -----

transformer.parameter @x : tensor<8x6xf32>
transformer.parameter @odd : tensor<7x6xf32>
transformer.parameter @w : tensor<6x4xf32>
transformer.parameter @g : tensor<6xf32>
transformer.parameter @b : tensor<4xf32>
// expected-error @below {{'transformer.parameter' op of type 'tensor<6x8xf32>' cannot be the row_norms of its parts}}
transformer.parameter @parameter_c5_norms_shape : tensor<6x8xf32> row_norms(0.5) of [@x, @g, @g]

// -----

transformer.parameter @x : tensor<8x6xf32>
transformer.parameter @odd : tensor<7x6xf32>
transformer.parameter @w : tensor<6x4xf32>
transformer.parameter @g : tensor<6xf32>
transformer.parameter @b : tensor<4xf32>
// expected-error @below {{'transformer.parameter' op of type 'tensor<8x6xf32>' cannot be the row_norms of its parts}}
transformer.parameter @parameter_c5_norms_vector : tensor<8x6xf32> row_norms(0.5) of [@x, @g, @b]

// -----

transformer.parameter @x : tensor<8x6xf32>
transformer.parameter @odd : tensor<7x6xf32>
transformer.parameter @w : tensor<6x4xf32>
transformer.parameter @g : tensor<6xf32>
transformer.parameter @b : tensor<4xf32>
// expected-error @below {{'transformer.parameter' op of type 'tensor<8x6xf32>' cannot be the row_norms of its parts}}
transformer.parameter @parameter_c5_norms_numbers : tensor<8x6xf32> row_norms of [@x, @g, @g]

// -----

transformer.parameter @x : tensor<8x6xf32>
transformer.parameter @odd : tensor<7x6xf32>
transformer.parameter @w : tensor<6x4xf32>
transformer.parameter @g : tensor<6xf32>
transformer.parameter @b : tensor<4xf32>
// expected-error @below {{'transformer.parameter' op of type 'tensor<8x4xf32>' cannot be the product of its parts}}
transformer.parameter @parameter_c5_product_parts : tensor<8x4xf32> product of [@x, @w]

// -----

transformer.parameter @x : tensor<8x6xf32>
transformer.parameter @odd : tensor<7x6xf32>
transformer.parameter @w : tensor<6x4xf32>
transformer.parameter @g : tensor<6xf32>
transformer.parameter @b : tensor<4xf32>
// expected-error @below {{'transformer.parameter' op of type 'tensor<8x4xf32>' cannot be the product of its parts}}
transformer.parameter @parameter_c5_product_depth : tensor<8x4xf32> product of [@w, @w, @b]

// -----

transformer.parameter @x : tensor<8x6xf32>
transformer.parameter @odd : tensor<7x6xf32>
transformer.parameter @w : tensor<6x4xf32>
transformer.parameter @g : tensor<6xf32>
transformer.parameter @b : tensor<4xf32>
// expected-error @below {{'transformer.parameter' op of type 'tensor<8x4xf32>' cannot be the product of its parts}}
transformer.parameter @parameter_c5_product_bias : tensor<8x4xf32> product of [@x, @w, @g]

// -----

transformer.parameter @x : tensor<8x6xf32>
transformer.parameter @odd : tensor<7x6xf32>
transformer.parameter @w : tensor<6x4xf32>
transformer.parameter @g : tensor<6xf32>
transformer.parameter @b : tensor<4xf32>
// expected-error @below {{'transformer.parameter' op of type 'tensor<6x9xf32>' cannot be the log_buckets of its parts}}
transformer.parameter @parameter_c5_log_buckets_odd : tensor<6x9xf32> log_buckets(4, 16, 4) of [@odd]

// -----

transformer.parameter @x : tensor<8x6xf32>
transformer.parameter @odd : tensor<7x6xf32>
transformer.parameter @w : tensor<6x4xf32>
transformer.parameter @g : tensor<6xf32>
transformer.parameter @b : tensor<4xf32>
// expected-error @below {{'transformer.parameter' op of type 'tensor<6x9xf32>' cannot be the log_buckets of its parts}}
transformer.parameter @parameter_c5_log_buckets_one : tensor<6x9xf32> log_buckets(1, 16, 4) of [@x]

// -----

transformer.parameter @x : tensor<8x6xf32>
transformer.parameter @odd : tensor<7x6xf32>
transformer.parameter @w : tensor<6x4xf32>
transformer.parameter @g : tensor<6xf32>
transformer.parameter @b : tensor<4xf32>
// expected-error @below {{'transformer.parameter' op of type 'tensor<6x9xf32>' cannot be the log_buckets of its parts}}
transformer.parameter @parameter_c5_log_buckets_most : tensor<6x9xf32> log_buckets(4, 3, 4) of [@x]

// -----

transformer.parameter @x : tensor<8x6xf32>
transformer.parameter @odd : tensor<7x6xf32>
transformer.parameter @w : tensor<6x4xf32>
transformer.parameter @g : tensor<6xf32>
transformer.parameter @b : tensor<4xf32>
// expected-error @below {{'transformer.parameter' op of type 'tensor<6x8xf32>' cannot be the log_buckets of its parts}}
transformer.parameter @parameter_c5_log_buckets_far : tensor<6x8xf32> log_buckets(4, 16, 4) of [@x]

// -----

transformer.parameter @x : tensor<8x6xf32>
transformer.parameter @odd : tensor<7x6xf32>
transformer.parameter @w : tensor<6x4xf32>
transformer.parameter @g : tensor<6xf32>
transformer.parameter @b : tensor<4xf32>
// expected-error @below {{'transformer.parameter' op of type 'tensor<6x9xf32>' cannot be the log_buckets of its parts}}
transformer.parameter @parameter_c5_log_buckets_numbers : tensor<6x9xf32> log_buckets(4, 16) of [@x]

// -----

transformer.parameter @x : tensor<8x6xf32>
transformer.parameter @w : tensor<6x4xf32>
transformer.parameter @b : tensor<4xf32>
// expected-error @below {{has numbers, which 'product' does not take}}
transformer.parameter @parameter_c4_product_numbers : tensor<8x4xf32> product(2) of [@x, @w, @b]

// -----

transformer.parameter @w : tensor<40x4xf32>
// expected-error @below {{'transformer.parameter' op of type 'tensor<1x4xf32>' cannot be the block_scales of its parts}}
transformer.parameter @parameter_c5_block_scales : tensor<1x4xf32> block_scales of [@w]

// -----

transformer.parameter @w : tensor<40x4xf32>
transformer.parameter @q : tensor<40x4xi8> block_integers of [@w]
transformer.parameter @s : tensor<4xf32> column_scales of [@w]
// expected-error @below {{'transformer.parameter' op of type 'tensor<40x4xi8>' cannot be the with_scales of its parts}}
transformer.parameter @parameter_c5_with_scales : tensor<1x68x32xi8> with_scales of [@q, @s] packed [4] depth 40

// -----

transformer.parameter @w : tensor<40x4xf32>
transformer.parameter @q : tensor<40x4xi8> block_integers of [@w]
transformer.parameter @s : tensor<2x4xf32> block_scales of [@w]
// expected-error @below {{'transformer.parameter' op has scales and expects panels, found 'tensor<40x4xi8>'}}
transformer.parameter @parameter_c7_with_scales : tensor<40x4xi8> with_scales of [@q, @s]
