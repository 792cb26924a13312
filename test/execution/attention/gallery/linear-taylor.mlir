// Linear attention from the first order of softmax, of normalised queries and
// keys.
//
// Li et al. 2020, "Linear Attention Mechanism" (arXiv:2007.14902), equations 8
// to 10
//
//     y_i = (sum_j v_j + q_i sum_j k_j v_j^T) / (n + q_i . sum_j k_j)
//     |q_i| = |k_j| = 1
//
// In one line:
//     {heads = 2 : i64} features taylor

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
  %y = transformer.linear_attention %q, %k, %v lengths(%lengths)
      {heads = 2 : i64} features taylor
      : (!sequence, !keys, !keys, !lengths) -> !sequence
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
  %y = transformer.linear_attention %q, %k, %v causal
      {heads = 2 : i64} features taylor
      : (!sequence, !keys, !keys) -> !sequence
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
  %y = transformer.linear_attention %q, %k, %v lengths(%lengths)
      {heads = 2 : i64} features taylor
      : (!sequence, !keys, !keys, !lengths) -> !sequence
  return %y : !sequence
}
