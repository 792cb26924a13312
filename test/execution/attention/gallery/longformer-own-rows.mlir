// Dilated windows, and columns of global tokens, whose rows are computed by
// projections of their own.
//
// Beltagy et al. 2020, "Longformer" (arXiv:2004.05150), section 3.1, "Linear
// projections for global attention"
//
//     y_i = sum_j w_ij v_j,   w_i = softmax_j(q_i . k_j / sqrt(d_k)) over N(i)
//     N_h(i) = G | {j : j = i + d_h t},  |t| <= 12,  d = (1, 2)
//     where i in G, instead, over all j, of
//         q_i = x_i W_qg,  k_j = x_j W_kg,  v_j = x_j W_vg
//
// There is no causal form: a list may name positions to come.
//
// In one line:
//     %y = transformer.put_rows %rows at %tokens into %local

!sequence = tensor<?x?x64xf32>
!keys = tensor<?x?x64xf32>
!rows = tensor<?x3x64xf32>
!weights = tensor<64x64xf32>
!key_weights = tensor<64x64xf32>
!lengths = tensor<?xi32>
!tokens = tensor<?x3xi32>

transformer.parameter @W_q : !weights
transformer.parameter @W_k : !key_weights
transformer.parameter @W_v : !key_weights
transformer.parameter @W_qg : !weights
transformer.parameter @W_kg : !key_weights
transformer.parameter @W_vg : !key_weights

func.func @encoder(
    %x: !sequence {transformer.name = "x",
                   transformer.dims = ["batch", "source"]},
    %lengths: !lengths {transformer.name = "lengths",
                        transformer.dims = ["batch"]},
    %tokens: !tokens {transformer.name = "tokens",
                      transformer.dims = ["batch"]})
    -> (!sequence {transformer.name = "y"}) {
  %W_q = transformer.weight @W_q : !weights
  %W_k = transformer.weight @W_k : !key_weights
  %W_v = transformer.weight @W_v : !key_weights
  %q = transformer.linear %x, %W_q : (!sequence, !weights) -> !sequence
  %k = transformer.linear %x, %W_k : (!sequence, !key_weights) -> !keys
  %v = transformer.linear %x, %W_v : (!sequence, !key_weights) -> !keys
  %window = transformer.mask.window [left = 12, right = 12, dilation = [1, 2]]
  %columns = transformer.mask.global columns of %tokens : !tokens
  %longformer = transformer.mask.or %window, %columns
  %padding = transformer.mask.padding %lengths : !lengths
  %mask = transformer.mask.and %longformer, %padding
  %local = transformer.attention %q, %k, %v mask(%mask) {heads = 2 : i64}
      : (!sequence, !keys, !keys, !transformer.mask) -> !sequence
  %W_qg = transformer.weight @W_qg : !weights
  %W_kg = transformer.weight @W_kg : !key_weights
  %W_vg = transformer.weight @W_vg : !key_weights
  %x_g = transformer.take_rows %x at %tokens : (!sequence, !tokens) -> !rows
  %q_g = transformer.linear %x_g, %W_qg : (!rows, !weights) -> !rows
  %k_g = transformer.linear %x, %W_kg : (!sequence, !key_weights) -> !keys
  %v_g = transformer.linear %x, %W_vg : (!sequence, !key_weights) -> !keys
  %rows = transformer.attention %q_g, %k_g, %v_g mask(%padding)
      {heads = 2 : i64} : (!rows, !keys, !keys, !transformer.mask) -> !rows
  %y = transformer.put_rows %rows at %tokens into %local
      : (!rows, !tokens, !sequence) -> !sequence
  return %y : !sequence
}
