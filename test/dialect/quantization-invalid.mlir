// Every constraint of quantised ops and of the parameters that they read.
// RUN: heddle-opt %s -verify-diagnostics -split-input-file

func.func @quantize_c1(%x: tensor<?x8xf32>, %m: tensor<2xf32>) {
  // expected-error @below {{the multiplier has type 'tensor<2xf32>', expected 1 values}}
  %q = transformer.quantize %x multiplier(%m) : (tensor<?x8xf32>, tensor<2xf32>) -> tensor<?x8xi8>
  return
}

// -----

func.func @quantize_c1_rotated(%x: tensor<?x8xf32>, %m: tensor<1xf32>) {
  // expected-error @below {{has a multiplier and expects no 'rotated'}}
  %q = transformer.quantize %x rotated multiplier(%m) : (tensor<?x8xf32>, tensor<1xf32>) -> tensor<?x8xi8>
  return
}

// -----

func.func @quantize_c2_rank(%x: tensor<8xf32>, %m: tensor<1xf32>) {
  // expected-error @below {{expects vectors of rank 2 or more, found 'tensor<8xf32>'}}
  %q = transformer.quantize %x multiplier(%m) : (tensor<8xf32>, tensor<1xf32>) -> tensor<8xi8>
  return
}

// -----

func.func @quantize_c2_count(%x: memref<?x8xf32>, %q: memref<?x8xi8>) {
  // expected-error @below {{expects 2 destinations, found 1}}
  transformer.quantize %x into %q : (memref<?x8xf32>, memref<?x8xi8>) -> ()
  return
}

// -----

func.func @quantize_c2_type(%x: memref<?x8xf32>, %s: memref<?xf32>) {
  // expected-error @below {{expects destinations of i8 and, without a multiplier, f32, found 'memref<?x8xf32>'}}
  transformer.quantize %x into %x, %s : (memref<?x8xf32>, memref<?x8xf32>, memref<?xf32>) -> ()
  return
}

// -----

func.func @quantize_c2_shape(%x: memref<?x?x8xf32>, %q: memref<?x?x8xi8>, %s: memref<?xf32>) {
  // expected-error @below {{writes a result of shape [?, ?] into a destination of type 'memref<?xf32>'}}
  transformer.quantize %x into %q, %s : (memref<?x?x8xf32>, memref<?x?x8xi8>, memref<?xf32>) -> ()
  return
}

// -----

