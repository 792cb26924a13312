// Drawn blocks of keys for each block of queries.
//
// Zaheer et al. 2020, "BigBird" (arXiv:2007.14062), section 2, random
// attention in blocks
//
//     y_i = sum_j w_ij v_j,   w_i = softmax_j(q_i . k_j / sqrt(d_k)) over N(i)
//     N_h(i) = {j : j / 16 is one of 3 blocks that are drawn for (h, i / 16)}
//
// Masks.td says how blocks are drawn: from those of the sentence, in a decoder
// from those before the query's own.
//
// In one line:
//     %random = transformer.mask.random_blocks [block = 16, count = 3, seed = 7]

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
  %random = transformer.mask.random_blocks [block = 16, count = 3, seed = 7]
      of %lengths : !lengths
  %padding = transformer.mask.padding %lengths : !lengths
  %mask = transformer.mask.and %random, %padding
  %y = transformer.attention %q, %k, %v mask(%mask) {heads = 2 : i64}
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
  %random = transformer.mask.random_blocks [block = 16, count = 3, seed = 7]
  %causal = transformer.mask.causal
  %mask = transformer.mask.and %random, %causal
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
  %random = transformer.mask.random_blocks [block = 16, count = 3, seed = 7]
      of %lengths : !lengths
  %padding = transformer.mask.padding %lengths : !lengths
  %mask = transformer.mask.and %random, %padding
  %y = transformer.attention %q, %k, %v mask(%mask) {heads = 2 : i64}
      : (!sequence, !keys, !keys, !transformer.mask) -> !sequence
  return %y : !sequence
}
