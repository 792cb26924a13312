// Chosen tokens of each sentence see all and are seen by all.
//
// Beltagy et al. 2020, "Longformer" (arXiv:2004.05150), section 3.1, global
// attention; here without projections of their own
//
//     y_i = sum_j w_ij v_j,   w_i = softmax_j(q_i . k_j / sqrt(d_k)) over N(i)
//     N(i) = all where i in G, else G
//
// In one line:
//     %global = transformer.mask.global of %tokens : tensor<?x3xi32>

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
                        transformer.dims = ["batch"]},
    %tokens: tensor<?x3xi32> {transformer.name = "tokens",
                              transformer.dims = ["batch"]})
    -> (!sequence {transformer.name = "y"}) {
  %W_q = transformer.weight @W_q : !weights
  %W_k = transformer.weight @W_k : !key_weights
  %W_v = transformer.weight @W_v : !key_weights
  %q = transformer.linear %x, %W_q : (!sequence, !weights) -> !sequence
  %k = transformer.linear %x, %W_k : (!sequence, !key_weights) -> !keys
  %v = transformer.linear %x, %W_v : (!sequence, !key_weights) -> !keys
  %global = transformer.mask.global of %tokens : tensor<?x3xi32>
  %padding = transformer.mask.padding %lengths : !lengths
  %mask = transformer.mask.and %global, %padding
  %y = transformer.attention %q, %k, %v mask(%mask) {heads = 2 : i64}
      : (!sequence, !keys, !keys, !transformer.mask) -> !sequence
  return %y : !sequence
}

func.func @decoder(
    %x: !sequence {transformer.name = "x", transformer.target,
                   transformer.dims = ["batch", "target"]},
    %tokens: tensor<?x3xi32> {transformer.name = "tokens",
                              transformer.dims = ["batch"]})
    -> (!sequence {transformer.name = "y"})
    attributes {transformer.forms = ["full", "step", "extend"]} {
  %W_q = transformer.weight @W_q : !weights
  %W_k = transformer.weight @W_k : !key_weights
  %W_v = transformer.weight @W_v : !key_weights
  %q = transformer.linear %x, %W_q : (!sequence, !weights) -> !sequence
  %k = transformer.linear %x, %W_k : (!sequence, !key_weights) -> !keys
  %v = transformer.linear %x, %W_v : (!sequence, !key_weights) -> !keys
  %global = transformer.mask.global of %tokens : tensor<?x3xi32>
  %causal = transformer.mask.causal
  %mask = transformer.mask.and %global, %causal
  %y = transformer.attention %q, %k, %v mask(%mask) {heads = 2 : i64}
      : (!sequence, !keys, !keys, !transformer.mask) -> !sequence
  return %y : !sequence
}
