// Scores that fall with distance, in place of positions.
//
// Press et al. 2022, "Train Short, Test Long" (arXiv:2108.12409), section 3;
// of both directions as in the authors' later note
//
//     w_i = softmax_j(q_i . k_j / sqrt(d_k) - m_h |i - j|)
//
// In one line:
//     %score = arith.subf %s, %bias : f32

!sequence = tensor<?x?x64xf32>
!keys = tensor<?x?x64xf32>
!weights = tensor<64x64xf32>
!key_weights = tensor<64x64xf32>
!lengths = tensor<?xi32>

transformer.parameter @W_q : !weights
transformer.parameter @W_k : !key_weights
transformer.parameter @W_v : !key_weights
transformer.parameter @slopes : tensor<2xf32>

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
  %slopes = transformer.weight @slopes : tensor<2xf32>
  %mask = transformer.mask.padding %lengths : !lengths
  %y = transformer.attention %q, %k, %v mask(%mask)
      {heads = 2 : i64}
      score {
    ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
      %back = arith.subi %i, %j : i32
      %distance = math.absi %back : i32
      %steps = arith.sitofp %distance : i32 to f32
      %m_h = transformer.lookup %slopes[%h] : tensor<2xf32> -> f32
      %bias = arith.mulf %m_h, %steps : f32
      %score = arith.subf %s, %bias : f32
      transformer.yield %score : f32
    }
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
  %slopes = transformer.weight @slopes : tensor<2xf32>
  %mask = transformer.mask.causal
  %y = transformer.attention %q, %k, %v mask(%mask)
      {heads = 2 : i64}
      score {
    ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
      %back = arith.subi %i, %j : i32
      %distance = math.absi %back : i32
      %steps = arith.sitofp %distance : i32 to f32
      %m_h = transformer.lookup %slopes[%h] : tensor<2xf32> -> f32
      %bias = arith.mulf %m_h, %steps : f32
      %score = arith.subf %s, %bias : f32
      transformer.yield %score : f32
    }
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
  %slopes = transformer.weight @slopes : tensor<2xf32>
  %mask = transformer.mask.padding %lengths : !lengths
  %y = transformer.attention %q, %k, %v mask(%mask)
      {heads = 2 : i64}
      score {
    ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
      %back = arith.subi %i, %j : i32
      %distance = math.absi %back : i32
      %steps = arith.sitofp %distance : i32 to f32
      %m_h = transformer.lookup %slopes[%h] : tensor<2xf32> -> f32
      %bias = arith.mulf %m_h, %steps : f32
      %score = arith.subf %s, %bias : f32
      transformer.yield %score : f32
    }
      : (!sequence, !keys, !keys, !transformer.mask) -> !sequence
  return %y : !sequence
}
