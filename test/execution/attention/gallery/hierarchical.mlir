// Attention inside of segments, and then over the first tokens of all of them.
//
// Yang et al. 2016, "Hierarchical Attention Networks" (N16-1174), section 2.2;
// Zhang et al. 2019, "HIBERT" (arXiv:1905.06566), section 3.1
//
//     s_i = sum_j w_ij v_j over N(i) = {j : id_j = id_i}            from x
//     y_i = sum_j w_ij v_j over N(i) = {j : j begins a segment}     from s
//
// In one line:
//     %segments = transformer.mask.segments %ids : tensor<?x?xi32>

!sequence = tensor<?x?x64xf32>
!keys = tensor<?x?x64xf32>
!weights = tensor<64x64xf32>
!key_weights = tensor<64x64xf32>
!lengths = tensor<?xi32>

transformer.parameter @W_q : !weights
transformer.parameter @W_k : !key_weights
transformer.parameter @W_v : !key_weights
transformer.parameter @U_q : !weights
transformer.parameter @U_k : !key_weights
transformer.parameter @U_v : !key_weights

func.func @encoder(
    %x: !sequence {transformer.name = "x",
                   transformer.dims = ["batch", "source"]},
    %lengths: !lengths {transformer.name = "lengths",
                        transformer.dims = ["batch"]},
    %ids: tensor<?x?xi32> {transformer.name = "ids",
                           transformer.dims = ["batch", "source"]},
    %firsts: tensor<?x96xi32> {transformer.name = "firsts",
                               transformer.dims = ["batch"]})
    -> (!sequence {transformer.name = "y"}) {
  %W_q = transformer.weight @W_q : !weights
  %W_k = transformer.weight @W_k : !key_weights
  %W_v = transformer.weight @W_v : !key_weights
  %q = transformer.linear %x, %W_q : (!sequence, !weights) -> !sequence
  %k = transformer.linear %x, %W_k : (!sequence, !key_weights) -> !keys
  %v = transformer.linear %x, %W_v : (!sequence, !key_weights) -> !keys
  %padding = transformer.mask.padding %lengths : !lengths
  %segments = transformer.mask.segments %ids : tensor<?x?xi32>
  %inside = transformer.mask.and %segments, %padding
  %s = transformer.attention %q, %k, %v mask(%inside) {heads = 2 : i64}
      : (!sequence, !keys, !keys, !transformer.mask) -> !sequence
  %U_q = transformer.weight @U_q : !weights
  %U_k = transformer.weight @U_k : !key_weights
  %U_v = transformer.weight @U_v : !key_weights
  %q_2 = transformer.linear %s, %U_q : (!sequence, !weights) -> !sequence
  %k_2 = transformer.linear %s, %U_k : (!sequence, !key_weights) -> !keys
  %v_2 = transformer.linear %s, %U_v : (!sequence, !key_weights) -> !keys
  %first_tokens = transformer.mask.global columns of %firsts
      : tensor<?x96xi32>
  %over = transformer.mask.and %first_tokens, %padding
  %y = transformer.attention %q_2, %k_2, %v_2 mask(%over) {heads = 2 : i64}
      : (!sequence, !keys, !keys, !transformer.mask) -> !sequence
  return %y : !sequence
}
