// A power of the score over its own sum: weights of any size.
//
// Tsai et al. 2019, "Transformer Dissection" (arXiv:1908.11775), section 3, with
// a polynomial kernel; here of degree 8
//
//     y_i = sum_j s_ij^8 v_j / sum_j s_ij^8,   s_ij = q_i . k_j / sqrt(d_k)
//
// In one line:
//     %s8 = arith.mulf %s4, %s4 : f32

!sequence = tensor<?x?x64xf32>
!keys = tensor<?x?x64xf32>
!weights = tensor<64x64xf32>
!key_weights = tensor<64x64xf32>
!lengths = tensor<?xi32>

transformer.parameter @W_q : !weights
transformer.parameter @W_k : !key_weights
transformer.parameter @W_v : !key_weights

func.func @encoder(
    %x: !sequence {transformer.name = "x",
                   transformer.dims = ["batch", "source"]},
    %lengths: !lengths {transformer.name = "lengths",
                        transformer.dims = ["batch"]})
    -> (!sequence {transformer.name = "y"}) {
  %W_q = transformer.weight @W_q : !weights
  %W_k = transformer.weight @W_k : !key_weights
  %W_v = transformer.weight @W_v : !key_weights
  %q = transformer.linear %x, %W_q : (!sequence, !weights) -> !sequence
  %k = transformer.linear %x, %W_k : (!sequence, !key_weights) -> !keys
  %v = transformer.linear %x, %W_v : (!sequence, !key_weights) -> !keys
  %mask = transformer.mask.padding %lengths : !lengths
  %y = transformer.attention %q, %k, %v mask(%mask)
      {heads = 2 : i64}
      score {
    ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
      %s2 = arith.mulf %s, %s : f32
      %s4 = arith.mulf %s2, %s2 : f32
      %s8 = arith.mulf %s4, %s4 : f32
      transformer.yield %s8 : f32
    } normalizer sum
      : (!sequence, !keys, !keys, !transformer.mask) -> !sequence
  return %y : !sequence
}

func.func @decoder(
    %x: !sequence {transformer.name = "x", transformer.target,
                   transformer.dims = ["batch", "target"]})
    -> (!sequence {transformer.name = "y"})
    attributes {transformer.forms = ["full", "step", "extend"]} {
  %W_q = transformer.weight @W_q : !weights
  %W_k = transformer.weight @W_k : !key_weights
  %W_v = transformer.weight @W_v : !key_weights
  %q = transformer.linear %x, %W_q : (!sequence, !weights) -> !sequence
  %k = transformer.linear %x, %W_k : (!sequence, !key_weights) -> !keys
  %v = transformer.linear %x, %W_v : (!sequence, !key_weights) -> !keys
  %mask = transformer.mask.causal
  %y = transformer.attention %q, %k, %v mask(%mask)
      {heads = 2 : i64}
      score {
    ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
      %s2 = arith.mulf %s, %s : f32
      %s4 = arith.mulf %s2, %s2 : f32
      %s8 = arith.mulf %s4, %s4 : f32
      transformer.yield %s8 : f32
    } normalizer sum
      : (!sequence, !keys, !keys, !transformer.mask) -> !sequence
  return %y : !sequence
}

func.func @cross(
    %x: !sequence {transformer.name = "x", transformer.target,
                   transformer.dims = ["batch", "target"]},
    %memory: !sequence {transformer.name = "memory",
                        transformer.dims = ["batch", "source"]},
    %lengths: !lengths {transformer.name = "lengths",
                        transformer.dims = ["batch"]})
    -> (!sequence {transformer.name = "y"})
    attributes {transformer.forms = ["full", "step", "extend"]} {
  %W_q = transformer.weight @W_q : !weights
  %W_k = transformer.weight @W_k : !key_weights
  %W_v = transformer.weight @W_v : !key_weights
  %q = transformer.linear %x, %W_q : (!sequence, !weights) -> !sequence
  %k = transformer.linear %memory, %W_k : (!sequence, !key_weights) -> !keys
  %v = transformer.linear %memory, %W_v : (!sequence, !key_weights) -> !keys
  %mask = transformer.mask.padding %lengths : !lengths
  %y = transformer.attention %q, %k, %v mask(%mask)
      {heads = 2 : i64}
      score {
    ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
      %s2 = arith.mulf %s, %s : f32
      %s4 = arith.mulf %s2, %s2 : f32
      %s8 = arith.mulf %s4, %s4 : f32
      transformer.yield %s8 : f32
    } normalizer sum
      : (!sequence, !keys, !keys, !transformer.mask) -> !sequence
  return %y : !sequence
}
