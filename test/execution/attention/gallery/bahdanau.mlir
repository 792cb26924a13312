// Bahdanau's additive score: a network with one hidden layer for each pair.
//
// Bahdanau et al. 2015, "Neural Machine Translation by Jointly Learning to
// Align and Translate" (arXiv:1409.0473), appendix A.1.2
//
//     y_i = sum_j a_ij v_j,   a_i = softmax_j(v_a . tanh(W_q x_i + W_k m_j))
//
// Both projections are linears of their own: a pair costs the sum, the tanh
// and the product with v_a.
//
// In one line:
//     %hidden = math.tanh %sum : vector<32xf32>

!sequence = tensor<?x?x64xf32>
!keys = tensor<?x?x64xf32>
!weights = tensor<64x64xf32>
!key_weights = tensor<64x64xf32>
!lengths = tensor<?xi32>

transformer.parameter @W_q : !weights
transformer.parameter @W_k : !key_weights
transformer.parameter @W_v : !key_weights
transformer.parameter @v_a : tensor<32xf32>

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
  %table = transformer.weight @v_a : tensor<32xf32>
  %mask = transformer.mask.padding %lengths : !lengths
  %y = transformer.attention %q, %k, %v mask(%mask)
      {heads = 2 : i64}
      similarity {
    ^bb0(%q_i: vector<32xf32>, %k_j: vector<32xf32>):
      %sum = arith.addf %q_i, %k_j : vector<32xf32>
      %hidden = math.tanh %sum : vector<32xf32>
      %v_a = transformer.lookup %table[] : tensor<32xf32> -> vector<32xf32>
      %product = arith.mulf %hidden, %v_a : vector<32xf32>
      %score = vector.reduction <add>, %product : vector<32xf32> into f32
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
  %table = transformer.weight @v_a : tensor<32xf32>
  %mask = transformer.mask.causal
  %y = transformer.attention %q, %k, %v mask(%mask)
      {heads = 2 : i64}
      similarity {
    ^bb0(%q_i: vector<32xf32>, %k_j: vector<32xf32>):
      %sum = arith.addf %q_i, %k_j : vector<32xf32>
      %hidden = math.tanh %sum : vector<32xf32>
      %v_a = transformer.lookup %table[] : tensor<32xf32> -> vector<32xf32>
      %product = arith.mulf %hidden, %v_a : vector<32xf32>
      %score = vector.reduction <add>, %product : vector<32xf32> into f32
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
  %table = transformer.weight @v_a : tensor<32xf32>
  %mask = transformer.mask.padding %lengths : !lengths
  %y = transformer.attention %q, %k, %v mask(%mask)
      {heads = 2 : i64}
      similarity {
    ^bb0(%q_i: vector<32xf32>, %k_j: vector<32xf32>):
      %sum = arith.addf %q_i, %k_j : vector<32xf32>
      %hidden = math.tanh %sum : vector<32xf32>
      %v_a = transformer.lookup %table[] : tensor<32xf32> -> vector<32xf32>
      %product = arith.mulf %hidden, %v_a : vector<32xf32>
      %score = vector.reduction <add>, %product : vector<32xf32> into f32
      transformer.yield %score : f32
    }
      : (!sequence, !keys, !keys, !transformer.mask) -> !sequence
  return %y : !sequence
}