func.func @linear_c7_types(%x: tensor<?x8xi8>, %w: tensor<8x4xf32>) {
  // expected-error @below {{multiplies 'tensor<?x8xi8>' by 'tensor<8x4xf32>', expected one element type}}
  %y = transformer.linear %x, %w : (tensor<?x8xi8>, tensor<8x4xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @linear_c7_no_scales(%x: tensor<?x8xi8>, %w: tensor<8x4xi8>) {
  // expected-error @below {{multiplies integers and expects scales of its weight}}
  %y = transformer.linear %x, %w : (tensor<?x8xi8>, tensor<8x4xi8>) -> tensor<?x4xf32>
  return
}

// -----

func.func @linear_c7_f32(%x: tensor<?x8xf32>, %w: tensor<8x4xf32>) {
  // expected-error @below {{multiplies 'f32' and expects no scales or shift}}
  %y = transformer.linear %x shift 3, %w : (tensor<?x8xf32>, tensor<8x4xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @linear_c7_length(%x: tensor<?x8xi8>, %w: tensor<8x4xi8>, %s: tensor<5xf32>) {
  // expected-error @below {{the weight's scale has type 'tensor<5xf32>', expected 4 values}}
  %y = transformer.linear %x, %w scales(%s) : (tensor<?x8xi8>, tensor<8x4xi8>, tensor<5xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @linear_c7_rows(%x: tensor<?x8xi8>, %t: tensor<?x?xf32>, %w: tensor<8x4xi8>, %s: tensor<4xf32>) {
  // expected-error @below {{expects scales of its input's leading dimensions, found 'tensor<?x?xf32>' for 'tensor<?x8xi8>'}}
  %y = transformer.linear %x scales(%t), %w scales(%s) : (tensor<?x8xi8>, tensor<?x?xf32>, tensor<8x4xi8>, tensor<4xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @linear_c8_shift(%x: tensor<?x8xi8>, %w: tensor<8x4xi8>, %s: tensor<4xf32>) {
  // expected-error @below {{expects a shift of 0, 127 or 128, found 129}}
  %y = transformer.linear %x shift 129, %w scales(%s) : (tensor<?x8xi8>, tensor<8x4xi8>, tensor<4xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @linear_c8_norm(%x: tensor<?x8xf32>, %w: tensor<8x4xf32>, %g: tensor<4xf32>, %m: tensor<1xf32>) {
  // expected-error @below {{expects at most one of norm, quantize and round}}
  %y = transformer.linear %x, %w norm(rms, %g, 1.0e-6) quantize(%m) : (tensor<?x8xf32>, tensor<8x4xf32>, tensor<4xf32>, tensor<1xf32>) -> tensor<?x4xi8>
  return
}

// -----

func.func @linear_c8_multiplier(%x: tensor<?x8xf32>, %w: tensor<8x4xf32>, %m: tensor<2xf32>) {
  // expected-error @below {{the multiplier has type 'tensor<2xf32>', expected 1 values}}
  %y = transformer.linear %x, %w quantize(%m) : (tensor<?x8xf32>, tensor<8x4xf32>, tensor<2xf32>) -> tensor<?x4xi8>
  return
}

// -----

func.func @candidate_logits_c3(%x: tensor<?x?x8xi8>, %rows: tensor<?x?x8xi8>, %s: tensor<?xf32>, %b: tensor<?x?xf32>, %counts: tensor<?xi32>) {
  // expected-error @below {{expects scales of its rows in the shape of the bias, found 'tensor<?xf32>'}}
  %l = transformer.candidate_logits %x, %rows scales(%s), %b, %counts : (tensor<?x?x8xi8>, tensor<?x?x8xi8>, tensor<?xf32>, tensor<?x?xf32>, tensor<?xi32>) -> tensor<?x?x?xf32>
  return
}

// -----

func.func @embedding_c5_scale(%ids: tensor<?x?xi32>, %t: tensor<9x8xi8>) {
  // expected-error @below {{looks up 'i8' unchanged and expects no scale or positions}}
  %a = transformer.embedding %ids, %t {scale = 2.0 : f32} : (tensor<?x?xi32>, tensor<9x8xi8>) -> tensor<?x?x8xi8>
  return
}

// -----

func.func @embedding_c5_table(%ids: tensor<?x?xi32>, %t: tensor<9x8xf32>, %s: tensor<9xf32>) {
  // expected-error @below {{has scales and expects a table of i8, found 'tensor<9x8xf32>'}}
  %a = transformer.embedding %ids, %t scales(%s) : (tensor<?x?xi32>, tensor<9x8xf32>, tensor<9xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @embedding_c5_length(%ids: tensor<?x?xi32>, %t: tensor<9x8xi8>, %s: tensor<8xf32>) {
  // expected-error @below {{scales has type 'tensor<8xf32>', expected 9 values}}
  %a = transformer.embedding %ids, %t scales(%s) : (tensor<?x?xi32>, tensor<9x8xi8>, tensor<8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @embedding_c5_divides(%ids: tensor<?x?xi32>, %t: tensor<9x8xf32>) {
  // expected-error @below {{divides and expects scales}}
  %a = transformer.embedding %ids, %t divides : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

transformer.parameter @w : tensor<8x4xf32>
// expected-error @below {{of type 'tensor<8xf32>' cannot be the column_scales of its parts}}
transformer.parameter @parameter_c5_scales : tensor<8xf32> column_scales of [@w]

// -----

transformer.parameter @w : tensor<8x4xf32>
// expected-error @below {{of type 'tensor<1xf32>' cannot be the multiplier of its parts}}
transformer.parameter @parameter_c5_no_integers : tensor<1xf32> multiplier of [@w]

// -----

transformer.parameter @b : tensor<8xf32>
transformer.parameter @q : tensor<8x4xi8> from <"m.bin", offset = 0, encoding = intgemm8>
// expected-error @below {{of type 'tensor<4xf32>' cannot be the column_shifted_bias of its parts}}
transformer.parameter @parameter_c5_bias : tensor<4xf32> column_shifted_bias of [@b, @q]

// -----

transformer.parameter @w : tensor<8x4xf32>
// expected-error @below {{has the part 'w' of type 'tensor<8x4xf32>', expected the same leading dimensions and element type}}
transformer.parameter @parameter_c5_types : tensor<8x4xi8> columns of [@w]

// -----

// expected-error @below {{is scaled and expects type f32, found 'tensor<8x4xi8>'}}
transformer.parameter @parameter_c6 : tensor<8x4xi8> scaled by 2.0

// -----

// expected-error @below {{of type 'tensor<8x4xi8>' expects a source of encoding 'intgemm8'}}
transformer.parameter @parameter_c8 : tensor<8x4xi8> from <"m.bin", offset = 0, encoding = f32>

// -----

// expected-error @below {{expects an input multiplier beside 'intgemm8' only}}
transformer.parameter @source : tensor<8x4xf32> from <"m.bin", offset = 0, encoding = f32, input_multiplier = 2.0 : f32>

// -----

// expected-error @below {{expects a positive f32 as input multiplier, found -2.000000e+00 : f32}}
transformer.parameter @source : tensor<8x4xf32> from <"m.bin", offset = 0, encoding = intgemm8, input_multiplier = -2.0 : f32>

// -----

// expected-note @below {{declared here}}
transformer.parameter @w : tensor<8x4xi8>
func.func @weight_c1() {
  // expected-error @below {{has type 'tensor<8x4xf32>' but parameter 'w' is declared as 'tensor<8x4xi8>'}}
  %w = transformer.weight @w : tensor<8x4xf32>
  return
}

// -----

func.func @round_c1(%x: memref<?x8xf32>) {
  // expected-error @below {{expects a destination of 'bf16', found 'memref<?x8xf32>'}}
  transformer.round %x into %x : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  return
}

// -----

func.func @round_c1_f16(%x: memref<?x8xf32>, %r: memref<?x8xbf16>) {
  // expected-error @below {{expects a destination of 'f16', found 'memref<?x8xbf16>'}}
  transformer.round %x to f16 into %r : (memref<?x8xf32>, memref<?x8xbf16>) -> ()
  return
}

// -----

func.func @round_type(%x: tensor<?x8xf32>) {
  // expected-error @below {{attribute 'to' failed to satisfy constraint}}
  %r = transformer.round %x to f64 : (tensor<?x8xf32>) -> tensor<?x8xf64>
  return
}

// -----

func.func @round_shape(%x: memref<?x8xf32>, %r: memref<?x9xbf16>) {
  // expected-error @below {{writes a result of shape [?, 8] into a destination of type 'memref<?x9xbf16>'}}
  transformer.round %x into %r : (memref<?x8xf32>, memref<?x9xbf16>) -> ()
  return
}

// -----

func.func @linear_c7_bf16(%x: tensor<?x8xbf16>, %w: tensor<8x4xbf16>, %s: tensor<4xf32>) {
  // expected-error @below {{multiplies 'bf16' and expects no scales or shift}}
  %y = transformer.linear %x, %w scales(%s) : (tensor<?x8xbf16>, tensor<8x4xbf16>, tensor<4xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @linear_c7_mixed(%x: tensor<?x8xf32>, %w: tensor<8x4xbf16>) {
  // expected-error @below {{multiplies 'tensor<?x8xf32>' by 'tensor<8x4xbf16>', expected one element type}}
  %y = transformer.linear %x, %w : (tensor<?x8xf32>, tensor<8x4xbf16>) -> tensor<?x4xf32>
  return
}

// -----

func.func @linear_c8_round(%x: tensor<?x8xf32>, %w: tensor<8x4xf32>, %m: tensor<1xf32>) {
  // expected-error @below {{expects at most one of norm, quantize and round}}
  %y = transformer.linear %x, %w quantize(%m) round : (tensor<?x8xf32>, tensor<8x4xf32>, tensor<1xf32>) -> tensor<?x4xi8>
  return
}

// -----

func.func @linear_c8_destination(%x: memref<?x8xbf16>, %w: memref<8x4xbf16>, %y: memref<?x4xbf16>) {
  // expected-error @below {{expects destinations of 'f32', found 'memref<?x4xbf16>'}}
  transformer.linear %x, %w into %y : (memref<?x8xbf16>, memref<8x4xbf16>, memref<?x4xbf16>) -> ()
  return
}

// -----

func.func @linear_c8_split(%x: memref<?x8xbf16>, %w: memref<8x4xbf16>, %y: memref<?x2xbf16>, %z: memref<?x2xf32>) {
  // expected-error @below {{expects destinations of 'bf16', found 'memref<?x2xf32>'}}
  transformer.linear %x, %w round split [2, 2] into %y, %z : (memref<?x8xbf16>, memref<8x4xbf16>, memref<?x2xbf16>, memref<?x2xf32>) -> ()
  return
}

// -----

func.func @embedding_c5_bf16(%ids: tensor<?x?xi32>, %t: tensor<9x8xbf16>) {
  // expected-error @below {{looks up 'bf16' unchanged and expects no scale or positions}}
  %a = transformer.embedding %ids, %t {scale = 2.0 : f32} : (tensor<?x?xi32>, tensor<9x8xbf16>) -> tensor<?x?x8xbf16>
  return
}

// -----

func.func @embedding_c5_widen(%ids: tensor<?x?xi32>, %t: tensor<9x8xf32>) {
  // expected-error @below {{widens and expects a table of bf16 or f16, found 'tensor<9x8xf32>'}}
  %a = transformer.embedding %ids, %t widen : (tensor<?x?xi32>, tensor<9x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

transformer.parameter @w : tensor<8x4xf32>
// expected-error @below {{of type 'tensor<4x8xbf16>' cannot be the rounded of its parts}}
transformer.parameter @parameter_c5_rounded : tensor<4x8xbf16> rounded of [@w]

// -----

// expected-error @below {{of type 'tensor<8x4xbf16>' expects a derivation}}
transformer.parameter @parameter_c8_bf16 : tensor<8x4xbf16> from <"m.bin", offset = 0, encoding = bf16>

// -----

func.func @also_multiplier(%x: tensor<?x8xf32>, %g: tensor<8xf32>, %m: tensor<2xf32>) {
  // expected-error @below {{the multiplier has type 'tensor<2xf32>', expected 1 values}}
  %y:2 = transformer.norm rms %x, %g also quantize(%m) {epsilon = 1.0 : f32} : (tensor<?x8xf32>, tensor<8xf32>, tensor<2xf32>) -> (tensor<?x8xf32>, tensor<?x8xi8>)
  return
}

// -----

func.func @also_round_multiplier(%x: tensor<?x8xf32>, %g: tensor<8xf32>, %m: tensor<1xf32>) {
  // expected-error @below {{has a multiplier and expects 'also quantize'}}
  %y:2 = "transformer.norm"(%x, %g, %m) <{kind = #transformer<norm_kind rms>, epsilon = 1.0 : f32, also = #transformer<shortening round>, operandSegmentSizes = array<i32: 1, 1, 0, 0, 1, 0>}> : (tensor<?x8xf32>, tensor<8xf32>, tensor<1xf32>) -> (tensor<?x8xf32>, tensor<?x8xbf16>)
  return
}

// -----

func.func @also_round_type(%x: tensor<?x8xf32>, %g: tensor<8xf32>) {
  // expected-error @below {{expected bf16 or f16, found f64}}
  %y:2 = transformer.norm rms %x, %g also round(f64) {epsilon = 1.0 : f32} : (tensor<?x8xf32>, tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?x8xbf16>)
  return
}

// -----

func.func @linear_one_short_float(%x: tensor<?x8xf16>, %w: tensor<8x4xbf16>) {
  // expected-error @below {{multiplies 'tensor<?x8xf16>' by 'tensor<8x4xbf16>', expected one element type}}
  %y = transformer.linear %x, %w : (tensor<?x8xf16>, tensor<8x4xbf16>) -> tensor<?x4xf32>
  return
}

// -----

func.func @also_kind(%x: tensor<?x8xf32>, %g: tensor<8xf32>) {
  // expected-error @below {{expected quantize or round, found 'float'}}
  %y:2 = transformer.norm rms %x, %g also float {epsilon = 1.0 : f32} : (tensor<?x8xf32>, tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?x8xbf16>)
  return
}

// -----

func.func @also_count(%x: memref<?x8xf32>, %g: memref<8xf32>, %q: memref<?x8xi8>) {
  // expected-error @below {{expects 3 destinations, found 2}}
  transformer.norm rms %x, %g also quantize into %x, %q {epsilon = 1.0 : f32} : (memref<?x8xf32>, memref<8xf32>, memref<?x8xf32>, memref<?x8xi8>) -> ()
  return
}

// -----

func.func @also_type(%x: memref<?x8xf32>, %g: memref<8xf32>, %q: memref<?x8xi8>) {
  // expected-error @below {{expects destination #1 of 'bf16', found 'memref<?x8xi8>'}}
  transformer.norm rms %x, %g also round into %x, %q {epsilon = 1.0 : f32} : (memref<?x8xf32>, memref<8xf32>, memref<?x8xf32>, memref<?x8xi8>) -> ()
  return
}

// -----

func.func @also_shape(%x: memref<?x8xf32>, %g: memref<8xf32>, %q: memref<?x9xbf16>) {
  // expected-error @below {{writes a result of shape [?, 8] into a destination of type 'memref<?x9xbf16>'}}
  transformer.norm rms %x, %g also round into %x, %q {epsilon = 1.0 : f32} : (memref<?x8xf32>, memref<8xf32>, memref<?x8xf32>, memref<?x9xbf16>) -> ()
  return
}

// -----

func.func @linear_c6_also(%x: tensor<?x8xf32>, %w: tensor<8x4xf32>) {
  // expected-error @below {{splits its result and expects no activation, residual, norm, quantize or also}}
  %y:3 = transformer.linear %x, %w also round split [2, 2] : (tensor<?x8xf32>, tensor<8x4xf32>) -> (tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xbf16>)
  return
}

// -----

func.func @linear_c8_also(%x: tensor<?x8xbf16>, %w: tensor<8x4xbf16>) {
  // expected-error @below {{expects f32 beside 'also', found 'bf16'}}
  %y:2 = transformer.linear %x, %w round also round : (tensor<?x8xbf16>, tensor<8x4xbf16>) -> (tensor<?x4xbf16>, tensor<?x4xbf16>)
  return
}

// -----

func.func @embedding_c6(%ids: tensor<?x?xi32>, %t: tensor<9x8xi8>) {
  // expected-error @below {{expects vectors of f32 beside 'also', found a table 'tensor<9x8xi8>'}}
  %y:2 = transformer.embedding %ids, %t also round : (tensor<?x?xi32>, tensor<9x8xi8>) -> (tensor<?x?x8xi8>, tensor<?x?x8xbf16>)
  return
}

// -----

func.func @ffn_c5_rotated(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>) {
  // expected-error @below {{rotates hidden vectors and expects scales of them}}
  %y = transformer.ffn %x, %w, %w rotated activation(relu) : (tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @fake_quantize_c1(%x: tensor<?x8xf32>, %m: tensor<1xf32>) {
  // expected-error @below {{expects no multiplier beside 'bf16'}}
  %y = transformer.fake_quantize %x as bf16 multiplier(%m) when(%m) : (tensor<?x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @fake_quantize_c1_rotated(%x: tensor<?x8xf32>, %on: tensor<1xf32>) {
  // expected-error @below {{is rotated and expects i8 without a multiplier}}
  %y = transformer.fake_quantize %x as bf16 rotated when(%on) : (tensor<?x8xf32>, tensor<1xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @fake_quantize_c1_multiplier(%x: tensor<?x8xf32>, %m: tensor<2xf32>, %on: tensor<1xf32>) {
  // expected-error @below {{the multiplier has type 'tensor<2xf32>', expected 1 values}}
  %y = transformer.fake_quantize %x as i8 multiplier(%m) when(%on) : (tensor<?x8xf32>, tensor<2xf32>, tensor<1xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @fake_quantize_c1_on(%x: tensor<?x8xf32>, %on: tensor<2xf32>) {
  // expected-error @below {{the switch has type 'tensor<2xf32>', expected 1 values}}
  %y = transformer.fake_quantize %x as i8 when(%on) : (tensor<?x8xf32>, tensor<2xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @fake_quantize_c2(%x: tensor<8xf32>, %on: tensor<1xf32>) {
  // expected-error @below {{expects vectors of rank 2 or more, found 'tensor<8xf32>'}}
  %y = transformer.fake_quantize %x as i8 when(%on) : (tensor<8xf32>, tensor<1xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @quantize_heads_c1(%x: tensor<?x8xf32>) {
  // expected-error @below {{expects vectors of rank 2 or more and a width that 3 heads divide, found 'tensor<?x8xf32>'}}
  %q, %s = transformer.quantize_heads %x {heads = 3 : i64} : (tensor<?x8xf32>) -> (tensor<?x8xi8>, tensor<?x3xf32>)
  return
}

// -----

func.func @quantize_heads_c2_count(%x: memref<?x8xf32>, %q: memref<?x8xi8>) {
  // expected-error @below {{expects two destinations, of i8 and f32}}
  transformer.quantize_heads %x into %q {heads = 2 : i64} : (memref<?x8xf32>, memref<?x8xi8>) -> ()
  return
}
