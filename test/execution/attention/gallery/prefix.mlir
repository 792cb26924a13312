// A prefix that everybody sees, and what follows it seen causally.
//
// Raffel et al. 2020, "T5" (arXiv:1910.10683), section 3.2.1, prefix language
// model
//
//     y_i = sum_j w_ij v_j,   w_i = softmax_j(q_i . k_j / sqrt(d_k)) over N(i)
//     N(i) = {j : j <= i or j < 11}
//
// Positions of the prefix see what follows them: only a full form can compute
// that. Across, queries see the beginning of the memory alone.
//
// In one line:
//     %prefix = transformer.mask.prefix [length = 11]

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
  %causal = transformer.mask.causal
  %prefix = transformer.mask.prefix [length = 11]
  %rule = transformer.mask.or %causal, %prefix
  %padding = transformer.mask.padding %lengths : !lengths
  %mask = transformer.mask.and %rule, %padding
  %y = transformer.attention %q, %k, %v mask(%mask) {heads = 2 : i64}
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
  %prefix = transformer.mask.prefix [length = 11]
  %padding = transformer.mask.padding %lengths : !lengths
  %mask = transformer.mask.and %prefix, %padding
  %y = transformer.attention %q, %k, %v mask(%mask) {heads = 2 : i64}
      : (!sequence, !keys, !keys, !transformer.mask) -> !sequence
  return %y : !sequence
}
