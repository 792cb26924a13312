// Linear attention with a feature map of one's own: softplus.
//
// Katharopoulos et al. 2020, "Transformers are RNNs" (arXiv:2006.16236),
// equations 4 to 6, with another map
//
//     y_i = sum_j (phi(q_i) . phi(k_j)) v_j / sum_j phi(q_i) . phi(k_j)
//     phi(x) = log(1 + e^x)
//
// In one line:
//     %phi = math.log %sum : f32

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
      {heads = 2 : i64} features {
    ^bb0(%x_d: f32):
      %one = arith.constant 1.0 : f32
      %power = math.exp %x_d : f32
      %sum = arith.addf %one, %power : f32
      %phi = math.log %sum : f32
      transformer.yield %phi : f32
    }
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
      {heads = 2 : i64} features {
    ^bb0(%x_d: f32):
      %one = arith.constant 1.0 : f32
      %power = math.exp %x_d : f32
      %sum = arith.addf %one, %power : f32
      %phi = math.log %sum : f32
      transformer.yield %phi : f32
    }
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
      {heads = 2 : i64} features {
    ^bb0(%x_d: f32):
      %one = arith.constant 1.0 : f32
      %power = math.exp %x_d : f32
      %sum = arith.addf %one, %power : f32
      %phi = math.log %sum : f32
      transformer.yield %phi : f32
    }
      : (!sequence, !keys, !keys, !lengths) -> !sequence
  return %y : !sequence
}
